//! Snapshots of a store: what they show, what they survive, and what they refuse.

use std::sync::{Arc, Mutex};

use isotach_fields::{Action, FieldStore, ListOptions, Result, VerifyOptions};
use isotach_object::{Pool, Registry, memory::Memory};

use crate::{
    faulty::{Moment, ScriptedStore, dies},
    layouts::{Layout, archive, field, listed, named, request, request_like, where_snapshots_are, with},
};

/// Two datasets, the first with two collocations.
fn filled(layout: &Layout) -> FieldStore {
    let store = layout.store();
    archive(&store, &[(field("0", "t"), b"old"), (field("6", "t"), b"six")]);
    archive(&store, &[(with(&field("0", "t"), "type=an"), b"analysis")]);
    archive(&store, &[(with(&field("0", "t"), "class=rd"), b"rd")]);
    store
}

/// Every field of a request, by its bytes.
fn bytes(store: &FieldStore, text: &str) -> Vec<Vec<u8>> {
    let listing = store.list(&request(text), ListOptions::default()).unwrap();
    let mut all: Vec<_> =
        listing.map(|field| store.read(field.unwrap().location()).unwrap().into_vec()).collect();
    all.sort();
    all
}

#[test]
fn a_snapshot_shows_its_datasets_as_they_were_whatever_is_archived_later() {
    for (layout, store) in where_snapshots_are(filled) {
        let made = store.snapshot(&request("class=od"), "before").unwrap();
        assert!(made.is_complete);
        assert_eq!((made.datasets.len(), made.request.as_str()), (1, "class=od"));
        archive(&store, &[(field("0", "t"), b"new"), (field("12", "t"), b"twelve")]);
        archive(&store, &[(with(&field("0", "t"), "class=od,expver=9"), b"a dataset made later")]);
        for store in [&store, &layout.store()] {
            let past = store.at("before").unwrap();
            assert_eq!(bytes(&past, ""), [&b"analysis"[..], b"old", b"six"]);
            assert_eq!(past.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"old");
            assert!(past.retrieve_one(&field("12", "t")).unwrap().is_none());
            assert!(past.retrieve_one(&with(&field("0", "t"), "class=rd")).unwrap().is_none());
            let steps = past.axes(&request("class=od,type=fc")).unwrap().found;
            let steps = steps.iter().find(|axis| axis.name == "step").unwrap();
            assert_eq!(steps.values, ["0", "6"]);
            let stats = past.stats(&request("")).unwrap().found;
            assert_eq!((stats.len(), stats[0].counts.fields, stats[0].counts.replaced_fields), (1, 3, 0));
            assert_eq!(past.dump(&request("")).unwrap().found[0].collocations.len(), 2);
            let steps = request_like(&field("0", "t"), "step=0/6/12");
            assert_eq!(past.inspect(&steps).unwrap().count(), 2);
            assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"new");
        }
        assert_eq!(store.snapshots().unwrap(), [made]);
    }
}

#[test]
fn a_snapshot_is_refused_first_where_an_engine_has_none() {
    for layout in named(Layout::all().into_iter().filter(|layout| !layout.has_snapshots())) {
        let store = filled(&layout);
        let error = store.snapshot(&request(""), "now").unwrap_err();
        assert_eq!(error.code(), "unsupported", "{error}");
        assert!(store.snapshots().unwrap().is_empty() && store.snapshot_only_datasets().unwrap().is_empty());
        for error in [store.at("now").unwrap_err(), store.remove_snapshot("now").unwrap_err()] {
            assert_eq!(error.code(), "not-found", "{error}");
        }
        assert_eq!(bytes(&store, "").len(), 4);
        let (told, other) = (Mutex::new(Vec::new()), layout.store());
        other
            .purge_with_progress(&request(""), true, &|done, total| told.lock().unwrap().push((done, total)))
            .unwrap();
        assert_eq!(*told.lock().unwrap(), [(0, 2), (1, 2)]);
    }
}

