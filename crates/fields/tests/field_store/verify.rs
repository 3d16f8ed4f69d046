//! Verifying and repairing: each kind of damage is reported with the field's key, and repaired if that loses nothing.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use isotach_engine_posix::Posix;
use isotach_fields::{FieldStore, Level, ListOptions, Repair, Repaired, VerifyOptions, VerifyReport, crc32c};
use isotach_object::{Anchor, Array, Container, Engine, KeyValue, ObjectClass, ObjectId, ObjectType, Update};

use crate::layouts::{Layout, archive, bytes_of, everywhere, field, listed, named, request, request_like};

const ALL: VerifyOptions = VerifyOptions { data: true, threads: 2 };
const WITHOUT: VerifyOptions = VerifyOptions { data: false, threads: 2 };

fn verify(store: &FieldStore, options: VerifyOptions) -> VerifyReport {
    store.verify(&request(""), options, &|_| ()).unwrap()
}

/// The damage: level, step and problem.
fn told(report: &VerifyReport) -> Vec<(Level, String, String)> {
    let damage = report.parts.iter().flat_map(|part| &part.damage);
    damage
        .map(|damage| (damage.level, damage.key.get("step").unwrap_or("-").to_owned(), damage.what.clone()))
        .collect()
}

/// Asserts the only damage.
#[track_caller]
fn only_damage(report: &VerifyReport, level: Level, what: &str) {
    let told = told(report);
    assert!(told.len() == 1 && told[0].0 == level && told[0].2.contains(what), "{told:?}");
}

/// Adopts the field of step 18 from a file, whose path is returned.
fn adopt(layout: &Layout, store: &FieldStore) -> PathBuf {
    let file = layout.folder.path().join("adopted");
    fs::write(&file, b"pad-adopted").unwrap();
    store.adopt(&field("18", "t"), &file, 4, 7, None).unwrap();
    store.flush().unwrap();
    file
}

/// The container of the bytes of the only dataset.
fn store_container(layout: &Layout, store: &FieldStore) -> Arc<dyn Container> {
    layout.container(&store.status(&request("")).unwrap()[0].store)
}

fn catalogue(layout: &Layout, store: &FieldStore) -> Arc<dyn Container> {
    layout.container(&store.status(&request("")).unwrap()[0].catalogue)
}

/// The index of the only collocation, its history, and the axis of steps.
fn objects(store: &FieldStore) -> [ObjectId; 3] {
    let dump = store.dump(&request("")).unwrap().found.remove(0).collocations.remove(0);
    let steps = dump.axes.iter().find(|(name, ..)| name == "step").unwrap().1;
    [dump.index, dump.history, steps]
}

/// Three steps, of which one was replaced.
fn with_three_steps(layout: &Layout) -> FieldStore {
    let store = layout.store();
    archive(&store, &[(field("0", "t"), b"old"), (field("6", "t"), b"six"), (field("12", "t"), b"twelve")]);
    archive(&store, &[(field("0", "t"), b"new")]);
    store
}

#[test]
fn nothing_is_damaged_in_a_store_that_is_whole_and_everything_is_counted() {
    for (layout, store) in everywhere(with_three_steps) {
        adopt(&layout, &store);
        for options in [ALL, WITHOUT] {
            let report = verify(&store, options);
            assert!(report.is_sound(), "{:?}", told(&report));
            let dataset = &report.parts[1];
            assert_eq!((report.parts.len(), dataset.fields, dataset.replaced_fields), (2, 4, 1));
        }
        let some = store.verify(&request("step=6/12"), ALL, &|_| ()).unwrap();
        assert_eq!((some.parts[1].fields, some.parts[1].replaced_fields), (2, 0));
    }
}

/// The note in a quarantine.
fn note_in(place: &str) -> String {
    if let Some(rest) = place.strip_prefix("entry ") {
        return note_on_daos(rest);
    }
    let Some(rest) = place.strip_prefix("object ") else {
        return fs::read_to_string(Path::new(place).join("note.txt")).unwrap();
    };
    let (object, rest) = rest.split_once(" in namespace ").unwrap();
    let (namespace, pool) = rest.split_once(" of Ceph pool ").unwrap();
    let read =
        Command::new("rados").args(["-p", pool, "-N", namespace, "get", object, "-"]).output().unwrap();
    assert!(read.status.success(), "{read:?}");
    String::from_utf8(read.stdout).unwrap()
}

