//! Retrieving: the bytes of the fields that a request names, in its order, read ahead with bounded memory.

use std::collections::VecDeque;

use isotach_mars::{Key, Request};
use isotach_object::SharedBytes;

use crate::{
    Error, FieldBytes, FieldStore, Location, Result,
    buffers::{Buffers, KEPT},
    control::Action,
    inspect::{Inspected, Inspection, Missing},
    layout::{push_collocation_text, push_named_text},
    store::Inner,
};

/// What is read together at most, in fields and bytes; one field that is larger is read alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ahead {
    fields: usize,
    bytes: u64,
}

impl Ahead {
    /// More would leave a processor's own cache before anybody looks at it, and the next batch would take its buffers from
    /// memory again.
    const NEAR: Self = Self { fields: 8, bytes: 1 << 20 };
    /// What is read first of an engine whose reads are under way together: the caller should not wait long.
    const FIRST: Self = Self { fields: 16, bytes: 16 << 20 };
    /// What is read later: at the end of each batch ever fewer reads are under way, so there should be few ends.
    const FAR: Self = Self { fields: KEPT, bytes: 64 << 20 };
}

/// How often a retrieval begins again before it has yielded anything.
const RESTARTS_MAX: u32 = 100;

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
    /// The fields that a request names, in the request's order (see [`FieldStore::inspect`]), read as the iterator is
    /// advanced: at most 8 fields or 1 MiB ahead, or one that is larger; 64 fields or 64 MiB of an engine with batched reads. A
    /// field that is replaced by a plain flush before it is read may come in its old or its new state; of a transaction all or
    /// nothing comes.
    ///
    /// # Errors
    /// As [`FieldStore::inspect`]; the iterator yields [`Error::Corrupt`] in place of a field whose bytes are
    /// damaged, and goes on after it. It ends with a `Conflict` where a transaction replaced fields that are still to come
    /// and a purge removed them, once some of the old ones were handed out: ask again then. Until that it begins again by itself.
    pub fn retrieve(&self, request: &Request) -> Result<Retrieval> {
        Ok(Retrieval {
            inspection: self.inspect(request)?,
            request: request.clone(),
            restarts: 0,
            has_yielded: false,
            store: self.clone(),
            ahead: VecDeque::new(),
            next: None,
            has_read: false,
            buffers: Buffers::default(),
        })
    }

    /// The bytes of one field, or `None` if it is not there. Of several that the key may mean (an optional key left out
    /// means absent or its default) the first in the request's order.
    ///
    /// # Errors
    /// As [`FieldStore::retrieve`]; [`Error::Key`] or [`Error::Request`] for a key that does not fit.
    pub fn retrieve_one(&self, key: &Key) -> Result<Option<Vec<u8>>> {
        self.read_found(key, |field| self.inner.read_field(field))
    }

    /// As [`FieldStore::retrieve_one`], into the front of the caller's buffer; returns the field's length.
    ///
    /// # Errors
    /// As [`FieldStore::retrieve_one`]; [`Error::Invalid`] when the buffer is too small.
    pub fn retrieve_into(&self, key: &Key, buffer: &mut [u8]) -> Result<Option<usize>> {
        self.read_found(key, |field| self.inner.read_into(&field.key, &field.location, buffer))
    }

    /// As [`FieldStore::retrieve_one`], without a copy where the engine can lend its bytes.
    ///
    /// # Errors
    /// As [`FieldStore::retrieve_one`].
    pub fn retrieve_shared(&self, key: &Key) -> Result<Option<SharedBytes>> {
        self.read_found(key, |field| self.inner.share(&field.key, &field.location))
    }

    /// Where one field is, or `None` if it is not there; see [`FieldStore::retrieve_one`].
    ///
    /// # Errors
    /// As [`FieldStore::retrieve_one`].
    pub fn locate(&self, key: &Key) -> Result<Option<Inspected>> {
        let found = self.find(key)?;
        Ok(found.map(|found| match self.inner.schema.split(&found.key) {
            Ok(split) => Inspected { key: split.whole(), ..found },
            Err(_) => found,
        }))
    }

    /// As `locate`, with the key as the caller wrote it.
    fn find(&self, key: &Key) -> Result<Option<Inspected>> {
        if let Some(location) = self.inner.locate_directly(key)? {
            return Ok(Some(Inspected { key: key.clone(), location }));
        }
        // The key may mean a field of another rule, with an optional key's default, or with a range of steps.
        self.inspect(&Request::from(key))?.next().transpose()
    }

    /// Finds a field and reads it, and again where others replaced and purged, or wiped it meanwhile.
    fn read_found<T>(&self, key: &Key, mut read: impl FnMut(&Inspected) -> Result<T>) -> Result<Option<T>> {
        let Some(field) = self.find(key)? else { return Ok(None) };
        Ok(self.read_where_it_is(field, &mut read)?.map(|(_, read)| read))
    }

    /// Reads a field alone. If it cannot be read where it was found, it may have been replaced or wiped meanwhile: then
    /// it is read where it is, or is not there any more.
    pub(crate) fn read_again(&self, field: Inspected) -> Result<Option<(Inspected, Vec<u8>)>> {
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
    /// The location of the field that would be archived under this key: one look into one index.
    fn locate_directly(&self, key: &Key) -> Result<Option<Location>> {
        let Ok(mut split) = self.schema.split(key) else { return Ok(None) };
        let mut text = String::with_capacity(96);
        push_named_text(&mut text, &split.dataset);
        let Some((root, entry)) = self.find_dataset(&text)? else { return Ok(None) };
        entry.locks.check(Action::Retrieve, &entry.key)?;
        let Some(reader) = self.reader(&root, &entry)? else { return Ok(None) };
        if entry.record.schema != self.schema_digest {
            match reader.dataset.schema.split(key) {
                Ok(own) if own.dataset.slots().eq(split.dataset.slots()) => split = own,
                _ => return Ok(None),
            }
        }
        text.clear();
        push_collocation_text(&mut text, &split.collocation, &split.element);
        let index = reader.index_of(&text);
        let mut element = String::new();
        split.element.values_joined_into(&mut element);
        reader.locate(self, index, &element, || split.whole())
    }
}

