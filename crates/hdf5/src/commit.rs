//! The commit: everything that was changed becomes one version.
//!
//! Arrays are written and flushed before. Then one transaction holds all entries, in-place ranges and removals. It requires that no other
//! process has put a link of the same name, and that the chunks that were changed in part are what they were; such chunks are merged
//! with what another process has committed, and the transaction is tried again.
//!
//! An engine without transactions gets the same updates [one by one](crate::one_by_one).

use std::{cell::LazyCell, mem};

use isotach_object::{
    Anchor, Backoff, Cell, Container, Epoch, Error as ObjectError, ObjectId, OwnedUpdate, Precondition,
    Staging, Transaction, Update,
};

use crate::{
    Error, Result,
    chunk::{Dirty, Key, State, Target, Written, array_of, takes_patches},
    layout::{FENCE_KEY, FILE, HEADER, array, in_place_cell, index, is_map, is_metadata, metadata, name_in},
    ranges::Patches,
    records::{Chunk, Form},
    session::Session,
    store::{Store, stored_bytes},
    stored::{length_after, length_of, value_array},
    value_index::bins_in,
};

/// What is kept in memory of a transaction before it is staged: updates and their bytes.
const UPDATES_MAX: usize = 4096;
const BYTES_MAX: usize = 4 << 20;

/// A condition of the commit.
pub(crate) struct Condition {
    pub(crate) object: ObjectId,
    pub(crate) key: Vec<u8>,
    pub(crate) expected: Expected,
}

/// What an entry must be.
pub(crate) enum Expected {
    Absent,
    Present,
    Equal(Vec<u8>),
}

impl Expected {
    /// The same as now.
    pub(crate) fn of(now: Option<Vec<u8>>) -> Self {
        now.map_or(Self::Absent, Self::Equal)
    }
}

impl Condition {
    fn precondition(&self) -> Precondition<'_> {
        let cell = Cell::kv(self.object, &self.key);
        match &self.expected {
            Expected::Absent => Precondition::Absent(cell),
            Expected::Present => Precondition::Present(cell),
            Expected::Equal(value) => Precondition::Equals(cell, value),
        }
    }
}

