//! Reading and changing the attributes of `stat`.

use std::ffi::{c_char, c_int};

use super::{Mounted, Opened, as_c, both, done, name_or_none, number, system};
use crate::{
    abi::dfs::*,
    dfs::{self, AttributeChange, Errno, Time},
    export::{out, place},
};

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_stat(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    stat: *mut libc::stat,
) -> c_int {
    done(|| {
        // SAFETY: STRING for `entry`, OUT for `stat`.
        let (entry, stat) = unsafe { (name_or_none(entry), out(stat)?) };
        stat.set(as_c(&dfs::stat(&*system(mounted)?, number(parent), entry)?));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_access(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    mask: c_int,
) -> c_int {
    // SAFETY: STRING for `entry`.
    done(|| dfs::access(&*system(mounted)?, number(parent), unsafe { name_or_none(entry) }, mask))
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_chmod(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    mode: libc::mode_t,
) -> c_int {
    // SAFETY: STRING for `entry`.
    done(|| dfs::chmod(&*system(mounted)?, number(parent), unsafe { name_or_none(entry) }, mode))
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_chown(
    mounted: Mounted,
    parent: Opened,
    entry: *const c_char,
    user: libc::uid_t,
    group: libc::gid_t,
    flags: c_int,
) -> c_int {
    let given = |number: u32| (number != u32::MAX).then_some(number);
    let owner = (given(user), given(group));
    // SAFETY: STRING for `entry`.
    done(|| dfs::chown(&*system(mounted)?, number(parent), unsafe { name_or_none(entry) }, owner, flags))
}

/// The time of the last access is not stored, so setting it does nothing.
#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_osetattr(
    mounted: Mounted,
    opened: Opened,
    stat: *mut libc::stat,
    flags: c_int,
) -> c_int {
    done(|| {
        let (system, node) = both(mounted, opened)?;
        // SAFETY: STRUCT for `stat`.
        let stat = unsafe { place(stat) }?;
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
        *stat = as_c(&dfs::change(&system, &node, &change)?);
        Ok(())
    })
}
