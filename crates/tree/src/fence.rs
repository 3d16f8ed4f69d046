//! [`Fence`]: what stops the commit of an array that a sweep may have destroyed. See `sweep`.

use isotach_object::{Cell, Precondition};

use crate::path;

/// The fence in the settings.
pub(crate) const CELL: Cell<'_> = Cell::kv(path::SETTINGS, b"sweep");

/// The fence as a writer has read it. `None` before the first sweep.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Fence(pub(crate) Option<Vec<u8>>);

impl Fence {
    /// That no sweep has begun since it was read.
    pub(crate) fn condition(&self) -> Precondition<'_> {
        self.0.as_deref().map_or(Precondition::Absent(CELL), |value| Precondition::Equals(CELL, value))
    }
}
