//! [`Ranges`]: which bytes of a chunk were written, and [`Patches`]: those bytes.

use std::{collections::BTreeMap, ops::Range};

/// Ranges in ascending order, which neither overlap nor touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranges {
    ranges: Vec<Range<u64>>,
    /// Bytes in all of them.
    total: u64,
}

impl Ranges {
    pub(crate) fn add(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let is_touched = |last: &&mut Range<u64>| last.start <= range.start && range.start <= last.end;
        if let Some(last) = self.ranges.last_mut().filter(is_touched) {
            // The usual case: what follows the last one.
            let end = last.end.max(range.end);
            self.total += end - last.end;
            last.end = end;
            return;
        }
        let first = self.ranges.partition_point(|other| other.end < range.start);
        let end = self.ranges.partition_point(|other| other.start <= range.end);
        let touched = self.ranges.get(first..end).unwrap_or_default();
        let start = touched.first().map_or(range.start, |other| other.start.min(range.start));
        let stop = touched.last().map_or(range.end, |other| other.end.max(range.end));
        let before: u64 = touched.iter().map(|other| other.end - other.start).sum();
        self.total += stop - start - before;
        self.ranges.splice(first..end, std::iter::once(start..stop));
    }

    /// How many bytes there are.
    pub(crate) fn measure(&self) -> u64 {
        self.total
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Range<u64>> {
        self.ranges.iter().cloned()
    }
}

/// Bytes that were written at offsets, without the rest. No two overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Patches {
    patches: BTreeMap<u64, Vec<u8>>,
    /// Bytes in all of them.
    total: u64,
}

impl Patches {
    /// The bytes in these ranges of a chunk.
    pub(crate) fn of(ranges: &Ranges, whole: &[u8]) -> Self {
        let mut patches = Self::default();
        for range in ranges.iter() {
            let bytes = whole.get(range.start as usize..range.end as usize).unwrap_or_default();
            patches.write(range.start, bytes);
        }
        patches
    }

    /// Those in these ranges, which the patches cover.
    pub(crate) fn within(&self, ranges: &Ranges) -> Self {
        let mut found = Self::default();
        for range in ranges.iter() {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            self.apply(range.start, &mut bytes);
            found.write(range.start, &bytes);
        }
        found
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let end = offset + bytes.len() as u64;
        let before = self.patches.range_mut(..=offset).next_back().map(|(start, old)| (*start, old));
        let next =
            |patches: &BTreeMap<u64, Vec<u8>>| patches.range(offset + 1..).next().map(|(start, _)| *start);
        if let Some((start, old)) = before {
            let at = (offset - start) as usize;
            if let Some(same) = old.get_mut(at..at + bytes.len()) {
                same.copy_from_slice(bytes);
                return;
            }
            if at <= old.len() && next(&self.patches).is_none_or(|next| end <= next) {
                // Continues the one before.
                if let Some((_, old)) = self.patches.range_mut(..=offset).next_back() {
                    self.total += (at + bytes.len() - old.len()) as u64;
                    old.truncate(at);
                    old.extend_from_slice(bytes);
                }
                return;
            }
        }
        self.cut(offset..end);
        self.put(offset, bytes.to_vec());
    }

    fn put(&mut self, offset: u64, bytes: Vec<u8>) {
        self.total += bytes.len() as u64;
        self.patches.insert(offset, bytes);
    }

    /// Removes what lies in a range.
    fn cut(&mut self, range: Range<u64>) {
        let touched: Vec<u64> = {
            let before = self.patches.range(..range.start).next_back().map(|(start, _)| *start);
            let within = self.patches.range(range.clone()).map(|(start, _)| *start);
            before.into_iter().chain(within).collect()
        };
        for start in touched {
            let Some(mut old) = self.patches.remove(&start) else { continue };
            self.total -= old.len() as u64;
            let end = start + old.len() as u64;
            if end > range.end {
                let tail = old.split_off((range.end.max(start) - start) as usize);
                self.put(range.end.max(start), tail);
            }
            if start < range.start {
                old.truncate((range.start - start) as usize);
                self.put(start, old);
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.patches.iter().map(|(offset, bytes)| (*offset, bytes.as_slice()))
    }

    pub(crate) fn measure(&self) -> u64 {
        self.total
    }

    /// Writes the patches over a buffer that begins at `start`.
    pub(crate) fn apply(&self, start: u64, buffer: &mut [u8]) {
        let end = start + buffer.len() as u64;
        let before = self.patches.range(..start).next_back();
        for (offset, bytes) in before.into_iter().chain(self.patches.range(start..end)) {
            let (from, to) = ((*offset).max(start), (offset + bytes.len() as u64).min(end));
            if from >= to {
                continue;
            }
            let source = bytes.get((from - offset) as usize..(to - offset) as usize);
            let target = buffer.get_mut((from - start) as usize..(to - start) as usize);
            if let (Some(source), Some(target)) = (source, target) {
                target.copy_from_slice(source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use isotach_engine_kit::random::Seeded;

    use super::*;

    #[test]
    fn patches_and_ranges_hold_what_was_written_last() {
        let mut random = Seeded(1);
        for _ in 0..300 {
            let (mut patches, mut ranges, mut model) =
                (Patches::default(), Ranges::default(), vec![None; 64]);
            for _ in 0..random.below(20) {
                let start = random.below(64);
                let bytes = random.bytes(random.clone().below(65 - start) as usize);
                patches.write(start, &bytes);
                ranges.add(start..start + bytes.len() as u64);
                let there = model.iter_mut().skip(start as usize);
                there.zip(&bytes).for_each(|(there, byte)| *there = Some(*byte));
            }
            let written = model.iter().flatten().count() as u64;
            assert_eq!((patches.measure(), ranges.measure()), (written, written));
            let start = random.below(64);
            let mut buffer = vec![7; 64 - start as usize];
            patches.apply(start, &mut buffer);
            let expected: Vec<u8> = model.iter().skip(start as usize).map(|byte| byte.unwrap_or(7)).collect();
            assert_eq!(buffer, expected);
            let listed: Vec<u64> = ranges.iter().flatten().collect();
            let there: Vec<u64> = (0..64).filter(|at| model[*at as usize].is_some()).collect();
            assert_eq!(listed, there);
        }
    }
}
