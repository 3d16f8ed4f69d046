//! The sources of the configuration, and its mistakes.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, process::Command};

use crate::support::{Said, Store, field, program, said};

#[test]
fn the_command_line_precedes_the_environment_and_that_precedes_files() {
    let store = Store::absent();
    let home = store.folder.path();
    let write = |path: &str, name: &str| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("spaces:\n  - pool: posix:{}/{name}\n", home.display())).unwrap();
    };
    let pool = |change: &dyn Fn(&mut Command)| {
        let mut command = program(home);
        change(&mut command);
        let line = said(command.args(["where", "--json"])).succeeds().json();
        line["store"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    };
    for (path, name) in [
        ("machine/isotach/isotach.yaml", "machine"),
        (".config/isotach/isotach.yaml", "user"),
        ("isotach.yaml", "here"),
    ] {
        write(path, name);
        assert_eq!(pool(&|_| ()), name);
    }
    write("other.yaml", "variable");
    write("flag.yaml", "flag");
    for (store, flags, name) in [
        ("", &[][..], "variable"),
        ("/x/env", &[], "env"),
        ("/x/env", &["--config", "flag.yaml"], "flag"),
        ("/x/env", &["--store", "./relative"], "relative"),
    ] {
        let found = pool(&|command| {
            command.env("ISOTACH_CONFIG", "other.yaml").env("ISOTACH_STORE", store).args(flags);
        });
        assert_eq!(found, name);
    }
}

#[test]
fn a_mistake_in_a_configuration_is_reported_with_its_place() {
    let store = Store::absent();
    store.bare(["list"]).fails(
        2,
        "no store: expected --store URI, --config FILE, ISOTACH_STORE or ISOTACH_CONFIG in the environment, or a file \
         isotach.yaml",
    );
    store.bare(["--config", "none.yaml", "list"]).fails(2, "--config: file none.yaml does not exist");
    store.bare(["--config", ".", "list"]).fails_with(2, &["directory"]);
    store.file("binary.yaml", b"spaces: \xff\n");
    store.bare(["--config", "binary.yaml", "list"]).fails_with(2, &["binary.yaml", "UTF-8"]);

    let run = |text: &str, command: &str, parts: &[&str]| {
        store.file("bad.yaml", text.as_bytes());
        store.bare(["--config", "bad.yaml", command]).fails_with(2, parts);
    };
    let fields = "expected one of `name`, `match`, `pool`, `catalogue`, `store`";
    let unknown = format!("bad.yaml:3:5: spaces[0]: unknown field `pol`: {fields}\n");
    run("spaces:\n  - name: all\n    pol: posix:/x\n", "list", &[&unknown]);
    let option = "bad.yaml:2:23: option sync=maybe in posix:";
    run("spaces:\n  - pool: posix:store?sync=maybe\n", "list", &[option, ": expected yes or no"]);
    run("spaces:\n  - pool: foo:/x\n", "list", &["bad.yaml:2:11: engine \"foo\": expected one of"]);
    let schema = "schema: nofile\nspaces: [{pool: 'posix:store'}]\n";
    run(schema, "init", &["bad.yaml:1:9: schema ", "nofile: No such file"]);
    run("spaces: []\n", "list", &["bad.yaml:1:1: spaces: expected at least one space"]);
    store.ok(["init"]);
    let klass =
        "bad.yaml:3:13: match: key \"klass\": expected a dataset key of the schema: activity, class, ";
    run("spaces:\n  - pool: posix:store\n    match: {klass: rd}\n", "list", &[klass]);
}

#[test]
fn a_schema_without_rules_creates_no_store() {
    let store = Store::absent();
    let schema = store.file("empty.schema", b"# nothing\n");
    let message = "empty.schema: a schema of 0 rules accepts no field: expected at least one rule";
    store.run(["init", "--schema", &schema]).fails_with(2, &[message]);
    assert!(!store.path().exists());
}

