//! A purge that is interrupted at every moment, by a kill or a power failure: nothing is lost, and the next purge cleans up.

use std::sync::Arc;

use isotach_engine_posix::simulation::{Fault, Loss, SimulatedDisk};
use isotach_object::{
    Cell, Container, ContainerOptions, KeyValue, Label, ObjectClass, ObjectId, ObjectType, Pool, PoolUri,
    Update,
};

const KEYS: u64 = 60;
/// The lengths of values in the log and of values in data files.
const LENGTHS: [usize; 2] = [16_000, 40_000];

fn pool(disk: &SimulatedDisk) -> Arc<dyn Pool> {
    let uri: PoolUri = "posix:/pool?checkpoint=65536".parse().unwrap();
    if disk.changes() == 0 && disk.files().is_empty() {
        disk.engine().create_pool(&uri).unwrap();
    }
    disk.engine().open_pool(&uri).unwrap()
}

fn value(key: u64, round: u64) -> Vec<u8> {
    let mut value = vec![(key ^ round << 3) as u8; LENGTHS[(key % 2) as usize]];
    value[..16].copy_from_slice(&[key.to_le_bytes(), round.to_le_bytes()].concat());
    value
}

fn object(container: &dyn Container) -> KeyValue<'_> {
    KeyValue::new(container, ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1)).unwrap()
}

/// Replaces all values, and removes every tenth.
fn write(pool: &dyn Pool, round: u64) {
    let container = pool.open_container(&"c".parse().unwrap()).unwrap();
    for key in 0..KEYS {
        object(&*container).put(&key.to_le_bytes(), &value(key, round)).unwrap();
        container.flush().unwrap();
    }
    (0..KEYS).step_by(10).for_each(|key| object(&*container).remove(&key.to_le_bytes()).unwrap());
    container.flush().unwrap();
}

fn assert_whole(container: &dyn Container, round: u64, what: &str) {
    for key in 0..KEYS {
        let found = object(container).get(&key.to_le_bytes());
        let expected = (key % 10 != 0).then(|| value(key, round));
        let found = found.unwrap_or_else(|error| panic!("{what}: key {key}: {error}"));
        assert!(found == expected, "{what}: key {key} in round {round}");
    }
}

fn check(disk: &SimulatedDisk, changes: usize, loss: Loss) {
    let (what, name) = (format!("after {changes} changes, {loss:?}"), "c".parse().unwrap());
    let left = disk.after_crash(changes, loss);
    let pool = pool(&left);
    let assert_all = |pool: &dyn Pool, last: u64| {
        let container = pool.open_container(&name).unwrap();
        assert_whole(&*container, last, &what);
        assert_whole(&*container.snapshots().unwrap().open(&"past".parse().unwrap()).unwrap(), 0, &what);
    };
    assert_all(&*pool, 3);
    pool.maintenance().unwrap().purge(&name, true).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_all(&*pool, 3);
    let mut files = left.files();
    files.retain(|(path, _)| path.to_string_lossy().contains("/purge."));
    assert!(files.is_empty(), "{what}: {files:?}");
    let data: u64 = left
        .files()
        .iter()
        .filter(|(path, _)| path.to_string_lossy().contains("/data/"))
        .map(|(_, length)| length)
        .sum();
    // The present values, and those of the snapshot.
    let live = 2 * KEYS / 2 * LENGTHS[1] as u64;
    assert!(data <= live + live / 10, "{what}: {data} bytes of data for {live}");
    write(&*pool, 4);
    assert_all(&*pool, 4);
}

/// A disk with a container of mostly dead data, and a snapshot.
fn written() -> (SimulatedDisk, Arc<dyn Pool>) {
    let disk = SimulatedDisk::new();
    let pool = pool(&disk);
    let name = "c".parse().unwrap();
    pool.create_container(&name, &ContainerOptions::default()).unwrap();
    write(&*pool, 0);
    pool.open_container(&name).unwrap().snapshots().unwrap().create(&"past".parse().unwrap()).unwrap();
    (1..=3).for_each(|round| write(&*pool, round));
    (disk, pool)
}

