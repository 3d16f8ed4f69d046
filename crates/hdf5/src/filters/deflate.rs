//! Filter 1: a zlib stream.

use std::io::{Read as _, Write as _};

use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};

use super::failure::failed;
use crate::Result;

pub(super) fn encode(values: &[u32], bytes: &[u8]) -> Result<Vec<u8>> {
    let level = values.first().copied().unwrap_or(6).min(9);
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::new(level));
    encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(|error| failed("deflate", error))
}

pub(super) fn decode(bytes: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    // One byte more than may be, to notice that there are too many.
    ZlibDecoder::new(bytes).take(most as u64 + 1).read_to_end(&mut decoded).ok()?;
    (decoded.len() <= most).then_some(decoded)
}
