//! Creating, removing, moving and exchanging entries.

use std::ffi::{c_char, c_int};

use isotach_object::ObjectId;

use super::{Mounted, Opened, done, name, number, system};
use crate::{abi::types::daos_obj_id_t, dfs, export::out_or_none};

/// Reports the id of the removed object, if requested.
///
/// # Safety
/// OUT for `id`.
unsafe fn tell(gone: Option<ObjectId>, id: *mut daos_obj_id_t) {
    // SAFETY: OUT for `id`.
    if let (Some(gone), Some(id)) = (gone, unsafe { out_or_none(id) }) {
        id.set(daos_obj_id_t { lo: gone.lo(), hi: gone.hi() });
    }
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_mkdir(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    mode: libc::mode_t,
    class: u32,
) -> c_int {
    // SAFETY: STRING for `entry`.
    done(|| dfs::make_directory(&*system(mounted)?, number(parent), unsafe { name(entry) }?, mode, class))
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_remove(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    force: bool,
    id: *mut daos_obj_id_t,
) -> c_int {
    done(|| {
        // SAFETY: STRING for `entry`.
        let gone = dfs::remove(&*system(mounted)?, number(parent), unsafe { name(entry) }?, force)?;
        // SAFETY: OUT for `id`.
        unsafe { tell(Some(gone), id) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_move(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    new_parent: Opened,
    new_entry: *const c_char,
    id: *mut daos_obj_id_t,
) -> c_int {
    done(|| {
        // SAFETY: STRING for `entry` and `new_entry`.
        let (entry, new_entry) = unsafe { (name(entry)?, name(new_entry)?) };
        let gone = dfs::rename(&*system(mounted)?, (number(parent), entry), (number(new_parent), new_entry))?;
        // SAFETY: OUT for `id`.
        unsafe { tell(gone, id) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_exchange(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    other_parent: Opened,
    other_entry: *const c_char,
) -> c_int {
    done(|| {
        // SAFETY: STRING for `entry` and `other_entry`.
        let (entry, other_entry) = unsafe { (name(entry)?, name(other_entry)?) };
        dfs::exchange(&*system(mounted)?, (number(parent), entry), (number(other_parent), other_entry))
    })
}
