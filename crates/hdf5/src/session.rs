//! [`Session`]: one version of a file, and what this process has changed since.
//!
//! Reads see the changes over the base. The base is a handle on the past at the epoch of the version, where the engine has snapshots, and
//! otherwise the live container. It is opened with the first read, so that a program that only writes never opens one.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use isotach_object::{Anchor, Cell, Container, Epoch, Error as ObjectError, ObjectId};

use crate::{
    Error, Header, Result,
    blobs::Blobs,
    changes::{Change, Changes},
    chunk::{Dirty, Key},
    layout::{HEADER, is_map, is_metadata, is_value_index, metadata, name_in},
    records::Chunk,
    value_index::Indexing,
};

/// The object and the key of an entry.
pub(crate) type Entry = (ObjectId, Vec<u8>);

/// The sorted entries of an object.
pub(crate) type Listing = Vec<(Vec<u8>, Vec<u8>)>;

/// How long a version is certainly kept since it was there: less than on any engine.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// How many entries of listings are kept.
const LISTED_MAX: usize = 1 << 17;
/// How many entries of chunk indexes are kept.
const ENTRIES_MAX: usize = 1 << 16;

/// One version of a file, and what this process has changed since.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) live: Arc<dyn Container>,
    base: Option<Arc<dyn Container>>,
    /// The base is the live container, which others change.
    is_live: bool,
    /// When it was last known that the engine has the version.
    looked: Instant,
    /// The live container is one of the past.
    is_past: bool,
    pub(crate) version: Epoch,
    /// The file was truncated: the base counts as empty, and the commit removes what is there.
    pub(crate) is_reset: bool,
    pub(crate) changes: Changes,
    pub(crate) chunks: BTreeMap<(u64, Key), Dirty>,
    /// Arrays that a part of a transaction names, which keeps them from sweeps.
    pub(crate) prepared: HashSet<ObjectId>,
    /// Objects that no commit has named.
    pub(crate) new: HashSet<u64>,
    /// Committed objects that were removed.
    pub(crate) removed: HashSet<u64>,
    /// In a file of several ranks: objects without links that one of them had open at the last commit.
    pub(crate) unlinked: BTreeSet<u64>,
    /// Arrays that were written and that nothing names any more, and no commit ever did.
    pub(crate) unused: Vec<ObjectId>,
    /// What the commit destroys.
    pub(crate) destroyed: Vec<ObjectId>,
    /// Chunks in place that no entry names any more.
    pub(crate) in_place_left: Vec<(ObjectId, Key)>,
    /// Several ranks have the file open together.
    pub(crate) is_shared: bool,
    /// The entries of maps that this rank has changed since the last exchange.
    pub(crate) fresh_entries: BTreeSet<Entry>,
    /// This is one of the ranks that do not commit.
    pub(crate) is_follower: bool,
    /// Bytes of changed chunks in memory.
    pub(crate) memory: usize,
    /// A commit failed and may count, or it counts and may be lost.
    pub(crate) is_uncertain: bool,
    pub(crate) blobs: Blobs,
    /// Bytes of attributes and blobs that were stored or removed, and what the chunks of a removed object were.
    pub(crate) stored: i128,
    /// The counter of stored bytes in the commit, if that changes it.
    pub(crate) counted: Option<u64>,
    /// The next number in the order of creation of links (`l`) and attributes (`a`).
    orders: BTreeMap<(u64, u8), u64>,
    headers: BTreeMap<u64, Arc<Header>>,
    listed: HashMap<ObjectId, Arc<Listing>>,
    listed_count: usize,
    /// The entry of the base that was read last: programs ask several questions about one attribute.
    last: Option<(Entry, Option<Vec<u8>>)>,
    entries: HashMap<(u64, Key), Option<Arc<Chunk>>>,
    pub(crate) indexings: HashMap<u64, Option<Arc<Indexing>>>,
}

