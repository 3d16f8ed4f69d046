//! The worker processes of the demo: starting them, hearing from them, ending them together.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use super::{
    plan::Plan,
    task::{Event, Role, Task},
};
use crate::{
    context::PlaceFlags,
    failure::{Failure, Outcome},
};

/// What comes from one worker.
enum Message {
    Event(Event),
    /// It has closed its output.
    End(usize),
    /// It said something that is no event.
    Noise(String),
}

/// Writers and readers at work. Those that are left when it is dropped are ended.
pub(crate) struct Crew {
    workers: Vec<Child>,
    inbox: Receiver<Message>,
    working: usize,
}

impl Crew {
    /// Starts all of them, readers first.
    pub(crate) fn start(place: &PlaceFlags, plan: &Plan) -> Outcome<Self> {
        let (outbox, inbox) = channel();
        let mut crew = Self { workers: Vec::new(), inbox, working: 0 };
        let readers = (0..plan.readers).map(|_| Role::Reader);
        for role in readers.chain((0..plan.writers).map(Role::Writer)) {
            crew.add(place, &Task { role, plan: plan.clone() }, outbox.clone())?;
        }
        Ok(crew)
    }

    fn add(&mut self, place: &PlaceFlags, task: &Task, outbox: Sender<Message>) -> Outcome {
        let failed = |error| Failure::failed(format!("cannot start a process of the demo: {error}"));
        let mut command = Command::new(env::current_exe().map_err(failed)?);
        if let Some(uri) = &place.store {
            command.args(["--store", uri]);
        }
        if let Some(path) = &place.config {
            command.arg("--config").arg(path);
        }
        command.arg("demo-worker").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut worker = command.spawn().map_err(failed)?;
        let (input, output) = (worker.stdin.take(), worker.stdout.take());
        let number = self.workers.len();
        self.workers.push(worker);
        self.working += 1;
        if let Some(mut input) = input {
            // Dropping it is the end of the task.
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
            // Nobody listens when the demo has failed already.
            let _ = outbox.send(Message::End(number));
        });
        Ok(())
    }

    /// The next event; none when all have ended well.
    pub(crate) fn next(&mut self) -> Outcome<Option<Event>> {
        while self.working > 0 {
            let message = self.inbox.recv().map_err(|_| Failure::failed("a process of the demo is lost"))?;
            match message {
                Message::Event(event) => return Ok(Some(event)),
                Message::Noise(line) => {
                    return Err(Failure::failed(format!("a process of the demo said: {line}")));
                }
                Message::End(number) => self.end(number)?,
            }
        }
        Ok(None)
    }

    /// Takes the exit of a worker. One that failed has said why on standard error.
    fn end(&mut self, number: usize) -> Outcome {
        self.working -= 1;
        let Some(worker) = self.workers.get_mut(number) else { return Ok(()) };
        let failed = |reason: String| Failure::failed(format!("a process of the demo ended early: {reason}"));
        let status = worker.wait().map_err(|error| failed(error.to_string()))?;
        if status.success() { Ok(()) } else { Err(failed(status.to_string())) }
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            // Those that have ended are waited for already, and cannot be killed again.
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}
