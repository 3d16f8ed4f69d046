//! The axes of a collocation: the values that its elements have, for each of their keys.

use std::{cmp::Ordering, collections::BTreeSet};

use isotach_mars::LevelFilter;

/// The values of a collocation's elements, for each of their keys; empty for an absent one.
#[derive(Debug, Default)]
pub(crate) struct Axes(pub(crate) Vec<(Box<str>, BTreeSet<String>)>);

impl Axes {
    /// Whether an element has this value.
    pub(crate) fn contains(&self, name: &str, value: &str) -> bool {
        self.0.iter().find(|(known, _)| **known == *name).is_some_and(|(_, values)| values.contains(value))
    }

    /// The values of this key: an absent value first, then numbers by size.
    pub(crate) fn values(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().find(|(known, _)| **known == *name).map(|(_, values)| values);
        let mut values: Vec<String> = values.into_iter().flatten().cloned().collect();
        values.sort_by(|a, b| by_size(a, b));
        values.sort_by_key(|value| !value.is_empty());
        values
    }

    /// The most elements that there may be.
    pub(crate) fn element_count(&self) -> usize {
        self.0.iter().fold(1, |count, (_, values)| count.saturating_mul(values.len()))
    }

    /// Whether a filter accepts a value of every axis. If not, no element matches.
    pub(crate) fn may_match(&self, filter: &LevelFilter) -> bool {
        self.0.iter().all(|(name, values)| values.iter().any(|value| filter.matches_value(name, value)))
    }
}

/// Orders numbers by size, before words in alphabetical order.
pub(crate) fn by_size(a: &str, b: &str) -> Ordering {
    match (leading_number(a), leading_number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// The number that a value begins with: 6 of `6`, `6-12` and `6h30m`.
fn leading_number(text: &str) -> Option<f64> {
    let end =
        text.char_indices().find(|(at, c)| !(c.is_ascii_digit() || *c == '.' || (*c == '-' && *at == 0)));
    text[..end.map_or(text.len(), |(at, _)| at)].parse().ok()
}
