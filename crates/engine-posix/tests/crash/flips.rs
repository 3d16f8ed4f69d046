//! Flipped bits and lost sectors of a container at rest: an answer is right or `Corrupt`, and nothing panics.

use std::{path::PathBuf, sync::Arc};

use isotach_engine_posix::simulation::{Loss, Random, SECTOR, SimulatedDisk};
use isotach_needs::{number, seed};
use isotach_object::{Array, Container, Error, ObjectId, Result};

use crate::{
    place::{label, values},
    workload::{Contents, History, contents},
};

/// Operations that fill the container. It is small, so that all of its bits can be flipped.
const OPERATIONS: usize = 30;
/// How many bits are flipped unless `ISOTACH_SEQUENCES` says otherwise. From [`ALL_FROM`] on all are.
const FLIPS: u64 = 1500;
const ALL_FROM: u64 = 10_000;

/// A container at rest, with or without a restart of the machine.
fn container(seed: u64, restarted: bool) -> (SimulatedDisk, Contents) {
    let history = History::record_small(seed, OPERATIONS);
    let disk = match restarted {
        true => history.disk.after_crash(history.disk.changes(), Loss::All),
        false => history.disk.copy(),
    };
    let expected = contents(&*open_at_rest(&disk).unwrap()).unwrap();
    (disk, expected)
}

/// Opens the container so that reading it writes no runs.
fn open_at_rest(disk: &SimulatedDisk) -> Result<Arc<dyn Container>> {
    disk.engine().open_pool(&"posix:/pool".parse()?)?.open_container(&label())
}

/// The files whose bits are flipped.
fn files(disk: &SimulatedDisk) -> Vec<(PathBuf, u64)> {
    let files = disk.files().into_iter();
    files.filter(|(path, length)| path.starts_with("/pool/containers") && *length > 0).collect()
}

/// Reads everything that is expected, one by one. Returns how much of it is `Corrupt`.
fn look(disk: &SimulatedDisk, expected: &Contents) -> std::result::Result<usize, String> {
    let container = match open_at_rest(disk) {
        Ok(container) => container,
        // Without its magic the file is no superblock, and opening says so.
        Err(Error::Corrupt { .. } | Error::InvalidInput { .. } | Error::NewerFormat { .. }) => return Ok(1),
        Err(error) => return Err(format!("opening: {error}")),
    };
    let mut corrupt = 0;
    let mut judge = |what: String, is_right: Result<bool>| match is_right {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("{what} is wrong")),
        Err(Error::Corrupt { .. }) => {
            corrupt += 1;
            Ok(())
        }
        Err(error) => Err(format!("{what}: {error}")),
    };
    for (key, value) in &expected.values {
        let found = values(&*container).get(key);
        judge(key.escape_ascii().to_string(), found.map(|found| found.as_deref() == Some(&**value)))?;
    }
    for (id, bytes) in &expected.arrays {
        let read = |id: ObjectId| Array::new(&*container, id)?.read(0, bytes.len() + 1);
        judge(format!("array {id}"), read(*id).map(|found| found == **bytes))?;
    }
    judge("the list of all".to_owned(), contents(&*container).map(|found| found == *expected))?;
    Ok(corrupt)
}

#[test]
fn a_flipped_bit_anywhere_is_corrupt_or_changes_no_answer() {
    let (seed, flips) = (seed(), number("ISOTACH_SEQUENCES").map_or(FLIPS, |sequences| 3 * sequences));
    let mut random = Random(seed);
    for restarted in [false, true] {
        let (good, expected) = container(seed, restarted);
        let files = files(&good);
        let bits: u64 = files.iter().map(|(_, length)| length * 8).sum();
        let all = flips >= 3 * ALL_FROM;
        let (mut flipped, mut corrupt) = (0, 0);
        let mut at = 0;
        while at < bits {
            let mut bit = at;
            let file = files.iter().find(|(_, length)| {
                let here = bit < length * 8;
                bit -= if here { 0 } else { length * 8 };
                here
            });
            let (path, _) = file.unwrap();
            let bad = good.copy();
            assert!(bad.flip_bit(path, bit));
            match look(&bad, &expected) {
                Ok(found) => corrupt += usize::from(found > 0),
                Err(what) => panic!("ISOTACH_SEED={seed}, bit {bit} of {}: {what}", path.display()),
            }
            flipped += 1;
            at += if all { 1 } else { 1 + random.below(2 * bits / flips) };
        }
        println!(
            "{flipped} of {bits} bits flipped (restarted: {restarted}): {corrupt} corrupt, no wrong answer, seed {seed}"
        );
        assert!(corrupt > 0);
    }
}

#[test]
fn a_zeroed_sector_within_the_log_is_damage_and_not_a_loss() {
    let seed = seed();
    let history = History::record_flushed(seed, OPERATIONS);
    let log = PathBuf::from("/pool/containers/c/log.0000000000000001");
    let whole = history.disk.after_crash(history.disk.changes(), Loss::All);
    let expected = contents(&*open_at_rest(&whole).unwrap()).unwrap();
    let length = whole.files().into_iter().find(|(path, _)| *path == log).unwrap().1;
    // Nothing proves that the last flush was synced.
    for sector in 1..length / SECTOR as u64 - 4 {
        let bad = whole.copy();
        assert!(bad.tamper(&log, sector * SECTOR as u64, |bytes| bytes.fill(0), SECTOR));
        match look(&bad, &expected) {
            Ok(corrupt) => assert!(corrupt > 0, "ISOTACH_SEED={seed}, sector {sector}"),
            Err(what) => panic!("ISOTACH_SEED={seed}, sector {sector}: {what}"),
        }
    }
}
