//! Updates that wait in memory until they are committed.

use super::{CAPABILITIES, SCHEME, container::MemoryContainer};
use crate::{Cell, Container, Epoch, Label, Precondition, Result, Staging, Transaction, Update};

/// The updates of a transaction that is being put together.
#[derive(Debug)]
pub(super) struct MemoryStaging<'c> {
    container: &'c MemoryContainer,
    updates: Vec<Owned>,
}

impl<'c> MemoryStaging<'c> {
    pub(super) fn new(container: &'c MemoryContainer) -> Self {
        Self { container, updates: Vec::new() }
    }
}

impl Staging for MemoryStaging<'_> {
    fn update(&mut self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| update.check_for(SCHEME, CAPABILITIES.redundancy))?;
        self.updates.extend(updates.iter().map(Owned::of));
        Ok(())
    }

    fn commit(self: Box<Self>, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        let updates = self.updates.iter().map(Owned::update).collect();
        self.container.commit(&Transaction { preconditions: preconditions.to_vec(), updates })
    }

    fn park(self: Box<Self>, name: &Label, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        self.container.park(name, preconditions, self.updates)
    }
}

/// An update with a copy of what it refers to.
#[derive(Debug)]
pub(super) struct Owned {
    /// With empty keys and data.
    bare: Update<'static>,
    dkey: Vec<u8>,
    akey: Vec<u8>,
    data: Vec<u8>,
}

impl Owned {
    fn of(update: &Update<'_>) -> Self {
        let (dkey, akey, data): (&[u8], &[u8], &[u8]) = match update {
            Update::Put { cell, value: data } | Update::Write { cell, data, .. } => {
                (cell.dkey, cell.akey, data)
            }
            Update::Remove { cell } | Update::SetSize { cell, .. } | Update::Punch { cell, .. } => {
                (cell.dkey, cell.akey, &[])
            }
            Update::RemoveDkey { dkey, .. } => (dkey, &[], &[]),
            Update::Destroy { .. } => (&[], &[], &[]),
        };
        let bare = with(update, &[], &[], &[]);
        Self { bare, dkey: dkey.to_vec(), akey: akey.to_vec(), data: data.to_vec() }
    }

    pub(super) fn update(&self) -> Update<'_> {
        with(&self.bare, &self.dkey, &self.akey, &self.data)
    }
}

/// The update with other keys and data in it.
fn with<'a>(update: &Update<'_>, dkey: &'a [u8], akey: &'a [u8], data: &'a [u8]) -> Update<'a> {
    let object = update.object();
    let cell = Cell { object, dkey, akey };
    match *update {
        Update::Put { .. } => Update::Put { cell, value: data },
        Update::Remove { .. } => Update::Remove { cell },
        Update::Write { offset, .. } => Update::Write { cell, offset, data },
        Update::SetSize { size, .. } => Update::SetSize { cell, size },
        Update::Punch { offset, length, .. } => Update::Punch { cell, offset, length },
        Update::RemoveDkey { .. } => Update::RemoveDkey { object, dkey },
        Update::Destroy { .. } => Update::Destroy { object },
    }
}
