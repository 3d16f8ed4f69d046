//! Ending the wipes of collocations that were killed, so that nobody waits for them.
//!
//! A wipe reads the *fence*, an entry of the dataset's container, counts itself in the dataset's record in the root, and
//! removes collocations on the condition that the fence is as it was read. Whoever ends wipes reads the record, changes the
//! fence, and sets the count to zero if the record is still as it was read. What must stay true:
//! - Every wipe that is in the record when it is read has read the fence before, so it removes nothing after the count is zero.
//! - A wipe takes its count back only if the record is as it was read before a look that found the fence unchanged. Then its
//!   own count is in it, and it takes away nobody else's.
//!
//! A wipe that lives and finds the fence changed begins again; see `wipe_collocation`.

use std::sync::Arc;

use isotach_object::{Cell, Container, Precondition, Update};

use crate::{
    Result,
    layout::{DATASET, ENTRY_FENCE, new_incarnation},
    root::{Entry, Root},
};

const CELL: Cell<'_> = Cell::kv(DATASET, ENTRY_FENCE);

/// The fence of a dataset as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence(Option<Vec<u8>>);

impl Fence {
    pub(crate) fn read(catalogue: &dyn Container) -> Result<Self> {
        Ok(Self(catalogue.get_many(&[CELL])?.pop().flatten()))
    }

    /// That nobody has changed it.
    pub(crate) fn unchanged(&self) -> Precondition<'_> {
        match &self.0 {
            None => Precondition::Absent(CELL),
            Some(value) => Precondition::Equals(CELL, value),
        }
    }
}

/// A handle of its own on a dataset's container of the catalogue, so that a reader's stays free of updates.
pub(crate) fn open_catalogue(root: &Root, entry: &Entry) -> Result<Arc<dyn Container>> {
    Ok(root.pool.open_container(&entry.record.label.parse()?)?)
}

/// Ends the wipes of collocations of a dataset that have begun and not ended. One that lives begins again. False where the
/// engine has no transactions, and so no fence: a wipe that lives could not be stopped.
pub(crate) fn end_wipes(root: &Root, entry: &Entry) -> Result<bool> {
    while let Some(now) = root.same_life(entry)? {
        if now.record.is_settled() {
            return Ok(true);
        }
        let catalogue = open_catalogue(root, entry)?;
        if !catalogue.capabilities().transactions {
            return Ok(false);
        }
        catalogue.update(&[Update::Put { cell: CELL, value: &new_incarnation().to_le_bytes() }])?;
        // Before the count is zero: whoever sees that finds every earlier wipe stopped.
        catalogue.flush()?;
        if root.replace(&entry.text, &now.record, &now.record.settled())? {
            return Ok(true);
        }
    }
    Ok(true)
}

/// As [`end_wipes`], also where nothing stops a wipe that lives: on the word of an operator that there is none.
pub(crate) fn end_wipes_unfenced(root: &Root, entry: &Entry) -> Result<()> {
    if !end_wipes(root, entry)? {
        root.change_record(entry, |now| {
            Ok(if now.record.is_settled() { now.record.clone() } else { now.record.settled() })
        })?;
    }
    Ok(())
}
