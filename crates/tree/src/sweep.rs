//! Sweeping: destroys the arrays that no entry names, which processes leave that die before their commit.
//!
//! Each sweep writes a new *fence* into the settings of the tree. A writer reads the fence before it writes an array, and commits the
//! entry on the condition that the fence is unchanged. What must stay true: a sweep lists the arrays, then changes the fence, then
//! reads the entries, and destroys the listed arrays that none of them names. A listed array was written under an earlier fence. So its
//! commit came before the change, and the sweep finds the entry, or it fails.
//!
//! A program of a version without fences would commit an array that a sweep has destroyed. The first sweep sets the layout to `tree 2`, which
//! such a program refuses to open. A tree that it has open stays open.

use std::{collections::HashSet, sync::PoisonError};

use isotach_engine_kit::random;
use isotach_object::{Anchor, Error, ObjectId, ObjectType, Result, Transaction, Update};

use crate::{
    Tree,
    entry::Entry,
    fence::{CELL, Fence},
    tree::SWEPT,
};

/// How many objects are listed, and destroyed, in one call.
const PAGE: usize = 4096;

impl Tree {
    /// Destroys the values that processes have written and not committed before they died. Returns how many. Others may read and write
    /// meanwhile, except programs of a version without sweeps: they must have closed the tree before the first one, and cannot open it
    /// afterwards. A transaction that is open in another handle fails with a `Conflict` if it has written a large value.
    ///
    /// # Errors
    /// `Unsupported` where the engine has no transactions; `InvalidInput` within a transaction of this handle; `Corrupt` for a damaged
    /// entry: nothing is destroyed then.
    pub fn sweep(&self) -> Result<u64> {
        if !self.container.capabilities().transactions {
            let what = "finding the values that dead processes left, without transactions".to_owned();
            return Err(Error::Unsupported { engine: self.container.facets().engine, what });
        }
        if self.is_in_transaction() {
            return Err(Error::invalid("a sweep within a transaction", "one after its end"));
        }
        let mut left = self.arrays()?;
        let fence = random::number()?.to_le_bytes();
        let fence = Update::Put { cell: CELL, value: &fence };
        self.container.commit(&Transaction::new().update(SWEPT).update(fence))?;
        self.each_stored("", |_, entry| {
            if let Some(array) = Entry::decode(entry)?.array() {
                left.remove(&array);
            }
            Ok(())
        })?;
        let left: Vec<_> = left.into_iter().map(|object| Update::Destroy { object }).collect();
        left.chunks(PAGE).try_for_each(|some| self.container.update(some))?;
        self.flush()?;
        Ok(left.len() as u64)
    }

    fn arrays(&self) -> Result<HashSet<ObjectId>> {
        let (mut arrays, mut next) = (HashSet::new(), Some(Anchor::start()));
        while let Some(anchor) = next {
            let (objects, after) = self.container.list_objects(&anchor, PAGE)?;
            arrays.extend(objects.into_iter().filter(|object| object.otype() == ObjectType::Array));
            next = after;
        }
        Ok(arrays)
    }

    /// The fence under which new arrays are written: that of the open transaction, or the one that this handle has read last.
    pub(crate) fn fence(&self) -> Fence {
        if let Some(changes) = self.changes().as_ref() {
            return changes.fence.clone();
        }
        self.fence.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the fence again.
    pub(crate) fn renewed_fence(&self) -> Result<Fence> {
        let fence = Fence(self.container.get_many(&[CELL])?.pop().flatten());
        *self.fence.lock().unwrap_or_else(PoisonError::into_inner) = fence.clone();
        Ok(fence)
    }
}
