//! A process of a workload, as the workload sees it: who it is among the others, and phases that all begin together.

use std::{
    collections::HashMap,
    io::{BufRead, Stdin, Stdout, stdin, stdout},
};

use rustix::process::{Signal, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};

use super::{
    cpus,
    message::{FromProcess, Start, hear, say},
};
use crate::{
    Error, Result,
    harness::events::{Clock, Part, Recorder},
};

/// What a process is told to pass a barrier.
pub(super) const GO: &str = "go";

/// Which of all processes one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seat {
    /// Its number among all processes, counted from 0.
    pub(crate) process: u32,
    /// How many there are.
    pub(crate) processes: u32,
    pub(crate) node: u32,
    pub(crate) nodes: u32,
}

impl Seat {
    /// The process in this one's place on the next node, or the next one where there is one node.
    pub(crate) fn neighbour(self) -> u32 {
        let per_node = self.processes / self.nodes;
        let step = if self.nodes > 1 { per_node } else { 1 };
        (self.process + step) % self.processes
    }
}

/// One process at work.
pub(crate) struct Stage {
    pub(crate) seat: Seat,
    clock: Clock,
    execution_start: i64,
    /// Of each phase that was gone through, the number of its next iteration.
    next: HashMap<String, u64>,
    input: Stdin,
    output: Stdout,
}

/// The process that a node started: hears its task, does it, and says what came of it. The task is done by `play`.
pub(crate) fn process(play: impl FnOnce(&mut Stage, serde_json::Value) -> Result<()>) -> Result<()> {
    let clock = Clock::start();
    let execution_start = clock.now();
    // Between two barriers nobody reads what the node says: without this a process would outlive it until its phase ends.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| Error::pipe("ask to end with the node")(error.into()))?;
    let Some(start) = hear::<Start>(&mut stdin().lock())? else { return Ok(()) };
    if let Some(cpu) = start.cpu {
        cpus::stay_on(cpu);
    }
    let (next, input, output) = (HashMap::new(), stdin(), stdout());
    let mut stage = Stage { seat: start.seat, clock, execution_start, next, input, output };
    let last = match play(&mut stage, start.task) {
        Ok(()) => FromProcess::Finished,
        // Whoever ends the input wants no answer.
        Err(Error::Stopped) => return Ok(()),
        Err(error) => FromProcess::Failed(error.to_string()),
    };
    say(&mut stage.output, &last)
}

impl Stage {
    /// Waits until all processes have come to the phase of this name, and does `work`, which is recorded. Every process goes
    /// through the same phases in the same order; one with nothing to do in a phase does nothing in it. A phase that comes
    /// again goes on counting its iterations.
    pub(crate) fn phase<T>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Recorder) -> Result<T>,
    ) -> Result<T> {
        self.barrier(name)?;
        let next = self.next.get(name).copied().unwrap_or(0);
        let mut recorder = Recorder::going_on(self.clock, next);
        let outcome = work(&mut recorder);
        self.next.insert(name.to_owned(), recorder.next());
        // What was done before a failure is told, too.
        let part = Part {
            execution_start: self.execution_start,
            execution_end: self.clock.now(),
            operations: recorder.operations,
            further: Vec::new(),
            notes: recorder.notes,
        };
        say(&mut self.output, &FromProcess::Did(name.to_owned(), part))?;
        outcome
    }

    /// Waits until all processes have come to what has this name.
    pub(crate) fn barrier(&mut self, name: &str) -> Result<()> {
        say(&mut self.output, &FromProcess::Arrived(name.to_owned()))?;
        let mut line = String::new();
        self.input.lock().read_line(&mut line).map_err(Error::pipe("wait for the others"))?;
        match line.trim_end() {
            GO => Ok(()),
            "" => Err(Error::Stopped),
            other => Err(Error::invalid(format!("{other:?}"), format!("{GO:?}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(process: u32, processes: u32, nodes: u32) -> Seat {
        Seat { process, processes, node: 0, nodes }
    }

    #[test]
    fn the_neighbour_is_on_the_next_node_or_is_the_next_process() {
        let [first, last, only] = [seat(0, 4, 1), seat(3, 4, 1), seat(0, 1, 1)].map(Seat::neighbour);
        assert_eq!((first, last, only), (1, 0, 0));
        assert_eq!((seat(1, 6, 3).neighbour(), seat(5, 6, 3).neighbour()), (3, 1));
    }
}
