//! Patterns on dataset keys: `*` for every dataset, or `class=od,expver=xx..` with a regular expression for each value.
//! An FDB pattern is one expression on all values.

use std::{fmt, str::FromStr};

use isotach_mars::Key;
use regex_lite::Regex;

use crate::{Error, Result};

/// The datasets that a space takes. Each expression must match the whole value. An absent key has the empty value.
///
/// ```
/// use isotach_fields::Pattern;
/// use isotach_mars::Key;
/// let pattern: Pattern = "class=od|rd,expver=0...".parse()?;
/// assert!(pattern.matches(&Key::new().with("class", "rd").with("expver", "0001")));
/// assert!(!pattern.matches(&Key::new().with("class", "rd").with("expver", "xxxx")));
/// # Ok::<(), isotach_fields::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    terms: Vec<Term>,
    /// An expression on the values of the whole key, joined by `:`.
    joined: Option<Regex>,
    /// Patterns that must match as well.
    and: Vec<Self>,
    /// Patterns that must not match.
    unless: Vec<Self>,
}

impl Pattern {
    /// Every dataset.
    pub fn all() -> Self {
        Self::of("*", Vec::new())
    }

    fn of(text: &str, terms: Vec<Term>) -> Self {
        Self { text: text.to_owned(), terms, joined: None, and: Vec::new(), unless: Vec::new() }
    }

    /// Whether a dataset with this key belongs here.
    pub fn matches(&self, dataset: &Key) -> bool {
        let joined = self.joined.as_ref().is_none_or(|regex| regex.is_match(&dataset.values_joined()));
        joined
            && self.terms.iter().all(|term| term.matches(dataset))
            && self.and.iter().all(|pattern| pattern.matches(dataset))
            && !self.unless.iter().any(|pattern| pattern.matches(dataset))
    }

    /// The intersection with another pattern.
    #[must_use]
    pub(super) fn and(mut self, other: Self) -> Self {
        match (self.text.as_str(), other.text.as_str()) {
            (_, "*") => return self,
            ("*", _) => return other,
            (one, other) => self.text = format!("{one} and {other}"),
        }
        self.and.push(other);
        self
    }

    /// The difference from another pattern.
    #[must_use]
    pub(super) fn unless(mut self, other: Self) -> Self {
        self.text = format!("{} but not {}", self.text, other.text);
        self.unless.push(other);
        self
    }

    /// The keys with an expression.
    pub(super) fn names(&self) -> Vec<&str> {
        let inner = self.and.iter().chain(&self.unless).flat_map(Self::names);
        self.terms.iter().map(|term| term.name.as_str()).chain(inner).collect()
    }

    /// The selection of an FDB lane: an expression for each name, searched within the value. An absent key does not
    /// match.
    pub(super) fn of_lane(text: &str) -> Result<Self> {
        if text.trim().is_empty() {
            return Ok(Self::all());
        }
        let lane_term = |part: &str| {
            let (name, value) = name_and_value(part)?;
            Ok(Term { name, regex: expression(value.trim(), part)?, takes_absent: false })
        };
        Ok(Self::of(text, text.split(',').map(lane_term).collect::<Result<_>>()?))
    }

    /// An expression for each of some names.
    pub(super) fn of_values<'a>(terms: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let terms: Vec<(&str, &str)> = terms.into_iter().collect();
        let text = terms.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",");
        let terms = terms.into_iter().map(|(name, value)| term(name, value)).collect::<Result<_>>()?;
        Ok(Self::of(&text, terms))
    }

    /// An expression that is searched in the key's values joined by `:`, as FDB does.
    pub(super) fn of_joined(text: &str) -> Result<Self> {
        if text == ".*" {
            return Ok(Self::all());
        }
        let joined = Some(expression(text, text)?);
        Ok(Self { joined, ..Self::of(text, Vec::new()) })
    }
}

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        if text == "*" || text == ".*" {
            return Ok(Self::all());
        }
        let terms = text.split(',').map(parse_term).collect::<Result<_>>()?;
        Ok(Self::of(text, terms))
    }
}

/// An expression for one value of the key.
#[derive(Debug, Clone)]
struct Term {
    name: String,
    regex: Regex,
    /// Whether an absent key counts as the empty value.
    takes_absent: bool,
}

impl Term {
    fn matches(&self, dataset: &Key) -> bool {
        let value = dataset.get(&self.name).unwrap_or_default();
        (self.takes_absent || !value.is_empty()) && self.regex.is_match(value)
    }
}

fn parse_term(text: &str) -> Result<Term> {
    let (name, value) = name_and_value(text)?;
    term(&name, value)
}

fn name_and_value(text: &str) -> Result<(String, &str)> {
    let wrong = |expected: &str| Error::invalid(format!("pattern {text:?}"), expected);
    let (name, value) = text.split_once('=').ok_or_else(|| wrong("name=expression, or * for all"))?;
    if name.trim().is_empty() {
        return Err(wrong("a key name before '='"));
    }
    Ok((name.trim().to_ascii_lowercase(), value))
}

fn term(name: &str, value: &str) -> Result<Term> {
    let pattern = format!("{name}={value}");
    let regex = expression(&format!("^(?:{})$", value.trim()), &pattern)?;
    Ok(Term { name: name.trim().to_ascii_lowercase(), regex, takes_absent: true })
}

/// Compiles a part of this pattern.
fn expression(text: &str, pattern: &str) -> Result<Regex> {
    let wrong =
        |error| Error::invalid(format!("pattern {pattern:?}"), format!("a regular expression: {error}"));
    Regex::new(text).map_err(wrong)
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_must_match_the_whole_value_and_every_term_counts() {
        let pattern: Pattern = "class=od,expver=xx..".parse().unwrap();
        let key = |class, expver| Key::new().with("class", class).with("expver", expver);
        assert!(pattern.matches(&key("od", "xx12")));
        assert!(!pattern.matches(&key("od", "xx123")));
        assert!(!pattern.matches(&key("rd", "xx12")));
        assert!(Pattern::all().matches(&Key::new()));
    }

    #[test]
    fn a_wrong_pattern_says_what_was_expected() {
        for (text, expected) in
            [("class", "name=expression"), ("=od", "a key name"), ("class=(", "a regular")]
        {
            let message = text.parse::<Pattern>().unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
