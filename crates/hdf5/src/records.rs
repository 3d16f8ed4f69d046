//! The records of a file as bytes: `docs/hdf5-layout.md` describes each.
//!
//! Little-endian, fixed widths, a version in front; a length, a u32, stands before bytes. What must stay true: no bytes make a decoder
//! panic or allocate more than they are long.

use std::fmt;

use isotach_engine_kit::bytes::{Put, Reader};

use crate::{Charset, Data, Error, Filter, Header, Kind, Link, Result, Space, Target};

mod attribute;

pub(crate) use attribute::{AttributeRecord, Place};

/// The version of all records that this program writes, and the greatest that it reads.
pub(crate) const VERSION: u8 = 1;

/// What a record that cannot be read is, for errors.
#[derive(Clone, Copy)]
pub(crate) struct What<'a> {
    pub(crate) record: &'static str,
    pub(crate) place: &'a dyn fmt::Display,
}

impl What<'_> {
    pub(crate) fn damaged(self) -> Error {
        Error::corrupt(format!("a damaged {}", self.record), self.place.to_string())
    }

    /// Reads a whole record.
    pub(crate) fn decode<T>(
        self,
        bytes: &[u8],
        fields: impl FnOnce(&mut Reader<'_>) -> Option<T>,
    ) -> Result<T> {
        let mut reader = Reader(bytes);
        match reader.u8() {
            Some(VERSION) => {}
            Some(version) if version > VERSION => {
                let Self { record, place } = self;
                return Err(Error::Newer { what: format!("{record} of version {version} in {place}") });
            }
            _ => return Err(self.damaged()),
        }
        fields(&mut reader).filter(|_| reader.is_empty()).ok_or_else(|| self.damaged())
    }
}

/// Appends bytes with their length in front.
pub(crate) fn put_bytes(record: &mut Vec<u8>, bytes: &[u8]) {
    record.put_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    record.extend_from_slice(bytes);
}

pub(crate) fn bytes(reader: &mut Reader<'_>) -> Option<Vec<u8>> {
    let length = usize::try_from(reader.u32()?).ok()?;
    reader.take(length).map(<[u8]>::to_vec)
}

fn skip_bytes(reader: &mut Reader<'_>) -> Option<()> {
    let length = usize::try_from(reader.u32()?).ok()?;
    reader.take(length).map(drop)
}

fn text(reader: &mut Reader<'_>) -> Option<String> {
    reader.text().map(str::to_owned)
}

