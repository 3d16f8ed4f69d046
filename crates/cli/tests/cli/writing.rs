//! Archiving and adopting.

use std::fs;

use crate::support::{KEY, MESSAGE, Store, messages, said, same_bytes};

#[test]
fn messages_go_in_and_come_out_byte_for_byte() {
    let Some(good) = messages(3) else { return };
    let store = Store::new();
    let file = store.file("good.grib", &good.join(&[0_u8; 5][..]));
    let said = store.write(&file).succeeds();
    assert!(said.text().starts_with("archived 3 fields, "), "{}", said.text());
    same_bytes(&store.read(&format!("{MESSAGE},step=0/to/12/by/6")), &good.concat());
}

#[test]
fn standard_input_is_a_file_like_another() {
    let Some(good) = messages(2) else { return };
    let store = Store::new();
    let said = store.feed(["write", "--json", "-"], &good.concat()).succeeds();
    let report: serde_json::Value = serde_json::from_str(said.text()).unwrap();
    assert_eq!((report["fields"].as_u64(), report["skipped"].as_u64()), (Some(2), Some(0)));
    assert_eq!(report["bytes"].as_u64(), Some(good.concat().len() as u64));
    assert_eq!(store.count(), 2);
}

#[test]
fn an_atomic_write_of_several_files_shows_all_or_after_a_bad_message_nothing() {
    let Some(good) = messages(3) else { return };
    let store = Store::new();
    let (first, last) = (store.file("first.grib", &good[..2].concat()), store.file("last.grib", &good[2]));
    let cut = store.file("cut.grib", &good[2][..good[2].len() - 1]);
    let write = |files: [&std::path::Path; 2]| {
        let words = ["write".as_ref(), "--atomic".as_ref()];
        store.run(words.into_iter().chain(files.map(std::path::Path::as_os_str)))
    };
    let said = write([&first, &cut]);
    assert!(said.text().starts_with("archived 0 fields"), "{}", said.text());
    said.fails_with(1, &["cut.grib", "is cut short"]);
    assert_eq!(store.count(), 0);
    write([&first, &last]).succeeds();
    assert_eq!(store.count(), 3);
    let said = store.run(["write", "--atomic", "--flush-every", "2", "x"]);
    assert!(said.err.contains("cannot be used with"), "{}", said.err);
}

#[test]
fn given_keys_are_laid_over_those_of_the_messages() {
    let Some(good) = messages(2) else { return };
    let store = Store::new();
    let file = store.file("good.grib", &good.concat());
    store.run(["write".as_ref(), "--key".as_ref(), "expver=over".as_ref(), file.as_os_str()]).succeeds();
    same_bytes(&store.read(&format!("{MESSAGE},step=0/6").replace("test", "over")), &good.concat());
}

#[test]
fn a_whole_key_takes_a_file_as_it_is_without_eccodes() {
    let store = Store::new();
    let file = store.file("raw", b"no message at all");
    let key = format!("{KEY},step=6");
    let mut command = store.command(["write".as_ref(), "--key".as_ref(), key.as_ref(), file.as_os_str()]);
    said(command.env("ISOTACH_ECCODES", "/no/such/libeccodes.so")).succeeds();
    assert_eq!(store.read(&key), b"no message at all");
    for (step, input) in [(12, "-"), (18, "/dev/stdin")] {
        store.feed(["write", "--key", &format!("{KEY},step={step}"), input], b"from a pipe").succeeds();
    }
    assert_eq!(store.read(&format!("{KEY},step=6/12/18")), b"no message at allfrom a pipefrom a pipe");
}

#[test]
fn input_without_a_byte_replaces_no_field() {
    let store = Store::new();
    store.write_raw(6, b"good");
    let (key, empty) = (format!("{KEY},step=6"), store.file("empty", b""));
    let expected = "it is empty: expected the bytes of a field";
    for input in ["-", "/dev/stdin"] {
        let name = if input == "-" { "standard input" } else { input };
        store.feed(["write", "--key", &key, input], b"").fails(1, &format!("{name}: {expected}"));
    }
    for command in ["write", "adopt"] {
        store
            .run([command.as_ref(), "--key".as_ref(), key.as_ref(), empty.as_os_str()])
            .fails(1, &format!("{}: {expected}", empty.display()));
    }
    assert_eq!(store.read(&key), b"good");
}

#[test]
fn a_whole_key_names_a_single_message_and_several_keep_their_own() {
    let Some(good) = messages(2) else { return };
    let store = Store::new();
    let key = format!("{KEY},step=6");
    let single = store.file("single.grib", &[b"padding ", &good[0][..]].concat());
    store.run(["write".as_ref(), "--key".as_ref(), key.as_ref(), single.as_os_str()]).succeeds();
    same_bytes(&store.read(&key), &good[0]);

    let several = store.file("several.grib", &good.concat());
    let date = format!("{KEY},step=6").replace("20240101", "20240201").replace(",step=6", "");
    let key = format!("{date},step=48,levtype=pl").replace("levtype=sfc,", "");
    store.run(["write".as_ref(), "--key".as_ref(), key.as_ref(), several.as_os_str()]).succeeds();
    // Their levels are their own, all else is as given.
    assert_eq!(store.count(), 2);
}

#[test]
fn without_eccodes_the_message_names_the_packages() {
    let store = Store::new();
    let file = store.file("one.grib", b"GRIB\0\0\x0c\x017777");
    let mut command = store.command(["write".as_ref(), file.as_os_str()]);
    said(command.env("ISOTACH_ECCODES", "/no/such/libeccodes.so"))
        .fails_with(1, &["message 1 at byte 0: ISOTACH_ECCODES names /no/such/libeccodes.so"]);
}

#[test]
fn fields_are_visible_while_the_command_goes_on_if_it_flushes() {
    let Some(good) = messages(3) else { return };
    let store = Store::new();
    let file = store.file("good.grib", &good.concat());
    let arguments = ["write".as_ref(), "--flush-every".as_ref(), "1".as_ref(), file.as_os_str()];
    assert!(store.run(arguments).succeeds().text().starts_with("archived 3 fields"));
    assert_eq!(store.run(["write", "--flush-every", "0", "x"]).code, Some(2));
}

#[test]
fn adopted_files_are_read_in_place_and_survive_a_wipe() {
    let Some(good) = messages(2) else { return };
    let store = Store::new();
    let bytes = [b"..", &good[0][..], &good[1]].concat();
    let file = store.file("there.grib", &bytes);
    let said = store.run(["adopt".as_ref(), file.as_os_str()]).succeeds();
    assert!(said.text().starts_with("adopted 2 fields, "), "{}", said.text());
    same_bytes(&store.read(&format!("{MESSAGE},step=0/6")), &good.concat());
    let listed = store.run(["list", "--json"]).succeeds();
    let first: serde_json::Value = serde_json::from_str(listed.text().lines().next().unwrap()).unwrap();
    assert_eq!(first["location"], format!("file:{}", file.display()));
    assert_eq!(first["offset"], 2);
    store.run(["wipe", "class=rd", "--doit"]).succeeds();
    assert_eq!(store.count(), 0);
    assert_eq!(fs::read(&file).unwrap(), bytes);
}
