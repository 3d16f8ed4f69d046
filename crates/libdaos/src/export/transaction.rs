//! Transactions.

use super::{Event, Handle, Out, export};
use crate::{
    runtime::error::{Result, invalid},
    transactions::{self, Transaction},
};

#[export]
fn daos_tx_open(container: Handle, handle: Out<Handle>, flags: u64, event: Event) -> Result<()> {
    handle.open(|| transactions::open(container.cookie, flags))
}

#[export]
fn daos_tx_open_snap(container: Handle, epoch: u64, handle: Out<Handle>, event: Event) -> Result<()> {
    handle.open(|| transactions::open_at(container.cookie, epoch))
}

#[export]
fn daos_tx_commit(tx: Handle, event: Event) -> Result<()> {
    Transaction::get(tx.cookie)?.commit()
}

#[export]
fn daos_tx_abort(tx: Handle, event: Event) -> Result<()> {
    Transaction::get(tx.cookie)?.abort()
}

#[export]
fn daos_tx_restart(tx: Handle, event: Event) -> Result<()> {
    Transaction::get(tx.cookie)?.restart()
}

#[export]
fn daos_tx_close(tx: Handle, event: Event) -> Result<()> {
    transactions::close(tx.cookie)
}

#[export]
fn daos_tx_hdl2epoch(tx: Handle, epoch: Out<u64>) -> Result<()> {
    match tx.cookie {
        0 => invalid("the epoch of no transaction"),
        tx => epoch.fill(|| Transaction::get(tx)?.epoch()),
    }
}
