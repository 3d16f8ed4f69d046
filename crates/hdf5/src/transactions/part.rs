//! [`Part`]: what one participant of a transaction has changed, as a record. `docs/hdf5-layout.md` describes it.

use std::fmt;

use isotach_engine_kit::bytes::{Put, Reader};
use isotach_object::{Container, ObjectId};

use super::books::Books;
use crate::{
    Error, Result,
    changes::Change,
    chunk::{Dirty, Key, State, Written, array_of},
    layout::{BLOBS, array, is_map, is_metadata},
    ranges::{Patches, Ranges},
    records::{BlobPage, Chunk, Form, What, bytes, many, put_bytes},
    session::Session,
    store::{Store, stored_bytes},
    stored::value_array,
    value_index::bins_in,
};

/// What a participant has changed.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Part {
    /// Bytes that attributes and blobs store more.
    pub(super) stored: i64,
    /// Objects that no commit has named.
    pub(super) new: Vec<u64>,
    /// Committed objects that were removed.
    pub(super) removed: Vec<u64>,
    /// What the commit destroys.
    pub(super) destroyed: Vec<ObjectId>,
    pub(super) changes: Vec<(ObjectId, Key, Change)>,
    /// The changed chunks of datasets.
    pub(super) chunks: Vec<(u64, Key, Content)>,
}

/// What a changed chunk is.
#[derive(Debug, PartialEq)]
pub(super) enum Content {
    /// It is not stored any more.
    Removed,
    /// It was written whole, and stored.
    Whole(Chunk),
    /// It was stored, and only these bytes of it were written.
    Ranges(Chunk, Ranges),
    /// These bytes were written.
    Patches(Patches),
}

impl Content {
    fn of(dirty: &Dirty) -> Self {
        match (&dirty.state, &dirty.written) {
            (State::Removed, _) => Self::Removed,
            (State::Patches(patches), _) => Self::Patches((**patches).clone()),
            (State::Stored(chunk), Written::All) => Self::Whole((**chunk).clone()),
            (State::Stored(chunk), Written::Some(ranges)) => Self::Ranges((**chunk).clone(), ranges.clone()),
            (State::Whole(whole), Written::Some(ranges)) => Self::Patches(Patches::of(ranges, whole)),
            // Those were stored before.
            (State::Whole(whole), Written::All) => {
                let mut all = Ranges::default();
                all.add(0..whole.len() as u64);
                Self::Patches(Patches::of(&all, whole))
            }
        }
    }

    fn put(&self, record: &mut Vec<u8>) {
        match self {
            Self::Removed => record.put_u8(0),
            Self::Whole(chunk) => {
                record.put_u8(1);
                put_bytes(record, &chunk.encode());
            }
            Self::Ranges(chunk, ranges) => {
                record.put_u8(2);
                put_bytes(record, &chunk.encode());
                put_many(record, ranges.iter(), |record, range| {
                    record.put_u64(range.start);
                    record.put_u64(range.end);
                });
            }
            Self::Patches(patches) => {
                record.put_u8(3);
                put_many(record, patches.iter(), |record, (offset, data)| {
                    record.put_u64(offset);
                    put_bytes(record, data);
                });
            }
        }
    }

    fn take(reader: &mut Reader<'_>) -> Option<Self> {
        let chunk = |reader: &mut Reader<'_>| Chunk::decode(&bytes(reader)?, "a part of a transaction").ok();
        Some(match reader.u8()? {
            0 => Self::Removed,
            1 => Self::Whole(chunk(reader)?),
            2 => {
                let chunk = chunk(reader)?;
                let mut ranges = Ranges::default();
                for (start, end) in take_many(reader, |reader| Some((reader.u64()?, reader.u64()?)))? {
                    (start < end).then_some(())?;
                    ranges.add(start..end);
                }
                Self::Ranges(chunk, ranges)
            }
            3 => {
                let mut patches = Patches::default();
                for (offset, data) in take_many(reader, |reader| Some((reader.u64()?, bytes(reader)?)))? {
                    offset.checked_add(data.len() as u64)?;
                    patches.write(offset, &data);
                }
                Self::Patches(patches)
            }
            _ => return None,
        })
    }
}

