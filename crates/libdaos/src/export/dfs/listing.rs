//! Listing directories, and reading them entry by entry (`dfs_sys_opendir` and so on).

use std::{
    ffi::{CString, c_char, c_int, c_void},
    mem::MaybeUninit,
    ptr,
};

use super::{
    InOut, Mounted, Opened, Out, Text, as_c, both, export, node,
    nodes::dfs_release,
    number, pointer,
    sys::{at, nofollow, open},
};
use crate::{
    abi::{constants::*, types::*},
    dfs::{self, Errno, Result},
    export::{
        anchors::{pack, unpacked},
        listing::fitting,
    },
};

/// A program's callback for each entry.
type Callback = unsafe extern "C" fn(Mounted, Opened, *const c_char, *mut c_void) -> c_int;

#[export]
unsafe fn dfs_readdir(
    mounted: Mounted,
    opened: Opened,
    anchor: InOut<daos_anchor_t>,
    count: InOut<u32>,
    entries: *mut libc::dirent,
) -> Result<()> {
    // SAFETY: LIST for `entries`, of `count`.
    unsafe { read(mounted, opened, anchor, count, entries, ptr::null_mut()) }
}

#[export]
unsafe fn dfs_readdirplus(
    mounted: Mounted,
    opened: Opened,
    anchor: InOut<daos_anchor_t>,
    count: InOut<u32>,
    entries: *mut libc::dirent,
    stats: *mut libc::stat,
) -> Result<()> {
    // SAFETY: LIST for `entries` and `stats`, of `count` each.
    unsafe { read(mounted, opened, anchor, count, entries, stats) }
}

/// Lists the names of as many entries as fit, with their attributes if requested.
///
/// # Safety
/// LIST for `entries` and `stats`, of `count` each.
unsafe fn read(
    mounted: Mounted,
    opened: Opened,
    anchor: InOut<daos_anchor_t>,
    count: InOut<u32>,
    entries: *mut libc::dirent,
    stats: *mut libc::stat,
) -> Result<()> {
    let (system, node) = both(mounted, opened)?;
    let (anchor, count) = (anchor.get()?, count.get()?);
    let capacity = *count as usize;
    if capacity > 0 && entries.is_null() {
        return Err(Errno(libc::EINVAL));
    }
    let mut filled = 0;
    while filled < capacity && anchor.da_type != DAOS_ANCHOR_TYPE_EOF {
        let page = dfs::list(&node, &unpacked(anchor)?, capacity - filled)?;
        for name in page.keys() {
            if !stats.is_null() {
                match dfs::stat(&system, number(opened), Some(name)) {
                    // SAFETY: LIST for `stats`, which is not null: `filled` is less than `count`.
                    Ok(stat) => unsafe { stats.add(filled).write(as_c(&stat)) },
                    // Removed since the listing.
                    Err(Errno(libc::ENOENT)) => continue,
                    Err(error) => return Err(error),
                }
            }
            let name = [dfs::name_of(name)?, &[0]].concat();
            // SAFETY: LIST for `entries`, which is not null: `filled` is less than `count`. A name is no longer than `d_name` has space for.
            unsafe {
                let place = (&raw mut (*entries.add(filled)).d_name).cast::<u8>();
                ptr::copy_nonoverlapping(name.as_ptr(), place, name.len());
            }
            filled += 1;
        }
        pack(page.next(), anchor);
    }
    *count = filled as u32;
    Ok(())
}

/// Calls a function for each entry, up to a number of entries and of bytes of names. A result other than 0 ends the listing.
#[export]
unsafe fn dfs_iterate(
    mounted: Mounted,
    opened: Opened,
    anchor: InOut<daos_anchor_t>,
    count: InOut<u32>,
    size: usize,
    call: Option<Callback>,
    argument: *mut c_void,
) -> Result<()> {
    let (_, node) = both(mounted, opened)?;
    let (anchor, count) = (anchor.get()?, count.get()?);
    let (capacity, mut filled, mut left) = (*count as usize, 0, size);
    while filled < capacity && left > 0 && anchor.da_type != DAOS_ANCHOR_TYPE_EOF {
        let list = |from: &_, limit| dfs::list(&node, from, limit);
        let page = match fitting(capacity - filled, left, &unpacked(anchor)?, list)? {
            Ok(page) => page,
            Err(_) if filled > 0 => break,
            Err(_) => return Err(Errno(libc::E2BIG)),
        };
        for name in page.keys() {
            let text = CString::new(name).map_err(|_| Errno(libc::EIO))?;
            // SAFETY: CALLBACK for `call`; the name ends with a NUL and lives for the call.
            let returned = call.map_or(0, |call| unsafe { call(mounted, opened, text.as_ptr(), argument) });
            if returned != 0 {
                return Err(Errno(returned));
            }
            (filled, left) = (filled + 1, left - name.len());
        }
        pack(page.next(), anchor);
    }
    *count = filled as u32;
    Ok(())
}

