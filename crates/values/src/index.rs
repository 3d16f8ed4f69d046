//! Making the jump indexes that the fields of a store lack.
//!
//! What must stay true: a field that cannot be read is reported, and the others are indexed all the same.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
};

use isotach_fields::{Error as FieldsError, FieldStore, Inspected, ListOptions, Listing};
use isotach_grib::{JumpError, JumpInfo};
use isotach_mars::Request;

use crate::{Error, Result, stored::Stored, threads_or_all};

/// The fields that a thread indexes before it keeps their indexes.
const BATCH: usize = 256;

/// What [`index_fields`] did.
#[derive(Debug, Default)]
pub struct IndexReport {
    /// The fields that match the request.
    pub fields: u64,
    /// Fields that had a jump index, of any version.
    pub had: u64,
    /// Fields that have one now.
    pub indexed: u64,
    /// Fields that have none, because their packing is decoded as a whole.
    pub whole: u64,
    /// The bytes that were read.
    pub bytes: u64,
    /// The errors of fields and datasets that could not be read or written.
    pub failures: Vec<Error>,
}

/// Makes the jump indexes that the fields of a request lack, damaged ones included, and flushes them. A key left out is a
/// wildcard. Fields are read as a whole, by `threads` threads; 0 for one on each processor. `progress` is told how many
/// fields are done, and how many bytes were read.
///
/// # Errors
/// As [`FieldStore::list`]; [`FieldsError::ReadOnly`] through a handle on a snapshot. The report contains the errors of
/// single fields and datasets.
pub fn index_fields(
    store: &FieldStore,
    request: &Request,
    threads: usize,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<IndexReport> {
    // Refused before anything is read.
    store.keep_jump_indexes(&[])?;
    let listing = store.list(request, ListOptions::default())?;
    let work = Work { store, listing: Mutex::new(listing), report: Mutex::default(), progress };
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, || work.run()).ok();
        let others: Vec<_> = (1..threads_or_all(threads)).map_while(start).collect();
        work.run();
        others.into_iter().for_each(|other| {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
    });
    Ok(work.report.into_inner().unwrap_or_else(PoisonError::into_inner))
}

struct Work<'w> {
    store: &'w FieldStore,
    listing: Mutex<Listing>,
    report: Mutex<IndexReport>,
    progress: &'w (dyn Fn(u64, u64) + Sync),
}

impl Work<'_> {
    fn run(&self) {
        loop {
            let batch = self.next_batch();
            if batch.is_empty() {
                return;
            }
            if let Err(error) = self.index(&batch) {
                self.report().failures.push(error.into());
            }
        }
    }

    fn report(&self) -> MutexGuard<'_, IndexReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_batch(&self) -> Vec<Inspected> {
        let mut listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = Vec::new();
        while batch.len() < BATCH {
            match listing.next() {
                None => break,
                Some(Ok(listed)) => {
                    batch.push(Inspected { key: listed.key(), location: listed.location().clone() });
                }
                Some(Err(error)) => self.report().failures.push(error.into()),
            }
        }
        batch
    }

    fn index(&self, batch: &[Inspected]) -> std::result::Result<(), FieldsError> {
        let stored = self.store.jump_indexes(batch)?;
        let mut lacking = Vec::new();
        for (field, stored) in batch.iter().zip(stored) {
            match Stored::of(stored) {
                Ok(Stored::Index(_) | Stored::OtherVersion) => self.done(0, |report| report.had += 1),
                Ok(Stored::Lacking) => lacking.push(field),
                Err(error) => self.done(0, |report| report.failures.push(error.into())),
            }
        }
        let mut asked_for = 0;
        let kept = self.store.make_jump_indexes(&lacking, |field| {
            asked_for += 1;
            self.make_counted(field)
        })?;
        let mut report = self.report();
        report.fields += (lacking.len() - asked_for) as u64;
        report.indexed += kept.stored as u64;
        report.failures.extend(kept.failures.into_iter().map(Error::from));
        Ok(())
    }

    /// Counts a field of which so many bytes were read.
    fn done(&self, bytes: u64, count: impl FnOnce(&mut IndexReport)) {
        let mut report = self.report();
        report.fields += 1;
        report.bytes += bytes;
        count(&mut report);
        (self.progress)(report.fields, report.bytes);
    }

    /// The jump index of a field; `None` if it has none, or cannot be read.
    fn make_counted(&self, field: &Inspected) -> Option<Vec<u8>> {
        let length = field.location.length;
        match self.make(field) {
            Ok(Some(index)) => {
                self.done(length, |_| ());
                return Some(index);
            }
            Ok(None) => self.done(length, |report| report.whole += 1),
            Err(error) => self.done(0, |report| report.failures.push(error)),
        }
        None
    }

    /// The jump index of a field; `None` if its packing has none.
    fn make(&self, field: &Inspected) -> Result<Option<Vec<u8>>> {
        let all = 0..field.location.length;
        let parts = self.store.read_parts(&[(field, &[all])]).pop().transpose()?;
        let message = parts.into_iter().flatten().next().unwrap_or_default();
        match JumpInfo::of(&message) {
            Ok(info) => Ok(Some(info.to_bytes())),
            Err(JumpError::Unsupported { .. }) => Ok(None),
            Err(error) => Err(Error::of_field(field, error)),
        }
    }
}
