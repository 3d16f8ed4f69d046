//! Staged transactions: their bulk bytes, and their records if there are many, go to data files of their own, and one frame commits them.
//!
//! Invariants:
//! - Until the frame is in the log nothing refers to the files. A stage that is dropped removes them. If the process dies they stay and
//!   never count.
//! - The files stay locked until the verdict on the frame is known, so no purge removes them before it can see the frame.
//! - The frame is appended after everything it names is on the device. Every reader that replays the log reads the segments, so they must
//!   not be lost if the frame survives.

use std::process;

use isotach_object::{
    Capabilities, Epoch, Error, Label, Precondition, PreparableStaging, Result, Staging, Transaction, Update,
};

use crate::{
    capability::{CAPABILITIES, SCHEME},
    format::record::{self, INLINE_MAX},
    handle::PosixContainer,
    io::data::DataWriter,
    transaction::{
        prepared::{self, Stage},
        writer::encode,
    },
};

/// A transaction that is being staged.
#[derive(Debug)]
pub(crate) struct PosixStaging<'c> {
    container: &'c PosixContainer,
    /// The process that owns it.
    process: u32,
    data: DataWriter,
    /// A record for each segment, in order.
    segments: Vec<u8>,
    /// The records after them.
    records: Vec<u8>,
    /// An update was added in part.
    failed: bool,
    /// A frame that counts refers to the files, or may.
    committed: bool,
}

impl<'c> PosixStaging<'c> {
    pub(crate) fn new(container: &'c PosixContainer) -> Self {
        Self {
            container,
            process: process::id(),
            data: DataWriter::new(container.storage.data.folder(), container.storage.options.sync),
            segments: Vec::new(),
            records: container.lend_buffer(),
            failed: false,
            committed: false,
        }
    }

    fn check_usable(&self) -> Result<()> {
        let name = || self.container.storage.directory.path().display();
        if self.failed {
            return Err(Error::Poisoned { what: format!("a transaction staged for {}", name()) });
        }
        if self.process != process::id() {
            // Parent and child would overwrite each other's bytes.
            let what =
                format!("a transaction staged for {} in a process forked since; stage it anew", name());
            return Err(Error::Unsupported { engine: SCHEME, what });
        }
        Ok(())
    }

    /// Moves the gathered records to the data file.
    fn close_segment(&mut self) -> Result<()> {
        let segment = self.data.append(&self.records)?;
        record::encode_segment(&mut self.segments, &segment);
        self.records.clear();
        Ok(())
    }

    /// Makes the files durable and returns the records for a frame.
    fn close(&mut self) -> Result<Vec<u8>> {
        self.data.write_out()?;
        if self.container.storage.options.sync || !self.segments.is_empty() {
            self.data.sync()?;
        }
        // Segments come before the records that follow them.
        self.records.splice(..0, self.segments.drain(..));
        Ok(std::mem::take(&mut self.records))
    }

    /// Appends a frame with these preconditions and records, and takes the verdict on it. Returns the precondition that failed first, if
    /// the frame does not count.
    fn append(
        &mut self,
        preconditions: Vec<Precondition<'_>>,
        records: &[u8],
    ) -> Result<std::result::Result<Epoch, usize>> {
        let container = self.container;
        let transaction = Transaction { preconditions, updates: Vec::new() };
        let outcome = container.judge(&transaction.preconditions, |writer| {
            let appended = writer.commit(&transaction, records, &container.storage.log);
            self.committed = !appended.as_ref().is_err_and(Error::is_refusal);
            appended
        });
        self.committed &= !matches!(outcome, Ok(Err(_)));
        outcome
    }

    fn add(&mut self, update: &Update<'_>) -> Result<()> {
        encode(update, &mut self.records, &mut self.data)?;
        if self.records.len() as u64 >= self.container.storage.options.segment {
            self.close_segment()?;
        }
        Ok(())
    }
}

impl Staging for PosixStaging<'_> {
    fn update(&mut self, updates: &[Update<'_>]) -> Result<()> {
        let Capabilities { redundancy, .. } = CAPABILITIES;
        updates.iter().try_for_each(|update| update.check_for(SCHEME, redundancy))?;
        self.check_usable()?;
        self.container.storage.log.check_writable()?;
        let added = updates.iter().try_for_each(|update| self.add(update));
        added.inspect_err(|_| self.failed = true)
    }

    fn commit(mut self: Box<Self>, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        preconditions.iter().try_for_each(Precondition::check)?;
        self.check_usable()?;
        self.container.check_current()?;
        let records = self.close()?;
        let decided = self.append(preconditions.to_vec(), &records);
        self.container.return_buffer(records);
        decided?.map_err(|failed| preconditions[failed].conflict())
    }
}

impl PreparableStaging for PosixStaging<'_> {
    fn prepare(mut self: Box<Self>, name: &Label, preconditions: &[Precondition<'_>]) -> Result<Epoch> {
        preconditions.iter().try_for_each(Precondition::check)?;
        self.check_usable()?;
        self.container.check_current()?;
        if self.records.len() > INLINE_MAX {
            self.close_segment()?;
        }
        let records = self.close()?;
        let mut put = Vec::new();
        Stage { files: self.data.made().to_vec(), records: &records }.encode(name, &mut put);
        let free = [Precondition::Absent(prepared::cell(name))];
        let decided = self.append([&free, preconditions].concat(), &put)?;
        decided.map_err(|failed| match failed.checked_sub(1) {
            Some(failed) => preconditions[failed].conflict(),
            None => {
                let what = format!("prepared transaction {name} of container {}", self.container.label);
                Error::AlreadyExists { what }
            }
        })
    }
}

impl Drop for PosixStaging<'_> {
    fn drop(&mut self) {
        if !self.committed && self.process == process::id() {
            self.data.discard();
        }
    }
}
