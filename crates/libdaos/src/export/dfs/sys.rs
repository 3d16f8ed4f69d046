//! The file system by whole paths: the functions `dfs_sys_*`. Each resolves the parent directory, and does with the entry what the function of
//! libdfs does.
//!
//! Mounts are in `mount`, and reading directories is in `listing`.

use std::ffi::{c_char, c_int, c_void};

use super::{
    Event, InOut, Mounted, Opened, Out, Text, as_c,
    attributes::{owner, set},
    export, id_of,
    io::{dfs_read, dfs_write},
    nodes::give_target,
    pointer, system, xattrs,
};
use crate::{
    abi::types::*,
    dfs::{self, At, AttributeChange, Errno, FileSystem, Node, Result, Time, Wanted},
};

/// Runs `act` with the parent directory and the name of an entry. The root is the directory without a name.
pub(super) fn at(
    mounted: Mounted,
    path: Text,
    act: impl FnOnce(&FileSystem, u64, Option<&[u8]>) -> Result<()>,
) -> Result<()> {
    let system = system(mounted)?;
    let At { directory, name } = dfs::find(&system, path.name()?)?;
    act(&system, directory.handle(), name)
}

/// Opens an entry for the duration of an operation.
fn with(
    mounted: Mounted,
    path: Text,
    flags: c_int,
    act: impl FnOnce(&FileSystem, &Node) -> Result<()>,
) -> Result<()> {
    at(mounted, path, |system, parent, name| {
        let (opened, _) = open(system, parent, name, flags)?;
        let outcome = system.node(opened).and_then(|node| act(system, &node));
        let released = dfs::release(opened);
        outcome.and(released)
    })
}

/// Opens an entry of a directory, or the directory itself without a name. Also returns the mode.
pub(super) fn open(
    system: &FileSystem,
    parent: u64,
    name: Option<&[u8]>,
    flags: c_int,
) -> Result<(u64, libc::mode_t)> {
    match name {
        None => Ok((dfs::duplicate(&*system.node(parent)?, flags & libc::O_ACCMODE)?, libc::S_IFDIR)),
        Some(name) => {
            let (opened, inode) = dfs::lookup_in(system, parent, name, flags)?;
            Ok((opened, inode.mode))
        }
    }
}

/// The flag against following symbolic links, if the flags have it.
pub(super) fn nofollow(flags: c_int) -> c_int {
    flags & libc::O_NOFOLLOW
}

/// A symbolic link that is not followed may be used by everybody.
#[export]
fn dfs_sys_access(mounted: Mounted, path: Text, mask: c_int, flags: c_int) -> Result<()> {
    if flags & libc::AT_EACCESS != 0 {
        return Err(Errno(libc::ENOTSUP));
    }
    at(mounted, path, |system, parent, name| {
        let is_link = |stat: dfs::Stat| stat.mode & libc::S_IFMT == libc::S_IFLNK;
        if nofollow(flags) != 0 && dfs::stat(system, parent, name).is_ok_and(is_link) {
            return Ok(());
        }
        dfs::access(system, parent, name, mask)
    })
}

#[export]
fn dfs_sys_chmod(mounted: Mounted, path: Text, mode: libc::mode_t) -> Result<()> {
    at(mounted, path, |system, parent, name| dfs::chmod(system, parent, name, mode))
}

#[export]
fn dfs_sys_chown(
    mounted: Mounted,
    path: Text,
    user: libc::uid_t,
    group: libc::gid_t,
    flags: c_int,
) -> Result<()> {
    at(mounted, path, |system, parent, name| dfs::chown(system, parent, name, owner(user, group), flags))
}

#[export]
fn dfs_sys_setattr(
    mounted: Mounted,
    path: Text,
    stat: InOut<libc::stat>,
    what: c_int,
    flags: c_int,
) -> Result<()> {
    with(mounted, path, libc::O_RDWR | nofollow(flags), |system, node| set(system, node, stat, what))
}

/// Two times: of the last access, which is not stored, and of the last change.
#[export]
unsafe fn dfs_sys_utimens(
    mounted: Mounted,
    path: Text,
    times: *const libc::timespec,
    flags: c_int,
) -> Result<()> {
    if times.is_null() {
        return Err(Errno(libc::EINVAL));
    }
    // SAFETY: LIST for `times`, of two, which is not null; any bytes are a time.
    let modified = unsafe { *times.add(1) };
    let modified = Time { seconds: modified.tv_sec as u64, nanoseconds: modified.tv_nsec as u64 };
    let change = AttributeChange { modified: Some(modified), ..AttributeChange::default() };
    with(mounted, path, libc::O_RDWR | nofollow(flags), |system, node| {
        dfs::change(system, node, &change).map(drop)
    })
}

