//! The bitmap: which points have values, and how many values precede a point.

use super::JumpError;
use super::scaling::Float;

/// How many points share one count, 4 KiB of the bitmap. A reader of one point reads less than that.
pub(super) const CHUNK: u64 = 32_768;

/// A bitmap, of which the counts are known and the bits are read when they are needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mask {
    /// Where it begins in the message, in bytes.
    pub(super) offset: u64,
    /// For each chunk, how many points before it have values.
    pub(super) before: Vec<u64>,
}

impl Mask {
    /// Counts `points` bits. Returns the mask and how many points have values.
    pub(super) fn count(offset: u64, bitmap: &[u8], points: u64) -> (Self, u64) {
        let mut before = Vec::new();
        let mut total = 0;
        let mut start = 0;
        while start < points {
            before.push(total);
            let end = points.min(start + CHUNK);
            total += ones(bitmap, start, end);
            start = end;
        }
        (Self { offset, before }, total)
    }
}

/// Bits of a bitmap, the first of which may be any of its byte's.
#[derive(Debug)]
pub(super) struct Bitmap<'b> {
    bytes: &'b [u8],
    /// The number of the point of the first bit of `bytes`.
    first: u64,
}

impl<'b> Bitmap<'b> {
    pub(super) fn new(bytes: &'b [u8], first: u64) -> Self {
        Self { bytes, first }
    }

    /// How many of these points have values.
    pub(super) fn count(&self, start: u64, end: u64) -> u64 {
        ones(self.bytes, start.saturating_sub(self.first), end.saturating_sub(self.first))
    }

    /// Gives the points from `start` on their values in turn, and NaN to those that have none.
    pub(super) fn spread(&self, start: u64, values: &[f64], points: &mut [f64]) -> Result<(), JumpError> {
        let mut values = values.iter();
        for (bit, point) in (start.saturating_sub(self.first)..).zip(points) {
            *point = if is_one(self.bytes, bit) {
                *values
                    .next()
                    .ok_or_else(|| JumpError::corrupt("its bitmap has more points than there are values"))?
            } else {
                f64::NAN
            };
        }
        Ok(())
    }
}

/// Gives points their values in turn, which stand at the end of `points`, and NaN to those that have none.
pub(super) fn spread_from_end<T: Float>(bitmap: &[u8], present: usize, points: &mut [T]) {
    // No value is overwritten before it is read: as many points without one as precede it are still to come or have come before.
    let mut next = points.len().saturating_sub(present);
    for point in 0..points.len() {
        let value = if is_one(bitmap, point as u64) {
            next += 1;
            points.get(next - 1).copied().unwrap_or(T::NAN)
        } else {
            T::NAN
        };
        if let Some(point) = points.get_mut(point) {
            *point = value;
        }
    }
}

#[inline]
fn is_one(bytes: &[u8], bit: u64) -> bool {
    let byte = usize::try_from(bit / 8).ok().and_then(|byte| bytes.get(byte)).copied().unwrap_or(0);
    byte << (bit % 8) & 0x80 != 0
}

/// How many bits of `start..end` are one.
fn ones(bytes: &[u8], start: u64, end: u64) -> u64 {
    let whole_start = start.next_multiple_of(8).min(end);
    let whole_end = (end / 8 * 8).max(whole_start);
    let single = (start..whole_start).chain(whole_end..end).filter(|bit| is_one(bytes, *bit)).count() as u64;
    let place = |bit: u64| usize::try_from(bit / 8).unwrap_or(usize::MAX).min(bytes.len());
    let whole = bytes.get(place(whole_start)..place(whole_end)).unwrap_or_default();
    let (words, rest) = whole.as_chunks::<8>();
    let words: u64 = words.iter().map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum();
    single + words + rest.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_ones_of_any_part_are_those_that_are_seen_bit_by_bit(
            bytes in vec(any::<u8>(), 1..60), start in 0..480_u64, length in 0..480_u64,
        ) {
            let end = (start + length).min(bytes.len() as u64 * 8);
            let start = start.min(end);
            let expected = (start..end).filter(|bit| is_one(&bytes, *bit)).count() as u64;
            prop_assert_eq!(ones(&bytes, start, end), expected);
        }
    }

    #[test]
    fn counts_are_those_before_each_chunk() {
        let bitmap = vec![0b1111_0000; 3 * 4096];
        let (mask, total) = Mask::count(7, &bitmap, 2 * CHUNK + 4);
        assert_eq!(mask, Mask { offset: 7, before: vec![0, CHUNK / 2, CHUNK] });
        assert_eq!(total, CHUNK + 4);
    }

    #[test]
    fn values_at_the_end_of_their_points_go_to_those_that_have_one() {
        let mut points = [0.0_f64, 0.0, 0.0, 1.0, 2.0, 3.0];
        spread_from_end(&[0b1001_0100], 3, &mut points);
        assert!([1, 2, 4].iter().all(|point| points[*point].is_nan()));
        assert_eq!([points[0], points[3], points[5]], [1.0, 2.0, 3.0]);
        let mut whole = [1.0_f32, 2.0, 3.0];
        spread_from_end(&[0xff], 3, &mut whole);
        assert_eq!(whole, [1.0, 2.0, 3.0]);
    }

    #[test]
    fn values_go_to_points_that_have_one() {
        let bitmap = Bitmap::new(&[0b0101_0000], 80);
        let mut points = [0.0; 3];
        bitmap.spread(81, &[1.0, 2.0], &mut points).unwrap();
        assert!(points[0] == 1.0 && points[1].is_nan() && points[2] == 2.0);
        assert!(bitmap.spread(81, &[1.0], &mut points).is_err());
        assert_eq!(bitmap.count(80, 84), 2);
    }
}