#[test]
fn a_snapshot_outlives_a_wipe_and_its_removal_frees_the_space() {
    for (layout, store) in where_snapshots_are(filled) {
        let open = layout.containers();
        store.snapshot(&request(""), "all").unwrap();
        store.snapshot(&request("class=od"), "od").unwrap();
        store.wipe(&request("class=od,type=an"), true).unwrap();
        assert_eq!(bytes(&store.at("od").unwrap(), ""), [&b"analysis"[..], b"old", b"six"]);
        let report = store.wipe(&request("class=od"), true).unwrap();
        let mut kept_by = report.datasets[0].kept_by.clone();
        kept_by.sort();
        assert_eq!(kept_by, ["all", "od"]);
        assert_eq!(listed(&store, "").len(), 1);
        // Neither a sweep nor a dataset of the same key takes it away.
        archive(&store, &[(field("0", "t"), b"another life")]);
        store.wipe(&request("class=rd"), true).unwrap();
        for name in ["od", "all"] {
            let past = layout.store().at(name).unwrap();
            assert_eq!(past.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"old", "{name}");
            assert_eq!(past.retrieve_one(&with(&field("0", "t"), "type=an")).unwrap().unwrap(), b"analysis");
        }
        store.remove_snapshot("od").unwrap();
        assert_eq!(bytes(&store.at("all").unwrap(), "").len(), 4);
        assert_eq!(store.at("od").unwrap_err().code(), "not-found");
        store.remove_snapshot("all").unwrap();
        assert_eq!(store.remove_snapshot("all").unwrap_err().code(), "not-found");
        assert!(store.snapshots().unwrap().is_empty());
        assert_eq!(bytes(&store, ""), [b"another life"]);
        // One dataset of two is left; pools that are one are counted twice.
        assert_eq!(layout.containers(), open - 2);
    }
}

#[test]
fn a_snapshot_name_is_unique_and_a_snapshot_of_nothing_is_refused() {
    for (_layout, store) in where_snapshots_are(filled) {
        let everything = request("");
        store.snapshot(&request("class=rd"), "one").unwrap();
        assert_eq!(store.snapshot(&everything, "one").unwrap_err().code(), "already-exists");
        assert_eq!(bytes(&store.at("one").unwrap(), ""), [b"rd"], "it is as it was");
        assert_eq!(store.snapshot(&request("class=xx"), "none").unwrap_err().code(), "invalid-input");
        for name in ["", "a/b", "..", "a@b", &"x".repeat(128)] {
            assert_eq!(store.snapshot(&everything, name).unwrap_err().code(), "invalid-input", "{name:?}");
            assert_eq!(store.at(name).unwrap_err().code(), "invalid-input", "{name:?}");
        }
        store.snapshot(&everything, "two").unwrap();
        let names: Vec<_> =
            store.snapshots().unwrap().into_iter().map(|kept| kept.name.to_string()).collect();
        assert_eq!(names, ["one", "two"]);
        store.remove_snapshot("one").unwrap();
        store.snapshot(&everything, "one").unwrap();
        assert_eq!(bytes(&store.at("one").unwrap(), "").len(), 4);
    }
}

#[test]
fn a_snapshot_handle_changes_nothing() {
    for (_layout, store) in where_snapshots_are(filled) {
        store.snapshot(&request(""), "before").unwrap();
        let past = store.at("before").unwrap();
        let everything = request("class=od");
        let read_only = |result: Result<()>| assert_eq!(result.unwrap_err().code(), "read-only");
        read_only(past.archive(&field("0", "t"), b"new"));
        read_only(past.control(&everything, true, &[Action::Wipe]).map(drop));
        read_only(past.snapshot(&everything, "more").map(drop));
        read_only(past.remove_snapshot("before"));
        for doit in [false, true] {
            read_only(past.wipe(&everything, doit).map(drop));
            read_only(past.purge(&everything, doit).map(drop));
            let report = past.verify(&everything, VerifyOptions::default(), &|_| ()).unwrap();
            read_only(report.repair(doit).map(drop));
        }
        past.flush().unwrap();
        assert_eq!(listed(&store, "").len(), 4);
        assert_eq!(past.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"old");
        // Locks are of today.
        store.control(&everything, true, &[Action::Retrieve]).unwrap();
        assert_eq!(past.retrieve_one(&field("0", "t")).unwrap_err().code(), "locked");
    }
}

#[test]
fn a_reader_of_a_removed_snapshot_gets_not_found() {
    for (_layout, store) in where_snapshots_are(filled) {
        store.snapshot(&request(""), "before").unwrap();
        let past = store.at("before").unwrap();
        assert_eq!(listed(&past, "").len(), 4);
        store.remove_snapshot("before").unwrap();
        assert_eq!(past.list(&request(""), ListOptions::default()).unwrap_err().code(), "not-found");
        assert_eq!(past.retrieve_one(&field("0", "t")).unwrap_err().code(), "not-found");
    }
}

