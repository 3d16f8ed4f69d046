//! Numbered transactions: several participants each, in any order, seen whole and in the order of their numbers.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use isotach_engine_kit::random::Seeded;

use super::{
    bytes::number as number_in,
    process::{Participant, Task},
    trial::{OwnContainer, Trial, all_pages, array_id, kv, kv_id, label, refused, wait_for, whole_array},
};
use isotach_object::{
    Cell, Container, NumberedTransaction, ObjectId, Outcome, Result, Status, Update, Versions,
};

/// Participants of each transaction, in processes of their own.
const PARTICIPANTS: u64 = 3;
/// Transactions that they write; each one in [`ABORTED`] is aborted.
const NUMBERS: u64 = 30;
const ABORTED: u64 = 7;
/// The bytes of each part in an array.
const PART: u64 = 2000;
/// Longer than any settlement takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// Operations of a random sequence, and how many sequences there are.
const OPERATIONS: usize = 60;
const SEQUENCES: u64 = 12;

/// The objects of the books and of the values.
fn books() -> ObjectId {
    kv_id(90)
}

fn values() -> ObjectId {
    kv_id(91)
}

fn versions(container: &Arc<dyn Container>) -> Versions<'_> {
    Versions::new(&**container, books()).unwrap()
}

fn version(container: &Arc<dyn Container>) -> u64 {
    versions(container).version().unwrap()
}

/// The numbers that have begun and are not settled.
fn unsettled(container: &Arc<dyn Container>) -> BTreeSet<u64> {
    versions(container).unsettled().unwrap().into_iter().map(|(number, _)| number).collect()
}

/// The trial's place, if there are numbered transactions; if not, that they are refused.
fn place<'t>(trial: &'t Trial<'_>) -> Option<&'t OwnContainer> {
    let place = trial.place_with_prepared_transactions();
    if place.is_none() {
        refused(Versions::new(&*trial.container, books()), "unsupported");
    }
    place
}

/// Takes part in a transaction: an entry and some bytes of an array, both of which hold the number.
fn write(container: &Arc<dyn Container>, number: u64, participant: u64, participants: u64) -> Result<()> {
    part_of(container, number, participant, participants)?.finish()
}

/// A part of a transaction, with its updates.
fn part_of(
    container: &Arc<dyn Container>,
    number: u64,
    participant: u64,
    participants: u64,
) -> Result<NumberedTransaction<'_>> {
    let mut part = versions(container).start(number, participant as u32, participants as u32)?;
    let (key, value, data) = ([participant as u8], number.to_le_bytes(), [number as u8; PART as usize]);
    part.update(&[Update::Put { cell: Cell::kv(values(), &key), value: &value }])?;
    let (cell, offset) = (Cell::array(array_id(9)), participant * PART);
    part.update(&[Update::Write { cell, offset, data: &data }])?;
    Ok(part)
}

/// The number that all participants' entries hold, or 0. Panics if they differ.
fn seen(container: &Arc<dyn Container>, participants: u64) -> u64 {
    let keys: Vec<_> = (0..participants).map(|participant| [participant as u8]).collect();
    let cells: Vec<_> = keys.iter().map(|key| Cell::kv(values(), key)).collect();
    let found = container.get_many(&cells).unwrap();
    assert!(found.iter().all(|value| *value == found[0]), "half of a version: {found:?}");
    found[0].as_ref().map_or(0, |value| number_in(value))
}

pub fn a_version_is_seen_when_all_participants_have_finished_and_not_before(trial: &Trial<'_>) {
    let Some(place) = place(trial) else { return };
    let (one, other) = (place.another(), place.another());
    assert_eq!(version(&one), 0);
    assert_eq!(versions(&one).status(1).unwrap(), Status::NotStarted);
    let left = versions(&other).start(1, 1, 2).unwrap();
    write(&one, 1, 0, 2).unwrap();
    for container in [&one, &other, &trial.reopened()] {
        assert_eq!((version(container), seen(container, 1)), (0, 0));
        let status = Status::Open { participants: 2, finished: vec![0] };
        assert_eq!(versions(container).unsettled().unwrap(), [(1, status)]);
    }
    assert_eq!(versions(&one).wait(1, Duration::from_millis(2)).unwrap(), None);
    drop(left);
    refused(write(&other, 1, 0, 2), "already-exists");
    write(&other, 1, 1, 2).unwrap();
    for container in [&one, &other, &trial.reopened()] {
        assert_eq!((version(container), seen(container, 2)), (1, 1));
        assert_eq!(versions(container).wait(1, Duration::ZERO).unwrap(), Some(Outcome::Committed));
        assert_eq!(versions(container).status(1).unwrap(), Status::Committed);
        assert!(versions(container).unsettled().unwrap().is_empty());
        assert!(container.prepared_transactions().unwrap().list_prepared("").unwrap().is_empty());
    }
    refused(write(&other, 1, 1, 2), "invalid-input");
    refused(versions(&other).abort(1), "invalid-input");
}

