//! What a handle on a container holds, and how it keeps up with the log.
//!
//! Writing is blind: updates are gathered into a frame, and nothing is read. A read first publishes what its
//! handle has gathered, and then replays the tail, so a handle sees its own updates, in the log's order,
//! like everyone else's. A handle that only writes never builds the state.

use std::sync::{Arc, PoisonError, TryLockError, atomic::Ordering};

use isotach_engine_kit::random;
use isotach_object::{Error, Label, Result};

use crate::{
    index::{chain, checkpoint, run::Run, state::State},
    io::storage::Storage,
    sync::{
        AtomicBool, AtomicU64, AtomicUsize, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    },
    transaction::writer::Writer,
};

/// How many intervals the log grows before a handle that reads sees to runs: those who write do so after one, and a reader
/// has to only where they are gone.
const READER_WAITS: u64 = 4;

/// An open container.
#[derive(Debug)]
pub(crate) struct PosixContainer {
    pub(crate) label: Label,
    pub(crate) storage: Storage,
    /// This handle's number in the frames it writes.
    pub(crate) own: u64,
    writer: Mutex<Writer>,
    /// Whether the writer holds something that is not in the log yet.
    pub(crate) gathered: AtomicBool,
    state: RwLock<Option<State>>,
    /// Conditional frames of this handle whose verdict somebody still waits for.
    awaited: AtomicUsize,
    /// Held by the thread that sees to runs.
    renewing: Mutex<()>,
    /// The epoch at which this handle last saw to runs, or up to which it then found them.
    renewed: AtomicU64,
}

