//! Locks on datasets: the actions that an operator has forbidden until they are unlocked.
//!
//! A lock is an entry of the root's control object, so checking a lock never reads the dataset. A writer checks it at
//! the start of a batch: at its first field, and at its first field after each flush. Fields that were archived before
//! the lock are still flushed. A move is recorded in the dataset's record instead. It counts as a lock against
//! archiving that also refuses flushes.

use std::{fmt, str::FromStr};

use isotach_mars::Key;

use crate::{Error, Result};

/// An action that a dataset can be locked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// Reading fields.
    Retrieve,
    /// Listing fields and axes.
    List,
    /// Archiving and adopting fields.
    Archive,
    /// Wiping the dataset or a part of it.
    Wipe,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Retrieve, Self::List, Self::Archive, Self::Wipe];

    /// Its name, as in FDB.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retrieve => "retrieve",
            Self::List => "list",
            Self::Archive => "archive",
            Self::Wipe => "wipe",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Action {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|action| action.name() == text);
        found.ok_or_else(|| Error::invalid(format!("action {text:?}"), "retrieve, list, archive or wipe"))
    }
}

/// The actions a dataset is locked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Locks(u8);

impl Locks {
    /// The bit, above those of the actions, that is set while a move has the dataset.
    const MOVING: u8 = 1 << 7;

    /// Whether this action is locked.
    pub fn contains(self, action: Action) -> bool {
        self.0 & Self::bit(action) != 0
    }

    /// Whether a move has the dataset, which locks archiving.
    pub fn is_moving(self) -> bool {
        self.0 & Self::MOVING != 0
    }

    /// Whether nothing is locked.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The locked actions.
    pub fn iter(self) -> impl Iterator<Item = Action> {
        Action::ALL.into_iter().filter(move |action| self.contains(*action))
    }

    pub(crate) fn set(&mut self, action: Action) {
        self.0 |= Self::bit(action);
    }

    /// Locks archiving because a move has the dataset.
    pub(crate) fn set_moving(&mut self) {
        self.0 |= Self::MOVING | Self::bit(Action::Archive);
    }

    /// Refuses a locked action.
    pub(crate) fn check(self, action: Action, dataset: &Key) -> Result<()> {
        if action == Action::Archive && self.is_moving() {
            return Err(Error::Moving { dataset: dataset.to_string() });
        }
        if self.contains(action) {
            return Err(Error::Locked { dataset: dataset.to_string(), action });
        }
        Ok(())
    }

    const fn bit(action: Action) -> u8 {
        1 << action as u8
    }
}

/// The key of a lock's entry in the root's control object: the action, `@`, the dataset's text.
pub(crate) fn control_key(action: Action, dataset: &str) -> String {
    format!("{action}@{dataset}")
}

/// Reads [`control_key`] back.
pub(crate) fn parse_control_key(key: &[u8]) -> Option<(Action, &str)> {
    let (action, dataset) = std::str::from_utf8(key).ok()?.split_once('@')?;
    Some((action.parse().ok()?, dataset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_holds_for_its_action_only() {
        let mut locks = Locks::default();
        locks.set(Action::Archive);
        assert!(locks.check(Action::Retrieve, &Key::new()).is_ok());
        let error = locks.check(Action::Archive, &Key::new().with("class", "od")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "dataset class=od is locked: no archive until it is unlocked (`isotach unlock REQUEST --archive`)"
        );
        assert_eq!(locks.iter().collect::<Vec<_>>(), [Action::Archive]);
    }

    #[test]
    fn a_control_key_reads_back() {
        let key = control_key(Action::Wipe, "a@b:c class,expver");
        assert_eq!(parse_control_key(key.as_bytes()), Some((Action::Wipe, "a@b:c class,expver")));
        assert!("format".parse::<Action>().is_err());
    }
}
