//! Transactions, views of the past, snapshots, and the objects of a snapshot.

use std::{ptr, sync::Arc};

use isotach_daos_abi::{
    constants::{DAOS_ANCHOR_TYPE_EOF, DAOS_SNAP_OPT_CR, DAOS_SNAP_OPT_OIT, DAOS_TF_RDONLY},
    types::{daos_anchor_t, daos_epoch_range_t, daos_handle_t, daos_obj_id_t},
};

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
        let open = container.functions().tx_open;
        // SAFETY: a place for the handle, alive for the call.
        let handle =
            container.ask(|handle| unsafe { open(container.handle, handle, flags, ptr::null_mut()) })?;
        Ok(Self { container: Arc::clone(container), handle })
    }

    /// The state at an epoch.
    pub(crate) fn at(container: &Arc<Cont>, epoch: u64) -> Result<Self, Der> {
        let open = container.functions().tx_open_snap;
        // SAFETY: a place for the handle, alive for the call.
        let handle =
            container.ask(|handle| unsafe { open(container.handle, epoch, handle, ptr::null_mut()) })?;
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
        let hdl2epoch = self.container.functions().tx_hdl2epoch;
        // SAFETY: a place for the answer, alive for the call.
        self.container.ask(|epoch| unsafe { hdl2epoch(self.handle, epoch) })
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

/// The ids in one page.
const AT_ONCE: usize = 1000;

impl Cont {
    /// Creates a snapshot of the present state with an object table. Returns its epoch.
    pub(crate) fn create_snapshot(&self) -> Result<u64, Der> {
        let (create, options) = (self.functions().cont_create_snap_opt, DAOS_SNAP_OPT_CR | DAOS_SNAP_OPT_OIT);
        // SAFETY: a place for the answer, alive for the call; no name is given.
        self.ask(|epoch| unsafe { create(self.handle, epoch, ptr::null_mut(), options, ptr::null_mut()) })
    }

    /// Destroys a snapshot.
    pub(crate) fn destroy_snapshot(&self, epoch: u64) -> Result<(), Der> {
        let range = daos_epoch_range_t { epr_lo: epoch, epr_hi: epoch };
        // SAFETY: numbers.
        self.check(unsafe { (self.functions().cont_destroy_snap)(self.handle, range, ptr::null_mut()) })
    }

    /// The objects of a snapshot, by the halves of their ids.
    pub(crate) fn objects_at(self: &Arc<Self>, epoch: u64) -> Result<Vec<(u64, u64)>, Der> {
        let functions = self.functions();
        // SAFETY: a place for the handle, alive for the call.
        let handle =
            self.ask(|handle| unsafe { (functions.oit_open)(self.handle, epoch, handle, ptr::null_mut()) })?;
        let listed = self.list_table(handle);
        // SAFETY: opened above, and not used after this.
        self.check(unsafe { (functions.oit_close)(handle, ptr::null_mut()) })?;
        listed
    }

    fn list_table(&self, table: daos_handle_t) -> Result<Vec<(u64, u64)>, Der> {
        let (mut all, mut anchor) = (Vec::new(), daos_anchor_t::default());
        while anchor.da_type != DAOS_ANCHOR_TYPE_EOF {
            let mut found = [daos_obj_id_t::default(); AT_ONCE];
            let mut count = AT_ONCE as u32;
            let list = self.functions().oit_list;
            // SAFETY: space for as many ids as the number says, and an anchor, alive for the call.
            self.check(unsafe { list(table, found.as_mut_ptr(), &mut count, &mut anchor, ptr::null_mut()) })?;
            all.extend(found.iter().take(count as usize).map(|id| (id.hi, id.lo)));
        }
        Ok(all)
    }
}
