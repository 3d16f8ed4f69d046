//! The sources of the configuration, and its mistakes.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt};

use crate::support::{KEY, Said, Store, program, said};

#[test]
fn without_configuration_the_error_lists_the_sources() {
    let store = Store::absent();
    said(program(store.folder.path()).arg("list")).fails(
        2,
        "no store: expected --store URI, --config FILE, ISOTACH_STORE or ISOTACH_CONFIG in the environment, or a file \
         isotach.yaml",
    );
}

#[test]
fn the_command_line_precedes_the_environment_and_that_precedes_files() {
    let store = Store::absent();
    let home = store.folder.path();
    let yaml = |name: &str| format!("spaces:\n  - pool: posix:{}/{name}\n", home.display());
    fs::create_dir_all(home.join("machine/isotach")).unwrap();
    fs::write(home.join("machine/isotach/isotach.yaml"), yaml("machine")).unwrap();
    let place = |change: &dyn Fn(&mut std::process::Command)| {
        let mut command = program(home);
        change(&mut command);
        let out = said(command.args(["where", "--json"])).succeeds();
        let line = out.json();
        line["store"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    };
    assert_eq!(place(&|_| ()), "machine");
    fs::create_dir_all(home.join(".config/isotach")).unwrap();
    fs::write(home.join(".config/isotach/isotach.yaml"), yaml("user")).unwrap();
    assert_eq!(place(&|_| ()), "user");
    fs::write(home.join("isotach.yaml"), yaml("here")).unwrap();
    assert_eq!(place(&|_| ()), "here");
    fs::write(home.join("other.yaml"), yaml("variable")).unwrap();
    assert_eq!(
        place(&|c| {
            c.env("ISOTACH_CONFIG", "other.yaml");
        }),
        "variable"
    );
    let both = |c: &mut std::process::Command| {
        c.env("ISOTACH_CONFIG", "other.yaml").env("ISOTACH_STORE", "/x/env");
    };
    assert_eq!(place(&both), "env");
    fs::write(home.join("flag.yaml"), yaml("flag")).unwrap();
    assert_eq!(
        place(&|c| {
            both(c);
            c.args(["--config", "flag.yaml"]);
        }),
        "flag"
    );
    assert_eq!(
        place(&|c| {
            both(c);
            c.args(["--store", "./relative"]);
        }),
        "relative"
    );
}

#[test]
fn a_mistake_in_a_configuration_is_reported_with_line_and_column() {
    let store = Store::absent();
    let file = store.file("bad.yaml", b"spaces:\n  - name: all\n    pol: posix:/x\n");
    let mut command = program(store.folder.path());
    command.arg("--config").arg(&file).arg("list");
    said(&mut command).fails(
        2,
        &format!(
            "{}:3:5: spaces[0]: unknown field `pol`: expected one of `name`, `match`, `pool`, `catalogue`, `store`",
            file
        ),
    );
    said(program(store.folder.path()).args(["--config", "none.yaml", "list"]))
        .fails(2, "--config: file none.yaml does not exist");
    said(program(store.folder.path()).args(["--config", ".", "list"])).fails_with(2, &["directory"]);
    store.file("binary.yaml", b"spaces: \xff\n");
    said(program(store.folder.path()).args(["--config", "binary.yaml", "list"]))
        .fails_with(2, &["binary.yaml", "UTF-8"]);
}

#[test]
fn errors_of_pools_and_spaces_name_their_place_in_the_file() {
    let store = Store::absent();
    let run = |text: &str, command: &str| {
        store.file("bad.yaml", text.as_bytes());
        said(program(store.folder.path()).args(["--config", "bad.yaml", command]))
    };
    run("spaces:\n  - pool: posix:store?sync=maybe\n", "list")
        .fails_with(2, &["bad.yaml:2:23: option sync=maybe in posix:", ": expected yes or no"]);
    run("spaces:\n  - pool: foo:/x\n", "list")
        .fails_with(2, &["bad.yaml:2:11: engine \"foo\": expected one of"]);
    run("schema: nofile\nspaces: [{pool: 'posix:store'}]\n", "init")
        .fails_with(2, &["bad.yaml:1:9: schema ", "nofile: No such file"]);
    run("spaces: []\n", "list").fails_with(2, &["bad.yaml:1:1: spaces: expected at least one space"]);
    store.ok(["init"]);
    run("spaces:\n  - pool: posix:store\n    match: {klass: rd}\n", "list").fails_with(
        2,
        &["bad.yaml:3:13: match: key \"klass\": expected a dataset key of the schema: activity, class, "],
    );
}

#[test]
fn a_schema_without_rules_creates_no_store() {
    let store = Store::absent();
    let schema = store.file("empty.schema", b"# nothing\n");
    store
        .run(["init", "--schema", &schema])
        .fails_with(2, &["empty.schema: a schema of 0 rules accepts no field: expected at least one rule"]);
    assert!(!store.path().exists());
}

#[test]
fn a_store_in_memory_is_refused_with_the_reason() {
    let store = Store::absent();
    said(program(store.folder.path()).args(["--store", "memory:x", "list"]))
        .fails_with(1, &["a memory: store exists within one process only"]);
}

#[test]
fn spaces_choose_pools_and_reads_search_all() {
    let store = Store::absent();
    let yaml = "schema: schema.txt\nspaces:\n  - name: operations\n    match: {class: od}\n    catalogue: posix:fast\n    \
                store: posix:big\n  - name: rest\n    pool: posix:rest\n";
    let file = store.file("isotach.yaml", yaml.as_bytes());
    store.file(
        "schema.txt",
        b"[ class, expver, stream, date: Date, time: Time [ type, levtype [ step: Step, param: Param ]]]",
    );
    let raw = store.file("raw", b"field");
    let run = |arguments: &[&str]| {
        said(program(store.folder.path()).args(["--config", &file]).args(arguments)).succeeds()
    };
    run(&["init"]);
    for class in ["rd", "od"] {
        let key = format!("{KEY},step=0").replace("class=rd", &format!("class={class}"));
        run(&["write", "--key", &key, &raw]);
        assert_eq!(run(&["read", &key, "-o", "-"]).out, b"field");
    }
    let listed = run(&["list", "--json"]);
    let places: Vec<&str> = listed.text().lines().collect();
    assert!(
        places.iter().any(|line| line.contains("/big/") && line.contains("\"class\":\"od\"")),
        "{places:?}"
    );
    assert!(
        places.iter().any(|line| line.contains("/rest/") && line.contains("\"class\":\"rd\"")),
        "{places:?}"
    );
    assert_eq!(run(&["pool", "list", "--json"]).text().lines().count(), 3);
}

#[test]
fn the_configuration_of_a_local_fdb_works_unchanged() {
    let store = Store::absent();
    store.file("schema", b"[ class, expver, stream, date, time [ type, levtype [ step, param ]]]");
    let yaml = "---\ntype: local\nengine: toc\nschema: schema\nspaces:\n- handler: Default\n  regex: \".*\"\n  roots:\n  \
                - path: root\n";
    let file = store.file("fdb.yaml", yaml.as_bytes());
    let raw = store.file("raw", b"field");
    let run = |arguments: &[&str]| {
        said(program(store.folder.path()).args(["--config", &file]).args(arguments)).succeeds()
    };
    run(&["init"]);
    let key = format!("{KEY},step=0");
    run(&["write", "--key", &key, &raw]);
    assert_eq!(run(&["read", &key, "-o", "-"]).out, b"field");
    assert!(store.folder.path().join("root/superblock").exists());
}

/// A store in `root` with one field, whose configuration in FDB's form then gets these switches of the root.
fn limited(switches: &str) -> (Store, impl Fn(&[&str]) -> Said) {
    let store = Store::absent();
    store.file("schema", b"[ class, expver, stream, date, time [ type, levtype [ step, param ]]]");
    let yaml = |switches: &str| {
        format!("type: local\nschema: schema\nspaces:\n- roots:\n  - {{path: root, {switches}}}\n")
    };
    let file = store.file("fdb.yaml", yaml("wipe: true").as_bytes());
    let raw = store.file("raw", b"field");
    let folder = store.folder.path().to_owned();
    let run = move |arguments: &[&str]| said(program(&folder).args(["--config", &file]).args(arguments));
    run(&["init"]).succeeds();
    run(&["write", "--key", &format!("{KEY},step=0"), &raw]).succeeds();
    store.file("fdb.yaml", yaml(switches).as_bytes());
    (store, run)
}

#[test]
fn every_command_respects_the_switches_of_a_root() {
    let field = format!("{KEY},step=0");
    let by = |key: &str| format!("by `{key}: false` of spaces[0].roots[0] in ");
    let (_store, run) = limited("wipe: false");
    run(&["wipe", "class=rd", "--doit"]).fails_with(1, &["the configuration forbids wipe, ", &by("wipe")]);
    run(&["purge", "class=rd", "--doit"]).fails_with(1, &["the configuration forbids wipe, "]);
    run(&["container", "destroy", "root", "--doit", "--force"]).fails_with(1, &["`wipe: false`", "--store"]);
    run(&["pool", "destroy", "--doit", "--force"]).fails_with(1, &["`wipe: false`", "--store"]);
    assert_eq!(run(&["read", &field, "-o", "-"]).succeeds().out, b"field");
    let status = run(&["status"]).succeeds();
    assert!(status.text().contains("wipe (by the configuration)"), "{status:?}");
    assert!(run(&["where", "--json"]).succeeds().text().contains("\"forbidden\":[\"wipe\"]"));

    let (store, run) = limited("writable: false");
    let raw = store.beside("raw");
    let write = run(&["write", "--key", &format!("{KEY},step=6"), &raw]);
    write.fails_with(1, &["the configuration forbids archive, ", &by("writable")]);
    assert_eq!(run(&["read", &field, "-o", "-"]).succeeds().out, b"field");
    assert_eq!(run(&["list"]).succeeds().text().lines().count(), 1);

    let (_store, run) = limited("visit: false");
    assert_eq!(run(&["list"]).succeeds().text(), "");
    run(&["read", &field, "-o", "-"]).fails_with(1, &["the configuration forbids retrieve, ", &by("visit")]);
}

#[test]
fn init_does_not_create_a_root_that_is_not_writable() {
    let store = Store::absent();
    let file = store.file("fdb.yaml", b"type: local\nspaces: [{roots: [{path: root, writable: false}]}]\n");
    let init = said(program(store.folder.path()).args(["--config", &file, "init"]));
    init.fails_with(
        1,
        &["/root, which is not there: the configuration forbids archive, by `writable: false`"],
    );
    assert!(!store.folder.path().join("root").exists());
}

#[test]
fn info_and_init_note_settings_without_effect() {
    let store = Store::absent();
    let yaml = b"type: local\nuseSubToc: true\nserverPort: 7654\nspaces: [{roots: [{path: root}]}]\n";
    let file = store.file("fdb.yaml", yaml);
    let run =
        |command: &str| said(program(store.folder.path()).args(["--config", &file, command])).succeeds();
    let info = run("info");
    let note = format!("note      {}: useSubToc has no effect: it is about", file);
    assert!(info.text().contains(&note), "{info:?}");
    assert_eq!(run("init").err.lines().count(), 2);
    assert_eq!(run("list").err, "");
}

#[test]
fn an_invalid_value_of_isotach_today_is_a_usage_error() {
    let store = Store::new();
    let mut command = store.command(["list"]);
    said(command.env("ISOTACH_TODAY", "tomorrow"))
        .fails(2, "ISOTACH_TODAY=\"tomorrow\": expected a day as 2024-01-31");
}

#[test]
fn a_store_that_looks_like_a_path_is_refused_with_the_correct_form() {
    let store = Store::absent();
    let list = |uri: &str| said(program(store.folder.path()).args(["--store", uri, "list"]));
    list("/data/x?sync=no").fails(
        2,
        "--store: store \"/data/x?sync=no\": expected posix:/data/x?sync=no, because a path alone has no options",
    );
    list("nam").fails_with(2, &["--store: store \"nam\": expected ./nam or posix:nam"]);
    list("./nam").fails_with(1, &["does not exist; create it with"]);
}

#[test]
fn an_invalid_uri_is_reported_with_its_flag() {
    let store = Store::absent();
    said(program(store.folder.path()).args(["--store", "tape://x", "list"]))
        .fails_with(2, &["--store: engine \"tape\": expected one of: daos, memory, posix, rados"]);
}

#[test]
fn invalid_values_of_variables_are_reported_with_their_name() {
    let store = Store::new();
    let bytes = OsStr::from_bytes(b"x\xff");
    let with = |name: &str, value: &OsStr| said(store.command(["list"]).env(name, value));
    with("ISOTACH_TODAY", bytes).fails(2, "ISOTACH_TODAY=\"x\\xFF\": expected text in UTF-8");
    with("ISOTACH_TODAY", "2024-02-30".as_ref())
        .fails(2, "ISOTACH_TODAY=\"2024-02-30\": expected a day as 2024-01-31");
    let home = |name: &str, value: &OsStr| said(program(store.folder.path()).arg("list").env(name, value));
    home("ISOTACH_STORE", bytes).fails(2, "ISOTACH_STORE=\"x\\xFF\": expected text in UTF-8");
    home("ISOTACH_CONFIG", "none.yaml".as_ref()).fails(2, "ISOTACH_CONFIG: file none.yaml does not exist");
    home("ISOTACH_CONFIG", bytes).fails(2, "ISOTACH_CONFIG: file x\u{fffd} does not exist");
}

#[test]
fn an_empty_store_uri_is_refused_with_the_expected_form() {
    let store = Store::absent();
    for blank in ["", " "] {
        said(program(store.folder.path()).args(["--store", blank, "list"]))
            .fails(2, &format!("--store: store {blank:?}: expected a URI such as posix:/path or memory:"));
    }
}
