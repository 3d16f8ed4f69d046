//! Letting the device begin to write before anybody waits for it.
#![expect(unsafe_code, reason = "no library has a safe call for it")]

use std::{fs::File, os::fd::AsRawFd};

/// Starts writing `length` bytes of `file` from `position` on, as far as they are in memory alone. What fails here the sync
/// that is waited for tells.
pub(crate) fn begin(file: &File, position: u64, length: u64) {
    let (Ok(position), Ok(length)) = (position.try_into(), length.try_into()) else { return };
    // SAFETY: the call takes numbers alone, and the file is open as long as it is borrowed.
    unsafe { libc::sync_file_range(file.as_raw_fd(), position, length, libc::SYNC_FILE_RANGE_WRITE) };
}
