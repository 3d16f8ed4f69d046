//! The scope of an operation: a container as it is now, or a transaction. Operations on objects reach the engine only through a scope, so
//! each is written once.

use std::sync::Arc;

use isotach_object::{ArrayRead, Cell, Container as Handle, Precondition, Update};

use crate::{
    abi::errors::{DER_EXIST, DER_NONEXIST},
    containers::Container,
    runtime::error::{Der, Result, invalid},
    transactions::{self, Kind, Transaction, epochs, own_updates::OwnUpdates, retry::retry_conflicts},
};

/// How many times the present state is read before a consistent read turns to a state of the past.
const LOOKS_MAX: usize = 10;

/// The most bytes of arrays that a transaction reads through a copy, which lets it use the present state. Reading the past costs more.
const COPIED_MAX: usize = 1 << 20;

/// The scope of an operation.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) container: Arc<Container>,
    transaction: Option<Arc<Transaction>>,
}

impl Scope {
    /// A container as it is now.
    pub(crate) fn present(container: Arc<Container>) -> Self {
        Self { container, transaction: None }
    }

    /// A container, in the transaction with this handle; 0 for none.
    ///
    /// # Errors
    /// `DER_NO_HDL`; `DER_INVAL` for a transaction of another container.
    pub(crate) fn of(container: Arc<Container>, transaction: u64) -> Result<Self> {
        container.check_exists()?;
        if transaction == 0 {
            return Ok(Self::present(container));
        }
        let transaction = Transaction::get(transaction)?;
        match transaction.container.is_same(&container) {
            true => Ok(Self { container, transaction: Some(transaction) }),
            false => invalid("a transaction of another container"),
        }
    }

    /// A container, in a transaction of it.
    pub(crate) fn within(container: &Arc<Container>, transaction: &Arc<Transaction>) -> Self {
        Self { container: Arc::clone(container), transaction: Some(Arc::clone(transaction)) }
    }

    /// What `act` reads of these cells, and of lists. It may be called twice.
    pub(crate) fn read<T>(
        &self,
        cells: &[Cell<'_>],
        act: impl Fn(&dyn Handle) -> isotach_object::Result<T>,
    ) -> Result<T> {
        match &self.transaction {
            None => Ok(act(&*self.container.inner)?),
            Some(transaction) => transaction.read(cells, act),
        }
    }

    /// Reads bytes into buffers of the program.
    pub(crate) fn read_into(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        let Some(transaction) = &self.transaction else {
            return Ok(read_up_to_end(&*self.container.inner, reads)?);
        };
        let mut cells: Vec<Cell<'_>> = reads.iter().map(|read| read.cell).collect();
        cells.dedup();
        if reads.iter().map(|read| read.buffer.len()).sum::<usize>() > COPIED_MAX {
            return transaction.read_once(&cells, |state| state.read_many(reads));
        }
        let found = transaction.read(&cells, |state| copies(state, reads))?;
        for (read, bytes) in reads.iter_mut().zip(found) {
            read.filled = bytes.len();
            read.buffer[..bytes.len()].copy_from_slice(&bytes);
        }
        Ok(())
    }

    /// The value of a cell.
    pub(crate) fn get(&self, cell: Cell<'_>) -> Result<Option<Vec<u8>>> {
        self.read(&[cell], |state| Ok(state.get_many(&[cell])?.pop().flatten()))
    }

    /// The size of a cell in bytes.
    pub(crate) fn size(&self, cell: Cell<'_>) -> Result<Option<u64>> {
        self.read(&[cell], |state| Ok(state.size_many(&[cell])?.pop().flatten()))
    }

    /// Makes the commit conditional on a cell that holds something. Does nothing outside of a transaction.
    pub(crate) fn expect_present(&self, cell: &Cell<'_>) -> Result<()> {
        self.transaction.as_ref().map_or(Ok(()), |transaction| transaction.expect_present(cell))
    }

    /// What `look` finds in the updates that wait for the commit. Reads do not see these; conditions of later updates do.
    pub(crate) fn own<T>(&self, look: impl FnOnce(&OwnUpdates) -> T) -> Result<T> {
        match &self.transaction {
            None => Ok(look(&OwnUpdates::default())),
            Some(transaction) => transaction.own(look),
        }
    }

    /// Applies updates, or adds them to those that wait for the commit.
    pub(crate) fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        match &self.transaction {
            None => self.container.update(updates),
            Some(transaction) => self.container.check_writable().and_then(|()| transaction.update(updates)),
        }
    }