/// A note of the engine on DAOS, read from the files of our libdaos.
fn note_on_daos(place: &str) -> String {
    let (key, rest) = place.split_once(" of the map ").unwrap();
    let (object, rest) = rest.split_once(" in container ").unwrap();
    let (label, pool) = rest.split_once(" in pool daos:").unwrap();
    let root = env::var("ISOTACH_DAOS_ROOT").unwrap();
    let folder = root.split_once('?').map_or(root.as_str(), |(folder, _)| folder);
    let pool = Posix.open_pool(&format!("{folder}/{pool}").parse().unwrap()).unwrap();
    let container = pool.open_container(&label.parse().unwrap()).unwrap();
    let map = KeyValue::new(&*container, object.parse().unwrap()).unwrap();
    String::from_utf8(map.get(key.trim_matches('"').as_bytes()).unwrap().unwrap()).unwrap()
}

#[test]
fn wrong_entries_and_missing_arrays_are_reported_and_taken_out() {
    for (layout, store) in everywhere(with_three_steps) {
        let [index, history, _] = objects(&store);
        let container = catalogue(&layout, &store);
        let index = KeyValue::new(&*container, index).unwrap();
        index.put(b"6::500:130", b"?").unwrap();
        KeyValue::new(&*container, history).unwrap().put(b"no id", b"?").unwrap();
        container.flush().unwrap();
        let location = store.locate(&field("12", "t")).unwrap().unwrap().location;
        let bytes = store_container(&layout, &store);
        Array::new(&*bytes, location.object().unwrap()).unwrap().set_size(4).unwrap();
        bytes.flush().unwrap();

        let report = verify(&store, WITHOUT);
        let found = told(&report);
        assert_eq!(found.len(), 3, "{found:?}");
        let has = |level, step: &str, what: &str| {
            found.iter().any(|(l, s, w)| *l == level && s == step && w.contains(what))
        };
        assert!(has(Level::Field, "6", "cannot be read"), "{found:?}");
        assert!(has(Level::ReplacedField, "-", "cannot be read"), "{found:?}");
        assert!(has(Level::Field, "12", "4 bytes are there instead of 6"), "{found:?}");

        let plan = report.repair(false).unwrap();
        let is_taken_out = |repaired: &Repaired| repaired.repair == Repair::TakenOut;
        assert!(plan.repaired.iter().all(|one| is_taken_out(one) && one.quarantine.is_none()));
        assert_eq!(index.get(b"6::500:130").unwrap().unwrap(), b"?", "a plan changes nothing");
        if layout.name.starts_with("memory") {
            let done = report.repair(true).unwrap();
            let is_left = |repaired: &Repaired| repaired.repair == Repair::Left && repaired.why.is_some();
            assert!(done.repaired.iter().all(is_left), "{done:?}");
            continue;
        }
        let done = report.repair(true).unwrap();
        assert!(done.repaired.iter().all(is_taken_out), "{done:?}");
        let note = note_in(done.repaired[0].quarantine.as_ref().unwrap());
        assert!(note.contains("step=12") && note.contains("key 363a3a3530303a313330 value 3f"), "{note}");
        assert_eq!(bytes_of(&layout.store(), &request_like(&field("0", "t"), "step=0/6/12")), [b"new"]);
        let all = layout.store().list(&request(""), ListOptions { duplicates: true }).unwrap();
        all.for_each(|listed| drop(listed.unwrap()));
        archive(&store, &[(field("6", "t"), b"again")]);
        assert_eq!(listed(&store, "").len(), 2);
        let after = verify(&store, ALL);
        // What the entries were replaced by is gone; that it was there is still told.
        assert!(told(&after).iter().all(|(level, ..)| *level == Level::ReplacedField), "{after:?}");
    }
}

