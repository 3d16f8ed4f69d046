//! The jump index as bytes, as `docs/field-layout.md` has them.
//!
//! What must stay true: every index is read back as it was, and no bytes, whatever they say, make the reader panic or
//! reserve more than a few times their length.

use std::ops::Range;

use super::JumpError;
use super::ccsds::Ccsds;
use super::info::{JumpInfo, Stream};
use super::mask::{CHUNK, Mask};
use super::scaling::Scaling;
use super::sections::{BITS_MAX, POINTS_MAX};

const VERSION: u8 = 1;
const HAS_STREAM: u8 = 1;
const HAS_MASK: u8 = 2;
/// A place in the message is counted in bits, too, and that count has 64 bits.
const BYTES_MAX: u64 = u64::MAX / 8;

impl JumpInfo {
    /// The index as bytes: about 50, and about two for each CCSDS interval and for each 32 768 points of a bitmap.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION, 0, self.bits];
        bytes.extend_from_slice(&self.grid_md5);
        bytes.extend_from_slice(&self.scaling.reference.to_le_bytes());
        for scale in [self.scaling.binary, self.scaling.decimal] {
            write(&mut bytes, zigzag(i64::from(scale)));
        }
        write(&mut bytes, self.points);
        for range in [&self.grid, &self.data] {
            write(&mut bytes, range.start);
            write(&mut bytes, range.end - range.start);
        }
        let mut flags = 0;
        if let Some(mask) = &self.mask {
            flags |= HAS_MASK;
            write(&mut bytes, self.values);
            write(&mut bytes, mask.offset);
            write_steps(&mut bytes, &mask.before);
        }
        if let Some(Stream { ccsds, starts }) = &self.stream {
            flags |= HAS_STREAM;
            let (parameters, block, blocks) = ccsds.parameters();
            bytes.extend_from_slice(&[parameters, block]);
            write(&mut bytes, blocks.into());
            write_steps(&mut bytes, starts);
        }
        if let Some(place) = bytes.get_mut(1) {
            *place = flags;
        }
        bytes
    }

    /// The index that [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`JumpError::OtherVersion`] for an index of another version; [`JumpError::CorruptIndex`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JumpError> {
        let mut reader = Reader { rest: bytes };
        let [version, flags, bits] = reader.array()?;
        if version != VERSION {
            return Err(JumpError::OtherVersion { found: version, expected: VERSION });
        }
        if flags & !(HAS_STREAM | HAS_MASK) != 0 || bits > BITS_MAX {
            return Err(JumpError::index(format!("it has the flags {flags:#04x} and values of {bits} bits")));
        }
        let grid_md5 = reader.array()?;
        let reference = f64::from_le_bytes(reader.array()?);
        let scaling = Scaling { reference, binary: reader.scale()?, decimal: reader.scale()? };
        let points = reader.at_most(POINTS_MAX)?;
        let (grid, data) = (reader.range()?, reader.range()?);
        let (mask, values) = if flags & HAS_MASK == 0 { (None, points) } else { reader.mask(points)? };
        let stream = if flags & HAS_STREAM == 0 { None } else { Some(reader.stream(bits, values, &data)?) };
        if !reader.rest.is_empty() {
            return Err(JumpError::index("it is longer than it says"));
        }
        if stream.is_none() && values * u64::from(bits) > (data.end - data.start).saturating_mul(8) {
            return Err(JumpError::index(format!("{values} values of {bits} bits are not where it says")));
        }
        Ok(Self { grid, grid_md5, points, scaling, bits, values, data, stream, mask })
    }
}

/// Writes 7 bits in each byte, the lowest first. The upper bit says that more follow.
fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Small numbers of either sign as small numbers: 0, -1, 1, -2 ...
fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Writes numbers that begin with 0 and never fall: by how much each step is greater than the step before it.
fn write_steps(bytes: &mut Vec<u8>, numbers: &[u64]) {
    let mut last_step = 0;
    for pair in numbers.windows(2) {
        let step = pair[1].wrapping_sub(pair[0]);
        write(bytes, zigzag(step.wrapping_sub(last_step) as i64));
        last_step = step;
    }
}

