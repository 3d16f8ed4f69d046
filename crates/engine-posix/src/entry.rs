//! Entries: what a layer of the state (the table, or a run) knows about one path, and how layers combine.
//!
//! A layer may not know what lies under it, so bytes are kept as the operations done to them
//! ([`Bytes::complete`] says whether anything older can matter). Combining is associative: whatever layers a
//! process happens to hold, it comes to the same answer.

use std::collections::BTreeMap;

use crate::{
    bytes::{Put, Reader},
    extent::{DIGEST, Digest, Extent},
};

/// An entry and the epoch of its last change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Versioned {
    pub(crate) epoch: u64,
    pub(crate) entry: Entry,
}

/// What a layer knows about a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A value, here.
    Value(Box<[u8]>),
    /// A value, in a data file.
    ValueExtent(Extent, Digest),
    /// Removed: nothing older counts.
    Removed,
    /// Bytes by offset.
    Bytes(Bytes),
    /// On the path of an object or a distribution key: everything older with this prefix is removed.
    Cut,
}

/// Operations on the bytes of an array or of records, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Bytes {
    /// Nothing older matters: the operations start from nothing.
    pub(crate) complete: bool,
    ops: Vec<ByteOp>,
    /// How many operations the last folding left: the next one waits until there are twice as many, so that
    /// folding costs each operation a constant share.
    folded: usize,
}

/// One operation on bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ByteOp {
    /// `length` bytes at `offset` are those of `extent` from its byte `skip` on.
    Write(Part),
    SetSize(u64),
    Punch {
        offset: u64,
        length: u64,
    },
}

/// A visible part of an extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) skip: u64,
    pub(crate) extent: Extent,
}

impl Part {
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.length
    }

    /// The part of it within `[start, end)`, if any.
    pub(crate) fn clip(&self, start: u64, end: u64) -> Option<Self> {
        let (from, to) = (self.offset.max(start), self.end().min(end));
        (from < to).then(|| Self {
            offset: from,
            length: to - from,
            skip: self.skip + (from - self.offset),
            extent: self.extent.clone(),
        })
    }
}

impl ByteOp {
    /// Whether it makes an array that was not there.
    pub(crate) fn creates(&self) -> bool {
        !matches!(self, Self::Punch { .. })
    }
}

/// The bytes that operations amount to: a size, and parts by ascending offset that do not overlap.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) size: u64,
    pub(crate) parts: Vec<Part>,
}

/// Parts by offset, while operations are applied to them.
#[derive(Debug, Default)]
struct Resolving {
    size: u64,
    parts: BTreeMap<u64, Part>,
}

impl Resolving {
    fn apply(&mut self, op: &ByteOp) {
        match op {
            ByteOp::Write(part) => {
                // As in POSIX, a write of no bytes does not change the size.
                if part.length > 0 {
                    self.cut_out(part.offset, part.end());
                    self.parts.insert(part.offset, part.clone());
                    self.size = self.size.max(part.end());
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
                // What is left of it lies before the range: go on behind it.
                self.cut_out(start, end);
                return;
            }
        }
    }
}

/// Operations kept before they are folded into what they amount to.
const FOLD_AT: usize = 64;

impl Bytes {
    pub(crate) fn new(complete: bool, ops: Vec<ByteOp>) -> Self {
        Self { complete, ops, folded: 0 }
    }

    /// Adds an operation.
    pub(crate) fn push(&mut self, op: ByteOp) {
        self.ops.push(op);
        if self.ops.len() >= FOLD_AT.max(2 * self.folded) {
            self.fold();
        }
    }

    /// What the operations amount to, from nothing; `None` when they create nothing.
    pub(crate) fn resolve(&self) -> Option<Resolved> {
        if !self.ops.iter().any(ByteOp::creates) {
            return None;
        }
        let mut resolving = Resolving::default();
        // What is done before anything is there does nothing.
        self.ops.iter().skip_while(|op| !op.creates()).for_each(|op| resolving.apply(op));
        Some(Resolved { size: resolving.size, parts: resolving.parts.into_values().collect() })
    }

    /// Replaces the operations by fewer that amount to the same, when everything is known.
    pub(crate) fn fold(&mut self) {
        if !self.complete || self.ops.len() < 2 {
            return;
        }
        if let Some(Resolved { size, parts }) = self.resolve() {
            self.ops = parts.into_iter().map(ByteOp::Write).collect();
            self.ops.push(ByteOp::SetSize(size));
        }
        self.folded = self.ops.len();
    }
}

impl Entry {
    /// Whether anything older can still matter.
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.complete,
            _ => true,
        }
    }

    /// Whether it is something that a reader sees.
    pub(crate) fn is_live(&self) -> bool {
        match self {
            Self::Value(_) | Self::ValueExtent(..) => true,
            Self::Bytes(bytes) => bytes.ops.iter().any(ByteOp::creates),
            Self::Removed | Self::Cut => false,
        }
    }

    /// This entry over an older one of the same path that no cut hides.
    pub(crate) fn over(self, older: Self) -> Self {
        let Self::Bytes(mut newer) = self else { return self };
        if newer.complete {
            return Self::Bytes(newer);
        }
        match older {
            Self::Bytes(older) => {
                let mut ops = older.ops;
                ops.append(&mut newer.ops);
                Self::Bytes(Bytes::new(older.complete, ops))
            }
            // Punching a single value does nothing; writing bytes drops it.
            Self::Value(_) | Self::ValueExtent(..) if !newer.ops.iter().any(ByteOp::creates) => older,
            _ => Self::Bytes(Bytes::new(true, newer.ops)),
        }
    }

    /// This entry when nothing older is left.
    pub(crate) fn at_bottom(self) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(Bytes { complete: true, ..bytes }),
            other => other,
        }
    }
}

