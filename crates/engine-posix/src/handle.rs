//! A handle on a container, and how it follows the log.
//!
//! Writing is blind: updates are gathered into a frame, and nothing is read. A read first publishes what its handle has gathered and then
//! replays the tail of the log. So a handle sees its own updates in the order of the log, like every other handle. A handle that only
//! writes never builds the state.

use std::sync::{Arc, PoisonError, TryLockError, atomic::Ordering};

use isotach_engine_kit::random;
use isotach_object::{Cell, Error, Label, Result};

use crate::{
    format::extent::Sums,
    index::{
        chain, checkpoint,
        run::{Run, Span},
        state::State,
    },
    io::{data::DIRECT, storage::Storage},
    sync::{
        AtomicBool, AtomicU64, AtomicUsize, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    },
    transaction::writer::Writer,
};

/// The intervals that the log grows before a handle that reads makes runs. Writers do so after one interval, so a reader has to only where
/// they are gone.
const READER_INTERVALS: u64 = 4;

/// An open container.
#[derive(Debug)]
pub(crate) struct PosixContainer {
    pub(crate) label: Label,
    pub(crate) storage: Storage,
    /// This handle's number in the frames it writes.
    pub(crate) own: u64,
    writer: Mutex<Writer>,
    /// Held during a flush. Before `writer`, if both are held.
    flushing: Mutex<()>,
    /// Whether the writer holds something that is not in the log yet.
    pub(crate) gathered: AtomicBool,
    state: RwLock<Option<State>>,
    /// How many conditional frames of this handle wait for their verdict.
    awaited: AtomicUsize,
    /// Held by the thread that makes runs.
    renewing: Mutex<()>,
    /// The epoch at which this handle last made runs, or up to which it then found them.
    renewed: AtomicU64,
}

