//! Snapshots: DAOS knows them by their epochs, the container's own map by their names.

use std::{cell::Cell, sync::Arc};

use isotach_daos_abi::errors::DER_NONEXIST;
use isotach_engine_kit::context::Context;
use isotach_object::{Epoch, Error, Label, Result, Snapshot};

use crate::{
    commit::in_transaction,
    failure::InStep,
    ffi::{Der, Object, Operation, Part, Tx, Update},
    keys::{ONLY, SNAPSHOT},
    read::of_one_state,
    space::{Space, number},
};

fn key(name: &Label) -> Vec<u8> {
    [SNAPSHOT, name.as_str().as_bytes()].concat()
}

fn epoch_of(stored: &[u8]) -> Option<u64> {
    stored.get(..8).and_then(number)
}

/// Keeps the present under a name.
pub(crate) fn create(space: &Space, name: &Label) -> Result<Epoch> {
    let what = || format!("create snapshot {name} of container {}", space.label);
    let epoch = space.cont.create_snapshot().context(what)?;
    match enter(space, name, epoch) {
        Ok(()) => Ok(Epoch(epoch)),
        Err(error) => after_failure(space, name, epoch, error),
    }
}

/// Settles what a failed entry of a name left. A commit may fail and count all the same: the state of a name that was entered stays.
fn after_failure(space: &Space, name: &Label, epoch: u64, error: Error) -> Result<Epoch> {
    match find(space, name) {
        Ok(entered) if entered == epoch => Ok(Epoch(epoch)),
        // Only an error of I/O leaves open whether the name will be there.
        Ok(_) | Err(Error::NotFound { .. }) if !matches!(error, Error::Io { .. }) => {
            // No name leads to this epoch, so a failure to destroy it costs space and nothing else.
            let _ = space.cont.destroy_snapshot(epoch);
            Err(error)
        }
        _ => Err(error),
    }
}

/// Enters a name that nothing has.
fn enter(space: &Space, name: &Label, epoch: u64) -> Result<()> {
    let what = || format!("snapshot {name} of container {}", space.label);
    let own = space.own().context(what)?;
    in_transaction(space, |tx| {
        if stored(&own, Some(tx), name).in_step(what)?.is_some() {
            return Err(Error::AlreadyExists { what: what() }.into());
        }
        let value = Part::Value { akey: ONLY.into(), bytes: epoch.to_le_bytes().to_vec().into() };
        Update::new(&own, Some(tx), key(name), vec![value]).run().in_step(what)
    })
    .map(drop)
}

/// The epoch of a name.
fn stored(own: &Arc<Object>, tx: Option<&Tx>, name: &Label) -> Result<Option<u64>, Der> {
    Ok(own.value(tx, &key(name), ONLY)?.as_deref().and_then(epoch_of))
}

/// All snapshots with names, oldest first.
pub(crate) fn list(space: &Space, past: Option<&Tx>) -> Result<Vec<Snapshot>> {
    let what = || format!("list the snapshots of container {}", space.label);
    let own = space.own().context(what)?;
    let mut all = of_one_state(space, past, 2, |tx| {
        let (mut all, mut anchor) = (Vec::new(), Some(Vec::new()));
        while let Some(from) = anchor {
            let found = own.keys(tx, None, &from, usize::MAX).in_step(what)?;
            for key in &found.keys {
                let Some(name) = key.strip_prefix(SNAPSHOT) else { continue };
                let stored = own.value(tx, key, ONLY).in_step(what)?;
                let parts = stored
                    .as_deref()
                    .and_then(epoch_of)
                    .zip(str::from_utf8(name).ok().and_then(|name| name.parse().ok()));
                all.extend(parts.map(|(epoch, name)| Snapshot { name, epoch: Epoch(epoch) }));
            }
            anchor = found.next;
        }
        Ok(all)
    })?;
    all.sort_by_key(|snapshot| snapshot.epoch);
    Ok(all)
}

/// The epoch of a snapshot.
pub(crate) fn find(space: &Space, name: &Label) -> Result<u64> {
    let what = || format!("snapshot {name} of container {}", space.label);
    let found = space.own().and_then(|own| stored(&own, None, name)).context(what)?;
    found.ok_or_else(|| Error::not_found(what()))
}

/// Forgets a snapshot.
pub(crate) fn destroy(space: &Space, name: &Label) -> Result<()> {
    let what = || format!("snapshot {name} of container {}", space.label);
    let own = space.own().context(what)?;
    let found = Cell::new(0);
    // While it has a name it has a state, and the name that goes is that of the state that goes.
    in_transaction(space, |tx| {
        let epoch = stored(&own, Some(tx), name).in_step(what)?;
        found.set(epoch.ok_or_else(|| Error::not_found(what()))?);
        own.punch_dkey(Some(tx), &key(name)).in_step(what)
    })?;
    match space.cont.destroy_snapshot(found.get()) {
        // Another was faster.
        Err(Der(DER_NONEXIST)) => Ok(()),
        outcome => outcome.context(|| format!("destroy {}", what())),
    }
}
