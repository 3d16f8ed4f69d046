//! Archiving and adopting.

use std::{fs, io::Write, process::Stdio};

use crate::support::{KEY, MESSAGE, Store, messages, program, said, same_bytes, shown, terminal};

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
    let twice = store.file("twice.grib", &[&good[0][..], &good[0]].concat());
    let said = write([&twice, &cut]);
    assert!(!said.err.contains("replaced"), "nothing is visible, so nothing was replaced: {}", said.err);
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

#[test]
fn messages_that_replace_each_other_are_counted_and_the_first_is_named() {
    let Some(good) = messages(3) else { return };
    let store = Store::new();
    let file = store.file("same.grib", &good.concat());
    let file = file.to_str().unwrap();
    let said = store.run(["write", "--key", "step=0", file]).succeeds();
    let told = "isotach: 2 fields replaced others of this command under the same key: the first is class=rd,";
    assert!(said.err.starts_with(told), "{said:?}");
    assert!(said.err.ends_with("--no-replace refuses that\n"), "what was typed made them alike: {said:?}");
    assert_eq!((store.count(), said.err.lines().count()), (1, 1));
    let json = store.run(["write", "--json", "--key", "step=6", file]).succeeds();
    let report: serde_json::Value = serde_json::from_str(json.text()).unwrap();
    assert_eq!((report["replaced"].as_u64(), report["unlabelled"].as_u64()), (Some(2), Some(0)));

    let twice = store.file("twice.grib", &[good[0].clone(), good[0].clone()].concat());
    let said = store.write(&twice).succeeds();
    let told =
        "isotach: 1 field replaced another of this command under the same key, each with the same bytes: ";
    assert!(said.err.starts_with(told) && !said.err.contains("ecCodes"), "{said:?}");
    let said = store.run(["write", file]).succeeds();
    assert_eq!(said.err, "", "what was there before the command is replaced without a word");
}

#[test]
fn nothing_is_visible_where_something_would_be_replaced_and_must_not_be() {
    let Some(good) = messages(3) else { return };
    let store = Store::new();
    let file = store.file("good.grib", &good.concat());
    let file = file.to_str().unwrap();
    let refused = |arguments: &[&str], parts: &[&str]| {
        let said = store.run([&["write", "--no-replace"], arguments].concat());
        assert_eq!(said.text(), "");
        said.fails_with(1, parts);
    };
    refused(
        &["--flush-every", "1", "--key", "step=0", file],
        &["2 have the key of another message: the first is"],
    );
    refused(&[file, file], &["3 have the key of another message", "nothing was taken in"]);
    assert_eq!(store.count(), 0);
    store.run(["write", "--no-replace", file]).succeeds();
    refused(&[file], &["of the fields, 3 are in the store already: the first is class=rd,"]);
    assert_eq!(store.run(["list", "--duplicates"]).succeeds().text().lines().count(), 3);
}

#[test]
fn a_stream_is_looked_through_before_any_of_it_is_visible() {
    let Some(good) = messages(3) else { return };
    let store = Store::new();
    let again = [good.concat(), good[1].clone()].concat();
    let said = store.feed(["write", "--no-replace", "--flush-every", "1", "-"], &again);
    said.fails_with(1, &["1 has the key of another message"]);
    assert_eq!(store.count(), 0);
    store.feed(["write", "--no-replace", "-"], &good.concat()).succeeds();
    same_bytes(&store.read(&format!("{MESSAGE},step=0/to/12/by/6")), &good.concat());
    let raw = format!("{KEY},step=0");
    store.feed(["write", "--no-replace", "--key", &raw, "-"], b"raw").succeeds();
    store.feed(["write", "--no-replace", "--key", &raw, "-"], b"other").fails_with(1, &["1 is in the store"]);
    assert_eq!(store.read(&raw), b"raw");
    let cut = &good[0][..good[0].len() - 1];
    let said = store.feed(["write", "--no-replace", "-"], cut);
    said.fails_with(1, &["standard input: message 1 at byte 0 is cut short"]);
}

#[test]
fn messages_without_class_expver_or_stream_are_counted_with_what_to_give() {
    let Some(good) = messages(2) else { return };
    let store = Store::new();
    let file = store.file("bare.grib", &good.concat());
    let said = store.run(["write", "--key", "class=,expver=,stream=", file.to_str().unwrap()]).succeeds();
    assert_eq!(
        said.err,
        "isotach: 2 fields without class, expver, stream, filed under a rule of the schema for such: --key \
         class=...,expver=...,stream=... gives what is missing\n"
    );
    assert_eq!(store.write(&file).succeeds().err, "");
}

