//! Building, describing and removing the index of a dataset.

use std::sync::Arc;

use isotach_hdf5_types::Datatype;
use isotach_object::Container;

use super::{
    indexing::{Indexing, datatype_of},
    records::Settings,
};
use crate::{
    Error, Object, Result,
    chunk::{Key, State, Target, place_of},
    grid::Grid,
    layout::value_index,
    parallel,
    query::{Column, member_text},
    records::{Chunk, Form},
    session::Session,
    store::stored_bytes,
};

/// What is indexed of a dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexOptions {
    /// Besides the zone map, which is the least and the greatest number of each chunk, where each number is: a query of few elements in
    /// mixed data then reads a small part of each chunk. This takes about as much space as the numbers.
    pub has_bins: bool,
    /// The members that are indexed, each with the names of those that hold it, the outermost first; an empty path is the element itself. With
    /// none, all numbers are.
    pub members: Vec<Vec<String>>,
}

/// The index of a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexInfo {
    /// What is indexed.
    pub options: IndexOptions,
    /// How many chunks are stored.
    pub chunks: u64,
    /// How many of them have an index that fits.
    pub indexed: u64,
    /// How many can have none: they are very small, or were changed in place.
    pub without: u64,
}

/// A stored chunk of a dataset, as it is now.
struct Stored {
    key: Key,
    place: Vec<u64>,
    chunk: Arc<Chunk>,
    container: Arc<dyn Container>,
    /// Whether its bytes are those of its array.
    is_array: bool,
}

impl Object {
    /// Indexes the numbers of a dataset: the chunks that have no index that fits, and from then on each chunk that is stored. A commit makes
    /// the index visible with the chunks.
    ///
    /// # Errors
    /// `InvalidInput` for a dataset without numbers, or for a member that is not there or is no number; `Unsupported` while several ranks have
    /// the file open, or for a filter that is not known; `ReadOnly`, `Corrupt`, `Object`.
    pub fn build_index(&self, options: &IndexOptions) -> Result<IndexInfo> {
        self.check_alone()?;
        let _shared = self.file().shared();
        let header = self.header()?;
        let data = self.data_of(&header)?;
        let datatype = self.readable_type(&header)?;
        let members = self.members(options, &datatype)?;
        let grid = Grid::of(data)?;
        let target = Target::new(self.number(), data, &grid);
        let store = &self.file().store;
        self.settle_settings(options.has_bins, members)?;
        self.file().read_again(|| {
            let (indexing, mut chunks) = {
                let mut session = self.file().session();
                session.spill_whole(store, Some(self.number()))?;
                let indexing = session.indexing(self.number())?;
                let indexing = indexing
                    .ok_or_else(|| Error::corrupt("damaged settings of its index", self.to_string()))?;
                let mut chunks = self.stored_chunks(&mut session, &grid)?;
                let fits: Vec<bool> = self.fitting(&mut session, &indexing, &grid, &chunks)?;
                let mut fits = fits.into_iter();
                chunks.retain(|chunk| !fits.next().unwrap_or(false) && chunk.is_array);
                (indexing, chunks)
            };
            let bytes = chunks.len() * target.length;
            let records = parallel::map(chunks.len(), bytes, |at, _| {
                let Stored { key, place, chunk, container, .. } = &chunks[at];
                let stored = stored_bytes(&**container, self.number(), key, chunk)?;
                indexing.record(
                    &|bytes| store.write_array(bytes),
                    &grid,
                    place,
                    &target.decoded(stored, chunk)?,
                    chunk,
                )
            })?;
            let mut session = self.file().session();
            for (chunk, record) in chunks.drain(..).zip(records) {
                if let Some(record) = record {
                    session.put_index_entry(self.number(), chunk.key, record)?;
                }
            }
            Ok(())
        })?;
        let info = self.index_info(&grid)?;
        info.ok_or_else(|| Error::corrupt("damaged settings of its index", self.to_string()))
    }

    /// The index of a dataset, if it has one.
    ///
    /// # Errors
    /// `Corrupt`, `Object`.
    pub fn index(&self) -> Result<Option<IndexInfo>> {
        let header = self.header()?;
        self.index_info(&Grid::of(self.data_of(&header)?)?)
    }

    /// Removes the index of a dataset. Returns whether there was one.
    ///
    /// # Errors
    /// `ReadOnly`, `Unsupported` while several ranks have the file open, `Object`.
    pub fn remove_index(&self) -> Result<bool> {
        self.check_alone()?;
        let mut session = self.file().session();
        let is_there = !session.list(value_index(self.number()))?.is_empty();
        session.remove_index(self.number())?;
        Ok(is_there)
    }

