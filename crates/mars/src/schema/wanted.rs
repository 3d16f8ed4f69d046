//! [`WantedFields`]: the fields a request names, ticked off as they are found, so that the missing ones can be told.

use std::collections::HashMap;

use super::Schema;
use super::plan::{Match, Planner};
use super::rule::LevelKey;
use crate::error::RequestError;
use crate::key::Key;
use crate::request::Request;
use crate::types::{KeyType, expand};

/// The fields that an exact request names, one for each combination of its values.
///
/// Keys that the request leaves out do not count: a field found with or without them is found.
///
/// ```
/// use isotach_mars::{Key, Request, Schema};
///
/// let schema = Schema::parse("step: Step; [ class [ type [ step ] ] ]")?;
/// let request: Request = "class=od,type=fc,step=0/to/12/by/6".parse()?;
/// let mut wanted = schema.wanted_fields(&request)?.expect("three fields can be counted");
/// let found = schema.split(&"class=od,type=fc,step=6".parse::<Key>()?)?;
/// wanted.mark([&found.dataset, &found.collocation, &found.element]);
/// let missing: Vec<String> = wanted.missing().map(|key| key.to_string()).collect();
/// assert_eq!(missing, ["class=od,type=fc,step=0", "class=od,type=fc,step=12"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct WantedFields {
    keys: Vec<WantedKey>,
    found: Vec<bool>,
    missing: usize,
}

#[derive(Clone, Debug)]
struct WantedKey {
    name: String,
    kind: KeyType,
    values: Vec<String>,
    places: HashMap<String, usize>,
}

/// More fields than this are not ticked off one by one.
const FIELDS_MAX: usize = 50_000_000;

impl Schema {
    /// The fields that an exact request names; `None` if they are too many (50 million) to be ticked off.
    ///
    /// # Errors
    /// As [`Schema::mismatches`], and [`RequestError::BadValue`] or [`RequestError::BadRange`] for values that make no
    /// sense.
    pub fn wanted_fields(&self, request: &Request) -> Result<Option<WantedFields>, RequestError> {
        let planner = Planner::new(self, request, Match::Exact)?;
        let mut keys = Vec::new();
        for named in &planner.named {
            // Types may differ between rules; the key itself, not a part of it, is what the user sees.
            let whole = |key: &&LevelKey| key.name_id == named.number && key.kept_id == named.number;
            let rules = || self.compiled.rules.iter();
            let taking = rules().filter(|rule| planner.takes(rule)).flat_map(|rule| rule.keys()).find(whole);
            let Some(key) = taking.or_else(|| rules().flat_map(|rule| rule.keys()).find(whole)) else {
                continue;
            };
            if key.kind == KeyType::Ignore {
                continue;
            }
            let values = named.values.unwrap_or_default();
            let values = expand(key.kind, values, self.clock())
                .map_err(|fault| super::plan::request_error(named.name, fault))?;
            let places = values.iter().cloned().zip(0..).collect();
            keys.push(WantedKey { name: named.name.to_owned(), kind: key.kind, values, places });
        }
        let count = keys.iter().try_fold(1_usize, |count, key| count.checked_mul(key.values.len()));
        Ok(count.filter(|count| *count <= FIELDS_MAX).map(|count| WantedFields {
            keys,
            found: vec![false; count],
            missing: count,
        }))
    }
}

impl WantedFields {
    /// How many fields the request names.
    #[must_use]
    pub fn count(&self) -> usize {
        self.found.len()
    }

    /// How many have not been found.
    #[must_use]
    pub fn missing_count(&self) -> usize {
        self.missing
    }

    /// Ticks off the field with this dataset, collocation and element key. A key of the request that none of them has
    /// was passed over in looking, and so is here: all its values are found.
    pub fn mark(&mut self, levels: [&Key; 3]) {
        let mut places = vec![0_usize];
        for key in &self.keys {
            let stored = levels.iter().find_map(|level| level.slots().find(|(name, _)| *name == key.name));
            let Some((_, value)) = stored else {
                places = places
                    .iter()
                    .flat_map(|at| (0..key.values.len()).map(move |index| at * key.values.len() + index))
                    .collect();
                continue;
            };
            let Some(index) = key.place(value) else { return };
            for at in &mut places {
                *at = *at * key.values.len() + index;
            }
        }
        for at in places {
            if let Some(found) = self.found.get_mut(at).filter(|found| !**found) {
                *found = true;
                self.missing -= 1;
            }
        }
    }

    /// The fields not found, in the order of the request, each by the keys that the request names.
    pub fn missing(&self) -> impl Iterator<Item = Key> {
        self.found.iter().enumerate().filter(|(_, found)| !**found).map(|(at, _)| self.key(at))
    }

    fn key(&self, mut at: usize) -> Key {
        let mut values: Vec<(&str, &str)> = Vec::with_capacity(self.keys.len());
        for key in self.keys.iter().rev() {
            let value = key.values.get(at % key.values.len().max(1)).map_or("", String::as_str);
            values.push((&key.name, value));
            at /= key.values.len().max(1);
        }
        values.into_iter().rev().collect()
    }
}

impl WantedKey {
    fn place(&self, stored: &str) -> Option<usize> {
        let end = || stored.strip_prefix("0-").filter(|_| self.kind == KeyType::Step);
        self.places.get(stored).or_else(|| self.places.get(end()?)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = "step: Step; date: Date; [ class, date: Year [ type [ date: Date, step, number? ] ] [ kind [ date: Date, iteration ] ] ]";

    fn wanted(text: &str) -> WantedFields {
        Schema::parse(SCHEMA).unwrap().wanted_fields(&text.parse().unwrap()).unwrap().unwrap()
    }

    fn mark(wanted: &mut WantedFields, text: &str) {
        let split = Schema::parse(SCHEMA).unwrap().split(&text.parse().unwrap()).unwrap();
        wanted.mark([&split.dataset, &split.collocation, &split.element]);
    }

    #[test]
    fn fields_are_counted_by_their_whole_dates_and_steps() {
        let mut wanted = wanted("class=od,date=20231231/to/20240101,type=fc,step=0/24");
        assert_eq!(wanted.count(), 4);
        mark(&mut wanted, "class=od,date=20240101,type=fc,step=0-24");
        mark(&mut wanted, "class=od,date=20240101,type=fc,step=24");
        mark(&mut wanted, "class=od,date=20240102,type=fc,step=24");
        assert_eq!(wanted.missing_count(), 3);
        assert_eq!(wanted.missing().next().unwrap().to_string(), "class=od,date=20231231,type=fc,step=0");
    }

    #[test]
    fn a_key_that_the_rule_does_not_know_is_passed_over() {
        let mut wanted = wanted("class=od,date=20240101,type=fc,step=0,iteration=1/2");
        mark(&mut wanted, "class=od,date=20240101,type=fc,step=0");
        assert_eq!(wanted.missing_count(), 0);
    }

    #[test]
    fn an_optional_key_that_is_named_must_be_there() {
        let mut wanted = wanted("class=od,date=20240101,type=fc,step=0,number=1");
        mark(&mut wanted, "class=od,date=20240101,type=fc,step=0");
        assert_eq!(wanted.missing_count(), 1);
    }
}
