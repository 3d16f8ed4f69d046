//! Filter 32004: LZ4 in blocks, as the registered plugin stores them.
//!
//! The length of the chunk in 8 bytes and that of a block in 4, the first byte the high one; then each block with its stored length in 4
//! bytes before it. A block whose stored length is that of its bytes was not compressed.

use lz4_flex::block;

use super::failure::failed;
use crate::Result;

/// The plugin's usual length of a block.
const BLOCK: usize = 1 << 30;

#[expect(clippy::big_endian_bytes, reason = "the order of the registered format")]
pub(super) fn encode(values: &[u32], bytes: &[u8]) -> Result<Vec<u8>> {
    let asked = values.first().map_or(0, |block| *block as usize);
    let block = if asked == 0 { BLOCK } else { asked }.min(bytes.len()).max(1);
    let block_length = u32::try_from(block).map_err(|error| failed("LZ4", error))?;
    let mut stored = Vec::with_capacity(bytes.len() / 2);
    stored.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    stored.extend_from_slice(&block_length.to_be_bytes());
    for plain in bytes.chunks(block) {
        let packed = block::compress(plain);
        let kept = if packed.len() < plain.len() { &packed } else { plain };
        let length = u32::try_from(kept.len()).map_err(|error| failed("LZ4", error))?;
        stored.extend_from_slice(&length.to_be_bytes());
        stored.extend_from_slice(kept);
    }
    Ok(stored)
}

#[expect(clippy::big_endian_bytes, reason = "the order of the registered format")]
pub(super) fn decode(stored: &[u8], most: usize) -> Option<Vec<u8>> {
    let (length, rest) = stored.split_first_chunk::<8>()?;
    let (block, mut rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u64::from_be_bytes(*length)).ok().filter(|length| *length <= most)?;
    let block = (u32::from_be_bytes(*block) as usize).min(length);
    let mut bytes = vec![0; length];
    if block == 0 {
        return (length == 0).then_some(bytes);
    }
    for plain in bytes.chunks_mut(block) {
        let (packed, behind) = rest.split_first_chunk::<4>()?;
        let (packed, behind) = behind.split_at_checked(u32::from_be_bytes(*packed) as usize)?;
        rest = behind;
        if packed.len() == plain.len() {
            plain.copy_from_slice(packed);
        } else if block::decompress_into(packed, plain).ok()? != plain.len() {
            return None;
        }
    }
    Some(bytes)
}
