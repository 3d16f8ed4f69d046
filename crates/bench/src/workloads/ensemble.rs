//! The fields of an ensemble forecast: 100 for each step of each number (ensemble member).
//!
//! Numbers, steps, levels and parameters are those of the drivers of other field stores, so that all archive the same
//! keys. Each field has its name at both ends, by which a reader recognises it.

use std::{iter, ops::Range};

use isotach_mars::Key;
use serde::{Deserialize, Serialize};

use crate::{Error, Result, harness::noise};

/// Bytes of the name at each end of a field.
const STAMP: usize = 16;
pub(crate) const SIZE_MIN: usize = 2 * STAMP;
pub(crate) const SIZE_MAX: usize = 1 << 30;
/// Fields of one step of one number, after which a client flushes.
pub(crate) const FIELDS_PER_STEP: u64 = (LEVELS.len() * PARAMS.len()) as u64;

const LEVELS: [&str; 10] = ["1000", "925", "850", "700", "500", "400", "300", "250", "200", "100"];
const PARAMS: [&str; 10] = ["60", "75", "76", "129", "130", "131", "132", "133", "138", "155"];

pub(crate) const DATASET: &str = "class=od,expver=xxxx,stream=enfo,date=20240101,time=0000,domain=g";
/// The common part of all keys.
const COMMON: &str = "class=od,expver=xxxx,stream=enfo,date=20240101,time=0000,domain=g,type=pf,levtype=pl";

/// Which fields are read, in which order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// All, in the order in which they are archived.
    #[default]
    Stored,
    /// Every tenth of them: one parameter.
    Tenth,
    /// All, from the last to the first.
    Backwards,
}

impl Order {
    /// The fields or blocks of all these that are read, in this order.
    pub(crate) fn of<I: DoubleEndedIterator>(self, all: I) -> impl Iterator<Item = I::Item> {
        self.directed(all).step_by(self.stride() as usize)
    }

    /// All of these, in the direction of this order.
    pub(crate) fn directed<I: DoubleEndedIterator>(self, mut all: I) -> impl Iterator<Item = I::Item> {
        iter::from_fn(move || if self == Self::Backwards { all.next_back() } else { all.next() })
    }

    /// Of how many fields one is read.
    pub(crate) fn stride(self) -> u64 {
        if self == Self::Tenth { PARAMS.len() as u64 } else { 1 }
    }
}

/// The name of a field: number, step, and the indices of level and parameter in their lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) number: u32,
    pub(crate) step: u32,
    level: u32,
    param: u32,
}

/// The fields of one step of one number.
pub(crate) fn fields_of(number: u32, step: u32) -> impl DoubleEndedIterator<Item = Name> {
    let levels = 0..LEVELS.len() as u32;
    levels
        .flat_map(move |level| (0..PARAMS.len() as u32).map(move |param| Name { number, step, level, param }))
}

/// Creates the keys of fields from their common part.
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

/// The request for the fields of these numbers and steps in an order.
pub(crate) fn request(numbers: Range<u32>, steps: Range<u32>, order: Order) -> String {
    let params = if order == Order::Tenth { &PARAMS[..1] } else { &PARAMS };
    let list = |values: Vec<String>| match order {
        Order::Backwards => values.into_iter().rev().collect::<Vec<_>>().join("/"),
        Order::Stored | Order::Tenth => values.join("/"),
    };
    let numbered = |range: Range<u32>| list(range.map(|value| value.to_string()).collect());
    let named = |names: &[&str]| list(names.iter().map(ToString::to_string).collect());
    let (steps, numbers) = (numbered(steps), numbered(numbers));
    format!("{COMMON},step={steps},number={numbers},levelist={},param={}", named(&LEVELS), named(params))
}

