//! Reading the bytes at locations: objects in batches for each container, parts of files one by one.
//!
//! Engines verify the checksums of objects when they are read, so this layer does not. A part of an adopted file has
//! only the checksum of its location, which is always verified.

use std::{
    fs::File,
    io::ErrorKind,
    ops::{Bound, Range, RangeBounds},
    os::unix::fs::FileExt,
    path::Path,
    sync::Arc,
};

use isotach_engine_kit::{aligned::AlignedBuffer, checksum::crc32c};
use isotach_mars::Key;
use isotach_object::{
    ArrayRead, Cell, Container, Error as ObjectError, LentReads, ObjectId, PendingRead, PendingReads,
    SharedBytes,
};

use crate::{
    Action, Error, FieldBytes, FieldStore, Location, Result,
    catalogue::location::{ContainerUri, Place},
    retrieve::{buffers::Buffers, inspect::Inspected},
    store::Inner,
};

/// Fields up to this size get their buffer without a lookup of the object's size.
const UNCHECKED_MAX: u64 = 64 << 20;

/// A field and where its bytes go.
type Wanted<'a> = (&'a Inspected, &'a mut [u8]);

impl FieldStore {
    /// The bytes at a location.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when bytes are missing or fail their checksum; [`Error::Invalid`] for bytes that do not end
    /// below 2^63; what the engine reports.
    pub fn read(&self, location: &Location) -> Result<FieldBytes> {
        self.inner.check_readable(location)?;
        self.inner.read_field(&without_key(location)).map(Into::into)
    }

    /// As [`FieldStore::read`], into the front of the caller's buffer; returns the field's length. A buffer that begins at a
    /// multiple of 64 bytes is filled fastest.
    ///
    /// # Errors
    /// As [`FieldStore::read`]; [`Error::Invalid`] when the buffer is too small.
    pub fn read_into(&self, location: &Location, buffer: &mut [u8]) -> Result<usize> {
        self.inner.check_readable(location)?;
        self.inner.read_into(&without_key(location), buffer)
    }

    /// A part of the bytes at a location, counted from the field's first byte. An engine reads and verifies only what holds it. Of
    /// an adopted file, and of a field that an overlay shows under another key, the whole field is read.
    ///
    /// # Errors
    /// As [`FieldStore::read`]; [`Error::Invalid`] for a part that does not lie within the field.
    pub fn read_part(&self, location: &Location, part: impl RangeBounds<u64>) -> Result<FieldBytes> {
        if matches!(location.place, Place::File(_)) || location.relabel.is_some() {
            let mut bytes = self.read(location)?.into_vec();
            let part = within(location, &part, bytes.len() as u64)?;
            bytes.truncate(part.end as usize);
            bytes.drain(..part.start as usize);
            return Ok(AlignedBuffer::from(bytes).into());
        }
        location.check_end()?;
        let part = within(location, &part, location.length)?;
        let (offset, length) = (location.offset + part.start, part.end - part.start);
        self.read(&Location { offset, length, ..location.clone() })
    }
}

/// A field that is named by its location only.
fn without_key(location: &Location) -> Inspected {
    Inspected { key: Key::new(), location: location.clone() }
}

