//! Updates that wait in memory until they are committed.

use super::{CAPABILITIES, SCHEME, container::MemoryContainer};
use crate::{
    Container, Epoch, Label, OwnedUpdate, Precondition, PreparableStaging, Result, Staging, Transaction,
    Update,
};

/// The updates of a transaction that is being put together.
#[derive(Debug)]
pub(super) struct MemoryStaging<'c> {
    container: &'c MemoryContainer,
    updates: Vec<OwnedUpdate>,
}

impl<'c> MemoryStaging<'c> {
    pub(super) fn new(container: &'c MemoryContainer) -> Self {
        Self { container, updates: Vec::new() }
    }
}

impl Staging for MemoryStaging<'_> {
    fn update(&mut self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| update.check_for(SCHEME, CAPABILITIES.redundancy))?;
        self.updates.extend(updates.iter().map(OwnedUpdate::of));
        Ok(())
    }

    fn commit(self: Box<Self>, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        let updates = self.updates.iter().map(OwnedUpdate::update).collect();
        self.container.commit(&Transaction { preconditions: preconditions.to_vec(), updates })
    }
}

impl PreparableStaging for MemoryStaging<'_> {
    fn prepare(self: Box<Self>, name: &Label, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        self.container.prepare(name, preconditions, self.updates)
    }
}
