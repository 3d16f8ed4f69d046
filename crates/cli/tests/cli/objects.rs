//! The commands of the object model.

use crate::support::Store;

/// A pool with one empty container.
fn pool() -> Store {
    let store = Store::absent();
    store.ok(["pool", "create"]);
    store.ok(["container", "create", "box"]);
    store
}

#[track_caller]
fn new_object(store: &Store, kind: &str) -> String {
    let created = store.ok(["object", "create", "box", "--type", kind, "--json"]).json();
    created["object"].as_str().unwrap().to_owned()
}

#[test]
fn pools_and_containers_are_created_shown_and_removed() {
    let store = pool();
    store.run(["pool", "create"]).fails_with(1, &["exists already"]);
    store.run(["container", "create", "box"]).fails_with(1, &["container box exists already"]);
    store.run(["container", "create", "../box"]).fails_with(2, &["label \"../box\": expected 1 to 127"]);
    store.ok(["container", "list", "--json"]).begins("{\"container\":\"box\",\"bytes\":");
    store.ok(["pool", "show"]).shows(&["containers    1\n"]);
    store.ok(["container", "show", "box"]).shows(&["objects    0\n"]);
    store.ok(["container", "destroy", "box"]).begins("would remove container box");
    store.ok(["container", "destroy", "box", "--doit"]);
    store.run(["container", "show", "box"]).fails_with(1, &["container box", "does not exist"]);
    store.ok(["pool", "destroy"]).begins("would remove pool ");
    store.ok(["pool", "destroy", "--doit"]);
    assert!(!store.path().join("superblock").exists());
}

#[test]
fn values_and_bytes_are_read_back_and_removed() {
    let store = pool();
    let (map, array, general) =
        (new_object(&store, "key-value"), new_object(&store, "array"), new_object(&store, "general"));
    store.feed(["object", "put", "box", &map, "a key"], b"value").succeeds();
    store.feed(["object", "put", "box", &array], b"0123456789").succeeds();
    store.feed(["object", "put", "box", &array], b"short").succeeds();
    store.feed(["object", "put", "box", &general, "dkey", "akey"], b"single").succeeds();
    assert_eq!(store.ok(["object", "get", "box", &map, "a key"]).out, b"value");
    assert_eq!(store.ok(["object", "get", "box", &array]).out, b"short");
    assert_eq!(store.ok(["object", "get", "box", &general, "dkey", "akey"]).out, b"single");
    assert_eq!(store.ok(["object", "show", "box", &map]).text(), "a key  5 bytes\n");
    assert_eq!(store.ok(["object", "show", "box", &array]).text(), "array of 5 bytes (5 B)\n");
    assert_eq!(store.ok(["object", "show", "box", &general]).text(), "dkey  akey\n");
    assert_eq!(store.ok(["object", "list", "box", "--json"]).lines(), 3);
    let gone = |id: &str| format!("object {id} in container box does not exist");
    for id in [&map, &array, &general] {
        store.ok(["object", "destroy", "box", id]).begins("would remove");
        let none = format!("{}ffffffff", &id[..24]);
        store.run(["object", "destroy", "box", &none]).fails(1, &gone(&none));
        store.run(["object", "destroy", "box", &none, "--doit"]).fails(1, &gone(&none));
    }
    store.ok(["object", "destroy", "box", &map, "--doit"]);
    store.run(["object", "destroy", "box", &map, "--doit"]).fails(1, &gone(&map));
    store.run(["object", "get", "box", &map, "a key"]).fails_with(1, &["does not exist"]);
    assert_eq!(store.ok(["object", "list", "box"]).lines(), 2);
}

#[test]
fn a_snapshot_of_a_container_shows_objects_as_they_were_until_it_is_removed() {
    let store = pool();
    let map = new_object(&store, "key-value");
    store.feed(["object", "put", "box", &map, "key"], b"old").succeeds();
    store.ok(["container", "create-snap", "box", "before"]);
    store.run(["container", "create-snap", "box", "before"]).fails_with(1, &["before", "exists already"]);
    store.feed(["object", "put", "box", &map, "key"], b"newer").succeeds();
    let at = ["--at", "before"];
    assert_eq!(store.ok(["object", "get", "box", &map, "key", at[0], at[1]]).out, b"old");
    let shown = store.ok(["object", "show", "box", &map, at[0], at[1]]);
    assert_eq!(shown.text(), "key  3 bytes\n");
    store.ok(["object", "destroy", "box", &map, "--doit"]);
    store.ok(["object", "list", "box", at[0], at[1]]).begins(&map);
    store.ok(["container", "list-snaps", "box", "--json"]).begins("{\"snapshot\":\"before\",\"epoch\":");
    let would = store.ok(["container", "destroy-snap", "box", "before"]);
    assert_eq!(would.text(), "would remove snapshot before; add --doit to remove it\n");
    store.ok(["container", "destroy-snap", "box", "before", "--doit"]);
    let gone = ["snapshot before", "does not exist"];
    store.run(["container", "destroy-snap", "box", "before"]).fails_with(1, &gone);
    store.run(["object", "list", "box", at[0], at[1]]).fails_with(1, &["does not exist"]);
}

#[test]
fn a_storage_without_properties_reports_that_and_refuses_to_set_one() {
    let store = pool();
    let said = store.ok(["container", "get-prop", "box"]);
    assert!(said.text().ends_with("has no properties of containers\n"), "{}", said.text());
    let refused = ["does not support", "properties of containers"];
    store.run(["container", "set-prop", "box", "status=healthy"]).fails_with(1, &refused);
    store.run(["container", "set-prop", "box", "status"]).fails_with(2, &["expected NAME=VALUE"]);
    store.run(["container", "get-prop", "none"]).fails_with(1, &["container none", "does not exist"]);
}

#[test]
fn keys_ids_and_classes_that_fit_no_object_are_refused() {
    let store = pool();
    let map = new_object(&store, "key-value");
    store.run(["object", "get", "box", &map]).fails(2, "keys: expected one for a key-value object");
    store.run(["object", "show", "box", "12"]).fails(2, "object id \"12\": expected 32 hexadecimal digits");
    let message = "the pool's engine does not support object class RP_2G1: it keeps one copy";
    store.run(["object", "create", "box", "--class", "RP_2G1"]).fails(1, message);
}