/// While it exists, the state is not replaced by one without the verdict on a frame that was appended meanwhile.
pub(crate) struct Awaited<'c>(&'c AtomicUsize);

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl PosixContainer {
    pub(crate) fn new(label: Label, storage: Storage) -> Result<Self> {
        let own = random::number()?;
        let (writer, flushing) = (Mutex::new(Writer::new(&storage, own)), Mutex::new(()));
        let (gathered, state) = (AtomicBool::new(false), RwLock::new(None));
        let (awaited, renewing, renewed) = (AtomicUsize::new(0), Mutex::new(()), AtomicU64::new(0));
        Ok(Self { label, storage, own, writer, flushing, gathered, state, awaited, renewing, renewed })
    }

    pub(crate) fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A buffer for the records of a stage: the writer's, unless another thread is using the writer, which may wait for the device.
    pub(crate) fn lend_buffer(&self) -> Vec<u8> {
        self.writer.try_lock().map_or_else(|_| Vec::new(), |mut writer| writer.lend_buffer())
    }

    /// Returns such a buffer.
    pub(crate) fn return_buffer(&self, room: Vec<u8>) {
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.return_buffer(room);
        }
    }

    /// Takes a copy of the bytes of a new array, and returns their checksum. Threads write large arrays at the same time: the writer only
    /// gives each its region.
    pub(crate) fn write_array(&self, cell: &Cell<'_>, data: &[u8]) -> Result<u32> {
        let log = &self.storage.log;
        if data.len() < DIRECT {
            let mut writer = self.writer();
            let sum = writer.gather_new(cell, data, log)?;
            self.gathered.store(true, Ordering::Release);
            return Ok(sum);
        }
        let sums = Sums::of(data);
        let region = self.writer().reserve(data.len() as u64, log)?;
        if let Err(error) = region.write(self.storage.data.folder(), data) {
            self.writer().free(&region);
            return Err(error);
        }
        let extent = region.extent(sums);
        let sum = extent.sum();
        let begun = {
            let mut writer = self.writer();
            let begun = writer.gather_filled(cell, &region, extent, log)?;
            self.gathered.store(true, Ordering::Release);
            begun
        };
        if let Some(begun) = begun {
            begun.begin_sync();
        }
        Ok(sum)
    }

    /// Makes everything durable and visible that was gathered before. Other threads go on gathering while this one waits for the device.
    pub(crate) fn flush_gathered(&self) -> Result<()> {
        let _one_at_a_time = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        let log = &self.storage.log;
        let flush = self.writer().begin_flush()?;
        flush.sync_data().inspect_err(|_| self.writer().fail())?;
        let flushed = {
            let mut writer = self.writer();
            let flushed = writer.append_flushed(&flush, log)?;
            self.gathered.store(writer.has_gathered(), Ordering::Release);
            flushed
        };
        if flushed.needs_sync {
            log.sync().inspect_err(|_| self.writer().fail())?;
        }
        self.writer().end_flush(&flushed, log);
        Ok(())
    }

    /// Appends what this handle has gathered to the log, which makes it visible to everyone.
    pub(crate) fn publish(&self) -> Result<()> {
        if !self.gathered.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut writer = self.writer();
        match writer.publish(&self.storage.log) {
            // This handle will never write what it gathered. It can still read.
            Err(Error::Poisoned { .. }) => writer.abandon(),
            outcome => outcome?,
        }
        self.gathered.store(false, Ordering::Release);
        Ok(())
    }

    /// The state at the current end of the log.
    pub(crate) fn state(&self) -> Result<StateGuard<'_>> {
        self.publish()?;
        let length = self.storage.log.length()?;
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if state.as_ref().is_some_and(|state| state.is_fresh(length)) {
            return Ok(StateGuard(state));
        }
        drop(state);
        loop {
            self.replay(|_| ())?;
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            // A replay of another thread may have failed in between and dropped it.
            if state.is_some() {
                return Ok(StateGuard(state));
            }
        }
    }

    /// Replays the tail of the log and passes the state to `look`.
    pub(crate) fn replay<T>(&self, look: impl FnOnce(&mut State) -> T) -> Result<T> {
        // A run only saves work. A failure that keeps this handle from reading shows below.
        let _ = self.renew_if_due(READER_INTERVALS.saturating_mul(self.storage.options.checkpoint));
        self.follow(look)
    }

    /// As [`replay`](Self::replay), but makes no runs first: a purge may overtake the frame that is waited for if this takes long.
    pub(crate) fn follow<T>(&self, look: impl FnOnce(&mut State) -> T) -> Result<T> {
        let mut guard = self.state_to_change();
        let state = match guard.as_mut() {
            Some(state) => state,
            None => guard.insert(State::open(&self.storage, self.own, &[])?),
        };
        if let Err(error) = self.catch_up(state) {
            if state.is_spoilt {
                *guard = None;
            }
            return Err(match error {
                // A destroyed container keeps its log while it is open, and no segments.
                Error::Corrupt { .. } if self.check_current().is_err() => self.destroyed(),
                other => other,
            });
        }
        Ok(look(state))
    }

    /// Takes a copy of the state of another handle, if it is the one at the end of this handle's log: the log is not replayed a second time.
    /// What keeps the other handle from reading shows when this one reads.
    pub(crate) fn begin_with_state_of(&self, other: &Self) -> Result<()> {
        let end = self.storage.log.length()?;
        if let Ok(copied) = other.follow(|state| state.copied(end, self.own)) {
            *self.state_to_change() = copied;
        }
        Ok(())
    }

    fn catch_up(&self, state: &mut State) -> Result<()> {
        loop {
            match state.replay(&self.storage) {
                // What was to be read next is gone, and the new runs contain it.
                Err(Error::Corrupt { .. }) if state.is_purged(&self.storage)? => self.reopen(state)?,
                outcome => return outcome,
            }
        }
    }

    /// Replaces a state whose runs were purged by one at the newest runs.
    fn reopen(&self, state: &mut State) -> Result<()> {
        let mut new = State::open(&self.storage, self.own, &[])?;
        self.storage.data.close();
        // Runs do not contain verdicts. The log does, where it still exists.
        let reach = self.storage.log.position_of(new.covered(&self.storage)).unwrap_or(0);
        let _ = state.replay_up_to(&self.storage, reach);
        new.verdicts.take_over(&mut state.verdicts);
        *state = new;
        Ok(())
    }

    /// Calls `look`, and calls it again if bytes were missing or wrong and a purge may have moved them meanwhile.
    pub(crate) fn retry_after_purge<T>(&self, mut look: impl FnMut() -> Result<T>) -> Result<T> {
        let (mut has_manifest, mut is_second) = (false, false);
        loop {
            let error = match look() {
                Err(error @ Error::Corrupt { .. }) => error,
                outcome => return outcome,
            };
            let mut guard = self.state_to_change();
            match guard.as_mut() {
                Some(state) if state.is_purged(&self.storage)? => self.reopen(state)?,
                // Another thread may have noticed the purge first.
                Some(state) if !has_manifest && state.has_manifest() => {}
                // What was looked up was replaced meanwhile, and its file was removed before there was space for a manifest.
                Some(_) if !is_second => is_second = true,
                _ => {
                    drop(guard);
                    return Err(self.explain_missing(error));
                }
            }
            has_manifest = true;
        }
    }

    fn state_to_change(&self) -> RwLockWriteGuard<'_, Option<State>> {
        self.state.write().unwrap_or_else(|poisoned| {
            // A replay that panicked may have applied half a frame: build a new state.
            let mut guard = poisoned.into_inner();
            *guard = None;
            self.state.clear_poison();
            guard
        })
    }

    /// Called before a conditional frame is appended. The result is dropped when the verdict is taken.
    pub(crate) fn await_verdict(&self) -> Awaited<'_> {
        self.awaited.fetch_add(1, Ordering::AcqRel);
        Awaited(&self.awaited)
    }

    /// Makes runs if the log has grown past them and no other thread does.
    pub(crate) fn checkpoint_if_due(&self) -> Result<()> {
        self.renew_if_due(self.storage.options.checkpoint)
    }

    /// Once the log has grown by `after`: makes runs if none reach that far, and replaces the state if the runs reach much further than
    /// those of the state. Other threads continue to read.
    fn renew_if_due(&self, after: u64) -> Result<()> {
        let is_due = |end: u64| end >= self.renewed.load(Ordering::Acquire).saturating_add(after);
        let end = self.storage.log.epoch_at(self.storage.log.length()?);
        if !is_due(end) {
            return Ok(());
        }
        let _renewing = match self.renewing.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(()),
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        if !is_due(end) {
            return Ok(());
        }
        let mut reach = chain::reach(&self.storage)?;
        let mut runs = Vec::new();
        // Whatever the outcome, the next attempt waits for as much log again.
        self.renewed.store(end, Ordering::Release);
        if end < reach.saturating_add(after) {
            self.renewed.store(reach, Ordering::Release);
        } else if self.storage.log.is_writable() {
            runs = checkpoint::make(&self.storage, |spans, most| self.state_for_run(spans, most))?;
            reach = runs.last().map_or(reach, |run| run.span().to);
        }
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let covered = state.as_ref().map(|state| state.covered(&self.storage));
        drop(state);
        match covered {
            Some(covered) if reach >= covered + self.storage.options.checkpoint / 2 => {
                self.begin_at_runs(covered, &runs)
            }
            _ => Ok(()),
        }
    }

    /// A copy of this handle's state, if a run can begin with it: the log need not be replayed again.
    fn state_for_run(&self, spans: &[Span], most: u64) -> Result<Option<State>> {
        // A replay that panicked may have left half a frame in the state.
        let Ok(guard) = self.state.read() else { return Ok(None) };
        guard.as_ref().map_or(Ok(None), |state| state.copied_for_run(&self.storage, spans, most))
    }

    /// Replaces this handle's state, whose runs reach `covered`, by one that begins at the newest runs.
    fn begin_at_runs(&self, covered: u64, known: &[Arc<Run>]) -> Result<()> {
        let mut new = State::open(&self.storage, self.own, known)?;
        if new.covered(&self.storage) <= covered {
            // The runs that seemed to reach further are damaged.
            return Ok(());
        }
        new.replay(&self.storage)?;
        let mut guard = self.state_to_change();
        let Some(old) = guard.as_mut() else { return Ok(()) };
        // Runs do not contain verdicts. Nobody may wait for one that the old state has not reached. A frame that is appended from now on is
        // behind these runs.
        let reach = self.storage.log.position_of(new.covered(&self.storage));
        if self.awaited.load(Ordering::Acquire) > 0 && reach > Some(old.position) {
            return Ok(());
        }
        // The state must not go back for any thread.
        new.replay(&self.storage)?;
        new.verdicts.take_over(&mut old.verdicts);
        if !new.has_manifest_of(old) {
            self.storage.data.close();
        }
        *guard = Some(new);
        Ok(())
    }

    pub(crate) fn destroyed(&self) -> Error {
        Error::not_found(format!(
            "container {}: it was destroyed while this handle was open, and",
            self.label
        ))
    }

    /// Returns an error if the container was destroyed.
    pub(crate) fn check_current(&self) -> Result<()> {
        match self.storage.log.is_current()? {
            true => Ok(()),
            false => Err(self.destroyed()),
        }
    }
}

