//! Transactions: writes wait in memory for the commit, and reads are of one moment.
//!
//! The moment of a transaction is that of its first operation. It reads the state of the container at that moment, without its own writes,
//! and records what it reads. The commit counts only if nothing that it read has changed since. What must stay true:
//! - Nobody sees any of its writes before the commit, nor after one that failed. Where the outcome is uncertain the program gets
//!   `-DER_TX_UNCERTAIN`.
//! - The commit of a transaction that only reads never fails.
//! - Operations are accepted in the state OPEN only.

pub(crate) mod epoch_log;
pub(crate) mod epochs;
#[cfg(test)]
pub(crate) mod interleaved;
pub(crate) mod own_updates;
pub(crate) mod retry;
pub(crate) mod scope;
pub(crate) mod snapshots;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use isotach_object::{Backoff, Cell, Container as Handle, Epoch, Error, ObjectId, Precondition, Update};

use crate::{
    abi::{constants::*, errors::*},
    containers::{self, Container},
    runtime::{
        error::{Der, Result, invalid, refuse, uncertain},
        handles, locked,
    },
    transactions::{epochs::Moment, own_updates::OwnUpdates},
};

/// The most updates that a transaction of a program may have.
const UPDATES_MAX: usize = 65_535;
/// The most bytes of updates that are committed in one piece, and the most updates in a piece of a larger commit.
const AT_ONCE_MAX: usize = 8 << 20;
const PIECE_UPDATES_MAX: usize = 256;

/// A transaction.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) container: Arc<Container>,
    kind: Kind,
    /// Whether it stands for a single call outside of any transaction: its first update is its commit.
    is_implicit: bool,
    progress: Mutex<Progress>,
}

/// The access of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    ReadAndWrite,
    Read,
    /// Reads the state at this epoch.
    ReadAt(u64),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Status {
    #[default]
    Open,
    Committing,
    Committed,
    /// The commit failed with an error after which it may count.
    Uncertain,
    Aborted,
    /// A conflict with another; it may be restarted.
    Failed,
    Restarting,
}

/// The progress of a transaction. A restart resets it.
#[derive(Debug, Default)]
struct Progress {
    status: Status,
    moment: Option<Moment>,
    /// The state at its moment, once that differs from the present state.
    past: Option<Arc<dyn Handle>>,
    expected: BTreeSet<Expected>,
    updates: OwnUpdates,
    restarts: u32,
}

/// A condition of the commit on a cell.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Expected {
    object: ObjectId,
    dkey: Vec<u8>,
    akey: Vec<u8>,
    what: Expectation,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Expectation {
    Absent,
    Present,
    /// Since the transaction's moment.
    Unchanged,
}

/// A commit that failed.
struct Failure {
    error: Error,
    /// Whether it certainly changed nothing.
    is_certain: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { is_certain: error.is_refusal(), error }
    }
}

/// Commits a transaction, a large one in pieces. The bytes of one piece count as history that passes during the commit, and an engine can
/// only check reads that are followed by a limited amount of history.
fn committed(
    container: &dyn Handle,
    transaction: &isotach_object::Transaction<'_>,
) -> std::result::Result<Epoch, Failure> {
    let size = |update: &Update<'_>| match update {
        Update::Put { value, .. } => value.len(),
        Update::Write { data, .. } => data.len(),
        _ => 0,
    };
    if transaction.updates.iter().map(size).sum::<usize>() <= AT_ONCE_MAX {
        return Ok(containers::commit(container, transaction)?);
    }
    let staging = (|| {
        let mut staging = container.staged_transactions()?.stage()?;
        transaction.updates.chunks(PIECE_UPDATES_MAX).try_for_each(|piece| staging.update(piece))?;
        Ok(staging)
    })();
    // Pieces have no effect without the commit.
    let staging = staging.map_err(|error| Failure { error, is_certain: true })?;
    let epoch = staging.commit(&transaction.preconditions)?;
    containers::flush_committed(container)?;
    Ok(epoch)
}

impl Expected {
    fn of(cell: &Cell<'_>, what: Expectation) -> Self {
        Self { object: cell.object, dkey: cell.dkey.to_vec(), akey: cell.akey.to_vec(), what }
    }

    fn precondition(&self, moment: Epoch) -> Precondition<'_> {
        let cell = Cell { object: self.object, dkey: &self.dkey, akey: &self.akey };
        match self.what {
            Expectation::Absent => Precondition::Absent(cell),
            Expectation::Present => Precondition::Present(cell),
            Expectation::Unchanged => Precondition::Unchanged(cell, moment),
        }
    }
}

