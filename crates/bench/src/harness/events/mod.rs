//! What a process did and when: the events of every operation, as the published method wants them.
//!
//! Times are nanoseconds since 1970. A process reads the system's time once, when it begins, and counts on from there by
//! the monotonic clock: so times of one node never jump, and those of several nodes are as near to each other as the nodes'
//! clocks, which the driver compares and corrects (see `cast`).

mod file;
mod notes;
mod reading;
mod recorder;

use serde::{Deserialize, Serialize};

pub(crate) use file::EventsFile;
#[cfg(test)]
pub(crate) use notes::Profile;
pub(crate) use notes::{CallTime, Calls, Mark, Marked, Notes};
pub(crate) use reading::read_events;
pub(crate) use recorder::{Clock, Doing, Recorder};

/// A moment of an operation, in the order in which they come.
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
    /// How many there are.
    pub(crate) const COUNT: usize = 8;
    /// The names of their columns.
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

/// One operation: a field or a block that was written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Operation {
    /// Which iteration of its process in its phase it is, or is a part of, counted from 0.
    pub(crate) iteration: u64,
    pub(crate) bytes: u64,
    /// Whether what was read was not what had been written.
    pub(crate) wrong: bool,
    /// When each [`Moment`] was; 0 for one that the operation has not.
    pub(crate) times: [i64; Moment::COUNT],
}

impl Operation {
    pub(crate) fn at(&self, moment: Moment) -> i64 {
        self.times[moment as usize]
    }

    /// Moves all times.
    pub(crate) fn shift(&mut self, nanoseconds: i64) {
        self.times.iter_mut().filter(|time| **time != 0).for_each(|time| *time += nanoseconds);
    }
}

/// What one process did in one phase.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// When the process began to be.
    pub(crate) execution_start: i64,
    /// When it had finished the phase.
    pub(crate) execution_end: i64,
    pub(crate) operations: Vec<Operation>,
    /// The number of its first operation of each further time that it was let go.
    #[serde(default)]
    pub(crate) further: Vec<usize>,
    pub(crate) notes: Notes,
}

impl Part {
    /// How often the process was let go.
    pub(crate) fn goes(&self) -> usize {
        1 + self.further.len()
    }

    /// What it did in one of these times, counted from 0.
    pub(crate) fn of_go(&self, go: usize) -> &[Operation] {
        let end = |before: usize| self.further.get(before).copied().unwrap_or(self.operations.len());
        let start = go.checked_sub(1).map_or(0, end);
        &self.operations[start..end(go)]
    }

    /// Adds another time that the process went through the phase.
    pub(crate) fn add(&mut self, more: Self) {
        self.further.push(self.operations.len());
        self.operations.extend(more.operations);
        self.notes.add(more.notes);
        self.execution_end = more.execution_end;
    }
}

/// Who did a part, and of what.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placed<P = Part> {
    /// The number of the case within the run.
    pub(crate) case: u32,
    pub(crate) repetition: u32,
    pub(crate) phase: String,
    pub(crate) node: u32,
    /// Counted over all nodes.
    pub(crate) process: u32,
    pub(crate) part: P,
}
