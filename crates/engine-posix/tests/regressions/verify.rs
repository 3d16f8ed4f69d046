//! Verification: it finds and names all damage, and reports none in sound containers.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use isotach_engine_posix::simulation::Random;
use isotach_needs::number;
use isotach_object::{
    Array, Cell, Container, Finding, ObjectClass, ObjectId, ObjectType, Part, Precondition, Transaction,
    Update, Verified,
};

use crate::{ALL, BEGIN, QUICK, Store, array, change, entries, entry, key, object, put, put_frames};

impl Store {
    /// The only finding.
    #[track_caller]
    fn only_finding(&self) -> Finding {
        let mut found = self.verify(ALL).findings;
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }
}

fn count(verified: &Verified, what: &str) -> u64 {
    verified.checked.iter().find(|(name, _)| *name == what).unwrap().1
}

fn crc(bytes: &[u8]) -> [u8; 4] {
    isotach_engine_kit::checksum::crc32c(bytes).to_le_bytes()
}

/// Random updates and transactions of every kind on a few cells.
fn do_at_random(container: &dyn Container, steps: u64, mut random: impl FnMut(u64) -> u64) {
    let general = ObjectId::new(ObjectType::General, ObjectClass::S1, 0, 2);
    let names = [b"a", b"b", b"c"];
    for step in 0..steps {
        let long = vec![step as u8; 20_000];
        let name: &[u8] = names[random(3) as usize];
        let entry = entry(name);
        let array = Cell::array(object(ObjectType::Array));
        let [record, single] = [b"record", b"single"].map(|akey| Cell::general(general, name, akey));
        let bytes = [array, record, single][random(3) as usize];
        let offset = random(200_000);
        let update = match random(12) {
            0 => Update::Put { cell: entry, value: &long },
            1 | 2 => Update::Put { cell: entry, value: name },
            3 => Update::Put { cell: single, value: name },
            4 => Update::Remove { cell: entry },
            5 => Update::SetSize { cell: bytes, size: offset },
            6 => Update::Punch { cell: bytes, offset, length: 70_000 },
            7 => Update::RemoveDkey { object: general, dkey: name },
            8 => Update::Destroy { object: [entry.object, general, array.object][random(3) as usize] },
            _ => Update::Write { cell: bytes, offset, data: &long[..random(20_000) as usize] },
        };
        let preconditions = match random(4) {
            0 => vec![Precondition::Absent(entry)],
            1 => vec![Precondition::Equals(entry, name)],
            _ => Vec::new(),
        };
        match container.commit(&Transaction { preconditions, updates: vec![update] }) {
            Ok(_) | Err(isotach_object::Error::Conflict { .. }) => {}
            Err(error) => panic!("step {step}: {error}"),
        }
        if random(3) == 0 {
            container.flush().unwrap();
        }
        let snapshot = ["s", "t", "u"][random(3) as usize].parse().unwrap();
        match random(20) {
            0 => drop(container.snapshots().unwrap().create(&snapshot)),
            1 => drop(container.snapshots().unwrap().destroy(&snapshot)),
            _ => {}
        }
    }
    container.flush().unwrap();
}

#[test]
fn random_work_leaves_no_damage_and_runs_agree_with_the_log() {
    let seed = number("ISOTACH_SEED").unwrap_or(3);
    for query in ["?checkpoint=256", "?checkpoint=4096", "?checkpoint=1099511627776"] {
        for round in 0..6 {
            let mut random = Random(seed + round);
            let store = Store::in_memory(query);
            do_at_random(&*store.open(), 400, |end| random.below(end));
            let verified = store.verify(ALL);
            assert!(verified.is_sound(), "seed {seed}, round {round}, {query}: {:?}", verified.findings);
            assert!(count(&verified, "frames") >= 400 && count(&verified, "extents") > 0);
            assert_eq!(count(&verified, "runs") > 0, query.len() < 20, "{query}");
        }
    }
}

