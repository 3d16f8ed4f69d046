//! The processes of a workload, on one node or many: started together, let through barriers together, listened to.
//!
//! What must stay true: a barrier opens only when every process that still lives has come to it. When one has failed, the
//! others finish the phase that they are in, what they did in it is kept, and the next barrier does not open.

pub(crate) mod cpus;
mod message;
mod node;
mod scene;
mod stage;

use std::{
    collections::BTreeSet,
    env,
    io::{BufReader, Read},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use serde::Serialize;

pub(crate) use message::Host;
pub(crate) use node::run as run_node;
pub(crate) use scene::{Played, PlayedPhase};
pub(crate) use stage::{Seat, Stage, process};

use self::{
    message::{FromNode, Start, ToNode, hear, say},
    scene::{Scene, told},
};
use crate::{
    COMMAND, Error, Result,
    harness::events::{Clock, Part},
};

/// The word after [`COMMAND`] that makes the program a node.
pub(crate) const NODE: &str = "node";
/// How often a node's clock is compared; the quickest answer counts.
const COMPARISONS: usize = 5;

/// How long nodes may take.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// To start, all together: some launchers wait for a free place.
    start: Duration,
    /// To end, after they were told to.
    end: Duration,
}

const LIMITS: Limits = Limits { start: Duration::from_secs(60), end: Duration::from_secs(10) };
/// How often it is looked whether a node that was told to end has ended.
const LOOK: Duration = Duration::from_millis(1);

/// Where nodes are and how they are started.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// None for this machine alone.
    pub(crate) hosts: Vec<String>,
    /// `ssh`, `srun`, `mpirun`, or a command line in which `{host}` stands for the host.
    pub(crate) launcher: String,
}

impl Places {
    /// The command lines that start the nodes, without this program.
    fn launchers(&self) -> Vec<Vec<String>> {
        let template = match &*self.launcher {
            // A node that is lost ends its launcher.
            "ssh" => {
                "ssh -o BatchMode=yes -o ConnectTimeout=20 -o ServerAliveInterval=10 -o ServerAliveCountMax=3 {host}"
            }
            // The program places its processes itself: bound, a node would see one processor.
            "srun" => "srun --nodes=1 --ntasks=1 --overlap --cpu-bind=none --nodelist={host}",
            "mpirun" => "mpirun -np 1 --bind-to none --host {host}",
            other => other,
        };
        let of =
            |host: &String| template.split_whitespace().map(|word| word.replace("{host}", host)).collect();
        match self.hosts.is_empty() {
            true => vec![Vec::new()],
            false => self.hosts.iter().map(of).collect(),
        }
    }
}

/// The nodes of a run.
pub(crate) struct Cast {
    nodes: Vec<Node>,
    /// Whether they are on other machines, whose clocks are not this one's.
    are_elsewhere: bool,
    heard: Receiver<(usize, Heard)>,
}

struct Node {
    host: Host,
    child: Child,
    input: Option<ChildStdin>,
    /// How long it may take to end.
    end_limit: Duration,
    /// What its clock lacks to this one's, in nanoseconds.
    shift: i64,
    /// How it ended, if it did.
    gone: Option<String>,
}

enum Heard {
    Message(FromNode),
    /// Nothing more will come.
    Gone(String),
}

impl Cast {
    /// Starts the nodes.
    pub(crate) fn start(places: &Places) -> Result<Self> {
        Self::start_within(places, LIMITS)
    }

