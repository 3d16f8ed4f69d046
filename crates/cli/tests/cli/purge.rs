//! `isotach purge`: the dry run, the purge, and what it refuses.

use serde_json::Value;

use crate::support::{Store, field, tree};

const LENGTH: usize = 300_000;

/// A store with one field that was replaced twice.
fn replaced() -> Store {
    let store = Store::new();
    for byte in 1..=3 {
        store.write_raw(6, &[byte; LENGTH]);
    }
    store
}

fn object(store: &Store, arguments: &[&str]) -> Value {
    store.ok([&["purge", "--json"], arguments].concat()).json()
}

#[test]
fn a_dry_run_reports_what_doit_then_frees() {
    let store = replaced();
    let dry = object(&store, &["class=rd"]);
    assert_eq!((&dry["key"]["class"], &dry["done"]), (&Value::from("rd"), &Value::from(false)));
    assert_eq!((&dry["replaced_fields"], &dry["replaced_bytes"]), (&2.into(), &(2 * LENGTH).into()));
    assert_eq!((&dry["held_bytes"], &dry["history_stays"]), (&0.into(), &Value::from(false)));
    let said = store.ok(["purge"]).shows(&["would remove 2 replaced fields and free "]);
    assert!(said.text().ends_with("; nothing was removed: add --doit to do it\n"), "{said:?}");
    let done = object(&store, &["--doit"]);
    assert_eq!((&done["replaced_fields"], &done["done"]), (&2.into(), &Value::from(true)));
    let freed = |object: &Value| object["freed_bytes"].as_u64().unwrap();
    assert!(freed(&dry).abs_diff(freed(&done)) < 100_000, "{dry} {done}");
    assert!(freed(&done) > LENGTH as u64, "{done}");
    assert!(freed(&done) < done["container_bytes"].as_u64().unwrap(), "{done}");
    assert_eq!(store.read(&field(6)), [3; LENGTH]);
    store.ok(["purge", "--doit"]).shows(&["removed 0 replaced fields, freed "]);
}

#[test]
fn a_dry_run_writes_no_runs_where_a_listing_would() {
    let store = replaced();
    // Runs are written after a few frames.
    let uri = format!("{}?checkpoint=256", store.uri());
    let run = |command| store.bare(["--store", &uri, command]).succeeds();
    let before = tree(&store.path());
    run("purge");
    assert!(tree(&store.path()) == before);
    run("list");
    assert!(tree(&store.path()) != before, "a listing writes runs");
}

#[test]
fn purge_refuses_a_request_below_the_dataset_level() {
    let store = replaced();
    store.run(["purge", "class=rd,step=6", "--doit"]).fails_with(2, &["step", "tell single fields apart"]);
    store.run(["purge", "type=fc", "--doit"]).fails_with(2, &["a container is purged as a whole"]);
    store.run(["purge", "class="]).fails_with(2, &["request: "]);
    assert_eq!(object(&store, &[])["replaced_fields"], 2);
}

#[test]
fn purge_reports_datasets_locked_for_listing_and_purges_the_others() {
    let store = replaced();
    for class in ["od", "ei"] {
        let key = field(6).replace("class=rd", &format!("class={class}"));
        store.write_keyed(&key, b"other");
        store.ok(["lock", &format!("class={class}"), "--list"]);
    }
    let said = store.run(["purge", "--doit"]).exits(1).shows(&["removed 2 replaced fields"]);
    let lines: Vec<&str> = said.err.lines().collect();
    assert_eq!(lines.len(), 2, "{said:?}");
    for class in ["od", "ei"] {
        let start = format!("isotach: dataset class={class},");
        let is_told = |line: &&str| line.starts_with(&start) && line.contains("no list until");
        assert!(lines.iter().any(is_told), "{said:?}");
    }
    store.ok(["lock", "class=rd", "--wipe"]);
    store.run(["purge", "--doit"]).fails_with(1, &["class=rd", "no wipe until it is unlocked"]);
}
