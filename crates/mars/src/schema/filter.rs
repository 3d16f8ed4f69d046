//! [`LevelFilter`]: what a request wants of one level of a rule.

use std::collections::HashSet;
use std::sync::Arc;

use super::rule::LevelKey;
use crate::key::Key;
use crate::text::push_joined;
use crate::types::{KeyType, wind};

/// What a request wants of the keys of one level, in the order of the schema.
#[derive(Clone, Debug)]
pub struct LevelFilter {
    pub(super) keys: Vec<KeyFilter>,
}

#[derive(Clone, Debug)]
pub(super) struct KeyFilter {
    pub(super) key: Arc<LevelKey>,
    pub(super) wanted: Wanted,
}

/// What a request wants of one key.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// Whatever it is.
    Any,
    /// One of these canonical values, in the request's order. An empty value stands for a key that is absent.
    OneOf(Values),
    /// None of these: the rule takes no such field.
    NoneOf(Values),
}

/// A shared list of values that is also quick to search.
#[derive(Clone, Debug)]
pub struct Values {
    list: Arc<[String]>,
    /// Only for lists long enough that searching them one by one would cost more.
    set: Option<Arc<HashSet<String>>>,
}

const SEARCHED_IN_ORDER_MAX: usize = 12;

impl Values {
    pub(super) fn new(list: Vec<String>) -> Self {
        let set = (list.len() > SEARCHED_IN_ORDER_MAX).then(|| Arc::new(list.iter().cloned().collect()));
        Self { list: list.into(), set }
    }

    /// The values in order.
    #[must_use]
    pub fn as_slice(&self) -> &[String] {
        &self.list
    }

    /// Whether `value` is one of them.
    #[must_use]
    pub fn contains(&self, value: &str) -> bool {
        match &self.set {
            Some(set) => set.contains(value),
            None => self.list.iter().any(|known| known == value),
        }
    }
}

impl Wanted {
    /// Whether a canonical value is wanted.
    pub(super) fn admits(&self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(values) => values.contains(value),
            Self::NoneOf(values) => !values.contains(value),
        }
    }

    /// As a schema says it: `oper/scda`, `!od`.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Any => String::new(),
            Self::OneOf(values) => values.as_slice().join("/"),
            Self::NoneOf(values) => format!("!{}", values.as_slice().join("/")),
        }
    }
}

impl KeyFilter {
    fn admits(&self, value: &str) -> bool {
        let may_be_absent = !value.is_empty() || !self.key.is_mandatory() || self.key.kind == KeyType::Ignore;
        may_be_absent && self.wanted.admits(value)
    }
}

impl LevelFilter {
    /// Whether a stored level key is one of this rule's level and wanted by the request.
    #[must_use]
    pub fn matches(&self, level_key: &Key) -> bool {
        let known = level_key.iter().filter(|(name, _)| self.find(name).is_some()).count();
        known == level_key.len()
            && self.keys.iter().enumerate().all(|(index, filter)| {
                let name = filter.key.kept.as_str();
                // A stored level key has its keys in the order of the schema; look there first.
                let value = match level_key.slot(index) {
                    Some((here, value)) if here == name => value,
                    _ => level_key.get(name).unwrap_or(""),
                };
                filter.admits(value)
            })
    }

    /// Whether this stored value of one key is wanted; empty for a key that is absent. Names the level does not know
    /// want no value.
    #[must_use]
    pub fn matches_value(&self, name: &str, stored: &str) -> bool {
        match self.find(name) {
            Some(filter) => filter.admits(stored),
            None => stored.is_empty(),
        }
    }

    /// What is wanted of one key, by the name the level keeps it under.
    #[must_use]
    pub fn wanted(&self, name: &str) -> Option<&Wanted> {
        self.find(name).map(|filter| &filter.wanted)
    }

