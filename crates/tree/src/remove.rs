//! Removing directories with everything below them.
//!
//! The values are removed first. A marker may stay behind, which listings pass over, but it must never be missing above a value. So
//! the marker of a directory is *closed* before it is removed: it gets a value that no other removal has. Then the directory is
//! listed, and if it is empty the marker is removed on the condition that it is still closed by this removal. A writer opens all
//! closed markers above its value. So either the listing finds what the writer has put, or the condition fails.

use isotach_object::{Backoff, Cell, Error, Precondition, Result, Transaction, Update, retry};

use crate::{Tree, commit::Swap, path};

impl Tree {
    /// Removes all values below a directory, the top being the empty path. Readers see all or none removed, where the engine has
    /// transactions. A value that others put during the call may stay.
    ///
    /// # Errors
    /// `InvalidInput` as [`Tree::children`]; `Conflict` if others change the values in the directory without a pause.
    pub fn remove_below(&self, directory: &str) -> Result<()> {
        let slashed = path::slashed(directory)?;
        if self.is_in_transaction() {
            return self.list(&slashed)?.iter().try_for_each(|listed| self.remove(&listed.path));
        }
        let directories = match retry(Backoff::default(), || self.remove_values(&slashed)) {
            Err(Error::Conflict { .. }) => {
                let what = format!("others change values in {directory:?} while it is removed");
                return Err(Error::Conflict { what });
            }
            outcome => outcome?,
        };
        // Each follows the one that holds it, which can be empty only afterwards.
        let mut upwards = directories.iter().rev().chain([&slashed]);
        upwards.try_for_each(|directory| self.remove_marker(directory))
    }

    /// Removes the values whose paths begin with `slashed`. Returns the directories below.
    fn remove_values(&self, slashed: &str) -> Result<Vec<String>> {
        let mut swaps = Vec::new();
        let directories = self.each_stored(slashed, |path, entry| {
            swaps.push(Swap { path, old: Some(entry.to_vec()), new: None });
            Ok(())
        })?;
        self.apply(&swaps, &self.fence())?;
        Ok(directories)
    }

    /// Removes the marker of a directory if the directory is empty, and stays so.
    fn remove_marker(&self, slashed: &str) -> Result<()> {
        let Some((object, name)) = path::marker_of(slashed) else { return Ok(()) };
        let (cell, closed) = (Cell::kv(object, name.as_bytes()), self.new_id()?.to_le_bytes());
        let close = Update::Put { cell, value: &closed };
        if self.is_met(&Transaction::new().require(Precondition::Present(cell)).update(close))?
            && !self.has_entries(slashed.trim_end_matches('/'))?
        {
            let still_closed = Precondition::Equals(cell, &closed);
            self.is_met(&Transaction::new().require(still_closed).update(Update::Remove { cell }))?;
        }
        Ok(())
    }

    /// Commits a transaction, and says whether its preconditions held.
    fn is_met(&self, transaction: &Transaction<'_>) -> Result<bool> {
        match self.container.commit(transaction) {
            Err(Error::Conflict { .. }) => Ok(false),
            outcome => outcome.map(|_| true),
        }
    }
}
