//! What `ls` and `dump` say of an object.

use isotach_hdf5::{Data, Filter, Header, Kind, Space};
use isotach_hdf5_tools::{Error, Result};
use isotach_hdf5_types::{Datatype, Stored, StoredCreation};
use serde_json::{Value, json};

/// The kind of an object.
pub(super) fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Group => "group",
        Kind::Dataset => "dataset",
        Kind::Datatype => "datatype",
        Kind::Map => "map",
    }
}

/// Whether a dataset is a virtual one.
pub(super) fn is_virtual(header: &Header, place: &str) -> Result<bool> {
    if header.kind != Kind::Dataset {
        return Ok(false);
    }
    let parsed = StoredCreation::parse(&header.creation).map(|creation| creation.is_virtual());
    parsed.map_err(|source| Error::Datatype { place: place.to_owned(), source })
}

/// A datatype of a header or an attribute, as its program has it in memory.
pub(super) fn datatype(stored: &[u8], place: &str) -> Result<Datatype> {
    let decoded = Stored::parse(stored).and_then(|stored| stored.datatype());
    decoded.map_err(|source| Error::Datatype { place: place.to_owned(), source })
}

/// The datatype of an object that has one.
pub(super) fn datatype_of(header: &Header, place: &str) -> Result<Option<Datatype>> {
    if header.datatype.is_empty() { Ok(None) } else { datatype(&header.datatype, place).map(Some) }
}

/// An extent, with the greatest lengths if it can grow.
pub(super) fn shape(space: &Space) -> String {
    match space {
        Space::Null => "null".to_owned(),
        Space::Scalar => "scalar".to_owned(),
        Space::Simple { dims, max } if dims == max => lengths(dims),
        Space::Simple { dims, max } => format!("{} of {}", lengths(dims), lengths(max)),
    }
}

/// Lengths; a star for no limit.
fn lengths(dims: &[u64]) -> String {
    let text = |length: &u64| if *length == u64::MAX { "*".to_owned() } else { length.to_string() };
    dims.iter().map(text).collect::<Vec<_>>().join("x")
}

/// An extent as JSON: null, or a list that is empty for a scalar.
pub(super) fn json_shape(space: &Space) -> Value {
    match space {
        Space::Null => Value::Null,
        Space::Scalar | Space::Simple { .. } => json!(space.dims()),
    }
}

/// The greatest lengths as JSON; null for no limit.
pub(super) fn json_max(space: &Space) -> Value {
    let Space::Simple { max, .. } = space else { return json_shape(space) };
    max.iter().map(|length| if *length == u64::MAX { Value::Null } else { json!(length) }).collect()
}

/// The chunk, if the program asked for one.
pub(super) fn chunk(data: &Data) -> Option<&[u64]> {
    data.is_chunked.then_some(data.chunk.as_slice())
}

/// The chunk as text.
pub(super) fn chunk_text(data: &Data) -> String {
    chunk(data).map(lengths).unwrap_or_default()
}

/// The filters as text, in the order in which they are applied.
pub(super) fn filters(filters: &[Filter]) -> String {
    filters.iter().map(filter).collect::<Vec<_>>().join(", ")
}

fn filter(filter: &Filter) -> String {
    let name = filter_name(filter);
    match (filter.id, filter.values.first()) {
        (1 | 32_015, Some(level)) => format!("{name} {level}"),
        _ => name,
    }
}

/// The name of a filter.
pub(super) fn filter_name(filter: &Filter) -> String {
    let known = match filter.id {
        1 => "deflate",
        2 => "shuffle",
        3 => "fletcher32",
        4 => "szip",
        5 => "nbit",
        6 => "scaleoffset",
        32_000 => "lzf",
        32_001 => "blosc",
        32_004 => "lz4",
        32_008 => "bitshuffle",
        32_015 => "zstd",
        id => return format!("filter {id}"),
    };
    known.to_owned()
}

/// The filters as JSON.
pub(super) fn json_filters(filters: &[Filter]) -> Value {
    let one =
        |filter: &Filter| json!({"id": filter.id, "name": filter_name(filter), "values": filter.values});
    filters.iter().map(one).collect()
}
