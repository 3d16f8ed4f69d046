//! Lists in pages: every entry once, for any page size and during writes.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use super::{
    bytes::{awkward_keys, noise},
    trial::{
        OwnContainer, Trial, all_keys, all_objects, all_pages, array_id, general, general_id, kv, kv_id,
        refused,
    },
};
use isotach_object::{Anchor, Cell, Update};

fn entries(place: &OwnContainer, limit: usize, values: bool) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut entries = all_pages(|anchor| place.kv(1).list(anchor, limit, values).unwrap(), limit);
    if !place.container.capabilities().ordered_listing {
        entries.sort();
    }
    entries
}

fn key(number: u64) -> Vec<u8> {
    format!("key {number:06}").into_bytes()
}

pub fn pages_of_any_size_hold_every_entry_once(trial: &Trial<'_>) {
    let expected: Vec<_> = (0..100).map(|n| (key(n), noise(n, (n * n) as usize))).collect();
    for (key, value) in expected.iter().rev() {
        trial.kv(1).put(key, value).unwrap();
    }
    let bare: Vec<_> = expected.iter().map(|(key, _)| (key.clone(), Vec::new())).collect();
    for limit in [1, 2, 7, 99, 100, 101, usize::MAX] {
        assert!(entries(trial, limit, true) == expected, "pages of {limit}");
        assert!(entries(trial, limit, false) == bare, "pages of {limit} without values");
    }
}

pub fn keys_of_any_bytes_are_listed(trial: &Trial<'_>) {
    let mut keys = awkward_keys();
    for key in &keys {
        trial.kv(1).put(key, b"").unwrap();
    }
    keys.sort();
    for limit in [1, 10] {
        assert!(entries(trial, limit, true).into_iter().map(|(key, _)| key).eq(keys.iter().cloned()));
    }
}

pub fn an_ordered_listing_ascends(trial: &Trial<'_>) {
    for at in 0..500_u64 {
        trial.kv(1).put(&noise(at, 1 + (at % 5) as usize), b"x").unwrap();
    }
    // Some that a checkpoint may hold, and some that are newer.
    trial.flush();
    for at in 500..900 {
        trial.kv(1).put(&noise(at, 3), b"x").unwrap();
    }
    let listed = entries(trial, 64, false);
    assert!(listed.is_sorted_by(|a, b| a.0 < b.0), "keys ascend, and none comes twice");
}

pub fn removed_entries_are_not_listed_and_an_empty_object_lists_nothing(trial: &Trial<'_>) {
    assert!(entries(trial, 10, true).is_empty());
    for n in 0..20 {
        trial.kv(1).put(&key(n), b"x").unwrap();
    }
    for n in (0..20).step_by(2) {
        trial.kv(1).remove(&key(n)).unwrap();
    }
    assert_eq!(entries(trial, 3, true).len(), 10);
    for n in 0..20 {
        trial.kv(1).remove(&key(n)).unwrap();
    }
    assert!(entries(trial, 3, true).is_empty());
}

pub fn a_listing_continues_after_the_entry_at_its_anchor_was_removed(trial: &Trial<'_>) {
    let kv = trial.kv(1);
    for n in 0..30 {
        kv.put(&key(n), b"x").unwrap();
    }
    let mut seen = BTreeSet::new();
    all_pages(
        |anchor| {
            let page = kv.list(anchor, 4, false).unwrap();
            for key in page.keys() {
                assert!(seen.insert(key.to_vec()), "{key:?} came twice");
                kv.remove(key).unwrap();
            }
            page
        },
        4,
    );
    assert_eq!(seen.len(), 30, "what was there until it was listed is listed");
}

pub fn a_listing_during_writes_holds_every_entry_that_stays(trial: &Trial<'_>) {
    // Those with even numbers stay, the odd ones come and go.
    for n in (0..400).step_by(2) {
        trial.kv(1).put(&key(n), b"stays").unwrap();
    }
    trial.flush();
    let stop = AtomicBool::new(false);
    let other = trial.another();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                (1..400).step_by(2).for_each(|n| kv(&other, 1).put(&key(n), b"goes").unwrap());
                other.flush().unwrap();
                (1..400).step_by(2).for_each(|n| kv(&other, 1).remove(&key(n)).unwrap());
            }
        });
        for limit in [1, 3, 10, 50, 150] {
            let listed: Vec<_> = entries(trial, limit, true);
            let distinct: BTreeSet<_> = listed.iter().map(|(key, _)| key.clone()).collect();
            assert_eq!(distinct.len(), listed.len(), "no entry twice");
            assert!((0..400).step_by(2).all(|n| distinct.contains(&key(n))), "pages of {limit}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

pub fn objects_are_listed_while_they_hold_something(trial: &Trial<'_>) {
    assert!(all_objects(&trial.container, 10).is_empty());
    let mut expected: Vec<_> = (1..=20).flat_map(|n| [kv_id(n), array_id(n), general_id(n)]).collect();
    for object in &expected {
        let update = match object.otype() {
            isotach_object::ObjectType::KeyValue => Update::Put { cell: Cell::kv(*object, b"k"), value: b"" },
            isotach_object::ObjectType::Array => {
                Update::Write { cell: Cell::array(*object), offset: 0, data: b"" }
            }
            _ => Update::Put { cell: Cell::general(*object, b"d", b"a"), value: b"" },
        };
        trial.update(update);
    }
    expected.sort();
    for limit in [1, 7, 60, 100] {
        assert_eq!(all_objects(&trial.container, limit), expected);
    }
    trial.update(Update::Destroy { object: array_id(3) });
    trial.kv(3).remove(b"k").unwrap();
    general(&trial.container, 3, b"d", b"a").remove().unwrap();
    expected.retain(|object| object.lo() != 3);
    assert_eq!(all_objects(&trial.container, 7), expected);
}

pub fn distribution_and_attribute_keys_are_listed_in_pages(trial: &Trial<'_>) {
    let mut keys: Vec<_> = awkward_keys().into_iter().step_by(4).collect();
    keys.sort();
    for dkey in &keys {
        for akey in [&b"a"[..], b"b", b"c"] {
            general(&trial.container, 1, dkey, akey).put(b"x").unwrap();
        }
    }
    for akey in &keys {
        general(&trial.container, 2, b"d", akey).put(b"x").unwrap();
    }
    let container = &trial.container;
    for limit in [1, 2, 16, 1000] {
        assert!(all_keys(|at| container.list_dkeys(general_id(1), at, limit).unwrap(), limit) == keys);
        let akeys = all_keys(|at| container.list_akeys(general_id(1), &keys[1], at, limit).unwrap(), limit);
        assert_eq!(akeys, [b"a", b"b", b"c"]);
        let akeys = all_keys(|at| container.list_akeys(general_id(2), b"d", at, limit).unwrap(), limit);
        assert!(akeys == keys);
    }
    let none = all_keys(|at| container.list_akeys(general_id(1), b"none", at, 5).unwrap(), 5);
    assert!(none.is_empty());
}

pub fn a_page_of_no_entries_is_refused(trial: &Trial<'_>) {
    let (container, start) = (&trial.container, Anchor::start());
    refused(container.list_entries(kv_id(1), &start, 0, true), "invalid-input");
    refused(container.list_dkeys(general_id(1), &start, 0), "invalid-input");
    refused(container.list_akeys(general_id(1), b"d", &start, 0), "invalid-input");
    refused(container.list_objects(&start, 0), "invalid-input");
}
