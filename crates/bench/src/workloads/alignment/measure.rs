//! The calls: a file in the page cache, and a buffer at any place in its page.

use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::Instant,
};

use rustix::param::page_size;

use super::Call;
use crate::{
    Error, Result,
    harness::{launcher::cpus, noise},
};

/// Bytes of the buffer's begin behind a page boundary.
pub(super) const BUFFER_OFFSETS: [usize; 9] = [0, 8, 16, 24, 32, 40, 48, 64, 128];
/// Offsets in the file, each behind the begin of a page.
pub(super) const FILE_OFFSETS: [usize; 4] = [0, 16, 64, 37];
/// Where glibc's malloc puts a large block: in pages of its own, behind a header of 16 bytes.
pub(super) const MALLOC: usize = 16;
/// Bytes of the file, at least: more than caches near a processor hold, so that bytes come from memory, as those of fields do.
const AREA_MIN: usize = 32 << 20;
/// Bytes of a time, approximately.
const BATCH: usize = 8 << 20;

/// A file for one call, and space for buffers. Each call has a file of its own, because a write changes the bytes that a read
/// is compared with.
pub(super) struct Bench {
    call: Call,
    file: File,
    path: PathBuf,
    /// Bytes of a call.
    size: usize,
    /// Bytes from the begin of a block to that of the next: whole pages.
    stride: usize,
    blocks: usize,
    /// The next block.
    next: usize,
    space: Vec<u8>,
    /// The begin of the first page in `space`.
    page: usize,
    /// The bytes of the file.
    contents: Vec<u8>,
}

impl Bench {
    /// Creates a file without a name, and fills it. Binds this thread to its processor, so that its caches stay the same.
    pub(super) fn create(folder: &Path, call: Call, size: usize) -> Result<Self> {
        cpus::bind(rustix::thread::sched_getcpu());
        let page_bytes = page_size();
        // A page more, for the largest offset in the file.
        let stride = size.next_multiple_of(page_bytes) + page_bytes;
        let blocks = AREA_MIN.div_ceil(stride).max(1);
        let path = folder.to_owned();
        let file = tempfile::tempfile_in(folder).map_err(Error::io("make a file in", folder))?;
        let contents = noise::block(stride * blocks).into_vec();
        file.write_all_at(&contents, 0).map_err(Error::io("write a file in", folder))?;
        // Otherwise the kernel would write these bytes to a device during the measurement. Those of pwrite it may still write.
        file.sync_data().map_err(Error::io("sync a file in", folder))?;
        let space = noise::block(size + 2 * page_bytes).into_vec();
        let page = space.as_ptr().addr().next_multiple_of(page_bytes) - space.as_ptr().addr();
        Ok(Self { call, file, path, size, stride, blocks, next: 0, space, page, contents })
    }

    pub(super) fn call(&self) -> Call {
        self.call
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Seconds of one call, the mean of a batch.
    pub(super) fn time(&mut self, place: (usize, usize)) -> Result<f64> {
        let calls = (BATCH / self.size).clamp(1, 4096);
        let began = Instant::now();
        for _ in 0..calls {
            self.move_block(place)?;
        }
        Ok(began.elapsed().as_secs_f64() / calls as f64)
    }

    /// Calls once, on the next block. Returns where that is in the file.
    fn move_block(&mut self, (buffer, file): (usize, usize)) -> Result<usize> {
        let at = self.next * self.stride + file;
        self.next = (self.next + 1) % self.blocks;
        let begin = self.page + buffer;
        let bytes = &mut self.space[begin..begin + self.size];
        let (verb, moved) = match self.call {
            Call::Pread => ("read", self.file.read_exact_at(bytes, at as u64)),
            Call::Pwrite => ("write", self.file.write_all_at(bytes, at as u64)),
        };
        moved.map_err(|error| Error::io(&format!("{verb} a file in"), &self.path)(error))?;
        Ok(at)
    }

    /// Checks that the bytes of a call arrive at each place. The times of wrong copies say nothing.
    pub(super) fn check(&mut self, places: &[(usize, usize)]) -> Result<()> {
        for place in places {
            let at = self.move_block(*place)?;
            let begin = self.page + place.0;
            let (buffer, range) = (begin..begin + self.size, at..at + self.size);
            if self.call == Call::Pwrite {
                let mut found = vec![0; self.size];
                self.file
                    .read_exact_at(&mut found, at as u64)
                    .map_err(Error::io("read a file in", &self.path))?;
                self.contents[range.clone()].copy_from_slice(&found);
            }
            if self.space[buffer] != self.contents[range] {
                let what =
                    format!("{} with the buffer at +{} and the file at {at}", self.call.name(), place.0);
                return Err(Error::wrong(what, "the bytes that are there"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_begins_at_its_offset_behind_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let bench = Bench::create(folder.path(), Call::Pread, 1 << 16).unwrap();
        assert_eq!(bench.space[bench.page..].as_ptr().addr() % page_size(), 0);
        assert!(bench.stride.is_multiple_of(page_size()) && bench.stride * bench.blocks >= AREA_MIN);
    }

    #[test]
    fn bytes_that_do_not_arrive_fail_the_check() {
        let folder = tempfile::tempdir().unwrap();
        for call in [Call::Pread, Call::Pwrite] {
            let mut bench = Bench::create(folder.path(), call, 4096).unwrap();
            bench.check(&[(16, 37), (0, 0)]).unwrap();
        }
        let mut bench = Bench::create(folder.path(), Call::Pread, 4096).unwrap();
        bench.contents[100] ^= 1;
        let error = bench.check(&[(8, 64)]).unwrap_err().to_string();
        assert!(error.contains("pread with the buffer at +8 and the file at 64"), "{error}");
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn malloc_puts_a_large_block_sixteen_bytes_behind_a_page() {
        // Larger than the largest threshold from which blocks have pages of their own.
        let block = Vec::<u8>::with_capacity(64 << 20);
        assert_eq!(block.as_ptr().addr() % page_size(), MALLOC);
    }
}
