//! An engine whose writes, flushes and lookups fail when a test says so, and which lets others act in the midst of a call.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    ops::Range,
    sync::{Arc, Mutex},
};

use isotach_object::{
    Acl, Anchor, ArrayRead, Capabilities, Cell, Container, Engine, Epoch, Error, Finding, IdRange, Label,
    NewRights, ObjectId, Page, PendingRead, Pool, PoolUri, PoolUsage, Property, Purged, Result, Rights,
    RightsChange, SetAside, SharedBytes, Snapshot, Staging, Transaction, Update, Verified, Verify,
    VerifyProgress, memory::Memory,
};

/// What the next calls come to: `None` succeeds.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) updates: VecDeque<Option<Error>>,
    pub(crate) flushes: VecDeque<Option<Error>>,
    pub(crate) commits: VecDeque<Option<Error>>,
    pub(crate) lookups: VecDeque<Option<Error>>,
    pub(crate) reads: VecDeque<Option<Error>>,
    pub(crate) purges: VecDeque<Option<Error>>,
    pub(crate) before_next: Vec<Interruption>,
    /// Whether its bytes come from elsewhere: then it lends none.
    pub(crate) is_far: bool,
    /// How often each method of containers was called which an engine may have to ask a server for.
    pub(crate) calls: BTreeMap<&'static str, u64>,
}

/// Where a call can be interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Update,
    Commit,
    Flush,
    Destroy,
    Snapshot,
    /// A lookup or a page of a listing.
    Look,
    /// A read of arrays.
    Read,
}

/// What others do right before the next call of a kind on a container whose label begins like this.
pub(crate) struct Interruption(
    pub(crate) Moment,
    pub(crate) &'static str,
    pub(crate) Box<dyn FnOnce() + Send>,
);

impl fmt::Debug for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "before the next {:?}", self.0)
    }
}

fn interrupt(script: &Mutex<Script>, moment: Moment, label: &Label) {
    let interruption = {
        let waiting = &mut script.lock().unwrap().before_next;
        let is_now = |waiting: &Interruption| waiting.0 == moment && label.as_str().starts_with(waiting.1);
        waiting.iter().position(is_now).map(|at| waiting.remove(at))
    };
    // The script is free meanwhile: those who act here use the same engine.
    if let Some(interruption) = interruption {
        (interruption.2)();
    }
}

/// The memory engine with a script of failures.
#[derive(Debug, Default)]
pub(crate) struct Faulty {
    pub(crate) memory: Memory,
    pub(crate) script: Arc<Mutex<Script>>,
}

impl Faulty {
    /// One whose bytes come from elsewhere.
    pub(crate) fn far() -> Self {
        let engine = Self::default();
        engine.script.lock().unwrap().is_far = true;
        engine
    }
}

#[derive(Debug)]
struct FaultyPool(Arc<dyn Pool>, Arc<Mutex<Script>>);

#[derive(Debug)]
struct FaultyContainer(Arc<dyn Container>, Arc<Mutex<Script>>);

impl FaultyContainer {
    fn count(&self, method: &'static str) {
        *self.1.lock().unwrap().calls.entry(method).or_default() += 1;
    }

    fn next(&self, of: impl Fn(&mut Script) -> &mut VecDeque<Option<Error>>) -> Result<()> {
        let next = of(&mut self.1.lock().unwrap()).pop_front().flatten();
        next.map_or(Ok(()), Err)
    }
}

impl Engine for Faulty {
    fn scheme(&self) -> &'static str {
        self.memory.scheme()
    }
    fn capabilities(&self) -> Capabilities {
        self.memory.capabilities()
    }
    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        self.memory.create_pool(uri)
    }
    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        Ok(Arc::new(FaultyPool(self.memory.open_pool(uri)?, Arc::clone(&self.script))))
    }
    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        self.memory.destroy_pool(uri)
    }
}

