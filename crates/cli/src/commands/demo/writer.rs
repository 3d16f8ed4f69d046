//! A writer of the demo: archives its members, and flushes after each step.

use std::time::{Duration, Instant};

use isotach_grib::Eccodes;
use isotach_mars::Key;

use super::{
    plan::Plan,
    task::{Did, Event, micros, now_us},
};
use crate::{
    context::{self, PlaceFlags},
    failure::Outcome,
};

/// Step by step. Making a message is the model's work, so its time does not count.
pub(crate) fn run(place: &PlaceFlags, plan: &Plan, number: u32) -> Outcome {
    let eccodes = Eccodes::load()?;
    let mut maker = plan.maker(eccodes)?;
    let store = context::open(place)?;
    for step in &plan.steps {
        let (mut fields, mut bytes, mut busy) = (0, 0, Duration::ZERO);
        for name in plan.fields_of(number, *step) {
            let message = maker.message(name)?;
            let key = Key::from(eccodes.message_key(&message)?);
            let begin = Instant::now();
            store.archive(&key, &message)?;
            busy += begin.elapsed();
            fields += 1;
            bytes += message.len() as u64;
        }
        let begin = Instant::now();
        store.flush()?;
        busy += begin.elapsed();
        let ended_us = now_us();
        Event { did: Did::Write, step: *step, fields, bytes, busy_us: micros(busy), ended_us }.send()?;
    }
    Ok(())
}
