//! Transactions: what a program writes in one is kept here until it commits, and what it reads is of one moment.
//!
//! A transaction's moment is that of its first operation. It reads the state of the container then, so not what it writes itself, and
//! remembers what it read. Its commit counts only where nobody has changed any of that since. What must stay true:
//! - Before the commit nobody sees anything of it, and of one that fails nobody ever does; where it is not known which it was,
//!   `-DER_TX_UNCERTAIN` says so.
//! - One that only reads needs nothing of the others, and its commit never fails.
//! - Its operations are taken in the state OPEN only.

pub(crate) mod epochs;
#[cfg(test)]
pub(crate) mod interleaved;
pub(crate) mod own_updates;
pub(crate) mod retry;
pub(crate) mod scope;
pub(crate) mod snapshots;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use isotach_object::{Backoff, Cell, Container as Handle, Epoch, Error, ObjectId, Precondition, Update};

use crate::{
    abi::{constants::*, errors::*},
    containers::{self, Container},
    runtime::{
        error::{Der, Result, invalid, refuse},
        handles::{self, Open},
    },
    transactions::{epochs::Moment, own_updates::OwnUpdates},
};

/// How many updates a transaction of a program's may have.
const MOST_UPDATES: usize = 65_535;
/// How many bytes of updates are committed in one piece, and how many updates at most a piece of a larger commit has.
const MOST_AT_ONCE: usize = 8 << 20;
const UPDATES_OF_A_PIECE: usize = 256;

/// A transaction.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) container: Arc<Container>,
    kind: Kind,
    /// Whether a call that is in no transaction was made this one: its update is its commit.
    is_of_call: bool,
    progress: Mutex<Progress>,
}

/// What a transaction may do.
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
    /// Another was faster; it may be restarted.
    Failed,
    Restarting,
}

/// How far a transaction is. A restart begins with a new one.
#[derive(Debug, Default)]
struct Progress {
    status: Status,
    moment: Option<Moment>,
    /// The state at its moment, once it must be told from the present one.
    past: Option<Arc<dyn Handle>>,
    expected: BTreeSet<Expected>,
    updates: OwnUpdates,
    restarts: u32,
}

/// What a commit relies on of a cell.
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

/// Commits; a large one in pieces, since what is in one piece counts as history that goes by while it is committed, of which what was read
/// may have so much behind it and no more.
fn committed(
    container: &dyn Handle,
    transaction: &isotach_object::Transaction<'_>,
) -> isotach_object::Result<Epoch> {
    let size = |update: &Update<'_>| match update {
        Update::Put { value, .. } => value.len(),
        Update::Write { data, .. } => data.len(),
        _ => 0,
    };
    if transaction.updates.iter().map(size).sum::<usize>() <= MOST_AT_ONCE {
        return containers::commit(container, transaction);
    }
    let mut staging = container.staged_transactions()?.stage()?;
    transaction.updates.chunks(UPDATES_OF_A_PIECE).try_for_each(|piece| staging.update(piece))?;
    let epoch = staging.commit(&transaction.preconditions)?;
    containers::flush_committed(container).map(|()| epoch)
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

/// The error of something that takes effect whole or not at all: `DER_TX_UNCERTAIN`, unless the engine says that nothing counts.
pub(crate) fn uncertain_unless_refused(error: Error) -> Der {
    match error.is_refusal() {
        true => error.into(),
        false => Der::logged(DER_TX_UNCERTAIN, &format!("the outcome is uncertain: {error}")),
    }
}

/// Whether transactions can be had on a container.
pub(crate) fn are_there(container: &Container) -> bool {
    let capabilities = container.inner.capabilities();
    capabilities.transactions && capabilities.snapshots
}

/// See `daos_tx_open`. Bytes are copied, whether or not the program asks for that.
pub(crate) fn open(container: u64, flags: u64) -> Result<u64> {
    let container = handles::container(container)?;
    if flags & !(DAOS_TF_RDONLY | DAOS_TF_ZERO_COPY) != 0 {
        return invalid("flags of daos_tx_open: DAOS_TF_RDONLY and DAOS_TF_ZERO_COPY are known");
    }
    if !are_there(&container) {
        return refuse(DER_NOTSUPPORTED, "transactions: the engine of this pool has none");
    }
    let kind = if flags & DAOS_TF_RDONLY != 0 { Kind::Read } else { Kind::ReadAndWrite };
    Ok(handles::add(Open::Transaction(Arc::new(Transaction::new(container, kind)))))
}

/// See `daos_tx_open_snap`. Whether something is known of the epoch shows when something is read; but the state of a snapshot is opened at
/// once, since it may be destroyed before.
pub(crate) fn open_at(container: u64, epoch: u64) -> Result<u64> {
    let container = handles::container(container)?;
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
    Ok(handles::add(Open::Transaction(Arc::new(transaction))))
}

/// See `daos_tx_close`.
pub(crate) fn close(handle: u64) -> Result<()> {
    if handles::transaction(handle)?.lock().status == Status::Committing {
        return refuse(DER_BUSY, "a transaction that is being committed");
    }
    handles::remove(handle).map(drop)
}

