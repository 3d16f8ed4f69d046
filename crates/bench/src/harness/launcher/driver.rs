//! The driver's side of a run: starts nodes, compares their clocks with its own, and runs tasks in processes on them.

use std::{
    collections::BTreeSet,
    process::Command,
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use super::{
    child::{COMMAND, ChildProcess, this_program},
    cpus,
    message::{FromNode, Host, Rank, Start, Task, ToNode, release},
    node::NODE,
    state::{NodeName, RunOutcome, RunState},
};
use crate::{
    Error, Result,
    harness::{
        events::Clock,
        usage::{Total, Usage},
    },
};

/// Samples of a node's clock; the one with the quickest answer counts.
const CLOCK_SAMPLES: usize = 5;

#[derive(Debug, Clone, Copy)]
struct Limits {
    /// To start, all together: some launchers wait for a free node.
    start: Duration,
    /// To end after their input has ended.
    end: Duration,
}

const LIMITS: Limits = Limits { start: Duration::from_secs(60), end: Duration::from_secs(10) };

/// The command line before this program for each host; an empty one for this machine if there are no hosts. `launcher` is
/// `ssh`, `srun`, `mpirun`, or a command line in which `{host}` stands for the host.
fn command_lines(hosts: &[String], launcher: &str) -> Vec<Vec<String>> {
    let template = match launcher {
        // A lost node ends its launcher.
        "ssh" => {
            "ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=10 -o ServerAliveCountMax=3 {host}"
        }
        // Processes bind themselves: a node that is bound would see one processor.
        "srun" => "srun --nodes=1 --ntasks=1 --overlap --cpu-bind=none --nodelist={host}",
        "mpirun" => "mpirun -np 1 --bind-to none --host {host}",
        other => other,
    };
    let of = |host: &String| template.split_whitespace().map(|word| word.replace("{host}", host)).collect();
    if hosts.is_empty() { vec![Vec::new()] } else { hosts.iter().map(of).collect() }
}

/// A message of a node, or the reason why no more will come.
type NodeEvent = std::result::Result<FromNode, String>;

/// The nodes of a run. Dropping it ends them and their processes.
pub(crate) struct Launcher {
    nodes: Vec<Node>,
    /// Whether the nodes have clocks of their own.
    is_remote: bool,
    events: Receiver<(usize, NodeEvent)>,
    limits: Limits,
    /// How many runs there were.
    runs: u64,
    /// How long the others may be silent after a process has failed; without a limit they finish their phase.
    pub(crate) patience: Option<Duration>,
}

struct Node {
    host: Host,
    child: ChildProcess,
    /// Nanoseconds to add to the times of its clock.
    clock_shift: i64,
    /// How it ended, if it did.
    gone: Option<String>,
}

impl Launcher {
    /// Starts a node on each host by a launcher, or one on this machine without hosts.
    pub(crate) fn start(hosts: &[String], launcher: &str) -> Result<Self> {
        Self::start_within(hosts, launcher, LIMITS)
    }

    /// Starts a node on this machine with `command`, which runs this program or a copy of it.
    pub(crate) fn local(command: Command) -> Result<Self> {
        Self::start_nodes(vec![(String::new(), command)], false, LIMITS)
    }

    fn start_within(hosts: &[String], launcher: &str, limits: Limits) -> Result<Self> {
        let mut commands = Vec::new();
        for line in command_lines(hosts, launcher) {
            let mut command = this_program()?;
            if let [first, rest @ ..] = &line[..] {
                let mut launcher = Command::new(first);
                launcher.args(rest).arg(command.get_program());
                command = launcher;
            }
            commands.push((line.join(" "), command));
        }
        Self::start_nodes(commands, !hosts.is_empty(), limits)
    }

    fn start_nodes(commands: Vec<(String, Command)>, is_remote: bool, limits: Limits) -> Result<Self> {
        let (sender, events) = channel();
        let mut launcher = Self { nodes: Vec::new(), is_remote, events, limits, runs: 0, patience: None };
        for (name, mut command) in commands {
            let (number, sender) = (launcher.nodes.len(), sender.clone());
            let forward = move |event| sender.send((number, event)).is_ok();
            let child = ChildProcess::start(command.args([COMMAND, NODE]), limits.end, forward)?;
            // Until its first message a node is known by its launcher.
            let host = Host { name, machine: String::new(), sockets: Vec::new() };
            launcher.nodes.push(Node { host, child, clock_shift: 0, gone: None });
        }
        // What remains are the senders of the nodes, which hang up with them.
        drop(sender);
        launcher.wait_for_nodes()?;
        Ok(launcher)
    }

    fn wait_for_nodes(&mut self) -> Result<()> {
        let (began, limit) = (Instant::now(), self.limits.start);
        let mut silent: BTreeSet<usize> = (0..self.nodes.len()).collect();
        while let Some(first) = silent.first() {
            let (number, event) = match self.events.recv_timeout(limit.saturating_sub(began.elapsed())) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => {
                    let how = format!("has not started within {} s", limit.as_secs_f64());
                    return Err(self.failed(*first, &how));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(all_gone()),
            };
            match event {
                Ok(FromNode::Hello(host)) => {
                    self.nodes[number].host = host;
                    silent.remove(&number);
                }
                Ok(_) => return Err(self.failed(number, "began with something else than its name")),
                Err(how) => {
                    let ended = self.nodes[number].child.end();
                    return Err(self.failed(number, &format!("did not start: {how} ({ended})")));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn hosts(&self) -> Vec<Host> {
        self.nodes.iter().map(|node| node.host.clone()).collect()
    }

    fn next_event(&self) -> Result<(usize, NodeEvent)> {
        self.events.recv().map_err(|_| all_gone())
    }

    /// The next event of a run; none if a process has failed and the others are silent.
    fn next_event_of(&self, state: &RunState) -> Result<Option<(usize, NodeEvent)>> {
        match self.patience.filter(|_| !state.failures.is_empty()) {
            None => self.next_event().map(Some),
            Some(limit) => match self.events.recv_timeout(limit) {
                Ok(event) => Ok(Some(event)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(all_gone()),
            },
        }
    }

    /// Records that the live processes of a run are given up.
    fn give_up(&self, state: &mut RunState) {
        let seconds = self.patience.unwrap_or_default().as_secs_f64();
        let how = format!("it has not ended its phase within {seconds} s of the first failure");
        for (process, node) in state.live.clone() {
            state.fail(process, &self.nodes[node as usize].host.name, how.clone());
        }
    }

    fn failed(&self, number: usize, how: &str) -> Error {
        let command = format!("node {number} {}", self.nodes[number].host.name);
        Error::Worker { command, how: how.to_owned() }
    }

    /// Compares the clocks of the first `nodes` nodes with this one, if they are other clocks. Returns the largest
    /// possible difference between two of them after correction, in nanoseconds.
    fn compare_clocks(&mut self, nodes: usize, clock: Clock) -> Result<Option<i64>> {
        if !self.is_remote {
            return Ok(None);
        }
        let mut all = Vec::new();
        for number in 0..nodes.min(self.nodes.len()) {
            all.push(self.compare_clock(number, clock)?);
        }
        all.sort_unstable();
        // Two clocks differ by at most the sum of the two largest uncertainties.
        Ok(Some(all.iter().rev().take(2).sum()))
    }

    /// Sets the shift of a node's clock and returns its uncertainty; 0 for a node that is gone, which does no work.
    fn compare_clock(&mut self, number: usize, clock: Clock) -> Result<i64> {
        let mut best = i64::MAX;
        for _ in 0..CLOCK_SAMPLES {
            let asked = clock.now();
            let Some(time) = self.clock_of(number)? else { return Ok(0) };
            let answered = clock.now();
            if answered - asked < best {
                best = answered - asked;
                // The best estimate is that the node read its clock half-way between question and answer.
                self.nodes[number].clock_shift = asked + best / 2 - time;
            }
        }
        Ok(best / 2)
    }

    /// The time of a node's clock; none if the node is gone.
    fn clock_of(&mut self, number: usize) -> Result<Option<i64>> {
        self.nodes[number].child.send(&ToNode::Clock);
        while self.nodes[number].gone.is_none() {
            match self.next_event()? {
                (from, Ok(FromNode::Clock(time))) if from == number => return Ok(Some(time)),
                (from, Err(how)) => self.nodes[from].gone = Some(how),
                // A late message of a process of the run before.
                (_, Ok(_)) => {}
            }
        }
        Ok(None)
    }

    /// Runs `task` in `per_node` processes, each bound to a processor, on each of the first `nodes` nodes. `on_phase`
    /// gets the name of each phase that begins.
    pub(crate) fn run(
        &mut self,
        nodes: usize,
        per_node: usize,
        task: &Task,
        on_phase: impl FnMut(&str),
    ) -> Result<RunOutcome> {
        let processes = (nodes * per_node) as u32;
        let starts = (0..nodes as u32).zip(&self.nodes).map(|(number, of)| {
            let start = |local: usize| {
                let process = number * per_node as u32 + local as u32;
                let rank = Rank { process, processes, node: number, nodes: nodes as u32 };
                let cpu = cpus::cpu_of(&of.host.sockets, local);
                Start { run: self.runs, rank, cpu, task: task.clone() }
            };
            (0..per_node).map(start).collect()
        });
        self.run_all(starts.collect(), on_phase)
    }

    /// Runs each task in a process of its own on the first node, bound to the processor beside it if there is one.
    /// Returns the measurements in the order of the tasks.
    pub(crate) fn measure(&mut self, tasks: Vec<(Task, Option<usize>)>) -> Result<Vec<Usage>> {
        let processes = tasks.len() as u32;
        let start = |(process, (task, cpu)): (u32, (Task, Option<usize>))| {
            let rank = Rank { process, processes, node: 0, nodes: 1 };
            Start { run: self.runs, rank, cpu, task }
        };
        let starts = (0..).zip(tasks).map(start).collect();
        let RunOutcome { usages, problems, .. } = self.run_all(vec![starts], |_| ())?;
        match problems.is_empty() && usages.len() == processes as usize {
            true => Ok(usages.into_values().collect()),
            false => Err(Error::Incomplete { problems }),
        }
    }

    /// The sum of the measurements of tasks that run in processes of their own on the first node.
    pub(crate) fn total(&mut self, tasks: Vec<Task>) -> Result<Total> {
        Ok(Total::of(&self.measure(tasks.into_iter().map(|task| (task, None)).collect())?))
    }

    /// Starts the processes of each node, and releases them from barrier after barrier until all have finished.
    fn run_all(&mut self, starts: Vec<Vec<Start>>, mut on_phase: impl FnMut(&str)) -> Result<RunOutcome> {
        let (clock, mut state) = (Clock::start(), RunState::new(self.runs));
        self.runs += 1;
        let uncertainty = self.compare_clocks(starts.len(), clock)?;
        state.outcome.clock_uncertainty_s = uncertainty.map(|nanoseconds| nanoseconds as f64 / 1e9);
        for (number, (node, starts)) in self.nodes.iter_mut().zip(starts).enumerate() {
            match &node.gone {
                Some(how) => state.lose_node(&node.name(number), how),
                None => {
                    state.live.extend(starts.iter().map(|start| (start.rank.process, number as u32)));
                    node.child.send(&ToNode::Start(starts));
                }
            }
        }
        while !state.live.is_empty() {
            if state.is_barrier_reached() {
                if !state.failures.is_empty() {
                    break;
                }
                let phases = state.release(clock.now());
                phases.iter().for_each(|phase| on_phase(phase));
                for message in release(std::mem::take(&mut state.told)) {
                    self.nodes.iter_mut().for_each(|node| node.child.send(&message));
                }
            }
            let Some((number, event)) = self.next_event_of(&state)? else {
                self.give_up(&mut state);
                break;
            };
            let node = &mut self.nodes[number];
            match event {
                Ok(message) => state.handle(&node.name(number), message),
                Err(how) => {
                    state.lose_node(&node.name(number), &how);
                    node.gone = Some(how);
                }
            }
        }
        self.nodes.iter_mut().for_each(|node| node.child.send(&ToNode::Stop));
        Ok(state.finish())
    }
}

fn all_gone() -> Error {
    Error::invalid("all nodes are gone", "nodes that answer")
}

impl Node {
    fn name(&self, number: usize) -> NodeName<'_> {
        NodeName { number: number as u32, host: &self.host.name, clock_shift: self.clock_shift }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_that_never_starts_its_node_is_named_and_killed() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("wait");
        std::fs::write(&script, "exec sleep 600").unwrap();
        let launcher = format!("sh {} {{host}}", script.display());
        let limits = Limits { start: Duration::from_millis(100), end: Duration::from_millis(20) };
        let error =
            Launcher::start_within(&["a7".to_owned()], &launcher, limits).map(drop).unwrap_err().to_string();
        assert!(error.contains("wait a7` has not started within 0.1 s"), "{error}");
    }

    #[test]
    fn the_command_line_of_a_launcher_names_the_host() {
        let hosts = ["a1", "a2"].map(str::to_owned);
        let ssh = &command_lines(&hosts, "ssh")[1];
        assert_eq!((&*ssh[0], &*ssh[ssh.len() - 1]), ("ssh", "a2"));
        assert_eq!(command_lines(&hosts, "env NODE={host}")[0], ["env", "NODE=a1"]);
        assert_eq!(command_lines(&[], "ssh"), [Vec::<String>::new()]);
    }
}
