//! Chunks that were changed and not committed.
//!
//! A chunk that was written whole is an array already, which nothing names until the commit. One that was written in part is kept with
//! the ranges that were written, so that the commit can merge them with what another process has committed meanwhile: either whole in
//! memory, or, of a chunk without filters that a version has, only the ranges.

use std::sync::Arc;

use isotach_object::{Container, ObjectId};

use crate::{
    Data, Error, Result,
    grid::{Grid, Piece},
    layout::array,
    ranges::{Patches, Ranges},
    records::{Chunk, Form},
    session::Session,
    store::{INLINE_CHUNK, Store, stored_bytes},
};

/// The key of a chunk in the index: its place, big-endian numbers joined.
pub(crate) type Key = Vec<u8>;

/// The key of the chunk at a place in the grid.
pub(crate) fn key_of(place: &[u64]) -> Key {
    place.iter().flat_map(|at| at.to_be_bytes()).collect()
}

/// The place in the grid of a key.
#[expect(clippy::big_endian_bytes, reason = "as the key was made")]
pub(crate) fn place_of(key: &[u8], rank: usize) -> Option<Vec<u64>> {
    let (numbers, []) = key.as_chunks::<8>() else { return None };
    (numbers.len() == rank).then(|| numbers.iter().map(|number| u64::from_be_bytes(*number)).collect())
}

/// A chunk that was changed and not committed.
#[derive(Debug)]
pub(crate) struct Dirty {
    /// The entry in the base when the chunk was first changed. Only for [`Written::Some`].
    pub(crate) seen: Option<Arc<Chunk>>,
    pub(crate) written: Written,
    /// In a file of several ranks: what this one has changed and the others do not know yet.
    pub(crate) fresh: Option<Written>,
    pub(crate) state: State,
}

/// Which bytes of the chunk were changed.
#[derive(Debug, Clone)]
pub(crate) enum Written {
    All,
    Some(Ranges),
}

impl Dirty {
    /// The array that holds it, if this process destroys it when it is replaced or given up: what all ranks know of, the first one does.
    pub(crate) fn own_array(&self, is_follower: bool) -> Option<ObjectId> {
        match &self.state {
            State::Stored(chunk) if !is_follower || self.fresh.is_some() => array_of(chunk),
            _ => None,
        }
    }
}

impl Default for Written {
    fn default() -> Self {
        Self::Some(Ranges::default())
    }
}

impl Written {
    pub(crate) fn add(&mut self, range: std::ops::Range<u64>, length: usize) {
        if let Self::Some(ranges) = self {
            ranges.add(range);
            if ranges.measure() == length as u64 {
                *self = Self::All;
            }
        }
    }

    fn add_all(&mut self, other: &Self, length: usize) {
        match other {
            Self::All => *self = Self::All,
            Self::Some(ranges) => ranges.iter().for_each(|range| self.add(range, length)),
        }
    }
}

/// What the chunk is.
#[derive(Debug)]
pub(crate) enum State {
    /// All its bytes, before filters.
    Whole(Arc<Vec<u8>>),
    /// The changed bytes of a chunk that is in the base without filters.
    Patches(Arc<Patches>),
    /// Stored by this process; no version names it.
    Stored(Arc<Chunk>),
    /// Not stored: it reads as the fill value.
    Removed,
}

/// How many bytes of changed chunks are kept in memory.
const MEMORY_MAX: usize = 64 << 20;

/// A dataset whose chunks are changed.
#[derive(Clone, Copy)]
pub(crate) struct Target<'d> {
    pub(crate) number: u64,
    pub(crate) data: &'d Data,
    pub(crate) length: usize,
}

impl<'d> Target<'d> {
    pub(crate) fn new(number: u64, data: &'d Data, grid: &Grid) -> Self {
        Self { number, data, length: grid.chunk_bytes() }
    }

    fn place(&self) -> String {
        format!("a chunk of dataset {}", self.number)
    }

    /// A chunk that was never written.
    pub(crate) fn blank(&self) -> Vec<u8> {
        match &self.data.fill {
            None => vec![0; self.length],
            Some(fill) => fill.repeat(self.length / fill.len().max(1)),
        }
    }

