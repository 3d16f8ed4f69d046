//! Permissions: setting and showing them, and what other users may do.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use serde_json::json;

use crate::support::{OTHER, Store, field, set_mode};

#[test]
fn permissions_of_a_container_are_set_at_creation_and_later_and_print_as_input() {
    let store = Store::absent();
    store.ok(["pool", "create"]);
    store.ok(["container", "create", "box", "--acl", "A::3901005@:rw, A:G:GROUP@:r"]);
    let shown = store.ok(["container", "get-acl", "box"]);
    let lines: Vec<&str> = shown.text().lines().collect();
    assert!(lines[0].starts_with("# owner: ") && lines[1].starts_with("# group: "), "{lines:?}");
    assert_eq!(lines[2..], ["A::OWNER@:rwdtTaAo", "A::3901005@:rwta", "A:G:GROUP@:rta"]);
    let again = store.ok(["container", "set-acl", "box", "--acl", shown.text()]);
    assert_eq!(again.text(), shown.text());
    let set = store.ok(["container", "set-acl", "box", "--mode", "750", "--json"]);
    assert_eq!(set.json()["acl"], json!(["A::OWNER@:rwdtTaAo", "A:G:GROUP@:rta"]));
    let path = store.path().join("containers/box");
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o7777, 0o2750);
    let principal =
        "--acl: principal \"alice\": expected OWNER@, GROUP@, EVERYONE@, or a name with @ behind it";
    for (arguments, code, parts) in [
        (&["set-acl", "box", "--acl", "A::alice:r"][..], 2, &[principal][..]),
        (&["set-acl", "box", "--mode", "71"], 2, &["--mode", "three octal digits"]),
        (&["set-acl", "box"], 2, &["expected --acl or --mode"]),
        (&["set-owner", "box"], 2, &["expected --owner or --group"]),
        (&["set-acl", "box", "--acl", "A:G:GROUP@:rd"], 1, &["does not support", "OWNER@ and to root"]),
        (&["set-owner", "box", "--owner", "no-such-user"], 2, &["no-such-user"]),
        (&["get-acl", "none"], 1, &["container none", "does not exist"]),
    ] {
        store.run([&["container"], arguments].concat()).fails_with(code, parts);
    }
}

#[test]
fn read_does_not_replace_a_file_without_write_permission() {
    let store = Store::with_field(6, b"six");
    let folder = store.folder.path().join("theirs");
    fs::create_dir(&folder).unwrap();
    // The other user could rename a file over this one, because the folder is open.
    set_mode(&folder, 0o777);
    let protected = folder.join("protected");
    fs::write(&protected, b"before").unwrap();
    set_mode(&protected, 0o444);
    let into = |path: &Path| store.run_as_other(&["read", &field(6), "-o", path.to_str().unwrap()]);
    let Some(refused) = into(&protected) else { return };
    refused.fails_with(1, &["cannot write to ", "protected: Permission denied"]);
    assert_eq!(fs::read(&protected).unwrap(), b"before");
    into(&folder.join("new")).unwrap().succeeds();
    // A folder for deliveries may be written and not read.
    set_mode(&folder, 0o1733);
    into(&folder.join("delivered")).unwrap().succeeds();
    assert_eq!(fs::read(folder.join("delivered")).unwrap(), b"six");
    set_mode(&folder, 0o755);
    let message = format!("cannot create a file in {}: Permission denied", folder.display());
    into(&folder.join("newer")).unwrap().fails_with(1, &[&message]);
}

#[test]
fn new_datasets_inherit_the_permissions_of_the_store_and_existing_ones_keep_theirs() {
    let store = Store::absent();
    store.ok(["init", "--acl", &format!("A::{OTHER}@:rw")]);
    let input = store.file("input", b"bytes of a field");
    set_mode(&input, 0o644);
    let (first, second) = (field(0), field(6));
    store.ok(["write", "--key", &first, &input]);
    let dataset = "class=rd,expver=test";
    store.ok(["acl", "get", dataset]).shows(&[&format!("\nA::{OTHER}@:rwta\n")]);
    // The other user reads, adds to the dataset, and creates one.
    let other = first.replace("expver=test", "expver=more");
    for arguments in [
        &["read", &first, "-o", "-"][..],
        &["write", "--key", &second, &input],
        &["write", "--key", &other, &input],
        &["list", "class=rd"],
        &["verify", "--data"],
    ] {
        let Some(said) = store.run_as_other(arguments) else { return };
        said.succeeds();
    }
    let listed = store.ok(["list", "class=rd"]);
    assert_eq!(listed.text().matches("param=167").count(), 3, "{}", listed.text());
    // Closed to that user, except for the dataset that he owns.
    store.ok(["acl", "set", dataset, "--mode", "700"]);
    let run = |arguments: &[&str]| store.run_as_other(arguments).unwrap();
    run(&["read", &first, "-o", "-"]).fails_with(1, &["no permission"]);
    // A listing shows all other datasets, and reports this one.
    let closed = ["dataset class=rd,expver=test", "is closed to this user"];
    run(&["list", "class=rd"]).shows(&["expver=more"]).fails_with(1, &closed);
    let said = run(&["container", "list"]).succeeds();
    assert_eq!(said.text().matches("no permission").count(), 1, "{said:?}");
    run(&["read", &other, "-o", "-"]).succeeds();
    // The store is closed for writing only.
    store.ok(["acl", "set", "--acl", &format!("A::{OTHER}@:r")]);
    let late = first.replace("expver=test", "expver=late");
    let said = run(&["write", "--key", &late, &input]);
    assert!(said.code == Some(1) && said.err.contains("no permission"), "{said:?}");
    run(&["list", "expver=more"]).succeeds();
    store.run(["acl", "set", dataset]).fails_with(2, &["expected --acl, --mode, --owner or --group"]);
}
