//! Archiving: fields go to the store at once, their entries wait in the writer, and `flush` publishes them.
//!
//! What must stay true:
//! - A key is checked and put into canonical form before a byte is stored.
//! - Nothing of a field is in the catalogue before its bytes are durable in the store.
//! - A failed archive leaves nothing visible. A failed flush keeps its entries, so that it can be tried again.

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
};

use isotach_mars::{Key, Rule, SplitKey};
use isotach_object::{Cell as Address, Error as ObjectError, IdRange, ObjectId, Update};

use crate::{
    Error, FieldStore, Location, Result,
    batch::{Batch, FieldEntry, Puts},
    checksum::crc32c,
    control::Action,
    dataset::{self, Dataset},
    layout::{array_of, push_collocation_text, push_named_text},
    location::encode_own,
    root::Entry,
    store::Inner,
    sync::{lock, now_us},
};

/// How many datasets a handle writes at once. Beyond it, the one not used for longest is flushed and closed.
const WRITERS_MAX: usize = 64;

/// How many object ids a writer takes at once.
const IDS_AT_ONCE: u64 = 65_536;

/// Takes a field's key from its message; implemented by whoever can decode one.
pub trait MessageKey {
    /// The key that a message carries.
    ///
    /// # Errors
    /// Whatever the decoder finds wrong with the message.
    fn key(&self, message: &[u8]) -> std::result::Result<Key, Box<dyn std::error::Error + Send + Sync>>;
}

impl FieldStore {
    /// Archives a field: checks its key against the schema, puts it into canonical form, and hands a copy of the bytes
    /// to the store. Readers see the field after [`FieldStore::flush`]; a field archived under the same key before is
    /// seen until then and then replaced.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use isotach_fields::{Config, FieldStore};
    /// use isotach_mars::Key;
    /// use isotach_object::{Registry, memory::Memory};
    ///
    /// let registry = Registry::new().with(Arc::new(Memory::new()));
    /// let config = Config::single(&"memory:doc".parse()?)
    ///     .with_schema("param: Param; step: Step; [ class, date: Date [ type [ step, param ]]]");
    /// let store = FieldStore::create(&config, &registry)?;
    /// let key: Key = "class=od,date=2024-01-01,type=fc,step=6,param=t".parse()?;
    /// store.archive(&key, b"GRIB...7777")?;
    /// assert!(store.retrieve_one(&key)?.is_none(), "not before flush");
    /// store.flush()?;
    /// assert_eq!(store.retrieve_one(&key)?.as_deref(), Some(&b"GRIB...7777"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Key`] when the key does not fit the schema, [`Error::Locked`], [`Error::Field`] when the bytes could
    /// not be stored. Nothing of the field is visible then, and the handle can be used on.
    pub fn archive(&self, key: &Key, data: &[u8]) -> Result<()> {
        self.inner.write(key, Content::Bytes(data))
    }

    /// Archives several fields. On an error those before it are archived.
    ///
    /// # Errors
    /// As [`FieldStore::archive`].
    pub fn archive_many(&self, fields: &[(Key, &[u8])]) -> Result<()> {
        fields.iter().try_for_each(|(key, data)| self.archive(key, data))
    }

    /// Archives a message under the key that it carries, and returns the key.
    ///
    /// # Errors
    /// [`Error::Message`] when the key cannot be taken from it; else as [`FieldStore::archive`].
    pub fn archive_message(&self, decoder: &dyn MessageKey, message: &[u8]) -> Result<Key> {
        let key = decoder.key(message).map_err(|source| Error::Message { source })?;
        self.archive(&key, message)?;
        Ok(key)
    }

    /// Enters a field whose bytes are somewhere already, without copying them: a part of a file, or an object of any
    /// pool. Its bytes must not change afterwards. Visible after [`FieldStore::flush`].
    ///
    /// # Errors
    /// As [`FieldStore::archive`].
    pub fn index(&self, key: &Key, location: &Location) -> Result<()> {
        self.inner.write(key, Content::At(location))
    }

