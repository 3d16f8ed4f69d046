//! Transactions.

use std::ffi::c_int;

use super::{Event, Handle, Out, answer, done};
use crate::{
    runtime::error::{Result, invalid},
    transactions::{self, Transaction},
};

#[unsafe(no_mangle)]
extern "C" fn daos_tx_open(container: Handle, handle: Out<Handle>, flags: u64, event: Event) -> c_int {
    answer(event, || handle.open(|| transactions::open(container.cookie, flags)))
}

#[unsafe(no_mangle)]
extern "C" fn daos_tx_open_snap(container: Handle, epoch: u64, handle: Out<Handle>, event: Event) -> c_int {
    answer(event, || handle.open(|| transactions::open_at(container.cookie, epoch)))
}

/// Runs an operation on a transaction.
fn on(event: Event, tx: Handle, act: impl FnOnce(&Transaction) -> Result<()>) -> c_int {
    answer(event, || act(&*Transaction::get(tx.cookie)?))
}

#[unsafe(no_mangle)]
extern "C" fn daos_tx_commit(tx: Handle, event: Event) -> c_int {
    on(event, tx, Transaction::commit)
}

#[unsafe(no_mangle)]
extern "C" fn daos_tx_abort(tx: Handle, event: Event) -> c_int {
    on(event, tx, Transaction::abort)
}

#[unsafe(no_mangle)]
extern "C" fn daos_tx_restart(tx: Handle, event: Event) -> c_int {
    on(event, tx, Transaction::restart)
}

#[unsafe(no_mangle)]
extern "C" fn daos_tx_close(tx: Handle, event: Event) -> c_int {
    answer(event, || transactions::close(tx.cookie))
}

#[unsafe(no_mangle)]
extern "C" fn daos_tx_hdl2epoch(tx: Handle, epoch: Out<u64>) -> c_int {
    done(|| match tx.cookie {
        0 => invalid("the epoch of no transaction"),
        tx => epoch.fill(|| Transaction::get(tx)?.epoch()),
    })
}
