//! What can be wrong with keys, requests and schemas, with the facts a caller needs to put it right.

use std::fmt;

use thiserror::Error;

use crate::types::KeyType;

/// What is wrong with a field's key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is not of the form `name=value,name=value`.
    #[error("at character {} of {text:?}: expected {expected}", characters_before(.text, *.offset) + 1)]
    Syntax {
        /// The text that was read.
        text: String,
        /// Where, in bytes.
        offset: usize,
        /// What should have stood there.
        expected: String,
    },
    /// A value is not of its key's type.
    #[error("{name}={value:?}: expected {expected}")]
    BadValue {
        /// The key.
        name: String,
        /// Its value, as given.
        value: String,
        /// The type the schema gives the key.
        kind: KeyType,
        /// What the value should have been.
        expected: String,
    },
    /// No rule of the schema takes the key, or the first that does leaves some of it unused.
    #[error("no rule of the schema fits the key {key}{}", nearest_text(.nearest.as_ref()))]
    NoRule {
        /// The key.
        key: String,
        /// The rule that came nearest; `None` if the schema has no rules.
        nearest: Option<Mismatch>,
    },
}

/// Why a rule of the schema does not fit a key or request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The keys of the rule, as a schema has them: `[class [type [step, number?]]]`.
    pub rule: Box<str>,
    /// The line of the schema on which the rule begins.
    pub line: usize,
    /// Keys that the rule needs and that were not given.
    pub missing: Vec<String>,
    /// Keys that were given and that the rule has no place for.
    pub unused: Vec<String>,
    /// Keys whose value the rule does not take, with what it takes.
    pub refused: Vec<Refused>,
}

/// A key whose value a rule does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The key.
    pub name: String,
    /// Its value, as given.
    pub value: String,
    /// What the rule takes, as the schema says it: `oper/scda`, `!od`.
    pub allowed: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the rule {} at line {}", self.rule, self.line)?;
        let mut before = " ";
        for refused in &self.refused {
            write!(out, "{before}wants {}={}, not {}", refused.name, refused.allowed, refused.value)?;
            before = " and ";
        }
        if !self.missing.is_empty() {
            write!(out, "{before}also needs {}", self.missing.join(", "))?;
            before = " and ";
        }
        if !self.unused.is_empty() {
            write!(out, "{before}has no place for {}", self.unused.join(", "))?;
        }
        Ok(())
    }
}

fn nearest_text(nearest: Option<&Mismatch>) -> String {
    nearest.map_or_else(|| ": it has no rules".to_owned(), |mismatch| format!(": {mismatch}"))
}

fn characters_before(text: &str, offset: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < offset).count()
}

/// What is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The text is not a request.
    #[error("line {line}, column {column}: expected {expected}, found {found}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, from 1, in characters.
        column: usize,
        /// What should have stood there.
        expected: String,
        /// What stood there.
        found: String,
    },
    /// The schema has no such key in any rule.
    #[error("unknown key {name:?}{}", suggestion_text(.suggestion.as_deref()))]
    UnknownKey {
        /// The key.
        name: String,
        /// The key of the schema that may have been meant.
        suggestion: Option<String>,
    },
    /// The name is a keyword of MARS that says nothing about which fields are meant, where only such names are taken that do.
    #[error("{name:?} is a keyword of MARS that has no effect here")]
    NoEffect {
        /// The keyword.
        name: String,
    },
    /// A key is switched off, where that would make a request mean more than it seems to.
    #[error(
        "{name}=off takes the key out of the request, which then means every {name}: name its values, or all"
    )]
    SwitchedOff {
        /// The key.
        name: String,
    },
    /// A value is not of its key's type.
    #[error("{name}={value:?}: expected {expected}")]
    BadValue {
        /// The key.
        name: String,
        /// The value, as given.
        value: String,
        /// What it should have been.
        expected: String,
    },
    /// A range of values is invalid.
    #[error("{name}={range}: {reason}")]
    BadRange {
        /// The key.
        name: String,
        /// The range, as given.
        range: String,
        /// Why not.
        reason: String,
    },
    /// The values of a key are too many.
    #[error("{name} comes to more than {limit} values")]
    TooManyValues {
        /// The key.
        name: String,
        /// How many one key may have.
        limit: usize,
    },
    /// Every rule that takes the values given needs more keys to say which fields are meant.
    #[error("the request is incomplete: in the schema, {0}")]
    Incomplete(Mismatch),
}

fn suggestion_text(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

/// What is wrong with the text of a schema, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
#[non_exhaustive]
pub struct SchemaError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What should have stood there.
    pub expected: String,
    /// What stood there.
    pub found: String,
}

/// Any error of the language of fields, for callers that treat the three alike.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// A key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A request.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A schema.
    #[error("schema: {0}")]
    Schema(#[from] SchemaError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_reads_as_a_sentence() {
        let mismatch = Mismatch {
            rule: "[stream [date [time]]]".into(),
            line: 7,
            missing: vec!["date".into(), "time".into()],
            unused: vec!["foo".into()],
            refused: vec![Refused { name: "stream".into(), value: "x".into(), allowed: "oper/scda".into() }],
        };
        assert_eq!(
            mismatch.to_string(),
            "the rule [stream [date [time]]] at line 7 wants stream=oper/scda, not x and also needs date, time and has no \
             place for foo"
        );
    }
}
