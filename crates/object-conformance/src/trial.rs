//! One run of one case: the fixture, the containers of the case, and helpers of the cases.

use std::{
    fmt::Debug,
    ops::Deref,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use isotach_needs::{Need, skip};

use super::{FaultSet, Faults, Fixture, process::Roles};
use isotach_object::{
    Anchor, Array, ArrayRead, Capabilities, Cell, Container, ContainerFacets, ContainerOptions, Engine,
    KeyValue, Label, ObjectClass, ObjectId, ObjectType, Page, Pool, PoolUri, Result, Update, extents_of,
};

/// How long a case waits for another process before it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// One run of one case, with a container of its own, which is made when it is first used.
pub struct Trial<'f> {
    pub(super) fixture: &'f dyn Fixture,
    /// The path of the test through which the test binary runs a role of a case.
    pub(super) child_test: &'static str,
    pub(super) roles: Roles,
    own: OnceLock<OwnContainer>,
}

/// A container of its own in a pool of its own, with a handle.
pub struct OwnContainer {
    pub(super) uri: PoolUri,
    pub(super) pool: Arc<dyn Pool>,
    pub(super) container: Arc<dyn Container>,
}

impl Deref for Trial<'_> {
    type Target = OwnContainer;

    fn deref(&self) -> &OwnContainer {
        self.own.get_or_init(|| self.place())
    }
}

impl<'f> Trial<'f> {
    pub(super) fn new(fixture: &'f dyn Fixture, child_test: &'static str, roles: Roles) -> Self {
        Self { fixture, child_test, roles, own: OnceLock::new() }
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        self.fixture.engine().capabilities()
    }

    /// Whether a case applies to this engine. If not, it is reported as skipped with the reason.
    pub(super) fn is_for(&self, engine: bool, why: &str) -> bool {
        if !engine {
            skip(Need::Capability, why);
        }
        engine
    }

    pub(super) fn has_transactions(&self) -> bool {
        self.is_for(self.capabilities().transactions, "the engine has no transactions")
    }

    /// The case's place, if its container has a facet; says that a case is skipped where the engine lacks it.
    pub(super) fn place_with(
        &self,
        facet: fn(&ContainerFacets<'_>) -> bool,
        name: &str,
    ) -> Option<&OwnContainer> {
        let has = facet(&self.container.facets());
        self.is_for(has, &format!("the engine has no {name}")).then_some(self)
    }

    pub(super) fn place_with_snapshots(&self) -> Option<&OwnContainer> {
        self.place_with(|facets| facets.snapshots.is_some(), "snapshots")
    }

    pub(super) fn place_with_staged_transactions(&self) -> Option<&OwnContainer> {
        self.place_with(|facets| facets.staged_transactions.is_some(), "staged transactions")
    }

    pub(super) fn place_with_prepared_transactions(&self) -> Option<&OwnContainer> {
        self.place_with(|facets| facets.prepared_transactions.is_some(), "prepared transactions")
    }

    pub(super) fn place_with_lent_reads(&self) -> Option<&OwnContainer> {
        self.place_with(|facets| facets.lent_reads.is_some(), "lent reads")
    }

    pub(super) fn pool(&self) -> (Arc<dyn Engine>, PoolUri, Arc<dyn Pool>) {
        let (engine, uri) = (self.fixture.engine(), self.fixture.fresh_pool());
        engine.create_pool(&uri).unwrap();
        let pool = engine.open_pool(&uri).unwrap();
        (engine, uri, pool)
    }

    /// Another place.
    pub(super) fn place(&self) -> OwnContainer {
        let (_, uri, pool) = self.pool();
        let container = create(&*pool, "case");
        OwnContainer { uri, pool, container }
    }

    /// A handle through a new engine value, as in a program that has just started.
    pub(super) fn reopened(&self) -> Arc<dyn Container> {
        self.try_reopened().unwrap()
    }

    pub(super) fn try_reopened(&self) -> Result<Arc<dyn Container>> {
        self.fixture.engine().open_pool(&self.uri)?.open_container(self.container.label())
    }

    /// The fault hooks, if the needed ones work. If not, the case is reported as skipped.
    pub(super) fn faults(&self, needed: fn(FaultSet) -> bool) -> Option<&dyn Faults> {
        let faults = self.fixture.faults().filter(|faults| needed(faults.set()));
        self.is_for(faults.is_some(), "the fixture has no such fault hook");
        faults
    }
}

impl OwnContainer {
    /// One more handle, in the same process.
    pub(super) fn another(&self) -> Arc<dyn Container> {
        self.pool.open_container(self.container.label()).unwrap()
    }

