//! Writing and removing single values.

use isotach_object::{Backoff, Result, Update, retry};

use crate::{
    Tree,
    commit::Swap,
    entry::{Entry, INLINE_MAX},
};

impl Tree {
    /// Sets a value. Other handles see it at once, or with the open transaction.
    ///
    /// # Errors
    /// `InvalidInput` for an empty path, and for one with an empty or too long name; `NoSpace`, `Io`.
    pub fn put(&self, path: &str, value: &[u8]) -> Result<()> {
        self.put_entry(path, value, false).map(drop)
    }

    /// Sets a value if there is none, and says whether it did.
    ///
    /// # Errors
    /// As [`Tree::put`].
    pub fn put_if_absent(&self, path: &str, value: &[u8]) -> Result<bool> {
        // Most that exist are noticed before their bytes are written.
        Ok(self.entry(path)?.is_none() && self.put_entry(path, value, true)?)
    }

    /// Removes a value if there is one.
    ///
    /// # Errors
    /// As [`Tree::put`].
    pub fn remove(&self, path: &str) -> Result<()> {
        self.replace(path, None, false).map(drop)
    }

    fn put_entry(&self, path: &str, value: &[u8], only_new: bool) -> Result<bool> {
        crate::path::split(path)?;
        let entry = self.write_value(value)?;
        let outcome = self.replace(path, Some(&entry), only_new);
        let is_unused = match &outcome {
            Ok(is_put) => !is_put,
            Err(error) => error.is_refusal(),
        };
        if is_unused {
            // An array that stays loses only space, so it must not hide the outcome.
            let _ = self.discard(&entry);
        }
        outcome
    }

    /// The entry for a value, whose array is written.
    fn write_value(&self, value: &[u8]) -> Result<Vec<u8>> {
        if value.len() <= INLINE_MAX {
            return Ok(Entry::Inline(value).encode());
        }
        let object = self.new_array()?;
        self.container.write_new(object, value)?;
        Ok(Entry::Array(object, value.len() as u64).encode())
    }

    /// Destroys the array of an entry that nobody refers to.
    pub(crate) fn discard(&self, entry: &[u8]) -> Result<()> {
        let Some(object) = Entry::decode(entry)?.array() else { return Ok(()) };
        self.container.update(&[Update::Destroy { object }])
    }

    /// Replaces the entry under a path, and says whether it did: an existing one is kept with `only_new`.
    fn replace(&self, path: &str, new: Option<&[u8]>, only_new: bool) -> Result<bool> {
        if let Some(outcome) = self.replace_in_transaction(path, new, only_new) {
            return outcome;
        }
        retry(Backoff::default(), || {
            let old = self.stored(path)?;
            if only_new && old.is_some() {
                return Ok(false);
            }
            if old.is_some() || new.is_some() {
                self.apply(&[Swap { path: path.to_owned(), old, new: new.map(<[u8]>::to_vec) }])?;
            }
            Ok(true)
        })
    }

    /// The same in the open transaction. `None` if there is none.
    fn replace_in_transaction(&self, path: &str, new: Option<&[u8]>, only_new: bool) -> Option<Result<bool>> {
        let mut changes = self.changes();
        let changes = changes.as_mut()?;
        let old = match changes.entry(path, || self.stored(path)) {
            Ok(old) => old,
            Err(error) => return Some(Err(error)),
        };
        if only_new && old.is_some() {
            return Some(Ok(false));
        }
        if let Some(unused) = changes.replace(path, new) {
            // The new entry is kept already, so its array must not be taken for unused after an error of this one.
            let _ = self.discard(&unused);
        }
        Some(Ok(true))
    }
}
