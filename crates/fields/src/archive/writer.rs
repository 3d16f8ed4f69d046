//! The writer of one dataset: sends bytes to the store and collects entries in a batch, which a flush publishes.
//!
//! What must stay true: counting lost fields and refusing new ones is one step.

use std::sync::{Arc, Mutex, atomic::AtomicU64};

use isotach_engine_kit::checksum::crc32c;
use isotach_mars::{Key, SplitKey};
use isotach_object::{Error as ObjectError, IdRange, MAX_KEY, ObjectId};

use crate::{
    Error, Location, Result,
    archive::batch::{Batch, FieldEntry},
    catalogue::locks::Action,
    catalogue::{
        dataset::Dataset, layout::array_of, location::encode_own, root::Entry, split_texts::SplitTexts,
    },
    sync::{lock, now_us},
};

/// The number of object ids that a writer allocates in one call.
const IDS_PER_RANGE: u64 = 65_536;

/// The code of a failure that only a new handle on the container ends.
const POISONED: &str = "poisoned";

/// The content to archive.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    Bytes(&'a [u8]),
    At(&'a Location),
}

/// The buffers of an archive call, reused by the next call of its thread.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) texts: SplitTexts,
    record: Vec<u8>,
    /// The jump index of the field.
    pub(crate) jump: Option<Vec<u8>>,
}

/// A dataset that is being written.
#[derive(Debug)]
pub(crate) struct DatasetWriter {
    pub(crate) dataset: Dataset,
    /// Whether each flush is one transaction.
    pub(crate) is_transaction: bool,
    ids: Mutex<IdRange>,
    pub(crate) state: Mutex<State>,
    /// Held during a flush: a second flush must not return before the first, which has its fields.
    pub(crate) flushing: Mutex<()>,
    /// The time of its last use, counted in uses of all writers.
    pub(crate) used: AtomicU64,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) batch: Batch,
    /// The dataset's generation when the declarations were put.
    pub(crate) generation: u32,
    /// It accepts no more fields and is not in the list that `flush` visits.
    pub(crate) is_closed: bool,
}

impl State {
    /// Closes the writer and returns the number of lost fields, in one step: a field of another thread is counted here
    /// or goes to another writer.
    fn give_up(&mut self) -> u64 {
        self.is_closed = true;
        self.batch.take().fields()
    }
}

impl DatasetWriter {
    pub(crate) fn new(dataset: Dataset) -> Self {
        let state =
            State { batch: Batch::default(), generation: dataset.entry.record.generation, is_closed: false };
        Self {
            dataset,
            is_transaction: false,
            ids: Mutex::new(IdRange { start: 0, end: 0 }),
            state: Mutex::new(state),
            flushing: Mutex::default(),
            used: AtomicU64::new(0),
        }
    }

    /// A writer whose flushes are transactions.
    pub(crate) fn of_transaction(dataset: Dataset) -> Self {
        Self { is_transaction: true, ..Self::new(dataset) }
    }

    /// Whether the dataset was created with another schema than the handle's.
    pub(crate) fn is_governed_otherwise(&self, handle_schema: u64) -> bool {
        self.dataset.entry.record.schema != handle_schema
    }

    /// The key split by the dataset's own schema. `split` is the split by the handle's schema.
    pub(crate) fn split_by_own_schema(&self, key: &Key, split: &SplitKey) -> Result<SplitKey> {
        let own = self.dataset.schema.split(key)?;
        if own.dataset.slots().eq(split.dataset.slots()) {
            return Ok(own);
        }
        let expected = format!("a key that the dataset's own schema puts there too, not in {}", own.dataset);
        Err(Error::invalid(format!("key {key} in dataset {}", split.dataset), expected))
    }

