//! The worker processes of the demo: starts them, receives their events, and ends them together.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use super::{
    plan::Plan,
    worker::{Event, Role, Task},
};
use crate::{
    context::StoreFlags,
    failure::{Failure, Outcome},
};

/// A message from one worker.
enum Message {
    Event(Event),
    /// The worker has closed its output.
    End(usize),
    /// Output that is no event.
    Noise(String),
}

/// Writers and readers. Dropping it ends those that still run.
pub(crate) struct Workers {
    processes: Vec<Child>,
    inbox: Receiver<Message>,
    running: usize,
}

impl Workers {
    /// Starts all workers, readers first.
    pub(crate) fn start(target: &StoreFlags, plan: &Plan) -> Outcome<Self> {
        let (outbox, inbox) = channel();
        let mut workers = Self { processes: Vec::new(), inbox, running: 0 };
        let readers = (0..plan.readers).map(|_| Role::Reader);
        for role in readers.chain((0..plan.writers).map(Role::Writer)) {
            workers.add(target, &Task { role, plan: plan.clone() }, outbox.clone())?;
        }
        Ok(workers)
    }

    fn add(&mut self, target: &StoreFlags, task: &Task, outbox: Sender<Message>) -> Outcome {
        let failed = |error| Failure::failed(format!("cannot start a process of the demo: {error}"));
        let mut command = Command::new(env::current_exe().map_err(failed)?);
        if let Some(uri) = &target.store {
            command.args(["--store", uri]);
        }
        if let Some(path) = &target.config {
            command.arg("--config").arg(path);
        }
        command.arg("demo-worker").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(failed)?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let number = self.processes.len();
        self.processes.push(process);
        self.running += 1;
        if let Some(mut input) = input {
            // Dropping the pipe ends the worker's input.
            serde_json::to_writer(&mut input, task)?;
        }
        thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines());
            for line in lines.map_while(Result::ok) {
                let message = serde_json::from_str(&line).map_or(Message::Noise(line), Message::Event);
                if outbox.send(message).is_err() {
                    return;
                }
            }
            // After a failure of the demo the receiver is gone.
            let _ = outbox.send(Message::End(number));
        });
        Ok(())
    }

    /// The next event, or none when all workers have succeeded.
    pub(crate) fn next(&mut self) -> Outcome<Option<Event>> {
        while self.running > 0 {
            let message = self.inbox.recv().map_err(|_| Failure::failed("a process of the demo is lost"))?;
            match message {
                Message::Event(event) => return Ok(Some(event)),
                Message::Noise(line) => {
                    return Err(Failure::failed(format!(
                        "unexpected output of a process of the demo: {line}"
                    )));
                }
                Message::End(number) => self.end(number)?,
            }
        }
        Ok(None)
    }

    /// Checks the exit status of a worker. A worker that fails prints the reason on standard error.
    fn end(&mut self, number: usize) -> Outcome {
        self.running -= 1;
        let Some(process) = self.processes.get_mut(number) else { return Ok(()) };
        let failed = |reason: String| Failure::failed(format!("a process of the demo ended early: {reason}"));
        let status = process.wait().map_err(|error| failed(error.to_string()))?;
        if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for process in &mut self.processes {
            // For a process that has ended, both return at once.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
