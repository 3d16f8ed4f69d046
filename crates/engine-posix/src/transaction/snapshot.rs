//! Snapshots: named epochs, stored as entries of a system object (FORMAT.md section 5.8).
//!
//! Creating one is an ordinary transaction, and the epoch of its frame is the snapshot's. So a snapshot shows the state of a log that ends
//! there, and runs contain the names like all other entries.

use std::sync::Arc;

use isotach_object::{Cell, Container, Epoch, Error, Label, Precondition, Result, Update};

use crate::{
    format::{path, record::SNAPSHOTS},
    handle::PosixContainer,
    index::{state::State, system},
    purge::manifest::PurgeManifest,
};

fn cell(name: &Label) -> Cell<'_> {
    Cell::kv(SNAPSHOTS, name.as_str().as_bytes())
}

impl PosixContainer {
    fn no_snapshot(&self, name: &Label) -> Error {
        Error::not_found(format!("snapshot {name} of container {}", self.label))
    }

    pub(crate) fn name_present(&self, name: &Label) -> Result<Epoch> {
        let cell = cell(name);
        self.update_if(Precondition::Absent(cell), Update::Put { cell, value: &[] }, || {
            Error::AlreadyExists { what: format!("snapshot {name} of container {}", self.label) }
        })
    }

    pub(crate) fn forget_name(&self, name: &Label) -> Result<()> {
        let cell = cell(name);
        let remove = Update::Remove { cell };
        self.update_if(Precondition::Present(cell), remove, || self.no_snapshot(name)).map(drop)
    }

    /// The epoch that a snapshot names.
    pub(crate) fn epoch_of(&self, name: &Label) -> Result<Epoch> {
        let path = path::of(&cell(name));
        let state = self.state()?;
        let state = state.get()?;
        match state.find(&path)? {
            Some(_) => state.last_change(&path).map(Epoch),
            None => Err(self.no_snapshot(name)),
        }
    }

    /// The error for missing data. A purge may have removed a past that no snapshot names any more.
    pub(crate) fn explain_missing(&self, damage: Error) -> Error {
        match self.storage.log.past() {
            Some(epoch) if matches!(self.is_retained(epoch), Ok(false)) => {
                let what = format!("epoch {epoch} of container {}: no snapshot names it, and", self.label);
                Error::not_found(what)
            }
            _ => damage,
        }
    }

    /// Whether there was no purge yet, or a snapshot names the epoch now.
    fn is_retained(&self, epoch: u64) -> Result<bool> {
        if PurgeManifest::current(&self.storage)?.is_none() {
            return Ok(true);
        }
        let present = self.storage.present()?;
        let mut state = State::open(&present, self.own, &[])?;
        state.replay(&present)?;
        Ok(system::snapshots(&state)?.iter().any(|snapshot| snapshot.epoch.0 == epoch))
    }

    /// A handle on the container at an epoch: its log ends there.
    pub(crate) fn past(&self, epoch: Epoch) -> Result<Arc<dyn Container>> {
        let now = self.epoch()?;
        if epoch > now {
            let first = self.storage.log.epoch_at(0);
            let what = format!("epoch {epoch} of container {} (kept are {first} to {now})", self.label);
            return Err(Error::not_found(what));
        }
        let storage = self.storage.at(epoch.0).map_err(|error| match self.check_current() {
            Ok(()) => error,
            Err(_) => self.destroyed(),
        })?;
        let past = Self::new(self.label.clone(), storage)?;
        if PurgeManifest::current(&self.storage)?.is_some() {
            // This fails if the epoch is not retained. Otherwise its runs are open from now on.
            drop(past.state()?);
        } else if epoch == now {
            past.begin_with_state_of(self)?;
        }
        Ok(Arc::new(past))
    }
}