#[test]
fn any_flipped_bit_of_any_file_is_found() {
    let store = Store::in_memory("?checkpoint=2048");
    let container = store.open();
    put_frames(&*container, 0..30);
    entries(&*container).put(b"long", &[5; 17_000]).unwrap();
    Array::new(&*container, object(ObjectType::Array)).unwrap().write(0, &[6; 2000]).unwrap();
    container.flush().unwrap();
    // The last frames are in no run yet.
    put_frames(&*container, 30..33);
    drop(container);
    assert!(store.verify(ALL).is_sound());
    let mut files = [store.files("log."), store.files("run."), store.files("superblock")].concat();
    let data = store.data_files();
    files.extend(data.clone());
    assert!(files.len() >= 4, "{files:?}");
    let mut flipped = 0;
    for file in files {
        let good = fs::read(&file).unwrap();
        let begin = if data.contains(&file) { BEGIN as usize } else { 0 };
        assert!(good[..begin].iter().all(|byte| *byte == 0), "{} begins with a long extent", file.display());
        // An odd step meets every bit of a byte.
        for bit in (begin * 8..good.len() * 8).step_by(151) {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            fs::write(&file, &bad).unwrap();
            let found = store.verify(ALL).findings;
            let name = file.display().to_string();
            let is_of_file = |finding: &Finding| {
                finding.place == name || name.starts_with(finding.place.split(" is not ").next().unwrap())
            };
            assert!(found.iter().any(is_of_file), "bit {bit} of {name}: {found:?}");
            flipped += 1;
        }
        fs::write(&file, &good).unwrap();
    }
    println!("{flipped} bits flipped");
    assert!(store.verify(ALL).is_sound());
}

#[test]
fn damaged_bytes_are_reported_with_file_position_and_cell() {
    let store = Store::new("");
    let container = store.open();
    let arrays = [7, 8, 9].map(array);
    for array in arrays {
        Array::new(&*container, array).unwrap().write(0, &[array.lo() as u8; 200_000]).unwrap();
    }
    entries(&*container).put(b"long", &[1; 30_000]).unwrap();
    container.flush().unwrap();
    let data = store.data_files().remove(0);
    change(&data, |bytes| {
        for position in [150_000, 400_001, 600_001] {
            bytes[BEGIN as usize + position] ^= 1;
        }
    });
    let without = store.verify(QUICK);
    assert_eq!(without.findings.len(), 1, "values are always looked at: {without:?}");
    let found = store.verify(ALL).findings;
    let reported: Vec<_> = found
        .iter()
        .map(|finding| {
            assert_eq!((finding.part, &*finding.place), (Part::Bytes, &*data.display().to_string()));
            (finding.cell.as_ref().unwrap().object, finding.byte.unwrap())
        })
        .collect();
    // Chunks are counted from the beginning of each extent.
    let kv = object(ObjectType::KeyValue);
    assert_eq!(reported, [(arrays[0], BEGIN + 131_072), (arrays[2], BEGIN + 400_000), (kv, BEGIN + 600_000)]);
    assert_eq!(found[2].cell.as_ref().unwrap().dkey, b"long");

    change(&data, |bytes| bytes.truncate(450_000));
    let without = store.verify(QUICK).findings;
    let cut: Vec<_> = without.iter().map(|finding| finding.cell.as_ref().unwrap().object).collect();
    assert_eq!(cut, [kv, arrays[2]], "{without:?}");
    fs::remove_file(&data).unwrap();
    let found = store.verify(QUICK).findings;
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found.iter().all(|finding| finding.what == "a data file is missing"), "{found:?}");
}

#[test]
fn bytes_of_snapshots_are_verified_too() {
    let store = Store::new("?checkpoint=256");
    let container = store.open();
    let array = Array::new(&*container, object(ObjectType::Array)).unwrap();
    for (name, byte) in [("one", 1), ("two", 2), ("three", 3)] {
        array.write(0, &[byte; 1000]).unwrap();
        put_frames(&*container, u64::from(byte)..u64::from(byte) + 1);
        container.snapshots().unwrap().create(&name.parse().unwrap()).unwrap();
    }
    array.write(0, &[4; 1000]).unwrap();
    container.flush().unwrap();
    let verified = store.verify(ALL);
    assert!(verified.is_sound(), "{verified:?}");
    assert_eq!((count(&verified, "snapshots"), count(&verified, "extents")), (3, 4), "{verified:?}");
    let data = store.data_files().remove(0);
    change(&data, |bytes| bytes[1500] ^= 1);
    let finding = store.only_finding();
    assert_eq!((finding.part, finding.byte), (Part::Bytes, Some(1000)));
    container.snapshots().unwrap().destroy(&"two".parse().unwrap()).unwrap();
    assert!(store.verify(ALL).is_sound());
}

