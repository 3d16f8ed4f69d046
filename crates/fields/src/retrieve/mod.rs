//! Retrieving: reads the fields that a request names, or one field.

mod ahead;
pub(crate) mod axes;
pub(crate) mod buffers;
pub(crate) mod bytes;
mod contention;
pub(crate) mod element_filter;
mod explain;
pub(crate) mod inspect;
pub(crate) mod jump;
pub(crate) mod list;
pub(crate) mod parts;
pub(crate) mod retrieval;
mod scan;

use std::{cell::Cell, sync::Arc};

use isotach_engine_kit::aligned::AlignedBuffer;
use isotach_mars::{Key, Request, SplitKey};
use isotach_object::SharedBytes;

use crate::{
    FieldBytes, FieldStore, Location, Result,
    catalogue::{dataset_reader::DatasetReader, locks::Action, split_texts::SplitTexts},
    retrieve::{inspect::Inspected, retrieval::Retrieval},
    store::Inner,
};

thread_local! {
    static TEXTS: Cell<SplitTexts> = Cell::default();
}

/// A field with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its whole key, in canonical form.
    pub key: Key,
    /// Where its bytes are.
    pub location: Location,
    /// Its bytes.
    pub bytes: FieldBytes,
}

impl FieldStore {
    /// The fields that a request names, in the request's order (see [`FieldStore::inspect`]), read as the iterator
    /// advances: at most 32 fields or 1 MiB ahead. While the caller processes fields, threads read up to 5 fields of 256 KiB
    /// and more ahead unless processors are busy, and an engine with pending reads up to its depth, together at most 64 MiB. Do not fork a process
    /// while it has a retrieval. A field that a plain flush replaces before it is read may
    /// come in its old or its new state. Of a transaction all or nothing comes.
    ///
    /// # Errors
    /// As [`FieldStore::inspect`]; the iterator returns [`crate::Error::Corrupt`] in place of a field whose bytes are
    /// damaged, and continues. If a transaction replaces remaining fields and a purge removes them, the retrieval
    /// restarts if it has returned no field yet. Else it ends with a `Conflict`; retrieve again then.
    pub fn retrieve(&self, request: &Request) -> Result<Retrieval> {
        Retrieval::new(self.clone(), request.clone())
    }

    /// The bytes of one field, or `None` if it does not exist. If the key matches several fields (an optional key left
    /// out means absent or its default), the first in the request's order.
    ///
    /// # Errors
    /// As [`FieldStore::retrieve`]; [`crate::Error::Key`] or [`crate::Error::Request`] for a key that does not fit.
    pub fn retrieve_one(&self, key: &Key) -> Result<Option<FieldBytes>> {
        self.read_found(key, |field| self.inner.read_field(field).map(Into::into))
    }

    /// As [`FieldStore::retrieve_one`], with the field's whole key and its location.
    ///
    /// # Errors
    /// As [`FieldStore::retrieve_one`].
    pub fn retrieve_field(&self, key: &Key) -> Result<Option<Field>> {
        let Some(found) = self.locate(key)? else { return Ok(None) };
        let read = self.read_where_it_is(found, &mut |field| self.inner.read_field(field).map(Into::into))?;
        Ok(read.map(|(Inspected { key, location }, bytes)| Field { key, location, bytes }))
    }

    /// As [`FieldStore::retrieve_one`], into the front of the caller's buffer; returns the field's length. A buffer that
    /// begins at a multiple of 64 bytes is filled fastest.
    ///
    /// # Errors
    /// As [`FieldStore::retrieve_one`]; [`crate::Error::Invalid`] when the buffer is too small.
    pub fn retrieve_into(&self, key: &Key, buffer: &mut [u8]) -> Result<Option<usize>> {
        self.read_found(key, |field| self.inner.read_into(field, buffer))
    }

    /// As [`FieldStore::retrieve_one`], without a copy if the engine can lend the bytes.
    ///
    /// # Errors
    /// As [`FieldStore::retrieve_one`].
    pub fn retrieve_shared(&self, key: &Key) -> Result<Option<SharedBytes>> {
        self.read_found(key, |field| self.inner.share(field))
    }

