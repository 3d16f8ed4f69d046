//! Looking a cell up without copying all its operations.

use std::ops::Range;

use isotach_object::Result;

use crate::index::{
    entry::{BytesRef, Entry, LayerEntry},
    ops::{Resolved, Resolving},
    state::{Layer, State},
};

/// The contents of a cell.
#[derive(Debug)]
pub(crate) enum CellContent {
    Nothing,
    /// A single value.
    Value(Entry),
    /// Bytes, with the parts of the requested range.
    Bytes(Resolved),
}

impl State {
    /// The contents of a range at a path.
    pub(crate) fn lookup(&self, path: &[u8], range: Range<u64>) -> Result<CellContent> {
        // Newest first, down to the entry that hides all older ones.
        let mut lent: Vec<BytesRef<'_>> = Vec::new();
        for layer in self.layers() {
            match layer.layer_entry(path)? {
                Some(LayerEntry::Bytes(bytes)) => {
                    if lent.is_empty()
                        && let Some(resolved) = bytes.get().resolve_in_order(&range)
                    {
                        return Ok(CellContent::Bytes(resolved));
                    }
                    lent.push(bytes);
                }
                Some(LayerEntry::Other(entry)) => {
                    // Punching a single value does nothing; writing bytes drops it.
                    let is_dropped = lent.iter().any(|bytes| bytes.get().creates());
                    if entry.is_live() && !is_dropped {
                        return Ok(CellContent::Value(entry));
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
            return Ok(CellContent::Nothing);
        }
        let mut resolving = Resolving::of(range);
        lent.iter().rev().for_each(|bytes| resolving.apply_all(bytes.get()));
        Ok(CellContent::Bytes(resolving.into()))
    }
}

impl<'s> Layer<'s> {
    fn layer_entry(&self, path: &[u8]) -> Result<Option<LayerEntry<'s>>> {
        match self {
            Self::Table(table) => table.layer_entry(path),
            Self::Run(run) => run.layer_entry(path),
        }
    }
}
