//! Damaged files: what is lost is named, what is not is found.

use std::fs;

use crate::support::{KEY, Store};

#[test]
fn garbage_at_the_end_of_the_log_hides_nothing_and_stops_nobody() {
    let store = Store::new();
    store.write_raw(0, b"first");
    let log = store.file_of_container("", "log");
    let mut bytes = fs::read(&log).unwrap();
    bytes.extend_from_slice(&b"garbage that is no frame \0\xff".repeat(100));
    fs::write(&log, bytes).unwrap();
    assert_eq!(store.count(), 1);
    assert_eq!(store.read(&format!("{KEY},step=0")), b"first");
    store.write_raw(6, b"second");
    assert_eq!(store.count(), 2);
    assert_eq!(store.read(&format!("{KEY},step=0/6")), b"firstsecond");
}

#[test]
fn a_data_file_cut_short_names_field_and_file() {
    let store = Store::new();
    // Large enough to lie in the data file.
    store.write_raw(0, &[7; 100_000]);
    let data = store.file_of_container("data", "");
    let length = fs::metadata(&data).unwrap().len();
    fs::File::options().write(true).open(&data).unwrap().set_len(length / 2).unwrap();
    let target = store.folder.path().join("out");
    let request = format!("{KEY},step=0");
    let said = store.run(["read".as_ref(), request.as_ref(), "-o".as_ref(), target.as_os_str()]);
    let said = said
        .fails_with(1, &["field class=rd,expver=test", "step=0", "is corrupt: ", &*data.to_string_lossy()]);
    assert!(said.out.is_empty());
    assert!(!target.exists(), "nothing half-written");
    assert_eq!(store.count(), 1, "the field is still listed");
}

#[test]
fn a_damaged_dataset_hides_no_other_and_can_be_wiped() {
    // Each is damaged in its own way: a frame of the log, its header, what says that it is a container.
    for (file, range) in [("log", 200..400), ("log", 0..8), ("superblock", 0..8)] {
        let store = Store::new();
        store.write_raw(0, b"field");
        let damaged = store.file_of_container("", file);
        let mut bytes = fs::read(&damaged).unwrap();
        bytes[range].iter_mut().for_each(|byte| *byte ^= 0x55);
        fs::write(&damaged, bytes).unwrap();
        let (other, raw) = (format!("{KEY},step=0").replace("test", "zzzz"), store.file("raw", b"other"));
        store.run(["write".as_ref(), "--key".as_ref(), other.as_ref(), raw.as_os_str()]).succeeds();

        let why = ["dataset class=rd,expver=test", "is damaged: corrupt: ", "`isotach repair`"];
        let listed = store.run(["list"]).fails_with(1, &why);
        assert!(listed.text().lines().count() == 1 && listed.text().contains("expver=zzzz"), "{listed:?}");
        for (command, part) in [("stats", "expver=zzzz"), ("dump", "expver=zzzz"), ("axes", " zzzz\n")] {
            let said = store.run([command]).fails_with(1, &why);
            assert!(said.text().contains(part) && !said.text().contains("expver=test"), "{said:?}");
            let said = store.run([command, "--json"]).fails_with(1, &why);
            assert!(said.text().lines().count() == 1 && said.text().contains("zzzz"), "{said:?}");
        }
        store.run(["read", &format!("{KEY},step=0"), "-o", "-"]).fails_with(1, &why);
        store.run(["wipe", "expver=test,type=fc", "--doit"]).fails_with(1, &why);
        let said = store.run(["wipe", "expver=test"]).succeeds().text().to_owned();
        assert!(said.contains("not all fields can be counted: dataset class=rd,expver=test"), "{said}");
        assert!(said.contains("would wipe at least 0 fields; nothing was removed"), "{said}");
        let said = store.run(["wipe", "expver=test", "--json"]).succeeds().text().to_owned();
        assert!(said.contains("\"uncounted\":\"dataset class=rd,expver=test"), "{said}");
        assert!(damaged.exists());
        store.run(["wipe", "expver=test", "--doit"]).succeeds();
        assert!(!damaged.exists());
        assert_eq!(store.count(), 1);
        store.write_raw(0, b"again");
        assert_eq!(store.read(&format!("{KEY},step=0")), b"again");
    }
}

