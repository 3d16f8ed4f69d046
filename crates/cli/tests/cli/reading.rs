//! Reading, listing and inspecting.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::Value;

use crate::support::{KEY, Store, field, paths_in, said, shown, terminal};

#[test]
fn a_missing_field_is_no_error_and_is_named() {
    let store = Store::with_field(6, b"six");
    let target = store.beside("out");
    let read = |steps: &str, more: &[&str]| {
        let request = field(steps);
        store.run([&["read", &request, "-o", &target], more].concat())
    };
    let said = read("0/6/12", &[]).succeeds();
    assert_eq!(said.err, "isotach: 2 fields missing: step=0; step=12\nisotach: read 1 field, 3 B\n");
    assert_eq!(fs::read(&target).unwrap(), b"six");

    fs::remove_file(&target).unwrap();
    let said = read("0/6/12", &["--strict"]).exits(1);
    assert_eq!(said.err, "isotach: 2 fields missing: step=0; step=12\nisotach: read 1 field, 3 B\n");
    assert!(!Path::new(&target).exists(), "a strict read leaves no partial file");
    assert!(read("6", &["--strict"]).succeeds().err.ends_with("read 1 field, 3 B\n"));
}

#[test]
fn a_read_that_finds_nothing_leaves_the_file_unchanged_and_reports_it() {
    let store = Store::with_field(6, b"six");
    let target = store.file("out", b"before");
    let read = |more: &[&str]| store.run([&["read", &field(0), "-o", &target], more].concat());
    let lines = |last: &str| {
        format!(
            "isotach: 1 field missing: {KEY},step=0\nisotach: step=0 matches nothing: stored is step=6\nisotach: \
             nothing found: {target} {last}\nisotach: read 0 fields, 0 B\n"
        )
    };
    assert_eq!(read(&[]).succeeds().err, lines("is unchanged"));
    assert_eq!(read(&["--json"]).succeeds().err.lines().count(), 1);
    assert_eq!(read(&["--strict"]).code, Some(1));
    assert_eq!(fs::read(&target).unwrap(), b"before");
    fs::remove_file(&target).unwrap();
    assert_eq!(read(&[]).succeeds().err, lines("is not created"));
    assert!(!Path::new(&target).exists());
}

/// Checks that no unfinished output is left.
#[track_caller]
fn check_no_leftovers(store: &Store) {
    assert!(!paths_in(store.folder.path()).any(|path| path.to_string_lossy().contains("/.isotach")));
}

#[test]
fn a_failed_read_leaves_the_file_unchanged() {
    let store = Store::with_field(6, b"six");
    store.ok(["lock", "class=rd", "--retrieve"]);
    let target = store.file("out", b"before");
    store.run(["read", &field(6), "-o", &target]).exits(1);
    assert_eq!(fs::read(&target).unwrap(), b"before");
    check_no_leftovers(&store);
}

