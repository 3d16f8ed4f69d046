//! An open file of the system.

use std::{
    fs::{self, TryLockError},
    io::{self, IoSliceMut, Write},
    num::NonZeroU64,
    os::{
        fd::OwnedFd,
        unix::fs::{FileExt, MetadataExt},
    },
    process,
    sync::atomic::{AtomicU32, Ordering},
    time::SystemTime,
};

use isotach_object::SharedBytes;
use rustix::{
    fs as sys,
    io::{Errno, ReadWriteFlags, preadv2},
};

use super::{
    File, Stat,
    ahead::{Ahead, LARGE},
    detour,
    syncs::Syncs,
};
use crate::{
    io::{map, writeback},
    sync::AtomicBool,
};

/// Allocated bytes of a file with this number of blocks of 512 bytes.
pub(super) fn allocated(length: u64, blocks: u64) -> u64 {
    length.min(blocks.saturating_mul(512))
}

/// An open file, and its lock.
///
/// A lock belongs to the open file description, which every child of this process shares, even one that is about to execute another
/// program. Closing the file would leave the lock with the child, so the lock is released explicitly, and only by the process that took it.
#[derive(Debug)]
pub(super) struct OpenFile {
    file: fs::File,
    /// The process that took the lock; 0 if none did.
    locked_by: AtomicU32,
    /// Its file system cannot read without waiting.
    always_waits: AtomicBool,
    ahead: Ahead,
    syncs: Syncs,
}

impl OpenFile {
    pub(super) fn new(file: OwnedFd) -> Self {
        let (locked_by, always_waits) = (AtomicU32::new(0), AtomicBool::new(false));
        Self { file: file.into(), locked_by, always_waits, ahead: Ahead::default(), syncs: Syncs::default() }
    }

    /// Reads, and waits for the device where it must.
    fn read_waiting(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        detour::read(buffer, position, |part, at| self.file.read_at(part, at))
    }

    /// Counts a large read, and lets the device start on what will be read next.
    fn look_ahead(&self, position: u64, length: usize, was_cached: bool) {
        let Some(next) = self.ahead.read(position, length as u64, was_cached) else { return };
        let length = NonZeroU64::new(next.end - next.start);
        // It is a hint: without it, reads wait longer.
        let _ = sys::fadvise(&self.file, next.start, length, sys::Advice::WillNeed);
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let locked_by = *self.locked_by.get_mut();
        if locked_by != 0 && locked_by == process::id() {
            let _ = self.file.unlock();
        }
    }
}

impl File for OpenFile {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        if buffer.len() < LARGE || self.always_waits.load(Ordering::Relaxed) {
            return self.read_waiting(buffer, position);
        }
        match self.read_cached(buffer, position)? {
            0 => {
                self.look_ahead(position, buffer.len(), false);
                self.read_waiting(buffer, position)
            }
            filled => {
                self.look_ahead(position, filled, filled == buffer.len());
                Ok(filled)
            }
        }
    }

    fn read_cached(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        if self.always_waits.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let read = |part: &mut [u8], at| {
            preadv2(&self.file, &mut [IoSliceMut::new(part)], at, ReadWriteFlags::NOWAIT)
        };
        match detour::read(buffer, position, read) {
            Err(Errno::AGAIN) => Ok(0),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
                self.always_waits.store(true, Ordering::Relaxed);
                Ok(0)
            }
            outcome => Ok(outcome?),
        }
    }

    fn append(&self, bytes: &[u8]) -> io::Result<Option<u64>> {
        match (&self.file).write(bytes)? == bytes.len() {
            true => Ok(Some(sys::tell(&self.file)?)),
            false => Ok(None),
        }
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, position)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn stat(&self) -> io::Result<Stat> {
        let metadata = self.file.metadata()?;
        Ok(Stat {
            length: metadata.len(),
            allocated: allocated(metadata.len(), metadata.blocks()),
            identity: (metadata.dev(), metadata.ino()),
            modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            is_folder: metadata.is_dir(),
        })
    }

    // Each look at a container asks for the length of its log, and `fstat` takes half as long as `statx`.
    fn length(&self) -> io::Result<u64> {
        Ok(sys::fstat(&self.file)?.st_size as u64)
    }

    fn sync(&self) -> io::Result<()> {
        self.syncs.run(|| self.file.sync_data())
    }

    fn begin_sync(&self, position: u64, length: u64) {
        writeback::begin(&self.file, position, length);
    }

    fn punch(&self, position: u64, length: u64) -> io::Result<()> {
        let flags = sys::FallocateFlags::PUNCH_HOLE | sys::FallocateFlags::KEEP_SIZE;
        Ok(sys::fallocate(&self.file, flags, position, length)?)
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        self.file.try_lock()?;
        self.locked_by.store(process::id(), Ordering::Relaxed);
        Ok(())
    }

    fn share(&self, position: u64, length: u64) -> io::Result<SharedBytes> {
        map::share(&self.file, position, length)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn locked(path: &Path) -> OpenFile {
        let file = opened(path);
        File::try_lock(&file).unwrap();
        file
    }

    fn opened(path: &Path) -> OpenFile {
        OpenFile::new(fs::File::open(path).unwrap().into())
    }

    fn is_locked(path: &Path) -> bool {
        matches!(File::try_lock(&opened(path)), Err(TryLockError::WouldBlock))
    }

    #[test]
    fn what_is_in_memory_is_read_without_waiting_and_never_more_than_the_file_has() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        fs::write(&path, [7; 10_000]).unwrap();
        let (file, mut buffer) = (opened(&path), [0; 8192]);
        // Some file systems always wait: then nothing is read.
        let plain = preadv2(&file.file, &mut [IoSliceMut::new(&mut buffer)], 0, ReadWriteFlags::NOWAIT);
        let always_waits = matches!(plain, Err(Errno::OPNOTSUPP | Errno::NOSYS));
        for (position, there) in [(0, 8192), (4096, 5904), (10_000, 0), (20_000, 0)] {
            let expected = if always_waits { 0 } else { there };
            buffer.fill(0);
            assert_eq!(file.read_cached(&mut buffer, position).unwrap(), expected, "at {position}");
            assert!(buffer[..expected].iter().all(|byte| *byte == 7));
        }
    }

    #[test]
    fn closing_a_file_unlocks_it_even_if_a_child_has_it_open() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let first = locked(&path);
        // The state of a child between fork and exec.
        let _of_child = first.file.try_clone().unwrap();
        assert!(is_locked(&path));
        drop(first);
        assert!(!is_locked(&path));
    }

    #[test]
    fn a_child_that_closes_a_file_leaves_it_locked() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let first = locked(&path);
        let of_child = OpenFile::new(first.file.try_clone().unwrap().into());
        of_child.locked_by.store(1, Ordering::Relaxed);
        drop(of_child);
        assert!(is_locked(&path));
    }
}
