//! Filter 3: a checksum behind the bytes.
//!
//! Fletcher's checksum over words of 16 bits, the first byte of each the high one; an odd last byte counts as a high byte. Both sums begin
//! at 0. HDF5 before 1.6.3 stored the bytes of each half in the other order, which is read as well.

pub(super) fn encode(bytes: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(bytes.len() + 4);
    stored.extend_from_slice(bytes);
    stored.extend_from_slice(&sum(bytes).to_le_bytes());
    stored
}

pub(super) fn decode(mut stored: Vec<u8>) -> Option<Vec<u8>> {
    let (bytes, expected) = stored.split_last_chunk::<4>()?;
    let sum = sum(bytes).to_le_bytes();
    let [a, b, c, d] = sum;
    if *expected != sum && *expected != [b, a, d, c] {
        return None;
    }
    stored.truncate(stored.len() - 4);
    Some(stored)
}

/// The most words that may be added before the sums of 32 bits overflow.
const WORDS: usize = 360;

fn sum(bytes: &[u8]) -> u32 {
    let fold = |sum: u32| (sum & 0xffff) + (sum >> 16);
    let (mut low, mut high) = (0_u32, 0_u32);
    for words in bytes.chunks(2 * WORDS) {
        for word in words.chunks(2) {
            let second = word.get(1).copied().unwrap_or(0);
            low += u32::from(word[0]) << 8 | u32::from(second);
            high += low;
        }
        (low, high) = (fold(low), fold(high));
    }
    fold(high) << 16 | fold(low)
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn the_sum_of_known_words_is_known() {
        assert_eq!(sum(&[0x12, 0x34]), 0x1234_1234);
        assert_eq!(sum(&[0, 1, 0, 2]), 4 << 16 | 3);
        assert_eq!(sum(&[0, 1, 2]), 0x0202 << 16 | 0x0201, "an odd byte is a high one");
        // 0xffff twice folds to 0xffff, and 3 * 0xffff to 0xffff.
        assert_eq!(sum(&[0xff; 4]), 0xffff_ffff);
    }
}
