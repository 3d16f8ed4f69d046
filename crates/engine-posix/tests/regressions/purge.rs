//! Purging: space is freed, everything that is needed stays, and killed or late processes do no harm.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use isotach_engine_posix::simulation::Random;
use isotach_object::{
    Array, ArrayRead, Cell, Container, Error, Label, ObjectClass, ObjectId, ObjectType, Part, Precondition,
    Transaction, Update, extents_of,
};

use crate::{
    ALL, BEGIN, QUICK, Store, array, assert_holds, change, entries, entry, key, put, put_frames, tree,
};

const SIZE: usize = 200_000;

/// The bytes of array `number` in a round of writing.
fn content(number: u64, round: u64) -> Vec<u8> {
    let mut random = Random(number << 32 | round);
    let mut bytes: Vec<u8> = (0..SIZE / 8).flat_map(|_| random.number().to_le_bytes()).collect();
    bytes[..8].copy_from_slice(&round.to_le_bytes());
    bytes
}

/// Replaces arrays in one transaction each, so a reader never sees one between two rounds.
fn write(container: &dyn Container, numbers: impl Iterator<Item = u64>, round: u64) {
    for number in numbers {
        let (cell, data) = (Cell::array(array(number)), content(number, round));
        let transaction = Transaction::new()
            .update(Update::Destroy { object: cell.object })
            .update(Update::Write { cell, offset: 0, data: &data });
        container.commit(&transaction).unwrap();
    }
    container.flush().unwrap();
}

/// Writes arrays some times over, and much log.
fn fill(store: &Store, numbers: std::ops::Range<u64>, rounds: u64) {
    (0..rounds).for_each(|round| write(&*store.open(), numbers.clone(), round));
    grow_log(&*store.open());
}

/// Checks that the arrays up to `count` have the bytes of this round.
#[track_caller]
fn assert_round(container: &dyn Container, count: u64, round: u64) {
    (0..count).for_each(|number| assert_eq!(round_of(container, number), round));
}

/// The round whose bytes an array has.
fn round_of(container: &dyn Container, number: u64) -> u64 {
    let of = Array::new(container, array(number)).unwrap();
    let bytes = of.read(0, SIZE + 1).unwrap();
    let round = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert!(bytes == content(number, round), "array {number} in round {round}");
    assert_eq!(of.lend(0, u64::MAX).unwrap().len(), SIZE, "array {number}");
    round
}

/// The disk usage of a path, as `du` reports it.
fn du(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::symlink_metadata(path).unwrap();
    match metadata.is_dir() {
        true => fs::read_dir(path).unwrap().map(|entry| du(&entry.unwrap().path())).sum(),
        false => metadata.blocks() * 512,
    }
}

/// Writes enough log for a part of it to be purged.
fn grow_log(container: &dyn Container) {
    (0..400).for_each(|number| put(container, number, &[7; 10_000]));
    for number in 0..400 {
        entries(container).put(&key(number), &number.to_le_bytes()).unwrap();
    }
    container.flush().unwrap();
}

#[test]
fn a_dry_purge_writes_nothing() {
    // Without runs of what the purge reads.
    let store = Store::new("?checkpoint=1099511627776");
    fill(&store, 0..20, 10);
    let before = tree(&store.path());
    let reported = store.maintenance().purge(&store.label, false).unwrap();
    assert!(tree(&store.path()) == before);
    let purged = store.purge();
    assert!(reported.freed.abs_diff(purged.freed) < purged.freed / 50, "{reported:?} {purged:?}");
}

