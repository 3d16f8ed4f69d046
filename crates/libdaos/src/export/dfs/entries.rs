//! Creating, removing, moving and exchanging entries.

use std::ffi::c_int;

use super::{Mounted, Opened, Out, Text, done, id_of, number, system};
use crate::{abi::types::daos_obj_id_t, dfs};

#[unsafe(no_mangle)]
extern "C" fn dfs_mkdir(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    mode: libc::mode_t,
    class: u32,
) -> c_int {
    done(|| dfs::make_directory(&*system(mounted)?, number(parent), entry.name()?, mode, class))
}

#[unsafe(no_mangle)]
extern "C" fn dfs_remove(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    force: bool,
    id: Out<daos_obj_id_t>,
) -> c_int {
    done(|| {
        id.give(id_of(dfs::remove(&*system(mounted)?, number(parent), entry.name()?, force)?));
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn dfs_move(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    new_parent: Opened,
    new_entry: Text,
    id: Out<daos_obj_id_t>,
) -> c_int {
    done(|| {
        let (old, new) = ((number(parent), entry.name()?), (number(new_parent), new_entry.name()?));
        if let Some(gone) = dfs::rename(&*system(mounted)?, old, new)? {
            id.give(id_of(gone));
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn dfs_exchange(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    other_parent: Opened,
    other_entry: Text,
) -> c_int {
    done(|| {
        let (one, other) = ((number(parent), entry.name()?), (number(other_parent), other_entry.name()?));
        dfs::exchange(&*system(mounted)?, one, other)
    })
}
