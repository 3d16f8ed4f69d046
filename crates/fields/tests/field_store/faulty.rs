//! A scripted engine: its calls fail when a test says so, and other actions run in the middle of a call.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    sync::{Arc, Mutex},
};

use isotach_engine_kit::hooks::{Hooked, Hooks, PoolCall, hook_engine};
use isotach_fields::{Config, FieldStore};
use isotach_object::{
    Anchor, ArrayRead, Cell, Container, ContainerFacets, Engine, Epoch, Error, IdRange, Label, ObjectId,
    Page, PendingRead, Registry, Result, Staging, Transaction, Update, memory::Memory,
};

use crate::layouts::SCHEMA;

/// The outcomes of the next calls: `None` succeeds.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) updates: VecDeque<Option<Error>>,
    pub(crate) flushes: VecDeque<Option<Error>>,
    pub(crate) commits: VecDeque<Option<Error>>,
    /// The answers of commits that count.
    pub(crate) committed: VecDeque<Option<Error>>,
    pub(crate) lookups: VecDeque<Option<Error>>,
    pub(crate) reads: VecDeque<Option<Error>>,
    before_next: Vec<Interruption>,
    /// An object whose entries cannot be listed, because they are damaged.
    pub(crate) damaged: Option<ObjectId>,
    /// Whether reads are pending reads, without lent bytes.
    pub(crate) is_far: bool,
    /// The number of calls of each container method that may need a server.
    pub(crate) calls: BTreeMap<&'static str, u64>,
}

/// The moments at which a call can be interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Update,
    Commit,
    Flush,
    Destroy,
    Snapshot,
    /// A lookup or a page of a listing.
    Look,
    /// After a page of a listing.
    Listed,
    /// A read of arrays.
    Read,
}

/// An action right before the next call of a kind on a container whose label begins with this text.
struct Interruption(Moment, &'static str, Box<dyn FnOnce() + Send>);

impl fmt::Debug for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "before the next {:?}", self.0)
    }
}

impl Script {
    /// Acts before the next call of this kind on a container whose label begins with this text, after the actions that
    /// already wait for such a call.
    pub(crate) fn before(
        &mut self,
        moment: Moment,
        label: &'static str,
        act: impl FnOnce() + Send + 'static,
    ) {
        self.before_next.push(Interruption(moment, label, Box::new(act)));
    }

    /// Forgets the actions that wait for a call. Returns their number.
    pub(crate) fn forget_waiting(&mut self) -> usize {
        self.before_next.drain(..).count()
    }
}

fn interrupt(script: &Mutex<Script>, moment: Moment, label: &Label) {
    let interruption = {
        let waiting = &mut script.lock().unwrap().before_next;
        let is_now = |waiting: &Interruption| waiting.0 == moment && label.as_str().starts_with(waiting.1);
        waiting.iter().position(is_now).map(|at| waiting.remove(at))
    };
    // The script is unlocked: the action uses the same engine.
    if let Some(interruption) = interruption {
        (interruption.2)();
    }
}

/// The memory engine, and its script of failures.
pub(crate) fn scripted_engine(memory: &Memory) -> (Arc<dyn Engine>, Arc<Mutex<Script>>) {
    let script = Arc::<Mutex<Script>>::default();
    let (of_pools, of_containers) = (Arc::clone(&script), Arc::clone(&script));
    let before = move |call: PoolCall<'_>| {
        if let PoolCall::Destroy(label) = call {
            interrupt(&of_pools, Moment::Destroy, label);
        }
        Ok(())
    };
    let wrap = move |inner: Arc<dyn Container>| -> Arc<dyn Container> {
        let scripted = Scripted { label: inner.label().clone(), script: Arc::clone(&of_containers) };
        Arc::new(Hooked::new(inner, scripted))
    };
    (hook_engine(Arc::new(memory.clone()), before, wrap), script)
}

/// The memory engine with pending reads.
pub(crate) fn far_engine() -> Arc<dyn Engine> {
    let (engine, script) = scripted_engine(&Memory::new());
    script.lock().unwrap().is_far = true;
    engine
}

/// A handle on a store in memory, and the script of its engine.
pub(crate) struct ScriptedStore {
    pub(crate) store: FieldStore,
    pub(crate) script: Arc<Mutex<Script>>,
    pub(crate) registry: Registry,
    pub(crate) config: Config,
}

impl ScriptedStore {
    /// A handle on the store in these pools, on its own engine over `memory`.
    pub(crate) fn split(memory: &Memory, catalogue: &str, store: &str) -> Self {
        let (engine, script) = scripted_engine(memory);
        let registry = Registry::new().with(engine);
        let config = Config::split(&catalogue.parse().unwrap(), &store.parse().unwrap()).with_schema(SCHEMA);
        Self { store: FieldStore::create(&config, &registry).unwrap(), script, registry, config }
    }

    /// As `split`, with catalogue and store in one pool.
    pub(crate) fn single(memory: &Memory, pool: &str) -> Self {
        Self::split(memory, pool, pool)
    }

    /// Two handles on a new store in one pool, each on its own engine.
    pub(crate) fn pair() -> [Self; 2] {
        let memory = Memory::new();
        [(); 2].map(|()| Self::single(&memory, "memory:all"))
    }

    /// Another handle on the same engine.
    pub(crate) fn open(&self) -> FieldStore {
        FieldStore::open(&self.config, &self.registry).unwrap()
    }

    /// Acts before the next call of this kind on the container of `od`.
    pub(crate) fn before(&self, moment: Moment, act: impl FnOnce() + Send + 'static) {
        self.script.lock().unwrap().before(moment, "od", act);
    }
}

