//! What sections of a message say of its values, in one form for both editions.
//!
//! What must stay true: a range found here lies within the message, and the data section holds all values that it
//! claims where that can be told without decoding.

use std::ops::Range;

use super::JumpError;
use super::ccsds::Ccsds;
use super::scaling::Scaling;
use crate::SliceScanner;

mod edition_1;
mod edition_2;

/// The description of a message's values. Ranges are of bytes, from the message's first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sections {
    /// The section that describes the grid, as a whole.
    pub(super) grid: Range<usize>,
    pub(super) points: u64,
    /// How many values are packed.
    pub(super) values: u64,
    pub(super) scaling: Scaling,
    pub(super) bits: u8,
    /// `None` for simple packing.
    pub(super) ccsds: Option<Ccsds>,
    /// The bits that say which points have values.
    pub(super) bitmap: Option<Range<usize>>,
    /// The packed values.
    pub(super) data: Range<usize>,
}

/// The most bits of a packed value.
pub(super) const BITS_MAX: u8 = 32;
/// The most points, and the most values. GRIB 2 counts them in 32 bits. GRIB 1 does not, but has room for more of a few bits.
pub(super) const POINTS_MAX: u64 = u32::MAX as u64;

impl Sections {
    /// Reads the sections of one whole message.
    pub(super) fn of(message: &[u8]) -> Result<Self, JumpError> {
        check_whole(message)?;
        let read = if is_edition_1(message) { edition_1::read(message) } else { edition_2::read(message) };
        read?.checked()
    }

    fn checked(self) -> Result<Self, JumpError> {
        if self.bits > BITS_MAX {
            return Err(JumpError::unsupported(format!("values of {} bits", self.bits)));
        }
        if self.points.max(self.values) > POINTS_MAX {
            let (points, values) = (self.points, self.values);
            return Err(JumpError::unsupported(format!("a field of {points} points and {values} values")));
        }
        let available = (self.data.len() as u64).saturating_mul(8);
        // Zero blocks of CCSDS hold 64 blocks of 64 values in a few bits. That stream is checked where it is walked.
        if self.ccsds.is_none() && self.values.saturating_mul(u64::from(self.bits)) > available {
            return Err(JumpError::corrupt(format!(
                "{} values of {} bits in {} bytes",
                self.values,
                self.bits,
                self.data.len()
            )));
        }
        if let Some(bitmap) = &self.bitmap
            && (bitmap.len() as u64).saturating_mul(8) < self.points
        {
            let length = bitmap.len();
            return Err(JumpError::corrupt(format!("a bitmap of {length} bytes for {} points", self.points)));
        }
        if self.bitmap.is_none() && self.points != self.values {
            return Err(JumpError::corrupt(format!("{} values for {} points", self.values, self.points)));
        }
        Ok(self)
    }
}

/// Where the section of one whole message lies that describes its grid.
pub(super) fn grid(message: &[u8]) -> Result<Range<usize>, JumpError> {
    check_whole(message)?;
    if is_edition_1(message) { edition_1::grid(message) } else { edition_2::grid(message) }
}

fn is_edition_1(message: &[u8]) -> bool {
    message.get(7) == Some(&1)
}

fn check_whole(message: &[u8]) -> Result<(), JumpError> {
    match SliceScanner::new(message).max_length(u64::MAX).next() {
        Some(Ok(found)) if found.bytes.len() == message.len() => Ok(()),
        Some(Err(error)) => Err(JumpError::corrupt(error.to_string())),
        _ => Err(JumpError::corrupt("the bytes are not exactly one message")),
    }
}

/// `length` bytes at `start`, or an error that names what they were to hold.
fn part<'m>(message: &'m [u8], start: usize, length: usize, what: &str) -> Result<&'m [u8], JumpError> {
    start
        .checked_add(length)
        .and_then(|end| message.get(start..end))
        .ok_or_else(|| JumpError::corrupt(format!("{what} does not lie within its {} bytes", message.len())))
}

/// A number of at most 8 bytes as GRIB writes it, the most significant first.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn length(bytes: &[u8]) -> usize {
    usize::try_from(number(bytes)).unwrap_or(usize::MAX)
}

/// A number of two bytes, of which the first bit is the sign.
fn signed(bytes: [u8; 2]) -> i16 {
    let [high, low] = bytes;
    let magnitude = i16::from(high & 0x7f) << 8 | i16::from(low);
    if high & 0x80 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bit_of_a_signed_number_is_its_sign() {
        assert_eq!([signed([0, 5]), signed([0x80, 5]), signed([0xff, 0xff])], [5, -5, -32767]);
    }

    #[test]
    fn more_points_than_an_index_can_count_are_refused() {
        let of = |values: u64| Sections {
            grid: 0..0,
            points: values,
            values,
            scaling: Scaling { reference: 0.0, binary: 0, decimal: 0 },
            bits: 1,
            ccsds: None,
            bitmap: None,
            data: 0..1 << 30,
        };
        assert!(of(POINTS_MAX).checked().is_ok());
        let error = of(POINTS_MAX + 1).checked().unwrap_err();
        assert!(matches!(error, JumpError::Unsupported { .. }), "{error}");
    }

    #[test]
    fn bytes_that_are_no_single_message_are_refused() {
        for bytes in [b"".as_slice(), b"GRIB", b"GRIB\0\0\x0c\x017777GRIB\0\0\x0c\x017777"] {
            assert!(matches!(Sections::of(bytes), Err(JumpError::CorruptMessage { .. })), "{bytes:?}");
        }
    }
}