    /// The bytes of a stored chunk, before its filters.
    pub(crate) fn decoded(&self, stored: Option<Vec<u8>>, chunk: &Chunk) -> Result<Vec<u8>> {
        let gone = || Error::corrupt("a chunk that is missing or short", self.place());
        let filters = &self.data.filters;
        crate::filters::decode(filters, chunk.mask, stored.ok_or_else(gone)?, self.length, &|| self.place())
    }

    /// The bytes in these ranges of a chunk that this process has stored.
    pub(crate) fn stored_ranges(
        &self,
        own: &dyn Container,
        key: &Key,
        chunk: &Chunk,
        ranges: &Ranges,
    ) -> Result<Patches> {
        let stored = stored_bytes(own, self.number, key, chunk)?;
        Ok(Patches::of(ranges, &self.decoded(stored, chunk)?))
    }
}

impl Session {
    /// The chunk of the base, before its filters.
    fn base_content(&mut self, target: Target<'_>, key: &Key, chunk: Option<&Chunk>) -> Result<Vec<u8>> {
        let mut there = chunk.cloned();
        loop {
            let Some(chunk) = there else { return Ok(target.blank()) };
            let stored = stored_bytes(&*self.base()?, target.number, key, &chunk)?;
            let is_gone = stored.is_none() && self.forget_stale()?;
            let now = if is_gone { self.base_chunk(target.number, key)? } else { None };
            if !is_gone || now.as_deref() == Some(&chunk) {
                return target.decoded(stored, &chunk);
            }
            there = now.map(|now| (*now).clone());
        }
    }

    /// Sets a chunk that was stored. `written` are the changed bytes, of all that `content` holds.
    pub(crate) fn set_stored(
        &mut self,
        target: Target<'_>,
        key: Key,
        chunk: Chunk,
        written: Written,
    ) -> Result<()> {
        let state = State::Stored(Arc::new(chunk));
        if let Some(old) = self.chunks.get_mut(&(target.number, key.clone())) {
            self.unused.extend(old.own_array(self.is_follower));
            if self.is_shared {
                old.fresh.get_or_insert_default().add_all(&written, target.length);
            }
            old.written.add_all(&written, target.length);
            self.memory = self.memory.saturating_sub(memory_of(&old.state));
            old.state = state;
            return Ok(());
        }
        let seen = match written {
            Written::All => None,
            Written::Some(_) => self.base_chunk(target.number, &key)?,
        };
        let fresh = self.is_shared.then(|| written.clone());
        self.chunks.insert((target.number, key), Dirty { seen, written, fresh, state });
        Ok(())
    }

    /// Writes pieces of a chunk: bytes at offsets.
    pub(crate) fn patch<'p>(
        &mut self,
        store: &Store,
        target: Target<'_>,
        key: &Key,
        pieces: impl Iterator<Item = (u64, &'p [u8])>,
    ) -> Result<()> {
        let at = (target.number, key.clone());
        let mut pieces = pieces.peekable();
        if pieces.peek().is_none() {
            return Ok(());
        }
        self.open_for_patches(store, target, key)?;
        let Some(dirty) = self.chunks.get_mut(&at) else { return Ok(()) };
        let before = memory_of(&dirty.state);
        let was_whole = matches!(dirty.written, Written::All);
        for (offset, bytes) in pieces {
            let range = offset..offset + bytes.len() as u64;
            if self.is_shared {
                dirty.fresh.get_or_insert_default().add(range.clone(), target.length);
            }
            dirty.written.add(range, target.length);
            match &mut dirty.state {
                State::Whole(whole) => {
                    // A copy only while another thread reads it.
                    let there = Arc::make_mut(whole).get_mut(offset as usize..);
                    let there = there.and_then(|there| there.get_mut(..bytes.len()));
                    there.into_iter().for_each(|there| there.copy_from_slice(bytes));
                }
                State::Patches(patches) => Arc::make_mut(patches).write(offset, bytes),
                State::Stored(_) | State::Removed => {}
            }
        }
        self.memory = (self.memory + memory_of(&dirty.state)).saturating_sub(before);
        if !was_whole && matches!(dirty.written, Written::All) {
            // Nothing more is expected of it.
            return self.spill(store, target, key);
        }
        if self.memory > MEMORY_MAX { self.spill_others(store, Some(&at)) } else { Ok(()) }
    }

