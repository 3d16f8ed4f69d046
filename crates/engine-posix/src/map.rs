//! Data files mapped into memory, to lend their bytes without a copy.
#![expect(unsafe_code, reason = "mapping a file is unsafe because another process could change it")]

use std::{fs::File, io, sync::Arc};

use isotach_object::SharedBytes;
use memmap2::{Mmap, MmapOptions};

/// Memory maps begin at multiples of this.
const PAGE: u64 = 64 * 1024;

/// Maps `length` bytes of `file` from `position` on, which the caller has found to be within the file.
pub(crate) fn share(file: &File, position: u64, length: u64) -> io::Result<SharedBytes> {
    let start = position - position % PAGE;
    let lead = (position - start) as usize;
    let mapped = lead + length as usize;
    // SAFETY: the bytes of an extent that the log refers to are never written again, by the rules of
    // `data`; files are only appended to. Data files are not truncated by this program. One that an
    // operator cuts short under a running reader raises SIGBUS, as in every program that maps files.
    let map: Mmap = unsafe { MmapOptions::new().offset(start).len(mapped).map(file) }?;
    SharedBytes::new(Arc::new(map), lead..mapped).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
