//! Counting the visible and the replaced fields of a collocation, in one pass through its index and one through its
//! history.
//!
//! Looking up each history entry in the index would cost one lookup per entry. Instead both objects are read in order,
//! side by side, and joined by the hashes of their elements: 128 bits under keys that are drawn anew for each process,
//! so that no two elements collide by chance or by design.
//!
//! What must stay true: index and history are of one epoch. If the epoch changed while they were read, or an entry
//! needs a closer look, there is no tally and the caller uses the slow path.

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState},
    thread,
};

use isotach_object::{Anchor, ObjectId, Page};

use crate::{
    Listed, Location, Result,
    catalogue::{
        collocation::Collocation, dataset_reader::DatasetReader, history::parse_history,
        layout::element_of_kv_key,
    },
    retrieve::element_filter::ElementFilter,
    store::Inner,
};

/// The most fields of a collocation that are held in memory, about 100 bytes each. Larger collocations have no tally.
const FIELDS_MAX: usize = 2_000_000;
/// How often the pass is tried while others write.
const TRIES: usize = 2;

/// Counts of fields and of their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Fields that readers see.
    pub fields: u64,
    /// Their bytes, those in adopted files included.
    pub bytes: u64,
    /// Replaced and deleted fields that still take space.
    pub replaced_fields: u64,
    /// Their bytes.
    pub replaced_bytes: u64,
    /// The fields, visible or replaced, whose bytes are in adopted files.
    pub adopted_fields: u64,
    /// Their bytes.
    pub adopted_bytes: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, listed: &Listed) {
        let location = listed.location();
        self.count(location.length, listed.is_replaced(), location.is_adopted());
    }

    /// Counts a field.
    pub(crate) fn count(&mut self, length: u64, is_replaced: bool, is_adopted: bool) {
        let (fields, bytes) = match is_replaced {
            true => (&mut self.replaced_fields, &mut self.replaced_bytes),
            false => (&mut self.fields, &mut self.bytes),
        };
        *fields += 1;
        *bytes += length;
        if is_adopted {
            self.adopted_fields += 1;
            self.adopted_bytes += length;
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            fields: self.fields + other.fields,
            bytes: self.bytes + other.bytes,
            replaced_fields: self.replaced_fields + other.replaced_fields,
            replaced_bytes: self.replaced_bytes + other.replaced_bytes,
            adopted_fields: self.adopted_fields + other.adopted_fields,
            adopted_bytes: self.adopted_bytes + other.adopted_bytes,
        }
    }
}

/// Runs two read-only operations in parallel.
pub(crate) fn beside<A, B: Send>(
    first: impl FnOnce() -> Result<A>,
    second: impl Fn() -> Result<B> + Sync,
) -> Result<(A, B)> {
    thread::scope(|scope| {
        let other = scope.spawn(&second);
        let first = first()?;
        // If the other thread panicked, this one repeats its work and finds the cause.
        let other = other.join().unwrap_or_else(|_| second())?;
        Ok((first, other))
    })
}

/// The counts of a collocation.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    /// Fields that a newer one has replaced according to the index. Wiped and unpublished fields are not counted.
    pub(crate) replaced_fields: u64,
    /// Their bytes in arrays of the dataset itself.
    pub(crate) replaced_bytes: u64,
}

/// The hash of each index record, by the hash of its element.
type Index = HashMap<u128, u64, BuildHasherDefault<Hashed>>;

/// A hasher for keys that are hashes already.
#[derive(Debug, Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, hash: u128) {
        self.0 = hash as u64;
    }
}

/// How elements and records are hashed.
#[derive(Debug, Default)]
struct Keys([RandomState; 2]);

impl Keys {
    fn element(&self, element: &str) -> u128 {
        let [low, high] = self.0.each_ref().map(|keys| keys.hash_one(element));
        u128::from(low) | u128::from(high) << 64
    }

    fn record(&self, record: &[u8]) -> u64 {
        self.0[0].hash_one(record)
    }
}

/// An entry of the history.
struct Entry {
    element: u128,
    record: u64,
    length: u64,
    is_adopted: bool,
    /// Whether the bytes are in an array of the dataset itself.
    is_own: bool,
}

