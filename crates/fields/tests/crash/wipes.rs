//! A wipe of a collocation that is cut off by the power at any moment: nobody repairs anything, and the next purge leaves
//! the bytes of fields only.

use isotach_engine_posix::simulation::{Loss, SimulatedDisk};
use isotach_fields::{FieldStore, ListOptions, VerifyOptions};

use crate::workload::{Places, dataset, field, open};

const LONG: usize = 20_000;
/// Fields of the dataset, half of them in the collocation that is wiped.
const FIELDS: u64 = 8;

fn count(store: &FieldStore, what: &str) -> u64 {
    let request = format!("{},{what}", dataset(0)).parse().unwrap();
    store.list(&request, ListOptions::default()).unwrap().map(Result::unwrap).count() as u64
}

fn wipes(store: &FieldStore) -> u16 {
    store.status(&dataset(0).parse().unwrap()).unwrap()[0].wipes
}

/// A store with two collocations, of which one was wiped, and after how many changes that began.
fn wiped(places: Places) -> (SimulatedDisk, usize) {
    let disk = SimulatedDisk::new();
    let store = open(&disk, places, FieldStore::create).unwrap();
    (0..FIELDS).for_each(|number| store.archive(&field(&dataset(0), number), &[7; LONG]).unwrap());
    store.flush().unwrap();
    let begun = disk.changes();
    open(&disk, places, FieldStore::open)
        .unwrap()
        .wipe(&format!("{},type=fc", dataset(0)).parse().unwrap(), true)
        .unwrap();
    (disk, begun)
}

/// Writes and purges after the power failed.
fn check(disk: &SimulatedDisk, places: Places, case: &str) {
    let store = open(disk, places, FieldStore::open).unwrap();
    let left = count(&store, "type=fc");
    assert!([0, FIELDS / 2].contains(&left), "{case}: {left} fields of the wiped collocation");
    store.archive(&field(&dataset(0), 20), &[8; LONG]).unwrap();
    store.flush().unwrap();
    let answer = store.purge(&"".parse().unwrap(), true).unwrap();
    assert!(answer.unusable.is_empty(), "{case}: {answer:?}");
    assert_eq!(wipes(&store), 0, "{case}");
    let how = VerifyOptions { data: true, threads: 1 };
    let report = store.verify(&"".parse().unwrap(), how, &|_| ()).unwrap();
    assert!(report.is_sound(), "{case}: {report:?}");
    let fields = count(&store, "type=an/fc");
    assert_eq!(fields, FIELDS / 2 + left + 1, "{case}");
    drop(store);
    // Nothing is held by writers any more, so a purge leaves the bytes of fields only.
    open(disk, places, FieldStore::open).unwrap().purge(&"".parse().unwrap(), true).unwrap();
    let data = disk.files().into_iter().filter(|(path, _)| path.to_string_lossy().contains("/data/"));
    let bytes: u64 = data.map(|(_, length)| length).sum();
    assert_eq!(bytes, fields * LONG as u64, "{case}: the bytes of fields only");
}

#[test]
fn a_wipe_of_a_collocation_that_is_cut_off_anywhere_leaves_no_count_and_no_bytes() {
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
