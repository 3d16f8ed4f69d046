//! Damaged files: lost data is named, and everything else stays readable.

use std::fs;

use serde_json::Value;

use crate::support::{KEY, Store, damage, field, paths_in, truncate};

#[test]
fn garbage_at_the_end_of_a_log_is_ignored() {
    let store = Store::with_field(0, b"first");
    let log = store.file_of_container("", "log");
    let mut bytes = fs::read(&log).unwrap();
    bytes.extend_from_slice(&b"garbage that is no frame \0\xff".repeat(100));
    fs::write(&log, bytes).unwrap();
    assert_eq!(store.count(), 1);
    assert_eq!(store.read(&field(0)), b"first");
    store.write_raw(6, b"second");
    assert_eq!(store.count(), 2);
    assert_eq!(store.read(&field("0/6")), b"firstsecond");
}

/// A store with a field that is large enough to lie in a data file, and the path of that file.
fn store_with_data_file() -> (Store, std::path::PathBuf) {
    let store = Store::new();
    store.write_raw(0, &[7; 100_000]);
    let data = store.file_of_container("data", "");
    (store, data)
}

#[test]
fn reading_from_a_truncated_data_file_names_field_and_file() {
    let (store, data) = store_with_data_file();
    truncate(&data, |length| length / 2);
    let output = store.folder.path().join("out");
    let said = store.run(["read", &field(0), "-o", output.to_str().unwrap()]);
    let parts = ["field class=rd,expver=test", "step=0", "is corrupt: ", &*data.to_string_lossy()];
    assert!(said.fails_with(1, &parts).out.is_empty());
    assert!(!output.exists());
    assert_eq!(store.count(), 1, "the field is still listed");
}

#[test]
fn a_flipped_bit_is_reported_as_corrupt() {
    let (store, data) = store_with_data_file();
    damage(&data, 50_000..50_001);
    let said = store.try_read(&field(0));
    said.fails_with(1, &["is corrupt: ", &*data.to_string_lossy()]);
}

#[test]
fn a_damaged_dataset_hides_no_other_and_can_be_wiped() {
    // A frame of the log, the header of the log, and the superblock of the container.
    for (file, range) in [("log", 200..400), ("log", 0..8), ("superblock", 0..8)] {
        let store = Store::new();
        store.write_raw(0, b"field");
        let damaged = store.file_of_container("", file);
        damage(&damaged, range);
        store.write_keyed(&field(0).replace("test", "zzzz"), b"other");

        let why = ["dataset class=rd,expver=test", "is damaged: corrupt: ", "`isotach repair`"];
        let listed = store.run(["list"]).fails_with(1, &why);
        assert!(listed.lines() == 1 && listed.text().contains("expver=zzzz"), "{listed:?}");
        for (command, part) in [("stats", "expver=zzzz"), ("dump", "expver=zzzz"), ("axes", " zzzz\n")] {
            let said = store.run([command]).fails_with(1, &why);
            assert!(said.text().contains(part) && !said.text().contains("expver=test"), "{said:?}");
            let said = store.run([command, "--json"]).fails_with(1, &why);
            assert!(said.lines() == 1 && said.text().contains("zzzz"), "{said:?}");
        }
        store.try_read(&field(0)).fails_with(1, &why);
        store.run(["wipe", "expver=test,type=fc", "--doit"]).fails_with(1, &why);
        store.ok(["wipe", "expver=test"]).shows(&[
            "not all fields can be counted: dataset class=rd,expver=test",
            "would wipe at least 0 fields; nothing was removed",
        ]);
        let uncounted = "\"uncounted\":\"dataset class=rd,expver=test";
        store.ok(["wipe", "expver=test", "--json"]).shows(&[uncounted]);
        assert!(damaged.exists());
        store.ok(["wipe", "expver=test", "--doit"]);
        assert!(!damaged.exists());
        assert_eq!(store.count(), 1);
        store.write_raw(0, b"again");
        assert_eq!(store.read(&field(0)), b"again");
    }
}

#[test]
fn a_listing_reports_every_damaged_dataset_and_lists_all_others() {
    let store = Store::new();
    for expver in ["aaaa", "bbbb", "cccc"] {
        store.write_keyed(&format!("{},step=0", KEY.replace("test", expver)), b"field");
    }
    for container in paths_in(store.path().join("containers")) {
        if container.to_string_lossy().contains(":aaaa:") || container.to_string_lossy().contains(":bbbb:") {
            truncate(container.join("log.0000000000000001"), |length| length - 100);
        }
    }
    for arguments in [vec!["list"], vec!["list", "--json"], vec!["stats"]] {
        let said = store.run(&arguments).exits(1).shows(&["cccc"]);
        let lines: Vec<_> = said.err.lines().collect();
        assert!(lines.len() == 2 && !said.err.contains("wipe"), "{said:?}");
        for (line, expver) in lines.iter().zip(["expver=aaaa", "expver=bbbb"]) {
            assert!(line.contains(expver) && line.contains("`isotach repair`"), "{said:?}");
        }
    }
}

#[test]
fn verify_at_a_snapshot_checks_a_wiped_dataset() {
    let (store, data) = store_with_data_file();
    store.ok(["snapshot", "create", "before"]);
    store.ok(["wipe", "class=rd", "--doit"]);
    store.ok(["verify", "--data", "--at", "before"]).shows(&["verified 1 dataset, 1 field and"]);
    damage(&data, 50_000..50_001);
    store.ok(["verify", "--data"]);
    store.run(["verify", "--data", "--at", "before"]).shows(&["1 damaged place"]);
    store.run(["verify", "--at", "none"]).fails_with(1, &["--at: snapshot none does not exist"]);
}

