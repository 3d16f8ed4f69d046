//! Writers beside movers, wipers, deleters and purgers, each in a thread and with its own handle.
//!
//! What must hold: the fields of a flush without an error can be read until they are wiped, and everything that is
//! listed at the end can be read.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use isotach_fields::{FieldStore, ListOptions};
use isotach_mars::{Key, Request};
use isotach_needs::number;

use crate::layouts::{Layout, archive, field, request, request_like, verify, with};

/// How many threads write.
const WRITERS: usize = 3;

/// The most rounds of flushes that each of them makes. On a cluster a round takes much longer.
fn rounds(layout: &Layout) -> usize {
    let default = if layout.is_in_cluster() { 20 } else { 60 };
    number("ISOTACH_STRESS_ROUNDS").map_or(default, |number| number as usize)
}

fn layouts() -> Vec<Layout> {
    let mut layouts = vec![Layout::memory(), Layout::posix(), Layout::apart()];
    // Those that are whole in a cluster are the slowest.
    layouts.extend(Layout::all_in_cluster().into_iter().filter(Layout::is_in_one_pool));
    layouts
}

fn writers(layout: &Layout) -> Vec<FieldStore> {
    (0..WRITERS).map(|_| layout.store()).collect()
}

/// The fields of a round: none like it in any other.
fn fields_of(writer: usize, round: usize) -> Vec<(Key, Vec<u8>)> {
    let kinds = ["class=od,type=fc", "class=od,type=an", "class=rd,type=fc"];
    let key = |kind: &str| with(&field(&round.to_string(), "t"), &format!("{kind},number={writer}"));
    kinds.iter().map(|kind| (key(kind), format!("{kind} {writer} {round}").into_bytes())).collect()
}

/// Writes, and returns the fields that were flushed without an error.
fn write(store: &FieldStore, writer: usize, rounds: usize) -> Vec<(Key, Vec<u8>)> {
    let rounds = (0..rounds).flat_map(|round| fields_of(writer, round));
    let is_flushed = |(key, bytes): &(Key, Vec<u8>)| {
        until_unlocked(|| store.archive(key, bytes)) && until_unlocked(|| store.flush())
    };
    rounds.filter(is_flushed).collect()
}

/// Repeats calls that a move refuses. False if a wipe or a move took the field.
fn until_unlocked(mut act: impl FnMut() -> isotach_fields::Result<()>) -> bool {
    loop {
        match act() {
            Ok(()) => return true,
            Err(error) if error.code() == "moving" => thread::yield_now(),
            Err(error) if error.code() == "wiped" => return false,
            Err(error) => panic!("{error:?}"),
        }
    }
}

fn assert_all_readable(store: &FieldStore, name: &str) {
    for listed in store.list(&request(""), ListOptions { duplicates: true }).unwrap() {
        let listed = listed.unwrap();
        assert!(!store.read(listed.location()).unwrap().is_empty(), "{} on {name}", listed.key());
    }
}

/// Runs the writers, and the others until the writers have finished, and once more after that. Returns the fields that
/// the writers flushed without an error.
fn beside(
    stores: &[FieldStore],
    layout: &Layout,
    others: &[&(dyn Fn(&FieldStore) + Sync)],
) -> Vec<(Key, Vec<u8>)> {
    let is_over = AtomicBool::new(false);
    let rounds = rounds(layout);
    thread::scope(|scope| {
        let writing: Vec<_> = (0..)
            .zip(stores)
            .map(|(writer, store)| scope.spawn(move || write(store, writer, rounds)))
            .collect();
        for act in others {
            let (store, is_over) = (layout.store(), &is_over);
            scope.spawn(move || {
                // A thread that the system kept waiting until now has something to act on, too.
                while !is_over.load(Ordering::Relaxed) {
                    act(&store);
                }
                act(&store);
            });
        }
        let written: Vec<_> = writing.into_iter().map(|writing| writing.join()).collect();
        is_over.store(true, Ordering::Relaxed);
        written.into_iter().flat_map(|fields| fields.unwrap()).collect()
    })
}

