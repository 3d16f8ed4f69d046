//! Reading, listing and inspecting.

use std::{fs, io::Read, path::Path, process::Stdio};

use serde_json::Value;

use crate::support::{KEY, Store, said, shown, terminal};

#[test]
fn a_missing_field_is_no_error_and_is_named() {
    let store = Store::new();
    store.write_raw(6, b"six");
    let target = store.folder.path().join("out");
    let read = |steps: &str, more: &[&str]| {
        let request = format!("{KEY},step={steps}");
        let target = target.to_str().unwrap();
        store.run([&["read", &request, "-o", target], more].concat())
    };
    let said = read("0/6/12", &[]).succeeds();
    assert_eq!(said.err, "isotach: 2 fields missing: step=0; step=12\nisotach: read 1 field, 3 B\n");
    assert_eq!(fs::read(&target).unwrap(), b"six");

    fs::remove_file(&target).unwrap();
    let said = read("0/6/12", &["--strict"]);
    assert_eq!(said.code, Some(1));
    assert_eq!(said.err, "isotach: 2 fields missing: step=0; step=12\nisotach: read 1 field, 3 B\n");
    assert!(!target.exists(), "a strict reading leaves no part");
    assert!(read("6", &["--strict"]).succeeds().err.ends_with("read 1 field, 3 B\n"));
}

#[test]
fn a_reading_that_finds_nothing_leaves_the_file_alone_and_says_so() {
    let store = Store::new();
    store.write_raw(6, b"six");
    let target = store.file("out", b"before");
    let name = target.to_str().unwrap();
    let read = |more: &[&str]| store.run([&["read", &format!("{KEY},step=0"), "-o", name], more].concat());
    let lines = |last: &str| {
        format!(
            "isotach: 1 field missing: {KEY},step=0\nisotach: step=0 leaves nothing over: there is step=6\nisotach: \
             nothing found: {last}\nisotach: read 0 fields, 0 B\n"
        )
    };
    assert_eq!(read(&[]).succeeds().err, lines(&format!("{name} is left as it was")));
    assert_eq!(read(&["--json"]).succeeds().err.lines().count(), 1);
    assert_eq!(read(&["--strict"]).code, Some(1));
    assert_eq!(fs::read(&target).unwrap(), b"before");
    fs::remove_file(&target).unwrap();
    assert_eq!(read(&[]).succeeds().err, lines(&format!("no file {name} is made")));
    assert!(!target.exists());
}

#[test]
fn a_reading_that_fails_leaves_the_file_as_it_was() {
    let store = Store::new();
    store.write_raw(6, b"six");
    store.run(["lock", "class=rd", "--retrieve"]).succeeds();
    let target = store.file("out", b"before");
    let said = store.run(["read", &format!("{KEY},step=6"), "-o", target.to_str().unwrap()]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(fs::read(&target).unwrap(), b"before");
    let left = fs::read_dir(store.folder.path()).unwrap().flatten();
    assert!(!left.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with(".isotach")));
}

#[test]
fn a_pipe_with_a_name_is_written_to_and_stays_a_pipe() {
    let store = Store::new();
    store.write_raw(6, b"six");
    let pipe = store.folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = store
        .command(["read", &format!("{KEY},step=6"), "-o", pipe.to_str().unwrap()])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    assert_eq!(fs::read(&pipe).unwrap(), b"six");
    assert!(child.wait().unwrap().success());
    assert!(!fs::metadata(&pipe).unwrap().is_file());
}

#[test]
fn a_reading_without_a_file_goes_to_a_pipe_but_not_to_a_terminal() {
    let store = Store::new();
    store.write_raw(6, b"six");
    let request = format!("{KEY},step=6");
    assert_eq!(store.run(["read", &request]).succeeds().out, b"six");
    let (_terminal, side) = terminal();
    let said = said(store.command(["read", &request]).stdout(side));
    said.fails_with(2, &["standard output is a terminal, and fields are bytes: expected -o FILE"]);
}

#[test]
fn a_reading_that_finds_nothing_says_which_key_left_nothing_over() {
    let store = Store::new();
    store.write_raw(0, b"zero");
    store.write_raw(6, b"six");
    let why = |request: &str| {
        let said = store.run(["read", request, "-o", "-"]).succeeds();
        said.err.lines().nth(1).unwrap().to_owned()
    };
    let with = |from: &str, to: &str| format!("{KEY},step=0").replace(from, to);
    let told = "isotach: class=od leaves nothing over: there is class=rd";
    assert_eq!(why(&with("class=rd", "class=od")), told);
    let told = "isotach: step=12/18 leaves nothing over: there is step=0/6";
    assert_eq!(why(&with("step=0", "step=12/18")), told);
    let told = "isotach: param=t leaves nothing over: there is param=167";
    assert_eq!(why(&with("param=167", "param=t")), told);
    let empty = Store::new();
    let said = empty.run(["read", &format!("{KEY},step=0"), "-o", "-"]).succeeds();
    assert!(said.err.contains("isotach: there are no fields at all\n"), "{said:?}");
    store.write_keyed(&format!("{KEY},step=24,domain=s"), b"s");
    let told = "isotach: there are fields with domain=s, which the request does not name";
    assert_eq!(why(&with("step=0", "step=24")), told);
}