    /// As [`Scope::update`], if all preconditions hold.
    ///
    /// # Errors
    /// By the first that does not hold: `DER_EXIST` where a cell was to be absent, else `DER_NONEXIST`.
    pub(crate) fn update_if(&self, preconditions: &[Precondition<'_>], updates: &[Update<'_>]) -> Result<()> {
        let failing = match &self.transaction {
            None => self.container.update_if(preconditions, updates)?,
            Some(transaction) => {
                self.container.check_writable()?;
                transaction.update_if(preconditions, updates)?
            }
        };
        match failing.map(|at| &preconditions[at]) {
            None => Ok(()),
            Some(Precondition::Absent(_)) => Err(Der(DER_EXIST)),
            Some(_) => Err(Der(DER_NONEXIST)),
        }
    }

    /// The epoch of what is read: of the transaction, or now.
    pub(crate) fn epoch(&self) -> Result<u64> {
        self.transaction.as_ref().map_or_else(|| Ok(epochs::next()), |transaction| transaction.epoch())
    }

    /// Runs `act` so that all its reads are of one moment, on an engine with transactions.
    pub(crate) fn consistent_read<T>(&self, act: impl Fn(&Self) -> Result<T>) -> Result<T> {
        if !self.can_begin() {
            return act(self);
        }
        // The present state is cheaper to read than one of the past, and consistent while nothing changes.
        let present = &*self.container.inner;
        for _ in 0..LOOKS_MAX {
            let before = present.epoch()?;
            let found = act(self);
            if present.epoch()? == before {
                return found;
            }
        }
        self.snapshot_read(act)
    }

    /// As [`Scope::consistent_read`], from a state of the past at once. For few reads, since these cost more.
    pub(crate) fn snapshot_read<T>(&self, act: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        self.in_own_transaction(Kind::Read, act)
    }

    /// Runs `act`, whose one update counts only if its reads still hold then, on an engine with transactions.
    pub(crate) fn atomic<T>(&self, act: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        self.in_own_transaction(Kind::ReadAndWrite, act)
    }

    /// Whether an operation in this scope can get a transaction of its own.
    fn can_begin(&self) -> bool {
        self.transaction.is_none() && transactions::are_supported(&self.container)
    }

    /// Runs `act` in a transaction of its own, and repeats it on conflicts; without one where there can be none.
    fn in_own_transaction<T>(&self, kind: Kind, mut act: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        if !self.can_begin() {
            return act(self);
        }
        retry_conflicts(|| {
            let transaction = Transaction::of_call(Arc::clone(&self.container), kind);
            act(&Self::within(&self.container, &Arc::new(transaction)))
        })
    }
}

/// Reads bytes, and leaves the buffers unchanged behind the end of a cell. An engine without transactions may fill them there with bytes that
/// were just cut off, so there the size is read first.
fn read_up_to_end(state: &dyn Handle, reads: &mut [ArrayRead<'_>]) -> isotach_object::Result<()> {
    if state.capabilities().transactions {
        return state.read_many(reads);
    }
    let cells: Vec<Cell<'_>> = reads.iter().map(|read| read.cell).collect();
    let there = |read: &ArrayRead<'_>, size: Option<u64>| {
        size.unwrap_or(0).saturating_sub(read.offset).min(read.buffer.len() as u64) as usize
    };
    let (mut numbers, mut within) = (Vec::new(), Vec::new());
    for (number, (read, size)) in reads.iter_mut().zip(state.size_many(&cells)?).enumerate() {
        let (there, ArrayRead { cell, offset, buffer, filled }) = (there(read, size), read);
        *filled = 0;
        if there > 0 {
            numbers.push(number);
            within.push(ArrayRead { cell: *cell, offset: *offset, buffer: &mut buffer[..there], filled: 0 });
        }
    }
    state.read_many(&mut within)?;
    let filled: Vec<usize> = within.iter().map(|read| read.filled).collect();
    numbers.into_iter().zip(filled).for_each(|(number, filled)| reads[number].filled = filled);
    Ok(())
}

/// Copies of the bytes of reads.
fn copies(state: &dyn Handle, reads: &[ArrayRead<'_>]) -> isotach_object::Result<Vec<Vec<u8>>> {
    let mut buffers: Vec<Vec<u8>> = reads.iter().map(|read| vec![0; read.buffer.len()]).collect();
    let places = reads.iter().zip(&mut buffers);
    let mut copies: Vec<ArrayRead<'_>> = places
        .map(|(read, buffer)| ArrayRead { cell: read.cell, offset: read.offset, buffer, filled: 0 })
        .collect();
    state.read_many(&mut copies)?;
    let filled: Vec<usize> = copies.iter().map(|copy| copy.filled).collect();
    buffers.iter_mut().zip(filled).for_each(|(buffer, filled)| buffer.truncate(filled));
    Ok(buffers)
}
