//! Where the store comes from.

use std::fs;

use crate::support::{KEY, Store, program, said};

#[test]
fn without_any_configuration_it_says_what_is_needed() {
    let store = Store::absent();
    said(program(store.folder.path()).arg("list")).fails(
        2,
        "no store: expected --store URI, --config FILE, ISOTACH_STORE or ISOTACH_CONFIG in the environment, or a file \
         isotach.yaml",
    );
}

#[test]
fn the_command_line_counts_before_the_environment_and_that_before_files() {
    let store = Store::absent();
    let home = store.folder.path();
    let yaml = |name: &str| format!("spaces:\n  - pool: posix:{}/{name}\n", home.display());
    fs::create_dir_all(home.join(".config/isotach")).unwrap();
    fs::write(home.join(".config/isotach/isotach.yaml"), yaml("user")).unwrap();
    let place = |change: &dyn Fn(&mut std::process::Command)| {
        let mut command = program(home);
        change(&mut command);
        let out = said(command.args(["where", "--json"])).succeeds();
        let line: serde_json::Value = serde_json::from_str(out.text()).unwrap();
        line["store"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    };
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
fn a_configuration_with_a_mistake_is_told_by_file_line_and_column() {
    let store = Store::absent();
    let file = store.file("bad.yaml", b"spaces:\n  - name: all\n    pol: posix:/x\n");
    let mut command = program(store.folder.path());
    command.arg("--config").arg(&file).arg("list");
    said(&mut command).fails(
        2,
        &format!(
            "{}:3:5: spaces[0]: unknown field `pol`: expected one of `name`, `match`, `pool`, `catalogue`, `store`",
            file.display()
        ),
    );
    said(program(store.folder.path()).args(["--config", "none.yaml", "list"]))
        .fails(1, "file none.yaml does not exist");
}

#[test]
fn spaces_choose_pools_and_reading_looks_in_all() {
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
        said(program(store.folder.path()).args(["--config", file.to_str().unwrap()]).args(arguments))
            .succeeds()
    };
    run(&["init"]);
    for class in ["rd", "od"] {
        let key = format!("{KEY},step=0").replace("class=rd", &format!("class={class}"));
        run(&["write", "--key", &key, raw.to_str().unwrap()]);
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
fn fdbs_configuration_of_a_local_fdb_works_as_it_is() {
    let store = Store::absent();
    store.file("schema", b"[ class, expver, stream, date, time [ type, levtype [ step, param ]]]");
    let yaml = "---\ntype: local\nengine: toc\nschema: schema\nspaces:\n- handler: Default\n  regex: \".*\"\n  roots:\n  \
                - path: root\n";
    let file = store.file("fdb.yaml", yaml.as_bytes());
    let raw = store.file("raw", b"field");
    let run = |arguments: &[&str]| {
        said(program(store.folder.path()).args(["--config", file.to_str().unwrap()]).args(arguments))
            .succeeds()
    };
    run(&["init"]);
    let key = format!("{KEY},step=0");
    run(&["write", "--key", &key, raw.to_str().unwrap()]);
    assert_eq!(run(&["read", &key, "-o", "-"]).out, b"field");
    assert!(store.folder.path().join("root/superblock").exists());
}

#[test]
fn a_day_that_is_none_is_a_mistake_in_the_environment() {
    let store = Store::new();
    let mut command = store.command(["list"]);
    said(command.env("ISOTACH_TODAY", "tomorrow"))
        .fails(2, "ISOTACH_TODAY=\"tomorrow\": expected a day as 2024-01-31");
}

#[test]
fn a_uri_that_is_none_names_the_flag() {
    let store = Store::absent();
    said(program(store.folder.path()).args(["--store", "rados://x", "list"]))
        .fails_with(1, &["engine \"rados\": expected one of: memory, posix"]);
}