/// Whether the engine of a container has transactions.
pub(crate) fn are_supported(container: &Container) -> bool {
    let capabilities = container.inner.capabilities();
    capabilities.transactions && capabilities.snapshots
}

/// See `daos_tx_open`. Bytes are always copied, also with `DAOS_TF_ZERO_COPY`.
pub(crate) fn open(container: u64, flags: u64) -> Result<u64> {
    let container = Container::get(container)?;
    if flags & !(DAOS_TF_RDONLY | DAOS_TF_ZERO_COPY) != 0 {
        return invalid("flags of daos_tx_open: DAOS_TF_RDONLY and DAOS_TF_ZERO_COPY are known");
    }
    if !are_supported(&container) {
        return refuse(DER_NOTSUPPORTED, "transactions: the engine of this pool has none");
    }
    let kind = if flags & DAOS_TF_RDONLY != 0 { Kind::Read } else { Kind::ReadAndWrite };
    Ok(Transaction::new(container, kind).add())
}

/// See `daos_tx_open_snap`. The first read reports an unknown epoch. The state of a snapshot is opened at once, since the snapshot may
/// be destroyed before the first read.
pub(crate) fn open_at(container: u64, epoch: u64) -> Result<u64> {
    let container = Container::get(container)?;
    if epoch == 0 || epoch == DAOS_EPOCH_MAX {
        return invalid("epoch 0, or the highest one, for a transaction");
    }
    if !container.inner.capabilities().snapshots {
        return refuse(DER_NOTSUPPORTED, "reading at an epoch: the engine of this pool has no snapshots");
    }
    let is_snapshot = snapshots::list(&container)?.iter().any(|snapshot| snapshot.epoch == epoch);
    let transaction = Transaction::new(container, Kind::ReadAt(epoch));
    if is_snapshot {
        transaction.past()?;
    }
    Ok(transaction.add())
}

/// See `daos_tx_close`.
pub(crate) fn close(handle: u64) -> Result<()> {
    if Transaction::get(handle)?.lock().status == Status::Committing {
        return refuse(DER_BUSY, "a transaction that is being committed");
    }
    handles::remove(handle)
}

impl Transaction {
    /// The transaction behind a handle.
    pub(crate) fn get(handle: u64) -> Result<Arc<Self>> {
        handles::get(handle, DAOS_HTYPE_TX)
    }

    fn add(self) -> u64 {
        let container = Arc::clone(&self.container);
        handles::add(DAOS_HTYPE_TX, Arc::new(self), Some(container))
    }

    pub(crate) fn new(container: Arc<Container>, kind: Kind) -> Self {
        Self { container, kind, is_implicit: false, progress: Mutex::default() }
    }

    /// A transaction for a single call. Its first update commits it, so the bytes of the update are not copied.
    pub(crate) fn of_call(container: Arc<Container>, kind: Kind) -> Self {
        Self { is_implicit: true, ..Self::new(container, kind) }
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        locked(&self.progress)
    }

    /// Begins an operation, which needs an open transaction. The first one fixes the moment.
    fn begin(&self) -> Result<(MutexGuard<'_, Progress>, Moment)> {
        let mut progress = self.lock();
        if progress.status != Status::Open {
            let why = format!("an operation in a transaction that is not open but {:?}", progress.status);
            return refuse(DER_NO_PERM, &why);
        }
        let moment = match (progress.moment, self.kind) {
            (Some(moment), _) => moment,
            (None, Kind::ReadAt(epoch)) => Moment { epoch, state: epochs::state_at(&self.container, epoch)? },
            (None, _) => epochs::moment(&self.container)?,
        };
        progress.moment = Some(moment);
        Ok((progress, moment))
    }

    /// The state at its moment.
    fn past(&self) -> Result<Arc<dyn Handle>> {
        let (mut progress, moment) = self.begin()?;
        if let Some(past) = &progress.past {
            return Ok(Arc::clone(past));
        }
        match self.container.inner.snapshots()?.open_at(moment.state) {
            Ok(past) => Ok(Arc::clone(progress.past.insert(past))),
            Err(error) => self.lost(&mut progress, error),
        }
    }

    /// What `act` reads of the state at its moment.
    fn read_past<T>(&self, act: impl FnOnce(&dyn Handle) -> isotach_object::Result<T>) -> Result<T> {
        act(&*self.past()?).or_else(|error| self.lost(&mut self.lock(), error))
    }

