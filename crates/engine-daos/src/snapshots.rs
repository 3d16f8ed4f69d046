//! Snapshots: DAOS identifies them by epochs, and the container's own map has their names.

use std::{cell::Cell, sync::Arc};

use isotach_daos_abi::errors::DER_NONEXIST;
use isotach_engine_kit::context::Context;
use isotach_object::{Epoch, Error, Label, Result, Snapshot};

use crate::{
    commit::in_transaction,
    failure::InStep,
    ffi::{AkeyUpdate, Der, Object, Operation, Tx, Update},
    keys::{ONLY, SNAPSHOT},
    read::consistent_read,
    space::{Space, number},
};

fn key(name: &Label) -> Vec<u8> {
    [SNAPSHOT, name.as_str().as_bytes()].concat()
}

fn epoch_of(stored: &[u8]) -> Option<u64> {
    stored.get(..8).and_then(number)
}

/// Creates a snapshot of the present state with a name.
pub(crate) fn create(space: &Space, name: &Label) -> Result<Epoch> {
    let what = || format!("create snapshot {name} of container {}", space.label);
    let epoch = space.cont.create_snapshot().context(what)?;
    let is_committing = Cell::new(false);
    match enter(space, name, epoch, &is_committing) {
        Ok(()) => Ok(Epoch(epoch)),
        Err(error) => after_failure(space, name, epoch, error, is_committing.get()),
    }
}

/// Cleans up after a failure to enter a name. The commit may have failed and still count, so the snapshot of an entered name stays.
fn after_failure(
    space: &Space,
    name: &Label,
    epoch: u64,
    error: Error,
    is_committing: bool,
) -> Result<Epoch> {
    let is_certain = !is_committing || error.is_refusal();
    match find(space, name) {
        Ok(entered) if entered == epoch => Ok(Epoch(epoch)),
        // Where the outcome is uncertain the commit of the name may still count.
        _ if is_certain => {
            // No name refers to this epoch, so a failure to destroy it costs only space.
            let _ = space.cont.destroy_snapshot(epoch);
            Err(error)
        }
        _ => Err(error),
    }
}

/// Enters an unused name. `is_committing` is set when the commit begins; before that nothing was entered.
fn enter(space: &Space, name: &Label, epoch: u64, is_committing: &Cell<bool>) -> Result<()> {
    let what = || format!("snapshot {name} of container {}", space.label);
    let own = space.own().context(what)?;
    in_transaction(space, |tx| {
        is_committing.set(false);
        if stored(&own, Some(tx), name).in_step(what)?.is_some() {
            return Err(Error::AlreadyExists { what: what() }.into());
        }
        let value = AkeyUpdate::Value { akey: ONLY.into(), bytes: epoch.to_le_bytes().to_vec().into() };
        Update::new(&own, Some(tx), key(name), vec![value]).run().in_step(what)?;
        is_committing.set(true);
        Ok(())
    })
    .map(drop)
}

/// The epoch of a name.
fn stored(own: &Arc<Object>, tx: Option<&Tx>, name: &Label) -> Result<Option<u64>, Der> {
    Ok(own.value(tx, &key(name), ONLY)?.as_deref().and_then(epoch_of))
}

/// All named snapshots, oldest first.
pub(crate) fn list(space: &Space, past: Option<&Tx>) -> Result<Vec<Snapshot>> {
    let what = || format!("list the snapshots of container {}", space.label);
    let own = space.own().context(what)?;
    let mut all = consistent_read(space, past, 2, |tx| {
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

/// Removes a snapshot.
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
        // Another process has removed it.
        Err(Der(DER_NONEXIST)) => Ok(()),
        outcome => {
            let what = format!("destroy {}, whose name is removed", what());
            outcome.context(|| what.clone()).map_err(|error| error.after_decision(what))
        }
    }
}
