//! Bytes by offset, of which only those that were written take space.
//!
//! What must stay true: pieces do not overlap, none is empty, and none reaches past the size.

use std::collections::BTreeMap;

use isotach_engine_kit::bytes::{Put, Reader};

/// Bytes with holes, which read as zeros.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sparse {
    pub(crate) size: u64,
    pieces: BTreeMap<u64, Vec<u8>>,
}

impl Sparse {
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        let end = offset + data.len() as u64;
        self.punch(offset, end);
        self.pieces.insert(offset, data.to_vec());
        self.size = self.size.max(end);
    }

    pub(crate) fn set_size(&mut self, size: u64) {
        self.punch(size, u64::MAX);
        self.size = size;
    }

    /// Makes a hole from `start` to `end`.
    pub(crate) fn punch(&mut self, start: u64, end: u64) {
        let touched = self.pieces.range(..end).rev();
        let touched = touched.take_while(|(at, piece)| *at + piece.len() as u64 > start);
        let touched: Vec<u64> = touched.map(|(at, _)| *at).collect();
        for at in touched {
            let Some(mut piece) = self.pieces.remove(&at) else { continue };
            if at + piece.len() as u64 > end {
                self.pieces.insert(end, piece.split_off((end - at) as usize));
            }
            if at < start {
                piece.truncate((start - at) as usize);
                self.pieces.insert(at, piece);
            }
        }
    }

    /// Fills the front of a buffer with the bytes from `offset` on; returns how many there are.
    pub(crate) fn read(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let length = self.size.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let (buffer, end) = (&mut buffer[..length], offset + length as u64);
        buffer.fill(0);
        let before = self.pieces.range(..end).rev();
        for (at, piece) in before.take_while(|(at, piece)| *at + piece.len() as u64 > offset) {
            let (from, to) = ((*at).max(offset), (at + piece.len() as u64).min(end));
            let part = &piece[(from - at) as usize..(to - at) as usize];
            buffer[(from - offset) as usize..(to - offset) as usize].copy_from_slice(part);
        }
        length
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.size);
        out.put_u64(self.pieces.len() as u64);
        for (at, piece) in &self.pieces {
            out.put_u64(*at);
            put_part(out, piece);
        }
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        let (size, count) = (reader.u64()?, reader.u64()?);
        let pieces = (0..count).map(|_| Some((reader.u64()?, take_part(reader)?))).collect::<Option<_>>()?;
        Some(Self { size, pieces })
    }
}

/// Appends bytes with their length in front.
pub(crate) fn put_part(out: &mut Vec<u8>, part: &[u8]) {
    out.put_u64(part.len() as u64);
    out.extend_from_slice(part);
}

/// Takes such bytes off the front.
pub(crate) fn take_part(reader: &mut Reader<'_>) -> Option<Vec<u8>> {
    let length = usize::try_from(reader.u64()?).ok()?;
    reader.take(length).map(<[u8]>::to_vec)
}
