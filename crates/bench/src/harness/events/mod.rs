//! The events of every operation of a process, as the published method defines them.
//!
//! Times are nanoseconds since 1970. A process reads the system's time once, at its start, and counts from there by the
//! monotonic clock. So the times of one node never jump, and those of several nodes differ as their clocks do, which the
//! driver compares and corrects (see `launcher`).

mod file;
mod notes;
mod recorder;

use serde::{Deserialize, Serialize};

pub(crate) use file::{EventsFile, read_events};
#[cfg(test)]
pub(crate) use notes::Profile;
pub(crate) use notes::{CallTime, Calls, Mark, Marked, Notes};
pub(crate) use recorder::{Clock, Recorder, Timer};

/// The moments of an operation, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    IoStart,
    OpenStart,
    OpenEnd,
    TransferStart,
    TransferEnd,
    CloseStart,
    CloseEnd,
    IoEnd,
}

impl Moment {
    pub(crate) const COUNT: usize = 8;
    pub(crate) const NAMES: [&'static str; Self::COUNT] = [
        "io_start",
        "open_start",
        "open_end",
        "transfer_start",
        "transfer_end",
        "close_start",
        "close_end",
        "io_end",
    ];
}

/// One operation: the write or read of a field or a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Operation {
    /// The number of its iteration within process and phase, from 0. An iteration has one operation or several.
    pub(crate) iteration: u64,
    pub(crate) bytes: u64,
    /// Whether it read other bytes than were written.
    pub(crate) wrong: bool,
    /// The time of each [`Moment`]; 0 for a moment that the operation does not have.
    pub(crate) times: [i64; Moment::COUNT],
}

impl Operation {
    pub(crate) fn at(&self, moment: Moment) -> i64 {
        self.times[moment as usize]
    }

    fn shift(&mut self, nanoseconds: i64) {
        self.times.iter_mut().filter(|time| **time != 0).for_each(|time| *time += nanoseconds);
    }
}

/// The log of one process in one phase. A process may be released to the same phase in several rounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProcessLog {
    pub(crate) execution_start: i64,
    pub(crate) execution_end: i64,
    pub(crate) operations: Vec<Operation>,
    /// The number of the first operation of each round after the first.
    pub(crate) later_rounds: Vec<usize>,
    pub(crate) notes: Notes,
}

impl ProcessLog {
    pub(crate) fn rounds(&self) -> usize {
        1 + self.later_rounds.len()
    }

    /// The operations of a round, counted from 0.
    pub(crate) fn round(&self, round: usize) -> &[Operation] {
        let end = |before: usize| self.later_rounds.get(before).copied().unwrap_or(self.operations.len());
        let start = round.checked_sub(1).map_or(0, end);
        &self.operations[start..end(round)]
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.later_rounds.push(self.operations.len());
        self.operations.extend(more.operations);
        self.notes.add(more.notes);
        self.execution_end = more.execution_end;
    }

    pub(crate) fn shift(&mut self, nanoseconds: i64) {
        self.execution_start += nanoseconds;
        self.execution_end += nanoseconds;
        self.operations.iter_mut().for_each(|operation| operation.shift(nanoseconds));
        self.notes.shift(nanoseconds);
    }
}

/// A log with its case, repetition, phase, node and process.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogEntry<L = ProcessLog> {
    pub(crate) case: u32,
    pub(crate) repetition: u32,
    pub(crate) phase: String,
    pub(crate) node: u32,
    /// Counted over all nodes.
    pub(crate) process: u32,
    pub(crate) log: L,
}
