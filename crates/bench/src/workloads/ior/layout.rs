//! The layout of files: which bytes each process writes and reads, and their contents.
//!
//! A file of several processes is a sequence of segments. A segment has a block of each process, and a block is written in
//! transfers. A file of one process has only the blocks of that process, one for each segment.

use serde::{Deserialize, Serialize};

/// Bytes between two marks of the writer and the offset.
const SECTOR: usize = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shape {
    /// Bytes of a process in a segment.
    pub(super) block: u64,
    /// Bytes of one call.
    pub(super) transfer: u64,
    pub(super) segments: u64,
    pub(super) file_per_process: bool,
}

impl Shape {
    /// Bytes of one process in a file.
    pub(super) fn bytes(self) -> Option<u64> {
        self.block.checked_mul(self.segments)
    }

    /// Transfers of a process in an iteration.
    pub(super) fn transfers(self) -> u64 {
        self.block / self.transfer * self.segments
    }

    /// The offsets of the transfers of a process in its file, in order.
    pub(super) fn offsets(self, process: u32, processes: u32) -> impl Iterator<Item = u64> {
        let (blocks, mine) = match self.file_per_process {
            true => (1, 0),
            false => (u64::from(processes), u64::from(process)),
        };
        let per_block = self.block / self.transfer;
        (0..self.transfers()).map(move |at| {
            let (segment, within) = (at / per_block, at % per_block);
            (segment * blocks + mine) * self.block + within * self.transfer
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct File {
    /// 0, or the number of the iteration where each has files of its own.
    pub(super) number: u64,
    /// The process that owns it; none if all processes share it.
    pub(super) owner: Option<u32>,
}

impl File {
    /// Its name in a file system.
    pub(super) fn name(self) -> String {
        match self.owner {
            Some(owner) => format!("data-{}.{owner:08}", self.number),
            None => format!("data-{}", self.number),
        }
    }
}

/// Marks bytes with their writer, file and offset.
pub(super) fn stamp(bytes: &mut [u8], process: u32, file: u64, offset: u64) {
    for (number, sector) in bytes.chunks_mut(SECTOR).enumerate() {
        let at = offset + (number * SECTOR) as u64;
        let mark = mark(process, file, at).to_le_bytes();
        let length = sector.len().min(mark.len());
        sector[..length].copy_from_slice(&mark[..length]);
    }
}

/// A hash of process, file and offset.
fn mark(process: u32, file: u64, offset: u64) -> u64 {
    let mixed = [u64::from(process) + 1, file + 1, offset].into_iter().fold(0, |mixed: u64, part| {
        let next = (mixed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        next ^ (next >> 29)
    });
    mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn shape(file_per_process: bool) -> Shape {
        Shape { block: 20, transfer: 10, segments: 2, file_per_process }
    }

    #[test]
    fn each_segment_of_a_shared_file_has_a_block_of_each_process() {
        let offsets = |process| shape(false).offsets(process, 3).collect::<Vec<_>>();
        assert_eq!(offsets(0), [0, 10, 60, 70]);
        assert_eq!(offsets(2), [40, 50, 100, 110]);
        let all: BTreeSet<u64> = (0..3).flat_map(offsets).collect();
        assert_eq!(all, (0..120).step_by(10).collect());
    }

    #[test]
    fn a_file_of_one_process_has_its_blocks_in_sequence() {
        assert_eq!(shape(true).offsets(2, 3).collect::<Vec<_>>(), [0, 10, 20, 30]);
    }

    #[test]
    fn bytes_of_another_process_file_or_offset_differ() {
        let stamped = |process, file, offset| {
            let mut bytes = vec![7; SECTOR + 3];
            stamp(&mut bytes, process, file, offset);
            bytes
        };
        let one = stamped(1, 0, 8192);
        assert_eq!(one, stamped(1, 0, 8192));
        for other in [stamped(2, 0, 8192), stamped(1, 1, 8192), stamped(1, 0, 0), stamped(0, 0, 0)] {
            assert_ne!(one[..8], other[..8]);
            assert_ne!(one[SECTOR..], other[SECTOR..]);
        }
    }
}
