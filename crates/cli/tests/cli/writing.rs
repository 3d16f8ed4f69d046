//! `isotach write` and `isotach adopt`.

use std::{fs, io::Write, process::Stdio};

use crate::support::{MESSAGE, Store, field, messages_in_file, said, same_bytes, shown, terminal};

#[test]
fn messages_are_read_back_byte_for_byte() {
    let Some((good, store, _)) = messages_in_file(3) else { return };
    let file = store.file("good.grib", &good.join(&[0_u8; 5][..]));
    store.write(&file).succeeds().begins("archived 3 fields, ");
    same_bytes(&store.read(&format!("{MESSAGE},step=0/to/12/by/6")), &good.concat());
}

#[test]
fn write_reads_standard_input() {
    let Some((good, store, _)) = messages_in_file(2) else { return };
    let said = store.feed(["write", "--json", "-"], &good.concat()).succeeds();
    let report = said.json();
    assert_eq!((report["fields"].as_u64(), report["skipped"].as_u64()), (Some(2), Some(0)));
    assert_eq!(report["bytes"].as_u64(), Some(good.concat().len() as u64));
    assert_eq!(store.count(), 2);
}

#[test]
fn an_atomic_write_of_several_files_is_all_or_nothing() {
    let Some((good, store, _)) = messages_in_file(3) else { return };
    let (first, last) = (store.file("first.grib", &good[..2].concat()), store.file("last.grib", &good[2]));
    let cut = store.file("cut.grib", &good[2][..good[2].len() - 1]);
    let write = |files: [&str; 2]| store.run([["write", "--atomic"], files].concat());
    let said = write([&first, &cut]).begins("archived 0 fields");
    said.fails_with(1, &["cut.grib", "is cut short"]);
    assert_eq!(store.count(), 0);
    let twice = store.file("twice.grib", &[&good[0][..], &good[0]].concat());
    let said = write([&twice, &cut]);
    assert!(!said.err.contains("replaced"), "nothing is visible, so nothing was replaced: {}", said.err);
    write([&first, &last]).succeeds();
    assert_eq!(store.count(), 3);
    let said = store.run(["write", "--atomic", "--flush-every", "2", "x"]);
    assert!(said.err.contains("cannot be used with"), "{}", said.err);
}

#[test]
fn keys_of_flags_override_those_of_messages() {
    let Some((good, store, file)) = messages_in_file(2) else { return };
    store.ok(["write", "--key", "expver=over", &file]);
    same_bytes(&store.read(&format!("{MESSAGE},step=0/6").replace("test", "over")), &good.concat());
}

#[test]
fn a_complete_key_archives_any_file_without_eccodes() {
    let store = Store::new();
    let file = store.file("raw", b"no message at all");
    let key = field(6);
    let mut command = store.command(["write", "--key", &key, &file]);
    said(command.env("ISOTACH_ECCODES", "/no/such/libeccodes.so")).succeeds();
    assert_eq!(store.read(&key), b"no message at all");
    for (step, input) in [(12, "-"), (18, "/dev/stdin")] {
        store.feed(["write", "--key", &field(step), input], b"from a pipe").succeeds();
    }
    assert_eq!(store.read(&field("6/12/18")), b"no message at allfrom a pipefrom a pipe");
}

#[test]
fn empty_input_replaces_no_field() {
    let store = Store::with_field(6, b"good");
    let (key, empty) = (field(6), store.file("empty", b""));
    let expected = "it is empty: expected the bytes of a field";
    for input in ["-", "/dev/stdin"] {
        let name = if input == "-" { "standard input" } else { input };
        store.feed(["write", "--key", &key, input], b"").fails(1, &format!("{name}: {expected}"));
    }
    for command in ["write", "adopt"] {
        store.run([command, "--key", &key, &empty]).fails(1, &format!("{empty}: {expected}"));
    }
    assert_eq!(store.read(&key), b"good");
}

#[test]
fn a_complete_key_names_one_message_and_several_keep_their_own_keys() {
    let Some((good, store, _)) = messages_in_file(2) else { return };
    let key = field(6);
    let single = store.file("single.grib", &[b"padding ", &good[0][..]].concat());
    store.ok(["write", "--key", &key, &single]);
    same_bytes(&store.read(&key), &good[0]);

    let several = store.file("several.grib", &good.concat());
    let date = field(6).replace("20240101", "20240201").replace(",step=6", "");
    let key = format!("{date},step=48,levtype=pl").replace("levtype=sfc,", "");
    store.ok(["write", "--key", &key, &several]);
    // They keep their own levels. All other keys are those of the flag.
    assert_eq!(store.count(), 2);
}