    /// Makes a chunk one that takes patches.
    fn open_for_patches(&mut self, store: &Store, target: Target<'_>, key: &Key) -> Result<()> {
        let at = (target.number, key.clone());
        let state = match self.chunks.get(&at).map(|dirty| &dirty.state) {
            Some(State::Whole(_) | State::Patches(_)) => return Ok(()),
            Some(State::Removed) => State::Whole(Arc::new(target.blank())),
            Some(State::Stored(chunk)) => {
                let chunk = chunk.clone();
                let stored = stored_bytes(&*store.container, target.number, key, &chunk)?;
                let whole = target.decoded(stored, &chunk)?;
                State::Whole(Arc::new(whole))
            }
            None => {
                let seen = self.base_chunk(target.number, key)?;
                let state = match &seen {
                    Some(_) if takes_patches(target) => State::Patches(Arc::default()),
                    seen => State::Whole(Arc::new(self.base_content(target, key, seen.as_deref())?)),
                };
                self.memory += memory_of(&state);
                self.chunks.insert(at, Dirty { seen, written: Written::default(), fresh: None, state });
                return Ok(());
            }
        };
        self.memory += memory_of(&state);
        if let Some(dirty) = self.chunks.get_mut(&at) {
            self.unused.extend(dirty.own_array(self.is_follower));
            dirty.state = state;
        }
        Ok(())
    }

    /// Stores a chunk that is in memory, if it is.
    pub(crate) fn spill(&mut self, store: &Store, target: Target<'_>, key: &Key) -> Result<()> {
        let at = (target.number, key.clone());
        let Some(dirty) = self.chunks.get(&at) else { return Ok(()) };
        let whole = match &dirty.state {
            State::Whole(whole) => whole.clone(),
            State::Patches(patches) => {
                let (seen, patches) = (dirty.seen.clone(), patches.clone());
                let mut whole = self.base_content(target, key, seen.as_deref())?;
                patches.apply(0, &mut whole);
                Arc::new(whole)
            }
            State::Stored(_) | State::Removed => return Ok(()),
        };
        let chunk = store.write_chunk(&target.data.filters, &whole)?;
        if let Some(indexing) = self.indexing_of_writes(target)? {
            let grid = Grid::of(target.data)?;
            let place = place_of(key, grid.rank()).unwrap_or_default();
            let write = |bytes: &[u8]| store.write_array(bytes);
            if let Some(record) = indexing.record(&write, &grid, &place, &whole, &chunk)? {
                self.put_index_entry(target.number, key.clone(), record)?;
            }
        }
        if let Some(dirty) = self.chunks.get_mut(&at) {
            self.memory = self.memory.saturating_sub(memory_of(&dirty.state));
            dirty.state = State::Stored(Arc::new(chunk));
        }
        Ok(())
    }

    /// Stores the chunks in memory, but for one to keep, until half of the room is free.
    fn spill_others(&mut self, store: &Store, kept: Option<&(u64, Key)>) -> Result<()> {
        let in_memory = |(at, dirty): (&(u64, Key), &Dirty)| {
            (memory_of(&dirty.state) > 0 && Some(at) != kept).then(|| at.clone())
        };
        let others: Vec<_> = self.chunks.iter().filter_map(in_memory).collect();
        for (number, key) in others {
            if self.memory <= MEMORY_MAX / 2 {
                break;
            }
            self.with_target(number, |session, target| session.spill(store, target, &key))?;
        }
        Ok(())
    }

    /// Stores chunks in memory if there are too many.
    pub(crate) fn make_room(&mut self, store: &Store) -> Result<()> {
        if self.memory > MEMORY_MAX { self.spill_others(store, None) } else { Ok(()) }
    }

    /// Stores all chunks that are whole in memory, of one dataset or of all.
    pub(crate) fn spill_whole(&mut self, store: &Store, of: Option<u64>) -> Result<()> {
        let whole = |(at, dirty): (&(u64, Key), &Dirty)| {
            let is_meant = of.is_none_or(|number| number == at.0);
            (is_meant && matches!(dirty.state, State::Whole(_))).then(|| at.clone())
        };
        let all: Vec<_> = self.chunks.iter().filter_map(whole).collect();
        for (number, key) in all {
            self.with_target(number, |session, target| session.spill(store, target, &key))?;
        }
        Ok(())
    }

