//! Snapshots by name, and looking into them.

use serde_json::Value;

use crate::support::{KEY, Store};

#[test]
fn a_snapshot_is_made_looked_into_and_removed() {
    let store = Store::new();
    store.write_raw(6, b"old");
    let said = store.run(["snapshot", "create", "before", "class=rd"]).succeeds();
    assert_eq!(said.text(), "made snapshot before of 1 dataset\n");
    store.write_raw(6, b"new");
    store.write_raw(12, b"later");
    let read = |more: &[&str]| {
        let request = format!("{KEY},step=6/12");
        store.run([&["read", &request, "-o", "-"], more].concat()).succeeds().out
    };
    assert_eq!((read(&["--at", "before"]), read(&[])), (b"old".to_vec(), b"newlater".to_vec()));
    for command in ["list", "axes", "stats", "dump"] {
        let said = store.run([command, "--json", "--at", "before"]).succeeds();
        assert!(!said.text().contains("\"12\""), "{command}: {}", said.text());
    }
    let request = format!("{KEY},step=6/12");
    let said = store.run(["inspect", &request, "--at", "before"]).succeeds();
    assert_eq!((said.text().lines().count(), said.err.as_str()), (1, "isotach: 1 field missing: step=12\n"));

    let said = store.run(["snapshot", "list", "--json"]).succeeds();
    let listed: Value = serde_json::from_str(said.text()).unwrap();
    assert_eq!((&listed["snapshot"], &listed["request"]), (&Value::from("before"), &Value::from("class=rd")));
    assert_eq!((&listed["whole"], &listed["datasets"][0]["class"]), (&Value::from(true), &Value::from("rd")));
    assert!(store.run(["snapshot", "list"]).succeeds().text().contains("before"));

    let said = store.run(["wipe", "class=rd", "--doit"]).succeeds();
    assert!(said.text().contains("in: snapshot before\n"), "{}", said.text());
    assert_eq!(store.count(), 0);
    assert_eq!(read(&["--at", "before"]), b"old");
    store.run(["snapshot", "remove", "before"]).succeeds();
    store.run(["list", "--at", "before"]).fails(1, "--at: snapshot before does not exist");
}

#[test]
fn a_snapshot_that_cannot_be_is_refused_with_the_reason() {
    let store = Store::new();
    store.write_raw(6, b"six");
    store.run(["snapshot", "create", "a/b"]).fails_with(2, &["a/b"]);
    store.run(["snapshot", "create", "none", "class=xx"]).fails_with(2, &["a snapshot of no dataset"]);
    store.run(["snapshot", "create", "part", "step=6"]).fails_with(2, &["snapshots are of whole datasets"]);
    store.run(["snapshot", "remove", "none"]).fails_with(1, &["snapshot none does not exist"]);
    store.run(["snapshot", "create", "one"]).succeeds();
    store.run(["snapshot", "create", "one"]).fails_with(1, &["snapshot one", "exists already"]);
}
