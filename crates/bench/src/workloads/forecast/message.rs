//! A message that is made once. For each field only the bytes that differ are written again, in place.

use serde::{Deserialize, Serialize};

use super::{
    Field,
    offsets::{END, Level, Offsets, put},
};
use crate::{Error, Result, harness::noise};

/// Bytes of the stamp at each end of the values.
const STAMP: usize = 16;
/// The largest member number of a header; a larger one is written as missing.
const NUMBER_MAX: u32 = 254;
const NUMBER_MISSING: u8 = 255;
/// The codes of classes in ECMWF's local sections.
const CLASSES: [(&str, u64); 7] =
    [("od", 1), ("rd", 2), ("ti", 12), ("ei", 14), ("mc", 19), ("e2", 22), ("ea", 23)];

/// A template: a message without its values, which are noise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Template {
    /// All bytes before the values.
    head: Vec<u8>,
    size: usize,
    offsets: Offsets,
}

impl Template {
    /// The template of a whole message.
    pub(super) fn of(message: &[u8]) -> Result<Self> {
        let offsets = Offsets::of(message)?;
        let mut head = message[..offsets.values].to_vec();
        let product = offsets.product;
        match offsets.edition {
            // Parameters of ECMWF's table, and steps in hours in two bytes.
            1 => (head[product + 3], head[product + 17], head[product + 20]) = (128, 1, 10),
            // Steps in hours.
            _ => head[product + 17] = 1,
        }
        Ok(Self { size: message.len(), head, offsets })
    }

    /// The template of messages of another size.
    pub(super) fn sized(mut self, size: usize) -> Result<Self> {
        let (least, most) = (self.head.len() + 2 * STAMP + END.len(), self.offsets.length_max());
        if !(least..=most).contains(&size) {
            let expected = format!("{least} to {most} bytes, which this template can hold");
            return Err(Error::invalid(format!("messages of {size} bytes"), expected));
        }
        let (data, end) = (self.offsets.data, size - END.len());
        put(&mut self.head[self.offsets.message_length()], size as u64);
        let bytes = if self.offsets.edition == 1 { 3 } else { 4 };
        put(&mut self.head[data..data + bytes], (end - data) as u64);
        self.size = size;
        Ok(self)
    }

    /// The template with another class and experiment version, if its messages contain them.
    pub(super) fn labelled(mut self, class: &str, expver: &str) -> Result<Self> {
        let Some(labels) = &self.offsets.labels else { return Ok(self) };
        let Some((_, code)) = CLASSES.iter().find(|(name, _)| *name == class) else {
            let known: Vec<&str> = CLASSES.iter().map(|(name, _)| *name).collect();
            return Err(Error::invalid(format!("class {class}"), format!("one of {}", known.join(", "))));
        };
        put(&mut self.head[labels.class..labels.class + labels.class_length], *code);
        self.head[labels.expver..labels.expver + 4].copy_from_slice(expver.as_bytes());
        Ok(self)
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn has_levels(&self) -> bool {
        self.offsets.level != Level::None
    }

    /// The largest level and step of a header.
    pub(super) fn number_max(&self) -> u32 {
        match self.offsets.edition {
            1 => u32::from(u16::MAX),
            _ => i32::MAX as u32 / 100,
        }
    }
}

/// A message that is rewritten for each field.
#[derive(Debug)]
pub(crate) struct Message {
    bytes: Vec<u8>,
    offsets: Offsets,
    /// The start and the end of the values.
    head: usize,
    end: usize,
}

impl Message {
    pub(crate) fn new(template: &Template) -> Self {
        let head = template.head.len();
        let end = template.size - END.len();
        let mut bytes = template.head.clone();
        bytes.extend_from_slice(&noise::block(end - head));
        bytes.extend(END);
        Self { bytes, offsets: template.offsets.clone(), head, end }
    }

    pub(crate) fn of(&mut self, field: &Field) -> &[u8] {
        match self.offsets.edition {
            1 => self.write_edition_1(field),
            _ => self.write_edition_2(field),
        }
        let stamp = noise::stamp_of([field.number, field.step, field.level, field.param.id]);
        noise::stamp_ends(&mut self.bytes[self.head..self.end], &stamp);
        &self.bytes
    }

    fn write_edition_2(&mut self, field: &Field) {
        self.bytes[6] = field.param.discipline;
        let product = &mut self.bytes[self.offsets.product..];
        (product[9], product[10]) = (field.param.category, field.param.number);
        put(&mut product[18..22], field.step.into());
        if let Level::Times(factor) = self.offsets.level {
            product[23] = 0;
            put(&mut product[24..28], u64::from(field.level) * u64::from(factor));
        }
        product[35] = number(field);
    }

    fn write_edition_1(&mut self, field: &Field) {
        let product = &mut self.bytes[self.offsets.product..];
        product[8] = field.param.id as u8;
        if let Level::Times(factor) = self.offsets.level {
            put(&mut product[10..12], u64::from(field.level) * u64::from(factor));
        }
        put(&mut product[18..20], field.step.into());
        product[49] = number(field);
    }

    /// Whether these are the bytes of the message of a field. Compares length, header and both ends of the values, or every byte.
    pub(crate) fn is(&mut self, field: &Field, found: &[u8], every_byte: bool) -> bool {
        let (head, end) = (self.head + STAMP, self.end - STAMP);
        let expected = self.of(field);
        if found.len() != expected.len() {
            return false;
        }
        match every_byte {
            true => found == expected,
            false => found[..head] == expected[..head] && found[end..] == expected[end..],
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    #[cfg(test)]
    pub(super) fn header_length(&self) -> u64 {
        super::offsets::get(&self.bytes[self.offsets.message_length()])
    }
}

fn number(field: &Field) -> u8 {
    if field.number > NUMBER_MAX { NUMBER_MISSING } else { field.number as u8 }
}