#[test]
fn each_damaged_frame_is_reported_and_the_scan_continues() {
    let store = Store::new("?checkpoint=1099511627776");
    store.put_frames(0..20);
    let log = store.files("log.").remove(0);
    let length = fs::metadata(&log).unwrap().len();
    // The log begins with its header and a recovery frame, both 64 bytes long.
    let frame = (length - 128) / 20;
    let (first, second) = (128 + 5 * frame, 128 + 11 * frame);
    change(&log, |bytes| {
        bytes[first as usize + 60] ^= 1;
        bytes[second as usize] ^= 1;
    });
    let found = store.verify(ALL).findings;
    let reported: Vec<_> = found.iter().map(|finding| (finding.part, finding.byte.unwrap())).collect();
    assert_eq!(reported, [(Part::History, first), (Part::History, second)], "{found:?}");
}

#[test]
fn garbage_and_torn_appends_are_no_damage() {
    let store = Store::holding("", 3);
    let log = store.files("log.").remove(0);
    change(&log, |bytes| {
        let torn = bytes[64..100].to_vec();
        bytes.extend(torn);
    });
    store.put_frames(3..5);
    change(&log, |bytes| bytes.extend(b"garbage that is no frame ".repeat(20)));
    let verified = store.verify(ALL);
    assert!(verified.is_sound(), "{verified:?}");
    // One of them is the recovery frame.
    assert_eq!((count(&verified, "frames"), count(&verified, "torn frames")), (6, 2));
}

#[test]
fn damaged_segments_are_damage_only_in_frames_that_count() {
    let store = Store::new("?checkpoint=1099511627776&segment=300");
    let container = store.open();
    put_frames(&*container, 0..1);
    let stage = |condition: Precondition<'_>| {
        let mut staging = container.staged_transactions().unwrap().stage().unwrap();
        for number in 100..130 {
            let (key, value) = (key(number), [9; 30]);
            staging.update(&[Update::Put { cell: entry(&key), value: &value }]).unwrap();
        }
        staging.commit(&[condition])
    };
    let cell = entry(b"key-00000000");
    stage(Precondition::Absent(cell)).unwrap_err();
    let verified = store.verify(ALL);
    assert!(verified.is_sound(), "{verified:?}");
    stage(Precondition::Present(cell)).unwrap();
    assert!(store.verify(ALL).is_sound());
    for entry in fs::read_dir(store.path().join("data")).unwrap() {
        change(&entry.unwrap().path(), |bytes| bytes.iter_mut().for_each(|byte| *byte ^= 1));
    }
    let finding = store.only_finding();
    assert_eq!(finding.part, Part::History);
    assert!(finding.what.contains("fail their checksum") && finding.what.contains("/data/"), "{finding}");
    assert!(finding.place.contains("/log.") && finding.byte > Some(64), "{finding}");
}

/// Changes a value in a run, and all checksums above it.
fn forge(run: &Path, value: u64, other: u64) {
    change(run, |bytes| {
        let at = bytes.windows(8).position(|window| window == value.to_le_bytes()).unwrap();
        bytes[at..at + 8].copy_from_slice(&other.to_le_bytes());
        let [index, length] =
            [48, 56].map(|at| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize);
        assert!(index < 9000, "one block");
        let last = u32::from_le_bytes(bytes[index..index + 4].try_into().unwrap()) as usize;
        let sum = crc(&bytes[96..index]);
        bytes[index + 4 + last + 12..][..4].copy_from_slice(&sum);
        let sum = crc(&bytes[index..index + length]);
        bytes[64..68].copy_from_slice(&sum);
        let sum = crc(&bytes[..92]);
        bytes[92..96].copy_from_slice(&sum);
    });
}

