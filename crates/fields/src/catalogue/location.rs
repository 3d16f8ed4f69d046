//! [`Location`]: where a field's bytes are, how many, and their checksum.

use std::{
    ffi::OsStr,
    fmt,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use isotach_engine_kit::bytes::{Put, Reader};
use isotach_mars::Key;
use isotach_object::{Label, ObjectId, PoolUri};

use crate::{Error, Result};

/// The version of the record's layout.
const RECORD_VERSION: u8 = 1;
/// The size of the common part of all kinds, in bytes.
const RECORD_HEAD: usize = 32;
/// An object in the container of the dataset's store.
const KIND_OWN: u8 = 0;
/// An object in a container of any pool.
const KIND_OBJECT: u8 = 1;
/// A part of a file.
const KIND_FILE: u8 = 2;
/// No location: the field was deleted.
const KIND_DELETED: u8 = 3;

/// A container by the URI of its pool and its label.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ContainerUri {
    /// The pool.
    pub pool: PoolUri,
    /// The container's name in it.
    pub label: Label,
}

impl fmt::Display for ContainerUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_uri(f, &self.pool, &format_args!("{}", self.label))
    }
}

/// A pool's URI with `below` appended to its path, before its options.
fn write_uri(f: &mut fmt::Formatter<'_>, pool: &PoolUri, below: &fmt::Arguments<'_>) -> fmt::Result {
    let text = pool.to_string();
    let (path, options) = text.split_at(text.find('?').unwrap_or(text.len()));
    write!(f, "{path}/{below}{options}")
}

/// What holds a field's bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// An array object.
    Object {
        /// Its container.
        container: Arc<ContainerUri>,
        /// The array.
        object: ObjectId,
    },
    /// A file that was adopted where it is. The path is absolute.
    File(Arc<Path>),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object { container, object } => {
                write_uri(f, &container.pool, &format_args!("{}/{object}", container.label))
            }
            // Two slashes would be parsed as those before a host name.
            Self::File(path) if path.as_os_str().as_encoded_bytes().starts_with(b"//") => {
                write!(f, "file://{}", path.display())
            }
            Self::File(path) => write!(f, "file:{}", path.display()),
        }
    }
}

/// Where a field's bytes are.
///
/// Prints as the URI of the place. Offset, length and checksum are separate fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location {
    /// What holds the bytes.
    pub place: Place,
    /// The first byte there.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// CRC32C of the bytes.
    pub checksum: u32,
    /// When the field was archived or adopted, in microseconds since 1970 UTC.
    pub archived_us: u64,
    /// The keys to set in the message when it is read, because an overlay shows it under another key. `length` and
    /// `checksum` are those of the stored bytes. Never stored.
    pub relabel: Option<Arc<Key>>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.place, f)
    }
}