/// Writes the name of a field to both ends of its bytes.
pub(crate) fn stamp(bytes: &mut [u8], name: Name) {
    noise::stamp_ends(bytes, &stamp_of(name));
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

/// The fields of one request, each of which must be returned once, in any order.
#[derive(Debug)]
pub(crate) struct Wanted {
    numbers: Range<u32>,
    steps: Range<u32>,
    size: usize,
    /// Whether each field was returned, in the order of their names.
    returned: Vec<bool>,
}

impl Wanted {
    pub(crate) fn new(numbers: Range<u32>, steps: Range<u32>, size: usize) -> Self {
        let count = numbers.len() * steps.len() * FIELDS_PER_STEP as usize;
        Self { numbers, steps, size, returned: vec![false; count] }
    }

    /// Refuses bytes that are not those of a requested field that was not returned before.
    pub(crate) fn accept(&mut self, bytes: &[u8]) -> Result<()> {
        let found = name_of(bytes).and_then(|name| Some((name, self.index(name)?)));
        let Some((name, index)) = found else {
            let what = format!("{} bytes that begin with {:?}", bytes.len(), bytes.get(..STAMP));
            return Err(Error::wrong(what, "a field that the request names"));
        };
        check(bytes, name, self.size)?;
        match std::mem::replace(&mut self.returned[index], true) {
            true => Err(Error::wrong(format!("{name:?} twice"), "each field once")),
            false => Ok(()),
        }
    }

    fn index(&self, name: Name) -> Option<usize> {
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

/// The name at the beginning of a field, which need not be one of the workload's.
fn name_of(bytes: &[u8]) -> Option<Name> {
    let mut parts = bytes.get(..STAMP)?.chunks_exact(4);
    let mut part = || Some(u32::from_le_bytes(parts.next()?.try_into().ok()?));
    Some(Name { number: part()?, step: part()?, level: part()?, param: part()? })
}

fn stamp_of(name: Name) -> [u8; STAMP] {
    noise::stamp_of([name.number, name.step, name.level, name.param])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_a_hundred_fields_with_distinct_keys() {
        let keys = Keys::new().unwrap();
        let all: std::collections::HashSet<_> =
            fields_of(3, 7).map(|name| keys.of(name).to_string()).collect();
        assert_eq!(all.len() as u64, FIELDS_PER_STEP);
        assert!(all.iter().all(|key| key.contains("step=7,number=3")), "{all:?}");
    }

    #[test]
    fn a_field_is_recognised_by_both_ends_and_its_length() {
        let names: Vec<_> = fields_of(1, 2).collect();
        let mut bytes = vec![7; SIZE_MIN + 5];
        stamp(&mut bytes, names[0]);
        assert!(check(&bytes, names[0], bytes.len()).is_ok());
        assert!(check(&bytes, names[1], bytes.len()).is_err());
        assert!(check(&bytes[..SIZE_MIN], names[0], bytes.len()).is_err());
        *bytes.last_mut().unwrap() ^= 1;
        assert!(check(&bytes, names[0], bytes.len()).is_err());
    }

    #[test]
    fn each_requested_field_must_be_returned_once_and_whole_in_any_order() {
        let field = |name: Name| {
            let mut bytes = vec![7; SIZE_MIN];
            stamp(&mut bytes, name);
            bytes
        };
        let mut wanted = Wanted::new(2..4, 5..7, SIZE_MIN);
        let names: Vec<Name> =
            (2..4).flat_map(|number| (5..7).flat_map(move |step| fields_of(number, step))).collect();
        names.iter().rev().for_each(|name| wanted.accept(&field(*name)).unwrap());
        assert!(wanted.returned.iter().all(|returned| *returned) && wanted.returned.len() == names.len());
        let error_of =
            |bytes: &[u8]| Wanted::new(2..4, 5..7, SIZE_MIN).accept(bytes).unwrap_err().to_string();
        assert!(wanted.accept(&field(names[7])).unwrap_err().to_string().contains("twice"));
        for other in
            [Name { number: 1, ..names[0] }, Name { step: 7, ..names[0] }, Name { param: 10, ..names[0] }]
        {
            assert!(error_of(&field(other)).contains("expected a field that the request names"));
        }
        let mut torn = field(names[0]);
        torn.splice(SIZE_MIN - STAMP.., stamp_of(names[1]));
        assert!(error_of(&torn).contains("expected 32 bytes of"), "two fields' ends");
        assert!(error_of(&field(names[0])[..STAMP]).contains("expected 32 bytes of"), "cut off");
        assert!(error_of(b"short").contains("5 bytes"));
    }

    #[test]
    fn the_request_names_every_value() {
        let text = |order| request(1..3, 0..2, order).parse::<isotach_mars::Request>().unwrap().to_string();
        let (all, tenth, backwards) = (text(Order::Stored), text(Order::Tenth), text(Order::Backwards));
        assert!(all.contains("step=0/1") && all.contains("number=1/2"), "{all}");
        assert!(tenth.ends_with("param=60") && all.contains("param=60/75"), "{tenth}");
        assert!(backwards.contains("number=2/1") && backwards.contains("param=155/138"), "{backwards}");
    }

    #[test]
    fn every_tenth_field_is_one_parameter_and_backwards_begins_at_the_last_field() {
        let names = |order: Order| order.of(fields_of(1, 2)).collect::<Vec<_>>();
        assert!(names(Order::Tenth).len() == 10 && names(Order::Tenth).iter().all(|name| name.param == 0));
        let backwards: Vec<_> = fields_of(1, 2).rev().collect();
        assert_eq!((names(Order::Stored).len(), names(Order::Backwards)), (100, backwards));
    }
}
