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
mod xattrs;

use std::{
    ffi::{c_int, c_void},
    ptr,
    sync::Arc,
};

use isotach_object::ObjectId;

use super::{Bytes, CallerPlace, Event, Failure, Handle, In, InOut, Out, Text, export};
use crate::{
    abi::types::daos_obj_id_t,
    dfs::{Errno, FileSystem, Inode, Node, Result, Stat},
};

/// A mount, and an open file, directory or link.
type Mounted = *mut c_void;
type Opened = *mut c_void;

impl Failure for Errno {
    fn number(self) -> c_int {
        self.0
    }
}

fn number(pointer: *mut c_void) -> u64 {
    pointer.addr() as u64
}

fn pointer(number: u64) -> *mut c_void {
    ptr::without_provenance_mut(number as usize)
}

fn id_of(id: ObjectId) -> daos_obj_id_t {
    daos_obj_id_t { lo: id.lo(), hi: id.hi() }
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

impl<'a> Text<'a> {
    /// The bytes of a name or path.
    fn name(self) -> Result<&'a [u8]> {
        self.bytes_or_none().ok_or(Errno(libc::EINVAL))
    }
}

impl Out<'_, Opened> {
    /// Writes what a function opens: a mount, or a node.
    fn open_node(self, open: impl FnOnce() -> Result<u64>) -> Result<()> {
        self.fill(|| Ok(pointer(open()?)))
    }
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
fn give_opened(
    (opened, inode): (u64, Inode),
    place: &CallerPlace<'_, Opened>,
    mode: Out<'_, libc::mode_t>,
    stat: Out<'_, libc::stat>,
) -> Result<()> {
    let node = Node::get(opened)?;
    if !stat.is_null() {
        let found = Stat::of(&node.store, &inode).inspect_err(|_| _ = crate::dfs::release(opened))?;
        stat.give(as_c(&found));
    }
    mode.give(inode.mode);
    place.set(pointer(opened));
    Ok(())
}
