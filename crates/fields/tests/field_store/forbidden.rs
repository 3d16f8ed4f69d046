//! The prohibitions of a configuration: each refuses its operations, names its key, and refuses nothing else.

use std::path::Path;

use isotach_fields::{Action, Config, Error, FieldStore, Forbidden, ListOptions, Result, Spread};
use isotach_mars::{Key, Request};
use isotach_object::RightsChange;

use crate::layouts::{Layout, archive, field, files_below, listed, request, request_like, verify, with};

/// The prohibitions of these switches of a root.
fn switches(text: &str) -> Forbidden {
    let text = format!("spaces: [{{roots: [{{path: /x, {text}}}]}}]");
    Config::parse(&text, Path::new("/etc/fdb.yaml")).unwrap().spaces[0].forbidden.clone()
}

/// A handle on the layout's store under a configuration with these switches.
fn under(layout: &Layout, text: &str) -> FieldStore {
    let mut config = layout.config.clone();
    config.spaces[0].forbidden = switches(text);
    FieldStore::open(&config, &layout.registry).unwrap()
}

#[track_caller]
fn refused<T>(result: Result<T>, action: Action, key: &str) {
    match result.err() {
        Some(Error::Forbidden { action: found, by, .. }) => {
            assert_eq!(found, action);
            assert_eq!(by, format!("`{key}: false` of spaces[0].roots[0] in /etc/fdb.yaml"));
        }
        other => panic!("{action}: {other:?}"),
    }
}

fn one() -> Request {
    Request::from(&field("0", "t"))
}

/// A layout with two datasets, under these switches.
fn filled(text: &str) -> (Layout, FieldStore) {
    let layout = Layout::apart();
    archive(&layout.store(), &[(field("0", "t"), b"0"), (with(&field("0", "t"), "class=rd"), b"rd")]);
    let store = under(&layout, text);
    (layout, store)
}

#[test]
fn a_root_that_forbids_wiping_is_not_wiped_purged_or_moved_from() {
    for (text, key) in [("wipe: false", "wipe"), ("writable: false", "writable")] {
        let (layout, store) = filled(text);
        let target = Layout::memory();
        for doit in [false, true] {
            refused(store.wipe(&request("class=od"), doit), Action::Wipe, key);
            refused(store.purge(&request("class=od"), doit), Action::Wipe, key);
        }
        refused(store.move_to(&target.store(), &request("class=od")), Action::Wipe, key);
        refused(store.remove_snapshot("any"), Action::Wipe, key);
        assert_eq!(listed(&store, "").len(), 2);
        assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"0");
        assert_eq!(store.copy_to(&target.store(), &request("")).unwrap().fields, 2);
        assert_eq!(listed(&layout.store(), "").len(), 2);
    }
    let (_layout, store) = filled("wipe: false");
    archive(&store, &[(field("6", "t"), b"6")]);
    assert_eq!(listed(&store, "").len(), 3, "only wiping is forbidden");
}

#[test]
fn a_root_that_forbids_archiving_is_read_and_takes_nothing() {
    for (text, key) in [("archive: false", "archive"), ("writable: false", "writable")] {
        let (layout, store) = filled(text);
        let new = with(&field("0", "t"), "expver=2");
        for key_of in [&field("6", "t"), &new] {
            refused(store.archive(key_of, b"6"), Action::Archive, key);
            refused(store.transaction().archive(key_of, b"6"), Action::Archive, key);
        }
        let file = layout.folder.path().join("file");
        std::fs::write(&file, b"6").unwrap();
        refused(store.adopt(&field("6", "t"), &file, 0, 1, None), Action::Archive, key);
        let source = Layout::memory();
        archive(&source.store(), &[(field("6", "t"), b"6")]);
        refused(source.store().copy_to(&store, &request("")), Action::Archive, key);
        refused(store.control(&request(""), true, &[Action::List]), Action::Archive, key);
        refused(store.snapshot(&request(""), "now"), Action::Archive, key);
        let change = RightsChange::default();
        refused(store.set_rights(&change), Action::Archive, key);
        refused(store.set_dataset_rights(&request(""), &change), Action::Archive, key);
        store.flush().unwrap();

        assert_eq!(listed(&store, "").len(), 2);
        assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"0");
        assert_eq!(store.stats(&request("")).unwrap().found.len(), 2);
        assert!(verify(&store, false).is_sound());
        assert_eq!(listed(&layout.store(), "").len(), 2);
    }
    let (_layout, store) = filled("archive: false");
    assert_eq!(store.wipe(&request("class=rd"), true).unwrap().datasets.len(), 1, "wiping is allowed");
}

