//! Locking and unlocking datasets.

use isotach_mars::{Key, Request};

use crate::{
    Action, FieldStore, Result, Selection,
    catalogue::{
        record::Record,
        root::{Entry, Root},
    },
    store::Inner,
};

impl FieldStore {
    /// Locks (`lock`) or unlocks the datasets that a request names against `actions`, and returns their keys. A key
    /// left out is a wildcard. Keys below the dataset level are ignored.
    ///
    /// # Errors
    /// As [`FieldStore::list`], and what the catalogue's engine reports.
    pub fn control(&self, request: &Request, lock: bool, actions: &[Action]) -> Result<Vec<Key>> {
        self.inner.check_present(if lock { "lock" } else { "unlock" })?;
        self.check_effect(request)?;
        let mut changed = Vec::new();
        let selections = self.select(request)?;
        for Selection { entry, .. } in &selections {
            entry.forbidden.check(Action::Archive, || format!("the locks of dataset {}", entry.key))?;
        }
        for selection in selections {
            let Selection { root, entry, .. } = &selection;
            root.set_locks(&entry.text, lock, actions)?;
            if !lock && actions.contains(&Action::Archive) {
                self.inner.take_from_move(root, entry)?;
            }
            changed.push(entry.key.clone());
        }
        Ok(changed)
    }
}

impl Inner {
    /// Takes a dataset from the move that has it. A move that is still running wipes nothing more of it.
    fn take_from_move(&self, root: &Root, entry: &Entry) -> Result<()> {
        let next = |record: &Record| {
            let record = if record.move_mark.is_wiping() { record.settled() } else { record.clone() };
            record.with_mark(record.move_mark.off())
        };
        self.end_wipes(root, entry, next).map(drop)
    }
}
