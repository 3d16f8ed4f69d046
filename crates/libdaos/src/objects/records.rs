//! Records: bytes at offsets, a fixed number to each, read and written by ranges of indices. A record that was never written, or was punched
//! since, does not exist: a read leaves its place in the caller's buffers unchanged.

use std::ops;

use isotach_object::{ArrayRead, Cell, Container, Update, extents_of, merge_extents};

use crate::{
    abi::errors::{DER_REC_SIZE, DER_REC2BIG},
    runtime::error::{Result, invalid, refuse},
    transactions::scope::Scope,
};

/// A range of records: the first index, and the count.
pub(crate) type Range = (u64, u64);

/// The location of records: the bytes of a cell from an offset on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Records<'c> {
    pub(crate) cell: Cell<'c>,
    pub(crate) base: u64,
    /// Bytes of a record.
    pub(crate) size: u64,
    /// The most records that there can be.
    pub(crate) most: u64,
}

/// What a fetch found under one attribute key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// Bytes of the value, or of a record; 0 if there is none.
    pub(crate) size: u64,
    /// The existing records, in the order of the requested ranges.
    pub(crate) ranges: Vec<Range>,
    /// Existing bytes, with their positions in the buffers, which hold the ranges one after the other.
    pub(crate) pieces: Vec<(u64, Vec<u8>)>,
    /// Whether the buffers are too small.
    pub(crate) is_too_big: bool,
}

impl Fetched {
    /// A single value, or its size alone.
    pub(crate) fn value(value: Vec<u8>, capacity: Option<u64>) -> Self {
        let size = value.len() as u64;
        let is_too_big = capacity.is_some_and(|capacity| size > capacity);
        let pieces = if capacity.is_none() || is_too_big { Vec::new() } else { vec![(0, value)] };
        Self { size, pieces, is_too_big, ..Self::default() }
    }
}

/// The written parts of each of some ranges of a cell's bytes, all at one moment.
pub(crate) fn written(
    state: &dyn Container,
    cell: Cell<'_>,
    ranges: &[ops::Range<u64>],
) -> isotach_object::Result<Vec<Vec<ops::Range<u64>>>> {
    let start = ranges.iter().map(|range| range.start).min().unwrap_or(0);
    let end = ranges.iter().map(|range| range.end).max().unwrap_or(start);
    let extents = extents_of(state, cell, start, end - start)?;
    let of_range = |range: &ops::Range<u64>| {
        let first = extents.partition_point(|extent| extent.end <= range.start);
        let met = extents[first..].iter().take_while(|extent| extent.start < range.end);
        merge_extents(met.cloned(), range)
    };
    Ok(ranges.iter().map(of_range).collect())
}

/// The end of the last written bytes of a cell of this size; 0 if there are none.
pub(crate) fn last_end(state: &dyn Container, cell: Cell<'_>, size: u64) -> isotach_object::Result<u64> {
    let (mut end, mut length) = (size, 1_u64);
    while end > 0 {
        let start = end.saturating_sub(length);
        if let Some(last) = extents_of(state, cell, start, end - start)?.last() {
            return Ok(last.end);
        }
        // The punched range at the end may be long.
        (end, length) = (start, length.saturating_mul(2));
    }
    Ok(0)
}

