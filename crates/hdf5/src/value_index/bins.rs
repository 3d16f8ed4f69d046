//! Bins: all elements of a chunk in the order of their keys, cut into bins of equally many.
//!
//! A directory holds the first key of each bin. The positions of the elements follow, then what their keys are above the first of their
//! bin; both are packed to as few bits as the largest needs. So a range of keys is answered by the directory, the positions in the bins that
//! it touches, and the keys in those that it cuts.

use std::{iter, ops::Range};

use isotach_engine_kit::bytes::{Put, Reader};

use crate::{
    Result,
    query::{Bits, KeyRange},
};

const VERSION: u8 = 1;
/// How many elements a bin has; the last one may have fewer.
const IN_BIN: usize = 1024;
/// The bytes of the directory before its bins, and of each bin in it.
const HEAD: usize = 1 + 1 + 4 + 8;
const BIN: usize = 8 + 1;
/// Zeros behind packed numbers, so that each can be read as a word.
const SPARE: usize = 16;

/// How many bits a number needs.
fn width_of(number: u64) -> u32 {
    64 - number.leading_zeros()
}

fn packed_length(width: u32, count: usize) -> usize {
    (width as usize * count).div_ceil(8)
}

fn pack(packed: &mut Vec<u8>, width: u32, numbers: impl Iterator<Item = u64>) {
    let (mut left, mut held) = (0_u128, 0);
    for number in numbers {
        left |= u128::from(number) << held;
        held += width;
        while held >= 8 {
            packed.push(left as u8);
            (left, held) = (left >> 8, held - 8);
        }
    }
    if held > 0 {
        packed.push(left as u8);
    }
}

/// The number at a place among packed ones, behind which there are spare bytes.
fn unpack(packed: &[u8], width: u32, at: usize) -> u64 {
    let bit = at * width as usize;
    let word = packed
        .get(bit / 8..)
        .and_then(|bytes| bytes.first_chunk())
        .map_or(0, |word| u128::from_le_bytes(*word));
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    (word >> (bit % 8)) as u64 & mask
}

/// Makes the bins of keys with the positions of their elements, which are below `length`. Returns the bytes and how many of them are the
/// directory.
pub(crate) fn build(mut keys: Vec<(u64, u32)>, length: usize) -> (Vec<u8>, usize) {
    sort(&mut keys);
    let position_width = width_of(length.saturating_sub(1) as u64);
    let mut bytes = vec![VERSION, position_width as u8];
    bytes.put_u32(keys.len() as u32);
    bytes.put_u64(keys.last().map_or(0, |(key, _)| *key));
    let first_and_width = |bin: &[(u64, u32)]| {
        let (first, last) = (bin.first().map_or(0, |bin| bin.0), bin.last().map_or(0, |bin| bin.0));
        (first, width_of(last - first))
    };
    for bin in keys.chunks(IN_BIN) {
        let (first, width) = first_and_width(bin);
        bytes.put_u64(first);
        bytes.put_u8(width as u8);
    }
    let head = bytes.len();
    for bin in keys.chunks(IN_BIN) {
        pack(&mut bytes, position_width, bin.iter().map(|(_, position)| u64::from(*position)));
    }
    for bin in keys.chunks(IN_BIN) {
        let (first, width) = first_and_width(bin);
        pack(&mut bytes, width, bin.iter().map(|(key, _)| key - first));
    }
    (bytes, head)
}

fn sort(keys: &mut [(u64, u32)]) {
    let least = keys.iter().map(|(key, _)| *key).min().unwrap_or(0);
    let most = keys.iter().map(|(key, _)| *key).max().unwrap_or(0);
    let positions = keys.iter().map(|(_, position)| *position).max().unwrap_or(0);
    let width = width_of(positions.into());
    if width_of(most - least) + width > 64 {
        return keys.sort_unstable();
    }
    // Half of the bytes to move.
    let mut joined: Vec<u64> =
        keys.iter().map(|(key, position)| (key - least) << width | u64::from(*position)).collect();
    joined.sort_unstable();
    for (key, joined) in keys.iter_mut().zip(joined) {
        *key = (least + (joined >> width), (joined & ((1 << width) - 1)) as u32);
    }
}

/// A directory.
#[derive(Debug)]
pub(crate) struct Directory {
    /// Its length in bytes.
    head: usize,
    position_width: u32,
    count: usize,
    /// The greatest key.
    last: u64,
    /// The first key and the width of the keys of each bin, and where its keys begin.
    bins: Vec<(u64, u32, usize)>,
}

/// The bins that a range of keys touches.
#[derive(Debug)]
pub(crate) struct Plan {
    bins: Range<usize>,
    /// Those of them that have other keys, too.
    cut: Vec<usize>,
}

/// Reads ranges of the bytes of bins. `None` if they are not there.
type ReadParts<'r> = dyn FnMut(&[Range<usize>]) -> Result<Option<Vec<Vec<u8>>>> + 'r;

impl Directory {
    /// The length in bytes of the directory of so many elements, which is the longest of a chunk of them.
    pub(crate) fn length(elements: usize) -> usize {
        HEAD + elements.div_ceil(IN_BIN) * BIN
    }

    pub(crate) fn decode(head: &[u8]) -> Option<Self> {
        let mut reader = Reader(head);
        (reader.u8()? == VERSION).then_some(())?;
        let position_width = u32::from(reader.u8()?);
        let (count, last) = (reader.u32()? as usize, reader.u64()?);
        let bins = count.div_ceil(IN_BIN);
        (position_width <= 32 && head.len() == Self::length(count)).then_some(())?;
        let mut directory =
            Self { head: head.len(), position_width, count, last, bins: Vec::with_capacity(bins) };
        let mut start = head.len() + (0..bins).map(|bin| directory.positions(bin)).sum::<usize>();
        for bin in 0..bins {
            let (first, width) = (reader.u64()?, u32::from(reader.u8()?));
            (width <= 64).then_some(())?;
            directory.bins.push((first, width, start));
            start += packed_length(width, directory.in_bin(bin));
        }
        Some(directory)
    }

