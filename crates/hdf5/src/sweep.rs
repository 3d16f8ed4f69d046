//! Sweeping: destroys the arrays that no entry names, which processes leave that die before their commit, and the value indexes of datasets
//! and the entries of maps that are gone.
//!
//! A sweep lists the arrays that no entry names, then sets the *fence* in the file's record to a number above theirs, then reads all entries,
//! and destroys the listed arrays that none of them names. What must stay true: a commit that names a new array has the condition that the fence
//! is what it was when it was found not to be above that array's number. So the commit of a listed array came before the fence, and the sweep
//! finds its entry, or it fails. An array keeps its place: no commit names it under another key. Only from a part of a
//! [numbered transaction](crate::transactions) it goes to an entry, so parts are read first.

use std::collections::HashSet;

use isotach_object::{
    Anchor, Backoff, Cell, Container, Error as ObjectError, ObjectId, Precondition, Transaction, Update,
};

use crate::{
    Error, Result, Site,
    chunk::array_of,
    fence::{fence, number_of},
    layout::{
        ATTRIBUTE, BLOBS, FENCE_KEY, FILE, HEADER, array, index, is_map, is_metadata, is_value_index,
        metadata,
    },
    map_entry::MapEntry,
    records::{AttributeRecord, BlobPage, Chunk, Place},
    session::{Session, list},
    transactions::arrays_of_parts,
    value_index::bins_in,
};

/// How many objects are listed, and destroyed, in one call.
const PAGE: usize = 4096;

impl Session {
    /// Fails if a sweep may have destroyed arrays that this session has written. Returns the fence, which must not change before the
    /// commit; `None` if the commit names no new array.
    pub(crate) fn fence_of_commit(&self, live: &dyn Container) -> Result<Option<Option<Vec<u8>>>> {
        let written = self.written_arrays();
        let own = written.difference(&self.prepared).map(|array| array.lo());
        let Some(first) = own.min() else { return Ok(None) };
        let fence = fence(live)?;
        if first < number_of(fence.as_deref())? {
            return Err(Error::Swept { what: format!("container {}", live.label()) });
        }
        Ok(Some(fence))
    }
}

impl Site {
    /// Destroys the data that processes have written to a file and not committed before they died, and the value indexes of datasets that are
    /// gone. Returns how many arrays and indexes. Others may read and write meanwhile; a writer that has stored data and not committed it may
    /// get [`Error::Swept`] from its commit.
    ///
    /// # Errors
    /// `NotFound` (`errno = 2`); `InvalidInput` for a file that this process has changed and not committed; `Unsupported` where the engine
    /// has no transactions; `Corrupt`, `Newer` for an entry that cannot be read: nothing is destroyed then. `Object`, `Io`.
    pub fn sweep(&self, name: &str) -> Result<u64> {
        let container = self.container_to_sweep(name)?;
        if !container.capabilities().transactions {
            let what = "finding the data that dead processes left, without transactions".to_owned();
            return Err(ObjectError::Unsupported { engine: container.facets().engine, what }.into());
        }
        let mut left = HashSet::new();
        each_object(&*container, |object| {
            if object == array(object.lo()) || belongs_to_header(object) {
                left.insert(object);
            }
            Ok(())
        })?;
        keep_named(&*container, &mut left)?;
        // Where there is nothing to do, no writer is stopped.
        let Some(last) = left.iter().map(|array| array.lo()).max() else { return Ok(0) };
        raise_fence(&*container, last.saturating_add(1))?;
        keep_named(&*container, &mut left)?;
        let left: Vec<_> = left.into_iter().map(|object| Update::Destroy { object }).collect();
        left.chunks(PAGE).try_for_each(|some| container.update(some))?;
        container.flush()?;
        Ok(left.len() as u64)
    }
}

