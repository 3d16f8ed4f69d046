//! `isotach delete`: the dry run, the deletion, and what it refuses.

use serde_json::json;

use crate::support::{KEY, Store, field};

/// A store with three steps.
fn filled() -> Store {
    let store = Store::new();
    [0, 6, 12].into_iter().for_each(|step| store.write_raw(step, &[7; 100]));
    store
}

#[test]
fn delete_removes_the_fields_of_a_request_only_if_it_is_told_to() {
    let store = filled();
    let request = format!("{KEY},step=6/12/18");
    store.ok(["delete", &request]).shows(&["would delete 2 fields; nothing was removed: add --doit"]);
    let dry = store.ok(["delete", "--json", &request]).json();
    assert_eq!((&dry["fields"], &dry["bytes"], &dry["done"]), (&json!(2), &json!(200), &json!(false)));
    assert_eq!((&dry["key"]["class"], store.count()), (&json!("rd"), 3));
    store.ok(["delete", &request, "--doit"]).shows(&["deleted 2 fields; `isotach purge` frees their space"]);
    assert_eq!((store.count(), store.read(&field(0))), (1, vec![7; 100]));
    store.ok(["delete", &request, "--doit"]).begins("nothing to delete: no field of the request exists");
    store.ok(["purge", "--doit"]).shows(&["removed 2 replaced fields"]);
    store.ok(["verify", "--data"]);
    store.write_raw(6, b"again");
    assert_eq!(store.read(&field(6)), b"again");
}

#[test]
fn delete_refuses_a_request_that_lacks_keys() {
    let store = Store::with_schema("[ class, expver, stream, date, time [ type, levtype [ step, param ]]]");
    store.write_raw(0, &[7; 100]);
    store.run(["delete", "class=rd", "--doit"]).fails_with(2, &["the request is incomplete", "needs expver"]);
    store.run(["delete", KEY, "--doit"]).fails_with(2, &["the request is incomplete", "needs step"]);
    store.run(["delete", "", "--doit"]).fails_with(2, &["a request without keys"]);
    let file = store.file("requests.txt", format!("retrieve, {KEY}, step=0\n\nretrieve, {KEY}\n").as_bytes());
    store.run(["delete", "-f", &file, "--doit"]).fails_with(2, &["requests.txt:3: ", "needs step"]);
    assert_eq!(store.count(), 1, "with an invalid request among several, nothing is removed");
}

#[test]
fn delete_refuses_a_dataset_that_is_locked_for_wiping() {
    let store = filled();
    store.ok(["lock", "class=rd", "--wipe"]);
    store.run(["delete", &field(0), "--doit"]).fails_with(1, &["is locked: no wipe"]);
    assert_eq!(store.count(), 3);
}