/// What is counted, and how.
struct Pass<'a> {
    inner: &'a Inner,
    reader: &'a DatasetReader,
    collocation: &'a Collocation,
    filters: &'a [ElementFilter],
    keys: Keys,
}

/// Counts the fields that match one of the filters, or all fields if there is no filter. `None` if a tally is not
/// possible.
pub(crate) fn tally(
    inner: &Inner,
    reader: &DatasetReader,
    collocation: &Collocation,
    filters: &[ElementFilter],
) -> Result<Option<Tally>> {
    let pass = Pass { inner, reader, collocation, filters, keys: Keys::default() };
    for _ in 0..TRIES {
        let epoch = reader.dataset.catalogue.epoch()?;
        let (index, history) = (|| pass.read_index(), || pass.read_history());
        let first = reader.page(inner, collocation.objects.index, &Anchor::start())?;
        // A thread costs more than a page.
        let (index, history) = match first.next() {
            None => (index()?, history()?),
            Some(_) => beside(history, index).map(|(history, index)| (index, history))?,
        };
        let (Some(index), Some(history)) = (index, history) else { return Ok(None) };
        if reader.dataset.catalogue.epoch()? == epoch {
            return Ok(Some(join(&index, &history)));
        }
    }
    Ok(None)
}

fn join(index: &Index, history: &[Entry]) -> Tally {
    let mut tally = Tally::default();
    for entry in history {
        let newest = index.get(&entry.element);
        let is_replaced = newest != Some(&entry.record);
        tally.counts.count(entry.length, is_replaced, entry.is_adopted);
        if is_replaced && newest.is_some() {
            tally.replaced_fields += 1;
            tally.replaced_bytes += if entry.is_own { entry.length } else { 0 };
        }
    }
    tally
}

fn wants(filters: &mut [ElementFilter], element: &str) -> bool {
    filters.is_empty() || filters.iter_mut().any(|filter| filter.wants(element))
}

impl Pass<'_> {
    /// Reads an object page by page, until `take` returns `None`.
    fn for_pages(&self, object: ObjectId, mut take: impl FnMut(&Page) -> Option<()>) -> Result<bool> {
        let mut next = Some(Anchor::start());
        while let Some(anchor) = next {
            let page = self.reader.page(self.inner, object, &anchor)?;
            if take(&page).is_none() {
                return Ok(false);
            }
            next = page.next().cloned();
        }
        Ok(true)
    }

    fn read_index(&self) -> Result<Option<Index>> {
        let (names, mut filters) = (self.collocation.names.len(), self.filters.to_vec());
        let mut index = Index::default();
        let is_whole = self.for_pages(self.collocation.objects.index, |page| {
            for (key, record) in page.iter() {
                let element = element_of_kv_key(key, names)?;
                if wants(&mut filters, element) {
                    index.insert(self.keys.element(element), self.keys.record(record));
                }
            }
            (index.len() <= FIELDS_MAX).then_some(())
        })?;
        Ok(is_whole.then_some(index))
    }

    fn read_history(&self) -> Result<Option<Vec<Entry>>> {
        let (uri, mut filters) = (&self.reader.dataset.uri, self.filters.to_vec());
        let mut history = Vec::new();
        let is_whole = self.for_pages(self.collocation.objects.history, |page| {
            for (key, value) in page.iter() {
                let (id, record, element) = parse_history(key, value)?;
                if !wants(&mut filters, element) {
                    continue;
                }
                let location = Location::decode(record, uri)?;
                let is_own = match location.object_in(uri) {
                    // The array was indexed again under another key. Finding all its entries needs the slow path.
                    Some(object) if object != id => return None,
                    own => own.is_some(),
                };
                let (element, record) = (self.keys.element(element), self.keys.record(record));
                let (length, is_adopted) = (location.length, location.is_adopted());
                history.push(Entry { element, record, length, is_adopted, is_own });
            }
            (history.len() <= FIELDS_MAX).then_some(())
        })?;
        Ok(is_whole.then_some(history))
    }
}
