//! Arrays: cells by index. A cell has one byte or more. A number of cells is a chunk, which is only recorded here.
//!
//! The sizes at creation are an entry of the container's own object (see `array_keys`), so a second creation is noticed. They are fixed for
//! arrays of type ARRAY. Arrays of other types get their sizes with each open, and need not be created.
//!
//! A cell that was never written, or was punched since, does not exist. A read leaves its place in the buffers unchanged; for arrays of bytes it
//! fills zeros up to the last existing cell. That cell determines the size.

use std::{iter, ops, slice, sync::Arc};

use isotach_object::{ArrayRead, Cell, ObjectId, ObjectType, Precondition, Update, extents_of};

use crate::{
    abi::{
        constants::{DAOS_HTYPE_ARRAY, DAOS_OO_RO},
        errors::*,
    },
    containers::{Container, own},
    objects::{
        self, Object,
        array_keys::{self, metadata, metadata_key, sizes_in},
        check_mode,
        records::{last_end, written},
        requests::overlap,
        type_number,
    },
    runtime::{
        error::{Der, Result, invalid, refuse},
        handles,
    },
    transactions::scope::Scope,
};

/// DAOS's numbers of the three types.
pub(crate) const WITH_METADATA: u8 = 11;
const OF_BYTES: u8 = 13;

/// More ranges than this, of no more bytes than that, are refused as by DAOS.
const TINY_MAX: usize = 16_384;
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

/// A range of cells: the first index, and the count.
pub(crate) type Range = (u64, u64);

/// The result of a read, in cells.
pub(crate) struct Filled {
    pub(crate) read: u64,
    pub(crate) short: u64,
}

fn check_sizes(cell_size: u64, chunk_size: u64) -> Result<()> {
    match cell_size.checked_mul(chunk_size) {
        Some(1..) => Ok(()),
        _ => invalid("cell and chunk size of an array: two numbers above 0 are expected"),
    }
}

fn opened(container: Arc<Container>, id: ObjectId, mode: u32, (cell_size, chunk_size): (u64, u64)) -> u64 {
    let array = Array { container: Arc::clone(&container), id, mode, cell_size, chunk_size };
    handles::add(DAOS_HTYPE_ARRAY, Arc::new(array), Some(container))
}

/// See `daos_array_create`.
pub(crate) fn create(scope: &Scope, id: (u64, u64), cell_size: u64, chunk_size: u64) -> Result<u64> {
    let container = Arc::clone(&scope.container);
    let id = checked(&container, id, |_| true)?;
    check_sizes(cell_size, chunk_size)?;
    let key = metadata_key(id);
    let cell = Cell::kv(own()?, &key);
    let value = metadata((cell_size, chunk_size));
    // As on DAOS this entry alone creates the array. Existing cells, and those of concurrent writes, stay.
    scope.update_if(&[Precondition::Absent(cell)], &[Update::Put { cell, value: &value }])?;
    Ok(opened(container, id, 0, (cell_size, chunk_size)))
}

/// See `daos_array_open`; also gives the sizes of a cell and a chunk.
pub(crate) fn open(scope: &Scope, id: (u64, u64), mode: u32) -> Result<(u64, (u64, u64))> {
    let container = Arc::clone(&scope.container);
    let id = checked(&container, id, |number| number == WITH_METADATA)?;
    let Some(stored) = scope.get(Cell::kv(own()?, &metadata_key(id)))? else {
        return Err(Der(DER_NONEXIST));
    };
    let Some(sizes) = sizes_in(&stored) else {
        return refuse(
            DER_NO_PERM,
            "a value where an array says what it was created with, which does not say it",
        );
    };
    Ok((opened(container, id, mode, sizes), sizes))
}

/// See `daos_array_open_with_attr`.
pub(crate) fn open_with_attributes(
    container: u64,
    id: (u64, u64),
    mode: u32,
    cell_size: u64,
    chunk_size: u64,
) -> Result<u64> {
    let container = Container::get(container)?;
    let id = checked(&container, id, |number| number != WITH_METADATA)?;
    check_sizes(cell_size, chunk_size)?;
    Ok(opened(container, id, mode, (cell_size, chunk_size)))
}

