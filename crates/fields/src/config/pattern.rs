//! Patterns on dataset keys: `*` for every dataset, or `class=od,expver=xx..` with a regular expression per value. FDB's
//! are one expression on all values.

use std::{fmt, str::FromStr};

use isotach_mars::Key;
use regex_lite::Regex;

use crate::{Error, Result};

/// Which datasets a space takes. Each value's expression must match the whole value; a key that is not there has the
/// empty value.
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
    terms: Vec<(String, Regex)>,
    /// An expression on the values of the whole key, joined by `:`.
    joined: Option<Regex>,
}

impl Pattern {
    /// Every dataset.
    pub fn all() -> Self {
        Self { text: "*".to_owned(), terms: Vec::new(), joined: None }
    }

    /// Whether a dataset with this key belongs here.
    pub fn matches(&self, dataset: &Key) -> bool {
        let joined = self.joined.as_ref().is_none_or(|regex| regex.is_match(&dataset.values_joined()));
        joined && self.terms.iter().all(|(name, regex)| regex.is_match(dataset.get(name).unwrap_or_default()))
    }

    /// The keys it has an expression for.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|(name, _)| name.as_str())
    }

    /// An expression for each of some names.
    pub(super) fn of_values<'a>(terms: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let terms: Vec<(&str, &str)> = terms.into_iter().collect();
        let text = terms.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",");
        let terms = terms.into_iter().map(|(name, value)| term(name, value)).collect::<Result<_>>()?;
        Ok(Self { text, terms, joined: None })
    }

    /// An expression that is looked for in the key's values joined by `:`, as FDB does.
    pub(super) fn of_joined(text: &str) -> Result<Self> {
        if text == ".*" {
            return Ok(Self::all());
        }
        let joined = Some(expression(text, text)?);
        Ok(Self { text: text.to_owned(), terms: Vec::new(), joined })
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
        Ok(Self { text: text.to_owned(), terms, joined: None })
    }
}

fn parse_term(text: &str) -> Result<(String, Regex)> {
    let wrong = |expected: &str| Error::invalid(format!("pattern {text:?}"), expected);
    let (name, value) = text.split_once('=').ok_or_else(|| wrong("name=expression, or * for all"))?;
    if name.trim().is_empty() {
        return Err(wrong("a key name before '='"));
    }
    term(name, value)
}

fn term(name: &str, value: &str) -> Result<(String, Regex)> {
    let pattern = format!("{name}={value}");
    Ok((name.trim().to_ascii_lowercase(), expression(&format!("^(?:{})$", value.trim()), &pattern)?))
}

/// A regular expression that is a part of this pattern.
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
