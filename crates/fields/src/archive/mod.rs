//! Archiving: the bytes of a field go to the store at once, its entries wait in a writer, and `flush` publishes them.
//!
//! What must stay true:
//! - A key is checked and converted to canonical form before any byte is stored.
//! - The catalogue has no entry of a field before its bytes are durable in the store.
//! - A failed archive leaves nothing visible. A failed flush keeps its entries for a retry.

pub(crate) mod adopt;
pub(crate) mod batch;
pub(crate) mod jump;
pub(crate) mod publish;
pub(crate) mod puts;
pub(crate) mod transaction;
pub(crate) mod write;
pub(crate) mod writer;
pub(crate) mod writers;

use isotach_mars::Key;

use crate::{Error, FieldStore, Location, Result, archive::writer::Content, sync::lock};

/// Extracts a field's key from its message.
pub trait MessageKey {
    /// The key that a message carries.
    ///
    /// # Errors
    /// The decoder's errors.
    fn key(&self, message: &[u8]) -> std::result::Result<Key, Box<dyn std::error::Error + Send + Sync>>;
}

impl FieldStore {
    /// Archives a field: checks its key against the schema, converts it to canonical form, and copies the bytes to the
    /// store. Readers see the field after [`FieldStore::flush`]. Until then they see the field that it replaces, if
    /// any.
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
    /// [`Error::Key`] when the key does not fit the schema; [`Error::Locked`]; [`Error::Field`] when the bytes could
    /// not be stored. Nothing of the field is visible then, and the handle stays usable. A handle that writes to many
    /// datasets flushes some on its own. If that fails, the next [`FieldStore::flush`] reports it. Only when 128
    /// datasets hold fields that cannot be flushed, a field of another dataset is refused with that failure.
    pub fn archive(&self, key: &Key, data: &[u8]) -> Result<()> {
        self.inner.write(key, Content::Bytes(data))
    }

    /// Archives a message under the key that it carries, and returns the key.
    ///
    /// # Errors
    /// [`Error::Message`] when the decoder fails; else as [`FieldStore::archive`].
    pub fn archive_message(&self, decoder: &dyn MessageKey, message: &[u8]) -> Result<Key> {
        let key = decoder.key(message).map_err(|source| Error::Message { source })?;
        self.archive(&key, message)?;
        Ok(key)
    }

    /// Indexes a field whose bytes are stored already, without a copy: a part of a file, or an object of any pool. The
    /// bytes must not change afterwards. Visible after [`FieldStore::flush`].
    ///
    /// # Errors
    /// As [`FieldStore::archive`].
    pub fn index(&self, key: &Key, location: &Location) -> Result<()> {
        check_location(location)?;
        self.inner.write(key, Content::At(location))
    }

    /// Makes all fields archived through this handle, by any thread, durable and visible to every reader.
    ///
    /// A handle that is dropped loses the fields that it has not flushed.
    ///
    /// # Errors
    /// The first failure, after all datasets were tried. Failed fields are kept and tried again by the next flush,
    /// except with [`Error::Lost`] and [`Error::Wiped`], after which they must be archived again. [`Error::Moving`]
    /// while a move has a dataset; see [`FieldStore::move_to`].
    pub fn flush(&self) -> Result<()> {
        self.inner.flush()
    }

    /// Whether this handle has unflushed fields, or losses to report.
    pub fn is_dirty(&self) -> bool {
        let writers = &self.inner.writers;
        !writers.losses().is_empty()
            || writers.all().iter().any(|writer| !lock(&writer.state).batch.is_empty())
    }
}

/// Refuses a location beyond the largest object, and the location of a field that an overlay shows: its bytes carry the
/// key of the dataset below.
pub(crate) fn check_location(location: &Location) -> Result<()> {
    let Location { offset, length, .. } = *location;
    if location.relabel.is_some() {
        let what = format!("the location {location} of a field that an overlay shows");
        return Err(Error::invalid(what, "a field that is stored under its own key"));
    }
    if offset.checked_add(length).is_none_or(|end| end > i64::MAX as u64) {
        return Err(Error::invalid(format!("{length} bytes at {offset}"), "an end below 2^63"));
    }
    Ok(())
}
