//! Commands other than those for reading and writing.

use serde_json::{Value, json};

use crate::support::{Store, field};

#[track_caller]
fn objects(store: &Store, arguments: &[&str]) -> Vec<Value> {
    let said = store.ok([arguments, &["--json"]].concat());
    said.text().lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn init_keeps_an_existing_store_and_refuses_another_schema() {
    let store = Store::absent();
    assert_eq!(objects(&store, &["init"])[0]["made"], true);
    store.write_raw(0, b"field");
    assert_eq!(objects(&store, &["init"])[0]["made"], false);
    let schema = store.file("other.txt", b"[ class [ type [ step ]]]");
    let reason = "is a field store already, with another schema; its own schema stays in force";
    store.run(["init", "--schema", &schema]).fails(1, &format!("{} {reason}", store.uri()));
    assert_eq!(store.count(), 1);
}

#[test]
fn a_mistake_in_a_schema_is_reported_with_file_line_and_column() {
    let store = Store::absent();
    let schema = store.file("schema.txt", b"[ class\n  [ type [ step ]]");
    store.run(["init", "--schema", &schema]).fails_with(2, &[&format!("{schema}:2:19: expected ")]);
    assert!(!store.path().exists());
}

#[test]
fn wipe_without_doit_reports_and_removes_nothing() {
    let store = Store::with_field(0, b"field");
    let would = store.ok(["wipe", "class=rd"]);
    let last = "would wipe 1 field; nothing was removed: add --doit to remove them";
    assert_eq!(would.text().lines().last(), Some(last));
    assert_eq!(store.count(), 1);
    let wiped = objects(&store, &["wipe", "class=rd", "--doit"]);
    assert_eq!((&wiped[0]["done"], &wiped[0]["fields"]), (&Value::Bool(true), &Value::from(1)));
    assert_eq!(store.count(), 0);
    let none = store.ok(["wipe", "class=rd", "--doit"]);
    assert_eq!(none.text(), "nothing to wipe: the request matches no dataset\n");
}

#[test]
fn axes_and_stats_count_stored_fields() {
    let store = Store::new();
    for step in [6, 0, 12] {
        store.write_raw(step, b"field");
    }
    store.write_raw(0, b"again");
    assert_eq!(objects(&store, &["axes"])[0]["step"], json!(["0", "6", "12"]));
    let table = store.ok(["axes", "class=rd"]);
    let row = table.text().lines().find(|line| line.starts_with("step")).unwrap();
    assert!(row.split_whitespace().eq(["step", "0/6/12"]), "{table:?}");
    let stats = &objects(&store, &["stats"])[0];
    assert_eq!((stats["fields"].as_u64(), stats["bytes"].as_u64()), (Some(3), Some(15)));
    assert_eq!(stats["replaced_fields"], 1);
    assert!(store.ok(["stats"]).text().starts_with("dataset"));
}

#[test]
fn a_lock_on_a_part_of_a_dataset_is_refused() {
    let store = Store::with_field(0, b"field");
    for (command, request, named) in [
        ("lock", "levtype=sfc", "levtype"),
        ("lock", "class=rd,type=fc,step=0", "type, step"),
        ("unlock", "class=rd,param=t", "param"),
    ] {
        let message = format!("the request names {named}, below the dataset; locks are for whole datasets");
        store.run([command, request, "--wipe"]).fails(2, &message);
    }
    assert_eq!(objects(&store, &["status"])[0]["locked"], json!([]));
    assert_eq!(objects(&store, &["lock", "class=rd,date=20240101", "--wipe"])[0]["locked"][0], "wipe");
}

#[test]
fn a_lock_refuses_actions_until_it_is_removed() {
    let store = Store::with_field(0, b"field");
    let locked = &objects(&store, &["lock", "class=rd", "--retrieve", "--wipe"])[0];
    assert_eq!(locked["locked"], json!(["retrieve", "wipe"]));
    let dataset = "class=rd,expver=test,stream=oper,date=20240101,time=0000";
    let locked = |action: &str| {
        let cure = format!("(`isotach unlock REQUEST --{action}`)");
        format!("dataset {dataset} is locked: no {action} until it is unlocked {cure}")
    };
    store.try_read(&field(0)).fails(1, &locked("retrieve"));
    store.run(["wipe", "class=rd", "--doit"]).fails(1, &locked("wipe"));
    store.ok(["unlock", "class=rd", "--retrieve", "--wipe"]);
    assert_eq!(objects(&store, &["status"])[0]["locked"], json!([]));
    assert_eq!(store.read(&field(0)), b"field");
    assert_eq!(store.run(["lock", "class=rd"]).code, Some(2), "the actions are required");
    let none = store.ok(["lock", "class=od", "--wipe"]);
    assert_eq!(none.text(), "nothing to lock: the request matches no dataset\n");
}

#[test]
fn copy_keeps_the_source_and_move_removes_it() {
    let (from, to) = (Store::new(), Store::new());
    from.write_raw(0, b"zero");
    from.write_raw(6, b"six");
    let report = &objects(&from, &["copy", "step=6", "--to", &to.uri()])[0];
    assert_eq!((report["fields"].as_u64(), report["bytes"].as_u64()), (Some(1), Some(3)));
    assert_eq!((from.count(), to.count()), (2, 1));
    from.ok(["move", "class=rd", "--to", &to.uri()]).begins("moved 2 fields, 7 B in ");
    assert_eq!((from.count(), to.count()), (0, 2));
    assert_eq!(to.read(&field("0/6")), b"zerosix");
    let (uri, link) = (from.uri(), from.beside("link"));
    std::os::unix::fs::symlink(from.path(), &link).unwrap();
    for same in [uri.clone(), format!("{uri}/"), format!("{uri}?sync=none"), link] {
        from.run(["copy", "class=rd", "--to", &same]).fails_with(2, &["expected another store"]);
    }
    let absent = Store::absent();
    from.run(["copy", "class=rd", "--to", &absent.uri()]).fails_with(1, &["does not exist; create it with"]);
}

#[test]
fn dump_shows_the_structure_of_a_dataset() {
    let store = Store::with_field(0, b"field");
    store.ok(["dump"]).begins("dataset class=rd,expver=test,");
    let dump = &objects(&store, &["dump"])[0];
    assert_eq!(dump["collocations"][0]["axes"][0]["name"], "step");
    let index = dump["collocations"][0]["index"].as_str().unwrap();
    let entries = objects(&store, &["object", "show", &store.label(), index]);
    assert_eq!(entries.len(), 1, "the index has an entry for the field");
}

#[test]
fn schemas_are_shown_and_checked() {
    let store = Store::with_schema("# mine\n[ class [ type [ step: Step ]]]\n");
    assert_eq!(store.ok(["schema", "show"]).text(), "# mine\n[ class [ type [ step: Step ]]]\n");
    let shown = &objects(&store, &["schema", "show"])[0];
    assert_eq!(shown["text"], "# mine\n[ class [ type [ step: Step ]]]\n");
    let rule = json!({"line": 2, "dataset": ["class"], "collocation": ["type"], "element": ["step"]});
    assert_eq!(shown["rules"], json!([rule]));
    let split = &objects(&store, &["schema", "check", "--key", "class=od,type=fc,step=90m"])[0];
    assert_eq!(split["element"]["step"], "1h30m");
    let parts = ["no rule of the schema fits the key class=od,step=0", "also needs type"];
    store.run(["schema", "check", "--key", "class=od,step=0"]).fails_with(1, &parts);
    let empty = store.file("empty.txt", b"# no rules\n");
    store.run(["schema", "check", &empty]).fails_with(2, &["a schema of 0 rules accepts no field"]);
    let standard = store.bare(["schema", "show", "--standard"]).succeeds();
    let file = store.file("standard.txt", standard.out.as_slice());
    store.ok(["schema", "check", &file]).shows(&["is valid: ", " rules\n"]);
}

#[test]
fn info_and_where_describe_program_and_store() {
    let store = Store::new();
    let info = &objects(&store, &["info"])[0];
    assert_eq!(info["store"], store.uri());
    assert_eq!(info["given_by"], "--store");
    assert!(info["engines"]["posix"].as_array().unwrap().contains(&Value::from("persistent")));
    store.bare(["info"]).succeeds().shows(&["\nstore     none\n"]);
    store.write_raw(0, b"field");
    let places = objects(&store, &["where", "class=rd"]);
    assert_eq!(places[0]["store"], format!("{}/{}", store.uri(), store.label()));
    assert!(store.label().starts_with("rd:test:oper:20240101:0000:-"), "{}", store.label());
}

#[test]
fn a_low_soft_limit_of_open_files_is_raised() {
    let store = Store::with_field(0, b"field");
    assert_eq!(store.limited("-S -n 5", ["list"]).succeeds().lines(), 1);
    store.limited("-n 5", ["list"]).fails_with(1, &["`ulimit -n`"]);
}

#[test]
fn help_completions_and_manual_page_have_the_same_options() {
    let store = Store::absent();
    let print = |arguments: &[&str]| store.bare(arguments).succeeds().text().to_owned();
    for shell in ["bash", "zsh", "fish"] {
        let text = print(&["completions", shell]);
        assert!(text.contains("isotach") && text.contains("skip-bad"), "{shell}");
    }
    let man = print(&["man"]);
    assert_eq!(man, print(&["completions", "man"]));
    for part in [".TH", "ISOTACH WRITE", "ISOTACH OBJECT PUT", "skip\\-bad"] {
        assert!(man.contains(part), "{part}");
    }
    assert!(!man.to_lowercase().contains("demo\\-worker"), "hidden commands are not in the manual page");
    assert!(print(&["--help"]).contains("Exit codes: 0 success, 1 failure, 2 a usage error."));
    assert!(print(&["--version"]).starts_with("isotach "));
}