#[test]
fn a_run_that_contradicts_the_log_is_found_and_quarantined() {
    let store = Store::in_memory("?checkpoint=1024");
    store.put_frames(0..40);
    let run = store.files("run.").remove(0);
    forge(&run, 7, 1 << 40);
    assert_ne!(store.get(7), Some(7u64.to_le_bytes().to_vec()));
    let finding = store.only_finding();
    assert_eq!((finding.part, &*finding.place), (Part::Derived, &*run.display().to_string()));
    assert_eq!(finding.cell.as_ref().unwrap().dkey, key(7));
    assert!(finding.what.starts_with("1 entries"), "{finding}");

    let quarantined = store.maintenance().quarantine(&store.label, &[finding], "found by a test").unwrap();
    assert_eq!(quarantined.moved, [run.file_name().unwrap().to_str().unwrap()]);
    let place = Path::new(&quarantined.place);
    assert_eq!(fs::read_to_string(place.join("note.txt")).unwrap(), "found by a test");
    assert!(!run.exists() && place.join(&quarantined.moved[0]).exists());
    assert!(store.verify(ALL).is_sound());
    store.assert_holds(0..40, "replayed from the log");
}

#[test]
fn a_damaged_run_over_damaged_log_is_not_quarantined() {
    let store = Store::in_memory("?checkpoint=1024");
    store.put_frames(0..100);
    let (run, log) = (store.files("run.").remove(0), store.files("log.").remove(0));
    change(&log, |bytes| bytes[100] ^= 1);
    assert_eq!(store.only_finding().part, Part::History);
    store.assert_holds(0..100, "from the runs");
    let index = fs::read(&run).unwrap()[48..56].try_into().map(u64::from_le_bytes).unwrap() as usize;
    change(&run, |bytes| bytes[index - 1] ^= 1);
    let findings = store.verify(ALL).findings;
    let parts: Vec<_> = findings.iter().map(|finding| finding.part).collect();
    assert_eq!(parts, [Part::History, Part::Derived], "{findings:?}");
    assert_eq!(store.maintenance().quarantine(&store.label, &findings, "").unwrap().moved, [""; 0]);
    assert!(run.exists());
}

#[test]
fn a_longer_run_proves_that_the_log_lost_its_end() {
    let store = Store::in_memory("?checkpoint=1024");
    store.put_frames(0..40);
    change(&store.files("log.").remove(0), |bytes| bytes.truncate(500));
    let findings = store.verify(ALL).findings;
    assert!(findings[1].what.contains("bytes, which this run contains"), "{findings:?}");
    assert!(findings.iter().all(|finding| finding.part == Part::End));
}

#[test]
fn an_unreadable_container_is_a_finding_and_a_missing_one_an_error() {
    let store = Store::new("");
    for (name, bytes) in [("log.", 0..1), ("superblock", 0..1), ("superblock", 30..31)] {
        let file = store.files(name).remove(0);
        let good = fs::read(&file).unwrap();
        change(&file, |all| all[bytes].iter_mut().for_each(|byte| *byte ^= 0xee));
        assert_eq!(store.only_finding().part, Part::Description, "{name}");
        fs::remove_file(&file).unwrap();
        // A missing log can be rebuilt from runs.
        let gone = if name == "log." { Part::End } else { Part::Description };
        assert_eq!(store.only_finding().part, gone, "{name}");
        fs::write(&file, good).unwrap();
    }
    let absent = store.maintenance().verify(&"other".parse().unwrap(), ALL, &|_, _| ());
    assert_eq!(absent.unwrap_err().code(), "not-found");
}

