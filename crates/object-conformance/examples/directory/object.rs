//! One object: its cells by their keys, as they are changed, read, and written to its file.

use std::collections::BTreeMap;

use isotach_engine_kit::bytes::{Put, Reader};
use isotach_object::{Cell, Precondition, Update};

use crate::sparse::{Sparse, put_part, take_part};

/// What a cell holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// A value, replaced whole.
    Value(Vec<u8>),
    /// Bytes by offset.
    Bytes(Sparse),
}

impl Content {
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Value(value) => value.len() as u64,
            Self::Bytes(bytes) => bytes.size,
        }
    }
}

/// The keys of a cell: distribution key and attribute key.
pub(crate) type Keys = (Vec<u8>, Vec<u8>);

/// The cells of an object, in the order of their keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Object(pub(crate) BTreeMap<Keys, Content>);

fn keys(cell: &Cell<'_>) -> Keys {
    (cell.dkey.to_vec(), cell.akey.to_vec())
}

impl Object {
    pub(crate) fn get(&self, cell: &Cell<'_>) -> Option<&Content> {
        self.0.get(&keys(cell))
    }

    pub(crate) fn apply(&mut self, update: &Update<'_>) {
        match update {
            Update::Put { cell, value } => {
                self.0.insert(keys(cell), Content::Value(value.to_vec()));
            }
            Update::Remove { cell } => drop(self.0.remove(&keys(cell))),
            Update::Write { cell, offset, data } => self.bytes(cell).write(*offset, data),
            Update::SetSize { cell, size } => self.bytes(cell).set_size(*size),
            Update::Punch { cell, offset, length } => {
                if let Some(Content::Bytes(bytes)) = self.0.get_mut(&keys(cell)) {
                    bytes.punch(*offset, offset.saturating_add(*length));
                }
            }
            Update::RemoveDkey { dkey, .. } => self.0.retain(|(there, _), _| there != dkey),
            Update::Destroy { .. } => self.0.clear(),
        }
    }

    /// The bytes of a cell, made if they are not there; a value is dropped.
    fn bytes(&mut self, cell: &Cell<'_>) -> &mut Sparse {
        let content = self.0.entry(keys(cell)).or_insert_with(|| Content::Bytes(Sparse::default()));
        if let Content::Value(_) = content {
            *content = Content::Bytes(Sparse::default());
        }
        match content {
            Content::Bytes(bytes) => bytes,
            Content::Value(_) => unreachable!("it was replaced"),
        }
    }

    /// Whether a precondition other than `Unchanged` holds.
    pub(crate) fn holds(&self, precondition: &Precondition<'_>) -> bool {
        match precondition {
            Precondition::Absent(cell) => self.get(cell).is_none(),
            Precondition::Present(cell) => self.get(cell).is_some(),
            Precondition::Equals(cell, value) => {
                matches!(self.get(cell), Some(Content::Value(there)) if there == value)
            }
            Precondition::Unchanged(..) => false,
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for ((dkey, akey), content) in &self.0 {
            put_part(&mut out, dkey);
            put_part(&mut out, akey);
            match content {
                Content::Value(value) => {
                    out.put_u8(0);
                    put_part(&mut out, value);
                }
                Content::Bytes(bytes) => {
                    out.put_u8(1);
                    bytes.encode(&mut out);
                }
            }
        }
        out
    }

    /// `None` where the contents are not those of an object.
    pub(crate) fn decode(contents: &[u8]) -> Option<Self> {
        let (mut reader, mut object) = (Reader(contents), Self::default());
        while !reader.is_empty() {
            let keys = (take_part(&mut reader)?, take_part(&mut reader)?);
            let content = match reader.u8()? {
                0 => Content::Value(take_part(&mut reader)?),
                _ => Content::Bytes(Sparse::decode(&mut reader)?),
            };
            object.0.insert(keys, content);
        }
        Some(object)
    }
}
