//! Transactions: the changes of a handle become visible together.
//!
//! The arrays of new values are written at once, so a transaction may be larger than memory. Nobody else finds them, because their
//! entries are kept here until the commit.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
};

use isotach_object::{Error, Result};

use crate::{Tree, commit::Swap, fence::Fence};

/// An open transaction.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The entries as the transaction first saw them. It reads them again from here, and changes one only if it is still the same.
    base: HashMap<String, Option<Vec<u8>>>,
    /// The new entries. `None` is a removed value.
    updates: BTreeMap<String, Option<Vec<u8>>>,
    /// The fence before the first array was written.
    pub(crate) fence: Fence,
}

impl Changes {
    /// The entry under a path, as the transaction sees it.
    pub(crate) fn entry(
        &mut self,
        path: &str,
        stored: impl FnOnce() -> Result<Option<Vec<u8>>>,
    ) -> Result<Option<Vec<u8>>> {
        if let Some(entry) = self.updates.get(path).or_else(|| self.base.get(path)) {
            return Ok(entry.clone());
        }
        let entry = stored()?;
        self.base.insert(path.to_owned(), entry.clone());
        Ok(entry)
    }

    /// Replaces an entry that [`Changes::entry`] has read. Returns an earlier entry of this transaction.
    pub(crate) fn replace(&mut self, path: &str, new: Option<&[u8]>) -> Option<Vec<u8>> {
        self.updates.insert(path.to_owned(), new.map(<[u8]>::to_vec)).flatten()
    }

    /// The new entries under paths that begin with `prefix`, in the order of the paths.
    pub(crate) fn below(&self, prefix: &str) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        let from = self.updates.range(prefix.to_owned()..);
        from.take_while(move |(path, _)| path.starts_with(prefix))
            .map(|(path, entry)| (path.as_str(), entry.as_deref()))
    }

    /// The changes, and the fence before the first array was written.
    fn finish(mut self) -> (Vec<Swap>, Fence) {
        let swaps = mem::take(&mut self.updates).into_iter().map(|(path, new)| {
            let old = self.base.remove(&path).flatten();
            Swap { path, old, new }
        });
        let swaps = swaps.filter(|swap| swap.old.is_some() || swap.new.is_some()).collect();
        (swaps, self.fence)
    }
}

impl Tree {
    /// Begins a transaction: everything that is written and removed through this handle, by all threads, becomes visible to others
    /// when it is committed. Until then only this handle sees it.
    ///
    /// # Errors
    /// `Unsupported` where the engine has no transactions; `InvalidInput` if one is open.
    pub fn begin(&self) -> Result<()> {
        if !self.container.capabilities().transactions {
            let engine = self.container.facets().engine;
            return Err(Error::Unsupported { engine, what: "transactions".to_owned() });
        }
        let fence = self.renewed_fence()?;
        let mut changes = self.changes();
        if changes.is_some() {
            return Err(Error::invalid("a transaction within another", "one at a time for a handle"));
        }
        *changes = Some(Changes { fence, ..Changes::default() });
        Ok(())
    }

    /// Whether a transaction is open.
    pub fn is_in_transaction(&self) -> bool {
        self.changes().is_some()
    }

    /// Makes the changes of the open transaction durable and visible, all or none, and ends it.
    ///
    /// # Errors
    /// `Conflict` if the transaction changes a value that another writer has changed since the transaction first saw it, or if a sweep
    /// has begun since. No change is made then. `InvalidInput` if no transaction is open.
    pub fn commit(&self) -> Result<()> {
        let (swaps, fence) = self.take_changes()?.finish();
        let outcome = self.apply_as_seen(&swaps, &fence);
        match outcome {
            Err(error) if error.is_refusal() => {
                // Arrays that stay lose only space, so they must not hide why the commit was refused.
                let _ = self.discard_new(&swaps);
                Err(error)
            }
            outcome => outcome.and_then(|()| self.flush()),
        }
    }

    /// Ends the open transaction without making its changes.
    ///
    /// # Errors
    /// `InvalidInput` if no transaction is open; what the engine reports when it frees the space.
    pub fn roll_back(&self) -> Result<()> {
        let (swaps, _) = self.take_changes()?.finish();
        self.discard_new(&swaps)
    }

    fn take_changes(&self) -> Result<Changes> {
        self.changes().take().ok_or_else(|| Error::invalid("no transaction", "one that was begun"))
    }

    /// Destroys the arrays of all new entries, and returns the first error.
    fn discard_new(&self, swaps: &[Swap]) -> Result<()> {
        let outcomes = swaps.iter().filter_map(|swap| swap.new.as_deref()).map(|entry| self.discard(entry));
        outcomes.fold(Ok(()), Result::and)
    }
}

/// A handle that goes without a commit rolls back, so that its arrays do not stay.
impl Drop for Tree {
    fn drop(&mut self) {
        // Without an open transaction there is nothing to roll back. Arrays that stay lose only space.
        let _ = self.roll_back();
    }
}
