//! [`Key`]: the name of a field, or of one level of it, as ordered pairs of name and value.
//!
//! What must stay true: names are lower case and unique; an empty value is an absent one, for comparing, counting and
//! showing alike, but it keeps its place, because a level key has a place for every key of its level.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use crate::error::KeyError;
use crate::text;

/// Ordered pairs of name and value, such as `class=od,expver=0001,step=24`.
///
/// Names are stored in lower case. A pair with an empty value counts as absent everywhere except in
/// [`Key::slots`] and [`Key::values_joined`], where it holds its place.
///
/// ```
/// use isotach_mars::Key;
///
/// let key: Key = "class=od,Step=24".parse()?;
/// assert_eq!(key.get("step"), Some("24"));
/// assert_eq!(key.to_string(), "class=od,step=24");
/// # Ok::<(), isotach_mars::KeyError>(())
/// ```
#[derive(Clone, Default)]
pub struct Key {
    /// Every name and value, one after the other: one allocation for the whole key.
    text: String,
    spans: Vec<Span>,
}

/// Bytes of the name and the value of a usual pair.
const PAIR: usize = 12;

/// Where a pair ends in the text; it begins where the one before ends.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Span {
    name_end: usize,
    value_end: usize,
}

impl Key {
    /// A key without pairs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A key without pairs that has memory for `pairs` of usual length.
    #[must_use]
    pub fn with_capacity(pairs: usize) -> Self {
        Self { text: String::with_capacity(pairs.saturating_mul(PAIR)), spans: Vec::with_capacity(pairs) }
    }

    /// Sets `name` to `value`: in place if the name is there, at the end if it is new.
    pub fn set(&mut self, name: &str, value: &str) {
        match self.position(name) {
            Some(index) => self.replace(index, value),
            None => {
                self.push_with(name, |text| text.push_str(value));
                self.lower_last_name();
            }
        }
    }

    /// [`Key::set`], for building a key in one expression.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.set(name, value);
        self
    }

    /// The value of `name`; `None` if it is absent or empty. The case of `name` does not matter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let index = self.position(name)?;
        Some(self.slot(index)?.1).filter(|value| !value.is_empty())
    }

    /// Whether `name` has a value.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The pairs that have a value, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.slots().filter(|(_, value)| !value.is_empty())
    }

    /// Every pair in order, those with an empty value too.
    pub fn slots(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        let mut start = 0;
        self.spans.iter().map(move |span| {
            let pair = (&self.text[start..span.name_end], &self.text[span.name_end..span.value_end]);
            start = span.value_end;
            pair
        })
    }

    /// How many pairs there are, those with an empty value too.
    pub(crate) fn slot_count(&self) -> usize {
        self.spans.len()
    }

    /// How many pairs at the beginning are those of `other`.
    pub(crate) fn slots_shared_with(&self, other: &Self) -> usize {
        let bytes = self.text.bytes().zip(other.text.bytes()).take_while(|(own, other)| own == other).count();
        let spans = self.spans.iter().zip(&other.spans);
        spans.take_while(|(own, other)| own == other && own.value_end <= bytes).count()
    }

    /// How many pairs have a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether no pair has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Removes all pairs and keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
    }

    /// Becomes a copy of `other`, in the memory that this key has.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.clear();
        self.text.push_str(&other.text);
        self.spans.extend_from_slice(&other.spans);
    }

    /// Sets every pair of `other` in this key.
    pub fn extend_from(&mut self, other: &Self) {
        for (name, value) in other.slots() {
            self.set(name, value);
        }
    }

    /// Whether both hold the same pairs, in whatever order. (`==` asks for the same order.)
    #[must_use]
    pub fn same_pairs(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }

    /// The values in order, joined by `:`, absent ones empty: the text under which a level key is indexed.
    ///
    /// `:`, `/` and `%` inside a value are escaped, so that [`Key::from_joined`] brings back any value.
    ///
    /// ```
    /// use isotach_mars::Key;
    ///
    /// let key = Key::new().with("step", "24").with("levelist", "").with("quantile", "1:10");
    /// assert_eq!(key.values_joined(), "24::1%3A10");
    /// let names = ["step", "levelist", "quantile"];
    /// assert_eq!(Key::from_joined(names, "24::1%3A10"), Some(key));
    /// ```
    #[must_use]
    pub fn values_joined(&self) -> String {
        let mut joined = String::with_capacity(self.text.len());
        self.values_joined_into(&mut joined);
        joined
    }

    /// [`Key::values_joined`], appended to a buffer of the caller's.
    pub fn values_joined_into(&self, out: &mut String) {
        for (index, (_, value)) in self.slots().enumerate() {
            if index > 0 {
                out.push(':');
            }
            text::push_joined(out, value);
        }
    }

    /// The level key with these `names` whose [`Key::values_joined`] is `joined`; `None` if the number of values is
    /// not the number of names or an escape is broken.
    #[must_use]
    pub fn from_joined<'a>(names: impl IntoIterator<Item = &'a str>, joined: &str) -> Option<Self> {
        Self::new().with_joined(names, joined)
    }

    /// This key followed by the pairs of [`Key::from_joined`], whose names it does not have.
    #[must_use]
    pub fn followed_by<'a>(
        &self,
        names: impl ExactSizeIterator<Item = &'a str>,
        joined: &str,
    ) -> Option<Self> {
        let count = self.spans.len() + names.len();
        // One allocation for the text: names are about as long as values.
        let mut key = Self {
            text: String::with_capacity(self.text.len() + 3 * joined.len() + 32),
            spans: Vec::with_capacity(count),
        };
        key.text.push_str(&self.text);
        key.spans.extend_from_slice(&self.spans);
        key.with_joined(names, joined)
    }

    fn with_joined<'a>(mut self, names: impl IntoIterator<Item = &'a str>, joined: &str) -> Option<Self> {
        let mut names = names.into_iter().peekable();
        if names.peek().is_none() {
            return joined.is_empty().then_some(self);
        }
        for part in joined.split(':') {
            let name = names.next()?;
            let mut whole = Some(());
            self.push_with(name, |text| whole = text::push_unjoined(text, part));
            whole?;
        }
        names.next().is_none().then_some(self)
    }

    /// Appends a pair whose value `write` appends to the text it is given. The name must be lower case and new.
    pub(crate) fn push_with(&mut self, name: &str, write: impl FnOnce(&mut String)) {
        self.text.push_str(name);
        let name_end = self.text.len();
        write(&mut self.text);
        self.spans.push(Span { name_end, value_end: self.text.len() });
    }

    fn lower_last_name(&mut self) {
        let count = self.spans.len();
        let start = self.start(count.saturating_sub(1));
        if let Some(name) = self.spans.last().and_then(|last| self.text.get_mut(start..last.name_end)) {
            name.make_ascii_lowercase();
        }
    }

    fn replace(&mut self, index: usize, value: &str) {
        let Some(span) = self.spans.get(index).copied() else { return };
        self.text.replace_range(span.name_end..span.value_end, value);
        let removed = span.value_end - span.name_end;
        for (at, later) in self.spans.iter_mut().enumerate().skip(index) {
            if at > index {
                later.name_end = later.name_end - removed + value.len();
            }
            later.value_end = later.value_end - removed + value.len();
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        let mut start = 0;
        for (index, span) in self.spans.iter().enumerate() {
            if span.name_end - start == name.len()
                && self.text[start..span.name_end].eq_ignore_ascii_case(name)
            {
                return Some(index);
            }
            start = span.value_end;
        }
        None
    }

    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.spans.get(index - 1).map_or(0, |span| span.value_end) }
    }

    /// The pair at `index`, absent values as empty text.
    pub(crate) fn slot(&self, index: usize) -> Option<(&str, &str)> {
        let span = self.spans.get(index)?;
        Some((&self.text[self.start(index)..span.name_end], &self.text[span.name_end..span.value_end]))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for pair in self.iter() {
            pair.hash(state);
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{{{self}}}")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.iter().enumerate() {
            if index > 0 {
                out.write_str(",")?;
            }
            text::write_quoted(out, name)?;
            out.write_str("=")?;
            // A key has one value per name, so a slash needs no quotes here, unlike in a request.
            if value.contains('/') && !value.replace('/', "").is_empty() {
                write_value_with_slashes(out, value)?;
            } else {
                text::write_quoted(out, value)?;
            }
        }
        Ok(())
    }
}

