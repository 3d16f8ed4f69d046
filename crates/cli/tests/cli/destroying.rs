//! `destroy` protects what a field store needs.

use crate::support::{Store, field};

const CURE: &str = "`isotach wipe` removes datasets; --force removes this anyway";

fn store_with_a_field() -> Store {
    Store::with_field(0, b"field")
}

#[test]
fn a_container_of_a_dataset_is_destroyed_only_with_force() {
    let store = store_with_a_field();
    let label = &*store.label();
    let key = "class=rd,expver=test,stream=oper,date=20240101,time=0000";
    let refused =
        format!("container {label} holds the dataset {key} of the field store {}: {CURE}", store.uri());
    for arguments in [&["container", "destroy", label][..], &["container", "destroy", label, "--doit"]] {
        store.run(arguments).fails(1, &refused);
    }
    assert_eq!(store.read(&field(0)), b"field");
    let would = format!("would remove container {label} of ");
    store.ok(["container", "destroy", label, "--force"]).begins(&would);
    assert_eq!(store.count(), 1);
    store.ok(["container", "destroy", label, "--force", "--doit"]);
    store.run(["stats"]).fails_with(1, &["is lost"]);
}

#[test]
fn destroy_protects_objects_of_a_dataset() {
    let store = store_with_a_field();
    let (label, dataset) = (&*store.label(), "08010001000000000000000000000000");
    let refused = ["holds the dataset class=rd", CURE];
    store.run(["object", "destroy", label, dataset, "--doit"]).fails_with(1, &refused);
    store.ok(["object", "destroy", label, dataset, "--force"]);
    assert_eq!(store.count(), 1);
}

#[test]
fn destroy_protects_root_and_pool_of_a_store_with_datasets() {
    let store = store_with_a_field();
    let uri = store.uri();
    let root = format!(
        "container root holds the schema and the list of datasets of the field store {uri}, 1 dataset: {CURE}"
    );
    store.run(["container", "destroy", "root", "--doit"]).fails(1, &root);
    let pool = format!("pool {uri} holds a field store of 1 dataset: {CURE}");
    store.run(["pool", "destroy", "--doit"]).fails(1, &pool);
    store.ok(["wipe", "class=rd", "--doit"]);
    store.run(["container", "destroy", "root", "--doit"]).fails_with(1, &["0 datasets: "]);
    store.ok(["pool", "destroy", "--doit"]);
    assert!(!store.path().join("superblock").exists());
}

#[test]
fn containers_beside_a_field_store_can_be_destroyed() {
    let store = store_with_a_field();
    store.ok(["container", "create", "mine"]);
    store.ok(["container", "destroy", "mine", "--doit"]);
    assert_eq!(store.count(), 1);
}

#[test]
fn a_pool_with_an_unreadable_field_store_is_destroyed_only_with_force() {
    let store = store_with_a_field();
    let settings = "08010001000000000000000000000002";
    store.feed(["object", "put", "root", settings, "version"], &7_u32.to_le_bytes()).succeeds();
    store.run(["pool", "destroy", "--doit"]).fails_with(1, &["has format 7", "; --force removes"]);
    store.ok(["pool", "destroy", "--doit", "--force"]);
}

#[test]
fn a_dry_destroy_reports_in_json() {
    let store = Store::absent();
    store.ok(["pool", "create"]);
    store.ok(["container", "create", "box"]);
    let said = store.ok(["container", "destroy", "box", "--json"]);
    assert_eq!(said.text(), "{\"container\":\"box\",\"done\":\"would remove\"}\n");
    let said = store.ok(["pool", "destroy", "--json"]);
    assert_eq!(said.text(), format!("{{\"pool\":\"{}\",\"done\":\"would remove\"}}\n", store.uri()));
}

#[test]
fn destroy_protects_a_wiped_dataset_that_a_snapshot_shows() {
    let store = store_with_a_field();
    let (label, uri) = (&*store.label(), store.uri());
    store.ok(["snapshot", "create", "before"]);
    store.ok(["wipe", "class=rd", "--doit"]);
    let cure = "`isotach snapshot remove` removes snapshots; --force removes this anyway";
    let refused = ["holds the wiped dataset class=rd", ", which is in snapshot before: ", cure];
    store.run(["container", "destroy", label, "--doit"]).fails_with(1, &refused);
    let refused = "0 datasets and 1 in snapshots only";
    store.run(["container", "destroy", "root", "--doit"]).fails_with(1, &[refused]);
    let pool = format!("pool {uri} holds a field store of 0 datasets and 1 in snapshots only: {cure}");
    store.run(["pool", "destroy", "--doit"]).fails(1, &pool);
    store.ok(["verify", "--data", "--at", "before"]);
    let said = store.ok(["read", &field(0), "-o", "-", "--at", "before"]);
    assert_eq!(said.out, b"field");
    store.ok(["snapshot", "remove", "before"]);
    store.ok(["pool", "destroy", "--doit"]);
}
