//! Writing a forecast: each step of each member is archived field by field and then flushed.

use std::{thread, time::Instant};

use isotach_fields::FieldStore;

use super::{Forecast, Keys, Message, Pace};
use crate::{
    Result,
    harness::{
        events::{Calls, Mark, Marked, Notes, Recorder},
        launcher::Rank,
    },
};

pub(crate) struct Writer {
    store: FieldStore,
    forecast: Forecast,
    pace: Pace,
    keys: Keys,
    message: Message,
    notes: Notes,
}

impl Writer {
    pub(crate) fn new(store: FieldStore, forecast: &Forecast, pace: Pace) -> Result<Self> {
        let keys = Keys::new(&forecast.key, &forecast.shape)?;
        let message = Message::new(&forecast.template);
        Ok(Self { store, forecast: forecast.clone(), pace, keys, message, notes: Notes::default() })
    }

    /// Writes all steps of the members of its process.
    pub(crate) fn write(mut self, rank: Rank, recorder: &mut Recorder) -> Result<()> {
        let mut calls = Calls::start();
        let delay = self.pace.delay(rank.process);
        if !delay.is_zero() {
            calls.time("wait", || thread::sleep(delay));
        }
        let shape = self.forecast.shape.clone();
        for step in shape.steps() {
            let began = Instant::now();
            for member in shape.members(rank.process, 1) {
                self.step(member, step, recorder, &mut calls)?;
                self.notes.marks.push(Mark { what: Marked::Flushed, member, step, at: recorder.now() });
            }
            if self.pace.step_window > 0.0 && !calls.time("wait", || self.pace.end_step(began)) {
                self.notes.late_steps += 1;
            }
        }
        self.notes.profile = calls.end();
        recorder.notes = self.notes;
        Ok(())
    }

    fn step(&mut self, member: u32, step: u32, recorder: &mut Recorder, calls: &mut Calls) -> Result<()> {
        let fields = self.keys.fields(member, step);
        let last = fields.len() - 1;
        for (at, field) in fields.iter().enumerate() {
            let (key, bytes) = (self.keys.of(field), self.message.of(field));
            recorder.operation(|timer| {
                timer.transfer(bytes.len() as u64, || {
                    calls.time("archive", || Ok(self.store.archive(key, bytes)?))
                })?;
                match at == last {
                    true => timer.close(|| calls.time("flush", || Ok(self.store.flush()?))),
                    false => Ok(()),
                }
            })?;
        }
        Ok(())
    }
}
