//! Listing directories.

use std::ffi::{CString, c_char, c_int, c_void};

use super::{Mounted, Opened, both, done, fill, node, number};
use crate::{
    abi::{constants::*, types::*},
    dfs::{self, Errno, Result},
    export::{
        anchors::{pack, unpacked},
        listing::fitting,
        place,
    },
};

/// What a program has called for each entry.
type Callback = unsafe extern "C" fn(Mounted, Opened, *const c_char, *mut c_void) -> c_int;

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_readdir(
    mounted: Mounted,
    opened: Opened,
    anchor: *mut daos_anchor_t,
    count: *mut u32,
    entries: *mut libc::dirent,
) -> c_int {
    // SAFETY: what the caller has for the call.
    done(|| unsafe { read(mounted, opened, anchor, count, entries, std::ptr::null_mut()) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_readdirplus(
    mounted: Mounted,
    opened: Opened,
    anchor: *mut daos_anchor_t,
    count: *mut u32,
    entries: *mut libc::dirent,
    stats: *mut libc::stat,
) -> c_int {
    // SAFETY: what the caller has for the call.
    done(|| unsafe { read(mounted, opened, anchor, count, entries, stats) })
}

/// Gives entries by their names, as many as there is room for, and what `stat` tells where that is wanted.
///
/// # Safety
/// As [`place`], for the anchor and the count; there is room for so many entries and, if not null, for so much of what is told.
unsafe fn read(
    mounted: Mounted,
    opened: Opened,
    anchor: *mut daos_anchor_t,
    count: *mut u32,
    entries: *mut libc::dirent,
    stats: *mut libc::stat,
) -> Result<()> {
    let (system, node) = both(mounted, opened)?;
    // SAFETY: as the caller says.
    let (anchor, count) = unsafe { (place(anchor)?, place(count)?) };
    let room = *count as usize;
    if room > 0 && entries.is_null() {
        return Err(Errno(libc::EINVAL));
    }
    let mut filled = 0;
    while filled < room && anchor.da_type != DAOS_ANCHOR_TYPE_EOF {
        let page = dfs::list(&node, &unpacked(anchor)?, room - filled)?;
        for name in page.keys() {
            if !stats.is_null() {
                match dfs::stat(&system, number(opened), Some(name)) {
                    // SAFETY: there is room for as many as for entries.
                    Ok(stat) => fill(unsafe { &mut *stats.add(filled) }, &stat),
                    // Removed meanwhile.
                    Err(Errno(libc::ENOENT)) => continue,
                    Err(error) => return Err(error),
                }
            }
            let name = [dfs::name_of(name)?, &[0]].concat();
            // SAFETY: there is room for this entry, and in it for the longest name.
            unsafe {
                let place = (&raw mut (*entries.add(filled)).d_name).cast::<u8>();
                std::ptr::copy_nonoverlapping(name.as_ptr(), place, name.len());
            }
            filled += 1;
        }
        pack(page.next(), anchor);
    }
    *count = filled as u32;
    Ok(())
}

/// Calls a function for each entry, until there were so many, or their names have so many bytes. What it gives other than 0 ends it.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_iterate(
    mounted: Mounted,
    opened: Opened,
    anchor: *mut daos_anchor_t,
    count: *mut u32,
    size: usize,
    call: Option<Callback>,
    argument: *mut c_void,
) -> c_int {
    done(|| {
        let (_, node) = both(mounted, opened)?;
        // SAFETY: places of the caller's.
        let (anchor, count) = unsafe { (place(anchor)?, place(count)?) };
        let (room, mut filled, mut left) = (*count as usize, 0, size);
        while filled < room && left > 0 && anchor.da_type != DAOS_ANCHOR_TYPE_EOF {
            let list = |from: &_, limit| dfs::list(&node, from, limit);
            let page = match fitting(room - filled, left, &unpacked(anchor)?, list)? {
                Ok(page) => page,
                Err(_) if filled > 0 => break,
                Err(_) => return Err(Errno(libc::E2BIG)),
            };
            for name in page.keys() {
                let text = CString::new(name).map_err(|_| Errno(libc::EIO))?;
                // SAFETY: a function of the caller's, which is given what it is declared for.
                let told = call.map_or(0, |call| unsafe { call(mounted, opened, text.as_ptr(), argument) });
                if told != 0 {
                    return Err(Errno(told));
                }
                (filled, left) = (filled + 1, left - name.len());
            }
            pack(page.next(), anchor);
        }
        *count = filled as u32;
        Ok(())
    })
}

/// A directory is listed by one, so the only anchor is one that stands at the beginning.
#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_obj_anchor_split(
    opened: Opened,
    count: *mut u32,
    anchors: *mut daos_anchor_t,
) -> c_int {
    done(|| {
        if !node(opened)?.is_directory() {
            return Err(Errno(libc::EINVAL));
        }
        // SAFETY: a place of the caller's.
        *unsafe { place(count) }? = 1;
        // SAFETY: a place of the caller's, if there is one.
        if let Some(anchor) = unsafe { anchors.as_mut() } {
            *anchor = daos_anchor_t::default();
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dfs_obj_anchor_set(opened: Opened, index: u32, anchor: *mut daos_anchor_t) -> c_int {
    done(|| {
        if !node(opened)?.is_directory() || index != 0 {
            return Err(Errno(libc::EINVAL));
        }
        // SAFETY: a place of the caller's.
        *unsafe { place(anchor) }? = daos_anchor_t::default();
        Ok(())
    })
}
