//! The updates that a handle has accepted and not yet submitted, in the order of submission.
//!
//! What must stay true:
//! - Bytes of arrays are written while the caller continues; entries wait. A flush completes the bytes first and then submits the
//!   entries, object by object, in the order in which the objects were first named. So an entry never counts before the bytes that
//!   it may refer to, nor before the entries of objects that were named before its own.
//! - At most [`BYTES_MAX`] wait or are being written. Exceptions are a single larger update, a new array that is prepared until there
//!   is space for it, and entries that are sent ahead, whose operations are bounded by the depth.
//! - After a failure the handle accepts nothing more, because the outcome of the operations under way is unknown.

use std::collections::{BTreeSet, VecDeque};

use indexmap::IndexMap;
use isotach_object::{Cell, Error, ObjectId, ObjectType, Result, Update};

use crate::{
    arrays::{ArrayChange, Arrays, Creation, Job, Slot},
    keys,
    omaps::{Batch, EntryChanges, Omaps, PER_OPERATION, Stream},
    space::Space,
};

/// Bytes of array writes that are taken before the caller has to wait.
const BYTES_MAX: usize = 64 << 20;
/// Bytes of entries that wait.
const ENTRY_BYTES_MAX: usize = 16 << 20;
/// Writes of at least so many bytes begin at once; smaller ones wait for others that follow them.
const LARGE: usize = 256 << 10;
/// Bytes and arrays that wait for others.
const GATHERED_MAX: usize = 8 << 20;
const GATHERED_ARRAYS_MAX: usize = 64;
/// What an entry or a change costs besides its bytes.
const ENTRY: usize = 100;

/// The changes of one object's entries that wait.
#[derive(Debug, Default)]
struct Entries {
    /// Whether all that was there is to be removed first.
    destroys: bool,
    batch: Batch,
}

/// What a handle has taken.
#[derive(Debug, Default)]
pub(crate) struct Pipeline {
    entries: IndexMap<ObjectId, Entries>,
    entry_bytes: usize,
    /// The first of the objects with entries, if there are so many that they are under way already.
    stream: Option<Stream>,
    /// New arrays that are being created.
    creations: VecDeque<Creation>,
    creation_bytes: usize,
    /// Changes of arrays that wait.
    gathered: IndexMap<ObjectId, Vec<ArrayChange>>,
    gathered_bytes: usize,
    /// Arrays that are known to be there, among those that have changes that wait.
    existing: BTreeSet<ObjectId>,
    /// Whether something was handed over since the last epoch was begun.
    pub(crate) is_ahead: bool,
    failed: bool,
}

impl Pipeline {
    /// Refuses a handle after a failure.
    pub(crate) fn check(&self, space: &Space) -> Result<()> {
        match self.failed {
            true => Err(Error::Poisoned { what: format!("container {}", space.label) }),
            false => Ok(()),
        }
    }

