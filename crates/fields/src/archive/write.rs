//! Writing through a store handle: finding a field's writer, and flushing all writers.

use std::{cell::Cell, sync::Arc};

use isotach_mars::{Key, Rule, SplitKey};
use isotach_object::Error as ObjectError;

use crate::{
    Error, Result,
    archive::writer::{Content, DatasetWriter, Scratch},
    catalogue::dataset::{self, Dataset},
    store::Inner,
    sync::lock,
};

/// The number of writers that are evicted for a new one, so that after failures their number falls again.
const EVICTIONS: usize = 2;

/// How often a field is tried with another writer after the dataset was wiped or closed.
const ATTEMPTS: u32 = 64;

thread_local! {
    static SCRATCH: Cell<Scratch> = Cell::default();
}

impl Inner {
    /// Archives `content` under a key.
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

    /// As `write`, with a writer that the caller finds, and finds again after one was closed.
    pub(crate) fn write_to(
        &self,
        key: &Key,
        content: Content<'_>,
        writer_of: impl Fn(&str, &SplitKey) -> Result<Option<Arc<DatasetWriter>>>,
        close: impl Fn(&Arc<DatasetWriter>),
    ) -> Result<()> {
        self.check_present("archive into")?;
        // A thread that ends has none any more.
        let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
        let result = self.write_with(&mut scratch, key, content, writer_of, close);
        let _ = SCRATCH.try_with(|kept| kept.set(scratch));
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
        scratch.texts.split(&self.schema, key)?;
        scratch.jump = match content {
            Content::Bytes(data) => self.indexer.index(data),
            Content::At(_) => None,
        };
        let met_limit = Cell::new(false);
        for attempt in 0..=ATTEMPTS {
            let is_last = attempt == ATTEMPTS;
            if is_last && !met_limit.get() {
                break;
            }
            let texts = &mut scratch.texts;
            let Some(writer) = writer_of(&texts.dataset, texts.key())? else { continue };
            if writer.is_governed_otherwise(self.schema_digest) {
                texts.set(writer.split_by_own_schema(key, texts.key())?);
            }
            let note_limit = |error: &Error| met_limit.set(met_limit.get() | error.is_too_many_open());
            let mut write = || writer.write(scratch, content).inspect_err(note_limit);
            // Each attempt closes the writer to free its handles. The last attempt reports which file could not be
            // opened.
            match if is_last { write() } else { self.with_handles(write) } {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                // The first bytes of a writer need a file of its own.
                Err(error) if !is_last && error.is_too_many_open() && self.evict_for_handles()? => {}
                Err(error) => return Err(error),
            }
            close(&writer);
            scratch.texts.split(&self.schema, key)?;
        }
        let what = format!("dataset {}: it is wiped again and again", scratch.texts.key().dataset);
        Err(ObjectError::Conflict { what }.into())
    }

    /// Flushes every writer, and returns the first failure.
    pub(crate) fn flush(&self) -> Result<()> {
        let mut first = self.writers.losses().pop_front().map_or(Ok(()), Err);
        for writer in self.writers.all() {
            let result = self.with_handles(|| writer.flush());
            if lock(&writer.state).is_closed {
                self.writers.close(&writer);
            }
            match (&first, result) {
                (Ok(()), result) => first = result,
                // This flush reports one failure. Later flushes report the others, which they may not find again.
                (Err(_), Err(error @ (Error::Lost { .. } | Error::Wiped { .. }))) => {
                    self.writers.losses().push_back(error);
                }
                (Err(_), _) => {}
            }
        }
        first
    }

    /// The writer of the dataset. `None` if it was wiped meanwhile.
    fn writer_of(&self, text: &str, split: &SplitKey) -> Result<Option<Arc<DatasetWriter>>> {
        match self.writers.get(text) {
            Some(writer) => Ok(Some(writer)),
            None => self.open_writer(text, split),
        }
    }

    /// The dataset for a separate writer, with the handles that this handle writes it with. `None` if it was wiped
    /// meanwhile.
    pub(crate) fn dataset_of(&self, text: &str, split: &SplitKey) -> Result<Option<Dataset>> {
        let Some(writer) = self.writer_of(text, split)? else { return Ok(None) };
        if writer.same_incarnation()?.is_some() {
            return Ok(Some(writer.dataset.clone()));
        }
        // A writer with fields stays, so that a flush reports them.
        self.writers.close(&writer);
        self.with_handles(|| self.open_or_create(text, split))
    }

    /// A writer of the dataset, which is created if it does not exist. `None` if it was wiped meanwhile.
    fn open_writer(&self, text: &str, split: &SplitKey) -> Result<Option<Arc<DatasetWriter>>> {
        let _one_at_a_time = lock(&self.writers.opening);
        if let Some(writer) = self.writers.get(text) {
            return Ok(Some(writer));
        }
        self.writers.close_wiped();
        self.writers.evict(self.budget.writers_max(), EVICTIONS)?;
        let dataset = match self.with_handles(|| self.open_or_create(text, split)) {
            Err(error) if error.is_too_many_open() && self.evict_for_handles()? => {
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
        self.open_dataset(&root, &entry)
    }

    /// Flushes and closes half of the writers when the process may open no more files. False if there are none.
    fn evict_for_handles(&self) -> Result<bool> {
        let before = self.writers.all().len();
        let max = self.budget.halve_writers(before);
        self.writers.evict(max, before)?;
        Ok(self.writers.all().len() < before)
    }
}

/// The names of a rule's three levels, nested as in the schema.
pub(crate) fn rule_text(rule: &Rule) -> String {
    let names = rule.levels().map(|level| level.names().collect::<Vec<_>>().join(", "));
    let [dataset, collocation, element] = names;
    format!("[ {dataset} [ {collocation} [ {element} ]]]")
}