impl Transaction {
    pub(crate) fn new(container: Arc<Container>, kind: Kind) -> Self {
        Self { container, kind, is_of_call: false, progress: Mutex::default() }
    }

    /// One that a call is made which is in none. It is committed by its first update, of whose bytes no copy is made so.
    pub(crate) fn of_call(container: Arc<Container>, kind: Kind) -> Self {
        Self { is_of_call: true, ..Self::new(container, kind) }
    }

    fn lock(&self) -> MutexGuard<'_, Progress> {
        // Each step leaves it whole.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an operation: refuses it unless the transaction is open, and sees to it that the transaction has its moment.
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

    /// An error of reading the state at its moment. A purge may take that away, also when it was opened already: then the transaction
    /// begins anew, but for one of a moment that the program has named.
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

    /// Takes part in a commit's conditions that these cells do not change.
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
        // As long as nothing was changed the present state is that of its moment, and costs less.
        let present = &*self.container.inner;
        if self.lock().past.is_none() && present.epoch()? == moment.state {
            let found = act(present)?;
            if present.epoch()? == moment.state {
                return Ok(found);
            }
        }
        self.read_past(act)
    }

    /// What `act` reads of these cells into places of the program's, which it fills once.
    pub(crate) fn read_once<T>(
        &self,
        cells: &[Cell<'_>],
        act: impl FnOnce(&dyn Handle) -> isotach_object::Result<T>,
    ) -> Result<T> {
        self.note_read(cells.iter().map(|cell| Expected::of(cell, Expectation::Unchanged)))?;
        self.read_past(act)
    }

    /// The commit is to count only while a cell holds something.
    pub(crate) fn expect_present(&self, cell: &Cell<'_>) -> Result<()> {
        self.note_read([Expected::of(cell, Expectation::Present)].into_iter()).map(drop)
    }

    /// Keeps updates for the commit, or commits them.
    pub(crate) fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        if self.kind != Kind::ReadAndWrite {
            return refuse(DER_NO_PERM, "an update in a transaction that only reads");
        }
        updates.iter().try_for_each(Update::check)?;
        let (mut progress, _) = self.begin()?;
        if self.is_of_call {
            return self.decide(progress, updates.to_vec());
        }
        if progress.updates.len() + updates.len() > MOST_UPDATES {
            return refuse(DER_OVERFLOW, &format!("more than {MOST_UPDATES} updates in one transaction"));
        }
        updates.iter().for_each(|update| progress.updates.add(update));
        Ok(())
    }

    /// As [`Transaction::update`], if conditions hold after the updates before; gives the number of the first that does not.
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

    /// The first of conditions that does not hold after the updates so far. Where these do not decide, the state at its moment does, and the
    /// commit relies on it: also on what made a condition fail.
    fn first_failing(&self, preconditions: &[Precondition<'_>]) -> Result<Option<usize>> {
        let cells: Vec<Cell<'_>> = preconditions.iter().map(Precondition::cell).collect();
        let own: Vec<Option<bool>> = self.own(|own| cells.iter().map(|cell| own.is_there(cell)).collect())?;
        let sizes = self.read(&[], |state| state.size_many(&cells))?;
        let (mut relied_on, mut failing) = (Vec::new(), None);
        for (at, condition) in preconditions.iter().enumerate() {
            let is_there = own[at].unwrap_or(sizes[at].is_some());
            if own[at].is_none() {
                let what = if is_there { Expectation::Present } else { Expectation::Absent };
                relied_on.push(Expected::of(&cells[at], what));
            }
            if is_there == matches!(condition, Precondition::Absent(_)) {
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
        self.container.check_there()?;
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

    /// Commits updates, under the condition that what was read is still so.
    fn decide(&self, mut progress: MutexGuard<'_, Progress>, updates: Vec<Update<'_>>) -> Result<()> {
        let expected = std::mem::take(&mut progress.expected);
        let moment = progress.moment.filter(|_| !updates.is_empty());
        // What only read did so at its moment, and that is all there is to it.
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
            // Others may have been told of later states by now, so it is the present one that the epoch stands for.
            Ok(_) if self.is_of_call => (Status::Committed, None),
            Ok(_) => (Status::Committed, epochs::moment(&self.container).ok()),
            Err(Error::Conflict { .. }) => (Status::Failed, None),
            Err(error) if error.is_refusal() => (Status::Aborted, None),
            Err(_) => (Status::Uncertain, None),
        };
        match outcome {
            Ok(_) => Ok(()),
            Err(error) if self.is_of_call => Err(error.into()),
            Err(error) => Err(uncertain_unless_refused(error)),
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

    /// See `daos_tx_restart`: waits a little, by chance and longer each time, so that those who met do not meet again.
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

    /// See `daos_tx_hdl2epoch`: the epoch that it reads at; after a commit that of what it wrote.
    pub(crate) fn epoch(&self) -> Result<u64> {
        match (self.kind, self.lock().moment) {
            (Kind::ReadAt(epoch), _) => Ok(epoch),
            (_, None) => Err(Der(DER_UNINIT)),
            (_, Some(moment)) => {
                epochs::tell(&self.container, moment);
                Ok(moment.epoch)
            }
        }
    }
}