#[test]
fn verifying_beside_writers_finds_nothing_and_reports_progress() {
    let store = Store::in_memory("?checkpoint=256&sync=no");
    let (stop, most) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for half in [0, 1] {
            let (store, stop) = (&store, &stop);
            scope.spawn(move || {
                let container = store.open();
                for number in 0..500 {
                    put_frames(&*container, 1000 * half + number..1000 * half + number + 1);
                    let array = ObjectId::new(ObjectType::Array, ObjectClass::S1, half as u32, number);
                    Array::new(&*container, array).unwrap().write(0, &[1; 1000]).unwrap();
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        for round in 0..40 {
            let progress = |done: u64, total: u64| {
                assert!(done <= total);
                most.fetch_max(done, Ordering::Relaxed);
            };
            let verified = store.maintenance().verify(&store.label, ALL, &progress).unwrap();
            if !verified.is_sound() {
                stop.store(true, Ordering::Relaxed);
            }
            assert!(verified.is_sound(), "round {round}: {:?}", verified.findings);
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(most.load(Ordering::Relaxed) > 0);
}

#[test]
fn bytes_of_writers_that_end_meanwhile_are_not_reported_as_unnamed() {
    for purging in [false, true] {
        let store = Store::in_memory("?checkpoint=4096&sync=no");
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (store, stop) = (&store, &stop);
            for writer in 0..2 {
                scope.spawn(move || {
                    for round in 0.. {
                        put(&*store.open(), writer * 1000 + round % 50, &[round as u8; 20_000]);
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
            }
            if purging {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        store.purge();
                    }
                });
            }
            let mut reported = Vec::new();
            for _ in 0..25 {
                reported.extend(store.verify(QUICK).unnamed);
            }
            stop.store(true, Ordering::Relaxed);
            assert!(reported.is_empty(), "purging: {purging}: {reported:?}");
        });
    }
}

/// Puts values into a data file of their own.
fn put_values(store: &Store, keys: std::ops::Range<u64>) {
    let container = store.open();
    keys.for_each(|number| entries(&*container).put(&key(number), &[number as u8; 20_000]).unwrap());
    container.flush().unwrap();
}

/// Purges, with a data file that is completely dead.
fn purge(store: &Store) {
    put_values(store, 900..920);
    let container = store.open();
    (900..920).for_each(|number| entries(&*container).remove(&key(number)).unwrap());
    container.flush().unwrap();
    let purged = store.purge();
    assert!(purged.freed > 0, "{purged:?}");
}

fn set_modified(store: &Store, at: SystemTime) {
    for file in fs::read_dir(store.path().join("data")).unwrap() {
        fs::File::options().write(true).open(file.unwrap().path()).unwrap().set_modified(at).unwrap();
    }
}

#[test]
fn dead_ends_of_data_files_are_not_unnamed_at_any_clock() {
    let store = Store::new("?checkpoint=4096");
    put_values(&store, 0..60);
    // Each purge keeps the file, because little of it is dead.
    for last in [59, 58, 57] {
        entries(&*store.open()).put(&key(last), b"short").unwrap();
        purge(&store);
        set_modified(&store, SystemTime::now() + Duration::from_secs(1000));
        let verified = store.verify(ALL);
        assert!(verified.is_sound() && verified.unnamed.is_empty(), "{last}: {verified:?}");
    }
    // Unflushed bytes are reported, although the file is older than the manifest.
    let container = store.open();
    entries(&*container).put(&key(800), &[8; 300_000]).unwrap();
    drop(container);
    set_modified(&store, SystemTime::UNIX_EPOCH);
    let unnamed = store.verify(ALL).unnamed;
    assert_eq!(unnamed.iter().map(|unnamed| unnamed.length).sum::<u64>(), BEGIN + 300_000, "{unnamed:?}");
}

#[test]
fn a_damaged_list_in_a_purge_manifest_is_replaced_by_the_next_purge() {
    let store = Store::new("?checkpoint=4096");
    put_values(&store, 0..60);
    purge(&store);
    change(&store.files("floor.").remove(0), |bytes| bytes[70] ^= 1);
    assert_eq!(store.only_finding().part, Part::Derived);
    assert_eq!(store.get(5).unwrap(), [5; 20_000]);
    purge(&store);
    assert!(store.verify(ALL).is_sound());
}
