//! Records: bytes at offsets, so many to each, that are read and written by ranges of indices. What was not written, or was punched
//! since, is not there: a read leaves its place in the caller's buffers alone.

use std::ops;

use isotach_object::{ArrayRead, Cell, Container, Update, extents_of, merge_extents};

use crate::{
    abi::errors::{DER_REC_SIZE, DER_REC2BIG},
    runtime::error::{Result, invalid, refuse},
    transactions::scope::Scope,
};

/// A range of records: the first, and how many.
pub(crate) type Range = (u64, u64);

/// Where records are: the bytes of a cell from an offset on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Records<'c> {
    pub(crate) cell: Cell<'c>,
    pub(crate) base: u64,
    /// Bytes of a record.
    pub(crate) size: u64,
    /// How many there may be.
    pub(crate) most: u64,
}

/// What was found under one attribute key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Bytes of the value, or of a record; 0 where nothing is.
    pub(crate) size: u64,
    /// The records that are there, in the order of the ranges that were asked for.
    pub(crate) ranges: Vec<Range>,
    /// Bytes that are there, and where they belong in the buffers: the ranges lie there one behind the other.
    pub(crate) pieces: Vec<(u64, Vec<u8>)>,
    /// Whether there is no room for them.
    pub(crate) is_too_big: bool,
}

impl Found {
    /// A single value, or its size alone.
    pub(crate) fn value(value: Vec<u8>, room: Option<u64>) -> Self {
        let size = value.len() as u64;
        let is_too_big = room.is_some_and(|room| size > room);
        let pieces = if room.is_none() || is_too_big { Vec::new() } else { vec![(0, value)] };
        Self { size, pieces, is_too_big, ..Self::default() }
    }
}

/// What was written of each of some ranges of a cell's bytes, all at one moment.
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

/// Where the last bytes of a cell of so many end that were written; 0 where there are none.
pub(crate) fn last_end(state: &dyn Container, cell: Cell<'_>, size: u64) -> isotach_object::Result<u64> {
    let (mut end, mut length) = (size, 1_u64);
    while end > 0 {
        let start = end.saturating_sub(length);
        if let Some(last) = extents_of(state, cell, start, end - start)?.last() {
            return Ok(last.end);
        }
        // What was punched at the end may be long.
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

    /// Refuses another size of records than theirs.
    pub(crate) fn expect_size(&self, size: u64) -> Result<()> {
        match size == self.size {
            true => Ok(()),
            false => refuse(
                DER_REC_SIZE,
                &format!("records of {size} bytes where there are some of {}", self.size),
            ),
        }
    }

    /// All records that there may be.
    pub(crate) fn all(&self) -> ops::Range<u64> {
        self.base..self.base.saturating_add(self.most.saturating_mul(self.size))
    }

    /// Finds records, of whatever size they are. Without room only which there are.
    pub(crate) fn fetch(&self, scope: &Scope, ranges: &[Range], room: Option<u64>) -> Result<Found> {
        let ranges: Vec<_> = ranges.iter().map(|range| self.bytes_of(*range)).collect::<Result<_>>()?;
        scope.read(&[self.cell], |state| self.fetch_from(state, &ranges, room))
    }

    fn fetch_from(
        &self,
        state: &dyn Container,
        ranges: &[ops::Range<u64>],
        room: Option<u64>,
    ) -> isotach_object::Result<Found> {
        let mut found = Found::default();
        // The place of each extent in the buffers, and its bytes.
        let (mut position, mut places) = (0_u64, Vec::new());
        for (range, there) in ranges.iter().zip(written(state, self.cell, ranges)?) {
            found.ranges.extend(there.iter().map(|extent| self.records_of(extent)));
            places.extend(
                there.into_iter().map(|extent| (position.saturating_add(extent.start - range.start), extent)),
            );
            position = position.saturating_add(range.end - range.start);
        }
        // As on DAOS, where nothing is found nothing is told of its size.
        found.size = if places.is_empty() { 0 } else { self.size };
        let Some(room) = room else { return Ok(found) };
        // Holes behind the last record need no room.
        let end = |(place, extent): &(u64, ops::Range<u64>)| place.saturating_add(extent.end - extent.start);
        if places.last().map_or(0, end) > room {
            return Ok(Found { size: self.size, is_too_big: true, ..Found::default() });
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

    /// The records that bytes are.
    pub(crate) fn records_of(&self, bytes: &ops::Range<u64>) -> Range {
        ((bytes.start - self.base) / self.size, (bytes.end - bytes.start) / self.size)
    }

    /// The first records that lie together, or the last.
    pub(crate) fn outermost(&self, scope: &Scope, is_last: bool) -> Result<Option<Range>> {
        let all = self.all();
        let list = |state: &dyn Container| extents_of(state, self.cell, all.start, all.end - all.start);
        let extents = scope.read(&[self.cell], list)?;
        let found = if is_last { extents.last() } else { extents.first() };
        Ok(found.map(|bytes| self.records_of(bytes)))
    }
}

impl<'c> Records<'c> {
    /// All that a cell holds, in records of so many bytes.
    pub(crate) fn of(cell: Cell<'c>, size: u64) -> Self {
        Self { cell, base: 0, size, most: u64::MAX }
    }

    /// The removal of records.
    pub(crate) fn punch(&self, ranges: &[Range], updates: &mut Vec<Update<'c>>) -> Result<()> {
        for range in ranges {
            let bytes = self.bytes_of(*range)?;
            let (offset, length) = (bytes.start, bytes.end - bytes.start);
            updates.push(Update::Punch { cell: self.cell, offset, length });
        }
        Ok(())
    }

    /// The update of records, whose bytes lie one behind the other; there may be more behind them.
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