pub fn versions_come_in_the_order_of_their_numbers(trial: &Trial<'_>) {
    let Some(place) = place(trial) else { return };
    let container = &place.container;
    for (number, expected) in [(3, 0), (2, 0), (5, 0), (1, 3), (4, 5)] {
        for participant in [1, 0] {
            write(container, number, participant, 2).unwrap();
        }
        assert_eq!(version(&place.another()), expected, "after {number}");
        assert_eq!(seen(container, 2), expected);
    }
}

pub fn an_aborted_number_is_skipped_and_counts(trial: &Trial<'_>) {
    let Some(place) = place(trial) else { return };
    let container = &place.container;
    let other = place.another();
    let late = versions(&other).start(2, 1, 2).unwrap();
    write(container, 2, 0, 2).unwrap();
    versions(container).abort(2).unwrap();
    versions(container).abort(2).unwrap();
    assert_eq!(versions(container).status(2).unwrap(), Status::Aborted);
    assert!(container.prepared_transactions().unwrap().list_prepared("").unwrap().is_empty());
    refused(late.finish(), "conflict");
    refused(versions(container).start(2, 1, 2), "invalid-input");
    // A number that no participant has started.
    versions(container).abort(4).unwrap();
    assert_eq!((unsettled(container), version(container)), ([2, 4].into(), 0));
    write(&other, 1, 0, 1).unwrap();
    write(&other, 3, 0, 1).unwrap();
    assert_eq!((version(container), seen(container, 1)), (3, 3));
    assert_eq!(versions(container).wait(2, PATIENCE).unwrap(), Some(Outcome::Aborted));
    assert_eq!(versions(container).wait(4, PATIENCE).unwrap(), Some(Outcome::Aborted));
    versions(container).start(5, 0, 1).unwrap().abort().unwrap();
    write(&other, 6, 0, 1).unwrap();
    assert_eq!(version(container), 6);
    refused(versions(container).start(5, 0, 1), "invalid-input");
}

pub fn invalid_numbered_transactions_are_refused(trial: &Trial<'_>) {
    let Some(place) = place(trial) else { return };
    let container = &place.container;
    refused(Versions::new(&**container, array_id(1)), "invalid-input");
    let versions = versions(container);
    refused(versions.start(0, 0, 1), "invalid-input");
    refused(versions.abort(0), "invalid-input");
    refused(versions.wait(0, PATIENCE), "invalid-input");
    refused(versions.start(1, 2, 2), "invalid-input");
    let mut part = versions.start(1, 1, 2).unwrap();
    refused(versions.start(1, 1, 3), "invalid-input");
    let own = Update::Put { cell: Cell::kv(books(), b"version"), value: b"x" };
    refused(part.update(&[own]), "invalid-input");
    refused(versions.open_version(1), "not-found");
    let other = Versions::new(&**container, kv_id(92)).unwrap();
    other.start(1, 0, 1).unwrap().finish().unwrap();
    assert_eq!((versions.version().unwrap(), other.version().unwrap()), (0, 1), "two sequences");
}

pub fn a_version_can_be_read_while_others_are_committed(trial: &Trial<'_>) {
    let Some(place) = place(trial) else { return };
    if !trial.is_for(place.container.facets().snapshots.is_some(), "the engine has no snapshots") {
        return;
    }
    let container = &place.container;
    let open = |number| versions(container).open_version(number);
    assert_eq!(seen(&open(0).unwrap(), 2), 0);
    for number in 1..=6 {
        if number == 4 {
            versions(container).abort(4).unwrap();
            continue;
        }
        (0..2).for_each(|participant| write(container, number, participant, 2).unwrap());
        if number % 2 == 1 {
            container.snapshots().unwrap().create(&label(&format!("after-{number}"))).unwrap();
        }
        let past = open(number).unwrap();
        assert_eq!((seen(&past, 2), version(&past)), (number, number));
    }
    for number in [1, 3, 5, 6] {
        let past = open(number).unwrap();
        assert_eq!((seen(&past, 2), version(&past)), (number, number));
        refused(write(&past, 9, 0, 1), "permission-denied");
    }
    // An engine may keep all others, or none.
    match open(2) {
        Ok(past) => assert_eq!(seen(&past, 2), 2),
        Err(error) => assert_eq!(error.code(), "not-found", "{error}"),
    }
    refused(open(4), "not-found");
    refused(open(7), "not-found");
}

/// What numbered transactions amount to, said as plainly as can be.
#[derive(Default)]
struct Model {
    /// The participants that have finished, of so many; what they put.
    open: BTreeMap<u64, (u64, BTreeMap<u64, u64>)>,
    aborted: BTreeSet<u64>,
    settled: u64,
    version: u64,
    values: BTreeMap<u64, u64>,
}

