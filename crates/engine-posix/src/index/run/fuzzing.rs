//! Runs of any bytes, for fuzzers: checksums are right, all else is as the bytes have it.

use std::{fs::TryLockError, io, sync::Arc, time::UNIX_EPOCH};

use isotach_engine_kit::{bytes::Put, checksum::crc32c};
use isotach_object::SharedBytes;

use super::{HEADER, MAGIC, Run, RunCursor, Span, read::parse_index};
use crate::io::disk::{File, Stat};

const UUID: [u8; 16] = [1; 16];
const SPAN: Span = Span { from: 0, to: 1000, tag: 0 };

/// The index of a run.
pub fn run_index(bytes: &[u8]) {
    let _ = parse_index(bytes);
}

/// A run of blocks that hold any bytes: gone through, and searched for a path.
pub fn run(bytes: &[u8]) {
    let [path_length, block_length, rest @ ..] = bytes else { return };
    let (path, blocks) = rest.split_at(rest.len().min(usize::from(*path_length)));
    let (mut index, mut file) = (Vec::new(), vec![0; HEADER]);
    index.put_u32(path.len() as u32);
    index.extend_from_slice(path);
    for block in blocks.chunks(1 + 8 * usize::from(*block_length)) {
        index.put_u64(file.len() as u64);
        index.put_u32(block.len() as u32);
        index.put_u32(crc32c(block));
        let first = &path[..path.len() / 2];
        index.put_u32(first.len() as u32);
        index.extend_from_slice(first);
        file.extend_from_slice(block);
    }
    let mut header = Vec::new();
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&UUID);
    let numbers = [SPAN.from, SPAN.to, 1, file.len() as u64, index.len() as u64];
    numbers.into_iter().for_each(|number| header.put_u64(number));
    [crc32c(&index), 0, 0].into_iter().for_each(|number| header.put_u32(number));
    header.resize(HEADER - 4, 0);
    header.put_u32(crc32c(&header));
    file[..HEADER].copy_from_slice(&header);
    file.extend_from_slice(&index);

    let Ok(run) = Run::of_file(Arc::new(Memory(file)), "fuzzed".to_owned(), UUID, SPAN) else { return };
    let run = Arc::new(run);
    let _ = run.get(path);
    let _ = run.get(b"");
    let Ok(mut cursor) = RunCursor::seek(&run, b"") else { return };
    while let Some(raw) = cursor.current() {
        let _ = raw.decode();
        if cursor.advance().is_err() {
            return;
        }
    }
}

/// A file that is there to be read.
#[derive(Debug)]
struct Memory(Vec<u8>);

fn refused<T>() -> io::Result<T> {
    Err(io::ErrorKind::ReadOnlyFilesystem.into())
}

impl File for Memory {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let rest = usize::try_from(position).ok().and_then(|at| self.0.get(at..)).unwrap_or(&[]);
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
    fn append(&self, _: &[u8]) -> io::Result<Option<u64>> {
        refused()
    }
    fn write_all_at(&self, _: &[u8], _: u64) -> io::Result<()> {
        refused()
    }
    fn set_length(&self, _: u64) -> io::Result<()> {
        refused()
    }
    fn stat(&self) -> io::Result<Stat> {
        let length = self.0.len() as u64;
        Ok(Stat { length, room: length, identity: (0, 0), modified: UNIX_EPOCH, is_folder: false })
    }
    fn sync(&self) -> io::Result<()> {
        refused()
    }
    fn set_mode(&self, _: u32) -> io::Result<()> {
        refused()
    }
    fn punch(&self, _: u64, _: u64) -> io::Result<()> {
        refused()
    }
    fn try_lock(&self) -> Result<(), TryLockError> {
        Err(TryLockError::WouldBlock)
    }
    fn share(&self, _: u64, _: u64) -> io::Result<SharedBytes> {
        refused()
    }
}
