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
    // SAFETY: the bytes that are lent do not change, and their file does not end before them. They are of an extent that a frame of the log
    // refers to, and the caller has found the file to hold it. No writer writes there again or cuts the file there: it cuts only what a
    // failed write left behind all that frames refer to (the head of `data` has the argument). The page at the end stays mapped, since a
    // byte of it is in the file. A purge takes only the name, and a local file system keeps the file for its maps.
    // What others do is as in every program that maps files: a file that an operator cuts, or that a server of NFS forgets when it is
    // removed, raises SIGBUS. `read` instead of `share` gives an error there.
    let map: Mmap = unsafe { MmapOptions::new().offset(start).len(mapped).map(file) }?;
    SharedBytes::new(Arc::new(map), lead..mapped).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
