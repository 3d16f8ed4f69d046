//! Transactions.

use std::{ffi::c_int, ptr};

use super::{answer, answer_handle, out};
use crate::{
    abi::types::*,
    runtime::error::{Result, invalid},
    transactions::{self, Transaction},
};

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_tx_open(
    container: daos_handle_t,
    handle: *mut daos_handle_t,
    flags: u64,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: OUT for `handle`.
    unsafe { answer_handle(event, handle, || transactions::open(container.cookie, flags)) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_tx_open_snap(
    container: daos_handle_t,
    epoch: u64,
    handle: *mut daos_handle_t,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: OUT for `handle`.
    unsafe { answer_handle(event, handle, || transactions::open_at(container.cookie, epoch)) }
}

/// Runs an operation on a transaction.
fn with(
    handle: daos_handle_t,
    event: *mut daos_event_t,
    act: impl FnOnce(&Transaction) -> Result<()>,
) -> c_int {
    answer(event, || act(&*Transaction::get(handle.cookie)?))
}

#[unsafe(no_mangle)]
extern "C" fn daos_tx_commit(transaction: daos_handle_t, event: *mut daos_event_t) -> c_int {
    with(transaction, event, Transaction::commit)
}

#[unsafe(no_mangle)]
extern "C" fn daos_tx_abort(transaction: daos_handle_t, event: *mut daos_event_t) -> c_int {
    with(transaction, event, Transaction::abort)
}

#[unsafe(no_mangle)]
extern "C" fn daos_tx_restart(transaction: daos_handle_t, event: *mut daos_event_t) -> c_int {
    with(transaction, event, Transaction::restart)
}

#[unsafe(no_mangle)]
extern "C" fn daos_tx_close(transaction: daos_handle_t, event: *mut daos_event_t) -> c_int {
    answer(event, || transactions::close(transaction.cookie))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_tx_hdl2epoch(transaction: daos_handle_t, epoch: *mut u64) -> c_int {
    answer(ptr::null_mut(), || {
        if transaction.cookie == 0 {
            return invalid("the epoch of no transaction");
        }
        // SAFETY: OUT for `epoch`.
        let epoch = unsafe { out(epoch) }?;
        epoch.set(Transaction::get(transaction.cookie)?.epoch()?);
        Ok(())
    })
}