    /// Runs something whose failure makes the handle refuse further updates.
    pub(crate) fn or_fail<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = act(self);
        self.failed |= outcome.is_err();
        outcome
    }

    /// Whether nothing waits or is under way.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
            && self.stream.is_none()
            && self.creations.is_empty()
            && self.gathered.is_empty()
    }

    /// Whether something of this object waits or is under way.
    pub(crate) fn has(&self, object: ObjectId) -> bool {
        match object.otype() {
            ObjectType::Array => {
                self.gathered.contains_key(&object) || self.creations.iter().any(|one| one.object == object)
            }
            _ => {
                self.entries.contains_key(&object)
                    || self.stream.as_ref().is_some_and(|stream| stream.object == object)
            }
        }
    }

    /// Takes an update.
    pub(crate) fn take(&mut self, update: &Update<'_>, arrays: &Arrays) -> Result<()> {
        self.is_ahead = true;
        let object = update.object();
        match *update {
            Update::Put { cell, value } => {
                self.take_entry(object, |changes| changes.put(&cell, value), arrays)
            }
            Update::Remove { cell } => self.take_entry(object, |changes| changes.remove(&cell), arrays),
            Update::RemoveDkey { dkey, .. } => {
                let (begin, end) = keys::dkey_range(dkey);
                self.entry_bytes += ENTRY + begin.len() + end.len();
                let batch = &mut self.entries.entry(object).or_default().batch;
                batch.changes.forget(&begin, &end);
                batch.ranges.push((begin, end));
                self.hand_over_if_many(arrays)
            }
            Update::Destroy { .. } if object.otype() == ObjectType::Array => {
                self.gather(object, ArrayChange::Remove, arrays)
            }
            Update::Destroy { .. } => {
                *self.entries.entry(object).or_default() = Entries { destroys: true, ..Entries::default() };
                self.entry_bytes += ENTRY;
                self.hand_over_if_many(arrays)
            }
            Update::Write { offset, data, .. } => {
                self.take_bytes(update, ArrayChange::Write { offset, data: data.to_vec() }, arrays)
            }
            Update::SetSize { size, .. } => self.take_bytes(update, ArrayChange::SetSize(size), arrays),
            Update::Punch { offset, length, .. } => {
                self.take_bytes(update, ArrayChange::Punch { offset, length }, arrays)
            }
        }
    }

    fn take_entry(
        &mut self,
        object: ObjectId,
        add: impl FnOnce(&mut EntryChanges) -> usize,
        arrays: &Arrays,
    ) -> Result<()> {
        self.entry_bytes += ENTRY + add(&mut self.entries.entry(object).or_default().batch.changes);
        self.stream_first(object, arrays)?;
        self.hand_over_if_many(arrays)
    }

    fn hand_over_if_many(&mut self, arrays: &Arrays) -> Result<()> {
        if self.entry_bytes > ENTRY_BYTES_MAX { self.hand_over(arrays) } else { Ok(()) }
    }

    /// Sends the entries of an object that have become many, if it is the first and nothing must come before them.
    fn stream_first(&mut self, object: ObjectId, arrays: &Arrays) -> Result<()> {
        let is_first = self.creations.is_empty()
            && self.gathered.is_empty()
            && self.stream.as_ref().is_none_or(|stream| stream.object == object);
        let Some((_, entries)) = self.entries.first_mut().filter(|(first, _)| is_first && **first == object)
        else {
            return Ok(());
        };
        let changes = &mut entries.batch.changes;
        if changes.len() < PER_OPERATION || entries.destroys || !entries.batch.ranges.is_empty() {
            return Ok(());
        }
        let next = EntryChanges::as_large_as(changes);
        let changes = std::mem::replace(changes, next);
        self.entry_bytes = self.entry_bytes.saturating_sub(changes.size() + ENTRY * changes.len());
        self.stream.get_or_insert_with(|| Stream::new(object)).send(changes, &arrays.space.omaps)
    }

    fn take_bytes(&mut self, update: &Update<'_>, change: ArrayChange, arrays: &Arrays) -> Result<()> {
        let object = update.object();
        let (Update::Write { cell, .. } | Update::SetSize { cell, .. } | Update::Punch { cell, .. }) = update
        else {
            return Ok(());
        };
        if object.otype() == ObjectType::Array {
            return self.gather(object, change, arrays);
        }
        // Records share their entry with single values, and are not to be seen before what was given before them.
        if !self.is_empty() {
            self.hand_over(arrays)?;
        }
        arrays.settle(vec![Job::new(Slot::of(cell), Vec::new(), vec![change])]).map(drop)
    }

    /// Accepts the bytes of a new array, and returns their checksum if it was computed.
    pub(crate) fn take_new(&mut self, object: ObjectId, data: &[u8], arrays: &Arrays) -> Result<Option<u32>> {
        if !self.begins_at_once(object, data, arrays) {
            let write = Update::Write { cell: Cell::array(object), offset: 0, data };
            return self.take(&write, arrays).map(|()| None);
        }
        self.is_ahead = true;
        // Before waiting: meanwhile the cluster works on what is under way.
        let prepared = Arrays::prepare_create(object, data)?;
        let sum = prepared.sum;
        self.make_space(data.len(), arrays)?;
        self.begin(arrays.begin_create(prepared)?);
        Ok(Some(sum))
    }

    /// Whether these bytes, the first of an array, are sent before others follow.
    fn begins_at_once(&self, object: ObjectId, data: &[u8], arrays: &Arrays) -> bool {
        data.len() >= LARGE && arrays.fits_own(object.class(), data.len()) && !self.has(object)
    }

    /// Takes a change of an array.
    fn gather(&mut self, object: ObjectId, change: ArrayChange, arrays: &Arrays) -> Result<()> {
        if let ArrayChange::Write { offset: 0, data } = &change
            && self.begins_at_once(object, data, arrays)
        {
            let ArrayChange::Write { data, .. } = change else { return Ok(()) };
            return self.create(object, data, arrays);
        }
        self.gathered_bytes += ENTRY
            + match &change {
                ArrayChange::Write { data, .. } => data.len(),
                _ => 0,
            };
        append(self.gathered.entry(object).or_default(), change);
        if self.gathered_bytes > GATHERED_MAX || self.gathered.len() > GATHERED_ARRAYS_MAX {
            self.send_gathered(arrays)?;
        }
        Ok(())
    }

    /// Begins to create an array, which may be there.
    fn create(&mut self, object: ObjectId, data: Vec<u8>, arrays: &Arrays) -> Result<()> {
        let prepared = Arrays::prepare_create(object, &data)?;
        self.make_space(data.len(), arrays)?;
        self.begin(arrays.begin_create(prepared)?.keeping(data));
        Ok(())
    }

    fn begin(&mut self, creation: Creation) {
        self.creation_bytes += creation.length;
        self.creations.push_back(creation);
    }

    /// Waits until another array of so many bytes may be under way.
    fn make_space(&mut self, length: usize, arrays: &Arrays) -> Result<()> {
        while self.creations.front().is_some_and(Creation::has_ended) {
            self.end_creation(arrays)?;
        }
        while !self.creations.is_empty()
            && (self.creations.len() >= arrays.depth() || self.creation_bytes + length > BYTES_MAX)
        {
            self.end_creation(arrays)?;
        }
        Ok(())
    }

    /// Waits for the oldest creation. If the array was there, its bytes wait with the other changes of it.
    fn end_creation(&mut self, arrays: &Arrays) -> Result<()> {
        let Some(oldest) = self.creations.pop_front() else { return Ok(()) };
        let object = oldest.object;
        self.creation_bytes -= oldest.length;
        if let Some(data) = oldest.wait(arrays)? {
            self.existing.insert(object);
            self.gathered_bytes += data.len();
            self.gathered.entry(object).or_default().insert(0, ArrayChange::Write { offset: 0, data });
        }
        Ok(())
    }

    /// Hands over the changes of arrays that wait. Those of one that is being created wait for that.
    fn send_gathered(&mut self, arrays: &Arrays) -> Result<()> {
        let busy: BTreeSet<ObjectId> = self.creations.iter().map(|one| one.object).collect();
        if self.gathered.keys().any(|object| busy.contains(object)) {
            while !self.creations.is_empty() {
                self.end_creation(arrays)?;
            }
        }
        let mut jobs = Vec::new();
        self.gathered_bytes = 0;
        for (object, mut changes) in std::mem::take(&mut self.gathered) {
            let is_known = self.existing.remove(&object);
            if let [ArrayChange::Write { offset: 0, data }] = changes.as_mut_slice()
                && !is_known
                && arrays.fits_own(object.class(), data.len())
            {
                let data = std::mem::take(data);
                self.create(object, data, arrays)?;
            } else {
                jobs.push(Job::new(Slot::Array(object), Vec::new(), changes));
            }
        }
        arrays.settle(jobs).map(drop)
    }

    /// Hands over everything, and waits until it counts.
    pub(crate) fn hand_over(&mut self, arrays: &Arrays) -> Result<()> {
        while !(self.creations.is_empty() && self.gathered.is_empty()) {
            self.send_gathered(arrays)?;
            while !self.creations.is_empty() {
                self.end_creation(arrays)?;
            }
        }
        self.entry_bytes = 0;
        let omaps = &arrays.space.omaps;
        let mut all = std::mem::take(&mut self.entries).into_iter().peekable();
        if let Some(stream) = self.stream.take() {
            self.end_stream(stream, all.next_if(|(_, entries)| entries.is_plain()), omaps)?;
        }
        all.try_for_each(|(object, entries)| entries.hand_over(object, omaps))
    }

    /// Ends what is under way, with what else the first object has if that is of the same.
    fn end_stream(
        &self,
        mut stream: Stream,
        first: Option<(ObjectId, Entries)>,
        omaps: &Omaps,
    ) -> Result<()> {
        let object = stream.object;
        let (same, other) = match first {
            Some((first, entries)) if first == object => (Some(entries), None),
            other => (None, other),
        };
        if let Some(entries) = same {
            stream.send(entries.batch.changes, omaps)?;
        }
        let batch = Batch { changes: stream.end(omaps)?, ..Batch::default() };
        omaps.write(object, batch)?;
        other.map_or(Ok(()), |(object, entries)| entries.hand_over(object, omaps))
    }
}