fn flag(reader: &mut Reader<'_>) -> Option<bool> {
    match reader.u8()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// `count` values, which cannot be more than there are bytes.
pub(crate) fn many<T>(
    count: usize,
    reader: &mut Reader<'_>,
    one: impl Fn(&mut Reader<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    if count > reader.0.len() {
        return None;
    }
    (0..count).map(|_| one(reader)).collect()
}

impl Kind {
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Group => 1,
            Self::Dataset => 2,
            Self::Datatype => 3,
            Self::Map => 4,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        [Self::Group, Self::Dataset, Self::Datatype, Self::Map]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}

impl Charset {
    fn number(self) -> u8 {
        match self {
            Self::Ascii => 0,
            Self::Utf8 => 1,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        [Self::Ascii, Self::Utf8].into_iter().find(|charset| charset.number() == number)
    }
}

impl Space {
    fn put(&self, record: &mut Vec<u8>) {
        match self {
            Self::Null => record.put_u8(0),
            Self::Scalar => record.put_u8(1),
            Self::Simple { dims, max } => {
                record.put_u8(2);
                put_lengths(record, dims);
                put_lengths(record, max);
            }
        }
    }

    fn take(reader: &mut Reader<'_>) -> Option<Self> {
        Some(match reader.u8()? {
            0 => Self::Null,
            1 => Self::Scalar,
            2 => {
                let (dims, max) = (lengths(reader)?, lengths(reader)?);
                let fits =
                    dims.len() == max.len() && dims.iter().zip(&max).all(|(length, most)| length <= most);
                fits.then_some(())?;
                Self::Simple { dims, max }
            }
            _ => return None,
        })
    }

    /// Takes as many bytes as [`take`](Self::take).
    fn skip(reader: &mut Reader<'_>) -> Option<()> {
        match reader.u8()? {
            0 | 1 => {}
            2 => {
                for _ in 0..2 {
                    let count = reader.u8()?;
                    reader.take(8 * usize::from(count))?;
                }
            }
            _ => return None,
        }
        Some(())
    }
}

fn put_lengths(record: &mut Vec<u8>, lengths: &[u64]) {
    record.put_u8(u8::try_from(lengths.len()).unwrap_or(u8::MAX));
    lengths.iter().for_each(|length| record.put_u64(*length));
}

fn lengths(reader: &mut Reader<'_>) -> Option<Vec<u64>> {
    let count = reader.u8()?;
    many(count.into(), reader, |reader| reader.u64())
}

/// The bits of a header's flags.
const CREATED: u8 = 1;
const MODIFIED: u8 = 2;
const LINK_ORDER: u8 = 4;
const ATTRIBUTE_ORDER: u8 = 8;
const DATA: u8 = 16;
const COMMENT: u8 = 32;
const KEY_DATATYPE: u8 = 64;

impl Header {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut record = vec![VERSION, self.kind.number()];
        record.put_u32(self.references);
        let bits = [
            (CREATED, self.created.is_some()),
            (MODIFIED, self.modified.is_some()),
            (LINK_ORDER, self.tracks_link_order),
            (ATTRIBUTE_ORDER, self.tracks_attribute_order),
            (DATA, self.data.is_some()),
            (COMMENT, self.comment.is_some()),
            (KEY_DATATYPE, !self.key_datatype.is_empty()),
        ];
        record.put_u8(bits.iter().filter(|(_, set)| *set).map(|(bit, _)| bit).sum());
        for time in [self.created, self.modified].into_iter().flatten() {
            record.put_u64(time.cast_unsigned());
        }
        put_bytes(&mut record, &self.creation);
        put_bytes(&mut record, &self.datatype);
        if let Some(data) = &self.data {
            data.put(&mut record);
        }
        if let Some(comment) = &self.comment {
            record.put_text(comment);
        }
        if !self.key_datatype.is_empty() {
            put_bytes(&mut record, &self.key_datatype);
        }
        record
    }

    pub(crate) fn decode(record: &[u8], place: impl fmt::Display) -> Result<Self> {
        What { record: "header", place: &place }.decode(record, Self::take)
    }

    fn take(reader: &mut Reader<'_>) -> Option<Self> {
        let kind = Kind::from_number(reader.u8()?)?;
        let (references, flags) = (reader.u32()?, reader.u8()?);
        let has = |bit| flags & bit != 0;
        let time = |reader: &mut Reader<'_>, bit| {
            if has(bit) { reader.u64().map(|time| Some(time.cast_signed())) } else { Some(None) }
        };
        Some(Self {
            kind,
            references,
            created: time(reader, CREATED)?,
            modified: time(reader, MODIFIED)?,
            creation: bytes(reader)?,
            tracks_link_order: has(LINK_ORDER),
            tracks_attribute_order: has(ATTRIBUTE_ORDER),
            datatype: bytes(reader)?,
            data: if has(DATA) { Some(Data::take(reader)?) } else { None },
            comment: if has(COMMENT) { Some(text(reader)?) } else { None },
            key_datatype: if has(KEY_DATATYPE) { bytes(reader)? } else { Vec::new() },
        })
    }
}

impl Data {
    fn put(&self, record: &mut Vec<u8>) {
        record.put_u32(self.element);
        self.space.put(record);
        put_lengths(record, &self.chunk);
        record.put_u8(self.is_chunked.into());
        record.put_u8(self.fill.is_some().into());
        if let Some(fill) = &self.fill {
            put_bytes(record, fill);
        }
        record.put_u16(u16::try_from(self.filters.len()).unwrap_or(u16::MAX));
        for filter in &self.filters {
            record.put_u16(filter.id);
            record.put_u16(filter.flags);
            record.put_text(&filter.name);
            record.put_u32(u32::try_from(filter.values.len()).unwrap_or(u32::MAX));
            filter.values.iter().for_each(|value| record.put_u32(*value));
        }
    }

    fn take(reader: &mut Reader<'_>) -> Option<Self> {
        let data = Self {
            element: reader.u32()?,
            space: Space::take(reader)?,
            chunk: lengths(reader)?,
            is_chunked: flag(reader)?,
            fill: if flag(reader)? { Some(bytes(reader)?) } else { None },
            filters: {
                let count = reader.u16()?;
                many(count.into(), reader, filter)?
            },
        };
        data.check().is_ok().then_some(data)
    }
}

fn filter(reader: &mut Reader<'_>) -> Option<Filter> {
    let (id, flags, name) = (reader.u16()?, reader.u16()?, text(reader)?);
    let count = usize::try_from(reader.u32()?).ok()?;
    Some(Filter { id, flags, name, values: many(count, reader, |reader| reader.u32())? })
}

impl Link {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let class = match &self.target {
            Target::Hard { .. } => 0,
            Target::Soft(_) => 1,
            Target::External { .. } => 2,
            Target::User { .. } => 3,
        };
        let mut record = vec![VERSION, class, self.charset.number()];
        record.put_u64(self.order);
        match &self.target {
            Target::Hard { number, kind } => {
                record.put_u64(*number);
                record.put_u8(kind.number());
            }
            Target::Soft(path) => record.put_text(path),
            Target::External { file, path } => {
                record.put_text(file);
                record.put_text(path);
            }
            Target::User { class, bytes } => {
                record.put_u8(*class);
                put_bytes(&mut record, bytes);
            }
        }
        record
    }

    pub(crate) fn decode(record: &[u8], place: impl fmt::Display) -> Result<Self> {
        What { record: "link", place: &place }.decode(record, |reader| {
            let (class, charset) = (reader.u8()?, Charset::from_number(reader.u8()?)?);
            let order = reader.u64()?;
            let target = match class {
                0 => Target::Hard { number: reader.u64()?, kind: Kind::from_number(reader.u8()?)? },
                1 => Target::Soft(text(reader)?),
                2 => Target::External { file: text(reader)?, path: text(reader)? },
                3 => Target::User { class: reader.u8()?, bytes: bytes(reader)? },
                _ => return None,
            };
            Some(Self { target, order, charset })
        })
    }
}

