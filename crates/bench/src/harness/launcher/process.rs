//! A process of a run, as its workload sees it: its rank, and phases that all processes begin together.

use std::{
    collections::HashMap,
    io::{stdin, stdout},
    sync::{Arc, atomic::AtomicBool},
};

use rustix::process::{Signal, set_parent_process_death_signal};

use super::{
    cpus,
    message::{FromProcess, Rank, Start, Task, ToProcess, Told, receive, send},
};
use crate::{
    Error, Result,
    harness::{
        driver::{Driver, flag_after},
        events::{Clock, ProcessLog, Recorder},
        usage::Usage,
    },
};

/// The barrier of processes that work until the others have finished.
const STOP: &str = "stop";

pub(crate) struct Process {
    pub(crate) rank: Rank,
    clock: Clock,
    execution_start: i64,
    /// The number of the next iteration of each phase.
    next_iterations: HashMap<String, u64>,
}

/// Runs this program as a process of a run: receives its task, passes it to `work` and reports the outcome.
pub(crate) fn run(work: impl FnOnce(&mut Process, Task) -> Result<()>) -> Result<()> {
    let clock = Clock::start();
    let execution_start = clock.now();
    // A process does not read its input between two barriers, so it would outlive its node until its phase ends.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| Error::pipe("ask to end with the node")(error.into()))?;
    let Some(start) = receive::<Start>(&mut stdin().lock())? else { return Ok(()) };
    start.cpu.into_iter().for_each(cpus::bind);
    let mut process = Process { rank: start.rank, clock, execution_start, next_iterations: HashMap::new() };
    let last = match work(&mut process, start.task) {
        Ok(()) => FromProcess::Finished,
        // The node has closed the pipe and expects no answer.
        Err(Error::Stopped) => return Ok(()),
        Err(error) => FromProcess::Failed(error.to_string()),
    };
    send(&mut stdout(), &last)
}

impl Process {
    /// Waits until all processes have reached the phase `name`, and records `work`. Every process goes through the same
    /// phases in the same order, also through those in which it has nothing to do. A phase that is repeated continues
    /// its count of iterations.
    pub(crate) fn phase<T>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Recorder) -> Result<T>,
    ) -> Result<T> {
        self.barrier(name)?;
        let next = self.next_iterations.get(name).copied().unwrap_or(0);
        let mut recorder = Recorder::new(self.clock, next);
        let outcome = work(&mut recorder);
        self.next_iterations.insert(name.to_owned(), recorder.next());
        // Operations before a failure are reported, too.
        let log = ProcessLog {
            execution_start: self.execution_start,
            execution_end: self.clock.now(),
            operations: recorder.operations,
            later_rounds: Vec::new(),
            notes: recorder.notes,
        };
        send(&mut stdout(), &FromProcess::Did(name.to_owned(), log))?;
        outcome
    }

    /// Waits until all processes have reached the barrier `name`.
    pub(crate) fn barrier(&self, name: &str) -> Result<()> {
        self.pass(name).map(drop)
    }

    /// Tells all processes a text, and waits until all have reached the barrier `name`. Returns what each of them told.
    pub(crate) fn tell(&self, name: &str, text: String) -> Result<Told> {
        send(&mut stdout(), &FromProcess::Told(text))?;
        self.pass(name)
    }

    fn pass(&self, name: &str) -> Result<Told> {
        send(&mut stdout(), &FromProcess::Arrived(name.to_owned()))?;
        wait_for_release()
    }
}

/// Waits for the release from a barrier, and returns what processes told.
fn wait_for_release() -> Result<Told> {
    let mut told = Told::new();
    loop {
        match receive::<ToProcess>(&mut stdin().lock())? {
            Some(ToProcess::Told(texts)) => told = texts,
            Some(ToProcess::Release) => return Ok(told),
            None => return Err(Error::Stopped),
        }
    }
}

impl Driver for Process {
    fn wait_for_start(&mut self) -> Result<()> {
        self.barrier("start")
    }

    fn stop_signal(&mut self) -> Result<Arc<AtomicBool>> {
        // This process is at the barrier while it works, so the barrier opens when the others have finished.
        send(&mut stdout(), &FromProcess::Arrived(STOP.to_owned()))?;
        Ok(flag_after(|| drop(wait_for_release())))
    }

    fn report(&mut self, usage: &Usage) -> Result<()> {
        send(&mut stdout(), &FromProcess::Measured(*usage))
    }
}
