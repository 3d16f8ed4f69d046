//! The offsets of the bytes of a GRIB message that differ between fields.
//!
//! Sources: the WMO's Manual on Codes (FM 92), sections 1, 4 and 7 of GRIB 2 and sections 1 and 4 of GRIB 1; and ECMWF's
//! local definitions 1 and 36. Octets are counted from 1 there and from 0 here.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The section after the data section.
pub(super) const END: &[u8; 4] = b"7777";
/// The level type of pressure levels.
const PRESSURE: u8 = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Offsets {
    pub(super) edition: u8,
    /// The section with parameter, level, step and number.
    pub(super) product: usize,
    /// The offsets of class and expver, if the message contains them.
    pub(super) labels: Option<Labels>,
    pub(super) data: usize,
    /// The first byte of its values.
    pub(super) values: usize,
    pub(super) level: Level,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Labels {
    pub(super) class: usize,
    pub(super) class_length: usize,
    pub(super) expver: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Level {
    /// None: the surface.
    None,
    /// The number times a factor.
    Times(u32),
}

/// The big-endian number in these bytes.
pub(super) fn get(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Writes a big-endian number into these bytes.
pub(super) fn put(bytes: &mut [u8], number: u64) {
    for (index, byte) in bytes.iter_mut().rev().enumerate() {
        *byte = number.checked_shr(8 * index as u32).unwrap_or(0) as u8;
    }
}

fn refused<T>(what: impl Into<String>, expected: &str) -> Result<T> {
    Err(Error::invalid(format!("a template {}", what.into()), expected))
}

impl Offsets {
    /// Finds the offsets in a whole message.
    pub(super) fn of(message: &[u8]) -> Result<Self> {
        match message.get(7) {
            Some(1) => Self::of_edition_1(message),
            Some(2) => Self::of_edition_2(message),
            _ => refused("of an unknown edition", "GRIB 1 or GRIB 2"),
        }
    }

    fn of_edition_2(message: &[u8]) -> Result<Self> {
        let (mut product, mut data, mut labels) = (None::<usize>, None::<usize>, None);
        let mut at = 16;
        while !message[at.min(message.len())..].starts_with(END) {
            let Some(length) = length(message, at, 4).filter(|length| *length > 5) else {
                return refused(format!("with a broken section at byte {at}"), "a sound GRIB 2 message");
            };
            let section = &message[at..at + length];
            let offset = match section[4] {
                4 => Some(&mut product),
                7 => Some(&mut data),
                _ => None,
            };
            if section[4] == 2 && section.len() >= 17 {
                labels = Some(Labels { class: at + 7, class_length: 2, expver: at + 13 });
            }
            if offset.is_some_and(|offset| offset.replace(at).is_some()) {
                return refused("of several fields", "a message of one field");
            }
            at += length;
        }
        let (Some(product), Some(data)) = (product, data) else {
            return refused("without product or data", "a message of one field");
        };
        // All bytes that are rewritten for each field are before the values.
        let section = message.get(product..data).unwrap_or_default();
        if section.len() < 37 || labels.as_ref().is_some_and(|labels| labels.expver > data) {
            return refused("with sections out of order", "identification, then product, then data");
        }
        let definition = get(&section[7..9]);
        if definition != 1 || length(message, product, 4).is_none_or(|length| length < 37) {
            return refused(
                format!("with product definition template {definition}"),
                "1, an ensemble member at a point in time",
            );
        }
        let level = match section[22] {
            // Pressure is in pascals here and in hectopascals in MARS.
            PRESSURE => Level::Times(100),
            105 => Level::Times(1),
            1 => Level::None,
            other => return unknown_level(other),
        };
        Ok(Self { edition: 2, product, labels, data, values: data + 5, level })
    }

    fn of_edition_1(message: &[u8]) -> Result<Self> {
        let product = 8;
        let Some(first) = length(message, product, 3).filter(|length| *length >= 51) else {
            return refused(
                "of GRIB 1 without a number",
                "ECMWF's local definition 1 or 36, which have the number of a member",
            );
        };
        let section = &message[product..product + first];
        // Definition 36 is definition 1 with two more numbers at its end.
        if ![1, 36].contains(&section[40]) {
            let what = format!("of GRIB 1 with local definition {}", section[40]);
            return refused(what, "1 or 36, which have the number of a member");
        }
        let mut data = product + first;
        for flag in [0x80, 0x40] {
            if section[7] & flag != 0 {
                data += length(message, data, 3).unwrap_or(message.len());
            }
        }
        if length(message, data, 3).is_none_or(|length| length < 11) {
            return refused(format!("with a broken section at byte {data}"), "a sound GRIB 1 message");
        }
        let level = match section[9] {
            PRESSURE | 109 => Level::Times(1),
            1 => Level::None,
            other => return unknown_level(other),
        };
        let labels = Some(Labels { class: product + 41, class_length: 1, expver: product + 45 });
        Ok(Self { edition: 1, product, labels, data, values: data + 11, level })
    }

    /// The offsets of the length of the message.
    pub(super) fn message_length(&self) -> Range<usize> {
        if self.edition == 1 { 4..7 } else { 8..16 }
    }

    /// The largest length that these sections can encode.
    pub(super) fn length_max(&self) -> usize {
        match self.edition {
            // GRIB 1 has three bytes, whose first bit has another meaning.
            1 => 0x7f_ffff,
            _ => u32::MAX as usize,
        }
    }
}

/// The length at the beginning of a section; none if the section is truncated.
fn length(message: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let length = get(message.get(at..at + bytes)?) as usize;
    message.get(at..at.checked_add(length)?).map(<[u8]>::len)
}

fn unknown_level<T>(level: u8) -> Result<T> {
    refused(format!("with level type {level}"), "pressure levels, model levels or the surface")
}
