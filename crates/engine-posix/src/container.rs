//! A handle on a container: the object model's trait over the log, the data files and the state.
//!
//! Writing is blind: updates are gathered into a frame, and nothing is read. A read first publishes what its
//! handle has gathered, and then replays the tail, so a handle sees its own updates, in the log's order,
//! like everyone else's. A handle that only writes never builds the state.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use isotach_object::{
    Anchor, ArrayRead, Capabilities, Cell, Container, Epoch, Error, IdRange, Label, ObjectId, ObjectType,
    Page, Result, SharedBytes, Snapshot, Transaction, Update,
};

use crate::{
    CAPABILITIES, SCHEME, checkpoint,
    entry::{Entry, Resolved},
    listing, path, random,
    state::{Place, State},
    writer::Writer,
};

/// An open container.
#[derive(Debug)]
pub(crate) struct PosixContainer {
    label: Label,
    place: Place,
    /// This handle's number in the frames it writes.
    own: u64,
    writer: Mutex<Writer>,
    /// Whether the writer holds something that is not in the log yet.
    gathered: AtomicBool,
    state: RwLock<Option<State>>,
    /// The log position up to which this handle knows runs to reach.
    checkpointed: AtomicU64,
}

impl PosixContainer {
    pub(crate) fn new(label: Label, place: Place) -> Result<Self> {
        let own = random::number()?;
        let writer = Mutex::new(Writer::new(&place, own));
        let (gathered, state) = (AtomicBool::new(false), RwLock::new(None));
        let checkpointed = AtomicU64::new(0);
        Ok(Self { label, place, own, writer, gathered, state, checkpointed })
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what this handle has gathered into the log, so that everyone can see it.
    fn publish(&self) -> Result<()> {
        if !self.gathered.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut writer = self.writer();
        match writer.publish(&self.place.log) {
            // This handle will never write what it gathered, and reads on without.
            Err(Error::Poisoned { .. }) => writer.abandon(),
            outcome => outcome?,
        }
        self.gathered.store(false, Ordering::Release);
        Ok(())
    }

    /// The state as of now.
    fn state(&self) -> Result<StateGuard<'_>> {
        self.publish()?;
        let length = self.place.log.length()?;
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if state.as_ref().is_some_and(|state| state.is_fresh(length)) {
            return Ok(StateGuard(state));
        }
        drop(state);
        self.replay(|_| ())?;
        Ok(StateGuard(self.state.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Replays the tail, and then lets `look` see the state.
    fn replay<T>(&self, look: impl FnOnce(&mut State) -> T) -> Result<T> {
        let mut guard = self.state.write().unwrap_or_else(|poisoned| {
            // A replay that panicked may have applied half a frame: begin again.
            let mut guard = poisoned.into_inner();
            *guard = None;
            self.state.clear_poison();
            guard
        });
        let state = match guard.as_mut() {
            Some(state) => state,
            None => guard.insert(State::open(&self.place, self.own)?),
        };
        state.replay(&self.place)?;
        self.checkpointed.store(state.covered(&self.place), Ordering::Relaxed);
        Ok(look(state))
    }

    /// Adds the object to what is said of the data files, which a destroyed container no longer has.
    fn naming_object<T>(&self, cell: &Cell<'_>, outcome: Result<T>) -> Result<T> {
        outcome.map_err(|error| match error {
            Error::Corrupt { .. } if self.check_current().is_err() => self.destroyed(),
            Error::Corrupt { what, place } => Error::Corrupt {
                what: format!("{what} (object {} of container {})", cell.object, self.label),
                place,
            },
            other => other,
        })
    }

    fn value(&self, cell: &Cell<'_>, entry: Option<Entry>) -> Result<Option<Vec<u8>>> {
        match entry {
            Some(Entry::Value(value)) => Ok(Some(value.into_vec())),
            Some(Entry::ValueExtent(extent, _)) => {
                self.naming_object(cell, self.place.data.read_extent(&extent)).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn read(&self, read: &mut ArrayRead<'_>, resolved: &Resolved) -> Result<()> {
        let there = resolved.size.saturating_sub(read.offset);
        let filled = read.buffer.len().min(usize::try_from(there).unwrap_or(usize::MAX));
        let (start, end) = (read.offset, read.offset + filled as u64);
        let mut done = start;
        let first = resolved.parts.partition_point(|part| part.end() <= start);
        for part in resolved.parts[first..].iter().take_while(|part| part.offset < end) {
            let Some(part) = part.clip(start, end) else { continue };
            let (from, to) = ((part.offset - start) as usize, (part.end() - start) as usize);
            read.buffer[(done - start) as usize..from].fill(0);
            self.naming_object(&read.cell, self.place.data.read_part(&part, &mut read.buffer[from..to]))?;
            done = part.end();
        }
        read.buffer[(done - start) as usize..filled].fill(0);
        read.filled = filled;
        Ok(())
    }

    /// Writes a checkpoint if the log has grown far past the last one and no reader of this handle does it.
    fn checkpoint_if_due(&self) -> Result<()> {
        // Handles differ by a random part, so that they do not all begin at once.
        let interval = self.place.options.checkpoint;
        let late = 2 * interval + self.own % interval;
        let reached = self.place.log.epoch_at(self.place.log.length()?);
        if reached < self.checkpointed.load(Ordering::Relaxed) + late {
            return Ok(());
        }
        let reach = checkpoint::reach(&self.place)?;
        self.checkpointed.store(reach, Ordering::Relaxed);
        if reached >= reach + late {
            // Tried up to here, whatever comes of it: the next attempt waits for as much again.
            self.checkpointed.store(reached, Ordering::Relaxed);
            State::open(&self.place, self.own)?.replay(&self.place)?;
        }
        Ok(())
    }

    fn destroyed(&self) -> Error {
        Error::not_found(format!(
            "container {}: it was destroyed while this handle was open, and",
            self.label
        ))
    }

    /// Refuses to go on in a container that was destroyed.
    fn check_current(&self) -> Result<()> {
        match self.place.log.is_current()? {
            true => Ok(()),
            false => Err(self.destroyed()),
        }
    }

    fn refuse_snapshots<T>(&self) -> Result<T> {
        Err(Error::Unsupported { engine: SCHEME, what: "snapshots".to_owned() })
    }
}

/// What stands in a cell.
fn find(state: &State, cell: &Cell<'_>) -> Result<Option<Entry>> {
    let mut path = Vec::new();
    path::of_cell(cell, &mut path);
    state.find(&path)
}

/// The bytes of an array or of records; none for anything else.
fn bytes(state: &State, cell: &Cell<'_>) -> Result<Resolved> {
    match find(state, cell)? {
        Some(Entry::Bytes(bytes)) => Ok(bytes.resolve().unwrap_or_default()),
        _ => Ok(Resolved::default()),
    }
}

fn check_limit(limit: usize) -> Result<()> {
    match limit {
        0 => Err(Error::invalid("a page of 0 entries", "a limit of at least 1")),
        _ => Ok(()),
    }
}

/// A buffer of zeros, unless there is no memory for it.
fn zeros(length: u64) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let what = || Error::NoSpace { what: format!("memory to gather {length} bytes") };
    buffer.try_reserve_exact(length).map_err(|_| what())?;
    buffer.resize(length, 0);
    Ok(buffer)
}

/// A state that is there.
struct StateGuard<'c>(RwLockReadGuard<'c, Option<State>>);

impl StateGuard<'_> {
    fn get(&self) -> Result<&State> {
        // `state` has just replayed it, and nothing ever takes it away.
        self.0.as_ref().ok_or_else(|| Error::corrupt("no state after replaying", "memory"))
    }
}

impl Container for PosixContainer {
    fn label(&self) -> &Label {
        &self.label
    }

    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn allocate_ids(&self, count: u64) -> Result<IdRange> {
        self.check_current()?;
        self.writer().allocate_ids(&self.place.log, count)
    }

    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| update.check_for(SCHEME, CAPABILITIES.redundancy))?;
        let mut writer = self.writer();
        writer.gather(updates, &self.place.log)?;
        self.gathered.store(true, Ordering::Release);
        Ok(())
    }

    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        transaction.check_for(SCHEME, CAPABILITIES.redundancy)?;
        self.check_current()?;
        let conditional = !transaction.preconditions.is_empty();
        if conditional {
            // A state opened after the append could begin at a run that holds the frame, and not its verdict.
            self.state()?;
        }
        let (sequence, end) = {
            let mut writer = self.writer();
            let appended = writer.commit(transaction, &self.place.log)?;
            self.gathered.store(false, Ordering::Release);
            appended
        };
        let epoch = Epoch(self.place.log.epoch_at(end));
        if !conditional {
            return Ok(epoch);
        }
        // Every process that replays the log up to this frame comes to the same verdict.
        match self.replay(|state| state.take_verdict(sequence))? {
            Some(None) => Ok(epoch),
            Some(Some(failed)) => Err(transaction.preconditions[failed].conflict()),
            None => Err(Error::corrupt(
                "the log does not hold a frame just appended",
                self.place.log.path().display().to_string(),
            )),
        }
    }