#[test]
fn without_eccodes_the_error_names_the_missing_library() {
    let store = Store::new();
    let file = store.file("one.grib", b"GRIB\0\0\x0c\x017777");
    let mut command = store.command(["write", &file]);
    said(command.env("ISOTACH_ECCODES", "/no/such/libeccodes.so"))
        .fails_with(1, &["message 1 at byte 0: ISOTACH_ECCODES names /no/such/libeccodes.so"]);
}

#[test]
fn flush_every_accepts_positive_numbers_only() {
    let Some((_, store, file)) = messages_in_file(3) else { return };
    let arguments = ["write", "--flush-every", "1", &file];
    assert!(store.ok(arguments).text().starts_with("archived 3 fields"));
    assert_eq!(store.run(["write", "--flush-every", "0", "x"]).code, Some(2));
}

#[test]
fn adopted_files_are_read_in_place_and_survive_a_wipe() {
    let Some((good, store, _)) = messages_in_file(2) else { return };
    let bytes = [b"..", &good[0][..], &good[1]].concat();
    let file = store.file("there.grib", &bytes);
    store.ok(["adopt", &file]).begins("adopted 2 fields, ");
    same_bytes(&store.read(&format!("{MESSAGE},step=0/6")), &good.concat());
    let listed = store.ok(["list", "--json"]);
    let first: serde_json::Value = serde_json::from_str(listed.text().lines().next().unwrap()).unwrap();
    assert_eq!(first["location"], format!("file:{file}"));
    assert_eq!(first["offset"], 2);
    store.ok(["wipe", "class=rd", "--doit"]);
    assert_eq!(store.count(), 0);
    assert_eq!(fs::read(&file).unwrap(), bytes);
}

#[test]
fn repeated_messages_are_counted_and_the_first_is_named() {
    let Some((good, store, _)) = messages_in_file(3) else { return };
    let file = store.file("same.grib", &good.concat());
    let said = store.ok(["write", "--key", "step=0", &file]);
    let start =
        "isotach: 2 fields replaced others of this command under the same key: the first is class=rd,";
    assert!(said.err.starts_with(start), "{said:?}");
    assert!(said.err.ends_with("--no-replace refuses that\n"), "the flag made their keys equal: {said:?}");
    assert_eq!((store.count(), said.err.lines().count()), (1, 1));
    let json = store.ok(["write", "--json", "--key", "step=6", &file]);
    let report = json.json();
    assert_eq!((report["replaced"].as_u64(), report["unlabelled"].as_u64()), (Some(2), Some(0)));

    let twice = store.file("twice.grib", &[good[0].clone(), good[0].clone()].concat());
    let said = store.write(&twice).succeeds();
    let start =
        "isotach: 1 field replaced another of this command under the same key, each with the same bytes: ";
    assert!(said.err.starts_with(start) && !said.err.contains("ecCodes"), "{said:?}");
    let said = store.ok(["write", &file]);
    assert_eq!(said.err, "", "replacing older fields is not reported");
}

#[test]
fn no_replace_refuses_before_anything_is_visible() {
    let Some((_, store, file)) = messages_in_file(3) else { return };
    let refused = |arguments: &[&str], parts: &[&str]| {
        let said = store.run([&["write", "--no-replace"], arguments].concat());
        assert_eq!(said.text(), "");
        said.fails_with(1, parts);
    };
    let same_key = "2 have the key of another message: the first is";
    refused(&["--flush-every", "1", "--key", "step=0", &file], &[same_key]);
    refused(&[&file, &file], &["3 have the key of another message", "nothing was archived"]);
    assert_eq!(store.count(), 0);
    store.ok(["write", "--no-replace", &file]);
    refused(&[&file], &["of the fields, 3 are in the store already: the first is class=rd,"]);
    assert_eq!(store.ok(["list", "--duplicates"]).lines(), 3);
}

#[test]
fn a_stream_is_checked_before_any_of_it_is_visible() {
    let Some((good, store, _)) = messages_in_file(3) else { return };
    let again = [good.concat(), good[1].clone()].concat();
    let said = store.feed(["write", "--no-replace", "--flush-every", "1", "-"], &again);
    said.fails_with(1, &["1 has the key of another message"]);
    assert_eq!(store.count(), 0);
    store.feed(["write", "--no-replace", "-"], &good.concat()).succeeds();
    same_bytes(&store.read(&format!("{MESSAGE},step=0/to/12/by/6")), &good.concat());
    let raw = field(0);
    store.feed(["write", "--no-replace", "--key", &raw, "-"], b"raw").succeeds();
    store.feed(["write", "--no-replace", "--key", &raw, "-"], b"other").fails_with(1, &["1 is in the store"]);
    assert_eq!(store.read(&raw), b"raw");
    let cut = &good[0][..good[0].len() - 1];
    let said = store.feed(["write", "--no-replace", "-"], cut);
    said.fails_with(1, &["standard input: message 1 at byte 0 is cut short"]);
}