impl Records<'_> {
    /// The bytes of a range.
    fn bytes_of(&self, (first, count): Range) -> Result<ops::Range<u64>> {
        if first.checked_add(count).is_none_or(|end| end > self.most) {
            return invalid(&format!("{count} records from {first} on, where there may be {}", self.most));
        }
        let start = first.checked_mul(self.size).and_then(|start| start.checked_add(self.base));
        let end =
            start.zip(count.checked_mul(self.size)).and_then(|(start, length)| start.checked_add(length));
        let bytes = start.zip(end).map(|(start, end)| start..end);
        bytes.map_or_else(|| invalid("a range of records that ends beyond all numbers"), Ok)
    }

    /// Refuses any other size of records.
    pub(crate) fn expect_size(&self, size: u64) -> Result<()> {
        match size == self.size {
            true => Ok(()),
            false => refuse(
                DER_REC_SIZE,
                &format!("records of {size} bytes where there are some of {}", self.size),
            ),
        }
    }

    /// The bytes of all possible records.
    pub(crate) fn all(&self) -> ops::Range<u64> {
        self.base..self.base.saturating_add(self.most.saturating_mul(self.size))
    }

    /// Fetches records of any size. Without `capacity` it only finds which exist.
    pub(crate) fn fetch(&self, scope: &Scope, ranges: &[Range], capacity: Option<u64>) -> Result<Fetched> {
        let ranges: Vec<_> = ranges.iter().map(|range| self.bytes_of(*range)).collect::<Result<_>>()?;
        scope.read(&[self.cell], |state| self.fetch_from(state, &ranges, capacity))
    }

    fn fetch_from(
        &self,
        state: &dyn Container,
        ranges: &[ops::Range<u64>],
        capacity: Option<u64>,
    ) -> isotach_object::Result<Fetched> {
        let mut found = Fetched::default();
        // The place of each extent in the buffers, and its bytes.
        let (mut position, mut places) = (0_u64, Vec::new());
        for (range, there) in ranges.iter().zip(written(state, self.cell, ranges)?) {
            found.ranges.extend(there.iter().map(|extent| self.records_of(extent)));
            places.extend(
                there.into_iter().map(|extent| (position.saturating_add(extent.start - range.start), extent)),
            );
            position = position.saturating_add(range.end - range.start);
        }
        // As on DAOS the size is reported only if something is found.
        found.size = if places.is_empty() { 0 } else { self.size };
        let Some(capacity) = capacity else { return Ok(found) };
        // Holes behind the last record need no space.
        let end = |(place, extent): &(u64, ops::Range<u64>)| place.saturating_add(extent.end - extent.start);
        if places.last().map_or(0, end) > capacity {
            return Ok(Fetched { size: self.size, is_too_big: true, ..Fetched::default() });
        }
        let buffer = |(place, extent): &(u64, ops::Range<u64>)| {
            (*place, vec![0; (extent.end - extent.start) as usize])
        };
        found.pieces = places.iter().map(buffer).collect();
        let buffers = found.pieces.iter_mut().map(|(_, buffer)| &mut buffer[..]).zip(&places);
        let read = |(buffer, (_, extent)): (_, &(u64, ops::Range<u64>))| ArrayRead {
            cell: self.cell,
            offset: extent.start,
            buffer,
            filled: 0,
        };
        let mut reads: Vec<_> = buffers.map(read).collect();
        state.read_many(&mut reads)?;
        let filled: Vec<usize> = reads.iter().map(|read| read.filled).collect();
        found.pieces.iter_mut().zip(filled).for_each(|((_, buffer), filled)| buffer.truncate(filled));
        Ok(found)
    }

    /// The records in a range of bytes.
    pub(crate) fn records_of(&self, bytes: &ops::Range<u64>) -> Range {
        ((bytes.start - self.base) / self.size, (bytes.end - bytes.start) / self.size)
    }

    /// The first or the last run of adjacent records.
    pub(crate) fn outermost(&self, scope: &Scope, is_last: bool) -> Result<Option<Range>> {
        let all = self.all();
        let list = |state: &dyn Container| extents_of(state, self.cell, all.start, all.end - all.start);
        let extents = scope.read(&[self.cell], list)?;
        let found = if is_last { extents.last() } else { extents.first() };
        Ok(found.map(|bytes| self.records_of(bytes)))
    }
}

impl<'c> Records<'c> {
    /// All records of a cell, of this size.
    pub(crate) fn of(cell: Cell<'c>, size: u64) -> Self {
        Self { cell, base: 0, size, most: u64::MAX }
    }

    /// Adds updates that punch records.
    pub(crate) fn punch(&self, ranges: &[Range], updates: &mut Vec<Update<'c>>) -> Result<()> {
        for range in ranges {
            let bytes = self.bytes_of(*range)?;
            let (offset, length) = (bytes.start, bytes.end - bytes.start);
            updates.push(Update::Punch { cell: self.cell, offset, length });
        }
        Ok(())
    }

    /// Adds updates that write records from the front of `bytes`.
    pub(crate) fn write<'u>(
        &self,
        ranges: &[Range],
        bytes: &'u [u8],
        updates: &mut Vec<Update<'u>>,
    ) -> Result<()>
    where
        'c: 'u,
    {
        let mut rest = bytes;
        for range in ranges {
            let wanted = self.bytes_of(*range)?;
            let parts = usize::try_from(wanted.end - wanted.start).ok();
            let Some((data, behind)) = parts.and_then(|length| rest.split_at_checked(length)) else {
                return refuse(DER_REC2BIG, "ranges of records that are larger than their buffers");
            };
            updates.push(Update::Write { cell: self.cell, offset: wanted.start, data });
            rest = behind;
        }
        Ok(())
    }
}
