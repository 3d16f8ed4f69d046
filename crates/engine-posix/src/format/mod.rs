//! The bytes on the device: each file encodes and decodes one part of `docs/FORMAT.md`.
//!
//! What must stay true: decoding never reads past its input, whatever the bytes are.

use isotach_engine_kit::{
    bytes::{Put, Reader},
    checksum::crc32c,
};

pub(crate) mod extent;
pub(crate) mod frame;
pub(crate) mod path;
pub(crate) mod record;
pub(crate) mod superblock;

/// A header of `size` bytes that ends with its checksum.
pub(crate) fn checked(mut header: Vec<u8>, size: usize) -> Vec<u8> {
    header.resize(size - 4, 0);
    header.put_u32(crc32c(&header));
    header
}

/// The bytes of such a header before the checksum; `None` if it does not match.
pub(crate) fn check(header: &[u8]) -> Option<Reader<'_>> {
    let (body, sum) = header.split_last_chunk::<4>()?;
    (u32::from_le_bytes(*sum) == crc32c(body)).then_some(Reader(body))
}
