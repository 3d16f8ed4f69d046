//! Directories that are read entry by entry (`dfs_sys_opendir` and so on).

use std::{
    ffi::{c_char, c_int},
    mem::MaybeUninit,
    ptr,
};

use super::{
    Mounted, Opened, done,
    listing::dfs_readdir,
    nodes::dfs_release,
    sys::{as_result, at, nofollow, open},
};
use crate::{
    abi::{constants::DAOS_ANCHOR_TYPE_EOF, types::*},
    dfs::Errno,
    export::out,
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
unsafe extern "C" fn dfs_sys_opendir(
    mounted: Mounted,
    path: *const c_char,
    flags: c_int,
    directory: *mut *mut libc::DIR,
) -> c_int {
    let begin = |parent: Opened, entry: *const c_char| {
        done(|| {
            // SAFETY: OUT for `directory`.
            let directory = unsafe { out(directory) }?;
            // SAFETY: `at` gives a STRING.
            let (opened, mode) = unsafe { open(mounted, parent, entry, libc::O_RDONLY | nofollow(flags)) }?;
            if mode & libc::S_IFMT != libc::S_IFDIR {
                as_result(dfs_release(opened))?;
                return Err(Errno(libc::ENOTDIR));
            }
            // SAFETY: structures of numbers, of which zeros are a value.
            let (anchor, entries) =
                unsafe { (MaybeUninit::zeroed().assume_init(), MaybeUninit::zeroed().assume_init()) };
            let made = Box::new(Directory { opened, anchor, entries, next: 0, count: 0 });
            directory.set(Box::into_raw(made).cast());
            Ok(())
        })
    };
    // SAFETY: STRING for `path`.
    unsafe { at(mounted, path, begin) }
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
    entry: *mut *mut libc::dirent,
) -> c_int {
    done(|| {
        // SAFETY: `directory` is null or from a box of `dfs_sys_opendir`, whose entries nobody writes to meanwhile; OUT for `entry`.
        let (directory, entry) = unsafe { (directory.cast::<Directory>().as_mut(), out(entry)?) };
        let directory = directory.ok_or(Errno(libc::EINVAL))?;
        entry.set(ptr::null_mut());
        if directory.next == directory.count as usize {
            (directory.next, directory.count) = (0, 0);
            while directory.count == 0 && directory.anchor.da_type != DAOS_ANCHOR_TYPE_EOF {
                directory.count = ENTRIES as u32;
                let Directory { opened, anchor, entries, count, .. } = &mut *directory;
                // SAFETY: anchor, count and entries are of `directory`, and there are as many entries as the count says.
                as_result(unsafe { dfs_readdir(mounted, *opened, anchor, count, entries.as_mut_ptr()) })
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
