//! Stores that do not exist, are no stores, are too new, or are closed to the user.

use std::fs;

use isotach_fields::crc32c;

use crate::support::{Store, field, set_mode};

#[test]
fn a_missing_store_is_reported_with_the_command_that_creates_it() {
    let store = Store::absent();
    let uri = store.uri();
    let message = format!("store {uri} does not exist; create it with `isotach --store {uri} init`");
    for arguments in [&["list"][..], &["read", "class=od", "-o", "x"], &["wipe", "class=od"]] {
        store.run(arguments).fails(1, &message);
    }
    store.run(["write", "x.grib"]).fails(1, &format!("{message}, or give --init"));
    assert!(!store.path().exists() && !store.folder.path().join("x").exists());
}

#[test]
fn a_directory_that_is_no_store_is_left_alone() {
    let store = Store::absent();
    let path = store.path();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("mine.txt"), b"mine").unwrap();
    let message = format!("{} is not an Isotach pool: expected a superblock file in it", path.display());
    store.run(["list"]).fails(1, &message);
    let said = store.run(["init"]).fails_with(1, &["holds other files", "an empty directory, or a new one"]);
    assert!(!said.err.contains("create it with"), "{}", said.err);
    assert_eq!(fs::read(path.join("mine.txt")).unwrap(), b"mine");
}

#[test]
fn a_store_at_a_file_or_device_is_refused_as_no_directory() {
    let store = Store::new();
    let file = store.file("file", b"mine");
    for path in ["/dev/null", &file, &format!("{file}/below")] {
        let uri = format!("posix:{path}");
        for arguments in [&["list"][..], &["init"], &["pool", "create"], &["pool", "destroy", "--doit"]] {
            let message = format!("{path} is not a directory: expected the directory of an Isotach pool");
            store.bare([&["--store", &uri], arguments].concat()).fails(1, &message);
        }
    }
    assert_eq!(fs::read(file).unwrap(), b"mine");
}

#[test]
fn the_error_of_init_does_not_advise_to_run_init() {
    let store = Store::absent();
    let message = "cannot create store posix:/proc/store: no folder can be created there";
    store.bare(["--store", "/proc/store", "init"]).fails(1, message);
}

#[test]
fn a_pool_without_a_field_store_is_reported_as_such() {
    let store = Store::absent();
    store.ok(["pool", "create"]);
    store.run(["list"]).fails_with(1, &["is not a field store", "has no container \"root\"", "init`"]);
    store.ok(["init"]);
    assert_eq!(store.count(), 0);
}

#[test]
fn a_pool_of_a_newer_format_is_refused() {
    let store = Store::new();
    let path = store.path().join("superblock");
    let mut block = fs::read(&path).unwrap();
    block[8..12].copy_from_slice(&99_u32.to_le_bytes());
    let end = block.len() - 4;
    let sum = crc32c(&block[..end]);
    block[end..].copy_from_slice(&sum.to_le_bytes());
    fs::write(&path, block).unwrap();
    store.run(["list"]).fails(
        1,
        &format!(
            "{} has format version 99 with features 0x0, and this program reads version 1 without features; use a \
             newer Isotach",
            store.path().display()
        ),
    );
}

#[test]
fn a_field_store_of_a_newer_layout_is_refused() {
    let store = Store::new();
    // The settings of the root hold the version of the layout.
    let settings = "08010001000000000000000000000002";
    store.feed(["object", "put", "root", settings, "version"], &7_u32.to_le_bytes()).succeeds();
    store.run(["list"]).fails_with(1, &[&store.uri(), "has format 7", "use a newer one"]);
}

#[test]
fn an_error_of_permission_names_the_file() {
    let store = Store::with_field(0, b"field");
    let file = store.file("more", b"more");
    set_mode(store.path(), 0o700);
    let Some(refused) = store.run_as_other(&["list"]) else { return };
    let superblock = store.path().join("superblock");
    refused
        .fails(1, &format!("no permission: read {}: Permission denied (os error 13)", superblock.display()));
    set_mode(store.path(), 0o755);
    let listed = store.run_as_other(&["list"]).unwrap().succeeds();
    assert_eq!(listed.lines(), 1, "readable files are read");
    let key = field(6);
    let written = store.run_as_other(&["write", "--key", &key, &file]).unwrap();
    written.fails_with(1, &["no permission: ", "/store/containers/"]);
    assert_eq!(store.count(), 1);
}

#[test]
fn concurrent_creation_of_one_store_and_dataset_succeeds() {
    let store = Store::absent();
    let file = store.file("raw", b"field");
    let start = |arguments: &[&str]| store.command(arguments).spawn().unwrap();
    let creators: Vec<_> = (0..4).map(|_| start(&["init"])).collect();
    for mut creator in creators {
        assert!(creator.wait().unwrap().success());
    }
    let writers: Vec<_> = (0..8).map(|step| start(&["write", "--key", &field(step), &file])).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(store.count(), 8);
    assert_eq!(store.ok(["status", "--json"]).lines(), 1);
    assert_eq!(store.read(&field("0/to/7/by/1")), b"field".repeat(8));
}
