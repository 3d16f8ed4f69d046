//! Copying and moving fields between stores.

use isotach_mars::{Key, Request};
use isotach_object::PoolUri;

use crate::buffers::Buffers;
use crate::{Action, Error, FieldStore, Inspected, ListOptions, Listing, Result, Selection, control::Locks};

/// How many fields are read together.
const TOGETHER: usize = 8;

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
        let selections = self.select(request)?;
        for selection in &selections {
            selection.entry.locks.check(Action::Retrieve, &selection.entry.key)?;
        }
        let mut report = CopyReport::default();
        let (mut batch, buffers) = (Vec::with_capacity(TOGETHER), Buffers::default());
        for listed in Listing::unlocked(&self.inner, selections, ListOptions::default()) {
            let listed = listed?;
            batch.push(Inspected { key: listed.key(), location: listed.location().clone() });
            if batch.len() == TOGETHER {
                self.copy_batch(target, &mut batch, &buffers, &mut report)?;
            }
        }
        self.copy_batch(target, &mut batch, &buffers, &mut report)?;
        target.flush()?;
        Ok(report)
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
        let read = self.inner.read_fields(batch, buffers)?;
        for (field, bytes) in batch.drain(..).zip(read) {
            let bytes = buffers.lend(bytes);
            target.archive(&field.key, &bytes)?;
            report.fields += 1;
            report.bytes += bytes.len() as u64;
        }
        Ok(())
    }

    /// Moves the datasets or collocations that a request names to another store: copies them, compares count, lengths
    /// and checksums, then wipes them here. Meanwhile the datasets are locked for archiving; a writer that has fields
    /// of them which it has not flushed must flush before. A move that is killed leaves that lock; moving the same again
    /// takes it over and takes it off, and so does unlocking the datasets for archiving.
    ///
    /// # Errors
    /// As [`FieldStore::copy_to`] and [`FieldStore::wipe`], [`Error::CopyDiffers`]; the source is as it was then.
    pub fn move_to(&self, target: &Self, request: &Request) -> Result<CopyReport> {
        // What may not be wiped is not copied either.
        self.wipe(request, false)?;
        let selections = self.select(request)?;
        let open: Vec<_> = selections.iter().filter(|selection| !is_locked_by_others(selection)).collect();
        let result =
            open.iter().try_for_each(|selection| selection.root.lock_for_move(&selection.entry.text));
        let result = result.and_then(|()| self.move_locked(target, request));
        // Whatever failed, every lock is tried to be taken off, also one that a move which was killed left.
        let mut unlocked = Ok(());
        for selection in open {
            unlocked =
                unlocked.and(selection.root.set_locks(&selection.entry.text, false, &[Action::Archive]));
        }
        let report = result?;
        unlocked?;
        Ok(report)
    }

    fn move_locked(&self, target: &Self, request: &Request) -> Result<CopyReport> {
        let report = self.copy_to(target, request)?;
        let mut compared = 0;
        for listed in Listing::unlocked(&self.inner, self.select(request)?, ListOptions::default()) {
            let listed = listed?;
            target.compare(&listed.key(), listed.location().length, listed.location().checksum)?;
            compared += 1;
        }
        if compared != report.fields {
            let what = format!("{} fields were copied and {compared} are there", report.fields);
            return Err(Error::CopyDiffers { what });
        }
        self.wipe(request, true)?;
        Ok(report)
    }

    /// Refuses a field that is not here with this length and checksum.
    fn compare(&self, key: &Key, length: u64, checksum: u32) -> Result<()> {
        let differs = |what: &str| Err(Error::CopyDiffers { what: format!("field {key} {what}") });
        match self.locate(key)?.map(|found| found.location) {
            None => differs("is not in the target"),
            Some(location) if location.length != length => differs("has another length"),
            Some(location) if location.checksum != checksum => differs("has another checksum"),
            Some(_) => Ok(()),
        }
    }
}

/// Whether it is locked for archiving, and not by a move: that lock is the mover's to set and to take off.
fn is_locked_by_others(selection: &Selection) -> bool {
    let locks: Locks = selection.entry.locks;
    locks.contains(Action::Archive) && !locks.is_of_move()
}