#[test]
fn fields_flushed_during_repeated_moves_are_in_one_of_the_stores() {
    for layout in layouts() {
        let target = layout.target();
        let moved = AtomicUsize::new(0);
        let mover = |store: &FieldStore| {
            for what in ["class=od,type=fc", "class=rd", "class=od"] {
                match store.move_to(&target, &request(what)) {
                    Ok(report) => {
                        moved.fetch_add(usize::try_from(report.fields).unwrap(), Ordering::Relaxed);
                    }
                    // The other mover has taken the dataset over, or is wiping it.
                    Err(error) if ["conflict", "moving"].contains(&error.code()) => {}
                    Err(error) => panic!("{error:?} on {}", layout.name),
                }
            }
        };
        let flushed = beside(&writers(&layout), &layout, &[&mover, &mover]);
        let source = layout.store();
        for (key, bytes) in &flushed {
            let found = [&source, &target].map(|store| store.retrieve_one(key).unwrap().map(Vec::from));
            let found = found.into_iter().flatten().next();
            assert_eq!(found.as_ref(), Some(bytes), "{key} on {}", layout.name);
        }
        let moved = moved.into_inner();
        assert!(moved > 0 && !flushed.is_empty(), "{moved} and {} on {}", flushed.len(), layout.name);
        assert_all_readable(&source, layout.name);
        assert_all_readable(&target, layout.name);
        source.archive(&field("0", "t"), b"no lock is left").unwrap();
    }
}

#[test]
fn wipes_of_collocations_and_purges_beside_writers_leave_whole_fields() {
    for layout in layouts() {
        let wiper = |what: &'static str| {
            move |store: &FieldStore| {
                store.wipe(&request(what), true).unwrap();
            }
        };
        let [fc, an] = ["class=od,type=fc", "class=od,type=an"].map(wiper);
        let stores = writers(&layout);
        let purger = |store: &FieldStore| {
            let answer = store.purge(&request(""), true).unwrap();
            assert!(answer.unusable.is_empty(), "{:?} on {}", answer.unusable, layout.name);
        };
        beside(&stores, &layout, &[&fc, &an, &fc, &purger]);
        assert_writable(&layout, &stores);
    }
}

/// That everything can be read, and more is archived, listed and read.
fn assert_writable(layout: &Layout, stores: &[FieldStore]) {
    let reader = layout.store();
    assert_all_readable(&reader, layout.name);
    for (writer, store) in stores.iter().enumerate() {
        let fields = fields_of(writer, rounds(layout));
        let fields: Vec<(Key, &[u8])> = fields.iter().map(|(key, bytes)| (key.clone(), &**bytes)).collect();
        archive(store, &fields);
        for (key, bytes) in fields {
            let exact = reader.list(&Request::from(&key), ListOptions::default()).unwrap();
            assert_eq!(exact.count(), 1, "{key} on {}", layout.name);
            assert_eq!(reader.retrieve_one(&key).unwrap().as_deref(), Some(bytes), "{}", layout.name);
        }
    }
}

#[test]
fn deletions_and_purges_beside_writers_leave_whole_fields() {
    for layout in layouts() {
        let deleted = AtomicUsize::new(0);
        let deleter = |steps: &'static str, kind: &'static str| {
            let request = request_like(&field("0", "t"), &format!("{kind},number=all,step={steps}"));
            let deleted = &deleted;
            move |store: &FieldStore| {
                let report = store.delete(&request, true).unwrap();
                deleted.fetch_add(report.fields() as usize, Ordering::Relaxed);
            }
        };
        let (even, all) = (deleter("0/to/1000/by/2", "class=od"), deleter("all", "class=od,type=an"));
        let purger = |store: &FieldStore| {
            let answer = store.purge(&request(""), true).unwrap();
            assert!(answer.unusable.is_empty(), "{:?} on {}", answer.unusable, layout.name);
        };
        let stores = writers(&layout);
        let flushed = beside(&stores, &layout, &[&even, &even, &all, &purger]);
        assert_eq!(flushed.len(), WRITERS * rounds(&layout) * 3, "no flush fails on {}", layout.name);
        let reader = layout.store();
        let mut left = 0;
        for (key, bytes) in &flushed {
            let found = reader.retrieve_one(key).unwrap();
            let is_even = key.get("step").unwrap().parse::<u32>().unwrap() % 2 == 0;
            let is_deleted = key.get("class") == Some("od") && (is_even || key.get("type") == Some("an"));
            assert_eq!(found.as_deref(), (!is_deleted).then_some(&**bytes), "{key} on {}", layout.name);
            left += usize::from(!is_deleted);
        }
        assert!(deleted.into_inner() >= flushed.len() - left, "on {}", layout.name);
        assert_eq!(reader.list(&request(""), ListOptions::default()).unwrap().count(), left);
        reader.purge(&request(""), true).unwrap();
        // Without transactions, entries of the history may follow the purge of their deletion.
        let all = reader.list(&request(""), ListOptions { duplicates: true }).unwrap().count();
        assert!(
            all == left || all > left && !layout.has_transactions(),
            "{all} and {left} on {}",
            layout.name
        );
        assert!(verify(&reader, true).is_sound());
        assert_writable(&layout, &stores);
    }
}
