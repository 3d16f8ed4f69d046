//! A node: starts processes on its machine, and passes on what they and the driver say to each other.

use std::{
    env,
    io::{BufReader, Write, stdin, stdout},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Sender, channel},
    thread,
};

use rustix::process::{Resource, getrlimit};

use super::{
    NODE,
    message::{FromNode, FromProcess, Host, Start, ToNode, hear, say},
    stage::GO,
};
use crate::{COMMAND, Error, Result, harness::events::Clock};

/// The word after [`COMMAND`] that makes the program a process of a workload.
pub(crate) const PROCESS: &str = "process";

/// Open files of a node for each process that it has started: both ends of what they say to each other are pipes.
const DESCRIPTORS: u64 = 2;
/// Open files that a node has or needs besides.
const DESCRIPTORS_OWN: u64 = 16;

/// Does what the driver says, until its input ends. Then nothing that it started is left.
pub(crate) fn run() -> Result<()> {
    let (tell, told) = channel::<FromNode>();
    let write = move || {
        // Without a driver there is nobody to tell.
        for message in told {
            if say(&mut stdout(), &message).is_err() {
                return;
            }
        }
    };
    let writer = thread::Builder::new().spawn(write).map_err(Error::pipe("start a thread"))?;
    let _ = tell.send(FromNode::Hello(Host::this()));
    let mut processes = Vec::new();
    // All processes are started by this thread: they end when it does, whatever ends it.
    while let Some(message) = hear::<ToNode>(&mut stdin().lock())? {
        match message {
            // As a process that starts now will see it.
            ToNode::Clock => drop(tell.send(FromNode::Clock(Clock::start().now()))),
            ToNode::Start(all) => {
                processes.clear();
                match start(&all, &tell) {
                    Ok(started) => processes = started,
                    Err(error) => drop(tell.send(FromNode::CannotStart(error.to_string()))),
                }
            }
            ToNode::Go => processes.iter_mut().for_each(Process::go),
            ToNode::Stop => processes.clear(),
        }
    }
    processes.clear();
    drop(tell);
    writer.join().map_err(|_| Error::Worker { command: NODE.to_owned(), how: "lost its writer".to_owned() })
}

/// Starts all of them, or none.
fn start(all: &[Start], tell: &Sender<FromNode>) -> Result<Vec<Process>> {
    let needed = DESCRIPTORS * all.len() as u64 + DESCRIPTORS_OWN;
    if let Some(most) = getrlimit(Resource::Nofile).current.filter(|most| *most < needed) {
        return Err(Error::invalid(
            format!("{} processes, which need {needed} open files where {most} are allowed", all.len()),
            format!("a higher limit (`ulimit -n {needed}`), or fewer processes on a node (-n)"),
        ));
    }
    all.iter().map(|one| Process::start(one, tell)).collect()
}

/// A process that ends with this.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
}

impl Process {
    fn start(start: &Start, tell: &Sender<FromNode>) -> Result<Self> {
        let program = env::current_exe().map_err(Error::pipe("find this program"))?;
        let mut command = Command::new(&program);
        command.args([COMMAND, PROCESS]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(Error::io("start", &program))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        // It ends with this, whatever fails from here on.
        let mut process = Self { child, input };
        if let Some(input) = &mut process.input {
            say(input, start)?;
        }
        let (number, tell) = (start.seat.process, tell.clone());
        if let Some(output) = output {
            let listen = move || pass_on(number, &mut BufReader::new(output), &tell);
            thread::Builder::new().spawn(listen).map_err(Error::pipe("start a thread"))?;
        }
        Ok(process)
    }

    fn go(&mut self) {
        // One that has ended is told by whoever reads what it says.
        let _ = self.input.as_mut().map(|input| writeln!(input, "{GO}"));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Tells the driver all that a process says, and whether it ended before it had finished.
fn pass_on(process: u32, output: &mut BufReader<impl std::io::Read>, tell: &Sender<FromNode>) {
    let how = loop {
        match hear::<FromProcess>(output) {
            Ok(Some(said)) => {
                let is_last = matches!(said, FromProcess::Finished | FromProcess::Failed(_));
                if tell.send(FromNode::Said(process, said)).is_err() || is_last {
                    return;
                }
            }
            Ok(None) => break "it ended before it had finished".to_owned(),
            Err(error) => break error.to_string(),
        }
    };
    let _ = tell.send(FromNode::Died(process, how));
}
