//! Checking the bytes of fields against their entries.

use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use isotach_engine_kit::checksum::Crc32c;
use isotach_mars::Key;
use isotach_object::{ArrayRead, Cell, Container, Error as ObjectError, Finding, ObjectId};

use super::report::{Cure, Damage, Level, Run};
use crate::{
    Error, Location, Result,
    archive::adopt::checksum_of,
    catalogue::{dataset_reader::DatasetReader, location::Place},
    store::Inner,
    sync::lock,
};

/// Bytes read in one call.
const STEP: usize = 4 << 20;

/// An entry of an index or a history, as it was listed.
pub(super) struct Candidate {
    pub(super) object: ObjectId,
    pub(super) key: Vec<u8>,
    pub(super) value: Vec<u8>,
    pub(super) field: Key,
    pub(super) location: Location,
    /// For a history entry: index and key of the newest field, and the record that it has if this entry is the newest.
    pub(super) newest: Option<(ObjectId, Vec<u8>, Vec<u8>)>,
}

/// What is wrong with a field.
struct Wrong {
    what: String,
    place: String,
    byte: Option<u64>,
    /// Whether the problem may be temporary: the bytes could not be read, and may be intact.
    may_pass: bool,
}

impl Wrong {
    /// The problem of a field that could not be checked.
    fn of(error: &Error, place: String, byte: Option<u64>) -> Self {
        if let Error::Object(ObjectError::Corrupt { what, place }) = error {
            return Self { what: what.clone(), place: place.clone(), byte: None, may_pass: false };
        }
        let is_damage = matches!(error, Error::Object(error) if error.is_damage());
        match is_damage || error.code() == "invalid-input" {
            true => Self { what: error.to_string(), place, byte, may_pass: false },
            false => Self::unknown(error, place, byte),
        }
    }

    fn unknown(error: &Error, place: String, byte: Option<u64>) -> Self {
        Self { what: format!("it is not known to be whole: {error}"), place, byte, may_pass: true }
    }
}

/// Checks fields of one dataset. Several threads may use it.
pub(super) struct Checker<'c> {
    pub(super) inner: &'c Inner,
    pub(super) reader: &'c DatasetReader,
    pub(super) lost: &'c HashMap<ObjectId, Finding>,
    /// Whether the dataset's containers have no damage except bytes of single arrays. Otherwise a repair of a container
    /// may bring missing arrays back.
    pub(super) is_readable: bool,
    pub(super) run: &'c Run<'c>,
    pub(super) found: Mutex<Vec<Damage>>,
    /// The number of replaced fields.
    pub(super) replaced: AtomicU64,
    /// The arrays with lost bytes that belong to fields.
    pub(super) seen: Mutex<HashSet<ObjectId>>,
}

