//! Mapping data files into memory, to lend their bytes without a copy.
#![expect(unsafe_code, reason = "mapping a file is unsafe because another process could change it")]

use std::{fs::File, io, sync::Arc};

use isotach_object::SharedBytes;
use memmap2::{Advice, Mmap, MmapOptions};

/// Maps begin at multiples of this.
const PAGE: u64 = 64 * 1024;

/// Maps `length` bytes of `file` from `position` on. The caller has found them to be within the file.
pub(crate) fn share(file: &File, position: u64, length: u64) -> io::Result<SharedBytes> {
    let start = position - position % PAGE;
    let lead = (position - start) as usize;
    let mapped = lead + length as usize;
    // SAFETY: the lent bytes do not change, and their file does not end before them. They belong to an extent that a frame of the log
    // refers to, and the caller has found the file to contain it. No writer writes there again or truncates the file there: it cuts only
    // what a failed write left behind everything that frames refer to (the head of `data::writer` has the argument). The last page stays mapped,
    // since a byte of it is in the file. A purge removes only the name, and a local file system keeps the file for its maps. As in every
    // program that maps files, a file that an operator truncates, or that an NFS server forgets when it is removed, raises SIGBUS. `read`
    // instead of `share` returns an error there.
    let map: Mmap = unsafe { MmapOptions::new().offset(start).len(mapped).map(file) }?;
    populate(&map)?;
    SharedBytes::new(Arc::new(map), lead..mapped).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Brings all pages of a map into memory. What the device cannot read is an error here, and would be a signal when the bytes are used.
fn populate(map: &Mmap) -> io::Result<()> {
    match map.advise(Advice::PopulateRead) {
        // Linux before 5.14: the pages come when they are used.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        populated => populated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_ends_before_its_map_is_an_error_and_no_signal() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4 * PAGE).unwrap();
        assert!(share(&file, PAGE + 7, 2 * PAGE).unwrap().iter().all(|byte| *byte == 0));
        file.set_len(PAGE).unwrap();
        assert!(share(&file, PAGE + 7, 2 * PAGE).is_err());
    }
}
