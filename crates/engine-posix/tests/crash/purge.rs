//! A purge that is cut off at every moment, by a kill or by a power failure: everything is there, and the next one cleans.

use std::sync::Arc;

use isotach_engine_posix::simulation::{Loss, SimulatedDisk};
use isotach_object::{Container, KeyValue, ObjectClass, ObjectId, ObjectType, Pool, PoolUri};

const KEYS: u64 = 60;
/// Values that stand in the log, and such that stand in data files.
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
        assert_whole(&*container.open_snapshot(&"past".parse().unwrap()).unwrap(), 0, &what);
    };
    assert_all(&*pool, 3);
    pool.purge_container(&name, true).unwrap_or_else(|error| panic!("{what}: {error}"));
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
    // What there is now, and what the snapshot shows.
    let live = 2 * KEYS / 2 * LENGTHS[1] as u64;
    assert!(data <= live + live / 10, "{what}: {data} bytes of data for {live}");
    write(&*pool, 4);
    assert_all(&*pool, 4);
}

#[test]
fn a_purge_that_is_cut_off_at_any_moment_loses_nothing_and_the_next_one_cleans() {
    let disk = SimulatedDisk::new();
    let pool = pool(&disk);
    let name = "c".parse().unwrap();
    pool.create_container(&name).unwrap();
    write(&*pool, 0);
    pool.open_container(&name).unwrap().create_snapshot(&"past".parse().unwrap()).unwrap();
    write(&*pool, 1);
    write(&*pool, 2);
    write(&*pool, 3);
    let before = disk.changes();
    let purged = pool.purge_container(&name, true).unwrap();
    assert!(purged.freed > 1 << 20, "{purged:?}");
    let after = disk.changes();
    let mut checked = 0;
    for changes in before..=after {
        for loss in [Loss::All, Loss::Nothing, Loss::LastTorn(7), Loss::Seeded(changes as u64)] {
            check(&disk, changes, loss);
            checked += 1;
        }
    }
    println!("{checked} crashes of a purge of {} changes", after - before);
}