    /// Every key with what is wanted of it, in the order of the schema.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = (&LevelKey, &Wanted)> {
        self.keys.iter().map(|filter| (filter.key.as_ref(), &filter.wanted))
    }

    /// The names under which the level keeps its keys, in the order of the schema.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.iter().map(|filter| filter.key.kept.as_str())
    }

    /// How many keys [`LevelFilter::candidates`] has; `None` if they cannot be named.
    #[must_use]
    pub fn candidate_count(&self) -> Option<u64> {
        self.keys.iter().try_fold(1_u64, |count, filter| match &filter.wanted {
            Wanted::OneOf(values) => Some(count.saturating_mul(values.as_slice().len() as u64)),
            _ => None,
        })
    }

    /// Every level key that is wanted, for looking each up: the values in the request's order, the last key of the
    /// level changing fastest. `None` if some key may be anything: for a plan of [`Match::Exact`](super::Match::Exact)
    /// only where the request says so by a word such as `all`.
    #[must_use]
    pub fn candidates(&self) -> Option<Candidates> {
        let lists = self.keys.iter().map(|filter| match &filter.wanted {
            Wanted::OneOf(values) => Some((Arc::clone(&filter.key), values.clone())),
            _ => None,
        });
        let lists: Vec<_> = lists.collect::<Option<_>>()?;
        let any = lists.iter().all(|(_, values)| !values.as_slice().is_empty());
        Some(Candidates { next: any.then(|| vec![0; lists.len()]), lists })
    }

    /// This filter with only the values that are `present`, by name and value, for leaving out what an index does not
    /// hold; `None` if a key has no value left, so that nothing can match. Where a component of the wind is wanted and
    /// not there, the vorticity and divergence take its place if both are.
    #[must_use]
    pub fn restricted(&self, mut present: impl FnMut(&str, &str) -> bool) -> Option<Self> {
        let mut keys = self.keys.clone();
        for filter in &mut keys {
            let Wanted::OneOf(values) = &filter.wanted else { continue };
            let name = filter.key.kept.as_str();
            let (mut left, absent): (Vec<String>, Vec<String>) =
                values.as_slice().iter().cloned().partition(|value| present(name, value));
            if filter.key.is_param() {
                push_stored_winds(&mut left, &absent, |value| present(name, value));
            }
            if left.is_empty() {
                return None;
            }
            if left.len() != values.as_slice().len() || !absent.is_empty() {
                filter.wanted = Wanted::OneOf(Values::new(left));
            }
        }
        Some(Self { keys })
    }

    /// This filter with the values of an index, by name, in place of any value: so that it can name every key.
    #[must_use]
    pub fn enumerated<V: Into<String>>(&self, mut values: impl FnMut(&str) -> Vec<V>) -> Self {
        let mut keys = self.keys.clone();
        for filter in keys.iter_mut().filter(|filter| !matches!(filter.wanted, Wanted::OneOf(_))) {
            let there = values(&filter.key.kept).into_iter().map(Into::into);
            filter.wanted = Wanted::OneOf(Values::new(there.filter(|value| filter.admits(value)).collect()));
        }
        Self { keys }
    }

    /// The values of a key that [`LevelFilter::restricted`] may ask for: those that are wanted, and for the components of winds
    /// their vorticity and divergence. `None` if others are wanted too.
    #[must_use]
    pub fn named_values(&self, name: &str) -> Option<Vec<&str>> {
        let filter = self.find(name)?;
        let Wanted::OneOf(values) = &filter.wanted else { return None };
        let mut named: Vec<&str> = values.as_slice().iter().map(String::as_str).collect();
        if filter.key.is_param() {
            named.extend(values.as_slice().iter().filter_map(|value| wind::stored_for(value)).flatten());
        }
        Some(named)
    }

    fn find(&self, name: &str) -> Option<&KeyFilter> {
        self.keys.iter().find(|filter| filter.key.kept == name)
    }
}

/// Adds the vorticity and divergence that stand for the components of winds among the `absent` parameters.
fn push_stored_winds(left: &mut Vec<String>, absent: &[String], mut present: impl FnMut(&str) -> bool) {
    for stored in absent.iter().filter_map(|param| wind::stored_for(param)) {
        if !stored.into_iter().all(&mut present) {
            continue;
        }
        for param in stored {
            if left.iter().all(|known| known != param) {
                left.push(param.to_owned());
            }
        }
    }
}

/// The level keys a filter can name, one by one.
#[derive(Clone, Debug)]
pub struct Candidates {
    lists: Vec<(Arc<LevelKey>, Values)>,
    /// Which value of each list comes next; `None` when all have been.
    next: Option<Vec<usize>>,
}

impl Candidates {
    /// The [`Key::values_joined`] of each, for which every value is escaped once.
    #[must_use]
    pub fn joined(self) -> JoinedCandidates {
        let escaped = |value: &String| {
            let mut text = String::new();
            push_joined(&mut text, value);
            text
        };
        let lists = self.lists.iter().map(|(_, values)| values.as_slice().iter().map(escaped).collect());
        JoinedCandidates { lists: lists.collect(), candidates: self }
    }

    /// Goes on to the next.
    fn turn(&mut self) {
        let Some(next) = &mut self.next else { return };
        for ((_, values), index) in self.lists.iter().zip(next.iter_mut()).rev() {
            *index += 1;
            if *index < values.as_slice().len() {
                return;
            }
            *index = 0;
        }
        self.next = None;
    }
}

impl Iterator for Candidates {
    type Item = Key;

    fn next(&mut self) -> Option<Key> {
        let next = self.next.as_ref()?;
        let mut key = Key::new();
        for ((level_key, values), index) in self.lists.iter().zip(next) {
            let value = values.as_slice().get(*index).map_or("", String::as_str);
            key.push_with(&level_key.kept, |text| text.push_str(value));
        }
        self.turn();
        Some(key)
    }
}

/// The values of the level keys that a filter can name, joined, one by one.
#[derive(Clone, Debug)]
pub struct JoinedCandidates {
    candidates: Candidates,
    /// The values of the candidates, escaped.
    lists: Vec<Vec<String>>,
}

impl Iterator for JoinedCandidates {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let next = self.candidates.next.as_ref()?;
        let values = || self.lists.iter().zip(next).filter_map(|(list, index)| list.get(*index));
        let mut joined = String::with_capacity(values().map(|value| value.len() + 1).sum());
        for (number, value) in values().enumerate() {
            if number > 0 {
                joined.push(':');
            }
            joined.push_str(value);
        }
        self.candidates.turn();
        Some(joined)
    }
}
