//! The fields of the workload: an ensemble forecast, 100 fields for each step of each number.
//!
//! Numbers, steps, levels and parameters are those that drivers of other field stores use, so that all archive the same
//! keys. Each field carries its own name at both ends, by which a reader knows it.

use isotach_mars::Key;

use crate::{Error, Result};

/// Bytes of the name at each end of a field.
const STAMP: usize = 16;
/// The smallest field.
pub(crate) const SIZE_MIN: usize = 2 * STAMP;
/// Fields of one step of one number, after which a client flushes.
pub(crate) const FIELDS_PER_STEP: u64 = (LEVELS.len() * PARAMS.len()) as u64;

const LEVELS: [&str; 10] = ["1000", "925", "850", "700", "500", "400", "300", "250", "200", "100"];
const PARAMS: [&str; 10] = ["60", "75", "76", "129", "130", "131", "132", "133", "138", "155"];

/// The dataset that all fields are in.
pub(crate) const DATASET: &str = "class=od,expver=xxxx,stream=enfo,date=20240101,time=0000,domain=g";
/// What all keys have in common.
const COMMON: &str = "class=od,expver=xxxx,stream=enfo,date=20240101,time=0000,domain=g,type=pf,levtype=pl";

/// Which field: number, step, and the places of level and parameter in their lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) number: u32,
    pub(crate) step: u32,
    level: u32,
    param: u32,
}

/// The fields of one step of one number.
pub(crate) fn fields_of(number: u32, step: u32) -> impl Iterator<Item = Name> {
    let levels = 0..LEVELS.len() as u32;
    levels
        .flat_map(move |level| (0..PARAMS.len() as u32).map(move |param| Name { number, step, level, param }))
}

/// Makes the keys of fields from what they have in common.
#[derive(Debug)]
pub(crate) struct Keys(Key);

impl Keys {
    pub(crate) fn new() -> Result<Self> {
        let common = COMMON.parse().map_err(|_| Error::invalid(COMMON, "a key"))?;
        Ok(Self(common))
    }

    pub(crate) fn of(&self, name: Name) -> Key {
        let mut key = self.0.clone();
        key.set("step", &name.step.to_string());
        key.set("number", &name.number.to_string());
        key.set("levelist", LEVELS[name.level as usize]);
        key.set("param", PARAMS[name.param as usize]);
        key
    }
}

/// The request for all fields of these numbers and steps.
pub(crate) fn request(numbers: std::ops::Range<u32>, steps: std::ops::Range<u32>) -> String {
    let list =
        |range: std::ops::Range<u32>| range.map(|value| value.to_string()).collect::<Vec<_>>().join("/");
    format!(
        "{COMMON},step={},number={},levelist={},param={}",
        list(steps),
        list(numbers),
        LEVELS.join("/"),
        PARAMS.join("/")
    )
}

/// Bytes without a pattern that a device could make shorter.
pub(crate) fn block(size: usize) -> Vec<u8> {
    (0..size as u64).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// Writes a field's name to both ends of its bytes.
pub(crate) fn stamp(bytes: &mut [u8], name: Name) {
    let stamp = stamp_of(name);
    let end = bytes.len() - STAMP;
    bytes[..STAMP].copy_from_slice(&stamp);
    bytes[end..].copy_from_slice(&stamp);
}

/// Refuses bytes that are not those of a field of this name and size.
pub(crate) fn check(bytes: &[u8], name: Name, size: usize) -> Result<()> {
    let stamp = stamp_of(name);
    if bytes.len() == size && bytes.starts_with(&stamp) && bytes.ends_with(&stamp) {
        return Ok(());
    }
    let what = format!("{} bytes that begin with {:?}", bytes.len(), bytes.get(..STAMP));
    Err(Error::wrong(what, format!("{size} bytes of {name:?}")))
}

fn stamp_of(name: Name) -> [u8; STAMP] {
    let mut stamp = [0; STAMP];
    let parts = [name.number, name.step, name.level, name.param];
    for (place, part) in stamp.chunks_exact_mut(4).zip(parts) {
        place.copy_from_slice(&part.to_le_bytes());
    }
    stamp
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_a_hundred_fields_with_keys_of_their_own() {
        let keys = Keys::new().unwrap();
        let all: std::collections::HashSet<_> =
            fields_of(3, 7).map(|name| keys.of(name).to_string()).collect();
        assert_eq!(all.len() as u64, FIELDS_PER_STEP);
        assert!(all.iter().all(|key| key.contains("step=7,number=3")), "{all:?}");
    }

    #[test]
    fn a_field_is_known_by_both_ends_and_by_its_length() {
        let names: Vec<_> = fields_of(1, 2).collect();
        let mut bytes = block(SIZE_MIN + 5);
        stamp(&mut bytes, names[0]);
        assert!(check(&bytes, names[0], bytes.len()).is_ok());
        assert!(check(&bytes, names[1], bytes.len()).is_err());
        assert!(check(&bytes[..SIZE_MIN], names[0], bytes.len()).is_err());
        *bytes.last_mut().unwrap() ^= 1;
        assert!(check(&bytes, names[0], bytes.len()).is_err());
    }

    #[test]
    fn the_request_names_every_value() {
        let request: isotach_mars::Request = request(1..3, 0..2).parse().unwrap();
        let text = request.to_string();
        assert!(text.contains("step=0/1") && text.contains("number=1/2"), "{text}");
    }
}