impl Model {
    fn is_closed(&self, number: u64) -> bool {
        number <= self.settled || self.aborted.contains(&number)
    }

    /// Whether it can be started.
    fn start(&mut self, number: u64, participants: u64) -> bool {
        !self.is_closed(number)
            && self.open.entry(number).or_insert_with(|| (participants, BTreeMap::new())).0 == participants
    }

    /// The error code of starting and finishing, if they fail.
    fn finish(
        &mut self,
        number: u64,
        participant: u64,
        participants: u64,
        value: u64,
    ) -> Option<&'static str> {
        if !self.start(number, participants) {
            return Some("invalid-input");
        }
        let (_, parts) = self.open.get_mut(&number)?;
        if parts.contains_key(&participant) {
            return Some("already-exists");
        }
        parts.insert(participant, value);
        self.settle();
        None
    }

    fn abort(&mut self, number: u64) -> Option<&'static str> {
        let is_committed = number <= self.settled && !self.aborted.contains(&number);
        if is_committed {
            return Some("invalid-input");
        }
        self.open.remove(&number);
        self.aborted.insert(number);
        self.settle();
        None
    }

    fn settle(&mut self) {
        loop {
            let next = self.settled + 1;
            match self.open.get(&next) {
                Some((count, parts)) if parts.len() as u64 == *count => {
                    self.values.extend(parts.iter().map(|(participant, value)| (*participant, *value)));
                    self.version = next;
                    self.open.remove(&next);
                }
                _ if self.aborted.contains(&next) => {}
                _ => return,
            }
            self.settled = next;
        }
    }
}

pub fn random_starts_finishes_and_aborts_agree_with_a_plain_model(trial: &Trial<'_>) {
    if place(trial).is_none() {
        return;
    }
    let seed = isotach_needs::seed();
    for sequence in 0..SEQUENCES {
        let place = trial.place();
        let handles = [place.another(), place.another(), place.another()];
        let mut model = Model::default();
        let mut random = Seeded(seed.wrapping_add(sequence));
        let mut below = |end| random.below(end);
        for step in 0..OPERATIONS as u64 {
            let what = format!("ISOTACH_SEED={seed}, sequence {sequence}, step {step}");
            let handle = &handles[below(3) as usize];
            let number = 1 + (model.settled + below(8)).saturating_sub(1);
            let code = |outcome: Result<()>| outcome.err().map(|error| error.code());
            match below(8) {
                0 => assert_eq!(code(versions(handle).abort(number)), model.abort(number), "{what}"),
                1 => {
                    let participants = 1 + number % 3;
                    let started = versions(handle).start(number, 0, participants as u32);
                    assert_eq!(started.is_ok(), model.start(number, participants), "{what}: {started:?}");
                }
                2..7 => {
                    // Mostly as many as the others say.
                    let participants = 1 + number % 3 + u64::from(below(20) == 0);
                    let participant = below(participants);
                    let expected = model.finish(number, participant, participants, step);
                    let finished = || -> Result<()> {
                        let mut part =
                            versions(handle).start(number, participant as u32, participants as u32)?;
                        let key = [participant as u8];
                        let cell = Cell::kv(values(), &key);
                        part.update(&[Update::Put { cell, value: &step.to_le_bytes() }])?;
                        part.finish()
                    };
                    let part = format!("participant {participant} of {participants} in {number}");
                    assert_eq!(code(finished()), expected, "{what}: {part}");
                }
                _ => {}
            }
            assert_eq!(version(handle), model.version, "{what}");
            let found = all_pages(|at| kv(handle, 91).list(at, 100, true).unwrap(), 100);
            let found = found.into_iter().map(|(key, value)| (u64::from(key[0]), number_in(&value)));
            assert_eq!(found.collect::<BTreeMap<_, _>>(), model.values, "{what}");
            let open = unsettled(handle);
            let aborted = model.aborted.iter().filter(|number| **number > model.settled);
            assert!(aborted.chain(model.open.keys()).all(|number| open.contains(number)), "{what}: {open:?}");
        }
    }
    println!("{SEQUENCES} sequences of {OPERATIONS}, seed {seed}");
}

pub fn processes_write_versions_together_and_readers_see_each_whole_and_in_order(trial: &Trial<'_>) {
    let Some(place) = place(trial) else { return };
    let reports =
        trial.race(&[["take_part"; PARTICIPANTS as usize].as_slice(), &["read_versions"; 2]].concat());
    assert_eq!(version(&place.container), NUMBERS);
    assert_eq!(seen(&place.container, PARTICIPANTS), NUMBERS);
    println!("versions seen by the readers: {:?}", &reports[PARTICIPANTS as usize..]);
}

