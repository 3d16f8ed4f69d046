//! Prepared transactions beside purges, damage, dead processes, and locks.

use std::fs;

use isotach_object::{
    Array, Cell, Container, Epoch, Label, ObjectClass, ObjectId, ObjectType, Precondition, PreparableStaging,
    Result, Transaction, Update, Verify, Versions,
};

use crate::{BEGIN, Store, array, change, entries, entry, key};

const LONG: usize = 400_000;

fn name(text: &str) -> Label {
    text.parse().unwrap()
}

fn content(number: u64) -> Vec<u8> {
    (0..LONG as u64).map(|at| (at * 31 + number * 7 + at / 251) as u8).collect()
}

fn names(container: &dyn Container) -> Vec<Label> {
    container.prepared_transactions().unwrap().list_prepared("").unwrap()
}

/// Begins a stage that writes an array.
fn begin(container: &dyn Container, number: u64) -> Box<dyn PreparableStaging + '_> {
    let mut staging = container.prepared_transactions().unwrap().begin_prepared().unwrap();
    let cell = Cell::array(array(number));
    staging.update(&[Update::Write { cell, offset: 0, data: &content(number) }]).unwrap();
    staging
}

/// Prepares an array and this many entries.
fn prepare(container: &dyn Container, stage: &str, number: u64, count: u64) {
    let mut staging = begin(container, number);
    for at in 0..count {
        let (key, value) = (key(number * 10_000 + at), at.to_le_bytes());
        staging.update(&[Update::Put { cell: entry(&key), value: &value }]).unwrap();
    }
    staging.prepare(&name(stage), &[]).unwrap();
}

fn commit(container: &dyn Container, stages: &[&str]) -> Result<Epoch> {
    let names: Vec<Label> = stages.iter().map(|stage| name(stage)).collect();
    container.prepared_transactions()?.commit_prepared(&names, &Transaction::new())
}

fn assert_prepared_is_there(container: &dyn Container, number: u64, count: u64) {
    let found = Array::new(container, array(number)).unwrap().read(0, LONG + 1).unwrap();
    assert!(found == content(number), "array {number}");
    for entry in 0..count {
        let found = entries(container).get(&key(number * 10_000 + entry)).unwrap();
        assert_eq!(found, Some(entry.to_le_bytes().to_vec()), "entry {entry} of {number}");
    }
}

fn verify(store: &Store, data: bool) -> (u64, Vec<String>) {
    let verified = store.verify(Verify { data, threads: 2 });
    let (_, prepared) = verified.checked.iter().find(|(what, _)| *what == "prepared transactions").unwrap();
    (*prepared, verified.findings.iter().map(ToString::to_string).collect())
}

/// Writes and replaces enough for a purge.
fn litter(store: &Store) {
    let container = store.open();
    for round in 0..4 {
        Array::new(&*container, array(99)).unwrap().write(0, &content(round)).unwrap();
        container.flush().unwrap();
    }
}

#[test]
fn a_purge_keeps_the_prepared_transactions_of_dead_processes() {
    for query in ["", "?checkpoint=4096&segment=2000"] {
        let store = Store::new(query);
        litter(&store);
        for (stage, number) in [("one", 1), ("two", 2), ("three", 3)] {
            // Dropping the handle releases all its locks.
            prepare(&*store.open(), stage, number, 500);
        }
        store.open().snapshots().unwrap().create(&name("between")).unwrap();
        litter(&store);
        for round in 0..3 {
            let expected = store.maintenance().purge(&store.label, false).unwrap();
            let purged = store.purge();
            assert_eq!(purged.freed > 0, round == 0, "{query}: {expected:?} {purged:?}");
            assert_eq!(verify(&store, true), (3, Vec::new()), "{query}, purge {round}");
        }
        let container = store.open();
        commit(&*container, &["one", "three"]).unwrap();
        for _ in 0..2 {
            litter(&store);
            store.purge();
            for container in [&container, &store.open()] {
                assert_prepared_is_there(&**container, 1, 500);
                assert_prepared_is_there(&**container, 3, 500);
                assert_eq!(names(&**container), [name("two")]);
            }
            assert_eq!(verify(&store, true), (1, Vec::new()), "{query}");
        }
    }
}

#[test]
fn an_aborted_prepared_transaction_frees_its_space() {
    let store = Store::new("");
    prepare(&*store.open(), "kept", 1, 10);
    prepare(&*store.open(), "aborted", 2, 10);
    store.open().prepared_transactions().unwrap().abort_prepared(&name("aborted")).unwrap();
    assert_eq!(store.data_files().len(), 2);
    let purged = store.purge();
    assert!(purged.freed > LONG as u64 / 2, "{purged:?}");
    assert_eq!(store.data_files().len(), 1);
    commit(&*store.open(), &["kept"]).unwrap();
    assert_prepared_is_there(&*store.open(), 1, 10);
}

