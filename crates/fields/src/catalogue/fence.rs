//! The fence of a dataset: an entry in each of its containers that stops wipes of collocations which others have ended.
//!
//! A wipe of collocations reads the fence before it is counted in the dataset's record, and removes objects on the
//! condition that the fence is unchanged. A process that ends wipes reads the record, changes the fence, and then sets
//! the count to zero on the condition that the record is unchanged. What must stay true:
//! - A wipe that is counted when the record is read has read the fence before. So it removes nothing after its count is
//!   gone.
//! - A wipe decrements the count only while the fence is unchanged. So it never removes the count of another wipe.
//!
//! An engine without transactions has no fence: nothing stops a wipe that is still running.

use std::sync::Arc;

use isotach_object::{Cell, Container, Error as ObjectError, Precondition, Transaction, Update};

use crate::{
    Result,
    catalogue::{
        layout::{DATASET, ENTRY_FENCE, new_incarnation},
        record::Record,
        root::{Entry, Root, conflict_is_false},
    },
    store::Inner,
};

const CELL: Cell<'_> = Cell::kv(DATASET, ENTRY_FENCE);

/// The number of updates that are applied in one call.
const UPDATES_MAX: usize = 4096;

/// A container with the fence that was read in it.
#[derive(Debug)]
pub(crate) struct Fenced {
    pub(crate) container: Arc<dyn Container>,
    fence: Option<Vec<u8>>,
}

impl Fenced {
    /// Reads the fence of a container.
    pub(crate) fn new(container: Arc<dyn Container>) -> Result<Self> {
        let fence = read(&*container)?;
        Ok(Self { container, fence })
    }

    /// Whether the fence is unchanged since it was read.
    pub(crate) fn is_unchanged(&self) -> Result<bool> {
        Ok(read(&*self.container)? == self.fence)
    }

    /// Applies all updates at once and returns true, or none and returns false if the fence has changed. On an engine
    /// without transactions they are applied in order.
    pub(crate) fn apply(&self, updates: &[Update<'_>]) -> Result<bool> {
        if !self.container.capabilities().transactions {
            self.container.update(updates)?;
            return Ok(true);
        }
        let unchanged = match &self.fence {
            None => Precondition::Absent(CELL),
            Some(value) => Precondition::Equals(CELL, value),
        };
        let staged = self.container.facets().staged_transactions.filter(|_| updates.len() > UPDATES_MAX);
        let Some(staged) = staged else {
            let transaction = Transaction { preconditions: vec![unchanged], updates: updates.to_vec() };
            return conflict_is_false(self.container.commit(&transaction));
        };
        let mut staging = staged.stage()?;
        updates.chunks(UPDATES_MAX).try_for_each(|some| staging.update(some))?;
        conflict_is_false(staging.commit(&[unchanged]))
    }
}

fn read(container: &dyn Container) -> Result<Option<Vec<u8>>> {
    Ok(container.get_many(&[CELL])?.pop().flatten())
}

/// Changes the fence of a container, durably.
fn change(container: &dyn Container) -> Result<()> {
    container.update(&[Update::Put { cell: CELL, value: &new_incarnation().to_le_bytes() }])?;
    Ok(container.flush()?)
}

impl Inner {
    /// Replaces the record of a dataset with the result of `next`. If that counts fewer wipes of collocations, the
    /// fence is changed first, which stops them. Returns how many were ended.
    pub(crate) fn end_wipes(
        &self,
        root: &Root,
        entry: &Entry,
        next: impl Fn(&Record) -> Record,
    ) -> Result<u16> {
        while let Some(now) = root.same_incarnation(entry)? {
            let next = next(&now.record);
            let ended = now.record.wipes.saturating_sub(next.wipes);
            if ended > 0 {
                let containers = self.open_apart(root, &entry.record)?;
                containers.iter().try_for_each(|container| change(&**container))?;
            }
            if next == now.record || root.replace(&entry.text, &now.record, &next)? {
                return Ok(ended);
            }
        }
        Ok(0)
    }
}

/// The error of a wipe that others have ended.
pub(crate) fn was_ended(entry: &Entry) -> ObjectError {
    let what =
        format!("the wipe of collocations of {}: a repair or an unlock ended it; wipe again", entry.key);
    ObjectError::Conflict { what }
}