fn write_value_with_slashes(out: &mut fmt::Formatter<'_>, value: &str) -> fmt::Result {
    let mut plain = String::with_capacity(value.len());
    text::write_quoted(&mut plain, &value.replace('/', "-"))?;
    if plain.starts_with('"') { text::write_quoted(out, value) } else { out.write_str(value) }
}

impl FromStr for Key {
    type Err = KeyError;

    /// Reads `name=value,name=value`. Values may stand in single or double quotes; a name may be given once.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        crate::key_text::parse(text)
    }
}

impl<N: AsRef<str>, V: AsRef<str>> FromIterator<(N, V)> for Key {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut key = Self::new();
        for (name, value) in pairs {
            key.set(name.as_ref(), value.as_ref());
        }
        key
    }
}

impl<N: AsRef<str>, V: AsRef<str>> From<Vec<(N, V)>> for Key {
    fn from(pairs: Vec<(N, V)>) -> Self {
        pairs.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_a_name_again_keeps_its_place_and_the_others_whole() {
        let mut key: Key = [("a", "1"), ("b", "22"), ("c", "333")].into_iter().collect();
        key.set("B", "4444");
        assert_eq!(key.to_string(), "a=1,b=4444,c=333");
        key.set("b", "");
        assert_eq!(key.to_string(), "a=1,c=333");
        assert_eq!(key.slots().count(), 3);
        assert_eq!(key.get("c"), Some("333"));
    }

    #[test]
    fn an_empty_value_is_an_absent_one() {
        let with = Key::new().with("a", "1").with("b", "");
        let without = Key::new().with("a", "1");
        assert_eq!(with, without);
        assert_eq!(with.len(), 1);
        assert!(!with.contains("b"));
    }

    #[test]
    fn joined_values_of_any_text_are_split_again() {
        let key = Key::new().with("a", "x:y/z%3A").with("b", "").with("c", "é%");
        let joined = key.values_joined();
        assert!(!joined.contains('/'), "{joined}");
        let back = Key::from_joined(["a", "b", "c"], &joined).unwrap();
        assert_eq!(back.slots().collect::<Vec<_>>(), key.slots().collect::<Vec<_>>());
    }

    #[test]
    fn joined_values_of_another_length_are_refused() {
        assert!(Key::from_joined(["a", "b"], "1").is_none());
        assert!(Key::from_joined(["a"], "1:2").is_none());
        assert!(Key::from_joined(["a"], "%4").is_none());
        assert!(Key::from_joined([], "").is_some());
    }

    #[test]
    fn keys_compare_in_order_and_pairs_without() {
        let left: Key = "a=1,b=2".parse().unwrap();
        let right: Key = "b=2,a=1".parse().unwrap();
        assert_ne!(left, right);
        assert!(left.same_pairs(&right));
    }
}