impl Location {
    /// Parses a printed URI, with offset, length and checksum.
    ///
    /// ```
    /// use isotach_fields::Location;
    /// let uri = "posix:/data/fields/od:0001/0d010001000000000000000000000007";
    /// let location = Location::parse(uri, 0, 1024, 0xdead_beef)?;
    /// assert_eq!(location.to_string(), uri);
    /// assert_eq!(Location::parse("file:/data/a.grib", 16, 8, 0)?.to_string(), "file:/data/a.grib");
    /// # Ok::<(), isotach_fields::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] for a text that is not a location, and for bytes that do not end below 2^63.
    pub fn parse(uri: &str, offset: u64, length: u64, checksum: u32) -> Result<Self> {
        let wrong =
            || Error::invalid(format!("location {uri:?}"), "file:/path or a pool's URI/container/object");
        // Schemes are case-insensitive, and `File:` is no engine's.
        let path = uri.split_at_checked(5).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("file:"));
        let place = match path.map(|(_, path)| path) {
            Some(path) => Place::File(absolute(path.strip_prefix("//").unwrap_or(path).as_ref())?.into()),
            None => parse_object(uri).ok_or_else(wrong)?,
        };
        Self { place, offset, length, checksum, archived_us: 0, relabel: None }.checked()
    }

    /// A part of a file. The path must be absolute, so that every process finds it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a relative path, and for bytes that do not end below 2^63.
    pub fn file(path: &Path, offset: u64, length: u64, checksum: u32) -> Result<Self> {
        let place = Place::File(absolute(path)?.into());
        Self { place, offset, length, checksum, archived_us: 0, relabel: None }.checked()
    }

    fn checked(self) -> Result<Self> {
        self.check_end()?;
        Ok(self)
    }

    /// Refuses a location whose bytes end where no file or object has any. Places within other locations are counted
    /// without overflow.
    pub(crate) fn check_end(&self) -> Result<()> {
        let Self { offset, length, .. } = self;
        match end_of(*offset, *length) {
            Some(_) => Ok(()),
            None => Err(Error::invalid(
                format!("location {self}, {length} bytes from offset {offset}"),
                "bytes that end below 2^63",
            )),
        }
    }

    /// The array object that holds the bytes, if one does.
    pub fn object(&self) -> Option<ObjectId> {
        match &self.place {
            Place::Object { object, .. } => Some(*object),
            Place::File(_) => None,
        }
    }

    /// The array object that holds the bytes, if it is in the container `own`.
    pub(crate) fn object_in(&self, own: &ContainerUri) -> Option<ObjectId> {
        match &self.place {
            Place::Object { container, object } if **container == *own => Some(*object),
            _ => None,
        }
    }

    /// Whether the bytes are in a file that was adopted.
    pub fn is_adopted(&self) -> bool {
        matches!(self.place, Place::File(_))
    }

    /// The record of the index. `own` is the container of the dataset's store.
    pub(crate) fn encode(&self, own: &ContainerUri, out: &mut Vec<u8>) {
        match &self.place {
            Place::Object { container, object } if **container == *own => {
                self.encode_head(KIND_OWN, out);
                push_object(*object, out);
            }
            Place::Object { container, object } => {
                self.encode_head(KIND_OBJECT, out);
                push_object(*object, out);
                out.put_text(&container.pool.to_string());
                out.put_text(container.label.as_str());
            }
            Place::File(path) => {
                self.encode_head(KIND_FILE, out);
                out.extend_from_slice(path.as_os_str().as_bytes());
            }
        }
    }

    fn encode_head(&self, kind: u8, out: &mut Vec<u8>) {
        push_head(kind, self.offset, self.length, self.checksum, self.archived_us, out);
    }

    /// Reads a record of the index. `own` is the container of the dataset's store.
    pub(crate) fn decode(record: &[u8], own: &Arc<ContainerUri>) -> Option<Self> {
        let mut reader = Reader(record);
        let (version, kind) = (reader.u8()?, reader.u8()?);
        let reserved = reader.u16()?;
        if version != RECORD_VERSION || reserved != 0 {
            return None;
        }
        let (checksum, offset) = (reader.u32()?, reader.u64()?);
        let (length, archived_us) = (reader.u64()?, reader.u64()?);
        end_of(offset, length)?;
        let place = match kind {
            KIND_OWN => Place::Object { container: Arc::clone(own), object: take_object(&mut reader)? },
            KIND_OBJECT => {
                let object = take_object(&mut reader)?;
                let (pool, label) = (reader.text()?.parse().ok()?, reader.text()?.parse().ok()?);
                Place::Object { container: Arc::new(ContainerUri { pool, label }), object }
            }
            KIND_FILE => Place::File(PathBuf::from(OsStr::from_bytes(reader.0)).into()),
            _ => return None,
        };
        Some(Self { place, offset, length, checksum, archived_us, relabel: None })
    }
}

/// The byte behind the last, if a file or an object can have it.
fn end_of(offset: u64, length: u64) -> Option<u64> {
    offset.checked_add(length).filter(|end| *end <= i64::MAX as u64)
}

/// The record of a whole array in the container of the dataset's store; what archiving writes.
pub(crate) fn encode_own(object: ObjectId, length: u64, checksum: u32, archived_us: u64, out: &mut Vec<u8>) {
    push_head(KIND_OWN, 0, length, checksum, archived_us, out);
    push_object(object, out);
}

/// The record that replaces the index entry of a deleted field. `unique` distinguishes it from that of every other deletion.
pub(crate) fn deletion_record(deleted_us: u64, unique: u64) -> Vec<u8> {
    let mut record = Vec::with_capacity(RECORD_HEAD + 8);
    push_head(KIND_DELETED, 0, 0, 0, deleted_us, &mut record);
    record.extend_from_slice(&unique.to_le_bytes());
    record
}

/// Whether a record of the index is that of a deleted field.
pub(crate) fn is_deletion(record: &[u8]) -> bool {
    record.starts_with(&[RECORD_VERSION, KIND_DELETED, 0, 0]) && record.len() == RECORD_HEAD + 8
}

fn push_head(kind: u8, offset: u64, length: u64, checksum: u32, archived_us: u64, out: &mut Vec<u8>) {
    let mut head = [0; RECORD_HEAD];
    head[0] = RECORD_VERSION;
    head[1] = kind;
    head[4..8].copy_from_slice(&checksum.to_le_bytes());
    head[8..16].copy_from_slice(&offset.to_le_bytes());
    head[16..24].copy_from_slice(&length.to_le_bytes());
    head[24..].copy_from_slice(&archived_us.to_le_bytes());
    out.extend_from_slice(&head);
}

