//! [`Number`]: numbers of every datatype as *keys*, which are unsigned and have the order of the numbers.
//!
//! A test of a number is a range of keys. What is not a number (NaN) has a key outside of [`Number::all`], so that no range holds it.

use isotach_hdf5_types::{ByteOrder, Class, Datatype, Float, Value};

use super::{
    bits::Bits,
    condition::{Comparison, Literal, Test},
};

/// Keys from `low` to `high`. None if `low` is above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyRange {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

impl KeyRange {
    pub(crate) fn contains(self, key: u64) -> bool {
        self.low <= key && key <= self.high
    }
}

/// Where numbers are in the bytes of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The first byte in an element.
    pub(crate) offset: usize,
    /// The bytes of an element.
    pub(crate) element: usize,
}

/// A type of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Number {
    /// An integer of 1, 2, 4 or 8 bytes.
    Integer { bytes: u32, is_signed: bool, is_big: bool },
    /// An `f32`.
    Single { is_big: bool },
    /// An `f64`.
    Double { is_big: bool },
    /// An integer of another layout, of at most 8 bytes.
    OtherInteger { datatype: Datatype, is_signed: bool },
    /// A floating-point number of another layout; its key is that of the nearest `f64`.
    OtherFloat { datatype: Datatype, float: Float },
}

/// The sign bit of keys.
const SIGN: u64 = 1 << 63;

