//! Directories that are read entry by entry (`dfs_sys_opendir` and so on).

use std::{ffi::c_int, mem::MaybeUninit, ptr};

use super::{
    InOut, Mounted, Opened, Out, Text, done,
    listing::read,
    nodes::dfs_release,
    pointer,
    sys::{at, nofollow, open},
};
use crate::{
    abi::{constants::DAOS_ANCHOR_TYPE_EOF, types::*},
    dfs::{self, Errno},
};

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

#[unsafe(no_mangle)]
extern "C" fn dfs_sys_opendir(
    mounted: Mounted,
    path: Text,
    flags: c_int,
    directory: Out<*mut libc::DIR>,
) -> c_int {
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

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_closedir(directory: *mut libc::DIR) -> c_int {
    if directory.is_null() {
        return libc::EINVAL;
    }
    // SAFETY: HEAP for `directory`, which is from a box of `dfs_sys_opendir`.
    let directory = unsafe { Box::from_raw(directory.cast::<Directory>()) };
    dfs_release(directory.opened)
}

/// The next entry, or null behind the last. It is valid until the next call for the directory.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_sys_readdir(
    mounted: Mounted,
    directory: *mut libc::DIR,
    entry: Out<*mut libc::dirent>,
) -> c_int {
    done(|| {
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
    })
}
