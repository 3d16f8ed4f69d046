//! Differences back to values.
//!
//! A value is predicted to be the one before. The difference is coded as a number that is not negative: where both signs
//! are possible, 2d for d and 2d - 1 for -d; beyond, only one sign is possible, and the number is the distance from the
//! nearer end of the range.

/// Replaces each number but the first by its value. None may be greater than `bits` bits hold.
pub(super) fn undo(numbers: &mut [u32], bits: u8) {
    let max = u32::MAX >> (32 - u32::from(bits));
    let upper_half = 1 << (bits - 1);
    let Some((first, rest)) = numbers.split_first_mut() else { return };
    let mut last = *first;
    for number in rest {
        // All ones in the upper half of the range: `last ^ mirror` is then the distance from the upper end.
        let mirror = if last & upper_half == 0 { 0 } else { max };
        let step = (*number >> 1) + (*number & 1);
        last = if step <= last ^ mirror {
            last.wrapping_add(*number >> 1 ^ (*number & 1).wrapping_neg())
        } else {
            mirror ^ *number
        };
        *number = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_both_signs_and_beyond_the_nearer_end_are_undone() {
        // From 3 in 0..=15: -1, +1, +3 and +9, which no -9 could be.
        for (number, value) in [(1, 2), (2, 4), (6, 6), (12, 12), (15, 15)] {
            let mut numbers = [3, number];
            undo(&mut numbers, 4);
            assert_eq!(numbers, [3, value]);
        }
        let mut numbers = [12, 15];
        undo(&mut numbers, 4);
        assert_eq!(numbers, [12, 0]);
    }

    #[test]
    fn values_of_32_bits_wrap_nowhere() {
        let mut numbers = [u32::MAX, u32::MAX, 0, 1];
        undo(&mut numbers, 32);
        assert_eq!(numbers, [u32::MAX, 0, 0, 1]);
    }
}