/// Where the updates of a commit go.
enum Sink<'c> {
    /// To memory: there are few.
    Few { container: &'c dyn Container, updates: Vec<OwnedUpdate>, bytes: usize },
    /// To a staged transaction: there are many.
    Staged(Box<dyn Staging + 'c>),
}

impl<'c> Sink<'c> {
    fn new(container: &'c dyn Container) -> Self {
        Self::Few { container, updates: Vec::new(), bytes: 0 }
    }

    fn push(&mut self, update: Update<'_>) -> Result<()> {
        match self {
            Self::Staged(staging) => staging.update(&[update])?,
            Self::Few { updates, bytes, .. } => {
                if let Update::Put { value: data, .. } | Update::Write { data, .. } = update {
                    *bytes += data.len();
                }
                updates.push(OwnedUpdate::of(&update));
                if updates.len() > UPDATES_MAX || *bytes > BYTES_MAX {
                    self.stage()?;
                }
            }
        }
        Ok(())
    }

    /// Goes on with a staged transaction where the engine has them.
    fn stage(&mut self) -> Result<()> {
        let Self::Few { container, updates, bytes } = self else { return Ok(()) };
        let container: &'c dyn Container = *container;
        let Some(staged) = container.facets().staged_transactions else {
            *bytes = 0;
            return Ok(());
        };
        let mut staging = staged.stage()?;
        for some in mem::take(updates).chunks(UPDATES_MAX) {
            let some: Vec<_> = some.iter().map(OwnedUpdate::update).collect();
            staging.update(&some)?;
        }
        *self = Self::Staged(staging);
        Ok(())
    }

    fn finish(self, conditions: &[Condition]) -> isotach_object::Result<Epoch> {
        let preconditions: Vec<_> = conditions.iter().map(Condition::precondition).collect();
        match self {
            Self::Few { container, updates, .. } => {
                let updates = updates.iter().map(OwnedUpdate::update).collect();
                container.commit(&Transaction { preconditions, updates })
            }
            Self::Staged(staging) => staging.commit(&preconditions),
        }
    }
}

impl Session {
    /// Commits everything and begins a new version.
    pub(crate) fn commit(&mut self, store: &Store) -> Result<()> {
        self.check_certain()?;
        self.close_page(store)?;
        if !self.has_changes() {
            return Ok(());
        }
        let epoch = if store.container.capabilities().transactions {
            self.commit_at_once(store)?
        } else {
            let epoch = self.commit_one_by_one(store)?;
            self.remove_in_place(&*store.container)?;
            epoch
        };
        self.end_changes(store);
        self.rebase(epoch);
        // It may be lost until it is flushed: then every later commit fails too.
        self.is_uncertain = true;
        store.container.flush()?;
        self.is_uncertain = false;
        Ok(())
    }

    /// One transaction, which is tried again after a conflict.
    fn commit_at_once(&mut self, store: &Store) -> Result<Epoch> {
        let backoff = Backoff::default();
        let mut attempts = 0;
        loop {
            self.spill_whole(store, None)?;
            store.flush_arrays()?;
            attempts += 1;
            match self.attempt(store, Vec::new()) {
                Err(Error::Object(ObjectError::Conflict { .. })) if attempts < backoff.attempts => {
                    backoff.pause(attempts, std::time::Duration::MAX);
                    self.merge(store)?;
                }
                outcome => return outcome,
            }
        }
    }

    /// Forgets the changes, which count now.
    pub(crate) fn end_changes(&mut self, store: &Store) {
        store.begin_version();
        self.changes.clear();
        self.chunks.clear();
        self.new.clear();
        self.removed.clear();
        self.fresh_entries.clear();
        self.destroyed.clear();
        self.memory = 0;
        self.stored = 0;
        self.is_reset = false;
        self.blobs.committed();
        store.discard(&mem::take(&mut self.unused));
    }

    /// Gives up the changes.
    pub(crate) fn discard(&mut self, store: &Store) {
        store.begin_version();
        let stored = self.chunks.values().filter_map(|dirty| dirty.own_array(self.is_follower));
        let mut unused: Vec<_> = stored.chain(self.written_bins()).collect();
        unused.append(&mut self.unused);
        unused.extend(self.blobs.take_own().into_iter().map(array));
        if !self.is_uncertain && !unused.is_empty() {
            // They may count after an uncertain commit.
            store.discard(&unused);
        }
        self.changes.clear();
        self.chunks.clear();
        self.new.clear();
        self.removed.clear();
        self.unlinked.clear();
        self.fresh_entries.clear();
        self.destroyed.clear();
        self.memory = 0;
        self.stored = 0;
        self.is_uncertain = false;
        // A file that was truncated is what it was.
        self.is_reset = false;
        self.rebase(self.version);
    }

    /// Tries to commit, on these conditions and on those of the changes.
    pub(crate) fn attempt(&mut self, store: &Store, mut conditions: Vec<Condition>) -> Result<Epoch> {
        let container = store.container.clone();
        conditions.extend(self.conditions());
        let mut sink = Sink::new(&*container);
        let mut fence = self.fence_of_commit(&*container)?;
        let destroyed = self.updates(&*container, &mut sink)?;
        if destroyed > 0 && fence.is_none() {
            fence = Some(crate::fence::fence(&*container)?);
        }
        if let Some(fence) = &fence {
            conditions.push(Condition {
                object: FILE,
                key: FENCE_KEY.to_vec(),
                expected: Expected::of(fence.clone()),
            });
        }
        if let (true, Some(old)) = (self.is_reset, fence) {
            // The object that held it is new. Others may have written the arrays that go, and not committed them.
            let old = old.and_then(|old| Some(u64::from_le_bytes(*old.first_chunk()?))).unwrap_or(0);
            let value = old.max(destroyed).to_le_bytes();
            sink.push(Update::Put { cell: Cell::kv(FILE, FENCE_KEY), value: &value })?;
        }
        sink.finish(&conditions).map_err(|error| {
            self.is_uncertain = !error.is_refusal();
            error.into()
        })
    }

    fn conditions(&self) -> Vec<Condition> {
        let links = self.changes.iter().filter(|(.., change)| change.is_new && change.value.is_some());
        let links =
            links.map(|(object, key, _)| Condition { object, key: key.clone(), expected: Expected::Absent });
        let chunks = self.chunks.iter().filter(|(_, dirty)| matches!(dirty.written, Written::Some(_)));
        let chunks = chunks.map(|((number, key), dirty)| Condition {
            object: index(*number),
            key: key.clone(),
            expected: Expected::of(dirty.seen.as_ref().map(|chunk| chunk.encode())),
        });
        let objects = self.changed_objects().into_iter().map(|number| Condition {
            object: metadata(number),
            key: HEADER.to_vec(),
            expected: Expected::Present,
        });
        // A truncated file is new whatever it held.
        if self.is_reset { Vec::new() } else { links.chain(chunks).chain(objects).collect() }
    }

    /// Passes all updates to the sink. Returns a number above those of the arrays that a truncated file loses.
    fn updates(&mut self, container: &dyn Container, sink: &mut Sink<'_>) -> Result<u64> {
        let mut above = 0;
        if self.is_reset {
            let (mut next, keep) = (Some(Anchor::start()), LazyCell::new(|| self.written_arrays()));
            while let Some(anchor) = next {
                let (objects, after) = container.list_objects(&anchor, UPDATES_MAX)?;
                let is_array = |object: ObjectId| object == array(object.lo());
                for object in
                    objects.into_iter().filter(|object| !is_array(*object) || !keep.contains(object))
                {
                    if is_array(object) {
                        above = above.max(object.lo().saturating_add(1));
                    }
                    sink.push(Update::Destroy { object })?;
                }
                next = after;
            }
        }
        let (mut removed, mut stored) = (Vec::new(), 0);
        let numbers: Vec<u64> = {
            let mut numbers: Vec<u64> = self.chunks.keys().map(|(number, _)| *number).collect();
            numbers.dedup();
            numbers
        };
        for number in numbers {
            self.with_target(number, |session, target| {
                session.chunk_updates(target, sink, &mut removed, &mut stored)
            })?;
        }
        self.counter_update(container, stored, |update| sink.push(update))?;
        for (object, key, change) in self.changes.iter() {
            let cell = Cell::kv(object, key);
            match &change.value {
                Some(value) => sink.push(Update::Put { cell, value })?,
                None => sink.push(Update::Remove { cell })?,
            }
        }
        self.destroyed
            .iter()
            .chain(&removed)
            .try_for_each(|object| sink.push(Update::Destroy { object: *object }))?;
        Ok(above)
    }

    /// The arrays that this session wrote and that its commit names.
    pub(crate) fn written_arrays(&self) -> std::collections::HashSet<ObjectId> {
        let chunks = self.chunks.values().filter_map(|dirty| match &dirty.state {
            State::Stored(chunk) => array_of(chunk),
            _ => None,
        });
        let named = self.changes.iter().filter(|(object, ..)| is_metadata(*object) || is_map(*object));
        let values = named.filter_map(|(_, key, change)| Some(value_array(key, change.value.as_ref()?)?.0));
        chunks.chain(values).chain(self.written_bins()).chain(self.blobs.own_arrays()).collect()
    }

    fn written_bins(&self) -> impl Iterator<Item = ObjectId> {
        let records = self.changes.iter();
        let records = records.filter_map(|(object, key, change)| Some((object, key, change.value.as_ref()?)));
        records.flat_map(|(object, key, record)| bins_in(object, key, record))
    }

    /// The updates of the changed chunks of a dataset. Arrays that they replace go to `removed`.
    fn chunk_updates(
        &mut self,
        target: Target<'_>,
        sink: &mut Sink<'_>,
        removed: &mut Vec<ObjectId>,
        stored: &mut i128,
    ) -> Result<()> {
        let number = target.number;
        let keys: Vec<Key> = self.chunks_of(number).map(|(key, _)| key.clone()).collect();
        for some in keys.chunks(UPDATES_MAX) {
            let old = self.base_chunks(number, &some.iter().collect::<Vec<_>>())?;
            for (key, old) in some.iter().zip(old) {
                let Some(dirty) = self.chunks.remove(&(number, key.clone())) else { continue };
                *stored += length_after(target, &dirty.state) - length_of(old.as_deref());
                let outcome = self.one_chunk(target, key, &dirty, old.as_deref(), sink, removed);
                self.chunks.insert((number, key.clone()), dirty);
                outcome?;
            }
        }
        Ok(())
    }

    fn one_chunk(
        &mut self,
        target: Target<'_>,
        key: &Key,
        dirty: &Dirty,
        old: Option<&Chunk>,
        sink: &mut Sink<'_>,
        removed: &mut Vec<ObjectId>,
    ) -> Result<()> {
        let number = target.number;
        let cell = Cell::kv(index(number), key);
        let bytes = in_place_cell(number, key);
        let is_in_place = old.is_some_and(|old| old.form == Form::InPlace);
        let write_in_place = |sink: &mut Sink<'_>, patches: &Patches| {
            let mut patches = patches.iter();
            patches.try_for_each(|(offset, data)| sink.push(Update::Write { cell: bytes, offset, data }))
        };
        let mut drop_old = |sink: &mut Sink<'_>| {
            removed.extend(old.and_then(array_of));
            if is_in_place { sink.push(Update::Remove { cell: bytes }) } else { Ok(()) }
        };
        match (&dirty.state, &dirty.written) {
            (State::Stored(chunk), Written::Some(ranges)) if is_in_place && takes_patches(target) => {
                // Its entry does not tell what others have changed in it since: only what was written goes there.
                let patches = target.stored_ranges(&*self.live, key, chunk, ranges)?;
                removed.extend(array_of(chunk));
                write_in_place(sink, &patches)
            }
            (State::Stored(chunk), _) => {
                sink.push(Update::Put { cell, value: &chunk.encode() })?;
                drop_old(sink)
            }
            (State::Removed, _) if old.is_none() => Ok(()),
            (State::Removed, _) => {
                sink.push(Update::Remove { cell })?;
                drop_old(sink)
            }
            (State::Patches(patches), _) if is_in_place => write_in_place(sink, patches),
            (State::Patches(patches), _) => {
                let whole = old.map(|chunk| stored_bytes(&*self.base()?, number, key, chunk));
                let gone = || Error::corrupt("a chunk that is missing or short", format!("dataset {number}"));
                let mut whole = whole.transpose()?.flatten().ok_or_else(gone)?;
                patches.apply(0, &mut whole);
                sink.push(Update::Write { cell: bytes, offset: 0, data: &whole })?;
                let chunk = Chunk { form: Form::InPlace, mask: 0, stored_length: target.length as u64 };
                sink.push(Update::Put { cell, value: &chunk.encode() })?;
                drop_old(sink)
            }
            // Every chunk that was whole in memory has been stored.
            (State::Whole(_), _) => Ok(()),
        }
    }

    pub(crate) fn chunks_of(&self, number: u64) -> impl Iterator<Item = (&Key, &Dirty)> {
        let range = (number, Key::new())..(number + 1, Key::new());
        self.chunks.range(range).map(|((_, key), dirty)| (key, dirty))
    }

    /// Goes to the newest version after a conflict. Fails if it has a link that was to be created.
    fn merge(&mut self, store: &Store) -> Result<()> {
        self.go_to_newest(store)?;
        let new: Vec<_> = self
            .changes
            .iter()
            .filter(|(.., change)| change.is_new)
            .map(|(object, key, _)| (object, key.clone()))
            .collect();
        for (object, key) in new {
            if self.base_entry(object, &key)?.is_some() {
                return Err(exists_now(object, &key));
            }
        }
        Ok(())
    }

    /// Goes to the newest version, and puts the changes over it. Fails once if objects that were changed are gone.
    pub(crate) fn go_to_newest(&mut self, store: &Store) -> Result<()> {
        self.rebase(store.container.epoch()?);
        let gone = self.forget_gone()?;
        let in_part: Vec<_> = self
            .chunks
            .iter()
            .filter(|(_, dirty)| matches!(dirty.written, Written::Some(_)))
            .map(|(at, _)| at.clone())
            .collect();
        for (number, key) in in_part {
            self.with_target(number, |session, target| session.reseat(store, target, &key))?;
        }
        self.make_room(store)?;
        gone.map_or(Ok(()), Err)
    }
}

/// The error of a link that another process has created first.
pub(crate) fn exists_now(object: ObjectId, key: &[u8]) -> Error {
    let name = name_in(key, "a change").unwrap_or_default();
    Error::AlreadyExists {
        what: format!("{name:?} in group {}, which another process created,", object.lo()),
    }
}