    /// Makes everything archived through this handle, by whichever thread, durable and visible to every reader.
    ///
    /// A handle that is dropped without it loses what it has not flushed.
    ///
    /// # Errors
    /// The first failure, after all datasets were tried. What failed is kept and tried again by the next flush, except
    /// with [`Error::Lost`] and [`Error::Wiped`], after which it must be archived again.
    pub fn flush(&self) -> Result<()> {
        self.inner.flush()
    }

    /// Whether something was archived through this handle since it was flushed.
    pub fn is_dirty(&self) -> bool {
        self.inner.writers.all().iter().any(|writer| !lock(&writer.state).batch.is_empty())
    }
}

/// What is archived.
#[derive(Debug, Clone, Copy)]
enum Content<'a> {
    Bytes(&'a [u8]),
    At(&'a Location),
}

/// The datasets that a handle is writing.
#[derive(Debug, Default)]
pub(crate) struct Writers {
    open: RwLock<HashMap<Box<str>, Arc<DatasetWriter>>>,
    /// Held while a writer is opened, so that no dataset gets two.
    opening: Mutex<()>,
    uses: AtomicU64,
}

impl Writers {
    fn get(&self, text: &str) -> Option<Arc<DatasetWriter>> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let writer = open.get(text)?;
        writer.used.store(self.uses.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(Arc::clone(writer))
    }

    fn all(&self) -> Vec<Arc<DatasetWriter>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn insert(&self, text: &str, writer: &Arc<DatasetWriter>) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).insert(text.into(), Arc::clone(writer));
    }

    /// Closes a writer, so that the next field of its dataset opens another; unless it holds fields, which must be
    /// flushed or reported first.
    fn close(&self, writer: &Arc<DatasetWriter>) {
        let mut state = lock(&writer.state);
        if !state.is_closed && !state.batch.is_empty() {
            return;
        }
        state.is_closed = true;
        drop(state);
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        let text = &*writer.dataset.entry.text;
        if open.get(text).is_some_and(|there| Arc::ptr_eq(there, writer)) {
            open.remove(text);
        }
    }

    /// Makes room for one more writer.
    fn evict(&self) -> Result<()> {
        let all = self.all();
        if all.len() < WRITERS_MAX {
            return Ok(());
        }
        let Some(oldest) = all.iter().min_by_key(|writer| writer.used.load(Ordering::Relaxed)) else {
            return Ok(());
        };
        let flushed = oldest.flush();
        self.close(oldest);
        flushed
    }
}

/// Buffers of one archive call, used again by the next one of its thread.
#[derive(Debug, Default)]
struct Scratch {
    split: SplitKey,
    dataset: String,
    collocation: String,
    element: String,
    record: Vec<u8>,
}

thread_local! {
    static SCRATCH: Cell<Scratch> = Cell::default();
}

impl Inner {
    fn write(&self, key: &Key, content: Content<'_>) -> Result<()> {
        let mut scratch = SCRATCH.take();
        let result = self.write_with(&mut scratch, key, content);
        SCRATCH.set(scratch);
        result
    }

    fn write_with(&self, scratch: &mut Scratch, key: &Key, content: Content<'_>) -> Result<()> {
        self.schema.split_into(key, &mut scratch.split)?;
        scratch.dataset.clear();
        push_named_text(&mut scratch.dataset, &scratch.split.dataset);
        loop {
            let writer = match self.writers.get(&scratch.dataset) {
                Some(writer) => writer,
                None => self.open_writer(&scratch.dataset, &scratch.split)?,
            };
            if writer.is_governed_otherwise(self.schema_digest) {
                scratch.split = writer.split_by_own_schema(key, &scratch.split)?;
            }
            if writer.write(scratch, content)? {
                return Ok(());
            }
            self.writers.close(&writer);
            self.schema.split_into(key, &mut scratch.split)?;
        }
    }

