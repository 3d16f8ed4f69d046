//! Creating, removing, moving and exchanging entries.

use super::{Mounted, Opened, Out, Text, export, id_of, number, system};
use crate::{
    abi::types::daos_obj_id_t,
    dfs::{self, Result},
};

#[export]
fn dfs_mkdir(mounted: Mounted, parent: Opened, entry: Text, mode: libc::mode_t, class: u32) -> Result<()> {
    dfs::make_directory(&*system(mounted)?, number(parent), entry.name()?, mode, class)
}

#[export]
fn dfs_remove(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    force: bool,
    id: Out<daos_obj_id_t>,
) -> Result<()> {
    id.give(id_of(dfs::remove(&*system(mounted)?, number(parent), entry.name()?, force)?));
    Ok(())
}

#[export]
fn dfs_move(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    new_parent: Opened,
    new_entry: Text,
    id: Out<daos_obj_id_t>,
) -> Result<()> {
    let (old, new) = ((number(parent), entry.name()?), (number(new_parent), new_entry.name()?));
    if let Some(gone) = dfs::rename(&*system(mounted)?, old, new)? {
        id.give(id_of(gone));
    }
    Ok(())
}

#[export]
fn dfs_exchange(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    other_parent: Opened,
    other_entry: Text,
) -> Result<()> {
    let (one, other) = ((number(parent), entry.name()?), (number(other_parent), other_entry.name()?));
    dfs::exchange(&*system(mounted)?, one, other)
}
