//! A store on a full device: its datasets are purged, and the space freed in one serves the others.

use isotach_engine_posix::simulation::SimulatedDisk;
use isotach_fields::FieldStore;

use crate::workload::{Places, dataset, field, open, opened, verify_sound};

const LONG: usize = 40_000;

/// Archives fields of a dataset, by a handle of their own.
fn archive(disk: &SimulatedDisk, places: Places, of: u64, numbers: std::ops::Range<u64>, length: usize) {
    let store = opened(disk, places);
    numbers.for_each(|number| {
        store.archive(&field(&dataset(of), number), &vec![number as u8; length]).unwrap();
    });
    store.flush().unwrap();
}

/// A full device. Most fields of the first dataset are replaced, and all of the second's.
fn full(places: Places) -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    open(&disk, places, FieldStore::create).unwrap();
    for (of, replaced) in [(0, 6), (1, 10)] {
        archive(&disk, places, of, 0..10, LONG);
        archive(&disk, places, of, 0..replaced, 100);
    }
    disk.set_free(Some(0));
    disk
}

#[test]
fn the_space_that_a_purge_frees_in_one_dataset_of_a_full_device_serves_the_others() {
    for places in [Places::Together, Places::Apart] {
        let disk = full(places);
        let alone = disk.copy();
        let store = opened(&alone, places);
        let answer = store.purge(&dataset(0).parse().unwrap(), true).unwrap();
        assert_eq!(answer.unusable.len(), 1, "{places:?}: {answer:?}");
        assert_eq!(answer.unusable[0].code(), "no-space", "{places:?}: {answer:?}");

        let store = opened(&disk, places);
        let answer = store.purge(&"".parse().unwrap(), true).unwrap();
        assert!(answer.unusable.is_empty(), "{places:?}: {answer:?}");
        let freed: u64 = answer.found.iter().map(|dataset| dataset.freed).sum();
        assert!(freed > 500_000, "{places:?}: {answer:?}");
        drop(store);
        for (of, replaced) in [(0, 6), (1, 10)] {
            let store = opened(&disk, places);
            let counts = store.stats(&dataset(of).parse().unwrap()).unwrap().found[0].counts;
            assert_eq!((counts.fields, counts.replaced_fields), (10, 0), "{places:?}");
            assert_eq!(counts.bytes, replaced * 100 + (10 - replaced) * LONG as u64, "{places:?}");
            archive(&disk, places, of, 0..3, LONG);
        }
        verify_sound(&opened(&disk, places), &format!("{places:?}"));
    }
}

#[test]
fn a_purge_needs_no_more_space_than_300_bytes_a_field_and_what_is_copied() {
    const FIELDS: u64 = 1000;
    const SHORT: usize = 1000;
    for places in [Places::Together, Places::Apart] {
        let disk = SimulatedDisk::new();
        open(&disk, places, FieldStore::create).unwrap();
        archive(&disk, places, 0, 0..FIELDS, SHORT);
        archive(&disk, places, 0, 0..FIELDS / 2, SHORT);
        let (copied, index) = (FIELDS / 2 * SHORT as u64, 300 * (FIELDS + FIELDS / 2));
        // Plus the frames that remove the fields, and the ends of files.
        disk.set_free(Some(index + copied + (128 << 10)));
        let store = opened(&disk, places);
        let answer = store.purge(&"".parse().unwrap(), true).unwrap();
        assert!(answer.unusable.is_empty(), "{places:?}: {answer:?}");
        assert_eq!(answer.found[0].replaced_fields, FIELDS / 2, "{places:?}");
        let room = |name: &str| {
            let files = disk.files().into_iter().filter(|(path, _)| path.to_string_lossy().contains(name));
            files.map(|(_, length)| length).sum::<u64>()
        };
        assert_eq!(room("/data/"), FIELDS * SHORT as u64, "{places:?}: what is left is live");
        assert!(room("/run.") < index, "{places:?}: {} bytes of runs", room("/run."));
    }
}
