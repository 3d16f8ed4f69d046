//! Requests that cannot be meant: exit code 2 and one line that says why.

use crate::support::{KEY, Store};

#[test]
fn an_unknown_key_is_named_with_the_one_that_may_have_been_meant() {
    let store = Store::new();
    store.run(["list", "class=od,foo=bar"]).fails(2, "unknown key \"foo\"");
    store.run(["list", "class=od,parm=t"]).fails(2, "unknown key \"parm\"; did you mean \"param\"?");
}

#[test]
fn a_bad_date_says_what_a_date_is() {
    let store = Store::new();
    for date in ["20241301", "yesterday"] {
        store.run(["list", &format!("date={date}")]).fails(
            2,
            &format!("date={date:?}: expected a date, such as 20240131, 2024-01-31, 2024-031 or -1"),
        );
    }
}

#[test]
fn a_reversed_range_says_how_to_go_down() {
    let store = Store::new();
    store
        .run(["list", "step=24/to/0/by/6"])
        .fails(2, "step=24/to/0/by/6: it ends before it begins; to go down, 'by' must be negative");
}

#[test]
fn a_word_for_every_value_ends_no_range() {
    let store = Store::new();
    store
        .run(["list", "number=0/to/all"])
        .fails(2, "number=0/to/all: all, any and * stand for every value, and end no range");
    store.run(["list", "number=all/0"]).succeeds();
}

#[test]
fn a_text_that_is_no_request_is_named_by_line_and_column() {
    let store = Store::new();
    store
        .run(["list", "class=od,step"])
        .fails(2, "request: line 1, column 14: expected '=' after the key, found the end");
    let file = store.file("requests.txt", b"retrieve, class=od,\n step=0,\n param\n");
    store
        .run(["list".as_ref(), "-f".as_ref(), file.as_os_str()])
        .fails(2, &format!("{}:4:1: expected '=' after the key, found the end", file.display()));
    let empty = store.file("empty.txt", b"# nothing\n");
    store
        .run(["list".as_ref(), "-f".as_ref(), empty.as_os_str()])
        .fails(2, &format!("{}: expected a request, found none", empty.display()));
}

#[test]
fn a_mistake_in_a_file_of_requests_is_told_with_its_line_before_any_is_answered() {
    let store = Store::new();
    store.write_raw(0, b"field");
    let first = format!("retrieve, {KEY}, step=0\n\n# the next\n");
    let run = |command: &[&str], second: &str| {
        let file = store.file("requests.txt", format!("{first}retrieve, class=rd,\n  {second}\n").as_bytes());
        store.run([&[command[0], "-f", file.to_str().unwrap()], &command[1..]].concat())
    };
    let to = Store::new();
    let to = to.uri();
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
fn a_file_that_is_no_text_is_told_with_the_line() {
    let store = Store::new();
    let file = store.file("binary", b"class=rd,\nstep=\xff\n");
    let name = file.display();
    store
        .run(["list".as_ref(), "-f".as_ref(), file.as_os_str()])
        .fails(2, &format!("{name}:2: expected text in UTF-8"));
    store
        .run(["schema".as_ref(), "check".as_ref(), file.as_os_str()])
        .fails(2, &format!("{name}:2: expected text in UTF-8"));
}

#[test]
fn of_several_requests_none_is_wiped_unless_all_can_be() {
    let store = Store::new();
    store.write_raw(0, b"field");
    let file = store.file("requests.txt", b"class=rd\nclass=rd,step=0\n");
    let file = file.to_str().unwrap();
    store
        .run(["wipe", "-f", file, "--doit"])
        .fails_with(2, &[&format!("{file}:2: the request names step, which tell single fields apart")]);
    assert_eq!(store.count(), 1);
}

#[test]
fn a_mandatory_key_that_is_left_out_of_a_reading_is_named() {
    let store = Store::with_schema("[ class, expver, stream, date, time [ type, levtype [ step, param ]]]");
    store.write_raw(0, b"field");
    store.run(["read", KEY, "-o", "-"]).fails_with(2, &["the request is incomplete", "needs step"]);
}

#[test]
fn wiping_single_fields_or_everything_is_refused() {
    let store = Store::new();
    store.write_raw(0, b"field");
    store.run(["wipe", "class=rd,step=0", "--doit"]).fails(
        2,
        "the request names step, which tell single fields apart; only whole datasets and collocations can be removed",
    );
    store
        .run(["wipe", "", "--doit"])
        .fails(2, "a request without keys: expected at least one key; without any it means the whole store");
    assert_eq!(store.count(), 1);
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
