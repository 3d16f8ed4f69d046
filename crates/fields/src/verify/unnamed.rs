//! Unnamed arrays: arrays of a dataset that no entry names. An engine knows no fields, so it does not find them.
//!
//! Unflushed fields leave unnamed arrays, of writers that still run, too, and so do killed wipes, flushes during a wipe,
//! and a catalogue in a container of its own that has lost the end of its log.

use std::{collections::HashMap, fs::File, io::Write, path::Path};

use isotach_object::{Anchor, ArrayRead, Cell, Error as ObjectError, ObjectId, ObjectType, Unnamed};

use super::report::ListedDataset;
use crate::{
    Location, Result,
    catalogue::{collocation::Collocation, dataset_reader::DatasetReader, history::parse_history},
};

/// The number of arrays in one call.
const PAGE: usize = 1024;
/// The bytes that are copied at a time.
const PIECE: usize = 4 << 20;
/// The file with the bytes of a dataset's unnamed arrays, one after another.
const COPY: &str = "unnamed.fields";

/// Arrays of a dataset that no entry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnnamedFields {
    /// Their container.
    pub place: String,
    /// Their number.
    pub fields: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl ListedDataset {
    /// Counts the unnamed arrays. `None` if there are none, or the dataset was wiped meanwhile.
    pub(super) fn unnamed(&self) -> Result<Option<UnnamedFields>> {
        let Some(reader) = self.inner.reader(&self.root, &self.entry)? else { return Ok(None) };
        let mut unnamed = UnnamedFields { place: reader.dataset.uri.to_string(), fields: 0, bytes: 0 };
        for (_, size) in self.arrays(&reader)? {
            unnamed.fields += 1;
            unnamed.bytes += size;
        }
        Ok((unnamed.fields > 0).then_some(unnamed))
    }

    /// Copies the unnamed arrays to a file in a folder, and returns its place. `None` if there are none, or if they lost
    /// no entry, because entries and arrays have the same log.
    pub(super) fn copy_unnamed(&self, folder: &Path) -> Result<Option<Unnamed>> {
        if self.entry.record.store.is_empty() {
            return Ok(None);
        }
        let Some(reader) = self.inner.reader(&self.root, &self.entry)? else { return Ok(None) };
        let arrays = self.arrays(&reader)?;
        if arrays.is_empty() {
            return Ok(None);
        }
        let path = folder.join(COPY);
        let failed = |error| ObjectError::from_io(error, format!("write {}", path.display()));
        let mut file = File::create_new(&path).map_err(failed)?;
        let (mut buffer, mut length) = (Vec::new(), 0);
        for (object, size) in arrays {
            length += size;
            let mut offset = 0;
            while offset < size {
                buffer.resize(usize::try_from(size - offset).unwrap_or(PIECE).min(PIECE), 0);
                let mut read =
                    [ArrayRead { cell: Cell::array(object), offset, buffer: &mut buffer, filled: 0 }];
                reader.dataset.store.read_many(&mut read)?;
                offset += buffer.len() as u64;
                file.write_all(&buffer).map_err(failed)?;
            }
        }
        file.sync_all().and_then(|()| File::open(folder)?.sync_all()).map_err(failed)?;
        Ok(Some(Unnamed { place: path.display().to_string(), from: 0, length }))
    }

    /// The unnamed arrays with their sizes. They are listed before the entries are read, so that fields flushed
    /// meanwhile are named.
    fn arrays(&self, reader: &DatasetReader) -> Result<Vec<(ObjectId, u64)>> {
        let store = &reader.dataset.store;
        let mut there = Ids::default();
        let mut next = Some(Anchor::start());
        while let Some(anchor) = next {
            let (objects, after) = self.inner.with_handles(|| Ok(store.list_objects(&anchor, PAGE)?))?;
            objects
                .into_iter()
                .filter(|object| object.otype() == ObjectType::Array)
                .for_each(|id| there.add(id));
            next = after;
        }
        for collocation in &reader.collocations(&self.inner)?.list {
            self.take_named(reader, collocation, &mut there)?;
        }
        let mut arrays = Vec::new();
        for objects in there.list().chunks(PAGE) {
            let cells: Vec<_> = objects.iter().map(|object| Cell::array(*object)).collect();
            let sizes = self.inner.with_handles(|| Ok(store.size_many(&cells)?))?;
            // An array without a size was purged meanwhile.
            arrays.extend(objects.iter().zip(sizes).filter_map(|(object, size)| Some((*object, size?))));
        }
        Ok(arrays)
    }

    /// Removes the arrays that the entries of a collocation name.
    fn take_named(&self, reader: &DatasetReader, collocation: &Collocation, there: &mut Ids) -> Result<()> {
        let own = &reader.dataset.uri;
        let mut take = |record: &[u8]| {
            let object = Location::decode(record, own).and_then(|location| location.object_in(own));
            object.into_iter().for_each(|object| there.remove(object));
        };
        reader.for_pages(&self.inner, collocation.objects.index, |page| {
            page.iter().for_each(|(_, record)| take(record));
            Ok(())
        })?;
        reader.for_pages(&self.inner, collocation.objects.history, |page| {
            let records = page.iter().filter_map(|(key, value)| Some(parse_history(key, value)?.1));
            records.for_each(&mut take);
            Ok(())
        })
    }
}

/// A set of array ids. The ids of a dataset are dense, so it uses one bit for each.
#[derive(Debug, Default)]
struct Ids(HashMap<(u64, u64), u64>);

impl Ids {
    fn add(&mut self, id: ObjectId) {
        let (hi, lo) = (id.hi(), id.lo());
        *self.0.entry((hi, lo / 64)).or_default() |= 1 << (lo % 64);
    }

    fn remove(&mut self, id: ObjectId) {
        let (hi, lo) = (id.hi(), id.lo());
        if let Some(bits) = self.0.get_mut(&(hi, lo / 64)) {
            *bits &= !(1 << (lo % 64));
        }
    }

    /// All of them, in their order.
    fn list(&self) -> Vec<ObjectId> {
        let of = |(&(hi, at), &bits): (&(u64, u64), &u64)| {
            (0..64)
                .filter(move |bit| bits >> bit & 1 == 1)
                .filter_map(move |bit| ObjectId::from_halves(hi, at * 64 + bit).ok())
        };
        let mut all: Vec<ObjectId> = self.0.iter().flat_map(of).collect();
        all.sort();
        all
    }
}
