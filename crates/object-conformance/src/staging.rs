//! Staged transactions: given in pieces, invisible before the commit, and then visible to all at once.

use std::{env, sync::Arc};

use super::{
    bytes::{number, number_of, numbered},
    concurrency::{finish, while_writers_work},
    process::{Participant, Task},
    trial::{Trial, all_objects, array_id, cell, general_id, kv, kv_id, put, read, refused, whole_array},
};
use isotach_object::{Backoff, Cell, Container, Error, ObjectId, Precondition, Staging, Update, retry};

/// Entries that are staged together while readers look.
const ENTRIES: u64 = 50;
/// Transactions of each of the writers.
const TRANSACTIONS: u64 = 60;
/// Increments of each participant.
const INCREMENTS: u64 = 40;
/// The bytes of a small value.
const SMALL: usize = 200;
/// The bytes of each entry of a large transaction.
const ENTRY: usize = 4096;

fn stage(container: &Arc<dyn Container>) -> Box<dyn Staging + '_> {
    container.staged_transactions().unwrap().stage().unwrap()
}

pub fn staged_updates_are_invisible_until_committed(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_staged_transactions() else { return };
    place.kv(1).put(b"replaced", b"old").unwrap();
    place.flush();
    let array = Cell::array(array_id(1));
    let mut staging = stage(&place.container);
    staging.update(&[put(b"new", b"1"), put(b"replaced", b"new")]).unwrap();
    staging.update(&[Update::Write { cell: array, offset: 2, data: b"abc" }]).unwrap();
    staging.update(&[Update::Write { cell: array, offset: 0, data: b"xyz" }]).unwrap();
    let other = place.another();
    for container in [&place.container, &other] {
        container.flush().unwrap();
        let values = container.get_many(&[cell(b"new"), cell(b"replaced")]).unwrap();
        assert_eq!(values, [None, Some(b"old".to_vec())]);
        assert_eq!(container.size_many(&[array]).unwrap(), [None]);
    }
    place.kv(1).put(b"before", b"counts with it").unwrap();
    let epoch = staging.commit(&[]).unwrap();
    for container in [&place.container, &other, &trial.reopened()] {
        assert!(container.epoch().unwrap() >= epoch);
        let values = container.get_many(&[cell(b"new"), cell(b"replaced"), cell(b"before")]).unwrap();
        assert_eq!(values, [Some(b"1".to_vec()), Some(b"new".to_vec()), Some(b"counts with it".to_vec())]);
        assert_eq!(whole_array(container, 1), b"xyzbc");
    }
}

pub fn every_kind_of_update_can_be_staged_and_counts_in_order(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_staged_transactions() else { return };
    let records = Cell::general(general_id(1), b"d", b"records");
    let value = Cell::general(general_id(1), b"d", b"value");
    let gone = Cell::general(general_id(1), b"gone", b"a");
    place.kv(2).put(b"k", b"x").unwrap();
    place.kv(1).put(b"removed", b"x").unwrap();
    let updates = [
        put(b"a", b"first"),
        put(b"a", b"second"),
        Update::Remove { cell: cell(b"removed") },
        Update::Write { cell: records, offset: 0, data: b"0123456789" },
        Update::Punch { cell: records, offset: 2, length: 3 },
        Update::SetSize { cell: records, size: 8 },
        Update::Put { cell: value, value: b"v" },
        Update::Put { cell: gone, value: b"v" },
        Update::RemoveDkey { object: general_id(1), dkey: b"gone" },
        Update::Destroy { object: kv_id(2) },
    ];
    let mut staging = stage(&place.container);
    updates.iter().for_each(|update| staging.update(&[*update]).unwrap());
    staging.commit(&[]).unwrap();
    let container = &place.container;
    let cells = [cell(b"a"), cell(b"removed"), value, gone, Cell::kv(kv_id(2), b"k")];
    let values = container.get_many(&cells).unwrap();
    assert_eq!(values, [Some(b"second".to_vec()), None, Some(b"v".to_vec()), None, None]);
    assert_eq!(read(&**container, records, 0, 9), b"01\0\0\x00567");
}

pub fn a_staging_that_is_dropped_leaves_nothing(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_staged_transactions() else { return };
    let size = || place.pool.container_size(place.container.label()).unwrap();
    let before = size();
    let mut staging = stage(&place.container);
    let large = numbered(1, 3 << 20);
    staging.update(&[put(b"large", &large), put(b"small", b"x")]).unwrap();
    staging.update(&[Update::Write { cell: Cell::array(array_id(1)), offset: 0, data: &large }]).unwrap();
    drop(staging);
    place.flush();
    for container in [&place.container, &trial.reopened()] {
        assert!(all_objects(container, 10).is_empty());
    }
    assert!(size() < before + large.len() as u64, "its space is freed");
}