#[export]
fn dfs_sys_stat(mounted: Mounted, path: Text, flags: c_int, stat: Out<libc::stat>) -> Result<()> {
    with(mounted, path, libc::O_RDONLY | nofollow(flags), |_, node| {
        stat.fill(|| Ok(as_c(&dfs::stat_of(node)?)))
    })
}

/// Creates an entry that must not exist.
fn made(mounted: Mounted, path: Text, wanted: Wanted<'_>) -> Result<()> {
    let wanted = Wanted { flags: libc::O_CREAT | libc::O_EXCL | libc::O_RDWR, ..wanted };
    at(mounted, path, |system, parent, name| {
        let (opened, _) = dfs::open(system, parent, name.ok_or(Errno(libc::EINVAL))?, &wanted)?;
        dfs::release(opened)
    })
}

#[export]
fn dfs_sys_mknod(
    mounted: Mounted,
    path: Text,
    mode: libc::mode_t,
    class: u32,
    chunk_size: u64,
) -> Result<()> {
    made(mounted, path, Wanted { mode, class, chunk_size, ..Wanted::default() })
}

#[export]
fn dfs_sys_symlink(mounted: Mounted, target: Text, path: Text) -> Result<()> {
    let target = target.bytes_or_none();
    made(mounted, path, Wanted { mode: libc::S_IFLNK, target, ..Wanted::default() })
}

#[export]
unsafe fn dfs_sys_readlink(
    mounted: Mounted,
    path: Text,
    buffer: *mut c_char,
    size: InOut<u64>,
) -> Result<()> {
    let flags = libc::O_RDONLY | libc::O_NOFOLLOW;
    // SAFETY: BUFFER for `buffer`, of `size` bytes.
    with(mounted, path, flags, |_, node| unsafe { give_target(node, buffer, size) })
}

/// Asks for a value. Fails with `ERANGE` if the buffer is smaller than the value, also without a buffer.
fn sized(size: InOut<u64>, ask: impl FnOnce(InOut<u64>) -> Result<()>) -> Result<()> {
    let size = size.get()?;
    let mut found = *size;
    let outcome = ask(InOut::from(&mut found));
    if outcome.is_err_and(|error| error != Errno(libc::E2BIG)) {
        return outcome;
    }
    let capacity = std::mem::replace(size, found);
    if capacity < found { Err(Errno(libc::ERANGE)) } else { outcome }
}

#[export]
unsafe fn dfs_sys_listxattr(
    mounted: Mounted,
    path: Text,
    list: *mut c_char,
    size: InOut<u64>,
    flags: c_int,
) -> Result<()> {
    with(mounted, path, libc::O_RDONLY | nofollow(flags), |_, node| {
        // SAFETY: BUFFER for `list`, of `size` bytes.
        sized(size, |size| unsafe { xattrs::give_names(node, list, size) })
    })
}

#[export]
unsafe fn dfs_sys_getxattr(
    mounted: Mounted,
    path: Text,
    key: Text,
    value: *mut c_void,
    size: InOut<u64>,
    flags: c_int,
) -> Result<()> {
    with(mounted, path, libc::O_RDONLY | nofollow(flags), |_, node| {
        // SAFETY: BUFFER for `value`, of `size` bytes.
        sized(size, |size| unsafe { xattrs::give(node, key, value, size) })
    })
}

#[export]
unsafe fn dfs_sys_setxattr(
    mounted: Mounted,
    path: Text,
    key: Text,
    value: *const c_void,
    size: u64,
    how: c_int,
    flags: c_int,
) -> Result<()> {
    with(mounted, path, libc::O_RDWR | nofollow(flags), |system, node| {
        // SAFETY: BYTES for `value`, as many as `size` says.
        unsafe { xattrs::set(system, node, key, (value, size), how) }
    })
}

#[export]
fn dfs_sys_removexattr(mounted: Mounted, path: Text, key: Text, flags: c_int) -> Result<()> {
    with(mounted, path, libc::O_RDWR | nofollow(flags), |system, node| system.remove_xattr(node, key.name()?))
}

