//! The memory engine with one rule of the contract broken.

use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use isotach_object::{
    Acl, Anchor, ArrayRead, Capabilities, Cell, Container, Engine, Epoch, Finding, IdRange, Label, NewRights,
    ObjectId, Page, PageBuilder, PendingRead, Pool, PoolUri, PoolUsage, Precondition, Property, Purged,
    Result, Rights, RightsChange, SetAside, SharedBytes, Snapshot, Staging, Transaction, Update, Verified,
    Verify, VerifyProgress,
    conformance::{Faults, Fixture, MemoryFixture},
    merge_extents,
};

/// Which rule is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An empty value removes, as in DAOS.
    EmptyIsAbsent,
    /// A batch is applied up to the wrong part.
    ChecksTooLate,
    /// A batch is applied from its end.
    ReversesBatches,
    /// A value is first put by half.
    PutsInTwo,
    /// A transaction is judged, and applied later, part by part.
    JudgesThenApplies,
    /// Of the preconditions, `Unchanged` always holds.
    IgnoresUnchanged,
    /// A punch does nothing.
    ForgetsPunches,
    /// Holes count as written.
    TellsHolesAsWritten,
    /// A short read clears the rest of the buffer.
    ClearsPastTheEnd,
    /// The first entry of each page but the first is lost.
    LosesAtPageBreaks,
    /// The last entry of each page comes again.
    RepeatsAtPageBreaks,
    /// Ids begin anew with each handle.
    RepeatsIds,
    /// A handle goes on seeing what it saw first.
    StaysStale,
    /// What is staged is applied at once.
    ShowsWhatIsStaged,
    /// What is parked is committed name by name.
    TakesUpOneByOne,
    /// A snapshot shows the present, and takes writes.
    SnapshotsFollow,
}

#[derive(Debug)]
struct BrokenEngine(Arc<dyn Engine>, Fault);

pub(crate) struct BrokenFixture(MemoryFixture, Fault);

impl BrokenFixture {
    pub(crate) fn new(fault: Fault) -> Self {
        Self(MemoryFixture::new(), fault)
    }
}

impl Fixture for BrokenFixture {
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::new(BrokenEngine(self.0.engine(), self.1))
    }

    fn fresh_pool(&self) -> PoolUri {
        self.0.fresh_pool()
    }

    fn faults(&self) -> Option<&dyn Faults> {
        None
    }
}

impl Engine for BrokenEngine {
    fn scheme(&self) -> &'static str {
        self.0.scheme()
    }

    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn create_pool(&self, uri: &PoolUri) -> Result<()> {
        self.0.create_pool(uri)
    }

    fn open_pool(&self, uri: &PoolUri) -> Result<Arc<dyn Pool>> {
        Ok(Arc::new(BrokenPool(self.0.open_pool(uri)?, self.1)))
    }

    fn destroy_pool(&self, uri: &PoolUri) -> Result<()> {
        self.0.destroy_pool(uri)
    }
}

#[derive(Debug)]
struct BrokenPool(Arc<dyn Pool>, Fault);