#[test]
fn why_nothing_was_found_is_said_only_of_what_could_be_looked_into() {
    let store = Store::new();
    store.write_raw(0, b"zero");
    let other = KEY.replace("expver=test", "expver=othr");
    store.write_keyed(&format!("{other},step=0"), b"zero");
    let read = |request: &str| store.run(["read", request, "-o", "-"]).succeeds().err;
    store.run(["lock", "--list", "expver=test"]).succeeds();
    let told = read(&format!("{KEY},step=6"));
    assert!(told.contains("locked for listing") && !told.contains("leaves nothing over"), "{told}");
    store.run(["unlock", "--list", "expver=test"]).succeeds();
    // What cannot be read hides an explanation, and no more.
    for entry in fs::read_dir(store.path().join("containers")).unwrap().flatten() {
        if entry.file_name().to_string_lossy().contains("othr") {
            fs::remove_dir_all(entry.path()).unwrap();
        }
    }
    let told = read(&format!("{KEY},step=6").replace("expver=test,", ""));
    assert!(told.ends_with("read 0 fields, 0 B\n") && !told.contains("leaves nothing over"), "{told}");
    assert!(read(&format!("{KEY},step=6")).contains("step=6 leaves nothing over: there is step=0"));
}

#[test]
fn what_matches_no_field_is_noted_on_a_terminal_only() {
    let store = Store::new();
    store.write_raw(0, b"zero");
    assert_eq!(store.run(["list", "step=6"]).succeeds().err, "");
    let other = Store::new();
    for command in
        [vec!["list", "step=6"], vec!["axes", "step=6"], vec!["copy", "step=6", "--to", &other.uri()]]
    {
        let (terminal, side) = terminal();
        let mut child = store.command(&command).stderr(side).stdout(Stdio::null()).spawn().unwrap();
        assert!(child.wait().unwrap().success());
        let shown = shown(terminal);
        assert!(shown.contains("no field matches"), "{command:?}: {shown}");
        assert!(shown.contains("step=6 leaves nothing over: there is step=0"), "{command:?}: {shown}");
    }
}

