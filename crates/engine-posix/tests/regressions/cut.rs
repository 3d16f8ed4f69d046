//! Logs that lose flushed bytes without the engine: the next handle notices, and a repair restores what it can.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use isotach_object::{Part, Restored, SetAside, Unnamed};

use crate::{ALL, BEGIN, QUICK, Store, assert_holds, change, entries, key, put, put_frames};

fn cut(store: &Store, length: u64) {
    change(&store.log(), |log| log.truncate(length as usize));
}

fn length(store: &Store) -> u64 {
    fs::metadata(store.log()).unwrap().len()
}

/// A store whose log has lost its last entry, with the bytes still in the data file.
fn with_a_lost_entry() -> Store {
    let store = Store::holding("", 5);
    let kept = length(&store);
    put(&*store.open(), 7, &[7; 30_000]);
    cut(&store, kept);
    store
}

/// A store with runs whose log has lost most of its frames.
fn with_a_cut_log() -> Store {
    let store = Store::holding("?checkpoint=256", 40);
    cut(&store, 500);
    store
}

/// Checks that the entry is there which only runs still hold.
#[track_caller]
fn assert_runs_are_used(store: &Store) {
    assert_eq!(store.get(30).unwrap(), 30u64.to_le_bytes());
}

fn notes(store: &Store) -> PathBuf {
    store.path().join("flushed")
}

fn parts(store: &Store) -> Vec<Part> {
    store.verify(ALL).findings.iter().map(|finding| finding.part).collect()
}

/// The only bytes that nothing names.
#[track_caller]
fn kept(restored: &Restored) -> Vec<u8> {
    assert_eq!(restored.unnamed.len(), 1, "{restored:?}");
    let Unnamed { place, from, length } = &restored.unnamed[0];
    fs::read(place).unwrap()[*from as usize..][..*length as usize].to_vec()
}

fn repair(store: &Store) -> SetAside {
    store.quarantine(&store.verify(QUICK).findings)
}

#[test]
fn open_readers_and_writers_notice_that_the_log_was_cut() {
    let store = Store::new("");
    let (writer, reader, idle) = (store.open(), store.open(), store.open());
    put_frames(&*writer, 0..20);
    assert_holds(&*reader, 0..20, "before the cut");
    cut(&store, length(&store) / 2);
    assert_eq!(entries(&*reader).get(&key(3)).unwrap_err().code(), "corrupt", "a reader");
    for (who, container) in [("a writer", writer), ("a handle that has not written yet", idle)] {
        let before = length(&store);
        let outcome = entries(&*container).put(&key(99), b"later").and_then(|()| container.flush());
        assert_eq!(outcome.unwrap_err().code(), "corrupt", "{who}");
        assert_eq!(length(&store), before, "{who} appends nothing");
    }
}

#[test]
fn a_cut_log_is_noticed_with_sync_off() {
    let store = Store::holding("?sync=no", 20);
    cut(&store, length(&store) - 1);
    assert_eq!(store.pool.open_container(&store.label).unwrap_err().code(), "corrupt");
    assert_eq!(parts(&store), [Part::End]);
}

#[test]
fn a_log_replaced_by_an_older_copy_is_noticed() {
    let store = Store::holding("", 10);
    let older = fs::read(store.log()).unwrap();
    store.put_frames(10..20);
    fs::write(store.log(), older).unwrap();
    assert_eq!(store.pool.open_container(&store.label).unwrap_err().code(), "corrupt");
    repair(&store);
    store.assert_holds(0..10, "after the repair");
}

#[test]
fn a_repair_rebuilds_a_missing_log_from_runs() {
    let store = Store::holding("?checkpoint=256", 40);
    fs::remove_file(store.log()).unwrap();
    assert_eq!(parts(&store), [Part::End]);
    let restored = repair(&store).restored.unwrap();
    let mut left = 0;
    let count = |_: &[u8], _: &[u8]| {
        left += 1;
        Ok::<(), isotach_object::Error>(())
    };
    entries(&*store.open()).for_each(count).unwrap();
    assert!(left > 30, "{left} of 40 keys, {restored:?}");
    store.assert_holds(0..left, "after the repair");
    assert_eq!(parts(&store), []);
}

