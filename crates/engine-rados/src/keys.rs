//! Names of objects in RADOS, and keys of entries in their omaps.
//!
//! An entry's key begins with four digits of the hash of the key (of the distribution key, in the general form). So an omap is
//! ordered by hash, and a range of hashes is a range of keys. The caller's bytes follow. The digits have six bits each, because
//! Ceph's work on an entry grows with its bytes.
//! librados takes the key after which a page starts as a C string, so a stored key has no NUL: each of the bytes 0 and 1 is stored
//! as two bytes, and so is the end of a distribution key.

use isotach_engine_kit::checksum::crc32c;
use isotach_object::{Cell, Error, ObjectId, ObjectType, Result};

/// The object with the container's description, from which ids are taken, and whose version is the epoch.
pub(crate) const HEADER: &str = "header";
/// The key under which an omap says which part of the hashes it holds (see `omaps`).
pub(crate) const LEVEL: &[u8] = b"!level";
/// The digits of hashes, in their order, which is that of their bytes.
const DIGITS: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
/// What stands before all keys of entries, and what stands behind them.
pub(crate) const FIRST: &[u8] = b"-";
pub(crate) const LAST: &[u8] = b"{";
/// Bytes before the caller's: the digits.
pub(crate) const PREFIX: usize = 4;
/// Bits of a hash.
pub(crate) const HASH_BITS: u8 = 24;
const _: () = assert!(PREFIX * 6 == HASH_BITS as usize, "a digit has six bits");
/// The byte with which one that stands for another begins.
const ESCAPE: u8 = 1;
/// The second byte for the end of a distribution key, for 0, and for 1: in the order in which they must stand.
const END: u8 = 1;
const ZERO: u8 = 2;
const ONE: u8 = 3;

/// The object with the entries of a key-value or general object whose hashes begin at `start`.
pub(crate) fn entries_name(object: ObjectId, start: u32) -> String {
    if start == 0 { format!("k.{object}") } else { format!("k.{object}.{start:06x}") }
}

/// The object of an array.
pub(crate) fn array_name(object: ObjectId) -> String {
    format!("a.{object}")
}

/// The object with bytes that a writer stored apart.
pub(crate) fn piece_name(writer: u64, number: u64) -> String {
    format!("p.{writer:016x}.{number:x}")
}

/// What a name in a container's namespace says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// Entries of an object, from this hash on.
    Entries(ObjectId, u32),
    Array(ObjectId),
    /// Bytes of an array, by writer and number.
    Piece(u64, u64),
    Header,
}

impl Name {
    /// The array of this name.
    pub(crate) fn array(&self) -> Option<ObjectId> {
        if let Self::Array(object) = self { Some(*object) } else { None }
    }

    /// The bytes of this name, by writer and number.
    pub(crate) fn piece(&self) -> Option<(u64, u64)> {
        if let Self::Piece(writer, number) = self { Some((*writer, *number)) } else { None }
    }

    /// Reads a name; `None` for one that this engine does not use.
    pub(crate) fn of(name: &str) -> Option<Self> {
        if name == HEADER {
            return Some(Self::Header);
        }
        let (kind, rest) = name.split_once('.')?;
        match kind {
            "k" => {
                let (object, start) = rest.split_once('.').unwrap_or((rest, "0"));
                let start = u32::from_str_radix(start, 16).ok().filter(|start| start >> HASH_BITS == 0)?;
                Some(Self::Entries(object.parse().ok()?, start))
            }
            "a" => Some(Self::Array(rest.parse().ok()?)),
            "p" => {
                let (writer, number) = rest.split_once('.')?;
                let hexadecimal = |digits| u64::from_str_radix(digits, 16).ok();
                Some(Self::Piece(hexadecimal(writer)?, hexadecimal(number)?))
            }
            _ => None,
        }
    }
}

/// Where a key stands among all: the first bits of its checksum, which are mixed so that they are as good as the last.
pub(crate) fn hash(key: &[u8]) -> u32 {
    let mut hash = crc32c(key);
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    (hash ^ (hash >> 16)) >> (u32::BITS - u32::from(HASH_BITS))
}

/// The first key that an entry with this hash may have; behind the last hash, what stands behind all entries.
pub(crate) fn bound(hash: u64) -> Vec<u8> {
    let Some(hash) = u32::try_from(hash).ok().filter(|hash| hash >> HASH_BITS == 0) else {
        return LAST.to_vec();
    };
    let mut key = Vec::with_capacity(PREFIX);
    push_hash(hash, &mut key);
    key
}

fn push_hash(hash: u32, key: &mut Vec<u8>) {
    key.extend((0..PREFIX).rev().map(|digit| DIGITS[(hash >> (6 * digit)) as usize % 64]));
}

/// The key of the entry of a cell.
pub(crate) fn entry_key(cell: &Cell<'_>) -> Vec<u8> {
    let mut key = Vec::with_capacity(PREFIX + cell.dkey.len() + cell.akey.len() + 2);
    push_entry_key(cell, &mut key);
    key
}

/// Appends the key of the entry of a cell.
pub(crate) fn push_entry_key(cell: &Cell<'_>, key: &mut Vec<u8>) {
    push_hash(hash(cell.dkey), key);
    escape(cell.dkey, key);
    if cell.object.otype() == ObjectType::General {
        key.extend([ESCAPE, END]);
        escape(cell.akey, key);
    }
}

