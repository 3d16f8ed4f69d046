//! Where an operation takes place: in a container as it is now, or in a transaction. Operations on objects reach the engine by this only, so
//! each is written once.

use std::{sync::Arc, time::Duration};

use isotach_object::{ArrayRead, Backoff, Cell, Container as Handle, OwnedUpdate, Precondition, Update};

use crate::{
    abi::errors::*,
    containers::Container,
    error::{Der, Result, invalid},
    handles,
    transactions::{self, Kind, Transaction},
};

/// How often the present state is looked at for something that must be of one moment.
const MOST_LOOKS: usize = 10;

/// Up to so many bytes of arrays are copied when a transaction reads them, so that they need not be read from the past: that costs more.
const MOST_COPIED: usize = 1 << 20;

/// Where an operation takes place.
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
        if transaction == 0 {
            return Ok(Self::present(container));
        }
        let transaction = handles::transaction(transaction)?;
        match transaction.container.is_same(&container) {
            true => Ok(Self { container, transaction: Some(transaction) }),
            false => invalid("a transaction of another container"),
        }
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

    /// Reads bytes into places of the program's.
    pub(crate) fn read_into(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        let Some(transaction) = &self.transaction else {
            return Ok(self.container.inner.read_many(reads)?);
        };
        let mut cells: Vec<Cell<'_>> = reads.iter().map(|read| read.cell).collect();
        cells.dedup();
        if reads.iter().map(|read| read.buffer.len()).sum::<usize>() > MOST_COPIED {
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

    /// How many bytes a cell has.
    pub(crate) fn size(&self, cell: Cell<'_>) -> Result<Option<u64>> {
        self.read(&[cell], |state| Ok(state.size_many(&[cell])?.pop().flatten()))
    }

    /// What follows is right only as long as a cell holds something. Outside of a transaction nobody can see to that.
    pub(crate) fn expect_present(&self, cell: &Cell<'_>) -> Result<()> {
        self.transaction.as_ref().map_or(Ok(()), |transaction| transaction.expect_present(cell))
    }

    /// What `look` finds in the updates so far that wait for a commit. Reads do not see them; what later updates depend on does.
    pub(crate) fn own<T>(&self, look: impl FnOnce(&[OwnedUpdate]) -> T) -> Result<T> {
        match &self.transaction {
            None => Ok(look(&[])),
            Some(transaction) => transaction.own(look),
        }
    }

    /// Does updates, or keeps them for the commit.
    pub(crate) fn update(&self, updates: &[Update<'_>]) -> Result<()> {
        match &self.transaction {
            None => self.container.update(updates),
            Some(transaction) => self.container.check_writable().and_then(|()| transaction.update(updates)),
        }
    }

    /// As [`Scope::update`], if conditions hold; gives the number of the first that does not.
    pub(crate) fn update_if(
        &self,
        preconditions: &[Precondition<'_>],
        updates: &[Update<'_>],
    ) -> Result<Option<usize>> {
        match &self.transaction {
            None => self.container.update_if(preconditions, updates),
            Some(transaction) => {
                self.container.check_writable()?;
                transaction.update_if(preconditions, updates)
            }
        }
    }

    /// What `act` reads is of one moment, where the engine has transactions.
    pub(crate) fn at_one_moment<T>(&self, act: impl Fn(&Self) -> Result<T>) -> Result<T> {
        let Some(inside) = self.inside(Kind::Read) else { return act(self) };
        // The present state costs less than one of the past. It is the same as long as nobody changes anything.
        let present = &*self.container.inner;
        for _ in 0..MOST_LOOKS {
            let before = present.epoch()?;
            let found = act(self);
            if present.epoch()? == before {
                return found;
            }
        }
        act(&inside)
    }

    /// Where all reads are of one moment, where the engine has transactions: for few of them, since a state of the past costs more to read.
    pub(crate) fn frozen(&self) -> Self {
        self.inside(Kind::Read).unwrap_or_else(|| self.clone())
    }

    /// What `act` reads and updates happens at one moment, where the engine has transactions: outside of one it is made a transaction of
    /// its own, and done again as long as others are faster.
    pub(crate) fn together<T>(&self, act: impl Fn(&Self) -> Result<T>) -> Result<T> {
        let backoff = Backoff::default();
        for attempt in 1.. {
            let Some(inside) = self.inside(Kind::ReadAndWrite) else { break };
            let done = act(&inside).and_then(|done| inside.commit().map(|()| done));
            match done {
                Err(Der(DER_TX_RESTART)) if attempt < backoff.attempts => {
                    backoff.pause(attempt, Duration::MAX);
                }
                done => return done,
            }
        }
        act(self)
    }

    /// A transaction of its own, where this is none and there can be one.
    fn inside(&self, kind: Kind) -> Option<Self> {
        let is_needed = self.transaction.is_none() && transactions::are_there(&self.container);
        let container = &self.container;
        is_needed.then(|| Self {
            container: Arc::clone(container),
            transaction: Some(Arc::new(Transaction::new(Arc::clone(container), kind))),
        })
    }

    fn commit(&self) -> Result<()> {
        self.transaction.as_ref().map_or(Ok(()), |transaction| transaction.commit())
    }
}

/// The bytes that reads find.
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
