//! The exchange: the chunks that ranks have changed become known to all of them.
//!
//! A chunk that a rank has written whole is an array, whose entry goes to all. The parts of a chunk that ranks have written go to its owner,
//! a rank that the place of the chunk decides on. The owner puts them together and over what was there, stores the chunk, and gives its
//! entry to all. So no rank gets the data of all, and all ranks have the same entries afterwards: the first one can commit them.
//!
//! Of the entries of maps all ranks get to know all: see [`crate::map_exchange`].
//!
//! What must stay true: a part is only what the rank has written since the last exchange. More would undo what others have written.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use isotach_engine_kit::bytes::{Put as _, Reader};

use crate::{
    Error, File, Result,
    chunk::{Dirty, Key, State, Written, array_of, memory_of},
    ranges::{Patches, Ranges},
    ranks::{Call, Team},
    records::{Chunk, bytes, put_bytes},
    session::Session,
    signature::layout_of,
    store::Store,
};

/// What a rank has changed since the last exchange.
struct Fresh {
    /// The datasets that have some, each with what its chunks depend on.
    layouts: Vec<u8>,
    /// The entries of maps that were changed.
    map_entries: Vec<u8>,
    /// The entries of chunks that were written whole.
    entries: Vec<u8>,
    /// The parts of chunks, by their owners.
    parts: Vec<Vec<u8>>,
}

impl File {
    /// Makes what each rank has written known to all. All ranks call it, each with the outcome of what it did before: a failure of one fails
    /// on all. Only passes the outcome on where the file is open in one process alone, or for reading.
    ///
    /// # Errors
    /// The failure; `OtherRank` if another rank has failed; `Object`, `Corrupt`, `Io`.
    pub fn exchange<T, E: fmt::Display + From<Error>>(&self, outcome: Result<T, E>) -> Result<T, E> {
        let _alone = self.team().map(|_| self.alone());
        self.exchange_in(&mut self.session(), outcome)
    }

    pub(crate) fn exchange_in<T, E>(&self, session: &mut Session, outcome: Result<T, E>) -> Result<T, E>
    where
        E: fmt::Display + From<Error>,
    {
        let Some(team) = self.team().filter(|_| self.is_writable()) else { return outcome };
        let fresh = outcome.and_then(|outcome| Ok((outcome, session.fresh(&self.store, team)?)));
        let mut kept = None;
        let message = fresh.map(|(outcome, Fresh { layouts, map_entries, entries, parts })| {
            let has_parts = parts.iter().any(|parts| !parts.is_empty());
            kept = Some((outcome, parts));
            let mut message = vec![has_parts.into()];
            put_bytes(&mut message, &layouts);
            put_bytes(&mut message, &map_entries);
            message.extend_from_slice(&entries);
            message
        });
        let all = team.gather(Call::Chunks, message)?;
        let Some((outcome, parts)) = kept else { return Err(damaged().into()) };
        let all =
            all.iter().map(|message| Told::of(message)).collect::<Option<Vec<_>>>().ok_or_else(damaged)?;
        check_layouts(&all)?;
        // A failure from here on leaves ranks that know of different chunks.
        let merged = session.take(&self.store, team, &all, parts);
        merged.inspect_err(|error| self.note_failure(error.to_string()))?;
        Ok(outcome)
    }

    /// Ends what all ranks do: it fails on all if it has failed on one.
    ///
    /// # Errors
    /// As [`File::exchange`].
    pub fn agree<T, E: fmt::Display + From<Error>>(&self, outcome: Result<T, E>) -> Result<T, E> {
        match self.team() {
            Some(team) => team.agree(Call::Outcome, outcome),
            None => outcome,
        }
    }
}