pub(crate) fn no_space() -> Error {
    Error::NoSpace { what: "a put".to_owned() }
}

/// The outcome of a call without space.
pub(crate) fn full() -> Option<Error> {
    Some(no_space())
}

/// The scripted calls of one container.
#[derive(Debug)]
struct Scripted {
    label: Label,
    script: Arc<Mutex<Script>>,
}

impl Scripted {
    fn count(&self, method: &'static str) {
        *self.script.lock().unwrap().calls.entry(method).or_default() += 1;
    }

    fn interrupt(&self, moment: Moment) {
        interrupt(&self.script, moment, &self.label);
    }

    fn next(&self, of: impl Fn(&mut Script) -> &mut VecDeque<Option<Error>>) -> Result<()> {
        let next = of(&mut self.script.lock().unwrap()).pop_front().flatten();
        next.map_or(Ok(()), Err)
    }
}

/// A pending read that reads when it is waited for.
#[derive(Debug)]
struct Begun {
    container: Arc<dyn Container>,
    object: ObjectId,
    offset: u64,
    buffer: Vec<u8>,
}

impl PendingRead for Begun {
    fn wait(self: Box<Self>) -> Result<Vec<u8>> {
        let Self { container, object, offset, mut buffer } = *self;
        let mut reads = [ArrayRead { cell: Cell::array(object), offset, buffer: &mut buffer, filled: 0 }];
        container.read_many(&mut reads)?;
        let filled = reads[0].filled;
        buffer.truncate(filled);
        Ok(buffer)
    }
}

impl Hooks for Scripted {
    fn facets<'c>(&self, inner: &dyn Container, all: ContainerFacets<'c>) -> ContainerFacets<'c> {
        let is_far = self.script.lock().unwrap().is_far;
        let (lent_reads, pending_reads) = (all.lent_reads, all.pending_reads);
        ContainerFacets {
            engine: inner.facets().engine,
            lent_reads: lent_reads.filter(|_| !is_far),
            pending_reads: pending_reads.filter(|_| is_far),
            ..all
        }
    }

    fn depth(&self, _: &dyn Container) -> usize {
        16
    }

    fn allocate_ids(&self, inner: &dyn Container, count: u64) -> Result<IdRange> {
        self.count("allocate_ids");
        inner.allocate_ids(count)
    }

    fn update(&self, inner: &dyn Container, updates: &[Update<'_>]) -> Result<()> {
        self.count("update");
        self.interrupt(Moment::Update);
        self.next(|script| &mut script.updates)?;
        inner.update(updates)
    }

    fn write_new(&self, inner: &dyn Container, object: ObjectId, data: &[u8]) -> Result<Option<u32>> {
        self.update(inner, &[Update::Write { cell: Cell::array(object), offset: 0, data }])?;
        Ok(None)
    }

    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        self.count("commit");
        self.interrupt(Moment::Commit);
        self.next(|script| &mut script.commits)?;
        let epoch = inner.commit(transaction)?;
        self.next(|script| &mut script.committed).map(|()| epoch)
    }

    fn stage<'c>(&'c self, inner: &'c dyn Container) -> Result<Box<dyn Staging + 'c>> {
        self.interrupt(Moment::Commit);
        self.next(|script| &mut script.commits)?;
        inner.staged_transactions()?.stage()
    }

    fn commit_prepared(
        &self,
        inner: &dyn Container,
        names: &[Label],
        transaction: &Transaction<'_>,
    ) -> Result<Epoch> {
        self.interrupt(Moment::Commit);
        self.next(|script| &mut script.commits)?;
        inner.prepared_transactions()?.commit_prepared(names, transaction)
    }

    fn flush(&self, inner: &dyn Container) -> Result<()> {
        self.count("flush");
        self.interrupt(Moment::Flush);
        self.next(|script| &mut script.flushes)?;
        inner.flush()
    }

    fn epoch(&self, inner: &dyn Container) -> Result<Epoch> {
        self.count("epoch");
        inner.epoch()
    }

    fn get_many(&self, inner: &dyn Container, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        self.count("get_many");
        self.interrupt(Moment::Look);
        self.next(|script| &mut script.lookups)?;
        inner.get_many(cells)
    }

    fn size_many(&self, inner: &dyn Container, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        self.count("size_many");
        inner.size_many(cells)
    }

    fn read_many(&self, inner: &dyn Container, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        self.count("read_many");
        self.interrupt(Moment::Read);
        self.next(|script| &mut script.reads)?;
        inner.read_many(reads)
    }

    fn begin_read(
        &self,
        inner: &Arc<dyn Container>,
        cell: Cell<'_>,
        offset: u64,
        buffer: Vec<u8>,
    ) -> Result<Box<dyn PendingRead>> {
        self.count("begin_read");
        self.interrupt(Moment::Read);
        Ok(Box::new(Begun { container: Arc::clone(inner), object: cell.object, offset, buffer }))
    }

    fn list_entries(
        &self,
        inner: &dyn Container,
        object: ObjectId,
        anchor: &Anchor,
        limit: usize,
        values: bool,
    ) -> Result<Page> {
        self.count("list_entries");
        self.interrupt(Moment::Look);
        if self.script.lock().unwrap().damaged == Some(object) {
            return Err(Error::corrupt("a block", "a run"));
        }
        let page = inner.list_entries(object, anchor, limit, values);
        self.interrupt(Moment::Listed);
        page
    }

    fn create_snapshot(&self, inner: &dyn Container, name: &Label) -> Result<Epoch> {
        self.interrupt(Moment::Snapshot);
        inner.snapshots()?.create(name)
    }
}