    /// Refuses a file that is open for reading, or by several ranks: each would make an index of its own.
    fn check_alone(&self) -> Result<()> {
        if self.file().is_shared() {
            let what = format!("changing an index while several ranks have {} open", self.file().name());
            return Err(Error::unsupported(what));
        }
        self.file().check_writable()
    }

    /// The datatype of a dataset that is queried or indexed.
    pub(crate) fn readable_type(&self, header: &crate::Header) -> Result<Datatype> {
        datatype_of(header).ok_or_else(|| Error::corrupt("a datatype that cannot be read", self.to_string()))
    }

    /// The members to index.
    fn members(&self, options: &IndexOptions, datatype: &Datatype) -> Result<Vec<Vec<String>>> {
        if options.members.is_empty() {
            let members = Column::numbers(datatype);
            let what = || format!("an index of {self}, whose elements are {datatype}");
            return if members.is_empty() { Err(Error::invalid(what(), "numbers")) } else { Ok(members) };
        }
        for member in &options.members {
            let column = Column::find(datatype, member)?;
            if column.number.is_none() {
                let what = format!("an index of {}, which is {}", member_text(member), column.datatype);
                return Err(Error::invalid(what, "a member of numbers"));
            }
        }
        Ok(options.members.clone())
    }

    /// Sets what is indexed, and removes what was indexed otherwise.
    fn settle_settings(&self, has_bins: bool, members: Vec<Vec<String>>) -> Result<()> {
        let number = self.file().store.number()?;
        let mut session = self.file().session();
        if let Some(indexing) = session.indexing(self.number())?
            && indexing.settings.has_bins == has_bins
            && indexing.settings.members == members
        {
            return Ok(());
        }
        session.remove_index(self.number())?;
        session.put_index_settings(self.number(), &Settings { number, has_bins, members });
        Ok(())
    }

    fn index_info(&self, grid: &Grid) -> Result<Option<IndexInfo>> {
        let mut session = self.file().session();
        session.spill_whole(&self.file().store, Some(self.number()))?;
        let Some(indexing) = session.indexing(self.number())? else { return Ok(None) };
        let chunks = self.stored_chunks(&mut session, grid)?;
        let fits = self.fitting(&mut session, &indexing, grid, &chunks)?;
        let Settings { has_bins, members, .. } = indexing.settings.clone();
        Ok(Some(IndexInfo {
            options: IndexOptions { has_bins, members },
            chunks: chunks.len() as u64,
            indexed: fits.into_iter().filter(|fits| *fits).count() as u64,
            without: chunks.iter().filter(|chunk| !chunk.is_array).count() as u64,
        }))
    }

    /// The chunks of the extent that are stored.
    fn stored_chunks(&self, session: &mut Session, grid: &Grid) -> Result<Vec<Stored>> {
        let number = self.number();
        let keys = self.stored_keys(session)?;
        let base = session.base_chunks(number, &keys.iter().collect::<Vec<_>>())?;
        let mut found = Vec::with_capacity(keys.len());
        for (key, base) in keys.into_iter().zip(base) {
            let Some(place) = place_of(&key, grid.rank()).filter(|place| grid.contains(place)) else {
                continue;
            };
            let (chunk, container, has_patches) =
                match session.chunks.get(&(number, key.clone())).map(|dirty| &dirty.state) {
                    Some(State::Stored(chunk)) => {
                        (Some(chunk.clone()), self.file().store.container.clone(), false)
                    }
                    Some(State::Patches(_)) => (base, session.base()?, true),
                    Some(State::Whole(_) | State::Removed) => continue,
                    None => (base, session.base()?, false),
                };
            let Some(chunk) = chunk else { continue };
            let is_array = matches!(chunk.form, Form::Array(_)) && !has_patches;
            found.push(Stored { key, place, chunk, container, is_array });
        }
        Ok(found)
    }

    /// Of each chunk, whether it has an entry that fits.
    fn fitting(
        &self,
        session: &mut Session,
        indexing: &Indexing,
        grid: &Grid,
        chunks: &[Stored],
    ) -> Result<Vec<bool>> {
        let entries = session.list(value_index(self.number()))?;
        let fits = |chunk: &Stored| {
            let at = entries.binary_search_by(|(key, _)| key.cmp(&chunk.key)).ok();
            let record = at.and_then(|at| entries.get(at)).map(|(_, record)| record);
            match (record, &chunk.chunk.form) {
                (Some(record), Form::Array(array)) if chunk.is_array => {
                    indexing.fitting(record, *array, &grid.part_within(&chunk.place)).is_some()
                }
                _ => false,
            }
        };
        Ok(chunks.iter().map(fits).collect())
    }
}
