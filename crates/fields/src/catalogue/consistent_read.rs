//! Reading a dataset with several calls as if with one: where a transaction was committed in between, again.
//!
//! What must stay true: each transaction changes the dataset's `transaction` entry in its own frame. So between two looks
//! that find the same there none was committed, and what was read in between holds all of each transaction, or nothing.

use std::sync::Arc;

use isotach_mars::Key;
use isotach_object::Error as ObjectError;

use crate::{
    Error, Result,
    catalogue::{
        reader::{DatasetReader, Mark},
        root::{Entry, Root},
        select::Selection,
    },
    store::Inner,
};

/// How many fields of a dataset are held back until it is sure that they are one state. Of more, those that a listing comes to
/// later may be of a later state.
pub(crate) const HELD_MAX: usize = 16_384;

/// How often a dataset is read again. Transactions are seconds apart as a rule, and reading takes milliseconds.
const TRIES_MAX: u32 = 1000;

/// The reading of a dataset.
#[derive(Debug)]
pub(crate) struct Reading {
    reader: Arc<DatasetReader>,
    /// The dataset under whose key its fields are shown.
    shown: Arc<Entry>,
    /// What the entry held before.
    before: Mark,
    tries: u32,
}

impl Reading {
    /// To be called before anything is read. None if the dataset was wiped.
    pub(crate) fn begin(inner: &Inner, selection: &Selection) -> Result<Option<Self>> {
        let Some(reader) = inner.reader(&selection.root, &selection.entry)? else { return Ok(None) };
        match reader.last_transaction(inner) {
            Ok(before) => Ok(Some(Self { reader, shown: Arc::clone(selection.shown()), before, tries: 0 })),
            Err(error) if reader.was_wiped(&error) => Ok(None),
            Err(error) => Err(reader.failed(error)),
        }
    }

    /// Whether a transaction was committed since the last look, so that what was read must be read again.
    pub(crate) fn is_outdated(&mut self, inner: &Inner) -> Result<bool> {
        let now = match self.reader.last_transaction(inner) {
            Err(error) if self.reader.was_wiped(&error) => return Ok(false),
            now => now.map_err(|error| self.reader.failed(error))?,
        };
        if now == self.before {
            return Ok(false);
        }
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

/// A dataset that was read at once, and the last transaction that was found in it. It keeps no container open: a request may
/// mean more datasets than a process may open files.
#[derive(Debug)]
pub(crate) struct ReadState {
    root: Arc<Root>,
    entry: Arc<Entry>,
    shown: Arc<Entry>,
    mark: Mark,
}

impl ReadState {
    /// What was read, once it is sure that it is not outdated.
    pub(crate) fn of(reading: Reading) -> Self {
        let dataset = &reading.reader.dataset;
        let (root, entry) = (Arc::clone(&dataset.root), Arc::clone(&dataset.entry));
        Self { root, entry, shown: reading.shown, mark: reading.before }
    }

    /// Whether a field with this whole key is one of the dataset's.
    pub(crate) fn holds(&self, field: &Key) -> bool {
        let mut slots = field.slots();
        self.shown.key.slots().all(|slot| slots.next() == Some(slot))
    }

    /// Whether what is found in the dataset now may be of a later transaction than what was read. A dataset that was wiped and
    /// made again is asked in its new life.
    pub(crate) fn is_outdated(&self, inner: &Inner) -> Result<bool> {
        let Some(now) = self.root.lookup(&self.entry.text)? else { return Ok(false) };
        let Some(reader) = inner.reader(&self.root, &now)? else { return Ok(true) };
        match reader.last_transaction(inner) {
            Err(error) if reader.was_wiped(&error) => Ok(true),
            mark => Ok(mark.map_err(|error| reader.failed(error))? != self.mark),
        }
    }

    /// What to tell who cannot be given the rest of it.
    pub(crate) fn outdated(&self) -> Error {
        let dataset = &self.entry.key;
        let what = format!(
            "dataset {dataset}: a transaction replaced fields while they were read, and they are gone; ask again"
        );
        ObjectError::Conflict { what }.into()
    }
}

/// What `read` finds in a dataset, with all of each transaction or nothing of it.
pub(crate) fn at_once<T>(inner: &Inner, selection: &Selection, read: impl Fn() -> Result<T>) -> Result<T> {
    let mut reading = Reading::begin(inner, selection)?;
    loop {
        let found = read()?;
        let is_outdated = reading.as_mut().map_or(Ok(false), |reading| reading.is_outdated(inner))?;
        if !is_outdated {
            return Ok(found);
        }
    }
}
