//! Arrays: cells by index. A cell has one byte or more, and so many cells make a chunk, which here only is remembered.
//!
//! What an array of type ARRAY was created with is an entry of the container's own object, so that creating one twice is noticed; the other
//! types are told by whoever opens them.

use std::sync::Arc;

use isotach_object::{ArrayRead, Cell, ObjectId, ObjectType, Precondition, Update};

use crate::{
    abi::errors::*,
    containers::{Container, own},
    error::{Der, Result, invalid, refuse},
    handles::{self, Open},
    objects::{self, check_mode, type_number},
    scope::Scope,
};

/// DAOS's numbers of the three types.
const WITH_METADATA: u8 = 11;
const OF_BYTES: u8 = 13;

/// So many ranges of so few bytes are refused, as by DAOS.
const MOST_TINY: usize = 16_384;
const TINY: usize = 16;

/// An open array.
#[derive(Debug)]
pub(crate) struct Array {
    pub(crate) container: Arc<Container>,
    pub(crate) id: ObjectId,
    pub(crate) mode: u32,
    /// Bytes of a cell.
    pub(crate) cell_size: u64,
    /// Cells of a chunk.
    pub(crate) chunk_size: u64,
}

/// Cells that are read or written: the first one, and how many.
pub(crate) type Range = (u64, u64);

/// What a read found, in cells.
pub(crate) struct Filled {
    pub(crate) read: u64,
    pub(crate) short: u64,
}

fn metadata_key(id: ObjectId) -> [u8; 17] {
    let mut key = [b'a'; 17];
    key[1..9].copy_from_slice(&id.hi().to_le_bytes());
    key[9..].copy_from_slice(&id.lo().to_le_bytes());
    key
}

fn check_sizes(cell_size: u64, chunk_size: u64) -> Result<()> {
    match cell_size.checked_mul(chunk_size) {
        Some(1..) => Ok(()),
        _ => invalid("cell and chunk size of an array: two numbers above 0 are expected"),
    }
}

fn opened(container: Arc<Container>, id: ObjectId, mode: u32, (cell_size, chunk_size): (u64, u64)) -> u64 {
    handles::add(Open::Array(Arc::new(Array { container, id, mode, cell_size, chunk_size })))
}

/// See `daos_array_create`.
pub(crate) fn create(scope: &Scope, id: (u64, u64), cell_size: u64, chunk_size: u64) -> Result<u64> {
    let container = Arc::clone(&scope.container);
    let id = checked(&container, id, |number| number == WITH_METADATA)?;
    check_sizes(cell_size, chunk_size)?;
    let key = metadata_key(id);
    let cell = Cell::kv(own()?, &key);
    let value = [cell_size.to_le_bytes(), chunk_size.to_le_bytes()].concat();
    let updates = [Update::Put { cell, value: &value }, Update::SetSize { cell: Cell::array(id), size: 0 }];
    // Where an engine changes one thing at a time, who has the entry has the array.
    let together = if container.inner.capabilities().transactions { 2 } else { 1 };
    if scope.update_if(&[Precondition::Absent(cell)], &updates[..together])?.is_some() {
        return Err(Der(DER_EXIST));
    }
    if together == 1 {
        scope.update(&updates[1..])?;
    }
    Ok(opened(container, id, 0, (cell_size, chunk_size)))
}

/// See `daos_array_open`; also gives the sizes of a cell and a chunk.
pub(crate) fn open(scope: &Scope, id: (u64, u64), mode: u32) -> Result<(u64, (u64, u64))> {
    let container = Arc::clone(&scope.container);
    let id = checked(&container, id, |number| number == WITH_METADATA)?;
    let Some(stored) = scope.get(Cell::kv(own()?, &metadata_key(id)))? else {
        return Err(Der(DER_NONEXIST));
    };
    let number = |part: Option<&[u8]>| part.and_then(|part| part.try_into().ok()).map(u64::from_le_bytes);
    let (Some(cell_size), Some(chunk_size)) = (number(stored.get(..8)), number(stored.get(8..))) else {
        return Err(Der(DER_NO_PERM));
    };
    Ok((opened(container, id, mode, (cell_size, chunk_size)), (cell_size, chunk_size)))
}

/// See `daos_array_open_with_attr`.
pub(crate) fn open_with_attributes(
    container: u64,
    id: (u64, u64),
    mode: u32,
    cell_size: u64,
    chunk_size: u64,
) -> Result<u64> {
    let container = handles::container(container)?;
    let id = checked(&container, id, |number| number != WITH_METADATA)?;
    check_sizes(cell_size, chunk_size)?;
    Ok(opened(container, id, mode, (cell_size, chunk_size)))
}

/// Opens an array of which all is known.
pub(crate) fn open_as(container: u64, id: (u64, u64), mode: u32, sizes: (u64, u64)) -> Result<u64> {
    let container = handles::container(container)?;
    let id = checked(&container, id, |_| true)?;
    check_sizes(sizes.0, sizes.1)?;
    Ok(opened(container, id, mode, sizes))
}

fn checked(container: &Container, id: (u64, u64), is_right: impl Fn(u8) -> bool) -> Result<ObjectId> {
    let id = objects::checked(container, id, &[ObjectType::Array])?;
    match is_right(type_number(id)) {
        true => Ok(id),
        false => invalid(&format!("object {id} is of another type of array than the function is for")),
    }
}

/// See `daos_array_close`.
pub(crate) fn close(handle: u64) -> Result<()> {
    handles::array(handle)?;
    handles::remove(handle).map(drop)
}

