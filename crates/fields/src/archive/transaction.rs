//! Transactions: fields of one dataset that become visible together.
//!
//! What must stay true: the one commit contains everything that a reader needs to find the fields, including
//! collocations and axis values. Before it nothing names the fields. After it a wipe removes whole collocations, as
//! always.

use std::sync::{Arc, Mutex};

use isotach_mars::{Key, SplitKey};

use crate::{
    Error, FieldStore, Location, MessageKey, Result,
    archive::{
        check_location,
        writer::{Content, DatasetWriter},
    },
    sync::lock,
};

/// Fields that become visible together; see [`FieldStore::transaction`]. Threads may share it.
#[derive(Debug)]
pub struct Transaction {
    store: FieldStore,
    /// The writer of its dataset. A flush of the store does not include it.
    writer: Mutex<Option<Arc<DatasetWriter>>>,
}

impl FieldStore {
    /// Begins a transaction: the fields archived in it, all of one dataset, become visible together when it is
    /// committed. Dropping it discards them. A flush of the store does not affect it.
    ///
    /// ```
    /// # use isotach_fields::{Config, FieldStore};
    /// # use isotach_mars::Key;
    /// # use isotach_object::{Registry, memory::Memory};
    /// # use std::sync::Arc;
    /// # let registry = Registry::new().with(Arc::new(Memory::new()));
    /// # let config = Config::single(&"memory:doc".parse()?).with_schema("[ class [ type [ step: Step, param ]]]");
    /// # let store = FieldStore::create(&config, &registry)?;
    /// let step = store.transaction();
    /// let keys = ["t", "u", "v"].map(|param| format!("class=od,type=fc,step=6,param={param}").parse::<Key>());
    /// for key in keys.clone() {
    ///     step.archive(&key?, b"GRIB...7777")?;
    /// }
    /// let [first, ..] = keys;
    /// assert!(store.retrieve_one(&first?)?.is_none(), "not before the commit");
    /// step.commit()?;
    /// let found = store.retrieve(&"class=od,type=fc,step=6,param=t/u/v".parse()?)?;
    /// assert_eq!(found.count(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn transaction(&self) -> Transaction {
        Transaction { store: self.clone(), writer: Mutex::default() }
    }
}

impl Transaction {
    /// Archives a field in the transaction, as [`FieldStore::archive`] does: a copy of its bytes goes to the store at once.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a field of another dataset than the transaction's; `Unsupported` where the engine has no
    /// transactions; else as [`FieldStore::archive`]. The field is not in the transaction then, which stays usable.
    pub fn archive(&self, key: &Key, data: &[u8]) -> Result<()> {
        self.write(key, Content::Bytes(data))
    }

    /// As [`FieldStore::archive_message`], in the transaction.
    ///
    /// # Errors
    /// As [`FieldStore::archive_message`] and [`Transaction::archive`].
    pub fn archive_message(&self, decoder: &dyn MessageKey, message: &[u8]) -> Result<Key> {
        let key = decoder.key(message).map_err(|source| Error::Message { source })?;
        self.archive(&key, message)?;
        Ok(key)
    }

    /// As [`FieldStore::index`], in the transaction.
    ///
    /// # Errors
    /// As [`FieldStore::index`] and [`Transaction::archive`].
    pub fn index(&self, key: &Key, location: &Location) -> Result<()> {
        check_location(location)?;
        self.write(key, Content::At(location))
    }

    fn write(&self, key: &Key, content: Content<'_>) -> Result<()> {
        let inner = &self.store.inner;
        inner.write_to(key, content, |text, split| self.writer_of(text, split), |writer| self.close(writer))
    }

    /// The transaction's writer, if this is its dataset. `None` if the dataset was wiped meanwhile.
    fn writer_of(&self, text: &str, split: &SplitKey) -> Result<Option<Arc<DatasetWriter>>> {
        let mut open = lock(&self.writer);
        if let Some(writer) = &*open {
            if *writer.dataset.entry.text == *text {
                return Ok(Some(Arc::clone(writer)));
            }
            if !lock(&writer.state).batch.is_empty() {
                let what = format!(
                    "a field of dataset {} in a transaction on {}",
                    split.dataset, writer.dataset.entry.key
                );
                return Err(Error::invalid(what, "fields of one dataset in each transaction"));
            }
        }
        let Some(dataset) = self.store.inner.dataset_of(text, split)? else { return Ok(None) };
        if !dataset.catalogue.capabilities().transactions {
            // Returns the engine's refusal now, not after everything is archived.
            dataset.catalogue.staged_transactions()?.stage()?;
        }
        Ok(Some(Arc::clone(open.insert(Arc::new(DatasetWriter::of_transaction(dataset))))))
    }

    /// Closes a writer, unless it holds fields that can still be committed.
    fn close(&self, writer: &Arc<DatasetWriter>) {
        let mut state = lock(&writer.state);
        if !state.is_closed && !state.batch.is_empty() {
            return;
        }
        state.is_closed = true;
        drop(state);
        let mut open = lock(&self.writer);
        if open.as_ref().is_some_and(|there| Arc::ptr_eq(there, writer)) {
            *open = None;
        }
    }

    /// Makes all fields of the transaction durable and visible to every reader, together. The transaction is empty
    /// then. Fields archived in it afterwards belong to a new transaction.
    ///
    /// A reader that reads fields in several calls may see some before and others after the commit. One call of
    /// [`FieldStore::retrieve`], [`FieldStore::list`] and the others sees all of a transaction or none of it, if the
    /// request finds at most 16 384 fields of the dataset.
    ///
    /// # Errors
    /// As [`FieldStore::flush`]. With [`Error::Wiped`] and [`Error::Lost`] the fields that were not wiped are visible,
    /// and the transaction is empty. After any other error all or nothing is visible, and the transaction may be
    /// committed again or dropped. [`Error::Moving`] while a move has the dataset.
    pub fn commit(&self) -> Result<()> {
        let Some(writer) = lock(&self.writer).clone() else { return Ok(()) };
        let result = self.store.inner.with_handles(|| writer.flush());
        if lock(&writer.state).is_closed {
            self.close(&writer);
        }
        result
    }

    /// Whether it holds no uncommitted field.
    pub fn is_empty(&self) -> bool {
        lock(&self.writer).as_ref().is_none_or(|writer| lock(&writer.state).batch.is_empty())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if let Some(writer) = lock(&self.writer).take() {
            writer.discard();
        }
    }
}