    /// Applies one update.
    pub(super) fn update(&self, update: Update<'_>) {
        self.container.update(&[update]).unwrap();
    }

    pub(super) fn flush(&self) {
        self.container.flush().unwrap();
    }

    pub(super) fn kv(&self, number: u64) -> KeyValue<'_> {
        kv(&self.container, number)
    }

    pub(super) fn array(&self, number: u64) -> Array<'_> {
        array(&self.container, number)
    }
}

/// The value, or the bytes by offset, under two keys of a general object.
#[derive(Debug, Clone, Copy)]
pub(super) struct General<'c> {
    container: &'c dyn Container,
    cell: Cell<'c>,
}

impl General<'_> {
    pub(super) fn put(&self, value: &[u8]) -> Result<()> {
        self.container.update(&[Update::Put { cell: self.cell, value }])
    }

    pub(super) fn get(&self) -> Result<Option<Vec<u8>>> {
        self.container.get_many(&[self.cell]).map(|mut values| values.pop().flatten())
    }

    pub(super) fn remove(&self) -> Result<()> {
        self.container.update(&[Update::Remove { cell: self.cell }])
    }

    pub(super) fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        self.container.update(&[Update::Write { cell: self.cell, offset, data }])
    }

    pub(super) fn read(&self, offset: u64, length: usize) -> Vec<u8> {
        read(self.container, self.cell, offset, length)
    }
}

/// The bytes of an array or of records, in a range.
pub(super) fn read(container: &dyn Container, cell: Cell<'_>, offset: u64, length: usize) -> Vec<u8> {
    let mut buffer = vec![0xee; length];
    let mut reads = [ArrayRead { cell, offset, buffer: &mut buffer, filled: 0 }];
    container.read_many(&mut reads).unwrap();
    let filled = reads[0].filled;
    buffer.truncate(filled);
    buffer
}

/// Creates and opens a container without contents.
pub(super) fn create(pool: &dyn Pool, name: &str) -> Arc<dyn Container> {
    pool.create_container(&label(name), &ContainerOptions::default()).unwrap();
    pool.open_container(&label(name)).unwrap()
}

pub(super) fn general<'c>(
    container: &'c Arc<dyn Container>,
    number: u64,
    dkey: &'c [u8],
    akey: &'c [u8],
) -> General<'c> {
    General { container: &**container, cell: Cell::general(general_id(number), dkey, akey) }
}

pub(super) fn kv(container: &Arc<dyn Container>, number: u64) -> KeyValue<'_> {
    KeyValue::new(&**container, kv_id(number)).unwrap()
}

pub(super) fn array(container: &Arc<dyn Container>, number: u64) -> Array<'_> {
    Array::new(&**container, array_id(number)).unwrap()
}

/// All bytes of an array.
pub(super) fn whole_array(container: &Arc<dyn Container>, number: u64) -> Vec<u8> {
    array(container, number).read(0, usize::MAX).unwrap()
}

/// A cell of the first key-value object.
pub(super) fn cell(key: &[u8]) -> Cell<'_> {
    Cell::kv(kv_id(1), key)
}

/// Puts an entry into it.
pub(super) fn put<'a>(key: &'a [u8], value: &'a [u8]) -> Update<'a> {
    Update::Put { cell: cell(key), value }
}

