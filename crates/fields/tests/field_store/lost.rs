//! Datasets whose containers were destroyed by other means, or damaged.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use isotach_fields::{Error, FieldStore, ListOptions};
use isotach_object::{KeyValue, PoolUri};

use crate::layouts::{Layout, SCHEMA, archive, everywhere, field, listed, named, request, with};

/// Two datasets, of which `od` has lost its container in the pool that `of` selects.
fn with_a_lost_one(layout: &Layout, of: impl Fn(&FieldStore) -> PoolUri) -> FieldStore {
    let store = layout.store();
    archive(&store, &[(field("0", "t"), b"od"), (with(&field("0", "t"), "class=rd"), b"rd")]);
    let label = store.status(&request("class=od")).unwrap()[0].catalogue.label.clone();
    layout.registry.open_pool(&of(&store)).unwrap().destroy_container(&label).unwrap();
    layout.store()
}

fn catalogue(store: &FieldStore) -> PoolUri {
    store.spaces()[0].catalogue.clone()
}

fn is_lost_od(error: &Error) -> bool {
    matches!(error, Error::LostDataset { dataset, .. } if dataset.contains("class=od"))
}

fn expect_all_others(store: &FieldStore) {
    let found: Vec<_> = store.list(&request(""), ListOptions::default()).unwrap().collect();
    assert_eq!(found.len(), 2);
    assert!(found[0].as_ref().unwrap().key().to_string().contains("class=rd"));
    assert!(is_lost_od(found[1].as_ref().unwrap_err()), "{:?}", found[1]);
    assert_eq!(store.status(&request("")).unwrap().len(), 2);
    let (stats, dump) = (store.stats(&request("")).unwrap(), store.dump(&request("")).unwrap());
    let axes = store.axes(&request("")).unwrap();
    assert_eq!((stats.found.len(), dump.found.len()), (1, 1));
    assert_eq!(axes.found[0].values, ["rd"]);
    for unusable in [stats.unusable, dump.unusable, axes.unusable] {
        assert!(unusable.len() == 1 && is_lost_od(&unusable[0]), "{unusable:?}");
    }
    assert_eq!(store.retrieve_one(&with(&field("0", "t"), "class=rd")).unwrap().unwrap(), b"rd");
    assert!(is_lost_od(&store.retrieve_one(&field("0", "t")).unwrap_err()));
    assert!(is_lost_od(&store.archive(&field("6", "t"), b"six").unwrap_err()));
}

fn expect_a_wipe_mends(store: &FieldStore) {
    assert!(is_lost_od(&store.wipe(&request("class=od,type=fc"), true).unwrap_err()));
    let report = store.wipe(&request("class=od"), true).unwrap();
    assert_eq!((report.datasets.len(), report.counts().fields), (1, 0));
    assert_eq!(listed(store, "").len(), 1);
    assert!(store.stats(&request("")).unwrap().unusable.is_empty());
    archive(store, &[(field("6", "t"), b"again")]);
    assert_eq!(listed(store, "").len(), 2);
}

#[test]
fn a_dataset_without_its_container_is_reported_and_hides_no_other() {
    for (_layout, store) in everywhere(|layout| with_a_lost_one(layout, catalogue)) {
        expect_all_others(&store);
        expect_a_wipe_mends(&store);
    }
}

#[test]
fn a_dataset_without_its_container_of_the_store_pool_is_lost_too() {
    for layout in named(Layout::all()) {
        if layout.name.contains("and memory") || layout.name.contains("apart") {
            let store = with_a_lost_one(&layout, |store| store.spaces()[0].store.clone());
            expect_all_others(&store);
            expect_a_wipe_mends(&store);
        }
    }
}

#[test]
fn a_lost_dataset_of_another_schema_blocks_nothing() {
    let layout = Layout::memory();
    with_a_lost_one(&layout, catalogue);
    let config = layout.config.clone().with_schema(other_schema());
    let store = FieldStore::open(&config, &layout.registry).unwrap();
    assert_eq!(listed_and_lost(&store), (1, 1));
    store.wipe(&request("class=od"), true).unwrap();
    assert_eq!(listed_and_lost(&store), (1, 0));
    // Now the only dataset of its schema is lost.
    let label = store.status(&request("class=rd")).unwrap()[0].catalogue.label.clone();
    layout.registry.open_pool(&catalogue(&store)).unwrap().destroy_container(&label).unwrap();
    let store = FieldStore::open(&config, &layout.registry).unwrap();
    assert_eq!(listed_and_lost(&store), (0, 1));
    store.wipe(&request("class=rd"), true).unwrap();
    assert_eq!(listed_and_lost(&store), (0, 0));
}