fn put_many<T>(record: &mut Vec<u8>, all: impl Iterator<Item = T>, put: impl Fn(&mut Vec<u8>, T)) {
    let place = record.len();
    record.put_u32(0);
    let mut count = 0_u32;
    for one in all {
        put(record, one);
        count += 1;
    }
    if let Some(there) = record.get_mut(place..place + 4) {
        there.copy_from_slice(&count.to_le_bytes());
    }
}

fn take_many<T>(reader: &mut Reader<'_>, one: impl Fn(&mut Reader<'_>) -> Option<T>) -> Option<Vec<T>> {
    let count = usize::try_from(reader.u32()?).ok()?;
    many(count, reader, one)
}

fn put_object(record: &mut Vec<u8>, object: ObjectId) {
    record.put_u64(object.hi());
    record.put_u64(object.lo());
}

fn take_object(reader: &mut Reader<'_>) -> Option<ObjectId> {
    ObjectId::from_halves(reader.u64()?, reader.u64()?).ok()
}

impl Part {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut record = vec![1];
        record.put_u64(self.stored.cast_unsigned());
        for numbers in [&self.new, &self.removed] {
            put_many(&mut record, numbers.iter(), |record, number| record.put_u64(*number));
        }
        put_many(&mut record, self.destroyed.iter(), |record, object| put_object(record, *object));
        put_many(&mut record, self.changes.iter(), |record, (object, key, change)| {
            put_object(record, *object);
            put_bytes(record, key);
            match &change.value {
                None => record.put_u8(0),
                Some(value) => {
                    record.put_u8(if change.is_new { 2 } else { 1 });
                    put_bytes(record, value);
                }
            }
        });
        put_many(&mut record, self.chunks.iter(), |record, (number, key, content)| {
            record.put_u64(*number);
            put_bytes(record, key);
            content.put(record);
        });
        record
    }

    pub(super) fn decode(record: &[u8], place: impl fmt::Display) -> Result<Self> {
        What { record: "part of a transaction", place: &place }.decode(record, |reader| {
            Some(Self {
                stored: reader.u64()?.cast_signed(),
                new: take_many(reader, |reader| reader.u64())?,
                removed: take_many(reader, |reader| reader.u64())?,
                destroyed: take_many(reader, take_object)?,
                changes: take_many(reader, |reader| {
                    let (object, key) = (take_object(reader)?, bytes(reader)?);
                    let change = match reader.u8()? {
                        0 => Change { value: None, is_new: false },
                        form @ (1 | 2) => Change { value: Some(bytes(reader)?), is_new: form == 2 },
                        _ => return None,
                    };
                    Some((object, key, change))
                })?,
                chunks: take_many(reader, |reader| {
                    Some((reader.u64()?, bytes(reader)?, Content::take(reader)?))
                })?,
            })
        })
    }

    /// The arrays that it names.
    pub(crate) fn arrays(&self) -> Result<Vec<ObjectId>> {
        let mut arrays = Vec::new();
        for (_, _, content) in &self.chunks {
            if let Content::Whole(chunk) | Content::Ranges(chunk, _) = content {
                arrays.extend(array_of(chunk));
            }
        }
        for (object, key, change) in &self.changes {
            let Some(value) = &change.value else { continue };
            if is_metadata(*object) || is_map(*object) {
                arrays.extend(value_array(key, value).map(|(array, _)| array));
            }
            arrays.extend(bins_in(*object, key, value));
            if let (true, Some(page)) = (*object == BLOBS, key.first_chunk()) {
                let record = BlobPage::decode(value, "a part of a transaction")?;
                arrays.extend(record.inline.is_none().then(|| array(u64::from_le_bytes(*page))));
            }
        }
        Ok(arrays)
    }
}

