//! Opening a disk after a power failure, and comparing it with the history.

use std::collections::{BTreeMap, BTreeSet};

use isotach_engine_posix::simulation::{Loss, SimulatedDisk};
use isotach_object::{Container, Epoch, Error, Result};

use crate::{
    place::{TestPool, label, snapshots, values},
    workload::{Contents, History, POOL, contents},
};

/// Prints the case if the thread panics.
struct Case<'h>(&'h History, usize, Loss);

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(history, changes, loss) = self;
            eprintln!("ISOTACH_SEED={}: power failed after {changes} changes, {loss:?}", history.seed);
        }
    }
}

/// Simulates a power failure after this many changes. Checks what is found then, after more writes, and after another power failure.
pub(crate) fn check(history: &History, changes: usize, loss: Loss) {
    let _case = Case(history, changes, loss);
    let disk = history.disk.after_crash(changes, loss);
    let Some(found) = found(&disk, changes >= history.made) else { return };
    let is_visible = history.visible(changes).any(|visible| visible == found);
    assert!(is_visible, "{}", difference(history, changes, &found));
    if matches!(loss, Loss::Seeded(_)) {
        let verified = TestPool::on(disk.clone(), POOL).verify();
        assert!(verified.is_sound(), "a power failure is no damage: {verified:?}");
    }
    let end = log_length(&disk);
    let (mut disk, mut expected) = (disk, found);
    for (round, next) in [Loss::All, loss].into_iter().enumerate() {
        disk = write_on(&disk, &mut expected, round as u8, next);
        let again = contents(&*open_on(&disk)).unwrap();
        let mut with_published = expected.clone();
        with_published.values.insert(PUBLISHED.to_vec(), published(round as u8).as_slice().into());
        let is_right = again == expected || next != Loss::All && again == with_published;
        assert!(is_right, "after writing on and another power failure, {next:?}");
        expected = again;
    }
    if matches!(loss, Loss::Seeded(_)) {
        check_past(history, &disk, end);
    }
}

fn log_length(disk: &SimulatedDisk) -> u64 {
    let files = disk.files();
    files.iter().find(|(path, _)| path.ends_with("c/log.0000000000000001")).unwrap().1
}

/// Checks that every epoch before the power failure, when the log ended at `end`, shows something that was visible once. What was lost is
/// judged by later frames, also for a handle that ends before them.
fn check_past(history: &History, disk: &SimulatedDisk, end: u64) {
    let container = open_on(disk);
    // The first frame that is written follows the recovery frame of this start of the machine.
    values(&*container).put(b"later", b"last").unwrap();
    container.flush().unwrap();
    for epoch in (end.saturating_sub(2500)..=end).rev().step_by(37) {
        let opened = snapshots(&*container).open_at(Epoch(epoch));
        let mut past = match opened.and_then(|past| contents(&*past)) {
            Ok(past) => past,
            // Before the epoch of a purge manifest.
            Err(Error::NotFound { .. }) => continue,
            Err(error) => panic!("epoch {epoch}: {error}"),
        };
        past.values.retain(|key, _| key != b"later" && key != PUBLISHED);
        let is_it = |visible: &Contents| visible.values == past.values && visible.arrays == past.arrays;
        assert!(history.visible_ever().any(is_it), "epoch {epoch} of {end} shows what never was");
    }
}

/// The key of a value that is published but not flushed.
const PUBLISHED: &[u8] = b"published";

fn published(round: u8) -> Vec<u8> {
    vec![round; 1500]
}

/// Flushes a value and publishes another, and simulates a power failure.
fn write_on(disk: &SimulatedDisk, expected: &mut Contents, round: u8, loss: Loss) -> SimulatedDisk {
    let container = open_on(disk);
    let values = values(&*container);
    values.put(b"later", &[round]).unwrap();
    container.flush().unwrap();
    expected.values.insert(b"later".to_vec(), [round].as_slice().into());
    assert!(contents(&*container).unwrap() == *expected, "what was found changed when it was written on");
    assert!(contents(&*open_on(disk)).unwrap() == *expected, "another handle finds something else");
    values.put(PUBLISHED, &published(round)).unwrap();
    assert!(values.get(PUBLISHED).unwrap().is_some());
    disk.after_crash(disk.changes(), loss)
}

/// Opens the container of the workload on a disk.
pub(crate) fn open_on(disk: &SimulatedDisk) -> std::sync::Arc<dyn Container> {
    TestPool::on(disk.clone(), POOL).open()
}

/// The contents of the container, which may be missing if its creation was not complete.
fn found(disk: &SimulatedDisk, is_made: bool) -> Option<Contents> {
    let look = || -> Result<Contents> {
        let pool = disk.engine().open_pool(&POOL.parse()?)?;
        contents(&*pool.open_container(&label())?)
    };
    match look() {
        Ok(contents) => Some(contents),
        Err(error) if !is_made && ["not-found", "invalid-input"].contains(&error.code()) => None,
        Err(error) => panic!("{error}"),
    }
}

fn difference(history: &History, changes: usize, found: &Contents) -> String {
    let possible = history.visible(changes).count();
    let expected = history.visible(changes).map(|visible| different(found, &visible).join(", "));
    let expected = expected.collect::<Vec<_>>().join("; or: ");
    format!("no prefix of the history ({possible} possible); different are: {expected}")
}

/// The names of what differs.
fn different(found: &Contents, visible: &Contents) -> Vec<String> {
    let values = differing(&found.values, &visible.values).map(|key| key.escape_ascii().to_string());
    let arrays = differing(&found.arrays, &visible.arrays).map(|id| format!("array {id}"));
    let snapshots = differing(&found.snapshots, &visible.snapshots).map(|name| {
        match (found.snapshots.get(name), visible.snapshots.get(name)) {
            (Some(found), Some(visible)) => {
                format!("snapshot {name} ({})", different(found, visible).join(", "))
            }
            (found, _) => format!("snapshot {name} (is there: {})", found.is_some()),
        }
    });
    values.chain(arrays).chain(snapshots).collect()
}

fn differing<'m, K: Ord, V: PartialEq>(
    one: &'m BTreeMap<K, V>,
    other: &'m BTreeMap<K, V>,
) -> impl Iterator<Item = &'m K> {
    let keys: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    keys.into_iter().filter(|key| one.get(key) != other.get(key))
}
