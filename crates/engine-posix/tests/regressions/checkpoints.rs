//! Writing runs beside other processes that do the same, that die, or that only seem to.

use std::{
    fs::{self, File},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::SystemTime,
};

use crate::{Store, assert_holds, entries, key, put_frames};

/// A temporary file of a run that begins at the start of the log.
const TEMPORARY: &str = "tmp.0000000000000000.0123456789abcdef";

#[test]
fn claims_of_dead_processes_are_removed_and_block_no_runs() {
    let store = Store::new("?checkpoint=256");
    for name in [TEMPORARY, "tmp.0000000000000000", "tmp.00000000000000ff.0123456789abcdef"] {
        fs::write(store.path().join(name), b"half a run").unwrap();
    }
    // A claim of a stopped process, with its lock.
    let stopped = File::create_new(store.path().join("tmp.0000000000000000.00000000000000ff")).unwrap();
    stopped.lock().unwrap();
    stopped.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let container = store.open();
    put_frames(&*container, 0..30);
    assert_holds(&*container, 0..30, "after the dead one was cleared away");
    assert_eq!(store.files("tmp."), Vec::<std::path::PathBuf>::new());
    assert!(!store.files("run.").is_empty());
}

#[test]
fn a_run_that_another_process_is_writing_is_not_written_twice() {
    let store = Store::new("?checkpoint=256");
    let others = File::create_new(store.path().join(TEMPORARY)).unwrap();
    others.lock().unwrap();
    let container = store.open();
    put_frames(&*container, 0..30);
    assert_holds(&*container, 0..30, "while another writes");
    assert_eq!(store.files("tmp."), [store.path().join(TEMPORARY)]);
    assert!(store.files("run.").is_empty());
}

/// Checks that a run, if it still exists, is complete and belongs to its name.
fn assert_is_named_for_its_span(path: &Path) {
    let Ok(bytes) = fs::read(path) else { return };
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(bytes.len() > 96 && bytes.starts_with(b"ISOTRUN1"), "{name} has {} bytes", bytes.len());
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(name, format!("run.{:016x}-{:016x}", number(24), number(32)));
}

#[test]
fn an_abandoned_claim_never_names_the_file_of_another_process() {
    const WRITERS: u64 = 3;
    const EACH: u64 = 120;
    // On a device, where others run during a sync.
    let store = Store::new("?checkpoint=256");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        // Every temporary file looks old as soon as it is seen, so each writer removes those of the others.
        let ageing = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for path in store.files("tmp.") {
                    let file = File::open(path);
                    let _ = file.and_then(|file| file.set_modified(SystemTime::UNIX_EPOCH));
                }
            }
        });
        let watching = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                store.files("run.").iter().for_each(|run| assert_is_named_for_its_span(run));
            }
        });
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let container = store.open();
                scope.spawn(move || {
                    for number in writer * EACH..(writer + 1) * EACH {
                        put_frames(&*container, number..number + 1);
                        assert!(entries(&*container).get(&key(number)).unwrap().is_some());
                    }
                })
            })
            .collect();
        let outcomes: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        outcomes.into_iter().chain([ageing.join(), watching.join()]).for_each(|outcome| outcome.unwrap());
    });
    // On whatever runs are left, and on none.
    store.assert_holds(0..WRITERS * EACH, "on the runs");
    for run in store.files("run.") {
        fs::remove_file(run).unwrap();
    }
    store.assert_holds(0..WRITERS * EACH, "without runs");
}
