//! Arrays as objects with two keys, which they are on DAOS: `daos_obj_open` accepts their ids, too.
//!
//! The distribution key 0 holds a single value. For the type ARRAY it describes how the array was created; for other types a program may store
//! anything there. It is an entry of the container's own object. The distribution key `n + 1` holds the cells of chunk `n` as records. The
//! attribute key is always "0". The chunk size of an array of type ARRAY is that of its value. For other types it is that of the handle that
//! this process opened last, or that of the value if there is none.

use isotach_object::{Anchor, Cell, ObjectId, Page, PageBuilder, Update, extents_of};

use crate::{
    abi::{constants::*, errors::*, stored::files::directory_key},
    containers::own,
    objects::{
        Object,
        arrays::{Array, WITH_METADATA},
        records::{Fetched, Records, last_end},
        requests::{AkeyRequest, ONLY_AKEY},
        type_number,
    },
    runtime::error::{Der, Result, invalid, refuse},
    transactions::scope::Scope,
};

/// The first bytes of the value that describes how an array was created.
const MAGIC: u64 = 0xdaca_55a9_daca_55a9;

/// The sizes of a cell in bytes, and of a chunk in cells.
pub(crate) type Sizes = (u64, u64);

/// The key, in the container's own object, of the value under distribution key 0.
pub(crate) fn metadata_key(id: ObjectId) -> [u8; 17] {
    directory_key(b'a', (id.hi(), id.lo()))
}

/// The array of such a key.
pub(crate) fn array_of(key: &[u8]) -> Option<ObjectId> {
    let (hi, lo) = key.strip_prefix(b"a")?.split_first_chunk::<8>()?;
    ObjectId::from_halves(u64::from_le_bytes(*hi), u64::from_le_bytes(lo.try_into().ok()?)).ok()
}

/// The value that describes how an array was created.
pub(crate) fn metadata((cell_size, chunk_size): Sizes) -> [u8; 24] {
    let mut value = [0; 24];
    value[..8].copy_from_slice(&MAGIC.to_le_bytes());
    value[8..16].copy_from_slice(&cell_size.to_le_bytes());
    value[16..].copy_from_slice(&chunk_size.to_le_bytes());
    value
}

/// The sizes in such a value; `None` for any other value.
pub(crate) fn sizes_in(value: &[u8]) -> Option<Sizes> {
    let value: &[u8; 24] = value.try_into().ok()?;
    let number = |at: usize| value[at..].first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
    let (magic, cell_size, chunk_size) = (number(0)?, number(8)?, number(16)?);
    (magic == MAGIC && cell_size.checked_mul(chunk_size)? > 0).then_some((cell_size, chunk_size))
}

/// Removes an array and its value.
pub(crate) fn destroy(scope: &Scope, id: ObjectId) -> Result<()> {
    let key = metadata_key(id);
    let metadata = Update::Remove { cell: Cell::kv(own()?, &key) };
    scope.update(&[Update::Destroy { object: id }, metadata])
}

/// The content of a distribution key.
enum Under<'k> {
    Metadata(Cell<'k>),
    Cells(Records<'k>),
}

/// An array, and the key of its metadata.
pub(crate) struct ArrayKeys<'o> {
    object: &'o Object,
    scope: &'o Scope,
    key: [u8; 17],
}

fn other_kind<T>() -> Result<T> {
    refuse(
        DER_MISMATCH,
        "under distribution key 0 of an array lies a single value, under the others lie records",
    )
}

fn check_akey(akey: &[u8]) -> Result<()> {
    match akey == ONLY_AKEY {
        true => Ok(()),
        false => refuse(DER_NOSYS, "an attribute key other than \"0\" of an array"),
    }
}

/// Whether an update requires that the cell exists, or that it does not.
fn condition(flags: u64, part: &AkeyRequest<'_>) -> Option<bool> {
    let flags = if flags & DAOS_COND_PER_AKEY != 0 { flags | part.flags } else { flags };
    match flags {
        _ if flags & (DAOS_COND_DKEY_INSERT | DAOS_COND_AKEY_INSERT) != 0 => Some(false),
        _ if flags & (DAOS_COND_DKEY_UPDATE | DAOS_COND_AKEY_UPDATE) != 0 => Some(true),
        _ => None,
    }
}

impl<'o> ArrayKeys<'o> {
    pub(crate) fn of(object: &'o Object, scope: &'o Scope) -> Self {
        Self { object, scope, key: metadata_key(object.id) }
    }

