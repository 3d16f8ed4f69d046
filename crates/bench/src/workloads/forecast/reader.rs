//! Reading a forecast, and comparing every field with the message that was written. A reader that follows writers polls the
//! store until the fields of a step are available.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use isotach_engine_kit::aligned::AlignedBuffer;
use isotach_fields::{FieldStore, ListOptions};

use super::{Field, Forecast, Keys, Message, Pace, Shape};
use crate::{
    Error, Result,
    harness::{
        events::{Calls, Mark, Marked, Notes, Recorder},
        launcher::Process,
    },
};

pub(crate) struct Reader {
    store: FieldStore,
    shape: Shape,
    keys: Keys,
    message: Message,
    /// The bytes of a field that is read by itself. A new buffer for each field would take longer to clear than to fill.
    buffer: AlignedBuffer,
    every_byte: bool,
    pub(super) calls: Calls,
    notes: Notes,
}

impl Reader {
    /// A reader that compares the header and both ends of the values, or every byte.
    pub(crate) fn new(store: FieldStore, forecast: &Forecast, every_byte: bool) -> Result<Self> {
        let keys = Keys::new(&forecast.key, &forecast.shape)?;
        let message = Message::new(&forecast.template);
        let buffer = AlignedBuffer::new(message.size());
        let (calls, notes) = (Calls::start(), Notes::default());
        Ok(Self { store, shape: forecast.shape.clone(), keys, message, buffer, every_byte, calls, notes })
    }

    /// Runs the work of a phase, and records its notes.
    pub(crate) fn phase(
        mut self,
        name: &str,
        process: &mut Process,
        work: impl FnOnce(&mut Self, &mut Recorder) -> Result<()>,
    ) -> Result<()> {
        process.phase(name, |recorder| {
            self.calls = Calls::start();
            let outcome = work(&mut self, recorder);
            self.notes.profile = self.calls.end();
            recorder.notes = self.notes;
            outcome
        })
    }

    /// Reads the fields of a step of some members by one request, which must return each of them once and nothing else.
    pub(crate) fn request(&mut self, members: &[u32], step: u32, recorder: &mut Recorder) -> Result<()> {
        let request = self.keys.request(members.iter().copied(), [step])?;
        let mut wanted: HashSet<Field> =
            members.iter().flat_map(|member| self.keys.fields(*member, step)).collect();
        let expected = wanted.len();
        let mut retrieval = None;
        for at in 0..expected {
            let calls = &mut self.calls;
            let found = recorder.operation(|timer| {
                if at == 0 {
                    let retrieve = || calls.time("retrieve", || Ok(self.store.retrieve(&request)?));
                    retrieval = Some(timer.open(retrieve)?);
                }
                let next =
                    || calls.time("retrieve", || Ok(retrieval.iter_mut().flatten().next().transpose()?));
                let found = timer.transfer(self.message.size() as u64, next)?;
                found.ok_or_else(|| missing(expected - at, step, members))
            })?;
            recorder.check_last(self.calls.time("check", || {
                let field = self.keys.field(&found.key).filter(|field| wanted.remove(field));
                field.is_some_and(|field| self.message.is(&field, &found.bytes, self.every_byte))
            }));
        }
        let more = self.calls.time("retrieve", || retrieval.iter_mut().flatten().next().transpose())?;
        more.map_or(Ok(()), |more| {
            Err(Error::wrong(format!("field {} more", more.key), format!("{expected} fields and no more")))
        })
    }

    /// Reads the fields of a step of a member one by one.
    pub(crate) fn one_by_one(&mut self, member: u32, step: u32, recorder: &mut Recorder) -> Result<()> {
        for field in self.keys.fields(member, step) {
            let key = self.keys.of(&field);
            let calls = &mut self.calls;
            let found = recorder.operation(|timer| {
                let read = || Ok(self.store.retrieve_into(key, &mut self.buffer)?);
                let found = timer.transfer(self.message.size() as u64, || calls.time("retrieve", read))?;
                found.ok_or_else(|| Error::wrong("no field", format!("field {key}")))
            })?;
            let found = &self.buffer[..found];
            recorder.check_last(calls.time("check", || self.message.is(&field, found, self.every_byte)));
        }
        Ok(())
    }

