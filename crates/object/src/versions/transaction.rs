//! One participant's part of a numbered transaction.

use super::{
    Versions,
    books::{Pending, open_key},
};
use crate::{Error, Label, Precondition, PreparableStaging, Result, Update};

/// One participant's part of a numbered transaction; see [`Versions::start`]. Nobody sees its updates, nor does the handle
/// itself, before the transaction is committed. Dropped, or left by a process that dies, it has not finished: the participant can
/// be started again, or the transaction aborted.
#[derive(Debug)]
pub struct NumberedTransaction<'c> {
    pub(super) versions: Versions<'c>,
    pub(super) number: u64,
    pub(super) participant: u32,
    pub(super) participants: u32,
    pub(super) staging: Box<dyn PreparableStaging + 'c>,
}

impl NumberedTransaction<'_> {
    /// The transaction's number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Adds updates behind those that this participant gave before. Of several participants that update one cell, the one with the
    /// greatest number has the last word.
    ///
    /// # Errors
    /// `InvalidInput` for the object in which the transactions keep their books; else as [`crate::Staging::update`].
    pub fn update(&mut self, updates: &[Update<'_>]) -> Result<()> {
        let books = self.versions.object;
        if updates.iter().any(|update| update.object() == books) {
            let what = format!("update of object {books}, which numbered transactions use");
            return Err(Error::invalid(what, "another object"));
        }
        self.staging.update(updates)
    }

    /// Ends this participant's part. It is durable when this returns, whatever becomes of the process; it is seen when all
    /// participants have finished and all lower numbers are settled, which may be at once.
    ///
    /// # Errors
    /// `Conflict` when the transaction has been aborted; `AlreadyExists` when the participant, started twice, has finished
    /// before; else as [`crate::PreparableStaging::prepare`] and [`crate::Container::flush`].
    pub fn finish(self) -> Result<()> {
        let versions = self.versions;
        self.prepare()?;
        // This part has finished. A caller that waits for the transaction gets the error that prevents its commit.
        let _ = versions.settle();
        versions.container.flush()
    }

    /// Aborts the transaction for all its participants.
    ///
    /// # Errors
    /// As [`Versions::abort`].
    pub fn abort(self) -> Result<()> {
        self.versions.abort(self.number)
    }

    /// Ends this participant's part as [`NumberedTransaction::finish`] does, but leaves it to others to settle what is due and
    /// to flush.
    ///
    /// # Errors
    /// As [`NumberedTransaction::finish`].
    pub fn prepare(self) -> Result<()> {
        let Self { versions, number, participant, participants, staging } = self;
        let (key, open) = (open_key(number), Pending::Open { participants }.encode());
        let name: Label = versions.part_name(number, participant)?;
        match staging.prepare(&name, &[Precondition::Equals(versions.cell(&key), &open)]) {
            Ok(_) => Ok(()),
            Err(Error::Conflict { .. }) => {
                Err(Error::Conflict { what: format!("transaction {number} has been aborted or settled") })
            }
            Err(Error::AlreadyExists { .. }) => {
                let what = format!("the part of participant {participant} of transaction {number}");
                Err(Error::AlreadyExists { what })
            }
            Err(error) => Err(error),
        }
    }
}
