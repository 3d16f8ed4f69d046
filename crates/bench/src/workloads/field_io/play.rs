//! The processes of Field I/O.

use std::collections::HashMap;

use isotach_engine_kit::aligned::AlignedBuffer;
use isotach_object::Registry;
use serde::{Deserialize, Serialize};

use super::fields::{Classes, Contention, Fields, Mode, Name};
use crate::{
    Error, Result,
    harness::{
        events::Recorder,
        launcher::{Process, Rank},
        noise,
        study::{Location, Work},
    },
};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(super) mode: Mode,
    pub(super) contention: Contention,
    pub(super) classes: Classes,
    pub(super) size: usize,
    pub(super) operations: u64,
    pub(super) action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Action {
    /// Each process writes fields of its own.
    Write,
    /// Each process reads the fields of another.
    Read,
    /// Each process writes fields of its own and, when all have, reads those of another.
    WriteThenRead,
    /// Half of the processes re-write so many fields each, over and over. Each of the others reads the fields of one of them.
    RewriteWhileRead { fields: u64 },
}

impl Work for Run {
    const NAME: &'static str = "field-io";

    fn bytes_written(&self, processes: u64) -> u64 {
        let writes = match self.action {
            Action::Write | Action::WriteThenRead => processes.saturating_mul(self.operations),
            Action::RewriteWhileRead { fields } => (processes / 2).saturating_mul(fields + self.operations),
            Action::Read => 0,
        };
        writes.saturating_mul(self.size as u64)
    }

    fn run(&self, location: &Location, process: &mut Process, registry: &Registry) -> Result<()> {
        let fields =
            Fields::open(registry.open_pool(location.pool()?)?, self.mode, self.contention, self.classes)?;
        let (bytes, buffer) = (noise::block(self.size), AlignedBuffer::new(self.size));
        let mut job = Job { run: self, rank: process.rank, fields, bytes, buffer, seen: HashMap::new() };
        match self.action {
            Action::Write => process.phase("write", |recorder| job.write(recorder, self.operations, 0)),
            Action::Read => process.phase("read", |recorder| job.read(recorder, job.rank.neighbour())),
            Action::WriteThenRead => {
                process.phase("write", |recorder| job.write(recorder, self.operations, 0))?;
                process.phase("read", |recorder| job.read(recorder, job.rank.neighbour()))
            }
            Action::RewriteWhileRead { fields } => {
                let (is_writer, writer) = job.rank.half();
                if is_writer {
                    process.phase("setup", |recorder| job.write(recorder, fields, 0))?;
                    return process.phase("write", |recorder| job.write(recorder, self.operations, 1));
                }
                process.phase("setup", |_| Ok(()))?;
                process.phase("read", |recorder| job.read(recorder, writer))
            }
        }
    }
}

struct Job<'r> {
    run: &'r Run,
    rank: Rank,
    fields: Fields,
    bytes: AlignedBuffer,
    buffer: AlignedBuffer,
    /// The version that was read last of each field, by its number.
    seen: HashMap<u64, u64>,
}

impl Job<'_> {
    /// The fields of each writer.
    fn count(&self) -> u64 {
        match self.run.action {
            Action::RewriteWhileRead { fields } => fields,
            _ => self.run.operations,
        }
    }

    fn write(&mut self, recorder: &mut Recorder, operations: u64, first_version: u64) -> Result<()> {
        let count = self.count().max(1);
        (0..operations).try_for_each(|at| {
            let name = Name { owner: self.rank.process, number: at % count };
            name.write_stamp(first_version + at / count, &mut self.bytes);
            recorder.operation(|timer| self.fields.write(name, &self.bytes, timer))
        })
    }

    fn read(&mut self, recorder: &mut Recorder, owner: u32) -> Result<()> {
        let count = self.count().max(1);
        (0..self.run.operations).try_for_each(|at| {
            let name = Name { owner, number: at % count };
            let found = recorder.operation(|timer| self.fields.read(name, &mut self.buffer, timer))?;
            let length =
                found.ok_or_else(|| Error::wrong("no field", format!("field {at} of process {owner}")))?;
            recorder.check_last(self.is_right(name, length));
            Ok(())
        })
    }

    /// Whether the buffer has a version of the field that is not older than the one read before.
    fn is_right(&mut self, name: Name, length: usize) -> bool {
        let version = name.version(&self.buffer[..length]).filter(|_| length == self.run.size);
        let Some(version) = version else { return false };
        let before = self.seen.insert(name.number, version);
        before.is_none_or(|before| before <= version)
    }
}
