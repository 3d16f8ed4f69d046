//! A breach of a rule.

use std::fmt;

/// A breach of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// `file:line`, relative to the repository, or the crate that is meant.
    pub place: String,
    /// The rule, as a sentence without its full stop.
    pub rule: &'static str,
    /// What was found and what to do instead.
    pub instead: String,
}

impl Finding {
    /// A breach at a line, counted from 1.
    pub fn at(path: &str, line: usize, rule: &'static str, instead: impl Into<String>) -> Self {
        Self { place: format!("{path}:{line}"), rule, instead: instead.into() }
    }

    /// A breach by a thing that has no line.
    pub fn of(place: impl Into<String>, rule: &'static str, instead: impl Into<String>) -> Self {
        Self { place: place.into(), rule, instead: instead.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.rule, self.instead)
    }
}

/// All findings as one text, in order of place; empty if there are none.
pub fn report(findings: &[Finding]) -> String {
    let mut lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
    lines.sort();
    lines.join("\n")
}