impl Versioned {
    /// This over an older one; the last change is the later of both.
    pub(crate) fn over(self, older: Self) -> Self {
        Self { epoch: self.epoch.max(older.epoch), entry: self.entry.over(older.entry) }
    }
}

/// What an entry's payload is, and what an operation's bytes are.
pub(crate) mod tag {
    pub(crate) const VALUE: u8 = 1;
    pub(crate) const VALUE_EXTENT: u8 = 2;
    pub(crate) const REMOVED: u8 = 3;
    pub(crate) const BYTES: u8 = 4;
    pub(crate) const CUT: u8 = 5;
    pub(crate) const WRITE: u8 = 1;
    pub(crate) const SET_SIZE: u8 = 2;
    pub(crate) const PUNCH: u8 = 3;
}

impl Entry {
    /// Appends the entry's payload in a run, and gives its tag (FORMAT.md section 7).
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> u8 {
        match self {
            Self::Value(value) => {
                out.extend_from_slice(value);
                tag::VALUE
            }
            Self::ValueExtent(extent, digest) => {
                extent.encode(out);
                out.extend_from_slice(digest);
                tag::VALUE_EXTENT
            }
            Self::Removed => tag::REMOVED,
            Self::Bytes(bytes) => {
                out.put_u32(bytes.complete.into());
                bytes.ops.iter().for_each(|op| op.encode(out));
                tag::BYTES
            }
            Self::Cut => tag::CUT,
        }
    }

    /// Appends the payload of one operation on bytes.
    pub(crate) fn encode_op(complete: bool, op: &ByteOp, out: &mut Vec<u8>) {
        out.put_u32(complete.into());
        op.encode(out);
    }

    /// Whether a payload of bytes begins with saying that nothing older matters.
    pub(crate) fn says_complete(payload: &[u8]) -> bool {
        Reader(payload).u32() == Some(1)
    }

    /// Whether a payload of bytes is complete and nothing but one write.
    pub(crate) fn is_one_write(payload: &[u8]) -> bool {
        let mut reader = Reader(payload);
        reader.u32() == Some(1)
            && reader.0.first() == Some(&tag::WRITE)
            && ByteOp::decode(&mut reader).is_some()
            && reader.is_empty()
    }

    /// Reads an entry from its tag and payload; `None` when it is malformed.
    pub(crate) fn decode(kind: u8, payload: &[u8]) -> Option<Self> {
        let mut reader = Reader(payload);
        let entry = match kind {
            tag::VALUE => return Some(Self::Value(payload.into())),
            tag::VALUE_EXTENT => {
                let extent = Extent::decode(&mut reader)?;
                Self::ValueExtent(extent, reader.take(DIGEST)?.try_into().ok()?)
            }
            tag::REMOVED => Self::Removed,
            tag::BYTES => {
                let complete = reader.u32()? == 1;
                let mut ops = Vec::new();
                while !reader.is_empty() {
                    ops.push(ByteOp::decode(&mut reader)?);
                }
                Self::Bytes(Bytes::new(complete, ops))
            }
            tag::CUT => Self::Cut,
            _ => return None,
        };
        reader.is_empty().then_some(entry)
    }
}

impl ByteOp {
    fn encode(&self, out: &mut Vec<u8>) {
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

    fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        match reader.u8()? {
            tag::WRITE => {
                let (offset, length, skip) = (reader.u64()?, reader.u64()?, reader.u64()?);
                let extent = Extent::decode(reader)?;
                let fits = skip.checked_add(length)? <= extent.length && offset.checked_add(length).is_some();
                fits.then_some(Self::Write(Part { offset, length, skip, extent }))
            }
            tag::SET_SIZE => Some(Self::SetSize(reader.u64()?)),
            tag::PUNCH => Some(Self::Punch { offset: reader.u64()?, length: reader.u64()? }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extent::Sums;

    fn write(offset: u64, length: u64) -> ByteOp {
        let extent = Extent { file: offset, position: 0, length, sums: Sums::One(0) };
        ByteOp::Write(Part { offset, length, skip: 0, extent })
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
    fn a_punch_of_nothing_creates_nothing_and_of_a_single_value_changes_nothing() {
        let punch = Bytes::new(false, vec![ByteOp::Punch { offset: 0, length: 9 }]);
        assert!(!Entry::Bytes(punch.clone()).is_live());
        let value = Entry::Value(Box::from(*b"v"));
        assert_eq!(Entry::Bytes(punch).over(value.clone()), value);
    }

    #[test]
    fn entries_read_back_from_a_run_and_malformed_ones_are_refused() {
        let extent = Extent { file: 1, position: 2, length: 3, sums: Sums::One(4) };
        let ops = vec![write(5, 6), ByteOp::SetSize(7), ByteOp::Punch { offset: 8, length: 9 }];
        let entries = [
            Entry::Value(Box::from(*b"value")),
            Entry::ValueExtent(extent, [5; DIGEST]),
            Entry::Removed,
            Entry::Bytes(Bytes::new(true, ops)),
            Entry::Cut,
        ];
        for entry in entries {
            let mut payload = Vec::new();
            let tag = entry.encode(&mut payload);
            assert_eq!(Entry::decode(tag, &payload), Some(entry.clone()));
            payload.push(0);
            assert_ne!(Entry::decode(tag, &payload), Some(entry));
        }
    }
}
