//! The messages between driver, nodes and processes: one line of JSON each, on standard input and output.

use std::{
    collections::BTreeMap,
    io::{BufRead, Write},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::cpus::{Socket, sockets};
use crate::{
    Error, Result,
    harness::{events::ProcessLog, machine::Machine, output::json, usage::Usage},
};

/// The texts that processes have told all others at a barrier, by the number of the process.
pub(crate) type Told = BTreeMap<u32, String>;

/// A message of the driver to a node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToNode {
    /// Reply with the time of your clock.
    Clock,
    /// Start these processes in place of those of the run before.
    Start(Vec<Start>),
    /// Pass these texts on to the processes, before their release.
    Told(Told),
    /// Release the processes from their barrier.
    Release,
    /// End all processes.
    Stop,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Start {
    /// The number of the run, by which late messages of an earlier run are known.
    pub(super) run: u64,
    pub(super) rank: Rank,
    /// The processor that it is bound to.
    pub(super) cpu: Option<usize>,
    pub(super) task: Task,
}

/// The place of a process among all processes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rank {
    /// Counted from 0 over all nodes.
    pub(crate) process: u32,
    pub(crate) processes: u32,
    pub(crate) node: u32,
    pub(crate) nodes: u32,
}

impl Rank {
    /// The process with the same place on the next node, or the next process if there is only one node.
    pub(crate) fn neighbour(self) -> u32 {
        let step = if self.nodes > 1 { self.processes / self.nodes } else { 1 };
        (self.process + step) % self.processes
    }

    /// Whether the process is in the first half of all processes, and its number in its half.
    pub(crate) fn half(self) -> (bool, u32) {
        let half = self.processes / 2;
        (self.process < half, self.process % half.max(1))
    }
}

/// The work of a process: the name of a workload, and the input of that workload.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) workload: String,
    input: Value,
}

impl Task {
    pub(crate) fn new(workload: &str, input: &impl Serialize) -> Result<Self> {
        let input = serde_json::to_value(input).map_err(std::io::Error::from);
        Ok(Self { workload: workload.to_owned(), input: input.map_err(Error::pipe("encode a task"))? })
    }

    pub(crate) fn input<T: DeserializeOwned>(self) -> Result<T> {
        let input = serde_json::from_value(self.input);
        input.map_err(|error| Error::invalid(format!("a task ({error})"), "a task of this program"))
    }
}

/// A message of a node to the driver.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromNode {
    /// The node has started.
    Hello(Host),
    /// The time of its clock, in nanoseconds since 1970.
    Clock(i64),
    Process {
        run: u64,
        process: u32,
        message: FromProcess,
    },
    /// None of the processes was started.
    CannotStart(String),
}

/// The description that a node gives of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Host {
    pub(crate) name: String,
    pub(crate) machine: String,
    pub(crate) sockets: Vec<Socket>,
}

impl Host {
    pub(crate) fn this() -> Self {
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { name, machine: Machine::this().text(), sockets: sockets() }
    }
}

/// A message of a process to its node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromProcess {
    /// It waits at the barrier before a phase.
    Arrived(String),
    /// It has a text for all processes, which they get with their release from the next barrier.
    Told(String),
    Did(String, ProcessLog),
    /// The measurement of a process that logs no single operations.
    Measured(Usage),
    Finished,
    Failed(String),
}

/// A message of a node to a process, after its [`Start`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToProcess {
    /// The texts of all processes, before the release.
    Told(Told),
    /// Pass the barrier.
    Release,
}

/// The messages that open a barrier. Without texts it is the one that builds without texts know, which `peers --before` may run.
pub(super) fn release(told: Told) -> impl Iterator<Item = ToNode> {
    let texts = (!told.is_empty()).then_some(ToNode::Told(told));
    texts.into_iter().chain([ToNode::Release])
}

pub(super) fn send(out: &mut impl Write, message: &impl Serialize) -> Result<()> {
    let line = json(message)? + "\n";
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(Error::pipe("write a message"))
}

/// Reads a message; `None` at the end of input.
pub(super) fn receive<T: DeserializeOwned>(input: &mut impl BufRead) -> Result<Option<T>> {
    let mut line = String::new();
    if input.read_line(&mut line).map_err(Error::pipe("read a message"))? == 0 {
        return Ok(None);
    }
    let message = serde_json::from_str(&line);
    message
        .map(Some)
        .map_err(|error| Error::invalid(format!("{line:?} ({error})"), "a message of this program"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_without_texts_is_the_line_that_earlier_builds_know() {
        let written = |told| {
            let mut out = Vec::new();
            release(told).for_each(|message| send(&mut out, &message).unwrap());
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(Told::new()), "\"release\"\n");
        let told = Told::from([(1, "port".to_owned())]);
        assert_eq!(written(told), "{\"told\":{\"1\":\"port\"}}\n\"release\"\n");
        let mut out = Vec::new();
        send(&mut out, &ToProcess::Release).unwrap();
        assert_eq!(out, b"\"release\"\n");
        let line = || b"\"release\"\n".as_slice();
        assert!(matches!(receive(&mut line()).unwrap(), Some(ToNode::Release)));
        assert!(matches!(receive(&mut line()).unwrap(), Some(ToProcess::Release)));
    }

    #[test]
    fn the_neighbour_is_on_the_next_node_or_is_the_next_process() {
        for (process, processes, nodes, neighbour) in
            [(0, 4, 1, 1), (3, 4, 1, 0), (0, 1, 1, 0), (1, 6, 3, 3), (5, 6, 3, 1)]
        {
            assert_eq!(Rank { process, processes, node: 0, nodes }.neighbour(), neighbour);
        }
    }

    #[test]
    fn processes_of_both_halves_are_numbered_from_zero() {
        let halves: Vec<_> =
            (0..4).map(|process| Rank { process, processes: 4, node: 0, nodes: 2 }.half()).collect();
        assert_eq!(halves, [(true, 0), (true, 1), (false, 0), (false, 1)]);
    }
}