    fn flush(&self) -> Result<Epoch> {
        let log = &self.place.log;
        let mut writer = self.writer();
        let wrote = writer.has_written();
        if wrote {
            self.check_current()?;
        }
        writer.flush(log, self.place.options.sync, || self.gathered.store(false, Ordering::Release))?;
        drop(writer);
        let epoch = Epoch(log.epoch_at(log.length()?));
        if wrote {
            // What was flushed is durable; a checkpoint that fails takes nothing of it back.
            let _ = self.checkpoint_if_due();
        }
        Ok(epoch)
    }

    fn epoch(&self) -> Result<Epoch> {
        self.publish()?;
        Ok(Epoch(self.place.log.epoch_at(self.place.log.length()?)))
    }

    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        cells.iter().try_for_each(Cell::check_value)?;
        let found: Vec<_> = {
            let state = self.state()?;
            let state = state.get()?;
            cells.iter().map(|cell| find(state, cell)).collect::<Result<_>>()?
        };
        cells.iter().zip(found).map(|(cell, entry)| self.value(cell, entry)).collect()
    }

    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        cells.iter().try_for_each(Cell::check)?;
        let state = self.state()?;
        let state = state.get()?;
        let size = |cell: &Cell<'_>| {
            Ok(match find(state, cell)? {
                Some(Entry::Value(value)) => Some(value.len() as u64),
                Some(Entry::ValueExtent(extent, _)) => Some(extent.length),
                Some(Entry::Bytes(bytes)) => bytes.resolve().map(|resolved| resolved.size),
                _ => None,
            })
        };
        cells.iter().map(size).collect()
    }

    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        reads.iter().try_for_each(|read| read.cell.check_extent())?;
        let resolved: Vec<_> = {
            let state = self.state()?;
            let state = state.get()?;
            reads.iter().map(|read| bytes(state, &read.cell)).collect::<Result<_>>()?
        };
        reads.iter_mut().zip(&resolved).try_for_each(|(read, resolved)| self.read(read, resolved))
    }

    fn share(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<SharedBytes> {
        cell.check_extent()?;
        let resolved = {
            let state = self.state()?;
            bytes(state.get()?, &cell)?
        };
        let length = length.min(resolved.size.saturating_sub(offset));
        let whole = match &resolved.parts[..] {
            [part] => part.clip(offset, offset + length).filter(|part| part.length == length),
            _ => None,
        };
        if let Some(part) = whole {
            match self.naming_object(&cell, self.place.data.share(&part)) {
                // A process has only so many maps: copy instead.
                Err(Error::Io { .. }) => {}
                outcome => return outcome,
            }
        }
        // Bytes in several places, or with holes, have no one place to lend.
        let mut buffer = zeros(length)?;
        let mut read = ArrayRead { cell, offset, buffer: &mut buffer, filled: 0 };
        self.read(&mut read, &resolved)?;
        Ok(buffer.into())
    }

    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        object.expect_type(ObjectType::KeyValue)?;
        check_limit(limit)?;
        let state = self.state()?;
        let prefix = path::of_object(object);
        listing::page(state.get()?, &self.place.data, &prefix, anchor, limit, values)
    }

    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        object.expect_type(ObjectType::General)?;
        check_limit(limit)?;
        let state = self.state()?;
        listing::dkeys(state.get()?, object, anchor, limit)
    }

    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        object.expect_type(ObjectType::General)?;
        Cell::general(object, dkey, b"any").check()?;
        check_limit(limit)?;
        let state = self.state()?;
        let mut prefix = Vec::new();
        path::of_dkey(object, dkey, &mut prefix);
        listing::page(state.get()?, &self.place.data, &prefix, anchor, limit, false)
    }

    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        check_limit(limit)?;
        let state = self.state()?;
        listing::objects(state.get()?, anchor, limit)
    }

    fn create_snapshot(&self, _name: &Label) -> Result<Epoch> {
        self.refuse_snapshots()
    }

    fn list_snapshots(&self) -> Result<Vec<Snapshot>> {
        self.refuse_snapshots()
    }

    fn open_snapshot(&self, _name: &Label) -> Result<Arc<dyn Container>> {
        self.refuse_snapshots()
    }

    fn destroy_snapshot(&self, _name: &Label) -> Result<()> {
        self.refuse_snapshots()
    }
}
