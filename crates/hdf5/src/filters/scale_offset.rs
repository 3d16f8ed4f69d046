//! Filter 6, scale and offset: integers less their smallest, and decimal numbers of so many digits as integers, in as few bits as they need.
//!
//! The values are those that HDF5 computes for a dataset: scale type and factor, elements of a chunk, class, size, sign and order of the
//! type, whether there is a fill value, and the value. Stored are the number of bits (4 bytes), the size of a minimum (1 byte, 8) and the
//! minimum in 16 bytes, then the bits, and an unused byte. All ones stand for the fill value where there is one.

use super::{
    bits::{BitReader, BitWriter, low, number, put_number},
    failure::failed,
};
use crate::Result;

/// The bytes before the bits.
const HEAD: usize = 21;
/// How many values HDF5 computes.
const VALUES: usize = 20;

/// What the values say.
struct Scale {
    /// Decimal digits for floating-point numbers; the number of bits, or 0, for integers.
    factor: i32,
    count: usize,
    is_float: bool,
    size: usize,
    is_signed: bool,
    is_big: bool,
    fill: Option<u64>,
}

impl Scale {
    fn of(values: &[u32]) -> Option<Self> {
        let [kind, factor, count, class, size, sign, order, has_fill, fill @ ..] = values else {
            return None;
        };
        let size = *size as usize;
        let is_float = match (kind, class) {
            (0, 1) if size == 4 || size == 8 => true,
            (2, 0) if [1, 2, 4, 8].contains(&size) => false,
            _ => return None,
        };
        let [low_half, high_half, ..] = fill else { return None };
        let fill = u64::from(*high_half) << 32 | u64::from(*low_half);
        let bits = size as u32 * 8;
        let scale = Self {
            factor: factor.cast_signed(),
            count: *count as usize,
            is_float,
            size,
            is_signed: *sign == 1,
            is_big: *order == 1,
            fill: (*has_fill == 1).then_some(fill & low(bits)),
        };
        let fits = values.len() == VALUES && *order <= 1 && (is_float || scale.factor <= bits.cast_signed());
        fits.then_some(scale)
    }

    fn bits(&self) -> u32 {
        self.size as u32 * 8
    }

    /// Whether the program asked for all bits of an integer.
    fn is_needless(&self) -> bool {
        !self.is_float && self.factor == self.bits().cast_signed()
    }

    /// A number so that larger ones have larger bits: the sign bit is the other way round.
    fn ordered(&self, value: u64) -> u64 {
        if self.is_signed { value ^ 1 << (self.bits() - 1) } else { value }
    }

    /// A floating-point number from its bits.
    fn float(&self, bits: u64) -> f64 {
        if self.size == 4 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) }
    }

    /// Ten to the number of digits, in the precision of the type.
    fn power(&self) -> f64 {
        if self.size == 4 { f64::from(10_f32.powi(self.factor)) } else { 10_f64.powi(self.factor) }
    }

    /// A number as an integer: its distance from the smallest in units of the last digit.
    fn scaled(&self, value: f64, least: f64, power: f64) -> f64 {
        if self.size == 4 {
            let (value, least, power) = (value as f32, least as f32, power as f32);
            return (value * power - least * power).round().into();
        }
        (value * power - least * power).round()
    }

    fn is_fill(&self, value: f64, power: f64) -> bool {
        let fill = self.fill.map(|fill| self.float(fill));
        fill.is_some_and(|fill| (value - fill).abs() < 1.0 / power)
    }

    /// The numbers in as few bits as hold them, that number of bits, and the smallest. `None` for all bits.
    fn packed(&self, numbers: &[u64]) -> Option<(Vec<u64>, u32, u64)> {
        if self.is_float { self.packed_floats(numbers) } else { self.packed_integers(numbers) }
    }

    fn packed_integers(&self, numbers: &[u64]) -> Option<(Vec<u64>, u32, u64)> {
        let others = || numbers.iter().copied().filter(|value| Some(*value) != self.fill);
        let least = others().min_by_key(|value| self.ordered(*value)).unwrap_or(0);
        let most = others().max_by_key(|value| self.ordered(*value)).unwrap_or(least);
        let all = low(self.bits());
        let span = most.wrapping_sub(least) & all;
        let bits = if self.factor > 0 {
            self.factor.cast_unsigned()
        } else if span > all - 2 {
            return None;
        } else {
            bits_for(span + 1 + u64::from(self.fill.is_some()))
        };
        if bits == self.bits() {
            return None;
        }
        let pack = |value: &u64| {
            if Some(*value) == self.fill { low(bits) } else { value.wrapping_sub(least) & all }
        };
        // HDF5 keeps the smallest as a number of 8 bytes, with its sign.
        let extended =
            if self.is_signed && least >> (self.bits() - 1) & 1 == 1 { least | !all } else { least };
        Some((numbers.iter().map(pack).collect(), bits, extended))
    }

    fn packed_floats(&self, numbers: &[u64]) -> Option<(Vec<u64>, u32, u64)> {
        let power = self.power();
        let others =
            || numbers.iter().map(|bits| self.float(*bits)).filter(|value| !self.is_fill(*value, power));
        let least = others().reduce(|one, other| if other < one { other } else { one }).unwrap_or(0.0);
        let most = others().reduce(|one, other| if other > one { other } else { one }).unwrap_or(least);
        let span = self.scaled(most, least, power);
        if !span.is_finite() || span > 2_f64.powi(self.bits().cast_signed() - 1) || !least.is_finite() {
            return None;
        }
        let bits = bits_for(span as u64 + 1 + u64::from(self.fill.is_some()));
        if bits >= self.bits() {
            return None;
        }
        let pack = |number: &u64| {
            let value = self.float(*number);
            if self.is_fill(value, power) { low(bits) } else { self.scaled(value, least, power) as u64 }
        };
        let stored = if self.size == 4 { (least as f32).to_bits().into() } else { least.to_bits() };
        Some((numbers.iter().map(pack).collect(), bits, stored))
    }

    /// A number from its bits.
    fn unpacked(&self, packed: u64, bits: u32, least: u64, power: f64) -> u64 {
        if let Some(fill) = self.fill.filter(|_| packed == low(bits)) {
            return fill;
        }
        if !self.is_float {
            return packed.wrapping_add(least);
        }
        if self.size == 4 {
            let value = packed as f32 / power as f32 + f32::from_bits(least as u32);
            return value.to_bits().into();
        }
        (packed as f64 / power + f64::from_bits(least)).to_bits()
    }
}