#[test]
fn a_root_that_forbids_listing_is_passed_over_in_every_listing() {
    let (_layout, store) = filled("list: false");
    let all = request("");
    assert!(store.list(&all, ListOptions { duplicates: true }).unwrap().next().is_none());
    assert!(store.axes(&all).unwrap().found.is_empty());
    assert!(store.stats(&all).unwrap().found.is_empty());
    assert!(store.dump(&all).unwrap().found.is_empty());
    let status = &store.status(&request("class=od")).unwrap()[0];
    assert!(status.locks.is_empty() && status.forbidden.contains(Action::List));
    assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"0");
}

#[test]
fn a_root_that_forbids_retrieving_hands_out_no_byte() {
    for (text, key) in [("retrieve: false", "retrieve"), ("visit: false", "visit")] {
        let (layout, store) = filled(text);
        let field = field("0", "t");
        refused(store.retrieve_one(&field), Action::Retrieve, key);
        refused(store.retrieve_shared(&field), Action::Retrieve, key);
        refused(store.retrieve_into(&field, &mut [0; 8]), Action::Retrieve, key);
        refused(store.locate(&field), Action::Retrieve, key);
        refused(store.inspect(&one()).unwrap().next().unwrap(), Action::Retrieve, key);
        let mut both = store.retrieve(&request_like(&field, "step=0/6")).unwrap();
        refused(both.next().unwrap(), Action::Retrieve, key);
        refused(store.copy_to(&Layout::memory().store(), &request("")), Action::Retrieve, key);
        refused(store.move_to(&Layout::memory().store(), &request("class=od")), Action::Retrieve, key);
        let location = layout.store().locate(&field).unwrap().unwrap().location;
        refused(store.read(&location), Action::Retrieve, key);
        assert_eq!(listed(&store, "").len(), if text.starts_with("visit") { 0 } else { 2 });
        archive(&store, &[(with(&field, "step=6"), b"6")]);
    }
}

#[test]
fn unlocking_does_not_lift_what_the_configuration_forbids() {
    let (layout, store) = filled("wipe: false");
    layout.store().control(&request(""), true, &[Action::Wipe]).unwrap();
    store.control(&request(""), false, &Action::ALL).unwrap();
    refused(store.wipe(&request("class=od"), true), Action::Wipe, "wipe");
    assert_eq!(layout.store().wipe(&request("class=od"), true).unwrap().datasets.len(), 1);
}

#[test]
fn a_snapshot_is_under_the_same_prohibitions() {
    let (layout, _) = filled("wipe: true");
    layout.store().snapshot(&request(""), "now").unwrap();
    let past = under(&layout, "retrieve: false").at("now").unwrap();
    refused(past.retrieve_one(&field("0", "t")), Action::Retrieve, "retrieve");
    assert_eq!(listed(&past, "").len(), 2);
    assert!(listed(&under(&layout, "list: false").at("now").unwrap(), "").is_empty());
}

#[test]
fn damage_is_reported_but_not_repaired_where_archiving_is_forbidden() {
    let (layout, store) = filled("archive: false");
    let container = &store.status(&request("class=od")).unwrap()[0].store;
    let folder = layout.folder.path().join("store");
    let mut damaged = 0;
    for entry in files_below(&folder) {
        let path = entry.to_str().unwrap();
        if path.contains(container.label.as_str()) && path.contains("data") {
            let bytes = std::fs::read(&entry).unwrap();
            std::fs::write(&entry, vec![0xff; bytes.len()]).unwrap();
            damaged += 1;
        }
    }
    assert!(damaged > 0);
    let report = verify(&store, true);
    assert!(!report.is_sound());
    assert!(!report.repair(false).unwrap().done);
    refused(report.repair(true), Action::Archive, "archive");
}

