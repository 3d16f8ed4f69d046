//! What a file will be asked for next. The system looks ahead for one reader; here several threads take the parts of one sequence, each a
//! little before or behind the others, and decode them before they take the next, when the device would have nothing to do.

use std::{ops::Range, sync::PoisonError};

use crate::sync::Mutex;

/// Shorter reads are not counted.
pub(super) const LARGE: usize = 256 << 10;
/// How far before or behind the others a thread may read in one sequence.
const NEAR: u64 = 16 << 20;
/// A sequence counts from so many bytes on: a large field alone is none.
const SURE: u64 = 8 << 20;
/// The most bytes that are asked for in advance.
const AHEAD: u64 = 32 << 20;

/// The large reads of a file.
#[derive(Debug, Default)]
pub(super) struct Ahead(Mutex<Sequence>);

/// Reads of which each is near the others.
#[derive(Debug, Default)]
struct Sequence {
    /// From the first byte to the end of the last.
    span: Range<u64>,
    /// The bytes that were read.
    read: u64,
    /// Whether the device was needed.
    is_cold: bool,
    /// The end of what was asked for in advance.
    asked_to: u64,
}

impl Ahead {
    /// Counts a read, and returns the range to ask for, if there is one.
    pub(super) fn read(&self, position: u64, length: u64, was_cached: bool) -> Option<Range<u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).read(position, length, was_cached)
    }
}

impl Sequence {
    fn read(&mut self, position: u64, length: u64, was_cached: bool) -> Option<Range<u64>> {
        let end = position + length;
        let near = self.span.start.max(self.span.end.saturating_sub(NEAR))..self.span.end + NEAR;
        if !near.contains(&position) {
            *self = Self { span: position..end, read: length, is_cold: !was_cached, asked_to: end };
            return None;
        }
        self.span.end = self.span.end.max(end);
        self.read += length;
        self.is_cold |= !was_cached;
        let is_dense = 2 * self.read > self.span.end - self.span.start;
        let wanted = self.span.end + self.read.min(AHEAD);
        let is_due = self.asked_to + AHEAD / 2 < wanted;
        if !(self.is_cold && is_dense && is_due && self.read >= SURE) {
            return None;
        }
        let begin = self.asked_to.max(self.span.end);
        self.asked_to = wanted;
        // What comes next decides, not what was long ago.
        if self.read > 2 * AHEAD {
            self.read /= 2;
            self.span.start += (self.span.end - self.span.start) / 2;
        }
        Some(begin..wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// What is asked for when these places, in MiB, are read with 1 MiB each.
    fn asked(places: impl IntoIterator<Item = u64>, was_cached: bool) -> Vec<Range<u64>> {
        let ahead = Ahead::default();
        places.into_iter().filter_map(|place| ahead.read(place * MIB, MIB, was_cached)).collect()
    }

    #[test]
    fn a_sequence_is_asked_for_in_advance_without_gaps() {
        let ranges = asked(0..200, false);
        assert!(ranges.len() < 20, "{} calls", ranges.len());
        assert!(ranges[0].start <= 18 * MIB, "{:?}", ranges[0]);
        assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{ranges:?}");
        let end = ranges.last().map_or(0, |range| range.end);
        assert!((200 * MIB..=232 * MIB).contains(&end), "{end}");
    }

    #[test]
    fn threads_that_overtake_each_other_read_one_sequence() {
        let order = (0..200).map(|place| place ^ 5);
        let bytes: u64 = asked(order, false).iter().map(|range| range.end - range.start).sum();
        assert!(bytes > 180 * MIB, "{bytes}");
    }

    #[test]
    fn nothing_is_asked_for_that_is_not_read() {
        let random = (0..200).map(|number| number * 7919 % 100_000);
        assert_eq!(asked(random, false), [], "at random");
        assert_eq!(asked((0..200).map(|number| number * 10), false), [], "every tenth");
        assert_eq!(asked((0..200).rev().map(|number| number * 5), false), [], "backwards");
        let large_fields =
            (0..40).flat_map(|number| (0..5).map(move |step| number * 7919 % 1000 * 50 + step));
        assert_eq!(asked(large_fields, false), [], "fields of 5 MiB at random");
    }

    #[test]
    fn nothing_is_asked_for_that_is_in_memory() {
        assert_eq!(asked(0..200, true), []);
    }
}