/// Purges, and checks every state that a power failure could leave.
fn cut_off_everywhere(disk: &SimulatedDisk, pool: &dyn Pool) {
    let before = disk.changes();
    let purged = pool.maintenance().unwrap().purge(&"c".parse().unwrap(), true).unwrap();
    assert!(purged.freed > 1 << 20, "{purged:?}");
    let after = disk.changes();
    let mut checked = 0;
    for changes in before..=after {
        for loss in [Loss::All, Loss::Nothing, Loss::LastTorn(7), Loss::Seeded(changes as u64)] {
            check(disk, changes, loss);
            checked += 1;
        }
    }
    println!("{checked} crashes of a purge of {} changes", after - before);
}

#[test]
fn an_interrupted_purge_loses_nothing_and_the_next_one_cleans_up() {
    let (disk, pool) = written();
    cut_off_everywhere(&disk, &*pool);
}

#[test]
fn an_interrupted_purge_of_a_full_disk_loses_nothing() {
    let (disk, pool) = written();
    disk.set_free(Some(0));
    cut_off_everywhere(&disk, &*pool);
    assert!(disk.files().iter().any(|(path, _)| path.ends_with("c/reserve")), "it is made again");
}

#[test]
fn a_container_without_a_reserve_is_purged_on_a_full_disk() {
    let (disk, pool) = written();
    assert!(disk.remove("/pool/containers/c/reserve".as_ref()));
    disk.set_free(Some(0));
    cut_off_everywhere(&disk, &*pool);
}

#[test]
fn a_purge_works_in_steps_where_space_is_short() {
    // No file is completely dead, and two of them fit. A file system does not report a quota.
    for limit in
        [|disk: &SimulatedDisk| disk.set_free(Some(300_000)), |disk: &SimulatedDisk| disk.set_quota(300_000)]
    {
        purge_in_steps(limit);
    }
}

fn purge_in_steps(limit: impl Fn(&SimulatedDisk)) {
    let disk = SimulatedDisk::new();
    let (pool, name) = (pool(&disk), "c".parse().unwrap());
    pool.create_container(&name, &ContainerOptions::default()).unwrap();
    // Ten files, with three of five values replaced in each.
    for file in 0..10 {
        let container = pool.open_container(&name).unwrap();
        for key in 0..5 {
            let (key, value) = ((file * 5 + key as u64).to_le_bytes(), vec![key; 50_000]);
            object(&*container).put(&key, &value).unwrap();
        }
        container.flush().unwrap();
    }
    let container = pool.open_container(&name).unwrap();
    for key in (0..50u64).filter(|key| key % 5 < 3) {
        object(&*container).put(&key.to_le_bytes(), b"small").unwrap();
    }
    container.flush().unwrap();
    drop(container);
    limit(&disk);
    let purged = pool.maintenance().unwrap().purge(&name, true).unwrap();
    assert!(purged.freed > 1_400_000, "{purged:?}");
    let container = pool.open_container(&name).unwrap();
    for key in 0..50u64 {
        let found = object(&*container).get(&key.to_le_bytes()).unwrap().unwrap();
        let expected = if key % 5 < 3 { b"small".to_vec() } else { vec![(key % 5) as u8; 50_000] };
        assert!(found == expected, "key {key}");
    }
    assert_eq!(pool.maintenance().unwrap().purge(&name, true).unwrap().freed, 0, "all of it has gone");
}

#[test]
fn replaced_data_of_one_writer_is_purged_on_a_full_small_disk() {
    let disk = SimulatedDisk::new();
    let (pool, name) = (pool(&disk), "c".parse().unwrap());
    pool.create_container(&name, &ContainerOptions::default()).unwrap();
    disk.set_free(Some(20 << 20));
    // One handle, whose last round touches all of its files.
    let container = pool.open_container(&name).unwrap();
    for round in 0..6 {
        for key in (1..KEYS).step_by(2) {
            object(&*container).put(&key.to_le_bytes(), &value(key, round)).unwrap();
        }
        container.flush().unwrap();
    }
    drop(container);
    disk.set_free(Some(0));
    let purged = pool.maintenance().unwrap().purge(&name, true).unwrap();
    assert!(purged.freed > 4 << 20, "{purged:?}");
    let container = pool.open_container(&name).unwrap();
    for key in (1..KEYS).step_by(2) {
        assert!(object(&*container).get(&key.to_le_bytes()).unwrap().unwrap() == value(key, 5), "key {key}");
    }
    assert!(disk.files().iter().any(|(path, _)| path.ends_with("c/reserve")), "it is made again");
}