    fn metadata_cell(&self) -> Result<Cell<'_>> {
        Ok(Cell::kv(own()?, &self.key))
    }

    /// Bytes of a cell and cells of a chunk: those of the creation for the type ARRAY, for others those of the last open.
    fn sizes(&self) -> Result<Sizes> {
        let Object { container, id, .. } = self.object;
        let of_opener = Array::opened_last(container, *id).map(|array| (array.cell_size, array.chunk_size));
        if let Some(sizes) = of_opener.filter(|_| type_number(*id) != WITH_METADATA) {
            return Ok(sizes);
        }
        let cell = self.metadata_cell()?;
        // It may have been created in the same transaction.
        let waiting = self.scope.own(|own| own.value(&cell))?;
        let stored = waiting.map_or_else(|| self.scope.get(cell), Ok)?;
        if let Some(sizes) = stored.and_then(|value| sizes_in(&value)) {
            return Ok(sizes);
        }
        let unknown = "cells by distribution key of an array whose chunk size nobody here knows";
        of_opener.map_or_else(|| refuse(DER_NOSYS, unknown), Ok)
    }

    fn under(&self, dkey: &[u8]) -> Result<Under<'_>> {
        let Ok(number) = dkey.try_into().map(u64::from_le_bytes) else {
            return invalid(&format!("a key of {} bytes where they are integers of 8", dkey.len()));
        };
        let Some(chunk) = number.checked_sub(1) else { return Ok(Under::Metadata(self.metadata_cell()?)) };
        let (size, most) = self.sizes()?;
        match chunk.checked_mul(size * most) {
            Some(base) => Ok(Under::Cells(Records { cell: Cell::array(self.object.id), base, size, most })),
            None => invalid("a distribution key of an array that is beyond all cells"),
        }
    }

    fn has(&self, under: &Under<'_>) -> Result<bool> {
        match under {
            Under::Metadata(cell) => Ok(self.scope.size(*cell)?.is_some()),
            Under::Cells(records) => Ok(records.outermost(self.scope, false)?.is_some()),
        }
    }

    /// As [`ArrayKeys::has`]; for the metadata, after the waiting updates of the same transaction.
    fn will_have(&self, under: &Under<'_>) -> Result<bool> {
        let waiting = match under {
            Under::Metadata(cell) => self.scope.own(|own| own.exists(cell))?,
            Under::Cells(_) => None,
        };
        waiting.map_or_else(|| self.has(under), Ok)
    }

    /// Whether the array has metadata or cells.
    pub(crate) fn has_any(&self) -> Result<bool> {
        let cells = Records::of(Cell::array(self.object.id), 1);
        Ok(self.will_have(&Under::Metadata(self.metadata_cell()?))? || self.has(&Under::Cells(cells))?)
    }

    /// What `act` finds of the cells of a chunk; `None` under the key of the metadata.
    pub(crate) fn with_cells<T>(
        &self,
        dkey: &[u8],
        akey: &[u8],
        act: impl FnOnce(&Records<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        check_akey(akey)?;
        match self.under(dkey)? {
            Under::Metadata(_) => Ok(None),
            Under::Cells(records) => act(&records).map(Some),
        }
    }

    /// See `daos_obj_fetch`.
    pub(crate) fn fetch(&self, flags: u64, dkey: &[u8], parts: &[AkeyRequest<'_>]) -> Result<Vec<Fetched>> {
        // The offsets of the cells depend on the chunk size, which must not change before they are read.
        self.scope.consistent_read(|scope| {
            let keys = ArrayKeys::of(self.object, scope);
            let under = keys.under(dkey)?;
            parts.iter().map(|part| keys.fetch_part(flags, &under, part)).collect()
        })
    }

    fn fetch_part(&self, flags: u64, under: &Under<'_>, part: &AkeyRequest<'_>) -> Result<Fetched> {
        check_akey(part.akey)?;
        let flags = if flags & DAOS_COND_PER_AKEY != 0 { flags | part.flags } else { flags };
        if flags & (DAOS_COND_DKEY_FETCH | DAOS_COND_AKEY_FETCH) != 0 && !self.has(under)? {
            return Err(Der(DER_NONEXIST));
        }
        match (under, &part.ranges) {
            (Under::Metadata(cell), None) => {
                let value = self.scope.get(*cell)?;
                Ok(value.map_or_else(Fetched::default, |value| Fetched::value(value, part.capacity)))
            }
            (Under::Cells(records), Some(ranges)) => records.fetch(self.scope, ranges, part.capacity),
            _ => other_kind(),
        }
    }

    /// See `daos_obj_update`.
    pub(crate) fn update(&self, flags: u64, dkey: &[u8], parts: &[(AkeyRequest<'_>, Vec<u8>)]) -> Result<()> {
        let conditions: Vec<bool> = parts.iter().filter_map(|(part, _)| condition(flags, part)).collect();
        self.scope.atomic(|scope| {
            let keys = ArrayKeys::of(self.object, scope);
            let under = keys.under(dkey)?;
            let exists = if conditions.is_empty() { false } else { keys.will_have(&under)? };
            match conditions.iter().find(|wanted| **wanted != exists) {
                Some(true) => Err(Der(DER_NONEXIST)),
                Some(false) => Err(Der(DER_EXIST)),
                None => keys.update_parts(&under, parts),
            }
        })
    }

    fn update_parts(&self, under: &Under<'_>, parts: &[(AkeyRequest<'_>, Vec<u8>)]) -> Result<()> {
        let mut updates = Vec::new();
        for (part, bytes) in parts {
            check_akey(part.akey)?;
            match (under, &part.ranges) {
                (Under::Metadata(cell), None) => updates.push(Update::Put { cell: *cell, value: bytes }),
                (Under::Cells(records), Some(ranges)) if part.size == 0 => {
                    records.punch(ranges, &mut updates)?;
                }
                (Under::Cells(records), Some(ranges)) => {
                    records.expect_size(part.size)?;
                    records.write(ranges, bytes, &mut updates)?;
                }
                _ => return other_kind(),
            }
        }
        self.scope.update(&updates)
    }

    /// See `daos_obj_punch_dkeys`, and `daos_obj_punch_akeys`.
    pub(crate) fn punch(&self, flags: u64, dkey: &[u8], akeys: &[&[u8]]) -> Result<()> {
        akeys.iter().try_for_each(|akey| check_akey(akey))?;
        self.scope.atomic(|scope| {
            let keys = ArrayKeys::of(self.object, scope);
            let under = keys.under(dkey)?;
            if flags & DAOS_COND_PUNCH != 0 && !keys.will_have(&under)? {
                return Err(Der(DER_NONEXIST));
            }
            scope.update(&[match under {
                Under::Metadata(cell) => Update::Remove { cell },
                Under::Cells(records) => {
                    let all = records.all();
                    Update::Punch { cell: records.cell, offset: all.start, length: all.end - all.start }
                }
            }])
        })
    }

    /// See `daos_obj_list_akey`.
    pub(crate) fn list_akeys(&self, dkey: &[u8]) -> Result<Page> {
        let mut page = PageBuilder::new();
        if self.has(&self.under(dkey)?)? {
            page.push(ONLY_AKEY, b"");
        }
        Ok(page.finish(None))
    }

    /// See `daos_obj_list_dkey`. An anchor is the number of the next key.
    pub(crate) fn list_dkeys(&self, anchor: &Anchor, limit: usize) -> Result<Page> {
        let from = anchor.as_bytes().try_into().map_or(0, u64::from_le_bytes);
        let mut page = PageBuilder::new();
        if from == 0 && self.has(&Under::Metadata(self.metadata_cell()?))? {
            page.push(&0_u64.to_le_bytes(), b"");
        }
        // One key more than fits is where the listing continues.
        let keys = self.chunk_keys(from.max(1), limit - page.len() + 1)?;
        let next = keys.get(limit - page.len()).map(|key| Anchor::from_bytes(key.to_le_bytes().to_vec()));
        keys.iter().take(limit - page.len()).for_each(|key| page.push(&key.to_le_bytes(), b""));
        Ok(page.finish(next))
    }

    /// The lowest or the highest keys that hold something, up to the first one with cells.
    pub(crate) fn outermost_dkeys(&self, is_last: bool) -> Result<Vec<u64>> {
        let metadata = self.has(&Under::Metadata(self.metadata_cell()?))?.then_some(0);
        match is_last {
            true => Ok(self.last_chunk_key()?.into_iter().chain(metadata).collect()),
            false => Ok(metadata.into_iter().chain(self.chunk_keys(1, 1)?).collect()),
        }
    }

    /// The bytes of the array and of a chunk; `None` if there are no cells.
    fn extent(&self) -> Result<Option<(u64, u64)>> {
        let cell = Cell::array(self.object.id);
        let Some(size) = self.scope.size(cell)?.filter(|size| *size > 0) else { return Ok(None) };
        match self.sizes() {
            Ok((cell_size, chunk_size)) => Ok(Some((size, cell_size * chunk_size))),
            // The chunk size does not matter for an array without cells.
            Err(_) if !self.has(&Under::Cells(Records::of(cell, 1)))? => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The first keys with cells from a key on, at most `most`.
    fn chunk_keys(&self, from: u64, most: usize) -> Result<Vec<u64>> {
        let cell = Cell::array(self.object.id);
        let Some((size, chunk)) = self.extent()? else { return Ok(Vec::new()) };
        let mut keys = Vec::new();
        let mut start = (from - 1).saturating_mul(chunk);
        // The search starts with as many bytes as hold `most` chunks, and doubles while it finds fewer.
        let mut length = chunk.saturating_mul(most as u64);
        while start < size {
            let within = length.min(size - start);
            for extent in self.scope.read(&[cell], |state| extents_of(state, cell, start, within))? {
                let first = (extent.start / chunk + 1).max(keys.last().map_or(0, |last| last + 1));
                keys.extend((first..=(extent.end - 1) / chunk + 1).take(most - keys.len()));
                if keys.len() == most {
                    return Ok(keys);
                }
            }
            (start, length) = (start.saturating_add(length), length.saturating_mul(2));
        }
        Ok(keys)
    }

    fn last_chunk_key(&self) -> Result<Option<u64>> {
        let cell = Cell::array(self.object.id);
        let Some((size, chunk)) = self.extent()? else { return Ok(None) };
        let end = self.scope.read(&[cell], |state| last_end(state, cell, size))?;
        Ok(end.checked_sub(1).map(|last| last / chunk + 1))
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use isotach_object::{ObjectClass, ObjectType};

    use super::*;
    use crate::testing::{container, now};

    const CHUNK: u64 = 10;

    #[test]
    fn pages_and_ends_of_keys_are_those_of_the_chunks_with_cells() {
        for seed in 0..200_u64 {
            let (container, _, _) = container();
            let id = ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, seed);
            let object = Object { container: Arc::clone(&container), id, mode: DAOS_OO_RW };
            let key = metadata_key(id);
            let metadata = metadata((1, CHUNK));
            let mut updates = vec![Update::Put { cell: Cell::kv(own().unwrap(), &key), value: &metadata }];
            let (mut expected, mut number) = (BTreeSet::from([0]), seed);
            let data = [1; 35];
            for _ in 0..seed % 12 {
                number =
                    number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (offset, length) = ((number >> 33) % 3000, (number >> 50) as usize % 35 + 1);
                updates.push(Update::Write { cell: Cell::array(id), offset, data: &data[..length] });
                expected
                    .extend((offset / CHUNK..=(offset + length as u64 - 1) / CHUNK).map(|chunk| chunk + 1));
            }
            // Holes of whole chunks, also at the end.
            for first in [100, 250] {
                updates.push(Update::Punch {
                    cell: Cell::array(id),
                    offset: first * CHUNK,
                    length: 60 * CHUNK,
                });
                expected.retain(|key| !(first + 1..=first + 60).contains(key));
            }
            container.update(&updates).unwrap();
            let scope = now(&container);
            let keys = ArrayKeys::of(&object, &scope);
            let (mut found, mut anchor) = (Vec::new(), Some(Anchor::start()));
            while let Some(from) = anchor {
                let page = keys.list_dkeys(&from, 1 + seed as usize % 4).unwrap();
                found.extend(page.keys().map(|key| u64::from_le_bytes(key.try_into().unwrap())));
                anchor = page.next().cloned();
            }
            assert_eq!(found, Vec::from_iter(expected.clone()), "seed {seed}");
            let chunks = || expected.iter().copied().filter(|key| *key > 0);
            let lowest = Vec::from_iter([0].into_iter().chain(chunks().next()));
            let highest = Vec::from_iter(chunks().next_back().into_iter().chain([0]));
            assert_eq!(keys.outermost_dkeys(false).unwrap(), lowest, "seed {seed}");
            assert_eq!(keys.outermost_dkeys(true).unwrap(), highest, "seed {seed}");
        }
    }
}
