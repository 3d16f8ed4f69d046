//! Damaged runs, and reading at the edges of runs.

use std::{fs, path::Path};

use isotach_object::{Anchor, KeyValue, ObjectClass, ObjectId, ObjectType, Part};

use crate::{ALL, Store, assert_holds, change, ending, entries, key, put_frames};

const COUNT: u64 = 60;

/// Damages the file of a run.
type Damage = fn(&Path);

/// Every damage that makes a run useless when it is opened.
fn damages() -> [(&'static str, Damage); 6] {
    [
        ("a flipped bit in its header", |run| change(run, |bytes| bytes[40] ^= 1)),
        ("a flipped bit in its index", |run| change(run, |bytes| *bytes.last_mut().unwrap() ^= 1)),
        ("nothing left of it", |run| change(run, Vec::clear)),
        ("its end cut off", |run| change(run, |bytes| bytes.truncate(bytes.len() - 1))),
        ("half of it cut off", |run| change(run, |bytes| bytes.truncate(bytes.len() / 2))),
        ("an end past the log's", |run| {
            let from = &run.file_name().unwrap().to_str().unwrap()[..20];
            fs::rename(run, run.with_file_name(format!("{from}-00000000ffffffff"))).unwrap();
        }),
    ]
}

/// A store with several runs.
fn with_runs() -> Store {
    let store = Store::new("?checkpoint=256");
    let container = store.open();
    put_frames(&*container, 0..COUNT);
    let mut reached = COUNT;
    while store.files("run.").len() < 2 {
        put_frames(&*container, reached..reached + 1);
        entries(&*container).remove(&key(reached)).unwrap();
        assert_holds(&*container, 0..COUNT, "while runs are made");
        reached += 1;
    }
    container.flush().unwrap();
    store
}

/// The end of the last run within the log.
fn reach(store: &Store) -> u64 {
    let end = fs::metadata(store.log()).unwrap().len();
    store.spans().into_iter().map(|span| span.end).filter(|to| *to <= end).max().unwrap_or(0)
}

#[test]
fn damaged_runs_and_runs_past_the_log_are_left_out() {
    for (what, damage) in damages() {
        for last in [false, true] {
            let what = format!("{what}, {}", if last { "the last run" } else { "the first run" });
            ending(&what.clone(), move || {
                let store = with_runs();
                let runs = store.files("run.");
                damage(if last { &runs[runs.len() - 1] } else { &runs[0] });
                let reached = reach(&store);
                let container = store.open();
                assert_holds(&*container, 0..COUNT, &what);
                // Writing continues over it, with checkpoints.
                put_frames(&*container, COUNT..2 * COUNT);
                assert_holds(&*container, 0..2 * COUNT, &what);
                store.assert_holds(0..2 * COUNT, &what);
                assert!(reach(&store) > reached, "{what}: checkpoints go on");
            });
        }
    }
}

#[test]
fn a_listing_past_the_end_of_a_run_is_empty_and_ends() {
    let store = Store::holding("?checkpoint=256", COUNT);
    let container = store.open();
    assert!(!store.files("run.").is_empty());
    for anchor in [key(COUNT - 1), b"zzz".to_vec(), vec![0xff; 40]] {
        let page = entries(&*container).list(&Anchor::from_bytes(anchor), 10, true).unwrap();
        assert!(page.is_empty() && page.next().is_none());
    }
    // Objects before and after the only one.
    for low in [0, 2, u64::MAX] {
        let other = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, low);
        let page = KeyValue::new(&*container, other).unwrap().list(&Anchor::start(), 10, true).unwrap();
        assert!(page.is_empty() && page.next().is_none());
    }
    let (objects, next) = container.list_objects(&Anchor::start(), 1).unwrap();
    assert_eq!(objects.len(), 1);
    let (objects, next) = next.map_or((Vec::new(), None), |next| container.list_objects(&next, 1).unwrap());
    assert!(objects.is_empty() && next.is_none());
}

#[test]
fn a_run_of_another_copy_is_ignored_reported_and_quarantined() {
    let store = Store::holding("?checkpoint=1099511627776", 10);
    let log = store.log();
    let (before, notes) = (fs::read(&log).unwrap(), store.path().join("flushed"));
    let earlier = fs::read(&notes).unwrap();
    // A history that was replaced by a backup has left a run.
    put_frames(&*store.open_with("?checkpoint=256"), 10..14);
    assert!(!store.files("run.").is_empty());
    fs::write(&log, before).unwrap();
    fs::write(&notes, earlier).unwrap();
    let runs = store.files("run.");
    let kept: Vec<Vec<u8>> = runs.iter().map(|run| fs::read(run).unwrap()).collect();
    runs.iter().for_each(|run| fs::remove_file(run).unwrap());
    let container = store.open();
    put_frames(&*container, 10..11);
    (0..30).for_each(|_| entries(&*container).remove(&key(50)).and_then(|()| container.flush()).unwrap());
    runs.iter().zip(kept).for_each(|(run, bytes)| fs::write(run, bytes).unwrap());
    store.assert_holds(0..11, "without the run");
    let verify = || store.verify(ALL).findings;
    let findings = verify();
    assert!(!findings.is_empty(), "the run is reported");
    assert!(findings.iter().all(|finding| finding.part == Part::Derived), "{findings:?}");
    store.quarantine(&findings);
    assert_eq!(verify(), []);
    store.assert_holds(0..11, "after the repair");
}
