//! A reader of the demo: follows the writers step by step, as post-processing does, with one handle open all the time.

use std::{
    thread,
    time::{Duration, Instant},
};

use isotach_fields::{Field, FieldStore, ListOptions, crc32c};
use isotach_grib::Eccodes;
use isotach_mars::{Key, Request};

use super::{
    plan::Plan,
    task::{Did, Event, micros, now_us},
};
use crate::{
    context::{self, PlaceFlags},
    failure::{Failure, Outcome},
    output::count,
};

/// The first and the longest pause between two looks whether a step is complete.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));
/// How long nothing new may come before the writers are taken for dead.
const PATIENCE: Duration = Duration::from_secs(60);

/// Step by step: waits for all fields, reads them, checks each.
pub(crate) fn run(place: &PlaceFlags, plan: &Plan) -> Outcome {
    let eccodes = Eccodes::load()?;
    let store = context::open(place)?;
    for step in &plan.steps {
        let request = plan.request(*step);
        wait(&store, &request, plan.fields_per_step())?;
        let event = read(&store, &request, eccodes)?;
        if event.fields != plan.fields_per_step() {
            let (found, expected) = (count(event.fields, "field"), plan.fields_per_step());
            return Err(Failure::failed(format!("step {step}: read {found}, and {expected} are listed")));
        }
        Event { step: *step, ..event }.send()?;
    }
    Ok(())
}

/// Lists until all fields are there, with pauses that grow.
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
            let waited = PATIENCE.as_secs();
            return Err(Failure::failed(format!(
                "{found} of {}, and no new one in {waited} s",
                count(expected, "field")
            )));
        }
        thread::sleep(pause);
        pause = (pause * 3 / 2).min(longest);
    }
}

/// Retrieves every field of a step. Only the time of retrieving counts as busy; checking comes on top.
fn read(store: &FieldStore, request: &Request, eccodes: &'static Eccodes) -> Outcome<Event> {
    let (mut fields, mut bytes, mut busy) = (0, 0, Duration::ZERO);
    let mut begin = Instant::now();
    for field in store.retrieve(request)? {
        let field = field?;
        busy += begin.elapsed();
        check(&field, eccodes)?;
        fields += 1;
        bytes += field.bytes.len() as u64;
        begin = Instant::now();
    }
    Ok(Event { did: Did::Read, step: 0, fields, bytes, busy_us: micros(busy), ended_us: now_us() })
}

/// The bytes have the checksum that the writer worked out, and say themselves that they are this field.
fn check(field: &Field, eccodes: &'static Eccodes) -> Outcome {
    let key = &field.key;
    if crc32c(&field.bytes) != field.location.checksum {
        return Err(Failure::failed(format!("field {key}: its bytes do not have its checksum")));
    }
    let said = Key::from(eccodes.message_key(&field.bytes)?);
    for name in ["number", "step", "levelist", "param"] {
        if said.get(name) != key.get(name) {
            return Err(Failure::failed(format!("field {key}: its message is {said}")));
        }
    }
    Ok(())
}