impl Pool for FaultyPool {
    fn uri(&self) -> &PoolUri {
        self.0.uri()
    }
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
    fn create_container(&self, label: &Label) -> Result<()> {
        self.0.create_container(label)
    }
    fn create_container_with(&self, label: &Label, rights: &NewRights, updates: &[Update<'_>]) -> Result<()> {
        self.0.create_container_with(label, rights, updates)
    }

    fn rights(&self, label: &Label) -> Result<Rights> {
        self.0.rights(label)
    }

    fn set_rights(&self, label: &Label, change: &RightsChange) -> Result<Rights> {
        self.0.set_rights(label, change)
    }

    fn admit(&self, acl: &Acl) -> Result<()> {
        self.0.admit(acl)
    }

    fn properties(&self, label: &Label) -> Result<Vec<Property>> {
        self.0.properties(label)
    }

    fn set_properties(&self, label: &Label, properties: &[Property]) -> Result<()> {
        self.0.set_properties(label, properties)
    }

    fn open_container(&self, label: &Label) -> Result<Arc<dyn Container>> {
        Ok(Arc::new(FaultyContainer(self.0.open_container(label)?, Arc::clone(&self.1))))
    }
    fn destroy_container(&self, label: &Label) -> Result<()> {
        interrupt(&self.1, Moment::Destroy, label);
        self.0.destroy_container(label)
    }
    fn list_containers(&self) -> Result<Vec<Label>> {
        self.0.list_containers()
    }
    fn purge_container(&self, label: &Label, carry_out: bool) -> Result<Purged> {
        self.1.lock().unwrap().purges.pop_front().flatten().map_or(Ok(()), Err)?;
        self.0.purge_container(label, carry_out)
    }

    fn container_size(&self, label: &Label) -> Result<u64> {
        self.0.container_size(label)
    }
    fn verify_container(&self, label: &Label, how: Verify, progress: VerifyProgress<'_>) -> Result<Verified> {
        self.0.verify_container(label, how, progress)
    }
    fn set_aside(&self, label: &Label, findings: &[Finding], note: &str) -> Result<SetAside> {
        self.0.set_aside(label, findings, note)
    }
    fn usage(&self) -> Result<PoolUsage> {
        self.0.usage()
    }
}

/// A read of an array that is done when it is waited for.
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

impl Container for FaultyContainer {
    fn label(&self) -> &Label {
        self.0.label()
    }
    fn capabilities(&self) -> Capabilities {
        let Capabilities { shared_reads, .. } = self.0.capabilities();
        let is_far = self.1.lock().unwrap().is_far;
        let reads_ahead = if is_far { 16 } else { 0 };
        Capabilities { shared_reads: shared_reads && !is_far, reads_ahead, ..self.0.capabilities() }
    }
    fn allocate_ids(&self, count: u64) -> Result<IdRange> {
        self.count("allocate_ids");
        self.0.allocate_ids(count)
    }
    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        self.count("update");
        interrupt(&self.1, Moment::Update, self.label());
        self.next(|script| &mut script.updates)?;
        self.0.update(updates)
    }
    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<()> {
        self.update(&[Update::Write { cell: Cell::array(object), offset: 0, data }])
    }

    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        self.count("commit");
        interrupt(&self.1, Moment::Commit, self.label());
        self.next(|script| &mut script.commits)?;
        self.0.commit(transaction)
    }
    fn stage(&self) -> Result<Box<dyn Staging + '_>> {
        interrupt(&self.1, Moment::Commit, self.label());
        self.next(|script| &mut script.commits)?;
        self.0.stage()
    }
    fn list_parked(&self, prefix: &str) -> Result<Vec<Label>> {
        self.0.list_parked(prefix)
    }
    fn commit_parked(&self, names: &[Label], transaction: &Transaction<'_>) -> Result<Epoch> {
        interrupt(&self.1, Moment::Commit, self.label());
        self.next(|script| &mut script.commits)?;
        self.0.commit_parked(names, transaction)
    }
    fn discard_parked(&self, name: &Label) -> Result<()> {
        self.0.discard_parked(name)
    }
    fn flush(&self) -> Result<()> {
        self.count("flush");
        interrupt(&self.1, Moment::Flush, self.label());
        self.next(|script| &mut script.flushes)?;
        self.0.flush()
    }
    fn epoch(&self) -> Result<Epoch> {
        self.count("epoch");
        self.0.epoch()
    }
    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        self.count("get_many");
        interrupt(&self.1, Moment::Look, self.label());
        self.next(|script| &mut script.lookups)?;
        self.0.get_many(cells)
    }
    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        self.count("size_many");
        self.0.size_many(cells)
    }
    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        self.count("read_many");
        interrupt(&self.1, Moment::Read, self.label());
        self.next(|script| &mut script.reads)?;
        self.0.read_many(reads)
    }
    fn list_extents(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<Vec<Range<u64>>> {
        self.0.list_extents(cell, offset, length)
    }
    fn begin_read(&self, cell: Cell<'_>, offset: u64, buffer: Vec<u8>) -> Result<Box<dyn PendingRead>> {
        self.count("begin_read");
        interrupt(&self.1, Moment::Read, self.label());
        Ok(Box::new(Begun { container: Arc::clone(&self.0), object: cell.object, offset, buffer }))
    }
    fn share(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<SharedBytes> {
        self.0.share(cell, offset, length)
    }
    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        self.count("list_entries");
        interrupt(&self.1, Moment::Look, self.label());
        self.0.list_entries(object, anchor, limit, values)
    }
    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        self.0.list_dkeys(object, anchor, limit)
    }
    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        self.0.list_akeys(object, dkey, anchor, limit)
    }
    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        self.0.list_objects(anchor, limit)
    }
    fn create_snapshot(&self, name: &Label) -> Result<Epoch> {
        interrupt(&self.1, Moment::Snapshot, self.label());
        self.0.create_snapshot(name)
    }
    fn list_snapshots(&self) -> Result<Vec<Snapshot>> {
        self.0.list_snapshots()
    }
    fn open_snapshot(&self, name: &Label) -> Result<Arc<dyn Container>> {
        self.0.open_snapshot(name)
    }
    fn open_at(&self, epoch: Epoch) -> Result<Arc<dyn Container>> {
        self.0.open_at(epoch)
    }
    fn destroy_snapshot(&self, name: &Label) -> Result<()> {
        self.0.destroy_snapshot(name)
    }
}