#[test]
fn a_reading_in_json_is_summed_up_on_standard_error() {
    let store = Store::new();
    store.write_raw(6, b"six");
    let request = format!("{KEY},step=0/to/2400/by/1");
    let said = store.run(["read", &request, "--json", "-o", "-"]).succeeds();
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
fn of_a_request_for_a_hundred_million_fields_what_is_missing_is_counted() {
    let store = Store::new();
    store.write_raw(6, b"six");
    let request = format!("{KEY},step=0/to/10000/by/1,number=0/to/10000");
    let said = store.run(["read", &request, "--strict", "-o", "-"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let first = "isotach: 100020001 fields missing: step=0,number=0; step=0,number=1; ";
    assert!(said.err.starts_with(first), "{said:?}");
    assert!(said.err.contains("; and 100019996 more\n"), "{said:?}");
}

#[test]
fn a_file_is_replaced_when_the_answer_is_whole_and_others_are_not_replaced() {
    let store = Store::new();
    store.write_raw(6, b"six");
    let target = store.file("out", b"before");
    let link = store.folder.path().join("link");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let request = format!("{KEY},step=6");
    let mut arguments = ["read".as_ref(), request.as_ref(), "-o".as_ref(), link.as_os_str()];
    store.run(arguments).succeeds();
    assert_eq!(fs::read(&target).unwrap(), b"six");
    assert!(link.is_symlink());
    fs::remove_file(&target).unwrap();
    store.run(arguments).succeeds();
    assert_eq!(fs::read(&target).unwrap(), b"six", "a link to nothing says where the file is to be made");
    assert!(link.is_symlink());
    arguments[3] = "/dev/null".as_ref();
    store.run(arguments).succeeds();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    arguments[3] = "/no/such/folder/out".as_ref();
    store
        .run(arguments)
        .fails(1, "cannot create a file in /no/such/folder: No such file or directory (os error 2)");
    arguments[3] = ".".as_ref();
    store.run(arguments).fails(2, ".: it is a folder: expected a file, or - for standard output");
    let left = fs::read_dir(store.folder.path()).unwrap().flatten();
    assert!(!left.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with(".isotach")));
}

#[test]
fn links_that_lead_to_each_other_are_no_file_to_read_into() {
    let store = Store::new();
    store.write_raw(6, b"six");
    let [one, other, far] = ["one", "other", "far"].map(|name| store.folder.path().join(name));
    std::os::unix::fs::symlink(&one, &other).unwrap();
    std::os::unix::fs::symlink(&other, &one).unwrap();
    let request = format!("{KEY},step=6");
    let read = |path: &Path| store.run(["read".as_ref(), request.as_ref(), "-o".as_ref(), path.as_os_str()]);
    read(&one).fails_with(1, &["cannot write to ", "symbolic links"]);
    assert!(one.is_symlink() && other.is_symlink());
    // A link to a link to a file that is not there yet makes that file.
    fs::remove_file(&one).unwrap();
    std::os::unix::fs::symlink("one", &far).unwrap();
    std::os::unix::fs::symlink("made", &one).unwrap();
    read(&far).succeeds();
    assert!(far.is_symlink() && one.is_symlink());
    assert_eq!(fs::read(store.folder.path().join("made")).unwrap(), b"six");
}

#[test]
fn standard_output_by_its_path_is_appended_to() {
    let store = Store::new();
    store.write_raw(6, b"six");
    let request = format!("{KEY},step=6");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let target = store.file("out", b"before ");
        let out = fs::File::options().append(true).open(&target).unwrap();
        said(store.command(["read", &request, "-o", name]).stdout(out)).succeeds();
        assert_eq!(fs::read(&target).unwrap(), b"before six", "{name}");
    }
}

#[test]
fn requests_come_from_files_and_standard_input_too() {
    let store = Store::new();
    store.write_raw(0, b"zero");
    store.write_raw(6, b"six");
    let requests = format!("retrieve, {KEY},\n step=6\nretrieve, {KEY}, step=0\n");
    let file = store.file("requests.txt", requests.as_bytes());
    let said = store.run(["read".as_ref(), "-f".as_ref(), file.as_os_str(), "-o".as_ref(), "-".as_ref()]);
    assert_eq!(said.succeeds().out, b"sixzero");
    let said = store.feed(["read", "-f", "-", "-o", "-"], requests.as_bytes()).succeeds();
    assert_eq!(said.out, b"sixzero");
}

#[test]
fn a_listing_in_json_has_the_documented_members() {
    let store = Store::new();
    store.write_raw(0, b"123456789");
    let said = store.run(["list", "class=rd", "--json"]).succeeds();
    let line: Value = serde_json::from_str(said.text()).unwrap();
    let names: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert_eq!(names, ["key", "location", "offset", "length", "checksum"]);
    let keys: Vec<&String> = line["key"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["class", "expver", "stream", "date", "time", "type", "levtype", "step", "param"]);
    assert_eq!(line["key"]["param"], "167");
    assert!(line["location"].as_str().unwrap().starts_with(&format!("{}/", store.uri())));
    assert_eq!((line["offset"].as_u64(), line["length"].as_u64()), (Some(0), Some(9)));
    assert_eq!(line["checksum"], "crc32c:e3069283");
    let inspected = store.run(["inspect", &format!("{KEY},step=0"), "--json"]).succeeds();
    assert_eq!(inspected.text(), said.text());
}

#[test]
fn a_listing_for_people_shows_the_three_levels() {
    let store = Store::new();
    store.write_raw(0, b"old");
    store.write_raw(0, b"new");
    let line =
        "{class=rd,expver=test,stream=oper,date=20240101,time=0000}{type=fc,levtype=sfc}{step=0,param=167}";
    assert_eq!(store.run(["list"]).succeeds().text(), format!("{line}\n"));
    let both = store.run(["list", "--duplicates"]).succeeds();
    let mut lines: Vec<&str> = both.text().lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, [line, &format!("{line} (replaced)")]);
    assert!(store.run(["list", "--long"]).succeeds().text().contains(" length=3 (3 B) crc32c:"));
    assert_eq!(store.run(["list", "step=24"]).succeeds().text(), "");
}

#[test]
fn inspecting_names_what_is_missing() {
    let store = Store::new();
    store.write_raw(0, b"zero");
    let request = format!("{KEY},step=0/to/48/by/6");
    let said = store.run(["inspect", &request]).succeeds();
    assert_eq!(said.text().lines().count(), 1);
    assert_eq!(
        said.err,
        "isotach: 8 fields missing: step=6; step=12; step=18; step=24; step=30; and 3 more\n"
    );
    assert_eq!(store.run(["inspect", &request, "--strict"]).code, Some(1));
}

#[test]
fn a_reader_that_goes_away_ends_the_program_without_a_word() {
    let store = Store::new();
    for step in 0..3 {
        store.write_raw(step, &[b'x'; 200_000]);
    }
    let request = format!("{KEY},step=0/to/2/by/1");
    let mut child = store
        .command(["read", &request, "-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