/// How many bits hold this many different numbers.
fn bits_for(count: u64) -> u32 {
    count.checked_sub(1).map_or(0, |last| 64 - last.leading_zeros())
}

pub(super) fn encode(values: &[u32], bytes: &[u8]) -> Result<Vec<u8>> {
    let scale =
        Scale::of(values).ok_or_else(|| failed("scale and offset", "values that HDF5 does not make"))?;
    if scale.is_needless() {
        return Ok(bytes.to_vec());
    }
    if bytes.len() != scale.count.saturating_mul(scale.size) {
        return Err(failed("scale and offset", "another number of elements"));
    }
    let numbers: Vec<u64> = bytes.chunks_exact(scale.size).map(|one| number(one, scale.is_big)).collect();
    let mut stored = vec![0; HEAD];
    stored[4] = 8;
    let Some((packed, bits, least)) = scale.packed(&numbers) else {
        // Such bytes are in the order of the machine.
        stored[..4].copy_from_slice(&scale.bits().to_le_bytes());
        numbers.iter().for_each(|number| stored.extend_from_slice(&number.to_le_bytes()[..scale.size]));
        return Ok(stored);
    };
    stored[..4].copy_from_slice(&bits.to_le_bytes());
    stored[5..13].copy_from_slice(&least.to_le_bytes());
    let mut writer = BitWriter::default();
    packed.iter().for_each(|value| writer.put(*value, bits));
    stored.extend_from_slice(&writer.bytes);
    stored.resize(HEAD + bytes.len() * bits as usize / (scale.size * 8) + 1, 0);
    Ok(stored)
}

pub(super) fn decode(values: &[u32], stored: &[u8], most: usize) -> Option<Vec<u8>> {
    let scale = Scale::of(values)?;
    if scale.is_needless() {
        return Some(stored.to_vec());
    }
    let length = scale.count.checked_mul(scale.size).filter(|length| *length <= most)?;
    let (head, rest) = stored.split_at_checked(HEAD)?;
    let bits = u32::from_le_bytes(*head.first_chunk()?);
    let least_size = usize::from(*head.get(4)?).min(8);
    let least = number(head.get(5..5 + least_size)?, false);
    let (mut bytes, power) = (vec![0; length], scale.power());
    let elements = bytes.chunks_exact_mut(scale.size);
    if bits == scale.bits() {
        for (element, plain) in elements.zip(rest.get(..length)?.chunks_exact(scale.size)) {
            put_number(element, number(plain, false), scale.is_big);
        }
        return Some(bytes);
    }
    (bits < scale.bits()).then_some(())?;
    let mut reader = BitReader::new(rest);
    for element in elements {
        let packed = reader.take(bits)?;
        put_number(element, scale.unpacked(packed, bits, least, power), scale.is_big);
    }
    Some(bytes)
}
