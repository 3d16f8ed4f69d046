//! The commit on an engine without transactions: the same updates in an order in which each of them may be the last.
//!
//! First the bytes of variable-length data, then chunks, then headers and attributes, then links, at last what is removed. So what a link
//! leads to is complete before the link is there, and what an entry names is there as long as the entry is. A process that dies in
//! between leaves a file that opens, with some of its changes.
//!
//! Each new link and each chunk that was changed in part is put on the condition that nobody has changed it meanwhile: that is one
//! cell, which every engine can do. No chunk is changed in place: it gets a new array, so that a reader sees the old one or the new one.

use std::collections::HashSet;

use isotach_object::{
    Anchor, Backoff, Cell, Container, Epoch, Error as ObjectError, ObjectId, OwnedUpdate, Precondition,
    Transaction, Update,
};

use crate::{
    Error, Result,
    chunk::{Key, State, Target, Written, array_of},
    commit::exists_now,
    layout::{BLOBS, FILE, IN_PLACE, LINK, ROOT, in_place, index, is_metadata, metadata},
    records::{Chunk, Form},
    session::{Session, list},
    store::Store,
    stored::{length_after, length_of},
};

/// How many updates are given at once.
const SOME: usize = 4096;

/// Updates that are given to a container some at a time, in their order.
struct Sink<'c> {
    container: &'c dyn Container,
    updates: Vec<OwnedUpdate>,
}

impl<'c> Sink<'c> {
    fn new(container: &'c dyn Container) -> Self {
        Self { container, updates: Vec::new() }
    }

    fn push(&mut self, update: Update<'_>) -> Result<()> {
        self.updates.push(OwnedUpdate::of(&update));
        if self.updates.len() >= SOME { self.give() } else { Ok(()) }
    }

    fn give(&mut self) -> Result<()> {
        let updates: Vec<_> = self.updates.iter().map(OwnedUpdate::update).collect();
        self.container.update(&updates)?;
        self.updates.clear();
        Ok(())
    }

    /// A point after which what follows may name what came before.
    fn settle(&mut self) -> Result<()> {
        self.give()?;
        Ok(self.container.flush()?)
    }
}

impl Session {
    /// Commits everything, step by step.
    pub(crate) fn commit_one_by_one(&mut self, store: &Store) -> Result<Epoch> {
        let live = store.container.clone();
        self.store_all(store)?;
        store.flush_arrays()?;
        // What others have committed since is seen from here on.
        self.rebase(live.epoch()?);
        if let Some(error) = self.forget_gone()? {
            return Err(error);
        }
        self.check_new_links(&*live)?;
        let outcome = self.apply(store, &*live);
        if let Err(error) = &outcome {
            let is_refusal = match error {
                Error::Object(error) => error.is_refusal(),
                error => matches!(error, Error::AlreadyExists { .. }),
            };
            self.is_uncertain = !is_refusal;
        }
        outcome
    }

    /// Stores all chunks that are in memory, whole or in part.
    fn store_all(&mut self, store: &Store) -> Result<()> {
        let in_memory = |dirty: &State| matches!(dirty, State::Whole(_) | State::Patches(_));
        let all: Vec<_> = self
            .chunks
            .iter()
            .filter(|(_, dirty)| in_memory(&dirty.state))
            .map(|(at, _)| at.clone())
            .collect();
        for (number, key) in all {
            self.with_target(number, |session, target| session.spill(store, target, &key))?;
        }
        Ok(())
    }

    /// The links to create that are on the condition that they are absent.
    fn new_links(&self) -> Vec<(ObjectId, Key, Vec<u8>)> {
        let new = self.changes.iter().filter(|(.., change)| change.is_new && !self.is_reset);
        new.filter_map(|(object, key, change)| Some((object, key.clone(), change.value.clone()?))).collect()
    }

    /// Fails before anything is done if another process has created one of the links.
    fn check_new_links(&self, live: &dyn Container) -> Result<()> {
        let links = self.new_links();
        let cells: Vec<_> = links.iter().map(|(object, key, _)| Cell::kv(*object, key)).collect();
        for ((object, key, value), found) in links.iter().zip(live.get_many(&cells)?) {
            // The same value was put by a commit of this session that failed later.
            if found.is_some_and(|found| found != *value) {
                return Err(exists_now(*object, key));
            }
        }
        Ok(())
    }