    /// Calls `act` with a dataset that chunks were changed of.
    pub(crate) fn with_target(
        &mut self,
        number: u64,
        act: impl FnOnce(&mut Self, Target<'_>) -> Result<()>,
    ) -> Result<()> {
        let Some(header) = self.header(number)? else { return Ok(()) };
        let Some(data) = &header.data else { return Ok(()) };
        let target = Target::new(number, data, &Grid::of(data)?);
        act(self, target)
    }

    /// Puts a chunk that was changed in part over what the base has now, which is another than it was.
    pub(crate) fn reseat(&mut self, store: &Store, target: Target<'_>, key: &Key) -> Result<()> {
        let at = (target.number, key.clone());
        let seen = self.base_chunk(target.number, key)?;
        let Some(dirty) = self.chunks.get(&at) else { return Ok(()) };
        let Written::Some(ranges) = &dirty.written else { return Ok(()) };
        // The entry of a chunk in place stays the same when its bytes change.
        let is_in_place = seen.as_ref().is_some_and(|seen| seen.form == Form::InPlace);
        if dirty.seen == seen && (!is_in_place || matches!(dirty.state, State::Patches(_))) {
            return Ok(());
        }
        let before = memory_of(&dirty.state);
        let patches = match &dirty.state {
            State::Whole(whole) => Patches::of(ranges, whole),
            State::Patches(same) => (**same).clone(),
            State::Stored(chunk) => {
                let patches = target.stored_ranges(&*store.container, key, chunk, ranges)?;
                self.unused.extend(array_of(chunk));
                patches
            }
            State::Removed => Patches::of(ranges, &target.blank()),
        };
        let state = if seen.is_some() && takes_patches(target) {
            State::Patches(Arc::new(patches))
        } else {
            let mut whole = self.base_content(target, key, seen.as_deref())?;
            patches.apply(0, &mut whole);
            State::Whole(Arc::new(whole))
        };
        self.memory = (self.memory + memory_of(&state)).saturating_sub(before);
        if let Some(dirty) = self.chunks.get_mut(&at) {
            (dirty.seen, dirty.state) = (seen, state);
        }
        Ok(())
    }

    /// Forgets the changed chunks of a dataset for which this holds.
    pub(crate) fn forget_chunks(&mut self, number: u64, is_meant: impl Fn(&Key) -> bool) -> Result<()> {
        let range = (number, Key::new())..(number + 1, Key::new());
        let keys: Vec<_> =
            self.chunks.range(range).map(|((_, key), _)| key.clone()).filter(|key| is_meant(key)).collect();
        for key in keys {
            if let Some(dirty) = self.chunks.remove(&(number, key)) {
                self.memory = self.memory.saturating_sub(memory_of(&dirty.state));
                self.unused.extend(dirty.own_array(self.is_follower));
            }
        }
        Ok(())
    }
}

/// Whether a stored chunk of the dataset is changed by ranges: it has no filters, and is too large for its entry.
pub(crate) fn takes_patches(target: Target<'_>) -> bool {
    target.data.filters.is_empty() && target.length > INLINE_CHUNK
}

pub(crate) fn array_of(chunk: &Chunk) -> Option<ObjectId> {
    match chunk.form {
        Form::Array(number) => Some(array(number)),
        Form::Inline(_) | Form::InPlace => None,
    }
}

pub(crate) fn memory_of(state: &State) -> usize {
    match state {
        State::Whole(whole) => whole.len(),
        State::Patches(patches) => patches.measure() as usize,
        State::Stored(_) | State::Removed => 0,
    }
}

/// The pieces of a chunk with their bytes in the caller's buffer.
pub(crate) fn with_bytes<'p>(pieces: &'p [Piece], packed: &'p [u8]) -> impl Iterator<Item = (u64, &'p [u8])> {
    pieces.iter().map(|piece| {
        (piece.offset, packed.get(piece.packed..piece.packed + piece.length).unwrap_or_default())
    })
}
