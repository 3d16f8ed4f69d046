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
        (PARAMS.len() / self.params().len()) as u64
    }

    fn params(self) -> &'static [&'static str] {
        if self == Self::Tenth { &PARAMS[..1] } else { &PARAMS }
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
    let list = |values: Vec<String>| match order {
        Order::Backwards => values.into_iter().rev().collect::<Vec<_>>().join("/"),
        Order::Stored | Order::Tenth => values.join("/"),
    };
    let numbered = |range: Range<u32>| list(range.map(|value| value.to_string()).collect());
    let named = |names: &[&str]| list(names.iter().map(ToString::to_string).collect());
    let (steps, numbers) = (numbered(steps), numbered(numbers));
    let (levels, params) = (named(&LEVELS), named(order.params()));
    format!("{COMMON},step={steps},number={numbers},levelist={levels},param={params}")
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

/// The fields of one request, each of which must be returned once.
#[derive(Debug)]
pub(crate) struct Wanted {
    numbers: Range<u32>,
    steps: Range<u32>,
    size: usize,
    order: Order,
    /// Whether each field was returned, in the order of their names.
    returned: Vec<bool>,
    /// The field that was returned last.
    last: Option<Name>,
    /// Whether they must be returned in the order of the request.
    is_ordered: bool,
}

impl Wanted {
    /// Fields in any order.
    pub(crate) fn new(numbers: Range<u32>, steps: Range<u32>, size: usize, order: Order) -> Self {
        let count = numbers.len() * steps.len() * FIELDS_PER_STEP as usize;
        let returned = vec![false; count];
        Self { numbers, steps, size, order, returned, last: None, is_ordered: false }
    }

    /// Fields in the order of the request, if the store promises it.
    pub(crate) fn ordered_if(self, is_ordered: bool) -> Self {
        Self { is_ordered, ..self }
    }

    /// Refuses bytes that are not those of a requested field that was not returned before.
    pub(crate) fn accept(&mut self, bytes: &[u8]) -> Result<()> {
        let found = name_of(bytes).and_then(|name| Some((name, self.index(name)?)));
        let Some((name, index)) = found else {
            let what = format!("{} bytes that begin with {:?}", bytes.len(), bytes.get(..STAMP));
            return Err(Error::wrong(what, "a field that the request names"));
        };
        check(bytes, name, self.size)?;
        if std::mem::replace(&mut self.returned[index], true) {
            return Err(Error::wrong(format!("{name:?} twice"), "each field once"));
        }
        match self.last.replace(name) {
            Some(last) if self.is_ordered && !self.follows(name, last) => {
                Err(Error::wrong(format!("{name:?} after {last:?}"), "the order of the request"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a field is behind another one in the request, whose keys nest as in the standard schema.
    fn follows(&self, name: Name, last: Name) -> bool {
        let place = |name: Name| (name.step, name.number, name.level, name.param);
        let (one, other) = if self.order == Order::Backwards { (name, last) } else { (last, name) };
        place(one) < place(other)
    }

    fn index(&self, name: Name) -> Option<usize> {
        let (levels, params) = (LEVELS.len() as u32, PARAMS.len() as u32);
        let wanted_params = self.order.params().len() as u32;
        let is_wanted = self.numbers.contains(&name.number)
            && self.steps.contains(&name.step)
            && name.level < levels
            && name.param < wanted_params;
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

    fn field(name: Name) -> Vec<u8> {
        let mut bytes = vec![7; SIZE_MIN];
        stamp(&mut bytes, name);
        bytes
    }

    #[test]
    fn of_every_tenth_field_another_parameter_is_refused() {
        let mut wanted = Wanted::new(1..2, 2..3, SIZE_MIN, Order::Tenth);
        for name in fields_of(1, 2) {
            assert_eq!(wanted.accept(&field(name)).is_ok(), name.param == 0, "{name:?}");
        }
    }

    #[test]
    fn fields_in_another_order_than_the_request_are_refused_where_it_is_promised() {
        let names = || (5..7).flat_map(|step| (2..4).flat_map(move |number| fields_of(number, step)));
        let wanted_in = |order| Wanted::new(2..4, 5..7, SIZE_MIN, order).ordered_if(true);
        let mut all = [Order::Stored, Order::Tenth, Order::Backwards].map(wanted_in);
        for (wanted, order) in all.iter_mut().zip([Order::Stored, Order::Tenth, Order::Backwards]) {
            order.of(names()).for_each(|name| wanted.accept(&field(name)).unwrap());
        }
        let first: Vec<Name> = fields_of(2, 5).take(2).collect();
        for (order, [one, two]) in [(Order::Stored, [1, 0]), (Order::Backwards, [0, 1])] {
            let mut wanted = wanted_in(order);
            wanted.accept(&field(first[one])).unwrap();
            let error = wanted.accept(&field(first[two])).unwrap_err().to_string();
            assert!(error.contains("expected the order of the request"), "{error}");
        }
    }

    #[test]
    fn each_requested_field_must_be_returned_once_and_whole_in_any_order() {
        let wanted_in = |order| Wanted::new(2..4, 5..7, SIZE_MIN, order);
        let mut wanted = wanted_in(Order::Stored);
        let names: Vec<Name> =
            (2..4).flat_map(|number| (5..7).flat_map(move |step| fields_of(number, step))).collect();
        names.iter().rev().for_each(|name| wanted.accept(&field(*name)).unwrap());
        assert!(wanted.returned.iter().all(|returned| *returned) && wanted.returned.len() == names.len());
        let error_of = |bytes: &[u8]| wanted_in(Order::Stored).accept(bytes).unwrap_err().to_string();
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