#[test]
fn a_purge_frees_what_a_dry_one_reports_and_keeps_the_rest() {
    let store = Store::new("");
    fill(&store, 0..20, 10);
    let reader = store.open();
    let lent = Array::new(&*reader, array(3)).unwrap().lend(0, u64::MAX).unwrap();
    let before = du(&store.path());
    let reported = store.maintenance().purge(&store.label, false).unwrap();
    assert_eq!(store.files("floor."), Vec::<std::path::PathBuf>::new(), "telling changes nothing");
    let purged = store.purge();
    let (after, live) = (du(&store.path()), 20 * SIZE as u64);
    // A megabyte of log is kept.
    assert!(after < live + live / 10 + (1 << 20), "{after} for {live}, {before} before: {purged:?}");
    let freed = before - after;
    for said in [reported.freed, purged.freed] {
        assert!(said.abs_diff(freed) < freed / 50, "said {said}, freed {freed}");
    }
    assert_eq!((reported.held, purged.held, purged.history_stays), (0, 0, false));
    for container in [&reader, &store.open()] {
        assert_round(&**container, 20, 9);
        assert_holds(&**container, 0..400, "after the purge");
    }
    assert!(*lent == content(3, 9)[..], "what was lent stays");
    // Another purge finds nothing to do, and writing continues.
    assert_eq!(store.purge().freed, 0);
    write(&*store.open(), 0..20, 10);
    store.purge();
    assert_round(&*reader, 20, 10);
    assert_eq!(store.verify(ALL).findings, []);
}

#[test]
fn a_purge_moves_values_records_and_holes_unchanged() {
    let store = Store::new("");
    let container = store.open();
    let object = ObjectId::new(ObjectType::General, ObjectClass::S1, 0, 1);
    let record = Cell::general(object, b"d", b"a");
    let value = vec![3; 50_000];
    entries(&*container).put(b"gone", &vec![1; 300_000]).unwrap();
    entries(&*container).put(b"large", &value).unwrap();
    let updates = [
        Update::Write { cell: record, offset: 10, data: &[5; 200_000] },
        Update::Punch { cell: record, offset: 1_000, length: 100_000 },
        Update::Write { cell: Cell::array(array(1)), offset: 0, data: b"" },
        Update::SetSize { cell: Cell::array(array(2)), size: 77 },
    ];
    container.update(&updates).unwrap();
    entries(&*container).remove(b"gone").unwrap();
    container.flush().unwrap();
    let epoch = container.epoch().unwrap();
    drop(container);
    assert!(store.purge().freed > 300_000);
    let container = store.open();
    assert_eq!(entries(&*container).get(b"large").unwrap(), Some(value.clone()));
    assert_eq!(entries(&*container).get(b"gone").unwrap(), None);
    let mut buffer = vec![9; 300_000];
    let mut reads = [ArrayRead { cell: record, offset: 0, buffer: &mut buffer, filled: 0 }];
    container.read_many(&mut reads).unwrap();
    assert_eq!(reads[0].filled, 200_010);
    let is_five = |at: usize| (10..1_000).contains(&at) || (101_000..200_010).contains(&at);
    assert!((0..200_010).all(|at| buffer[at] == if is_five(at) { 5 } else { 0 }));
    assert_eq!(extents_of(&*container, record, 0, u64::MAX).unwrap(), [10..1_000, 101_000..200_010]);
    let sizes = container.size_many(&[Cell::array(array(1)), Cell::array(array(2))]).unwrap();
    assert_eq!(sizes, [Some(0), Some(77)]);
    // Preconditions see the value, and recent removals.
    let (kv, gone) = (entry(b"large"), entry(b"gone"));
    let equals = Transaction::new().require(Precondition::Equals(kv, &value));
    container.commit(&equals.update(Update::Put { cell: kv, value: b"new" })).unwrap();
    let since = |epoch| Transaction::new().require(Precondition::Unchanged(gone, epoch));
    container.commit(&since(epoch).update(Update::Put { cell: kv, value: b"newer" })).unwrap();
    let before = isotach_object::Epoch(100);
    let late = container.commit(&since(before).update(Update::Put { cell: kv, value: b"late" }));
    assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
}