#[test]
fn a_listing_tells_every_damaged_dataset_and_lists_all_others() {
    let store = Store::new();
    for expver in ["aaaa", "bbbb", "cccc"] {
        store.write_keyed(&format!("{},step=0", KEY.replace("test", expver)), b"field");
    }
    for container in fs::read_dir(store.path().join("containers")).unwrap().map(|entry| entry.unwrap().path())
    {
        if container.to_string_lossy().contains(":aaaa:") || container.to_string_lossy().contains(":bbbb:") {
            let log = fs::File::options().write(true).open(container.join("log.0000000000000001")).unwrap();
            log.set_len(log.metadata().unwrap().len() - 100).unwrap();
        }
    }
    for arguments in [vec!["list"], vec!["list", "--json"], vec!["stats"]] {
        let said = store.run(&arguments);
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.text().contains("cccc"), "{said:?}");
        let told: Vec<_> = said.err.lines().collect();
        assert!(told.len() == 2 && !said.err.contains("wipe"), "{said:?}");
        for (line, expver) in told.iter().zip(["expver=aaaa", "expver=bbbb"]) {
            assert!(line.contains(expver) && line.contains("`isotach repair`"), "{said:?}");
        }
    }
}

#[test]
fn a_flipped_bit_is_corrupt_and_never_wrong_data() {
    let store = Store::new();
    store.write_raw(0, &[7; 100_000]);
    let data = store.file_of_container("data", "");
    let mut bytes = fs::read(&data).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(&data, bytes).unwrap();
    store
        .run(["read", &format!("{KEY},step=0"), "-o", "-"])
        .fails_with(1, &["is corrupt: ", &*data.to_string_lossy()]);
}

#[test]
fn a_wiped_dataset_that_a_snapshot_shows_is_verified_there() {
    let store = Store::new();
    store.write_raw(0, &[7; 100_000]);
    let data = store.file_of_container("data", "");
    store.run(["snapshot", "create", "before"]).succeeds();
    store.run(["wipe", "class=rd", "--doit"]).succeeds();
    let said = store.run(["verify", "--data", "--at", "before"]).succeeds();
    assert!(said.text().contains("verified 1 dataset, 1 field and"), "{}", said.text());
    let mut bytes = fs::read(&data).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    fs::write(&data, bytes).unwrap();
    store.run(["verify", "--data"]).succeeds();
    let said = store.run(["verify", "--data", "--at", "before"]);
    assert!(said.text().contains("1 damaged place"), "{}", said.text());
    store.run(["verify", "--at", "none"]).fails_with(1, &["--at: snapshot none does not exist"]);
}

/// What `verify` prints of a store, by line.
fn damages(store: &Store, arguments: &[&str]) -> Vec<serde_json::Value> {
    let said = store.run([&["verify", "--json"], arguments].concat());
    let lines: Vec<_> = said.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.code, Some(i32::from(lines.len() > 1)), "{said:?}");
    lines
}

#[test]
fn verify_names_damaged_fields_and_repair_takes_them_out_for_others_to_be_read() {
    let store = Store::new();
    store.write_raw(0, &[7; 100_000]);
    store.write_raw(6, &[8; 100_000]);
    let said = store.run(["verify", "--data"]).succeeds();
    assert!(said.text().contains("verified 1 dataset, 2 fields and 0 replaced fields in "), "{said:?}");
    assert!(said.text().ends_with("nothing is damaged\n") && said.err.is_empty(), "{said:?}");
    let whole = damages(&store, &["--data"]);
    assert_eq!(
        (&whole[0]["datasets"], &whole[0]["fields"], &whole[0]["damages"]),
        (&1.into(), &2.into(), &0.into())
    );

    // Each process has a data file of its own.
    let data = store.path().join("containers").join(store.label()).join("data");
    let holds = |path: &std::path::Path| fs::read(path).unwrap().contains(&8);
    let file =
        fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()).find(|path| holds(path)).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    bytes[70_000] ^= 1;
    fs::write(&file, bytes).unwrap();
    assert_eq!(damages(&store, &[]).len(), 1, "without --data the bytes are not read");
    let found = damages(&store, &["--data"]);
    assert_eq!(
        (found.len(), &found[0]["damaged"], &found[0]["key"]["step"]),
        (2, &"field".into(), &"6".into())
    );
    assert!(found[0]["place"].as_str().unwrap().contains(&*file.to_string_lossy()), "{found:?}");
    let said = store.run(["verify", "--data"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.text().contains("step=6") && said.text().contains("1 damaged place: `isotach repair`"),
        "{said:?}"
    );

    let said = store.run(["repair", "--data"]).succeeds();
    assert!(
        said.text().contains("taken out") && said.text().contains("nothing was changed: add --doit"),
        "{said:?}"
    );
    assert_eq!(store.count(), 2);
    let said = store.run(["repair", "--data", "--doit"]).succeeds();
    assert!(said.text().contains("what was set aside is in "), "{said:?}");
    assert_eq!(store.count(), 1);
    let said = store.run(["read", &format!("{KEY},step=0/6"), "-o", "-"]).succeeds();
    assert!(said.out == [7; 100_000] && said.err.contains("1 field missing: step=6"));
    assert!(file.exists(), "the bytes stay");
}

