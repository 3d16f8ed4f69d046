//! Numbers of any width and layout.

use crate::{ByteOrder, Float};

/// The bytes as one number, if they are at most 16.
pub(crate) fn load(bytes: &[u8], order: ByteOrder) -> Option<u128> {
    if bytes.len() > 16 {
        return None;
    }
    let join = |number: u128, byte: &u8| number << 8 | u128::from(*byte);
    Some(match order {
        ByteOrder::Little => bytes.iter().rev().fold(0, join),
        ByteOrder::Big => bytes.iter().fold(0, join),
        ByteOrder::Vax => bytes.chunks(2).flat_map(|pair| pair.iter().rev()).fold(0, join),
    })
}

/// `count` bits from the bit `first` on.
pub(crate) fn bits(number: u128, first: u32, count: u32) -> u128 {
    let shifted = number.checked_shr(first).unwrap_or(0);
    if count >= 128 { shifted } else { shifted & ((1 << count) - 1) }
}

/// The number that these bits are as a two's complement.
pub(crate) fn signed(number: u128, precision: u32) -> i128 {
    let above = 128_u32.saturating_sub(precision).min(127);
    ((number << above) as i128) >> above
}

impl Float {
    /// The nearest `f64`.
    pub(crate) fn read(&self, number: u128) -> f64 {
        let field = |first: u8, count: u8| bits(number, first.into(), count.into());
        let exponent = field(self.exponent, self.exponent_size);
        let mantissa = field(self.mantissa, self.mantissa_size);
        let sign = if field(self.sign, 1) == 1 { -1.0 } else { 1.0 };
        let largest = bits(u128::MAX, 0, self.exponent_size.into());
        // An explicit first bit is part of the mantissa.
        let fraction = if self.is_implied {
            mantissa
        } else {
            bits(mantissa, 0, u32::from(self.mantissa_size).saturating_sub(1))
        };
        let is_vax = self.order == ByteOrder::Vax;
        if exponent == largest && !is_vax {
            return if fraction == 0 { sign * f64::INFINITY } else { f64::NAN };
        }
        let is_denormal = exponent == 0;
        let whole = if self.is_implied && !is_denormal {
            mantissa | 1 << self.mantissa_size.min(127)
        } else {
            mantissa
        };
        let scale = i64::from(self.mantissa_size) - i64::from(!self.is_implied);
        let power = (exponent as i64).max(i64::from(is_denormal)) - i64::from(self.bias) - scale;
        sign * scaled(whole as f64, power)
    }
}

/// `number` times 2 to the `power`. In steps, because the power alone may be out of range.
fn scaled(number: f64, power: i64) -> f64 {
    let (mut number, mut power) = (number, power.clamp(-40_000, 40_000));
    while power != 0 && number != 0.0 && number.is_finite() {
        let step = power.clamp(-1000, 1000);
        number *= 2_f64.powi(step as i32);
        power -= step;
    }
    number
}
