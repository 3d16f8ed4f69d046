//! Positions in a container's history.

use std::fmt;

use crate::Label;

/// A position in a container's history. Later is greater; nothing else is promised about the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Epoch(pub u64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A past state of a container that has a name and stays readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name.
    pub name: Label,
    /// The last epoch that it shows.
    pub epoch: Epoch,
}