#[test]
fn bytes_that_are_not_those_of_the_entry_are_found_when_they_are_read() {
    for (layout, store) in everywhere(with_three_steps) {
        let file = adopt(&layout, &store);
        let mut location = store.locate(&field("12", "t")).unwrap().unwrap().location;
        location.checksum = crc32c(b"others");
        store.index(&field("24", "t"), &location).unwrap();
        store.flush().unwrap();
        fs::write(&file, b"pad-adapted").unwrap();
        assert!(verify(&store, WITHOUT).is_sound());
        let report = verify(&store, ALL);
        let steps: Vec<_> = told(&report).into_iter().map(|(level, step, _)| (level, step)).collect();
        assert!(steps.contains(&(Level::Field, "18".to_owned())), "{steps:?}");
        assert!(steps.contains(&(Level::Field, "24".to_owned())), "{steps:?}");
        assert_eq!(steps.len(), 2, "{steps:?}");
        fs::remove_file(&file).unwrap();
        only_damage(&verify(&store, WITHOUT), Level::Field, "cannot be read");
    }
}

#[test]
fn a_value_that_an_axis_lacks_hides_its_fields_until_it_is_put_back() {
    let layout = Layout::posix();
    let store = with_three_steps(&layout);
    let [.., steps] = objects(&store);
    let container = catalogue(&layout, &store);
    KeyValue::new(&*container, steps).unwrap().remove(b"6").unwrap();
    container.flush().unwrap();
    let six = request_like(&field("6", "t"), "");
    assert!(bytes_of(&store, &six).is_empty());
    let report = verify(&store, WITHOUT);
    only_damage(&report, Level::Collocation, "axis step lacks \"6\"");
    assert_eq!(report.repair(true).unwrap().repaired[0].repair, Repair::PutBack);
    assert_eq!(bytes_of(&store, &six), [b"six"]);
    assert!(verify(&store, ALL).is_sound());
}

#[test]
fn a_repair_reports_a_lost_dataset_and_leaves_it() {
    let layout = Layout::posix();
    let store = with_three_steps(&layout);
    let at = store.status(&request("")).unwrap().remove(0).catalogue;
    layout.registry.open_pool(&at.pool).unwrap().destroy_container(&at.label).unwrap();
    let report = verify(&layout.store(), ALL);
    only_damage(&report, Level::Dataset, "it is lost");
    assert_eq!(report.repair(true).unwrap().repaired[0].repair, Repair::Left);
}

#[test]
fn an_entry_that_changed_since_it_was_looked_at_is_left() {
    let layout = Layout::posix();
    let store = with_three_steps(&layout);
    let [index, ..] = objects(&store);
    let container = catalogue(&layout, &store);
    KeyValue::new(&*container, index).unwrap().put(b"6::500:130", b"?").unwrap();
    container.flush().unwrap();
    let report = verify(&store, WITHOUT);
    archive(&store, &[(field("6", "t"), b"newer")]);
    assert_eq!(report.repair(true).unwrap().repaired[0].repair, Repair::Left);
    assert_eq!(bytes_of(&store, &request_like(&field("6", "t"), "")), [b"newer"]);
}

#[test]
fn a_dataset_created_during_its_repair_stays_and_the_lost_one_is_reported() {
    let layout = Layout::posix();
    let store = with_three_steps(&layout);
    let pool = layout.registry.open_pool(&store.spaces()[0].catalogue).unwrap();
    let root = pool.open_container(&"root".parse().unwrap()).unwrap();
    let datasets = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 0);
    let list = KeyValue::new(&*root, datasets).unwrap();
    let page = list.list(&Anchor::start(), 10, false).unwrap();
    page.keys().for_each(|key| list.remove(key).unwrap());
    root.flush().unwrap();

    let report = verify(&store, WITHOUT);
    assert!(told(&report)[0].2.contains("the list of datasets does not name this one"), "{report:?}");
    archive(&layout.store(), &[(field("6", "t"), b"of another life")]);
    let done = report.repair(true).unwrap().repaired.remove(0);
    assert_eq!(done.repair, Repair::Left);
    assert_eq!(done.why.as_deref(), Some("it has changed since it was looked at"));
    assert_eq!(bytes_of(&layout.store(), &request_like(&field("6", "t"), "")), [b"of another life"]);
    let told = told(&verify(&store, WITHOUT));
    let what = "it has fields of a dataset that is listed with";
    assert!(told.len() == 1 && told[0].2.contains(what), "{told:?}");
}

