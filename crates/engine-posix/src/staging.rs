//! Transactions that are given in pieces: their bulk bytes, and their records when they are many, go to data files of
//! their own, and one frame makes all of it count.
//!
//! Invariants:
//! - Until the frame is in the log nothing refers to the files. Dropped, they are removed; after the death of the
//!   process they lie there and never count.
//! - The frame goes to the log when all that it names is on the device. A segment is read by everybody who replays
//!   the log, so it must not be lost where the frame survives.

use std::process;

use isotach_object::{Capabilities, Epoch, Error, Precondition, Result, Staging, Update};

use crate::{CAPABILITIES, SCHEME, data::DataWriter, handle::PosixContainer, record, writer::encode};

/// The updates of a transaction that is being put together.
#[derive(Debug)]
pub(crate) struct PosixStaging<'c> {
    container: &'c PosixContainer,
    /// The process that it belongs to.
    process: u32,
    data: DataWriter,
    /// A record for each segment, in order.
    segments: Vec<u8>,
    /// The records behind them.
    records: Vec<u8>,
    /// An update was added by half.
    failed: bool,
    /// A frame that counts refers to the files, or may.
    committed: bool,
}

impl<'c> PosixStaging<'c> {
    pub(crate) fn new(container: &'c PosixContainer) -> Self {
        Self {
            container,
            process: process::id(),
            data: DataWriter::new(container.place.data.folder()),
            segments: Vec::new(),
            records: Vec::new(),
            failed: false,
            committed: false,
        }
    }

    fn check_usable(&self) -> Result<()> {
        let name = || self.container.place.directory.path().display();
        if self.failed {
            return Err(Error::Poisoned { what: format!("a transaction staged for {}", name()) });
        }
        if self.process != process::id() {
            // Parent and child would write over each other's bytes.
            let what =
                format!("a transaction staged for {} in a process forked since; stage it anew", name());
            return Err(Error::Unsupported { engine: SCHEME, what });
        }
        Ok(())
    }

    fn add(&mut self, update: &Update<'_>) -> Result<()> {
        encode(update, &mut self.records, &mut self.data)?;
        if self.records.len() as u64 >= self.container.place.options.segment {
            let segment = self.data.append(&self.records)?;
            record::encode_segment(&mut self.segments, &segment);
            self.records.clear();
        }
        Ok(())
    }
}

impl Staging for PosixStaging<'_> {
    fn update(&mut self, updates: &[Update<'_>]) -> Result<()> {
        let Capabilities { redundancy, .. } = CAPABILITIES;
        updates.iter().try_for_each(|update| update.check_for(SCHEME, redundancy))?;
        self.check_usable()?;
        self.container.place.log.check_writable()?;
        let added = updates.iter().try_for_each(|update| self.add(update));
        added.inspect_err(|_| self.failed = true)
    }

    fn commit(mut self: Box<Self>, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        preconditions.iter().try_for_each(Precondition::check)?;
        self.check_usable()?;
        self.container.check_current()?;
        self.data.write_out()?;
        if self.container.place.options.sync || !self.segments.is_empty() {
            self.data.sync()?;
        }
        let mut records = std::mem::take(&mut self.segments);
        records.append(&mut self.records);
        let container = self.container;
        let outcome = container.decide(preconditions, |writer| {
            let appended = writer.commit_staged(preconditions, &records, &container.place.log);
            self.committed = !appended.as_ref().is_err_and(is_refusal);
            appended
        });
        self.committed &= !matches!(outcome, Err(Error::Conflict { .. }));
        outcome
    }
}

/// Whether an append that ended like this has left nothing that counts. Of any other error the outcome is unknown.
fn is_refusal(error: &Error) -> bool {
    matches!(
        error,
        Error::NoSpace { .. }
            | Error::PermissionDenied { .. }
            | Error::Poisoned { .. }
            | Error::Unsupported { .. }
            | Error::InvalidInput { .. }
    )
}

impl Drop for PosixStaging<'_> {
    fn drop(&mut self) {
        if !self.committed && self.process == process::id() {
            self.data.discard();
        }
    }
}
