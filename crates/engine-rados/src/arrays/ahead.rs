//! Reads of arrays that go on while the caller does something else.

use std::{collections::HashMap, sync::Arc};

use isotach_object::{ArrayRead, Cell, PendingRead, Result};

use super::{
    Arrays,
    read::{Asked, own_bytes, with_bytes},
};
use crate::{ffi::OwnedRead, keys, table::Table};

/// A read of an array's table and own bytes that is under way.
#[derive(Debug)]
struct Ahead {
    arrays: Arc<Arrays>,
    asked: Asked,
    read: OwnedRead,
}

impl Arrays {
    /// Begins to read an array from an offset on.
    pub(crate) fn begin_read(
        self: &Arc<Self>,
        cell: &Cell<'_>,
        offset: u64,
        buffer: Vec<u8>,
    ) -> Box<dyn PendingRead> {
        let asked = Asked { number: 0, object: cell.object, offset, length: buffer.len() };
        let name = keys::array_name(cell.object);
        let read = self.space.data.begin_owned(&name, buffer, |buffer| with_bytes(offset, buffer));
        Box::new(Ahead { arrays: Arc::clone(self), asked, read })
    }
}

impl PendingRead for Ahead {
    fn wait(self: Box<Self>) -> Result<Vec<u8>> {
        let Self { arrays, asked, read } = *self;
        let (found, mut buffer) =
            read.wait(|outcome| match arrays.space.table_of(asked.object, outcome)? {
                Some((table, bytes)) => own_bytes(&asked, &table, bytes).map(|done| Some((table, done))),
                None => Ok(None),
            });
        let found: Option<(Table, usize)> = found?;
        let filled = found.as_ref().map_or(0, |(table, _)| asked.filled(table));
        if found.as_ref().is_none_or(|(_, done)| *done == filled) {
            buffer.truncate(filled);
            return Ok(buffer);
        }
        // Some of the bytes are elsewhere, where the table says, or have been replaced since.
        let cell = Cell::array(asked.object);
        let mut reads = [ArrayRead { cell, offset: asked.offset, buffer: &mut buffer, filled: 0 }];
        let tables = found.into_iter().map(|found| (0, found)).collect();
        if !arrays.read_rest(&mut reads, &tables, &mut HashMap::new())?.is_empty() {
            arrays.read_many(&mut reads)?;
        }
        let filled = reads[0].filled;
        buffer.truncate(filled);
        Ok(buffer)
    }
}

/// A read that has ended.
#[derive(Debug)]
pub(crate) struct Ended(pub(crate) Vec<u8>);

impl PendingRead for Ended {
    fn wait(self: Box<Self>) -> Result<Vec<u8>> {
        Ok(self.0)
    }
}
