//! Where an operation takes place: in a container as it is now, or in a transaction. Operations on objects reach the engine by this only, so
//! each is written once.

use std::sync::Arc;

use isotach_object::{ArrayRead, Cell, Container as Handle, Precondition, Update};

use crate::{
    containers::Container,
    runtime::{
        error::{Result, invalid},
        handles,
    },
    transactions::{self, Kind, Transaction, epochs, own_updates::OwnUpdates, retry::until_first},
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
        container.check_there()?;
        if transaction == 0 {
            return Ok(Self::present(container));
        }
        let transaction = handles::transaction(transaction)?;
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

    /// Reads bytes into places of the program's.
    pub(crate) fn read_into(&self, reads: &mut [ArrayRead<'_>]) -> Result<()> {
        let Some(transaction) = &self.transaction else {
            return Ok(read_up_to_end(&*self.container.inner, reads)?);
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
    pub(crate) fn own<T>(&self, look: impl FnOnce(&OwnUpdates) -> T) -> Result<T> {
        match &self.transaction {
            None => Ok(look(&OwnUpdates::default())),
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

    /// The epoch of what is read: of the transaction, or now.
    pub(crate) fn epoch(&self) -> Result<u64> {
        self.transaction.as_ref().map_or_else(|| Ok(epochs::next()), |transaction| transaction.epoch())
    }

    /// What `act` reads is of one moment, where the engine has transactions.
    pub(crate) fn at_one_moment<T>(&self, act: impl Fn(&Self) -> Result<T>) -> Result<T> {
        if !self.can_begin() {
            return act(self);
        }
        // The present state costs less than one of the past. It is the same as long as nobody changes anything.
        let present = &*self.container.inner;
        for _ in 0..MOST_LOOKS {
            let before = present.epoch()?;
            let found = act(self);
            if present.epoch()? == before {
                return found;
            }
        }
        self.frozen(act)
    }

    /// As [`Scope::at_one_moment`], for few reads, since a state of the past costs more to read.
    pub(crate) fn frozen<T>(&self, act: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        self.inside(Kind::Read, act)
    }

    /// What `act` reads is as it is when its update counts, of which there is one at most, where the engine has transactions.
    pub(crate) fn together<T>(&self, act: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        self.inside(Kind::ReadAndWrite, act)
    }

    /// Whether an operation here may be made a transaction of its own.
    fn can_begin(&self) -> bool {
        self.transaction.is_none() && transactions::are_there(&self.container)
    }

    /// Does something in a transaction of its own, again as long as others are faster; where there can be none, as it is.
    fn inside<T>(&self, kind: Kind, mut act: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        if !self.can_begin() {
            return act(self);
        }
        until_first(|| {
            let transaction = Transaction::of_call(Arc::clone(&self.container), kind);
            act(&Self::within(&self.container, &Arc::new(transaction)))
        })
    }
}

/// Reads bytes, and leaves alone what of the buffers is behind the end of a cell. An engine without transactions learns where that is together
/// with the bytes, and may put there what was cut off.
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