pub fn a_staging_that_conflicts_changes_nothing(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_staged_transactions() else { return };
    let seen = place.container.epoch().unwrap();
    let mut staging = stage(&place.container);
    staging.update(&[put(b"staged", &numbered(1, 100_000))]).unwrap();
    staging.update(&[Update::Write { cell: Cell::array(array_id(1)), offset: 0, data: b"x" }]).unwrap();
    let other = place.another();
    kv(&other, 1).put(b"read", b"changed").unwrap();
    other.flush().unwrap();
    let conditions = [Precondition::Absent(cell(b"nothing")), Precondition::Unchanged(cell(b"read"), seen)];
    let error = staging.commit(&conditions).unwrap_err();
    assert!(error.code() == "conflict" && error.to_string().contains("read"), "{error}");
    for container in [&place.container, &other] {
        container.flush().unwrap();
        assert_eq!(container.get_many(&[cell(b"staged")]).unwrap(), [None]);
        assert_eq!(container.size_many(&[Cell::array(array_id(1))]).unwrap(), [None]);
    }
}

pub fn a_wrong_update_is_refused_and_the_staging_goes_on(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_staged_transactions() else { return };
    let mut staging = stage(&place.container);
    staging.update(&[put(b"first", b"1")]).unwrap();
    refused(staging.update(&[put(b"with the wrong one", b"2"), put(b"", b"x")]), "invalid-input");
    staging.update(&[put(b"last", b"3")]).unwrap();
    staging.commit(&[]).unwrap();
    let cells = [cell(b"first"), cell(b"with the wrong one"), cell(b"last")];
    let values = place.container.get_many(&cells).unwrap();
    assert_eq!(values, [Some(b"1".to_vec()), None, Some(b"3".to_vec())]);
    let wrong = Precondition::Equals(Cell::array(array_id(1)), b"x");
    refused(stage(&place.container).commit(&[wrong]), "invalid-input");
}

pub fn stagings_of_one_handle_are_apart(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_staged_transactions() else { return };
    let array = Cell::array(array_id(1));
    let (one, two) = (numbered(1, 300_000), numbered(2, 300_000));
    let [mut first, mut second, mut dropped] = [(); 3].map(|()| stage(&place.container));
    for (part, other) in one.chunks(70_000).zip(two.chunks(70_000)).enumerate().map(|(at, parts)| {
        let offset = 70_000 * at as u64;
        let write = |data| Update::Write { cell: array, offset, data };
        (write(parts.0), write(parts.1))
    }) {
        first.update(&[part]).unwrap();
        dropped.update(&[other]).unwrap();
        second.update(&[other]).unwrap();
    }
    first.commit(&[Precondition::Absent(array)]).unwrap();
    drop(dropped);
    assert_eq!(number_of(&whole_array(&place.container, 1), 300_000), 1);
    second.commit(&[Precondition::Present(array)]).unwrap();
    assert!(place.array(1).read(0, two.len()).unwrap() == two, "all of the second, whole");
}

/// Some tens of MiB; more where `ISOTACH_STAGED_MIB` says so.
pub fn a_staging_has_no_limit_in_size(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_staged_transactions() else { return };
    let mib: u64 = env::var("ISOTACH_STAGED_MIB").map_or(24, |mib| mib.parse().unwrap());
    let count = (mib << 20) / ENTRY as u64;
    let other = place.another();
    kv(&other, 1).put(b"seen", b"before").unwrap();
    other.flush().unwrap();
    let mut staging = stage(&place.container);
    for number in 0..count {
        let value = numbered(number, ENTRY);
        staging.update(&[put(&number.to_le_bytes(), &value)]).unwrap();
    }
    staging.update(&[put(b"seen", b"after")]).unwrap();
    assert_eq!(kv(&other, 1).get(&0_u64.to_le_bytes()).unwrap(), None);
    staging.commit(&[Precondition::Equals(cell(b"seen"), b"before")]).unwrap();
    for container in [other, trial.reopened()] {
        assert_eq!(kv(&container, 1).get(b"seen").unwrap().unwrap(), b"after");
        for number in (0..count).step_by(499).chain([count - 1]) {
            let value = kv(&container, 1).get(&number.to_le_bytes()).unwrap().unwrap();
            assert_eq!(number_of(&value, ENTRY), number);
        }
        container.flush().unwrap();
    }
}