    fn apply(&mut self, store: &Store, live: &dyn Container) -> Result<Epoch> {
        let kept = self.is_reset.then(|| self.objects_of_changes());
        let mut sink = Sink::new(live);
        self.put_changes(&mut sink, |object, _| object == BLOBS)?;
        sink.settle()?;
        self.blobs.committed();
        self.apply_chunks(store, live)?;
        self.put_changes(&mut sink, |object, key| object != BLOBS && !is_link(object, key))?;
        self.counter_update(live, 0, |update| sink.push(update))?;
        sink.settle()?;
        self.stored = 0;
        // Links in groups that no link leads to yet, then those that make them visible.
        self.put_changes(&mut sink, is_link)?;
        sink.settle()?;
        for (object, key, value) in self.new_links() {
            put_new(live, object, &key, &value)?;
        }
        self.remove_entries(&mut sink, kept.as_ref())?;
        sink.settle()?;
        if let Some(kept) = &kept {
            destroy_others(&mut sink, kept)?;
        }
        for object in &self.destroyed {
            sink.push(Update::Destroy { object: *object })?;
        }
        sink.settle()?;
        Ok(live.epoch()?)
    }

    /// Puts the changed entries for which this holds, but for new links.
    fn put_changes(&self, sink: &mut Sink<'_>, is_meant: impl Fn(ObjectId, &[u8]) -> bool) -> Result<()> {
        for (object, key, change) in self.changes.iter() {
            let is_conditional = change.is_new && !self.is_reset;
            if let Some(value) = change.value.as_ref().filter(|_| !is_conditional && is_meant(object, key)) {
                sink.push(Update::Put { cell: Cell::kv(object, key), value })?;
            }
        }
        Ok(())
    }

    /// Removes entries: those that were removed, and of a truncated file what is left in the objects that every file has.
    fn remove_entries(&self, sink: &mut Sink<'_>, kept: Option<&HashSet<ObjectId>>) -> Result<()> {
        for (object, key, _) in self.changes.iter().filter(|(.., change)| change.value.is_none()) {
            sink.push(Update::Remove { cell: Cell::kv(object, key) })?;
        }
        if kept.is_none() {
            return Ok(());
        }
        for object in [metadata(ROOT), FILE, BLOBS] {
            for (key, _) in list(sink.container, object)? {
                let is_counter = object == FILE && key == crate::layout::STORED_KEY && self.counted.is_some();
                if !is_counter && !self.changes.contains(object, &key) {
                    sink.push(Update::Remove { cell: Cell::kv(object, &key) })?;
                }
            }
        }
        Ok(())
    }

    /// The objects that the commit of a truncated file keeps.
    fn objects_of_changes(&self) -> HashSet<ObjectId> {
        let entries = self.changes.objects();
        let chunks = self.chunks.keys().map(|(number, _)| index(*number));
        entries.chain(chunks).chain(self.written_arrays()).chain([FILE, BLOBS]).collect()
    }

    /// Puts the entries of all changed chunks, which are arrays. Each is forgotten once it counts.
    fn apply_chunks(&mut self, store: &Store, live: &dyn Container) -> Result<()> {
        let mut numbers: Vec<u64> = self.chunks.keys().map(|(number, _)| *number).collect();
        numbers.dedup();
        for number in numbers {
            let keys: Vec<Key> = self.chunks_of(number).map(|(key, _)| key.clone()).collect();
            for some in keys.chunks(SOME) {
                self.with_target(number, |session, target| session.apply_some(store, live, target, some))?;
            }
        }
        Ok(())
    }

    fn apply_some(
        &mut self,
        store: &Store,
        live: &dyn Container,
        target: Target<'_>,
        keys: &[Key],
    ) -> Result<()> {
        let number = target.number;
        let is_in_part = |session: &Self, key: &Key| {
            let dirty = session.chunks.get(&(number, key.clone()));
            !session.is_reset && dirty.is_some_and(|dirty| matches!(dirty.written, Written::Some(_)))
        };
        let (in_part, all): (Vec<&Key>, Vec<&Key>) = keys.iter().partition(|key| is_in_part(self, key));
        let olds = self.base_chunks(number, &all)?;
        let mut sink = Sink::new(live);
        for key in &all {
            let cell = Cell::kv(index(number), key);
            match self.chunks.get(&(number, (*key).clone())).map(|dirty| &dirty.state) {
                Some(State::Stored(chunk)) => sink.push(Update::Put { cell, value: &chunk.encode() })?,
                Some(State::Removed) => sink.push(Update::Remove { cell })?,
                _ => {}
            }
        }
        sink.settle()?;
        for (key, old) in all.into_iter().zip(olds) {
            self.chunk_counts(target, key, old.as_deref());
        }
        for key in in_part {
            let old = self.swap(store, live, target, key)?;
            self.chunk_counts(target, key, old.as_deref());
        }
        Ok(())
    }

