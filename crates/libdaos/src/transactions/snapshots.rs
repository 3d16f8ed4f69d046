//! Snapshots.
//!
//! DAOS identifies a snapshot by its epoch, which is a time; an engine by its name. So the name that this library gives contains the epoch.

use std::sync::Arc;

use isotach_object::{Container as Handle, Epoch, Error, Label};

use crate::{
    abi::{constants::DAOS_EPOCH_MAX, errors::*},
    containers::{Container, flush_committed},
    runtime::error::{Der, Result, invalid, refuse, uncertain, uncertain_unless_refused},
    transactions::epochs,
};

/// The prefix of a snapshot's name. Behind it is the epoch in 20 digits, and the name that the program gave, if any.
const PREFIX: &str = "daos.";
/// How many times the creation of a snapshot is tried.
const ATTEMPTS_MAX: u64 = 100;

/// A listed snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) epoch: u64,
    pub(crate) label: Label,
    /// The state that it shows.
    pub(crate) state: Epoch,
}

/// All snapshots of a container that this library created, oldest first.
pub(crate) fn list(container: &Container) -> Result<Vec<Snapshot>> {
    let mut all = Vec::new();
    for snapshot in container.inner.snapshots()?.list()? {
        let digits = snapshot.name.as_str().strip_prefix(PREFIX).and_then(|rest| rest.get(..20));
        if let Some(epoch) = digits.and_then(|digits| digits.parse().ok()) {
            all.push(Snapshot { epoch, label: snapshot.name, state: snapshot.epoch });
        }
    }
    all.sort_by_key(|snapshot| snapshot.epoch);
    Ok(all)
}

/// See `daos_cont_create_snap`: gives the epoch, which is later than that of every snapshot before.
pub(crate) fn create(container: u64, name: Option<&str>) -> Result<u64> {
    let container = Container::get(container)?;
    container.check_writable()?;
    let name = name.map(|name| format!(".{name}")).unwrap_or_default();
    for attempt in 0..ATTEMPTS_MAX {
        let last = list(&container)?.last().map_or(0, |last| last.epoch);
        let make =
            |epoch| container.inner.snapshots()?.create(&format!("{PREFIX}{epoch:020}{name}").parse()?);
        // Flushed only afterwards, so that fewer epochs are handed out while it is created.
        let made = epochs::snapshot(&container, last.saturating_add(attempt), make)
            .and_then(|made| flush_committed(&*container.inner).map(|()| made));
        match made {
            Ok((epoch, is_latest)) => {
                if keep(&container, epoch, is_latest, &name).map_err(|error| uncertain(&error))? {
                    return Ok(epoch);
                }
            }
            Err(Error::AlreadyExists { .. }) => {}
            Err(error) => return Err(uncertain_unless_refused(error)),
        }
    }
    refuse(DER_AGAIN, "conflicts with others for too long")
}

/// Destroys a snapshot that was just created if it is out of order; the program does not know its epoch yet. Returns whether it stays.
fn keep(container: &Container, epoch: u64, is_latest: bool, name: &str) -> Result<bool> {
    let stays = is_latest && is_in_order(&list(container)?, epoch);
    if !stays {
        destroy_labelled(container, &format!("{PREFIX}{epoch:020}{name}").parse()?)?;
    }
    Ok(stays)
}

/// Whether no snapshot with a later epoch shows an earlier state than the one with this epoch. Another process may have taken a later epoch and
/// still created its snapshot first; the process that creates second then finds the other snapshot.
fn is_in_order(all: &[Snapshot], epoch: u64) -> bool {
    let state = all.iter().find(|snapshot| snapshot.epoch == epoch).map(|snapshot| snapshot.state);
    all.iter().filter(|other| other.epoch > epoch).all(|other| state.is_none_or(|state| state <= other.state))
}

/// Destroys the snapshot with a label.
fn destroy_labelled(container: &Container, label: &Label) -> Result<()> {
    match container.inner.snapshots()?.destroy(label) {
        // Another process has destroyed it.
        Err(Error::NotFound { .. }) => Ok(()),
        destroyed => {
            let flushed = destroyed.and_then(|()| flush_committed(&*container.inner));
            flushed.map_err(uncertain_unless_refused)
        }
    }
}

/// See `daos_cont_destroy_snap`.
pub(crate) fn destroy(container: u64, low: u64, high: u64) -> Result<()> {
    let container = Container::get(container)?;
    container.check_writable()?;
    if low > high || (low != high && low != 0 && high != DAOS_EPOCH_MAX) {
        return invalid("a range of snapshots: one epoch, from 0 on, or up to the highest is expected");
    }
    let found: Vec<Snapshot> =
        list(&container)?.into_iter().filter(|snapshot| (low..=high).contains(&snapshot.epoch)).collect();
    if found.is_empty() && low == high {
        return Err(Der(DER_NONEXIST));
    }
    for (destroyed, snapshot) in found.iter().enumerate() {
        // After the first the call has taken effect in part.
        destroy_labelled(&container, &snapshot.label)
            .map_err(|error| if destroyed == 0 { error } else { uncertain(&error) })?;
    }
    Ok(())
}

/// The state that the snapshot with this epoch shows.
pub(crate) fn open(container: &Container, epoch: u64) -> Result<Arc<dyn Handle>> {
    let found = list(container)?.into_iter().find(|snapshot| snapshot.epoch == epoch);
    Ok(container.inner.snapshots()?.open(&found.ok_or(Der(DER_NONEXIST))?.label)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_out_of_order_if_a_later_epoch_shows_an_earlier_state() {
        let all: Vec<Snapshot> = [(10, 1), (20, 5), (30, 3), (40, 5)]
            .map(|(epoch, state)| Snapshot { epoch, label: "s".parse().unwrap(), state: Epoch(state) })
            .into();
        assert_eq!([10, 20, 30, 40].map(|epoch| is_in_order(&all, epoch)), [true, false, true, true]);
    }
}
