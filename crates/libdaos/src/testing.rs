//! For tests: a container in memory, before whose commits and other calls something may happen, and which may lose its past.

use std::{
    collections::HashMap,
    fmt,
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::Duration,
};

use isotach_engine_kit::hooks::{Hooked, Hooks};
use isotach_object::{
    Anchor, Capabilities, Cell, Container as Handle, ContainerOptions, Engine, Epoch, Error, Label,
    ObjectClass, ObjectId, ObjectType, Page, Result, Staging, Transaction, extents_of, memory::Memory,
};

use crate::{
    abi::constants::DAOS_OO_RW,
    containers::{Container, acl::ALL, pools::Pool},
    objects::Object,
    transactions::scope::Scope,
};

/// How many calls are refused, and how.
type Refusals = (usize, fn() -> Error);

/// What happens once, before a call.
type Once = Box<dyn FnOnce() + Send>;

/// A kind of call on a container. A list is one of attribute keys or of extents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Commit,
    DestroySnapshot,
    Epoch,
    Flush,
    List,
    Snapshot,
    Stage,
}

/// How long a test waits for another thread that has nothing to wait for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Does something in a thread of its own, whose outcome comes by the channel.
pub(crate) fn within<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> Receiver<T> {
    let (sender, receiver) = mpsc::channel();
    // A test that has failed does not wait for it.
    thread::spawn(move || sender.send(act()).ok());
    receiver
}

/// Keeps a thread at its door until it is opened, or dropped.
pub(crate) struct Gate {
    reached: (Sender<()>, Receiver<()>),
    opened: Mutex<Option<Receiver<()>>>,
    open: Sender<()>,
}

impl Default for Gate {
    fn default() -> Self {
        let (open, opened) = mpsc::channel();
        Self { reached: mpsc::channel(), opened: Mutex::new(Some(opened)), open }
    }
}

impl Gate {
    /// What a thread does that comes to the door.
    pub(crate) fn door(&self) -> impl FnOnce() + Send + 'static {
        let (reached, opened) = (self.reached.0.clone(), self.opened.lock().unwrap().take().unwrap());
        move || {
            reached.send(()).ok();
            opened.recv().ok();
        }
    }

    pub(crate) fn wait_until_reached(&self) {
        self.reached.1.recv_timeout(PATIENCE).unwrap();
    }

    pub(crate) fn open(&self) {
        self.open.send(()).unwrap();
    }
}

/// What happens around the calls of a handle.
pub(crate) struct Script {
    /// Of commits, from now on.
    refusals: Mutex<Option<Refusals>>,
    once: Mutex<HashMap<Call, Once>>,
    /// The failures of the next calls: of a commit after it is decided.
    failures: Mutex<HashMap<Call, Error>>,
    is_plain: AtomicBool,
    /// Whether it shows a state of the past.
    is_past: bool,
    lost: Arc<AtomicUsize>,
    /// Whether all that counts was flushed.
    is_flushed: AtomicBool,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

impl Script {
    fn new(is_past: bool, lost: Arc<AtomicUsize>) -> Self {
        Self {
            refusals: Mutex::default(),
            once: Mutex::default(),
            failures: Mutex::default(),
            is_plain: AtomicBool::new(false),
            is_past,
            lost,
            is_flushed: AtomicBool::new(true),
        }
    }

    /// Refuses so many commits from now on.
    pub(crate) fn refuse_commits(&self, times: usize, error: fn() -> Error) {
        *self.refusals.lock().unwrap() = Some((times, error));
    }

    /// Lets something happen once, before the next call of a kind.
    pub(crate) fn before(&self, call: Call, act: impl FnOnce() + Send + 'static) {
        self.once.lock().unwrap().insert(call, Box::new(act));
    }

    /// Lets the next call of a kind fail. A commit counts all the same, and so does what a flush was to make durable; any other does nothing.
    pub(crate) fn fail_next(&self, call: Call, failure: Error) {
        self.failures.lock().unwrap().insert(call, failure);
    }

    fn happen(&self, call: Call) {
        let taken = self.once.lock().unwrap().remove(&call);
        taken.into_iter().for_each(|act| act());
    }

    fn fail(&self, call: Call) -> Result<()> {
        self.failures.lock().unwrap().remove(&call).map_or(Ok(()), Err)
    }

    /// Says from now on that it has no transactions.
    pub(crate) fn be_plain(&self) {
        self.is_plain.store(true, Ordering::Relaxed);
    }

    /// So many times from now on the state at an epoch is not kept any more when it is opened, or when values of it are read.
    pub(crate) fn lose_states(&self, times: usize) {
        self.lost.store(times, Ordering::Relaxed);
    }

    /// Whether nothing counts that was not flushed.
    pub(crate) fn is_flushed(&self) -> bool {
        self.is_flushed.load(Ordering::Relaxed)
    }

    fn check_kept(&self) -> Result<()> {
        let is_lost = |times: usize| times.checked_sub(1);
        match self.lost.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_lost) {
            Ok(_) => Err(Error::not_found("the state at an epoch")),
            Err(_) => Ok(()),
        }
    }
}

