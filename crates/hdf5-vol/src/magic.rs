//! The numbers with which all memory begins that HDF5 holds as an object of this connector.

use std::ffi::c_void;

/// A handle on a file, object or attribute of ours.
pub(crate) const HANDLE: u64 = 0x6973_6f74_6163_6835;
/// A handle that is being closed. HDF5 may still ask for its shadow, since closing a native file goes through all ids.
pub(crate) const CLOSING: u64 = 0x6973_6f74_6163_6836;
/// A handle whose closing failed. Its id may stay with HDF5, which then closes it again.
pub(crate) const FAILED: u64 = 0x6973_6f74_6163_6837;
/// An object of a native file.
pub(crate) const THROUGH: u64 = 0x6973_6f74_6163_6838;

/// The number with which an object begins; 0 for none. The native objects of HDF5 begin with a pointer, which is none of the numbers here.
///
/// # Safety
/// The pointer is null, or HDF5 holds it as an object of this connector or of its own: these have 8 bytes and more, aligned as a pointer.
pub(crate) unsafe fn of(pointer: *const c_void) -> u64 {
    // SAFETY: the caller's promise.
    if pointer.is_null() { 0 } else { unsafe { pointer.cast::<u64>().read() } }
}

/// Whether a number is that of an object of this connector.
pub(crate) fn is_ours(magic: u64) -> bool {
    matches!(magic, HANDLE | CLOSING | FAILED | THROUGH)
}