/// A container of ten values of 100 000 bytes, one of them replaced.
fn little_dead(disk: &SimulatedDisk) -> (Arc<dyn Pool>, Label) {
    let (pool, name): (_, Label) = (pool(disk), "c".parse().unwrap());
    pool.create_container(&name, &ContainerOptions::default()).unwrap();
    let container = pool.open_container(&name).unwrap();
    for key in 0..10u64 {
        object(&*container).put(&key.to_le_bytes(), &[1; 100_000]).unwrap();
    }
    object(&*container).put(&0u64.to_le_bytes(), b"small").unwrap();
    container.flush().unwrap();
    (pool, name)
}

#[test]
fn a_purge_without_enough_space_keeps_the_reserve() {
    let disk = SimulatedDisk::new();
    let (pool, name) = little_dead(&disk);
    disk.set_free(Some(100_000));
    let error = pool.maintenance().unwrap().purge(&name, true).unwrap_err().to_string();
    assert!(error.contains("copy it back"), "{error}");
    assert!(disk.files().iter().any(|(path, _)| path.ends_with("c/reserve")));
}

#[test]
fn a_purge_without_space_for_copies_reports_what_it_needs() {
    let disk = SimulatedDisk::new();
    let (pool, name) = little_dead(&disk);
    disk.set_free(Some(0));
    let error = pool.maintenance().unwrap().purge(&name, true).unwrap_err();
    assert_eq!(error.code(), "no-space");
    assert!(error.to_string().contains("bytes of free space, and 65536 are free"), "{error}");
    disk.set_free(Some(2 << 20));
    assert!(pool.maintenance().unwrap().purge(&name, true).unwrap().freed > 90_000);
}

#[test]
fn a_purge_fails_where_less_than_is_reported_free_can_be_written() {
    let disk = SimulatedDisk::new();
    let (uri, name): (PoolUri, Label) = ("posix:/pool?segment=256".parse().unwrap(), "c".parse().unwrap());
    disk.engine().create_pool(&uri).unwrap();
    let pool = disk.engine().open_pool(&uri).unwrap();
    pool.create_container(&name, &ContainerOptions::default()).unwrap();
    // Data files with nothing but segments, which are dead as soon as runs contain their entries.
    for _ in 0..4 {
        let container = pool.open_container(&name).unwrap();
        let mut staging = container.staged_transactions().unwrap().stage().unwrap();
        for key in 0..4u64 {
            let key = key.to_le_bytes();
            let cell = Cell::kv(ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 1), &key);
            staging.update(&[Update::Put { cell, value: &[1; 200] }]).unwrap();
        }
        staging.commit(&[]).unwrap();
        container.flush().unwrap();
    }
    let container = pool.open_container(&name).unwrap();
    (0..4u64).for_each(|key| object(&*container).put(&key.to_le_bytes(), &[2; 200]).unwrap());
    // In the log, so that the runs of a new generation need space.
    for key in 4..130u64 {
        object(&*container).put(&key.to_le_bytes(), &[3; 16_000]).unwrap();
        container.flush().unwrap();
    }
    drop(container);
    disk.set_quota(0);
    let error = pool.maintenance().unwrap().purge(&name, true).unwrap_err();
    assert_eq!(error.code(), "no-space", "{error}");
    let container = pool.open_container(&name).unwrap();
    for key in 0..130u64 {
        let found = object(&*container).get(&key.to_le_bytes()).unwrap().unwrap();
        assert!(found == if key < 4 { vec![2; 200] } else { vec![3; 16_000] }, "key {key}");
    }
    drop(container);
    disk.set_free(None);
    assert!(pool.maintenance().unwrap().purge(&name, true).unwrap().freed > 0);
}