    /// The entry of a chunk counts: what it was before goes.
    fn chunk_counts(&mut self, target: Target<'_>, key: &Key, old: Option<&Chunk>) {
        let Some(dirty) = self.chunks.remove(&(target.number, key.clone())) else { return };
        let new = match &dirty.state {
            State::Stored(chunk) => array_of(chunk),
            _ => None,
        };
        self.count_stored(length_after(target, &dirty.state) - length_of(old));
        self.destroyed.extend(old.and_then(array_of).filter(|old| Some(*old) != new));
        if old.is_some_and(|old| old.form == Form::InPlace) {
            let at = (in_place(target.number), key.clone());
            self.in_place_left.push(at);
        }
    }

    /// Puts the entry of a chunk that was changed in part over the one that the change was made to. Returns that.
    fn swap(
        &mut self,
        store: &Store,
        live: &dyn Container,
        target: Target<'_>,
        key: &Key,
    ) -> Result<Option<std::sync::Arc<Chunk>>> {
        let (backoff, mut attempts) = (Backoff::default(), 0);
        loop {
            let Some(dirty) = self.chunks.get(&(target.number, key.clone())) else { return Ok(None) };
            let (seen, State::Stored(chunk)) = (dirty.seen.clone(), &dirty.state) else { return Ok(None) };
            let cell = Cell::kv(index(target.number), key);
            let (new, expected) = (chunk.encode(), seen.as_ref().map(|seen| seen.encode()));
            let condition = match &expected {
                Some(expected) => Precondition::Equals(cell, expected),
                None => Precondition::Absent(cell),
            };
            let put = Update::Put { cell, value: &new };
            attempts += 1;
            match live.commit(&Transaction::new().require(condition).update(put)) {
                Ok(_) => return Ok(seen),
                Err(ObjectError::Conflict { .. }) if attempts < backoff.attempts => {}
                Err(error) => return Err(error.into()),
            }
            // Over what another process has put there.
            backoff.pause(attempts, std::time::Duration::MAX);
            self.rebase(live.epoch()?);
            self.reseat(store, target, key)?;
            self.spill(store, target, key)?;
            store.flush_arrays()?;
        }
    }

    /// The chunks in place that nothing names any more.
    pub(crate) fn remove_in_place(&mut self, live: &dyn Container) -> Result<()> {
        let mut sink = Sink::new(live);
        for (object, key) in std::mem::take(&mut self.in_place_left) {
            sink.push(Update::Remove { cell: Cell::general(object, &key, IN_PLACE) })?;
        }
        sink.give()
    }
}

fn is_link(object: ObjectId, key: &[u8]) -> bool {
    is_metadata(object) && key.first() == Some(&LINK)
}

/// Puts a link that nobody may have put.
fn put_new(live: &dyn Container, object: ObjectId, key: &[u8], value: &[u8]) -> Result<()> {
    let cell = Cell::kv(object, key);
    let put = Update::Put { cell, value };
    match live.commit(&Transaction::new().require(Precondition::Absent(cell)).update(put)) {
        Ok(_) => Ok(()),
        Err(ObjectError::Conflict { .. }) => match live.get_many(&[cell])?.pop().flatten() {
            Some(found) if found == value => Ok(()),
            _ => Err(exists_now(object, key)),
        },
        Err(error) => Err(error.into()),
    }
}

/// Destroys all objects but these.
fn destroy_others(sink: &mut Sink<'_>, kept: &HashSet<ObjectId>) -> Result<()> {
    let mut next = Some(Anchor::start());
    while let Some(anchor) = next {
        let (objects, after) = sink.container.list_objects(&anchor, SOME)?;
        for object in objects.into_iter().filter(|object| !kept.contains(object)) {
            sink.push(Update::Destroy { object })?;
        }
        next = after;
    }
    Ok(())
}
