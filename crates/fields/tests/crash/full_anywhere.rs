//! A device that is full at any point of a sequence of replacements. Nothing that was flushed is lost, a purge frees space, and the
//! store takes fields again.

use std::collections::BTreeMap;

use isotach_engine_posix::simulation::SimulatedDisk;
use isotach_fields::{FieldStore, Result};

use crate::workload::{Places, dataset, field, open, opened, verify_sound};

/// The bytes of a field.
const LENGTH: usize = 3000;
/// The free bytes at the beginning go up by these steps, which are less than a field and more than a frame.
const STEP: u64 = 611;
/// From nothing to several rounds of replacements.
const FREE_MAX: u64 = 120_000;

/// What each field was when it was flushed last.
type Flushed = BTreeMap<u64, u8>;

/// Archives and flushes a field.
fn write(store: &FieldStore, number: u64, byte: u8) -> Result<()> {
    store.archive(&field(&dataset(number % 2), number), &[byte; LENGTH])?;
    store.flush()
}

/// Replaces the fields one after the other until the device is full. Returns what was flushed.
fn fill(disk: &SimulatedDisk, places: Places, mut flushed: Flushed) -> (Flushed, u64) {
    let store = opened(disk, places);
    for (byte, number) in (1..).flat_map(|byte| (0..6).map(move |number| (byte, number))) {
        if let Err(error) = write(&store, number, byte) {
            assert!(["no-space", "lost"].contains(&error.code()), "{error}");
            return (flushed, number);
        }
        flushed.insert(number, byte);
    }
    (flushed, 0)
}

/// Checks that each field has the bytes that were flushed last, or those of the flush that failed.
fn check(store: &FieldStore, flushed: &Flushed, failed: u64, case: &str) {
    for (number, byte) in flushed {
        let found = store.retrieve_one(&field(&dataset(number % 2), *number)).unwrap();
        let found = found.unwrap_or_else(|| panic!("{case}: field {number} is lost"));
        let expected = if *number == failed { vec![*byte, byte + 1] } else { vec![*byte] };
        assert!(expected.contains(&found[0]) && found == [found[0]; LENGTH], "{case}: field {number}");
    }
}

#[test]
fn a_device_that_is_full_at_any_point_is_purged_and_takes_fields_again() {
    for places in [Places::Together, Places::Apart] {
        let empty = SimulatedDisk::new();
        let store = open(&empty, places, FieldStore::create).unwrap();
        (0..6).for_each(|number| write(&store, number, 0).unwrap());
        drop(store);
        let mut points = 0;
        for free in (0..FREE_MAX).step_by(STEP as usize) {
            let disk = empty.copy();
            disk.set_free(Some(free));
            let case = format!("{places:?}, {free} bytes free at first");
            let (flushed, failed) = fill(&disk, places, (0..6).map(|number| (number, 0)).collect());
            let store = opened(&disk, places);
            check(&store, &flushed, failed, &case);
            let answer = store.purge(&"".parse().unwrap(), true).unwrap();
            assert!(answer.unusable.is_empty(), "{case}: {answer:?}");
            check(&store, &flushed, failed, &case);
            drop(store);
            let store = opened(&disk, places);
            if flushed.values().any(|byte| *byte > 0) {
                write(&store, failed, 200).unwrap_or_else(|error| panic!("{case}: {error}"));
            }
            verify_sound(&store, &case);
            points += 1;
        }
        println!("{places:?}: full at {points} points, nothing flushed lost, purged and written again");
    }
}