    /// The location of one field, or `None` if it does not exist; see [`FieldStore::retrieve_one`].
    ///
    /// # Errors
    /// As [`FieldStore::retrieve_one`].
    pub fn locate(&self, key: &Key) -> Result<Option<Inspected>> {
        self.find_as(key, SplitKey::whole)
    }

    /// As `locate`, with the caller's key.
    fn find(&self, key: &Key) -> Result<Option<Inspected>> {
        self.find_as(key, |_| key.clone())
    }

    /// The location of one field, with the key that `named` makes.
    fn find_as(&self, key: &Key, named: impl FnOnce(&SplitKey) -> Key) -> Result<Option<Inspected>> {
        if let Some(found) = self.inner.locate_directly(key, named)? {
            return Ok(Some(found));
        }
        // The key may name a field of another rule, with an optional key's default, or with a range of steps.
        self.inspect(&Request::from(key))?.next().transpose()
    }

    /// Finds and reads a field. Repeated if others replaced and purged it, or wiped it, in between.
    fn read_found<T>(&self, key: &Key, mut read: impl FnMut(&Inspected) -> Result<T>) -> Result<Option<T>> {
        let Some(field) = self.find(key)? else { return Ok(None) };
        Ok(self.read_where_it_is(field, &mut read)?.map(|(_, read)| read))
    }

    /// Reads a field alone. If it cannot be read at its location, it may have been replaced or wiped: then it is read
    /// at its new location, or does not exist any more.
    pub(crate) fn read_again(&self, field: Inspected) -> Result<Option<(Inspected, AlignedBuffer)>> {
        self.read_where_it_is(field, &mut |field| self.inner.read_field(field))
    }

    fn read_where_it_is<T>(
        &self,
        mut field: Inspected,
        read: &mut impl FnMut(&Inspected) -> Result<T>,
    ) -> Result<Option<(Inspected, T)>> {
        loop {
            let error = match read(&field) {
                Ok(read) => return Ok(Some((field, read))),
                Err(error) => error,
            };
            match self.find(&field.key) {
                Ok(None) => return Ok(None),
                Ok(Some(found)) if found.location != field.location => field.location = found.location,
                _ => return Err(error),
            }
        }
    }
}

impl Inner {
    /// The field that would be archived under this key, by one lookup in one index, with the key that `named` makes.
    fn locate_directly(&self, key: &Key, named: impl FnOnce(&SplitKey) -> Key) -> Result<Option<Inspected>> {
        // A thread that ends has none any more.
        let mut texts = TEXTS.try_with(Cell::take).unwrap_or_default();
        let found = self.locate_split(key, &mut texts).map(|location| {
            let location = location?;
            Some(Inspected { key: named(texts.key()), location })
        });
        let _ = TEXTS.try_with(|kept| kept.set(texts));
        found
    }

    fn locate_split(&self, key: &Key, texts: &mut SplitTexts) -> Result<Option<Location>> {
        let Some(reader) = self.reader_of(key, texts)? else { return Ok(None) };
        let index = reader.index_of(&texts.collocation);
        reader.locate(self, index, &texts.element, || texts.key().whole())
    }

    /// The reader of the dataset where a field with this key would be archived, with the key's texts. `None` if there is
    /// none.
    pub(crate) fn reader_of(&self, key: &Key, texts: &mut SplitTexts) -> Result<Option<Arc<DatasetReader>>> {
        if texts.split(&self.schema, key).is_err() {
            return Ok(None);
        }
        let Some((root, entry)) = self.find_dataset(&texts.dataset)? else { return Ok(None) };
        entry.check(Action::Retrieve)?;
        let Some(reader) = self.reader(&root, &entry)? else { return Ok(None) };
        if entry.record.schema != self.schema_digest {
            match reader.dataset.schema.split(key) {
                Ok(own) if own.dataset.slots().eq(texts.key().dataset.slots()) => texts.set(own),
                _ => return Ok(None),
            }
        }
        Ok(Some(reader))
    }
}