/// As long as it lives, the state goes nowhere without the verdict on a frame appended meanwhile.
pub(crate) struct Awaited<'c>(&'c AtomicUsize);

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl PosixContainer {
    pub(crate) fn new(label: Label, storage: Storage) -> Result<Self> {
        let own = random::number()?;
        let writer = Mutex::new(Writer::new(&storage, own));
        let (gathered, state) = (AtomicBool::new(false), RwLock::new(None));
        let (awaited, renewing, renewed) = (AtomicUsize::new(0), Mutex::new(()), AtomicU64::new(0));
        Ok(Self { label, storage, own, writer, gathered, state, awaited, renewing, renewed })
    }

    pub(crate) fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for the records of a stage: the writer's, unless another thread is at it, which may wait for the device.
    pub(crate) fn lend_room(&self) -> Vec<u8> {
        self.writer.try_lock().map_or_else(|_| Vec::new(), |mut writer| writer.lend_room())
    }

    /// Takes such room back.
    pub(crate) fn take_back_room(&self, room: Vec<u8>) {
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.take_back_room(room);
        }
    }

    /// Puts what this handle has gathered into the log, so that everyone can see it.
    pub(crate) fn publish(&self) -> Result<()> {
        if !self.gathered.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut writer = self.writer();
        match writer.publish(&self.storage.log) {
            // This handle will never write what it gathered, and reads on without.
            Err(Error::Poisoned { .. }) => writer.abandon(),
            outcome => outcome?,
        }
        self.gathered.store(false, Ordering::Release);
        Ok(())
    }

    /// The state as of now.
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

    /// Replays the tail, and then lets `look` see the state.
    pub(crate) fn replay<T>(&self, look: impl FnOnce(&mut State) -> T) -> Result<T> {
        // A run is a help, never a need: what keeps this handle from reading shows below.
        let _ = self.renew_if_due(READER_WAITS.saturating_mul(self.storage.options.checkpoint));
        self.follow(look)
    }

    /// As [`replay`](Self::replay), and makes no runs before: the longer it takes, the sooner a purge passes over what is
    /// looked for.
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
                // A destroyed container has its log as long as it is open, and no segments.
                Error::Corrupt { .. } if self.check_current().is_err() => self.destroyed(),
                other => other,
            });
        }
        Ok(look(state))
    }

    fn catch_up(&self, state: &mut State) -> Result<()> {
        loop {
            match state.replay(&self.storage) {
                // What it was to read next is gone, and the new runs say what it was.
                Err(Error::Corrupt { .. }) if state.is_purged(&self.storage)? => self.begin_again(state)?,
                outcome => return outcome,
            }
        }
    }

    /// Puts a state at the newest runs in the place of one whose runs were purged.
    fn begin_again(&self, state: &mut State) -> Result<()> {
        let mut new = State::open(&self.storage, self.own, &[])?;
        self.storage.data.close();
        // Of a frame that the runs hold they do not tell the verdict; the log does, where it is not gone yet.
        let reach = self.storage.log.position_of(new.covered(&self.storage)).unwrap_or(0);
        let _ = state.replay_up_to(&self.storage, reach);
        new.verdicts.take_over(&mut state.verdicts);
        *state = new;
        Ok(())
    }

    /// Looks, and looks again where bytes were missing or wrong: if there was a purge meanwhile, they may be elsewhere now.
    pub(crate) fn look_again<T>(&self, mut look: impl FnMut() -> Result<T>) -> Result<T> {
        let (mut has_floor, mut has_grown) = (false, false);
        loop {
            let length = self.storage.log.length()?;
            let error = match look() {
                Err(error @ Error::Corrupt { .. }) => error,
                outcome => return outcome,
            };
            let mut guard = self.state_to_change();
            match guard.as_mut() {
                Some(state) if state.is_purged(&self.storage)? => self.begin_again(state)?,
                // Another thread may have been first to notice.
                Some(state) if !has_floor && state.has_floor() => {}
                // What was looked for was replaced meanwhile, and went before there was room for a floor.
                Some(_) if !has_grown && self.storage.log.length()? > length => has_grown = true,
                _ => {
                    drop(guard);
                    return Err(self.not_kept(error));
                }
            }
            has_floor = true;
        }
    }

    fn state_to_change(&self) -> RwLockWriteGuard<'_, Option<State>> {
        self.state.write().unwrap_or_else(|poisoned| {
            // A replay that panicked may have applied half a frame: begin again.
            let mut guard = poisoned.into_inner();
            *guard = None;
            self.state.clear_poison();
            guard
        })
    }

    /// Called before a conditional frame is appended, and kept until its verdict is taken.
    pub(crate) fn await_verdict(&self) -> Awaited<'_> {
        self.awaited.fetch_add(1, Ordering::AcqRel);
        Awaited(&self.awaited)
    }

    /// Writes runs if the log has grown past them and nobody else does it.
    pub(crate) fn checkpoint_if_due(&self) -> Result<()> {
        self.renew_if_due(self.storage.options.checkpoint)
    }

    /// Sees to runs when the log has grown by `after`: writes them if there are none up to there, and if they reach much
    /// further than those of the state, puts a state that begins at them in its place. Other threads read on
    /// meanwhile.
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
        // Whatever comes of it, the next attempt waits for as much log again.
        self.renewed.store(end, Ordering::Release);
        if end < reach.saturating_add(after) {
            self.renewed.store(reach, Ordering::Release);
        } else if self.storage.log.is_writable() {
            runs = checkpoint::make(&self.storage)?;
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

    /// Puts a state that begins at the newest runs in the place of this handle's, whose runs reach to `covered`.
    fn begin_at_runs(&self, covered: u64, known: &[Arc<Run>]) -> Result<()> {
        let mut new = State::open(&self.storage, self.own, known)?;
        if new.covered(&self.storage) <= covered {
            // Those that seemed to reach further are damaged.
            return Ok(());
        }
        new.replay(&self.storage)?;
        let mut guard = self.state_to_change();
        let Some(old) = guard.as_mut() else { return Ok(()) };
        // Of a frame that the runs hold they do not tell the verdict. Nobody may wait for one that the old state
        // has not come to; a frame that is appended from now on lies behind these runs.
        let reach = self.storage.log.position_of(new.covered(&self.storage));
        if self.awaited.load(Ordering::Acquire) > 0 && reach > Some(old.position) {
            return Ok(());
        }
        // Nobody sees the state go back.
        new.replay(&self.storage)?;
        new.verdicts.take_over(&mut old.verdicts);
        if !new.has_floor_of(old) {
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

    /// Refuses to go on in a container that was destroyed.
    pub(crate) fn check_current(&self) -> Result<()> {
        match self.storage.log.is_current()? {
            true => Ok(()),
            false => Err(self.destroyed()),
        }
    }
}

/// A state that is there.
pub(crate) struct StateGuard<'c>(RwLockReadGuard<'c, Option<State>>);

impl StateGuard<'_> {
    pub(crate) fn get(&self) -> Result<&State> {
        // `state` has just replayed it, and nothing ever takes it away.
        self.0.as_ref().ok_or_else(|| Error::corrupt("no state after replaying", "memory"))
    }
}
