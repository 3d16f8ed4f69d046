//! Writing and removing single values.

use isotach_object::{Backoff, Error, Result, Update, retry};

use crate::{
    Tree,
    commit::Swap,
    entry::{Entry, INLINE_MAX},
    fence::Fence,
};

/// The outcome of a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replaced {
    Yes,
    /// The existing entry was kept.
    Kept,
    /// A sweep began since the fence was read: the array of the new entry may be gone.
    Swept,
}

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
        self.replace(path, None, false, &self.fence()).map(drop)
    }

    /// Puts an entry, and says whether it did.
    fn put_entry(&self, path: &str, value: &[u8], only_new: bool) -> Result<bool> {
        crate::path::split(path)?;
        loop {
            // Before the array is written.
            let fence = self.fence();
            let entry = self.write_value(value)?;
            let outcome = self.replace(path, Some(&entry), only_new, &fence);
            let is_unused = match &outcome {
                Ok(replaced) => *replaced != Replaced::Yes,
                Err(error) => error.is_refusal(),
            };
            if is_unused {
                // An array that stays loses only space, so it must not hide the outcome.
                let _ = self.discard(&entry);
            }
            if !matches!(outcome, Ok(Replaced::Swept)) {
                return outcome.map(|replaced| replaced == Replaced::Yes);
            }
        }
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

    /// Replaces the entry under a path. An existing one is kept with `only_new`.
    fn replace(&self, path: &str, new: Option<&[u8]>, only_new: bool, fence: &Fence) -> Result<Replaced> {
        if let Some(outcome) = self.replace_in_transaction(path, new, only_new, fence) {
            return outcome;
        }
        retry(Backoff::default(), || {
            let old = self.stored(path)?;
            if only_new && old.is_some() {
                return Ok(Replaced::Kept);
            }
            if old.is_none() && new.is_none() {
                return Ok(Replaced::Yes);
            }
            let swap = Swap { path: path.to_owned(), old, new: new.map(<[u8]>::to_vec) };
            match self.apply(&[swap], fence) {
                Err(Error::Conflict { .. }) if new.is_some() && self.renewed_fence()? != *fence => {
                    Ok(Replaced::Swept)
                }
                applied => applied.map(|()| Replaced::Yes),
            }
        })
    }

    /// The same in the open transaction. `None` if there is none.
    fn replace_in_transaction(
        &self,
        path: &str,
        new: Option<&[u8]>,
        only_new: bool,
        fence: &Fence,
    ) -> Option<Result<Replaced>> {
        let mut changes = self.changes();
        let changes = changes.as_mut()?;
        if new.is_some() && changes.fence != *fence {
            // It was begun after the array was written.
            return Some(Ok(Replaced::Swept));
        }
        let old = match changes.entry(path, || self.stored(path)) {
            Ok(old) => old,
            Err(error) => return Some(Err(error)),
        };
        if only_new && old.is_some() {
            return Some(Ok(Replaced::Kept));
        }
        if let Some(unused) = changes.replace(path, new) {
            // The new entry is kept already, so its array must not be taken for unused after an error of this one.
            let _ = self.discard(&unused);
        }
        Some(Ok(Replaced::Yes))
    }
}