/// Opens an array of any type with known sizes.
pub(crate) fn open_as(container: u64, id: (u64, u64), mode: u32, sizes: (u64, u64)) -> Result<u64> {
    let container = Container::get(container)?;
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
    Array::get(handle)?;
    handles::remove(handle)
}

/// See `daos_obj_close`, which also closes maps and arrays.
pub(crate) fn close_object(handle: u64) -> Result<()> {
    match handles::is::<Object>(handle) || handles::is::<Array>(handle) {
        true => handles::remove(handle),
        false => Err(Der(DER_NO_HDL)),
    }
}

/// The size of an array of bytes that need not be open.
pub(crate) fn size_of(container: &Arc<Container>, id: ObjectId) -> Result<u64> {
    let container = Arc::clone(container);
    let id = checked(&container, (id.hi(), id.lo()), |number| number == OF_BYTES)?;
    let scope = Scope::present(Arc::clone(&container));
    Array { container, id, mode: DAOS_OO_RO, cell_size: 1, chunk_size: 1 }.size(&scope)
}

/// The array behind a handle, and the scope of the transaction behind another.
pub(crate) fn array_in(handle: u64, transaction: u64) -> Result<(Arc<Array>, Scope)> {
    let array = Array::get(handle)?;
    let scope = Scope::of(Arc::clone(&array.container), transaction)?;
    Ok((array, scope))
}

/// See `daos_array_destroy`.
pub(crate) fn destroy(array: &Array, scope: &Scope) -> Result<()> {
    array.check_writable()?;
    array_keys::destroy(scope, array.id)
}

impl Array {
    /// The open array behind a handle.
    pub(crate) fn get(handle: u64) -> Result<Arc<Self>> {
        handles::get(handle, DAOS_HTYPE_ARRAY)
    }

    /// The array that this process opened last under an id of a container.
    pub(crate) fn opened_last(container: &Container, id: ObjectId) -> Option<Arc<Self>> {
        let is_it = |array: &Arc<Self>| array.id == id && array.container.uuid == container.uuid;
        handles::all().into_iter().rfind(is_it)
    }

    /// Whether its reads report how many cells exist.
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

    /// Refuses ranges and buffers of different sizes.
    fn check(&self, ranges: &[Range], buffers: usize) -> Result<()> {
        let mut bytes = 0_u64;
        if ranges.len() > TINY_MAX && buffers / ranges.len() <= TINY {
            return refuse(
                DER_NOTSUPPORTED,
                "more than 16384 ranges of an array that have 16 bytes or fewer",
            );
        }
        for range in ranges {
            bytes = bytes.saturating_add(self.bytes_of(*range)?.1);
        }
        if bytes != buffers as u64 {
            return invalid(&format!("ranges of {bytes} bytes of an array for buffers of {buffers} bytes"));
        }
        match overlap(ranges) && self.overlaps_in_a_chunk(ranges) {
            true => invalid("ranges of an array that overlap in one chunk"),
            false => Ok(()),
        }
    }

    /// Whether ranges overlap that are adjacent in the list and lie in one chunk. DAOS combines these into one operation on the chunk, and refuses
    /// it. A range of another chunk between two ranges separates their operations.
    fn overlaps_in_a_chunk(&self, ranges: &[Range]) -> bool {
        // Only the ends of a range share a chunk with other ranges.
        let ends = ranges.iter().filter(|(_, count)| *count > 0).flat_map(|(first, count)| {
            let end = first.saturating_add(*count);
            let (head, tail) = (first / self.chunk_size, (end - 1) / self.chunk_size);
            let behind = (head + 1).saturating_mul(self.chunk_size);
            let rest = tail * self.chunk_size;
            let is_longer = tail > head;
            iter::once((head, (*first, end.min(behind) - first)))
                .chain(is_longer.then(|| (tail, (rest, end - rest))))
        });
        let ends: Vec<(u64, Range)> = ends.collect();
        let parts = ends.chunk_by(|(one, _), (other, _)| one == other);
        parts.into_iter().any(|part| overlap(&part.iter().map(|(_, range)| *range).collect::<Vec<_>>()))
    }

