//! Counting the fields of a collocation and those that were replaced, in one pass through its index and one through its history.
//!
//! To ask the index for each entry of the history takes as long as a look-up each. Here both are read in order, side by side,
//! and joined by the hashes of their elements: 128 bits under keys that are drawn anew for each process, so that no two
//! elements meet by chance or by design.
//!
//! What must stay true: index and history are of one epoch. If it changed while they were read, or there is something that
//! only a closer look can tell, there is no tally, and the caller looks closer.

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState},
    thread,
};

use isotach_object::{Anchor, ObjectId, Page};

use crate::{
    Counts, Location, Place, Result,
    archive::batch::parse_history,
    catalogue::{
        layout::element_of_kv_key,
        reader::{Collocation, DatasetReader},
    },
    retrieve::list::ElementFilter,
    store::Inner,
};

/// Fields of a collocation that are held in memory, some 100 bytes each. Of more there is no tally.
const FIELDS_MAX: usize = 2_000_000;
/// How often it is tried while others write.
const TRIES: usize = 2;

/// Does two things at once, neither of which changes anything.
pub(crate) fn beside<A, B: Send>(
    first: impl FnOnce() -> Result<A>,
    second: impl Fn() -> Result<B> + Sync,
) -> Result<(A, B)> {
    thread::scope(|scope| {
        let other = scope.spawn(&second);
        let first = first()?;
        // Where the other thread panicked this one says why, or finds out.
        let other = other.join().unwrap_or_else(|_| second())?;
        Ok((first, other))
    })
}

/// What there is in a collocation.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) counts: Counts,
    /// Fields that another has replaced, by what the index says: not those that were wiped or are about to come.
    pub(crate) replaced_fields: u64,
    /// Their bytes in arrays of the dataset's own.
    pub(crate) replaced_bytes: u64,
}

/// The hash of what an index says of an element, by that of the element.
type Index = HashMap<u128, u64, BuildHasherDefault<Hashed>>;

/// Keys that are hashes need no other.
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
    /// Whether the bytes are in an array of the dataset's own.
    is_own: bool,
}

/// Counts the fields that one of the filters wants; all if there is none. `None` if that cannot be told like this.
pub(crate) fn tally(
    inner: &Inner,
    reader: &DatasetReader,
    collocation: &Collocation,
    filters: &[ElementFilter],
) -> Result<Option<Tally>> {
    let keys = Keys::default();
    for _ in 0..TRIES {
        let epoch = reader.dataset.catalogue.epoch()?;
        let index = || read_index(inner, reader, collocation, filters, &keys);
        let history = || read_history(inner, reader, collocation, filters, &keys);
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

/// Goes through an object page by page, as long as `take` finds what it can tell.
fn for_pages(
    inner: &Inner,
    reader: &DatasetReader,
    object: ObjectId,
    mut take: impl FnMut(&Page) -> Option<()>,
) -> Result<bool> {
    let mut next = Some(Anchor::start());
    while let Some(anchor) = next {
        let page = reader.page(inner, object, &anchor)?;
        if take(&page).is_none() {
            return Ok(false);
        }
        next = page.next().cloned();
    }
    Ok(true)
}

fn wants(filters: &mut [ElementFilter], element: &str) -> bool {
    filters.is_empty() || filters.iter_mut().any(|filter| filter.wants(element))
}

fn read_index(
    inner: &Inner,
    reader: &DatasetReader,
    collocation: &Collocation,
    filters: &[ElementFilter],
    keys: &Keys,
) -> Result<Option<Index>> {
    let (names, mut filters) = (collocation.names.len(), filters.to_vec());
    let mut index = Index::default();
    let is_whole = for_pages(inner, reader, collocation.objects.index, |page| {
        for (key, record) in page.iter() {
            let element = element_of_kv_key(key, names)?;
            if wants(&mut filters, element) {
                index.insert(keys.element(element), keys.record(record));
            }
        }
        (index.len() <= FIELDS_MAX).then_some(())
    })?;
    Ok(is_whole.then_some(index))
}

fn read_history(
    inner: &Inner,
    reader: &DatasetReader,
    collocation: &Collocation,
    filters: &[ElementFilter],
    keys: &Keys,
) -> Result<Option<Vec<Entry>>> {
    let mut filters = filters.to_vec();
    let mut history = Vec::new();
    let is_whole = for_pages(inner, reader, collocation.objects.history, |page| {
        for (key, value) in page.iter() {
            let (id, record, element) = parse_history(key, value)?;
            if !wants(&mut filters, element) {
                continue;
            }
            let location = Location::decode(record, &reader.dataset.uri)?;
            let is_own = match &location.place {
                Place::Object { container, object } if *container == reader.dataset.uri => {
                    // An array that was entered once more under another key: who else has it takes a look at all of them.
                    (*object == id).then_some(true)?
                }
                _ => false,
            };
            let (element, record) = (keys.element(element), keys.record(record));
            let (length, is_adopted) = (location.length, location.is_adopted());
            history.push(Entry { element, record, length, is_adopted, is_own });
        }
        (history.len() <= FIELDS_MAX).then_some(())
    })?;
    Ok(is_whole.then_some(history))
}
