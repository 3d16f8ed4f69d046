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

        let why = ["dataset class=rd,expver=test", "is damaged: corrupt: ", "`wipe` removes it as a whole"];
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