#[test]
fn a_snapshot_keeps_what_it_needs_until_it_is_removed() {
    let store = Store::new("");
    let name: Label = "then".parse().unwrap();
    write(&*store.open(), 0..10, 0);
    let epoch = store.open().snapshots().unwrap().create(&name).unwrap();
    write(&*store.open(), 0..10, 1);
    write(&*store.open(), 0..10, 2);
    grow_log(&*store.open());
    let past = store.open().snapshots().unwrap().open(&name).unwrap();
    assert_eq!(round_of(&*past, 1), 0);
    store.purge();
    for past in [
        &past,
        &store.open().snapshots().unwrap().open(&name).unwrap(),
        &store.open().snapshots().unwrap().open_at(epoch).unwrap(),
    ] {
        assert_round(&**past, 10, 0);
        assert_eq!(entries(&**past).get(&key(0)).unwrap(), None);
    }
    assert_round(&*store.open(), 10, 2);
    let between = store.open().snapshots().unwrap().open_at(isotach_object::Epoch(epoch.0 + 1)).unwrap_err();
    assert_eq!(between.code(), "not-found", "{between}");
    let (two, purged) = (du(&store.path()), store.open());
    purged.snapshots().unwrap().destroy(&name).unwrap();
    purged.flush().unwrap();
    store.purge();
    assert!(two - du(&store.path()) > 9 * SIZE as u64);
    assert_eq!(round_of(&*purged, 5), 2);
    let fresh = store.open().snapshots().unwrap().open_at(epoch).unwrap_err();
    assert_eq!(fresh.code(), "not-found", "{fresh}");
}

#[test]
fn a_purge_keeps_files_with_a_writer_and_removes_others() {
    let store = Store::new("");
    write(&*store.open(), 0..5, 0);
    let writer = store.open();
    write(&*writer, 0..5, 1);
    write(&*writer, 0..5, 2);
    // Not in the log yet.
    let data = content(9, 3);
    writer.update(&[Update::Write { cell: Cell::array(array(9)), offset: 0, data: &data }]).unwrap();
    let purged = store.purge();
    assert!(purged.freed > 4 * SIZE as u64 && purged.held > 4 * SIZE as u64, "{purged:?}");
    writer.flush().unwrap();
    let reader = store.open();
    assert_round(&*reader, 5, 2);
    assert_eq!(round_of(&*reader, 9), 3);
    drop(writer);
    assert!(store.purge().freed > 4 * SIZE as u64);
    assert_eq!(round_of(&*reader, 9), 3);
}

#[test]
fn open_handles_read_and_write_after_a_purge() {
    let store = Store::new("?checkpoint=256");
    fill(&store, 0..5, 3);
    // One handle has read everything, and one nothing.
    let (full, none) = (store.open(), store.open());
    assert_eq!(round_of(&*full, 0), 2);
    store.purge();
    for container in [&full, &none] {
        assert_round(&**container, 5, 2);
        assert_holds(&**container, 0..400, "old handle");
    }
    for container in [&full, &none] {
        write(&**container, 0..5, 3);
    }
    store.purge();
    put_frames(&*none, 0..400);
    for container in [full, none, store.open()] {
        assert_round(&*container, 5, 3);
        assert_holds(&*container, 0..400, "old handle");
    }
}

#[test]
fn a_handle_in_a_new_hole_of_the_log_starts_over() {
    let store = Store::holding("?checkpoint=1099511627776", 10);
    let late = store.open();
    assert_holds(&*late, 0..10, "before");
    grow_log(&*store.open());
    write(&*store.open(), 0..5, 0);
    let purged = store.purge();
    assert!(purged.freed > 2 << 20, "{purged:?}");
    assert_holds(&*late, 0..400, "after");
    assert_eq!(round_of(&*late, 4), 0);
}

