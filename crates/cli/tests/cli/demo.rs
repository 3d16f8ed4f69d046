//! `isotach demo`, with a small forecast.

use crate::support::{Store, field, messages};

const SMALL: &str = "demo --members 3 --steps 2 --levels 2 --params 2 --size 8KiB --writers 2";

#[test]
fn every_reader_reads_every_field_and_a_map_is_drawn() {
    let Some(_) = messages(0) else { return };
    let store = Store::absent();
    let out = store.bare(SMALL.split(' ').chain(["--readers", "2", "--json"])).succeeds();
    let lines = out.text().lines().map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<serde_json::Value> = lines.collect();
    let all = lines.last().unwrap();
    assert_eq!((&all["step"], lines.len()), (&"all".into(), 3));
    assert_eq!((all["fields"].as_u64(), all["fields_read"].as_u64()), (Some(24), Some(48)));
    assert_eq!(all["bytes_read"].as_u64(), all["bytes"].as_u64().map(|bytes| bytes * 2));
    let png = std::fs::read(store.folder.path().join("demo.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.len() > 10_000);
    assert!(!store.folder.path().join("demo-store").exists(), "the demo's own folder is removed");
}

#[test]
fn a_named_or_kept_store_remains_after_the_demo() {
    let Some(_) = messages(0) else { return };
    let store = Store::with_field(0, b"mine");
    let next = format!("isotach --store {} axes class=rd,expver=demo", store.uri());
    store.ok(SMALL.split(' ').chain(["--readers", "0"])).shows(&[&next]);
    assert_eq!(store.count(), 25, "existing fields stay");
    // Another demo replaces its own dataset.
    store.ok(SMALL.split(' '));
    assert_eq!(store.count(), 25);

    let home = Store::absent();
    home.bare(SMALL.split(' ').chain(["--keep"])).succeeds();
    let kept = home.bare(["--store", "./demo-store", "list"]).succeeds();
    assert_eq!(kept.lines(), 24);
}

const MOVE_IT: &str = "; the demo creates its own store in demo-store: move demo-store away, or name another store with --store";

#[test]
fn the_demo_leaves_a_store_with_other_data_alone() {
    let Some(_) = messages(0) else { return };
    let expected = "which is not of a demo: expected an earlier demo's store, or nothing";
    let home = Store::absent();
    let run = |arguments: &[&str]| home.bare([&["--store", "./demo-store"], arguments].concat());
    let demo = || home.bare(SMALL.split(' '));
    run(&["pool", "create"]).succeeds();
    run(&["container", "create", "mine"]).succeeds();
    demo().fails_with(1, &["demo-store holds the container mine, ", expected, MOVE_IT]);
    run(&["container", "destroy", "mine", "--doit"]).succeeds();

    run(&["init"]).succeeds();
    let (raw, key) = (home.file("raw", b"field"), field(0));
    let write = |key: &str| run(&["write", "--key", key, &raw]).succeeds();
    write(&key.replace("expver=test", "expver=demo"));
    write(&key);
    demo().fails_with(1, &["demo-store holds the container rd:test:", expected, MOVE_IT]);
    assert_eq!(run(&["list"]).succeeds().lines(), 2);
    assert!(!home.folder.path().join("demo.png").exists());

    // A store with nothing but the demo's dataset is replaced, and removed at the end.
    run(&["wipe", "expver=test", "--doit"]).succeeds();
    demo().succeeds();
    assert!(!home.folder.path().join("demo-store").exists());
}

#[test]
fn the_demo_replaces_the_remains_of_a_killed_demo() {
    let Some(_) = messages(0) else { return };
    let home = Store::absent();
    let folder = home.folder.path().join("demo-store");
    let run = |arguments: &[&str]| home.bare([&["--store", "./demo-store"], arguments].concat()).succeeds();
    // The stages of creating a store: two folders, the superblock, the root of the store.
    let beginnings: [&dyn Fn(); 4] = [
        &|| std::fs::create_dir(&folder).unwrap(),
        &|| std::fs::create_dir_all(folder.join("containers")).unwrap(),
        &|| drop(run(&["pool", "create"])),
        &|| drop((run(&["pool", "create"]), run(&["container", "create", "root"]))),
    ];
    for begin in beginnings {
        begin();
        let one = ["--members", "--steps", "--levels", "--params", "--readers"].map(|flag| [flag, "1"]);
        let out = home.bare([&["demo", "--size", "8KiB"], one.as_flattened()].concat()).succeeds();
        out.begins("1 member, 1 step, 1 level, 1 parameter: 1 field of ");
        assert!(!folder.exists());
    }
}

#[test]
fn the_demo_leaves_other_folders_alone_and_refuses_a_store_in_memory() {
    let Some(_) = messages(0) else { return };
    let home = Store::absent();
    std::fs::create_dir(home.folder.path().join("demo-store")).unwrap();
    home.file("demo-store/mine", b"mine");
    home.bare(SMALL.split(' ')).fails_with(1, &["demo-store holds other files", MOVE_IT]);
    assert!(home.folder.path().join("demo-store/mine").exists());
    let message = "store memory:x: expected one that several processes can use, such as posix:/path";
    home.bare(["--store", "memory:x"].into_iter().chain(SMALL.split(' '))).fails(2, message);
    assert_eq!(home.bare(["demo", "--size", "1.5MiB"]).code, Some(2));
}

#[test]
fn an_unwritable_map_is_reported_before_the_demo_begins() {
    let Some(_) = messages(0) else { return };
    let home = Store::absent();
    let message = "cannot create a file in no: No such file or directory (os error 2)";
    home.bare(SMALL.split(' ').chain(["--map", "no/map.png"])).fails(1, message);
    assert!(!home.folder.path().join("demo-store").exists());
}

#[test]
fn a_benchmark_with_an_empty_workload_is_refused() {
    let home = Store::absent();
    for (flag, value) in [("--procs", "0"), ("--sizes", "31"), ("--sizes", "x"), ("--repetitions", "0")] {
        let out = home.bare(["bench", flag, value]).exits(2);
        assert!(out.err.contains(flag), "{out:?}");
    }
}
