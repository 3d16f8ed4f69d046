//! What a handle on a container holds, and how it keeps up with the log.
//!
//! Writing is blind: updates are gathered into a frame, and nothing is read. A read first publishes what its
//! handle has gathered, and then replays the tail, so a handle sees its own updates, in the log's order,
//! like everyone else's. A handle that only writes never builds the state.

use std::sync::{
    Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use isotach_object::{Error, Label, Result};

use crate::{
    SCHEME, checkpoint, random,
    state::{Place, State},
    writer::Writer,
};

/// An open container.
#[derive(Debug)]
pub(crate) struct PosixContainer {
    pub(crate) label: Label,
    pub(crate) place: Place,
    /// This handle's number in the frames it writes.
    pub(crate) own: u64,
    writer: Mutex<Writer>,
    /// Whether the writer holds something that is not in the log yet.
    pub(crate) gathered: AtomicBool,
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

    pub(crate) fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what this handle has gathered into the log, so that everyone can see it.
    pub(crate) fn publish(&self) -> Result<()> {
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
    pub(crate) fn state(&self) -> Result<StateGuard<'_>> {
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
    pub(crate) fn replay<T>(&self, look: impl FnOnce(&mut State) -> T) -> Result<T> {
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

    /// Writes a checkpoint if the log has grown far past the last one and no reader of this handle does it.
    pub(crate) fn checkpoint_if_due(&self) -> Result<()> {
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

    pub(crate) fn destroyed(&self) -> Error {
        Error::not_found(format!(
            "container {}: it was destroyed while this handle was open, and",
            self.label
        ))
    }

    /// Refuses to go on in a container that was destroyed.
    pub(crate) fn check_current(&self) -> Result<()> {
        match self.place.log.is_current()? {
            true => Ok(()),
            false => Err(self.destroyed()),
        }
    }

    pub(crate) fn refuse_snapshots<T>(&self) -> Result<T> {
        Err(Error::Unsupported { engine: SCHEME, what: "snapshots".to_owned() })
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