#[test]
fn every_field_of_a_snapshot_can_be_read_though_others_archive_and_wipe_meanwhile() {
    for (layout, store) in where_snapshots_are(filled) {
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let store = layout.store();
                for round in 0..40 {
                    let fields = ["0", "6", "12"].map(|step| (field(step, "t"), round.to_string()));
                    for (key, value) in &fields {
                        // A wipe may take what was archived since the last flush.
                        let _ = store.archive(key, value.as_bytes());
                    }
                    let _ = store.flush();
                }
            });
            let wiper = scope.spawn(|| {
                let store = layout.store();
                for _ in 0..15 {
                    store.wipe(&request("class=od,type=fc"), true).unwrap();
                }
            });
            for round in 0..8 {
                let name = format!("round-{round}");
                store.snapshot(&request(""), &name).unwrap();
                let past = store.at(&name).unwrap();
                assert_eq!(bytes(&past, ""), bytes(&past, ""), "{name}");
            }
            writer.join().unwrap();
            wiper.join().unwrap();
        });
        for round in 0..8 {
            let past = layout.store().at(&format!("round-{round}")).unwrap();
            assert!(bytes(&past, "").contains(&b"rd".to_vec()));
        }
    }
}

/// A store in two pools, two handles on it, and its engine.
fn apart() -> (ScriptedStore, FieldStore, Memory) {
    let memory = Memory::new();
    let [store, other] = [(); 2].map(|()| ScriptedStore::split(&memory, "memory:catalogue", "memory:store"));
    archive(&store, &[(field("0", "t"), b"zero"), (with(&field("0", "t"), "type=an"), b"analysis")]);
    (store, other.store, memory)
}

/// Acts before a container's snapshot: the catalogue's, or after that the store's.
fn before_snapshot(store: &ScriptedStore, is_late: bool, act: impl FnOnce() + Send + 'static) {
    store.script.before_nth(usize::from(is_late), Moment::Snapshot, "od", act);
}

#[test]
fn what_is_wiped_between_the_catalogue_and_the_store_is_not_in_the_snapshot() {
    let (store, other, _) = apart();
    before_snapshot(&store, true, move || drop(other.wipe(&request("class=od,type=fc"), true).unwrap()));
    store.snapshot(&request(""), "now").unwrap();
    assert_eq!(bytes(&store.at("now").unwrap(), ""), [b"analysis"]);
}

#[test]
fn what_is_archived_between_the_catalogue_and_the_store_hides_nothing() {
    let (store, other, _) = apart();
    before_snapshot(&store, true, move || {
        archive(&other, &[(field("0", "t"), b"new"), (field("6", "t"), b"six")]);
    });
    store.snapshot(&request(""), "now").unwrap();
    let past = store.at("now").unwrap();
    let zero = past.retrieve_one(&field("0", "t")).unwrap().unwrap();
    assert!(zero == b"zero" || zero == b"new", "{zero:?}");
    assert!(bytes(&past, "").len() >= 2);
}

#[test]
fn a_purge_between_the_two_container_snapshots_takes_nothing_from_them() {
    let (store, other, _) = apart();
    // So that it need not declare the collocation later, which the snapshot would notice.
    archive(&other, &[(field("0", "t"), b"another")]);
    before_snapshot(&store, true, move || {
        archive(&other, &[(field("0", "t"), b"new")]);
        assert_eq!(other.purge(&request(""), true).unwrap().found[0].replaced_fields, 2);
    });
    store.snapshot(&request(""), "now").unwrap();
    let past = store.at("now").unwrap();
    assert_eq!(past.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"new");
    assert_eq!(bytes(&past, ""), [&b"analysis"[..], b"new"]);
}

#[test]
fn a_dataset_that_is_wiped_while_its_snapshot_is_made_is_in_it() {
    let (store, other, _) = apart();
    before_snapshot(&store, false, move || drop(other.wipe(&request("class=od"), true).unwrap()));
    store.snapshot(&request(""), "now").unwrap();
    assert!(listed(&store, "").is_empty());
    assert_eq!(bytes(&store.at("now").unwrap(), ""), [&b"analysis"[..], b"zero"]);
}

#[test]
fn a_snapshot_whose_maker_died_is_reported_and_can_be_removed() {
    let (store, other, _) = apart();
    before_snapshot(&store, false, || panic!("the maker dies"));
    assert!(dies(|| store.snapshot(&request(""), "half")));
    let left = other.snapshots().unwrap();
    assert_eq!((left.len(), left[0].is_complete, left[0].datasets.len()), (1, false, 1));
    assert_eq!(other.at("half").unwrap_err().code(), "not-found");
    assert_eq!(other.snapshot(&request(""), "half").unwrap_err().code(), "already-exists");
    other.remove_snapshot("half").unwrap();
    other.snapshot(&request(""), "half").unwrap();
    assert_eq!(bytes(&other.at("half").unwrap(), "").len(), 2);
}

/// The number of snapshots of the datasets' containers.
fn kept(store: &FieldStore, memory: &Memory) -> usize {
    let registry = Registry::new().with(Arc::new(memory.clone()));
    let pools = [&store.spaces()[0].catalogue, &store.spaces()[0].store].map(|uri| registry.open_pool(uri));
    let of_pool = |pool: Arc<dyn Pool>| -> usize {
        let labels = pool.list_containers().unwrap();
        let containers = labels.iter().map(|label| pool.open_container(label).unwrap());
        containers.map(|container| container.snapshots().unwrap().list().unwrap().len()).sum()
    };
    pools.into_iter().map(|pool| of_pool(pool.unwrap())).sum()
}

