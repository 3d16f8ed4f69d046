//! Reading a stream bit by bit, the most significant bit of a byte first.
//!
//! What must stay true: behind the end of the stream there are only zeros, and [`Bits::is_whole`] tells who read them.

use super::{JumpError, cut};

/// A stream, and a place in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bits<'s> {
    bytes: &'s [u8],
    at: u64,
}

/// Bits of a stream, the next first, and how many of them are the stream's. The others are zero.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    pub(super) bits: u64,
    pub(super) valid: u32,
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
    pub(super) fn is_whole(&self) -> Result<(), JumpError> {
        if self.at <= self.bytes.len() as u64 * 8 { Ok(()) } else { Err(cut()) }
    }

    /// The next bits: 57 to 64 of them.
    #[inline]
    #[expect(clippy::big_endian_bytes, reason = "the standard's order of bits")]
    pub(super) fn window(&self) -> Window {
        let past = (self.at % 8) as u32;
        let rest =
            usize::try_from(self.at / 8).ok().and_then(|byte| self.bytes.get(byte..)).unwrap_or_default();
        let word = rest.first_chunk().map_or_else(|| last_word(rest), |chunk| u64::from_be_bytes(*chunk));
        Window { bits: word << past, valid: 64 - past }
    }

    /// A number of `count` bits, 1 to 32.
    #[inline]
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let bits = self.window().bits >> (64 - count);
        self.at += u64::from(count);
        bits as u32
    }

    /// A number in unary: as many zeros as it is great, then a one.
    pub(super) fn unary(&mut self) -> Result<u32, JumpError> {
        let mut value = [0];
        self.unaries(u32::MAX, &mut value)?;
        Ok(value[0])
    }

    /// Numbers in unary of at most `max`.
    #[inline]
    pub(super) fn unaries(&mut self, max: u32, values: &mut [u32]) -> Result<(), JumpError> {
        let end = self.bytes.len() as u64 * 8;
        let mut window = self.window();
        for value in values {
            let mut zeros = 0_u64;
            while window.bits == 0 {
                zeros += u64::from(window.valid);
                self.at += u64::from(window.valid);
                if self.at >= end {
                    return Err(cut());
                }
                window = self.window();
            }
            let ahead = window.bits.leading_zeros();
            zeros += u64::from(ahead);
            window.bits = window.bits << ahead << 1;
            window.valid -= ahead + 1;
            self.at += u64::from(ahead) + 1;
            if zeros > u64::from(max) {
                return Err(super::broken("a value has more bits than it says"));
            }
            *value = zeros as u32;
        }
        Ok(())
    }

    /// Steps over `count` numbers in unary.
    pub(super) fn skip_unaries(&mut self, count: u32) -> Result<(), JumpError> {
        let end = self.bytes.len() as u64 * 8;
        let mut left = count;
        while left > 0 {
            let window = self.window();
            let ones = window.bits.count_ones();
            if ones >= left {
                self.at += u64::from(place_of_one(window.bits, left)) + 1;
                return Ok(());
            }
            left -= ones;
            self.at += u64::from(window.valid);
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

/// Where the one of number `number`, from 1, stands in a word that has it, counted from the most significant bit.
fn place_of_one(word: u64, number: u32) -> u32 {
    let (mut place, mut left) = (0, number);
    for width in [32, 16, 8, 4, 2, 1] {
        let ones = (word << place >> (64 - width)).count_ones();
        if ones < left {
            left -= ones;
            place += width;
        }
    }
    place
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
        assert!(bits.is_whole().is_ok());
    }

    #[test]
    fn a_stream_that_ends_too_early_is_told() {
        let mut bits = Bits::new(&[1, 0], 0);
        assert_eq!(bits.unary().unwrap(), 7);
        assert!(bits.unary().is_err());
        let mut bits = Bits::new(&[1], 4);
        assert_eq!(bits.take(5), 2);
        assert!(bits.is_whole().is_err());
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
                assert_eq!(place_of_one(word, number as u32 + 1), place, "{word:x}");
            }
        }
    }
}