/// The schema of tests with one more rule, which changes nothing for their fields.
fn other_schema() -> String {
    format!("{SCHEMA}\n[ stream, class, kind [ type [ step ]]]")
}

fn listed_and_lost(store: &FieldStore) -> (usize, usize) {
    let all = store.list(&request(""), ListOptions::default()).unwrap();
    let (found, lost): (Vec<_>, Vec<_>) = all.partition(Result::is_ok);
    (found.len(), lost.len())
}

#[test]
fn stats_dump_and_axes_pass_over_datasets_that_are_wiped_beside_them() {
    for layout in named([Layout::memory(), Layout::posix()]) {
        let (store, other) = (layout.store(), layout.store());
        archive(&store, &[(with(&field("0", "t"), "class=rd"), b"stays")]);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..40 {
                    archive(&other, &[(field("0", "t"), b"comes and goes")]);
                    other.wipe(&request("class=od"), true).unwrap();
                }
                over.store(true, Ordering::Release);
            });
            while !over.load(Ordering::Acquire) {
                let (stats, dump) = (store.stats(&request("")).unwrap(), store.dump(&request("")).unwrap());
                let axes = store.axes(&request("")).unwrap();
                assert!(stats.unusable.is_empty() && !stats.found.is_empty(), "{stats:?}");
                assert!(dump.unusable.is_empty() && !dump.found.is_empty(), "{dump:?}");
                assert!(axes.unusable.is_empty() && !axes.found.is_empty(), "{axes:?}");
                assert!(!listed(&store, "").is_empty());
            }
        });
    }
}

#[test]
fn damage_that_only_shows_in_reading_a_dataset_hides_no_other() {
    let layout = Layout::memory();
    let store = layout.store();
    archive(&store, &[(field("0", "t"), b"od"), (with(&field("0", "t"), "class=rd"), b"rd")]);
    let dump = store.dump(&request("class=od")).unwrap().found.remove(0);
    let container = layout.container(&dump.status.catalogue);
    KeyValue::new(&*container, dump.collocations[0].axes[0].1).unwrap().put(b"\xff", b"").unwrap();
    container.flush().unwrap();
    assert_eq!(listed_and_lost(&store), (1, 1));
    let (stats, dump) = (store.stats(&request("")).unwrap(), store.dump(&request("")).unwrap());
    let axes = store.axes(&request("")).unwrap();
    assert_eq!((stats.found[0].key.get("class"), stats.found.len()), (Some("rd"), 1));
    assert_eq!((dump.found[0].status.key.get("class"), dump.found.len()), (Some("rd"), 1));
    assert_eq!(axes.found[0].values, ["rd"]);
    for unusable in [stats.unusable, dump.unusable, axes.unusable] {
        let [Error::DamagedDataset { dataset, .. }] = &unusable[..] else { panic!("{unusable:?}") };
        assert!(dataset.contains("class=od"), "{dataset}");
    }
}

#[test]
fn a_damaged_dataset_of_another_schema_blocks_nothing() {
    let layout = Layout::posix();
    let store = layout.store();
    let config = layout.config.clone().with_schema(other_schema());
    let other = FieldStore::open(&config, &layout.registry).unwrap();
    archive(&other, &[(field("0", "t"), b"od")]);
    let label = store.status(&request("class=od")).unwrap()[0].catalogue.label.clone();
    let log = layout.folder.path().join(format!("all/containers/{label}/log.0000000000000001"));
    std::fs::write(log, b"no log").unwrap();
    // A handle that has not met the other schema before.
    let store = layout.store();
    archive(&store, &[(with(&field("0", "t"), "class=rd"), b"rd")]);
    assert_eq!(listed(&store, "class=rd").len(), 1);
    assert_eq!(store.retrieve_one(&with(&field("0", "t"), "class=rd")).unwrap().unwrap(), b"rd");
    assert_eq!(listed_and_lost(&store), (1, 1));
    let report = store.wipe(&request("class=od"), true).unwrap();
    assert!(report.datasets[0].uncounted.as_ref().unwrap().contains("is damaged"), "{report:?}");
    assert_eq!(listed_and_lost(&store), (1, 0));
}
