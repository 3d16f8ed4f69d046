//! A message that is made once and of which only what differs between fields is written again, in place.

use serde::{Deserialize, Serialize};

use super::{
    Field,
    places::{END, Level, Places, put},
};
use crate::{Error, Result, workloads::ensemble};

/// Bytes of a field's name at each end of the values.
const STAMP: usize = 16;
/// Numbers of members that a header has room for; a larger one is written as missing.
const NUMBER_MAX: u32 = 254;
const NUMBER_MISSING: u8 = 255;
/// Codes of classes in ECMWF's local sections.
const CLASSES: [(&str, u64); 7] =
    [("od", 1), ("rd", 2), ("ti", 12), ("ei", 14), ("mc", 19), ("e2", 22), ("ea", 23)];

/// A template: all of a message but its values, which are noise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Template {
    /// From the first byte to the first of the values.
    head: Vec<u8>,
    /// How long the message is.
    size: usize,
    places: Places,
}

impl Template {
    /// Takes the template from one whole message.
    pub(super) fn of(message: &[u8]) -> Result<Self> {
        let places = Places::of(message)?;
        let mut head = message[..places.values].to_vec();
        let product = places.product;
        match places.edition {
            1 => {
                // Parameters of ECMWF's table, steps in hours, in two bytes.
                (head[product + 3], head[product + 17], head[product + 20]) = (128, 1, 10);
            }
            // Steps in hours.
            _ => head[product + 17] = 1,
        }
        Ok(Self { size: message.len(), head, places })
    }

    /// The template of messages of another size.
    pub(super) fn sized(mut self, size: usize) -> Result<Self> {
        let (least, most) = (self.head.len() + 2 * STAMP + END.len(), self.places.longest());
        if !(least..=most).contains(&size) {
            let expected = format!("{least} to {most} bytes, which this template has room for");
            return Err(Error::invalid(format!("messages of {size} bytes"), expected));
        }
        let (data, end) = (self.places.data, size - END.len());
        match self.places.edition {
            1 => {
                put(&mut self.head[4..7], size as u64);
                put(&mut self.head[data..data + 3], (end - data) as u64);
            }
            _ => {
                put(&mut self.head[8..16], size as u64);
                put(&mut self.head[data..data + 4], (end - data) as u64);
            }
        }
        self.size = size;
        Ok(self)
    }

    /// The template with another class and experiment version, where its messages say them.
    pub(super) fn labelled(mut self, class: &str, expver: &str) -> Result<Self> {
        let Some(labels) = &self.places.labels else { return Ok(self) };
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
        self.places.level != Level::None
    }

    /// The largest level and step that a header has room for.
    pub(super) fn number_max(&self) -> u32 {
        match self.places.edition {
            1 => u32::from(u16::MAX),
            _ => i32::MAX as u32 / 100,
        }
    }
}

/// A message that becomes that of one field after the other.
#[derive(Debug)]
pub(crate) struct Message {
    bytes: Vec<u8>,
    places: Places,
    /// Between them the values lie.
    head: usize,
    end: usize,
}

impl Message {
    pub(crate) fn new(template: &Template) -> Self {
        let head = template.head.len();
        let end = template.size - END.len();
        let mut bytes = template.head.clone();
        bytes.extend(ensemble::block(end - head));
        bytes.extend(END);
        Self { bytes, places: template.places.clone(), head, end }
    }

    /// The message of a field.
    pub(crate) fn of(&mut self, field: &Field) -> &[u8] {
        match self.places.edition {
            1 => self.write_edition_1(field),
            _ => self.write_edition_2(field),
        }
        let mut stamp = [0; STAMP];
        let parts = [field.number, field.step, field.level, field.param.id];
        for (place, part) in stamp.chunks_exact_mut(4).zip(parts) {
            place.copy_from_slice(&part.to_le_bytes());
        }
        self.bytes[self.head..self.head + STAMP].copy_from_slice(&stamp);
        self.bytes[self.end - STAMP..self.end].copy_from_slice(&stamp);
        &self.bytes
    }

    fn write_edition_2(&mut self, field: &Field) {
        self.bytes[6] = field.param.discipline;
        let product = &mut self.bytes[self.places.product..];
        (product[9], product[10]) = (field.param.category, field.param.number);
        put(&mut product[18..22], field.step.into());
        if let Level::Times(factor) = self.places.level {
            product[23] = 0;
            put(&mut product[24..28], u64::from(field.level) * u64::from(factor));
        }
        product[35] = number(field);
    }

    fn write_edition_1(&mut self, field: &Field) {
        let product = &mut self.bytes[self.places.product..];
        product[8] = field.param.id as u8;
        if let Level::Times(factor) = self.places.level {
            put(&mut product[10..12], u64::from(field.level) * u64::from(factor));
        }
        put(&mut product[18..20], field.step.into());
        product[49] = number(field);
    }

    /// Whether these are the bytes of the message of a field: length, header and both ends of the values, or every byte.
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

    /// The length that the message says it has.
    #[cfg(test)]
    pub(super) fn said_length(&self) -> u64 {
        match self.places.edition {
            1 => super::places::get(&self.bytes[4..7]),
            _ => super::places::get(&self.bytes[8..16]),
        }
    }
}

fn number(field: &Field) -> u8 {
    if field.number > NUMBER_MAX { NUMBER_MISSING } else { field.number as u8 }
}