#[test]
fn a_replaced_field_whose_array_is_gone_was_half_purged_and_is_no_damage() {
    for (layout, store) in everywhere(with_three_steps) {
        let all = store.list(&request("step=0"), ListOptions { duplicates: true }).unwrap();
        let replaced = all.map(Result::unwrap).find(|listed| listed.is_replaced()).unwrap();
        let old = replaced.location().object().unwrap();
        let bytes = store_container(&layout, &store);
        bytes.update(&[Update::Destroy { object: old }]).unwrap();
        bytes.flush().unwrap();
        for options in [ALL, WITHOUT] {
            let report = verify(&store, options);
            assert!(report.is_sound(), "{:?}", told(&report));
        }
        assert_eq!(store.purge(&request(""), true).unwrap().found[0].replaced_fields, 1);
        assert_eq!(verify(&store, ALL).parts[1].replaced_fields, 0);
        assert_eq!(bytes_of(&store, &request_like(&field("0", "t"), "step=0/6")), [&b"new"[..], b"six"]);
    }
}

#[test]
fn verifying_beside_writers_wipers_and_purgers_finds_nothing() {
    for layout in named([Layout::posix(), Layout::apart()]) {
        with_three_steps(&layout);
        let purged = AtomicU64::new(0);
        std::thread::scope(|scope| {
            let (layout, purged) = (&layout, &purged);
            let writing = scope.spawn(move || {
                let store = layout.store();
                // The system may let the purger wait for long.
                for round in
                    (0..10_000).take_while(|round| *round < 60 || purged.load(Ordering::Relaxed) == 0)
                {
                    for step in ["0", "6", "12"] {
                        archive(&store, &[(field(step, "t"), format!("{round}").as_bytes())]);
                    }
                    if round % 10 == 9 {
                        store.wipe(&request("type=fc"), true).unwrap();
                    }
                }
            });
            let purging = scope.spawn(move || {
                let store = layout.store();
                while !writing.is_finished() {
                    let answer = store.purge(&request(""), true).unwrap();
                    assert!(answer.unusable.is_empty(), "{:?}", answer.unusable);
                    let fields = answer.found.iter().map(|dataset| dataset.replaced_fields).sum();
                    purged.fetch_add(fields, Ordering::Relaxed);
                }
            });
            let store = layout.store();
            while !purging.is_finished() {
                let report = verify(&store, ALL);
                assert!(report.is_sound(), "{:?}", told(&report));
            }
        });
    }
}

#[test]
fn arrays_that_no_entry_names_are_counted_and_are_no_damage() {
    for (layout, store) in everywhere(with_three_steps) {
        let unnamed = |store: &FieldStore| {
            let report = verify(store, ALL);
            assert!(report.is_sound(), "{:?}", told(&report));
            report.parts[1].unnamed_fields.as_ref().map(|unnamed| (unnamed.fields, unnamed.bytes))
        };
        assert_eq!(unnamed(&store), None);
        // As a writer leaves them that was killed before its flush.
        let container = store_container(&layout, &store);
        for bytes in [&b"six"[..], b"twelve"] {
            let id = container.allocate_ids(1).unwrap().start;
            let array = ObjectId::new(ObjectType::Array, ObjectClass::S1, 7, id);
            container.write_new(array, bytes).unwrap();
        }
        container.flush().unwrap();
        assert_eq!(unnamed(&store), Some((2, 9)));
        let repaired = verify(&store, ALL).repair(true).unwrap();
        assert!(repaired.repaired.is_empty(), "{repaired:?}");
        store.purge(&request(""), true).unwrap();
        assert_eq!(unnamed(&store), Some((2, 9)), "only a wipe frees them");
        let one = store.verify(&request("step=6"), ALL, &|_| ()).unwrap();
        assert_eq!(one.parts[1].unnamed_fields.as_ref().map(|unnamed| unnamed.fields), Some(2));
    }
}
