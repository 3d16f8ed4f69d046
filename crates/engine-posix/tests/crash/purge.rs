//! A purge that is interrupted at every moment, by a kill or a power failure: nothing is lost, and the next purge cleans up.

use isotach_engine_posix::simulation::{Fault, Loss, SimulatedDisk};
use isotach_object::{Cell, Container, Update};

use crate::place::{TestPool, index, snapshots, values};

const POOL: &str = "posix:/pool?checkpoint=65536";
const KEYS: u64 = 60;
/// The lengths of values in the log and of values in data files.
const LENGTHS: [usize; 2] = [16_000, 40_000];

fn value(key: u64, round: u64) -> Vec<u8> {
    let mut value = vec![(key ^ round << 3) as u8; LENGTHS[(key % 2) as usize]];
    value[..16].copy_from_slice(&[key.to_le_bytes(), round.to_le_bytes()].concat());
    value
}

/// Replaces all values, and removes every tenth.
fn write(place: &TestPool, round: u64) {
    let container = place.open();
    for key in 0..KEYS {
        values(&*container).put(&key.to_le_bytes(), &value(key, round)).unwrap();
        container.flush().unwrap();
    }
    (0..KEYS).step_by(10).for_each(|key| values(&*container).remove(&key.to_le_bytes()).unwrap());
    container.flush().unwrap();
}

fn assert_whole(container: &dyn Container, round: u64, what: &str) {
    for key in 0..KEYS {
        let found = values(container).get(&key.to_le_bytes());
        let expected = (key % 10 != 0).then(|| value(key, round));
        let found = found.unwrap_or_else(|error| panic!("{what}: key {key}: {error}"));
        assert!(found == expected, "{what}: key {key} in round {round}");
    }
}

fn check(before: &TestPool, changes: usize, loss: Loss) {
    let what = format!("after {changes} changes, {loss:?}");
    let place = before.after_crash(changes, loss);
    let assert_all = |last: u64| {
        let container = place.open();
        assert_whole(&*container, last, &what);
        assert_whole(&*snapshots(&*container).open(&"past".parse().unwrap()).unwrap(), 0, &what);
    };
    assert_all(3);
    place.try_purge(true).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_all(3);
    assert_eq!(place.lengths("/purge."), [], "{what}");
    let data: u64 = place.lengths("/data/").iter().sum();
    // The present values, and those of the snapshot.
    let live = 2 * KEYS / 2 * LENGTHS[1] as u64;
    assert!(data <= live + live / 10, "{what}: {data} bytes of data for {live}");
    write(&place, 4);
    assert_all(4);
}

/// A container of mostly dead data, and a snapshot.
fn written() -> TestPool {
    let place = TestPool::new(POOL);
    write(&place, 0);
    snapshots(&*place.open()).create(&"past".parse().unwrap()).unwrap();
    (1..=3).for_each(|round| write(&place, round));
    place
}

/// Purges, and checks every state that a power failure could leave.
fn cut_off_everywhere(place: &TestPool) {
    let before = place.disk.changes();
    let purged = place.purge();
    assert!(purged.freed > 1 << 20, "{purged:?}");
    let after = place.disk.changes();
    let mut checked = 0;
    for changes in before..=after {
        for loss in [Loss::All, Loss::Nothing, Loss::LastTorn(7), Loss::Seeded(changes as u64)] {
            check(place, changes, loss);
            checked += 1;
        }
    }
    println!("{checked} crashes of a purge of {} changes", after - before);
}

#[test]
fn an_interrupted_purge_loses_nothing_and_the_next_one_cleans_up() {
    cut_off_everywhere(&written());
}

#[test]
fn an_interrupted_purge_of_a_full_disk_loses_nothing() {
    let place = written();
    place.disk.set_free(Some(0));
    cut_off_everywhere(&place);
    assert!(!place.lengths("c/reserve").is_empty(), "it is made again");
}

#[test]
fn a_container_without_a_reserve_is_purged_on_a_full_disk() {
    let place = written();
    assert!(place.disk.remove("/pool/containers/c/reserve".as_ref()));
    place.disk.set_free(Some(0));
    cut_off_everywhere(&place);
}