struct Reader<'b> {
    rest: &'b [u8],
}

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], JumpError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or_else(|| JumpError::index("it is cut"))?;
        self.rest = rest;
        Ok(*array)
    }

    fn number(&mut self) -> Result<u64, JumpError> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                break;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(JumpError::index("a number has more than 64 bits"))
    }

    fn at_most(&mut self, max: u64) -> Result<u64, JumpError> {
        let number = self.number()?;
        if number > max { Err(JumpError::index(format!("{number} is above {max}"))) } else { Ok(number) }
    }

    fn scale(&mut self) -> Result<i16, JumpError> {
        let number = unzigzag(self.number()?);
        i16::try_from(number).map_err(|_| JumpError::index(format!("a scale of {number}")))
    }

    fn range(&mut self) -> Result<Range<u64>, JumpError> {
        let (start, length) = (self.number()?, self.number()?);
        let end = start.checked_add(length).filter(|end| *end <= BYTES_MAX);
        Ok(start..end.ok_or_else(|| JumpError::index("a section ends behind any message"))?)
    }

    fn mask(&mut self, points: u64) -> Result<(Option<Mask>, u64), JumpError> {
        // More values than points have no point to go to, but ecCodes reads such messages.
        let values = self.at_most(POINTS_MAX)?;
        let offset = self.at_most(u64::MAX - POINTS_MAX)?;
        let before = self.steps(points.div_ceil(CHUNK), |step| step <= CHUNK)?;
        if before.last().is_some_and(|last| *last > values) {
            return Err(JumpError::index("its bitmap has more points than there are values"));
        }
        Ok((Some(Mask { offset, before }), values))
    }

    fn stream(&mut self, bits: u8, values: u64, data: &Range<u64>) -> Result<Stream, JumpError> {
        let [flags, block] = self.array()?;
        let blocks = u16::try_from(self.number()?).map_err(|_| JumpError::index("too long an interval"))?;
        let ccsds = Ccsds::new(flags, bits, block, blocks).map_err(JumpError::index)?;
        let starts = self.steps(ccsds.count(values), |step| step > 0)?;
        if starts.last().is_some_and(|last| *last >= (data.end - data.start).saturating_mul(8)) {
            return Err(JumpError::index("an interval begins behind the data"));
        }
        Ok(Stream { ccsds, starts })
    }

    /// As many numbers as `write_steps` was given, with steps that `permit` takes.
    fn steps(&mut self, count: u64, permit: impl Fn(u64) -> bool) -> Result<Vec<u64>, JumpError> {
        let left = count.saturating_sub(1);
        // Each takes a byte at least.
        if left > self.rest.len() as u64 {
            return Err(JumpError::index("it is cut"));
        }
        let mut numbers = vec![0; usize::from(count > 0)];
        let (mut number, mut step) = (0_u64, 0_u64);
        for _ in 0..left {
            step = step.wrapping_add(unzigzag(self.number()?) as u64);
            let next = number.checked_add(step).filter(|_| permit(step));
            number = next.ok_or_else(|| JumpError::index("its steps are out of range"))?;
            numbers.push(number);
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn simple() -> JumpInfo {
        JumpInfo {
            grid: 37..109,
            grid_md5: *b"0123456789abcdef",
            points: 2040,
            scaling: Scaling { reference: 273.25, binary: -9, decimal: 0 },
            bits: 16,
            values: 2040,
            data: 178..4258,
            stream: None,
            mask: None,
        }
    }

    fn rich(steps: &[u64], counts: &[u64]) -> JumpInfo {
        let sums = |steps: &[u64]| {
            let first = std::iter::once(0);
            first
                .chain(steps.iter().scan(0, |sum, step| {
                    *sum += step;
                    Some(*sum)
                }))
                .collect::<Vec<u64>>()
        };
        let starts = sums(steps);
        let before = sums(counts);
        let ccsds = Ccsds::new(14, 24, 32, 128).unwrap();
        JumpInfo {
            points: before.len() as u64 * CHUNK,
            values: starts.len() as u64 * 4096,
            data: 9000..9000 + starts.last().unwrap() / 8 + 1,
            stream: Some(Stream { ccsds, starts }),
            mask: Some(Mask { offset: 180, before }),
            bits: 24,
            ..simple()
        }
    }

    #[test]
    fn an_index_of_simple_packing_has_the_bytes_of_the_format() {
        let bytes = simple().to_bytes();
        let mut expected = vec![1, 0, 16];
        expected.extend_from_slice(b"0123456789abcdef");
        expected.extend_from_slice(&[0, 0, 0, 0, 0, 0x14, 0x71, 0x40]);
        expected.extend_from_slice(&[17, 0, 0xf8, 0x0f, 37, 72, 0xb2, 0x01, 0xf0, 0x1f]);
        assert_eq!(bytes, expected);
        assert_eq!(JumpInfo::from_bytes(&bytes).unwrap(), simple());
    }

    proptest! {
        #[test]
        fn an_index_is_read_back_as_it_was(
            steps in vec(1..500_000_u64, 40..300), counts in vec(0..=0x80_u64, 0..9),
        ) {
            let info = rich(&steps, &counts);
            prop_assert_eq!(JumpInfo::from_bytes(&info.to_bytes()).unwrap(), info);
        }

        #[test]
        fn changed_bytes_are_refused_or_read_as_another_index(
            steps in vec(1..50_000_u64, 1..30), place in any::<prop::sample::Index>(), byte in any::<u8>(),
        ) {
            let mut bytes = rich(&steps, &[]).to_bytes();
            let place = place.index(bytes.len());
            bytes[place] = byte;
            if let Ok(info) = JumpInfo::from_bytes(&bytes) {
                prop_assert_eq!(JumpInfo::from_bytes(&info.to_bytes()).unwrap().to_bytes(), info.to_bytes());
            }
            prop_assert!(JumpInfo::from_bytes(&bytes[..place]).is_err());
        }
    }

    #[test]
    fn an_index_of_another_version_is_refused_with_the_remedy() {
        let mut bytes = simple().to_bytes();
        bytes[0] = 2;
        assert_eq!(
            JumpInfo::from_bytes(&bytes).unwrap_err().to_string(),
            "the jump index is of version 2, expected 1: decode the message without it"
        );
    }

    #[test]
    fn an_index_of_a_section_too_long_to_count_its_bits_is_refused() {
        let mut info = rich(&[40_000], &[]);
        info.data = 0..BYTES_MAX;
        assert_eq!(JumpInfo::from_bytes(&info.to_bytes()).unwrap(), info);
        assert_eq!(info.bytes_of(&(4096..4097)), Some(5000..BYTES_MAX));
        info.data = 0..1 << 61;
        assert_eq!(
            JumpInfo::from_bytes(&info.to_bytes()).unwrap_err().to_string(),
            "the jump index is corrupt: a section ends behind any message; build it anew from the message"
        );
    }

    #[test]
    fn an_index_of_an_impossible_stream_is_refused_with_one_remedy() {
        let mut info = rich(&[40_000], &[]);
        info.bits = 0;
        assert_eq!(
            JumpInfo::from_bytes(&info.to_bytes()).unwrap_err().to_string(),
            "the jump index is corrupt: a CCSDS stream of values of 0 bits; build it anew from the message"
        );
    }

    #[test]
    fn intervals_of_about_one_length_take_two_bytes_each() {
        let steps: Vec<u64> = (0..1610_u64).map(|number| 40_000 + number * 7919 % 4000).collect();
        let length = rich(&steps, &[]).to_bytes().len();
        assert!(length < 3400, "{length}");
    }
}
