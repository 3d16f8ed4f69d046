//! The bytes of fields: noise that a device cannot compress, with a stamp at both ends.

use isotach_engine_kit::aligned::AlignedBuffer;

/// Bytes without a pattern, the same each time: the output of the generator SplitMix64.
pub(crate) fn block(size: usize) -> AlignedBuffer {
    let mut bytes = AlignedBuffer::new(size);
    let mut state = 0_u64;
    for word in bytes.chunks_mut(size_of::<u64>()) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word.copy_from_slice(&(mixed ^ (mixed >> 31)).to_le_bytes()[..word.len()]);
    }
    bytes
}

/// Writes a stamp to both ends of bytes: numbers in little-endian order.
pub(crate) fn stamp_ends(bytes: &mut [u8], stamp: &[u8]) {
    bytes[..stamp.len()].copy_from_slice(stamp);
    let end = bytes.len() - stamp.len();
    bytes[end..].copy_from_slice(stamp);
}

/// Four numbers as a stamp.
pub(crate) fn stamp_of(parts: [u32; 4]) -> [u8; 16] {
    let mut stamp = [0; 16];
    stamp.chunks_exact_mut(4).zip(parts).for_each(|(at, part)| at.copy_from_slice(&part.to_le_bytes()));
    stamp
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_repeats_no_eight_bytes_and_has_eight_bits_of_entropy_per_byte() {
        let bytes = block(1 << 20);
        let pieces: std::collections::HashSet<&[u8]> = bytes.windows(8).collect();
        assert_eq!(pieces.len(), bytes.len() - 7, "no eight bytes come twice");
        let mut counts = [0_u32; 256];
        bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        let part = |count: u32| f64::from(count) / bytes.len() as f64;
        let bits: f64 = counts.iter().map(|count| -part(*count) * part(*count).log2()).sum();
        assert!(bits > 7.999, "{bits} bits in a byte");
        assert_eq!((block(0).len(), block(13)[..] == bytes[..13]), (0, true));
    }
}
