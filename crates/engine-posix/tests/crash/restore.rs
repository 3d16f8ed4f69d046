//! A log that has lost its end at any byte, and a repair that is interrupted at every moment.

use std::path::Path;

use isotach_engine_posix::simulation::{Fault, Loss, Random, SimulatedDisk};
use isotach_needs::{number, seed};
use isotach_object::{Error, Part, SetAside};

use crate::place::{TestPool, label, values};

const POOL: &str = "posix:/pool?checkpoint=1024";
const KEYS: u64 = 60;
const LOG: &str = "/pool/containers/c/log.0000000000000001";

/// Keys that sort like their numbers.
fn name(key: u64) -> String {
    format!("{key:04}")
}

fn value(key: u64) -> Vec<u8> {
    // Every third value is in a data file.
    vec![key as u8; if key.is_multiple_of(3) { 20_000 } else { 50 }]
}

fn write(place: &TestPool, keys: std::ops::Range<u64>) {
    let container = place.open();
    for key in keys {
        values(&*container).put(name(key).as_bytes(), &value(key)).unwrap();
        container.flush().unwrap();
    }
}

/// The number of keys, which are the first ones with their values. Returns the error of opening.
fn keys(place: &TestPool) -> Result<u64, Error> {
    let container = place.pool.open_container(&label())?;
    let mut found = 0u64;
    values(&*container).for_each(|key, there| {
        assert!(key == name(found).as_bytes() && there == value(found), "key {found}");
        found += 1;
        Ok::<(), Error>(())
    })?;
    Ok(found)
}

/// The length of the log.
fn log_length(disk: &SimulatedDisk) -> u64 {
    disk.files().iter().find(|(path, _)| path.ends_with(LOG)).unwrap().1
}

fn repair(place: &TestPool) {
    try_repair(place, || ()).unwrap();
}

/// Calls `begin` before the repair.
fn try_repair(place: &TestPool, begin: impl FnOnce()) -> Result<SetAside, Error> {
    let findings = place.verify().findings;
    begin();
    place.pool.maintenance()?.quarantine(&label(), &findings, "note")
}

/// A disk on which [`KEYS`] keys were flushed one by one.
fn written() -> SimulatedDisk {
    let place = TestPool::new(POOL);
    write(&place, 0..KEYS);
    place.disk
}

fn assert_restored(place: &TestPool, what: &str) -> u64 {
    let verified = place.verify();
    assert!(verified.is_sound(), "{what}: {:?}", verified.findings);
    let found = keys(place).unwrap_or_else(|error| panic!("{what}: {error}"));
    write(place, found..found + 20);
    assert_eq!(keys(place).unwrap(), found + 20, "{what}");
    assert!(place.verify().is_sound(), "{what}");
    found
}

#[test]
fn a_log_cut_at_any_byte_is_refused_and_repaired_from_runs() {
    let disk = written();
    let length = log_length(&disk);
    let mut random = Random(seed());
    let tries = number("ISOTACH_SEQUENCES").unwrap_or(60);
    let mut least = KEYS;
    for at in [0, 1, 63, 64, 65, length - 1].into_iter().chain((0..tries).map(|_| random.below(length))) {
        let what = format!("cut at {at} of {length}");
        let place = TestPool::on(disk.with_cut(Path::new(LOG), at), POOL);
        let refused = keys(&place).expect_err(&what);
        assert_eq!(refused.code(), "corrupt", "{what}: {refused}");
        let findings = place.verify().findings;
        assert!(findings.iter().any(|finding| finding.part == Part::End), "{what}: {findings:?}");
        repair(&place);
        least = least.min(assert_restored(&place, &what));
    }
    assert!(least >= KEYS - 20, "runs know of all but the last few keys, and {least} were left");
}

#[test]
fn an_interrupted_repair_of_a_cut_log_is_completed_by_the_next_one() {
    let whole = written();
    for at in [64, 700, 3000] {
        let disk = whole.with_cut(Path::new(LOG), at);
        let before = disk.changes();
        repair(&TestPool::on(disk.clone(), POOL));
        let expected = keys(&TestPool::on(disk.clone(), POOL)).unwrap();
        for changes in before..=disk.changes() {
            for loss in [Loss::All, Loss::Nothing, Loss::LastTorn(7), Loss::Seeded(changes as u64)] {
                let what = format!("cut at {at}, power failed after {changes} changes, {loss:?}");
                let place = TestPool::on(disk.after_crash(changes, loss), POOL);
                if let Err(error) = keys(&place) {
                    assert_eq!(error.code(), "corrupt", "{what}: {error}");
                    repair(&place);
                }
                assert_eq!(assert_restored(&place, &what), expected, "{what}");
            }
        }
    }
}

/// A disk whose log lost the entry of one more key, and the value of that key, which is in a data file.
fn with_a_lost_value() -> (SimulatedDisk, Vec<u8>) {
    let disk = written();
    let length = log_length(&disk);
    write(&TestPool::on(disk.clone(), POOL), KEYS..KEYS + 1);
    (disk.with_cut(Path::new(LOG), length), value(KEYS))
}

/// Whether any file contains these bytes.
fn has_bytes(disk: &SimulatedDisk, wanted: &[u8]) -> bool {
    let mut files = disk.files().into_iter().filter_map(|(path, _)| disk.read(&path));
    files.any(|bytes| bytes.windows(wanted.len()).any(|there| there == wanted))
}

#[test]
fn unnamed_bytes_survive_a_purge_after_a_repair_with_any_error() {
    let (whole, lost) = with_a_lost_value();
    let of_repair = whole.copy();
    let mut first = 0;
    try_repair(&TestPool::on(of_repair.clone(), POOL), || first = of_repair.calls()).unwrap();
    for call in 0..of_repair.calls() - first {
        let disk = whole.copy();
        let place = TestPool::on(disk.clone(), POOL);
        let fail = || disk.set_fault(Some(Fault::Broken(disk.calls() + call)));
        let repaired = try_repair(&place, fail);
        disk.set_fault(None);
        if keys(&place).is_err() {
            repair(&place);
        }
        let what = format!("call {call}: {repaired:?}");
        assert_eq!(keys(&place).expect(&what), KEYS, "{what}");
        place.try_purge(true).expect(&what);
        assert!(has_bytes(&disk, &lost), "{what}");
    }
}

#[test]
fn a_cut_log_is_repaired_on_a_full_disk() {
    let (disk, lost) = with_a_lost_value();
    disk.set_free(Some(0));
    let place = TestPool::on(disk.clone(), POOL);
    let restored = try_repair(&place, || ()).unwrap().restored.unwrap();
    // What is before it in its file is reported with it.
    assert_eq!(restored.unnamed.iter().map(|unnamed| unnamed.length).sum::<u64>(), 128 + lost.len() as u64);
    assert_eq!(keys(&place).unwrap(), KEYS);
    place.try_purge(true).unwrap();
    assert!(has_bytes(&disk, &lost));
}
