//! [`WantedFields`]: the fields a request names, ticked off as they are found, so that the missing ones can be named.

use std::collections::HashMap;
use std::sync::Arc;

use super::Schema;
use super::compile::Compiled;
use super::plan::{Match, Named, Planner};
use super::rule::{NameId, Rule, RuleId};
use super::ticked::{ANY, Ticked};
use crate::clock::Clock;
use crate::error::RequestError;
use crate::key::Key;
use crate::request::Request;
use crate::types::{KeyType, wind};

/// The fields that an exact request names, one for each combination of its values.
///
/// Keys that the request leaves out do not count: a field found with or without them is found.
///
/// ```
/// use isotach_mars::{Key, Request, Schema};
///
/// let schema = Schema::parse("step: Step; [ class [ type [ step ] ] ]")?;
/// let request: Request = "class=od,type=fc,step=0/to/12/by/6".parse()?;
/// let mut wanted = schema.wanted_fields(&request)?;
/// let found = schema.split(&"class=od,type=fc,step=6".parse::<Key>()?)?;
/// wanted.mark(found.rule, [&found.dataset, &found.collocation, &found.element]);
/// let missing: Vec<String> = wanted.missing().map(|key| key.to_string()).collect();
/// assert_eq!(missing, ["class=od,type=fc,step=0", "class=od,type=fc,step=12"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct WantedFields {
    keys: Vec<WantedKey>,
    ticked: Ticked,
    compiled: Arc<Compiled>,
    clock: Clock,
    /// Where the rule last marked keeps the keys: fields come in runs of one rule.
    places: Option<(RuleId, Vec<Option<KeyPosition>>)>,
    /// The memory of the pattern that is marked.
    pattern: Vec<u32>,
}

#[derive(Clone)]
struct WantedKey {
    name: String,
    number: NameId,
    kind: KeyType,
    values: Vec<String>,
    indexes: HashMap<String, u32>,
    /// The value found last. Most fields have the same, or the next one.
    last: u32,
}

/// Where a rule keeps a key whole: its level, its position there, its type.
#[derive(Clone, Copy)]
struct KeyPosition {
    level: usize,
    slot: usize,
    kind: KeyType,
}

impl Schema {
    /// The fields that an exact request names. They are counted and named however many they are.
    ///
    /// # Errors
    /// As [`Schema::plans`] of [`Match::Exact`].
    pub fn wanted_fields(&self, request: &Request) -> Result<WantedFields, RequestError> {
        let mut planner = Planner::new(self, request, Match::Exact)?;
        let mut rules: Vec<&Rule> = planner.plans()?.iter().filter_map(|plan| self.rule(plan.rule)).collect();
        if rules.is_empty() {
            // No rule takes such fields. They are wanted all the same, and missing.
            rules.extend(self.rules());
        }
        let mut keys = Vec::new();
        // Of a key that may have any value nothing can be missing.
        for named in planner.named.iter().filter(|named| named.values.is_some()) {
            keys.extend(self.wanted_key(&rules, named)?);
        }
        let ticked = Ticked::new(keys.iter().map(|key| key.values.len()).collect());
        let (compiled, clock) = (Arc::clone(&self.compiled), self.clock);
        Ok(WantedFields { keys, ticked, compiled, clock, places: None, pattern: Vec::new() })
    }

    fn wanted_key(&self, rules: &[&Rule], named: &Named<'_>) -> Result<Option<WantedKey>, RequestError> {
        let expanded = self.expanded_values(rules.iter().copied(), named)?;
        Ok(expanded.map(|(kind, values)| WantedKey::new(named, kind, values)))
    }
}

impl WantedFields {
    /// How many fields the request names; the largest number there is if they are more.
    #[must_use]
    pub fn count(&self) -> usize {
        self.ticked.count()
    }

    /// How many have not been found, counted as in [`WantedFields::count`].
    #[must_use]
    pub fn missing_count(&self) -> usize {
        self.ticked.missing_count()
    }

    /// Ticks off the field with this dataset, collocation and element key under this rule. A key of the request that
    /// the rule does not keep was passed over in looking, and so is here: all its values are found.
    pub fn mark(&mut self, rule: RuleId, levels: [&Key; 3]) {
        self.find_places(rule);
        let mut pattern = std::mem::take(&mut self.pattern);
        pattern.clear();
        for (index, key) in self.keys.iter_mut().enumerate() {
            let place = self.places.as_ref().and_then(|(_, places)| places.get(index).copied().flatten());
            let Some(place) = place else {
                pattern.push(ANY);
                continue;
            };
            let stored = levels.get(place.level).and_then(|level| stored_value(level, place.slot, &key.name));
            let Some(number) = key.index(stored.unwrap_or(""), place.kind, self.clock) else { return };
            pattern.push(number);
        }
        self.ticked.mark(&pattern);
        self.pattern = pattern;
    }

