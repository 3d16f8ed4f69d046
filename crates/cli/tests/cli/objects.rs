//! The object model from the command line.

use crate::support::Store;

/// A pool with one empty container.
fn pool() -> Store {
    let store = Store::absent();
    store.run(["pool", "create"]).succeeds();
    store.run(["container", "create", "box"]).succeeds();
    store
}

#[track_caller]
fn new_object(store: &Store, kind: &str) -> String {
    let said = store.run(["object", "create", "box", "--type", kind, "--json"]).succeeds();
    let line: serde_json::Value = serde_json::from_str(said.text()).unwrap();
    line["object"].as_str().unwrap().to_owned()
}

#[test]
fn pools_and_containers_are_made_shown_and_removed() {
    let store = pool();
    store.run(["pool", "create"]).fails_with(1, &["exists already"]);
    store.run(["container", "create", "box"]).fails_with(1, &["container box exists already"]);
    store.run(["container", "create", "../box"]).fails_with(2, &["label \"../box\": expected 1 to 127"]);
    let listed = store.run(["container", "list", "--json"]).succeeds();
    assert!(listed.text().starts_with("{\"container\":\"box\",\"bytes\":"), "{}", listed.text());
    assert!(store.run(["pool", "show"]).succeeds().text().contains("containers    1\n"));
    assert!(store.run(["container", "show", "box"]).succeeds().text().contains("objects    0\n"));
    assert!(
        store
            .run(["container", "destroy", "box"])
            .succeeds()
            .text()
            .starts_with("would remove container box")
    );
    store.run(["container", "destroy", "box", "--doit"]).succeeds();
    store.run(["container", "show", "box"]).fails_with(1, &["container box", "does not exist"]);
    assert!(store.run(["pool", "destroy"]).succeeds().text().starts_with("would remove pool "));
    store.run(["pool", "destroy", "--doit"]).succeeds();
    assert!(!store.path().join("superblock").exists());
}

#[test]
fn values_and_bytes_go_in_and_come_out() {
    let store = pool();
    let (map, array, general) =
        (new_object(&store, "key-value"), new_object(&store, "array"), new_object(&store, "general"));
    store.feed(["object", "put", "box", &map, "a key"], b"value").succeeds();
    store.feed(["object", "put", "box", &array], b"0123456789").succeeds();
    store.feed(["object", "put", "box", &array], b"short").succeeds();
    store.feed(["object", "put", "box", &general, "dkey", "akey"], b"single").succeeds();
    assert_eq!(store.run(["object", "get", "box", &map, "a key"]).succeeds().out, b"value");
    assert_eq!(store.run(["object", "get", "box", &array]).succeeds().out, b"short");
    assert_eq!(store.run(["object", "get", "box", &general, "dkey", "akey"]).succeeds().out, b"single");
    assert_eq!(store.run(["object", "show", "box", &map]).succeeds().text(), "a key  5 bytes\n");
    assert_eq!(store.run(["object", "show", "box", &array]).succeeds().text(), "array of 5 bytes (5 B)\n");
    assert_eq!(store.run(["object", "show", "box", &general]).succeeds().text(), "dkey  akey\n");
    assert_eq!(store.run(["object", "list", "box", "--json"]).succeeds().text().lines().count(), 3);
    let gone = |id: &str| format!("object {id} in container box does not exist");
    for id in [&map, &array, &general] {
        assert!(store.run(["object", "destroy", "box", id]).succeeds().text().starts_with("would remove"));
        let none = format!("{}ffffffff", &id[..24]);
        store.run(["object", "destroy", "box", &none]).fails(1, &gone(&none));
        store.run(["object", "destroy", "box", &none, "--doit"]).fails(1, &gone(&none));
    }
    store.run(["object", "destroy", "box", &map, "--doit"]).succeeds();
    store.run(["object", "destroy", "box", &map, "--doit"]).fails(1, &gone(&map));
    store.run(["object", "get", "box", &map, "a key"]).fails_with(1, &["does not exist"]);
    assert_eq!(store.run(["object", "list", "box"]).succeeds().text().lines().count(), 2);
}

#[test]
fn a_snapshot_of_a_container_shows_objects_as_they_were_until_it_is_removed() {
    let store = pool();
    let map = new_object(&store, "key-value");
    store.feed(["object", "put", "box", &map, "key"], b"old").succeeds();
    store.run(["container", "create-snap", "box", "before"]).succeeds();
    store.run(["container", "create-snap", "box", "before"]).fails_with(1, &["before", "exists already"]);
    store.feed(["object", "put", "box", &map, "key"], b"newer").succeeds();
    let at = ["--at", "before"];
    assert_eq!(store.run(["object", "get", "box", &map, "key", at[0], at[1]]).succeeds().out, b"old");
    let shown = store.run(["object", "show", "box", &map, at[0], at[1]]).succeeds();
    assert_eq!(shown.text(), "key  3 bytes\n");
    store.run(["object", "destroy", "box", &map, "--doit"]).succeeds();
    assert!(store.run(["object", "list", "box", at[0], at[1]]).succeeds().text().starts_with(&map));
    let listed = store.run(["container", "list-snaps", "box", "--json"]).succeeds();
    assert!(listed.text().starts_with("{\"snapshot\":\"before\",\"epoch\":"), "{}", listed.text());
    let would = store.run(["container", "destroy-snap", "box", "before"]).succeeds();
    assert_eq!(would.text(), "would remove snapshot before; add --doit to remove it\n");
    store.run(["container", "destroy-snap", "box", "before", "--doit"]).succeeds();
    store
        .run(["container", "destroy-snap", "box", "before"])
        .fails_with(1, &["snapshot before", "does not exist"]);
    store.run(["object", "list", "box", at[0], at[1]]).fails_with(1, &["does not exist"]);
}

#[test]
fn a_container_whose_storage_has_no_properties_says_so_and_refuses_to_set_one() {
    let store = pool();
    let told = store.run(["container", "get-prop", "box"]).succeeds();
    assert!(told.text().ends_with("have no properties of the storage's\n"), "{}", told.text());
    store
        .run(["container", "set-prop", "box", "status=healthy"])
        .fails_with(1, &["does not support", "properties of containers"]);
    store.run(["container", "set-prop", "box", "status"]).fails_with(2, &["expected NAME=VALUE"]);
    store.run(["container", "get-prop", "none"]).fails_with(1, &["container none", "does not exist"]);
}

#[test]
fn what_does_not_fit_an_object_is_refused() {
    let store = pool();
    let map = new_object(&store, "key-value");
    store.run(["object", "get", "box", &map]).fails(2, "keys: expected one for a key-value object");
    store.run(["object", "show", "box", "12"]).fails(2, "object id \"12\": expected 32 hexadecimal digits");
    store
        .run(["object", "create", "box", "--class", "RP_2G1"])
        .fails(1, "the pool's engine does not support object class RP_2G1: it keeps one copy");
}