pub(super) fn kv_id(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, number)
}

pub(super) fn array_id(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::Array, ObjectClass::S1, 0, number)
}

pub(super) fn general_id(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::General, ObjectClass::SX, 0, number)
}

pub(super) fn label(text: &str) -> Label {
    text.parse().unwrap()
}

/// Asserts the extents of a cell.
pub(super) fn assert_written(
    container: &Arc<dyn Container>,
    cell: Cell<'_>,
    (offset, length): (u64, u64),
    expected: &[(u64, u64)],
) {
    let extents = extents_of(&**container, cell, offset, length).unwrap();
    let found: Vec<_> = extents.into_iter().map(|extent| (extent.start, extent.end)).collect();
    if container.facets().extents.is_some() {
        assert_eq!(found, expected);
        return;
    }
    let size = container.size_many(&[cell]).unwrap()[0].unwrap_or(0);
    let end = size.min(offset.saturating_add(length));
    let whole = (offset < end).then_some((offset, end));
    assert_eq!(found, Vec::from_iter(whole), "all up to the end counts as written");
}

/// Asserts that a call was refused with this code.
#[track_caller]
pub(super) fn refused<T: Debug>(result: Result<T>, code: &str) {
    match result {
        Err(error) => assert_eq!(error.code(), code, "{error}"),
        Ok(answer) => panic!("expected {code}, but it succeeded with {answer:?}"),
    }
}

/// All entries of a listing, page by page. Panics when a page is too long or its anchor does not advance.
pub(super) fn try_all_pages(
    mut page_at: impl FnMut(&Anchor) -> Result<Page>,
    limit: usize,
) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let owned = |(key, value): (&[u8], &[u8])| (key.to_vec(), value.to_vec());
    let page_at = |anchor: &Anchor| {
        page_at(anchor).map(|page| (page.iter().map(owned).collect(), page.next().cloned()))
    };
    all_of(page_at, limit)
}

/// All of a listing, given its pages and where the next one begins.
fn all_of<T>(
    mut page_at: impl FnMut(&Anchor) -> Result<(Vec<T>, Option<Anchor>)>,
    limit: usize,
) -> Result<Vec<T>> {
    let (mut listed, mut anchor) = (Vec::new(), Anchor::start());
    loop {
        let (page, next) = page_at(&anchor)?;
        assert!(page.len() <= limit, "a page of {} where {limit} was the limit", page.len());
        listed.extend(page);
        let Some(next) = next else { return Ok(listed) };
        assert_ne!(next, anchor, "the listing stands still");
        anchor = next;
    }
}

/// As [`try_all_pages`], of a listing that does not fail.
pub(super) fn all_pages(mut page_at: impl FnMut(&Anchor) -> Page, limit: usize) -> Vec<(Vec<u8>, Vec<u8>)> {
    try_all_pages(|anchor| Ok(page_at(anchor)), limit).unwrap()
}

/// All keys of a listing, sorted.
pub(super) fn all_keys(page_at: impl FnMut(&Anchor) -> Page, limit: usize) -> Vec<Vec<u8>> {
    let mut keys: Vec<_> = all_pages(page_at, limit).into_iter().map(|(key, _)| key).collect();
    keys.sort();
    keys
}

/// All objects of a container, sorted.
pub(super) fn try_all_objects(container: &dyn Container, limit: usize) -> Result<Vec<ObjectId>> {
    let mut listed = all_of(|anchor| container.list_objects(anchor, limit), limit)?;
    listed.sort();
    Ok(listed)
}

/// As [`try_all_objects`], of a listing that does not fail.
pub(super) fn all_objects(container: &Arc<dyn Container>, limit: usize) -> Vec<ObjectId> {
    try_all_objects(&**container, limit).unwrap()
}

/// Repeats a question until it has an answer, while other processes run.
pub(super) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "{what} did not happen within {PATIENCE:?}");
        std::thread::yield_now();
    }
}