#[test]
fn messages_without_class_expver_or_stream_are_counted() {
    let Some((_, store, file)) = messages_in_file(2) else { return };
    let said = store.ok(["write", "--key", "class=,expver=,stream=", &file]);
    assert_eq!(
        said.err,
        "isotach: 2 fields without class, expver, stream, archived under the schema's rule for such fields: set them \
         with --key class=...,expver=...,stream=...\n"
    );
    assert_eq!(store.write(&file).succeeds().err, "");
}

#[test]
fn write_creates_a_missing_store_only_with_init() {
    let store = Store::absent();
    let raw = store.file("raw", b"raw");
    let key = field(0);
    let write = ["write", "--key", &key, &raw];
    store.run(write).fails_with(1, &["does not exist; create it with `isotach ", " init`, or give --init"]);
    assert!(!store.path().exists());
    store.ok([&write[..], &["--init"]].concat());
    store.ok([&write[..], &["--init"]].concat());
    assert_eq!((store.count(), store.read(&key)), (1, b"raw".to_vec()));
    let other = Store::absent();
    other.run(["write", "--init", "--key", "wrong", "x"]).fails_with(2, &["--key: "]);
    other.run(["write", "--init", "--key", "foo=1", &raw]).fails_with(2, &["--key: ", "foo"]);
    other.run(["write", "--init", "nofile.grib"]).fails_with(1, &["nofile.grib"]);
    assert!(!other.path().exists(), "a mistake creates no store");
}

#[test]
fn write_creates_no_missing_root_beside_existing_ones() {
    let store = Store::absent();
    let home = store.folder.path();
    let root = |name: &str| format!("{{path: {}/{name}}}", home.display());
    let run = store.configured(&format!("spaces: [{{roots: [{}, {}]}}]\n", root("a"), root("b")));
    let raw = store.file("raw", b"raw");
    let write = |step: u32| run(&["write", "--init", "--key", &field(step), &raw]);
    assert!(write(0).succeeds().err.contains("created store"));
    assert!(!write(6).succeeds().err.contains("created store"));
    // As if a file system were not mounted.
    fs::rename(home.join("a"), home.join("away")).unwrap();
    write(12).fails_with(1, &["/a does not exist", "init`"]);
    assert!(!home.join("a").exists());
    fs::rename(home.join("away"), home.join("a")).unwrap();
    assert_eq!(run(&["list"]).succeeds().lines(), 2);
}

#[test]
fn a_user_at_a_terminal_is_asked_whether_to_create_the_store() {
    for (answer, is_created) in [("y\n", true), ("Yes\n", true), ("\n", false), ("no\n", false)] {
        let store = Store::absent();
        let raw = store.file("raw", b"raw");
        let key = field(0);
        let (mut user, input) = terminal();
        let (screen, output) = terminal();
        user.write_all(answer.as_bytes()).unwrap();
        let mut command = store.command(["write", "--key", &key, &raw]);
        let mut child = command.stdin(input).stderr(output).stdout(Stdio::null()).spawn().unwrap();
        drop(command);
        assert_eq!(child.wait().unwrap().success(), is_created);
        let shown = shown(screen);
        assert!(shown.contains("/store does not exist. Create it? [y/N] "), "{shown}");
        assert_eq!(store.path().exists(), is_created, "{answer:?}");
    }
}

#[test]
fn a_missing_folder_above_the_store_is_created_only_with_parents() {
    let store = Store::absent();
    let uri = format!("posix:{}/no/such/store", store.folder.path().display());
    let run = |arguments: &[&str]| store.bare([&["--store", &uri], arguments].concat());
    let parts = ["/no/such does not exist; `isotach --store posix:", "init --parents` creates it, too"];
    run(&["init"]).fails_with(1, &parts);
    run(&["write", "--init", "-"]).fails_with(1, &parts);
    assert!(!store.folder.path().join("no").exists());
    run(&["init", "--parents"]).succeeds();
    run(&["init"]).succeeds();
}

#[test]
fn too_few_file_handles_are_reported_before_eccodes_is_called() {
    let Some((good, store, _)) = messages_in_file(1) else { return };
    let file = store.file("good.grib", &good[0]);
    let mut is_reported = false;
    for limit in 5..=40 {
        let said = store.limited(&format!("-n {limit}"), ["write", &file]);
        assert!(matches!(said.code, Some(0 | 1)), "with {limit} files: {said:?}");
        assert!(!said.err.contains("not installed") && !said.err.contains("assertion"), "{limit}: {said:?}");
        assert!(!said.err.contains("wiped again"), "{limit}: {said:?}");
        is_reported |= said.err.contains("ecCodes needs 8 files beside those that are open: ");
    }
    assert!(is_reported);
}
