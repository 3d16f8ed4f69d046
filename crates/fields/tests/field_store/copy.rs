//! Copying and moving between stores.

use isotach_fields::{Action, Config, FieldStore};
use isotach_object::{Anchor, KeyValue, ObjectClass, ObjectId, ObjectType};

use crate::layouts::{Layout, archive, everywhere, field, listed, request, with};

#[test]
fn a_copy_has_the_newest_fields_that_the_request_means() {
    for (_layout, [store, target]) in everywhere(Layout::store_and_target) {
        archive(&store, &[(field("0", "t"), b"old"), (field("6", "t"), b"six")]);
        archive(&store, &[(field("0", "t"), b"new"), (with(&field("0", "t"), "class=rd"), b"rd")]);
        let report = store.copy_to(&target, &request("class=od")).unwrap();
        assert_eq!((report.fields, report.bytes), (2, 6));
        assert_eq!(listed(&target, "").len(), 2);
        assert_eq!(target.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"new");
        assert_eq!(listed(&store, "").len(), 3);
    }
}

#[test]
fn a_move_leaves_nothing_of_what_it_took_and_all_else() {
    for (_layout, [store, target]) in everywhere(Layout::store_and_target) {
        let analysis = with(&field("0", "t"), "type=an");
        archive(&store, &[(field("0", "t"), b"fc"), (analysis.clone(), b"an")]);
        let report = store.move_to(&target, &request("class=od,type=an")).unwrap();
        assert_eq!(report.fields, 1);
        assert_eq!(target.retrieve_one(&analysis).unwrap().unwrap(), b"an");
        assert!(store.retrieve_one(&analysis).unwrap().is_none());
        assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"fc");
        archive(&store, &[(field("6", "t"), b"not locked any more")]);
    }
}

#[test]
fn a_move_that_may_not_wipe_does_not_copy() {
    let layout = Layout::memory();
    let (store, target) = (layout.store(), layout.target());
    archive(&store, &[(field("0", "t"), b"fc")]);
    assert_eq!(store.move_to(&target, &request("class=od,step=0")).unwrap_err().code(), "below-collocation");
    store.control(&request("class=od"), true, &[Action::Wipe]).unwrap();
    assert_eq!(store.move_to(&target, &request("class=od")).unwrap_err().code(), "locked");
    assert!(listed(&target, "").is_empty());
    assert_eq!(listed(&store, "").len(), 1);
}

#[test]
fn a_field_of_another_store_can_be_indexed_without_copying_it() {
    for (_layout, [store, target]) in everywhere(Layout::store_and_target) {
        archive(&store, &[(field("0", "t"), b"there")]);
        let location = store.locate(&field("0", "t")).unwrap().unwrap().location;
        target.index(&field("0", "t"), &location).unwrap();
        target.flush().unwrap();
        assert_eq!(target.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"there");
        let found = target.locate(&field("0", "t")).unwrap().unwrap().location;
        assert_eq!(found.to_string(), location.to_string());
        target.wipe(&request("class=od"), true).unwrap();
        assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"there");
    }
}

/// Gives the record of `od` the mark of a move.
fn lock_as_a_killed_move(layout: &Layout, store: &FieldStore, mark: u8) {
    let pool = layout.registry.open_pool(&store.spaces()[0].catalogue).unwrap();
    let root = pool.open_container(&"root".parse().unwrap()).unwrap();
    let datasets = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 0, 0);
    let datasets = KeyValue::new(&*root, datasets).unwrap();
    let page = datasets.list(&Anchor::start(), 10, true).unwrap();
    let (text, record) = page.iter().find(|(text, _)| text.starts_with(b"od:")).unwrap();
    let mut record = record.to_vec();
    record[1] = mark;
    datasets.put(text, &record).unwrap();
    root.flush().unwrap();
}

#[test]
fn the_lock_of_a_killed_move_names_its_remedy_and_ends_with_the_next_move() {
    for (layout, [store, target]) in everywhere(Layout::store_and_target) {
        let analysis = with(&field("0", "t"), "type=an");
        archive(&store, &[(field("0", "t"), b"fc"), (analysis, b"an")]);
        lock_as_a_killed_move(&layout, &store, 0x81);
        let store = layout.store();
        let error = store.archive(&field("6", "t"), b"six").unwrap_err();
        assert!(error.to_string().contains("is being moved"), "{error}");
        assert!(error.to_string().contains("`isotach unlock REQUEST --archive`"), "{error}");
        store.move_to(&target, &request("class=od,type=an")).unwrap();
        archive(&store, &[(field("6", "t"), b"six")]);

        lock_as_a_killed_move(&layout, &store, 0x81);
        store.control(&request("class=od"), false, &[Action::Archive]).unwrap();
        archive(&store, &[(field("12", "t"), b"twelve")]);
        assert_eq!(listed(&store, "").len(), 3);

        // Killed while it wiped, it can be told from one that still does by nobody but an operator.
        lock_as_a_killed_move(&layout, &store, 0xc1);
        assert_eq!(store.move_to(&target, &request("class=od")).unwrap_err().code(), "moving");
        store.control(&request("class=od"), false, &[Action::Archive]).unwrap();
        assert_eq!(store.move_to(&target, &request("class=od")).unwrap().fields, 3);
    }
}

#[test]
fn a_move_that_fails_leaves_no_lock_of_its_own_and_every_lock_of_others() {
    for (layout, store) in everywhere(Layout::store) {
        // A target whose schema takes none of the fields.
        let config =
            Config::single(&"memory:narrow".parse().unwrap()).with_schema("[ kind [ type [ step ]]]");
        let narrow = FieldStore::create(&config, &layout.registry).unwrap();
        archive(&store, &[(field("0", "t"), b"od"), (with(&field("0", "t"), "class=rd"), b"rd")]);
        store.control(&request("class=rd"), true, &[Action::Archive]).unwrap();
        assert_eq!(store.move_to(&narrow, &request("class=od/rd")).unwrap_err().code(), "key");
        archive(&store, &[(field("6", "t"), b"not locked")]);
        let locked = store.archive(&with(&field("6", "t"), "class=rd"), b"locked").unwrap_err();
        assert_eq!(locked.code(), "locked");
    }
}
