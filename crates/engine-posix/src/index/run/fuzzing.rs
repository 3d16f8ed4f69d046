//! Runs of any bytes, for fuzzers. Only the checksums are right.

use std::sync::Arc;

use isotach_engine_kit::{bytes::Put, checksum::crc32c};

use super::{HEADER, MAGIC, Run, RunCursor, Span, read::parse_index};
use crate::{format::checked, io::directory::Directory};

const UUID: [u8; 16] = [1; 16];
const SPAN: Span = Span { from: 0, to: 1000, tag: 0 };

/// The index of a run.
pub fn run_index(bytes: &[u8]) {
    let _ = parse_index(bytes);
}

/// A run of blocks with any bytes: walked through, and searched for a path.
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
    file[..HEADER].copy_from_slice(&checked(header, HEADER));
    file.extend_from_slice(&index);

    let directory = Directory::in_memory();
    let Ok(stored) = directory.create(&SPAN.file_name()) else { return };
    let Ok(()) = stored.write_all_at(&file, 0) else { return };
    let Ok(run) = Run::open(&directory, UUID, SPAN) else { return };
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
