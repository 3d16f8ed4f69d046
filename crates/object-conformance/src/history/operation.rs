//! One operation of a history: what was asked of some keys, between which moments, and what came of it.
//!
//! What must stay true: a call is stamped before the operation begins and its return after it has ended, so the operation
//! takes effect between the two. Whoever has no return was killed: it took effect at any later moment, or never.

use std::fmt;

/// The number of something that holds a value: an entry, an array, a field.
pub type Key = u64;

/// The number of the value that a key holds. `None` when it holds nothing.
pub type Value = Option<u64>;

/// What an observer says that reads bytes which are no value's: a part of one, or a mix of two. Nobody ever writes it.
pub const GARBLED: Value = Some(u64::MAX);

/// A part of what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clause {
    /// If this key does not hold this, the operation is refused, and changes nothing.
    Requires(Key, Value),
    /// As [`Clause::Requires`], but the operation may be refused although the key holds this.
    Unchanged(Key, Value),
    /// Makes a key hold this.
    Sets(Key, Value),
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It took effect.
    Done,
    /// A requirement did not hold, so it changed nothing.
    Refused,
    /// Nobody knows.
    Unknown,
}

/// An operation that took effect at one moment between its call and its return, on all its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// Who did it.
    pub process: u64,
    /// Its name, for reports.
    pub name: String,
    /// When it was called, in nanoseconds of a clock that all processes share.
    pub called: u64,
    /// When it returned.
    pub returned: Option<u64>,
    /// What was asked for.
    pub clauses: Vec<Clause>,
    /// What it saw of the keys that it read.
    pub saw: Vec<(Key, Value)>,
    /// How it ended.
    pub outcome: Outcome,
    /// The epoch that it gave.
    pub epoch: Option<u64>,
}

impl Operation {
    /// The keys that it concerns.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        let asked = self.clauses.iter().map(|part| match part {
            Clause::Requires(key, _) | Clause::Unchanged(key, _) | Clause::Sets(key, _) => *key,
        });
        asked.chain(self.saw.iter().map(|(key, _)| *key))
    }

    /// What keys hold if it takes effect.
    pub fn changes(&self) -> impl Iterator<Item = (Key, Value)> {
        self.clauses.iter().filter_map(|part| match part {
            Clause::Sets(key, value) => Some((*key, *value)),
            _ => None,
        })
    }

    /// Whether it changed nothing.
    pub fn is_passive(&self) -> bool {
        self.outcome == Outcome::Refused || self.changes().next().is_none()
    }

    /// The same with an unknown outcome.
    pub fn unfinished(&self) -> Self {
        let (returned, outcome, saw, epoch) = (None, Outcome::Unknown, Vec::new(), None);
        Self {
            returned,
            outcome,
            saw,
            epoch,
            name: self.name.clone(),
            clauses: self.clauses.clone(),
            ..*self
        }
    }
}

fn held(value: Value) -> String {
    match value {
        GARBLED => "garbled".to_owned(),
        Some(number) => number.to_string(),
        None => "nothing".to_owned(),
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        for part in &self.clauses {
            match part {
                Clause::Requires(key, value) => write!(f, ", if k{key} is {}", held(*value))?,
                Clause::Unchanged(key, value) => write!(f, ", if k{key} is still {}", held(*value))?,
                Clause::Sets(key, value) => write!(f, ", k{key} = {}", held(*value))?,
            }
        }
        for (key, value) in &self.saw {
            write!(f, ", k{key} was {}", held(*value))?;
        }
        match self.outcome {
            Outcome::Done => Ok(()),
            Outcome::Refused => write!(f, ": refused"),
            Outcome::Unknown => write!(f, ": no answer"),
        }
    }
}