    /// See `daos_array_write`: the concatenated buffers fill the concatenated ranges.
    pub(crate) fn write(&self, scope: &Scope, ranges: &[Range], buffers: &[&[u8]]) -> Result<()> {
        self.check_writable()?;
        self.check(ranges, buffers.iter().map(|buffer| buffer.len()).sum())?;
        let mut updates = Vec::with_capacity(ranges.len());
        let mut rest = buffers.iter().copied();
        let mut buffer: &[u8] = &[];
        for range in ranges {
            let ops::Range { start: mut offset, end } = self.extent_of(*range)?;
            let mut left = end - offset;
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
    pub(crate) fn read(
        &self,
        scope: &Scope,
        ranges: &[Range],
        mut buffers: Vec<&mut [u8]>,
    ) -> Result<Filled> {
        self.check(ranges, buffers.iter().map(|buffer| buffer.len()).sum())?;
        let ranges: Vec<_> = ranges.iter().map(|range| self.extent_of(*range)).collect::<Result<_>>()?;
        let readable = self.readable(scope, &ranges)?;
        if !readable.has_holes {
            return self.fill(scope, &ranges, readable, &mut buffers);
        }
        // The holes and the bytes between them must be of one moment.
        scope.snapshot_read(|scope| self.fill(scope, &ranges, self.readable(scope, &ranges)?, &mut buffers))
    }

    /// Reads the existing parts of ranges into buffers of the same size.
    fn fill(
        &self,
        scope: &Scope,
        ranges: &[ops::Range<u64>],
        readable: Readable,
        buffers: &mut [&mut [u8]],
    ) -> Result<Filled> {
        let wanted: usize = buffers.iter().map(|buffer| buffer.len()).sum();
        let mut reads = Vec::with_capacity(ranges.len());
        let mut buffers = Buffers { first: &mut [], behind: buffers.iter_mut() };
        for (range, there) in ranges.iter().zip(readable.extents) {
            let mut at = range.start;
            for extent in there {
                buffers.take(extent.start - at, |_, _| {});
                buffers.take(extent.end - extent.start, |before, buffer| {
                    let offset = extent.start + before;
                    reads.push(ArrayRead { cell: Cell::array(self.id), offset, buffer, filled: 0 });
                });
                at = extent.end;
            }
            buffers.take(range.end - at, |_, _| {});
        }
        scope.read_into(&mut reads)?;
        let filled: usize = reads.iter().map(|read| read.filled).sum();
        let cells = |bytes: usize| bytes as u64 / self.cell_size;
        Ok(Filled { read: cells(filled), short: cells(wanted - filled) })
    }

    fn extent_of(&self, range: Range) -> Result<ops::Range<u64>> {
        let (offset, length) = self.bytes_of(range)?;
        let end = offset.checked_add(length);
        end.map_or_else(|| invalid("a range of an array that ends beyond all numbers"), |end| Ok(offset..end))
    }

    /// The parts of each range that are read into the buffers.
    fn readable(&self, scope: &Scope, ranges: &[ops::Range<u64>]) -> Result<Readable> {
        let cell = Cell::array(self.id);
        if !self.is_of_bytes() {
            let extents = scope.read(&[cell], |state| written(state, cell, ranges))?;
            let is_whole = |(range, there): (&ops::Range<u64>, &Vec<ops::Range<u64>>)| {
                range.is_empty() || there.as_slice() == slice::from_ref(range)
            };
            let has_holes = !ranges.iter().zip(&extents).all(is_whole);
            return Ok(Readable { extents, has_holes });
        }
        let (size, end) = self.ends(scope)?;
        // Without a hole at the end the read itself finds the end, at the same moment as the bytes.
        let end = if size == end { u64::MAX } else { end };
        let there = |range: &ops::Range<u64>| range.start..range.end.min(end);
        let there = |range| Vec::from_iter(Some(there(range)).filter(|there| !there.is_empty()));
        Ok(Readable { extents: ranges.iter().map(there).collect(), has_holes: end != u64::MAX })
    }

    /// The number of its cells. A punched range behind the last existing one does not count.
    pub(crate) fn size(&self, scope: &Scope) -> Result<u64> {
        Ok(self.ends(scope)?.1.div_ceil(self.cell_size))
    }

    /// See `daos_array_stat`: the number of its cells, and an epoch at which it has them.
    pub(crate) fn stat(&self, scope: &Scope) -> Result<(u64, u64)> {
        scope.snapshot_read(|scope| Ok((self.size(scope)?, scope.epoch()?)))
    }

    /// Its end with the punched range behind the last existing cell, and without.
    fn ends(&self, scope: &Scope) -> Result<(u64, u64)> {
        let cell = Cell::array(self.id);
        scope.read(&[cell], |state| {
            let size = state.size_many(&[cell])?.pop().flatten().unwrap_or(0);
            Ok((size, last_end(state, cell, size)?))
        })
    }

    /// Whether the cell at an offset exists, after the waiting updates of the same transaction.
    fn will_have(&self, scope: &Scope, offset: u64) -> Result<bool> {
        let cell = Cell::array(self.id);
        let waiting = scope.own(|own| own.is_written(&cell, offset))?;
        let is_written = || Ok(!scope.read(&[cell], |state| extents_of(state, cell, offset, 1))?.is_empty());
        waiting.map_or_else(is_written, Ok)
    }

    /// See `daos_array_set_size`. As on DAOS the last cell exists afterwards.
    pub(crate) fn set_size(&self, scope: &Scope, cells: u64) -> Result<()> {
        self.check_writable()?;
        let (size, _) = self.bytes_of((cells, 0))?;
        // Whether the last cell exists must not change before it is written.
        scope.atomic(|scope| self.set_bytes(scope, size))
    }

    fn set_bytes(&self, scope: &Scope, size: u64) -> Result<()> {
        let cell = Cell::array(self.id);
        let mut updates = vec![Update::SetSize { cell, size }];
        let mut zeros = Vec::new();
        if let Some(last) = size.checked_sub(self.cell_size)
            && !self.will_have(scope, last)?
        {
            let length = usize::try_from(self.cell_size).unwrap_or(usize::MAX);
            zeros.try_reserve_exact(length).map_err(|_| Der(DER_NOMEM))?;
            zeros.resize(length, 0);
            updates.push(Update::Write { cell, offset: last, data: &zeros });
        }
        scope.update(&updates)
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

/// The parts of ranges that are read.
struct Readable {
    extents: Vec<Vec<ops::Range<u64>>>,
    /// Whether holes are left out.
    has_holes: bool,
}

/// Concatenated buffers.
struct Buffers<'b, 'c> {
    first: &'b mut [u8],
    behind: slice::IterMut<'b, &'c mut [u8]>,
}

impl<'b> Buffers<'b, '_> {
    /// Takes `count` bytes from the front, buffer by buffer. Passes each part with the number of bytes taken before it.
    fn take(&mut self, count: u64, mut each: impl FnMut(u64, &'b mut [u8])) {
        let mut done = 0;
        while done < count {
            let first = std::mem::take(&mut self.first);
            if first.is_empty() {
                let Some(next) = self.behind.next() else { return };
                self.first = next;
                continue;
            }
            let (part, rest) = first.split_at_mut((first.len() as u64).min(count - done) as usize);
            self.first = rest;
            let length = part.len() as u64;
            each(done, part);
            done += length;
        }
    }
}
