//! For tests: a container in memory, before whose commits and other calls something may happen, and which may lose its past.

use std::{
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

use isotach_object::{
    Anchor, ArrayRead, Capabilities, Cell, Container as Handle, Engine, Epoch, Error, IdRange, Label,
    ObjectId, Page, PendingRead, Result, SharedBytes, Snapshot, Staging, Transaction, Update, memory::Memory,
};

use crate::{acl::ALL, containers::Container, pools::Pool, scope::Scope};

/// What happens before a commit, by the number of the commit; what it fails with the commit fails with.
type Before = Box<dyn FnMut(usize) -> Result<()> + Send>;

/// What happens once, before a call.
type Once = Box<dyn FnOnce() + Send>;

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

/// A handle that does as another, but for that.
pub(crate) struct Hooked {
    inner: Arc<dyn Handle>,
    before: Mutex<Option<(usize, Before)>>,
    before_list: Mutex<Option<Once>>,
    before_epoch: Mutex<Option<Once>>,
    before_snapshot: Mutex<Option<Once>>,
    /// What the next flush fails with.
    flush_failure: Mutex<Option<Error>>,
    is_plain: AtomicBool,
    /// Whether it shows a state of the past.
    is_past: bool,
    lost: Arc<AtomicUsize>,
    /// Whether all that counts was flushed.
    is_flushed: AtomicBool,
}

impl fmt::Debug for Hooked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.inner)
    }
}

impl Hooked {
    fn around(inner: Arc<dyn Handle>, is_past: bool, lost: Arc<AtomicUsize>) -> Self {
        Self {
            inner,
            before: Mutex::default(),
            before_list: Mutex::default(),
            before_epoch: Mutex::default(),
            before_snapshot: Mutex::default(),
            flush_failure: Mutex::default(),
            is_plain: AtomicBool::new(false),
            is_past,
            lost,
            is_flushed: AtomicBool::new(true),
        }
    }

    /// Lets something happen before each commit from now on.
    pub(crate) fn before_commits(&self, act: impl FnMut(usize) -> Result<()> + Send + 'static) {
        *self.before.lock().unwrap() = Some((0, Box::new(act)));
    }

    /// Lets something happen before the next list of attribute keys or of extents is read.
    pub(crate) fn before_list(&self, act: impl FnOnce() + Send + 'static) {
        *self.before_list.lock().unwrap() = Some(Box::new(act));
    }

    /// Lets something happen before the present epoch is asked for next.
    pub(crate) fn before_epoch(&self, act: impl FnOnce() + Send + 'static) {
        *self.before_epoch.lock().unwrap() = Some(Box::new(act));
    }

    /// Lets something happen before the next snapshot is made.
    pub(crate) fn before_snapshot(&self, act: impl FnOnce() + Send + 'static) {
        *self.before_snapshot.lock().unwrap() = Some(Box::new(act));
    }

    /// Lets the next flush fail, after which what was committed counts and is not durable.
    pub(crate) fn fail_next_flush(&self, failure: Error) {
        *self.flush_failure.lock().unwrap() = Some(failure);
    }

