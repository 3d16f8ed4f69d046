//! Bad input files of `write` and `adopt`. Good messages before a bad one are archived and reported.

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::support::{MESSAGE, Store, field, messages, messages_in_file, same_bytes};

#[test]
fn a_truncated_message_is_named_and_those_before_it_are_archived() {
    let Some((good, store, _)) = messages_in_file(2) else { return };
    let (length, half, start) = (good[1].len(), good[1].len() / 2, good[0].len());
    let file = store.file("cut.grib", &[&good[0], &good[1][..half]].concat());
    let place = format!("{file}: message 2 at byte {start}");
    let cut = format!("is cut short: expected {length} bytes, the input ends after {half}");
    store.write(&file).fails(1, &format!("{place} {cut}")).begins("archived 1 field, ");
    assert_eq!(store.count(), 1);
    same_bytes(&store.read(&format!("{MESSAGE},step=0")), &good[0]);
}

#[test]
fn a_file_without_messages_is_refused_with_what_was_expected() {
    let store = Store::new();
    let expected = "expected GRIB, or a complete key with --key";
    for (bytes, flag) in [(&b"This is no field.\n"[..], "--init"), (b"", "--skip-bad")] {
        let file = store.file("file", bytes);
        let found = format!("no GRIB message found in {} bytes", bytes.len());
        store.run(["write", flag, &file]).fails(1, &format!("{file}: {found}; {expected}"));
    }
    assert_eq!(store.count(), 0);
}

#[test]
fn a_corrupt_message_ends_the_command_or_is_skipped() {
    let Some(mut good) = messages(3) else { return };
    let (length, start) = (good[1].len(), good[0].len());
    good[1][length - 4..].copy_from_slice(b"\0\0\0\0");
    let store = Store::new();
    let file = store.file("spoiled.grib", &good.concat());
    let message = format!(
        "{file}: message 2 at byte {start} does not end where its header says: expected \"7777\" as the last of {length} \
         bytes, found [00, 00, 00, 00]"
    );
    store.write(&file).fails(1, &message).begins("archived 1 field, ");
    assert_eq!(store.count(), 1);

    let said = store.ok(["write", "--skip-bad", &file]);
    assert_eq!(said.err.trim_end(), format!("isotach: {message}; skipped"));
    assert!(said.text().trim_end().ends_with(", skipped 1 bad message"), "{}", said.text());
    assert_eq!(store.count(), 2);
}

#[test]
fn a_message_that_does_not_fit_the_schema_names_missing_and_surplus_keys() {
    let Some(good) = messages(1) else { return };
    let schema = "[ class, expver, stream, date, time, domain?, hdate [ type, levtype [ step, param ]]]";
    let store = Store::with_schema(schema);
    let file = store.file("one.grib", &good[0]);
    let reason = "the rule [class, expver, stream, date, time, domain?, hdate [type, levtype [step, param]]] at line 1 also \
                  needs hdate and has no place for levelist\n";
    let parts = ["message 1 at byte 0: no rule of the schema fits the key", reason];
    store.write(&file).fails_with(1, &parts).begins("archived 0 fields");
    assert_eq!(store.count(), 0);
}

#[test]
fn a_broken_message_under_a_complete_key_is_refused() {
    let Some((good, store, _)) = messages_in_file(1) else { return };
    let file = store.file("cut.grib", &good[0][..100]);
    let said = store.run(["write", "--key", &field(0), &file]);
    said.fails_with(1, &["cut.grib: message 1 at byte 0 is cut short"]);
    assert_eq!(store.count(), 0);
}

#[test]
fn an_incomplete_key_is_reported_with_the_reason() {
    let store = Store::new();
    let file = store.file("raw", &[b'x'; 100]);
    for (rest, why) in [
        ("date=20240101,time=0,param=t,hdate=20200101", "has no place for hdate"),
        ("date=20240101,time=0", "needs param"),
    ] {
        let key = format!("class=rd,expver=x001,stream=oper,type=an,levtype=sfc,step=0,{rest}");
        let parts = ["no GRIB message found in 100 bytes; ", "the present key is not complete: ", why];
        store.run(["write", "--key", &key, &file]).fails_with(1, &parts);
    }
    assert_eq!(store.count(), 0);
}

#[test]
fn an_invalid_key_is_reported_before_any_file_is_opened() {
    let store = Store::new();
    let date = "expected a date, such as 20240131, 2024-01-31, 2024-031 or -1";
    for (key, why) in [
        ("date=xx", format!("date=\"xx\": {date}")),
        (&field(0).replace("20240101", "20240230"), format!("date=\"20240230\": {date}")),
        ("parm=t", "unknown key \"parm\"; did you mean \"param\"?".to_owned()),
    ] {
        for command in ["write", "adopt"] {
            store.run([command, "--key", key, "/no/such/file"]).fails(2, &format!("--key: {why}"));
        }
    }
    for value in ["time=24", "param=t/u"] {
        store.run(["write", "--key", value, "/no/such/file"]).fails_with(2, &["--key: ", ": expected "]);
    }
    let parts = ["--key: at character 14 of", "expected '=' after the key name"];
    store.run(["write", "--key", "class=rd,step", "/no/such/file"]).fails_with(2, &parts);
}

#[test]
fn only_regular_files_can_be_adopted() {
    let store = Store::new();
    mkfifoat(CWD, store.folder.path().join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
    let reason =
        "only regular files can be adopted, because they stay in place; `isotach write` copies its input";
    for (path, kind) in
        [("-", "a stream"), ("/dev/null", "a device"), (".", "a directory"), ("pipe", "a pipe")]
    {
        let name = if path == "-" { "standard input" } else { path };
        store.run(["adopt", path]).fails(2, &format!("{name}: it is {kind}: {reason}"));
    }
    store.run(["write", "."]).fails(2, ".: it is a directory: expected a file");
}

#[test]
fn a_missing_input_file_is_named() {
    let message = "/no/such/file.grib: cannot open it: No such file or directory (os error 2)";
    Store::new().run(["write", "/no/such/file.grib"]).fails(1, message);
}
