//! What driver, nodes and processes say to each other: a line of JSON each, on standard input and output.
//!
//! The driver starts a node by itself here, and by a launcher (`ssh`, `srun`, `mpirun`) elsewhere; a node starts the
//! processes. So no ports are needed and nothing is left behind where a pipe breaks: whoever reads its end stops.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    Seat,
    cpus::{Socket, sockets},
};
use crate::{
    Error, Result,
    harness::{events::Part, machine::Machine},
};

/// What the driver tells a node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToNode {
    /// To say what its clock shows.
    Clock,
    /// To start processes.
    Start(Vec<Start>),
    /// To let its processes pass the barrier at which all of them are.
    Go,
    /// To end what processes there are.
    Stop,
}

/// A process to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) seat: Seat,
    /// The processor that it stays on.
    pub(crate) cpu: Option<usize>,
    /// What the workload's own program understands.
    pub(crate) task: serde_json::Value,
}

/// What a node tells the driver.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromNode {
    /// That it is there.
    Hello(Host),
    /// What its clock shows, in nanoseconds since 1970.
    Clock(i64),
    /// What one of its processes said.
    Said(u32, FromProcess),
    /// That it cannot start the processes, and why: there are none of them.
    CannotStart(String),
    /// That one of its processes has ended without having finished, and how.
    Died(u32, String),
}

/// A node, as it sees itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) machine: String,
    pub(crate) sockets: Vec<Socket>,
}

impl Host {
    /// This machine.
    pub(crate) fn this() -> Self {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { name, machine: Machine::this().text(), sockets: sockets() }
    }
}

/// What a process tells its node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromProcess {
    /// That it has come to the barrier before a phase.
    Arrived(String),
    /// What it did in a phase.
    Did(String, Part),
    /// That it has nothing more to do.
    Finished,
    /// That it cannot go on.
    Failed(String),
}

/// Writes a line.
pub(crate) fn say(out: &mut impl Write, message: &impl Serialize) -> Result<()> {
    let mut line =
        serde_json::to_vec(message).map_err(std::io::Error::from).map_err(Error::pipe("encode"))?;
    line.push(b'\n');
    out.write_all(&line).and_then(|()| out.flush()).map_err(Error::pipe("write a message"))
}

/// Reads a line; nothing at the end.
pub(crate) fn hear<T: DeserializeOwned>(input: &mut impl BufRead) -> Result<Option<T>> {
    let mut line = String::new();
    match input.read_line(&mut line).map_err(Error::pipe("read a message"))? {
        0 => Ok(None),
        _ => match serde_json::from_str(&line) {
            Ok(message) => Ok(Some(message)),
            Err(error) => Err(Error::invalid(format!("{line:?} ({error})"), "a message of this program")),
        },
    }
}