#[test]
fn a_space_that_matches_no_dataset_key_creates_no_store() {
    let store = Store::absent();
    let raw = store.file("raw", b"field");
    let message = "match: key \"klass\": expected a dataset key of the schema: activity, class, ";
    for pool in ["new", "deep/new"] {
        let run = store.configured(&format!("spaces:\n  - pool: posix:{pool}\n    match: {{klass: rd}}\n"));
        for arguments in
            [&["init"][..], &["init", "--parents"], &["write", "--init", "--key", &field(0), &raw]]
        {
            run(arguments).fails_with(2, &[message]);
            assert!(!store.folder.path().join("new").exists() && !store.folder.path().join("deep").exists());
        }
    }
}

#[test]
fn spaces_choose_pools_and_reads_search_all() {
    let store = Store::absent();
    store.file(
        "schema.txt",
        b"[ class, expver, stream, date: Date, time: Time [ type, levtype [ step: Step, param: Param ]]]",
    );
    let run = store.configured(
        "schema: schema.txt\nspaces:\n  - name: operations\n    match: {class: od}\n    catalogue: posix:fast\n    \
         store: posix:big\n  - name: rest\n    pool: posix:rest\n",
    );
    let raw = store.file("raw", b"field");
    run(&["init"]).succeeds();
    for class in ["rd", "od"] {
        let key = field(0).replace("class=rd", &format!("class={class}"));
        run(&["write", "--key", &key, &raw]).succeeds();
        assert_eq!(run(&["read", &key, "-o", "-"]).succeeds().out, b"field");
    }
    let listed = run(&["list", "--json"]).succeeds();
    for (pool, class) in [("/big/", "\"class\":\"od\""), ("/rest/", "\"class\":\"rd\"")] {
        let mut lines = listed.text().lines();
        assert!(lines.any(|line| line.contains(pool) && line.contains(class)), "{listed:?}");
    }
    assert_eq!(run(&["pool", "list", "--json"]).succeeds().lines(), 3);
}

/// A store in `root` with one field, configured by FDB's file with this handler of roots.
fn fdb_store(head: &str, root: &str) -> (Store, impl Fn(&[&str]) -> Said) {
    let store = Store::absent();
    store.file("schema", b"[ class, expver, stream, date, time [ type, levtype [ step, param ]]]");
    let run =
        store.configured(&format!("type: local\nschema: schema\n{head}spaces:\n- roots:\n  - {root}\n"));
    let raw = store.file("raw", b"field");
    run(&["init"]).succeeds();
    run(&["write", "--key", &field(0), &raw]).succeeds();
    (store, run)
}

#[test]
fn the_configuration_of_a_local_fdb_works_unchanged() {
    let (store, run) = fdb_store("engine: toc\n", "path: root");
    assert_eq!(run(&["read", &field(0), "-o", "-"]).succeeds().out, b"field");
    assert!(store.folder.path().join("root/superblock").exists());
}

#[test]
fn every_command_respects_the_switches_of_a_root() {
    let zero = field(0);
    let by = |key: &str| format!("by `{key}: false` of spaces[0].roots[0] in ");
    let limited = |switch: &str| {
        let (store, run) = fdb_store("", "{path: root, wipe: true}");
        let yaml = fs::read_to_string(store.beside("isotach.yaml")).unwrap();
        store.file("isotach.yaml", yaml.replace("wipe: true", switch).as_bytes());
        (store, run)
    };
    let (_store, run) = limited("wipe: false");
    run(&["wipe", "class=rd", "--doit"]).fails_with(1, &["the configuration forbids wipe, ", &by("wipe")]);
    run(&["purge", "class=rd", "--doit"]).fails_with(1, &["the configuration forbids wipe, "]);
    run(&["container", "destroy", "root", "--doit", "--force"]).fails_with(1, &["`wipe: false`", "--store"]);
    run(&["pool", "destroy", "--doit", "--force"]).fails_with(1, &["`wipe: false`", "--store"]);
    assert_eq!(run(&["read", &zero, "-o", "-"]).succeeds().out, b"field");
    run(&["status"]).succeeds().shows(&["wipe (by the configuration)"]);
    run(&["where", "--json"]).succeeds().shows(&["\"forbidden\":[\"wipe\"]"]);

    let (store, run) = limited("writable: false");
    let write = run(&["write", "--key", &field(6), &store.beside("raw")]);
    write.fails_with(1, &["the configuration forbids archive, ", &by("writable")]);
    assert_eq!(run(&["read", &zero, "-o", "-"]).succeeds().out, b"field");
    assert_eq!(run(&["list"]).succeeds().lines(), 1);

    let (_store, run) = limited("visit: false");
    assert_eq!(run(&["list"]).succeeds().text(), "");
    run(&["read", &zero, "-o", "-"]).fails_with(1, &["the configuration forbids retrieve, ", &by("visit")]);
}