/// Removes the snapshot `now`, and creates another one of the name.
fn make_again(store: &FieldStore) {
    store.remove_snapshot("now").unwrap();
    archive(store, &[(field("6", "t"), b"six")]);
    store.snapshot(&request(""), "now").unwrap();
}

#[test]
fn a_maker_that_is_overtaken_leaves_the_snapshot_that_has_its_name_now() {
    // Before the catalogue's snapshot, and between that and the store's.
    for is_late in [false, true] {
        let (store, other, memory) = apart();
        before_snapshot(&store, is_late, move || make_again(&other));
        let error = store.snapshot(&request(""), "now").unwrap_err();
        assert_eq!(error.code(), "conflict", "{error}");
        assert!(error.to_string().contains("snapshot now: it was removed while it was made"), "{error}");
        assert_eq!(bytes(&store.at("now").unwrap(), "").len(), 3, "late: {is_late}");
        assert_eq!(kept(&store, &memory), 2, "one of the catalogue, one of the store");
        store.remove_snapshot("now").unwrap();
        assert_eq!(kept(&store, &memory), 0);
    }
}

#[test]
fn a_maker_whose_snapshot_is_removed_meanwhile_keeps_nothing() {
    let (store, other, memory) = apart();
    before_snapshot(&store, false, move || other.remove_snapshot("now").unwrap());
    assert_eq!(store.snapshot(&request(""), "now").unwrap_err().code(), "conflict");
    assert!(store.snapshots().unwrap().is_empty());
    assert_eq!(kept(&store, &memory), 0);
}

#[test]
fn a_remover_that_is_overtaken_leaves_the_snapshot_that_has_the_name_now() {
    // Before it says that it removes, and before it forgets the name.
    for is_late in [false, true] {
        let (store, other, memory) = apart();
        store.snapshot(&request(""), "now").unwrap();
        let number = usize::from(is_late);
        store.script.before_nth(number, Moment::Commit, "root", move || make_again(&other));
        store.remove_snapshot("now").unwrap();
        assert_eq!(bytes(&store.at("now").unwrap(), "").len(), 3, "late: {is_late}");
        assert_eq!(kept(&store, &memory), 2);
    }
}

#[test]
fn a_handle_shows_the_snapshot_that_it_was_opened_on_and_no_later_one_of_the_name() {
    for (_layout, store) in where_snapshots_are(filled) {
        store.snapshot(&request(""), "now").unwrap();
        let past = store.at("now").unwrap();
        store.remove_snapshot("now").unwrap();
        archive(&store, &[(field("0", "t"), b"new")]);
        store.snapshot(&request(""), "now").unwrap();
        assert_eq!(past.retrieve_one(&field("0", "t")).unwrap_err().code(), "not-found");
        assert_eq!(store.at("now").unwrap().retrieve_one(&field("0", "t")).unwrap().unwrap(), b"new");
    }
}

#[test]
fn snapshots_and_purges_report_their_progress() {
    for (_layout, store) in where_snapshots_are(filled) {
        let told = Mutex::new(Vec::new());
        let tell = |done, total| told.lock().unwrap().push((done, total));
        store.snapshot_with_progress(&request(""), "now", &tell).unwrap();
        store.purge_with_progress(&request(""), true, &tell).unwrap();
        assert_eq!(*told.lock().unwrap(), [(0, 2), (1, 2), (0, 2), (1, 2)]);
    }
}

#[test]
fn wiped_datasets_are_listed_as_long_as_snapshots_show_them() {
    for (_layout, store) in where_snapshots_are(filled) {
        let before = store.status(&request("class=od")).unwrap().remove(0);
        for name in ["one", "two"] {
            store.snapshot(&request(""), name).unwrap();
        }
        assert!(store.snapshot_only_datasets().unwrap().is_empty());
        store.wipe(&request("class=od"), true).unwrap();
        // Another life of it is another dataset.
        archive(&store, &[(field("0", "t"), b"another life")]);
        let kept = store.snapshot_only_datasets().unwrap();
        assert_eq!((kept.len(), &kept[0].status), (1, &before));
        assert_eq!(kept[0].snapshots.iter().map(|name| name.as_str()).collect::<Vec<_>>(), ["one", "two"]);
        store.remove_snapshot("one").unwrap();
        store.remove_snapshot("two").unwrap();
        assert!(store.snapshot_only_datasets().unwrap().is_empty());
    }
}