impl Session {
    pub(crate) fn new(live: Arc<dyn Container>, is_reset: bool) -> Result<Self> {
        let version = live.epoch()?;
        Ok(Self {
            live,
            base: None,
            is_live: false,
            looked: Instant::now(),
            is_past: false,
            version,
            is_reset,
            changes: Changes::default(),
            chunks: BTreeMap::new(),
            prepared: HashSet::new(),
            new: HashSet::new(),
            removed: HashSet::new(),
            unlinked: BTreeSet::new(),
            unused: Vec::new(),
            destroyed: Vec::new(),
            in_place_left: Vec::new(),
            is_shared: false,
            fresh_entries: BTreeSet::new(),
            is_follower: false,
            memory: 0,
            is_uncertain: false,
            blobs: Blobs::default(),
            stored: 0,
            counted: None,
            orders: BTreeMap::new(),
            headers: BTreeMap::new(),
            listed: HashMap::new(),
            listed_count: 0,
            last: None,
            entries: HashMap::new(),
            indexings: HashMap::new(),
        })
    }

    /// Of a container of the past, which never changes.
    pub(crate) fn of_past(past: Arc<dyn Container>) -> Result<Self> {
        Ok(Self { is_past: true, ..Self::new(past, false)? })
    }

    /// The container at the version that is read.
    pub(crate) fn base(&mut self) -> Result<Arc<dyn Container>> {
        if let Some(base) = self.base.clone() {
            if !self.is_forgotten()? {
                return Ok(base);
            }
            self.rebase(self.live.epoch()?);
        }
        self.is_live = false;
        self.looked = Instant::now();
        if self.is_past {
            return Ok(self.live.clone());
        }
        let base = loop {
            let Some(snapshots) = self.live.facets().snapshots else { break self.use_live() };
            match snapshots.open_at(self.version) {
                Ok(base) => break base,
                // Others have written, and the engine retains only the present.
                Err(ObjectError::NotFound { .. }) => {
                    let now = self.live.epoch()?;
                    if now == self.version {
                        // Retained by nobody: the container is gone, or the engine keeps no past.
                        break self.use_live();
                    }
                    self.version = now;
                }
                Err(error) => return Err(error.into()),
            }
        };
        self.base = Some(base.clone());
        Ok(base)
    }