#[test]
fn bytes_of_a_lost_entry_are_reported_and_kept() {
    let store = with_a_lost_entry();
    let unnamed = store.verify(QUICK).unnamed;
    assert_eq!((unnamed.len(), unnamed[0].from, unnamed[0].length), (1, 0, BEGIN + 30_000), "{unnamed:?}");
    let restored = repair(&store).restored.unwrap();
    assert!(restored.lost > 0);
    assert_eq!(kept(&restored)[BEGIN as usize..], [7; 30_000]);
    store.assert_holds(0..5, "after the repair");
}

#[test]
fn a_repair_keeps_bytes_of_entries_behind_the_last_run() {
    let store = Store::holding("?checkpoint=256", 38);
    put(&*store.open(), 38, &[8; 30_000]);
    store.put_frames(39..45);
    put(&*store.open_with(""), 99, &[9; 30_000]);
    cut(&store, 500);
    let reported = store.verify(QUICK).unnamed;
    assert_eq!(reported.len(), 1, "what runs name is brought back: {reported:?}");
    let restored = repair(&store).restored.unwrap();
    assert!(restored.lost > 0 && restored.unnamed.len() == 1, "{restored:?}");
    assert_eq!(kept(&restored)[BEGIN as usize..], [9; 30_000]);
    assert_runs_are_used(&store);
}

#[test]
fn a_container_whose_log_was_cut_is_not_purged() {
    let store = with_a_lost_entry();
    for doit in [false, true] {
        assert_eq!(store.maintenance().purge(&store.label, doit).unwrap_err().code(), "corrupt");
    }
    assert_eq!(repair(&store).restored.unwrap().unnamed.len(), 1, "its bytes are there");
}

#[test]
fn a_writer_notices_that_another_writers_flush_was_cut_off() {
    let store = Store::new("");
    let early = store.open();
    put_frames(&*early, 0..5);
    let between = length(&store) + 100;
    store.put_frames(5..20);
    cut(&store, between);
    entries(&*early).put(&key(99), b"later").unwrap();
    assert_eq!(early.flush().unwrap_err().code(), "corrupt");
    assert_eq!(length(&store), between, "it appends nothing");
}

#[test]
fn a_cut_log_with_cut_notes_is_repaired() {
    let store = with_a_cut_log();
    let notes = notes(&store);
    change(&notes, |bytes| bytes.truncate(100));
    let damaged = fs::read(&notes).unwrap();
    let repaired = repair(&store);
    assert!(repaired.moved.len() > 1 && repaired.moved[0] == "flushed", "{repaired:?}");
    assert_eq!(fs::read(format!("{}/flushed", repaired.place)).unwrap(), damaged, "nothing was deleted");
    assert_eq!(fs::metadata(&notes).unwrap().len(), 4096, "the new notes stay");
    assert_eq!(parts(&store), []);
    assert_runs_are_used(&store);
}

#[test]
fn unflushed_bytes_are_reported_and_are_not_damage() {
    let store = Store::holding("", 5);
    let container = store.open();
    entries(&*container).put(&key(7), &[7; 300_000]).unwrap();
    let verify = || store.verify(QUICK);
    assert_eq!(verify().unnamed, [], "its writer is at it");
    drop(container);
    let verified = verify();
    assert!(verified.is_sound());
    assert_eq!(verified.unnamed.iter().map(|unnamed| unnamed.length).sum::<u64>(), BEGIN + 300_000);
}

#[test]
fn damaged_notes_of_flushes_are_quarantined_and_replaced() {
    let store = Store::holding("", 5);
    let notes = notes(&store);
    change(&notes, |bytes| bytes[2000] ^= 4);
    store.assert_holds(0..5, "with a damaged note");
    assert_eq!(parts(&store), [Part::Derived]);
    assert_eq!(repair(&store).moved, ["flushed"]);
    assert_eq!(parts(&store), []);
    store.put_frames(5..10);
    cut(&store, length(&store) - 1);
    assert_eq!(parts(&store), [Part::End], "notes are left again");
}

#[test]
fn a_repair_replaces_missing_notes_of_flushes() {
    let store = Store::holding("", 5);
    let notes = notes(&store);
    fs::remove_file(&notes).unwrap();
    store.assert_holds(0..5, "without notes");
    assert_eq!(parts(&store), [Part::Derived]);
    let repaired = repair(&store);
    assert_eq!((repaired.moved, repaired.made), (Vec::new(), vec!["flushed".to_owned()]));
    assert_eq!(fs::metadata(&notes).unwrap().len(), 4096);
    assert_eq!(parts(&store), []);
}

