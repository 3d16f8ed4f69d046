//! Operations on the bytes of an array or of records, and their result.
//!
//! An array may consist of very many small writes. The operations begin with writes in the order of their offsets, as most arrays are
//! written and as folding leaves them. So reading a range costs only what lies in it.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    format::extent::{Extent, ExtentPart},
    index::entry::tag,
};
use isotach_engine_kit::bytes::{Put, Reader};

/// Operations on the bytes of an array or of records, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Bytes {
    /// Nothing older matters: the operations begin with nothing.
    pub(crate) complete: bool,
    ops: Vec<ByteOp>,
    /// How many of the first operations are non-empty writes in the order of their offsets.
    sorted: usize,
}

/// One operation on bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ByteOp {
    /// `length` bytes at `offset` are those of `extent` from its byte `skip` on.
    Write(ExtentPart),
    SetSize(u64),
    Punch {
        offset: u64,
        length: u64,
    },
}

impl ByteOp {
    /// Where a write ends; 0 for another operation.
    fn end(&self) -> u64 {
        match self {
            Self::Write(part) => part.end(),
            _ => 0,
        }
    }

    /// Where a write begins; 0 for another operation.
    fn offset(&self) -> u64 {
        match self {
            Self::Write(part) => part.offset,
            _ => 0,
        }
    }

    /// Whether it creates an array that did not exist.
    pub(crate) fn creates(&self) -> bool {
        !matches!(self, Self::Punch { .. })
    }
}

/// The result of operations: a size, and the parts within the requested range, by ascending offset and without overlaps.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) size: u64,
    pub(crate) parts: Vec<ExtentPart>,
}

/// The parts of a range by offset, while operations are applied.
#[derive(Debug)]
pub(crate) struct Resolving {
    range: Range<u64>,
    size: u64,
    parts: BTreeMap<u64, ExtentPart>,
}

impl Resolving {
    /// No operation yet.
    pub(crate) fn of(range: Range<u64>) -> Self {
        Self { range, size: 0, parts: BTreeMap::new() }
    }

    /// Applies `bytes`, which are newer than everything applied so far.
    pub(crate) fn apply_all(&mut self, bytes: &Bytes) {
        let (sorted, rest) = bytes.ops.split_at(bytes.sorted);
        if let Some(ByteOp::Write(last)) = sorted.last() {
            self.size = self.size.max(last.end());
        }
        let first = sorted.partition_point(|op| op.end() <= self.range.start);
        let last = first + sorted[first..].partition_point(|op| op.offset() < self.range.end);
        sorted[first..last].iter().chain(rest).for_each(|op| self.apply(op));
    }

    fn apply(&mut self, op: &ByteOp) {
        match op {
            ByteOp::Write(part) => {
                // As in POSIX, a write of no bytes does not change the size.
                if part.length > 0 {
                    self.size = self.size.max(part.end());
                    if let Some(part) = part.clip(self.range.start, self.range.end) {
                        self.cut_out(part.offset, part.end());
                        self.parts.insert(part.offset, part);
                    }
                }
            }
            ByteOp::SetSize(size) => {
                self.cut_out(*size, u64::MAX);
                self.size = *size;
            }
            ByteOp::Punch { offset, length } => self.cut_out(*offset, offset.saturating_add(*length)),
        }
    }

    /// Removes `[start, end)` from the parts.
    fn cut_out(&mut self, start: u64, end: u64) {
        let before = self.parts.range(..start).next_back().filter(|(_, part)| part.end() > start);
        let first = before.map_or(start, |(offset, _)| *offset);
        while let Some((offset, _)) = self.parts.range(first..end).next() {
            let offset = *offset;
            let Some(part) = self.parts.remove(&offset) else { break };
            let rest = [part.clip(0, start), part.clip(end, u64::MAX)].into_iter().flatten();
            let done = part.offset < start;
            rest.for_each(|rest| drop(self.parts.insert(rest.offset, rest)));
            if done {
                // The rest of it lies before the range: continue behind it.
                self.cut_out(start, end);
                return;
            }
        }
    }
}

impl From<Resolving> for Resolved {
    fn from(Resolving { size, parts, .. }: Resolving) -> Self {
        Self { size, parts: parts.into_values().collect() }
    }
}

