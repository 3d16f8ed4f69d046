//! Snapshots: names of epochs, kept as entries of an object that is the container's own (FORMAT.md section 5.8).
//!
//! Making one is a transaction like any other, and the epoch of its frame is the one that is named. So what reads a snapshot
//! is the state of a log that ends there, and runs carry the names as they carry everything else.

use std::sync::Arc;

use isotach_object::{
    Cell, Container, Epoch, Error, Label, ObjectClass, ObjectId, ObjectType, Precondition, Result, Snapshot,
    Transaction, Update,
};

use crate::{
    format::path,
    handle::PosixContainer,
    index::{merge::Merge, state::State},
    purge::manifest::Floor,
};

/// The object whose entries are the snapshots' names. Their values are empty.
pub(crate) const NAMES: ObjectId = ObjectId::new(ObjectType::System, ObjectClass::S1, 0, 0);

fn cell(name: &Label) -> Cell<'_> {
    Cell::kv(NAMES, name.as_str().as_bytes())
}

/// All snapshots, oldest first.
pub(crate) fn all(state: &State) -> Result<Vec<Snapshot>> {
    let prefix = path::of_object(NAMES);
    let mut snapshots = Vec::new();
    let mut merge = Merge::of_state(state, &prefix)?;
    while let Some((path, kept)) = merge.next()? {
        let Some(name) = path.strip_prefix(&prefix) else { break };
        if kept.is_live()? {
            let label = str::from_utf8(name).ok().and_then(|name| name.parse::<Label>().ok());
            let damaged = || Error::corrupt("the name of a snapshot", format!("{:?}", name.escape_ascii()));
            snapshots.push(Snapshot { name: label.ok_or_else(damaged)?, epoch: Epoch(kept.epoch()) });
        }
    }
    snapshots.sort_by_key(|snapshot| snapshot.epoch);
    Ok(snapshots)
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
        match self.place.log.past() {
            Some(epoch) if matches!(self.is_kept(epoch), Ok(false)) => {
                let what = format!("epoch {epoch} of container {}: no snapshot names it, and", self.label);
                Error::not_found(what)
            }
            _ => damage,
        }
    }

    /// Whether there was no purge yet, or a snapshot names the epoch now.
    fn is_kept(&self, epoch: u64) -> Result<bool> {
        if Floor::current(&self.place)?.is_none() {
            return Ok(true);
        }
        let present = self.place.present()?;
        let mut state = State::open(&present, self.own, &[])?;
        state.replay(&present)?;
        Ok(all(&state)?.iter().any(|snapshot| snapshot.epoch.0 == epoch))
    }

    /// A handle on the container as it was at an epoch: one whose log ends there.
    pub(crate) fn past(&self, epoch: Epoch) -> Result<Arc<dyn Container>> {
        let now = self.epoch()?;
        if epoch > now {
            let first = self.place.log.epoch_at(0);
            let what = format!("epoch {epoch} of container {} (kept are {first} to {now})", self.label);
            return Err(Error::not_found(what));
        }
        let place = self.place.at(epoch.0).map_err(|error| match self.check_current() {
            Ok(()) => error,
            Err(_) => self.destroyed(),
        })?;
        let past = Self::new(self.label.clone(), place)?;
        if Floor::current(&self.place)?.is_some() {
            // Here it shows whether the epoch is still kept; and the runs that keep it are open from now on.
            drop(past.state()?);
        }
        Ok(Arc::new(past))
    }
}
