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

use isotach_engine_kit::hooks::{Hooked, Hooks, hook_engine};
use isotach_object::{
    Anchor, ArrayRead, Cell, Container, Engine, Epoch, IdRange, Label, ObjectId, Page, PageBuilder, PoolUri,
    Precondition, Result, Staging, Transaction, Update, extents_of, merge_extents,
};
use isotach_object_conformance::{Fixture, MemoryFixture};

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
    /// What is prepared is committed name by name.
    CommitsPreparedOneByOne,
    /// A snapshot shows the present, and takes writes.
    SnapshotsFollow,
}

pub(crate) struct BrokenFixture(MemoryFixture, Fault);

impl BrokenFixture {
    pub(crate) fn new(fault: Fault) -> Self {
        Self(MemoryFixture::new(), fault)
    }
}

impl Fixture for BrokenFixture {
    fn engine(&self) -> Arc<dyn Engine> {
        let fault = self.1;
        let wrap = move |inner| -> Arc<dyn Container> {
            let broken = Broken { fault, next_id: Mutex::new(0), seen: Mutex::default() };
            Arc::new(Hooked::new(inner, broken))
        };
        hook_engine(self.0.engine(), |_| Ok(()), wrap)
    }

    fn fresh_pool(&self) -> PoolUri {
        self.0.fresh_pool()
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
    fault: Fault,
    next_id: Mutex<u64>,
    seen: Mutex<Seen>,
}

impl Broken {
    fn get(&self, inner: &dyn Container, cell: &Cell<'_>) -> Result<Option<Vec<u8>>> {
        let fresh = inner.get_many(&[*cell])?.pop().flatten();
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

impl Hooks for Broken {
    fn allocate_ids(&self, inner: &dyn Container, count: u64) -> Result<IdRange> {
        let range = inner.allocate_ids(count)?;
        if self.fault != Fault::RepeatsIds {
            return Ok(range);
        }
        let mut next = self.next_id.lock().unwrap();
        *next += count;
        Ok(IdRange { start: *next - count, end: *next })
    }

    fn update(&self, inner: &dyn Container, updates: &[Update<'_>]) -> Result<()> {
        self.seen.lock().unwrap().clear();
        match self.fault {
            Fault::ChecksTooLate => updates.iter().try_for_each(|update| inner.update(&[*update])),
            Fault::ReversesBatches => inner.update(&updates.iter().rev().copied().collect::<Vec<_>>()),
            Fault::PutsInTwo => {
                for update in updates {
                    if let Update::Put { cell, value } = *update {
                        inner.update(&[Update::Put { cell, value: &value[..value.len() / 2] }])?;
                        let_others_look();
                    }
                    inner.update(&[*update])?;
                }
                Ok(())
            }
            Fault::ForgetsPunches => {
                updates.iter().try_for_each(|update| update.check())?;
                let kept = updates.iter().filter(|update| !matches!(update, Update::Punch { .. }));
                inner.update(&kept.copied().collect::<Vec<_>>())
            }
            Fault::EmptyIsAbsent => {
                updates.iter().try_for_each(|update| update.check_for("memory", false))?;
                let replaced = updates.iter().map(|update| match *update {
                    Update::Put { cell, value: b"" } => Update::Remove { cell },
                    other => other,
                });
                inner.update(&replaced.collect::<Vec<_>>())
            }
            _ => inner.update(updates),
        }
    }

    fn write_new(&self, inner: &dyn Container, object: ObjectId, data: &[u8]) -> Result<Option<u32>> {
        self.update(inner, &[Update::Write { cell: Cell::array(object), offset: 0, data }])?;
        Ok(None)
    }

    fn commit(&self, inner: &dyn Container, transaction: &Transaction<'_>) -> Result<Epoch> {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        self.seen.lock().unwrap().clear();
        match self.fault {
            Fault::JudgesThenApplies => {
                transaction.check_for("memory", false)?;
                let judged = Transaction { updates: Vec::new(), ..transaction.clone() };
                inner.commit(&judged)?;
                for update in &transaction.updates {
                    let_others_look();
                    inner.update(&[*update])?;
                }
                inner.epoch()
            }
            Fault::IgnoresUnchanged => {
                let mut transaction = transaction.clone();
                transaction
                    .preconditions
                    .retain(|condition| !matches!(condition, Precondition::Unchanged(..)));
                inner.commit(&transaction)
            }
            _ => inner.commit(transaction),
        }
    }

    fn stage<'c>(&'c self, inner: &'c dyn Container) -> Result<Box<dyn Staging + 'c>> {
        self.seen.lock().unwrap().clear();
        match self.fault {
            Fault::ShowsWhatIsStaged => Ok(Box::new(Shown(inner))),
            _ => inner.staged_transactions()?.stage(),
        }
    }

    fn commit_prepared(
        &self,
        inner: &dyn Container,
        names: &[Label],
        transaction: &Transaction<'_>,
    ) -> Result<Epoch> {
        self.seen.lock().unwrap().clear();
        if self.fault == Fault::CommitsPreparedOneByOne {
            for name in names {
                inner
                    .prepared_transactions()?
                    .commit_prepared(std::slice::from_ref(name), &Transaction::new())?;
                let_others_look();
            }
            return inner.commit(transaction);
        }
        inner.prepared_transactions()?.commit_prepared(names, transaction)
    }

    fn get_many(&self, inner: &dyn Container, cells: &[Cell<'_>]) -> Result<Vec<Option<Vec<u8>>>> {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        if self.fault != Fault::StaysStale {
            return inner.get_many(cells);
        }
        cells.iter().map(|cell| self.get(inner, cell)).collect()
    }

    fn read_many(&self, inner: &dyn Container, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        inner.read_many(reads)?;
        if self.fault == Fault::ClearsPastTheEnd {
            reads.iter_mut().for_each(|read| read.buffer[read.filled..].fill(0));
        }
        Ok(())
    }

    fn list_extents(
        &self,
        inner: &dyn Container,
        cell: Cell<'_>,
        offset: u64,
        length: u64,
    ) -> Result<Vec<Range<u64>>> {
        if self.fault == Fault::TellsHolesAsWritten {
            let size = inner.size_many(&[cell])?[0].unwrap_or(0);
            cell.check_extent()?;
            return Ok(merge_extents(Some(0..size), &(offset..offset.saturating_add(length))));
        }
        extents_of(inner, cell, offset, length)
    }

    fn list_entries(
        &self,
        inner: &dyn Container,
        object: ObjectId,
        anchor: &Anchor,
        limit: usize,
        values: bool,
    ) -> Result<Page> {
        Ok(self.break_page(&inner.list_entries(object, anchor, limit, values)?, anchor))
    }

    fn list_dkeys(
        &self,
        inner: &dyn Container,
        object: ObjectId,
        anchor: &Anchor,
        limit: usize,
    ) -> Result<Page> {
        Ok(self.break_page(&inner.list_dkeys(object, anchor, limit)?, anchor))
    }

    fn list_akeys(
        &self,
        inner: &dyn Container,
        object: ObjectId,
        dkey: &[u8],
        anchor: &Anchor,
        limit: usize,
    ) -> Result<Page> {
        Ok(self.break_page(&inner.list_akeys(object, dkey, anchor, limit)?, anchor))
    }

    fn open_snapshot(&self, inner: &Arc<dyn Container>, name: &Label) -> Result<Arc<dyn Container>> {
        let past = inner.snapshots()?.open(name)?;
        Ok(if self.fault == Fault::SnapshotsFollow { Arc::clone(inner) } else { past })
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
}
