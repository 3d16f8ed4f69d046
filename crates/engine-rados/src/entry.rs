//! The stored form of an entry: a byte for the kind, a checksum over the entry and its keys, and the contents.
//!
//! A stored entry is never empty, because Ceph compares an absent entry as empty. Two entries of a cell with the same value are
//! the same bytes, so Ceph can compare an entry by its value.

use isotach_engine_kit::checksum::{crc32c, crc32c_of_both};
use isotach_object::{Error, ObjectId, Result};

use crate::{keys, table::Table};

const VALUE: u8 = 1;
const RECORDS: u8 = 2;
/// Bytes before the contents.
const HEAD: usize = 5;

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    Value(Vec<u8>),
    /// Bytes by offset, which are in pieces.
    Records(Table),
}

impl Entry {
    /// The bytes of the value or records.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Value(value) => value.len() as u64,
            Self::Records(table) => table.size,
        }
    }

    /// As it is stored under a key.
    pub(crate) fn encode(&self, object: ObjectId, key: &[u8]) -> Vec<u8> {
        match self {
            Self::Value(value) => encode_value(object, key, value),
            Self::Records(table) => encode(RECORDS, object, key, &table.encode(b"")),
        }
    }

    /// As [`Entry::decode`] where the value was read, too, and else an empty one.
    pub(crate) fn decode_if(is_read: bool, object: ObjectId, key: &[u8], stored: &[u8]) -> Result<Self> {
        if is_read { Self::decode(object, key, stored) } else { Ok(Self::Value(Vec::new())) }
    }

    /// The value of what is stored; `None` of records.
    pub(crate) fn value(object: ObjectId, key: &[u8], stored: &[u8]) -> Result<Option<Vec<u8>>> {
        match Self::decode(object, key, stored)? {
            Self::Value(value) => Ok(Some(value)),
            Self::Records(_) => Ok(None),
        }
    }

    /// Reads what is stored under a key of an object.
    pub(crate) fn decode(object: ObjectId, key: &[u8], stored: &[u8]) -> Result<Self> {
        let place = || place(object, key);
        let (kind, contents) = check(object, key, stored)?;
        match kind {
            VALUE => Ok(Self::Value(contents.to_vec())),
            RECORDS => Table::decode(contents, b"", place).map(Self::Records),
            other => Err(Error::corrupt(format!("an entry of the unknown kind {other}"), place())),
        }
    }
}

/// Kind and contents of what is stored, if it is whole.
fn check<'s>(object: ObjectId, key: &[u8], stored: &'s [u8]) -> Result<(u8, &'s [u8])> {
    let parts = stored.split_at_checked(HEAD);
    let is_whole = |(head, contents): &(&[u8], &[u8])| *head == head_of(head[0], object, key, contents);
    match parts.filter(is_whole) {
        Some((head, contents)) => Ok((head[0], contents)),
        None => Err(Error::corrupt("an entry that fails its checksum", place(object, key))),
    }
}

/// A value as it is stored under a key.
pub(crate) fn encode_value(object: ObjectId, key: &[u8], value: &[u8]) -> Vec<u8> {
    encode(VALUE, object, key, value)
}

/// What stands before a value that is stored under a key.
pub(crate) fn value_head(object: ObjectId, key: &[u8], value: &[u8]) -> [u8; HEAD] {
    head_of(VALUE, object, key, value)
}

fn encode(kind: u8, object: ObjectId, key: &[u8], contents: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + contents.len());
    bytes.extend(head_of(kind, object, key, contents));
    bytes.extend_from_slice(contents);
    bytes
}

fn head_of(kind: u8, object: ObjectId, key: &[u8], contents: &[u8]) -> [u8; HEAD] {
    // Over the checksum of the contents, which has a fixed size, and over their kind.
    let mut whose = [0; 21];
    whose[..4].copy_from_slice(&crc32c(contents).to_le_bytes());
    whose[4] = kind;
    whose[5..13].copy_from_slice(&object.hi().to_le_bytes());
    whose[13..].copy_from_slice(&object.lo().to_le_bytes());
    let [a, b, c, d] = crc32c_of_both(&whose, key).to_le_bytes();
    [kind, a, b, c, d]
}

/// Where an entry is, in words.
pub(crate) fn place(object: ObjectId, key: &[u8]) -> String {
    let name = keys::entries_name(object, 0);
    match keys::cell_keys(object, key) {
        Ok((dkey, _)) => format!("RADOS object {name}, key {}", dkey.escape_ascii()),
        Err(_) => format!("RADOS object {name}, key {}", key.escape_ascii()),
    }
}

#[cfg(test)]
mod tests {
    use isotach_object::{ObjectClass, ObjectType};

    use super::*;

    #[test]
    fn a_stored_entry_never_changes() {
        let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 7);
        let stored = encode_value(object, b"0000k", b"value");
        assert_eq!(stored.escape_ascii().to_string(), r"\x01\xafvC\x0bvalue");
    }

    #[test]
    fn entries_come_back_and_a_flipped_bit_or_another_place_is_corrupt() {
        let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 7);
        for entry in
            [Entry::Value(Vec::new()), Entry::Value(b"abc".to_vec()), Entry::Records(Table::default())]
        {
            let stored = entry.encode(object, b"0000k");
            assert_eq!(Entry::decode(object, b"0000k", &stored).unwrap(), entry);
            assert!(Entry::decode(object, b"0000other", &stored).is_err());
            for bit in 0..stored.len() * 8 {
                let mut stored = stored.clone();
                stored[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(Entry::decode(object, b"0000k", &stored).unwrap_err().code(), "corrupt");
            }
        }
    }
}