#[test]
fn a_damaged_log_is_told_with_its_byte_and_cannot_be_repaired() {
    let store = Store::new();
    store.write_raw(0, b"field");
    let log = store.file_of_container("", "log");
    let mut bytes = fs::read(&log).unwrap();
    bytes[200] ^= 1;
    fs::write(&log, bytes).unwrap();
    let found = damages(&store, &[]);
    assert_eq!((&found[0]["damaged"], &found[0]["byte"]), (&"dataset".into(), &128.into()), "{found:?}");
    let said = store.run(["repair", "--doit"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.text().contains("1 damaged place left: `isotach wipe` removes damaged datasets"),
        "{said:?}"
    );
}

#[test]
fn a_damaged_list_of_datasets_is_told_though_the_store_cannot_be_opened() {
    let store = Store::new();
    store.write_raw(0, b"field");
    let log = fs::read_dir(store.path().join("containers/root")).unwrap().map(|entry| entry.unwrap().path());
    let log =
        log.into_iter().find(|path| path.file_name().unwrap().to_string_lossy().starts_with("log.")).unwrap();
    let mut bytes = fs::read(&log).unwrap();
    bytes[200] ^= 1;
    fs::write(&log, bytes).unwrap();
    store.run(["list"]).fails_with(1, &["corrupt"]);
    let found = damages(&store, &[]);
    assert_eq!((&found[0]["damaged"], &found[0]["byte"]), (&"store".into(), &128.into()), "{found:?}");
}

#[test]
fn a_log_that_was_cut_is_refused_named_and_restored_and_what_it_named_is_kept() {
    let store = Store::new();
    store.write_raw(0, &[1; 50_000]);
    let log = store.file_of_container("", "log");
    let first = fs::metadata(&log).unwrap().len();
    store.write_raw(6, &[6; 50_000]);
    let lost = fs::metadata(&log).unwrap().len() - first;
    fs::File::options().write(true).open(&log).unwrap().set_len(first).unwrap();

    let what = format!("the log has lost its last {lost} bytes, which were flushed");
    store.run(["list"]).fails_with(1, &["dataset class=rd,expver=test", &what, "`isotach repair`"]);
    let verified = store.run(["verify"]);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    let text = verified.text();
    assert!(text.contains(&what) && text.contains("not named: 48.8 KiB from byte 0 of "), "{text}");

    let planned = store.run(["repair"]).succeeds();
    assert!(planned.text().ends_with("nothing was changed: add --doit to repair\n"), "{planned:?}");
    let repaired = store.run(["repair", "--doit"]).succeeds();
    let kept = "kept: 48.8 KiB that no entry names, from byte 0 of ";
    let kept = repaired.text().lines().find_map(|line| line.strip_prefix(kept));
    assert_eq!(fs::read(kept.expect("it is named")).unwrap(), [6; 50_000]);
    assert!(repaired.text().contains("restored: dataset class=rd,expver=test"), "{repaired:?}");

    assert_eq!(store.count(), 1);
    assert_eq!(store.read(&format!("{KEY},step=0")), [1; 50_000]);
    store.run(["verify", "--data"]).succeeds();
    store.write_raw(6, b"again");
    assert_eq!(store.read(&format!("{KEY},step=6")), b"again");
}
