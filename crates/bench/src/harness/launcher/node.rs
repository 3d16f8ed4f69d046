//! A node: starts the processes of its machine, and forwards messages between them and the driver.

use std::{
    io::{stdin, stdout},
    sync::mpsc::{Sender, channel},
    thread,
    time::Duration,
};

use rustix::process::{Resource, getrlimit};

use super::{
    child::{COMMAND, ChildProcess, this_program},
    message::{FromNode, FromProcess, Host, Start, ToNode, ToProcess, receive, send},
};
use crate::{Error, Result, harness::events::Clock};

/// The word after [`COMMAND`] that runs the program as a node.
pub(super) const NODE: &str = "node";
/// The word after [`COMMAND`] that runs the program as a process of a run.
const PROCESS: &str = "process";

/// Open files of a node for each process: the node's ends of its two pipes.
const DESCRIPTORS: u64 = 2;
/// Open files that a node needs for itself.
const DESCRIPTORS_OWN: u64 = 16;

/// Serves the driver until its input ends, and ends all processes then.
pub(crate) fn run() -> Result<()> {
    let (to_driver, messages) = channel::<FromNode>();
    // A write fails when the driver is gone, and then nobody needs the rest.
    let write = move || messages.into_iter().try_for_each(|message| send(&mut stdout(), &message));
    let writer = thread::Builder::new().spawn(write).map_err(Error::pipe("start a thread"))?;
    let _ = to_driver.send(FromNode::Hello(Host::this()));
    let mut processes = Vec::new();
    // This thread starts all processes: they get a signal when it ends, however it ends.
    while let Some(message) = receive::<ToNode>(&mut stdin().lock())? {
        match message {
            // As a process that starts now reads it.
            ToNode::Clock => drop(to_driver.send(FromNode::Clock(Clock::start().now()))),
            ToNode::Start(all) => {
                processes.clear();
                match start_all(&all, &to_driver) {
                    Ok(started) => processes = started,
                    Err(error) => drop(to_driver.send(FromNode::CannotStart(error.to_string()))),
                }
            }
            ToNode::Told(told) => {
                let told = ToProcess::Told(told);
                processes.iter_mut().for_each(|one| one.send(&told));
            }
            ToNode::Release => processes.iter_mut().for_each(|one| one.send(&ToProcess::Release)),
            ToNode::Stop => processes.clear(),
        }
    }
    processes.clear();
    drop(to_driver);
    let lost = |_| Error::Worker { command: NODE.to_owned(), how: "lost its writer".to_owned() };
    writer.join().map_err(lost).map(drop)
}

/// Starts all processes, or none.
fn start_all(all: &[Start], to_driver: &Sender<FromNode>) -> Result<Vec<ChildProcess>> {
    let needed = DESCRIPTORS * all.len() as u64 + DESCRIPTORS_OWN;
    if let Some(most) = getrlimit(Resource::Nofile).current.filter(|most| *most < needed) {
        return Err(Error::invalid(
            format!("{} processes, which need {needed} open files where {most} are allowed", all.len()),
            format!("a higher limit (`ulimit -n {needed}`), or fewer processes on a node (-n)"),
        ));
    }
    all.iter().map(|one| start(one, to_driver)).collect()
}

fn start(start: &Start, to_driver: &Sender<FromNode>) -> Result<ChildProcess> {
    let (run, process, to_driver) = (start.run, start.rank.process, to_driver.clone());
    let forward = move |message: std::result::Result<FromProcess, String>| {
        let died = |how| FromProcess::Failed(format!("{how} before it had finished"));
        let message = message.unwrap_or_else(died);
        let is_last = matches!(message, FromProcess::Finished | FromProcess::Failed(_));
        to_driver.send(FromNode::Process { run, process, message }).is_ok() && !is_last
    };
    let mut command = this_program()?;
    let mut process = ChildProcess::start(command.args([COMMAND, PROCESS]), Duration::ZERO, forward)?;
    process.send(start);
    Ok(process)
}