#[test]
fn a_stage_that_cannot_be_prepared_leaves_no_file() {
    let store = Store::new("");
    prepare(&*store.open(), "name", 1, 0);
    let container = store.open();
    for (stage, code) in [("name", "already-exists"), ("other", "conflict")] {
        let missing = Precondition::Present(Cell::array(array(7)));
        assert_eq!(begin(&*container, 2).prepare(&name(stage), &[missing]).unwrap_err().code(), code);
    }
    assert_eq!(store.data_files().len(), 1);
    assert_eq!(names(&*container), [name("name")]);
}

#[test]
fn a_damaged_prepared_segment_only_blocks_its_own_commit() {
    let store = Store::new("?segment=2000");
    prepare(&*store.open(), "good", 1, 300);
    let before = store.data_files();
    prepare(&*store.open(), "bad", 2, 300);
    let bad = store.data_files().into_iter().find(|path| !before.contains(path)).unwrap();
    assert_eq!(verify(&store, true), (2, Vec::new()));
    let flip = |at: usize| change(&bad, |bytes| bytes[BEGIN as usize + at] ^= 1);
    // The bulk bytes come first, then the segments.
    flip(100);
    let (_, findings) = verify(&store, true);
    assert!(findings.len() == 1 && findings[0].contains("key bad"), "{findings:?}");
    assert_eq!(verify(&store, false), (2, Vec::new()));
    flip(100);
    flip(LONG + 100);
    let (_, findings) = verify(&store, false);
    assert!(findings.len() == 1 && findings[0].contains("key bad"), "{findings:?}");
    let container = store.open();
    let error = commit(&*container, &["good", "bad"]).unwrap_err();
    assert_eq!(error.code(), "corrupt", "{error}");
    commit(&*container, &["good"]).unwrap();
    assert_prepared_is_there(&*store.open(), 1, 300);
    fs::remove_file(&bad).unwrap();
    let error = commit(&*container, &["bad"]).unwrap_err();
    assert_eq!(error.code(), "corrupt", "{error}");
    assert_eq!(verify(&store, false).1.len(), 1);
    container.prepared_transactions().unwrap().abort_prepared(&name("bad")).unwrap();
    assert_eq!(verify(&store, true), (0, Vec::new()));
}

#[test]
fn a_purge_keeps_the_data_of_a_stage_until_it_is_prepared() {
    let store = Store::new("");
    litter(&store);
    let container = store.open();
    let staging = begin(&*container, 1);
    store.purge();
    staging.prepare(&name("late"), &[]).unwrap();
    store.purge();
    commit(&*store.open(), &["late"]).unwrap();
    assert_prepared_is_there(&*container, 1, 0);
}

/// The object with the state of numbered transactions.
fn books() -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 70)
}

/// Takes part in a numbered transaction with a handle that is then dropped.
fn finish(store: &Store, number: u64, participant: u32) {
    let container = store.open();
    let mut part = Versions::new(&*container, books()).unwrap().start(number, participant, 2).unwrap();
    let cell = Cell::array(array(participant.into()));
    let write = Update::Write { cell, offset: 0, data: &content(number) };
    part.update(&[Update::Destroy { object: cell.object }, write]).unwrap();
    part.finish().unwrap();
}

fn assert_version(container: &dyn Container, number: u64) {
    for participant in 0..2 {
        let found = Array::new(container, array(participant)).unwrap().read(0, LONG + 1).unwrap();
        assert!(found == content(number), "version {number}, participant {participant}");
    }
}

#[test]
fn a_purge_keeps_finished_and_snapshotted_versions() {
    let store = Store::new("");
    (0..2).for_each(|participant| finish(&store, 1, participant));
    store.open().snapshots().unwrap().create(&name("first")).unwrap();
    (0..2).for_each(|participant| finish(&store, 2, participant));
    // Number 4 is complete and waits for number 3, which lacks a participant.
    (0..2).for_each(|participant| finish(&store, 4, participant));
    finish(&store, 3, 1);
    litter(&store);
    for _ in 0..2 {
        let container = store.open();
        let versions = Versions::new(&*container, books()).unwrap();
        assert_eq!(versions.version().unwrap(), 2);
        assert_version(&*container, 2);
        assert_version(&*versions.open_version(1).unwrap(), 1);
        store.purge();
        assert_eq!(verify(&store, true), (3, Vec::new()));
    }
    finish(&store, 3, 0);
    let container = store.open();
    let versions = Versions::new(&*container, books()).unwrap();
    assert_eq!(versions.version().unwrap(), 4);
    assert_version(&*container, 4);
    for number in 1..=4 {
        assert_version(&*versions.open_version(number).unwrap(), number);
    }
    // Now the epochs of the versions lie before the manifest's.
    let purged = store.purge();
    assert!(purged.freed > LONG as u64, "{purged:?}");
    assert_version(&*versions.open_version(1).unwrap(), 1);
    assert_version(&*versions.open_version(4).unwrap(), 4);
    for number in [2, 3] {
        assert_eq!(versions.open_version(number).unwrap_err().code(), "not-found", "version {number}");
    }
}