/// How many unordered operations are collected before all are folded into their result, and their minimum share of all, so that folding
/// costs each operation a constant share.
const FOLD_AT: usize = 64;
const FOLD_SHARE: usize = 4;

impl Bytes {
    pub(crate) fn new(complete: bool, ops: Vec<ByteOp>) -> Self {
        let mut bytes = Self { complete, ops, sorted: 0 };
        bytes.find_sorted();
        bytes
    }

    /// The same if nothing older exists.
    pub(crate) fn completed(self) -> Self {
        Self { complete: true, ..self }
    }

    /// The result in a range, if nothing older matters and the operations are writes in the order of their offsets.
    pub(crate) fn resolve_in_order(&self, range: &Range<u64>) -> Option<Resolved> {
        let size = self.ops.last().filter(|_| self.complete && self.sorted == self.ops.len())?.end();
        let first = self.ops.partition_point(|op| op.end() <= range.start);
        let in_range = self.ops[first..].iter().take_while(|op| op.offset() < range.end);
        let parts = in_range.filter_map(|op| match op {
            ByteOp::Write(part) => part.clip(range.start, range.end),
            _ => None,
        });
        Some(Resolved { size, parts: parts.collect() })
    }

    /// Extends the number of operations known to be in order.
    fn find_sorted(&mut self) {
        let mut end = self.sorted.checked_sub(1).map_or(0, |last| self.ops[last].end());
        while let Some(ByteOp::Write(part)) = self.ops.get(self.sorted)
            && part.length > 0
            && part.offset >= end
        {
            end = part.end();
            self.sorted += 1;
        }
    }

    pub(crate) fn push(&mut self, op: ByteOp) {
        self.ops.push(op);
        self.find_sorted();
        if self.ops.len() - self.sorted >= FOLD_AT.max(self.sorted / FOLD_SHARE) {
            self.fold();
        }
    }

    /// Adds later operations.
    pub(crate) fn append(&mut self, newer: &mut Self) {
        self.ops.append(&mut newer.ops);
        self.find_sorted();
    }

    /// Replaces every part by those that `move_part` returns for it.
    pub(crate) fn map_parts<E>(
        self,
        mut move_part: impl FnMut(ExtentPart) -> Result<Vec<ExtentPart>, E>,
    ) -> Result<Self, E> {
        let mut ops = Vec::with_capacity(self.ops.len());
        for op in self.ops {
            match op {
                ByteOp::Write(part) => ops.extend(move_part(part)?.into_iter().map(ByteOp::Write)),
                other => ops.push(other),
            }
        }
        Ok(Self::new(self.complete, ops))
    }

    /// The parts that the operations write, including those that later ones hide.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &ExtentPart> {
        self.ops.iter().filter_map(|op| match op {
            ByteOp::Write(part) => Some(part),
            _ => None,
        })
    }

    /// Whether the operations create something, whatever existed before.
    pub(crate) fn creates(&self) -> bool {
        self.ops.iter().any(ByteOp::creates)
    }

    /// The result of the operations on nothing; `None` if they create nothing.
    pub(crate) fn resolve(&self) -> Option<Resolved> {
        self.creates().then(|| {
            let mut resolving = Resolving::of(0..u64::MAX);
            resolving.apply_all(self);
            resolving.into()
        })
    }

    /// Replaces the operations by fewer with the same result, if they are complete.
    pub(crate) fn fold(&mut self) {
        if !self.complete || self.ops.len() == self.sorted || self.ops.len() < 2 {
            return;
        }
        if let Some(Resolved { size, parts }) = self.resolve() {
            let end = parts.last().map(ExtentPart::end);
            let mut ops: Vec<_> = parts.into_iter().map(ByteOp::Write).collect();
            ops.extend((end != Some(size)).then_some(ByteOp::SetSize(size)));
            *self = Self::new(true, ops);
        }
    }

    /// Appends the operations in the form of a run.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.complete.into());
        self.ops.iter().for_each(|op| op.encode(out));
    }

    /// Reads operations to the end of a payload.
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        let complete = reader.u32()? == 1;
        let mut ops = Vec::new();
        while !reader.is_empty() {
            ops.push(ByteOp::decode(reader)?);
        }
        Some(Self::new(complete, ops))
    }
}