/// Opens an entry. Without `O_CREAT`, follows a symbolic link unless the flags forbid it, and requires the requested kind.
#[export]
fn dfs_sys_open(
    mounted: Mounted,
    path: Text,
    mode: libc::mode_t,
    flags: c_int,
    class: u32,
    chunk_size: u64,
    value: Text,
    opened: Out<Opened>,
) -> Result<()> {
    let mode = if mode & libc::S_IFMT == 0 { mode | libc::S_IFREG } else { mode };
    at(mounted, path, |system, parent, name| {
        let Some(name) = name else {
            return match (flags & (libc::O_CREAT | libc::O_EXCL), mode & libc::S_IFMT) {
                (0, libc::S_IFDIR) => opened.open_node(|| Ok(open(system, parent, None, flags)?.0)),
                (0, _) => Err(Errno(libc::ENOTDIR)),
                _ => Err(Errno(libc::EEXIST)),
            };
        };
        if flags & (libc::O_CREAT | libc::O_NOFOLLOW) != 0 {
            let target = value.bytes_or_none();
            let wanted = Wanted { mode, flags, class, chunk_size, target, owner: None };
            return opened.open_node(|| Ok(dfs::open(system, parent, name, &wanted)?.0));
        }
        let (found, kind) = open(system, parent, Some(name), flags)?;
        if opened.is_null() || kind & libc::S_IFMT != mode & libc::S_IFMT {
            let _ = dfs::release(found);
            return Err(Errno(libc::EINVAL));
        }
        opened.give(pointer(found));
        Ok(())
    })
}

/// Calls a function with a list of one buffer.
fn with_one(buffer: *mut c_void, size: u64, act: impl FnOnce(InOut<d_sg_list_t>) -> c_int) -> c_int {
    let mut vector = d_iov_t { iov_buf: buffer, iov_buf_len: size, iov_len: size };
    act(InOut::from(&mut d_sg_list_t { sg_nr: 1, sg_nr_out: 1, sg_iovs: &raw mut vector }))
}

#[export]
unsafe fn dfs_sys_read(
    mounted: Mounted,
    opened: Opened,
    buffer: *mut c_void,
    offset: u64,
    size: InOut<u64>,
    event: Event,
) -> c_int {
    let Some(size) = size.or_none().filter(|_| !buffer.is_null()) else { return libc::EINVAL };
    with_one(buffer, *size, |list| {
        // SAFETY: BUFFER for `buffer`, of `size` bytes; a call with an event ends before it returns, so the list lives as long as it.
        unsafe { dfs_read(mounted, opened, list, offset, Out::from(size), event) }
    })
}

#[export]
unsafe fn dfs_sys_write(
    mounted: Mounted,
    opened: Opened,
    buffer: *const c_void,
    offset: u64,
    size: InOut<u64>,
    event: Event,
) -> c_int {
    let Some(size) = size.or_none().filter(|_| !buffer.is_null()) else { return libc::EINVAL };
    with_one(buffer.cast_mut(), *size, |list| {
        // SAFETY: BYTES for `buffer`, as many as `size` says; the list lives as that of a read.
        unsafe { dfs_write(mounted, opened, list, offset, event) }
    })
}

#[export]
fn dfs_sys_punch(mounted: Mounted, path: Text, offset: u64, length: u64) -> Result<()> {
    with(mounted, path, libc::O_RDWR, |system, node| system.punch(node, offset, length))
}

#[export]
fn dfs_sys_remove(mounted: Mounted, path: Text, force: bool, id: Out<daos_obj_id_t>) -> c_int {
    dfs_sys_remove_type(mounted, path, force, 0, id)
}

/// Removes an entry, which must be of the kind, if one is given.
#[export]
fn dfs_sys_remove_type(
    mounted: Mounted,
    path: Text,
    force: bool,
    mode: libc::mode_t,
    id: Out<daos_obj_id_t>,
) -> Result<()> {
    at(mounted, path, |system, parent, name| {
        let (name, kind) = (name.ok_or(Errno(libc::EBUSY))?, mode & libc::S_IFMT);
        if kind != 0 && dfs::stat(system, parent, Some(name))?.mode & libc::S_IFMT != kind {
            return Err(Errno(libc::EINVAL));
        }
        id.give(id_of(dfs::remove(system, parent, name, force)?));
        Ok(())
    })
}

#[export]
fn dfs_sys_mkdir(mounted: Mounted, path: Text, mode: libc::mode_t, class: u32) -> Result<()> {
    at(mounted, path, |system, parent, name| {
        dfs::make_directory(system, parent, name.ok_or(Errno(libc::EEXIST))?, mode, class)
    })
}

#[export]
fn dfs_sys_mkdir_p(mounted: Mounted, path: Text, mode: libc::mode_t, class: u32) -> Result<()> {
    dfs::make_directories(&*system(mounted)?, path.name()?, mode, class)
}
