//! What each process of a history does: one operation after the other, chosen by its seed.
//!
//! A process has one handle at a time. What it puts without a flush is called and has no return before a later flush or
//! commit has one. Now and then it purges. Everything that is read is recorded, even a value that no process wrote.

mod groups;
mod singles;

use std::{path::Path, sync::Arc};

use super::{
    cells::{self, Entry},
    operation::{Clause, Key, Value},
    record::{Call, Recorder, now},
};
use isotach_engine_kit::random::Seeded;
use isotach_object::{Cell, Container, Epoch, Error, Pool, Result};

/// How long the keys of a generation are fought for, in nanoseconds.
const GENERATION: u64 = 150_000_000;

/// What is done to keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Singles,
    Groups,
}

/// The task of one process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task {
    pub(super) kind: Kind,
    pub(super) process: u64,
    pub(super) seed: u64,
    /// When the history began.
    pub(super) begin: u64,
    pub(super) end: u64,
}

/// One that does its task.
pub(super) struct Player {
    pub(super) pool: Arc<dyn Pool>,
    pub(super) container: Arc<dyn Container>,
    pub(super) recorder: Recorder,
    pub(super) random: Seeded,
    task: Task,
    /// The number of values so far.
    count: u64,
    /// Puts that are not flushed.
    held: Vec<Call>,
}

impl Player {
    pub(super) fn new(pool: Arc<dyn Pool>, container: Arc<dyn Container>, folder: &Path, task: Task) -> Self {
        let recorder = Recorder::new(folder, task.process);
        let random = Seeded(task.seed.wrapping_add(task.process.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        Self { pool, container, recorder, random, task, count: 0, held: Vec::new() }
    }

    pub(super) fn play(mut self) {
        while now() < self.task.end {
            match self.task.kind {
                Kind::Singles => self.single(),
                Kind::Groups => self.group(),
            }
            if self.random.below(500) == 0 {
                self.purge();
            }
            if self.random.below(200) == 0 {
                // What another program sees that starts now.
                self.flush();
                self.container = self.pool.open_container(self.container.label()).unwrap();
            }
        }
        self.flush();
    }

    fn generation(&self) -> u64 {
        now().saturating_sub(self.task.begin) / GENERATION
    }

    fn value(&mut self) -> u64 {
        self.count += 1;
        cells::number_for(self.task.process, self.count, self.random.below(20))
    }

    fn epoch_now(&mut self) {
        let call = self.recorder.call("epoch", &[]);
        let epoch = self.container.epoch().unwrap();
        self.recorder.done(call, &[], Some(epoch.0));
    }

    /// Nobody may notice, so nothing is written down. An engine without maintenance has nothing to purge.
    fn purge(&self) {
        let purged =
            self.pool.maintenance().and_then(|maintenance| maintenance.purge(self.container.label(), true));
        match purged {
            Ok(_) | Err(Error::Conflict { .. } | Error::Unsupported { .. }) => {}
            Err(error) => panic!("purge: {error}"),
        }
    }

    fn flush(&mut self) {
        self.container.flush().unwrap();
        let epoch = self.container.epoch().unwrap();
        self.let_go(epoch);
    }

    /// Held back updates count for every process from now on.
    fn let_go(&mut self, epoch: Epoch) {
        self.held.drain(..).for_each(|call| self.recorder.done(call, &[], Some(epoch.0)));
    }

    /// Does what may be refused, and writes down what came of it.
    fn decide(&mut self, name: &str, clauses: &[Clause], ask: impl FnOnce(&dyn Container) -> Result<Epoch>) {
        let call = self.recorder.call(name, clauses);
        match ask(&*self.container) {
            Ok(epoch) => {
                self.recorder.done(call, &[], Some(epoch.0));
                self.let_go(epoch);
            }
            Err(Error::Conflict { .. }) => self.recorder.refused(call),
            // The outcome is unknown, as that of a process that was killed: a purge came too close.
            Err(Error::Io { .. }) => {}
            Err(error) => panic!("{name} {clauses:?}: {error}"),
        }
    }

    /// Reads the entries of some keys by one call.
    fn get(&mut self, keys: &[Key]) -> Vec<Value> {
        let call = self.recorder.call("get", &[]);
        let values = entries(&*self.container, keys).unwrap();
        let saw: Vec<(Key, Value)> = keys.iter().copied().zip(values.iter().copied()).collect();
        self.recorder.done(call, &saw, None);
        values
    }
}

/// The values of the entries of some keys, by one call.
fn entries(container: &dyn Container, keys: &[Key]) -> Result<Vec<Value>> {
    let entries: Vec<Entry> = keys.iter().map(|key| Entry::of(*key)).collect();
    let cells: Vec<Cell<'_>> = entries.iter().map(Entry::cell).collect();
    let found = container.get_many(&cells)?;
    Ok(found.iter().map(|found| found.as_deref().and_then(cells::value_of)).collect())
}
