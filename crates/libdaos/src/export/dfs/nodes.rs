//! Opening entries, and the attributes of open ones.

use std::ffi::{c_char, c_int};

use super::{
    Bytes, Handle, InOut, Mounted, Opened, Out, Text, both, export, give_opened, id_of, node, number, system,
};
use crate::{
    abi::{dfs::*, types::*},
    dfs::{self, Errno, Node, Result, Wanted},
};

#[export]
fn dfs_lookup(
    mounted: Mounted,
    path: Text,
    flags: c_int,
    opened: Out<Opened>,
    mode: Out<libc::mode_t>,
    stat: Out<libc::stat>,
) -> Result<()> {
    let (path, opened) = (path.name()?, opened.place()?);
    give_opened(dfs::lookup(&*system(mounted)?, path, flags)?, &opened, mode, stat)
}

#[export]
fn dfs_lookup_rel(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    flags: c_int,
    opened: Out<Opened>,
    mode: Out<libc::mode_t>,
    stat: Out<libc::stat>,
) -> Result<()> {
    let (entry, opened) = (entry.name()?, opened.place()?);
    give_opened(dfs::lookup_in(&*system(mounted)?, number(parent), entry, flags)?, &opened, mode, stat)
}

#[export]
fn dfs_open(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    mode: libc::mode_t,
    flags: c_int,
    class: u32,
    chunk_size: u64,
    value: Text,
    opened: Out<Opened>,
) -> Result<()> {
    let entry = entry.name()?;
    let wanted = Wanted { mode, flags, class, chunk_size, target: value.bytes_or_none(), owner: None };
    opened.open_node(|| Ok(dfs::open(&*system(mounted)?, number(parent), entry, &wanted)?.0))
}

/// As `dfs_open`. A new entry gets the user and group in `stat`, which receives the attributes.
#[export]
fn dfs_open_stat(
    mounted: Mounted,
    parent: Opened,
    entry: Text,
    mode: libc::mode_t,
    flags: c_int,
    class: u32,
    chunk_size: u64,
    value: Text,
    opened: Out<Opened>,
    stat: InOut<libc::stat>,
) -> Result<()> {
    let (entry, opened, stat) = (entry.name()?, opened.place()?, stat.or_none());
    let owner = stat.as_ref().map(|stat| (stat.st_uid, stat.st_gid));
    if owner.is_some() && flags & libc::O_CREAT == 0 {
        return Err(Errno(libc::ENOTSUP));
    }
    let wanted = Wanted { mode, flags, class, chunk_size, target: value.bytes_or_none(), owner };
    let made = dfs::open(&*system(mounted)?, number(parent), entry, &wanted)?;
    give_opened(made, &opened, Out::null(), stat.map_or_else(Out::null, Out::from))
}

#[export]
fn dfs_dup(mounted: Mounted, opened: Opened, flags: c_int, other: Out<Opened>) -> Result<()> {
    let (_, node) = both(mounted, opened)?;
    other.open_node(|| dfs::duplicate(&node, flags))
}

#[export(dfs_sys_close)]
pub(super) fn dfs_release(opened: Opened) -> Result<()> {
    dfs::release(number(opened))
}

#[export]
fn dfs_obj_local2global(mounted: Mounted, opened: Opened, global: InOut<d_iov_t>) -> Result<()> {
    let (_, node) = both(mounted, opened)?;
    Ok(global.give(&dfs::of_node(&node)?)?)
}

#[export]
fn dfs_obj_global2local(mounted: Mounted, flags: c_int, global: Bytes, opened: Out<Opened>) -> Result<()> {
    opened.open_node(|| dfs::to_node(&*system(mounted)?, flags, global.get()?))
}

#[export]
fn dfs_obj2id(opened: Opened, id: Out<daos_obj_id_t>) -> Result<()> {
    id.fill(|| Ok(id_of(node(opened)?.id)))
}

#[export]
fn dfs_get_mode(opened: Opened, mode: Out<libc::mode_t>) -> Result<()> {
    mode.fill(|| Ok(node(opened)?.mode))
}

#[export]
fn dfs_get_file_oh(opened: Opened, array: Out<Handle>) -> Result<()> {
    array.open(|| Ok(node(opened)?.file()?.handle))
}

#[export]
fn dfs_get_chunk_size(opened: Opened, chunk_size: Out<u64>) -> Result<()> {
    chunk_size.fill(|| Ok(node(opened)?.file()?.chunk_size))
}

#[export]
unsafe fn dfs_get_symlink_value(opened: Opened, buffer: *mut c_char, size: InOut<u64>) -> Result<()> {
    // SAFETY: BUFFER for `buffer`, of `size` bytes.
    unsafe { give_target(&*node(opened)?, buffer, size) }
}

/// As much of a link's target as fits, always with a NUL. The size is that of the whole with its NUL.
///
/// # Safety
/// BUFFER for `buffer`, of `size` bytes.
pub(super) unsafe fn give_target(node: &Node, buffer: *mut c_char, size: InOut<u64>) -> Result<()> {
    let dfs::Kind::Link(target) = &node.kind else { return Err(Errno(libc::EINVAL)) };
    let size = size.get()?;
    let capacity = usize::try_from(*size).unwrap_or(usize::MAX);
    if !buffer.is_null() && capacity > 0 {
        let fitting = target.len().min(capacity - 1);
        // SAFETY: BUFFER for `buffer`, of `size` bytes, at least one more than are copied; `target` is of this library.
        unsafe {
            std::ptr::copy_nonoverlapping(target.as_ptr(), buffer.cast(), fitting);
            buffer.add(fitting).write(0);
        }
    }
    *size = target.len() as u64 + 1;
    Ok(())
}

/// Gives an open entry the parent of another open entry, and perhaps a new name. Nothing stored changes.
#[export]
fn dfs_update_parent(opened: Opened, source: Opened, entry: Text) -> Result<()> {
    let (node, mut place) = (node(opened)?, node(source)?.place());
    place.name = entry.bytes_or_none().map_or_else(|| node.place().name, Into::into);
    node.set_place(place);
    Ok(())
}

#[export]
fn dfs_obj_get_info(mounted: Mounted, opened: Opened, info: Out<dfs_obj_info_t>) -> Result<()> {
    let ((system, node), info) = (both(mounted, opened)?, info.place()?);
    let found = system.information(&node)?;
    info.set(dfs_obj_info_t {
        doi_oclass_id: found.class,
        doi_chunk_size: found.chunk_size,
        doi_dir_oclass_id: found.directory_class,
        doi_file_oclass_id: found.file_class,
        doi_oid: id_of(node.id),
    });
    Ok(())
}

#[export]
fn dfs_obj_set_oclass(mounted: Mounted, opened: Opened, _flags: c_int, class: u32) -> Result<()> {
    let (system, node) = both(mounted, opened)?;
    let class = if class == 0 { system.attributes.directory_class } else { class };
    if class != 0 {
        dfs::check_class(class)?;
    }
    system.set_defaults(&node, |defaults| defaults.class = class)
}

#[export]
fn dfs_obj_set_chunk_size(mounted: Mounted, opened: Opened, _flags: c_int, chunk_size: u64) -> Result<()> {
    let (system, node) = both(mounted, opened)?;
    system.set_defaults(&node, |defaults| defaults.chunk_size = chunk_size)
}
