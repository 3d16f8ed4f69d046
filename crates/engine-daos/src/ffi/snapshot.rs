//! Snapshots, and the objects of a snapshot.

use std::{ptr, sync::Arc};

use isotach_daos_abi::{
    constants::{DAOS_ANCHOR_TYPE_EOF, DAOS_SNAP_OPT_CR, DAOS_SNAP_OPT_OIT},
    types::{daos_anchor_t, daos_epoch_range_t, daos_handle_t, daos_obj_id_t},
};

use super::{Cont, Der};

/// The ids in one page.
const AT_ONCE: usize = 1000;

impl Cont {
    /// Creates a snapshot of the present state with an object table. Returns its epoch.
    pub(crate) fn create_snapshot(&self) -> Result<u64, Der> {
        let (create, options) = (self.functions().cont_create_snap_opt, DAOS_SNAP_OPT_CR | DAOS_SNAP_OPT_OIT);
        let mut epoch = 0;
        // SAFETY: a place for the answer, alive for the call; no name is given.
        self.check(unsafe { create(self.handle, &mut epoch, ptr::null_mut(), options, ptr::null_mut()) })?;
        Ok(epoch)
    }

    /// Destroys a snapshot.
    pub(crate) fn destroy_snapshot(&self, epoch: u64) -> Result<(), Der> {
        let range = daos_epoch_range_t { epr_lo: epoch, epr_hi: epoch };
        // SAFETY: numbers.
        self.check(unsafe { (self.functions().cont_destroy_snap)(self.handle, range, ptr::null_mut()) })
    }

    /// The objects of a snapshot, by the halves of their ids.
    pub(crate) fn objects_at(self: &Arc<Self>, epoch: u64) -> Result<Vec<(u64, u64)>, Der> {
        let mut handle = daos_handle_t::default();
        let functions = self.functions();
        // SAFETY: a place for the handle, alive for the call.
        self.check(unsafe { (functions.oit_open)(self.handle, epoch, &mut handle, ptr::null_mut()) })?;
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
