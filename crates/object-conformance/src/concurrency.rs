//! Several writers and readers at the same time: one winner, no lost increment, no partial value.

use std::{collections::HashSet, thread};

use super::{
    bytes::{number, number_of, numbered},
    process::Participant,
    trial::{Trial, array, array_id, kv, kv_id, label},
};
use isotach_object::{Cell, ContainerOptions, Error, Precondition, Transaction, Update};

/// Participants of a case.
const PARTICIPANTS: usize = 4;
/// Contended keys.
const KEYS: u64 = 300;
/// Increments by each participant.
const INCREMENTS: u64 = 100;
/// Rewrites by each writer during the reads.
const REWRITES: u64 = 600;
/// The shortest value that is rewritten; in one engine's log or in its data file.
const SMALL: usize = 200;
const LARGE: usize = 150_000;

pub fn conditional_puts_have_one_winner_per_key(trial: &Trial<'_>) {
    let reports = trial.race(&["claim_keys"; PARTICIPANTS]);
    let mut owners = vec![None; KEYS as usize];
    for (who, won) in reports.iter().enumerate() {
        for key in won {
            let before = owners[*key as usize].replace(who as u64);
            assert_eq!(before, None, "key {key} has two winners");
        }
    }
    for (key, owner) in owners.iter().enumerate() {
        let stored = trial.kv(1).get(&(key as u64).to_le_bytes()).unwrap().map(|value| number(&value));
        assert!(owner.is_some() && stored == *owner, "key {key} was won by {owner:?}, and {stored:?} stands");
    }
}

pub(super) fn claim_keys(me: &Participant) -> Vec<u64> {
    let mine = me.index.to_le_bytes();
    let wins = |key: &u64| match kv(&me.container, 1).put_if_absent(&key.to_le_bytes(), &mine) {
        Ok(_) => true,
        Err(Error::Conflict { .. }) => false,
        Err(error) => panic!("{error}"),
    };
    (0..KEYS).filter(wins).collect()
}

pub fn a_counter_loses_no_increment(trial: &Trial<'_>) {
    trial.kv(1).put(b"counter", &0_u64.to_le_bytes()).unwrap();
    trial.flush();
    trial.race(&["count_up"; PARTICIPANTS]);
    let total = number(&trial.kv(1).get(b"counter").unwrap().unwrap());
    assert_eq!(total, INCREMENTS * PARTICIPANTS as u64);
}

