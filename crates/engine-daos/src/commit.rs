//! Transactions: checks preconditions and makes changes at one epoch, and restarts if DAOS asks for it.

use isotach_daos_abi::errors::{DER_TX_RESTART, DER_UNINIT};
use isotach_engine_kit::context::Context;
use isotach_object::{Cell, Epoch, Error, Precondition, Result};

use crate::{
    apply,
    changes::{CellChange, Changes},
    failure::{InStep, Step, Stop, failed},
    ffi::{Der, Tx},
    read, snapshots,
    space::Space,
};

/// How long DAOS is sure to keep replaced and removed data, in its units of time, before it merges states without a snapshot. A fraction of
/// the 10 s and more in its sources.
const KEPT: u64 = 8 * 16 * 1_000_000_000;
/// The number of attempts of a transaction. DAOS waits before each, longer each time.
const ATTEMPTS_MAX: u32 = 200;

/// Makes changes at one epoch if the preconditions hold there.
pub(crate) fn commit(space: &Space, preconditions: &[Precondition<'_>], changes: &Changes) -> Result<Epoch> {
    if preconditions.is_empty() && changes.is_empty() {
        return space.epoch().map(Epoch);
    }
    let committed = in_transaction(space, |tx| {
        for precondition in preconditions {
            if !holds(space, tx, precondition)? {
                return Err(precondition.conflict().into());
            }
        }
        apply::changes(space, tx, changes)
    })?;
    match committed.epoch() {
        // The changes had no effect, so the transaction has no epoch.
        Err(Der(DER_UNINIT)) => space.epoch().map(Epoch),
        result => {
            let what = format!("ask for the epoch of a commit to container {}", space.label);
            result.context(|| what.clone()).map(Epoch).map_err(|error| error.after_decision(what))
        }
    }
}

/// Changes one cell by several calls of DAOS.
pub(crate) fn one_cell(space: &Space, cell: &Cell<'_>, change: &CellChange) -> Result<()> {
    in_transaction(space, |tx| apply::one(space, tx, cell, change)).map(drop)
}

/// Whether the state at an epoch without a snapshot still exists.
pub(crate) fn is_recent(epoch: Epoch, now: Epoch) -> bool {
    now.0.saturating_sub(epoch.0) < KEPT
}

/// Runs steps in a transaction and commits it.
pub(crate) fn in_transaction(space: &Space, act: impl Fn(&Tx) -> Step<()>) -> Result<Tx> {
    let what = || format!("commit to container {}", space.label);
    let tx = Tx::begin(&space.cont).context(what)?;
    for _ in 0..ATTEMPTS_MAX {
        match act(&tx).and_then(|()| tx.commit().in_step(what)) {
            Ok(()) => return Ok(tx),
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Restart) => tx.restart().context(what)?,
        }
    }
    Err(failed(Der(DER_TX_RESTART), &format!("{}, {ATTEMPTS_MAX} times", what())))
}

fn holds(space: &Space, in_tx: &Tx, precondition: &Precondition<'_>) -> Step<bool> {
    let tx = Some(in_tx);
    Ok(match precondition {
        Precondition::Absent(cell) => read::size(space, tx, cell)?.is_none(),
        Precondition::Present(cell) => read::size(space, tx, cell)?.is_some(),
        Precondition::Equals(cell, expected) => read::value(space, tx, cell)?.as_deref() == Some(*expected),
        Precondition::Unchanged(cell, epoch) => {
            let size = read::size(space, tx, cell)?;
            // Nothing was there before anything was, and nothing comes after the present.
            if epoch.0 == 0 {
                return Ok(size.is_none());
            }
            let now = in_tx.epoch().in_step(|| format!("ask for the epoch of container {}", space.label))?;
            if epoch.0 >= now {
                return Ok(true);
            }
            // The state may have changed and been merged. Snapshots are never merged.
            let is_kept =
                || snapshots::list(space, None).map(|kept| kept.iter().any(|kept| kept.epoch == *epoch));
            if !is_recent(*epoch, Epoch(now)) && !is_kept()? {
                return Ok(false);
            }
            let then = Tx::at(&space.cont, epoch.0);
            let then = then.in_step(|| format!("look at epoch {epoch} of container {}", space.label))?;
            match read::same(space, tx, Some(&then), cell) {
                // What is kept of the past has become less: it may have changed.
                Err(Stop::Failed(Error::NotFound { .. })) => false,
                outcome => outcome?,
            }
        }
    })
}