/// The array with this handle, in the transaction with the other.
pub(crate) fn array_in(handle: u64, transaction: u64) -> Result<(Arc<Array>, Scope)> {
    let array = handles::array(handle)?;
    let scope = Scope::of(Arc::clone(&array.container), transaction)?;
    Ok((array, scope))
}

/// See `daos_array_destroy`.
pub(crate) fn destroy(array: &Array, scope: &Scope) -> Result<()> {
    array.check_writable()?;
    let key = metadata_key(array.id);
    let metadata = Update::Remove { cell: Cell::kv(own()?, &key) };
    let updates = [Update::Destroy { object: array.id }, metadata];
    scope.update(if array.is_with_metadata() { &updates } else { &updates[..1] })
}

impl Array {
    fn is_with_metadata(&self) -> bool {
        type_number(self.id) == WITH_METADATA
    }

    /// Whether reads of it tell how much was there.
    pub(crate) fn is_of_bytes(&self) -> bool {
        type_number(self.id) == OF_BYTES
    }

    pub(crate) fn check_writable(&self) -> Result<()> {
        check_mode(self.mode)?;
        self.container.check_writable()
    }

    /// Offset and length in bytes.
    fn bytes_of(&self, (first, count): Range) -> Result<(u64, u64)> {
        let bytes = first.checked_mul(self.cell_size).zip(count.checked_mul(self.cell_size));
        bytes.map_or_else(|| invalid("a range of an array that ends beyond all numbers"), Ok)
    }

    /// Refuses ranges and buffers that do not have the same number of bytes.
    fn check(&self, ranges: &[Range], buffers: usize) -> Result<()> {
        let mut bytes = 0_u64;
        if ranges.len() > MOST_TINY && buffers / ranges.len() <= TINY {
            return refuse(
                DER_NOTSUPPORTED,
                "more than 16384 ranges of an array that have 16 bytes or fewer",
            );
        }
        for range in ranges {
            bytes = bytes.saturating_add(self.bytes_of(*range)?.1);
        }
        match bytes == buffers as u64 {
            true => Ok(()),
            false => invalid(&format!("ranges of {bytes} bytes of an array for buffers of {buffers} bytes")),
        }
    }

    /// See `daos_array_write`: the buffers, one behind the other, go into the ranges, one behind the other.
    pub(crate) fn write(&self, scope: &Scope, ranges: &[Range], buffers: &[&[u8]]) -> Result<()> {
        self.check_writable()?;
        self.check(ranges, buffers.iter().map(|buffer| buffer.len()).sum())?;
        let mut updates = Vec::with_capacity(ranges.len());
        let mut rest = buffers.iter().copied();
        let mut buffer: &[u8] = &[];
        for range in ranges {
            let (mut offset, mut left) = self.bytes_of(*range)?;
            while left > 0 {
                if buffer.is_empty() {
                    let Some(next) = rest.next() else { break };
                    buffer = next;
                    continue;
                }
                let (data, behind) = buffer.split_at((buffer.len() as u64).min(left) as usize);
                updates.push(Update::Write { cell: Cell::array(self.id), offset, data });
                (offset, left, buffer) = (offset + data.len() as u64, left - data.len() as u64, behind);
            }
        }
        if updates.is_empty() { Ok(()) } else { scope.update(&updates) }
    }

    /// See `daos_array_read`.
    pub(crate) fn read(&self, scope: &Scope, ranges: &[Range], buffers: Vec<&mut [u8]>) -> Result<Filled> {
        self.check(ranges, buffers.iter().map(|buffer| buffer.len()).sum())?;
        let mut reads = Vec::with_capacity(ranges.len());
        let mut rest = buffers.into_iter();
        let mut buffer: &mut [u8] = &mut [];
        for range in ranges {
            let (mut offset, mut left) = self.bytes_of(*range)?;
            while left > 0 {
                if buffer.is_empty() {
                    let Some(next) = rest.next() else { break };
                    buffer = next;
                    continue;
                }
                let (part, behind) = buffer.split_at_mut((buffer.len() as u64).min(left) as usize);
                let length = part.len() as u64;
                reads.push(ArrayRead { cell: Cell::array(self.id), offset, buffer: part, filled: 0 });
                (offset, left, buffer) = (offset + length, left - length, behind);
            }
        }
        scope.read_into(&mut reads)?;
        let wanted: usize = reads.iter().map(|read| read.buffer.len()).sum();
        let filled: usize = reads.iter().map(|read| read.filled).sum();
        let cells = |bytes: usize| bytes as u64 / self.cell_size;
        Ok(Filled { read: cells(filled), short: cells(wanted - filled) })
    }

    /// How many cells it has.
    pub(crate) fn size(&self, scope: &Scope) -> Result<u64> {
        let size = scope.size(Cell::array(self.id))?;
        Ok(size.unwrap_or(0).div_ceil(self.cell_size))
    }

    /// See `daos_array_set_size`.
    pub(crate) fn set_size(&self, scope: &Scope, cells: u64) -> Result<()> {
        self.check_writable()?;
        let (size, _) = self.bytes_of((cells, 0))?;
        scope.update(&[Update::SetSize { cell: Cell::array(self.id), size }])
    }

    /// See `daos_array_punch`.
    pub(crate) fn punch(&self, scope: &Scope, ranges: &[Range]) -> Result<()> {
        self.check_writable()?;
        let mut updates = Vec::with_capacity(ranges.len());
        for range in ranges {
            let (offset, length) = self.bytes_of(*range)?;
            updates.push(Update::Punch { cell: Cell::array(self.id), offset, length });
        }
        scope.update(&updates)
    }
}