/// Two roots of one space, or of two, in memory.
fn two_roots(first: &str, second: &str, groups: [usize; 2]) -> (Layout, Config) {
    let layout = Layout::memory();
    let mut config = layout.config.clone();
    config.spaces.push(config.spaces[0].clone());
    for (at, text) in [first, second].into_iter().enumerate() {
        let space = &mut config.spaces[at];
        let pool = format!("memory:root-{at}").parse().unwrap();
        (space.catalogue, space.store) = (Clone::clone(&pool), pool);
        (space.group, space.forbidden) = (groups[at], switches(text));
    }
    (layout, config)
}

fn roots_of(store: &FieldStore) -> Vec<String> {
    store.status(&request("")).unwrap().iter().map(|status| status.store.pool.to_string()).collect()
}

#[test]
fn a_new_dataset_goes_to_a_root_of_its_space_that_takes_it_and_to_no_other_space() {
    let (layout, config) = two_roots("wipe: true", "wipe: true", [0, 0]);
    let make = |config: &Config| FieldStore::create(config, &layout.registry);
    make(&config).unwrap();
    let mut closed = config.clone();
    closed.spaces[0].forbidden = switches("archive: false");
    archive(&make(&closed).unwrap(), &[(field("0", "t"), b"0")]);
    assert_eq!(roots_of(&make(&config).unwrap()), ["memory:root-1"]);

    closed.spaces[1].group = 1;
    let other = with(&field("0", "t"), "class=rd");
    refused(make(&closed).unwrap().archive(&other, b"rd"), Action::Archive, "archive");
}

#[test]
fn a_dataset_that_is_there_stays_in_its_root_even_if_that_takes_no_more() {
    let (layout, mut config) = two_roots("wipe: true", "wipe: true", [0, 0]);
    let store = FieldStore::create(&config, &layout.registry).unwrap();
    archive(&store, &[(field("0", "t"), b"0")]);
    config.spaces[0].forbidden = switches("archive: false");
    let store = FieldStore::open(&config, &layout.registry).unwrap();
    refused(store.archive(&field("6", "t"), b"6"), Action::Archive, "archive");
    assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"0");
}

#[test]
fn a_root_that_may_not_be_written_to_is_not_made() {
    let (layout, config) = two_roots("archive: false", "wipe: true", [0, 0]);
    let error = FieldStore::create(&config, &layout.registry).unwrap_err();
    assert_eq!(
        error.to_string(),
        "store memory:root-0, which is not there: the configuration forbids archive, by `archive: false` of \
         spaces[0].roots[0] in /etc/fdb.yaml"
    );
    let (layout, config) = two_roots("visit: false, writable: false", "wipe: true", [0, 0]);
    let store = FieldStore::create(&config, &layout.registry).unwrap();
    archive(&store, &[(field("0", "t"), b"0")]);
    assert_eq!(roots_of(&store), ["memory:root-1"], "a root that may not be used at all is not looked at");
}

#[test]
fn datasets_are_spread_over_the_roots_alike_by_every_handle() {
    let (layout, mut config) = two_roots("wipe: true", "wipe: true", [0, 0]);
    config.spaces.iter_mut().for_each(|space| space.spread = Spread::Datasets);
    let keys: Vec<Key> =
        (1..=20).map(|day| with(&field("0", "t"), &format!("date=202401{day:02}"))).collect();
    for (at, key) in keys.iter().enumerate() {
        let store = FieldStore::create(&config, &layout.registry).unwrap();
        archive(&store, &[(key.clone(), b"0")]);
        archive(&FieldStore::open(&config, &layout.registry).unwrap(), &[(with(key, "step=6"), b"6")]);
        assert_eq!(roots_of(&store).len(), at + 1);
    }
    let roots = roots_of(&FieldStore::open(&config, &layout.registry).unwrap());
    let first = roots.iter().filter(|root| *root == "memory:root-0").count();
    assert!((4..=16).contains(&first), "{first} of 20");
}
