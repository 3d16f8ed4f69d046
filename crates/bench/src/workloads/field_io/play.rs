//! The processes of Field I/O.

use std::collections::HashMap;

use isotach_object::{PoolUri, Registry};
use serde::{Deserialize, Serialize};

use super::fields::{Classes, Contention, Fields, Mode, Name};
use crate::{
    Error, Result,
    harness::{
        events::Recorder,
        launcher::{Process, Rank},
        noise,
    },
};

pub(crate) const NAME: &str = "field-io";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) pool: String,
    pub(crate) mode: Mode,
    pub(crate) contention: Contention,
    pub(crate) classes: Classes,
    pub(crate) size: usize,
    pub(crate) operations: u64,
    pub(crate) action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Action {
    /// Each process writes fields of its own.
    Write,
    /// Each process reads the fields of another.
    Read,
    /// Each process writes fields of its own and, when all have, reads those of another.
    WriteThenRead,
    /// Half of the processes re-write so many fields each, over and over. Each of the others reads the fields of one of them.
    RewriteWhileRead { fields: u64 },
}

pub(crate) fn run_process(task: &Task, process: &mut Process, registry: &Registry) -> Result<()> {
    let pool = registry.open_pool(&task.pool.parse::<PoolUri>()?)?;
    let fields = Fields::open(pool, task.mode, task.contention, task.classes)?;
    let (bytes, buffer) = (noise::block(task.size), vec![0; task.size]);
    let mut job = Job { task, rank: process.rank, fields, bytes, buffer, seen: HashMap::new() };
    match task.action {
        Action::Write => process.phase("write", |recorder| job.write(recorder, task.operations, 0)),
        Action::Read => process.phase("read", |recorder| job.read(recorder, job.rank.neighbour())),
        Action::WriteThenRead => {
            process.phase("write", |recorder| job.write(recorder, task.operations, 0))?;
            process.phase("read", |recorder| job.read(recorder, job.rank.neighbour()))
        }
        Action::RewriteWhileRead { fields } => {
            let (is_writer, writer) = job.rank.half();
            process.phase("setup", |recorder| match is_writer {
                true => job.write(recorder, fields, 0),
                false => Ok(()),
            })?;
            match is_writer {
                true => process.phase("write", |recorder| job.write(recorder, task.operations, 1)),
                false => process.phase("read", |recorder| job.read(recorder, writer)),
            }
        }
    }
}

struct Job<'t> {
    task: &'t Task,
    rank: Rank,
    fields: Fields,
    bytes: Vec<u8>,
    buffer: Vec<u8>,
    /// The version that was read last of each field, by its number.
    seen: HashMap<u64, u64>,
}

impl Job<'_> {
    /// The fields of each writer.
    fn count(&self) -> u64 {
        match self.task.action {
            Action::RewriteWhileRead { fields } => fields,
            Action::Write | Action::Read | Action::WriteThenRead => self.task.operations,
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
        (0..self.task.operations).try_for_each(|at| {
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
        let version = name.version(&self.buffer[..length]).filter(|_| length == self.task.size);
        let Some(version) = version else { return false };
        let before = self.seen.insert(name.number, version);
        before.is_none_or(|before| before <= version)
    }
}
