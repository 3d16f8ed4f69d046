//! The layout of cells in DAOS's objects.
//!
//! - An entry of a key-value object is a value under the distribution key, as DAOS's own maps have it. A value of no bytes is a value: only
//!   a fetch with a condition distinguishes it from no value. Containers of an older build have [`Format::Padded`].
//! - A value of a general object lies under the attribute key and [`VALUE`]. Records lie under the attribute key and [`RECORDS`], and
//!   their number of bytes under it and [`SIZE`]. A cell has either a value or records.
//! - Bytes of an array have the layout of DAOS's byte arrays. DAOS has no array of no bytes: here it has a value under the
//!   distribution key 0, where DAOS's own arrays have their description.
//! - The container's own entries are in the map [`OWN`], the first of the container's roots. The second root has
//!   the number of the [`Format`] and the bytes of a chunk.

use std::borrow::Cow;

use isotach_object::{Cell, Error, MAX_KEY, ObjectId, ObjectType, Result};

use crate::options::SCHEME;

/// The attribute key of an entry, and of an array's description.
pub(crate) const ONLY: &[u8] = b"0";
/// The distribution key of the mark that an array exists.
pub(crate) const MARK: &[u8] = &[0; 8];

/// The suffix of the attribute key of a value.
pub(crate) const VALUE: u8 = b'v';
/// The suffix of the attribute key of the number of bytes of records.
pub(crate) const SIZE: u8 = b's';
/// The suffix of the attribute key of records.
pub(crate) const RECORDS: u8 = b'r';

/// The content of the mark of an array of no bytes.
pub(crate) const MARKED: &[u8] = &[1];

/// The map with the container's own entries: type, class and the highest number of a caller.
pub(crate) const OWN: (u64, u64) = (0x0801_0001_ffff_ffff, u64::MAX);
/// A key of it that has no entry.
pub(crate) const NOTHING: &[u8] = b"nothing";
/// The prefix of the entries of snapshots, before the name.
pub(crate) const SNAPSHOT: &[u8] = b"snapshot ";

/// The attribute key with its suffix.
pub(crate) fn suffixed(akey: &[u8], suffix: u8) -> Vec<u8> {
    [akey, &[suffix]].concat()
}

/// The attribute key of a listed one, if it belongs to a cell.
pub(crate) fn bare(stored: &[u8]) -> Option<&[u8]> {
    stored.strip_suffix(&[VALUE]).or_else(|| stored.strip_suffix(&[SIZE]))
}

/// The two keys of the value of a cell.
pub(crate) fn of_value<'c>(cell: &Cell<'c>) -> (&'c [u8], Vec<u8>) {
    match cell.object.otype() {
        ObjectType::General => (cell.dkey, suffixed(cell.akey, VALUE)),
        ObjectType::KeyValue => (cell.dkey, ONLY.to_vec()),
        ObjectType::Array | ObjectType::System => (MARK, ONLY.to_vec()),
    }
}

fn is_zeros(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// The stored form of a container's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Number 1: a value of zeros alone, or of no bytes, has one zero more.
    Padded,
    /// Number 2: as they are.
    Plain,
}

impl Format {
    /// The format of new containers.
    pub(crate) const NEW: u64 = 2;

    /// The format with a number, if it is known.
    pub(crate) fn of(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::Padded),
            Self::NEW => Some(Self::Plain),
            _ => None,
        }
    }

    /// The stored form of a value.
    pub(crate) fn encoded(self, value: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Padded if is_zeros(value) => Cow::Owned(vec![0; value.len() + 1]),
            _ => Cow::Borrowed(value),
        }
    }

    /// The value of stored bytes.
    pub(crate) fn decoded(self, mut stored: Vec<u8>) -> Vec<u8> {
        if self == Self::Padded && is_zeros(&stored) {
            stored.pop();
        }
        stored
    }
}

/// The content of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CellContent {
    Value(Vec<u8>),
    /// A number of bytes of records.
    Records(u64),
}

impl CellContent {
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Value(value) => value.len() as u64,
            Self::Records(size) => *size,
        }
    }
}

/// Refuses an attribute key that leaves no space for its suffix.
pub(crate) fn check_akey(cell: &Cell<'_>) -> Result<()> {
    match cell.akey.len() {
        MAX_KEY.. => {
            let what = format!("attribute key of {} bytes for object {}", cell.akey.len(), cell.object);
            Err(Error::invalid(what, format!("at most {} bytes on DAOS", MAX_KEY - 1)))
        }
        _ => Ok(()),
    }
}

/// Refuses the container's own object, and types that DAOS would treat differently.
pub(crate) fn check_object(object: ObjectId) -> Result<()> {
    if (object.hi(), object.lo()) == OWN {
        return Err(Error::invalid(format!("object {object}, the engine's own"), "another number"));
    }
    let number = object.hi() >> 56;
    // Maps with integer keys accept only keys of 8 bytes, and arrays with a description have to be created before a write.
    match [ObjectType::General, ObjectType::KeyValue, ObjectType::Array]
        .iter()
        .any(|kind| *kind as u64 == number)
    {
        true => Ok(()),
        false => {
            let what = format!("objects of DAOS's type {number} (object {object}); types 0, 8 and 13 are");
            Err(Error::Unsupported { engine: SCHEME, what })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_of_both_formats_give_every_value_back() {
        const FIRST: Format = Format::Padded;
        for value in [&b""[..], b"\0", b"\0\0", b"\0a", b"a\0", b"value"] {
            for format in [FIRST, Format::Plain] {
                assert_eq!(format.decoded(format.encoded(value).into_owned()), value);
            }
            assert!(!FIRST.encoded(value).is_empty(), "stored so before");
            assert_eq!(&*Format::Plain.encoded(value), value, "stored as it is");
        }
        assert_eq!([1, Format::NEW, 0, 3].map(Format::of), [Some(FIRST), Some(Format::Plain), None, None]);
    }
}