#[test]
fn a_purge_works_in_steps_where_space_is_short() {
    // No file is completely dead, and two of them fit. A file system does not report a quota.
    purge_in_steps(|disk| disk.set_free(Some(300_000)));
    purge_in_steps(|disk| disk.set_quota(300_000));
}

fn purge_in_steps(limit: fn(&SimulatedDisk)) {
    let place = TestPool::new(POOL);
    // Ten files, with three of five values replaced in each.
    for file in 0..10 {
        place.put(file * 5..file * 5 + 5, |key| vec![(key % 5) as u8; 50_000]);
    }
    place.put((0..50).filter(|key| key % 5 < 3), |_| b"small".to_vec());
    limit(&place.disk);
    let purged = place.purge();
    assert!(purged.freed > 1_400_000, "{purged:?}");
    let container = place.open();
    for key in 0..50u64 {
        let found = values(&*container).get(&key.to_le_bytes()).unwrap().unwrap();
        let expected = if key % 5 < 3 { b"small".to_vec() } else { vec![(key % 5) as u8; 50_000] };
        assert!(found == expected, "key {key}");
    }
    assert_eq!(place.purge().freed, 0, "all of it has gone");
}

#[test]
fn replaced_data_of_one_writer_is_purged_on_a_full_small_disk() {
    let place = TestPool::new(POOL);
    place.disk.set_free(Some(20 << 20));
    // One handle, whose last round touches all of its files.
    let container = place.open();
    for round in 0..6 {
        for key in (1..KEYS).step_by(2) {
            values(&*container).put(&key.to_le_bytes(), &value(key, round)).unwrap();
        }
        container.flush().unwrap();
    }
    drop(container);
    place.disk.set_free(Some(0));
    let purged = place.purge();
    assert!(purged.freed > 4 << 20, "{purged:?}");
    let container = place.open();
    for key in (1..KEYS).step_by(2) {
        assert!(values(&*container).get(&key.to_le_bytes()).unwrap().unwrap() == value(key, 5), "key {key}");
    }
    assert!(!place.lengths("c/reserve").is_empty(), "it is made again");
}

/// A container of ten values of 100 000 bytes, one of them replaced.
fn little_dead() -> TestPool {
    let place = TestPool::new(POOL);
    let container = place.open();
    for key in 0..10u64 {
        values(&*container).put(&key.to_le_bytes(), &[1; 100_000]).unwrap();
    }
    values(&*container).put(&0u64.to_le_bytes(), b"small").unwrap();
    container.flush().unwrap();
    place
}

#[test]
fn a_purge_without_enough_space_keeps_the_reserve() {
    let place = little_dead();
    place.disk.set_free(Some(100_000));
    let error = place.try_purge(true).unwrap_err().to_string();
    assert!(error.contains("copy it back"), "{error}");
    assert!(!place.lengths("c/reserve").is_empty());
}

#[test]
fn a_purge_without_space_for_copies_reports_what_it_needs() {
    let place = little_dead();
    place.disk.set_free(Some(0));
    let error = place.try_purge(true).unwrap_err();
    assert_eq!(error.code(), "no-space");
    assert!(error.to_string().contains("bytes of free space, and 65536 are free"), "{error}");
    place.disk.set_free(Some(2 << 20));
    assert!(place.purge().freed > 90_000);
}

#[test]
fn a_purge_fails_where_less_than_is_reported_free_can_be_written() {
    let place = TestPool::new("posix:/pool?segment=256");
    // Data files with nothing but segments, which are dead as soon as runs contain their entries.
    for _ in 0..4 {
        let container = place.open();
        let mut staging = container.staged_transactions().unwrap().stage().unwrap();
        for key in 0..4u64 {
            let key = key.to_le_bytes();
            staging.update(&[Update::Put { cell: Cell::kv(index(), &key), value: &[1; 200] }]).unwrap();
        }
        staging.commit(&[]).unwrap();
        container.flush().unwrap();
    }
    let container = place.open();
    (0..4u64).for_each(|key| values(&*container).put(&key.to_le_bytes(), &[2; 200]).unwrap());
    // In the log, so that the runs of a new generation need space.
    for key in 4..130u64 {
        values(&*container).put(&key.to_le_bytes(), &[3; 16_000]).unwrap();
        container.flush().unwrap();
    }
    drop(container);
    place.disk.set_quota(0);
    let error = place.try_purge(true).unwrap_err();
    assert_eq!(error.code(), "no-space", "{error}");
    let container = place.open();
    for key in 0..130u64 {
        let found = values(&*container).get(&key.to_le_bytes()).unwrap().unwrap();
        assert!(found == if key < 4 { vec![2; 200] } else { vec![3; 16_000] }, "key {key}");
    }
    drop(container);
    place.disk.set_free(None);
    assert!(place.purge().freed > 0);
}

