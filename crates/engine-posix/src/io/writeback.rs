//! Starting the device on writes before a sync waits for them.
#![expect(unsafe_code, reason = "no library has a safe call for it")]

use std::{fs::File, os::fd::AsRawFd};

/// Starts writing `length` bytes of `file` from `position` on, as far as they are only in memory. The later sync reports a failure.
pub(crate) fn begin(file: &File, position: u64, length: u64) {
    let (Ok(position), Ok(length)) = (position.try_into(), length.try_into()) else { return };
    // SAFETY: the call takes only numbers, and the file is open while it is borrowed.
    unsafe { libc::sync_file_range(file.as_raw_fd(), position, length, libc::SYNC_FILE_RANGE_WRITE) };
}