#[test]
fn unnamed_epochs_are_not_kept_by_a_purge_without_space_to_copy() {
    let disk = SimulatedDisk::new();
    let (pool, name) = (pool(&disk), "c".parse().unwrap());
    pool.create_container(&name, &ContainerOptions::default()).unwrap();
    let put = |key: u64, value: &[u8]| {
        let container = pool.open_container(&name).unwrap();
        object(&*container).put(&key.to_le_bytes(), value).unwrap();
        container.flush().unwrap();
    };
    // In the log, so that the runs of a new generation take more space than the one dead file frees.
    (0..100).for_each(|key| put(key, &[1; 16_000]));
    put(100, &[1; 200_000]);
    let container = pool.open_container(&name).unwrap();
    container.snapshots().unwrap().create(&"kept".parse().unwrap()).unwrap();
    put(101, &[1; 200_000]);
    let epoch = container.epoch().unwrap();
    put(101, b"small");
    disk.set_free(Some(0));
    let purged = pool.maintenance().unwrap().purge(&name, true).unwrap();
    assert!((200_000..300_000).contains(&purged.freed), "{purged:?}");
    let get = |container: &dyn Container, key: u64| object(container).get(&key.to_le_bytes());
    let past = container.snapshots().unwrap().open_at(epoch).unwrap();
    assert_eq!(get(&*past, 1).unwrap().unwrap(), [1; 16_000]);
    let error = get(&*past, 101).unwrap_err();
    assert_eq!(error.code(), "not-found", "{error}");
    let kept = container.snapshots().unwrap().open(&"kept".parse().unwrap()).unwrap();
    assert_eq!(get(&*kept, 100).unwrap().unwrap(), [1; 200_000]);
    assert_eq!(get(&*container, 101).unwrap().unwrap(), b"small");
    // Missing data that a snapshot needs is damage.
    let data = disk
        .files()
        .into_iter()
        .map(|(path, _)| path)
        .find(|path| path.starts_with("/pool/containers/c/data"));
    assert!(disk.remove(&data.unwrap()));
    let kept =
        pool.open_container(&name).unwrap().snapshots().unwrap().open(&"kept".parse().unwrap()).unwrap();
    assert_eq!(get(&*kept, 100).unwrap_err().code(), "corrupt");
}

#[test]
fn an_untestable_lock_counts_as_held_in_a_dry_purge() {
    let (disk, pool) = written();
    let (name, first) = ("c".parse().unwrap(), disk.calls());
    let expected = pool.maintenance().unwrap().purge(&name, false).unwrap();
    let calls = disk.calls() - first;
    let mut taken_for_held = 0;
    for call in 0..calls {
        disk.set_fault(Some(Fault::Broken(disk.calls() + call)));
        let reported = pool.maintenance().unwrap().purge(&name, false);
        disk.set_fault(None);
        taken_for_held += u64::from(reported.is_ok_and(|reported| reported.held > expected.held));
    }
    assert!(taken_for_held > 0, "of {calls} calls");
}

#[test]
fn no_handle_makes_a_run_on_a_nearly_full_disk() {
    let disk = SimulatedDisk::new();
    let (pool, name) = (pool(&disk), "c".parse().unwrap());
    pool.create_container(&name, &ContainerOptions::default()).unwrap();
    let runs = || disk.files().iter().filter(|(path, _)| path.to_string_lossy().contains("/run.")).count();
    // Enough for the writes, but not for what must be left beside a run.
    disk.set_free(Some(4 << 20));
    write(&*pool, 0);
    assert_whole(&*pool.open_container(&name).unwrap(), 0, "without runs");
    assert_eq!(runs(), 0);
    disk.set_free(Some(64 << 20));
    assert_whole(&*pool.open_container(&name).unwrap(), 0, "with room");
    assert!(runs() > 0, "a reader makes them");
}

#[test]
fn small_runs_are_merged_where_large_ones_do_not_fit() {
    let disk = SimulatedDisk::new();
    let uri: PoolUri = "posix:/pool?checkpoint=1024".parse().unwrap();
    disk.engine().create_pool(&uri).unwrap();
    let pool = disk.engine().open_pool(&uri).unwrap();
    pool.create_container(&"c".parse().unwrap(), &ContainerOptions::default()).unwrap();
    let container = pool.open_container(&"c".parse().unwrap()).unwrap();
    let mut most = 0;
    for key in 0..800u64 {
        if key >= 400 {
            // Enough for a merge of 40 kB beside what must be left. The oldest run is larger.
            disk.set_free(Some((4 << 20) + 4 * 40_000));
        }
        object(&*container).put(&key.to_le_bytes(), &[1; 200]).unwrap();
        container.flush().unwrap();
        let files = disk.files();
        most = most.max(files.iter().filter(|(path, _)| path.to_string_lossy().contains("/run.")).count());
    }
    assert!(most < 25, "{most} runs at a time");
}
