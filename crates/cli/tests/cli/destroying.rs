//! What a field store rests on is not destroyed behind its back.

use crate::support::{KEY, Store};

const CURE: &str = "`isotach wipe` removes datasets; --force removes this all the same";

fn store_with_a_field() -> Store {
    let store = Store::new();
    store.write_raw(0, b"field");
    store
}

#[test]
fn a_dataset_is_not_destroyed_as_a_container_unless_that_is_forced() {
    let store = store_with_a_field();
    let label = &*store.label();
    let key = "class=rd,expver=test,stream=oper,date=20240101,time=0000";
    let refused =
        format!("container {label} holds the dataset {key} of the field store {}: {CURE}", store.uri());
    for arguments in [&["container", "destroy", label][..], &["container", "destroy", label, "--doit"]] {
        store.run(arguments).fails(1, &refused);
    }
    assert_eq!(store.read(&format!("{KEY},step=0")), b"field");
    let said = store.run(["container", "destroy", label, "--force"]).succeeds();
    assert!(said.text().starts_with(&format!("would remove container {label} of ")), "{}", said.text());
    assert_eq!(store.count(), 1);
    store.run(["container", "destroy", label, "--force", "--doit"]).succeeds();
    store.run(["stats"]).fails_with(1, &["is lost"]);
}

#[test]
fn objects_of_a_dataset_are_kept_too() {
    let store = store_with_a_field();
    let (label, dataset) = (&*store.label(), "08010001000000000000000000000000");
    store
        .run(["object", "destroy", label, dataset, "--doit"])
        .fails_with(1, &["holds the dataset class=rd", CURE]);
    store.run(["object", "destroy", label, dataset, "--force"]).succeeds();
    assert_eq!(store.count(), 1);
}

#[test]
fn the_root_and_the_pool_of_a_store_with_datasets_are_kept() {
    let store = store_with_a_field();
    let uri = store.uri();
    let root =
        format!("container root keeps the schema of the field store {uri} and knows its 1 dataset: {CURE}");
    store.run(["container", "destroy", "root", "--doit"]).fails(1, &root);
    let pool = format!("pool {uri} holds a field store of 1 dataset: {CURE}");
    store.run(["pool", "destroy", "--doit"]).fails(1, &pool);
    store.run(["wipe", "class=rd", "--doit"]).succeeds();
    store.run(["container", "destroy", "root", "--doit"]).fails_with(1, &["knows its 0 datasets"]);
    store.run(["pool", "destroy", "--doit"]).succeeds();
    assert!(!store.path().join("superblock").exists());
}

#[test]
fn containers_beside_a_field_store_may_go() {
    let store = store_with_a_field();
    store.run(["container", "create", "mine"]).succeeds();
    store.run(["container", "destroy", "mine", "--doit"]).succeeds();
    assert_eq!(store.count(), 1);
}

#[test]
fn a_pool_whose_field_store_cannot_be_read_goes_only_by_force() {
    let store = store_with_a_field();
    let settings = "08010001000000000000000000000002";
    store.feed(["object", "put", "root", settings, "version"], &7_u32.to_le_bytes()).succeeds();
    store.run(["pool", "destroy", "--doit"]).fails_with(1, &["has format 7", "; --force removes"]);
    store.run(["pool", "destroy", "--doit", "--force"]).succeeds();
}

#[test]
fn what_would_go_is_told_in_json_too() {
    let store = Store::absent();
    store.run(["pool", "create"]).succeeds();
    store.run(["container", "create", "box"]).succeeds();
    let said = store.run(["container", "destroy", "box", "--json"]).succeeds();
    assert_eq!(said.text(), "{\"container\":\"box\",\"done\":\"would remove\"}\n");
    let said = store.run(["pool", "destroy", "--json"]).succeeds();
    assert_eq!(said.text(), format!("{{\"pool\":\"{}\",\"done\":\"would remove\"}}\n", store.uri()));
}

#[test]
fn a_wiped_dataset_that_a_snapshot_shows_is_kept_too() {
    let store = store_with_a_field();
    let (label, uri) = (&*store.label(), store.uri());
    store.run(["snapshot", "create", "before"]).succeeds();
    store.run(["wipe", "class=rd", "--doit"]).succeeds();
    let cure = "`isotach snapshot remove` removes snapshots; --force removes this all the same";
    store
        .run(["container", "destroy", label, "--doit"])
        .fails_with(1, &["holds the wiped dataset class=rd", ", which is in snapshot before: ", cure]);
    store
        .run(["container", "destroy", "root", "--doit"])
        .fails_with(1, &["knows its 0 datasets and 1 that only snapshots show"]);
    let pool = format!("pool {uri} holds a field store of 0 datasets and 1 that only snapshots show: {cure}");
    store.run(["pool", "destroy", "--doit"]).fails(1, &pool);
    store.run(["verify", "--data", "--at", "before"]).succeeds();
    let said = store.run(["read", &format!("{KEY},step=0"), "-o", "-", "--at", "before"]).succeeds();
    assert_eq!(said.out, b"field");
    store.run(["snapshot", "remove", "before"]).succeeds();
    store.run(["pool", "destroy", "--doit"]).succeeds();
}
