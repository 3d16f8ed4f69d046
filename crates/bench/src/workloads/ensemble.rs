//! The fields of the workload: an ensemble forecast, 100 fields for each step of each number.
//!
//! Numbers, steps, levels and parameters are those that drivers of other field stores use, so that all archive the same
//! keys. Each field carries its own name at both ends, by which a reader knows it.

use std::ops::Range;

use isotach_mars::Key;

use crate::{Error, Result};

/// Bytes of the name at each end of a field.
const STAMP: usize = 16;
/// The smallest field.
pub(crate) const SIZE_MIN: usize = 2 * STAMP;
/// The largest field.
pub(crate) const SIZE_MAX: usize = 1 << 30;
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
pub(crate) fn request(numbers: Range<u32>, steps: Range<u32>) -> String {
    let list = |range: Range<u32>| range.map(|value| value.to_string()).collect::<Vec<_>>().join("/");
    format!(
        "{COMMON},step={},number={},levelist={},param={}",
        list(steps),
        list(numbers),
        LEVELS.join("/"),
        PARAMS.join("/")
    )
}

/// Bytes without a pattern that a device could make shorter, the same each time: those of the generator SplitMix64.
pub(crate) fn block(size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    let mut state = 0_u64;
    for place in bytes.chunks_mut(size_of::<u64>()) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        place.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes()[..place.len()]);
    }
    bytes
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

/// The fields that one request asks for, of which each must come once, in whatever order a store has them.
#[derive(Debug)]
pub(crate) struct Wanted {
    numbers: Range<u32>,
    steps: Range<u32>,
    size: usize,
    /// Of each, in the order of their names, whether it has come.
    came: Vec<bool>,
}

impl Wanted {
    pub(crate) fn new(numbers: Range<u32>, steps: Range<u32>, size: usize) -> Self {
        let count = numbers.len() * steps.len() * FIELDS_PER_STEP as usize;
        Self { numbers, steps, size, came: vec![false; count] }
    }

    /// Refuses bytes that are not those of a field that is wanted and has not come.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<()> {
        let found = name_of(bytes).and_then(|name| Some((name, self.place(name)?)));
        let Some((name, place)) = found else {
            let what = format!("{} bytes that begin with {:?}", bytes.len(), bytes.get(..STAMP));
            return Err(Error::wrong(what, "a field that the request names"));
        };
        check(bytes, name, self.size)?;
        match std::mem::replace(&mut self.came[place], true) {
            true => Err(Error::wrong(format!("{name:?} twice"), "each field once")),
            false => Ok(()),
        }
    }

    fn place(&self, name: Name) -> Option<usize> {
        let (levels, params) = (LEVELS.len() as u32, PARAMS.len() as u32);
        let is_wanted = self.numbers.contains(&name.number)
            && self.steps.contains(&name.step)
            && name.level < levels
            && name.param < params;
        is_wanted.then(|| {
            let steps = (name.number - self.numbers.start) as usize * self.steps.len();
            let step = steps + (name.step - self.steps.start) as usize;
            step * FIELDS_PER_STEP as usize + (name.level * params + name.param) as usize
        })
    }
}

/// The name that a field begins with, which need not be one of the workload's.
fn name_of(bytes: &[u8]) -> Option<Name> {
    let mut parts = bytes.get(..STAMP)?.chunks_exact(4);
    let mut part = || Some(u32::from_le_bytes(parts.next()?.try_into().ok()?));
    Some(Name { number: part()?, step: part()?, level: part()?, param: part()? })
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
    fn bytes_have_neither_repetitions_nor_favourites_by_which_they_could_be_made_shorter() {
        let bytes = block(1 << 20);
        let pieces: std::collections::HashSet<&[u8]> = bytes.windows(8).collect();
        assert_eq!(pieces.len(), bytes.len() - 7, "no eight bytes come twice");
        let mut counts = [0_u32; 256];
        bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        let part = |count: u32| f64::from(count) / bytes.len() as f64;
        let bits: f64 = counts.iter().map(|count| -part(*count) * part(*count).log2()).sum();
        assert!(bits > 7.999, "{bits} bits in a byte");
        assert_eq!((block(0).len(), block(13)[..] == bytes[..13]), (0, true));
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
    fn of_one_request_each_field_must_come_once_and_whole_in_any_order() {
        let field = |name: Name| {
            let mut bytes = block(SIZE_MIN);
            stamp(&mut bytes, name);
            bytes
        };
        let mut wanted = Wanted::new(2..4, 5..7, SIZE_MIN);
        let names: Vec<Name> =
            (2..4).flat_map(|number| (5..7).flat_map(move |step| fields_of(number, step))).collect();
        names.iter().rev().for_each(|name| wanted.take(&field(*name)).unwrap());
        assert!(wanted.came.iter().all(|came| *came) && wanted.came.len() == names.len());
        let told = |bytes: &[u8]| Wanted::new(2..4, 5..7, SIZE_MIN).take(bytes).unwrap_err().to_string();
        assert!(wanted.take(&field(names[7])).unwrap_err().to_string().contains("twice"));
        for other in
            [Name { number: 1, ..names[0] }, Name { step: 7, ..names[0] }, Name { param: 10, ..names[0] }]
        {
            assert!(told(&field(other)).contains("expected a field that the request names"));
        }
        let mut torn = field(names[0]);
        torn.splice(SIZE_MIN - STAMP.., stamp_of(names[1]));
        assert!(told(&torn).contains("expected 32 bytes of"), "two fields' ends");
        assert!(told(&field(names[0])[..STAMP]).contains("expected 32 bytes of"), "cut off");
        assert!(told(b"short").contains("5 bytes"));
    }

    #[test]
    fn the_request_names_every_value() {
        let request: isotach_mars::Request = request(1..3, 0..2).parse().unwrap();
        let text = request.to_string();
        assert!(text.contains("step=0/1") && text.contains("number=1/2"), "{text}");
    }
}
