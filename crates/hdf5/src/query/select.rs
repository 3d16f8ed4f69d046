//! Answers a query of a dataset, chunk by chunk: by its index where that is enough, and otherwise by reading the chunk.

use std::{
    collections::{HashMap, hash_map::Entry as Slot},
    ops::Range,
    slice,
    sync::Arc,
};

use isotach_hdf5_types::StoredCreation;
use isotach_object::{ArrayRead, Cell, Container};

use super::{
    bits::Bits,
    bound::{Bound, Formula, Source},
    condition::Condition,
    number::KeyRange,
    selection::{InChunk, Rows, Selection, Work},
};
use crate::{
    Data, Error, Object, Result,
    chunk::{State, Target, key_of, place_of},
    grid::{Grid, Piece},
    layout::{array, value_index},
    parallel,
    records::{Chunk, Form},
    value_index::{Directory, Entry, Indexing, Summary},
};

/// How many chunks are looked at in one go.
const CHUNKS: usize = 1 << 16;
/// Reading bins pays if they have at most one in so many of the elements of a chunk without filters.
const SHARE: usize = 4;

/// A chunk, and what its index says.
struct Job {
    /// Its number in the grid.
    chunk: u64,
    known: Known,
}

enum Known {
    /// It was never written.
    Fill,
    /// An index that fits, and the container that holds its bins.
    Entry(Entry, Arc<dyn Container>),
    Nothing,
}

/// How the answer of a chunk was found.
#[derive(Clone, Copy)]
enum Way {
    Skipped,
    Bins,
    Scan,
}

/// A query of a dataset.
struct Query<'q> {
    object: &'q Object,
    bound: &'q Bound,
    target: Target<'q>,
    grid: &'q Grid,
    /// Of each column, where it is in the index.
    indexed: Vec<Option<usize>>,
}

impl Object {
    /// Finds the elements of a dataset that pass a condition. Conditions on attributes are asked of the dataset.
    ///
    /// # Errors
    /// `InvalidInput` for a member that there is not, a test that is none for its type, a condition on names, or another object than a
    /// dataset; `Unsupported` for a virtual dataset, or one with a filter that is not known; `Corrupt`, `Object`.
    pub fn select(&self, condition: &Condition) -> Result<Selection> {
        let header = self.header()?;
        self.data_of(&header)?;
        let datatype = self.readable_type(&header)?;
        let bound = Bound::strictly(condition, &datatype, &mut |condition| match condition {
            Condition::Name(_) => {
                let what = format!("condition \"{condition}\" on the elements of a dataset");
                Err(Error::invalid(what, "value, a member, or @ and the name of an attribute"))
            }
            _ => self.has_attribute_like(condition),
        })?;
        self.select_bound(&bound)
    }

    /// The elements that pass a condition on this dataset's datatype.
    pub(super) fn select_bound(&self, bound: &Bound) -> Result<Selection> {
        let _shared = self.file().shared();
        let header = self.header()?;
        let data = self.data_of(&header)?;
        if StoredCreation::parse(&header.creation).is_ok_and(|creation| creation.is_virtual()) {
            let what = format!("a query of {self}, which is virtual: query its sources");
            return Err(Error::unsupported(what));
        }
        let grid = Grid::of(data)?;
        let is_fill_found = fill_passes(bound, data, self)?;
        // What was never written is not looked at: where it passes, the elements that do not are searched instead.
        let sought = if is_fill_found { bound.negated() } else { bound.clone() };
        let target = Target::new(self.number(), data, &grid);
        let query = Query { object: self, bound: &sought, target, grid: &grid, indexed: Vec::new() };
        let chunks = query.chunks()?;
        let (mut runs, mut work) = (Vec::new(), Work::default());
        for some in chunks.chunks(CHUNKS) {
            let (found, done) = self.file().read_again(|| query.part(some))?;
            runs.extend(found);
            work.by_bins += done.by_bins;
            work.scanned += done.scanned;
        }
        work.skipped = grid.chunk_count() - work.by_bins - work.scanned;
        let selection = Selection::new(data.space.dims(), runs, work);
        Ok(if is_fill_found { selection.complement(grid.count) } else { selection })
    }
}

/// Whether an element that was never written passes.
fn fill_passes(bound: &Bound, data: &Data, object: &Object) -> Result<bool> {
    let element = data.fill.clone().unwrap_or_else(|| vec![0; data.element as usize]);
    let place = |_| format!("the fill value of {object}");
    let source = Source { file: object.file(), place: &place };
    Ok(!bound.scan(&bound.formula, &element, &source)?.is_empty())
}

