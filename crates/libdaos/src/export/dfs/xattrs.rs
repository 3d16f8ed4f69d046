//! Extended attributes.

use std::{
    ffi::{c_char, c_int, c_void},
    ptr,
};

use super::{Mounted, Opened, both, done, name};
use crate::{
    dfs::{Errno, Result},
    export::{many, out, place},
};

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_setxattr(
    mounted: Mounted,
    opened: Opened,
    key: *const c_char,
    value: *const c_void,
    size: u64,
    flags: c_int,
) -> c_int {
    done(|| {
        // SAFETY: STRING for `key`, BYTES for `value`.
        let (key, value) = unsafe { (name(key)?, many(value.cast::<u8>(), size)?) };
        let (system, node) = both(mounted, opened)?;
        system.set_xattr(&node, key, value, flags)
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_getxattr(
    mounted: Mounted,
    opened: Opened,
    key: *const c_char,
    value: *mut c_void,
    size: *mut u64,
) -> c_int {
    done(|| {
        let (_, node) = both(mounted, opened)?;
        // SAFETY: STRING for `key`.
        let found = node.xattr(unsafe { name(key) }?)?;
        // SAFETY: STRUCT for `size`, BUFFER for `value`, of `size` bytes.
        match unsafe { copied(&found, value.cast(), size) }? {
            true => Ok(()),
            false => Err(Errno(libc::E2BIG)),
        }
    })
}

#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_removexattr(
    mounted: Mounted,
    opened: Opened,
    key: *const c_char,
) -> c_int {
    done(|| {
        let (system, node) = both(mounted, opened)?;
        // SAFETY: STRING for `key`.
        system.remove_xattr(&node, unsafe { name(key) }?)
    })
}

/// The names that fit, each with a NUL, and the size of all.
#[unsafe(no_mangle)]
pub(in crate::export) unsafe extern "C" fn dfs_listxattr(
    mounted: Mounted,
    opened: Opened,
    list: *mut c_char,
    size: *mut u64,
) -> c_int {
    done(|| {
        let (_, node) = both(mounted, opened)?;
        let names = node.xattr_names()?;
        // SAFETY: STRUCT for `size`.
        let capacity = usize::try_from(*unsafe { place(size) }?).unwrap_or(usize::MAX);
        let whole = names.iter().take(capacity).rposition(|byte| *byte == 0).map_or(0, |end| end + 1);
        if !list.is_null() {
            // SAFETY: BUFFER for `list`, of `size` bytes, which are no fewer than `whole`; `names` is of this library.
            unsafe { ptr::copy_nonoverlapping(names.as_ptr(), list.cast(), whole) };
        }
        // SAFETY: OUT for `size`.
        unsafe { out(size) }?.set(names.len() as u64);
        Ok(())
    })
}

/// Copies bytes to a buffer of `size` bytes and reports their number. Returns whether they fit, or there is no buffer.
///
/// # Safety
/// STRUCT for `size`, BUFFER for `to`, of so many bytes.
unsafe fn copied(bytes: &[u8], to: *mut u8, size: *mut u64) -> Result<bool> {
    // SAFETY: STRUCT for `size`.
    let size = unsafe { place(size) }?;
    let capacity = std::mem::replace(size, bytes.len() as u64);
    if to.is_null() || capacity == 0 {
        return Ok(true);
    }
    if capacity < bytes.len() as u64 {
        return Ok(false);
    }
    // SAFETY: BUFFER for `to`, of `size` bytes, which are no fewer; `bytes` is of this library.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    Ok(true)
}