/// The keys of all entries under a distribution key: from the first on and before the second.
pub(crate) fn dkey_range(dkey: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut begin = bound(hash(dkey).into());
    escape(dkey, &mut begin);
    let mut end = begin.clone();
    begin.extend([ESCAPE, END]);
    end.extend([ESCAPE, END + 1]);
    (begin, end)
}

/// The keys of the cell whose entry this is: of the entry and, in the general form, the attribute key.
pub(crate) fn cell_keys(object: ObjectId, key: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
    let strange = || {
        Error::corrupt(
            format!("key {} that this engine does not write", key.escape_ascii()),
            entries_name(object, 0),
        )
    };
    let (dkey, rest) = unescape(key.get(PREFIX..).unwrap_or_default()).ok_or_else(strange)?;
    let is_general = object.otype() == ObjectType::General;
    match rest {
        None if !is_general => Ok((dkey, Vec::new())),
        Some(rest) if is_general => match unescape(rest) {
            Some((akey, None)) => Ok((dkey, akey)),
            _ => Err(strange()),
        },
        _ => Err(strange()),
    }
}

/// What a key begins with.
pub(crate) fn prefix(key: &[u8]) -> [u8; PREFIX] {
    key.first_chunk().copied().unwrap_or_default()
}

/// The hash that stands in a key.
pub(crate) fn hash_of(key: &[u8]) -> Option<u32> {
    key.get(..PREFIX)?
        .iter()
        .try_fold(0, |hash, byte| Some(hash << 6 | DIGITS.binary_search(byte).ok()? as u32))
}

fn escape(bytes: &[u8], key: &mut Vec<u8>) {
    if !bytes.iter().any(|byte| *byte <= ESCAPE) {
        return key.extend_from_slice(bytes);
    }
    for byte in bytes {
        match byte {
            0 => key.extend([ESCAPE, ZERO]),
            1 => key.extend([ESCAPE, ONE]),
            other => key.push(*other),
        }
    }
}

/// Bytes as they were before, up to their end or an end mark, and what follows that.
fn unescape(stored: &[u8]) -> Option<(Vec<u8>, Option<&[u8]>)> {
    let mut bytes = Vec::with_capacity(stored.len());
    let mut rest = stored;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != ESCAPE {
            bytes.push(*first);
            continue;
        }
        let (second, tail) = rest.split_first()?;
        rest = tail;
        match *second {
            END => return Some((bytes, Some(rest))),
            ZERO => bytes.push(0),
            ONE => bytes.push(1),
            _ => return None,
        }
    }
    Some((bytes, None))
}

#[cfg(test)]
mod tests {
    use isotach_object::ObjectClass;
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn general() -> ObjectId {
        ObjectId::new(ObjectType::General, ObjectClass::S1, 0, 1)
    }

    proptest! {
        #[test]
        fn keys_come_back_and_are_c_strings(dkey in vec(0..4_u8, 1..6), akey in vec(0..4_u8, 1..6)) {
            let key = entry_key(&Cell::general(general(), &dkey, &akey));
            prop_assert!(!key.contains(&0));
            prop_assert_eq!(hash_of(&key), Some(hash(&dkey)));
            let (begin, end) = dkey_range(&dkey);
            prop_assert!(begin < key && key < end);
            prop_assert_eq!(cell_keys(general(), &key).unwrap(), (dkey, akey));
        }

        #[test]
        fn no_key_is_in_the_range_of_another_distribution_key(one in vec(0..4_u8, 1..5), other in vec(0..4_u8, 1..5)) {
            prop_assume!(one != other);
            let (begin, end) = dkey_range(&one);
            let key = entry_key(&Cell::general(general(), &other, b"a"));
            prop_assert!(key < begin || key >= end);
        }
    }

    #[test]
    fn keys_of_entries_stand_between_first_and_last_in_the_order_of_their_hashes() {
        let bounds: Vec<_> = [0, 1, 63, 64, 4095, 4096, (1 << HASH_BITS) - 1].map(bound).into();
        assert!(bounds.is_sorted() && LEVEL < FIRST && FIRST < &bounds[0] && bounds[6].as_slice() < LAST);
        assert_eq!(
            bounds.iter().filter_map(|key| hash_of(key)).collect::<Vec<_>>(),
            [0, 1, 63, 64, 4095, 4096, 0xff_ffff]
        );
        assert_eq!((hash_of(b"abc"), hash_of(b"ab!c")), (None, None));
    }

    #[test]
    fn names_are_parsed_and_foreign_ones_refused() {
        let kv = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 7);
        assert_eq!(Name::of(&entries_name(kv, 0)), Some(Name::Entries(kv, 0)));
        assert_eq!(Name::of(&entries_name(kv, 1 << 23)), Some(Name::Entries(kv, 1 << 23)));
        assert_eq!(Name::of(&piece_name(5, 300)), Some(Name::Piece(5, 300)));
        assert_eq!((Name::of("header"), Name::of("x.1"), Name::of("k.zz")), (Some(Name::Header), None, None));
    }

    #[test]
    fn the_hash_never_changes() {
        // Stored keys begin with it.
        assert_eq!([hash(b"a"), hash(b"step=6")], [0x00ea_d78e, 0x009d_12b0]);
        assert_eq!(bound(1 << HASH_BITS), LAST);
    }

    #[test]
    fn the_first_bits_of_the_hash_part_keys_that_are_much_alike() {
        let mut counts = [0; 16];
        (0..16_000).for_each(|step| {
            counts[(hash(format!("step={step:05}").as_bytes()) >> (HASH_BITS - 4)) as usize] += 1;
        });
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