    fn flush(&self) -> Result<()> {
        let mut first = Ok(());
        for writer in self.writers.all() {
            let result = writer.flush();
            if lock(&writer.state).is_closed {
                self.writers.close(&writer);
            }
            first = first.and(result);
        }
        first
    }

    fn open_writer(&self, text: &str, split: &SplitKey) -> Result<Arc<DatasetWriter>> {
        let _one_at_a_time = lock(&self.writers.opening);
        if let Some(writer) = self.writers.get(text) {
            return Ok(writer);
        }
        self.writers.evict()?;
        let (root, entry) = match self.find_dataset(text)? {
            Some(found) => found,
            None => {
                let home = self.home_of(&split.dataset)?;
                let rule = self.schema.rule(split.rule).map(rule_text).unwrap_or_default();
                let entry = dataset::create(home, &split.dataset, &self.schema, &rule)?;
                (Arc::clone(&home.root), entry)
            }
        };
        let writer = Arc::new(DatasetWriter::new(Dataset::open(self, &root, &entry)?));
        self.writers.insert(text, &writer);
        // A newcomer is the one used last.
        Ok(self.writers.get(text).unwrap_or(writer))
    }
}

/// A dataset that is being written.
#[derive(Debug)]
struct DatasetWriter {
    dataset: Dataset,
    ids: Mutex<IdRange>,
    state: Mutex<State>,
    /// Held during a flush: a second one must not return before the first, which carries its fields.
    flushing: Mutex<()>,
    used: AtomicU64,
}

#[derive(Debug)]
struct State {
    batch: Batch,
    /// The generation of the dataset under which the declarations were put.
    generation: u32,
    /// No more fields may come: the writer is out of the list that `flush` goes through.
    is_closed: bool,
}

impl DatasetWriter {
    fn new(dataset: Dataset) -> Self {
        let state =
            State { batch: Batch::default(), generation: dataset.entry.record.generation, is_closed: false };
        Self {
            dataset,
            ids: Mutex::new(IdRange { start: 0, end: 0 }),
            state: Mutex::new(state),
            flushing: Mutex::default(),
            used: AtomicU64::new(0),
        }
    }

    /// Whether the dataset was made with another schema than the handle's.
    fn is_governed_otherwise(&self, handle_schema: u64) -> bool {
        self.dataset.entry.record.schema != handle_schema
    }

    /// The key split by the dataset's own schema. `split` is the handle's idea of it.
    fn split_by_own_schema(&self, key: &Key, split: &SplitKey) -> Result<SplitKey> {
        let own = self.dataset.schema.split(key)?;
        if own.dataset.slots().eq(split.dataset.slots()) {
            return Ok(own);
        }
        let expected = format!("a key that the dataset's own schema puts there too, not in {}", own.dataset);
        Err(Error::invalid(format!("key {key} in dataset {}", split.dataset), expected))
    }

    /// Stores a field and adds it to the batch. False when the writer is closed: take another.
    fn write(&self, scratch: &mut Scratch, content: Content<'_>) -> Result<bool> {
        if !self.begin()? {
            return Ok(false);
        }
        let Scratch { split, collocation, element, record, .. } = scratch;
        collocation.clear();
        push_collocation_text(collocation, &split.collocation, &split.element);
        element.clear();
        split.element.values_joined_into(element);
        record.clear();
        let id = array_of(self.dataset.entry.record.incarnation, self.new_id()?);
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
        state.batch.add(&FieldEntry { collocation, element, id, record });
        Ok(true)
    }

    /// Looks, at the first field of a batch, whether the dataset is still there and open for archiving.
    fn begin(&self) -> Result<bool> {
        let state = lock(&self.state);
        if state.is_closed || !state.batch.is_empty() {
            return Ok(!state.is_closed);
        }
        drop(state);
        let Some(entry) = self.same_life()? else { return Ok(false) };
        entry.locks.check(Action::Archive, &entry.key)?;
        Ok(true)
    }

