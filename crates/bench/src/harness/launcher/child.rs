//! A child process of this program that exchanges messages through its pipes.

use std::{
    env,
    io::BufReader,
    process::{Child, ChildStdin, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde::{Serialize, de::DeserializeOwned};

use super::message::{receive, send};
use crate::{Error, Result};

/// The name under which a program offers [`BenchArgs`](crate::BenchArgs). Processes are started as `PROGRAM bench ...`.
pub const COMMAND: &str = "bench";
/// How often a child that was asked to end is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

pub(crate) fn this_program() -> Result<Command> {
    env::current_exe().map(Command::new).map_err(Error::pipe("find this program"))
}

/// A child process. Dropping it ends it.
pub(super) struct ChildProcess {
    child: Child,
    input: Option<ChildStdin>,
    /// How long it may take to end by itself after its input has ended.
    grace: Duration,
}

impl ChildProcess {
    /// Starts `command`. A thread hands each message to `on_message` until that returns false, and at last the reason why
    /// there are no more.
    pub(super) fn start<M: DeserializeOwned>(
        command: &mut Command,
        grace: Duration,
        mut on_message: impl FnMut(std::result::Result<M, String>) -> bool + Send + 'static,
    ) -> Result<Self> {
        let name = command.get_program().to_owned();
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.map_err(Error::io("start", name.as_ref()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        // From here on it is ended if anything fails.
        let process = Self { child, input, grace };
        let listen = move || {
            let Some(mut output) = output.map(BufReader::new) else { return };
            loop {
                let message = match receive(&mut output) {
                    Ok(Some(message)) => Ok(message),
                    Ok(None) => Err("it ended".to_owned()),
                    Err(error) => Err(error.to_string()),
                };
                let is_last = message.is_err();
                if !on_message(message) || is_last {
                    return;
                }
            }
        };
        thread::Builder::new().spawn(listen).map_err(Error::pipe("start a thread"))?;
        Ok(process)
    }

    /// Sends a message. A child that has ended does not receive it; `on_message` reports how it ended.
    pub(super) fn send(&mut self, message: &impl Serialize) {
        let _ = self.input.as_mut().map(|input| send(input, message));
    }

    /// Ends the child and returns how it ended. A child ends by itself when its input ends; one that does not within the
    /// grace period is killed.
    pub(super) fn end(&mut self) -> String {
        self.input = None;
        let began = Instant::now();
        while began.elapsed() < self.grace && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(POLL_INTERVAL);
        }
        let _ = self.child.kill();
        self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string())
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.end();
    }
}
