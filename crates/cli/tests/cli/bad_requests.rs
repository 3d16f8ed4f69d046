//! Invalid requests: exit code 2 and one line with the reason.

use crate::support::{KEY, Store};

#[test]
fn an_invalid_request_is_refused_with_the_reason() {
    let store = Store::new();
    let date = "expected a date, such as 20240131, 2024-01-31, 2024-031 or -1";
    for (request, message) in [
        ("class=od,foo=bar", "unknown key \"foo\""),
        ("class=od,parm=t", "unknown key \"parm\"; did you mean \"param\"?"),
        ("date=20241301", &format!("date=\"20241301\": {date}")),
        ("date=yesterday", &format!("date=\"yesterday\": {date}")),
        (
            "step=24/to/0/by/6",
            "step=24/to/0/by/6: it ends before it begins; to go down, 'by' must be negative",
        ),
        ("number=0/to/all", "number=0/to/all: all, any and * stand for every value, and end no range"),
        ("class=od,step", "request: line 1, column 14: expected '=' after the key, found the end"),
    ] {
        store.run(["list", request]).fails(2, message);
    }
    store.ok(["list", "number=all/0"]);
}

#[test]
fn an_invalid_file_of_requests_is_refused_with_its_line() {
    let store = Store::new();
    let file = store.file("requests.txt", b"retrieve, class=od,\n step=0,\n param\n");
    let expected = format!("{file}:4:1: expected '=' after the key, found the end");
    store.run(["list", "-f", &file]).fails(2, &expected);
    let file = store.file("empty.txt", b"# nothing\n");
    store.run(["list", "-f", &file]).fails(2, &format!("{file}: expected a request, found none"));
    let file = store.file("binary", b"class=rd,\nstep=\xff\n");
    for arguments in [["list", "-f", &file], ["schema", "check", &file]] {
        store.run(arguments).fails(2, &format!("{file}:2: expected text in UTF-8"));
    }
}

#[test]
fn a_mistake_in_a_file_of_requests_is_reported_before_any_answer() {
    let store = Store::with_field(0, b"field");
    let first = format!("retrieve, {KEY}, step=0\n\n# the next\n");
    let run = |command: &[&str], second: &str| {
        let file = store.file("requests.txt", format!("{first}retrieve, class=rd,\n  {second}\n").as_bytes());
        store.run([&[command[0], "-f", &file], &command[1..]].concat())
    };
    let other = Store::new();
    let to = other.uri();
    let name = store.folder.path().join("requests.txt").display().to_string();
    for command in [
        &["read", "-o", "-"][..],
        &["list"],
        &["inspect"],
        &["axes"],
        &["stats"],
        &["dump"],
        &["status"],
        &["where"],
        &["wipe", "--doit"],
        &["delete", "--doit"],
        &["copy", "--to", &to],
        &["move", "--to", &to],
        &["lock", "--archive"],
        &["unlock", "--archive"],
    ] {
        let said = run(command, "foo=1").fails(2, &format!("{name}:4: unknown key \"foo\""));
        assert!(said.out.is_empty(), "{command:?}: {said:?}");
    }
    let expected = "expected a date, such as 20240131, 2024-01-31, 2024-031 or -1";
    run(&["list"], "date=xx").fails(2, &format!("{name}:4: date=\"xx\": {expected}"));
    run(&["read", "-o", "-"], "param=t").fails_with(2, &[&format!("{name}:4: the request is incomplete: ")]);
    let said = store.feed(["list", "-f", "-"], b"list, class=rd\nlist, foo=1\n");
    said.fails(2, "standard input:2: unknown key \"foo\"");
    assert_eq!(store.count(), 1);
}

#[test]
fn wipe_removes_nothing_unless_all_requests_are_valid() {
    let store = Store::with_field(0, b"field");
    let file = store.file("requests.txt", b"class=rd\nclass=rd,step=0\n");
    let single = "the request names step, which tell single fields apart";
    store.run(["wipe", "-f", &file, "--doit"]).fails_with(2, &[&format!("{file}:2: {single}")]);
    let only = "only whole datasets and collocations can be removed (`isotach delete` removes single fields)";
    store.run(["wipe", "class=rd,step=0", "--doit"]).fails(2, &format!("{single}; {only}"));
    let message = "a request without keys: expected at least one key; without any it means the whole store";
    store.run(["wipe", "", "--doit"]).fails(2, message);
    assert_eq!(store.count(), 1);
}

#[test]
fn a_missing_mandatory_key_of_a_read_is_named() {
    let store = Store::with_schema("[ class, expver, stream, date, time [ type, levtype [ step, param ]]]");
    store.write_raw(0, b"field");
    store.run(["read", KEY, "-o", "-"]).fails_with(2, &["the request is incomplete", "needs step"]);
}

#[test]
fn unknown_flags_and_missing_arguments_are_usage_errors() {
    let store = Store::new();
    for arguments in [&["list", "--bogus"][..], &["bogus"], &["read", "class=od"], &["write"], &[]] {
        let said = store.run(arguments);
        assert_eq!(said.code, Some(2), "{arguments:?}: {said:?}");
        assert!(said.out.is_empty());
    }
}