#[test]
fn read_writes_to_a_named_pipe_and_does_not_replace_it() {
    let store = Store::with_field(6, b"six");
    let pipe = store.beside("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = store.command(["read", &field(6), "-o", &pipe]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(fs::read(&pipe).unwrap(), b"six");
    assert!(child.wait().unwrap().success());
    assert!(!fs::metadata(&pipe).unwrap().is_file());
}

#[test]
fn read_without_output_writes_to_a_pipe_but_not_to_a_terminal() {
    let store = Store::with_field(6, b"six");
    let request = field(6);
    assert_eq!(store.ok(["read", &request]).out, b"six");
    let (_terminal, side) = terminal();
    let said = said(store.command(["read", &request]).stdout(side));
    said.fails_with(2, &["standard output is a terminal, and fields are bytes: expected -o FILE"]);
}

#[test]
fn a_read_that_finds_nothing_names_the_key_that_matches_nothing() {
    let store = Store::with_field(0, b"zero");
    store.write_raw(6, b"six");
    store.write_keyed(&format!("{KEY},step=24,domain=s"), b"s");
    let request = field(0);
    for (from, to, why) in [
        ("class=rd", "class=od", "class=od matches nothing: stored is class=rd"),
        ("step=0", "step=12/18", "step=12/18 matches nothing: stored is step=0/6/24"),
        ("param=167", "param=t", "param=t matches nothing: stored is param=167"),
        ("step=0", "step=24", "some fields have domain=s, which the request does not name"),
    ] {
        let said = store.ok(["read", &request.replace(from, to), "-o", "-"]);
        assert_eq!(said.err.lines().nth(1).unwrap(), format!("isotach: {why}"));
    }
    let said = Store::new().ok(["read", &request, "-o", "-"]);
    assert!(said.err.contains("isotach: the store has no fields\n"), "{said:?}");
}

#[test]
fn an_empty_read_is_explained_only_by_readable_datasets() {
    let store = Store::with_field(0, b"zero");
    let other = KEY.replace("expver=test", "expver=othr");
    store.write_keyed(&format!("{other},step=0"), b"zero");
    let read = |request: &str| store.ok(["read", request, "-o", "-"]).err;
    store.ok(["lock", "--list", "expver=test"]);
    let err = read(&field(6));
    assert!(err.contains("locked for listing") && !err.contains("matches nothing"), "{err}");
    store.ok(["unlock", "--list", "expver=test"]);
    // An unreadable dataset prevents the explanation, but not the answer.
    let is_other = |path: &PathBuf| path.to_string_lossy().contains(":othr:");
    fs::remove_dir_all(paths_in(store.path().join("containers")).find(is_other).unwrap()).unwrap();
    let err = read(&field(6).replace("expver=test,", ""));
    assert!(err.ends_with("read 0 fields, 0 B\n") && !err.contains("matches nothing"), "{err}");
    assert!(read(&field(6)).contains("step=6 matches nothing: stored is step=0"));
}

#[test]
fn an_answer_says_which_datasets_it_leaves_out_or_that_none_matches() {
    let store = Store::with_field(0, b"zero");
    store.ok(["lock", "--list", "expver=test"]);
    for command in [&["stats"][..], &["stats", "--json"], &["dump"]] {
        let err = store.ok(command).err;
        assert!(err.contains("1 dataset of the request is locked for listing"), "{command:?}: {err}");
    }
    store.ok(["unlock", "--list", "expver=test"]);
    for command in [&["verify"][..], &["repair"], &["repair", "--doit"], &["purge"]] {
        let said = store.ok([command, &["class=zz"]].concat());
        let expected = ["the request matches no dataset", "class=zz matches nothing: stored is class=rd"];
        assert_eq!(said.err, expected.map(|line| format!("isotach: {line}\n")).concat(), "{command:?}");
        assert_eq!(store.ok(command).err, "", "{command:?}");
    }
}

#[test]
fn an_empty_result_is_explained_on_a_terminal_only() {
    let store = Store::with_field(0, b"zero");
    assert_eq!(store.ok(["list", "step=6"]).err, "");
    let other = Store::new();
    for command in
        [vec!["list", "step=6"], vec!["axes", "step=6"], vec!["copy", "step=6", "--to", &other.uri()]]
    {
        let (terminal, side) = terminal();
        let mut child = store.command(&command).stderr(side).stdout(Stdio::null()).spawn().unwrap();
        assert!(child.wait().unwrap().success());
        let shown = shown(terminal);
        assert!(shown.contains("no field matches"), "{command:?}: {shown}");
        assert!(shown.contains("step=6 matches nothing: stored is step=0"), "{command:?}: {shown}");
    }
}

#[test]
fn read_prints_its_json_summary_on_standard_error() {
    let store = Store::with_field(6, b"six");
    let request = field("0/to/2400/by/1");
    let said = store.ok(["read", &request, "--json", "-o", "-"]);
    assert_eq!((said.out.as_slice(), said.err.lines().count()), (&b"six"[..], 1));
    let summary: Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!((&summary["fields"], &summary["bytes"]), (&Value::from(1), &Value::from(3)));
    assert_eq!(summary["missing"], 2400);
    let keys = summary["missing_keys"].as_array().unwrap();
    assert_eq!((keys.len(), &keys[1]["step"]), (1000, &Value::from("1")));
    let said = store.run(["read", &request, "--json", "--strict", "-o", "-"]);
    assert_eq!((said.code, said.err.lines().count()), (Some(1), 1), "{said:?}");
}

#[test]
fn missing_fields_of_a_huge_request_are_counted() {
    let store = Store::with_field(6, b"six");
    let request = format!("{KEY},step=0/to/10000/by/1,number=0/to/10000");
    let said = store.run(["read", &request, "--strict", "-o", "-"]).exits(1);
    let first = "isotach: 100020001 fields missing: step=0,number=0; step=0,number=1; ";
    assert!(said.err.starts_with(first), "{said:?}");
    assert!(said.err.contains("; and 100019996 more\n"), "{said:?}");
}

#[test]
fn read_replaces_a_file_only_with_a_complete_answer_and_keeps_links_and_devices() {
    let store = Store::with_field(6, b"six");
    let target = store.file("out", b"before");
    let link = store.beside("link");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let mut arguments = ["read", &field(6), "-o", &link];
    store.ok(arguments);
    assert_eq!(fs::read(&target).unwrap(), b"six");
    assert!(Path::new(&link).is_symlink());
    fs::remove_file(&target).unwrap();
    store.ok(arguments);
    assert_eq!(fs::read(&target).unwrap(), b"six", "a dangling link names the file to create");
    assert!(Path::new(&link).is_symlink());
    arguments[3] = "/dev/null";
    store.ok(arguments);
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    arguments[3] = "/no/such/folder/out";
    let message = "cannot create a file in /no/such/folder: No such file or directory (os error 2)";
    store.run(arguments).fails(1, message);
    arguments[3] = ".";
    store.run(arguments).fails(2, ".: it is a directory: expected a file, or - for standard output");
    check_no_leftovers(&store);
}

#[test]
fn read_refuses_a_cycle_of_links_and_follows_a_chain() {
    let store = Store::with_field(6, b"six");
    let [one, other, far] = ["one", "other", "far"].map(|name| store.beside(name));
    std::os::unix::fs::symlink(&one, &other).unwrap();
    std::os::unix::fs::symlink(&other, &one).unwrap();
    let read = |path: &str| store.run(["read", &field(6), "-o", path]);
    read(&one).fails_with(1, &["cannot write to ", "symbolic links"]);
    assert!(Path::new(&one).is_symlink() && Path::new(&other).is_symlink());
    // A chain of links to a missing file creates that file.
    fs::remove_file(&one).unwrap();
    std::os::unix::fs::symlink("one", &far).unwrap();
    std::os::unix::fs::symlink("created", &one).unwrap();
    read(&far).succeeds();
    assert!(Path::new(&far).is_symlink() && Path::new(&one).is_symlink());
    assert_eq!(fs::read(store.beside("created")).unwrap(), b"six");
}

#[test]
fn read_appends_to_standard_output_given_by_path() {
    let store = Store::with_field(6, b"six");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let target = store.file("out", b"before ");
        let out = fs::File::options().append(true).open(&target).unwrap();
        said(store.command(["read", &field(6), "-o", name]).stdout(out)).succeeds();
        assert_eq!(fs::read(&target).unwrap(), b"before six", "{name}");
    }
}