    /// Reads a step of some members, each member as soon as its step is complete.
    pub(crate) fn follow(
        &mut self,
        mut members: BTreeSet<u32>,
        step: u32,
        pace: &Pace,
        recorder: &mut Recorder,
    ) -> Result<()> {
        self.notes.first_poll.get_or_insert_with(|| recorder.now());
        while !members.is_empty() {
            let whole = self.wait_for(&members, step, pace.poll_max_attempts, || pace.pause())?;
            let at = recorder.now();
            let mark = |member: &u32| Mark { what: Marked::Seen, member: *member, step, at };
            self.notes.marks.extend(whole.iter().map(mark));
            for member in &whole {
                self.request(&[*member], step, recorder)?;
                members.remove(member);
            }
        }
        Ok(())
    }

    /// Waits until at least one of some members has all its fields of a step, and returns these members. Calls `pause` after each
    /// of so many polls without them.
    pub(super) fn wait_for(
        &mut self,
        members: &BTreeSet<u32>,
        step: u32,
        polls: u32,
        mut pause: impl FnMut(),
    ) -> Result<BTreeSet<u32>> {
        let (block, store, keys) = (self.shape.block(), &self.store, &self.keys);
        let request = keys.request(members.iter().copied(), [step])?;
        let list = || -> Result<BTreeMap<u32, HashSet<Field>>> {
            let mut found: BTreeMap<u32, HashSet<Field>> = BTreeMap::new();
            for listed in store.list(&request, ListOptions::default())? {
                if let Some(field) =
                    keys.field(&listed?.key()).filter(|field| members.contains(&field.number))
                {
                    found.entry(field.number).or_default().insert(field);
                }
            }
            Ok(found)
        };
        for _ in 0..polls {
            let found = self.calls.time("list", list)?;
            let is_whole =
                |(member, fields): (u32, HashSet<Field>)| (fields.len() == block).then_some(member);
            let whole: BTreeSet<u32> = found.into_iter().filter_map(is_whole).collect();
            if !whole.is_empty() {
                return Ok(whole);
            }
            self.calls.time("wait", &mut pause);
        }
        let what = format!("step {step} of members {} is not available after {polls} polls", names(members));
        Err(Error::wrong(what, format!("{block} fields of each; see --poll-period and --poll-max-attempts")))
    }

    /// Lists all fields of some members.
    pub(crate) fn list(&mut self, members: &[u32], recorder: &mut Recorder) -> Result<()> {
        let request = self.keys.request(members.iter().copied(), self.shape.steps())?;
        let expected = members.len() * self.shape.block() * self.shape.steps as usize;
        let mut found = Vec::new();
        recorder.operation(|timer| {
            let (store, calls) = (&self.store, &mut self.calls);
            let listing =
                timer.open(|| calls.time("list", || Ok(store.list(&request, ListOptions::default())?)))?;
            timer.transfer(0, || {
                calls.time("list", || {
                    for listed in listing {
                        let listed = listed?;
                        found.push((self.keys.field(&listed.key()), listed.location().length));
                    }
                    Ok(())
                })
            })
        })?;
        self.notes.listed = found.len() as u64;
        let size = self.message.size() as u64;
        recorder.check_last(self.calls.time("check", || are_all(&found, members, size, expected)));
        Ok(())
    }
}

/// Whether the listing has exactly the expected number of distinct fields of some members, each of this size.
fn are_all(listed: &[(Option<Field>, u64)], members: &[u32], size: u64, expected: usize) -> bool {
    let fields = listed.iter().filter(|(_, length)| *length == size).filter_map(|(field, _)| *field);
    let distinct: HashSet<Field> = fields.filter(|field| members.contains(&field.number)).collect();
    listed.len() == expected && distinct.len() == expected
}

fn missing(count: usize, step: u32, members: &[u32]) -> Error {
    let what = format!("{count} fields of step {step} of members {} do not exist", names(members));
    Error::wrong(what, "all that were written")
}

fn names<'m>(members: impl IntoIterator<Item = &'m u32>) -> String {
    members.into_iter().map(u32::to_string).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::forecast::params;

    #[test]
    fn a_listing_is_right_if_it_has_each_field_once_and_nothing_else() {
        let of = |number, param: usize| {
            (Some(Field { number, step: 0, level: 1, param: params::all()[param] }), 100)
        };
        let is_right = |listed: &[(Option<Field>, u64)]| are_all(listed, &[1, 2], 100, 4);
        let all = [of(1, 0), of(1, 1), of(2, 0), of(2, 1)];
        assert!(is_right(&all));
        for wrong in [of(1, 0), of(3, 1), (of(2, 1).0, 99), (None, 100)] {
            assert!(!is_right(&[all[0], all[1], all[2], wrong]), "{wrong:?}");
            assert!(!is_right(&[all[0], all[1], all[2], all[3], wrong]), "{wrong:?} more");
        }
        assert!(!is_right(&all[..3]));
    }
}
