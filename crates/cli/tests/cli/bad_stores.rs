//! Stores that are not there, are none, are too new, or are closed to the user.

use std::{fs, os::unix::fs::PermissionsExt, os::unix::process::CommandExt, process::Command};

use isotach_fields::crc32c;
use isotach_needs::{Need, skip};

use crate::support::{KEY, Store, program, said};

/// An account that owns nothing.
const NOBODY: u32 = 65534;

#[test]
fn a_store_that_does_not_exist_says_how_to_make_it() {
    let store = Store::absent();
    let uri = store.uri();
    let told = format!("store {uri} does not exist; create it with `isotach --store {uri} init`");
    for arguments in [&["list"][..], &["read", "class=od", "-o", "x"], &["wipe", "class=od"]] {
        store.run(arguments).fails(1, &told);
    }
    store.run(["write", "x.grib"]).fails(1, &format!("{told}, or give --init"));
    assert!(!store.path().exists() && !store.folder.path().join("x").exists());
}

#[test]
fn a_directory_that_is_not_a_store_is_left_alone() {
    let store = Store::absent();
    fs::create_dir(store.path()).unwrap();
    fs::write(store.path().join("mine.txt"), b"mine").unwrap();
    let path = store.path();
    store
        .run(["list"])
        .fails(1, &format!("{} is not an Isotach pool: expected a superblock file in it", path.display()));
    let said = store.run(["init"]).fails_with(1, &["holds other files", "an empty directory, or a new one"]);
    assert!(!said.err.contains("create it with"), "{}", said.err);
    assert_eq!(fs::read(path.join("mine.txt")).unwrap(), b"mine");
}

#[test]
fn a_store_at_a_file_or_device_is_told_to_be_no_directory() {
    let store = Store::new();
    let file = store.file("file", b"mine");
    for path in ["/dev/null".to_owned(), file.display().to_string(), format!("{}/below", file.display())] {
        let uri = format!("posix:{path}");
        for arguments in [&["list"][..], &["init"], &["pool", "create"], &["pool", "destroy", "--doit"]] {
            let mut command = program(store.folder.path());
            said(command.args(["--store", &uri]).args(arguments))
                .fails(1, &format!("{path} is not a directory: expected the directory of an Isotach pool"));
        }
    }
    assert_eq!(fs::read(file).unwrap(), b"mine");
}

#[test]
fn a_store_that_cannot_be_made_is_not_advised_to_be_made() {
    let store = Store::absent();
    said(program(store.folder.path()).args(["--store", "/proc/store", "init"]))
        .fails(1, "cannot make store posix:/proc/store: no folder can be made there");
}

#[test]
fn a_pool_without_a_field_store_is_told_from_one() {
    let store = Store::absent();
    store.run(["pool", "create"]).succeeds();
    store.run(["list"]).fails_with(1, &["is not a field store", "has no container \"root\"", "init`"]);
    store.run(["init"]).succeeds();
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
            "the posix engine does not support {} of format version 99 with features 0x0 (this program reads version \
             1; use a newer Isotach)",
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
fn without_permission_the_file_is_named() {
    let store = Store::new();
    store.write_raw(0, b"field");
    let file = store.file("more", b"more");
    let Some(mut nobody) = Unprivileged::new(&store) else { return };
    nobody.close(0o700);
    said(&mut nobody.command(&["list"])).fails(
        1,
        &format!(
            "no permission: read {}/superblock: Permission denied (os error 13)",
            store.path().display()
        ),
    );
    nobody.close(0o755);
    let out = said(&mut nobody.command(&["list"])).succeeds();
    assert_eq!(out.text().lines().count(), 1, "what can be read is read");
    let key = format!("{KEY},step=6");
    said(&mut nobody.command(&["write", "--key", &key, file.to_str().unwrap()]))
        .fails_with(1, &["no permission: ", "/store/containers/"]);
    assert_eq!(store.count(), 1);
}

/// The program run by someone who does not own the store.
struct Unprivileged<'s> {
    store: &'s Store,
    program: std::path::PathBuf,
    is_root: bool,
}

impl<'s> Unprivileged<'s> {
    /// As root: another account, with a copy of the program that it may run. Otherwise the owner without rights, which is
    /// enough for reading but not for the second half of the test.
    fn new(store: &'s Store) -> Option<Self> {
        let is_root =
            fs::metadata("/proc/self").is_ok_and(|there| std::os::unix::fs::MetadataExt::uid(&there) == 0);
        if !is_root {
            skip(Need::Root, "only root can run the program as another account");
            return None;
        }
        let program = store.folder.path().join("isotach");
        // Copied by another process: a descriptor of ours that is open for writing could be inherited by the children of
        // other tests, and the system does not run a file that someone may write.
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_isotach")).arg(&program).status();
        assert!(copied.unwrap().success());
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(store.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Some(Self { store, program, is_root })
    }

    fn close(&mut self, mode: u32) {
        fs::set_permissions(self.store.path(), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--store", &self.store.uri()]).args(arguments).current_dir("/");
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

#[test]
fn processes_that_make_the_same_store_and_dataset_at_once_all_succeed() {
    let store = Store::absent();
    let file = store.file("raw", b"field");
    let start = |arguments: &[&str]| store.command(arguments).spawn().unwrap();
    let makers: Vec<_> = (0..4).map(|_| start(&["init"])).collect();
    for mut maker in makers {
        assert!(maker.wait().unwrap().success());
    }
    let writers: Vec<_> = (0..8)
        .map(|step| start(&["write", "--key", &format!("{KEY},step={step}"), file.to_str().unwrap()]))
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(store.count(), 8);
    let datasets = store.run(["status", "--json"]).succeeds();
    assert_eq!(datasets.text().lines().count(), 1);
    assert_eq!(store.read(&format!("{KEY},step=0/to/7/by/1")), b"field".repeat(8));
}
