//! Conditional updates beside checkpoints of other handles.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

use isotach_object::{
    Container, Error, KeyValue, ObjectClass, ObjectId, ObjectType, Precondition, Transaction, Update,
};

use crate::{Store, assert_holds, entries, entry, key};

const COMMITTERS: usize = 2;
const CHECKPOINTERS: u64 = 3;
const KEYS: u64 = 1000;

/// Puts a key if it is absent. Returns whether this counted.
fn put_first(container: &dyn Container, number: u64) -> bool {
    let (key, value) = (key(number), number.to_le_bytes());
    let cell = entry(&key);
    let update = Update::Put { cell, value: &value };
    match container.commit(&Transaction::new().require(Precondition::Absent(cell)).update(update)) {
        Ok(_) => true,
        Err(Error::Conflict { .. }) => false,
        Err(error) => panic!("key {number}: {error}"),
    }
}

#[test]
fn a_first_conditional_commit_has_one_winner_beside_checkpoints() {
    let store = Store::in_memory("?checkpoint=256");
    let (won, done) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for number in 0..CHECKPOINTERS {
            let (store, done) = (&store, &done);
            scope.spawn(move || {
                let container = store.open();
                let other = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 1, number);
                let entries = KeyValue::new(&*container, other).unwrap();
                while !done.load(Ordering::Relaxed) {
                    entries.put(b"at", &[0; 300]).unwrap();
                    entries.get(b"at").unwrap();
                }
            });
        }
        let committers: Vec<_> = (0..COMMITTERS)
            .map(|_| {
                scope.spawn(|| {
                    // A new handle each time, without a state when it commits.
                    let won_here = (0..KEYS).filter(|number| put_first(&*store.open(), *number)).count();
                    won.fetch_add(won_here as u64, Ordering::Relaxed);
                })
            })
            .collect();
        let outcomes: Vec<_> = committers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        outcomes.into_iter().for_each(|outcome| outcome.unwrap());
    });
    assert_eq!(won.into_inner(), KEYS, "each key has one winner");
    assert!(!store.files("run.").is_empty(), "there were checkpoints");
    store.assert_holds(0..KEYS, "afterwards");
}

#[test]
fn threads_of_one_handle_get_verdicts_and_never_go_back_beside_new_runs() {
    const EACH: u64 = 400;
    let store = Store::in_memory("?checkpoint=256");
    let (shared, done) = (store.open(), AtomicBool::new(false));
    let others = [(); 2].map(|()| store.open());
    thread::scope(|scope| {
        // Runs come from other handles, and reach past what the shared one has replayed.
        for (number, other) in others.iter().enumerate() {
            let done = &done;
            scope.spawn(move || {
                let object = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 1, number as u64);
                let entries = KeyValue::new(&**other, object).unwrap();
                while !done.load(Ordering::Relaxed) {
                    entries.put(b"at", &[0; 300]).unwrap();
                    other.flush().unwrap();
                }
            });
        }
        let committers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| (0..EACH).filter(|number| put_first(&*shared, *number)).count() as u64))
            .collect();
        let watcher = scope.spawn(|| {
            let mut seen = 0;
            while !done.load(Ordering::Relaxed) {
                while entries(&*shared).get(&key(seen)).unwrap().is_some() {
                    seen += 1;
                }
                let last = seen.checked_sub(1).map(|last| entries(&*shared).get(&key(last)).unwrap());
                assert!(last.is_none_or(|last| last.is_some()), "key {} was there and is gone", seen - 1);
            }
        });
        let outcomes: Vec<_> = committers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        let won: u64 = outcomes.into_iter().map(|outcome| outcome.unwrap()).sum();
        watcher.join().unwrap();
        assert_eq!(won, EACH, "each key has one winner");
    });
    assert_holds(&*shared, 0..EACH, "afterwards");
}
