//! Standard output that nobody reads, or whose device is full: told in a line, or not at all, and never a panic.

use std::{fs::File, io::pipe, process::Stdio};

use crate::support::{KEY, Said, Store, said};

/// Every command that prints, on a store with a field; each does its work before it prints.
fn commands(store: &Store, to: &Store) -> Vec<Vec<String>> {
    let field = format!("{KEY},step=0");
    let file = store.file("raw", b"field").display().to_string();
    let schema = store.file("schema.txt", b"[ class [ type [ step ]]]").display().to_string();
    let to = to.uri();
    let settings = "08010001000000000000000000000002";
    [
        &["init"][..],
        &["init", "--json"],
        &["write", "--key", &field, &file],
        &["write", "--json", "--key", &field, &file],
        &["adopt", "--key", &field, &file],
        &["read", &field, "-o", "-"],
        &["list"],
        &["list", "--json"],
        &["inspect", &field],
        &["axes"],
        &["axes", "--json"],
        &["wipe", "class=rd"],
        &["wipe", "class=xx"],
        &["copy", "class=rd", "--to", &to],
        &["stats"],
        &["dump"],
        &["dump", "--json"],
        &["status"],
        &["lock", "class=rd", "--wipe"],
        &["unlock", "class=rd", "--wipe"],
        &["lock", "class=xx", "--wipe"],
        &["info"],
        &["info", "--json"],
        &["where"],
        &["where", "class=rd"],
        &["schema", "show"],
        &["schema", "check", &schema],
        &["schema", "check", &schema, "--key", "class=od,type=fc,step=0"],
        &["pool", "list"],
        &["pool", "show"],
        &["container", "list"],
        &["container", "show", "root"],
        &["container", "create", "--json", "box"],
        &["container", "destroy", "box"],
        &["container", "destroy", "box", "--doit"],
        &["container", "create", "box"],
        &["object", "create", "box"],
        &["object", "list", "root"],
        &["object", "show", "root", settings],
        &["object", "get", "root", settings, "schema"],
        &["completions", "bash"],
        &["man"],
        &["pool", "destroy", "--force"],
    ]
    .iter()
    .map(|words| words.iter().map(|word| (*word).to_owned()).collect())
    .collect()
}

/// Runs all of them with this standard output.
fn run_all(stdout: impl Fn() -> Stdio, check: impl Fn(&[String], Said)) {
    let (store, to) = (Store::new(), Store::new());
    store.write_raw(0, b"field");
    for words in commands(&store, &to) {
        check(&words, said(store.command(&words).stdout(stdout())));
    }
}

#[test]
fn a_full_device_is_told_in_one_line() {
    let full = || File::options().write(true).open("/dev/full").unwrap().into();
    run_all(full, |words, said| {
        let expected = "isotach: cannot write to standard output: No space left on device (os error 28)\n";
        assert!(said.err.ends_with(expected) && said.err.lines().count() == 1, "{words:?}: {said:?}");
        assert_eq!(said.code, Some(1), "{words:?}: {said:?}");
    });
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let closed = || pipe().unwrap().1.into();
    run_all(closed, |words, said| {
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{words:?}: {said:?}");
    });
}

#[test]
fn a_failure_counts_though_nobody_reads_the_rest() {
    let store = Store::new();
    let file = store.file("raw", b"no field");
    let mut write = store.command(["write".as_ref(), file.as_os_str()]);
    said(write.stdout(pipe().unwrap().1)).fails_with(1, &["no GRIB message found"]);
}

#[test]
fn all_that_was_asked_for_is_wiped_though_nobody_reads_of_it() {
    let store = Store::new();
    store.write_raw(0, b"field");
    let key = format!("{KEY},step=0").replace("test", "more");
    let file = store.file("raw", b"field");
    store.run(["write".as_ref(), "--key".as_ref(), key.as_ref(), file.as_os_str()]).succeeds();
    let requests = store.file("requests.txt", b"expver=test\nexpver=more\n");
    let mut wipe = store.command(["wipe".as_ref(), "-f".as_ref(), requests.as_os_str(), "--doit".as_ref()]);
    said(wipe.stdout(pipe().unwrap().1)).succeeds();
    assert_eq!(store.count(), 0);
}
