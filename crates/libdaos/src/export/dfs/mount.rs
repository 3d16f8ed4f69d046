//! Mounts and containers of file systems, and mounts of the file system by whole paths (`dfs_sys_mount` and so on), which are the same. Flags
//! about caching change nothing, since nothing is cached.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use super::{Bytes, Event, Handle, In, InOut, Mounted, Out, Text, export, number, pointer, system};
use crate::{
    abi::{dfs::*, types::*},
    containers::{self, properties::Properties},
    dfs::{self, Attributes, Errno, Owned, Result, refuse},
};

#[export]
fn dfs_init() -> Result<()> {
    dfs::init()
}

#[export]
fn dfs_fini() -> Result<()> {
    dfs::fini()
}

#[export]
fn dfs_mount(pool: Handle, container: Handle, flags: c_int, mounted: Out<Mounted>) -> Result<()> {
    mounted.open_node(|| dfs::mount(pool.cookie, container.cookie, flags, Owned::Nothing))
}

#[export(dfs_sys_umount)]
fn dfs_umount(mounted: Mounted) -> Result<()> {
    dfs::unmount(number(mounted), false)
}

/// A program's attributes for a new file system.
fn wanted(given: In<dfs_attr_t>) -> Result<(Properties, Attributes)> {
    let Some(given) = given.or_none() else { return Ok(Default::default()) };
    // SAFETY: STRUCT for the attributes by the type of the parameter, and so for `da_props`.
    let properties = unsafe { InOut::new(given.da_props) }.taken()?;
    let or = |class: u32| if class == 0 { given.da_oclass_id } else { class };
    let hints = given.da_hints.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0);
    let attributes = Attributes {
        chunk_size: given.da_chunk_size,
        class: given.da_oclass_id,
        directory_class: or(given.da_dir_oclass_id),
        file_class: or(given.da_file_oclass_id),
        mode: given.da_mode & DFS_BALANCED,
        hints: hints.collect(),
    };
    Ok((properties, attributes))
}

#[export]
fn dfs_cont_create_with_label(
    pool: Handle,
    label: Text,
    attributes: In<dfs_attr_t>,
    uuid: Out<uuid_t>,
    container: Out<Handle>,
    mounted: Out<Mounted>,
) -> Result<()> {
    create(pool, Some(label.text()?), attributes, uuid, container, mounted)
}

#[export]
fn dfs_cont_create(
    pool: Handle,
    uuid: Out<uuid_t>,
    attributes: In<dfs_attr_t>,
    container: Out<Handle>,
    mounted: Out<Mounted>,
) -> Result<()> {
    match uuid.is_null() {
        true => refuse(libc::EINVAL, "no place for the UUID, which is the only name of such a container"),
        false => create(pool, None, attributes, uuid, container, mounted),
    }
}

/// Creates a container. Leaves it open or mounted for a caller that wants the handle or the mount.
pub(in crate::export) fn create(
    pool: Handle,
    label: Option<&str>,
    attributes: In<dfs_attr_t>,
    uuid: Out<uuid_t>,
    container: Out<Handle>,
    mounted: Out<Mounted>,
) -> Result<()> {
    let (properties, attributes) = wanted(attributes)?;
    let (made, handle) = dfs::create_container(pool.cookie, label, properties, &attributes)?;
    let (is_open, is_mounted) = (!container.is_null(), !mounted.is_null());
    if is_mounted {
        let owned = if is_open { Owned::Nothing } else { Owned::Container };
        let flags = libc::O_RDWR | attributes.mode.cast_signed();
        let outcome = dfs::mount(pool.cookie, handle, flags, owned);
        let outcome = outcome.inspect_err(|_| dfs::discard_container(pool.cookie, (made, handle)));
        mounted.give(pointer(outcome?));
    }
    container.give(Handle { cookie: handle });
    if !is_open && !is_mounted {
        containers::close(handle)?;
    }
    uuid.give(made);
    Ok(())
}

#[export]
fn dfs_connect(
    pool: Text,
    _system: *const c_char,
    container: Text,
    flags: c_int,
    attributes: In<dfs_attr_t>,
    mounted: Out<Mounted>,
) -> Result<()> {
    let (pool, container, mounted) = (pool.text()?, container.text()?, mounted.place()?);
    let (properties, attributes) = wanted(attributes)?;
    mounted.set(pointer(dfs::connect(pool, container, flags, properties, &attributes)?));
    Ok(())
}

#[export(dfs_sys_disconnect)]
fn dfs_disconnect(mounted: Mounted) -> Result<()> {
    dfs::disconnect(number(mounted))
}

#[export]
fn dfs_destroy(
    pool: Text,
    _system: *const c_char,
    container: Text,
    force: c_int,
    event: Event,
) -> Result<()> {
    dfs::destroy(pool.text()?, container.text()?, force != 0)
}

