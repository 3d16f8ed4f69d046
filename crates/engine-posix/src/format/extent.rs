//! Extents: ranges of bytes in a data file, checked chunk by chunk (FORMAT.md section 6).
//!
//! A chunk has [`CHUNK`] bytes, counted from the beginning of the extent, so a small read of a large extent verifies only the chunks it
//! touches. The chunk checksums are in the log with the extent and never beside the data, so a misdirected write cannot bring its own
//! checksum along.

use isotach_engine_kit::{
    bytes::{Put, Reader},
    checksum::{combined_blocks, crc32c},
};
use sha2::{Digest as _, Sha256};

/// Bytes per checksum.
pub(crate) const CHUNK: u64 = 64 * 1024;

/// Bytes of a [`Digest`].
pub(crate) const DIGEST: usize = 32;

/// SHA-256 of a value in a data file. Preconditions compare values by it, so the replay of the log never needs a data file.
pub(crate) type Digest = [u8; DIGEST];

/// The digest of a value.
pub(crate) fn digest(value: &[u8]) -> Digest {
    Sha256::digest(value).into()
}

/// Where bytes are, and their checksums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The data file's number.
    pub(crate) file: u64,
    /// The first byte in the file.
    pub(crate) position: u64,
    /// How many bytes.
    pub(crate) length: u64,
    /// The checksum of each chunk; the last chunk may be short.
    pub(crate) sums: Sums,
}

/// Chunk checksums. Most extents are one chunk, which then needs no allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sums {
    One(u32),
    Many(Box<[u32]>),
}

impl Sums {
    /// The checksums of `data`.
    pub(crate) fn of(data: &[u8]) -> Self {
        if data.len() as u64 <= CHUNK {
            return Self::One(crc32c(data));
        }
        Self::Many(data.chunks(CHUNK as usize).map(crc32c).collect())
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        match self {
            Self::One(sum) => std::slice::from_ref(sum),
            Self::Many(sums) => sums,
        }
    }
}

/// The number of checksums of an extent with `length` bytes. An empty extent has one, of no bytes.
fn chunks(length: u64) -> u64 {
    length.div_ceil(CHUNK).max(1)
}

impl Extent {
    /// The checksum of all its bytes.
    pub(crate) fn sum(&self) -> u32 {
        combined_blocks(self.sums.as_slice(), CHUNK, self.length)
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.file);
        out.put_u64(self.position);
        out.put_u64(self.length);
        self.sums.as_slice().iter().for_each(|sum| out.put_u32(*sum));
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        let (file, position, length) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let count = usize::try_from(chunks(length)).ok()?;
        let bytes = reader.take(count.checked_mul(4)?)?;
        let mut sums = Reader(bytes);
        let sums = match count {
            1 => Sums::One(sums.u32()?),
            _ => Sums::Many(std::iter::from_fn(|| sums.u32()).collect()),
        };
        position.checked_add(length)?;
        Some(Self { file, position, length, sums })
    }
}

/// A visible part of an extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExtentPart {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) skip: u64,
    pub(crate) extent: Extent,
}

impl ExtentPart {
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.length
    }

    /// The part of it within `[start, end)`, if any.
    pub(crate) fn clip(&self, start: u64, end: u64) -> Option<Self> {
        let (from, to) = (self.offset.max(start), self.end().min(end));
        (from < to).then(|| Self {
            offset: from,
            length: to - from,
            skip: self.skip + (from - self.offset),
            extent: self.extent.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_of_every_length_around_a_chunk_read_back() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK, 5 * CHUNK + 3] {
            let data = vec![7u8; length as usize];
            let extent = Extent { file: 3, position: 9, length, sums: Sums::of(&data) };
            assert_eq!(extent.sums.as_slice().len() as u64, chunks(length));
            assert_eq!(extent.sum(), crc32c(&data));
            let mut bytes = Vec::new();
            extent.encode(&mut bytes);
            let mut reader = Reader(&bytes);
            assert_eq!(Extent::decode(&mut reader), Some(extent));
            assert!(reader.is_empty());
            assert_eq!(Extent::decode(&mut Reader(&bytes[..bytes.len() - 1])), None);
        }
    }
}
