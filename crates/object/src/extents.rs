//! Extents: where the written bytes of an array, or of records, are.

use std::ops::Range;

/// The extents within a range, from extents in ascending order that do not overlap: cut to the range, none empty, and those
/// that touch made one.
///
/// ```
/// let extents = [0..4, 4..8, 10..12, 20..30];
/// assert_eq!(isotach_object::merge_extents(extents, &(2..25)), [2..8, 10..12, 20..25]);
/// ```
pub fn merge_extents(extents: impl IntoIterator<Item = Range<u64>>, within: &Range<u64>) -> Vec<Range<u64>> {
    let mut merged: Vec<Range<u64>> = Vec::new();
    for extent in extents {
        let (start, end) = (extent.start.max(within.start), extent.end.min(within.end));
        match merged.last_mut() {
            _ if start >= end => {}
            Some(last) if last.end == start => last.end = end,
            _ => merged.push(start..end),
        }
    }
    merged
}