impl Query<'_> {
    /// The chunks to look at: those that were written.
    fn chunks(&self) -> Result<Vec<u64>> {
        let keys = self.object.stored_keys(&mut self.object.file().session())?;
        let places = keys.iter().filter_map(|key| place_of(key, self.grid.rank()));
        Ok(places.filter(|place| self.grid.contains(place)).map(|place| self.grid.number(&place)).collect())
    }

    /// The elements in some chunks of the grid.
    fn part(&self, chunks: &[u64]) -> Result<(Vec<crate::Run>, Work)> {
        let (jobs, indexing) = self.jobs(chunks)?;
        let columns = self.bound.columns.iter();
        let indexed = columns.map(|column| indexing.as_ref()?.column(&column.member)).collect();
        let query = Query { indexed, ..*self };
        let rows = Rows::of(self.grid);
        let reduced: Vec<Formula> = jobs.iter().map(|job| query.reduced(job)).collect();
        let undecided = reduced.iter().filter(|formula| !matches!(formula, Formula::Constant(_))).count();
        let found = parallel::map(jobs.len(), undecided * self.target.length, |at, buffer| {
            let (found, way) = query.one(&jobs[at], &reduced[at], buffer)?;
            Ok((rows.runs(&self.grid.coordinates(jobs[at].chunk), &found), way))
        })?;
        let mut work = Work::default();
        let mut runs = Vec::new();
        for (some, way) in found {
            runs.extend(some);
            match way {
                Way::Skipped => {}
                Way::Bins => work.by_bins += 1,
                Way::Scan => work.scanned += 1,
            }
        }
        Ok((runs, work))
    }

    /// The chunks, with what is known of each.
    fn jobs(&self, chunks: &[u64]) -> Result<(Vec<Job>, Option<Arc<Indexing>>)> {
        let number = self.object.number();
        let places: Vec<Vec<u64>> = chunks.iter().map(|chunk| self.grid.coordinates(*chunk)).collect();
        let keys: Vec<_> = places.iter().map(|place| key_of(place)).collect();
        let mut session = self.object.file().session();
        let indexing = match self.bound.columns.iter().any(|column| column.number.is_some()) {
            true => session.indexing(number)?,
            false => None,
        };
        let stored = session.base_chunks(number, &keys.iter().collect::<Vec<_>>())?;
        let entries = match &indexing {
            Some(_) => session.list(value_index(number))?,
            None => Arc::default(),
        };
        let own = self.object.file().store.container.clone();
        let base = if stored.iter().any(Option::is_some) { session.base()? } else { own.clone() };
        let jobs = chunks.iter().copied().zip(places).zip(keys.into_iter().zip(stored)).map(
            |((chunk, place), (key, stored))| {
                let dirty = session.chunks.get(&(number, key.clone()));
                let (chunk_entry, container): (Option<&Arc<Chunk>>, _) = match dirty.map(|dirty| &dirty.state)
                {
                    Some(State::Stored(chunk)) => (Some(chunk), &own),
                    Some(State::Removed) => return Job { chunk, known: Known::Fill },
                    Some(State::Whole(_) | State::Patches(_)) => (None, &own),
                    None if stored.is_none() => return Job { chunk, known: Known::Fill },
                    None => (stored.as_ref(), &base),
                };
                let at = entries.binary_search_by(|(other, _)| other.cmp(&key)).ok();
                let record = at.and_then(|at| entries.get(at)).map(|(_, record)| record);
                let known = match (&indexing, record, chunk_entry.map(|chunk| &chunk.form)) {
                    (Some(indexing), Some(record), Some(Form::Array(array))) => {
                        // An entry that this process has made names bins that no version has.
                        let is_here = session.changes.contains(value_index(number), &key);
                        let bins = if is_here { &own } else { container };
                        match indexing.fitting(record, *array, &self.grid.part_within(&place)) {
                            Some(entry) => Known::Entry(entry, bins.clone()),
                            None => Known::Nothing,
                        }
                    }
                    _ => Known::Nothing,
                };
                Job { chunk, known }
            },
        );
        Ok((jobs.collect(), indexing))
    }

    fn summary<'e>(&self, entry: &'e Entry, column: usize) -> Option<&'e Summary> {
        entry.summaries.get((*self.indexed.get(column)?)?)
    }

    /// What is left to be found out of a chunk.
    fn reduced(&self, job: &Job) -> Formula {
        match &job.known {
            Known::Fill => Formula::Constant(false),
            Known::Entry(entry, _) => {
                self.bound.formula.reduced(&|column, keys| self.summary(entry, column)?.decide(keys))
            }
            Known::Nothing => self.bound.formula.clone(),
        }
    }

    fn one(&self, job: &Job, formula: &Formula, buffer: &mut Vec<u8>) -> Result<(InChunk, Way)> {
        match formula {
            Formula::Constant(true) => return Ok((InChunk::All, Way::Skipped)),
            Formula::Constant(false) => return Ok((InChunk::None, Way::Skipped)),
            _ => {}
        }
        if let Known::Entry(entry, container) = &job.known
            && let Some(bits) = self.by_bins(formula, entry, &**container)?
        {
            return Ok((InChunk::Some(bits), Way::Bins));
        }
        buffer.resize(self.target.length, 0);
        let piece = Piece { chunk: job.chunk, offset: 0, length: self.target.length, packed: 0 };
        self.object.read_pieces(self.target, self.grid, &[piece], buffer)?;
        let place = |at| {
            let place = self.grid.element_in(job.chunk, at as u64);
            format!("element {place:?} of {}", self.object)
        };
        let source = Source { file: self.object.file(), place: &place };
        Ok((InChunk::Some(self.bound.scan(formula, buffer, &source)?), Way::Scan))
    }

    /// The elements of a chunk that pass, by the bins of its members. `None` if there are none, or if reading the chunk is less work.
    fn by_bins(&self, formula: &Formula, entry: &Entry, container: &dyn Container) -> Result<Option<Bits>> {
        let count = self.target.length / self.bound.element;
        let (mut directories, mut plans, mut touched) = (HashMap::new(), Vec::new(), 0);
        for leaf in formula.leaves() {
            let Formula::Number { column, keys } = leaf else { return Ok(None) };
            let Some(at) = self.summary(entry, *column).and_then(|summary| summary.bins) else {
                return Ok(None);
            };
            let directory = match directories.entry(at.array) {
                Slot::Occupied(there) => there.into_mut(),
                // Damaged.
                Slot::Vacant(_) if at.head as usize > Directory::length(count) => return Ok(None),
                Slot::Vacant(place) => {
                    let head = read(container, at.array, slice::from_ref(&(0..at.head as usize)))?;
                    let head = head.and_then(|mut parts| parts.pop());
                    let Some(directory) = head.and_then(|head| Directory::decode(&head)) else {
                        return Ok(None);
                    };
                    place.insert(directory)
                }
            };
            let plan = directory.plan(*keys);
            touched += directory.touched(&plan);
            plans.push((*column, *keys, at.array, plan));
        }
        if self.target.data.filters.is_empty() && touched > count / SHARE {
            return Ok(None);
        }
        let (mut plans, mut is_missing) = (plans.into_iter(), false);
        let mut of_leaf = |column: usize, keys: KeyRange| -> Result<Bits> {
            let mut found = Bits::none(count);
            // Leaves come in the order in which they were planned.
            let Some((planned, _, bins, plan)) = plans.next() else { return Ok(found) };
            let Some(directory) = directories.get(&bins).filter(|_| planned == column) else {
                is_missing = true;
                return Ok(found);
            };
            let mut parts = |ranges: &[Range<usize>]| read(container, bins, ranges);
            is_missing |= !directory.find(keys, &plan, &mut parts, &mut found)?;
            Ok(found)
        };
        let bits = formula.bits(count, &mut |leaf| match leaf {
            Formula::Number { column, keys } => of_leaf(*column, *keys),
            _ => Ok(Bits::none(count)),
        })?;
        Ok((!is_missing).then_some(bits))
    }
}

/// Ranges of the bytes of an array. `None` if it is gone or short: programs that know no indexes may have swept it.
fn read(container: &dyn Container, number: u64, ranges: &[Range<usize>]) -> Result<Option<Vec<Vec<u8>>>> {
    let cell = Cell::array(array(number));
    let mut parts: Vec<Vec<u8>> = ranges.iter().map(|range| vec![0; range.len()]).collect();
    let mut reads: Vec<ArrayRead<'_>> = ranges
        .iter()
        .zip(&mut parts)
        .map(|(range, buffer)| ArrayRead { cell, offset: range.start as u64, buffer, filled: 0 })
        .collect();
    container.read_many(&mut reads)?;
    let is_whole = reads.iter().all(|read| read.filled == read.buffer.len());
    Ok(is_whole.then_some(parts))
}