#[export]
fn dfs_query(mounted: Mounted, info: Out<dfs_attr_t>) -> Result<()> {
    let (system, info) = (system(mounted)?, info.place()?);
    let found = &system.attributes;
    let mut said = dfs_attr_t {
        da_id: 0,
        da_chunk_size: found.chunk_size,
        da_oclass_id: found.class,
        da_props: ptr::null_mut(),
        da_mode: found.mode,
        da_dir_oclass_id: found.directory_class,
        da_file_oclass_id: found.file_class,
        da_hints: [0; DAOS_CONT_HINT_MAX_LEN],
    };
    let capacity = DAOS_CONT_HINT_MAX_LEN - 1;
    said.da_hints
        .iter_mut()
        .zip(found.hints.iter().take(capacity))
        .for_each(|(to, from)| *to = *from as c_char);
    info.set(said);
    Ok(())
}

#[export(dfs_sys_set_prefix)]
fn dfs_set_prefix(mounted: Mounted, prefix: Text) -> Result<()> {
    system(mounted)?.set_prefix(prefix.bytes_or_none())
}

/// Does nothing: each change counts for everyone when its function returns.
#[export]
fn dfs_sync(mounted: Mounted) -> Result<()> {
    system(mounted)?.check_writable()
}

#[export]
fn dfs_pool_get(mounted: Mounted, pool: Out<Handle>) -> Result<()> {
    pool.open(|| Ok(system(mounted)?.hold(0)))
}

#[export]
fn dfs_pool_put(mounted: Mounted, pool: Handle) -> Result<()> {
    system(mounted)?.give_back(0, pool.cookie)
}

#[export]
fn dfs_cont_get(mounted: Mounted, container: Out<Handle>) -> Result<()> {
    container.open(|| Ok(system(mounted)?.hold(1)))
}

#[export]
fn dfs_cont_put(mounted: Mounted, container: Handle) -> Result<()> {
    system(mounted)?.give_back(1, container.cookie)
}

#[export(dfs_sys_local2global)]
fn dfs_local2global(mounted: Mounted, global: InOut<d_iov_t>) -> Result<()> {
    Ok(global.give(&dfs::of_mount(&*system(mounted)?))?)
}

#[export]
fn dfs_global2local(
    pool: Handle,
    container: Handle,
    flags: c_int,
    global: Bytes,
    mounted: Out<Mounted>,
) -> Result<()> {
    mounted.open_node(|| dfs::to_mount(pool.cookie, container.cookie, flags, global.get()?))
}

#[export(dfs_sys_local2global_all)]
fn dfs_local2global_all(mounted: Mounted, global: InOut<d_iov_t>) -> Result<()> {
    Ok(global.give(&dfs::of_all(&*system(mounted)?)?)?)
}

#[export]
fn dfs_global2local_all(flags: c_int, global: Bytes, mounted: Out<Mounted>) -> Result<()> {
    mounted.open_node(|| dfs::to_all(flags, global.get()?))
}

/// The suggested class is the default one, with every hint.
#[export]
fn dfs_suggest_oclass(mounted: Mounted, hint: Text, class: Out<u32>) -> Result<()> {
    system(mounted)?;
    let (hint, class) = (hint.text()?, class.place()?);
    let is_file = match hint.split_once(':') {
        Some(("file", "single" | "max")) => true,
        Some(("dir" | "directory", "single" | "max")) => false,
        _ => return Err(Errno(libc::EINVAL)),
    };
    class.set(dfs::class_by_default(is_file)?);
    Ok(())
}

/// Mounts, unless a flag is unknown.
fn with_flags(flags: c_int, mount: impl FnOnce() -> c_int) -> c_int {
    if flags & !(DFS_SYS_NO_CACHE | DFS_SYS_NO_LOCK) == 0 { mount() } else { libc::EINVAL }
}

#[export]
fn dfs_sys_connect(
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

#[export]
fn dfs_sys_mount(
    pool: Handle,
    container: Handle,
    flags: c_int,
    own_flags: c_int,
    mounted: Out<Mounted>,
) -> c_int {
    with_flags(own_flags, || dfs_mount(pool, container, flags, mounted))
}

#[export]
fn dfs_sys_global2local(
    pool: Handle,
    container: Handle,
    flags: c_int,
    own_flags: c_int,
    global: Bytes,
    mounted: Out<Mounted>,
) -> c_int {
    with_flags(own_flags, || dfs_global2local(pool, container, flags, global, mounted))
}

#[export]
fn dfs_sys_global2local_all(flags: c_int, own_flags: c_int, global: Bytes, mounted: Out<Mounted>) -> c_int {
    with_flags(own_flags, || dfs_global2local_all(flags, global, mounted))
}

/// The mount of the other functions, which is the same.
#[export]
fn dfs_sys2base(mounted: Mounted, base: Out<Mounted>) -> Result<()> {
    system(mounted)?;
    base.fill(|| Ok::<_, Errno>(mounted))
}
