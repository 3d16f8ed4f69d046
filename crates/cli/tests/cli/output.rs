//! A closed standard output ends a command quietly, a full one is reported in one line. Neither causes a panic.

use std::{fs::File, io::pipe, process::Stdio};

use crate::support::{Said, Store, field, said};

/// Every command that prints, on a store with a field.
fn commands(store: &Store, to: &Store) -> Vec<Vec<String>> {
    let field = field(0);
    let file = store.file("raw", b"field");
    let schema = store.file("schema.txt", b"[ class [ type [ step ]]]");
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
        &["delete", &field],
        &["delete", "--json", &field],
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

/// Runs all commands with this standard output.
fn run_all(stdout: impl Fn() -> Stdio, check: impl Fn(&[String], Said)) {
    let (store, to) = (Store::new(), Store::new());
    store.write_raw(0, b"field");
    for words in commands(&store, &to) {
        check(&words, said(store.command(&words).stdout(stdout())));
    }
}

#[test]
fn a_full_standard_output_is_reported_in_one_line() {
    let full = || File::options().write(true).open("/dev/full").unwrap().into();
    run_all(full, |words, said| {
        let expected = "isotach: cannot write to standard output: No space left on device (os error 28)\n";
        assert!(said.err.ends_with(expected) && said.err.lines().count() == 1, "{words:?}: {said:?}");
        assert_eq!(said.code, Some(1), "{words:?}: {said:?}");
    });
}

#[test]
fn a_closed_standard_output_is_no_failure() {
    let closed = || pipe().unwrap().1.into();
    run_all(closed, |words, said| {
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{words:?}: {said:?}");
    });
}

#[test]
fn a_failure_is_reported_though_standard_output_is_closed() {
    let store = Store::new();
    let file = store.file("raw", b"no field");
    let mut write = store.command(["write", &file]);
    said(write.stdout(pipe().unwrap().1)).fails_with(1, &["no GRIB message found"]);
}

#[test]
fn wipe_completes_though_standard_output_is_closed() {
    let store = Store::with_field(0, b"field");
    store.write_keyed(&field(0).replace("test", "more"), b"field");
    let requests = store.file("requests.txt", b"expver=test\nexpver=more\n");
    let mut wipe = store.command(["wipe", "-f", &requests, "--doit"]);
    said(wipe.stdout(pipe().unwrap().1)).succeeds();
    assert_eq!(store.count(), 0);
}
