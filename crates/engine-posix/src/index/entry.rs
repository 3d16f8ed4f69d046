//! Entries: what a layer of the state (the table, or a run) contains for a path, and how layers combine.
//!
//! A layer may not know the layers under it, so it contains bytes as the operations on them. [`Bytes::complete`] says whether anything
//! older can matter. Combining is associative: every process comes to the same result, whatever layers it has.

use std::sync::Arc;

use crate::{
    format::extent::{DIGEST, Digest, Extent, ExtentPart},
    index::ops::{ByteOp, Bytes},
};
use isotach_engine_kit::bytes::{Put, Reader};

/// An entry and the epoch of its last change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Versioned {
    pub(crate) epoch: u64,
    pub(crate) entry: Entry,
}

/// The contents of a layer for a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// An inline value.
    Value(Box<[u8]>),
    /// A value, in a data file.
    ValueExtent(Extent, Digest),
    /// Removed: nothing older counts.
    Removed,
    /// Bytes by offset.
    Bytes(Bytes),
    /// On the path of an object or a distribution key: removes everything older with this prefix.
    Cut,
}

impl Entry {
    /// Whether anything older can still matter.
    pub(crate) fn is_complete(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.complete,
            _ => true,
        }
    }

    /// Whether readers see it.
    pub(crate) fn is_live(&self) -> bool {
        match self {
            Self::Value(_) | Self::ValueExtent(..) => true,
            Self::Bytes(bytes) => bytes.creates(),
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
            Self::Bytes(mut older) => {
                older.append(&mut newer);
                Self::Bytes(older)
            }
            // Punching a single value does nothing; writing bytes drops it.
            Self::Value(_) | Self::ValueExtent(..) if !newer.creates() => older,
            _ => Self::Bytes(newer.completed()),
        }
    }

    /// This entry if nothing older exists.
    pub(crate) fn at_bottom(self) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(bytes.completed()),
            other => other,
        }
    }
}

impl Versioned {
    /// This over an older one. The last change is the later of the two.
    pub(crate) fn over(self, older: Self) -> Self {
        Self { epoch: self.epoch.max(older.epoch), entry: self.entry.over(older.entry) }
    }
}

/// The contents of one layer for a cell, with the operations on bytes borrowed or shared.
pub(crate) enum LayerEntry<'a> {
    Bytes(BytesRef<'a>),
    Other(Entry),
}

/// Operations on bytes in the table, in the cache of a run, or decoded.
pub(crate) enum BytesRef<'a> {
    InTable(&'a Bytes),
    Shared(Arc<Bytes>),
    Own(Bytes),
}

impl LayerEntry<'_> {
    pub(crate) fn of(entry: Entry) -> Self {
        match entry {
            Entry::Bytes(bytes) => Self::Bytes(BytesRef::Own(bytes)),
            other => Self::Other(other),
        }
    }
}

impl BytesRef<'_> {
    pub(crate) fn get(&self) -> &Bytes {
        match self {
            Self::InTable(bytes) => bytes,
            Self::Shared(bytes) => bytes,
            Self::Own(bytes) => bytes,
        }
    }
}

/// The tags of entries, and of operations on bytes.
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
    /// Appends the payload of the entry in a run, and returns its tag (FORMAT.md section 7).
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
                bytes.encode(out);
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

    /// Whether a payload of bytes is complete.
    pub(crate) fn says_complete(payload: &[u8]) -> bool {
        Reader(payload).u32() == Some(1)
    }

    /// Whether a payload of bytes is complete and consists of one write.
    pub(crate) fn is_one_write(payload: &[u8]) -> bool {
        Self::says_complete(payload) && Self::one_write(payload).is_some()
    }

    /// The write that a payload of bytes consists of, complete or not.
    pub(crate) fn one_write(payload: &[u8]) -> Option<ExtentPart> {
        let mut reader = Reader(payload);
        reader.u32()?;
        match ByteOp::decode(&mut reader)? {
            ByteOp::Write(part) if reader.is_empty() => Some(part),
            _ => None,
        }
    }

    /// Reads an entry from its tag and payload; `None` if it is malformed.
    pub(crate) fn decode(kind: u8, payload: &[u8]) -> Option<Self> {
        let mut reader = Reader(payload);
        let entry = match kind {
            tag::VALUE => return Some(Self::Value(payload.into())),
            tag::VALUE_EXTENT => {
                let extent = Extent::decode(&mut reader)?;
                Self::ValueExtent(extent, reader.take(DIGEST)?.try_into().ok()?)
            }
            tag::REMOVED => Self::Removed,
            tag::BYTES => Self::Bytes(Bytes::decode(&mut reader)?),
            tag::CUT => Self::Cut,
            _ => return None,
        };
        reader.is_empty().then_some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{format::extent::Sums, index::ops::tests::write};

    #[test]
    fn a_punch_creates_nothing_and_leaves_single_values() {
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