    fn list(&self) {
        happen(&self.before_list);
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

/// Lets happen what is to happen once.
fn happen(once: &Mutex<Option<Once>>) {
    let taken = once.lock().unwrap().take();
    taken.into_iter().for_each(|act| act());
}

/// An empty container as this library opens it, its handle, and the same container as another has it open.
pub(crate) fn container() -> (Arc<Container>, Arc<Hooked>, Arc<Container>) {
    let engine = Memory::new();
    let (uri, label) = ("memory:tank".parse().unwrap(), "c".parse().unwrap());
    engine.create_pool(&uri).unwrap();
    let inner = engine.open_pool(&uri).unwrap();
    inner.create_container(&label).unwrap();
    let open = || inner.open_container(&label).unwrap();
    let hooked = Arc::new(Hooked::around(open(), false, Arc::default()));
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
    let own: Arc<dyn Handle> = hooked.clone();
    (opened(own), hooked, opened(open()))
}

/// A container as it is now.
pub(crate) fn now(container: &Arc<Container>) -> Scope {
    Scope::present(Arc::clone(container))
}

impl Handle for Hooked {
    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        // Taken out meanwhile, since what happens may be another commit.
        let taken = self.before.lock().unwrap().take();
        if let Some((count, mut act)) = taken {
            let outcome = act(count);
            *self.before.lock().unwrap() = Some((count + 1, act));
            outcome?;
        }
        self.is_flushed.store(false, Ordering::Relaxed);
        self.inner.commit(transaction)
    }

    fn label(&self) -> &Label {
        self.inner.label()
    }
    fn capabilities(&self) -> Capabilities {
        let all = self.inner.capabilities();
        Capabilities { transactions: all.transactions && !self.is_plain.load(Ordering::Relaxed), ..all }
    }
    fn allocate_ids(&self, count: u64) -> Result<IdRange> {
        self.inner.allocate_ids(count)
    }
    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        self.inner.update(updates)
    }
    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<()> {
        self.inner.write_new(object, data)
    }
    fn stage(&self) -> Result<Box<dyn Staging + '_>> {
        self.inner.stage()
    }
    fn list_parked(&self, prefix: &str) -> Result<Vec<Label>> {
        self.inner.list_parked(prefix)
    }
    fn commit_parked(&self, names: &[Label], transaction: &Transaction<'_>) -> Result<Epoch> {
        self.inner.commit_parked(names, transaction)
    }
    fn discard_parked(&self, name: &Label) -> Result<()> {
        self.inner.discard_parked(name)
    }
    fn flush(&self) -> Result<()> {
        self.flush_failure.lock().unwrap().take().map_or(Ok(()), Err)?;
        self.is_flushed.store(true, Ordering::Relaxed);
        self.inner.flush()
    }
    fn epoch(&self) -> Result<Epoch> {
        happen(&self.before_epoch);
        self.inner.epoch()
    }
    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        if self.is_past {
            self.check_kept()?;
        }
        self.inner.get_many(cells)
    }
    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        self.inner.size_many(cells)
    }
    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        self.inner.read_many(reads)
    }
    fn list_extents(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<Vec<Range<u64>>> {
        self.list();
        self.inner.list_extents(cell, offset, length)
    }
    fn begin_read(&self, cell: Cell<'_>, offset: u64, buffer: Vec<u8>) -> Result<Box<dyn PendingRead>> {
        self.inner.begin_read(cell, offset, buffer)
    }
    fn share(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<SharedBytes> {
        self.inner.share(cell, offset, length)
    }
    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        self.inner.list_entries(object, anchor, limit, values)
    }
    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        self.inner.list_dkeys(object, anchor, limit)
    }
    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        self.list();
        self.inner.list_akeys(object, dkey, anchor, limit)
    }
    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        self.inner.list_objects(anchor, limit)
    }
    fn create_snapshot(&self, name: &Label) -> Result<Epoch> {
        happen(&self.before_snapshot);
        self.is_flushed.store(false, Ordering::Relaxed);
        self.inner.create_snapshot(name)
    }
    fn list_snapshots(&self) -> Result<Vec<Snapshot>> {
        self.inner.list_snapshots()
    }
    fn open_snapshot(&self, name: &Label) -> Result<Arc<dyn Handle>> {
        self.inner.open_snapshot(name)
    }
    fn open_at(&self, epoch: Epoch) -> Result<Arc<dyn Handle>> {
        self.check_kept()?;
        let past = self.inner.open_at(epoch)?;
        Ok(Arc::new(Self::around(past, true, Arc::clone(&self.lost))))
    }
    fn destroy_snapshot(&self, name: &Label) -> Result<()> {
        self.is_flushed.store(false, Ordering::Relaxed);
        self.inner.destroy_snapshot(name)
    }
}