    /// The dataset's entry in the root, if it is still the dataset that was opened.
    fn same_life(&self) -> Result<Option<Arc<Entry>>> {
        let entry = self.dataset.root.lookup(&self.dataset.entry.text)?;
        Ok(entry.filter(|entry| entry.record.incarnation == self.dataset.entry.record.incarnation))
    }

    fn new_id(&self) -> Result<u64> {
        let mut ids = lock(&self.ids);
        if ids.start >= ids.end {
            *ids = self.dataset.store.allocate_ids(IDS_AT_ONCE)?;
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
        let write = Update::Write { cell: Address::array(object), offset: 0, data };
        self.dataset.store.update(&[write]).map_err(|source| Error::of_field(&split.whole(), source))?;
        encode_own(object, data.len() as u64, crc32c(data), now_us(), record);
        Ok(())
    }

    /// Why bytes could not be stored: a wipe of the dataset is no failure if it took nothing of this writer's.
    fn explain(&self, error: Error) -> Result<bool> {
        if self.same_life()?.is_some() {
            return Err(error);
        }
        match self.give_up() {
            0 => Ok(false),
            fields => Err(self.wiped(fields)),
        }
    }

    /// Takes no more fields, and returns how many are lost with it. In one step: a field that another thread adds is
    /// counted here or goes to another writer.
    fn give_up(&self) -> u64 {
        let mut state = lock(&self.state);
        state.is_closed = true;
        state.batch.take().1
    }

    fn flush(&self) -> Result<()> {
        let _one_at_a_time = lock(&self.flushing);
        let (puts, fields) = lock(&self.state).batch.take();
        if puts.is_empty() {
            return Ok(());
        }
        match self.publish(&puts) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.wiped(fields + self.give_up())),
            Err(Error::Object(source @ ObjectError::Poisoned { .. })) => {
                let dataset = self.dataset.entry.key.to_string();
                Err(Error::Lost { dataset, fields: fields + self.give_up(), source })
            }
            Err(error) => {
                lock(&self.state).batch.put_back(puts, fields);
                Err(error)
            }
        }
    }

    /// Publishes puts. False when the dataset was wiped.
    fn publish(&self, puts: &Puts) -> Result<bool> {
        let published = self.send(puts);
        // A container that was wiped meanwhile may refuse, or take what nobody will see.
        loop {
            let entry = match self.same_life() {
                Ok(Some(entry)) => entry,
                Ok(None) => return Ok(false),
                Err(error) => return published.and(Err(error)),
            };
            let mut state = lock(&self.state);
            if published.is_err()
                || (state.generation == entry.record.generation && !entry.record.is_wiping())
            {
                return published.map(|()| true);
            }
            let again = state.batch.declare_again(puts);
            state.generation = entry.record.generation;
            drop(state);
            again.publish(&*self.dataset.catalogue)?;
            if entry.record.is_wiping() {
                // The next flush declares again, as long as the wipe goes on.
                return Ok(true);
            }
        }
    }

    /// The bytes first, then what names them.
    fn send(&self, puts: &Puts) -> Result<()> {
        if !self.dataset.is_one_container() {
            self.dataset.store.flush()?;
        }
        puts.publish(&*self.dataset.catalogue)
    }

    fn wiped(&self, fields: u64) -> Error {
        Error::Wiped { dataset: self.dataset.entry.key.to_string(), fields }
    }
}

/// The names that a rule gives its three levels, as the schema nests them.
fn rule_text(rule: &Rule) -> String {
    let names = rule.levels().map(|level| level.names().collect::<Vec<_>>().join(", "));
    let [dataset, collocation, element] = names;
    format!("[ {dataset} [ {collocation} [ {element} ]]]")
}
