//! The file system on DAOS: the functions of libdfs.
//!
//! Programs get a number for a mount and for an open entry, in the shape of a pointer that is never dereferenced. A stale or wrong one is
//! refused, as a handle is.

mod attributes;
mod entries;
mod io;
mod listing;
pub(super) mod mount;
mod nodes;
mod sys;
mod sys_directories;
mod sys_mounts;
mod xattrs;

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    sync::Arc,
};

use super::{Out, answer_with, out, out_or_none};
use crate::{
    abi::types::daos_event_t,
    dfs::{Errno, FileSystem, Inode, Node, Result, Stat},
};

/// A mount, and an open file, directory or link.
type Mounted = *mut c_void;
type Opened = *mut c_void;

/// Runs a function's body and returns an error number of the system, or 0.
fn answer(event: *mut daos_event_t, act: impl FnOnce() -> Result<()>) -> c_int {
    answer_with(event, |Errno(number)| number, act)
}

/// As [`answer`], of a function without an event.
fn done(act: impl FnOnce() -> Result<()>) -> c_int {
    answer(ptr::null_mut(), act)
}

/// As [`done`], of a function that writes its result to a place of the caller's.
///
/// # Safety
/// OUT for `place`.
unsafe fn done_into<T>(place: *mut T, make: impl FnOnce() -> Result<T>) -> c_int {
    done(|| {
        // SAFETY: OUT for `place`.
        let place = unsafe { out(place) }?;
        place.set(make()?);
        Ok(())
    })
}

fn number(pointer: *mut c_void) -> u64 {
    pointer.addr() as u64
}

fn pointer(number: u64) -> *mut c_void {
    ptr::without_provenance_mut(number as usize)
}

fn system(mounted: Mounted) -> Result<Arc<FileSystem>> {
    Ok(FileSystem::get(number(mounted))?)
}

fn node(opened: Opened) -> Result<Arc<Node>> {
    Ok(Node::get(number(opened))?)
}

/// A mount, and an open entry of its file system.
fn both(mounted: Mounted, opened: Opened) -> Result<(Arc<FileSystem>, Arc<Node>)> {
    let system = system(mounted)?;
    let node = system.node(number(opened))?;
    Ok((system, node))
}

/// The bytes of a name or path of the caller's.
///
/// # Safety
/// STRING, as long as the result is used.
unsafe fn name<'a>(name: *const c_char) -> Result<&'a [u8]> {
    // SAFETY: STRING for `name`.
    unsafe { name_or_none(name) }.ok_or(Errno(libc::EINVAL))
}

/// As [`name`], for a pointer that may be null.
///
/// # Safety
/// STRING, as long as the result is used.
unsafe fn name_or_none<'a>(name: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: STRING for `name`, which is not null.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_bytes())
}

/// The attributes of an entry in C's form. The time of the last access is not stored: it is that of the last change.
fn as_c(stat: &Stat) -> libc::stat {
    // SAFETY: a structure of numbers, of which zeros are a value.
    let mut place: libc::stat = unsafe { std::mem::zeroed() };
    (place.st_mode, place.st_uid, place.st_gid) = (stat.mode, stat.user, stat.group);
    place.st_nlink = 1;
    place.st_size = stat.size as _;
    place.st_blocks = stat.blocks as _;
    place.st_blksize = stat.block_size as _;
    (place.st_mtime, place.st_mtime_nsec) = (stat.modified.seconds as _, stat.modified.nanoseconds as _);
    (place.st_ctime, place.st_ctime_nsec) = (stat.changed.seconds as _, stat.changed.nanoseconds as _);
    let accessed = stat.modified.max(stat.changed);
    (place.st_atime, place.st_atime_nsec) = (accessed.seconds as _, accessed.nanoseconds as _);
    place
}

/// Returns an opened entry, with its mode and attributes if requested.
///
/// # Safety
/// OUT for `mode` and `stat`.
unsafe fn give_opened(
    (opened, inode): (u64, &Inode),
    place: &Out<'_, Opened>,
    mode: *mut libc::mode_t,
    stat: *mut libc::stat,
) -> Result<()> {
    let node = Node::get(opened)?;
    // SAFETY: OUT for `stat`.
    if let Some(stat) = unsafe { out_or_none(stat) } {
        let found = Stat::of(&node.store, inode).inspect_err(|_| {
            let _ = crate::dfs::release(opened);
        })?;
        stat.set(as_c(&found));
    }
    // SAFETY: OUT for `mode`.
    if let Some(mode) = unsafe { out_or_none(mode) } {
        mode.set(inode.mode);
    }
    place.set(pointer(opened));
    Ok(())
}
