//! Reading values.

use std::{ops::Range, sync::Arc};

use isotach_engine_kit::aligned::AlignedBuffer;
use isotach_object::{ArrayRead, Cell, Error, ObjectId, Result, SharedBytes};

use crate::{Part, Tree, entry::Entry};

/// Parts up to this size get their memory without a lookup of the array's size.
const UNCHECKED_MAX: u64 = 64 << 20;

impl Tree {
    /// Bytes of a value, checked, and without a copy where the engine can lend them. `None` if there is no such value.
    ///
    /// # Errors
    /// `Corrupt`; `Conflict` if another writer replaced the value after the open transaction first saw it.
    pub fn read(&self, path: &str, part: Part) -> Result<Option<SharedBytes>> {
        let mut vanished = None;
        loop {
            let Some(found) = self.entry(path)? else { return Ok(None) };
            let bytes = match Entry::decode(&found)? {
                Entry::Inline(value) => Some(inline(value, part)),
                Entry::Array(object, length) => self.read_array(object, part.of(length))?,
            };
            if bytes.is_some() {
                return Ok(bytes);
            }
            // The writer that replaces a value destroys its array. So the entry is another one, unless the array is lost.
            if vanished.as_ref() == Some(&found) {
                return Err(self.lost(path, &found));
            }
            vanished = Some(found);
        }
    }

    /// The length of a value in bytes.
    ///
    /// # Errors
    /// As [`Tree::read`].
    pub fn size(&self, path: &str) -> Result<Option<u64>> {
        let found = self.entry(path)?;
        found.map(|found| Entry::decode(&found).map(Entry::length)).transpose()
    }

    /// Bytes of an array. `None` if it has fewer.
    fn read_array(&self, object: ObjectId, wanted: Range<u64>) -> Result<Option<SharedBytes>> {
        let length = wanted.end - wanted.start;
        if length == 0 {
            return Ok(Some(SharedBytes::default()));
        }
        let cell = Cell::array(object);
        // A damaged entry must not allocate memory for bytes that do not exist.
        if length > UNCHECKED_MAX {
            let size = self.container.size_many(&[cell])?.pop().flatten().unwrap_or(0);
            if wanted.end > size {
                return Ok(None);
            }
        }
        if let Some(lender) = self.container.facets().lent_reads {
            let bytes = lender.lend(cell, wanted.start, length)?;
            return Ok(Some(bytes).filter(|bytes| bytes.len() as u64 == length));
        }
        let too_long = || Error::invalid(format!("{length} bytes of a value"), "as many as fit in memory");
        let mut buffer = AlignedBuffer::new(usize::try_from(length).map_err(|_| too_long())?);
        let mut reads = [ArrayRead { cell, offset: wanted.start, buffer: &mut buffer, filled: 0 }];
        self.container.read_many(&mut reads)?;
        let (filled, all) = (reads[0].filled, buffer.len());
        Ok(if filled == all { SharedBytes::new(Arc::new(buffer), 0..all) } else { None })
    }

    /// Why the array of an entry is not there.
    fn lost(&self, path: &str, found: &[u8]) -> Error {
        match self.stored(path) {
            Ok(stored) if stored.as_deref() != Some(found) => Error::Conflict {
                what: format!("another writer replaced {path:?} after the transaction first saw it"),
            },
            Ok(_) => {
                let what = format!("the array of {path:?} is missing or too short");
                Error::corrupt(what, format!("container {}", self.container.label()))
            }
            Err(error) => error,
        }
    }
}

/// A part of a value that is in its entry.
fn inline(value: &[u8], part: Part) -> SharedBytes {
    let Range { start, end } = part.of(value.len() as u64);
    value.get(start as usize..end as usize).unwrap_or_default().to_vec().into()
}