    /// Whether the engine has given up the version that is read. One without a history forgets versions that have no name after some
    /// seconds, also those that a handle shows.
    fn is_forgotten(&mut self) -> Result<bool> {
        let is_kept = self.is_past || self.is_live || self.live.capabilities().history;
        let Some(snapshots) = self.live.facets().snapshots else { return Ok(false) };
        if is_kept || self.looked.elapsed() < LOOK_AGAIN {
            return Ok(false);
        }
        match snapshots.open_at(self.version) {
            Ok(_) => {
                self.looked = Instant::now();
                Ok(false)
            }
            Err(ObjectError::NotFound { .. }) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    fn use_live(&mut self) -> Arc<dyn Container> {
        self.is_live = true;
        self.live.clone()
    }

    /// Forgets what was read, if it may be of a version that is gone: the base is the live container, and others have changed it, or the
    /// engine forgets versions. Then what failed is to be tried again.
    pub(crate) fn forget_stale(&mut self) -> Result<bool> {
        if self.is_live || (!self.is_past && !self.live.capabilities().history) {
            self.rebase(self.live.epoch()?);
            return Ok(true);
        }
        Ok(false)
    }

    /// Reads from `version` on. What was changed stays.
    pub(crate) fn rebase(&mut self, version: Epoch) {
        self.version = version;
        self.base = None;
        self.orders.clear();
        self.headers.clear();
        self.listed.clear();
        self.listed_count = 0;
        self.last = None;
        self.entries.clear();
        self.indexings.clear();
        self.blobs.forget();
    }

    /// Fails after a commit that may count or not.
    pub(crate) fn check_certain(&self) -> Result<()> {
        if !self.is_uncertain {
            return Ok(());
        }
        let what = format!("file in container {}", self.live.label());
        Err(Error::Object(ObjectError::Poisoned { what }))
    }

    pub(crate) fn has_changes(&self) -> bool {
        self.is_reset
            || self.is_uncertain
            || !self.changes.is_empty()
            || !self.chunks.is_empty()
            || !self.destroyed.is_empty()
            || self.blobs.has_changes()
    }

    /// The value of an entry.
    pub(crate) fn get(&mut self, object: ObjectId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        if let Some(change) = self.changes.get(object, key) {
            return Ok(change.value.clone());
        }
        self.base_entry(object, key)
    }

    /// The value of an entry of the base.
    pub(crate) fn base_entry(&mut self, object: ObjectId, key: &[u8]) -> Result<Option<Vec<u8>>> {
        if self.is_not_in_base(object) {
            return Ok(None);
        }
        if let Some(listing) = self.listed.get(&object) {
            let at = listing.binary_search_by(|(there, _)| there.as_slice().cmp(key));
            return Ok(at.ok().and_then(|at| listing.get(at)).map(|(_, value)| value.clone()));
        }
        let base = self.base()?;
        if let Some(((known, of), value)) = &self.last
            && *known == object
            && of == key
        {
            return Ok(value.clone());
        }
        let value = base.get_many(&[Cell::kv(object, key)])?.pop().flatten();
        if !self.is_live {
            self.last = Some(((object, key.to_vec()), value.clone()));
        }
        Ok(value)
    }

    /// Whether an object belongs to an HDF5 object that no commit has named.
    fn is_new(&self, object: ObjectId) -> bool {
        belongs_to_one(object) && self.new.contains(&object.lo())
    }

    fn is_not_in_base(&self, object: ObjectId) -> bool {
        let is_removed = || belongs_to_one(object) && self.removed.contains(&object.lo());
        self.is_reset || self.is_new(object) || is_removed()
    }

    pub(crate) fn put(&mut self, object: ObjectId, key: Vec<u8>, value: Vec<u8>) {
        if is_metadata(object) && key == HEADER {
            self.headers.remove(&object.lo());
        }
        self.changes.put(object, key, value);
    }

    /// Puts an entry that is not there: the commit fails if another process has put one. Where the base is what is there now, another
    /// process may have put it since the caller looked.
    pub(crate) fn put_new(&mut self, object: ObjectId, key: Vec<u8>, value: Vec<u8>) -> Result<()> {
        let is_there = self.base_entry(object, &key)?.is_some();
        let was_removed = self.changes.get(object, &key).is_some_and(|change| change.value.is_none());
        if is_there && !was_removed {
            let name = name_in(&key, "a change").unwrap_or_default();
            let what = format!("{name:?} in group {}, which another process created,", object.lo());
            return Err(Error::AlreadyExists { what });
        }
        let is_new = !is_there && !self.is_new(object) && !self.is_reset;
        self.changes.insert(object, key, Change { value: Some(value), is_new });
        Ok(())
    }

    pub(crate) fn remove(&mut self, object: ObjectId, key: &[u8]) {
        let is_new = |session: &Self| session.changes.get(object, key).is_some_and(|change| change.is_new);
        if self.is_new(object) || is_new(self) {
            self.changes.remove(object, key);
        } else {
            self.changes.insert(object, key.to_vec(), Change { value: None, is_new: false });
        }
    }

    /// Forgets every change of an object.
    pub(crate) fn forget(&mut self, object: ObjectId) {
        self.changes.forget(object);
        self.headers.remove(&object.lo());
        self.orders.retain(|(number, _), _| *number != object.lo());
    }

    /// All entries of an object, sorted by key.
    pub(crate) fn list(&mut self, object: ObjectId) -> Result<Arc<Listing>> {
        let base = self.base_listing(object)?;
        if self.changes.of(object).next().is_none() {
            return Ok(base);
        }
        let mut merged = Vec::with_capacity(base.len());
        let mut changed = self.changes.of(object).peekable();
        for (key, value) in base.iter() {
            while let Some((new, change)) = changed.next_if(|(new, _)| *new < key) {
                merged.extend(change.value.clone().map(|value| (new.clone(), value)));
            }
            match changed.next_if(|(new, _)| *new == key) {
                Some((_, change)) => merged.extend(change.value.clone().map(|value| (key.clone(), value))),
                None => merged.push((key.clone(), value.clone())),
            }
        }
        merged.extend(changed.filter_map(|(key, change)| Some((key.clone(), change.value.clone()?))));
        Ok(Arc::new(merged))
    }

    /// All entries of an object of the base, sorted by key.
    pub(crate) fn base_listing(&mut self, object: ObjectId) -> Result<Arc<Listing>> {
        if self.is_not_in_base(object) {
            return Ok(Arc::default());
        }
        if let Some(listing) = self.listed.get(&object) {
            return Ok(listing.clone());
        }
        let listing = Arc::new(list(&*self.base()?, object)?);
        if self.listed_count + listing.len() > LISTED_MAX {
            self.listed.clear();
            self.listed_count = 0;
        }
        self.listed_count += listing.len() + 1;
        self.listed.insert(object, listing.clone());
        Ok(listing)
    }

    /// The next number in an order of creation, which is then taken.
    pub(crate) fn next_order(&mut self, number: u64, prefix: u8) -> Result<u64> {
        let next = match self.orders.get(&(number, prefix)) {
            Some(next) => *next,
            None => {
                let listing = self.list(metadata(number))?;
                let orders = listing.iter().filter(|(key, _)| key.first() == Some(&prefix));
                let last = orders.filter_map(|(key, value)| crate::records::order_of(key, value)).max();
                last.map_or(0, |last| last.saturating_add(1))
            }
        };
        self.orders.insert((number, prefix), next.saturating_add(1));
        Ok(next)
    }

    /// The header of an object.
    pub(crate) fn header(&mut self, number: u64) -> Result<Option<Arc<Header>>> {
        if let Some(header) = self.headers.get(&number) {
            return Ok(Some(header.clone()));
        }
        let Some(record) = self.get(metadata(number), HEADER)? else { return Ok(None) };
        let header = Arc::new(Header::decode(&record, format_args!("object {number}"))?);
        self.headers.insert(number, header.clone());
        Ok(Some(header))
    }

    pub(crate) fn put_header(&mut self, number: u64, header: Header) {
        self.put(metadata(number), HEADER.to_vec(), header.encode());
        self.headers.insert(number, Arc::new(header));
    }

    /// The entries of chunks in the base.
    pub(crate) fn base_chunks(&mut self, number: u64, keys: &[&Key]) -> Result<Vec<Option<Arc<Chunk>>>> {
        if self.is_reset || self.new.contains(&number) || self.removed.contains(&number) {
            return Ok(vec![None; keys.len()]);
        }
        let index = crate::layout::index(number);
        let known = |session: &Self, key: &Key| session.entries.get(&(number, key.clone())).cloned();
        let mut found: Vec<Option<Option<Arc<Chunk>>>> = keys.iter().map(|key| known(self, key)).collect();
        let missing: Vec<usize> = (0..keys.len()).filter(|at| found[*at].is_none()).collect();
        if !missing.is_empty() {
            let cells: Vec<_> = missing.iter().map(|at| Cell::kv(index, keys[*at])).collect();
            let records = self.base()?.get_many(&cells)?;
            if self.entries.len() + records.len() > ENTRIES_MAX {
                self.entries.clear();
            }
            for (at, record) in missing.into_iter().zip(records) {
                let decode = |record: Vec<u8>| Chunk::decode(&record, format_args!("dataset {number}"));
                let chunk = record.map(decode).transpose()?.map(Arc::new);
                self.entries.insert((number, keys[at].clone()), chunk.clone());
                found[at] = Some(chunk);
            }
        }
        Ok(found.into_iter().map(Option::flatten).collect())
    }

    pub(crate) fn base_chunk(&mut self, number: u64, key: &Key) -> Result<Option<Arc<Chunk>>> {
        Ok(self.base_chunks(number, &[key])?.pop().flatten())
    }
}

/// Whether it holds entries of the HDF5 object with its number.
fn belongs_to_one(object: ObjectId) -> bool {
    is_metadata(object) || is_value_index(object) || is_map(object)
}

/// All entries of an object, sorted by key.
pub(crate) fn list(container: &dyn Container, object: ObjectId) -> Result<Listing> {
    const PAGE: usize = 1 << 16;
    let (mut listing, mut next) = (Vec::new(), Some(Anchor::start()));
    while let Some(anchor) = next {
        let page = container.list_entries(object, &anchor, PAGE, true)?;
        listing.extend(page.iter().map(|(key, value)| (key.to_vec(), value.to_vec())));
        next = page.next().cloned();
    }
    if !container.capabilities().ordered_listing {
        listing.sort();
    }
    Ok(listing)
}
