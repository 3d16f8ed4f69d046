//! Wiping datasets and collocations.

use isotach_fields::{Error, FieldStore};
use isotach_object::{Anchor, KeyValue, ObjectClass, ObjectId, ObjectType};

use crate::layouts::{Layout, archive, everywhere, field, listed, named, request, with};

/// Two datasets; the first with two collocations, one field replaced.
fn filled(layout: &Layout) -> FieldStore {
    let store = layout.store();
    archive(&store, &[(field("0", "t"), b"old"), (field("6", "t"), b"six")]);
    archive(&store, &[(field("0", "t"), b"new"), (with(&field("0", "t"), "type=an"), b"analysis")]);
    archive(&store, &[(with(&field("0", "t"), "class=rd"), b"rd")]);
    store
}

#[test]
fn a_dry_run_reports_and_removes_nothing() {
    for (_layout, store) in everywhere(filled) {
        let report = store.wipe(&request("class=od"), false).unwrap();
        assert!(!report.done);
        let dataset = &report.datasets[0];
        assert!(dataset.is_whole);
        assert_eq!((report.datasets.len(), dataset.collocations.len()), (1, 2));
        let counts = report.counts();
        assert_eq!((counts.fields, counts.bytes), (3, 14));
        assert_eq!((counts.replaced_fields, counts.replaced_bytes), (1, 3));
        assert_eq!(listed(&store, "").len(), 4);
    }
}

#[test]
fn a_whole_dataset_goes_with_its_containers_and_can_be_made_again() {
    for layout in named(Layout::all()) {
        let (store, other) = (filled(&layout), layout.store());
        assert_eq!(listed(&other, "").len(), 4);
        let before = layout.containers();
        assert!(store.wipe(&request("class=od"), true).unwrap().done);
        assert!(layout.containers() < before);
        for store in [&store, &other] {
            assert_eq!(listed(store, "").len(), 1);
            assert!(store.retrieve_one(&field("0", "t")).unwrap().is_none());
        }
        archive(&store, &[(field("12", "t"), b"again")]);
        assert_eq!(listed(&other, "class=od").len(), 1, "nothing old came back");
        assert_eq!(other.retrieve_one(&field("12", "t")).unwrap().unwrap(), b"again");
    }
}

#[test]
fn a_collocation_goes_and_the_rest_of_its_dataset_stays() {
    for layout in named(Layout::all()) {
        let (store, other) = (filled(&layout), layout.store());
        assert_eq!(listed(&other, "class=od").len(), 3);
        let report = store.wipe(&request("class=od,type=fc"), true).unwrap();
        let dataset = &report.datasets[0];
        assert_eq!((dataset.is_whole, dataset.counts.fields, dataset.counts.replaced_fields), (false, 2, 1));
        assert_eq!(listed(&other, "class=od"), listed(&store, "type=an"));
        assert!(other.retrieve_one(&field("0", "t")).unwrap().is_none());
        archive(&store, &[(field("6", "u"), b"again")]);
        assert_eq!(listed(&other, "class=od,type=fc").len(), 1);
        let axes = other.axes(&request("type=fc,class=od")).unwrap().found;
        assert!(axes.iter().any(|axis| axis.name == "param" && axis.values == ["131"]), "{axes:?}");
    }
}

#[test]
fn single_fields_and_the_whole_store_are_refused() {
    let store = filled(&Layout::memory());
    let error = store.wipe(&request("class=od,type=fc,step=0,param=t"), true).unwrap_err();
    assert!(error.is_usage());
    assert_eq!(
        error.to_string(),
        "the request names step, param, which tell single fields apart; only whole datasets and collocations can be removed (`isotach delete` removes single fields)"
    );
    let error = store.wipe(&request(""), true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a request without keys: expected at least one key; without any it means the whole store"
    );
    assert_eq!(listed(&store, "").len(), 4);
    assert!(store.wipe(&request("class=ei"), true).unwrap().datasets.is_empty());
}

