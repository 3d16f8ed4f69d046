//! Entry points for fuzzers: each function decodes any bytes. It must neither panic nor allocate more than they warrant. Checksums are
//! corrected first where they would stop the fuzzer.

use std::path::Path;

use crate::{
    format::{
        frame::{self, FrameVerdict, Origin, kind},
        record,
        superblock::{Kind, Superblock},
    },
    index::entry::Entry,
    transaction::prepared::Stage,
};
use isotach_engine_kit::{
    bytes::{Put, Reader},
    checksum::crc32c,
};

pub use crate::index::run::fuzzing::{run, run_index};

const MARKER: u64 = 0x3377_5599_bbdd_eeff;

/// Reads a log that `bytes` describe: whole, torn and damaged frames, markers and any other bytes. The verdict on a
/// position never changes as the log grows, and nothing is read past its end.
///
/// # Panics
/// If a verdict changes.
pub fn log(bytes: &[u8]) {
    let log = log_of(bytes);
    let mut at = 0;
    while at < log.len() {
        let rest = &log[at..];
        let whole = frame::find(rest, MARKER, false);
        // A reader that saw a shorter log; the bytes choose its length.
        let earlier = usize::from(rest[rest.len() / 2]) * rest.len() / 256;
        match frame::find(&rest[..earlier], MARKER, false) {
            FrameVerdict::Pending { .. } => {}
            // Foreign bytes are skipped as far as they were seen.
            FrameVerdict::Strange { length } if length + 7 == earlier => {}
            settled => assert_eq!(
                settled, whole,
                "at {at} of {log:02x?}, {earlier} bytes of which stood there first"
            ),
        }
        at += match whole {
            FrameVerdict::Frame { frame, length } => {
                records(&frame.body);
                length
            }
            FrameVerdict::Torn { length } | FrameVerdict::Strange { length } => length,
            FrameVerdict::Pending { .. } | FrameVerdict::Damaged { .. } => return,
        };
    }
}

/// Takes pieces off `bytes`, each with a byte for its kind and two for its length.
fn log_of(mut bytes: &[u8]) -> Vec<u8> {
    let mut log = Vec::new();
    while let [what, low, high, rest @ ..] = bytes {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let (piece, next) = rest.split_at(rest.len().min(length % 512));
        bytes = next;
        let mut frame = vec![0; frame::HEADER];
        frame.extend_from_slice(piece);
        let origin = Origin { writer: 1, sequence: log.len() as u64 };
        frame::seal(&mut frame, MARKER, kind::TRANSACTION, origin, what & 0x80 != 0);
        match what % 5 {
            0 => log.extend_from_slice(piece),
            1 => log.extend_from_slice(&frame),
            2 => log.extend_from_slice(&frame[..length % frame.len()]),
            3 => {
                let bit = length % (frame.len() * 8);
                frame[bit / 8] ^= 1 << (bit % 8);
                log.extend_from_slice(&frame);
            }
            _ => log.extend_from_slice(&MARKER.to_le_bytes()[..1 + length % 8]),
        }
    }
    log
}

/// The records of a frame's body.
pub fn records(bytes: &[u8]) {
    let _ = Stage::decode(bytes);
    let mut reader = Reader(bytes);
    while !reader.is_empty() && record::decode(&mut reader).is_some() {}
}

/// An entry of a run: its tag, then its payload.
pub fn entry(bytes: &[u8]) {
    if let [tag, payload @ ..] = bytes {
        let decoded = Entry::decode(*tag, payload);
        let resolved = decoded.and_then(|entry| match entry {
            Entry::Bytes(bytes) => bytes.resolve(),
            _ => None,
        });
        drop(resolved);
    }
}

/// A superblock, as it is and with a corrected checksum.
pub fn superblock(bytes: &[u8]) {
    let mut sealed = bytes.get(..60).unwrap_or(bytes).to_vec();
    sealed.put_u32(crc32c(&sealed));
    for kind in [Kind::Pool, Kind::Container] {
        for block in [bytes, &sealed] {
            let _ = Superblock::decode(block, kind, Path::new("fuzzed"));
        }
    }
}