/// The answer to [`FieldStore::retrieve`], read as it is iterated.
#[derive(Debug)]
pub struct Retrieval {
    inspection: Inspection,
    request: Request,
    /// How often it began again.
    restarts: u32,
    has_yielded: bool,
    store: FieldStore,
    ahead: VecDeque<Result<Field>>,
    /// A field that was found and did not fit into the last batch, or why there is none.
    next: Option<Result<Inspected>>,
    /// Whether a batch was read.
    has_read: bool,
    buffers: Buffers,
}

impl Retrieval {
    /// Which of the fields that the request names are not there; see [`Inspection::missing`].
    pub fn missing(&self) -> Option<Missing> {
        self.inspection.missing()
    }

    /// Finds and reads the next batch.
    fn read_ahead(&mut self) -> Result<()> {
        let (mut batch, mut bytes, mut most) = (Vec::new(), 0_u64, Ahead::NEAR);
        while batch.len() < most.fields {
            match self.next.take().or_else(|| self.inspection.next()) {
                None => break,
                // What was found before a failure is delivered before it.
                Some(Err(error)) if batch.is_empty() => return Err(error),
                Some(Err(error)) => {
                    self.next = Some(Err(error));
                    break;
                }
                Some(Ok(field))
                    if !batch.is_empty() && bytes.saturating_add(field.location.length) > most.bytes =>
                {
                    self.next = Some(Ok(field));
                    break;
                }
                Some(Ok(field)) => {
                    if batch.is_empty() {
                        most = self.most_ahead(&field);
                    }
                    bytes = bytes.saturating_add(field.location.length);
                    batch.push(field);
                }
            }
        }
        self.has_read = true;
        match self.store.inner.read_fields(&batch, &self.buffers) {
            Ok(read) => {
                let read =
                    batch.into_iter().zip(read).map(|(field, bytes)| Ok(self.buffers.field(field, bytes)));
                self.ahead.extend(read);
                Ok(())
            }
            Err(_) => self.read_singly(batch),
        }
    }

    /// How much is read together with a field, by the engine that has it. Whether it can be read shows when it is.
    fn most_ahead(&self, field: &Inspected) -> Ahead {
        match (self.store.inner.has_batched_reads(&field.location), self.has_read) {
            (false, _) => Ahead::NEAR,
            (true, false) => Ahead::FIRST,
            (true, true) => Ahead::FAR,
        }
    }

    /// Reads fields of which one is damaged, or not there any more: the others are delivered all the same.
    fn read_singly(&mut self, batch: Vec<Inspected>) -> Result<()> {
        for field in batch {
            let (key, place) = (field.key.clone(), field.location.clone());
            let read = self.store.read_again(field);
            let is_elsewhere = match &read {
                Ok(Some((field, _))) => field.location != place,
                Ok(None) => true,
                Err(_) => false,
            };
            // Looked at after the field was: what is found before a transaction is none of its fields.
            if is_elsewhere && let Some(state) = self.inspection.outdated(&key)? {
                let error = state.outdated();
                return self.begin_again(error);
            }
            let field = read.transpose();
            self.ahead.extend(field.map(|read| read.map(|(field, bytes)| self.buffers.field(field, bytes))));
        }
        Ok(())
    }

    /// Begins again, if nobody has seen anything yet; else ends, after what was read.
    fn begin_again(&mut self, error: Error) -> Result<()> {
        if self.has_yielded || self.restarts >= RESTARTS_MAX {
            self.inspection.end();
            self.next = None;
            self.ahead.push_back(Err(error));
            return Ok(());
        }
        self.restarts += 1;
        self.ahead.clear();
        self.next = None;
        self.inspection = self.store.inspect(&self.request)?;
        self.read_ahead()
    }
}

impl Buffers {
    /// A field with its bytes, in a buffer of these.
    fn field(&self, Inspected { key, location }: Inspected, bytes: Vec<u8>) -> Field {
        Field { key, location, bytes: self.lend(bytes) }
    }
}

impl Iterator for Retrieval {
    type Item = Result<Field>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ahead.is_empty()
            && let Err(error) = self.read_ahead()
        {
            self.has_yielded = true;
            return Some(Err(error));
        }
        let next = self.ahead.pop_front();
        self.has_yielded |= next.is_some();
        next
    }
}