/// Half of the increments compare the value, half the epoch, where the engine has read sets.
pub(super) fn count_up(me: &Participant) -> Vec<u64> {
    let mut done = 0;
    while done < INCREMENTS {
        let cell = Cell::kv(kv_id(1), b"counter");
        let seen = me.container.epoch().unwrap();
        let old = me.container.get_many(&[cell]).unwrap().pop().flatten().unwrap();
        let new = (number(&old) + 1).to_le_bytes();
        let by_value = done % 2 == 0 || !me.container.capabilities().transactions;
        let condition = match by_value {
            true => Precondition::Equals(cell, &old),
            false => Precondition::Unchanged(cell, seen),
        };
        let update = Update::Put { cell, value: &new };
        match me.container.commit(&Transaction::new().require(condition).update(update)) {
            Ok(_) => done += 1,
            Err(Error::Conflict { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    Vec::new()
}

pub fn no_id_is_handed_out_twice(trial: &Trial<'_>) {
    let before = trial.container.allocate_ids(5).unwrap();
    let reports = trial.race(&["allocate_ids"; PARTICIPANTS]);
    let after = trial.reopened().allocate_ids(1).unwrap();
    let bounds = [before, after].map(|range| (range.start, range.end));
    let pairs = reports.iter().flat_map(|report| report.chunks(2).map(|pair| (pair[0], pair[1])));
    let mut ranges: Vec<_> = pairs.chain(bounds).collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        assert!(pair[0].1 <= pair[1].0, "{:?} and {:?} overlap", pair[0], pair[1]);
    }
}

pub(super) fn allocate_ids(me: &Participant) -> Vec<u64> {
    let counts = [1, 1, 1_000_000, 7, 1, 1000].into_iter().cycle().take(60);
    let allocate = |count| {
        let range = me.container.allocate_ids(count).unwrap();
        assert_eq!(range.end - range.start, count, "as many as asked for");
        [range.start, range.end]
    };
    counts.flat_map(allocate).collect()
}

pub fn readers_never_see_half_a_value(trial: &Trial<'_>) {
    for length in [SMALL, LARGE] {
        trial.kv(1).put(&length.to_le_bytes(), &numbered(0, length)).unwrap();
    }
    trial.flush();
    trial.race(&["put_values", "put_values", "read_values", "read_values"]);
}

pub(super) fn put_values(me: &Participant) -> Vec<u64> {
    for step in 1..=REWRITES {
        let length = if step % 4 == 0 { LARGE } else { SMALL };
        let value = numbered(step * 10 + me.index, length);
        kv(&me.container, 1).put(&length.to_le_bytes(), &value).unwrap();
        if step % 16 == 0 {
            me.container.flush().unwrap();
        }
    }
    me.container.flush().unwrap();
    finish(me)
}

pub(super) fn read_values(me: &Participant) -> Vec<u64> {
    while_writers_work(me, || {
        for length in [SMALL, LARGE] {
            let value = kv(&me.container, 1).get(&length.to_le_bytes()).unwrap();
            number_of(&value.expect("the value is never absent"), length);
        }
        let page = kv(&me.container, 1).list(&isotach_object::Anchor::start(), 9, true).unwrap();
        assert_eq!(page.len(), 2);
        for (key, value) in page.iter() {
            number_of(value, number(key) as usize);
        }
    })
}

pub fn readers_see_both_cells_of_a_transaction_or_neither(trial: &Trial<'_>) {
    if !trial.has_transactions() {
        return;
    }
    trial.race(&["commit_pairs", "commit_pairs", "read_pairs", "read_pairs"]);
}

fn pair() -> [Cell<'static>; 2] {
    [Cell::kv(kv_id(1), b"one"), Cell::kv(kv_id(2), b"two")]
}

pub(super) fn commit_pairs(me: &Participant) -> Vec<u64> {
    for step in 1..=REWRITES {
        let value = numbered(step * 10 + me.index, SMALL);
        let [one, two] = pair();
        let array = Cell::array(array_id(1));
        let mut transaction = Transaction::new();
        transaction = match step % 5 {
            0 => transaction.update(Update::Remove { cell: one }).update(Update::Remove { cell: two }),
            _ => transaction
                .update(Update::Put { cell: one, value: &value })
                .update(Update::Put { cell: two, value: &value }),
        };
        // Bulk bytes in the same transaction must not come apart from the rest either.
        let write = Update::Write { cell: array, offset: 0, data: &value };
        let size = Update::SetSize { cell: array, size: value.len() as u64 };
        me.container.commit(&transaction.update(write).update(size)).unwrap();
    }
    finish(me)
}

pub(super) fn read_pairs(me: &Participant) -> Vec<u64> {
    while_writers_work(me, || {
        let values = me.container.get_many(&pair()).unwrap();
        assert!(values[0] == values[1], "one cell of a transaction without the other");
        for value in values.iter().flatten() {
            number_of(value, SMALL);
        }
        let mut buffer = [0; 2 * SMALL];
        let filled = array(&me.container, 1).read_into(0, &mut buffer).unwrap();
        assert!(filled == 0 || number_of(&buffer[..filled], SMALL) > 0);
    })
}

pub fn readers_see_an_array_that_is_rewritten_whole(trial: &Trial<'_>) {
    for (object, length) in [(1, SMALL), (2, LARGE)] {
        trial.array(object).write(0, &exactly(0, length)).unwrap();
    }
    trial.flush();
    trial.race(&["rewrite_array", "rewrite_array", "read_array", "read_array"]);
}

/// A value of this very length, since a write does not shrink an array.
fn exactly(number: u64, length: usize) -> Vec<u8> {
    numbered(number * 61, length)
}

pub(super) fn rewrite_array(me: &Participant) -> Vec<u64> {
    for step in 1..=REWRITES {
        let (object, length) = if step % 4 == 0 { (2, LARGE) } else { (1, SMALL) };
        array(&me.container, object).write(0, &exactly(step * 10 + me.index, length)).unwrap();
        if step % 16 == 0 {
            me.container.flush().unwrap();
        }
    }
    me.container.flush().unwrap();
    finish(me)
}

pub(super) fn read_array(me: &Participant) -> Vec<u64> {
    while_writers_work(me, || {
        for (object, length) in [(1, SMALL), (2, LARGE)] {
            number_of(&array(&me.container, object).read(0, usize::MAX).unwrap(), length);
            if me.container.facets().lent_reads.is_some() {
                number_of(&array(&me.container, object).lend(0, u64::MAX).unwrap(), length);
            }
        }
    })
}

/// The object in which the writers, the first two participants, report that they are done.
const DONE: u64 = 99;

pub(super) fn finish(me: &Participant) -> Vec<u64> {
    kv(&me.container, DONE).put(&me.index.to_le_bytes(), b"done").unwrap();
    me.container.flush().unwrap();
    Vec::new()
}

pub(super) fn while_writers_work(me: &Participant, mut look: impl FnMut()) -> Vec<u64> {
    let mut looks = 0;
    super::trial::wait_for("the end of the writers", || {
        look();
        looks += 1;
        let done = |who: u64| kv(&me.container, DONE).get(&who.to_le_bytes()).unwrap().is_some();
        (done(0) && done(1)).then_some(())
    });
    vec![looks]
}

pub fn containers_created_at_once_have_one_creator_each(trial: &Trial<'_>) {
    let reports = trial.race(&["create_containers"; PARTICIPANTS]);
    let mut created: Vec<u64> = reports.into_iter().flatten().collect();
    created.sort_unstable();
    assert_eq!(created, (0..20).collect::<Vec<_>>());
    for number in 0..20 {
        trial.pool.open_container(&label(&format!("raced-{number}"))).unwrap();
    }
}

pub(super) fn create_containers(me: &Participant) -> Vec<u64> {
    let creates = |number: &u64| {
        let label = label(&format!("raced-{number}"));
        let created = match me.pool.create_container(&label, &ContainerOptions::default()) {
            Ok(()) => true,
            Err(Error::AlreadyExists { .. }) => false,
            Err(error) => panic!("{error}"),
        };
        // A loser can use the winner's container at once.
        let container = me.pool.open_container(&label).unwrap();
        kv(&container, 1).put(&me.index.to_le_bytes(), b"x").unwrap();
        container.flush().unwrap();
        created
    };
    (0..20).filter(creates).collect()
}

pub fn one_handle_serves_many_threads(trial: &Trial<'_>) {
    const THREADS: u64 = 8;
    const STEPS: u64 = 50;
    let container = &trial.container;
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for step in 0..STEPS {
                    let number = thread * STEPS + step;
                    kv(container, 1).put(&number.to_le_bytes(), &numbered(number, SMALL)).unwrap();
                    array(container, number).write(0, &numbered(number, 5000)).unwrap();
                    let claimed = kv(container, 2).put_if_absent(&step.to_le_bytes(), &[thread as u8]);
                    assert!(matches!(claimed, Ok(_) | Err(Error::Conflict { .. })), "{claimed:?}");
                    let value = kv(container, 1).get(&number.to_le_bytes()).unwrap().unwrap();
                    assert_eq!(number_of(&value, SMALL), number);
                    let bytes = array(container, number).read(0, usize::MAX).unwrap();
                    assert_eq!(number_of(&bytes, 5000), number);
                    if step % 25 == 0 {
                        container.flush().unwrap();
                    }
                }
            });
        }
    });
    container.flush().unwrap();
    let other = trial.reopened();
    let listed = super::trial::all_keys(|at| kv(&other, 1).list(at, 100, false).unwrap(), 100);
    let distinct: HashSet<u64> = listed.iter().map(|key| number(key)).collect();
    assert_eq!(distinct.len() as u64, THREADS * STEPS);
    for number in 0..THREADS * STEPS {
        let bytes = array(&other, number).read(0, usize::MAX).unwrap();
        assert_eq!(number_of(&bytes, 5000), number);
    }
}
