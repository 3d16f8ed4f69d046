//! Entries of a collocation's jump indexes, which say where in a field's bytes the values of its points are.
//!
//! What must stay true: an entry belongs to the bytes of one location and no others, and its index is returned only if it
//! is the one that was put for them. So a field that replaces another never has its index, and an entry may be removed at
//! any time: it is made again from the bytes.

use isotach_engine_kit::checksum::Crc32c;

/// Where the time of archiving is in a location's record. All other bytes say where the field's bytes are.
const TIME: std::ops::Range<usize> = 24..32;

/// The key of the entry for the location with this record.
pub(crate) fn jump_key(record: &[u8]) -> Vec<u8> {
    let (place, rest) = record.split_at_checked(TIME.start).unwrap_or((record, &[]));
    [place, rest.get(TIME.len()..).unwrap_or_default()].concat()
}

/// The value of an entry: a checksum of the key and the index, and the index.
pub(crate) fn encode_jump(key: &[u8], index: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&sum(key, index).to_le_bytes());
    out.extend_from_slice(index);
}

/// The index of an entry. `None` if it is damaged.
pub(crate) fn decode_jump<'v>(key: &[u8], value: &'v [u8]) -> Option<&'v [u8]> {
    let (stored, index) = value.split_first_chunk::<4>()?;
    (u32::from_le_bytes(*stored) == sum(key, index)).then_some(index)
}

fn sum(key: &[u8], index: &[u8]) -> u32 {
    let mut crc = Crc32c::default();
    crc.update(key);
    crc.update(index);
    crc.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{layout::array_of, location::encode_own};

    fn record(id: u64, length: u64, checksum: u32, archived_us: u64) -> Vec<u8> {
        let mut record = Vec::new();
        encode_own(array_of(0, id), length, checksum, archived_us, &mut record);
        record
    }

    #[test]
    fn the_key_of_an_index_says_where_the_bytes_are_but_not_since_when() {
        let key = jump_key(&record(1, 2, 3, 4));
        assert_eq!(key.len(), 40);
        assert_eq!(key, jump_key(&record(1, 2, 3, 5)));
        for other in [record(2, 2, 3, 4), record(1, 9, 3, 4), record(1, 2, 9, 4)] {
            assert_ne!(key, jump_key(&other));
        }
        assert_eq!(jump_key(b"short"), b"short");
    }

    #[test]
    fn an_index_reads_back_for_its_own_bytes_only() {
        let (key, other) = (jump_key(&record(1, 2, 3, 4)), jump_key(&record(2, 2, 3, 4)));
        let mut value = Vec::new();
        encode_jump(&key, b"index", &mut value);
        assert_eq!(decode_jump(&key, &value), Some(&b"index"[..]));
        assert_eq!(decode_jump(&other, &value), None);
        for at in 0..value.len() {
            let mut flipped = value.clone();
            flipped[at] ^= 1;
            assert_eq!(decode_jump(&key, &flipped), None, "a flipped bit in byte {at}");
            assert_eq!(decode_jump(&key, &value[..at]), None, "cut at {at}");
        }
    }
}
