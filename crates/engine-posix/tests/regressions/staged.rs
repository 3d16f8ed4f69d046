//! Transactions with records in a data file: damage, and what uncommitted ones leave.

use std::fs;

use isotach_object::{Cell, Container, ObjectType, Precondition, Update};

use crate::{Store, change, entries, entry, key, object, put_frames};

/// Entries whose records need several segments.
const MANY: u64 = 12_000;

/// Stages the keys from 100 on and commits them.
fn commit_many(container: &dyn Container, preconditions: &[Precondition<'_>]) -> isotach_object::Result<()> {
    let mut staging = container.staged_transactions().unwrap().stage()?;
    for number in 100..100 + MANY {
        let (key, value) = (key(number), vec![number as u8; 1000]);
        staging.update(&[Update::Put { cell: entry(&key), value: &value }])?;
    }
    staging.commit(preconditions).map(|_| ())
}

/// The store with a transaction in segments, and a handle that has read before it. The log is much smaller.
fn with_segments() -> (Store, std::sync::Arc<dyn Container>) {
    let store = Store::new("");
    let reader = store.open();
    store.put_frames(0..10);
    assert_eq!(entries(&*reader).get(&key(3)).unwrap().unwrap(), 3_u64.to_le_bytes());
    commit_many(&*store.open(), &[]).unwrap();
    assert!(fs::metadata(&store.files("log.")[0]).unwrap().len() < 8 << 20);
    (store, reader)
}

#[test]
fn a_damaged_segment_is_corrupt_and_never_shows_a_part() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 3] = [
        ("a flipped bit in the first segment", |bytes| bytes[1000] ^= 1),
        ("a flipped bit in the last segment", |bytes| *bytes.last_mut().unwrap() ^= 1),
        ("a cut file", |bytes| bytes.truncate(bytes.len() - 1)),
    ];
    for (what, damage) in damages {
        let (store, reader) = with_segments();
        let [file] = &store.data_files()[..] else { panic!("one data file") };
        let whole = fs::read(file).unwrap();
        change(file, damage);
        for container in [&reader, &store.open()] {
            for number in [3, 100, 99 + MANY, 3] {
                let error = entries(&**container).get(&key(number)).unwrap_err();
                assert_eq!(error.code(), "corrupt", "{what}: {error}");
                assert!(error.to_string().contains("data/"), "{what}: {error}");
            }
        }
        // The same handles continue after the file is restored.
        fs::write(file, whole).unwrap();
        for container in [&reader, &store.open()] {
            assert_eq!(entries(&**container).get(&key(99 + MANY)).unwrap().unwrap().len(), 1000, "{what}");
            assert_eq!(entries(&**container).get(&key(3)).unwrap().unwrap().len(), 8, "{what}");
        }
    }
}

#[test]
fn a_missing_segment_is_corrupt_and_its_file_is_named() {
    let (store, reader) = with_segments();
    let file = store.data_files().remove(0);
    fs::remove_file(&file).unwrap();
    let error = entries(&*reader).get(&key(3)).unwrap_err().to_string();
    assert!(error.contains("missing") && error.contains(&*file.to_string_lossy()), "{error}");
}

#[test]
fn a_destroyed_container_is_reported_although_its_segments_are_gone() {
    let (store, reader) = with_segments();
    store.pool.destroy_container(&store.label).unwrap();
    assert_eq!(entries(&*reader).get(&key(100)).unwrap_err().code(), "not-found");
}

#[test]
fn refused_and_dropped_stages_remove_their_files() {
    for query in ["", "?checkpoint=256"] {
        let store = Store::new(query);
        let (container, reader) = (store.open(), store.open());
        put_frames(&*container, 0..10);
        let before = store.data_files();
        let present = key(3);
        let lost = commit_many(&*container, &[Precondition::Absent(entry(&present))]).unwrap_err();
        assert_eq!(lost.code(), "conflict");
        let mut dropped = container.staged_transactions().unwrap().stage().unwrap();
        let array = Cell::array(object(ObjectType::Array));
        dropped.update(&[Update::Write { cell: array, offset: 0, data: &[1; 1 << 20] }]).unwrap();
        assert_eq!(store.data_files().len(), before.len() + 1);
        drop(dropped);
        assert_eq!(store.data_files(), before);
        // Frames that failed still name the files, but no reader opens them.
        put_frames(&*container, 10..20);
        for container in [&reader, &container, &store.open()] {
            assert_eq!(entries(&**container).get(&key(15)).unwrap().unwrap(), 15_u64.to_le_bytes());
            assert_eq!(entries(&**container).get(&key(100)).unwrap(), None);
        }
    }
}

#[test]
fn a_following_reader_and_one_at_runs_see_the_same() {
    let store = Store::new("?checkpoint=256");
    let (container, follower) = (store.open(), store.open());
    put_frames(&*container, 0..10);
    assert_eq!(entries(&*follower).get(&key(100)).unwrap(), None);
    commit_many(&*container, &[]).unwrap();
    assert_eq!(entries(&*follower).get(&key(99 + MANY)).unwrap().unwrap().len(), 1000);
    put_frames(&*container, 20..30);
    assert!(!store.files("run.").is_empty());
    // The runs contain the records, so the segments are not needed.
    store.data_files().iter().for_each(|file| fs::remove_file(file).unwrap());
    let late = store.open();
    assert_eq!(entries(&*late).get(&key(99 + MANY)).unwrap().unwrap(), vec![(99 + MANY) as u8; 1000]);
}
