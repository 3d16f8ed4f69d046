//! The commands beside reading and writing.

use serde_json::Value;

use crate::support::{KEY, Store, program, said};

#[track_caller]
fn json(store: &Store, arguments: &[&str]) -> Vec<Value> {
    let said = store.run([arguments, &["--json"]].concat()).succeeds();
    said.text().lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn making_a_store_twice_leaves_it_and_another_schema_is_refused() {
    let store = Store::absent();
    assert_eq!(json(&store, &["init"])[0]["made"], true);
    store.write_raw(0, b"field");
    assert_eq!(json(&store, &["init"])[0]["made"], false);
    let schema = store.file("other.txt", b"[ class [ type [ step ]]]");
    store.run(["init".as_ref(), "--schema".as_ref(), schema.as_os_str()]).fails(
        1,
        &format!(
            "{} is a field store already, with another schema; its own schema stays in force",
            store.uri()
        ),
    );
    assert_eq!(store.count(), 1);
}

#[test]
fn a_schema_with_a_mistake_is_told_by_file_line_and_column() {
    let store = Store::absent();
    let schema = store.file("schema.txt", b"[ class\n  [ type [ step ]]");
    store
        .run(["init".as_ref(), "--schema".as_ref(), schema.as_os_str()])
        .fails_with(2, &[&format!("{}:2:19: expected ", schema.display())]);
    assert!(!store.path().exists());
}

#[test]
fn wiping_says_first_what_would_go() {
    let store = Store::new();
    store.write_raw(0, b"field");
    let would = store.run(["wipe", "class=rd"]).succeeds();
    let last = "would wipe 1 field; nothing was removed: add --doit to remove them";
    assert_eq!(would.text().lines().last(), Some(last));
    assert_eq!(store.count(), 1);
    let objects = json(&store, &["wipe", "class=rd", "--doit"]);
    assert_eq!((&objects[0]["done"], &objects[0]["fields"]), (&Value::Bool(true), &Value::from(1)));
    assert_eq!(store.count(), 0);
    let none = store.run(["wipe", "class=rd", "--doit"]).succeeds();
    assert_eq!(none.text(), "nothing to wipe: the request matches no dataset\n");
}

#[test]
fn axes_and_stats_count_what_there_is() {
    let store = Store::new();
    for step in [6, 0, 12] {
        store.write_raw(step, b"field");
    }
    store.write_raw(0, b"again");
    assert_eq!(json(&store, &["axes"])[0]["step"], serde_json::json!(["0", "6", "12"]));
    let table = store.run(["axes", "class=rd"]).succeeds();
    let row = table.text().lines().find(|line| line.starts_with("step"));
    assert_eq!(
        row.map(|row| row.split_whitespace().collect()),
        Some(vec!["step", "0/6/12"]),
        "{}",
        table.text()
    );
    let stats = &json(&store, &["stats"])[0];
    assert_eq!((stats["fields"].as_u64(), stats["bytes"].as_u64()), (Some(3), Some(15)));
    assert_eq!(stats["replaced_fields"], 1);
    assert!(store.run(["stats"]).succeeds().text().starts_with("dataset"));
}

#[test]
fn a_lock_on_a_part_of_a_dataset_is_refused() {
    let store = Store::new();
    store.write_raw(0, b"field");
    for (command, request, named) in [
        ("lock", "levtype=sfc", "levtype"),
        ("lock", "class=rd,type=fc,step=0", "type, step"),
        ("unlock", "class=rd,param=t", "param"),
    ] {
        store
            .run([command, request, "--wipe"])
            .fails(2, &format!("the request names {named}, below the dataset; locks are for whole datasets"));
    }
    assert_eq!(json(&store, &["status"])[0]["locked"], serde_json::json!([]));
    assert_eq!(json(&store, &["lock", "class=rd,date=20240101", "--wipe"])[0]["locked"][0], "wipe");
}

#[test]
fn a_lock_refuses_until_it_is_lifted() {
    let store = Store::new();
    store.write_raw(0, b"field");
    let locked = &json(&store, &["lock", "class=rd", "--retrieve", "--wipe"])[0];
    assert_eq!(locked["locked"], serde_json::json!(["retrieve", "wipe"]));
    let dataset = "class=rd,expver=test,stream=oper,date=20240101,time=0000";
    store
        .run(["read", &format!("{KEY},step=0"), "-o", "-"])
        .fails(1, &format!("dataset {dataset} is locked: no retrieve until it is unlocked (`isotach unlock REQUEST --retrieve`)"));
    store.run(["wipe", "class=rd", "--doit"]).fails(
        1,
        &format!(
            "dataset {dataset} is locked: no wipe until it is unlocked (`isotach unlock REQUEST --wipe`)"
        ),
    );
    store.run(["unlock", "class=rd", "--retrieve", "--wipe"]).succeeds();
    assert_eq!(json(&store, &["status"])[0]["locked"], serde_json::json!([]));
    assert_eq!(store.read(&format!("{KEY},step=0")), b"field");
    assert_eq!(store.run(["lock", "class=rd"]).code, Some(2), "which actions must be said");
    let none = store.run(["lock", "class=od", "--wipe"]).succeeds();
    assert_eq!(none.text(), "nothing to lock: the request matches no dataset\n");
}

#[test]
fn copying_leaves_the_source_and_moving_does_not() {
    let (from, to) = (Store::new(), Store::new());
    from.write_raw(0, b"zero");
    from.write_raw(6, b"six");
    let report = &json(&from, &["copy", "step=6", "--to", &to.uri()])[0];
    assert_eq!((report["fields"].as_u64(), report["bytes"].as_u64()), (Some(1), Some(3)));
    assert_eq!((from.count(), to.count()), (2, 1));
    let said = from.run(["move", "class=rd", "--to", &to.uri()]).succeeds();
    assert!(said.text().starts_with("moved 2 fields, 7 B in "), "{}", said.text());
    assert_eq!((from.count(), to.count()), (0, 2));
    assert_eq!(to.read(&format!("{KEY},step=0/6")), b"zerosix");
    let link = from.folder.path().join("link");
    std::os::unix::fs::symlink(from.path(), &link).unwrap();
    for same in [
        from.uri(),
        format!("{}/", from.uri()),
        format!("{}?sync=none", from.uri()),
        link.display().to_string(),
    ] {
        from.run(["copy", "class=rd", "--to", &same]).fails_with(2, &["expected another store"]);
    }
    let absent = Store::absent();
    from.run(["copy", "class=rd", "--to", &absent.uri()]).fails_with(1, &["does not exist; create it with"]);
}

#[test]
fn the_structure_of_a_dataset_can_be_seen() {
    let store = Store::new();
    store.write_raw(0, b"field");
    let dump = store.run(["dump"]).succeeds();
    assert!(dump.text().starts_with("dataset class=rd,expver=test,"), "{}", dump.text());
    let dump = &json(&store, &["dump"])[0];
    assert_eq!(dump["collocations"][0]["axes"][0]["name"], "step");
    let index = dump["collocations"][0]["index"].as_str().unwrap();
    let entries = json(&store, &["object", "show", &store.label(), index]);
    assert_eq!(entries.len(), 1, "the index has an entry for the field");
}

#[test]
fn schemas_are_shown_and_checked() {
    let store = Store::with_schema("# mine\n[ class [ type [ step: Step ]]]\n");
    assert_eq!(store.run(["schema", "show"]).succeeds().text(), "# mine\n[ class [ type [ step: Step ]]]\n");
    let shown = &json(&store, &["schema", "show"])[0];
    assert_eq!(shown["text"], "# mine\n[ class [ type [ step: Step ]]]\n");
    let rule =
        serde_json::json!({"line": 2, "dataset": ["class"], "collocation": ["type"], "element": ["step"]});
    assert_eq!(shown["rules"], serde_json::json!([rule]));
    let split = &json(&store, &["schema", "check", "--key", "class=od,type=fc,step=90m"])[0];
    assert_eq!(split["element"]["step"], "1h30m");
    store
        .run(["schema", "check", "--key", "class=od,step=0"])
        .fails_with(1, &["no rule of the schema fits the key class=od,step=0", "also needs type"]);
    let empty = store.file("empty.txt", b"# no rules\n");
    store
        .run(["schema".as_ref(), "check".as_ref(), empty.as_os_str()])
        .fails_with(2, &["a schema of 0 rules can take no field"]);
    let standard = said(program(store.folder.path()).args(["schema", "show", "--standard"])).succeeds();
    let file = store.file("standard.txt", standard.out.as_slice());
    let checked = store.run(["schema".as_ref(), "check".as_ref(), file.as_os_str()]).succeeds();
    assert!(
        checked.text().contains("is good: ") && checked.text().ends_with(" rules\n"),
        "{}",
        checked.text()
    );
}

#[test]
fn the_program_tells_about_itself() {
    let store = Store::new();
    let info = &json(&store, &["info"])[0];
    assert_eq!(info["store"], store.uri());
    assert_eq!(info["given_by"], "--store");
    assert!(info["engines"]["posix"].as_array().unwrap().contains(&Value::from("persistent")));
    let text = said(program(store.folder.path()).arg("info")).succeeds();
    assert!(text.text().contains("\nstore     none\n"), "{}", text.text());
    store.write_raw(0, b"field");
    let places = json(&store, &["where", "class=rd"]);
    assert_eq!(places[0]["store"], format!("{}/{}", store.uri(), store.label()));
    assert!(store.label().starts_with("rd:test:oper:20240101:0000:-"), "{}", store.label());
}

#[test]
fn help_completions_and_the_manual_page_come_from_the_same_definitions() {
    let store = Store::absent();
    let print = |arguments: &[&str]| {
        String::from_utf8(said(program(store.folder.path()).args(arguments)).succeeds().out).unwrap()
    };
    for shell in ["bash", "zsh", "fish"] {
        let text = print(&["completions", shell]);
        assert!(text.contains("isotach") && text.contains("skip-bad"), "{shell}");
    }
    let man = print(&["man"]);
    assert_eq!(man, print(&["completions", "man"]));
    for part in [".TH", "ISOTACH WRITE", "ISOTACH OBJECT PUT", "skip\\-bad"] {
        assert!(man.contains(part), "{part}");
    }
    assert!(!man.to_lowercase().contains("demo\\-worker"), "what is hidden stays hidden");
    assert!(print(&["--help"]).contains("Exit codes: 0 success, 1 failure, 2 a mistake in what was typed."));
    assert!(print(&["--version"]).starts_with("isotach "));
}