impl Pool for BrokenPool {
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
        let inner = self.0.open_container(label)?;
        Ok(Arc::new(Broken { inner, fault: self.1, next_id: Mutex::new(0), seen: Mutex::default() }))
    }

    fn destroy_container(&self, label: &Label) -> Result<()> {
        self.0.destroy_container(label)
    }

    fn list_containers(&self) -> Result<Vec<Label>> {
        self.0.list_containers()
    }

    fn purge_container(&self, label: &Label, carry_out: bool) -> Result<Purged> {
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

/// Looks by any thread.
static LOOKS: AtomicU64 = AtomicU64::new(0);

/// Waits until another thread has looked, so that races are lost without luck; but not for ever, since
/// there may be no other.
fn let_others_look() {
    let before = LOOKS.load(Ordering::Relaxed);
    let mut patience = 0..200;
    while LOOKS.load(Ordering::Relaxed) == before && patience.next().is_some() {
        thread::yield_now();
    }
}

type Seen = BTreeMap<(ObjectId, Vec<u8>, Vec<u8>), Option<Vec<u8>>>;

#[derive(Debug)]
struct Broken {
    inner: Arc<dyn Container>,
    fault: Fault,
    next_id: Mutex<u64>,
    seen: Mutex<Seen>,
}

impl Broken {
    fn get(&self, cell: &Cell<'_>) -> Result<Option<Vec<u8>>> {
        let fresh = self.inner.get_many(&[*cell])?.pop().flatten();
        if self.fault != Fault::StaysStale {
            return Ok(fresh);
        }
        let key = (cell.object, cell.dkey.to_vec(), cell.akey.to_vec());
        Ok(self.seen.lock().unwrap().entry(key).or_insert(fresh).clone())
    }

    fn break_page(&self, page: &Page, anchor: &Anchor) -> Page {
        let mut broken = PageBuilder::new();
        let lose = self.fault == Fault::LosesAtPageBreaks && *anchor != Anchor::start();
        page.iter().skip(usize::from(lose)).for_each(|(key, value)| broken.push(key, value));
        let next = page.next().cloned();
        if self.fault == Fault::RepeatsAtPageBreaks && page.len() > 1 && next.is_some() {
            let (before_last, _) = page.get(page.len() - 2).unwrap();
            return broken.finish(Some(Anchor::from_bytes(before_last.to_vec())));
        }
        broken.finish(next)
    }
}

impl Container for Broken {
    fn label(&self) -> &Label {
        self.inner.label()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn allocate_ids(&self, count: u64) -> Result<IdRange> {
        let range = self.inner.allocate_ids(count)?;
        if self.fault != Fault::RepeatsIds {
            return Ok(range);
        }
        let mut next = self.next_id.lock().unwrap();
        *next += count;
        Ok(IdRange { start: *next - count, end: *next })
    }

    fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        self.seen.lock().unwrap().clear();
        match self.fault {
            Fault::ChecksTooLate => updates.iter().try_for_each(|update| self.inner.update(&[*update])),
            Fault::ReversesBatches => self.inner.update(&updates.iter().rev().copied().collect::<Vec<_>>()),
            Fault::PutsInTwo => {
                for update in updates {
                    if let Update::Put { cell, value } = *update {
                        self.inner.update(&[Update::Put { cell, value: &value[..value.len() / 2] }])?;
                        let_others_look();
                    }
                    self.inner.update(&[*update])?;
                }
                Ok(())
            }
            Fault::ForgetsPunches => {
                updates.iter().try_for_each(|update| update.check())?;
                let kept = updates.iter().filter(|update| !matches!(update, Update::Punch { .. }));
                self.inner.update(&kept.copied().collect::<Vec<_>>())
            }
            Fault::EmptyIsAbsent => {
                updates.iter().try_for_each(|update| update.check_for("memory", false))?;
                let replaced = updates.iter().map(|update| match *update {
                    Update::Put { cell, value: b"" } => Update::Remove { cell },
                    other => other,
                });
                self.inner.update(&replaced.collect::<Vec<_>>())
            }
            _ => self.inner.update(updates),
        }
    }

    fn write_new(&self, object: ObjectId, data: &[u8]) -> Result<()> {
        self.update(&[Update::Write { cell: Cell::array(object), offset: 0, data }])
    }

    fn commit(&self, transaction: &Transaction<'_>) -> Result<Epoch> {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        self.seen.lock().unwrap().clear();
        match self.fault {
            Fault::JudgesThenApplies => {
                transaction.check_for("memory", false)?;
                let judged = Transaction { updates: Vec::new(), ..transaction.clone() };
                self.inner.commit(&judged)?;
                for update in &transaction.updates {
                    let_others_look();
                    self.inner.update(&[*update])?;
                }
                self.inner.epoch()
            }
            Fault::IgnoresUnchanged => {
                let mut transaction = transaction.clone();
                transaction
                    .preconditions
                    .retain(|condition| !matches!(condition, Precondition::Unchanged(..)));
                self.inner.commit(&transaction)
            }
            _ => self.inner.commit(transaction),
        }
    }

    fn stage(&self) -> Result<Box<dyn Staging + '_>> {
        self.seen.lock().unwrap().clear();
        match self.fault {
            Fault::ShowsWhatIsStaged => Ok(Box::new(Shown(&*self.inner))),
            _ => self.inner.stage(),
        }
    }

    fn list_parked(&self, prefix: &str) -> Result<Vec<Label>> {
        self.inner.list_parked(prefix)
    }

    fn commit_parked(&self, names: &[Label], transaction: &Transaction<'_>) -> Result<Epoch> {
        self.seen.lock().unwrap().clear();
        if self.fault == Fault::TakesUpOneByOne {
            for name in names {
                self.inner.commit_parked(std::slice::from_ref(name), &Transaction::new())?;
                let_others_look();
            }
            return self.inner.commit(transaction);
        }
        self.inner.commit_parked(names, transaction)
    }

    fn discard_parked(&self, name: &Label) -> Result<()> {
        self.inner.discard_parked(name)
    }

    fn flush(&self) -> Result<()> {
        self.inner.flush()
    }

    fn epoch(&self) -> Result<Epoch> {
        self.inner.epoch()
    }

    fn get_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        if self.fault != Fault::StaysStale {
            return self.inner.get_many(cells);
        }
        cells.iter().map(|cell| self.get(cell)).collect()
    }

    fn size_many(&self, cells: &[Cell<'_>]) -> Result<Vec<Option<u64>>> {
        self.inner.size_many(cells)
    }

    fn read_many(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        self.inner.read_many(reads)?;
        if self.fault == Fault::ClearsPastTheEnd {
            reads.iter_mut().for_each(|read| read.buffer[read.filled..].fill(0));
        }
        Ok(())
    }

    fn list_extents(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<Vec<Range<u64>>> {
        if self.fault == Fault::TellsHolesAsWritten {
            let size = self.inner.size_many(&[cell])?[0].unwrap_or(0);
            cell.check_extent()?;
            return Ok(merge_extents(Some(0..size), &(offset..offset.saturating_add(length))));
        }
        self.inner.list_extents(cell, offset, length)
    }

    fn begin_read(&self, cell: Cell<'_>, offset: u64, buffer: Vec<u8>) -> Result<Box<dyn PendingRead>> {
        self.inner.begin_read(cell, offset, buffer)
    }

    fn share(&self, cell: Cell<'_>, offset: u64, length: u64) -> Result<SharedBytes> {
        self.inner.share(cell, offset, length)
    }

    fn list_entries(&self, object: ObjectId, anchor: &Anchor, limit: usize, values: bool) -> Result<Page> {
        Ok(self.break_page(&self.inner.list_entries(object, anchor, limit, values)?, anchor))
    }

    fn list_dkeys(&self, object: ObjectId, anchor: &Anchor, limit: usize) -> Result<Page> {
        Ok(self.break_page(&self.inner.list_dkeys(object, anchor, limit)?, anchor))
    }

    fn list_akeys(&self, object: ObjectId, dkey: &[u8], anchor: &Anchor, limit: usize) -> Result<Page> {
        Ok(self.break_page(&self.inner.list_akeys(object, dkey, anchor, limit)?, anchor))
    }

    fn list_objects(&self, anchor: &Anchor, limit: usize) -> Result<(Vec<ObjectId>, Option<Anchor>)> {
        self.inner.list_objects(anchor, limit)
    }

    fn create_snapshot(&self, name: &Label) -> Result<Epoch> {
        self.inner.create_snapshot(name)
    }

    fn list_snapshots(&self) -> Result<Vec<Snapshot>> {
        self.inner.list_snapshots()
    }

    fn open_snapshot(&self, name: &Label) -> Result<Arc<dyn Container>> {
        let past = self.inner.open_snapshot(name)?;
        Ok(if self.fault == Fault::SnapshotsFollow { Arc::clone(&self.inner) } else { past })
    }

    fn open_at(&self, epoch: Epoch) -> Result<Arc<dyn Container>> {
        self.inner.open_at(epoch)
    }

    fn destroy_snapshot(&self, name: &Label) -> Result<()> {
        self.inner.destroy_snapshot(name)
    }
}

/// A staging that keeps nothing back.
#[derive(Debug)]
struct Shown<'c>(&'c dyn Container);

impl Staging for Shown<'_> {
    fn update(&mut self, updates: &[Update<'_>]) -> Result<()> {
        self.0.update(updates)
    }

    fn commit(self: Box<Self>, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        self.0.commit(&Transaction { preconditions: preconditions.to_vec(), updates: Vec::new() })
    }

    fn park(self: Box<Self>, name: &Label, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        self.0.stage()?.park(name, preconditions)
    }
}