    fn start_within(places: &Places, limits: Limits) -> Result<Self> {
        let (tell, heard) = channel();
        let mut cast = Self { nodes: Vec::new(), are_elsewhere: !places.hosts.is_empty(), heard };
        let launchers = places.launchers();
        for (number, launcher) in launchers.iter().enumerate() {
            cast.nodes.push(Node::launch(launcher, number, &tell, limits.end)?);
        }
        let (began, mut silent) = (Instant::now(), (0..launchers.len()).collect::<BTreeSet<usize>>());
        while let Some(first) = silent.first() {
            let rest = limits.start.saturating_sub(began.elapsed());
            let (number, message) = match cast.heard.recv_timeout(rest) {
                Ok(heard) => heard,
                Err(RecvTimeoutError::Timeout) => {
                    let how = format!("has not started within {} s", limits.start.as_secs_f64());
                    return Err(cast.gone(*first, &how));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(all_gone()),
            };
            match message {
                Heard::Message(FromNode::Hello(host)) => {
                    cast.nodes[number].host = host;
                    silent.remove(&number);
                }
                Heard::Message(_) => return Err(cast.gone(number, "began with something else than its name")),
                Heard::Gone(how) => {
                    let ended = cast.nodes[number].end();
                    return Err(cast.gone(number, &format!("did not start: {how} ({ended})")));
                }
            }
        }
        Ok(cast)
    }

    pub(crate) fn hosts(&self) -> Vec<Host> {
        self.nodes.iter().map(|node| node.host.clone()).collect()
    }

    fn hear(&self) -> Result<(usize, Heard)> {
        self.heard.recv().map_err(|_| all_gone())
    }

    fn gone(&self, number: usize, how: &str) -> Error {
        let command = format!("node {number} {}", self.nodes[number].host.name);
        Error::Worker { command, how: how.to_owned() }
    }

    /// Compares the clocks of the first so many nodes with this one's; by how much two of them may differ then, in
    /// nanoseconds, if they are elsewhere.
    fn compare_clocks(&mut self, nodes: usize, clock: Clock) -> Result<Option<i64>> {
        if !self.are_elsewhere {
            return Ok(None);
        }
        let mut all = Vec::new();
        for number in 0..nodes.min(self.nodes.len()) {
            all.push(self.compare_clock(number, clock)?);
        }
        all.sort_unstable();
        // What both are uncertain by.
        Ok(Some(all.iter().rev().take(2).sum()))
    }

    /// How uncertain the comparison with a node is. One that is gone is certain of nothing, and does nothing.
    fn compare_clock(&mut self, number: usize, clock: Clock) -> Result<i64> {
        let mut best = i64::MAX;
        for _ in 0..COMPARISONS {
            let asked = clock.now();
            let Some(shown) = self.clock_of(number)? else { return Ok(0) };
            let answered = clock.now();
            if answered - asked < best {
                best = answered - asked;
                // It looked at its clock half-way between question and answer, as far as anybody can tell.
                self.nodes[number].shift = asked + best / 2 - shown;
            }
        }
        Ok(best / 2)
    }

    /// What a node's clock shows; nothing if the node is gone.
    fn clock_of(&mut self, number: usize) -> Result<Option<i64>> {
        self.nodes[number].say(&ToNode::Clock);
        while self.nodes[number].gone.is_none() {
            match self.hear()? {
                (from, Heard::Message(FromNode::Clock(shown))) if from == number => return Ok(Some(shown)),
                (from, Heard::Gone(how)) => self.nodes[from].gone = Some(how),
                (from, Heard::Message(_)) => {
                    return Err(self.gone(from, &format!("spoke when node {number} was asked for the time")));
                }
            }
        }
        Ok(None)
    }

    /// Starts so many processes on each of the first nodes, and lets them do a task. `progress` gets the name of each phase that begins.
    pub(crate) fn play(
        &mut self,
        nodes: usize,
        per_node: usize,
        task: &impl Serialize,
        mut progress: impl FnMut(&str),
    ) -> Result<Played> {
        let task = serde_json::to_value(task).map_err(std::io::Error::from).map_err(Error::pipe("encode"))?;
        let clock = Clock::start();
        let mut scene = Scene::default();
        let uncertain = self.compare_clocks(nodes, clock)?;
        scene.played.clock_uncertainty_s = uncertain.map(|nanoseconds| nanoseconds as f64 / 1e9);
        self.begin(nodes, per_node, &task, &mut scene);
        while !scene.living.is_empty() {
            if scene.living.iter().all(|process| scene.arrived.contains_key(process)) {
                if !scene.failures.is_empty() {
                    break;
                }
                let names: BTreeSet<String> = std::mem::take(&mut scene.arrived).into_values().collect();
                names.iter().for_each(|name| progress(name));
                scene.let_go(names, clock.now());
                self.nodes.iter_mut().for_each(|node| node.say(&ToNode::Go));
            }
            let (number, message) = self.hear()?;
            scene.hear(number as u32, &mut self.nodes[number], message);
        }
        self.nodes.iter_mut().for_each(|node| node.say(&ToNode::Stop));
        scene.played.problems = told(&scene.failures);
        Ok(scene.played)
    }

    fn begin(&mut self, nodes: usize, per_node: usize, task: &serde_json::Value, scene: &mut Scene) {
        for (number, node) in self.nodes.iter_mut().take(nodes).enumerate() {
            if let Some(how) = &node.gone {
                scene.lose(number as u32, &node.host.name, how);
                continue;
            }
            let start = |local: usize| {
                let seat = Seat {
                    process: (number * per_node + local) as u32,
                    processes: (nodes * per_node) as u32,
                    node: number as u32,
                    nodes: nodes as u32,
                };
                Start { seat, cpu: cpus::cpu_of(&node.host.sockets, local), task: task.clone() }
            };
            let starts: Vec<Start> = (0..per_node).map(start).collect();
            scene.living.extend(starts.iter().map(|start| start.seat.process));
            scene.homes.extend(starts.iter().map(|start| (start.seat.process, number as u32)));
            node.say(&ToNode::Start(starts));
        }
    }
}

fn all_gone() -> Error {
    Error::invalid("all nodes are gone", "nodes that answer")
}

impl Node {
    fn launch(
        launcher: &[String],
        number: usize,
        tell: &Sender<(usize, Heard)>,
        end_limit: Duration,
    ) -> Result<Self> {
        let program = env::current_exe().map_err(Error::pipe("find this program"))?;
        let mut command = match launcher {
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(&program);
                command
            }
            [] => Command::new(&program),
        };
        command.args([COMMAND, NODE]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let first = command.get_program().to_owned();
        let mut child = command.spawn().map_err(Error::io("start", first.as_ref()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let host = Host { name: launcher.join(" "), machine: String::new(), sockets: Vec::new() };
        // It ends with this, also if nobody can listen to it.
        let node = Self { host, child, input, end_limit, shift: 0, gone: None };
        let tell = tell.clone();
        let listen = move || {
            if let Some(output) = output {
                pass_on(number, &mut BufReader::new(output), &tell);
            }
        };
        thread::Builder::new().spawn(listen).map_err(Error::pipe("start a thread"))?;
        Ok(node)
    }

    /// Ends it; how it ended.
    fn end(&mut self) -> String {
        // A node whose input has ended ends what it has started, and then itself.
        self.input = None;
        let began = Instant::now();
        while began.elapsed() < self.end_limit && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(LOOK);
        }
        // One that has ended is not killed; a launcher that still waits is.
        let _ = self.child.kill();
        self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
    }

    /// Tells it something. One that is gone hears nothing, and whoever listens to it learns that.
    fn say(&mut self, message: &ToNode) {
        let _ = self.input.as_mut().map(|input| say(input, message));
    }

    /// The part in this machine's time.
    fn shifted(&self, mut part: Part) -> Part {
        part.execution_start += self.shift;
        part.execution_end += self.shift;
        part.operations.iter_mut().for_each(|operation| operation.shift(self.shift));
        part.notes.shift(self.shift);
        part
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.end();
    }
}

/// Passes on all that a node says, and that nothing more will come.
fn pass_on(number: usize, output: &mut BufReader<impl Read>, tell: &Sender<(usize, Heard)>) {
    let how = loop {
        match hear(output) {
            Ok(Some(message)) => {
                if tell.send((number, Heard::Message(message))).is_err() {
                    return;
                }
            }
            Ok(None) => break "it ended".to_owned(),
            Err(error) => break error.to_string(),
        }
    };
    // Nobody may be listening any more.
    let _ = tell.send((number, Heard::Gone(how)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_that_only_waits_is_named_and_killed() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("wait");
        std::fs::write(&script, "exec sleep 600").unwrap();
        let launcher = format!("sh {} {{host}}", script.display());
        let places = Places { hosts: vec!["a7".to_owned()], launcher };
        let limits = Limits { start: Duration::from_millis(100), end: Duration::from_millis(20) };
        let error = Cast::start_within(&places, limits).map(drop).unwrap_err().to_string();
        assert!(error.contains("wait a7` has not started within 0.1 s"), "{error}");
    }

    #[test]
    fn launchers_name_the_host_where_they_are_told_to() {
        let places = |launcher: &str| Places {
            hosts: vec!["a1".to_owned(), "a2".to_owned()],
            launcher: launcher.to_owned(),
        };
        let ssh = &places("ssh").launchers()[1];
        assert_eq!((&*ssh[0], &*ssh[ssh.len() - 1]), ("ssh", "a2"));
        assert_eq!(places("env NODE={host}").launchers()[0], ["env", "NODE=a1"]);
        assert_eq!(Places::default().launchers(), [Vec::<String>::new()]);
    }
}