fn key32(number: f32) -> u32 {
    let bits = number.to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

fn number32(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
}

fn key64(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits & SIGN != 0 { !bits } else { bits | SIGN }
}

fn number64(key: u64) -> f64 {
    f64::from_bits(if key & SIGN != 0 { key & !SIGN } else { !key })
}

/// The greatest key below a number, and the smallest one above it. What is between them is equal to it.
struct Around {
    below: i128,
    above: i128,
}

impl Around {
    fn key(key: u64) -> Self {
        Self { below: i128::from(key) - 1, above: i128::from(key) + 1 }
    }
}

impl Number {
    /// The numbers of a datatype, if it is one of numbers that are compared.
    pub(crate) fn of(datatype: &Datatype) -> Option<Self> {
        let (bytes, is_whole) = (datatype.size, matches!(datatype.size, 1 | 2 | 4 | 8));
        let integer = |order, is_signed, offset: u16, precision: u16| {
            let is_plain = is_whole && offset == 0 && u32::from(precision) == bytes * 8;
            if is_plain && order != ByteOrder::Vax {
                return Some(Self::Integer { bytes, is_signed, is_big: order == ByteOrder::Big });
            }
            (bytes <= 8).then(|| Self::OtherInteger { datatype: datatype.clone(), is_signed })
        };
        match &datatype.class {
            Class::Integer { order, signed, offset, precision } => {
                integer(*order, *signed, *offset, *precision)
            }
            Class::Bits { order, offset, precision } => integer(*order, false, *offset, *precision),
            Class::Time { order } => integer(*order, true, 0, u16::try_from(bytes * 8).ok()?),
            Class::Enumeration { base, .. } => Self::of(base),
            Class::Float(float) => {
                let is_big = float.order == ByteOrder::Big;
                let fields = (float.offset, float.sign, float.exponent, float.exponent_size, float.mantissa);
                let rest = (float.mantissa_size, float.bias, float.is_implied);
                match (float.order, bytes, fields, rest) {
                    (ByteOrder::Vax, ..) => {}
                    (_, 4, (0, 31, 23, 8, 0), (23, 127, true)) => return Some(Self::Single { is_big }),
                    (_, 8, (0, 63, 52, 11, 0), (52, 1023, true)) => return Some(Self::Double { is_big }),
                    _ => {}
                }
                (bytes <= 16).then(|| Self::OtherFloat { datatype: datatype.clone(), float: float.clone() })
            }
            _ => None,
        }
    }

    /// The keys of all numbers, without what is not one.
    pub(crate) fn all(&self) -> KeyRange {
        match self {
            Self::Integer { bytes, is_signed, .. } => {
                let bits = bytes * 8;
                match is_signed {
                    true => KeyRange { low: SIGN - (1 << (bits - 1)), high: SIGN + ((1 << (bits - 1)) - 1) },
                    false => KeyRange { low: 0, high: u64::MAX >> (64 - bits) },
                }
            }
            Self::OtherInteger { .. } => KeyRange { low: 0, high: u64::MAX },
            Self::Single { .. } => {
                KeyRange { low: key32(f32::NEG_INFINITY).into(), high: key32(f32::INFINITY).into() }
            }
            Self::Double { .. } | Self::OtherFloat { .. } => {
                KeyRange { low: key64(f64::NEG_INFINITY), high: key64(f64::INFINITY) }
            }
        }
    }

    /// The keys that pass a test, and whether it is passed by what has another key instead. `None` for a test that is none of numbers.
    pub(crate) fn keys(&self, test: &Test) -> Option<(KeyRange, bool)> {
        let all = self.all();
        let within = |low: i128, high: i128| {
            let (low, high) = (low.max(all.low.into()), high.min(all.high.into()));
            match (u64::try_from(low), u64::try_from(high)) {
                (Ok(low), Ok(high)) if low <= high => KeyRange { low, high },
                _ => KeyRange { low: 1, high: 0 },
            }
        };
        let (least, most) = (i128::MIN, i128::MAX);
        match test {
            Test::Is(comparison, literal) => {
                let Around { below, above } = self.around(literal)?;
                Some(match comparison {
                    Comparison::Equal => (within(below + 1, above - 1), false),
                    Comparison::Unequal => (within(below + 1, above - 1), true),
                    Comparison::Less => (within(least, below), false),
                    Comparison::AtMost => (within(least, above - 1), false),
                    Comparison::Greater => (within(above, most), false),
                    Comparison::AtLeast => (within(below + 1, most), false),
                })
            }
            Test::In(low, high) => {
                Some((within(self.around(low)?.below + 1, self.around(high)?.above - 1), false))
            }
            Test::IsNan => Some((all, true)),
            Test::IsNumber => Some((all, false)),
            Test::Like(_) => None,
        }
    }

    fn around(&self, literal: &Literal) -> Option<Around> {
        let real = match literal {
            Literal::Integer(number) => *number as f64,
            Literal::Real(number) => *number,
            Literal::Text(_) => return None,
        };
        Some(match self {
            Self::Single { .. } => around_float(real, real as f32, |number| key32(number as f32).into()),
            Self::Double { .. } => around_float(real, real, key64),
            Self::OtherFloat { float, .. } => around_float(real, rounded(real, float), key64),
            Self::Integer { is_signed, .. } | Self::OtherInteger { is_signed, .. } => {
                let first = if *is_signed { i128::from(i64::MIN) } else { 0 };
                // Far beyond every integer of 8 bytes, and far from the ends of i128.
                let bounded = |number: i128| number.clamp(-(1 << 100), 1 << 100) - first;
                match literal {
                    Literal::Integer(number) => {
                        Around { below: bounded(*number) - 1, above: bounded(*number) + 1 }
                    }
                    _ if real.fract() == 0.0 => {
                        Around { below: bounded(real as i128) - 1, above: bounded(real as i128) + 1 }
                    }
                    _ => Around {
                        below: bounded(real.floor() as i128),
                        above: bounded(real.ceil() as i128).max(bounded(real.floor() as i128) + 1),
                    },
                }
            }
        })
    }

    /// The elements whose key is in a range.
    pub(crate) fn scan(&self, bytes: &[u8], place: Place, keys: KeyRange) -> Bits {
        let count = bytes.len() / place.element.max(1);
        if keys.low > keys.high {
            return Bits::none(count);
        }
        let integers = |key: u64| (key ^ SIGN).cast_signed();
        let (low, high) = (keys.low, keys.high);
        match *self {
            Self::Single { is_big } => {
                let (low, high) = (number32(low as u32), number32(high as u32));
                scan(bytes, place, move |four| {
                    let number = f32::from_bits(load4(four, is_big));
                    low <= number && number <= high
                })
            }
            Self::Double { is_big } => {
                let (low, high) = (number64(low), number64(high));
                scan(bytes, place, move |eight| {
                    let number = f64::from_bits(load8(eight, is_big));
                    low <= number && number <= high
                })
            }
            Self::Integer { bytes: 1, is_signed: true, .. } => {
                let (low, high) = (integers(low) as i8, integers(high) as i8);
                scan(bytes, place, move |[one]: [u8; 1]| (low..=high).contains(&one.cast_signed()))
            }
            Self::Integer { bytes: 1, .. } => {
                scan(bytes, place, move |[one]: [u8; 1]| (low as u8..=high as u8).contains(&one))
            }
            Self::Integer { bytes: 2, is_signed: true, is_big } => {
                let (low, high) = (integers(low) as i16, integers(high) as i16);
                scan(bytes, place, move |two| (low..=high).contains(&load2(two, is_big).cast_signed()))
            }
            Self::Integer { bytes: 2, is_big, .. } => {
                scan(bytes, place, move |two| (low as u16..=high as u16).contains(&load2(two, is_big)))
            }
            Self::Integer { bytes: 4, is_signed: true, is_big } => {
                let (low, high) = (integers(low) as i32, integers(high) as i32);
                scan(bytes, place, move |four| (low..=high).contains(&load4(four, is_big).cast_signed()))
            }
            Self::Integer { bytes: 4, is_big, .. } => {
                scan(bytes, place, move |four| (low as u32..=high as u32).contains(&load4(four, is_big)))
            }
            Self::Integer { is_signed: true, is_big, .. } => {
                let (low, high) = (integers(low), integers(high));
                scan(bytes, place, move |eight| (low..=high).contains(&load8(eight, is_big).cast_signed()))
            }
            Self::Integer { is_big, .. } => {
                scan(bytes, place, move |eight| (low..=high).contains(&load8(eight, is_big)))
            }
            Self::OtherInteger { .. } | Self::OtherFloat { .. } => {
                let mut elements = bytes.chunks_exact(place.element);
                Bits::of(count, |_| {
                    let number = elements.next().and_then(|element| element.get(place.offset..));
                    number.is_some_and(|number| keys.contains(self.key(number)))
                })
            }
        }
    }

    /// The least and the greatest key of numbers that follow each other, and how many elements are not a number. `None` for elements of other
    /// layouts, whose keys are looked at one by one.
    pub(crate) fn ends(&self, bytes: &[u8], place: Place) -> Option<(Option<KeyRange>, u64)> {
        let key_of = |(found, nans): (Option<(u64, u64)>, u64)| {
            Some((found.map(|(low, high)| KeyRange { low, high }), nans))
        };
        let signed = |number: i64| number.cast_unsigned() ^ SIGN;
        match *self {
            Self::Single { is_big } if place.element == 4 => {
                let load = |four| f32::from_bits(load4(four, is_big));
                key_of(ends(bytes, load, [f32::INFINITY, f32::NEG_INFINITY], |number| key32(number).into()))
            }
            Self::Double { is_big } if place.element == 8 => {
                let load = |eight| f64::from_bits(load8(eight, is_big));
                key_of(ends(bytes, load, [f64::INFINITY, f64::NEG_INFINITY], key64))
            }
            Self::Integer { bytes: 2, is_signed: true, is_big } if place.element == 2 => {
                let load = |two| load2(two, is_big).cast_signed();
                key_of(ends(bytes, load, [i16::MAX, i16::MIN], |number| signed(number.into())))
            }
            Self::Integer { bytes: 4, is_signed: true, is_big } if place.element == 4 => {
                let load = |four| load4(four, is_big).cast_signed();
                key_of(ends(bytes, load, [i32::MAX, i32::MIN], |number| signed(number.into())))
            }
            _ => None,
        }
    }

    /// Calls `each` with the keys of all elements.
    pub(crate) fn each_key(&self, bytes: &[u8], place: Place, mut each: impl FnMut(u64)) {
        let numbers = bytes.chunks_exact(place.element).map(|element| element.get(place.offset..));
        let numbers = numbers.map(Option::unwrap_or_default);
        match *self {
            // The common types without a look at the type for each element.
            Self::Single { is_big } => numbers.for_each(|number| each(single(number, is_big))),
            Self::Double { is_big } => numbers.for_each(|number| each(double(number, is_big))),
            _ => numbers.for_each(|number| each(self.key(number))),
        }
    }

    /// The key of the number at the beginning of these bytes.
    pub(crate) fn key(&self, number: &[u8]) -> u64 {
        match *self {
            Self::Single { is_big } => single(number, is_big),
            Self::Double { is_big } => double(number, is_big),
            Self::Integer { bytes, is_signed, is_big } => {
                let unsigned = match bytes {
                    1 => first::<1>(number)[0].into(),
                    2 => load2(first(number), is_big).into(),
                    4 => load4(first(number), is_big).into(),
                    _ => load8(first(number), is_big),
                };
                let above = 64 - bytes * 8;
                if is_signed {
                    ((unsigned << above).cast_signed() >> above).cast_unsigned() ^ SIGN
                } else {
                    unsigned
                }
            }
            Self::OtherInteger { ref datatype, is_signed } => match value(datatype, number) {
                Some(Value::Integer(number)) if is_signed => (number as i64).cast_unsigned() ^ SIGN,
                Some(Value::Integer(number)) => number as u64,
                _ => 0,
            },
            Self::OtherFloat { ref datatype, .. } => key64(match value(datatype, number) {
                Some(Value::Single(number)) => number.into(),
                Some(Value::Float(number)) => number,
                _ => f64::NAN,
            }),
        }
    }
}

fn value(datatype: &Datatype, element: &[u8]) -> Option<Value> {
    datatype.value(element, &mut |_| Err("a number has no blob".into())).ok()
}

fn around_float(exact: f64, rounded: impl Into<f64>, key: impl Fn(f64) -> u64) -> Around {
    let rounded: f64 = rounded.into();
    if rounded == 0.0 {
        return Around { below: i128::from(key(-0.0)) - 1, above: i128::from(key(0.0)) + 1 };
    }
    let at = i128::from(key(rounded));
    match (exact.is_finite(), rounded.is_finite()) {
        // Between the greatest finite number and infinity.
        (true, false) if rounded > 0.0 => Around { below: at - 1, above: at },
        (true, false) => Around { below: at, above: at + 1 },
        _ => Around::key(key(rounded)),
    }
}

/// The nearest number that a type of few bits has.
fn rounded(number: f64, float: &Float) -> f64 {
    let digits = i32::from(float.mantissa_size) - i32::from(!float.is_implied);
    if digits >= 52 || float.order == ByteOrder::Vax || !number.is_normal() {
        return number;
    }
    // Beyond these ends no f64 is a normal number.
    let bounded = |exponent: i64| exponent.clamp(-1022, 1024) as i32;
    let bias = i64::from(float.bias);
    // The exponent whose bits are all ones stands for infinity and NaN.
    let greatest = (1_i64 << float.exponent_size.min(40)) - 2 - bias;
    let exponent = (number.to_bits() >> 52 & 0x7ff) as i32 - 1023;
    let step = 2_f64.powi((exponent.max(bounded(1 - bias)) - digits).max(-1022));
    let nearest = (number / step).round_ties_even() * step;
    let is_beyond = nearest.abs() >= 2_f64.powi(bounded(greatest + 1));
    if is_beyond { f64::INFINITY.copysign(number) } else { nearest }
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

fn single(number: &[u8], is_big: bool) -> u64 {
    key32(f32::from_bits(load4(first(number), is_big))).into()
}

fn double(number: &[u8], is_big: bool) -> u64 {
    key64(f64::from_bits(load8(first(number), is_big)))
}

fn load2(bytes: [u8; 2], is_big: bool) -> u16 {
    let number = u16::from_le_bytes(bytes);
    if is_big { number.swap_bytes() } else { number }
}

fn load4(bytes: [u8; 4], is_big: bool) -> u32 {
    let number = u32::from_le_bytes(bytes);
    if is_big { number.swap_bytes() } else { number }
}

fn load8(bytes: [u8; 8], is_big: bool) -> u64 {
    let number = u64::from_le_bytes(bytes);
    if is_big { number.swap_bytes() } else { number }
}

/// How many numbers are looked at side by side, so that compilers make vector instructions of it.
const LANES: usize = 16;

/// The keys of the least and the greatest number, of which `most` and `least` are the last ones on either side, and how many are not a number.
fn ends<const N: usize, T: Copy + PartialOrd>(
    bytes: &[u8],
    load: impl Fn([u8; N]) -> T,
    [most, least]: [T; 2],
    key: impl Fn(T) -> u64,
) -> (Option<(u64, u64)>, u64) {
    let (mut low, mut high, mut nans) = ([most; LANES], [least; LANES], [0_u32; LANES]);
    let (numbers, _) = bytes.as_chunks::<N>();
    for some in numbers.chunks(LANES) {
        for (((low, high), nans), number) in low.iter_mut().zip(&mut high).zip(&mut nans).zip(some) {
            let number = load(*number);
            *low = if number < *low { number } else { *low };
            *high = if number > *high { number } else { *high };
            *nans += u32::from(number.partial_cmp(&number).is_none());
        }
    }
    let low = low.into_iter().fold(most, |low, number| if number < low { number } else { low });
    let high = high.into_iter().fold(least, |high, number| if number > high { number } else { high });
    let nans = nans.into_iter().map(u64::from).sum();
    // Without numbers both are where they began, on the wrong sides.
    ((nans < numbers.len() as u64).then(|| (key(low), key(high))), nans)
}

/// The elements whose number passes.
fn scan<const N: usize>(bytes: &[u8], place: Place, passes: impl Fn([u8; N]) -> bool) -> Bits {
    let count = bytes.len() / place.element;
    if place.element != N {
        let mut elements = bytes.chunks_exact(place.element);
        return Bits::of(count, |_| {
            let number = elements.next().and_then(|element| element.get(place.offset..));
            number.is_some_and(|number| passes(first(number)))
        });
    }
    let (numbers, _) = bytes.as_chunks::<N>();
    let word = |numbers: &[[u8; N]]| {
        // Flags first, which compilers turn into vector instructions, then eight of them at once into bits.
        let mut flags = [0_u8; 64];
        for (flag, number) in flags.iter_mut().zip(numbers) {
            *flag = passes(*number).into();
        }
        let (eights, _) = flags.as_chunks::<8>();
        eights.iter().rev().fold(0, |word, eight| {
            word << 8 | u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
        })
    };
    Bits::of_words(numbers.chunks(64).map(word).collect(), count)
}

#[cfg(test)]
mod tests;
