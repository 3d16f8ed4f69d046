//! Filter 32015: one frame of Zstandard.

use std::io::Read as _;

use super::failure::failed;
use crate::Result;

/// The level for which a program gives none.
const LEVEL: i32 = 3;

pub(super) fn encode(values: &[u32], bytes: &[u8]) -> Result<Vec<u8>> {
    // Fast levels are negative numbers.
    let level = values.first().map_or(LEVEL, |level| level.cast_signed()).clamp(-100, 22);
    zstd::bulk::compress(bytes, level).map_err(|error| failed("Zstandard", error))
}

pub(super) fn decode(stored: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    // One byte more than may be, to notice that there are too many.
    let decoder = zstd::stream::read::Decoder::with_buffer(stored).ok()?.single_frame();
    decoder.take(most as u64 + 1).read_to_end(&mut decoded).ok()?;
    (decoded.len() <= most).then_some(decoded)
}
