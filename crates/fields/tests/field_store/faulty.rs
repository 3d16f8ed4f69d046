//! A scripted engine: its calls fail when a test says so, and other actions run in the middle of a call.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt, mem,
    ops::Deref,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard},
};

use isotach_engine_kit::hooks::{Hooked, Hooks, PoolCall, hook_engine};
use isotach_fields::{Config, FieldStore};
use isotach_object::{
    Anchor, ArrayRead, Cell, Container, ContainerFacets, Engine, Epoch, Error, IdRange, Label, ObjectId,
    Page, PendingRead, Registry, Result, Staging, Transaction, Update, memory::Memory,
};

use crate::layouts::SCHEMA;

/// What the next calls of an engine meet. Clones are of the same script.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The outcomes of the next calls: `None` succeeds.
    outcomes: BTreeMap<Moment, VecDeque<Option<Error>>>,
    before_next: Vec<Interruption>,
    damaged: Option<ObjectId>,
    is_far: bool,
    calls: BTreeMap<&'static str, u64>,
}

/// The moments at which a call can be interrupted, or fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Moment {
    Update,
    Commit,
    /// After a commit that counts.
    Committed,
    Flush,
    Destroy,
    Snapshot,
    /// A lookup or a page of a listing. Only lookups fail.
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
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Sets the outcomes of the next calls of this kind: `None` succeeds.
    pub(crate) fn outcomes(&self, moment: Moment, outcomes: impl IntoIterator<Item = Option<Error>>) {
        self.state().outcomes.insert(moment, outcomes.into_iter().collect());
    }

    /// Acts before the next call of this kind on a container whose label begins with this text, after the actions that
    /// already wait for such a call.
    pub(crate) fn before(&self, moment: Moment, label: &'static str, act: impl FnOnce() + Send + 'static) {
        self.before_nth(0, moment, label, act);
    }

    /// As [`Self::before`], after so many calls.
    pub(crate) fn before_nth(
        &self,
        number: usize,
        moment: Moment,
        label: &'static str,
        act: impl FnOnce() + Send + 'static,
    ) {
        let waiting = &mut self.state().before_next;
        waiting.extend((0..number).map(|_| Interruption(moment, label, Box::new(|| ()))));
        waiting.push(Interruption(moment, label, Box::new(act)));
    }

    /// Forgets the actions that wait for a call. Returns their number.
    pub(crate) fn forget_waiting(&self) -> usize {
        self.state().before_next.drain(..).count()
    }

    /// Damages an object, so that its entries cannot be listed.
    pub(crate) fn damage(&self, object: ObjectId) {
        self.state().damaged = Some(object);
    }

    /// Whether reads are pending reads, without lent bytes.
    pub(crate) fn set_far(&self, is_far: bool) {
        self.state().is_far = is_far;
    }

    /// The number of calls of each container method that may need a server, since it was asked for last.
    pub(crate) fn take_calls(&self) -> BTreeMap<&'static str, u64> {
        mem::take(&mut self.state().calls)
    }

    fn interrupt(&self, moment: Moment, label: &Label) {
        let interruption = {
            let waiting = &mut self.state().before_next;
            let is_now =
                |waiting: &Interruption| waiting.0 == moment && label.as_str().starts_with(waiting.1);
            waiting.iter().position(is_now).map(|at| waiting.remove(at))
        };
        // The script is unlocked: the action uses the same engine.
        if let Some(interruption) = interruption {
            (interruption.2)();
        }
    }

    fn outcome(&self, moment: Moment) -> Result<()> {
        self.state().outcomes.get_mut(&moment).and_then(VecDeque::pop_front).flatten().map_or(Ok(()), Err)
    }
}

