//! Power failures at any moment of a wipe of a collocation. The store is written on, a repair ends the wipe, and a purge leaves the
//! bytes of fields only.

use isotach_engine_posix::simulation::{Loss, SimulatedDisk};
use isotach_fields::{FieldStore, ListOptions};

use crate::workload::{Places, dataset, field, open, opened, verify_sound};

/// A multiple of the alignment of extents, so that there is no space between them.
const LONG: usize = 20_032;
/// Bytes before the first extent of a data file.
const LEAD: u64 = 128;
/// Fields of the dataset, half of them in the collocation that is wiped.
const FIELDS: u64 = 8;

fn count(store: &FieldStore, what: &str) -> u64 {
    let request = format!("{},{what}", dataset(0)).parse().unwrap();
    store.list(&request, ListOptions::default()).unwrap().map(Result::unwrap).count() as u64
}

/// A store with two collocations, of which one was wiped, and after how many changes that began.
fn wiped(places: Places) -> (SimulatedDisk, usize) {
    let disk = SimulatedDisk::new();
    let store = open(&disk, places, FieldStore::create).unwrap();
    (0..FIELDS).for_each(|number| store.archive(&field(&dataset(0), number), &[7; LONG]).unwrap());
    store.flush().unwrap();
    let begun = disk.changes();
    opened(&disk, places).wipe(&format!("{},type=fc", dataset(0)).parse().unwrap(), true).unwrap();
    (disk, begun)
}

/// Writes, repairs and purges after the power failed.
fn check(disk: &SimulatedDisk, places: Places, case: &str) {
    let store = opened(disk, places);
    let left = count(&store, "type=fc");
    assert!([0, FIELDS / 2].contains(&left), "{case}: {left} fields of the wiped collocation");
    store.archive(&field(&dataset(0), 20), &[8; LONG]).unwrap();
    store.flush().unwrap();
    let repaired = verify_sound(&store, case).repair(true).unwrap();
    assert!(repaired.repaired.is_empty(), "{case}: {repaired:?}");
    assert!(verify_sound(&store, case).parts.iter().all(|part| part.unended_wipes == 0), "{case}");
    let fields = count(&store, "type=an/fc");
    assert_eq!(fields, FIELDS / 2 + left + 1, "{case}");
    drop(store);
    // Nothing is held by writers any more, so a purge leaves the bytes of fields only.
    let answer = opened(disk, places).purge(&"".parse().unwrap(), true).unwrap();
    assert!(answer.unusable.is_empty(), "{case}: {answer:?}");
    let data = disk.files().into_iter().filter(|(path, _)| path.to_string_lossy().contains("/data/"));
    let bytes: u64 = data.map(|(_, length)| length - LEAD).sum();
    // Apart, the store may keep the arrays of a collocation that the catalogue has lost.
    let kept = if places == Places::Apart { FIELDS / 2 - left } else { 0 };
    let expected = [fields, fields + kept].map(|fields| fields * LONG as u64);
    assert!(expected.contains(&bytes), "{case}: {bytes}, not {expected:?}");
}

#[test]
fn a_repair_ends_a_wipe_that_a_power_failure_cut_off_at_any_moment() {
    for places in [Places::Together, Places::Apart] {
        let (disk, begun) = wiped(places);
        for changes in begun..=disk.changes() {
            for loss in [Loss::All, Loss::Nothing, Loss::LastTorn(changes as u64)] {
                let found = disk.after_crash(changes, loss);
                check(&found, places, &format!("{places:?}, {} changes, {loss:?}", changes - begun));
            }
        }
        println!("{places:?}: {} crashes", 3 * (disk.changes() - begun + 1));
    }
}
