//! The path of a cell: one byte string that sorts as listings need (FORMAT.md section 5).
//!
//! A path is the object id in 16 big-endian bytes, followed by nothing for an array; by the key for a KV entry; or by the escaped
//! distribution key and the attribute key for the general form. Escaping (0x00 becomes 0x00 0xff, and 0x00 0x01 ends the key) keeps the
//! order of the keys and makes no key a prefix of another. The path of an object or of a distribution key is a prefix of the paths of
//! everything in it.

use isotach_object::{Cell, ObjectId, ObjectType};

/// Bytes of an object id at the front of every path.
pub(crate) const ID: usize = 16;

/// The path of an object: the prefix of everything in it.
#[expect(clippy::big_endian_bytes, reason = "big-endian bytes sort as the number does")]
pub(crate) fn of_object(object: ObjectId) -> [u8; ID] {
    let mut path = [0; ID];
    path[..8].copy_from_slice(&object.hi().to_be_bytes());
    path[8..].copy_from_slice(&object.lo().to_be_bytes());
    path
}

/// The object at the beginning of a path.
#[expect(clippy::big_endian_bytes, reason = "big-endian bytes sort as the number does")]
pub(crate) fn object_of(path: &[u8]) -> Option<ObjectId> {
    let (hi, rest) = path.split_first_chunk::<8>()?;
    let (lo, _) = rest.split_first_chunk::<8>()?;
    ObjectId::from_halves(u64::from_be_bytes(*hi), u64::from_be_bytes(*lo)).ok()
}

/// Writes the path of a distribution key to `out`: the prefix of its attribute keys.
pub(crate) fn of_dkey(object: ObjectId, dkey: &[u8], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&of_object(object));
    for byte in dkey {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xff);
        }
    }
    out.extend_from_slice(&[0, 1]);
}

/// The path of a cell.
pub(crate) fn of(cell: &Cell<'_>) -> Vec<u8> {
    let mut path = Vec::with_capacity(ID + cell.dkey.len() + cell.akey.len());
    of_cell(cell, &mut path);
    path
}

/// Writes the path of a cell to `out`.
pub(crate) fn of_cell(cell: &Cell<'_>, out: &mut Vec<u8>) {
    if cell.object.otype() == ObjectType::General {
        of_dkey(cell.object, cell.dkey, out);
        out.extend_from_slice(cell.akey);
        return;
    }
    out.clear();
    out.extend_from_slice(&of_object(cell.object));
    out.extend_from_slice(cell.dkey);
}

/// The end of the distribution key in the path of a general cell, and the unescaped key.
pub(crate) fn split_dkey(path: &[u8]) -> Option<(usize, Vec<u8>)> {
    let mut dkey = Vec::new();
    let mut at = ID;
    loop {
        match (*path.get(at)?, path.get(at + 1)) {
            (0, Some(0xff)) => {
                dkey.push(0);
                at += 2;
            }
            (0, Some(1)) => return Some((at + 2, dkey)),
            (0, _) => return None,
            (byte, _) => {
                dkey.push(byte);
                at += 1;
            }
        }
    }
}

/// The proper prefixes of a path that a cut may have: the object's and the distribution key's.
pub(crate) fn prefixes(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let general = object_of(path).is_some_and(|object| object.otype() == ObjectType::General);
    let dkey = general.then(|| split_dkey(path)).flatten().map(|(end, _)| &path[..end]);
    let object = path.get(..ID);
    object.into_iter().chain(dkey).filter(|prefix| prefix.len() < path.len())
}

/// The least path that is greater than every path with this prefix; `None` if there is none.
pub(crate) fn after(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut next = prefix[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

#[cfg(test)]
mod tests {
    use isotach_object::ObjectClass;

    use super::*;

    #[test]
    fn escaped_distribution_keys_read_back_and_none_is_a_prefix_of_another() {
        let object = ObjectId::new(ObjectType::General, ObjectClass::S1, 0, 5);
        let keys: [&[u8]; 7] = [b"a", b"a\0", b"a\0\x01", b"\0", b"\0\0", b"\xff", b"ab"];
        let paths = keys.map(|key| {
            let mut path = Vec::new();
            of_dkey(object, key, &mut path);
            path
        });
        for (key, path) in keys.iter().zip(&paths) {
            assert_eq!(split_dkey(path), Some((path.len(), key.to_vec())));
            assert_eq!(object_of(path), Some(object));
        }
        for (a, key_a) in paths.iter().zip(keys) {
            for (b, key_b) in paths.iter().zip(keys) {
                assert_eq!(a.cmp(b), key_a.cmp(key_b));
                assert!(a == b || !b.starts_with(a));
            }
        }
    }

    #[test]
    fn the_path_after_a_prefix_is_past_everything_in_it() {
        assert_eq!(after(&[1, 2]), Some(vec![1, 3]));
        assert_eq!(after(&[1, 0xff]), Some(vec![2]));
        assert_eq!(after(&[0xff]), None);
    }
}
