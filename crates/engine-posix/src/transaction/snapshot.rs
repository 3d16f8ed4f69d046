//! Snapshots: names of epochs, kept as entries of an object that is the container's own (FORMAT.md section 5.8).
//!
//! Making one is a transaction like any other, and the epoch of its frame is the one that is named. So what reads a snapshot
//! is the state of a log that ends there, and runs carry the names as they carry everything else.

use std::sync::Arc;

use isotach_object::{Cell, Container, Epoch, Error, Label, Precondition, Result, Transaction, Update};

use crate::{
    format::{path, record::SNAPSHOTS},
    handle::PosixContainer,
    index::{state::State, system},
    purge::manifest::Floor,
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
        let transaction = Transaction::new().require(Precondition::Absent(cell));
        let named = self.commit_checked(&transaction.update(Update::Put { cell, value: &[] }));
        named.map_err(|error| match error {
            Error::Conflict { .. } => {
                Error::AlreadyExists { what: format!("snapshot {name} of container {}", self.label) }
            }
            error => error,
        })
    }

    pub(crate) fn forget_name(&self, name: &Label) -> Result<()> {
        let cell = cell(name);
        let transaction = Transaction::new().require(Precondition::Present(cell));
        match self.commit_checked(&transaction.update(Update::Remove { cell })) {
            Err(Error::Conflict { .. }) => Err(self.no_snapshot(name)),
            forgotten => forgotten.map(drop),
        }
    }

    /// The epoch that a snapshot names.
    pub(crate) fn epoch_of(&self, name: &Label) -> Result<Epoch> {
        let mut path = Vec::new();
        path::of_cell(&cell(name), &mut path);
        let state = self.state()?;
        let state = state.get()?;
        match state.find(&path)? {
            Some(_) => state.last_change(&path).map(Epoch),
            None => Err(self.no_snapshot(name)),
        }
    }

    /// What to say of something that is missing. Of a past that no snapshot names any more a purge may have taken it.
    pub(crate) fn not_kept(&self, damage: Error) -> Error {
        match self.storage.log.past() {
            Some(epoch) if matches!(self.is_kept(epoch), Ok(false)) => {
                let what = format!("epoch {epoch} of container {}: no snapshot names it, and", self.label);
                Error::not_found(what)
            }
            _ => damage,
        }
    }

    /// Whether there was no purge yet, or a snapshot names the epoch now.
    fn is_kept(&self, epoch: u64) -> Result<bool> {
        if Floor::current(&self.storage)?.is_none() {
            return Ok(true);
        }
        let present = self.storage.present()?;
        let mut state = State::open(&present, self.own, &[])?;
        state.replay(&present)?;
        Ok(system::snapshots(&state)?.iter().any(|snapshot| snapshot.epoch.0 == epoch))
    }

    /// A handle on the container as it was at an epoch: one whose log ends there.
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
        if Floor::current(&self.storage)?.is_some() {
            // Here it shows whether the epoch is still kept; and the runs that keep it are open from now on.
            drop(past.state()?);
        }
        Ok(Arc::new(past))
    }
}