/// The JSON lines of `verify`.
fn verify(store: &Store, arguments: &[&str]) -> Vec<Value> {
    let said = store.run([&["verify", "--json"], arguments].concat());
    let lines: Vec<_> = said.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.code, Some(i32::from(lines.len() > 1)), "{said:?}");
    lines
}

#[test]
fn verify_names_damaged_fields_and_repair_removes_their_entries() {
    let store = Store::new();
    store.write_raw(0, &[7; 100_000]);
    store.write_raw(6, &[8; 100_000]);
    let said = store.ok(["verify", "--data"]);
    let said = said.shows(&["verified 1 dataset, 2 fields and 0 replaced fields in "]);
    assert!(said.text().ends_with("nothing is damaged\n") && said.err.is_empty(), "{said:?}");
    let sum = &verify(&store, &["--data"])[0];
    assert_eq!((&sum["datasets"], &sum["fields"], &sum["damages"]), (&1.into(), &2.into(), &0.into()));

    // Each process has a data file of its own.
    let mut files = paths_in(store.path().join("containers").join(store.label()).join("data"));
    let file = files.find(|path| fs::read(path).unwrap().contains(&8)).unwrap();
    damage(&file, 70_000..70_001);
    assert_eq!(verify(&store, &[]).len(), 1, "without --data the bytes are not read");
    let found = verify(&store, &["--data"]);
    let (damaged, step) = (&found[0]["damaged"], &found[0]["key"]["step"]);
    assert_eq!((found.len(), damaged, step), (2, &"field".into(), &"6".into()));
    assert!(found[0]["place"].as_str().unwrap().contains(&*file.to_string_lossy()), "{found:?}");
    store.run(["verify", "--data"]).shows(&["step=6", "1 damaged place: `isotach repair`"]).exits(1);

    store.ok(["repair", "--data"]).shows(&["taken out", "nothing was changed: add --doit"]);
    assert_eq!(store.count(), 2);
    store.ok(["repair", "--data", "--doit"]).shows(&["the quarantine is "]);
    assert_eq!(store.count(), 1);
    let said = store.try_read(&field("0/6")).succeeds();
    assert!(said.out == [7; 100_000] && said.err.contains("1 field missing: step=6"));
    assert!(file.exists(), "the bytes stay");
}

#[test]
fn verify_reports_the_byte_of_a_damaged_log_and_repair_leaves_it() {
    let store = Store::with_field(0, b"field");
    damage(store.file_of_container("", "log"), 200..201);
    let found = verify(&store, &[]);
    assert_eq!((&found[0]["damaged"], &found[0]["byte"]), (&"dataset".into(), &128.into()), "{found:?}");
    let left = "1 damaged place left: `isotach wipe` removes damaged datasets";
    store.run(["repair", "--doit"]).exits(1).shows(&[left]);
}

#[test]
fn verify_reports_a_damaged_list_of_datasets_though_the_store_cannot_be_opened() {
    let store = Store::with_field(0, b"field");
    let is_log = |path: &std::path::PathBuf| path.to_string_lossy().contains("/log.");
    damage(paths_in(store.path().join("containers/root")).find(is_log).unwrap(), 200..201);
    store.run(["list"]).fails_with(1, &["corrupt"]);
    let found = verify(&store, &[]);
    assert_eq!((&found[0]["damaged"], &found[0]["byte"]), (&"store".into(), &128.into()), "{found:?}");
}

#[test]
fn a_truncated_log_is_refused_named_and_restored_and_its_data_is_kept() {
    let store = Store::new();
    store.write_raw(0, &[1; 50_000]);
    let log = store.file_of_container("", "log");
    let first = fs::metadata(&log).unwrap().len();
    store.write_raw(6, &[6; 50_000]);
    let lost = fs::metadata(&log).unwrap().len() - first;
    truncate(&log, |_| first);

    let what = format!("the log has lost its last {lost} bytes, which were flushed");
    store.run(["list"]).fails_with(1, &["dataset class=rd,expver=test", &what, "`isotach repair`"]);
    store.run(["verify"]).shows(&[&what, "not named: 49.0 KiB from byte 0 of "]).exits(1);

    let planned = store.ok(["repair"]);
    assert!(planned.text().ends_with("nothing was changed: add --doit to repair\n"), "{planned:?}");
    let repaired = store.ok(["repair", "--doit"]).shows(&["restored: dataset class=rd,expver=test"]);
    let copy = repaired.rest_of_line("kept: 49.0 KiB that no entry names, from byte 0 of ");
    // An extent begins 128 bytes behind the start of a page.
    assert_eq!(fs::read(copy).unwrap()[128..], [6; 50_000]);

    assert_eq!(store.count(), 1);
    assert_eq!(store.read(&field(0)), [1; 50_000]);
    store.ok(["verify", "--data"]);
    store.write_raw(6, b"again");
    assert_eq!(store.read(&field(6)), b"again");
}

#[test]
fn arrays_that_no_entry_names_are_counted_in_one_container() {
    let store = Store::with_field(0, b"field");
    assert!(!store.ok(["verify"]).text().contains("not named"));
    let label = store.label();
    let array = store.ok(["object", "create", &label, "--type", "array", "--json"]).json();
    store.feed(["object", "put", &label, array["object"].as_str().unwrap()], b"never flushed").succeeds();
    let what = format!("not named: 1 array of 13 B in {}/{label}: ", store.uri());
    store.ok(["verify"]).shows(&[&what, "a wipe of the dataset frees", "nothing is damaged"]);
    let sum = store.ok(["verify", "--json"]).json();
    assert_eq!((&sum["unnamed_arrays"], &sum["unnamed_bytes"]), (&1.into(), &13.into()), "{sum}");
    store.ok(["repair", "--doit"]).shows(&["nothing is damaged"]);
}