/// The memory engine, and its script of failures.
pub(crate) fn scripted_engine(memory: &Memory) -> (Arc<dyn Engine>, Script) {
    let script = Script::default();
    let (of_pools, of_containers) = (script.clone(), script.clone());
    let before = move |call: PoolCall<'_>| {
        if let PoolCall::Destroy(label) = call {
            of_pools.interrupt(Moment::Destroy, label);
        }
        Ok(())
    };
    let wrap = move |inner: Arc<dyn Container>| -> Arc<dyn Container> {
        let scripted = Scripted { label: inner.label().clone(), script: of_containers.clone() };
        Arc::new(Hooked::new(inner, scripted))
    };
    (hook_engine(Arc::new(memory.clone()), before, wrap), script)
}

/// The memory engine with pending reads.
pub(crate) fn far_engine() -> Arc<dyn Engine> {
    let (engine, script) = scripted_engine(&Memory::new());
    script.set_far(true);
    engine
}

/// Whether something ends with a panic.
pub(crate) fn dies<T>(act: impl FnOnce() -> T) -> bool {
    catch_unwind(AssertUnwindSafe(act)).is_err()
}

/// A handle on a store in memory, and the script of its engine.
pub(crate) struct ScriptedStore {
    pub(crate) store: FieldStore,
    pub(crate) script: Script,
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
        self.script.before(moment, "od", act);
    }

    /// As [`Self::before`], with another handle.
    pub(crate) fn meanwhile(
        &self,
        moment: Moment,
        other: &FieldStore,
        act: impl FnOnce(&FieldStore) + Send + 'static,
    ) {
        let other = other.clone();
        self.before(moment, move || act(&other));
    }

    /// Sets the outcomes of the next calls of this kind: `None` succeeds.
    pub(crate) fn outcomes(&self, moment: Moment, outcomes: impl IntoIterator<Item = Option<Error>>) {
        self.script.outcomes(moment, outcomes);
    }
}

impl Deref for ScriptedStore {
    type Target = FieldStore;

    fn deref(&self) -> &FieldStore {
        &self.store
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
    script: Script,
}

impl Scripted {
    fn count(&self, method: &'static str) {
        *self.script.state().calls.entry(method).or_default() += 1;
    }

    fn interrupt(&self, moment: Moment) {
        self.script.interrupt(moment, &self.label);
    }

    /// A call that can be interrupted, and then fail.
    fn meet(&self, moment: Moment) -> Result<()> {
        self.interrupt(moment);
        self.script.outcome(moment)
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
        let is_far = self.script.state().is_far;
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
        self.meet(Moment::Update)?;
        inner.update(updates)
    }

    fn write_new(&self, inner: &dyn Container, object: ObjectId, data: &[u8]) -> Result<Option<u32>> {
        self.update(inner, &[Update::Write { cell: Cell::array(object), offset: 0, data }])?;
        Ok(None)
    }

    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        self.count("commit");
        self.meet(Moment::Commit)?;
        let epoch = inner.commit(transaction)?;
        self.script.outcome(Moment::Committed).map(|()| epoch)
    }

    fn stage<'c>(&'c self, inner: &'c dyn Container) -> Result<Box<dyn Staging + 'c>> {
        self.meet(Moment::Commit)?;
        inner.staged_transactions()?.stage()
    }

    fn commit_prepared(
        &self,
        inner: &dyn Container,
        names: &[Label],
        transaction: &Transaction<'_>,
    ) -> Result<Epoch> {
        self.meet(Moment::Commit)?;
        inner.prepared_transactions()?.commit_prepared(names, transaction)
    }

    fn flush(&self, inner: &dyn Container) -> Result<()> {
        self.count("flush");
        self.meet(Moment::Flush)?;
        inner.flush()
    }

    fn epoch(&self, inner: &dyn Container) -> Result<Epoch> {
        self.count("epoch");
        inner.epoch()
    }

    fn get_many(&self, inner: &dyn Container, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        self.count("get_many");
        self.meet(Moment::Look)?;
        inner.get_many(cells)
    }

    fn size_many(&self, inner: &dyn Container, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        self.count("size_many");
        inner.size_many(cells)
    }

    fn read_many(&self, inner: &dyn Container, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        self.count("read_many");
        self.meet(Moment::Read)?;
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
        if self.script.state().damaged == Some(object) {
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