#[test]
fn a_store_that_is_not_there_is_made_where_that_is_asked_for() {
    let store = Store::absent();
    let raw = store.file("raw", b"raw");
    let key = format!("{KEY},step=0");
    let write = ["write", "--key", &key, raw.to_str().unwrap()];
    store.run(write).fails_with(1, &["does not exist; create it with `isotach ", " init`, or give --init"]);
    assert!(!store.path().exists());
    store.run([&write[..], &["--init"]].concat()).succeeds();
    store.run([&write[..], &["--init"]].concat()).succeeds();
    assert_eq!((store.count(), store.read(&key)), (1, b"raw".to_vec()));
    let other = Store::absent();
    other.run(["write", "--init", "--key", "wrong", "x"]).fails_with(2, &["--key: "]);
    other
        .run(["write", "--init", "--key", "foo=1", raw.to_str().unwrap()])
        .fails_with(2, &["--key: ", "foo"]);
    other.run(["write", "--init", "nofile.grib"]).fails_with(1, &["nofile.grib"]);
    assert!(!other.path().exists(), "a mistake makes no store");
}

#[test]
fn a_root_that_is_missing_beside_others_is_not_made_by_a_write() {
    let store = Store::absent();
    let home = store.folder.path();
    let root = |name: &str| format!("{{path: {}/{name}}}", home.display());
    let yaml = format!("spaces: [{{roots: [{}, {}]}}]\n", root("a"), root("b"));
    let file = store.file("fdb.yaml", yaml.as_bytes());
    let raw = store.file("raw", b"raw");
    let run = |words: &[&str]| said(program(home).args(["--config", file.to_str().unwrap()]).args(words));
    let write =
        |step: u32| run(&["write", "--init", "--key", &format!("{KEY},step={step}"), raw.to_str().unwrap()]);
    assert!(write(0).succeeds().err.contains("made store"));
    assert!(!write(6).succeeds().err.contains("made store"));
    // As a file system that is not mounted.
    fs::rename(home.join("a"), home.join("away")).unwrap();
    write(12).fails_with(1, &["/a does not exist", "init`"]);
    assert!(!home.join("a").exists());
    fs::rename(home.join("away"), home.join("a")).unwrap();
    assert_eq!(run(&["list"]).succeeds().text().lines().count(), 2);
}

#[test]
fn a_person_at_a_terminal_is_asked_whether_to_make_the_store() {
    for (answer, is_made) in [("y\n", true), ("Yes\n", true), ("\n", false), ("no\n", false)] {
        let store = Store::absent();
        let raw = store.file("raw", b"raw");
        let key = format!("{KEY},step=0");
        let (mut person, input) = terminal();
        let (screen, output) = terminal();
        person.write_all(answer.as_bytes()).unwrap();
        let mut command = store.command(["write", "--key", &key, raw.to_str().unwrap()]);
        let mut child = command.stdin(input).stderr(output).stdout(Stdio::null()).spawn().unwrap();
        drop(command);
        assert_eq!(child.wait().unwrap().success(), is_made);
        let shown = shown(screen);
        assert!(shown.contains("/store does not exist. Make it? [y/N] "), "{shown}");
        assert_eq!(store.path().exists(), is_made, "{answer:?}");
    }
}

#[test]
fn a_folder_above_the_store_that_is_not_there_is_made_only_if_that_is_asked_for() {
    let store = Store::absent();
    let uri = format!("posix:{}/no/such/store", store.folder.path().display());
    let run = |arguments: &[&str]| said(program(store.folder.path()).args(["--store", &uri]).args(arguments));
    let parts = ["/no/such does not exist; `isotach --store posix:", "init --parents` makes that, too"];
    run(&["init"]).fails_with(1, &parts);
    run(&["write", "--init", "-"]).fails_with(1, &parts);
    assert!(!store.folder.path().join("no").exists());
    run(&["init", "--parents"]).succeeds();
    run(&["init"]).succeeds();
}

#[test]
fn too_few_files_are_told_before_eccodes_is_asked() {
    let Some(good) = messages(1) else { return };
    let store = Store::new();
    let file = store.file("good.grib", &good[0]);
    let mut is_told = false;
    for limit in 5..=40 {
        let mut command = std::process::Command::new("sh");
        let program = store.command(["write"]);
        command.args(["-c", "ulimit -n $0 && exec \"$@\"", &limit.to_string()]);
        command.arg(program.get_program()).args(program.get_args()).arg(&file);
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let said = said(&mut command);
        assert!(matches!(said.code, Some(0 | 1)), "with {limit} files: {said:?}");
        assert!(!said.err.contains("not installed") && !said.err.contains("assertion"), "{limit}: {said:?}");
        assert!(!said.err.contains("wiped again"), "{limit}: {said:?}");
        is_told |= said.err.contains("ecCodes needs 8 files beside those that are open: ");
    }
    assert!(is_told);
}