/// A part of the field at a location, which has this length as it is read.
fn within(location: &Location, part: &impl RangeBounds<u64>, length: u64) -> Result<Range<u64>> {
    let start = match part.start_bound() {
        Bound::Included(first) => *first,
        Bound::Excluded(before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match part.end_bound() {
        Bound::Included(last) => last.saturating_add(1),
        Bound::Excluded(behind) => *behind,
        Bound::Unbounded => length.max(start),
    };
    if start <= end && end <= length {
        return Ok(start..end);
    }
    let expected = match start <= end {
        true => format!("a part of its {length} bytes"),
        false => "a start that is not past the end".to_owned(),
    };
    let what =
        format!("bytes {start} to {end} (exclusive) of location {location} at offset {}", location.offset);
    Err(Error::invalid(what, expected))
}

impl Inner {
    /// Refuses a location in a dataset whose retrieval is forbidden. A location in an unlisted container is refused if
    /// retrieval is forbidden for any dataset of the pool.
    pub(crate) fn check_readable(&self, location: &Location) -> Result<()> {
        let Place::Object { container, .. } = &location.place else { return Ok(()) };
        for root in &self.roots {
            let forbidden = root.limits.of_any();
            if !forbidden.contains(Action::Retrieve) {
                continue;
            }
            let entries = self.with_handles(|| root.entries())?;
            match entries.list.iter().find(|entry| entry.record.label == container.label.as_str()) {
                Some(entry) => {
                    entry.forbidden.check(Action::Retrieve, || format!("dataset {}", entry.key))?;
                }
                None if *root.uri() == container.pool => {
                    forbidden.check(Action::Retrieve, || format!("location {location}"))?;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The bytes of a field.
    pub(crate) fn read_field(&self, field: &Inspected) -> Result<AlignedBuffer> {
        let mut bytes = self.read_fields(std::slice::from_ref(field), &Buffers::default())?;
        Ok(bytes.pop().unwrap_or_default())
    }

    /// The bytes of several fields, in their order, in buffers of `buffers`.
    pub(crate) fn read_fields(&self, fields: &[Inspected], buffers: &Buffers) -> Result<Vec<AlignedBuffer>> {
        let mut filled: Vec<AlignedBuffer> = Vec::with_capacity(fields.len());
        for field in fields {
            filled.push(buffers.take(self.length_of(field)?));
        }
        let mut slices: Vec<Wanted<'_>> =
            fields.iter().zip(filled.iter_mut().map(|buffer| &mut **buffer)).collect();
        let mut groups: Vec<(Arc<ContainerUri>, Vec<Wanted<'_>>)> = Vec::new();
        for (field, buffer) in slices.drain(..) {
            match &field.location.place {
                Place::File(path) => self.with_handles(|| read_file(field, path, buffer))?,
                Place::Object { container, .. } => {
                    match groups.iter_mut().find(|(uri, _)| uri == container) {
                        Some((_, group)) => group.push((field, buffer)),
                        None => groups.push((Arc::clone(container), vec![(field, buffer)])),
                    }
                }
            }
        }
        for (uri, mut group) in groups {
            let open = self.container(&uri)?;
            self.with_handles(|| read_objects(&*open, &mut group))?;
        }
        for (field, bytes) in fields.iter().zip(&mut filled) {
            if field.location.relabel.is_some() {
                let (key, relabel) = (&field.key, field.location.relabel.as_ref());
                *bytes = self.relabelled(key, relabel, std::mem::take(bytes).into_vec())?.into();
            }
        }
        Ok(filled)
    }

    /// Reads one field into the front of the caller's buffer, and returns its length.
    pub(crate) fn read_into(&self, field: &Inspected, buffer: &mut [u8]) -> Result<usize> {
        let relabelled = field.location.relabel.as_ref().map(|_| self.read_field(field)).transpose()?;
        let length = match &relabelled {
            Some(bytes) => bytes.len(),
            None => self.length_of(field)?,
        };
        let have = buffer.len();
        let expected = || format!("room for the {length} bytes of field {}", field.key);
        let buffer = buffer
            .get_mut(..length)
            .ok_or_else(|| Error::invalid(format!("a buffer of {have} bytes"), expected()))?;
        if let Some(bytes) = relabelled {
            buffer.copy_from_slice(&bytes);
            return Ok(length);
        }
        match &field.location.place {
            Place::File(path) => self.with_handles(|| read_file(field, path, buffer))?,
            Place::Object { container, .. } => {
                let (open, mut wanted) = (self.container(container)?, [(field, buffer)]);
                self.with_handles(|| read_objects(&*open, &mut wanted))?;
            }
        }
        Ok(length)
    }

    /// The bytes of one field, without a copy if the engine lends them.
    pub(crate) fn share(&self, field: &Inspected) -> Result<SharedBytes> {
        let Location { place, relabel, .. } = &field.location;
        if let (Place::Object { container, object }, None) = (place, relabel) {
            let open = self.container(container)?;
            if let Some(lent) = open.facets().lent_reads {
                return self.with_handles(|| lend_object(lent, field, *object));
            }
        }
        let bytes = self.read_field(field)?;
        let range = 0..bytes.len();
        Ok(SharedBytes::new(Arc::new(bytes), range).unwrap_or_default())
    }

    /// The number of reads that may be pending at this location; 0 for blocking reads.
    pub(crate) fn reads_ahead(&self, location: &Location) -> usize {
        match &location.place {
            _ if location.relabel.is_some() => 0,
            Place::File(_) => 0,
            Place::Object { container, .. } => {
                let depth =
                    |open: Arc<dyn Container>| open.facets().pending_reads.map_or(0, PendingReads::depth);
                self.container(container).map_or(0, depth)
            }
        }
    }

    /// Starts a pending read of a field, into a buffer of `buffers`.
    pub(crate) fn begin_read(&self, field: &Inspected, buffers: &Buffers) -> Result<Box<dyn PendingRead>> {
        let (Place::Object { container, .. }, Some(object)) =
            (&field.location.place, field.location.object())
        else {
            return Err(corrupt(field, "its location, which is no object".to_owned()));
        };
        let buffer = buffers.take(self.length_of(field)?).into_vec();
        let open = self.container(container)?;
        let begun = open.pending_reads()?.begin_read(Cell::array(object), field.location.offset, buffer);
        begun.map_err(|source| Error::of_field(&field.key, source))
    }

    /// Waits for a pending read.
    pub(crate) fn end_read(
        &self,
        field: &Inspected,
        read: Result<Box<dyn PendingRead>>,
    ) -> Result<AlignedBuffer> {
        let bytes = read?.wait().map_err(|source| Error::of_field(&field.key, source))?;
        check_length(field, bytes.len())?;
        Ok(bytes.into())
    }

    /// The container that a location names.
    pub(crate) fn container(&self, uri: &Arc<ContainerUri>) -> Result<Arc<dyn Container>> {
        if let Some(container) = self.containers.get(uri) {
            return Ok(container);
        }
        let pool = self.pool(&uri.pool)?;
        let container = self.with_handles(|| {
            let now = pool.open_container(&uri.label)?;
            // A container outside the snapshot, to which a location leads, is read as it is now.
            let open_snapshot = |snapshot: &Arc<crate::catalogue::snapshot_record::SnapshotId>| {
                now.snapshots()?.open(&snapshot.container_snapshot)
            };
            match self.snapshot.as_ref().map(open_snapshot) {
                None | Some(Err(ObjectError::NotFound { .. })) => Ok(now),
                Some(snapshot) => Ok(snapshot?),
            }
        })?;
        self.containers.keep(uri, &container, self.budget.readers_max());
        Ok(container)
    }

    /// The length of a field in memory. A part of a file is bounded by the file, so that a wrong entry allocates no
    /// memory.
    pub(crate) fn length_of(&self, field: &Inspected) -> Result<usize> {
        field.location.check_end()?;
        let Location { offset, length, .. } = field.location;
        if let Place::File(path) = &field.location.place {
            let size = std::fs::metadata(path).map_err(|source| file_error(field, path, source))?.len();
            if offset + length > size {
                let what = format!("{length} bytes at {offset} reach past the end of the file at {size}");
                return Err(corrupt(field, what));
            }
        }
        if let Place::Object { container, object } = &field.location.place
            && length > UNCHECKED_MAX
        {
            // A wrong entry must not allocate memory for bytes that do not exist.
            let open = self.container(container)?;
            let sizes = self.with_handles(|| Ok(open.size_many(&[Cell::array(*object)])?))?;
            let size = sizes.first().copied().flatten().unwrap_or(0);
            if offset + length > size {
                let what = format!("{length} bytes at {offset} reach past the end of the object at {size}");
                return Err(corrupt(field, what));
            }
        }
        usize::try_from(length).map_err(|_| corrupt(field, format!("its length of {length} bytes")))
    }
}

fn read_objects(container: &dyn Container, group: &mut [Wanted<'_>]) -> Result<()> {
    let (mut fields, mut reads) = (Vec::with_capacity(group.len()), Vec::with_capacity(group.len()));
    for (field, buffer) in group {
        let Some(object) = field.location.object() else { continue };
        let (cell, offset) = (Cell::array(object), field.location.offset);
        fields.push(*field);
        reads.push(ArrayRead { cell, offset, buffer, filled: 0 });
    }
    match container.read_many(&mut reads) {
        Ok(()) => {}
        Err(source) if reads.len() == 1 => return Err(Error::of_field(&fields[0].key, source)),
        // One of several reads failed: repeat them one by one to find it.
        Err(_) => {
            for (field, read) in fields.iter().zip(&mut reads) {
                container
                    .read_many(std::slice::from_mut(read))
                    .map_err(|source| Error::of_field(&field.key, source))?;
            }
        }
    }
    fields.iter().zip(&reads).try_for_each(|(field, read)| check_length(field, read.filled))
}

fn lend_object(lent: &dyn LentReads, field: &Inspected, object: ObjectId) -> Result<SharedBytes> {
    field.location.check_end()?;
    let Location { offset, length, .. } = field.location;
    let shared = lent.lend(Cell::array(object), offset, length);
    let shared = shared.map_err(|source| Error::of_field(&field.key, source))?;
    check_length(field, shared.len())?;
    Ok(shared)
}

fn check_length(field: &Inspected, found: usize) -> Result<()> {
    if found as u64 == field.location.length {
        return Ok(());
    }
    Err(corrupt(field, format!("{found} bytes are there instead of {}", field.location.length)))
}

pub(crate) fn read_file(field: &Inspected, path: &Path, buffer: &mut [u8]) -> Result<()> {
    let file = File::open(path).map_err(|source| file_error(field, path, source))?;
    match file.read_exact_at(buffer, field.location.offset) {
        Ok(()) => {}
        Err(source) if source.kind() == ErrorKind::UnexpectedEof => {
            return Err(corrupt(field, "the file ends within it".to_owned()));
        }
        Err(source) => return Err(file_error(field, path, source)),
    }
    let found = crc32c(buffer);
    if found != field.location.checksum {
        let what = format!("checksum {found:08x} differs from {:08x}", field.location.checksum);
        return Err(corrupt(field, what));
    }
    Ok(())
}

fn file_error(field: &Inspected, path: &Path, source: std::io::Error) -> Error {
    Error::of_field(&field.key, ObjectError::from_io(source, format!("adopted file {}", path.display())))
}

pub(crate) fn corrupt(field: &Inspected, what: String) -> Error {
    let place = format!("{} at offset {}", field.location, field.location.offset);
    Error::Corrupt { field: field.key.to_string(), what, place }
}