impl Session {
    /// What this rank has changed since the last exchange. It stays so until the others have it.
    fn fresh(&mut self, store: &Store, team: &Team) -> Result<Fresh> {
        let is_fresh = |(at, dirty): (&(u64, Key), &Dirty)| dirty.fresh.as_ref().map(|_| at.clone());
        let fresh: Vec<_> = self.chunks.iter().filter_map(is_fresh).collect();
        let mut found = Fresh {
            layouts: Vec::new(),
            map_entries: self.fresh_map_entries()?,
            entries: Vec::new(),
            parts: vec![Vec::new(); team.size()],
        };
        let mut last = None;
        for (number, key) in &fresh {
            if last.replace(*number) != Some(*number)
                && let Some(header) = self.header(*number)?
            {
                found.layouts.put_u64(*number);
                found.layouts.put_u64(layout_of(&header));
            }
            self.with_target(*number, |session, target| {
                let is_whole = |session: &Self| {
                    let dirty = session.chunks.get(&(*number, key.clone()));
                    dirty.is_some_and(|dirty| matches!(dirty.fresh, Some(Written::All)))
                };
                if is_whole(session) {
                    session.spill(store, target, key)?;
                }
                let Some(dirty) = session.chunks.get(&(*number, key.clone())) else { return Ok(()) };
                match (&dirty.fresh, &dirty.state) {
                    (Some(Written::All), State::Stored(chunk)) => {
                        put_entry(&mut found.entries, *number, key, &Written::All, None, chunk);
                    }
                    (Some(Written::Some(ranges)), state) => {
                        let patches = match state {
                            State::Whole(whole) => Patches::of(ranges, whole),
                            State::Patches(patches) => patches.within(ranges),
                            State::Stored(chunk) => {
                                target.stored_ranges(&*store.container, key, chunk, ranges)?
                            }
                            State::Removed => Patches::of(ranges, &target.blank()),
                        };
                        if let Some(parts) = found.parts.get_mut(team.owner(*number, key)) {
                            put_part(parts, *number, key, &patches);
                        }
                    }
                    _ => {}
                }
                Ok(())
            })?;
        }
        if !(found.entries.is_empty() && found.map_entries.is_empty()) {
            // What was written is seen by others from here on.
            store.container.epoch()?;
        }
        Ok(found)
    }

    /// Takes the entries of all ranks, and merges the parts of the chunks that this one owns.
    fn take(&mut self, store: &Store, team: &Team, all: &[Told<'_>], parts: Vec<Vec<u8>>) -> Result<()> {
        let has_parts = all.iter().any(|told| told.has_parts);
        self.take_map_entries(all.iter().map(|told| told.map_entries))?;
        all.iter().try_for_each(|told| self.take_entries(told.entries, team))?;
        if !has_parts {
            return Ok(());
        }
        let received = team.exchange(parts)?;
        let merged = self.merge_parts(store, &received);
        let all = team.gather(Call::Merged, merged)?;
        all.iter().try_for_each(|message| self.take_entries(message, team))
    }

    fn take_entries(&mut self, message: &[u8], team: &Team) -> Result<()> {
        let mut reader = Reader(message);
        while !reader.is_empty() {
            let (number, key, dirty) = entry(&mut reader)?;
            let new = match &dirty.state {
                State::Stored(chunk) => array_of(chunk),
                _ => None,
            };
            let Some(old) = self.chunks.insert((number, key), dirty) else { continue };
            self.memory = self.memory.saturating_sub(memory_of(&old.state));
            // The first rank gets to know every entry that others know, too.
            let is_ours = team.is_first() || matches!(old.fresh, Some(Written::Some(_)));
            if let (State::Stored(chunk), true) = (&old.state, is_ours) {
                self.unused.extend(array_of(chunk).filter(|old| Some(*old) != new));
            }
        }
        Ok(())
    }

    /// Puts the parts that ranks have written together, and stores the chunks. Returns their entries.
    fn merge_parts(&mut self, store: &Store, received: &[Vec<u8>]) -> Result<Vec<u8>> {
        let mut touched = BTreeSet::new();
        for message in received {
            let mut reader = Reader(message);
            while !reader.is_empty() {
                let (number, key, patches) = part(&mut reader)?;
                self.with_target(number, |session, target| {
                    session.patch(store, target, &key, patches.iter().map(|(at, bytes)| (*at, *bytes)))
                })?;
                touched.insert((number, key));
            }
        }
        let mut entries = Vec::new();
        for at in touched {
            self.with_target(at.0, |session, target| session.spill(store, target, &at.1))?;
            if let Some(Dirty { seen, written, state: State::Stored(chunk), .. }) = self.chunks.get(&at) {
                put_entry(&mut entries, at.0, &at.1, written, seen.as_deref(), chunk);
            }
        }
        if !entries.is_empty() {
            store.container.epoch()?;
        }
        Ok(entries)
    }
}

/// What a rank has told all of what it has changed.
struct Told<'m> {
    has_parts: bool,
    layouts: Vec<u8>,
    map_entries: &'m [u8],
    entries: &'m [u8],
}

