//! Extended attributes.

use std::{
    ffi::{c_char, c_int, c_void},
    ptr,
};

use super::{InOut, Mounted, Opened, Text, both, export};
use crate::{
    dfs::{Errno, FileSystem, Node, Result},
    export::many,
};

#[export]
unsafe fn dfs_setxattr(
    mounted: Mounted,
    opened: Opened,
    key: Text,
    value: *const c_void,
    size: u64,
    flags: c_int,
) -> Result<()> {
    let (system, node) = both(mounted, opened)?;
    // SAFETY: BYTES for `value`.
    unsafe { set(&system, &node, key, (value, size), flags) }
}

/// Sets an attribute.
///
/// # Safety
/// BYTES for the value, as many as the number beside it.
pub(super) unsafe fn set(
    system: &FileSystem,
    node: &Node,
    key: Text,
    (value, size): (*const c_void, u64),
    flags: c_int,
) -> Result<()> {
    // SAFETY: BYTES for `value`, as many as `size` says.
    let (key, value) = (key.name()?, unsafe { many(value.cast::<u8>(), size) }?);
    system.set_xattr(node, key, value, flags)
}

#[export]
unsafe fn dfs_getxattr(
    mounted: Mounted,
    opened: Opened,
    key: Text,
    value: *mut c_void,
    size: InOut<u64>,
) -> Result<()> {
    let (_, node) = both(mounted, opened)?;
    // SAFETY: BUFFER for `value`, of `size` bytes.
    unsafe { give(&node, key, value, size) }
}

/// Copies a value to a buffer and reports its size. Without a buffer, or with one of no bytes, only reports it.
///
/// # Safety
/// BUFFER for `to`, of `size` bytes.
pub(super) unsafe fn give(node: &Node, key: Text, to: *mut c_void, size: InOut<u64>) -> Result<()> {
    let (value, size) = (node.xattr(key.name()?)?, size.get()?);
    let capacity = std::mem::replace(size, value.len() as u64);
    if to.is_null() || capacity == 0 {
        return Ok(());
    }
    if capacity < *size {
        return Err(Errno(libc::E2BIG));
    }
    // SAFETY: BUFFER for `to`, of `size` bytes, which are no fewer; `value` is of this library.
    unsafe { ptr::copy_nonoverlapping(value.as_ptr(), to.cast(), value.len()) };
    Ok(())
}

#[export]
fn dfs_removexattr(mounted: Mounted, opened: Opened, key: Text) -> Result<()> {
    let (system, node) = both(mounted, opened)?;
    system.remove_xattr(&node, key.name()?)
}

#[export]
unsafe fn dfs_listxattr(mounted: Mounted, opened: Opened, list: *mut c_char, size: InOut<u64>) -> Result<()> {
    let (_, node) = both(mounted, opened)?;
    // SAFETY: BUFFER for `list`, of `size` bytes.
    unsafe { give_names(&node, list, size) }
}

/// The names that fit, each with a NUL, and the size of all.
///
/// # Safety
/// BUFFER for `list`, of `size` bytes.
pub(super) unsafe fn give_names(node: &Node, list: *mut c_char, size: InOut<u64>) -> Result<()> {
    let (names, size) = (node.xattr_names()?, size.get()?);
    let capacity = usize::try_from(*size).unwrap_or(usize::MAX);
    let whole = names.iter().take(capacity).rposition(|byte| *byte == 0).map_or(0, |end| end + 1);
    if !list.is_null() {
        // SAFETY: BUFFER for `list`, of `size` bytes, which are no fewer than `whole`; `names` is of this library.
        unsafe { ptr::copy_nonoverlapping(names.as_ptr(), list.cast(), whole) };
    }
    *size = names.len() as u64;
    Ok(())
}
