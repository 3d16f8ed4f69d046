//! A transaction that is staged in parts. It waits in memory until its commit, as in DAOS's own client.

use isotach_object::{Epoch, Precondition, Result, Staging, Update};

use crate::{changes::Changes, container::DaosContainer};

/// The staged updates of a transaction.
#[derive(Debug)]
pub(crate) struct DaosStaging<'c> {
    container: &'c DaosContainer,
    changes: Changes,
}

impl<'c> DaosStaging<'c> {
    pub(crate) fn new(container: &'c DaosContainer) -> Self {
        Self { container, changes: Changes::default() }
    }
}

impl Staging for DaosStaging<'_> {
    fn update(&mut self, updates: &[Update<'_>]) -> Result<()> {
        updates.iter().try_for_each(|update| self.container.check_update(update))?;
        updates.iter().for_each(|update| self.changes.add(update));
        Ok(())
    }

    fn commit(self: Box<Self>, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        self.container.commit_changes(preconditions, &self.changes)
    }
}