impl ByteOp {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Write(part) => {
                out.put_u8(tag::WRITE);
                out.put_u64(part.offset);
                out.put_u64(part.length);
                out.put_u64(part.skip);
                part.extent.encode(out);
            }
            Self::SetSize(size) => {
                out.put_u8(tag::SET_SIZE);
                out.put_u64(*size);
            }
            Self::Punch { offset, length } => {
                out.put_u8(tag::PUNCH);
                out.put_u64(*offset);
                out.put_u64(*length);
            }
        }
    }

    pub(crate) fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        match reader.u8()? {
            tag::WRITE => {
                let (offset, length, skip) = (reader.u64()?, reader.u64()?, reader.u64()?);
                let extent = Extent::decode(reader)?;
                let fits = skip.checked_add(length)? <= extent.length && offset.checked_add(length).is_some();
                fits.then_some(Self::Write(ExtentPart { offset, length, skip, extent }))
            }
            tag::SET_SIZE => Some(Self::SetSize(reader.u64()?)),
            tag::PUNCH => Some(Self::Punch { offset: reader.u64()?, length: reader.u64()? }),
            _ => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use isotach_engine_kit::random::Seeded;

    use super::*;
    use crate::format::extent::Sums;

    /// A write of bytes in a file of this number.
    pub(crate) fn write(offset: u64, length: u64) -> ByteOp {
        let extent = Extent { file: offset, position: 0, length, sums: Sums::One(0) };
        ByteOp::Write(ExtentPart { offset, length, skip: 0, extent })
    }

    fn ranges(bytes: &Bytes) -> (u64, Vec<(u64, u64, u64)>) {
        let resolved = bytes.resolve().unwrap();
        (resolved.size, resolved.parts.iter().map(|part| (part.offset, part.length, part.skip)).collect())
    }

    #[test]
    fn later_writes_hide_earlier_ones_and_shrinking_drops_the_rest() {
        let mut bytes = Bytes::new(true, vec![write(0, 100), write(10, 5), write(12, 50)]);
        assert_eq!(ranges(&bytes), (100, vec![(0, 10, 0), (10, 2, 0), (12, 50, 0), (62, 38, 62)]));
        bytes.push(ByteOp::SetSize(20));
        bytes.push(ByteOp::SetSize(90));
        assert_eq!(ranges(&bytes), (90, vec![(0, 10, 0), (10, 2, 0), (12, 8, 0)]));
        bytes.push(ByteOp::Punch { offset: 5, length: 6 });
        let before = ranges(&bytes);
        assert_eq!(before, (90, vec![(0, 5, 0), (11, 1, 1), (12, 8, 0)]));
        bytes.fold();
        assert_eq!(ranges(&bytes), before, "folding changes nothing");
    }

    #[test]
    fn the_result_for_a_range_is_that_part_of_the_whole_result() {
        let seed = isotach_needs::number("ISOTACH_SEED").unwrap_or(7);
        let mut numbers = Seeded(seed);
        let mut random = |end| numbers.below(end);
        for round in 0..300 {
            let (mut older, mut newer) = (Bytes::new(true, Vec::new()), Bytes::new(false, Vec::new()));
            for number in 0..random(90) {
                let op = match random(8) {
                    0 => ByteOp::SetSize(random(300)),
                    1 => ByteOp::Punch { offset: random(300), length: random(60) },
                    2..5 => write(4 * number, random(5)),
                    _ => write(random(300), random(40)),
                };
                if random(2) == 0 { older.push(op) } else { newer.push(op) }
            }
            let mut all = older.clone();
            all.append(&mut newer.clone());
            let whole = all.resolve().unwrap_or_default();
            let (start, length) = (random(320), random(80));
            let end = start + length;
            let mut resolving = Resolving::of(start..end);
            [&older, &newer].into_iter().for_each(|bytes| resolving.apply_all(bytes));
            let parts = whole.parts.iter().filter_map(|part| part.clip(start, end)).collect();
            let expected = Resolved { size: whole.size, parts };
            assert_eq!(Resolved::from(resolving), expected, "seed {seed}, round {round}, {start}..{end}");
            let in_order = Bytes::new(true, (0..=random(9)).map(|at| write(9 * at, 1 + random(9))).collect());
            let mut resolving = Resolving::of(start..end);
            resolving.apply_all(&in_order);
            assert_eq!(in_order.resolve_in_order(&(start..end)), Some(resolving.into()), "seed {seed}");
        }
    }
}
