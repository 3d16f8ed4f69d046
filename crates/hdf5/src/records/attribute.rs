//! The records of attributes.

use std::fmt;

use isotach_engine_kit::bytes::{Put, Reader};
use isotach_object::ObjectId;

use super::{VERSION, What, bytes, put_bytes, skip_bytes};
use crate::{Attribute, Charset, Result, Space, layout::array};

/// Where a value is that may be too large for its record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the record.
    Inline(Vec<u8>),
    /// In the array with this number.
    Array(u64),
}

impl Place {
    /// The array that has the value.
    pub(crate) fn array(&self) -> Option<ObjectId> {
        match self {
            Self::Inline(_) => None,
            Self::Array(number) => Some(array(*number)),
        }
    }

    pub(crate) fn put(&self, length: u64, record: &mut Vec<u8>) {
        match self {
            Self::Inline(value) => put_inline(value, record),
            Self::Array(number) => {
                record.put_u8(1);
                record.put_u64(*number);
                record.put_u64(length);
            }
        }
    }

    /// The value, and its length.
    pub(crate) fn take(reader: &mut Reader<'_>) -> Option<(Self, u64)> {
        match reader.u8()? {
            0 => {
                let value = bytes(reader)?;
                let length = value.len() as u64;
                Some((Self::Inline(value), length))
            }
            1 => Some((Self::Array(reader.u64()?), reader.u64()?)),
            _ => None,
        }
    }
}

fn put_inline(value: &[u8], record: &mut Vec<u8>) {
    record.put_u8(0);
    put_bytes(record, value);
}

/// An attribute as stored: the value may be elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AttributeRecord {
    /// Without name and value.
    pub(crate) attribute: Attribute,
    pub(crate) value: Place,
    pub(crate) length: u64,
}

impl AttributeRecord {
    pub(crate) fn encode(&self) -> Vec<u8> {
        match &self.value {
            Place::Inline(value) => self.attribute.encode_inline(value),
            elsewhere => {
                let mut record = self.attribute.encode(0);
                elsewhere.put(self.length, &mut record);
                record
            }
        }
    }

    /// The array that has the value, and the value's length, if it is not in the record. The rest is skipped, and may be damaged.
    pub(crate) fn array_of(record: &[u8]) -> Option<(u64, u64)> {
        let mut reader = Reader(record);
        // Its version, the encoding of the name, and the order.
        reader.take(2 + 8).filter(|head| head.first() == Some(&VERSION))?;
        skip_bytes(&mut reader)?;
        Space::skip(&mut reader)?;
        skip_bytes(&mut reader)?;
        match reader.u8()? {
            1 => Some((reader.u64()?, reader.u64()?)).filter(|_| reader.is_empty()),
            _ => None,
        }
    }

    pub(crate) fn decode(name: &str, record: &[u8], place: impl fmt::Display) -> Result<Self> {
        What { record: "attribute", place: &place }.decode(record, |reader| {
            let attribute = Attribute {
                name: name.to_owned(),
                charset: Charset::from_number(reader.u8()?)?,
                order: reader.u64()?,
                datatype: bytes(reader)?,
                space: Space::take(reader)?,
                creation: bytes(reader)?,
                value: Vec::new(),
            };
            let (value, length) = Place::take(reader)?;
            Some(Self { attribute, value, length })
        })
    }
}

impl Attribute {
    /// All but the value, and room for that.
    fn encode(&self, room: usize) -> Vec<u8> {
        let Self { charset, order, datatype, space, creation, .. } = self;
        let mut record = Vec::with_capacity(64 + datatype.len() + creation.len() + room);
        record.extend([VERSION, charset.number()]);
        record.put_u64(*order);
        put_bytes(&mut record, datatype);
        space.put(&mut record);
        put_bytes(&mut record, creation);
        record
    }

    /// The record with this value in it.
    pub(crate) fn encode_inline(&self, value: &[u8]) -> Vec<u8> {
        let mut record = self.encode(value.len());
        put_inline(value, &mut record);
        record
    }
}
