//! Copying fields to another store.

use isotach_mars::{Key, Request};
use isotach_object::PoolUri;

use crate::{
    Action, Error, FieldStore, Inspected, ListOptions, Listing, Result, Selection, retrieve::buffers::Buffers,
};

/// The number of fields that are read in one batch.
const BATCH_MAX: usize = 8;

/// What was copied or moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopyReport {
    /// How many fields.
    pub fields: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl FieldStore {
    /// Copies the fields that match a request to another store, and flushes that store. A key left out is a wildcard.
    /// Replaced fields are not copied. The keys must fit the target's schema. The bytes of adopted files are copied.
    ///
    /// # Errors
    /// The errors of reading from this store and of archiving into the target, and [`Error::Locked`] for a dataset
    /// locked for retrieving. Fields archived before the error are in the target once it is flushed.
    pub fn copy_to(&self, target: &Self, request: &Request) -> Result<CopyReport> {
        self.refuse_itself(target)?;
        self.copy_selections(target, &self.selections_to_copy(request)?)
    }

    /// Calls `each` with the key and the bytes of every field that [`FieldStore::copy_to`] would copy.
    ///
    /// # Errors
    /// The read errors of [`FieldStore::copy_to`], and the first error of `each`.
    pub fn for_each_to_copy<E: From<Error>>(
        &self,
        request: &Request,
        mut each: impl FnMut(&Key, &[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let selections = self.selections_to_copy(request)?;
        check_retrieval(&selections)?;
        for field in self.fields_of(&selections) {
            if let Some((field, bytes)) = self.read_again(field?)? {
                each(&field.key, &bytes)?;
            }
        }
        Ok(())
    }

    fn selections_to_copy(&self, request: &Request) -> Result<Vec<Selection>> {
        let (selections, gone) = self.inner.layers(self.select(request)?)?;
        gone.into_iter().next().map_or(Ok(selections), Err)
    }

    pub(super) fn copy_selections(&self, target: &Self, selections: &[Selection]) -> Result<CopyReport> {
        check_retrieval(selections)?;
        let mut report = CopyReport::default();
        let (mut batch, buffers) = (Vec::with_capacity(BATCH_MAX), Buffers::default());
        for field in self.fields_of(selections) {
            batch.push(field?);
            if batch.len() == BATCH_MAX {
                self.copy_batch(target, &mut batch, &buffers, &mut report)?;
            }
        }
        self.copy_batch(target, &mut batch, &buffers, &mut report)?;
        self.inner.with_handles(|| target.flush())?;
        Ok(report)
    }

    /// The newest fields of these datasets.
    pub(super) fn fields_of(&self, selections: &[Selection]) -> impl Iterator<Item = Result<Inspected>> {
        let listing = Listing::unlocked(&self.inner, selections.to_vec(), ListOptions::default());
        listing.map(|listed| {
            listed.map(|listed| Inspected { key: listed.key(), location: listed.location().clone() })
        })
    }

    /// Refuses a target that is this store, also through another handle: a move would wipe what it moved.
    pub(super) fn refuse_itself(&self, target: &Self) -> Result<()> {
        // A pool that is not persistent belongs to its engine value alone, whatever its name.
        let lasting = self.inner.roots.iter().filter(|root| root.pool.capabilities().persistent);
        let place = |uri: &PoolUri| (uri.scheme().to_owned(), uri.path().to_owned());
        let is_targets =
            |uri: &PoolUri| target.inner.roots.iter().any(|root| place(root.uri()) == place(uri));
        match lasting.map(|root| root.uri()).find(|uri| is_targets(uri)) {
            None => Ok(()),
            Some(uri) => {
                let what = format!("a copy of {uri} to itself");
                Err(Error::invalid(what, "a target whose catalogue is another pool"))
            }
        }
    }

    pub(super) fn copy_batch(
        &self,
        target: &Self,
        batch: &mut Vec<Inspected>,
        buffers: &Buffers,
        report: &mut CopyReport,
    ) -> Result<()> {
        match self.inner.read_fields(batch, buffers) {
            Ok(read) => {
                for (field, bytes) in batch.drain(..).zip(read) {
                    let bytes = buffers.lend(bytes);
                    self.inner.with_handles(|| target.archive(&field.key, &bytes))?;
                    report.add(&field);
                }
            }
            // A field may have been wiped after it was listed.
            Err(_) => {
                for field in batch.drain(..) {
                    if let Some((field, bytes)) = self.read_again(field)? {
                        self.inner.with_handles(|| target.archive(&field.key, &bytes))?;
                        report.add(&field);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns how this store's copy of a field differs. `None` if length and checksum are equal.
    pub(super) fn difference_from(&self, field: &Inspected) -> Result<Option<String>> {
        let (key, wanted) = (&field.key, &field.location);
        Ok(match self.locate(key)?.map(|found| found.location) {
            None => Some(format!("field {key} is not in the target")),
            Some(found) if found.length != wanted.length => Some(format!("field {key} has another length")),
            Some(found) if found.checksum != wanted.checksum => {
                Some(format!("field {key} has another checksum"))
            }
            Some(_) => None,
        })
    }
}

fn check_retrieval(selections: &[Selection]) -> Result<()> {
    selections.iter().try_for_each(|selection| selection.check_lock(Action::Retrieve))
}

impl CopyReport {
    pub(super) fn add(&mut self, field: &Inspected) {
        self.fields += 1;
        self.bytes += field.location.length;
    }
}
