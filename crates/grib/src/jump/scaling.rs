//! From packed integers to values.
//!
//! What must stay true: a value equals that of ecCodes bit for bit. GRIB defines it as (R + X * 2^E) / 10^D. ecCodes
//! computes (X * 2^E + R) * 10^-D in this order, with both powers by repeated multiplication or division, and so does
//! this file. X * 2^E is exact, so a fused multiplication and addition gives the same sum.

/// The three numbers of a message that turn a packed integer into a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scaling {
    /// R.
    pub(super) reference: f64,
    /// E.
    pub(super) binary: i16,
    /// D.
    pub(super) decimal: i16,
}

/// A [`Scaling`] with its powers computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors {
    reference: f64,
    binary: f64,
    decimal: f64,
}

impl Scaling {
    /// The factors by which ecCodes decodes to values of type `T`.
    pub(super) fn factors<T: Float>(self) -> Factors {
        Factors {
            reference: self.reference,
            binary: T::power(T::of(2.0), i32::from(self.binary)),
            decimal: T::power(T::of(10.0), -i32::from(self.decimal)),
        }
    }
}

impl Factors {
    #[inline]
    pub(super) fn value<T: Float>(self, packed: u32) -> T {
        self.scaled(f64::from(packed))
    }

    /// The value of an integer below 2^31. Processors have an instruction that converts several signed integers, and many have none for
    /// unsigned ones.
    #[inline]
    pub(super) fn value_of_signed<T: Float>(self, packed: i32) -> T {
        self.scaled(f64::from(packed))
    }

    #[inline]
    fn scaled<T: Float>(self, packed: f64) -> T {
        T::of((packed * self.binary + self.reference) * self.decimal)
    }
}

/// A type of decoded values.
pub(super) trait Float: Copy + Send {
    const NAN: Self;

    fn of(value: f64) -> Self;

    /// The power as ecCodes computes it: 10^-2 is 1 / 10 / 10, which need not be the nearest to 0.01.
    fn power(base: Self, exponent: i32) -> f64;
}

impl Float for f64 {
    const NAN: Self = Self::NAN;

    #[inline]
    fn of(value: f64) -> Self {
        value
    }

    fn power(base: Self, exponent: i32) -> f64 {
        (0..exponent.unsigned_abs())
            .fold(1.0, |power, _| if exponent < 0 { power / base } else { power * base })
    }
}

/// ecCodes rounds the powers and the value to single precision, and computes in double precision between.
impl Float for f32 {
    const NAN: Self = Self::NAN;

    #[inline]
    fn of(value: f64) -> Self {
        value as Self
    }

    fn power(base: Self, exponent: i32) -> f64 {
        (0..exponent.unsigned_abs())
            .fold(1.0, |power: Self, _| if exponent < 0 { power / base } else { power * base })
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_scaled_by_powers_of_two_and_of_ten() {
        let factors = Scaling { reference: 200.0, binary: -2, decimal: 1 }.factors::<f64>();
        assert_eq!(factors.value::<f64>(0), 20.0);
        assert_eq!(factors.value::<f64>(10), 20.25);
    }

    #[test]
    fn a_negative_power_is_divided_step_by_step() {
        assert_eq!(f64::power(10.0, -4).to_bits(), (1.0_f64 / 10.0 / 10.0 / 10.0 / 10.0).to_bits());
        assert_eq!(f64::power(2.0, 0), 1.0);
        assert_eq!(f64::power(2.0, 1023), 2.0_f64.powi(1023));
    }

    #[test]
    fn single_precision_has_powers_of_single_precision() {
        assert_eq!(f32::power(10.0, -1), f64::from(0.1_f32));
        let factors = Scaling { reference: 0.0, binary: 0, decimal: 1 }.factors::<f32>();
        assert_eq!(factors.value::<f32>(3), (3.0 * f64::from(0.1_f32)) as f32);
    }
}
