//! The state of a run: which processes are alive, which wait at the barrier, what they have reported, and what failed.

use std::collections::{BTreeMap, BTreeSet};

use super::message::{FromNode, FromProcess, Told};
use crate::harness::{events::ProcessLog, groups::grouped, usage::Usage};

#[derive(Debug, Default)]
pub(crate) struct Phase {
    pub(crate) name: String,
    /// When its processes were released, for the first time if they went through it several times.
    pub(crate) released: i64,
    /// The node, the number and the log of each process.
    pub(crate) logs: Vec<(u32, u32, ProcessLog)>,
}

impl Phase {
    pub(crate) fn all(&self) -> impl Iterator<Item = &ProcessLog> {
        self.logs.iter().map(|(_, _, log)| log)
    }

    /// Adds a log. A process that went through the phase before continues its log.
    fn add(&mut self, node: u32, process: u32, log: ProcessLog) {
        match self.logs.iter_mut().find(|(_, of, _)| *of == process) {
            Some((_, _, before)) => before.add(log),
            None => self.logs.push((node, process, log)),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct RunOutcome {
    /// In the order of their first logs.
    pub(crate) phases: Vec<Phase>,
    /// The measurements of processes that log no single operations.
    pub(super) usages: BTreeMap<u32, Usage>,
    /// Failures; the run is complete if there are none.
    pub(crate) problems: Vec<String>,
    /// The largest possible difference between the clocks of two nodes; none on this machine alone.
    pub(crate) clock_uncertainty_s: Option<f64>,
}

impl RunOutcome {
    /// The phases that were released together, in order.
    pub(crate) fn together(&self) -> Vec<Vec<&Phase>> {
        let mut all: BTreeMap<i64, Vec<&Phase>> = BTreeMap::new();
        self.phases.iter().for_each(|phase| all.entry(phase.released).or_default().push(phase));
        all.into_values().collect()
    }
}

/// A node, as the state of a run needs it.
pub(super) struct NodeName<'n> {
    pub(super) number: u32,
    pub(super) host: &'n str,
    /// Nanoseconds to add to the times of its clock.
    pub(super) clock_shift: i64,
}

#[derive(Default)]
pub(super) struct RunState {
    run: u64,
    /// The node of each live process.
    pub(super) live: BTreeMap<u32, u32>,
    /// The processes at the barrier, with the phase that follows.
    arrived: BTreeMap<u32, String>,
    /// The texts for all processes, to be sent with the next release.
    pub(super) told: Told,
    /// When each phase was released for the first time.
    released: BTreeMap<String, i64>,
    /// Who failed, and how.
    pub(super) failures: Vec<(String, String)>,
    pub(super) outcome: RunOutcome,
}

impl RunState {
    pub(super) fn new(run: u64) -> Self {
        Self { run, ..Self::default() }
    }

    /// Whether all live processes wait at the barrier.
    pub(super) fn is_barrier_reached(&self) -> bool {
        self.live.keys().all(|process| self.arrived.contains_key(process))
    }

    /// Opens the barrier and returns the phases that follow.
    pub(super) fn release(&mut self, now: i64) -> BTreeSet<String> {
        let phases: BTreeSet<String> = std::mem::take(&mut self.arrived).into_values().collect();
        for phase in &phases {
            self.released.entry(phase.clone()).or_insert(now);
        }
        phases
    }

    pub(super) fn handle(&mut self, node: &NodeName<'_>, message: FromNode) {
        match message {
            FromNode::Process { run, .. } if run != self.run => {}
            FromNode::Process { process, message, .. } => match message {
                FromProcess::Arrived(phase) => drop(self.arrived.insert(process, phase)),
                FromProcess::Told(text) => drop(self.told.insert(process, text)),
                FromProcess::Did(phase, mut log) => {
                    log.shift(node.clock_shift);
                    self.add_log(phase, node.number, process, log);
                }
                FromProcess::Measured(usage) => drop(self.outcome.usages.insert(process, usage)),
                FromProcess::Finished => drop(self.remove(process)),
                FromProcess::Failed(how) => self.fail(process, node.host, how),
            },
            FromNode::CannotStart(how) => self.lose_node(node, &how),
            FromNode::Hello(_) | FromNode::Clock(_) => {}
        }
    }

    /// Records that a node is gone, and its processes with it.
    pub(super) fn lose_node(&mut self, node: &NodeName<'_>, how: &str) {
        let source = format!("node {} ({})", node.number, node.host);
        self.failures.push((source, how.to_owned()));
        self.live.retain(|_, home| *home != node.number);
        self.arrived.retain(|process, _| self.live.contains_key(process));
    }

    /// Removes a process, and returns whether it was alive until now.
    fn remove(&mut self, process: u32) -> bool {
        self.arrived.remove(&process);
        self.live.remove(&process).is_some()
    }

    pub(super) fn fail(&mut self, process: u32, host: &str, how: String) {
        // The failure of a process that is lost with its node is that of the node.
        if self.remove(process) {
            self.failures.push((format!("process {process} on {host}"), how));
        }
    }

    fn add_log(&mut self, phase: String, node: u32, process: u32, log: ProcessLog) {
        match self.outcome.phases.iter_mut().find(|known| known.name == phase) {
            Some(known) => known.add(node, process, log),
            None => {
                let released = self.released.get(&phase).copied().unwrap_or(log.execution_start);
                let logs = vec![(node, process, log)];
                self.outcome.phases.push(Phase { name: phase, released, logs });
            }
        }
    }

    /// The outcome. Equal failures are one problem, which names the first process and counts the others.
    pub(super) fn finish(mut self) -> RunOutcome {
        let text = |(how, sources): (String, Vec<(String, String)>)| match &sources[..] {
            [(source, _)] => format!("{source}: {how}"),
            all => format!("{} and {} more: {how}", all[0].0, all.len() - 1),
        };
        let problems = grouped(self.failures, |(_, how)| how.clone()).into_iter().map(text);
        self.outcome.problems = problems.collect();
        self.outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::events::Operation;

    #[test]
    fn a_repeated_phase_continues_the_log_of_each_process() {
        let mut state = RunState::default();
        let log = |iteration: u64, execution_end| {
            let operation = Operation { iteration, ..Operation::default() };
            ProcessLog { execution_end, operations: vec![operation], ..ProcessLog::default() }
        };
        for (phase, process, iteration) in
            [("write", 0, 0), ("write", 1, 0), ("read", 0, 0), ("write", 1, 1), ("write", 0, 1)]
        {
            state.add_log(phase.to_owned(), 0, process, log(iteration, 10 + iteration as i64));
        }
        let phases = state.finish().phases;
        assert_eq!(phases.iter().map(|phase| &*phase.name).collect::<Vec<_>>(), ["write", "read"]);
        assert_eq!(phases[0].logs.len(), 2);
        for (_, process, log) in &phases[0].logs {
            let iterations: Vec<u64> = log.operations.iter().map(|one| one.iteration).collect();
            assert_eq!((&*iterations, log.execution_end), (&[0, 1][..], 11), "process {process}");
            let rounds: Vec<u64> = (0..log.rounds()).map(|round| log.round(round)[0].iteration).collect();
            assert_eq!(rounds, [0, 1], "process {process}");
        }
    }

    #[test]
    fn a_failure_names_process_and_node_and_equal_failures_are_counted() {
        let mut state = RunState::default();
        state.live.extend((0..200).map(|process| (process, 0)));
        state.fail(7, "a", "no field".to_owned());
        (0..199).for_each(|process| state.fail(process, "b", "no space".to_owned()));
        state.lose_node(&NodeName { number: 2, host: "c", clock_shift: 0 }, "it ended");
        let expected =
            ["process 7 on a: no field", "process 0 on b and 197 more: no space", "node 2 (c): it ended"];
        assert_eq!(state.finish().problems, expected);
    }
}
