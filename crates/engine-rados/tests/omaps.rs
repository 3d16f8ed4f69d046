//! Large objects: their omaps are split while others read and write, and whoever dies in the midst leaves nothing undone.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

mod support;

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use isotach_engine_rados::fault_injection;
use isotach_object::{
    Anchor, Container, ContainerOptions, KeyValue, ObjectClass, ObjectId, ObjectType, PoolUri,
};
use isotach_object_conformance::{ClusterFixture, Fixture};

const OBJECT: ObjectId = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);

fn container(fixture: &ClusterFixture, uri: &PoolUri) -> Arc<dyn Container> {
    fixture.engine().open_pool(uri).unwrap().open_container(&"c".parse().unwrap()).unwrap()
}

fn new_container(fixture: &ClusterFixture) -> PoolUri {
    let (engine, uri) = (fixture.engine(), fixture.fresh_pool());
    engine.create_pool(&uri).unwrap();
    engine
        .open_pool(&uri)
        .unwrap()
        .create_container(&"c".parse().unwrap(), &ContainerOptions::default())
        .unwrap();
    uri
}

fn key(number: usize) -> Vec<u8> {
    format!("step={number:06}").into_bytes()
}

fn put(container: &dyn Container, numbers: impl Iterator<Item = usize>) {
    let kv = KeyValue::new(container, OBJECT).unwrap();
    for (count, number) in numbers.enumerate() {
        kv.put(&key(number), &number.to_le_bytes()).unwrap();
        if count % 500 == 499 {
            container.flush().unwrap();
        }
    }
    container.flush().unwrap();
}

/// The keys of all entries, whose values must be right and of which none may come twice.
fn listed(container: &dyn Container) -> BTreeSet<Vec<u8>> {
    let kv = KeyValue::new(container, OBJECT).unwrap();
    let (mut keys, mut anchor) = (BTreeSet::new(), Anchor::start());
    loop {
        let page = kv.list(&anchor, 300, true).unwrap();
        for (found, value) in page.iter() {
            let number = usize::from_le_bytes(value.try_into().unwrap());
            assert_eq!(found, key(number));
            assert!(keys.insert(found.to_vec()), "{number} came twice");
        }
        match page.next() {
            Some(next) => anchor = next.clone(),
            None => return keys,
        }
    }
}

#[test]
fn an_object_that_grows_is_split_while_others_list_and_get() {
    const WRITERS: usize = 3;
    const EACH: usize = 6000;
    let fixture = support::rados("entries=1000");
    let uri = new_container(&fixture);
    let first = container(&fixture, &uri);
    put(&*first, (0..EACH).map(|number| number * WRITERS));
    let (stop, reader) = (AtomicBool::new(false), container(&fixture, &uri));
    thread::scope(|scope| {
        let writers: Vec<_> = (1..WRITERS)
            .map(|writer| {
                let container = container(&fixture, &uri);
                scope.spawn(move || put(&*container, (0..EACH).map(|number| number * WRITERS + writer)))
            })
            .collect();
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let keys = listed(&*reader);
                assert!((0..EACH).all(|number| keys.contains(&key(number * WRITERS))));
                let kv = KeyValue::new(&*reader, OBJECT).unwrap();
                assert!(
                    (0..EACH).step_by(100).all(|number| kv.get(&key(number * WRITERS)).unwrap().is_some())
                );
            }
        });
        let ended: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        stop.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(Result::unwrap);
    });
    assert_eq!(listed(&*first), (0..WRITERS * EACH).map(key).collect());
    let sizes = fault_injection::omap_sizes(&uri, OBJECT).unwrap();
    println!("omaps of {sizes:?} entries");
    assert_eq!(sizes.iter().sum::<usize>(), WRITERS * EACH, "none is in two omaps");
    assert!(sizes.iter().all(|size| *size <= 2000), "twice what an omap may hold: {sizes:?}");
}

#[test]
fn of_entries_that_are_sent_while_their_omaps_are_split_the_last_change_counts() {
    const WRITERS: usize = 3;
    const EACH: usize = 6000;
    let fixture = support::rados("entries=1000");
    let uri = new_container(&fixture);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let container = container(&fixture, &uri);
            scope.spawn(move || {
                let kv = KeyValue::new(&*container, OBJECT).unwrap();
                let numbers = || (0..EACH).map(|number| number * WRITERS + writer);
                // Many of one key are under way at once, since nothing is flushed before the end.
                for round in 0..3 {
                    for number in numbers() {
                        let value = if round == 2 { number } else { usize::MAX - round };
                        kv.put(&key(number), &value.to_le_bytes()).unwrap();
                        let passing = key(number + WRITERS * EACH);
                        if round == 2 { kv.remove(&passing).unwrap() } else { kv.put(&passing, b"").unwrap() }
                    }
                }
                container.flush().unwrap();
            });
        }
    });
    assert_eq!(listed(&*container(&fixture, &uri)), (0..WRITERS * EACH).map(key).collect());
    let sizes = fault_injection::omap_sizes(&uri, OBJECT).unwrap();
    println!("omaps of {sizes:?} entries");
    assert_eq!(sizes.iter().sum::<usize>(), WRITERS * EACH, "none is in two omaps");
    assert!(sizes.len() > 4, "{sizes:?}");
}

#[test]
fn a_split_of_a_dead_process_is_completed_by_a_waiting_one_while_readers_go_on() {
    let complete = |before: usize| {
        let fixture = support::rados("entries=1000");
        let uri = new_container(&fixture);
        put(&*container(&fixture, &uri), 0..before);
        fault_injection::leave_mark(&uri, OBJECT, "frozen").unwrap();
        let reader = container(&fixture, &uri);
        assert_eq!(listed(&*reader).len(), before);
        put(&*container(&fixture, &uri), before..before + 10);
        assert_eq!(listed(&*reader), (0..before + 10).map(key).collect());
        assert_eq!(fault_injection::omap_sizes(&uri, OBJECT).unwrap().iter().sum::<usize>(), before + 10);
    };
    // The waiting process declares the other dead after some seconds.
    thread::scope(|scope| [100, 3000].map(|before| scope.spawn(move || complete(before))).map(drop));
}

#[test]
fn a_removal_that_a_dead_process_began_is_ended_by_whoever_comes() {
    let fixture = support::rados("entries=500");
    let uri = new_container(&fixture);
    let (one, other) = (container(&fixture, &uri), container(&fixture, &uri));
    put(&*one, 0..3000);
    assert!(fault_injection::omap_sizes(&uri, OBJECT).unwrap().len() > 2);
    fault_injection::leave_mark(&uri, OBJECT, "gone").unwrap();
    assert_eq!(KeyValue::new(&*other, OBJECT).unwrap().get(&key(0)).unwrap(), None);
    assert!(listed(&*other).is_empty() && fault_injection::omap_sizes(&uri, OBJECT).unwrap().is_empty());
    put(&*one, 0..700);
    assert_eq!(listed(&*other), (0..700).map(key).collect());
}