impl Checker<'_> {
    pub(super) fn check(&self, batch: &[Candidate]) -> Result<()> {
        let sizes = self.sizes(batch)?;
        let newest = self.newest(batch)?;
        let mut buffer = Vec::new();
        for ((candidate, size), is_newest) in batch.iter().zip(sizes).zip(newest) {
            if self.run.is_ended() {
                return Ok(());
            }
            // The newest field is also in the index, and is checked there.
            if is_newest {
                continue;
            }
            if candidate.newest.is_some() {
                self.replaced.fetch_add(1, Ordering::Relaxed);
            }
            let (wrong, bytes) = self.check_one(candidate, size, &mut buffer)?;
            self.run.add(1, bytes);
            if let Some(wrong) = wrong
                && self.is_still_there(candidate)?
                && !self.is_purged(candidate)?
            {
                self.report(candidate, wrong);
            }
        }
        Ok(())
    }

    fn report(&self, candidate: &Candidate, Wrong { mut what, place, byte, mut may_pass }: Wrong) {
        let is_own = self.own_array(candidate).is_some();
        if is_own && !self.is_readable && !may_pass {
            what = format!("it is not known to be whole, because its container is damaged: {what}");
            may_pass = true;
        }
        let (object, key, value) = (candidate.object, candidate.key.clone(), candidate.value.clone());
        // A replaced field keeps its entry, by which a wipe finds the rest of it.
        let (level, cure) = match candidate.newest {
            None if may_pass => (Level::Field, Cure::Wait),
            None => (Level::Field, Cure::Remove { object, key, value }),
            Some(_) => (Level::ReplacedField, if may_pass { Cure::Wait } else { Cure::None }),
        };
        let damage = Damage::new(level, &candidate.field, what, &place, cure);
        lock(&self.found).push(Damage { byte, ..damage });
    }

    /// Whether each history entry is the newest.
    fn newest(&self, batch: &[Candidate]) -> Result<Vec<bool>> {
        let asked: Vec<_> = batch.iter().filter_map(|candidate| candidate.newest.as_ref()).collect();
        let cells: Vec<_> = asked.iter().map(|(index, key, _)| Cell::kv(*index, key)).collect();
        let mut found = match self.reader.get_many(self.inner, &cells) {
            Ok(found) => {
                found.into_iter().zip(asked).map(|(found, (_, _, own))| found.as_ref() == Some(own)).collect()
            }
            Err(Error::Object(ObjectError::Corrupt { .. })) => vec![false; asked.len()],
            Err(error) => return self.reader_gone(error).map(|()| vec![true; batch.len()]),
        }
        .into_iter();
        let is_newest = |candidate: &Candidate| candidate.newest.is_some() && found.next().unwrap_or(false);
        Ok(batch.iter().map(is_newest).collect())
    }

    fn reader_gone(&self, error: Error) -> Result<()> {
        if self.reader.was_wiped(&error) { Ok(()) } else { Err(error) }
    }

    /// The size of one array, if it is known.
    fn size(&self, cell: Cell<'_>) -> Result<Option<u64>> {
        match self.inner.with_handles(|| Ok(self.reader.dataset.store.size_many(&[cell])?)) {
            Ok(mut sizes) => Ok(sizes.pop().flatten()),
            Err(Error::Object(ObjectError::Corrupt { .. } | ObjectError::InvalidInput { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The array of an entry, if it is in the dataset's own store.
    fn own_array(&self, candidate: &Candidate) -> Option<ObjectId> {
        candidate.location.object_in(&self.reader.dataset.uri)
    }

    /// The sizes of the arrays of the dataset's own store.
    fn sizes(&self, batch: &[Candidate]) -> Result<Vec<Option<u64>>> {
        let cells: Vec<_> =
            batch.iter().filter_map(|candidate| self.own_array(candidate)).map(Cell::array).collect();
        let mut sizes = match self.inner.with_handles(|| Ok(self.reader.dataset.store.size_many(&cells)?)) {
            Ok(sizes) => sizes.into_iter(),
            // One of them is not an array or cannot be read: look each up separately.
            Err(Error::Object(ObjectError::Corrupt { .. } | ObjectError::InvalidInput { .. })) => {
                cells.iter().map(|cell| self.size(*cell)).collect::<Result<Vec<_>>>()?.into_iter()
            }
            Err(error) => return self.reader_gone(error).map(|()| vec![None; batch.len()]),
        };
        Ok(batch
            .iter()
            .map(|candidate| if self.own_array(candidate).is_some() { sizes.next().flatten() } else { None })
            .collect())
    }

    /// The problem of a field, and the number of bytes that were read.
    fn check_one(
        &self,
        candidate: &Candidate,
        size: Option<u64>,
        buffer: &mut Vec<u8>,
    ) -> Result<(Option<Wrong>, u64)> {
        let location = &candidate.location;
        let wrong =
            |what: String| Some(Wrong { what, place: location.to_string(), byte: None, may_pass: false });
        let unread = |error: &Error| Some(Wrong::of(error, location.to_string(), None));
        let (container, object) = match &location.place {
            Place::File(path) => return self.inner.with_handles(|| self.check_file(location, path)),
            Place::Object { container, object } => (container, *object),
        };
        let (open, size) = if **container == *self.reader.dataset.uri {
            if let Some(finding) = self.lost.get(&object) {
                lock(&self.seen).insert(object);
                let Finding { what, place, byte, .. } = finding.clone();
                return Ok((Some(Wrong { what, place, byte, may_pass: false }), 0));
            }
            (Arc::clone(&self.reader.dataset.store), size)
        } else {
            // An unreachable pool, or one of an unknown engine, proves nothing about the field.
            let open = match self.inner.container(container) {
                Ok(open) => open,
                Err(error) if error.is_too_many_open() => return Err(error),
                Err(error) => return Ok((Some(Wrong::unknown(&error, location.to_string(), None)), 0)),
            };
            match self.inner.with_handles(|| Ok(open.size_many(&[Cell::array(object)])?)) {
                Ok(sizes) => (open, sizes.first().copied().flatten()),
                Err(error) if error.is_too_many_open() => return Err(error),
                Err(error) => return Ok((unread(&error), 0)),
            }
        };
        let end = location.offset + location.length;
        match size {
            None if end > 0 => return Ok((wrong("its bytes are not there".to_owned()), 0)),
            Some(size) if size < end => {
                return Ok((wrong(format!("{size} bytes are there instead of {end}")), 0));
            }
            _ => {}
        }
        if !self.run.options.data {
            return Ok((None, 0));
        }
        match self.inner.with_handles(|| Ok(checksum_in(&*open, object, location, buffer)?)) {
            Ok(found) if found == location.checksum => Ok((None, location.length)),
            Ok(found) => Ok((
                wrong(format!("checksum {found:08x} differs from {:08x}", location.checksum)),
                location.length,
            )),
            Err(error) if error.is_too_many_open() => Err(error),
            Err(error) => Ok((unread(&error), location.length)),
        }
    }

    /// The problem of a part of an adopted file.
    fn check_file(&self, location: &Location, path: &Path) -> Result<(Option<Wrong>, u64)> {
        let (place, byte) = (path.display().to_string(), Some(location.offset));
        let unread = |error: io::Error, doing: &str| -> Error {
            ObjectError::from_io(error, format!("the adopted file cannot be read: {doing} {place}")).into()
        };
        let of = |error: &Error| Some(Wrong::of(error, place.clone(), byte));
        let wrong = |what: String| Some(Wrong { what, place: place.clone(), byte, may_pass: false });
        let end = location.offset + location.length;
        let file = match File::open(path).and_then(|file| Ok((file.metadata()?.len(), file))) {
            Ok((length, _)) if length < end => {
                let what = format!("the file has {length} bytes and should have at least {end}");
                return Ok((wrong(what), 0));
            }
            Ok((_, file)) => file,
            Err(error) => {
                let error = unread(error, "open");
                return if error.is_too_many_open() { Err(error) } else { Ok((of(&error), 0)) };
            }
        };
        if !self.run.options.data {
            return Ok((None, 0));
        }
        Ok(match checksum_of(&file, location.offset, location.length) {
            Ok(found) if found == location.checksum => (None, location.length),
            Ok(found) => (
                wrong(format!("checksum {found:08x} differs from {:08x}", location.checksum)),
                location.length,
            ),
            Err(error) => (of(&unread(error, "read")), location.length),
        })
    }

    /// Whether an entry is unchanged since it was listed. If not, its problem is void.
    fn is_still_there(&self, candidate: &Candidate) -> Result<bool> {
        let cell = Cell::kv(candidate.object, &candidate.key);
        let now = self.reader.get_many(self.inner, &[cell]);
        Ok(unless_out_of_handles(now)?
            .is_some_and(|mut now| now.pop().flatten().as_deref() == Some(&*candidate.value)))
    }

    /// Whether a field was replaced and its array is gone: a purge is under way, or was killed, and the next purge
    /// removes the entry.
    fn is_purged(&self, candidate: &Candidate) -> Result<bool> {
        let Some(array) = self.own_array(candidate).filter(|_| candidate.newest.is_some()) else {
            return Ok(false);
        };
        let sizes =
            self.inner.with_handles(|| Ok(self.reader.dataset.store.size_many(&[Cell::array(array)])?));
        Ok(unless_out_of_handles(sizes)?.is_some_and(|sizes| sizes == [None]))
    }
}

/// The result, if there is one. Without free file handles nothing is known.
pub(super) fn unless_out_of_handles<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_too_many_open() => Err(error),
        found => Ok(found.ok()),
    }
}

/// The checksum of the bytes at a location, read in pieces.
fn checksum_in(
    container: &dyn Container,
    object: ObjectId,
    location: &Location,
    buffer: &mut Vec<u8>,
) -> isotach_object::Result<u32> {
    let mut crc = Crc32c::default();
    let mut done = 0;
    while done < location.length {
        let step = usize::try_from(location.length - done).unwrap_or(STEP).min(STEP);
        buffer.resize(step, 0);
        let (cell, offset) = (Cell::array(object), location.offset + done);
        let mut read = [ArrayRead { cell, offset, buffer, filled: 0 }];
        container.read_many(&mut read)?;
        if read[0].filled < step {
            return Err(ObjectError::corrupt("its bytes end early", location.to_string()));
        }
        crc.update(buffer);
        done += step as u64;
    }
    Ok(crc.finish())
}
