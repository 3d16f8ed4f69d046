//! Reading a stream bit by bit, the most significant bit of a byte first.
//!
//! What must stay true: reading behind the end of the stream gives zeros, and [`Bits::check_whole`] fails afterwards.

use super::{JumpError, broken, cut};

/// A stream, and a place in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bits<'s> {
    bytes: &'s [u8],
    at: u64,
}

/// Bits of a stream, the next first, and how many of them are the stream's. The others are zero.
#[derive(Debug, Clone, Copy)]
struct Window {
    bits: u64,
    valid: u32,
}

impl<'s> Bits<'s> {
    pub(super) fn new(bytes: &'s [u8], at: u64) -> Self {
        Self { bytes, at }
    }

    /// The place, in bits from the start of the stream.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Steps over `count` bits.
    pub(super) fn skip(&mut self, count: u64) {
        self.at = self.at.saturating_add(count);
    }

    /// Fails if more was read than the stream has.
    pub(super) fn check_whole(&self) -> Result<(), JumpError> {
        if self.at <= self.bytes.len() as u64 * 8 { Ok(()) } else { Err(cut()) }
    }

    /// The bits from `at` on: 57 to 64 of them.
    #[inline]
    #[expect(clippy::big_endian_bytes, reason = "the standard's order of bits")]
    fn window(&self, at: u64) -> Window {
        let past = (at % 8) as u32;
        let rest = usize::try_from(at / 8).ok().and_then(|byte| self.bytes.get(byte..)).unwrap_or_default();
        let word = rest.first_chunk().map_or_else(|| last_word(rest), |chunk| u64::from_be_bytes(*chunk));
        Window { bits: word << past, valid: 64 - past }
    }

    /// A number of `count` bits, 1 to 32.
    #[inline]
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let bits = self.window(self.at).bits >> (64 - count);
        self.at += u64::from(count);
        bits as u32
    }

    /// Puts a number of `count` bits, 1 to 31, below each value.
    pub(super) fn append(&mut self, count: u32, values: &mut [u32]) {
        let mut at = self.at;
        for value in values {
            *value = *value << count | (self.window(at).bits >> (64 - count)) as u32;
            at += u64::from(count);
        }
        self.at = at;
    }

    /// A number in unary: as many zeros as it is great, then a one.
    pub(super) fn unary(&mut self) -> Result<u32, JumpError> {
        let mut value = [0];
        self.unaries(u32::MAX, &mut value)?;
        Ok(value[0])
    }

    /// Numbers in unary of at most `max`.
    pub(super) fn unaries(&mut self, max: u32, values: &mut [u32]) -> Result<(), JumpError> {
        let end = self.bytes.len() as u64 * 8;
        let mut at = self.at;
        let Window { bits, mut valid } = self.window(at);
        // The lowest bit is the next, because it takes less to clear the lowest one of a word than the highest.
        let mut ones = bits.reverse_bits();
        let mut past = 0;
        for value in values {
            let mut zeros = 0;
            while ones == 0 {
                zeros += u64::from(valid - past);
                at += u64::from(valid);
                if at >= end {
                    return Err(cut());
                }
                let window = self.window(at);
                (ones, valid, past) = (window.bits.reverse_bits(), window.valid, 0);
            }
            let place = ones.trailing_zeros();
            zeros += u64::from(place - past);
            past = place + 1;
            ones &= ones - 1;
            if zeros > u64::from(max) {
                return Err(broken("a value has more bits than it says"));
            }
            *value = zeros as u32;
        }
        self.at = at + u64::from(past);
        Ok(())
    }

    /// Steps over `count` numbers in unary.
    pub(super) fn skip_unaries(&mut self, count: u32) -> Result<(), JumpError> {
        let end = self.bytes.len() as u64 * 8;
        let mut left = count;
        while left > 0 {
            let Window { bits, valid } = self.window(self.at);
            let ones = ones_by_byte(bits);
            let all = (ones >> 56) as u32;
            if all >= left {
                self.at += u64::from(place_of_one(bits, ones, left)) + 1;
                return Ok(());
            }
            left -= all;
            self.at += u64::from(valid);
            if self.at >= end {
                return Err(cut());
            }
        }
        Ok(())
    }
}