    fn find_places(&mut self, id: RuleId) {
        if self.places.as_ref().is_some_and(|(known, _)| *known == id) {
            return;
        }
        let rule = self.compiled.rules.get(id.0);
        let place = |number: NameId| {
            rule?.levels().into_iter().enumerate().find_map(|(level, keys)| {
                let slot = keys.keys().position(|key| key.is_whole(number))?;
                Some(KeyPosition { level, slot, kind: keys.keys().nth(slot)?.kind })
            })
        };
        self.places = Some((id, self.keys.iter().map(|key| place(key.number)).collect()));
    }

    /// The fields not found, in the order of the request, each by the keys that the request names.
    pub fn missing(&self) -> impl Iterator<Item = Key> {
        self.ticked.missing().map(|numbers| self.key(&numbers))
    }

    fn key(&self, numbers: &[u32]) -> Key {
        let value =
            |key: &WantedKey, number: u32| key.values.get(number as usize).cloned().unwrap_or_default();
        let pairs = self.keys.iter().zip(numbers).map(|(key, number)| (&*key.name, value(key, *number)));
        pairs.collect()
    }
}

/// The value of a key that a level keeps at `slot`, or elsewhere if the level key has lost its absent keys.
fn stored_value<'a>(level: &'a Key, slot: usize, name: &str) -> Option<&'a str> {
    match level.slot(slot) {
        Some((here, value)) if here == name => Some(value),
        _ => level.get(name),
    }
}

impl WantedKey {
    fn new(named: &Named<'_>, kind: KeyType, values: Vec<String>) -> Self {
        let indexes = values.iter().cloned().zip(0..).collect();
        Self { name: named.name.to_owned(), number: named.number, kind, values, indexes, last: 0 }
    }

    /// As `search`, after a look at the value that was found last and the one after it.
    fn index(&mut self, stored: &str, kind: KeyType, clock: Clock) -> Option<u32> {
        if kind == self.kind {
            let is_there = |at: u32| self.values.get(at as usize).is_some_and(|value| value == stored);
            if let Some(at) = [self.last, self.last.saturating_add(1)].into_iter().find(|at| is_there(*at)) {
                self.last = at;
                return Some(at);
            }
        }
        self.last = self.search(stored, kind, clock)?;
        Some(self.last)
    }

    /// Which of the values a stored one is. A range of steps from 0 is the step at its end, unless it was named itself; a
    /// vorticity or divergence likewise the component of the wind that it was found for.
    fn search(&self, stored: &str, kind: KeyType, clock: Clock) -> Option<u32> {
        let index = |stored: &str| {
            if kind == self.kind {
                return self.indexes.get(stored).copied();
            }
            // Another rule gives the key another type, and so perhaps another canonical form.
            let position = self.values.iter().position(|value| {
                let mut canonical = String::new();
                value == stored
                    || (kind.canonical(value, clock, &mut canonical).is_ok() && canonical == stored)
            });
            position.and_then(|position| u32::try_from(position).ok())
        };
        let meant = match kind {
            KeyType::Step => stored.strip_prefix("0-").map(|end| [end, end]),
            KeyType::Param | KeyType::ParamId => wind::components_of(stored),
            _ => None,
        };
        index(stored).or_else(|| meant?.into_iter().find_map(index))
    }
}

impl std::fmt::Debug for WantedFields {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "WantedFields({} of {} missing)", self.missing_count(), self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = "step: Step; date: Date; [ class, date: Year [ type [ date: Date, step, number? ] ] [ kind [ date: Date, iteration ] ] ]";

    fn wanted(text: &str) -> WantedFields {
        Schema::parse(SCHEMA).unwrap().wanted_fields(&text.parse().unwrap()).unwrap()
    }

    fn mark(wanted: &mut WantedFields, text: &str) {
        let split = Schema::parse(SCHEMA).unwrap().split(&text.parse().unwrap()).unwrap();
        wanted.mark(split.rule, [&split.dataset, &split.collocation, &split.element]);
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
    fn a_key_that_the_rule_hides_is_passed_over() {
        let schema = Schema::parse("[ a [ b, g- [ c ]] [ d, g [ c ]]]").unwrap();
        let mut wanted = schema.wanted_fields(&"a=1,b=1,g=7,c=1".parse().unwrap()).unwrap();
        let split = schema.split(&"a=1,b=1,g=7,c=1".parse().unwrap()).unwrap();
        wanted.mark(split.rule, [&split.dataset, &split.collocation, &split.element]);
        assert_eq!(wanted.missing_count(), 0);
    }

    #[test]
    fn a_hundred_million_fields_are_counted_and_the_first_missing_are_named() {
        let mut wanted = wanted("class=od,date=20240101,type=fc,step=0/to/10000/by/1,number=0/to/10000");
        mark(&mut wanted, "class=od,date=20240101,type=fc,step=0,number=0");
        assert_eq!(wanted.missing_count(), 10_001 * 10_001 - 1);
        let first = wanted.missing().next().unwrap().to_string();
        assert_eq!(first, "class=od,date=20240101,type=fc,step=0,number=1");
    }

    #[test]
    fn an_optional_key_that_is_named_must_be_there() {
        let mut wanted = wanted("class=od,date=20240101,type=fc,step=0,number=1");
        mark(&mut wanted, "class=od,date=20240101,type=fc,step=0");
        assert_eq!(wanted.missing_count(), 1);
    }
}
