//! The datasets that a handle is writing: opened when their first field comes, closed when others need the room.
//!
//! What must stay true: a writer that holds fields stays in the list that `flush` goes through, until it has flushed or
//! reported them. A loss that is met while a writer makes room, or beside another failure, is kept for the next `flush`, so
//! that `archive` fails for the sake of its own field only, and each loss is told.
//!
//! A handle keeps few writers open, whatever fails: one that cannot be flushed stays, up to a limit beyond which no
//! further dataset is taken. What a writer holds of each field, its entries in the catalogue, is bounded by how much is
//! archived between two flushes, and by nothing else.

use std::{
    cell::Cell,
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
};

use isotach_mars::{Key, Rule, SplitKey};
use isotach_object::Error as ObjectError;

use crate::{
    Error, Result,
    archive::writer::{Content, DatasetWriter, Scratch},
    catalogue::{
        dataset::{self, Dataset},
        layout::push_named_text,
    },
    store::Inner,
    sync::lock,
};

/// How many datasets it writes while flushing those that are to make room fails. Each has its files open.
const WRITERS_HELD_MAX: usize = 128;

/// How many writers make room for one, so that after failures there are fewer again.
const EVICTIONS: usize = 2;

/// How often a field is tried with another writer, after the dataset was wiped or closed under it.
const ATTEMPTS: u32 = 64;

/// The datasets that a handle is writing.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    /// In an order, so that the same calls do the same to a device.
    open: RwLock<BTreeMap<Box<str>, Arc<DatasetWriter>>>,
    /// Held while a writer is opened, so that no dataset gets two.
    opening: Mutex<()>,
    uses: AtomicU64,
    /// Losses that no `flush` has reported yet: each reports one.
    losses: Mutex<VecDeque<Error>>,
}

impl Writers {
    fn get(&self, text: &str) -> Option<Arc<DatasetWriter>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let writer = open.get(text)?;
        self.touch(writer);
        Some(Arc::clone(writer))
    }

    pub(crate) fn all(&self) -> Vec<Arc<DatasetWriter>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn insert(&self, text: &str, writer: &Arc<DatasetWriter>) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).insert(text.into(), Arc::clone(writer));
    }

    /// Closes a writer, so that the next field of its dataset opens another; unless it holds fields, which must be
    /// flushed or reported first. False if it does, or is being flushed: then its fields are in that flush, which whoever
    /// flushes must find and wait for.
    fn close(&self, writer: &Arc<DatasetWriter>) -> bool {
        let flush = writer.flushing.try_lock();
        let is_flushing = matches!(flush, Err(TryLockError::WouldBlock));
        let mut state = lock(&writer.state);
        if !state.is_closed && (is_flushing || !state.batch.is_empty()) {
            return false;
        }
        state.is_closed = true;
        drop(state);
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let text = &*writer.dataset.entry.text;
        if open.get(text).is_some_and(|there| Arc::ptr_eq(there, writer)) {
            open.remove(text);
        }
        true
    }

    /// Closes the writers of datasets that were wiped: while their files are open, their room on the disk is not free.
    fn close_wiped(&self) {
        let is_wiped = |writer: &Arc<DatasetWriter>| matches!(writer.same_life(), Ok(None));
        for writer in self.all().into_iter().filter(is_wiped) {
            self.close(&writer);
        }
    }

    /// Closes writers that hold no fields; how many there were.
    pub(crate) fn close_clean(&self) -> usize {
        self.all().iter().filter(|writer| self.close(writer)).count()
    }

    /// Makes room for one more writer, so that there are `max`. A failure means that there is none.
    fn evict(&self, max: usize, evictions: usize) -> Result<()> {
        for _ in 0..evictions {
            let all = self.all();
            let oldest = all.iter().min_by_key(|writer| writer.used.load(Ordering::Relaxed));
            let Some(oldest) = oldest.filter(|_| all.len() >= max) else { return Ok(()) };
            match oldest.flush() {
                Ok(()) => {}
                Err(error @ (Error::Lost { .. } | Error::Wiped { .. })) => {
                    self.losses().push_back(error);
                }
                Err(error) if all.len() >= WRITERS_HELD_MAX => return Err(error),
                // It keeps its fields.
                Err(_) => {}
            }
            // The next to make room is another.
            if !self.close(oldest) {
                self.touch(oldest);
            }
        }
        Ok(())
    }

    /// Losses that no `flush` has reported yet.
    pub(crate) fn losses(&self) -> MutexGuard<'_, VecDeque<Error>> {
        lock(&self.losses)
    }

    fn touch(&self, writer: &DatasetWriter) {
        writer.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
    }
}

thread_local! {
    static SCRATCH: Cell<Scratch> = Cell::default();
}

impl Inner {
    /// Archives what `content` is under a key.
    pub(crate) fn write(&self, key: &Key, content: Content<'_>) -> Result<()> {
        self.write_to(
            key,
            content,
            |text, split| self.writer_of(text, split),
            |writer| {
                self.writers.close(writer);
            },
        )
    }

    /// As `write`, with a writer that the caller finds, and finds anew when one has been closed.
    pub(crate) fn write_to(
        &self,
        key: &Key,
        content: Content<'_>,
        writer_of: impl Fn(&str, &SplitKey) -> Result<Option<Arc<DatasetWriter>>>,
        close: impl Fn(&Arc<DatasetWriter>),
    ) -> Result<()> {
        self.check_present("archive into")?;
        let mut scratch = SCRATCH.take();
        let result = self.write_with(&mut scratch, key, content, writer_of, close);
        SCRATCH.set(scratch);
        result
    }

