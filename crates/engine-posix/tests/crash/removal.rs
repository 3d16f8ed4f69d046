//! Creation and removal, interrupted at every moment by a kill or a power failure: a pool can be removed and created again, and a container
//! exists completely or not at all.

use std::fs;

use isotach_engine_posix::{
    Posix,
    simulation::{Fault, Loss, SimulatedDisk},
};
use isotach_needs::seed;
use isotach_object::{
    Cell, ContainerOptions, Engine, Error, ObjectClass, ObjectId, ObjectType, PoolUri, Update,
};

use crate::workload::POOL;

#[test]
fn a_half_created_or_half_removed_pool_can_be_removed_and_created_again() {
    let (seed, disk) = (seed(), SimulatedDisk::new());
    let uri: PoolUri = POOL.parse().unwrap();
    let engine = disk.engine();
    engine.create_pool(&uri).unwrap();
    let pool = engine.open_pool(&uri).unwrap();
    for label in ["a", "b"] {
        pool.create_container(&label.parse().unwrap(), &ContainerOptions::default()).unwrap();
    }
    engine.destroy_pool(&uri).unwrap();
    assert!(disk.files().is_empty());
    for changes in 0..=disk.changes() {
        for loss in [Loss::All, Loss::Nothing, Loss::Seeded(seed ^ changes as u64)] {
            let left = disk.after_crash(changes, loss);
            let engine = left.engine();
            let case = format!("ISOTACH_SEED={seed}: after {changes} changes, {loss:?}");
            match engine.destroy_pool(&uri) {
                // A pool that was never complete is no pool. It is removed all the same, unless it is an empty folder.
                Ok(()) | Err(Error::NotFound { .. } | Error::InvalidInput { .. }) => {}
                Err(error) => panic!("{case}: {error}"),
            }
            assert!(left.files().is_empty(), "{case}: {:?}", left.files());
            engine.create_pool(&uri).unwrap_or_else(|error| panic!("{case}: {error}"));
            engine.open_pool(&uri).unwrap();
        }
    }
}

