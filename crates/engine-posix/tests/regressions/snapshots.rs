//! Snapshots in the files: their cost, and that checkpoints and merges keep what they need.

use std::{fs, sync::Arc};

use isotach_object::{Container, Epoch, Label, Snapshot};

use crate::{Store, assert_holds, entries, key, put_frames};

fn name(number: u64) -> Label {
    format!("step-{number}").parse().unwrap()
}

fn create(container: &dyn Container, number: u64) -> Epoch {
    container.snapshots().unwrap().create(&name(number)).unwrap()
}

fn open(container: &dyn Container, number: u64) -> Arc<dyn Container> {
    container.snapshots().unwrap().open(&name(number)).unwrap()
}

fn assert_no_run_spans(store: &Store, snapshots: &[Snapshot]) {
    for span in store.spans() {
        for Snapshot { epoch: Epoch(epoch), name } in snapshots {
            assert!(!(span.start < *epoch && *epoch < span.end), "run {span:?} spans {name} at {epoch}");
        }
    }
}

/// Puts and removes until the runs reach `epoch`.
fn go_on_past(store: &Store, container: &dyn Container, epoch: u64) {
    while !store.spans().iter().any(|span| span.end >= epoch) {
        entries(container).put(b"other", &[7; 100]).unwrap();
        container.flush().unwrap();
    }
    entries(container).remove(b"other").unwrap();
    container.flush().unwrap();
}

#[test]
fn a_snapshot_costs_one_frame() {
    let store = Store::new("");
    let container = store.open();
    put_frames(&*container, 0..3);
    let log = store.log();
    let size = || fs::metadata(&log).unwrap().len();
    let (before, files) = (size(), store.files(""));
    let epoch = create(&*container, 1);
    container.flush().unwrap();
    // A header and a trailer. The name must be absent, and is put with an empty value.
    let frame = 48 + (24 + 6) + (24 + 6 + 4) + 8;
    assert_eq!((size() - before, epoch), (frame, Epoch(size())));
    assert_eq!(store.files(""), files, "and no file");
    container.snapshots().unwrap().destroy(&name(1)).unwrap();
    assert_eq!(size(), epoch.0 + 48 + 2 * (24 + 6) + 8);
}

#[test]
fn checkpoints_and_merges_never_lose_a_snapshot() {
    const SNAPSHOTS: u64 = 8;
    const BETWEEN: u64 = 25;
    let store = Store::in_memory("?checkpoint=256");
    let container = store.open();
    for number in 0..SNAPSHOTS {
        put_frames(&*container, number * BETWEEN..(number + 1) * BETWEEN);
        create(&*container, number);
    }
    let snapshots = container.snapshots().unwrap().list().unwrap();
    let last = snapshots.last().unwrap().epoch.0;
    go_on_past(&store, &*container, last + 1);
    assert_no_run_spans(&store, &snapshots);
    let ends: Vec<u64> = store.spans().iter().map(|span| span.end).collect();
    let is_end = |snapshot: &Snapshot| ends.contains(&snapshot.epoch.0);
    assert!(snapshots.iter().all(is_end), "a run ends at each: {ends:?}");
    for number in 0..SNAPSHOTS {
        let past = open(&*store.open(), number);
        assert_holds(&*past, 0..(number + 1) * BETWEEN, &name(number).to_string());
    }
    // The past comes from the runs alone, without the log.
    let past = open(&*container, 3);
    assert_eq!(past.epoch().unwrap(), snapshots[3].epoch);
}

#[test]
fn runs_merge_over_destroyed_snapshots_and_open_ones_stay_readable() {
    let store = Store::in_memory("?checkpoint=256");
    let container = store.open();
    for number in 0..12 {
        put_frames(&*container, number * 5..(number + 1) * 5);
        create(&*container, number);
    }
    let end = container.epoch().unwrap().0;
    go_on_past(&store, &*container, end);
    let before = store.spans().len();
    assert!(before >= 12, "{before} runs");
    let kept = open(&*container, 2);
    let lazy = open(&*container, 3);
    assert_holds(&*kept, 0..15, "before");
    for number in (0..12).filter(|number| *number != 6) {
        container.snapshots().unwrap().destroy(&name(number)).unwrap();
    }
    // Small runs wait for others of their size.
    for round in 0_u64.. {
        put_frames(&*container, 60..80);
        (60..80).for_each(|number| entries(&*container).remove(&key(number)).unwrap());
        let after = store.spans().len();
        if after < before / 2 {
            break;
        }
        assert!(round < 50, "{after} runs of {before}");
    }
    container.flush().unwrap();
    assert_no_run_spans(&store, &container.snapshots().unwrap().list().unwrap());
    assert_holds(&*open(&*store.open(), 6), 0..35, "of the one that is left");
    assert_holds(&*kept, 0..15, "of one that was read before it was destroyed");
    assert_holds(&*lazy, 0..20, "of one that was only open");
    store.assert_holds(0..60, "of the present");
}

#[test]
fn every_epoch_of_the_log_can_be_opened_and_shows_whole_frames() {
    for query in ["", "?checkpoint=256"] {
        let store = Store::in_memory(query);
        let container = store.open();
        let mut epochs = vec![container.epoch().unwrap()];
        for number in 0..20 {
            put_frames(&*container, number..number + 1);
            epochs.push(container.epoch().unwrap());
        }
        for (count, pair) in (0..).zip(epochs.windows(2)) {
            for epoch in [pair[0].0, pair[0].0 + 1, pair[1].0 - 1] {
                let past = container.snapshots().unwrap().open_at(Epoch(epoch)).unwrap();
                assert_holds(&*past, 0..count, &format!("at {epoch}, {query}"));
                assert_eq!(past.epoch().unwrap(), Epoch(epoch));
            }
        }
        assert_holds(&*container.snapshots().unwrap().open_at(Epoch(0)).unwrap(), 0..0, "before everything");
        let later = container.snapshots().unwrap().open_at(Epoch(epochs[20].0 + 1));
        let message = later.unwrap_err().to_string();
        assert!(message.contains(&format!("kept are 0 to {}", epochs[20])), "{message}");
    }
}

#[test]
fn a_destroyed_container_has_no_snapshots() {
    let store = Store::new("");
    let container = store.open();
    put_frames(&*container, 0..3);
    create(&*container, 1);
    let kept = open(&*container, 1);
    store.replace();
    assert_eq!(container.snapshots().unwrap().open(&name(1)).unwrap_err().code(), "not-found");
    assert_eq!(container.snapshots().unwrap().create(&name(2)).unwrap_err().code(), "not-found");
    assert!(store.open().snapshots().unwrap().list().unwrap().is_empty());
    assert_eq!(entries(&*kept).get(&key(0)).unwrap().unwrap(), 0_u64.to_le_bytes(), "its log is still open");
}