    fn in_bin(&self, bin: usize) -> usize {
        self.count.saturating_sub(bin * IN_BIN).min(IN_BIN)
    }

    /// The bytes of the positions in a bin.
    fn positions(&self, bin: usize) -> usize {
        packed_length(self.position_width, self.in_bin(bin))
    }

    /// What has to be read for a range of keys.
    pub(crate) fn plan(&self, keys: KeyRange) -> Plan {
        let start = self.bins.partition_point(|(first, ..)| *first < keys.low).saturating_sub(1);
        let end = self.bins.partition_point(|(first, ..)| *first <= keys.high);
        let bound = |bin: usize| self.bins.get(bin + 1).map_or(self.last, |(first, ..)| *first);
        let is_inside = |bin: &usize| {
            let first = self.bins.get(*bin).map_or(0, |(first, ..)| *first);
            keys.low <= first && bound(*bin) <= keys.high
        };
        let bins = if keys.low > keys.high || keys.low > self.last { 0..0 } else { start..end.max(start) };
        Plan { cut: bins.clone().filter(|bin| !is_inside(bin)).collect(), bins }
    }

    /// About how many elements the bins have.
    pub(crate) fn touched(&self, plan: &Plan) -> usize {
        plan.bins.len() * IN_BIN
    }

    /// Adds the positions of the elements with keys in a range. False if the bins cannot be read.
    pub(crate) fn find(
        &self,
        keys: KeyRange,
        plan: &Plan,
        read: &mut ReadParts<'_>,
        found: &mut Bits,
    ) -> Result<bool> {
        let whole = packed_length(self.position_width, IN_BIN);
        let positions = plan.bins.clone().map(|bin| self.positions(bin)).sum::<usize>();
        let start = self.head + plan.bins.start * whole;
        let keys_of = |bin: &usize| {
            let (_, width, start) = self.bins.get(*bin).copied().unwrap_or((0, 0, 0));
            start..start + packed_length(width, self.in_bin(*bin))
        };
        let of_positions = start..start + positions;
        let ranges: Vec<Range<usize>> =
            iter::once(of_positions).chain(plan.cut.iter().map(keys_of)).collect();
        let Some(mut parts) = read(&ranges)? else { return Ok(false) };
        parts.iter_mut().for_each(|part| part.resize(part.len() + SPARE, 0));
        let Some((positions, of_cut)) = parts.split_first() else { return Ok(false) };
        for bin in plan.bins.clone() {
            let of_bin = positions.get((bin - plan.bins.start) * whole..).unwrap_or_default();
            let position = |at| unpack(of_bin, self.position_width, at) as usize;
            match plan.cut.iter().position(|cut| *cut == bin).and_then(|at| of_cut.get(at)) {
                None => (0..self.in_bin(bin)).for_each(|at| found.insert(position(at))),
                Some(packed) => {
                    let (first, width, _) = self.bins.get(bin).copied().unwrap_or((0, 0, 0));
                    let key = |at| first.wrapping_add(unpack(packed, width, at));
                    let inside = (0..self.in_bin(bin)).filter(|at| keys.contains(key(*at)));
                    inside.for_each(|at| found.insert(position(at)));
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The positions of keys in a range, by the bins.
    fn found(bytes: &[u8], head: usize, keys: KeyRange, length: usize) -> (Bits, usize) {
        let directory = Directory::decode(&bytes[..head]).unwrap();
        let (mut found, mut read) = (Bits::none(length), 0);
        let mut parts = |ranges: &[Range<usize>]| {
            read = ranges.iter().map(ExactSizeIterator::len).sum();
            Ok(Some(ranges.iter().map(|range| bytes[range.clone()].to_vec()).collect()))
        };
        assert!(directory.find(keys, &directory.plan(keys), &mut parts, &mut found).unwrap());
        (found, read)
    }

    proptest! {
        #[test]
        fn bins_find_the_elements_that_a_plain_comparison_finds(
            keys in prop::collection::vec(prop_oneof![0..20_u64, any::<u64>(), 1_u64 << 40..1 << 41], 0..4000),
            low in prop_oneof![0..25_u64, any::<u64>()],
            high in prop_oneof![0..25_u64, any::<u64>()],
        ) {
            let range = KeyRange { low, high };
            let (bytes, head) = build(keys.iter().copied().zip(0..).collect(), keys.len());
            let expected = Bits::of(keys.len(), |at| range.contains(keys[at]));
            prop_assert_eq!(found(&bytes, head, range, keys.len()).0, expected);
        }
    }

    #[test]
    fn a_narrow_range_reads_few_bytes() {
        let keys: Vec<(u64, u32)> =
            (0..1 << 18).map(|at: u32| (u64::from(at.wrapping_mul(2_654_435_761)), at)).collect();
        let (bytes, head) = build(keys, 1 << 18);
        let (_, read) = found(&bytes, head, KeyRange { low: 1 << 20, high: (1 << 20) + 1000 }, 1 << 18);
        assert!(read < 10_000, "{read} bytes of {}", bytes.len());
        // 18 bits for a position and 24 for a key.
        assert!(bytes.len() < (1 << 18) * 43 / 8 + 4096, "{}", bytes.len());
    }
}