impl Session {
    /// What was changed, whose arrays are stored. The changes stay.
    pub(super) fn part(&mut self, store: &Store) -> Result<Part> {
        self.check_certain()?;
        self.close_page(store)?;
        let is_whole =
            |dirty: &Dirty| matches!((&dirty.state, &dirty.written), (State::Whole(_), Written::All));
        let whole: Vec<_> =
            self.chunks.iter().filter(|(_, dirty)| is_whole(dirty)).map(|(at, _)| at.clone()).collect();
        for (number, key) in whole {
            self.with_target(number, |session, target| session.spill(store, target, &key))?;
        }
        let changes = self.changes.iter();
        let chunks = self.chunks.iter();
        Ok(Part {
            stored: i64::try_from(self.stored).unwrap_or_default(),
            new: self.new.iter().copied().collect(),
            removed: self.removed.iter().copied().collect(),
            destroyed: self.destroyed.clone(),
            changes: changes.map(|(object, key, change)| (object, key.clone(), change.clone())).collect(),
            chunks: chunks.map(|((number, key), dirty)| (*number, key.clone(), Content::of(dirty))).collect(),
        })
    }
}

impl Part {
    /// Writes the part to an array of its own. Returns its number and length.
    pub(super) fn store(&self, store: &Store) -> Result<(u64, u64)> {
        let record = self.encode();
        let number = store.write_array(&record)?;
        store.flush_arrays()?;
        Ok((number, record.len() as u64))
    }

    /// The part in an array.
    pub(super) fn read(container: &dyn Container, (number, length): (u64, u64)) -> Result<Self> {
        let place = || format!("array {number}");
        let chunk = Chunk { form: Form::Array(number), mask: 0, stored_length: length };
        let record = stored_bytes(container, 0, &[], &chunk)?;
        let record = record
            .ok_or_else(|| Error::corrupt("a part of a transaction that is missing or short", place()))?;
        Self::decode(&record, place())
    }
}

/// The arrays that the parts in the books name, and those that the parts are in.
pub(crate) fn arrays_of_parts(container: &dyn Container) -> Result<Vec<ObjectId>> {
    let mut arrays = Vec::new();
    for (number, length) in parts_in(container)? {
        match Part::read(container, (number, length)) {
            Ok(part) => arrays.extend(part.arrays()?),
            // Its transaction was settled since the books were read, so that entries name its arrays.
            Err(Error::Corrupt { .. }) if !parts_in(container)?.contains(&(number, length)) => continue,
            Err(error) => return Err(error),
        }
        arrays.push(array(number));
    }
    Ok(arrays)
}

/// The array and length of every part in the books.
fn parts_in(container: &dyn Container) -> Result<Vec<(u64, u64)>> {
    Ok(Books::read(container)?.parts.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{HEADER, index, metadata};

    #[test]
    fn a_part_reads_back_and_nothing_shorter_does() {
        let chunk = |form| Chunk { form, mask: 1, stored_length: 3 };
        let mut ranges = Ranges::default();
        ranges.add(2..5);
        ranges.add(9..10);
        let mut patches = Patches::default();
        patches.write(7, b"bytes");
        let part = Part {
            stored: -5,
            new: vec![20, 21],
            removed: vec![17],
            destroyed: vec![index(17), array(30)],
            changes: vec![
                (metadata(20), HEADER.to_vec(), Change { value: Some(vec![1, 2]), is_new: false }),
                (metadata(1), b"lx".to_vec(), Change { value: Some(vec![3]), is_new: true }),
                (metadata(1), b"ly".to_vec(), Change { value: None, is_new: false }),
            ],
            chunks: vec![
                (20, vec![0; 8], Content::Removed),
                (20, vec![1; 8], Content::Whole(chunk(Form::Array(40)))),
                (20, vec![2; 8], Content::Ranges(chunk(Form::Inline(vec![1, 2, 3])), ranges)),
                (20, vec![3; 8], Content::Patches(patches)),
            ],
        };
        let record = part.encode();
        assert_eq!(Part::decode(&record, "").unwrap(), part);
        for length in 0..record.len() {
            assert!(Part::decode(&record[..length], "").is_err(), "{length}");
        }
        assert_eq!(part.arrays().unwrap(), [array(40)]);
    }
}