pub(super) fn take_part(me: &Participant) -> Vec<u64> {
    let container = &me.container;
    // Each in an order of its own.
    let mut numbers: Vec<u64> = (1..=NUMBERS).collect();
    match me.index {
        0 => {}
        1 => numbers.chunks_mut(3).for_each(<[u64]>::reverse),
        _ => numbers.chunks_mut(5).for_each(<[u64]>::reverse),
    }
    for number in numbers {
        if number.is_multiple_of(ABORTED) {
            match me.index {
                0 => versions(container).abort(number).unwrap(),
                _ => {
                    // It finishes first, or comes too late.
                    let outcome = write(container, number, me.index, PARTICIPANTS);
                    let codes = ["conflict", "invalid-input"];
                    assert!(
                        outcome.as_ref().err().is_none_or(|error| codes.contains(&error.code())),
                        "{outcome:?}"
                    );
                }
            }
        } else {
            write(container, number, me.index, PARTICIPANTS).unwrap();
        }
    }
    let outcome = versions(container).wait(NUMBERS, PATIENCE).unwrap();
    assert_eq!(outcome, Some(Outcome::Committed));
    Vec::new()
}

pub(super) fn read_versions(me: &Participant) -> Vec<u64> {
    let container = &me.container;
    let mut last = (0, 0);
    let mut versions_seen = Vec::new();
    wait_for("the last version", || {
        let version = version(container);
        let number = seen(container, PARTICIPANTS);
        assert!(version >= last.0 && number >= last.1, "{version} after {last:?}");
        assert!(number >= version, "version {version} is not seen: {number} is");
        assert!(number == 0 || !number.is_multiple_of(ABORTED), "transaction {number} was aborted");
        let bytes = whole_array(container, 9);
        assert!(bytes.is_empty() || bytes.len() as u64 == PARTICIPANTS * PART, "{} bytes", bytes.len());
        assert!(bytes.iter().all(|byte| *byte == bytes[0]), "half of a version in an array");
        if number != last.1 {
            versions_seen.push(number);
            // By now it may be an old one.
            match versions(container).open_version(number) {
                Ok(past) => assert_eq!(seen(&past, PARTICIPANTS), number),
                Err(error) => assert_eq!(error.code(), "not-found", "{error}"),
            }
        }
        last = (version, number);
        (version == NUMBERS).then_some(())
    });
    versions_seen
}

pub fn a_participant_that_dies_is_aborted_before_finishing_and_committed_after(trial: &Trial<'_>) {
    let Some(place) = place(trial) else { return };
    let container = &place.container;
    // Number 1: all have finished, and each died before anybody committed.
    trial.together(&[0, 1].map(|participant| Task::dying("finish_and_die", &[1, participant])));
    assert_eq!(seen(container, 2), 0);
    let reader = trial.reopened();
    assert_eq!((version(&reader), seen(&reader, 2)), (1, 1));
    // Number 2: one has died before it finished.
    let tasks = [
        Task::dying("finish_and_die", &[2, 0]),
        Task::dying("update_and_die", &[2, 1]),
        Task::dying("finish_and_die", &[3, 0]),
        Task::dying("finish_and_die", &[3, 1]),
    ];
    trial.together(&tasks);
    assert_eq!((version(&reader), seen(&reader, 2)), (1, 1));
    let waiting = Status::Open { participants: 2, finished: vec![0] };
    let ready = Status::Open { participants: 2, finished: vec![0, 1] };
    assert_eq!(versions(container).unsettled().unwrap(), [(2, waiting), (3, ready)]);
    versions(&reader).abort(2).unwrap();
    for container in [&place.container, &reader, &trial.reopened()] {
        assert_eq!((version(container), seen(container, 2)), (3, 3));
        assert_eq!(whole_array(container, 9), [3; 2 * PART as usize]);
        assert!(container.prepared_transactions().unwrap().list_prepared("").unwrap().is_empty());
    }
    // Number 4: the participant that died is started again.
    trial.together(&[0, 1].map(|participant| Task::dying("update_and_die", &[4, participant])));
    (0..2).for_each(|participant| write(container, 4, participant, 2).unwrap());
    assert_eq!(versions(&reader).wait(4, PATIENCE).unwrap(), Some(Outcome::Committed));
    assert_eq!(seen(&reader, 2), 4);
}

/// Finishes a part, and leaves it to others to commit it.
pub(super) fn finish_and_die(me: &Participant) -> Vec<u64> {
    part_of(&me.container, me.args[0], me.args[1], 2).unwrap().prepare().unwrap();
    me.container.flush().unwrap();
    Vec::new()
}

pub(super) fn update_and_die(me: &Participant) -> Vec<u64> {
    std::mem::forget(part_of(&me.container, me.args[0], me.args[1], 2).unwrap());
    me.container.flush().unwrap();
    Vec::new()
}