#[test]
fn two_purges_readers_and_writers_run_at_the_same_time() {
    const ARRAYS: u64 = 8;
    let store = Arc::new(Store::in_memory("?checkpoint=4096"));
    write(&*store.open(), 0..ARRAYS, 0);
    let (done, rounds) = (AtomicBool::new(false), AtomicU64::new(0));
    let reads = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Acquire) {
                    match store.maintenance().purge(&store.label, true) {
                        Ok(_) => drop(rounds.fetch_add(1, Ordering::AcqRel)),
                        Err(Error::Conflict { .. }) => thread::yield_now(),
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                let (container, mut last) = (store.open(), [0; ARRAYS as usize]);
                while !done.load(Ordering::Acquire) {
                    for number in 0..ARRAYS {
                        let round = round_of(&*container, number);
                        assert!(round >= last[number as usize], "array {number} went back");
                        last[number as usize] = round;
                        reads.fetch_add(1, Ordering::AcqRel);
                    }
                }
            });
        }
        let writer = scope.spawn(|| {
            let mut round = 0;
            while round < 30 || rounds.load(Ordering::Acquire) < 10 {
                round += 1;
                write(&*store.open(), 0..ARRAYS, round);
            }
            round
        });
        let last = writer.join();
        done.store(true, Ordering::Release);
        let last = last.unwrap();
        assert_round(&*store.open(), ARRAYS, last);
    });
    assert!(reads.load(Ordering::Acquire) > 0);
    store.purge();
    let live = ARRAYS * SIZE as u64;
    assert!(du(&store.path()) < live + live / 10 + (1 << 20) + (64 << 10));
}

#[test]
fn an_old_run_that_appears_after_a_purge_is_invalid() {
    let store = Store::holding("?checkpoint=1024", 50);
    write(&*store.open(), 0..5, 0);
    write(&*store.open(), 0..5, 1);
    store.put_frames(50..60);
    // A merger that began earlier may still name such a run: sound, and wider than the manifest's.
    let runs = store.files("run.");
    let old: Vec<_> = runs.iter().map(|run| (run.clone(), fs::read(run).unwrap())).collect();
    store.purge();
    assert!(store.files("run.").iter().all(|run| !runs.contains(run)));
    old.iter().for_each(|(run, bytes)| fs::write(run, bytes).unwrap());
    let reader = store.open();
    assert_holds(&*reader, 0..60, "beside old runs");
    assert_round(&*reader, 5, 1);
    put_frames(&*reader, 60..200);
    store.assert_holds(0..200, "after more merges");
    assert_round(&*store.open(), 5, 1);
    store.purge();
    assert!(store.files("run.").iter().all(|run| !runs.contains(run)), "the next purge cleans");
    store.assert_holds(0..200, "after the next purge");
}

#[test]
fn a_lost_or_damaged_purge_run_is_damage_and_not_an_older_state() {
    let store = Store::holding("", 50);
    write(&*store.open(), 0..5, 0);
    write(&*store.open(), 0..5, 1);
    store.purge();
    let [run] = &store.files("run.")[..] else { panic!("one run") };
    let good = fs::read(run).unwrap();
    for is_lost in [false, true] {
        match is_lost {
            false => change(run, |bytes| bytes[70] ^= 1),
            true => fs::remove_file(run).unwrap(),
        }
        let error = entries(&*store.open()).get(b"key").unwrap_err();
        assert_eq!(error.code(), "corrupt", "{error}");
        let found = store.verify(QUICK);
        assert!(found.findings.iter().any(|finding| finding.part == Part::History), "{found:?}");
        assert_eq!(store.quarantine(&found.findings).moved, Vec::<String>::new());
    }
    fs::write(run, good).unwrap();
    store.assert_holds(0..50, "mended");
}

#[test]
fn a_purge_keeps_the_file_of_a_damaged_array() {
    let store = Store::new("");
    let container = store.open();
    write(&*container, 0..5, 0);
    write(&*container, 0..3, 1);
    drop(container);
    let [data] = &store.data_files()[..] else { panic!("one file") };
    change(data, |bytes| bytes[BEGIN as usize + 4 * SIZE + 5] ^= 1);
    store.purge();
    assert!(data.exists());
    let container = store.open();
    assert_round(&*container, 3, 1);
    assert_eq!(round_of(&*container, 3), 0);
    let damaged = Array::new(&*container, array(4)).unwrap().read(0, SIZE);
    assert_eq!(damaged.unwrap_err().code(), "corrupt");
}
