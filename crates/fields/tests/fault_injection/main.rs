//! A store whose files were cut, swapped, removed or replaced by older copies.
//!
//! A store is written in steps, partly replaced, purged, and written further. Then one or several random faults are
//! injected into its files, and every field is requested. What must hold: each field has the bytes that were flushed
//! last, or an error reports damage. No field has other bytes, and none is silently absent.
//!
//! Then the store is verified and repaired. What must hold after that: every change was reported, for the field or its
//! dataset; no field has bytes that it never had; and the store is opened, written, read and verified again, which
//! finds only damage that the repair has left. If one log, run or data file was cut, the store can be opened.
//!
//! `ISOTACH_SEQUENCES` sets the number of cut files in each layout (500 by default), a quarter as many for each other
//! kind of fault, and `ISOTACH_SEED` the seed (from the clock by default). Every failure prints its seed and its fault.
#![expect(clippy::unwrap_used, reason = "test code: a failure here is a failed test")]

mod faults;
mod stores;
mod tree;

use isotach_engine_posix::simulation::Random;
use isotach_mars::Key;
use isotach_needs::{number, seed};

use self::{
    faults::Fault,
    stores::{CLASSES, Expected, Findings, Store, assert_reports_damage, field},
    tree::Tree,
};

const CUTS: u64 = 500;
const STEPS: u64 = 30;

/// The results of one kind of fault.
#[derive(Debug, Default)]
struct Sum {
    faults: u64,
    right: u64,
    reported: u64,
    repaired: u64,
    mended: u64,
    written: u64,
}

/// A store before a fault is injected.
struct Trial {
    store: Store,
    expected: Expected,
    older: Tree,
    whole: Tree,
}

impl Trial {
    fn new(store: Store) -> Self {
        let mut expected = Expected::new();
        drop(store.create());
        store.write(0..STEPS, 1, &mut expected);
        let older = Tree::read(&store.folder);
        store.write(5..STEPS / 2, 2, &mut expected);
        store.open().unwrap().purge(&"".parse().unwrap(), true).unwrap();
        store.write(STEPS / 2..STEPS + 10, 3, &mut expected);
        let whole = Tree::read(&store.folder);
        Self { store, expected, older, whole }
    }

    fn inject(&self, fault: Fault, random: &mut Random, what: &str, sum: &mut Sum) {
        let (done, damaged) = fault.at_random(&self.whole, &self.older, random);
        let what = format!("{what}: {done}");
        println!("{what}");
        damaged.write(&self.store.folder);
        let before = self.store.ask(&self.expected);
        let is_right = before.wrong.is_empty() && before.older.is_empty() && before.absent.is_empty();
        assert!(is_right, "{what}: {before:?}");
        let reported = self.store.repair();
        let is_found = !reported.is_empty() || before.reported.is_empty();
        assert!(is_found, "{what}: verify finds nothing, and {before:?}");
        sum.faults += 1;
        sum.right += before.right;
        sum.reported += before.reported.len() as u64;
        sum.repaired += u64::from(!reported.is_empty());
        sum.mended += u64::from(reported.is_mended());
        let opened = self.store.open();
        // The list of datasets can be brought back, unless more than its own log or runs is gone.
        let may_be_closed = fault != Fault::Cut && !reported.is_mended();
        assert!(opened.is_ok() || may_be_closed, "{what}: {:?}, {reported:?}", opened.err());
        if opened.is_ok() {
            self.check_repaired(&reported, &what);
            self.write_on(&reported, &what);
            sum.written += 1;
        }
    }

    /// Checks that every change was reported.
    fn check_repaired(&self, reported: &Findings, what: &str) {
        let after = self.store.ask(&self.expected);
        assert!(after.wrong.is_empty(), "{what}: after the repair {after:?}");
        for key in &after.reported {
            let is_left = reported.is_left(key, &self.store);
            assert!(is_left, "{what}: {key} cannot be read, and nothing is left: {reported:?}");
        }
        for key in after.absent.iter().chain(&after.older) {
            let is_reported = reported.is_of(key, &self.store);
            assert!(is_reported, "{what}: {key} is not as it was, and was not reported: {reported:?}");
        }
    }

    /// Checks that the store accepts and returns fields.
    fn write_on(&self, reported: &Findings, what: &str) {
        let store = self.store.open().unwrap();
        for class in CLASSES {
            for step in [3, 100] {
                let (key, bytes) = field(class, step, 4);
                let whole: Key = key.parse().unwrap();
                if let Err(error) = store.archive(&whole, &bytes).and_then(|_| store.flush()) {
                    assert!(reported.is_left(&key, &self.store), "{what}: {error}");
                    assert_reports_damage(&error);
                    continue;
                }
                match self.store.open().unwrap().retrieve_one(&whole) {
                    Ok(found) => assert!(found.is_some_and(|found| found == bytes[..]), "{what}: {key}"),
                    Err(error) => assert!(reported.is_left(&key, &self.store), "{what}: {error}"),
                }
            }
        }
        let report = self.store.verify();
        let new = reported.new_in(&report, &self.store);
        assert!(new.is_empty(), "{what}: after more was written {new:?}");
    }
}

fn try_all(is_apart: bool) {
    let (seed, cuts) = (seed(), number("ISOTACH_SEQUENCES").unwrap_or(CUTS));
    println!("ISOTACH_SEED={seed}");
    let folder = tempfile::tempdir_in(isotach_needs::folder_off_disk()).unwrap();
    let trial = Trial::new(Store::new(&folder.path().join("trial"), is_apart));
    let mut random = Random(seed);
    for fault in [Fault::Cut, Fault::Other, Fault::Cuts, Fault::Several] {
        let times = if fault == Fault::Cut { cuts } else { cuts / 4 };
        let mut sum = Sum::default();
        for at in 0..times {
            trial.inject(fault, &mut random, &format!("ISOTACH_SEED={seed}, {fault:?} {at}"), &mut sum);
        }
        let Sum { faults, right, reported, repaired, mended, written } = sum;
        println!(
            "{fault:?}: {faults} faults, {right} fields right, {reported} reported as damaged, 0 with wrong bytes, 0 silently absent; \
             damage found in {repaired}, nothing left in {mended}, {written} written on"
        );
    }
}

#[test]
fn fields_are_right_or_reported_after_files_are_cut_swapped_or_replaced() {
    try_all(false);
}

#[test]
fn fields_are_right_or_reported_after_damage_with_catalogue_and_store_apart() {
    try_all(true);
}

#[test]
fn a_cut_list_of_datasets_is_restored_from_the_datasets() {
    for is_apart in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (store, mut expected) = (Store::new(folder.path(), is_apart), Expected::new());
        drop(store.create());
        let pool = if is_apart { "catalogue" } else { "all" };
        let log = folder.path().join(pool).join("containers/root/log.0000000000000001");
        let settings = log.metadata().unwrap().len();
        store.write(0..3, 1, &mut expected);
        std::fs::File::options().write(true).open(&log).unwrap().set_len(settings).unwrap();
        assert_eq!(store.open().unwrap_err().code(), "corrupt");
        store.verify().repair(true).unwrap();
        let answers = store.ask(&expected);
        assert_eq!(answers.right, expected.len() as u64, "{answers:?}");
        store.write(3..6, 2, &mut expected);
        assert_eq!(store.ask(&expected).right, expected.len() as u64);
    }
}
