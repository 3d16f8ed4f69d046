//! Copying and moving fields between stores.
//!
//! What must stay true of a move: a flush that returned without an error is in the source or in the target. The datasets
//! carry the move's mark before their fields are listed, and a flush looks for it after its entries can be seen. So
//! either the flush is refused, or the listing sees what it put. What a refused flush puts meanwhile is copied too, until
//! a listing holds nothing that the target has not; and only datasets that still carry the mark are wiped.

use std::sync::Arc;

use isotach_mars::{Key, Request};
use isotach_object::PoolUri;

use crate::{
    Action, Error, FieldStore, Inspected, ListOptions, Listing, Result, Selection,
    catalogue::record::MoveMark, retrieve::buffers::Buffers,
};

/// How many fields are read together.
const TOGETHER: usize = 8;

/// How often a move compares the copy with its source, and copies what differs.
const ROUNDS: usize = 16;

/// What was copied or moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopyReport {
    /// How many fields.
    pub fields: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl FieldStore {
    /// Copies the fields that a request may mean to another store, and flushes it; a key left out is a wildcard, and
    /// replaced fields are left out. Their keys must fit the target's schema. Of adopted files the bytes are copied.
    ///
    /// # Errors
    /// What reading here and archiving there report, and [`Error::Locked`] for a dataset locked for retrieving. What was
    /// archived before the error is in the target once that is flushed.
    pub fn copy_to(&self, target: &Self, request: &Request) -> Result<CopyReport> {
        self.refuse_itself(target)?;
        self.copy_selections(target, &self.selections_to_copy(request)?)
    }

    /// Calls `each` with the key and the bytes of every field that [`FieldStore::copy_to`] would copy.
    ///
    /// # Errors
    /// As reading for [`FieldStore::copy_to`], and the first of `each`.
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

    fn copy_selections(&self, target: &Self, selections: &[Selection]) -> Result<CopyReport> {
        check_retrieval(selections)?;
        let mut report = CopyReport::default();
        let (mut batch, buffers) = (Vec::with_capacity(TOGETHER), Buffers::default());
        for field in self.fields_of(selections) {
            batch.push(field?);
            if batch.len() == TOGETHER {
                self.copy_batch(target, &mut batch, &buffers, &mut report)?;
            }
        }
        self.copy_batch(target, &mut batch, &buffers, &mut report)?;
        self.inner.with_room(|| target.flush())?;
        Ok(report)
    }

    /// The newest fields of these datasets, as they are now.
    fn fields_of(&self, selections: &[Selection]) -> impl Iterator<Item = Result<Inspected>> {
        let listing = Listing::unlocked(&self.inner, selections.to_vec(), ListOptions::default());
        listing.map(|listed| {
            listed.map(|listed| Inspected { key: listed.key(), location: listed.location().clone() })
        })
    }

    /// Refuses a target that is this store, also through another handle: a move would then wipe what it moved.
    fn refuse_itself(&self, target: &Self) -> Result<()> {
        // A pool that does not outlive its engine is that engine's alone, whatever its name.
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

    fn copy_batch(
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
                    self.inner.with_room(|| target.archive(&field.key, &bytes))?;
                    report.add(&field);
                }
            }
            // One of them may have been wiped since it was listed.
            Err(_) => {
                for field in batch.drain(..) {
                    if let Some((field, bytes)) = self.read_again(field)? {
                        self.inner.with_room(|| target.archive(&field.key, &bytes))?;
                        report.add(&field);
                    }
                }
            }
        }
        Ok(())
    }

    /// Moves the datasets or collocations that a request names to another store: copies them, compares lengths and
    /// checksums, then wipes them here. What was flushed without an error is here or there at any time.
    ///
    /// Meanwhile the datasets are locked for archiving, and a flush of what was archived into them before fails with
    /// [`Error::Moving`] and keeps its fields. Repeated after the move, it puts them here, or says with
    /// [`Error::Wiped`] how many are gone with what was moved, and must be archived again.
    ///
    /// A move that is killed leaves that lock. Moving the same again takes it over and takes it off, unless it was killed
    /// while it wiped; unlocking the datasets for archiving takes it off in any case. A move that goes on while another
    /// takes its datasets over, or someone unlocks them, fails before it wipes.
    ///
    /// # Errors
    /// As [`FieldStore::copy_to`] and [`FieldStore::wipe`]; [`Error::CopyDiffers`] when the source or the target goes on
    /// changing; `Conflict` when the move has lost a dataset, and [`Error::Moving`] when another one wipes it. What is not
    /// wiped yet is as it was then.
    pub fn move_to(&self, target: &Self, request: &Request) -> Result<CopyReport> {
        self.refuse_itself(target)?;
        // What may not be wiped is not copied either.
        self.doomed(request)?;
        let mut taken = Vec::new();
        let begun = self.take_for_move(request, &mut taken);
        let result = begun.and_then(|()| self.move_taken(target, request, &mut taken));
        // Whatever failed, every mark is tried to be taken off.
        let mut ended = Ok(());
        for Taken { selection, mark } in taken {
            ended = ended.and(selection.root.end_move(&selection.entry, mark));
        }
        let report = result?;
        ended?;
        Ok(report)
    }

    fn take_for_move(&self, request: &Request, taken: &mut Vec<Taken>) -> Result<()> {
        for selection in self.select(request)? {
            if !selection.entry.record.overlays.is_empty() {
                let what = format!("a move of dataset {}, which is an overlay", selection.entry.key);
                return Err(Error::invalid(what, "a copy, which has what it shows, and then a wipe"));
            }
            if let Some(mark) = selection.root.begin_move(&selection.entry)? {
                taken.push(Taken { selection, mark });
            }
        }
        Ok(())
    }

    fn move_taken(&self, target: &Self, request: &Request, taken: &mut [Taken]) -> Result<CopyReport> {
        let selections: Vec<_> = taken.iter().map(|taken| taken.selection.clone()).collect();
        self.copy_selections(target, &selections)?;
        let report = self.copy_until_equal(target, &selections)?;
        for doomed in self.doomed(request)? {
            // A dataset that was made since then is not the move's.
            if let Some(taken) = taken.iter_mut().find(|taken| taken.is_of(&doomed.selection)) {
                let Selection { root, entry, .. } = &doomed.selection;
                taken.mark = root.begin_wipe_of_move(entry, taken.mark)?;
                self.inner.remove(&doomed, Some(taken.mark))?;
            }
        }
        self.inner.sweep()?;
        Ok(report)
    }

    /// Copies what the target has not, until it has everything that is here.
    fn copy_until_equal(&self, target: &Self, selections: &[Selection]) -> Result<CopyReport> {
        let mut what = String::new();
        for _ in 0..ROUNDS {
            let (mut equal, mut copied) = (CopyReport::default(), CopyReport::default());
            let buffers = Buffers::default();
            for field in self.fields_of(selections) {
                let field = field?;
                match self.inner.with_room(|| target.difference_from(&field))? {
                    None => equal.add(&field),
                    Some(difference) => {
                        what = difference;
                        self.copy_batch(target, &mut vec![field], &buffers, &mut copied)?;
                    }
                }
            }
            if copied.fields == 0 {
                return Ok(equal);
            }
            self.inner.with_room(|| target.flush())?;
        }
        Err(Error::CopyDiffers { what })
    }

    /// What is wrong with this store as a copy of a field; nothing if it has one with this length and checksum.
    fn difference_from(&self, field: &Inspected) -> Result<Option<String>> {
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
    fn add(&mut self, field: &Inspected) {
        self.fields += 1;
        self.bytes += field.location.length;
    }
}

/// A dataset that a move has.
struct Taken {
    selection: Selection,
    mark: MoveMark,
}

impl Taken {
    /// Whether this selection is of the same dataset in the same life.
    fn is_of(&self, other: &Selection) -> bool {
        let incarnation = |selection: &Selection| selection.entry.record.incarnation;
        Arc::ptr_eq(&self.selection.root, &other.root) && incarnation(&self.selection) == incarnation(other)
    }
}
