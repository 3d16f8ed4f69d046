//! An engine that has the core only, as Ceph's: no transactions of more than one cell, and no snapshots. It can die after any update.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use isotach_object::{
    Anchor, ArrayRead, Capabilities, Cell, Container, ContainerFacets, ContainerOptions, Engine, Epoch,
    Error, IdRange, Label, ObjectId, Page, Pool, PoolFacets, PoolUri, PoolUsage, Result, Transaction, Update,
    memory::Memory,
};

const SCHEME: &str = "plain";
const CAPABILITIES: Capabilities = Capabilities { multi_process: true, ..Capabilities::NONE };

/// Pools in memory, for one process that may die. Processes are told apart by slashes at the end of a pool's URI.
#[derive(Debug, Clone)]
pub(crate) struct Plain {
    memory: Memory,
    /// How many updates it lives for.
    left: Arc<AtomicI64>,
    /// How many flushes come until one fails.
    flushes: Arc<AtomicI64>,
}

impl Plain {
    pub(crate) fn new(memory: &Memory) -> Self {
        Self { memory: memory.clone(), left: Arc::new(AtomicI64::new(i64::MAX)), flushes: Arc::default() }
    }

    /// It dies after so many more updates.
    pub(crate) fn live_for(&self, updates: i64) {
        self.left.store(updates, Ordering::SeqCst);
    }

    /// So many flushes from now, one fails. Returns how many were left before.
    pub(crate) fn fail_flush(&self, after: i64) -> i64 {
        self.flushes.swap(after, Ordering::SeqCst)
    }

    /// How many updates it has lived for since `updates` were left.
    pub(crate) fn lived(&self, updates: i64) -> i64 {
        updates - self.left.load(Ordering::SeqCst)
    }
}

fn dead(what: &str) -> Error {
    Error::Io { what: what.to_owned(), source: Box::new(io::Error::other("it is dead")) }
}

fn inner(uri: &PoolUri) -> PoolUri {
    format!("memory:{}", uri.path().trim_end_matches('/')).parse().unwrap()
}

impl Engine for Plain {
    fn scheme(&self) -> &'static str {
        SCHEME
    }
    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }
    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        self.memory.create_pool(&inner(uri))
    }
    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        Ok(Arc::new(PlainPool {
            pool: self.memory.open_pool(&inner(uri))?,
            left: self.left.clone(),
            flushes: self.flushes.clone(),
        }))
    }
    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        self.memory.destroy_pool(&inner(uri))
    }
}

#[derive(Debug)]
struct PlainPool {
    pool: Arc<dyn Pool>,
    left: Arc<AtomicI64>,
    /// How many flushes come until one fails.
    flushes: Arc<AtomicI64>,
}

impl Pool for PlainPool {
    fn uri(&self) -> &PoolUri {
        self.pool.uri()
    }
    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }
    fn facets(&self) -> PoolFacets<'_> {
        PoolFacets::none(SCHEME)
    }
    fn create_container(&self, label: &Label, options: &ContainerOptions<'_>) -> Result<()> {
        self.pool.create_container(label, options)
    }
    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>> {
        Ok(Arc::new(PlainContainer {
            container: self.pool.open_container(label)?,
            left: self.left.clone(),
            flushes: self.flushes.clone(),
        }))
    }
    fn destroy_container(&self, label: &Label) -> Result<()> {
        self.pool.destroy_container(label)
    }
    fn list_containers(&self) -> Result<Vec<Label>> {
        self.pool.list_containers()
    }
    fn container_size(&self, label: &Label) -> Result<u64> {
        self.pool.container_size(label)
    }
    fn usage(&self) -> Result<PoolUsage> {
        self.pool.usage()
    }
}

#[derive(Debug)]
struct PlainContainer {
    container: Arc<dyn Container>,
    left: Arc<AtomicI64>,
    /// How many flushes come until one fails.
    flushes: Arc<AtomicI64>,
}

impl PlainContainer {
    fn live(&self) -> Result<()> {
        if self.left.fetch_sub(1, Ordering::SeqCst) > 0 { Ok(()) } else { Err(dead("update")) }
    }
}

impl Container for PlainContainer {
    fn label(&self) -> &Label {
        self.container.label()
    }
    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }
    fn facets(&self) -> ContainerFacets<'_> {
        ContainerFacets::none(SCHEME)
    }
    fn allocate_ids(&self, count: u64) -> Result<IdRange> {
        self.container.allocate_ids(count)
    }
    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| {
            self.live()?;
            self.container.update(&[*update])
        })
    }
    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<Option<u32>> {
        self.live()?;
        self.container.write_new(object, data)
    }
    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        let conditions = transaction.preconditions.iter().map(|condition| condition.cell());
        let mut cells = transaction.updates.iter().map(Update::scope).chain(conditions);
        let first = cells.next();
        if cells.any(|cell| Some(cell) != first) {
            return Err(Error::Unsupported { engine: SCHEME, what: "more than one cell".to_owned() });
        }
        self.live()?;
        self.container.commit(transaction)
    }
    fn flush(&self) -> Result<()> {
        if self.flushes.fetch_sub(1, Ordering::SeqCst) == 1 {
            return Err(dead("flush"));
        }
        self.container.flush()
    }
    fn epoch(&self) -> Result<Epoch> {
        self.container.epoch()
    }
    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        self.container.get_many(cells)
    }
    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        self.container.size_many(cells)
    }
    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        self.container.read_many(reads)
    }
    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        self.container.list_entries(object, anchor, limit, values)
    }
    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        self.container.list_dkeys(object, anchor, limit)
    }
    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        self.container.list_akeys(object, dkey, anchor, limit)
    }
    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        self.container.list_objects(anchor, limit)
    }
}