    /// Stores a field and adds it to the batch. False if the writer is closed and another is needed.
    pub(crate) fn write(&self, scratch: &mut Scratch, content: Content<'_>) -> Result<bool> {
        if !self.begin()? {
            return Ok(false);
        }
        let Scratch { texts, record, jump } = scratch;
        let (split, collocation, element) = (texts.key(), &texts.collocation, &texts.element);
        check_lengths(split, collocation, element)?;
        record.clear();
        let id = match self.new_id() {
            Ok(id) => array_of(self.dataset.entry.record.incarnation, id),
            Err(error) => return self.explain(error),
        };
        match content {
            Content::Bytes(data) => {
                if let Err(error) = self.store_bytes(split, id, data, record) {
                    return self.explain(error);
                }
            }
            Content::At(location) => {
                Location { archived_us: now_us(), ..location.clone() }.encode(&self.dataset.uri, record);
            }
        }
        let mut state = lock(&self.state);
        if state.is_closed {
            return Ok(false);
        }
        state.batch.add(&FieldEntry { collocation, element, id, record, jump: jump.as_deref() });
        Ok(true)
    }

    /// Checks, at the first field of a batch, that the dataset exists and is open for archiving.
    fn begin(&self) -> Result<bool> {
        let state = lock(&self.state);
        if state.is_closed || !state.batch.is_empty() {
            return Ok(!state.is_closed);
        }
        drop(state);
        let Some(entry) = self.same_incarnation()? else { return Ok(false) };
        entry.check(Action::Archive)?;
        Ok(true)
    }

    /// The dataset's entry in the root, if it is the same incarnation.
    pub(crate) fn same_incarnation(&self) -> Result<Option<Arc<Entry>>> {
        self.dataset.root.same_incarnation(&self.dataset.entry)
    }

    fn new_id(&self) -> Result<u64> {
        let mut ids = lock(&self.ids);
        if ids.start >= ids.end {
            *ids = self.dataset.store.allocate_ids(IDS_PER_RANGE)?;
        }
        ids.next().ok_or_else(|| ObjectError::invalid("an empty range of ids", "at least one").into())
    }

    fn store_bytes(
        &self,
        split: &SplitKey,
        object: ObjectId,
        data: &[u8],
        record: &mut Vec<u8>,
    ) -> Result<()> {
        // The id comes from a range that only this writer has.
        let stored = self.dataset.store.write_new(object, data);
        let sum = stored.map_err(|source| Error::of_field(&split.whole(), source))?;
        encode_own(object, data.len() as u64, sum.unwrap_or_else(|| crc32c(data)), now_us(), record);
        Ok(())
    }

    /// Handles a failure to store bytes. If the dataset was wiped, or an earlier failure poisoned the handle, and the
    /// writer holds no other field, another writer may take this field.
    fn explain(&self, error: Error) -> Result<bool> {
        let is_gone = self.same_incarnation()?.is_none();
        let is_spoilt = error.code() == POISONED;
        let mut state = lock(&self.state);
        if is_gone || (is_spoilt && state.batch.is_empty()) {
            return match state.give_up() {
                0 => Ok(false),
                fields => Err(self.wiped(fields)),
            };
        }
        Err(error)
    }

    /// [`State::give_up`].
    pub(crate) fn give_up(&self) -> u64 {
        lock(&self.state).give_up()
    }
}

/// Refuses a field whose entries are too long for a container, before its bytes are stored. Each flush would fail
/// otherwise.
fn check_lengths(split: &SplitKey, collocation: &str, element: &str) -> Result<()> {
    // The key of a collocation's entry has one more byte. An axis value is a part of the element's text.
    let longest = element.len().max(collocation.len() + 1);
    if longest <= MAX_KEY {
        return Ok(());
    }
    let (name, value) = split
        .whole()
        .iter()
        .map(|(name, value)| (name.to_owned(), value.len()))
        .max_by_key(|(_, length)| *length)
        .unwrap_or_default();
    let what = format!("a key of {longest} bytes, {value} of them the value of {name}");
    Err(Error::invalid(what, format!("at most {MAX_KEY} bytes in the keys of one level")))
}
