//! The objects of a container, and the entries of the file itself.

use std::fmt;

use isotach_engine_kit::bytes::Put as _;
use isotach_object::{Anchor, Cell, Container, ObjectClass, ObjectId, ObjectType, Precondition};

use crate::{Error, Header, Kind, Result, records::What};

/// The number of the root group of every new file.
pub(crate) const ROOT: u64 = 1;
/// Numbers below belong to the layout.
pub(crate) const FIRST_NUMBER: u64 = 16;

/// The layout that this program writes, and the greatest that it reads.
const LAYOUT: u32 = 1;
/// The mandatory features that this program knows.
const KNOWN_FEATURES: u64 = 0;

pub(crate) const HEADER: &[u8] = b"o";
pub(crate) const LINK: u8 = b'l';
pub(crate) const ATTRIBUTE: u8 = b'a';
/// What stands before the key of a map.
pub(crate) const ENTRY: u8 = b'e';
/// The attribute key of chunks that are changed in place.
pub(crate) const IN_PLACE: &[u8] = b"0";

/// The object of the file itself.
pub(crate) const FILE: ObjectId = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 1, 0);
/// The object of the pages of blobs.
pub(crate) const BLOBS: ObjectId = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 6, 0);
/// The object of the books of numbered transactions.
pub(crate) const TRANSACTIONS: ObjectId = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 7, 0);

const LAYOUT_KEY: &[u8] = b"layout";
pub(crate) const ROOT_KEY: &[u8] = b"root";
pub(crate) const PROPERTIES_KEY: &[u8] = b"fcpl";
/// The number below which arrays that no entry names are destroyed. It may be missing.
pub(crate) const FENCE_KEY: &[u8] = b"fence";
/// The counter of stored bytes, which may be missing.
pub(crate) const STORED_KEY: &[u8] = b"stored";

/// The object with header, links and attributes of an HDF5 object.
pub(crate) const fn metadata(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 2, number)
}

/// Whether it is [`metadata`].
pub(crate) fn is_metadata(object: ObjectId) -> bool {
    object == metadata(object.lo())
}

/// The index of the chunks of a dataset.
pub(crate) const fn index(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::SX, 3, number)
}

/// An array: the bytes of one chunk, of a large attribute or of a page of blobs.
pub(crate) const fn array(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::Array, ObjectClass::S1, 4, number)
}

/// The chunks of a dataset that are changed in place.
pub(crate) const fn in_place(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::General, ObjectClass::SX, 5, number)
}

/// The index of the values of a dataset.
pub(crate) const fn value_index(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::SX, 8, number)
}

/// The entries of a map.
pub(crate) const fn map(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::SX, 9, number)
}

/// Whether it is [`map`].
pub(crate) fn is_map(object: ObjectId) -> bool {
    object == map(object.lo())
}

/// Whether it is [`value_index`].
pub(crate) fn is_value_index(object: ObjectId) -> bool {
    object == value_index(object.lo())
}

/// The cell of a chunk that is changed in place.
pub(crate) fn in_place_cell(number: u64, key: &[u8]) -> Cell<'_> {
    Cell::general(in_place(number), key, IN_PLACE)
}

/// The key of a link or an attribute.
pub(crate) fn named(prefix: u8, name: &str) -> Vec<u8> {
    [&[prefix], name.as_bytes()].concat()
}

/// The name in such a key.
pub(crate) fn name_in(key: &[u8], place: impl fmt::Display) -> Result<String> {
    let name = key.get(1..).and_then(|name| str::from_utf8(name).ok());
    name.map(str::to_owned).ok_or_else(|| Error::corrupt("a name that is not UTF-8", place.to_string()))
}

/// The entries of a new file: object, key and value.
pub(crate) fn new_file(root: &Header, properties: &[u8], seconds: i64) -> Vec<(ObjectId, Vec<u8>, Vec<u8>)> {
    let mut layout = Vec::new();
    layout.put_u32(LAYOUT);
    layout.put_u64(0);
    layout.put_u64(0);
    let root = Header { kind: Kind::Group, references: 1, ..root.clone() };
    vec![
        (FILE, LAYOUT_KEY.to_vec(), layout),
        (FILE, ROOT_KEY.to_vec(), ROOT.to_le_bytes().to_vec()),
        (FILE, PROPERTIES_KEY.to_vec(), properties.to_vec()),
        (FILE, b"created".to_vec(), seconds.to_le_bytes().to_vec()),
        (metadata(ROOT), HEADER.to_vec(), root.encode()),
    ]
}

/// The condition that no file is in a container.
pub(crate) fn absent() -> Precondition<'static> {
    Precondition::Absent(Cell::kv(FILE, LAYOUT_KEY))
}

/// Whether a container holds nothing: its creator has not finished, or died.
pub(crate) fn is_empty(container: &dyn Container) -> Result<bool> {
    let (mut next, mut is_empty) = (Some(Anchor::start()), true);
    while let (Some(anchor), true) = (next.take(), is_empty) {
        let (objects, after) = container.list_objects(&anchor, 1)?;
        (is_empty, next) = (objects.is_empty(), after);
    }
    Ok(is_empty)
}

/// Refuses a container that holds something else, or a newer layout. Returns the number of the root group.
pub(crate) fn check(container: &dyn Container, place: &str) -> Result<u64> {
    use isotach_engine_kit::bytes::Reader;
    let cells = [Cell::kv(FILE, LAYOUT_KEY), Cell::kv(FILE, ROOT_KEY)];
    let mut found = container.get_many(&cells)?.into_iter();
    let (layout, root) = (found.next().flatten(), found.next().flatten());
    let Some(layout) = layout else {
        let what = format!("container {}, which holds no file", container.label());
        return Err(Error::invalid(what, "the container of a file"));
    };
    let mut reader = Reader(&layout);
    let number = reader.u32();
    let features = reader.u64();
    let what = What { record: "layout", place: &place };
    match (number, features) {
        (Some(LAYOUT), Some(features)) if features & !KNOWN_FEATURES == 0 => {}
        (Some(LAYOUT), Some(features)) => {
            return Err(Error::Newer { what: format!("{place} has features {features:#x}") });
        }
        (Some(newer), _) if newer > LAYOUT => {
            return Err(Error::Newer { what: format!("{place} has layout {newer}") });
        }
        _ => return Err(what.damaged()),
    }
    let root = root.and_then(|root| Some(u64::from_le_bytes(*root.first_chunk()?)));
    root.ok_or_else(|| what.damaged())
}