pub fn readers_see_all_staged_updates_or_none(trial: &Trial<'_>) {
    let Some(_) = trial.place_with_staged_transactions() else { return };
    trial.race(&["commit_staged", "commit_staged", "read_staged", "read_staged"]);
}

/// The cells of one transaction, in two objects.
fn together() -> Vec<(ObjectId, [u8; 8])> {
    (0..ENTRIES).map(|number| (kv_id(1 + number % 2), number.to_le_bytes())).collect()
}

pub(super) fn commit_staged(me: &Participant) -> Vec<u64> {
    for step in 1..=TRANSACTIONS {
        // Some by far too large for one write.
        let length = if step % 16 == 0 { 150_000 } else { SMALL };
        let value = numbered(step * 10 + me.index, length);
        let mut staging = stage(&me.container);
        for (object, key) in &together() {
            staging.update(&[Update::Put { cell: Cell::kv(*object, key), value: &value }]).unwrap();
        }
        // One in three is given up.
        if step % 3 > 0 {
            staging.commit(&[]).unwrap();
        }
    }
    finish(me)
}

pub(super) fn read_staged(me: &Participant) -> Vec<u64> {
    let cells = together();
    let cells: Vec<_> = cells.iter().map(|(object, key)| Cell::kv(*object, key)).collect();
    while_writers_work(me, || {
        let values = me.container.get_many(&cells).unwrap();
        assert!(values.iter().all(|value| *value == values[0]), "a part of a transaction");
        if let Some(value) = &values[0] {
            let number = number(value);
            assert!(!(number / 10).is_multiple_of(3), "transaction {number} was given up");
            number_of(value, if (number / 10).is_multiple_of(16) { 150_000 } else { SMALL });
        }
    })
}

pub fn staged_updates_die_with_their_process(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_staged_transactions() else { return };
    trial.together(&[Task::dying("stage_and_die", &[])]);
    for container in [&place.container, &trial.reopened()] {
        let entries = container.get_many(&[cell(b"small"), cell(b"large"), cell(b"flushed")]).unwrap();
        assert_eq!(entries, [None, None, Some(b"x".to_vec())]);
        assert_eq!(container.size_many(&[Cell::array(array_id(1))]).unwrap(), [None]);
    }
    // What it left does not keep others from anything.
    let mut staging = stage(&place.container);
    staging.update(&[put(b"small", b"y")]).unwrap();
    staging.commit(&[Precondition::Absent(cell(b"small"))]).unwrap();
}

pub(super) fn stage_and_die(me: &Participant) -> Vec<u64> {
    let mut staging = stage(&me.container);
    let large = numbered(1, 10 << 20);
    staging.update(&[put(b"small", b"x"), put(b"large", &large)]).unwrap();
    staging.update(&[Update::Write { cell: Cell::array(array_id(1)), offset: 0, data: &large }]).unwrap();
    kv(&me.container, 1).put(b"flushed", b"x").unwrap();
    me.container.flush().unwrap();
    std::mem::forget(staging);
    Vec::new()
}

pub fn retries_after_conflicts_lose_no_increment(trial: &Trial<'_>) {
    let Some(place) = trial.place_with_staged_transactions() else { return };
    place.kv(1).put(b"counter", &0_u64.to_le_bytes()).unwrap();
    place.flush();
    trial.race(&["count_with_retry"; 4]);
    let total = place.kv(1).get(b"counter").unwrap().unwrap();
    assert_eq!(number(&total), 4 * INCREMENTS);
    let notes = place.kv(2).list(&isotach_object::Anchor::start(), 1000, false).unwrap();
    assert_eq!(notes.len() as u64, 4 * INCREMENTS);
}

pub(super) fn count_with_retry(me: &Participant) -> Vec<u64> {
    let patient = Backoff { attempts: 10_000, ..Backoff::default() };
    for step in 0..INCREMENTS {
        let note = [me.index, step].map(u64::to_le_bytes).concat();
        retry(patient, || {
            let seen = me.container.epoch()?;
            let count = number(&kv(&me.container, 1).get(b"counter")?.unwrap());
            let mut staging = me.container.staged_transactions().unwrap().stage()?;
            staging.update(&[put(b"counter", &(count + 1).to_le_bytes())])?;
            // Nobody else touches this cell, and it counts only with the increment.
            staging.update(&[Update::Put { cell: Cell::kv(kv_id(2), &note), value: b"" }])?;
            staging.commit(&[Precondition::Unchanged(cell(b"counter"), seen)])
        })
        .unwrap_or_else(|error: Error| panic!("{error}"));
    }
    Vec::new()
}
