//! Mounts of the file system by whole paths: those of `dfs_mount` and `dfs_connect`. Flags about caching change nothing, since nothing is cached.

use std::ffi::{c_char, c_int};

use super::{
    Mounted, done,
    mount::{
        dfs_connect, dfs_disconnect, dfs_global2local, dfs_global2local_all, dfs_local2global,
        dfs_local2global_all, dfs_mount, dfs_set_prefix, dfs_umount,
    },
    system,
};
use crate::{
    abi::{
        dfs::{DFS_SYS_NO_CACHE, DFS_SYS_NO_LOCK, dfs_attr_t},
        types::*,
    },
    export::{out, second_name},
};

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_connect(
    pool: *const c_char,
    named: *const c_char,
    container: *const c_char,
    flags: c_int,
    own_flags: c_int,
    attributes: *mut dfs_attr_t,
    mounted: *mut Mounted,
) -> c_int {
    // SAFETY: `dfs_connect` takes what this function was given under the same clauses.
    with_flags(own_flags, || unsafe { dfs_connect(pool, named, container, flags, attributes, mounted) })
}

#[unsafe(no_mangle)]
extern "C" fn dfs_sys_disconnect(mounted: Mounted) -> c_int {
    dfs_disconnect(mounted)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_mount(
    pool: daos_handle_t,
    container: daos_handle_t,
    flags: c_int,
    own_flags: c_int,
    mounted: *mut Mounted,
) -> c_int {
    // SAFETY: `dfs_mount` takes what this function was given under the same clauses.
    with_flags(own_flags, || unsafe { dfs_mount(pool, container, flags, mounted) })
}

#[unsafe(no_mangle)]
extern "C" fn dfs_sys_umount(mounted: Mounted) -> c_int {
    dfs_umount(mounted)
}

second_name! { dfs_sys_set_prefix = dfs_set_prefix(mounted: Mounted, prefix: *const c_char) }

second_name! { dfs_sys_local2global = dfs_local2global(mounted: Mounted, global: *mut d_iov_t) }

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_global2local(
    pool: daos_handle_t,
    container: daos_handle_t,
    flags: c_int,
    own_flags: c_int,
    global: d_iov_t,
    mounted: *mut Mounted,
) -> c_int {
    // SAFETY: `dfs_global2local` takes what this function was given under the same clauses.
    with_flags(own_flags, || unsafe { dfs_global2local(pool, container, flags, global, mounted) })
}

second_name! { dfs_sys_local2global_all = dfs_local2global_all(mounted: Mounted, global: *mut d_iov_t) }

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_global2local_all(
    flags: c_int,
    own_flags: c_int,
    global: d_iov_t,
    mounted: *mut Mounted,
) -> c_int {
    // SAFETY: `dfs_global2local_all` takes what this function was given under the same clauses.
    with_flags(own_flags, || unsafe { dfs_global2local_all(flags, global, mounted) })
}

/// Mounts, unless a flag is unknown.
fn with_flags(flags: c_int, mount: impl FnOnce() -> c_int) -> c_int {
    if flags & !(DFS_SYS_NO_CACHE | DFS_SYS_NO_LOCK) == 0 { mount() } else { libc::EINVAL }
}

/// The mount of the other functions, which is the same.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys2base(mounted: Mounted, base: *mut Mounted) -> c_int {
    done(|| {
        system(mounted)?;
        // SAFETY: OUT for `base`.
        unsafe { out(base) }?.set(mounted);
        Ok(())
    })
}