#[test]
fn a_writer_whose_dataset_is_wiped_learns_of_it_and_can_go_on() {
    for (_layout, [writer, other]) in everywhere(Layout::two_handles) {
        archive(&writer, &[(field("0", "t"), b"0")]);
        writer.archive(&field("6", "t"), b"6").unwrap();
        writer.archive(&with(&field("6", "t"), "class=rd"), b"rd").unwrap();
        other.wipe(&request("class=od"), true).unwrap();
        match writer.flush().unwrap_err() {
            Error::Wiped { fields, dataset } => {
                assert!(fields == 1 && dataset.contains("class=od"), "{dataset}");
            }
            error => panic!("{error:?}"),
        }
        assert_eq!(listed(&other, "").len(), 1, "the other dataset was flushed all the same");
        archive(&writer, &[(field("12", "t"), b"12")]);
        assert_eq!(listed(&other, "class=od").len(), 1);
    }
}

/// A store in which a wipe of `od` was killed after it had removed the root's entry.
fn with_a_killed_wipe(layout: &Layout) -> FieldStore {
    let store = filled(layout);
    let of_od = store.status(&request("class=od")).unwrap().remove(0).catalogue;
    let pool = layout.registry.open_pool(&of_od.pool).unwrap();
    let first = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 0);
    let marked = pool.open_container(&of_od.label).unwrap();
    KeyValue::new(&*marked, first).unwrap().put(b"wiped", b"").unwrap();
    marked.flush().unwrap();
    let root = pool.open_container(&"root".parse().unwrap()).unwrap();
    let datasets = KeyValue::new(&*root, first).unwrap();
    let page = datasets.list(&Anchor::start(), 10, false).unwrap();
    let text = page.iter().map(|(text, _)| text.to_vec()).find(|text| text.starts_with(b"od:")).unwrap();
    datasets.remove(&text).unwrap();
    root.flush().unwrap();
    layout.store()
}

#[test]
fn the_next_wipe_removes_what_a_killed_wipe_left() {
    for (layout, store) in everywhere(with_a_killed_wipe) {
        let before = layout.containers();
        assert!(store.wipe(&request("class=ei"), false).unwrap().datasets.is_empty());
        assert_eq!(layout.containers(), before, "a dry run removes nothing");
        store.wipe(&request("class=ei"), true).unwrap();
        // The pools are counted twice where they are one.
        assert_eq!(layout.containers(), before - 2);
        assert_eq!(listed(&store, "").len(), 1);
    }
}

#[test]
fn a_dataset_is_created_again_beside_the_leftovers_of_a_killed_wipe() {
    for (layout, store) in everywhere(with_a_killed_wipe) {
        let before = layout.containers();
        archive(&store, &[(field("0", "t"), b"again")]);
        store.wipe(&request("class=ei"), true).unwrap();
        assert_eq!(layout.containers(), before);
        assert_eq!(listed(&layout.store(), "").len(), 2, "nothing old came back");
        assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"again");
    }
}

#[test]
fn what_was_wiped_is_not_held_open_by_handles_that_go_on_to_other_datasets() {
    let layout = Layout::apart();
    let (reader, writer, wiper) = (layout.store(), layout.store(), layout.store());
    let open_files_of_wiped = || {
        let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let files = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
        let of_wiped = files
            .filter(|file| file.starts_with(&layout.folder) && file.to_string_lossy().contains("deleted"));
        of_wiped.count()
    };
    let mut held = Vec::new();
    for expver in 1..=8 {
        let key = with(&field("0", "t"), &format!("expver={expver}"));
        archive(&writer, &[(key.clone(), &[7; 100_000])]);
        assert_eq!(reader.retrieve_one(&key).unwrap().unwrap().len(), 100_000);
        held.push(open_files_of_wiped());
        wiper.wipe(&request(&format!("expver={expver}")), true).unwrap();
    }
    assert!(held.iter().all(|count| *count <= held[1]), "{held:?}");
}