#[test]
fn a_repair_keeps_the_sound_notes_beside_a_damaged_one() {
    let store = Store::holding("", 5);
    let notes = notes(&store);
    change(&notes, |bytes| {
        let unused = (1..128).find(|slot| bytes[slot * 32..][..32] == [0; 32]).unwrap();
        bytes[unused * 32] = 4;
    });
    assert_eq!(repair(&store).moved, ["flushed"]);
    cut(&store, length(&store) - 1);
    assert_eq!(parts(&store), [Part::End], "what was flushed before the repair is protected");
}

#[test]
fn a_cut_log_without_notes_is_repaired() {
    let store = with_a_cut_log();
    fs::remove_file(notes(&store)).unwrap();
    let found = parts(&store);
    assert!(found.contains(&Part::End), "the runs say that the log was longer: {found:?}");
    assert!(repair(&store).restored.is_some());
    assert_eq!(parts(&store), []);
    assert_runs_are_used(&store);
}

#[test]
fn a_repair_keeps_the_bytes_of_a_living_writer_from_a_purge() {
    let store = Store::holding("?checkpoint=256", 40);
    let alive = store.open_with("");
    put(&*alive, 99, &[9; 300_000]);
    cut(&store, 500);
    let verified = store.verify(QUICK);
    assert!(
        verified.unnamed.iter().any(|unnamed| unnamed.length == BEGIN + 300_000),
        "{:?}",
        verified.unnamed
    );
    let restored = repair(&store).restored.unwrap();
    drop(alive);
    store.purge();
    assert_eq!(kept(&restored)[BEGIN as usize..], [9; 300_000]);
}

#[test]
fn a_second_repair_of_a_log_changes_nothing() {
    let store = with_a_cut_log();
    let findings = store.verify(QUICK).findings;
    let repair = || store.quarantine(&findings).restored;
    assert!(repair().is_some());
    let alive = store.open();
    put_frames(&*alive, 40..41);
    let before = length(&store);
    assert_eq!(repair(), None);
    assert_eq!(length(&store), before);
    put_frames(&*alive, 41..42);
}

#[test]
fn the_next_flush_replaces_short_or_foreign_notes() {
    let others = fs::read(notes(&Store::holding("", 1))).unwrap();
    for other in [Vec::new(), others] {
        let store = Store::new("");
        let alive = store.open();
        put_frames(&*alive, 0..5);
        fs::write(notes(&store), other).unwrap();
        store.put_frames(5..10);
        assert_eq!(parts(&store), []);
        put_frames(&*alive, 10..11);
        cut(&store, length(&store) - 1);
        assert_eq!(parts(&store), [Part::End], "a handle that was open leaves its notes in the new file");
    }
}

#[test]
fn a_copy_in_the_right_order_beside_writers_can_be_read() {
    let store = Store::new("?checkpoint=1024");
    let target = store.folder.path().join("pool/containers/copy");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let container = store.open();
            for number in (0..).take_while(|_| !stop.load(Ordering::Relaxed)) {
                put(&*container, number, &[number as u8; 17_000]);
            }
        });
        for round in 0..20 {
            fs::create_dir_all(target.join("data")).unwrap();
            let copy = |prefix: &str| {
                for file in store.files(prefix) {
                    // A run may be merged into a wider one meanwhile.
                    let _ = fs::copy(&file, target.join(file.file_name().unwrap()));
                }
            };
            ["superblock", "flushed", "floor.", "run.", "log."].iter().for_each(|prefix| copy(prefix));
            for file in fs::read_dir(store.path().join("data")).unwrap().map(|file| file.unwrap()) {
                fs::copy(file.path(), target.join("data").join(file.file_name())).unwrap();
            }
            let container = store.pool.open_container(&"copy".parse().unwrap()).unwrap();
            let mut found = 0;
            let each = |there: &[u8], value: &[u8]| {
                assert!(there == key(found) && value == [found as u8; 17_000], "round {round}, key {found}");
                found += 1;
                Ok::<(), isotach_object::Error>(())
            };
            entries(&*container).for_each(each).unwrap();
            drop(container);
            fs::remove_dir_all(&target).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
}