    fn write_with(
        &self,
        scratch: &mut Scratch,
        key: &Key,
        content: Content<'_>,
        writer_of: impl Fn(&str, &SplitKey) -> Result<Option<Arc<DatasetWriter>>>,
        close: impl Fn(&Arc<DatasetWriter>),
    ) -> Result<()> {
        self.schema.split_into(key, &mut scratch.split)?;
        scratch.dataset.clear();
        push_named_text(&mut scratch.dataset, &scratch.split.dataset);
        let met_limit = Cell::new(false);
        for attempt in 0..=ATTEMPTS {
            let is_last = attempt == ATTEMPTS;
            if is_last && !met_limit.get() {
                break;
            }
            let Some(writer) = writer_of(&scratch.dataset, &scratch.split)? else { continue };
            if writer.is_governed_otherwise(self.schema_digest) {
                scratch.split = writer.split_by_own_schema(key, &scratch.split)?;
            }
            let note_limit = |error: &Error| met_limit.set(met_limit.get() | error.is_too_many_open());
            let mut write = || writer.write(scratch, content).inspect_err(note_limit);
            // Each attempt closes the writer to make room for its own files. The last one says which file it could not open.
            match if is_last { write() } else { self.with_room(write) } {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                // The first bytes need a file of their own.
                Err(error) if !is_last && error.is_too_many_open() && self.evict_for_room()? => {}
                Err(error) => return Err(error),
            }
            close(&writer);
            self.schema.split_into(key, &mut scratch.split)?;
        }
        let what = format!("dataset {}: it is wiped again and again", scratch.split.dataset);
        Err(ObjectError::Conflict { what }.into())
    }

    /// Flushes every writer, and returns the first failure.
    pub(crate) fn flush(&self) -> Result<()> {
        let mut first = self.writers.losses().pop_front().map_or(Ok(()), Err);
        for writer in self.writers.all() {
            let result = self.with_room(|| writer.flush());
            if lock(&writer.state).is_closed {
                self.writers.close(&writer);
            }
            match (&first, result) {
                (Ok(()), result) => first = result,
                // One is told now, and the others by the flushes to come, which may find nothing else.
                (Err(_), Err(error @ (Error::Lost { .. } | Error::Wiped { .. }))) => {
                    self.writers.losses().push_back(error);
                }
                (Err(_), _) => {}
            }
        }
        first
    }

    /// The writer of the dataset. None if it was wiped meanwhile.
    fn writer_of(&self, text: &str, split: &SplitKey) -> Result<Option<Arc<DatasetWriter>>> {
        match self.writers.get(text) {
            Some(writer) => Ok(Some(writer)),
            None => self.open_writer(text, split),
        }
    }

    /// The dataset, for a writer of its own: with the handles that this handle writes to it with. None if it was wiped
    /// meanwhile.
    pub(crate) fn dataset_of(&self, text: &str, split: &SplitKey) -> Result<Option<Dataset>> {
        let Some(writer) = self.writer_of(text, split)? else { return Ok(None) };
        if writer.same_life()?.is_some() {
            return Ok(Some(writer.dataset.clone()));
        }
        // If it holds fields it stays, for a flush to report them.
        self.writers.close(&writer);
        self.with_room(|| self.open_or_create(text, split))
    }

    /// A writer of the dataset, which is made if it is not there. None if it was wiped meanwhile.
    fn open_writer(&self, text: &str, split: &SplitKey) -> Result<Option<Arc<DatasetWriter>>> {
        let _one_at_a_time = lock(&self.writers.opening);
        if let Some(writer) = self.writers.get(text) {
            return Ok(Some(writer));
        }
        self.writers.close_wiped();
        self.writers.evict(self.room.writers_max(), EVICTIONS)?;
        let dataset = match self.with_room(|| self.open_or_create(text, split)) {
            Err(error) if error.is_too_many_open() && self.evict_for_room()? => {
                self.open_or_create(text, split)?
            }
            opened => opened?,
        };
        let Some(dataset) = dataset else { return Ok(None) };
        self.writers.insert(text, &Arc::new(DatasetWriter::new(dataset)));
        Ok(self.writers.get(text))
    }

    fn open_or_create(&self, text: &str, split: &SplitKey) -> Result<Option<Dataset>> {
        let (root, entry) = match self.find_dataset(text)? {
            Some(found) => found,
            None => {
                let home = self.home_of(&split.dataset)?;
                let rule = self.schema.rule(split.rule).map(rule_text).unwrap_or_default();
                let entry = dataset::create(home, &split.dataset, &self.schema, &rule)?;
                (Arc::clone(&home.root), entry)
            }
        };
        Dataset::open_unless_wiped(self, &root, &entry)
    }

    /// Flushes and closes half of the writers, where the process may open no more files; false if there are none.
    fn evict_for_room(&self) -> Result<bool> {
        let before = self.writers.all().len();
        let max = self.room.halve_writers(before);
        self.writers.evict(max, before)?;
        Ok(self.writers.all().len() < before)
    }
}

/// The names that a rule gives its three levels, as the schema nests them.
pub(crate) fn rule_text(rule: &Rule) -> String {
    let names = rule.levels().map(|level| level.names().collect::<Vec<_>>().join(", "));
    let [dataset, collocation, element] = names;
    format!("[ {dataset} [ {collocation} [ {element} ]]]")
}