    /// An error of reading the state at its moment. A purge may remove that state, even if it is open: then the transaction must be
    /// restarted, unless the program named the epoch.
    fn lost<T>(&self, progress: &mut Progress, error: Error) -> Result<T> {
        match (error, self.kind) {
            (Error::NotFound { what }, Kind::ReadAt(epoch)) => {
                refuse(DER_NONEXIST, &format!("{what}, which epoch {epoch} stands for"))
            }
            (Error::NotFound { .. }, _) => {
                // Another thread may have noticed before.
                if progress.status == Status::Open {
                    progress.status = Status::Failed;
                }
                Err(Der(DER_TX_RESTART))
            }
            (error, _) => Err(error.into()),
        }
    }

    /// Adds conditions to the commit.
    fn note_read(&self, cells: impl Iterator<Item = Expected>) -> Result<Moment> {
        let (mut progress, moment) = self.begin()?;
        if self.kind == Kind::ReadAndWrite {
            progress.expected.extend(cells);
        }
        Ok(moment)
    }

    /// What `act` reads of these cells, and of lists. It may be called twice.
    pub(crate) fn read<T>(
        &self,
        cells: &[Cell<'_>],
        act: impl Fn(&dyn Handle) -> isotach_object::Result<T>,
    ) -> Result<T> {
        let moment = self.note_read(cells.iter().map(|cell| Expected::of(cell, Expectation::Unchanged)))?;
        // While nothing has changed the present state is that of its moment, and it is cheaper to read.
        let present = &*self.container.inner;
        if self.lock().past.is_none() && present.epoch()? == moment.state {
            let found = act(present)?;
            if present.epoch()? == moment.state {
                return Ok(found);
            }
        }
        self.read_past(act)
    }

    /// As [`Transaction::read`], for an `act` that fills buffers of the program, and so may be called only once.
    pub(crate) fn read_once<T>(
        &self,
        cells: &[Cell<'_>],
        act: impl FnOnce(&dyn Handle) -> isotach_object::Result<T>,
    ) -> Result<T> {
        self.note_read(cells.iter().map(|cell| Expected::of(cell, Expectation::Unchanged)))?;
        self.read_past(act)
    }

    /// Makes the commit conditional on a cell that holds something.
    pub(crate) fn expect_present(&self, cell: &Cell<'_>) -> Result<()> {
        self.note_read([Expected::of(cell, Expectation::Present)].into_iter()).map(drop)
    }

    /// Adds updates to those that wait for the commit; commits them at once in a transaction for a single call.
    pub(crate) fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        if self.kind != Kind::ReadAndWrite {
            return refuse(DER_NO_PERM, "an update in a transaction that only reads");
        }
        updates.iter().try_for_each(Update::check)?;
        let (mut progress, _) = self.begin()?;
        if self.is_implicit {
            return self.decide(progress, updates.to_vec());
        }
        if progress.updates.len() + updates.len() > UPDATES_MAX {
            return refuse(DER_OVERFLOW, &format!("more than {UPDATES_MAX} updates in one transaction"));
        }
        updates.iter().for_each(|update| progress.updates.add(update));
        Ok(())
    }

    /// As [`Transaction::update`], if the preconditions hold after the earlier updates. Returns the index of the first that does not.
    pub(crate) fn update_if(
        &self,
        preconditions: &[Precondition<'_>],
        updates: &[Update<'_>],
    ) -> Result<Option<usize>> {
        if self.kind == Kind::ReadAndWrite
            && let Some(first) = self.first_failing(preconditions)?
        {
            return Ok(Some(first));
        }
        self.update(updates).map(|()| None)
    }

    /// The index of the first precondition that does not hold after the earlier updates. Where these do not decide, the state at its moment
    /// does, and becomes a condition of the commit, also where the precondition fails.
    fn first_failing(&self, preconditions: &[Precondition<'_>]) -> Result<Option<usize>> {
        let cells: Vec<Cell<'_>> = preconditions.iter().map(Precondition::cell).collect();
        let own: Vec<Option<bool>> = self.own(|own| cells.iter().map(|cell| own.exists(cell)).collect())?;
        let sizes = self.read(&[], |state| state.size_many(&cells))?;
        let (mut relied_on, mut failing) = (Vec::new(), None);
        for (at, condition) in preconditions.iter().enumerate() {
            let exists = own[at].unwrap_or(sizes[at].is_some());
            if own[at].is_none() {
                let what = if exists { Expectation::Present } else { Expectation::Absent };
                relied_on.push(Expected::of(&cells[at], what));
            }
            if exists == matches!(condition, Precondition::Absent(_)) {
                failing = Some(at);
                break;
            }
        }
        self.note_read(relied_on.into_iter())?;
        Ok(failing)
    }

    /// What `look` finds in its updates so far.
    pub(crate) fn own<T>(&self, look: impl FnOnce(&OwnUpdates) -> T) -> Result<T> {
        let (progress, _) = self.begin()?;
        Ok(look(&progress.updates))
    }

    /// See `daos_tx_commit`.
    pub(crate) fn commit(&self) -> Result<()> {
        self.container.check_exists()?;
        let mut progress = self.lock();
        match progress.status {
            Status::Open => {}
            Status::Committed => return Err(Der(DER_ALREADY)),
            Status::Committing => return Err(Der(DER_INPROGRESS)),
            Status::Uncertain => return Err(Der(DER_TX_UNCERTAIN)),
            _ => return refuse(DER_NO_PERM, "a commit of a transaction that is not open"),
        }
        let updates = std::mem::take(&mut progress.updates);
        self.decide(progress, updates.all().collect())
    }

    /// Commits updates on the condition that what was read has not changed.
    fn decide(&self, mut progress: MutexGuard<'_, Progress>, updates: Vec<Update<'_>>) -> Result<()> {
        let expected = std::mem::take(&mut progress.expected);
        let moment = progress.moment.filter(|_| !updates.is_empty());
        // A transaction without updates has read one state, so there is nothing to decide.
        let Some(moment) = moment else {
            progress.status = Status::Committed;
            return Ok(());
        };
        progress.status = Status::Committing;
        drop(progress);
        let preconditions = expected.iter().map(|expected| expected.precondition(moment.state)).collect();
        let outcome =
            committed(&*self.container.inner, &isotach_object::Transaction { preconditions, updates });
        let mut progress = self.lock();
        (progress.status, progress.moment) = match &outcome {
            // Other threads may know later states by now, so the epoch stands for the present one.
            Ok(_) if self.is_implicit => (Status::Committed, None),
            Ok(_) => (Status::Committed, epochs::moment(&self.container).ok()),
            Err(Failure { error: Error::Conflict { .. }, .. }) => (Status::Failed, None),
            Err(failure) if failure.is_certain => (Status::Aborted, None),
            Err(_) => (Status::Uncertain, None),
        };
        match outcome {
            Ok(_) => Ok(()),
            Err(failure) if self.is_implicit || failure.is_certain => Err(failure.error.into()),
            Err(failure) => Err(uncertain(&failure.error)),
        }
    }

    /// See `daos_tx_abort`.
    pub(crate) fn abort(&self) -> Result<()> {
        let mut progress = self.lock();
        match progress.status {
            Status::Open | Status::Failed => {
                *progress = Progress { status: Status::Aborted, ..Progress::default() };
                Ok(())
            }
            Status::Aborted => Err(Der(DER_ALREADY)),
            // Success, or that it is aborted already, would be a promise that it does not count.
            Status::Uncertain => Err(Der(DER_TX_UNCERTAIN)),
            _ => refuse(DER_NO_PERM, "an abort of a transaction that is committed, or under way"),
        }
    }

    /// See `daos_tx_restart`: waits for a random time that grows with each restart.
    pub(crate) fn restart(&self) -> Result<()> {
        let mut progress = self.lock();
        if progress.status != Status::Failed {
            return refuse(DER_NO_PERM, "a restart of a transaction that did not fail by a conflict");
        }
        let restarts = progress.restarts.saturating_add(1);
        *progress = Progress { status: Status::Restarting, restarts, ..Progress::default() };
        drop(progress);
        Backoff::default().pause(restarts, Duration::MAX);
        self.lock().status = Status::Open;
        Ok(())
    }

    /// See `daos_tx_hdl2epoch`: the epoch at which it reads; after a commit one that shows its writes.
    pub(crate) fn epoch(&self) -> Result<u64> {
        match (self.kind, self.lock().moment) {
            (Kind::ReadAt(epoch), _) => Ok(epoch),
            (_, None) => Err(Der(DER_UNINIT)),
            (_, Some(moment)) => {
                epochs::remember(&self.container, moment);
                Ok(moment.epoch)
            }
        }
    }
}
