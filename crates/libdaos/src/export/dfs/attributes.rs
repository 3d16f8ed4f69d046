//! Reading and changing the attributes of `stat`.

use std::ffi::c_int;

use super::{InOut, Mounted, Opened, Out, Text, as_c, both, export, number, system};
use crate::{
    abi::dfs::*,
    dfs::{self, AttributeChange, Errno, FileSystem, Node, Result, Time},
};

#[export]
fn dfs_stat(mounted: Mounted, parent: Opened, entry: Text, stat: Out<libc::stat>) -> Result<()> {
    let find = || dfs::stat(&*system(mounted)?, number(parent), entry.bytes_or_none());
    stat.fill(|| Ok(as_c(&find()?)))
}

#[export]
fn dfs_ostat(mounted: Mounted, opened: Opened, stat: Out<libc::stat>) -> Result<()> {
    let (_, node) = both(mounted, opened)?;
    stat.fill(|| Ok(as_c(&dfs::stat_of(&node)?)))
}

#[export]
fn dfs_access(mounted: Mounted, parent: Opened, entry: Text, mask: c_int) -> Result<()> {
    dfs::access(&*system(mounted)?, number(parent), entry.bytes_or_none(), mask)
}

#[export]
fn dfs_chmod(mounted: Mounted, parent: Opened, entry: Text, mode: libc::mode_t) -> Result<()> {
    dfs::chmod(&*system(mounted)?, number(parent), entry.bytes_or_none(), mode)
}

#[export]
fn dfs_chown(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    user: libc::uid_t,
    group: libc::gid_t,
    flags: c_int,
) -> Result<()> {
    let owner = owner(user, group);
    dfs::chown(&*system(mounted)?, number(parent), entry.bytes_or_none(), owner, flags)
}

/// A new owner and group. The highest number leaves one as it is.
pub(super) fn owner(user: libc::uid_t, group: libc::gid_t) -> (Option<u32>, Option<u32>) {
    let given = |number: u32| (number != u32::MAX).then_some(number);
    (given(user), given(group))
}

#[export]
fn dfs_osetattr(mounted: Mounted, opened: Opened, stat: InOut<libc::stat>, flags: c_int) -> Result<()> {
    let (system, node) = both(mounted, opened)?;
    set(&system, &node, stat, flags)
}

/// Sets attributes of an open entry. The time of the last access is not stored, so setting it does nothing.
pub(super) fn set(system: &FileSystem, node: &Node, stat: InOut<libc::stat>, flags: c_int) -> Result<()> {
    let stat = stat.get()?;
    let known = DFS_SET_ATTR_MODE
        | DFS_SET_ATTR_ATIME
        | DFS_SET_ATTR_MTIME
        | DFS_SET_ATTR_SIZE
        | DFS_SET_ATTR_UID
        | DFS_SET_ATTR_GID;
    let size = u64::try_from(stat.st_size);
    if flags & !known != 0 || flags & DFS_SET_ATTR_SIZE != 0 && size.is_err() {
        return Err(Errno(libc::EINVAL));
    }
    let has = |flag: c_int| flags & flag != 0;
    let modified = Time { seconds: stat.st_mtime as u64, nanoseconds: stat.st_mtime_nsec as u64 };
    let change = AttributeChange {
        mode: has(DFS_SET_ATTR_MODE).then_some(stat.st_mode),
        modified: has(DFS_SET_ATTR_MTIME).then_some(modified),
        user: has(DFS_SET_ATTR_UID).then_some(stat.st_uid),
        group: has(DFS_SET_ATTR_GID).then_some(stat.st_gid),
        size: size.ok().filter(|_| has(DFS_SET_ATTR_SIZE)),
    };
    *stat = as_c(&dfs::change(system, node, &change)?);
    Ok(())
}