impl<'m> Told<'m> {
    fn of(message: &'m [u8]) -> Option<Self> {
        let mut reader = Reader(message);
        let (has_parts, layouts) = (reader.u8()? != 0, bytes(&mut reader)?);
        let length = reader.u32()? as usize;
        let map_entries = reader.take(length)?;
        Some(Self { has_parts, layouts, map_entries, entries: reader.0 })
    }
}

/// Fails on all ranks if two write to a dataset that they have created otherwise: chunks of one are none of the other.
fn check_layouts(all: &[Told<'_>]) -> Result<()> {
    let mut known = BTreeMap::new();
    for (rank, told) in all.iter().enumerate() {
        let mut reader = Reader(&told.layouts);
        while let (Some(number), Some(layout)) = (reader.u64(), reader.u64()) {
            let (other, same) = *known.entry(number).or_insert((rank, layout));
            if same != layout {
                let what = format!(
                    "dataset {number}, to which rank {other} has given another type, chunk, fill value or filters than rank {rank}"
                );
                return Err(Error::invalid(what, "the same creation on all ranks"));
            }
        }
    }
    Ok(())
}

fn put_entry(
    message: &mut Vec<u8>,
    number: u64,
    key: &[u8],
    written: &Written,
    seen: Option<&Chunk>,
    chunk: &Chunk,
) {
    message.put_u64(number);
    put_bytes(message, key);
    put_bytes(message, &chunk.encode());
    match written {
        Written::All => message.put_u8(0),
        Written::Some(ranges) => {
            message.put_u8(1);
            put_bytes(message, &seen.map_or_else(Vec::new, Chunk::encode));
            message.put_u64(ranges.iter().count() as u64);
            for range in ranges.iter() {
                message.put_u64(range.start);
                message.put_u64(range.end);
            }
        }
    }
}

pub(crate) fn damaged() -> Error {
    Error::corrupt("a message that cannot be read", "what another rank has sent")
}

/// A chunk of all ranks: dataset, key, and what it is.
fn entry(reader: &mut Reader<'_>) -> Result<(u64, Key, Dirty)> {
    let decode = |record: &[u8]| Chunk::decode(record, "what another rank has sent").map(Arc::new);
    let number = reader.u64().ok_or_else(damaged)?;
    let (key, chunk) = (bytes(reader).ok_or_else(damaged)?, bytes(reader).ok_or_else(damaged)?);
    let state = State::Stored(decode(&chunk)?);
    if reader.u8().ok_or_else(damaged)? == 0 {
        return Ok((number, key, Dirty { seen: None, written: Written::All, fresh: None, state }));
    }
    let seen = bytes(reader).ok_or_else(damaged)?;
    let seen = if seen.is_empty() { None } else { Some(decode(&seen)?) };
    let mut ranges = Ranges::default();
    for _ in 0..reader.u64().ok_or_else(damaged)? {
        ranges.add(reader.u64().ok_or_else(damaged)?..reader.u64().ok_or_else(damaged)?);
    }
    Ok((number, key, Dirty { seen, written: Written::Some(ranges), fresh: None, state }))
}

fn put_part(message: &mut Vec<u8>, number: u64, key: &[u8], patches: &Patches) {
    message.put_u64(number);
    put_bytes(message, key);
    message.put_u64(patches.iter().count() as u64);
    for (offset, bytes) in patches.iter() {
        message.put_u64(offset);
        put_bytes(message, bytes);
    }
}

/// Dataset, key, and bytes at offsets.
type Part<'m> = (u64, Key, Vec<(u64, &'m [u8])>);

fn part<'m>(reader: &mut Reader<'m>) -> Result<Part<'m>> {
    let mut read = || {
        let (number, key, count) = (reader.u64()?, bytes(reader)?, reader.u64()?);
        let one = |_| {
            let (offset, length) = (reader.u64()?, reader.u32()?);
            Some((offset, reader.take(length as usize)?))
        };
        Some((number, key, (0..count).map(one).collect::<Option<Vec<_>>>()?))
    };
    read().ok_or_else(damaged)
}
