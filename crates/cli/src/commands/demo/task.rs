//! What the demo says to its workers, and they to it: a task on standard input, events on standard output, as JSON.

use std::{
    io::{Read, Write, stdin, stdout},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use crate::failure::{Failure, Outcome};

/// What a worker is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) role: Role,
    pub(crate) plan: Plan,
}

/// What a worker is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Role {
    /// The writer with this number, counted from 0.
    Writer(u32),
    Reader,
}

/// What a worker did with one step.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) did: Did,
    /// Hours.
    pub(crate) step: u32,
    pub(crate) fields: u64,
    pub(crate) bytes: u64,
    /// Time in the store, in microseconds: archiving and flushing, or reading.
    pub(crate) busy_us: u64,
    /// When the step was flushed, or read to its end, in microseconds since 1970.
    pub(crate) ended_us: u64,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Did {
    Write,
    Read,
}

impl Task {
    /// Takes the task that was given to this process.
    pub(crate) fn receive() -> Outcome<Self> {
        let mut text = String::new();
        stdin().lock().read_to_string(&mut text).map_err(Failure::failed)?;
        serde_json::from_str(&text).map_err(|error| Failure::usage(format!("the task of a demo: {error}")))
    }
}

impl Event {
    /// Tells the demo.
    pub(crate) fn send(&self) -> Outcome {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        let mut out = stdout().lock();
        out.write_all(&line)?;
        out.flush()?;
        Ok(())
    }
}

/// Microseconds since 1970: the one clock that all processes share.
pub(crate) fn now_us() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    micros(now)
}

/// A time in whole microseconds.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