/// A directory is listed in one part, whose anchor starts at the beginning.
#[export]
fn dfs_obj_anchor_split(opened: Opened, count: Out<u32>, anchors: Out<daos_anchor_t>) -> Result<()> {
    if !node(opened)?.is_directory() {
        return Err(Errno(libc::EINVAL));
    }
    count.fill(|| Ok::<_, Errno>(1))?;
    anchors.give(daos_anchor_t::default());
    Ok(())
}

#[export]
fn dfs_obj_anchor_set(opened: Opened, index: u32, anchor: Out<daos_anchor_t>) -> Result<()> {
    if !node(opened)?.is_directory() || index != 0 {
        return Err(Errno(libc::EINVAL));
    }
    anchor.fill(|| Ok(daos_anchor_t::default()))
}

/// The number of entries that one read of a directory returns.
const ENTRIES: usize = 24;

/// A directory that is read entry by entry, the target of a program's `DIR *`.
struct Directory {
    opened: Opened,
    anchor: daos_anchor_t,
    entries: [libc::dirent; ENTRIES],
    /// The next of the read entries, and their number.
    next: usize,
    count: u32,
}

#[export]
fn dfs_sys_opendir(mounted: Mounted, path: Text, flags: c_int, directory: Out<*mut libc::DIR>) -> Result<()> {
    at(mounted, path, |system, parent, name| {
        let directory = directory.place()?;
        let (opened, mode) = open(system, parent, name, libc::O_RDONLY | nofollow(flags))?;
        if mode & libc::S_IFMT != libc::S_IFDIR {
            dfs::release(opened)?;
            return Err(Errno(libc::ENOTDIR));
        }
        // SAFETY: structures of numbers, of which zeros are a value.
        let (anchor, entries) =
            unsafe { (MaybeUninit::zeroed().assume_init(), MaybeUninit::zeroed().assume_init()) };
        let made = Box::new(Directory { opened: pointer(opened), anchor, entries, next: 0, count: 0 });
        directory.set(Box::into_raw(made).cast());
        Ok(())
    })
}

#[export]
unsafe fn dfs_sys_closedir(directory: *mut libc::DIR) -> c_int {
    if directory.is_null() {
        return libc::EINVAL;
    }
    // SAFETY: HEAP for `directory`, which is from a box of `dfs_sys_opendir`.
    let directory = unsafe { Box::from_raw(directory.cast::<Directory>()) };
    dfs_release(directory.opened)
}

/// The next entry, or null behind the last. It is valid until the next call for the directory.
#[export]
unsafe fn dfs_sys_readdir(
    mounted: Mounted,
    directory: *mut libc::DIR,
    entry: Out<*mut libc::dirent>,
) -> Result<()> {
    let entry = entry.place()?;
    // SAFETY: `directory` is null or from a box of `dfs_sys_opendir`, whose entries nobody writes to meanwhile.
    let directory = unsafe { directory.cast::<Directory>().as_mut() }.ok_or(Errno(libc::EINVAL))?;
    entry.set(ptr::null_mut());
    if directory.next == directory.count as usize {
        (directory.next, directory.count) = (0, 0);
        while directory.count == 0 && directory.anchor.da_type != DAOS_ANCHOR_TYPE_EOF {
            directory.count = ENTRIES as u32;
            let Directory { opened, anchor, entries, count, .. } = &mut *directory;
            let (anchor, entries) = (InOut::from(anchor), entries.as_mut_ptr());
            // SAFETY: the entries are of `directory`, and there are as many as the count says.
            unsafe { read(mounted, *opened, anchor, InOut::from(&mut *count), entries, ptr::null_mut()) }
                .inspect_err(|_| *count = 0)?;
        }
    }
    if directory.next < directory.count as usize {
        entry.set(&raw mut directory.entries[directory.next]);
        directory.next += 1;
    }
    Ok(())
}
