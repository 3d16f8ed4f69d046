//! Looking into a cell without making a copy of all that is known of it.

use std::ops::Range;

use isotach_object::Result;

use crate::index::{
    entry::{Entry, Known, Lent},
    ops::{Resolved, Resolving},
    state::{Layer, State},
};

/// What stands in a cell.
#[derive(Debug)]
pub(crate) enum Seen {
    Nothing,
    /// A single value.
    Value(Entry),
    /// Bytes, of which the parts are those of the range that was asked for.
    Bytes(Resolved),
}

impl State {
    /// What a reader sees of a range at a path.
    pub(crate) fn look(&self, path: &[u8], range: Range<u64>) -> Result<Seen> {
        // Newest first, down to what nothing older matters to.
        let mut lent: Vec<Lent<'_>> = Vec::new();
        for layer in self.layers() {
            match layer.known(path)? {
                Some(Known::Bytes(bytes)) => lent.push(bytes),
                Some(Known::Other(entry)) => {
                    // Punching a single value does nothing; writing bytes drops it.
                    let is_dropped = lent.iter().any(|bytes| bytes.get().creates());
                    if entry.is_live() && !is_dropped {
                        return Ok(Seen::Value(entry));
                    }
                    break;
                }
                None => {}
            }
            if lent.last().is_some_and(|bytes| bytes.get().complete) || layer.cut(path)?.is_some() {
                break;
            }
        }
        if !lent.iter().any(|bytes| bytes.get().creates()) {
            return Ok(Seen::Nothing);
        }
        let mut resolving = Resolving::of(range);
        lent.iter().rev().for_each(|bytes| resolving.apply_all(bytes.get()));
        Ok(Seen::Bytes(resolving.into()))
    }
}

impl<'s> Layer<'s> {
    fn known(&self, path: &[u8]) -> Result<Option<Known<'s>>> {
        match self {
            Self::Table(table) => table.known(path),
            Self::Run(run) => run.known(path),
        }
    }
}