#[test]
fn a_container_exists_completely_or_not_at_all_after_a_power_failure() {
    let (seed, disk) = (seed(), SimulatedDisk::new());
    let (uri, label): (PoolUri, _) = (POOL.parse().unwrap(), "a".parse().unwrap());
    disk.engine().create_pool(&uri).unwrap();
    let before = disk.changes();
    let map = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
    let cells = [Cell::kv(map, b"short"), Cell::kv(map, b"long")];
    let values = [b"value".to_vec(), vec![7; 1 << 20]];
    let updates = [0, 1].map(|at| Update::Put { cell: cells[at], value: &values[at] });
    let options = ContainerOptions { updates: &updates, ..Default::default() };
    disk.engine().open_pool(&uri).unwrap().create_container(&label, &options).unwrap();
    for changes in before..=disk.changes() {
        for loss in [Loss::All, Loss::Nothing, Loss::Seeded(seed ^ changes as u64)] {
            let pool = disk.after_crash(changes, loss).engine().open_pool(&uri).unwrap();
            let case = format!("ISOTACH_SEED={seed}: after {changes} changes, {loss:?}");
            match pool.open_container(&label) {
                Ok(container) => {
                    let found = container.get_many(&cells).unwrap_or_else(|error| panic!("{case}: {error}"));
                    assert!(found == values.each_ref().map(|value| Some(value.clone())), "{case}");
                }
                Err(error) => {
                    assert!(error.code() == "not-found" && changes < disk.changes(), "{case}: {error}");
                    pool.create_container(&label, &options).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_flush_that_waits_is_durable_in_a_container_whose_creator_did_not_wait() {
    let (seed, disk) = (seed(), SimulatedDisk::new());
    let (uri, label): (PoolUri, _) = (POOL.parse().unwrap(), "a".parse().unwrap());
    disk.engine().create_pool(&uri).unwrap();
    let before = disk.changes();
    let map = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1);
    let cells = [Cell::kv(map, b"creator"), Cell::kv(map, b"writer")];
    let updates = [Update::Put { cell: cells[0], value: b"first" }];
    let options = ContainerOptions { updates: &updates, ..Default::default() };
    let scratch = disk.engine().open_pool(&"posix:/pool?sync=no".parse().unwrap()).unwrap();
    scratch.create_container(&label, &options).unwrap();
    let waiting = disk.engine().open_pool(&uri).unwrap().open_container(&label).unwrap();
    waiting.update(&[Update::Put { cell: cells[1], value: b"second" }]).unwrap();
    waiting.flush().unwrap();
    let flushed = disk.changes();
    // A second waiting handle finds the container settled.
    let other = disk.engine().open_pool(&uri).unwrap().open_container(&label).unwrap();
    other.update(&[Update::Put { cell: cells[0], value: b"first" }]).unwrap();
    other.flush().unwrap();
    for changes in before..=disk.changes() {
        let seeded = (0..8).map(|number| Loss::Seeded(seed ^ (changes as u64 * 8 + number)));
        for loss in [Loss::All, Loss::Nothing].into_iter().chain(seeded) {
            let pool = disk.after_crash(changes, loss).engine().open_pool(&uri).unwrap();
            let case = format!("ISOTACH_SEED={seed}: after {changes} changes, {loss:?}");
            if changes >= flushed {
                let found = pool.open_container(&label).and_then(|container| container.get_many(&cells));
                let found = found.unwrap_or_else(|error| panic!("{case}: {error}"));
                assert_eq!(found, [Some(b"first".to_vec()), Some(b"second".to_vec())], "{case}");
            } else if pool.open_container(&label).and_then(|container| container.get_many(&cells)).is_err() {
                match pool.create_container(&label, &options) {
                    Ok(()) | Err(Error::AlreadyExists { .. }) => {}
                    Err(error) => panic!("{case}: {error}"),
                }
                // What is left of it is no obstacle.
                match pool.destroy_container(&label) {
                    Ok(()) | Err(Error::NotFound { .. }) => {}
                    Err(error) => panic!("{case}: {error}"),
                }
                pool.create_container(&label, &options).unwrap_or_else(|error| panic!("{case}: {error}"));
            }
        }
    }
}

/// A pool with a container whose creator did not wait for the device.
fn unsynced() -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    disk.engine().create_pool(&POOL.parse().unwrap()).unwrap();
    let scratch = disk.engine().open_pool(&"posix:/pool?sync=no".parse().unwrap()).unwrap();
    scratch.create_container(&"a".parse().unwrap(), &ContainerOptions::default()).unwrap();
    disk
}

#[test]
fn a_container_that_is_created_again_by_one_who_waits_is_durable() {
    let (disk, label) = (unsynced(), "a".parse().unwrap());
    let uri: PoolUri = POOL.parse().unwrap();
    let again = disk.engine().open_pool(&uri).unwrap().create_container(&label, &ContainerOptions::default());
    assert!(matches!(again, Err(Error::AlreadyExists { .. })), "{again:?}");
    let left = disk.after_crash(usize::MAX, Loss::All);
    left.engine().open_pool(&uri).unwrap().open_container(&label).unwrap();
}

#[test]
fn after_a_failed_first_sync_nobody_writes_until_the_machine_restarts() {
    let settled = || {
        let disk = unsynced();
        let pool = disk.engine().open_pool(&POOL.parse().unwrap()).unwrap();
        assert!(pool.create_container(&"a".parse().unwrap(), &ContainerOptions::default()).is_err());
        disk
    };
    // The syncs of three files, of their folder, and of the folder with the label. Reading the mark, before and after them, ends only the handle.
    let (refused, marks) = refusals(unsynced);
    assert_eq!((refused - refusals(settled).0, marks), (5 + 2, 5));
}

/// How many of the calls of a flush end the handle if they fail, and how many of these end all others, too, until a restart.
fn refusals(made: impl Fn() -> SimulatedDisk) -> (usize, usize) {
    let cell = Cell::kv(ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1), b"key");
    let (mut refusals, mut marks) = (0, 0);
    for number in 0.. {
        let disk = made();
        let pool = disk.engine().open_pool(&POOL.parse().unwrap()).unwrap();
        let container = pool.open_container(&"a".parse().unwrap()).unwrap();
        let put = || {
            container.update(&[Update::Put { cell, value: b"value" }])?;
            container.flush()
        };
        let fault = disk.calls() + number;
        disk.set_fault(Some(Fault::Broken(fault)));
        let first = put();
        if disk.calls() <= fault {
            return (refusals, marks);
        }
        disk.set_fault(None);
        let is_refused = first.is_err() && matches!(put(), Err(Error::Poisoned { .. }));
        refusals += usize::from(is_refused);
        marks += usize::from(forbids_to_write(&disk));
    }
    (refusals, marks)
}

/// Whether a mark forbids others to write.
fn forbids_to_write(disk: &SimulatedDisk) -> bool {
    let write = |disk: &SimulatedDisk| {
        let cell = Cell::kv(ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1), b"key");
        let container =
            disk.engine().open_pool(&POOL.parse().unwrap()).unwrap().open_container(&"a".parse().unwrap())?;
        container.update(&[Update::Put { cell, value: b"value" }])?;
        // Reading may give up what cannot be written. The flush says so.
        let _ = container.get_many(&[cell]);
        container.flush()
    };
    let files = disk.files();
    let mark =
        files.iter().find(|(path, _)| path.ends_with("unsynced")).and_then(|(path, _)| disk.read(path));
    let is_marked = mark.is_some_and(|mark| mark != [0; 8]);
    assert_eq!(write(disk).is_err(), is_marked);
    write(&disk.after_crash(usize::MAX, Loss::Nothing)).unwrap();
    is_marked
}

#[test]
fn a_failed_sync_when_a_container_is_created_again_stops_its_writers() {
    let create = |disk: &SimulatedDisk| {
        let pool = disk.engine().open_pool(&POOL.parse().unwrap())?;
        pool.create_container(&"a".parse().unwrap(), &ContainerOptions::default())
    };
    let mut marks = 0;
    for number in 0.. {
        let disk = unsynced();
        let fault = disk.calls() + number;
        disk.set_fault(Some(Fault::Broken(fault)));
        let outcome = create(&disk);
        if disk.calls() <= fault {
            break;
        }
        disk.set_fault(None);
        if forbids_to_write(&disk) {
            marks += 1;
            assert!(matches!((outcome, create(&disk)), (Err(Error::Io { .. }), Err(Error::Io { .. }))));
        }
    }
    assert_eq!(marks, 5);
}

#[test]
fn where_no_start_is_known_a_failed_sync_counts_until_the_mark_is_emptied() {
    let folder = tempfile::tempdir().unwrap();
    let uri: PoolUri = format!("posix:{}", folder.path().join("pool").display()).parse().unwrap();
    let scratch: PoolUri = format!("{uri}?sync=no").parse().unwrap();
    Posix.create_pool(&uri).unwrap();
    let pool = Posix.open_pool(&scratch).unwrap();
    pool.create_container(&"a".parse().unwrap(), &ContainerOptions::default()).unwrap();
    let write = |uri: &PoolUri| {
        let container = Posix.open_pool(uri).unwrap().open_container(&"a".parse().unwrap()).unwrap();
        let cell = Cell::kv(ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1), b"key");
        container.update(&[Update::Put { cell, value: b"value" }]).and_then(|()| container.flush())
    };
    let mark = folder.path().join("pool/containers/a/unsynced");
    fs::write(&mark, u64::MAX.to_le_bytes()).unwrap();
    let text = write(&uri).unwrap_err().to_string();
    assert!(text.contains("empty its file `unsynced`"), "{text}");
    // Those who do not wait write on.
    write(&scratch).unwrap();
    fs::write(&mark, b"").unwrap();
    write(&uri).unwrap();
    assert!(!mark.exists());
}
