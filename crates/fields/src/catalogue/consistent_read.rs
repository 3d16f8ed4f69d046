//! Consistent reads of a dataset in several calls: the read is repeated if a transaction was committed in between.
//!
//! What must stay true: each transaction changes the dataset's `transaction` entry in its own frame. So if two lookups
//! find the same entry, no transaction was committed between them, and what was read in between holds all of each
//! transaction or none of it.

use std::sync::Arc;

use isotach_mars::Key;
use isotach_object::Error as ObjectError;

use crate::{
    Error, Result,
    catalogue::{
        dataset_reader::{DatasetReader, Mark},
        root::{Entry, Root},
        select::Selection,
    },
    store::Inner,
};

/// The number of fields of a dataset that are held back until they are known to be one state. In a longer listing,
/// later fields may be of a later state.
pub(crate) const HELD_MAX: usize = 16_384;

/// How often a dataset is read again. Transactions are usually seconds apart, and reading takes milliseconds.
const TRIES_MAX: u32 = 1000;

/// A consistent read of a dataset under way.
#[derive(Debug)]
pub(crate) struct Reading {
    reader: Arc<DatasetReader>,
    /// The dataset under whose key its fields are shown.
    shown: Arc<Entry>,
    /// The value of the entry before the read.
    before: Mark,
    tries: u32,
}

impl Reading {
    /// Starts a consistent read. Call this before anything is read. `None` if the dataset was wiped.
    pub(crate) fn begin(inner: &Inner, selection: &Selection) -> Result<Option<Self>> {
        let Some(reader) = inner.reader(&selection.root, &selection.entry)? else { return Ok(None) };
        let before = reader.unless_wiped(reader.last_transaction(inner))?;
        Ok(before.map(|before| Self { reader, shown: Arc::clone(selection.shown()), before, tries: 0 }))
    }

    /// Whether a transaction was committed since the last check, so that the read must be repeated.
    pub(crate) fn is_outdated(&mut self, inner: &Inner) -> Result<bool> {
        let now = self.reader.unless_wiped(self.reader.last_transaction(inner))?;
        let Some(now) = now.filter(|now| *now != self.before) else { return Ok(false) };
        self.before = now;
        self.tries += 1;
        if self.tries < TRIES_MAX {
            return Ok(true);
        }
        let what = format!(
            "dataset {}: transactions follow each other too fast to read it",
            self.reader.dataset.entry.key
        );
        Err(ObjectError::Conflict { what }.into())
    }
}

/// A dataset after a consistent read, with the last transaction that was found in it. No container is kept open for it:
/// a request may name more datasets than a process may open files.
#[derive(Debug)]
pub(crate) struct ReadState {
    root: Arc<Root>,
    entry: Arc<Entry>,
    shown: Arc<Entry>,
    mark: Mark,
}

impl ReadState {
    /// The state of a read that is not outdated.
    pub(crate) fn of(reading: Reading) -> Self {
        let dataset = &reading.reader.dataset;
        let (root, entry) = (Arc::clone(&dataset.root), Arc::clone(&dataset.entry));
        Self { root, entry, shown: reading.shown, mark: reading.before }
    }

    /// Whether a field with this whole key belongs to the dataset.
    pub(crate) fn holds(&self, field: &Key) -> bool {
        let mut slots = field.slots();
        self.shown.key.slots().all(|slot| slots.next() == Some(slot))
    }

    /// Whether the dataset's present state may include a later transaction than what was read. A dataset that was wiped
    /// and created again is checked in its new incarnation.
    pub(crate) fn is_outdated(&self, inner: &Inner) -> Result<bool> {
        let Some(now) = self.root.lookup(&self.entry.text)? else { return Ok(false) };
        let Some(reader) = inner.reader(&self.root, &now)? else { return Ok(true) };
        let mark = reader.unless_wiped(reader.last_transaction(inner))?;
        Ok(mark.is_none_or(|mark| mark != self.mark))
    }

    /// The error of a read that cannot be continued.
    pub(crate) fn outdated(&self) -> Error {
        let dataset = &self.entry.key;
        let what = format!(
            "dataset {dataset}: a transaction replaced fields while they were read, and they are gone; ask again"
        );
        ObjectError::Conflict { what }.into()
    }
}

/// The result of `read` on a dataset, with all of each transaction or none of it.
pub(crate) fn read_consistently<T>(
    inner: &Inner,
    selection: &Selection,
    read: impl Fn() -> Result<T>,
) -> Result<T> {
    let mut reading = Reading::begin(inner, selection)?;
    loop {
        let found = read()?;
        let is_outdated = reading.as_mut().map_or(Ok(false), |reading| reading.is_outdated(inner))?;
        if !is_outdated {
            return Ok(found);
        }
    }
}
