//! Requests in the language of MARS: keywords with and without effect.

use isotach_needs::{Need, skip};

use crate::support::{KEY, Store, field, said};

const KEYWORDS: &str = "area=75/-10/30/40,format=packed,grid=0.25/0.25,target=out";

/// Why a keyword is refused.
fn no_effect(name: &str) -> String {
    format!("{name:?} is a keyword of MARS that has no effect here")
}

#[test]
fn keywords_of_post_processing_have_no_effect() {
    let store = Store::with_field(0, b"field");
    let request = format!("{KEY},step=0,{KEYWORDS}");
    assert_eq!(store.read(&request), b"field");
    assert_eq!(store.ok(["list", &request]).lines(), 1);
}

#[test]
fn a_strict_request_refuses_keywords_without_effect() {
    let store = Store::with_field(0, b"field");
    let request = field(0);
    store.ok(["list", &request, "--strict-request"]);
    for keyword in KEYWORDS.split(',') {
        let (name, _) = keyword.split_once('=').unwrap();
        let request = format!("{request},{keyword}");
        for command in [&["list", &request][..], &["read", &request, "-o", "-"], &["inspect", &request]] {
            store.run([command, &["--strict-request"]].concat()).fails(2, &no_effect(name));
        }
    }
}

#[test]
fn a_strict_file_of_requests_names_the_line_of_the_keyword() {
    let store = Store::with_field(0, b"field");
    let text = format!("retrieve, {KEY}, step=0\nretrieve, {KEY}, step=0,\n  target=out\n");
    let file = store.file("requests.txt", text.as_bytes());
    assert_eq!(store.ok(["read", "-f", &file, "-o", "-"]).out, b"fieldfield");
    let message = format!("{file}:2: {}", no_effect("target"));
    store.run(["read", "-f", &file, "-o", "-", "--strict-request"]).fails(2, &message);
}

#[test]
fn wipe_refuses_keywords_without_effect() {
    let store = Store::with_field(0, b"field");
    store.run(["wipe", "class=rd,expver=test,area=1/2/3/4", "--doit"]).fails(2, &no_effect("area"));
    assert_eq!(store.count(), 1);
}

#[test]
fn a_key_set_to_off_is_refused_by_commands_that_change_fields() {
    let store = Store::with_field(0, b"field");
    let why = "=off takes the key out of the request";
    let doit: &[&str] = &["--doit"];
    let all: [(&str, &[&str]); 5] =
        [("wipe", doit), ("delete", doit), ("purge", doit), ("lock", &["--wipe"]), ("unlock", &["--wipe"])];
    for (command, rest) in all {
        for request in ["class=off", "class=rd,expver=OFF"] {
            store.run([&[command, request], rest].concat()).fails_with(2, &[&why[1..]]);
        }
    }
    let file = store.file("raw", b"other");
    for filter in ["--include-filter", "--exclude-filter"] {
        let (key, file) = (field(6), &file);
        store.run(["write", filter, "step=off", "--key", &key, file]).fails_with(2, &[filter, "step", why]);
    }
    assert_eq!(store.count(), 1);
    assert_eq!(store.ok(["list", "class=off"]).lines(), 1);
}

#[test]
fn a_key_for_messages_refuses_keywords_without_effect() {
    let store = Store::new();
    let file = store.file("raw", b"field");
    let message = format!("--key: {}", no_effect("area"));
    store.run(["write", "--key", &field("0,area=1"), &file]).fails(2, &message);
}

#[test]
fn isotach_eccodes_selects_the_library_and_info_shows_the_reason() {
    let store = Store::new();
    let info = |set: Option<&str>| {
        let mut command = store.command(["info", "--json"]);
        command.env_remove("ISOTACH_ECCODES");
        if let Some(path) = set {
            command.env("ISOTACH_ECCODES", path);
        }
        said(&mut command).succeeds().json()["eccodes"].clone()
    };
    let found = info(None);
    let Some(path) = found["path"].as_str() else {
        return skip(Need::Eccodes, "isotach info finds no ecCodes");
    };
    assert!(found["why"].as_str().unwrap().contains("'s"), "{found} names the owner of the library");
    assert_eq!(info(Some(path))["why"], "ISOTACH_ECCODES names it");
    assert!(info(Some("/no/such/libeccodes.so")).is_null());
}