/// The order of an entry of creation, without reading the rest.
pub(crate) fn order_of(key: &[u8], record: &[u8]) -> Option<u64> {
    let skipped = match key.first()? {
        b'l' => 3,
        b'a' => 2,
        _ => return None,
    };
    Reader(record.get(skipped..)?).u64()
}

/// What the index of a dataset holds of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) form: Form,
    /// The filters that were skipped.
    pub(crate) mask: u32,
    /// The length after filters, in bytes.
    pub(crate) stored_length: u64,
}

/// Where the bytes of a chunk are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// In the index.
    Inline(Vec<u8>),
    /// In the array with this number.
    Array(u64),
    /// In the dataset's object of chunks that are changed in place.
    InPlace,
}

impl Chunk {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let form = match self.form {
            Form::Inline(_) => 0,
            Form::Array(_) => 1,
            Form::InPlace => 2,
        };
        let mut record = vec![VERSION, form];
        record.put_u32(self.mask);
        record.put_u64(self.stored_length);
        match &self.form {
            Form::Inline(bytes) => record.extend_from_slice(bytes),
            Form::Array(number) => record.put_u64(*number),
            Form::InPlace => {}
        }
        record
    }

    pub(crate) fn decode(record: &[u8], place: impl fmt::Display) -> Result<Self> {
        What { record: "chunk entry", place: &place }.decode(record, |reader| {
            let (form, mask, stored_length) = (reader.u8()?, reader.u32()?, reader.u64()?);
            let form = match form {
                0 => {
                    let length = usize::try_from(stored_length).ok()?;
                    Form::Inline(reader.take(length)?.to_vec())
                }
                1 if stored_length < 1 << 32 => Form::Array(reader.u64()?),
                2 if stored_length < 1 << 32 && mask == 0 => Form::InPlace,
                _ => return None,
            };
            Some(Self { form, mask, stored_length })
        })
    }
}

/// What the file's table of blobs holds of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlobPage {
    /// In the array of the page's own number, if not in the record.
    pub(crate) inline: Option<Vec<u8>>,
    /// In bytes.
    pub(crate) length: u32,
    /// The removed parts: start and end of each, in order, without overlap.
    pub(crate) removed: Vec<(u32, u32)>,
}

impl BlobPage {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut record = vec![VERSION, self.inline.is_none().into()];
        record.put_u32(self.length);
        record.put_u32(u32::try_from(self.removed.len()).unwrap_or(u32::MAX));
        for (start, end) in &self.removed {
            record.put_u32(*start);
            record.put_u32(*end);
        }
        if let Some(inline) = &self.inline {
            record.extend_from_slice(inline);
        }
        record
    }

    pub(crate) fn decode(record: &[u8], place: impl fmt::Display) -> Result<Self> {
        What { record: "page of blobs", place: &place }.decode(record, |reader| {
            let (elsewhere, length) = (flag(reader)?, reader.u32()?);
            let count = usize::try_from(reader.u32()?).ok()?;
            let removed = many(count, reader, |reader| Some((reader.u32()?, reader.u32()?)))?;
            let in_order = removed.windows(2).all(|two| two[0].1 < two[1].0);
            let whole = removed.iter().all(|(start, end)| start < end && *end <= length);
            (in_order && whole).then_some(())?;
            let inline = if elsewhere { None } else { Some(reader.take(length as usize)?.to_vec()) };
            Some(Self { inline, length, removed })
        })
    }
}

#[cfg(test)]
mod tests;