#[test]
fn a_dataset_wiped_between_two_batches_is_made_again_by_its_writer() {
    for (_layout, [writer, other]) in everywhere(Layout::two_handles) {
        archive(&writer, &[(field("0", "t"), b"0")]);
        other.wipe(&request("class=od"), true).unwrap();
        archive(&writer, &[(field("6", "t"), b"6")]);
        assert_eq!(listed(&other, "").len(), 1);
        assert_eq!(other.retrieve_one(&field("6", "t")).unwrap().unwrap(), b"6");
    }
}

#[test]
fn a_writer_declares_again_what_a_wipe_of_its_collocation_removed() {
    for (_layout, [writer, other]) in everywhere(Layout::two_handles) {
        archive(&writer, &[(field("0", "t"), b"0"), (field("0", "u"), b"0u")]);
        writer.archive(&field("0", "t"), b"new").unwrap();
        other.wipe(&request("class=od,type=fc"), true).unwrap();
        assert!(listed(&other, "").is_empty());
        writer.flush().unwrap();
        assert_eq!(listed(&other, "step=0,param=t").len(), 1);
        let retrieve = crate::layouts::request_like(&field("0", "t"), "param=t/u");
        assert_eq!(crate::layouts::bytes_of(&other, &retrieve), [b"new"]);
        archive(&writer, &[(field("0", "u"), b"u")]);
        assert_eq!(crate::layouts::bytes_of(&other, &retrieve), [&b"new"[..], b"u"]);
    }
}

#[test]
fn each_flush_reports_one_wiped_dataset_until_all_are_reported() {
    for (_layout, [writer, other]) in everywhere(Layout::two_handles) {
        for expver in ["expver=0001", "expver=0002", "expver=0003"] {
            writer.archive(&with(&field("0", "130"), expver), b"zero").unwrap();
        }
        other.wipe(&request("class=od"), true).unwrap();
        for _ in 0..3 {
            let told = writer.flush().unwrap_err();
            assert!(matches!(told, Error::Wiped { fields: 1, .. }), "{told:?}");
        }
        writer.flush().unwrap();
    }
}

#[test]
fn an_array_that_another_collocation_has_outlives_the_wipe_of_each() {
    for (layout, store) in everywhere(Layout::store) {
        for (class, wiped, left) in [("class=od", "type=fc", "type=an"), ("class=rd", "type=an", "type=fc")] {
            let of = |kind: &str| with(&with(&field("0", "t"), class), kind);
            archive(&store, &[(of("type=an"), b"shared")]);
            let shared = store.locate(&of("type=an")).unwrap().unwrap().location;
            store.index(&of("type=fc"), &shared).unwrap();
            archive(&store, &[(with(&of(wiped), "step=6"), b"goes"), (with(&of(left), "step=6"), b"stays")]);
            store.wipe(&request(&format!("{class},{wiped}")), true).unwrap();
            assert!(listed(&store, &format!("{class},{wiped}")).is_empty());
            let there = store.retrieve_one(&of(left));
            assert_eq!(there.unwrap().unwrap(), b"shared", "{wiped} was wiped");
            assert_eq!(layout.arrays(&store, class), 2, "the rest is destroyed");
            store.wipe(&request(&format!("{class},{left}")), true).unwrap();
            assert_eq!(layout.arrays(&store, class), 0, "nobody has it any more");
        }
    }
}

#[test]
fn a_wipe_keeps_a_replaced_array_that_another_collocation_indexes() {
    for (layout, store) in everywhere(Layout::store) {
        let (first, second) = (field("0", "t"), with(&field("0", "t"), "type=an"));
        archive(&store, &[(first.clone(), b"shared")]);
        let shared = store.locate(&first).unwrap().unwrap().location;
        store.index(&second, &shared).unwrap();
        archive(&store, &[(first, b"new")]);
        store.wipe(&request("class=od,type=fc"), true).unwrap();
        assert_eq!(store.retrieve_one(&second).unwrap().unwrap(), b"shared");
        assert_eq!(layout.arrays(&store, "class=od"), 1);
    }
}