/// A state that exists.
pub(crate) struct StateGuard<'c>(RwLockReadGuard<'c, Option<State>>);

impl StateGuard<'_> {
    pub(crate) fn get(&self) -> Result<&State> {
        // `state` has just replayed it, and nothing removes it.
        self.0.as_ref().ok_or_else(|| Error::corrupt("no state after replaying", "memory"))
    }
}

#[cfg(test)]
mod tests {
    use isotach_object::{Container, ObjectClass, ObjectId, ObjectType, Update};

    use super::*;
    use crate::testing::Fixture;

    fn cell() -> Cell<'static> {
        Cell::kv(ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1), b"key")
    }

    fn put(handle: &PosixContainer, value: &[u8]) -> u64 {
        handle.update(&[Update::Put { cell: cell(), value }]).unwrap();
        handle.flush().unwrap();
        handle.epoch().unwrap().0
    }

    #[test]
    fn a_run_is_the_same_whether_its_state_was_copied_or_replayed() {
        let fixture = Fixture::new("?sync=no&checkpoint=1000000");
        let handle = fixture.handle();
        for number in 0..50_u64 {
            let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, number % 7);
            handle
                .update(&[Update::Put { cell: Cell::kv(object, &number.to_le_bytes()), value: b"v" }])
                .unwrap();
            handle.update(&[Update::Remove { cell: Cell::kv(object, &(number / 2).to_le_bytes()) }]).unwrap();
        }
        handle.flush().unwrap();
        handle.get_many(&[cell()]).unwrap();
        let mut storage = fixture.pool.open_storage(&fixture.path()).unwrap();
        storage.options.checkpoint = 256;
        let bytes_of = |made: Result<Vec<Arc<Run>>>| {
            let [run] = &made.unwrap()[..] else { panic!("one run") };
            let path = fixture.path().join(run.span().file_name());
            let bytes = std::fs::read(&path).unwrap();
            std::fs::remove_file(path).unwrap();
            (run.span(), bytes)
        };
        let copied = checkpoint::make(&storage, |spans, most| {
            let copied = handle.state_for_run(spans, most)?;
            assert!(copied.is_some(), "there is a state to copy");
            Ok(copied)
        });
        assert!(bytes_of(copied) == bytes_of(checkpoint::make(&storage, |_, _| Ok(None))));
        assert!(handle.state_for_run(&[], 10).unwrap().is_none(), "that is more log than the run may have");
        let other = Span { from: 0, to: 200, tag: 0 };
        assert!(handle.state_for_run(&[other], u64::MAX).unwrap().is_none(), "others have made a run");
    }

    #[test]
    fn a_copy_of_a_state_is_that_of_its_epoch_and_stays_so() {
        let fixture = Fixture::new("?sync=no");
        let handle = fixture.handle();
        let epochs = [put(&handle, b"one"), put(&handle, b"two")];
        let handles = epochs.map(|epoch| {
            let storage = handle.storage.at(epoch).unwrap();
            let past = PosixContainer::new(fixture.label.clone(), storage).unwrap();
            past.begin_with_state_of(&handle).unwrap();
            past
        });
        assert!(handles[0].state.read().unwrap().is_none(), "this state was not there any more");
        assert!(handles[1].state.read().unwrap().is_some());
        put(&handle, b"three");
        for (past, value) in handles.iter().zip([b"one", b"two"]) {
            assert_eq!(past.get_many(&[cell()]).unwrap(), [Some(value.to_vec())]);
        }
    }
}
