//! CRC-32C (Castagnoli), the checksum of everything that an engine stores.
//!
//! Two libraries compute it, by the kind of processor (docs/decisions/033-two-checksum-libraries.md).

use crc_fast::{CrcAlgorithm::Crc32Iscsi, Digest};

use crate::processor;

/// The checksum of `bytes`.
///
/// ```
/// // The check value of CRC-32C (RFC 3720, appendix B.4) for the nine digits.
/// assert_eq!(isotach_engine_kit::checksum::crc32c(b"123456789"), 0xe306_9283);
/// ```
pub fn crc32c(bytes: &[u8]) -> u32 {
    match is_amd_without_avx512() {
        true => crc32c::crc32c(bytes),
        false => crc_fast::checksum(Crc32Iscsi, bytes) as u32,
    }
}

/// Where `crc32c` is the faster library.
fn is_amd_without_avx512() -> bool {
    processor::is_amd() && !processor::has_avx512()
}

/// The checksum of bytes that come in pieces.
///
/// ```
/// # use isotach_engine_kit::checksum::{Crc32c, crc32c};
/// let mut sum = Crc32c::default();
/// sum.update(b"1234");
/// sum.update(b"56789");
/// assert_eq!(sum.finish(), crc32c(b"123456789"));
/// ```
#[derive(Debug, Default)]
pub struct Crc32c(u32);

impl Crc32c {
    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0 = match is_amd_without_avx512() {
            true => crc32c::crc32c_append(self.0, bytes),
            false => append_fast(self.0, bytes),
        };
    }

    /// The checksum of all pieces.
    pub fn finish(self) -> u32 {
        self.0
    }
}

/// `crc32c_append` by `crc-fast`: the checksum of what has the checksum `sum`, followed by `bytes`. A checksum is the
/// complement of the state (RFC 3720, section 12.1).
fn append_fast(sum: u32, bytes: &[u8]) -> u32 {
    let mut digest = Digest::new_with_init_state(Crc32Iscsi, u64::from(!sum));
    digest.update(bytes);
    digest.finalize() as u32
}

/// The checksum of `head` followed by `tail`.
///
/// ```
/// # use isotach_engine_kit::checksum::{crc32c, crc32c_of_both};
/// assert_eq!(crc32c_of_both(b"1234", b"56789"), crc32c(b"123456789"));
/// ```
pub fn crc32c_of_both(head: &[u8], tail: &[u8]) -> u32 {
    let mut sum = Crc32c::default();
    sum.update(head);
    sum.update(tail);
    sum.finish()
}

/// CRC-32C's polynomial, reflected (RFC 3720, section 12.1).
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// A linear map of checksums: what it makes of each bit. Maps are added bit by bit.
type Map = [u32; 32];

/// For each k, what 2^k zero bytes behind a text do to its checksum.
static ZEROS: [Map; 64] = zeros();

/// The checksum of a head followed by a tail, from the checksums of both. A checksum is linear: the zeros that stand for the tail
/// multiply the head's by a power of two for each bit of the tail's length (M. Adler, `crc32_combine` in zlib).
///
/// ```
/// # use isotach_engine_kit::checksum::{combined, crc32c};
/// assert_eq!(combined(crc32c(b"1234"), crc32c(b"56789"), 5), crc32c(b"123456789"));
/// ```
pub fn combined(head: u32, tail: u32, tail_length: u64) -> u32 {
    let bits = (0..64).filter(|bit| tail_length >> bit & 1 == 1);
    bits.fold(head, |sum, bit| mapped(&ZEROS[bit], sum)) ^ tail
}

/// The checksum of `length` bytes, from those of their blocks. Each block has `block` bytes, the last one what is left.
///
/// ```
/// # use isotach_engine_kit::checksum::{combined_blocks, crc32c};
/// let sums: Vec<u32> = b"123456789".chunks(4).map(crc32c).collect();
/// assert_eq!(combined_blocks(&sums, 4, 9), crc32c(b"123456789"));
/// ```
pub fn combined_blocks(sums: &[u32], block: u64, length: u64) -> u32 {
    let mut left = length;
    sums.iter().fold(0, |sum, next| {
        let length = left.min(block);
        left -= length;
        combined(sum, *next, length)
    })
}

const fn mapped(map: &Map, mut sum: u32) -> u32 {
    let (mut out, mut bit) = (0, 0);
    while sum != 0 {
        // All ones or zero: bits of a checksum are random, and a branch would be mispredicted.
        out ^= map[bit] & (sum & 1).wrapping_neg();
        (sum, bit) = (sum >> 1, bit + 1);
    }
    out
}

const fn zeros() -> [Map; 64] {
    let mut maps = [[0; 32]; 64];
    let mut bit = 0;
    while bit < 32 {
        let (mut sum, mut step) = (1_u32 << bit, 0);
        while step < 8 {
            sum = sum >> 1 ^ POLYNOMIAL & (sum & 1).wrapping_neg();
            step += 1;
        }
        maps[0][bit] = sum;
        bit += 1;
    }
    let mut power = 1;
    while power < 64 {
        let mut bit = 0;
        while bit < 32 {
            maps[power][bit] = mapped(&maps[power - 1], maps[power - 1][bit]);
            bit += 1;
        }
        power += 1;
    }
    maps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_libraries_agree_in_checksums_of_any_length_and_in_pieces() {
        let bytes: Vec<u8> = (0..70_000_u32).map(|number| (number.wrapping_mul(number) >> 9) as u8).collect();
        for length in (0..1100).chain([4096, 4097, 65_535, 65_536, 69_900]) {
            let begin = length % 64;
            let bytes = &bytes[begin..begin + length];
            let whole = crc_fast::checksum(Crc32Iscsi, bytes) as u32;
            assert_eq!(crc32c::crc32c(bytes), whole, "{length}");
            for append in [append_fast, crc32c::crc32c_append] {
                for cut in [0, 1.min(length), length / 2, length] {
                    let (head, tail) = bytes.split_at(cut);
                    assert_eq!(append(append(0, head), tail), whole, "{length}, cut at {cut}");
                }
            }
        }
    }

    #[test]
    fn checksums_of_pieces_of_any_length_make_that_of_the_whole() {
        let bytes: Vec<u8> =
            (0..200_000_u32).map(|number| (number.wrapping_mul(number) >> 7) as u8).collect();
        for at in [0, 1, 63, 64, 65_535, 65_536, 65_537, 131_072, 199_999, 200_000] {
            let (head, tail) = bytes.split_at(at);
            assert_eq!(combined(crc32c(head), crc32c(tail), tail.len() as u64), crc32c(&bytes), "{at}");
        }
    }
}