fn push_object(object: ObjectId, out: &mut Vec<u8>) {
    out.extend_from_slice(&object.hi().to_le_bytes());
    out.extend_from_slice(&object.lo().to_le_bytes());
}

fn take_object(reader: &mut Reader<'_>) -> Option<ObjectId> {
    let (hi, lo) = (reader.u64()?, reader.u64()?);
    ObjectId::from_halves(hi, lo).ok()
}

fn absolute(path: &Path) -> Result<PathBuf> {
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    Err(Error::invalid(format!("path {}", path.display()), "an absolute path"))
}

fn parse_object(uri: &str) -> Option<Place> {
    let (uri, options) = uri.split_at(uri.find('?').unwrap_or(uri.len()));
    let (rest, object) = uri.rsplit_once('/')?;
    let (pool, label) = rest.rsplit_once('/')?;
    let pool = format!("{pool}{options}").parse().ok()?;
    let container = ContainerUri { pool, label: label.parse().ok()? };
    Some(Place::Object { container: Arc::new(container), object: object.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::layout::array_of;

    fn container(pool: &str) -> Arc<ContainerUri> {
        Arc::new(ContainerUri { pool: pool.parse().unwrap(), label: "od:0001".parse().unwrap() })
    }

    fn samples() -> Vec<Location> {
        let at = |place| Location {
            place,
            offset: 3,
            length: 1 << 40,
            checksum: 7,
            archived_us: 9,
            relabel: None,
        };
        vec![
            at(Place::Object { container: container("posix:/own"), object: array_of(0, 1) }),
            at(Place::Object { container: container("rados:p?user=me"), object: array_of(0, u64::MAX) }),
            at(Place::File(Path::new("/data/a b.grib").into())),
        ]
    }

    #[test]
    fn each_kind_of_record_reads_back_and_an_own_object_takes_48_bytes() {
        let own = container("posix:/own");
        for (at, location) in samples().into_iter().enumerate() {
            let mut record = Vec::new();
            location.encode(&own, &mut record);
            assert_eq!(Location::decode(&record, &own).unwrap(), location);
            assert!(at > 0 || record.len() == 48);
            for cut in 0..record.len().min(RECORD_HEAD) {
                assert!(Location::decode(&record[..cut], &own).is_none(), "cut at {cut}");
            }
        }
    }

    #[test]
    fn a_record_of_another_version_or_kind_is_not_read() {
        let own = container("posix:/own");
        let mut record = Vec::new();
        encode_own(array_of(0, 1), 1, 2, 3, &mut record);
        for (byte, value) in [(0, 2), (1, 9), (2, 1)] {
            let mut other = record.clone();
            other[byte] = value;
            assert!(Location::decode(&other, &own).is_none());
        }
    }

    #[test]
    fn a_location_that_ends_where_no_byte_can_be_is_refused_by_name() {
        for (offset, length) in [(u64::MAX, 1), (1, u64::MAX), (1 << 62, 1 << 62)] {
            for refused in [
                Location::parse("file:/data/a.grib", offset, length, 0),
                Location::file(Path::new("/data/a.grib"), offset, length, 0),
            ] {
                let error = refused.unwrap_err();
                assert_eq!(error.code(), "invalid-input");
                assert!(error.to_string().contains("location file:/data/a.grib"), "{error}");
            }
        }
    }

    #[test]
    fn the_record_of_a_deleted_field_is_no_location_and_no_location_is_one() {
        let own = container("posix:/own");
        let deletion = deletion_record(9, 7);
        assert!(is_deletion(&deletion) && Location::decode(&deletion, &own).is_none());
        assert_ne!(deletion, deletion_record(9, 8));
        for cut in 0..deletion.len() {
            assert!(!is_deletion(&deletion[..cut]), "cut at {cut}");
        }
        for location in samples() {
            let mut record = Vec::new();
            location.encode(&own, &mut record);
            assert!(!is_deletion(&record), "{location}");
        }
    }

    #[test]
    fn a_printed_location_reads_back() {
        for location in samples() {
            let text = location.to_string();
            let back = Location::parse(&text, 3, 1 << 40, 7).unwrap();
            assert_eq!(back.place, location.place, "{text}");
        }
        for odd in ["FILE:/data/a", "file:////", "file:////data/a"] {
            let location = Location::parse(odd, 0, 1, 2).unwrap();
            assert_eq!(Location::parse(&location.to_string(), 0, 1, 2).unwrap(), location, "{odd}");
        }
        for wrong in ["", "posix:/a", "file:relative", "posix:/a/b/c"] {
            assert!(Location::parse(wrong, 0, 0, 0).is_err(), "{wrong}");
        }
    }
}
