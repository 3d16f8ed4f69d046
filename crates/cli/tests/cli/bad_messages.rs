//! Files that are not what `write` expects. What is good before the bad is archived and reported.

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::support::{KEY, MESSAGE, Store, messages, same_bytes};

#[test]
fn a_truncated_message_is_named_by_number_and_byte_and_those_before_it_are_archived() {
    let Some(good) = messages(2) else { return };
    let store = Store::new();
    let (length, half) = (good[1].len(), good[1].len() / 2);
    let file = store.file("cut.grib", &[&good[0], &good[1][..half]].concat());
    let said = store.write(&file).fails(
        1,
        &format!(
            "{}: message 2 at byte {} is cut short: expected {length} bytes, the input ends after {half}",
            file.display(),
            good[0].len()
        ),
    );
    assert!(said.text().starts_with("archived 1 field, "), "{}", said.text());
    assert_eq!(store.count(), 1);
    same_bytes(&store.read(&format!("{MESSAGE},step=0")), &good[0]);
}

#[test]
fn a_file_that_is_no_grib_says_what_was_expected() {
    let store = Store::new();
    let file = store.file("text.grib", b"This is no field.\n");
    let expected = "expected GRIB, or with --key a key that names the field whole";
    store
        .write(&file)
        .fails(1, &format!("{}: no GRIB message found in 18 bytes; {expected}", file.display()));
    assert_eq!(store.count(), 0);
    let empty = store.file("empty.grib", b"");
    store
        .run(["write".as_ref(), "--skip-bad".as_ref(), empty.as_os_str()])
        .fails(1, &format!("{}: no GRIB message found in 0 bytes; {expected}", empty.display()));
}

#[test]
fn a_corrupt_message_between_good_ones_ends_the_command_or_is_skipped() {
    let Some(mut good) = messages(3) else { return };
    let length = good[1].len();
    good[1][length - 4..].copy_from_slice(b"\0\0\0\0");
    let store = Store::new();
    let file = store.file("spoiled.grib", &good.concat());
    let message = format!(
        "{}: message 2 at byte {} does not end where its header says: expected \"7777\" as the last of {length} \
         bytes, found [00, 00, 00, 00]",
        file.display(),
        good[0].len()
    );
    let said = store.write(&file).fails(1, &message);
    assert!(said.text().starts_with("archived 1 field, "), "{}", said.text());
    assert_eq!(store.count(), 1);

    let said = store.run(["write".as_ref(), "--skip-bad".as_ref(), file.as_os_str()]).succeeds();
    assert_eq!(said.err.trim_end(), format!("isotach: {message}; skipped"));
    assert!(said.text().trim_end().ends_with(", skipped 1 bad message"), "{}", said.text());
    assert_eq!(store.count(), 2);
}

#[test]
fn a_message_that_does_not_fit_the_schema_says_which_keys_are_missing_or_too_many() {
    let Some(good) = messages(1) else { return };
    let store = Store::with_schema(
        "[ class, expver, stream, date, time, domain?, hdate [ type, levtype [ step, param ]]]",
    );
    let file = store.file("one.grib", &good[0]);
    let said = store.write(&file).fails_with(1, &["message 1 at byte 0: no rule of the schema fits the key"]);
    assert!(
        said.err.trim_end().ends_with("the rule at line 1 also needs hdate and has no place for levelist"),
        "{}",
        said.err
    );
    assert!(said.text().starts_with("archived 0 fields"), "{}", said.text());
    assert_eq!(store.count(), 0);
}

#[test]
fn a_broken_file_under_a_whole_key_is_no_field() {
    let Some(good) = messages(1) else { return };
    let store = Store::new();
    let file = store.file("cut.grib", &good[0][..100]);
    let key = format!("{KEY},step=0");
    store
        .run(["write".as_ref(), "--key".as_ref(), key.as_ref(), file.as_os_str()])
        .fails_with(1, &["cut.grib: message 1 at byte 0 is cut short"]);
    assert_eq!(store.count(), 0);
}

#[test]
fn a_key_that_does_not_name_the_field_whole_says_why() {
    let store = Store::new();
    let file = store.file("raw", &[b'x'; 100]);
    let usual = "class=rd,expver=x001,stream=oper,type=an,levtype=sfc,step=0";
    for (rest, why) in [
        ("date=20240101,time=0,param=t,hdate=20200101", "has no place for hdate"),
        ("date=20240101,time=0", "needs param"),
    ] {
        let key = format!("{usual},{rest}");
        let said = store.run(["write".as_ref(), "--key".as_ref(), key.as_ref(), file.as_os_str()]);
        said.fails_with(1, &["no GRIB message found in 100 bytes; ", "; the key given does not: ", why]);
    }
    assert_eq!(store.count(), 0);
}

#[test]
fn a_value_given_that_is_wrong_is_told_before_any_file_is_opened() {
    let store = Store::new();
    let date = "expected a date, such as 20240131, 2024-01-31, 2024-031 or -1";
    for (key, why) in [
        ("date=xx", format!("date=\"xx\": {date}")),
        (&format!("{KEY},step=0").replace("20240101", "20240230"), format!("date=\"20240230\": {date}")),
        ("parm=t", "unknown key \"parm\"; did you mean \"param\"?".to_owned()),
    ] {
        for command in ["write", "adopt"] {
            store.run([command, "--key", key, "/no/such/file"]).fails(2, &format!("--key: {why}"));
        }
    }
    for value in ["time=24", "param=t/u"] {
        store.run(["write", "--key", value, "/no/such/file"]).fails_with(2, &["--key: ", ": expected "]);
    }
}

#[test]
fn only_regular_files_can_be_adopted() {
    let store = Store::new();
    let folder = store.folder.path();
    let pipe = folder.join("pipe");
    mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
    for (path, what) in [("-", "a stream"), ("/dev/null", "a device"), (".", "a folder"), ("pipe", "a pipe")]
    {
        let name = if path == "-" { "standard input" } else { path };
        store.run(["adopt", path]).fails(
            2,
            &format!(
                "{name}: it is {what}: only regular files can be adopted, for they stay where they are; \
                 `isotach write` copies what it reads"
            ),
        );
    }
    store.run(["write", "."]).fails(2, ".: it is a folder: expected a file");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let store = Store::new();
    store
        .run(["write", "/no/such/file.grib"])
        .fails(1, "/no/such/file.grib: cannot open it: No such file or directory (os error 2)");
}

#[test]
fn a_key_that_cannot_be_read_is_a_mistake_in_what_was_typed() {
    let store = Store::new();
    let file = store.file("raw", b"bytes");
    store
        .run(["write".as_ref(), "--key".as_ref(), "class=rd,step".as_ref(), file.as_os_str()])
        .fails_with(2, &["--key: at character 14 of", "expected '=' after the key name"]);
}
