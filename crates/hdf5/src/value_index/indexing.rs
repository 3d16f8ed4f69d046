//! [`Indexing`]: what is indexed of a dataset, and the entries of its chunks while they are stored.

use isotach_hdf5_types::{Datatype, Stored};
use isotach_object::ObjectId;

use super::{
    SETTINGS_KEY, bins,
    records::{BinsAt, Entry, Settings, Summary},
};
use crate::{
    Header, Result,
    grid::Grid,
    layout::{array, is_value_index},
    query::{Bits, Column, Number, Place},
    records::{Chunk, Form},
};

/// What is indexed of a dataset.
#[derive(Debug)]
pub(crate) struct Indexing {
    pub(crate) settings: Settings,
    columns: Vec<(Place, Number)>,
}

/// The datatype of a dataset as its elements are in the file. `None` if it cannot be read.
pub(crate) fn datatype_of(header: &Header) -> Option<Datatype> {
    let datatype = Stored::parse(&header.datatype).ok()?.datatype().ok()?.file_form().ok()?;
    (Some(datatype.size) == header.data.as_ref().map(|data| data.element)).then_some(datatype)
}

impl Indexing {
    /// `None` if a member is not there, or is no number.
    pub(crate) fn new(settings: Settings, datatype: &Datatype) -> Option<Self> {
        let element = datatype.size as usize;
        let column = |member: &Vec<String>| {
            let column = Column::find(datatype, member).ok()?;
            Some((Place { offset: column.offset, element }, column.number?))
        };
        let columns = settings.members.iter().map(column).collect::<Option<_>>()?;
        Some(Self { settings, columns })
    }

    /// Where the summary of a member is in entries.
    pub(crate) fn column(&self, member: &[String]) -> Option<usize> {
        self.settings.members.iter().position(|other| other == member)
    }

    /// The entry of a record, if it is of this array, and describes as much of a chunk as the extent has of it.
    pub(crate) fn fitting(&self, record: &[u8], array: u64, within: &[u64]) -> Option<Entry> {
        let entry = Entry::decode(record)?;
        let is_covered = entry.covered.is_empty()
            || (entry.covered.len() == within.len()
                && entry.covered.iter().zip(within).all(|(covered, length)| length <= covered));
        let fits = entry.array == array
            && entry.settings == self.settings.number
            && entry.summaries.len() == self.columns.len();
        (fits && is_covered).then_some(entry)
    }

    /// The record of a chunk that was stored, from its bytes as readers see them. `None` if it has no array. `write` writes an array and returns
    /// its number.
    pub(crate) fn record(
        &self,
        write: &dyn Fn(&[u8]) -> Result<u64>,
        grid: &Grid,
        place: &[u64],
        whole: &[u8],
        chunk: &Chunk,
    ) -> Result<Option<Vec<u8>>> {
        let Form::Array(array) = chunk.form else { return Ok(None) };
        let is_whole = grid.bytes_within(place) == whole.len() as u64;
        let covered = if is_whole { Vec::new() } else { grid.part_within(place) };
        let outside = (!is_whole).then(|| beyond(grid, place, whole.len()));
        let mut summaries = Vec::with_capacity(self.columns.len());
        for (place, number) in &self.columns {
            summaries.push(self.summary(write, number, *place, whole, outside.as_ref())?);
        }
        let entry = Entry { settings: self.settings.number, array, covered, summaries };
        Ok(Some(entry.encode()))
    }

    fn summary(
        &self,
        write: &dyn Fn(&[u8]) -> Result<u64>,
        number: &Number,
        place: Place,
        whole: &[u8],
        outside: Option<&Bits>,
    ) -> Result<Summary> {
        let all = number.all();
        let (mut summary, mut keys, mut at) = (Summary::default(), Vec::new(), 0);
        if outside.is_none()
            && !self.settings.has_bins
            && let Some((keys, nans)) = number.ends(whole, place)
        {
            return Ok(Summary { nans, keys, bins: None });
        }
        number.each_key(whole, place, |key| {
            if outside.is_none_or(|outside| !outside.contains(at)) {
                summary.add(all, key);
                if self.settings.has_bins && all.contains(key) {
                    keys.push((key, at as u32));
                }
            }
            at += 1;
        });
        if !keys.is_empty() {
            let (bytes, head) = bins::build(keys, at);
            summary.bins = Some(BinsAt { array: write(&bytes)?, head: head as u32 });
        }
        Ok(summary)
    }
}

/// The elements of a chunk that are not in the extent.
fn beyond(grid: &Grid, place: &[u64], length: usize) -> Bits {
    let element = grid.element.max(1) as usize;
    let mut outside = Bits::none(length / element);
    for range in grid.ranges_beyond(place) {
        (range.start as usize / element..range.end as usize / element).for_each(|at| outside.insert(at));
    }
    outside
}

/// The arrays of bins that an entry of an object names.
pub(crate) fn bins_in(object: ObjectId, key: &[u8], record: &[u8]) -> Vec<ObjectId> {
    if !is_value_index(object) || key == SETTINGS_KEY {
        return Vec::new();
    }
    Entry::arrays(record).into_iter().map(array).collect()
}