/// An empty container as this library opens it, its handle, and the same container as another has it open.
pub(crate) fn container() -> (Arc<Container>, Arc<Script>, Arc<Container>) {
    let engine = Memory::new();
    let (uri, label) = ("memory:tank".parse().unwrap(), "c".parse().unwrap());
    engine.create_pool(&uri).unwrap();
    let inner = engine.open_pool(&uri).unwrap();
    inner.create_container(&label, &ContainerOptions::default()).unwrap();
    let open = || inner.open_container(&label).unwrap();
    let script = Arc::new(Script::new(false, Arc::default()));
    let pool = Arc::new(Pool { label: "tank".to_owned(), inner: Arc::clone(&inner), flags: 2 });
    // What the process keeps of one is not of another.
    static CONTAINERS: AtomicU64 = AtomicU64::new(0);
    let mut uuid = [7; 16];
    uuid[..8].copy_from_slice(&CONTAINERS.fetch_add(1, Ordering::Relaxed).to_le_bytes());
    let opened = |inner: Arc<dyn Handle>| {
        let pool = Arc::clone(&pool);
        Arc::new(Container {
            pool,
            inner,
            uuid,
            flags: 2,
            permissions: ALL,
            redundancy_factor: 0,
            is_gone: false.into(),
        })
    };
    let own = Arc::new(Hooked::new(open(), Scripted(Arc::clone(&script))));
    (opened(own), script, opened(open()))
}

/// An object of a container, always the same of its type.
pub(crate) fn object_of(container: &Arc<Container>, kind: ObjectType) -> Object {
    let id = ObjectId::new(kind, ObjectClass::S1, 0, 1);
    Object { container: Arc::clone(container), id, mode: DAOS_OO_RW }
}

/// A container as it is now.
pub(crate) fn now(container: &Arc<Container>) -> Scope {
    Scope::present(Arc::clone(container))
}

/// A handle's share of its script.
#[derive(Debug)]
struct Scripted(Arc<Script>);

impl Hooks for Scripted {
    fn commit(&self, inner: &dyn Handle, transaction: &Transaction<'_>) -> Result<Epoch> {
        self.0.happen(Call::Commit);
        if let Some((left @ 1.., error)) = &mut *self.0.refusals.lock().unwrap() {
            *left -= 1;
            return Err(error());
        }
        self.0.is_flushed.store(false, Ordering::Relaxed);
        let epoch = inner.commit(transaction)?;
        self.0.fail(Call::Commit).map(|()| epoch)
    }

    fn capabilities(&self, inner: &dyn Handle) -> Capabilities {
        let all = inner.capabilities();
        Capabilities { transactions: all.transactions && !self.0.is_plain.load(Ordering::Relaxed), ..all }
    }

    fn stage<'c>(&'c self, inner: &'c dyn Handle) -> Result<Box<dyn Staging + 'c>> {
        self.0.fail(Call::Stage)?;
        inner.staged_transactions()?.stage()
    }

    fn flush(&self, inner: &dyn Handle) -> Result<()> {
        self.0.happen(Call::Flush);
        self.0.fail(Call::Flush)?;
        self.0.is_flushed.store(true, Ordering::Relaxed);
        inner.flush()
    }

    fn epoch(&self, inner: &dyn Handle) -> Result<Epoch> {
        self.0.happen(Call::Epoch);
        inner.epoch()
    }

    fn get_many(&self, inner: &dyn Handle, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        if self.0.is_past {
            self.0.check_kept()?;
        }
        inner.get_many(cells)
    }

    fn list_extents(
        &self,
        inner: &dyn Handle,
        cell: Cell<'_>,
        offset: u64,
        length: u64,
    ) -> Result<Vec<Range<u64>>> {
        self.0.happen(Call::List);
        extents_of(inner, cell, offset, length)
    }

    fn list_akeys(
        &self,
        inner: &dyn Handle,
        object: ObjectId,
        dkey: &[u8],
        anchor: &Anchor,
        limit: usize,
    ) -> Result<Page> {
        self.0.happen(Call::List);
        inner.list_akeys(object, dkey, anchor, limit)
    }

    fn create_snapshot(&self, inner: &dyn Handle, name: &Label) -> Result<Epoch> {
        self.0.happen(Call::Snapshot);
        self.0.is_flushed.store(false, Ordering::Relaxed);
        inner.snapshots()?.create(name)
    }

    fn open_at(&self, inner: &dyn Handle, epoch: Epoch) -> Result<Arc<dyn Handle>> {
        self.0.check_kept()?;
        let past = inner.snapshots()?.open_at(epoch)?;
        let script = Arc::new(Script::new(true, Arc::clone(&self.0.lost)));
        Ok(Arc::new(Hooked::new(past, Scripted(script))))
    }

    fn destroy_snapshot(&self, inner: &dyn Handle, name: &Label) -> Result<()> {
        self.0.fail(Call::DestroySnapshot)?;
        self.0.is_flushed.store(false, Ordering::Relaxed);
        inner.snapshots()?.destroy(name)
    }
}