#[test]
fn requests_are_read_from_files_and_standard_input() {
    let store = Store::with_field(0, b"zero");
    store.write_raw(6, b"six");
    let requests = format!("retrieve, {KEY},\n step=6\nretrieve, {KEY}, step=0\n");
    let file = store.file("requests.txt", requests.as_bytes());
    assert_eq!(store.ok(["read", "-f", &file, "-o", "-"]).out, b"sixzero");
    let said = store.feed(["read", "-f", "-", "-o", "-"], requests.as_bytes()).succeeds();
    assert_eq!(said.out, b"sixzero");
}

#[test]
fn a_listing_in_json_has_the_documented_members() {
    let store = Store::with_field(0, b"123456789");
    let said = store.ok(["list", "class=rd", "--json"]);
    let line = said.json();
    let names: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert_eq!(names, ["key", "location", "offset", "length", "checksum"]);
    let keys: Vec<&String> = line["key"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["class", "expver", "stream", "date", "time", "type", "levtype", "step", "param"]);
    assert_eq!(line["key"]["param"], "167");
    assert!(line["location"].as_str().unwrap().starts_with(&format!("{}/", store.uri())));
    assert_eq!((line["offset"].as_u64(), line["length"].as_u64()), (Some(0), Some(9)));
    assert_eq!(line["checksum"], "crc32c:e3069283");
    let inspected = store.ok(["inspect", &field(0), "--json"]);
    assert_eq!(inspected.text(), said.text());
}

#[test]
fn a_plain_listing_shows_the_three_levels() {
    let store = Store::with_field(0, b"old");
    store.write_raw(0, b"new");
    let line =
        "{class=rd,expver=test,stream=oper,date=20240101,time=0000}{type=fc,levtype=sfc}{step=0,param=167}";
    assert_eq!(store.ok(["list"]).text(), format!("{line}\n"));
    let both = store.ok(["list", "--duplicates"]);
    let mut lines: Vec<&str> = both.text().lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [line, &format!("{line} (replaced)")]);
    assert!(store.ok(["list", "--long"]).text().contains(" length=3 (3 B) crc32c:"));
    assert_eq!(store.ok(["list", "step=24"]).text(), "");
}

#[test]
fn inspect_names_missing_fields() {
    let store = Store::with_field(0, b"zero");
    let request = field("0/to/48/by/6");
    let said = store.ok(["inspect", &request]);
    assert_eq!(said.lines(), 1);
    let line = "isotach: 8 fields missing: step=6; step=12; step=18; step=24; step=30; and 3 more\n";
    assert_eq!(said.err, line);
    assert_eq!(store.run(["inspect", &request, "--strict"]).code, Some(1));
}

#[test]
fn a_reader_that_exits_early_ends_the_program_quietly() {
    let store = Store::new();
    for step in 0..3 {
        // Together they are more than a pipe holds.
        store.write_raw(step, &vec![b'x'; 1_000_000]);
    }
    let mut command = store.command(["read", &field("0/to/2/by/1"), "-o", "-"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