/// Fewer than 8 bytes, with zeros behind them.
#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    let filled = bytes.iter().chain(std::iter::repeat(&0)).take(8);
    filled.fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// A one in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// How many ones a word has up to each of its bytes. The most significant byte of the word is the first, and has the lowest byte
/// of the result; the highest byte of the result has the sum.
fn ones_by_byte(word: u64) -> u64 {
    let pairs = word - (word >> 1 & (0x55 * EACH));
    let nibbles = (pairs & (0x33 * EACH)) + (pairs >> 2 & (0x33 * EACH));
    let bytes = (nibbles + (nibbles >> 4)) & (0x0f * EACH);
    bytes.swap_bytes().wrapping_mul(EACH)
}

/// Where the one of number `number`, from 1, stands in a word that has it, counted from the most significant bit. `ones` is
/// [`ones_by_byte`] of the word.
fn place_of_one(word: u64, ones: u64, number: u32) -> u32 {
    // The upper bit of a byte stays where that byte's count is not below the number; the first such byte has the one.
    let enough = ((ones | (0x80 * EACH)) - u64::from(number) * EACH) & (0x80 * EACH);
    let byte_place = enough.trailing_zeros() / 8 * 8;
    let before = (ones << 8 >> byte_place) as u8;
    let mut byte = ((word >> (56 - byte_place)) as u8).reverse_bits();
    for _ in u32::from(before) + 1..number {
        byte &= byte.wrapping_sub(1);
    }
    byte_place + byte.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_across_bytes() {
        let bytes = [0b1010_0000, 0b0000_0001, 0xff, 0, 0, 0, 0, 0, 0, 0x80];
        let mut bits = Bits::new(&bytes, 0);
        assert_eq!((bits.take(3), bits.unary().unwrap(), bits.take(9)), (5, 12, 0b1_1111_1110));
        assert_eq!(bits.unary().unwrap(), 47);
        assert!(bits.check_whole().is_ok());
    }

    #[test]
    fn a_stream_that_ends_too_early_is_told() {
        let mut bits = Bits::new(&[1, 0], 0);
        assert_eq!(bits.unary().unwrap(), 7);
        assert!(bits.unary().is_err());
        let mut bits = Bits::new(&[1], 4);
        assert_eq!(bits.take(5), 2);
        assert!(bits.check_whole().is_err());
        assert!(Bits::new(&[1], 0).skip_unaries(2).is_err());
    }

    #[test]
    fn numbers_in_unary_are_skipped_as_they_are_read() {
        let bytes: Vec<u8> = (0..40_u32).map(|number| (number * 37 % 256) as u8).collect();
        let mut bits = Bits::new(&bytes, 3);
        for count in 1..20 {
            let (mut read, mut skipped) = (bits, bits);
            let mut values = vec![0; count as usize];
            let whole = read.unaries(u32::MAX, &mut values).is_ok();
            assert_eq!(skipped.skip_unaries(count).is_ok(), whole, "{count}");
            if whole {
                assert_eq!(read.at(), skipped.at(), "{count}");
                bits = read;
            }
        }
    }

    #[test]
    fn the_place_of_a_one_is_found_in_any_word() {
        for word in [1_u64, 1 << 63, u64::MAX, 0x0123_4567_89ab_cdef, 0x8000_0000_0000_0001] {
            let ones = (0..64).filter(|place| word << place >> 63 == 1);
            for (number, place) in ones.enumerate() {
                assert_eq!(place_of_one(word, ones_by_byte(word), number as u32 + 1), place, "{word:x}");
            }
        }
    }
}
