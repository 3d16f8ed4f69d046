//! Writes results to where HDF5 wants them.

use std::ffi::c_char;

use crate::abi::SizedBuffer;

/// Sets a result, if HDF5 wants it.
///
/// # Safety
/// The pointer is null or valid for writing.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the caller's promise.
        unsafe { place.write(value) };
    }
}

/// Sets a text: as much as the buffer holds, with a zero at the end, and the whole length.
///
/// # Safety
/// The buffer has the size that it says, or is null.
pub(crate) unsafe fn put_text(buffer: &SizedBuffer, text: &str) {
    // SAFETY: the caller's promise.
    unsafe {
        put_bytes(buffer.buf, buffer.size, text);
        put(buffer.length, text.len());
    }
}

/// Sets a text: as much as the buffer holds, with a zero at the end.
///
/// # Safety
/// As [`put_text`].
pub(crate) unsafe fn put_bytes(buffer: *mut c_char, size: usize, text: &str) {
    if buffer.is_null() || size == 0 {
        return;
    }
    let length = text.len().min(size - 1);
    // SAFETY: the buffer has `size` bytes, of which `length` and one more are set.
    unsafe {
        buffer.copy_from_nonoverlapping(text.as_ptr().cast(), length);
        buffer.add(length).write(0);
    }
}
