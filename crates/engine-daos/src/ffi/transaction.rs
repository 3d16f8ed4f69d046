//! Transactions, and views of the past.

use std::{ptr, sync::Arc};

use isotach_daos_abi::{constants::DAOS_TF_RDONLY, types::daos_handle_t};

use super::{Cont, Der};

/// A transaction, or a past state at an epoch. A drop before the commit aborts it.
#[derive(Debug)]
pub(crate) struct Tx {
    container: Arc<Cont>,
    pub(super) handle: daos_handle_t,
}

impl Tx {
    /// Begins a transaction.
    pub(crate) fn begin(container: &Arc<Cont>) -> Result<Self, Der> {
        Self::open(container, 0)
    }

    /// Begins a read-only transaction, with all reads at one epoch.
    pub(crate) fn of_reads(container: &Arc<Cont>) -> Result<Self, Der> {
        Self::open(container, DAOS_TF_RDONLY)
    }

    fn open(container: &Arc<Cont>, flags: u64) -> Result<Self, Der> {
        let mut handle = daos_handle_t::default();
        let open = container.functions().tx_open;
        // SAFETY: a place for the handle, alive for the call.
        container.check(unsafe { open(container.handle, &mut handle, flags, ptr::null_mut()) })?;
        Ok(Self { container: Arc::clone(container), handle })
    }

    /// The state at an epoch.
    pub(crate) fn at(container: &Arc<Cont>, epoch: u64) -> Result<Self, Der> {
        let mut handle = daos_handle_t::default();
        let open = container.functions().tx_open_snap;
        // SAFETY: a place for the handle, alive for the call.
        container.check(unsafe { open(container.handle, epoch, &mut handle, ptr::null_mut()) })?;
        Ok(Self { container: Arc::clone(container), handle })
    }

    /// Commits all its changes.
    pub(crate) fn commit(&self) -> Result<(), Der> {
        // SAFETY: a handle that is open.
        self.container.check(unsafe { (self.container.functions().tx_commit)(self.handle, ptr::null_mut()) })
    }

    /// Restarts after `DER_TX_RESTART`, after a short wait.
    pub(crate) fn restart(&self) -> Result<(), Der> {
        // SAFETY: a handle that is open.
        self.container.check(unsafe { (self.container.functions().tx_restart)(self.handle, ptr::null_mut()) })
    }

    /// The epoch of its reads or, after the commit, of its changes.
    pub(crate) fn epoch(&self) -> Result<u64, Der> {
        let mut epoch = 0;
        let hdl2epoch = self.container.functions().tx_hdl2epoch;
        // SAFETY: a place for the answer, alive for the call.
        self.container.check(unsafe { hdl2epoch(self.handle, &mut epoch) })?;
        Ok(epoch)
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        if self.container.is_of_this_process() {
            // SAFETY: a handle that is open; nothing of it is under way, since its operations are waited for.
            unsafe { (self.container.functions().tx_close)(self.handle, ptr::null_mut()) };
        }
    }
}

/// The handle of a transaction, or the null handle.
pub(super) fn handle_of(tx: Option<&Tx>) -> daos_handle_t {
    tx.map_or(daos_handle_t { cookie: 0 }, |tx| tx.handle)
}
