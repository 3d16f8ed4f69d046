//! Who may do what, from the command line: what is typed, told and refused, and what other users meet.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::Command,
};

use isotach_needs::{Need, skip};

use crate::support::{KEY, Said, Store};

/// Somebody who is not the owner, in a group of his own.
const OTHER: u32 = 3_901_005;

#[test]
fn the_list_of_a_container_is_set_at_creation_and_later_and_is_told_as_it_can_be_typed() {
    let store = Store::absent();
    store.run(["pool", "create"]).succeeds();
    store.run(["container", "create", "box", "--acl", "A::3901005@:rw, A:G:GROUP@:r"]).succeeds();
    let told = store.run(["container", "get-acl", "box"]).succeeds();
    let lines: Vec<&str> = told.text().lines().collect();
    assert!(lines[0].starts_with("# owner: ") && lines[1].starts_with("# group: "), "{lines:?}");
    assert_eq!(lines[2..], ["A::OWNER@:rwdtTaAo", "A::3901005@:rwta", "A:G:GROUP@:rta"]);
    let again = store.run(["container", "set-acl", "box", "--acl", told.text()]).succeeds();
    assert_eq!(again.text(), told.text());
    let json = store.run(["container", "set-acl", "box", "--mode", "750", "--json"]).succeeds();
    let json: serde_json::Value = serde_json::from_str(json.text()).unwrap();
    assert_eq!(json["acl"], serde_json::json!(["A::OWNER@:rwdtTaAo", "A:G:GROUP@:rta"]));
    let path = store.path().join("containers/box");
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o7777, 0o2750);
    store.run(["container", "set-acl", "box", "--acl", "A::alice:r"]).fails_with(
        2,
        &["--acl: principal \"alice\": expected OWNER@, GROUP@, EVERYONE@, or a name with @ behind it"],
    );
    store
        .run(["container", "set-acl", "box", "--mode", "71"])
        .fails_with(2, &["--mode", "three octal digits"]);
    store.run(["container", "set-acl", "box"]).fails(2, "expected --acl or --mode");
    store.run(["container", "set-owner", "box"]).fails(2, "expected --owner or --group");
    store
        .run(["container", "set-acl", "box", "--acl", "A:G:GROUP@:rd"])
        .fails_with(1, &["does not support", "OWNER@ and to root"]);
    store.run(["container", "set-owner", "box", "--owner", "no-such-user"]).fails_with(2, &["no-such-user"]);
    store.run(["container", "get-acl", "none"]).fails_with(1, &["container none", "does not exist"]);
}

/// Runs the program as somebody else, if this is root.
fn as_other(store: &Store, args: &[&str]) -> Option<Said> {
    if !rustix::process::geteuid().is_root() {
        skip(Need::Root, "only root can act for other users");
        return None;
    }
    let folder = store.folder.path();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.join("isotach");
    if !program.exists() {
        // A copy, since the way to the program itself may be closed to that user. Made by another process: a descriptor that
        // is open for writing could be inherited by children of other tests, and the program could not be run.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_isotach")).arg(&program).status();
        assert!(copied.unwrap().success());
    }
    let mut command = Command::new(program);
    command.arg("--store").arg(store.path()).args(args).current_dir(Path::new("/"));
    command.env_clear().env("HOME", "/nonexistent").uid(OTHER).gid(OTHER);
    Some(Said::from(command.output().unwrap()))
}

#[test]
fn a_file_that_may_not_be_written_is_not_replaced_by_a_reading() {
    let store = Store::new();
    store.write_raw(6, b"six");
    let folder = store.folder.path().join("theirs");
    fs::create_dir(&folder).unwrap();
    // He could give another file its name, since the folder is open to him.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let target = folder.join("protected");
    fs::write(&target, b"before").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o444)).unwrap();
    let request = format!("{KEY},step=6");
    let into = |path: &Path| as_other(&store, &["read", &request, "-o", path.to_str().unwrap()]);
    let Some(refused) = into(&target) else { return };
    refused.fails_with(1, &["cannot write to ", "protected: Permission denied"]);
    assert_eq!(fs::read(&target).unwrap(), b"before");
    into(&folder.join("new")).unwrap().succeeds();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let told = format!("cannot create a file in {}: Permission denied", folder.display());
    into(&folder.join("newer")).unwrap().fails_with(1, &[&told]);
}

#[test]
fn new_datasets_have_the_list_of_the_store_and_those_that_are_there_keep_theirs_until_they_are_set() {
    let store = Store::absent();
    let writers = format!("A::{OTHER}@:rw");
    store.run(["init", "--acl", &writers]).succeeds();
    let input = store.folder.path().join("input");
    fs::write(&input, b"bytes of a field").unwrap();
    fs::set_permissions(&input, fs::Permissions::from_mode(0o644)).unwrap();
    let field = |step: &str| format!("{KEY},step={step}");
    let write =
        |step: &str| ["write".to_owned(), "--key".to_owned(), field(step), input.display().to_string()];
    store.run(write("0")).succeeds();
    let dataset = "class=rd,expver=test";
    let told = store.run(["acl", "get", dataset]).succeeds();
    assert!(told.text().contains(&format!("\nA::{OTHER}@:rwta\n")), "{}", told.text());
    // Another user reads, and adds to the dataset, and makes one.
    let other_dataset = field("0").replace("expver=test", "expver=more");
    let input = input.display().to_string();
    for args in [
        vec!["read", &field("0"), "-o", "-"],
        vec!["write", "--key", &field("6"), &input],
        vec!["write", "--key", &other_dataset, &input],
        vec!["list", "class=rd"],
        vec!["verify", "--data"],
    ] {
        let Some(said) = as_other(&store, &args) else { return };
        assert_eq!(said.code, Some(0), "{args:?}: {said:?}");
    }
    let listed = store.run(["list", "class=rd"]).succeeds();
    assert_eq!(listed.text().matches("param=167").count(), 3, "{}", listed.text());
    // Closed to that user, what he made himself excepted.
    store.run(["acl", "set", dataset, "--mode", "700"]).succeeds();
    let said = as_other(&store, &["read", &field("0"), "-o", "-"]).unwrap();
    assert!(said.code == Some(1) && said.err.contains("no permission"), "{said:?}");
    // A listing has all the others, and names this one.
    let said = as_other(&store, &["list", "class=rd"]).unwrap();
    assert!(said.code == Some(1) && said.text().contains("expver=more"), "{said:?}");
    assert!(
        said.err.contains("dataset class=rd,expver=test") && said.err.contains("is closed to this user"),
        "{said:?}"
    );
    let said = as_other(&store, &["container", "list"]).unwrap();
    assert!(said.code == Some(0) && said.text().matches("no permission").count() == 1, "{said:?}");
    let said = as_other(&store, &["read", &other_dataset, "-o", "-"]).unwrap();
    assert_eq!(said.code, Some(0), "{said:?}");
    // The store is closed for writing: reading goes on, and what is refused names what is needed.
    store.run(["acl", "set", "--acl", &format!("A::{OTHER}@:r")]).succeeds();
    let third = field("0").replace("expver=test", "expver=late");
    let said = as_other(&store, &["write", "--key", &third, &input]).unwrap();
    assert!(said.code == Some(1) && said.err.contains("no permission"), "{said:?}");
    let said = as_other(&store, &["list", "expver=more"]).unwrap();
    assert_eq!(said.code, Some(0), "{said:?}");
    store.run(["acl", "set", dataset]).fails_with(2, &["expected --acl, --mode, --owner or --group"]);
}