impl Entries {
    /// Whether there are only entries to set or remove.
    fn is_plain(&self) -> bool {
        !self.destroys && self.batch.ranges.is_empty()
    }

    fn hand_over(self, object: ObjectId, omaps: &Omaps) -> Result<()> {
        if self.destroys {
            omaps.destroy(object)?;
        }
        omaps.write(object, self.batch)
    }
}

/// Adds a change after others. A write that starts where the last one ended is merged with it.
fn append(changes: &mut Vec<ArrayChange>, change: ArrayChange) {
    if let (Some(ArrayChange::Write { offset, data }), ArrayChange::Write { offset: next, data: more }) =
        (changes.last_mut(), &change)
        && !data.is_empty()
        && *offset + data.len() as u64 == *next
    {
        data.extend_from_slice(more);
        return;
    }
    changes.push(change);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_that_follow_each_other_become_one() {
        let write = |offset, data: &[u8]| ArrayChange::Write { offset, data: data.to_vec() };
        let mut changes = Vec::new();
        for change in
            [write(0, b"ab"), write(2, b"cd"), write(5, b"x"), ArrayChange::SetSize(3), write(3, b"y")]
        {
            append(&mut changes, change);
        }
        assert_eq!(changes.len(), 4, "{changes:?}");
        assert!(matches!(&changes[0], ArrayChange::Write { offset: 0, data } if data == b"abcd"));
    }
}