#[test]
fn unnamed_epochs_are_not_kept_by_a_purge_without_space_to_copy() {
    let place = TestPool::new(POOL);
    let put = |key: u64, value: &[u8]| place.put([key], |_| value.to_vec());
    // In the log, so that the runs of a new generation take more space than the one dead file frees.
    (0..100).for_each(|key| put(key, &[1; 16_000]));
    put(100, &[1; 200_000]);
    let container = place.open();
    snapshots(&*container).create(&"kept".parse().unwrap()).unwrap();
    put(101, &[1; 200_000]);
    let epoch = container.epoch().unwrap();
    put(101, b"small");
    place.disk.set_free(Some(0));
    let purged = place.purge();
    assert!((200_000..300_000).contains(&purged.freed), "{purged:?}");
    let get = |container: &dyn Container, key: u64| values(container).get(&key.to_le_bytes());
    let past = snapshots(&*container).open_at(epoch).unwrap();
    assert_eq!(get(&*past, 1).unwrap().unwrap(), [1; 16_000]);
    let error = get(&*past, 101).unwrap_err();
    assert_eq!(error.code(), "not-found", "{error}");
    let kept = snapshots(&*container).open(&"kept".parse().unwrap()).unwrap();
    assert_eq!(get(&*kept, 100).unwrap().unwrap(), [1; 200_000]);
    assert_eq!(get(&*container, 101).unwrap().unwrap(), b"small");
    // Missing data that a snapshot needs is damage.
    let mut files = place.disk.files().into_iter().map(|(path, _)| path);
    let data = files.find(|path| path.starts_with("/pool/containers/c/data")).unwrap();
    assert!(place.disk.remove(&data));
    let kept = snapshots(&*place.open()).open(&"kept".parse().unwrap()).unwrap();
    assert_eq!(get(&*kept, 100).unwrap_err().code(), "corrupt");
}

#[test]
fn an_untestable_lock_counts_as_held_in_a_dry_purge() {
    let place = written();
    let first = place.disk.calls();
    let expected = place.try_purge(false).unwrap();
    let calls = place.disk.calls() - first;
    let mut taken_for_held = 0;
    for call in 0..calls {
        place.disk.set_fault(Some(Fault::Broken(place.disk.calls() + call)));
        let reported = place.try_purge(false);
        place.disk.set_fault(None);
        taken_for_held += u64::from(reported.is_ok_and(|reported| reported.held > expected.held));
    }
    assert!(taken_for_held > 0, "of {calls} calls");
}

#[test]
fn no_handle_makes_a_run_on_a_nearly_full_disk() {
    let place = TestPool::new(POOL);
    let runs = || place.lengths("/run.").len();
    // Enough for the writes, but not for what must be left beside a run.
    place.disk.set_free(Some(4 << 20));
    write(&place, 0);
    assert_whole(&*place.open(), 0, "without runs");
    assert_eq!(runs(), 0);
    place.disk.set_free(Some(64 << 20));
    assert_whole(&*place.open(), 0, "with room");
    assert!(runs() > 0, "a reader makes them");
}

#[test]
fn small_runs_are_merged_where_large_ones_do_not_fit() {
    let place = TestPool::new("posix:/pool?checkpoint=1024");
    let container = place.open();
    let mut most = 0;
    for key in 0..800u64 {
        if key >= 400 {
            // Enough for a merge of 40 kB beside what must be left. The oldest run is larger.
            place.disk.set_free(Some((4 << 20) + 4 * 40_000));
        }
        values(&*container).put(&key.to_le_bytes(), &[1; 200]).unwrap();
        container.flush().unwrap();
        most = most.max(place.lengths("/run.").len());
    }
    assert!(most < 25, "{most} runs at a time");
}
