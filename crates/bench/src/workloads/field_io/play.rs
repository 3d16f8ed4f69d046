//! What each process of Field I/O does.

use std::collections::HashMap;

use isotach_object::{PoolUri, Registry};
use serde::{Deserialize, Serialize};

use super::{
    Classes, Mode,
    fields::{Contention, Fields, Name},
};
use crate::{
    Error, Result,
    harness::{
        events::Recorder,
        launcher::{Seat, Stage},
    },
    workloads::ensemble,
};

/// The task of all processes in one play.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) pool: String,
    pub(crate) mode: Mode,
    pub(crate) contention: Contention,
    pub(crate) classes: Classes,
    pub(crate) size: usize,
    /// Operations of each process.
    pub(crate) operations: u64,
    pub(crate) act: Act,
}

/// What there is to do in a play.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Act {
    /// Each process writes fields of its own.
    Write,
    /// Each process reads the fields of another.
    Read,
    /// Each process writes fields of its own and, when all have, reads those of another.
    WriteThenRead,
    /// Half of the processes re-write so many fields each, over and over, while each of the others reads those of one.
    RewriteWhileRead { fields: u64 },
}

/// Does the task.
pub(crate) fn play(task: &Task, stage: &mut Stage, registry: &Registry) -> Result<()> {
    let pool = registry.open_pool(&task.pool.parse::<PoolUri>()?)?;
    let fields = Fields::open(pool, task.mode, task.contention, task.classes)?;
    let (bytes, buffer) = (ensemble::block(task.size), vec![0; task.size]);
    let mut player = Player { task, seat: stage.seat, fields, bytes, buffer, seen: HashMap::new() };
    match task.act {
        Act::Write => stage.phase("write", |recorder| player.write(recorder, task.operations, 0)),
        Act::Read => stage.phase("read", |recorder| player.read(recorder, player.seat.neighbour())),
        Act::WriteThenRead => {
            stage.phase("write", |recorder| player.write(recorder, task.operations, 0))?;
            stage.phase("read", |recorder| player.read(recorder, player.seat.neighbour()))
        }
        Act::RewriteWhileRead { fields } => {
            let (is_writer, writer) = side(player.seat);
            stage.phase("setup", |recorder| match is_writer {
                true => player.write(recorder, fields, 0),
                false => Ok(()),
            })?;
            match is_writer {
                true => stage.phase("write", |recorder| player.write(recorder, task.operations, 1)),
                false => stage.phase("read", |recorder| player.read(recorder, writer)),
            }
        }
    }
}

/// Whether a process is one of the first half, and the number of the one of that half that it goes with.
fn side(seat: Seat) -> (bool, u32) {
    let half = seat.processes / 2;
    (seat.process < half, seat.process % half.max(1))
}

struct Player<'t> {
    task: &'t Task,
    seat: Seat,
    fields: Fields,
    bytes: Vec<u8>,
    buffer: Vec<u8>,
    /// Of each field by its number the version that was read last.
    seen: HashMap<u64, u64>,
}

impl Player<'_> {
    /// How many fields each writer has.
    fn count(&self) -> u64 {
        match self.task.act {
            Act::RewriteWhileRead { fields } => fields,
            Act::Write | Act::Read | Act::WriteThenRead => self.task.operations,
        }
    }

    fn write(&mut self, recorder: &mut Recorder, operations: u64, first_version: u64) -> Result<()> {
        let count = self.count().max(1);
        (0..operations).try_for_each(|at| {
            let name = Name { owner: self.seat.process, number: at % count };
            name.write_stamp(first_version + at / count, &mut self.bytes);
            recorder.operation(|doing| self.fields.write(name, &self.bytes, doing))
        })
    }

    fn read(&mut self, recorder: &mut Recorder, owner: u32) -> Result<()> {
        let count = self.count().max(1);
        (0..self.task.operations).try_for_each(|at| {
            let name = Name { owner, number: at % count };
            let found = recorder.operation(|doing| self.fields.read(name, &mut self.buffer, doing))?;
            let length =
                found.ok_or_else(|| Error::wrong("no field", format!("field {at} of process {owner}")))?;
            recorder.check_last(self.is_right(name, length));
            Ok(())
        })
    }

    /// Whether the buffer has a version of the field that is no older than one that was read before.
    fn is_right(&mut self, name: Name, length: usize) -> bool {
        let version = name.version(&self.buffer[..length]).filter(|_| length == self.task.size);
        let Some(version) = version else { return false };
        let before = self.seen.insert(name.number, version);
        before.is_none_or(|before| before <= version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(process: u32, processes: u32, nodes: u32) -> Seat {
        Seat { process, processes, node: 0, nodes }
    }

    #[test]
    fn the_first_half_writes_and_each_of_the_second_reads_what_one_of_them_has() {
        let sides: Vec<_> = (0..4).map(|process| side(seat(process, 4, 2))).collect();
        assert_eq!(sides, [(true, 0), (true, 1), (false, 0), (false, 1)]);
    }
}
