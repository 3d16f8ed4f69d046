//! Simple packing: integers of equal width, one behind the other.

use super::JumpError;
use super::scaling::{Factors, Float};

/// Unpacks as many values as `values` has, each of `width` bits (1 to 32), from bit `first` of `bytes` on.
pub(super) fn unpack<T: Float>(
    bytes: &[u8],
    first: u64,
    width: u8,
    factors: Factors,
    values: &mut [T],
) -> Result<(), JumpError> {
    let end = first.saturating_add((values.len() as u64).saturating_mul(u64::from(width)));
    if !(1..=32).contains(&width) || end > bytes.len() as u64 * 8 {
        return Err(JumpError::corrupt(format!(
            "{} values of {width} bits in {} bytes",
            values.len(),
            bytes.len()
        )));
    }
    let whole_bytes = usize::try_from(first / 8).ok().and_then(|byte| bytes.get(byte..)).unwrap_or_default();
    match (width, first % 8) {
        (8, 0) => bytewise::<1, T>(whole_bytes, factors, values),
        (16, 0) => bytewise::<2, T>(whole_bytes, factors, values),
        (24, 0) => bytewise::<3, T>(whole_bytes, factors, values),
        (32, 0) => bytewise::<4, T>(whole_bytes, factors, values),
        _ => bitwise(bytes, first, width, factors, values),
    }
    Ok(())
}

fn bytewise<const WIDTH: usize, T: Float>(bytes: &[u8], factors: Factors, values: &mut [T]) {
    let (packed, _) = bytes.as_chunks::<WIDTH>();
    for (value, packed) in values.iter_mut().zip(packed) {
        let number = packed.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
        *value = if WIDTH < 4 { factors.value_of_signed(number as i32) } else { factors.value(number) };
    }
}

#[expect(clippy::big_endian_bytes, reason = "GRIB's order of bytes")]
fn bitwise<T: Float>(bytes: &[u8], first: u64, width: u8, factors: Factors, values: &mut [T]) {
    let mut at = first;
    for value in values {
        let rest = usize::try_from(at / 8).ok().and_then(|byte| bytes.get(byte..)).unwrap_or_default();
        let word = rest.first_chunk().map_or_else(|| last_word(rest), |chunk| u64::from_be_bytes(*chunk));
        // A value of 32 bits that begins with the last bit of a byte ends within five bytes.
        *value = factors.value((word << (at % 8) >> (64 - width)) as u32);
        at += u64::from(width);
    }
}

/// Fewer than 8 bytes, with zeros behind them.
#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    let filled = bytes.iter().chain(std::iter::repeat(&0)).take(8);
    filled.fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::jump::scaling::Scaling;

    fn plain() -> Factors {
        Scaling { reference: 0.0, binary: 0, decimal: 0 }.factors::<f64>()
    }

    proptest! {
        #[test]
        fn values_of_any_width_are_unpacked_from_any_bit(
            width in 1..=32_u8, numbers in vec(any::<u32>(), 1..50), skip in 0..40_u64,
        ) {
            let mask = u32::MAX >> (32 - width);
            let mut bits = vec![true; skip as usize];
            for number in &numbers {
                bits.extend((0..width).rev().map(|place| (number & mask) >> place & 1 == 1));
            }
            let bytes: Vec<u8> = bits
                .chunks(8)
                .map(|bits| bits.iter().enumerate().fold(0, |byte, (place, bit)| byte | u8::from(*bit) << (7 - place)))
                .collect();
            let mut values = vec![0.0; numbers.len()];
            unpack(&bytes, skip, width, plain(), &mut values).unwrap();
            let expected: Vec<f64> = numbers.iter().map(|number| f64::from(number & mask)).collect();
            prop_assert_eq!(values, expected);
        }
    }

    #[test]
    fn values_behind_the_end_are_refused() {
        let mut values = [0.0; 3];
        assert!(unpack(&[1, 2, 3], 0, 8, plain(), &mut values).is_ok());
        assert!(unpack(&[1, 2, 3], 1, 8, plain(), &mut values).is_err());
        assert!(unpack(&[1, 2, 3], u64::MAX, 8, plain(), &mut values).is_err());
    }
}