#[test]
fn init_does_not_create_a_root_that_is_not_writable() {
    let store = Store::absent();
    let run = store.configured("type: local\nspaces: [{roots: [{path: root, writable: false}]}]\n");
    let message = "/root, which is not there: the configuration forbids archive, by `writable: false`";
    run(&["init"]).fails_with(1, &[message]);
    assert!(!store.folder.path().join("root").exists());
}

#[test]
fn info_and_init_note_settings_without_effect() {
    let store = Store::absent();
    let yaml = "type: local\nuseSubToc: true\nserverPort: 7654\nspaces: [{roots: [{path: root}]}]\n";
    let run = store.configured(yaml);
    let note = format!("note      {}: useSubToc has no effect: it is about", store.beside("isotach.yaml"));
    run(&["info"]).succeeds().shows(&[&note]);
    assert_eq!(run(&["init"]).succeeds().err.lines().count(), 2);
    assert_eq!(run(&["list"]).succeeds().err, "");
}

#[test]
fn an_invalid_store_is_refused_with_the_expected_form() {
    let store = Store::absent();
    let expected = "expected posix:/data/x?sync=no, because a path alone has no options";
    let path = format!("store \"/data/x?sync=no\": {expected}\n");
    for (uri, code, message) in [
        ("/data/x?sync=no", 2, &*path),
        ("nam", 2, "store \"nam\": expected ./nam or posix:nam"),
        ("tape://x", 2, "engine \"tape\": expected one of: daos, memory, posix, rados"),
        ("", 2, "store \"\": expected a URI such as posix:/path or memory:"),
        (" ", 2, "store \" \": expected a URI such as posix:/path or memory:"),
        ("./nam", 1, "does not exist; create it with"),
        ("memory:x", 1, "a memory: store exists within one process only"),
    ] {
        let flag = if code == 2 { "--store: " } else { "" };
        store.bare(["--store", uri, "list"]).fails_with(code, &[&format!("{flag}{message}")]);
    }
}

#[test]
fn invalid_values_of_variables_are_reported_with_their_name() {
    let store = Store::new();
    let bytes = OsStr::from_bytes(b"x\xff");
    let day = |value: &str| format!("ISOTACH_TODAY=\"{value}\": expected a day as 2024-01-31");
    for (name, value, message) in [
        ("ISOTACH_TODAY", bytes, "ISOTACH_TODAY=\"x\\xFF\": expected text in UTF-8".to_owned()),
        ("ISOTACH_TODAY", "2024-02-30".as_ref(), day("2024-02-30")),
        ("ISOTACH_TODAY", "tomorrow".as_ref(), day("tomorrow")),
        ("ISOTACH_STORE", bytes, "ISOTACH_STORE=\"x\\xFF\": expected text in UTF-8".to_owned()),
        ("ISOTACH_CONFIG", "none.yaml".as_ref(), "ISOTACH_CONFIG: file none.yaml does not exist".to_owned()),
        ("ISOTACH_CONFIG", bytes, "ISOTACH_CONFIG: file x\u{fffd} does not exist".to_owned()),
    ] {
        let mut command = match name {
            "ISOTACH_TODAY" => store.command([""; 0]),
            _ => program(store.folder.path()),
        };
        said(command.arg("list").env(name, value)).fails(2, &message);
    }
}
