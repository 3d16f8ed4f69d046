//! A play that is going on: who is at work, who has come to the barrier, what was done, and what went wrong.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Heard, Node,
    message::{FromNode, FromProcess},
};
use crate::harness::events::Part;

/// What the processes did in one phase.
#[derive(Debug, Default)]
pub(crate) struct PlayedPhase {
    pub(crate) name: String,
    /// When its processes were let go, the first time if they went through it several times.
    pub(crate) go: i64,
    /// Of each process its node, its number and its part.
    pub(crate) parts: Vec<(u32, u32, Part)>,
}

impl PlayedPhase {
    /// What all its processes did.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().map(|(_, _, part)| part)
    }

    /// Adds a part. A process that has gone through the phase before goes on with the part that it has.
    fn keep(&mut self, node: u32, process: u32, part: Part) {
        match self.parts.iter_mut().find(|(_, of, _)| *of == process) {
            Some((_, _, there)) => there.add(part),
            None => self.parts.push((node, process, part)),
        }
    }
}

/// What came of a play.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// In the order in which the first of their parts came.
    pub(crate) phases: Vec<PlayedPhase>,
    /// What went wrong: without any, everything was done.
    pub(crate) problems: Vec<String>,
    /// By how much the clocks of two nodes may differ, at most; nothing where this machine is the only one.
    pub(crate) clock_uncertainty_s: Option<f64>,
}

impl Played {
    /// The phases that were let go together, in the order in which they were.
    pub(crate) fn together(&self) -> Vec<Vec<&PlayedPhase>> {
        let mut all: BTreeMap<i64, Vec<&PlayedPhase>> = BTreeMap::new();
        self.phases.iter().for_each(|phase| all.entry(phase.go).or_default().push(phase));
        all.into_values().collect()
    }
}

/// A play that is going on.
#[derive(Default)]
pub(super) struct Scene {
    pub(super) living: BTreeSet<u32>,
    /// The node of each process.
    pub(super) homes: BTreeMap<u32, u32>,
    /// Who has come to the barrier, before which phase.
    pub(super) arrived: BTreeMap<u32, String>,
    /// When each phase was let go for the first time.
    gone: BTreeMap<String, i64>,
    pub(super) failures: Vec<Failure>,
    pub(super) played: Played,
}

/// Who failed, and how.
pub(super) struct Failure {
    who: String,
    how: String,
}

/// Each failure once, with who came to it first and how many others did.
pub(super) fn told(failures: &[Failure]) -> Vec<String> {
    let mut all: Vec<(&Failure, usize)> = Vec::new();
    for failure in failures {
        match all.iter_mut().find(|(there, _)| there.how == failure.how) {
            Some((_, others)) => *others += 1,
            None => all.push((failure, 0)),
        }
    }
    let text = |(Failure { who, how }, others): (&Failure, usize)| match others {
        0 => format!("{who}: {how}"),
        others => format!("{who} and {others} more: {how}"),
    };
    all.into_iter().map(text).collect()
}

impl Scene {
    pub(super) fn hear(&mut self, number: u32, node: &mut Node, heard: Heard) {
        match heard {
            Heard::Message(FromNode::Said(process, said)) => match said {
                FromProcess::Arrived(phase) => drop(self.arrived.insert(process, phase)),
                FromProcess::Did(phase, part) => self.keep(phase, number, process, node.shifted(part)),
                FromProcess::Finished => drop(self.end(process)),
                FromProcess::Failed(how) => self.fail(process, &node.host.name, how),
            },
            Heard::Message(FromNode::Died(process, how)) => {
                self.fail(process, &node.host.name, how);
            }
            Heard::Message(FromNode::CannotStart(how)) => self.lose(number, &node.host.name, &how),
            Heard::Message(FromNode::Hello(_) | FromNode::Clock(_)) => {}
            Heard::Gone(how) => {
                self.lose(number, &node.host.name, &how);
                node.gone = Some(how);
            }
        }
    }

    /// A node is gone, and with it its processes.
    pub(super) fn lose(&mut self, number: u32, name: &str, how: &str) {
        self.failures.push(Failure { who: format!("node {number} ({name})"), how: how.to_owned() });
        let Self { living, arrived, homes, .. } = self;
        let is_elsewhere = |process: &u32| homes.get(process) != Some(&number);
        living.retain(is_elsewhere);
        arrived.retain(|process, _| is_elsewhere(process));
    }

    pub(super) fn let_go(&mut self, phases: BTreeSet<String>, now: i64) {
        for phase in phases {
            self.gone.entry(phase).or_insert(now);
        }
    }

    /// A process is at its end; tells whether it was not before.
    fn end(&mut self, process: u32) -> bool {
        self.arrived.remove(&process);
        self.living.remove(&process)
    }

    fn fail(&mut self, process: u32, host: &str, how: String) {
        // Of a process that is lost with its node that was told.
        if self.end(process) {
            self.failures.push(Failure { who: format!("process {process} on {host}"), how });
        }
    }

    fn keep(&mut self, phase: String, node: u32, process: u32, part: Part) {
        match self.played.phases.iter_mut().find(|there| there.name == phase) {
            Some(there) => there.keep(node, process, part),
            None => {
                let go = self.gone.get(&phase).copied().unwrap_or(part.execution_start);
                let parts = vec![(node, process, part)];
                self.played.phases.push(PlayedPhase { name: phase, go, parts });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_goes_through_a_phase_again_has_one_part_of_it() {
        let mut scene = Scene::default();
        let part = |iteration: u64, execution_end| {
            let times = [1; crate::harness::events::Moment::COUNT];
            let operation = crate::harness::events::Operation { iteration, bytes: 1, wrong: false, times };
            Part { execution_start: 0, execution_end, operations: vec![operation], ..Part::default() }
        };
        for (phase, process, iteration) in
            [("write", 0, 0), ("write", 1, 0), ("read", 0, 0), ("write", 1, 1), ("write", 0, 1)]
        {
            scene.keep(phase.to_owned(), 0, process, part(iteration, 10 + iteration as i64));
        }
        let phases = &scene.played.phases;
        assert_eq!(phases.iter().map(|phase| &*phase.name).collect::<Vec<_>>(), ["write", "read"]);
        assert_eq!(phases[0].parts.len(), 2);
        for (_, process, part) in &phases[0].parts {
            let iterations: Vec<u64> = part.operations.iter().map(|one| one.iteration).collect();
            assert_eq!((&*iterations, part.execution_end), (&[0, 1][..], 11), "process {process}");
            let goes: Vec<u64> = (0..part.goes()).map(|go| part.of_go(go)[0].iteration).collect();
            assert_eq!(goes, [0, 1], "process {process}");
        }
    }

    #[test]
    fn a_failure_says_of_which_process_on_which_node_it_is_and_equal_ones_are_counted() {
        let mut scene = Scene { living: (0..200).collect(), ..Scene::default() };
        scene.fail(7, "a", "no field".to_owned());
        (0..199).for_each(|process| scene.fail(process, "b", "no space".to_owned()));
        scene.lose(2, "c", "it ended");
        let expected =
            ["process 7 on a: no field", "process 0 on b and 197 more: no space", "node 2 (c): it ended"];
        assert_eq!(told(&scene.failures), expected);
    }
}
