//! `isotach snapshot`, and reading snapshots.

use serde_json::Value;

use crate::support::{Store, field};

#[test]
fn a_snapshot_is_created_read_and_removed() {
    let store = Store::with_field(6, b"old");
    let said = store.ok(["snapshot", "create", "before", "class=rd"]);
    assert_eq!(said.text(), "created snapshot before of 1 dataset\n");
    store.write_raw(6, b"new");
    store.write_raw(12, b"later");
    let read = |more: &[&str]| {
        let request = field("6/12");
        store.ok([&["read", &request, "-o", "-"], more].concat()).out
    };
    assert_eq!((read(&["--at", "before"]), read(&[])), (b"old".to_vec(), b"newlater".to_vec()));
    for command in ["list", "axes", "stats", "dump"] {
        let said = store.ok([command, "--json", "--at", "before"]);
        assert!(!said.text().contains("\"12\""), "{command}: {}", said.text());
    }
    let said = store.ok(["inspect", &field("6/12"), "--at", "before"]);
    assert_eq!((said.lines(), said.err.as_str()), (1, "isotach: 1 field missing: step=12\n"));

    let said = store.ok(["snapshot", "list", "--json"]);
    let listed = said.json();
    assert_eq!((&listed["snapshot"], &listed["request"]), (&Value::from("before"), &Value::from("class=rd")));
    assert_eq!((&listed["whole"], &listed["datasets"][0]["class"]), (&Value::from(true), &Value::from("rd")));
    assert!(store.ok(["snapshot", "list"]).text().contains("before"));

    store.ok(["wipe", "class=rd", "--doit"]).shows(&["in: snapshot before\n"]);
    assert_eq!(store.count(), 0);
    assert_eq!(read(&["--at", "before"]), b"old");
    store.ok(["snapshot", "remove", "before"]);
    store.run(["list", "--at", "before"]).fails(1, "--at: snapshot before does not exist");
}

#[test]
fn an_impossible_snapshot_is_refused_with_the_reason() {
    let store = Store::with_field(6, b"six");
    store.run(["snapshot", "create", "a/b"]).fails_with(2, &["a/b"]);
    store.run(["snapshot", "create", "none", "class=xx"]).fails_with(2, &["a snapshot of no dataset"]);
    store.run(["snapshot", "create", "part", "step=6"]).fails_with(2, &["snapshots are of whole datasets"]);
    store.run(["snapshot", "remove", "none"]).fails_with(1, &["snapshot none does not exist"]);
    store.ok(["snapshot", "create", "one"]);
    store.run(["snapshot", "create", "one"]).fails_with(1, &["snapshot one", "exists already"]);
}