/// Takes the arrays that entries name out of a set, and the value indexes of datasets and the entries of maps.
fn keep_named(container: &dyn Container, left: &mut HashSet<ObjectId>) -> Result<()> {
    // Before the entries: what a part names goes to entries when its transaction is committed.
    for named in arrays_of_parts(container)? {
        left.remove(&named);
    }
    each_object(container, |object| {
        if belongs_to_header(object) {
            // A program that knows neither indexes nor maps may have removed the dataset or the map.
            let header = container.get_many(&[Cell::kv(metadata(object.lo()), HEADER)])?.pop().flatten();
            if header.is_none() {
                return Ok(());
            }
            left.remove(&object);
        }
        for named in named_in(container, object)? {
            left.remove(&named);
        }
        Ok(())
    })
}

/// Whether it goes with the header of its number.
fn belongs_to_header(object: ObjectId) -> bool {
    is_value_index(object) || is_map(object)
}

/// Sets the fence, unless it is higher.
fn raise_fence(container: &dyn Container, number: u64) -> Result<()> {
    let (backoff, cell) = (Backoff::default(), Cell::kv(FILE, FENCE_KEY));
    let raised = isotach_object::retry(backoff, || {
        let old = container.get_many(&[cell])?.pop().flatten();
        let condition =
            old.as_ref().map_or(Precondition::Absent(cell), |old| Precondition::Equals(cell, old));
        // A damaged fence counts as none: commits that depend on it fail.
        let before = old.as_ref().and_then(|old| old.first_chunk()).map_or(0, |old| u64::from_le_bytes(*old));
        let value = number.max(before).to_le_bytes();
        let put = Update::Put { cell, value: &value };
        container.commit(&Transaction::new().require(condition).update(put))
    });
    raised?;
    Ok(container.flush()?)
}

/// The arrays that the entries of an object name.
fn named_in(container: &dyn Container, object: ObjectId) -> Result<Vec<ObjectId>> {
    let place = format!("object {object}");
    if is_metadata(object) {
        let entries = list(container, object)?;
        let attributes = entries.iter().filter(|(key, _)| key.first() == Some(&ATTRIBUTE));
        let values = attributes.map(|(_, record)| Ok(AttributeRecord::decode("", record, &place)?.value));
        let array_of = |value| match value {
            Place::Array(number) => Some(array(number)),
            Place::Inline(_) => None,
        };
        return values.filter_map(|value: Result<Place>| value.map(array_of).transpose()).collect();
    }
    if is_map(object) {
        let entries = list(container, object)?;
        let arrays = entries.iter().map(|(_, record)| Ok(MapEntry::decode(record, &place)?.value.array()));
        return arrays.filter_map(|array: Result<Option<ObjectId>>| array.transpose()).collect();
    }
    if object == index(object.lo()) {
        let entries = list(container, object)?;
        let chunks = entries.iter().map(|(_, record)| Ok(array_of(&Chunk::decode(record, &place)?)));
        return chunks.filter_map(|chunk: Result<Option<ObjectId>>| chunk.transpose()).collect();
    }
    if is_value_index(object) {
        let entries = list(container, object)?;
        return Ok(entries.iter().flat_map(|(key, record)| bins_in(object, key, record)).collect());
    }
    if object != BLOBS {
        return Ok(Vec::new());
    }
    let page = |(key, record): (Vec<u8>, Vec<u8>)| {
        let damaged = || Error::corrupt("a damaged key of a page of blobs", &place);
        let number = u64::from_le_bytes(*key.first_chunk().ok_or_else(damaged)?);
        Ok(BlobPage::decode(&record, &place)?.inline.is_none().then(|| array(number)))
    };
    list(container, object)?.into_iter().map(page).filter_map(Result::transpose).collect()
}

fn each_object(container: &dyn Container, mut each: impl FnMut(ObjectId) -> Result<()>) -> Result<()> {
    let mut next = Some(Anchor::start());
    while let Some(anchor) = next {
        let (objects, after) = container.list_objects(&anchor, PAGE)?;
        objects.into_iter().try_for_each(&mut each)?;
        next = after;
    }
    Ok(())
}
