//! Mounts of the file system by whole paths: those of `dfs_mount` and `dfs_connect`. Flags about caching change nothing, since nothing is cached.

use std::ffi::{c_char, c_int};

use super::{
    Bytes, Handle, In, InOut, Mounted, Out, Text, done,
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
    dfs::Errno,
    export::second_name,
};

/// Mounts, unless a flag is unknown.
fn with_flags(flags: c_int, mount: impl FnOnce() -> c_int) -> c_int {
    if flags & !(DFS_SYS_NO_CACHE | DFS_SYS_NO_LOCK) == 0 { mount() } else { libc::EINVAL }
}

#[unsafe(no_mangle)]
extern "C" fn dfs_sys_connect(
    pool: Text,
    named: *const c_char,
    container: Text,
    flags: c_int,
    own_flags: c_int,
    attributes: In<dfs_attr_t>,
    mounted: Out<Mounted>,
) -> c_int {
    with_flags(own_flags, || dfs_connect(pool, named, container, flags, attributes, mounted))
}

#[unsafe(no_mangle)]
extern "C" fn dfs_sys_mount(
    pool: Handle,
    container: Handle,
    flags: c_int,
    own_flags: c_int,
    mounted: Out<Mounted>,
) -> c_int {
    with_flags(own_flags, || dfs_mount(pool, container, flags, mounted))
}

#[unsafe(no_mangle)]
extern "C" fn dfs_sys_global2local(
    pool: Handle,
    container: Handle,
    flags: c_int,
    own_flags: c_int,
    global: Bytes,
    mounted: Out<Mounted>,
) -> c_int {
    with_flags(own_flags, || dfs_global2local(pool, container, flags, global, mounted))
}

#[unsafe(no_mangle)]
extern "C" fn dfs_sys_global2local_all(
    flags: c_int,
    own_flags: c_int,
    global: Bytes,
    mounted: Out<Mounted>,
) -> c_int {
    with_flags(own_flags, || dfs_global2local_all(flags, global, mounted))
}

second_name! { dfs_sys_disconnect = dfs_disconnect(mounted: Mounted) }

second_name! { dfs_sys_umount = dfs_umount(mounted: Mounted) }

second_name! { dfs_sys_set_prefix = dfs_set_prefix(mounted: Mounted, prefix: Text) }

second_name! { dfs_sys_local2global = dfs_local2global(mounted: Mounted, global: InOut<d_iov_t>) }

second_name! { dfs_sys_local2global_all = dfs_local2global_all(mounted: Mounted, global: InOut<d_iov_t>) }

/// The mount of the other functions, which is the same.
#[unsafe(no_mangle)]
extern "C" fn dfs_sys2base(mounted: Mounted, base: Out<Mounted>) -> c_int {
    done(|| {
        system(mounted)?;
        base.fill(|| Ok::<_, Errno>(mounted))
    })
}
