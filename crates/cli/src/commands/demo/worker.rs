//! A worker process of the demo. Its task comes from standard input, its events go to standard output, both as JSON.

use std::{
    io::{Read, stdin},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use isotach_fields::{Field, FieldStore, ListOptions, crc32c};
use isotach_grib::Eccodes;
use isotach_mars::{Key, Request};
use serde::{Deserialize, Serialize};

use super::plan::Plan;
use crate::{
    context::{self, StoreFlags},
    failure::{Failure, Outcome},
    output::{count, print_json},
};

/// The first and the longest pause between two checks whether a step is complete.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));
/// The time without new fields after which a reader fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The task of a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) role: Role,
    pub(crate) plan: Plan,
}

/// The role of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    /// The writer with this number, counted from 0. It archives its members, and flushes after each step.
    Writer(u32),
    /// A reader. It follows the writers step by step with one open handle, as post-processing does.
    Reader,
}

/// The end of a step in one worker.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) role: Role,
    /// Hours.
    pub(crate) step: u32,
    pub(crate) fields: u64,
    pub(crate) bytes: u64,
    /// The time in the store in microseconds: archiving and flushing, or reading.
    pub(crate) busy_us: u64,
    /// The time of the flush, or of the last field read, in microseconds since 1970.
    pub(crate) ended_us: u64,
}

/// Performs the task on standard input.
pub(crate) fn run(target: &StoreFlags) -> Outcome {
    let mut text = String::new();
    stdin().lock().read_to_string(&mut text).map_err(Failure::failed)?;
    let Task { role, plan } = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("the task of a demo: {error}")))?;
    let eccodes = Eccodes::load()?;
    let store = context::open(target)?;
    match role {
        Role::Writer(number) => write(&store, &plan, number, eccodes),
        Role::Reader => read(&store, &plan, eccodes),
    }
}

/// Archives and flushes step by step. The time of creating messages does not count, because that is the model's work.
fn write(store: &FieldStore, plan: &Plan, number: u32, eccodes: &'static Eccodes) -> Outcome {
    let mut maker = plan.maker(eccodes)?;
    for step in &plan.steps {
        let mut event = Event::new(Role::Writer(number), *step);
        let mut busy = Duration::ZERO;
        for name in plan.fields_of(number, *step) {
            let message = maker.message(name)?;
            let key = Key::from(eccodes.message_key(&message)?);
            let begin = Instant::now();
            store.archive(&key, &message)?;
            busy += begin.elapsed();
            event.add(message.len());
        }
        let begin = Instant::now();
        store.flush()?;
        event.send(busy + begin.elapsed())?;
    }
    Ok(())
}

/// Waits for all fields of a step, reads them and checks each, step by step.
fn read(store: &FieldStore, plan: &Plan, eccodes: &'static Eccodes) -> Outcome {
    for step in &plan.steps {
        let (request, expected) = (plan.request(*step), plan.fields_per_step());
        wait(store, &request, expected)?;
        let mut event = Event::new(Role::Reader, *step);
        let (mut busy, mut begin) = (Duration::ZERO, Instant::now());
        for field in store.retrieve(&request)? {
            let field = field?;
            // The time of checking does not count.
            busy += begin.elapsed();
            check(&field, eccodes)?;
            event.add(field.bytes.len());
            begin = Instant::now();
        }
        if event.fields != expected {
            let found = count(event.fields, "field");
            return Err(Failure::failed(format!("step {step}: read {found}, but {expected} are listed")));
        }
        event.send(busy)?;
    }
    Ok(())
}

/// Lists until all fields are visible, with increasing pauses.
fn wait(store: &FieldStore, request: &Request, expected: u64) -> Outcome {
    let (mut pause, longest) = PAUSES;
    let (mut known, mut since) = (0, Instant::now());
    loop {
        let mut found = 0;
        for listed in store.list(request, ListOptions::default())? {
            listed?;
            found += 1;
        }
        if found >= expected {
            return Ok(());
        }
        if found > known {
            (known, since) = (found, Instant::now());
        }
        if since.elapsed() > PATIENCE {
            let (expected, waited) = (count(expected, "field"), PATIENCE.as_secs());
            return Err(Failure::failed(format!("{found} of {expected}, and no new one in {waited} s")));
        }
        thread::sleep(pause);
        pause = (pause * 3 / 2).min(longest);
    }
}

/// Checks that the bytes have the writer's checksum, and that the message has the key of the field.
fn check(field: &Field, eccodes: &'static Eccodes) -> Outcome {
    let key = &field.key;
    if crc32c(&field.bytes) != field.location.checksum {
        return Err(Failure::failed(format!("field {key}: its bytes fail their checksum")));
    }
    let carried = Key::from(eccodes.message_key(&field.bytes)?);
    for name in ["number", "step", "levelist", "param"] {
        if carried.get(name) != key.get(name) {
            return Err(Failure::failed(format!("field {key}: its message is {carried}")));
        }
    }
    Ok(())
}

impl Event {
    fn new(role: Role, step: u32) -> Self {
        Self { role, step, fields: 0, bytes: 0, busy_us: 0, ended_us: 0 }
    }

    fn add(&mut self, length: usize) {
        self.fields += 1;
        self.bytes += length as u64;
    }

    /// Sends the event to the demo.
    fn send(mut self, busy: Duration) -> Outcome {
        self.busy_us = micros(busy);
        // The processes share one clock.
        self.ended_us = micros(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        print_json(&self)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
