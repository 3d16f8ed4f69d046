//! Adopted files.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::FileExt},
};

use isotach_fields::{Error, ListOptions, crc32c};

use crate::layouts::{Layout, archive, bytes_of, everywhere, field, named, request, request_like};

#[test]
fn adopted_parts_of_a_file_are_read_from_it_and_outlive_a_wipe() {
    for (layout, store) in everywhere(Layout::store) {
        let file = layout.folder.path().join("old data.grib");
        fs::write(&file, b"padGRIB-oneGRIB-two").unwrap();
        store.adopt(&field("0", "t"), &file, 3, 8, None).unwrap();
        store.adopt(&field("6", "t"), &file, 11, 8, Some(crc32c(b"GRIB-two"))).unwrap();
        store.archive(&field("12", "t"), b"own").unwrap();
        store.flush().unwrap();
        let steps = request_like(&field("0", "t"), "step=0/6/12");
        assert_eq!(bytes_of(&store, &steps), [&b"GRIB-one"[..], b"GRIB-two", b"own"]);
        assert_eq!(&*store.retrieve_shared(&field("0", "t")).unwrap().unwrap(), b"GRIB-one");
        let stats = store.stats(&request("class=od")).unwrap().found[0].counts;
        assert_eq!((stats.fields, stats.adopted_fields, stats.adopted_bytes), (3, 2, 16));

        let report = store.wipe(&request("class=od"), true).unwrap();
        assert_eq!(report.counts().adopted_fields, 2);
        assert!(bytes_of(&store, &steps).is_empty());
        assert_eq!(fs::read(&file).unwrap(), b"padGRIB-oneGRIB-two");
    }
}

#[test]
fn damage_to_an_adopted_file_names_the_field_the_file_and_the_offset() {
    let layout = Layout::memory();
    let store = layout.store();
    let path = layout.folder.path().join("data.grib");
    fs::write(&path, b"padGRIB-one").unwrap();
    store.adopt(&field("0", "t"), &path, 3, 8, None).unwrap();
    store.flush().unwrap();
    let message = || match store.retrieve_one(&field("0", "t")).unwrap_err() {
        Error::Corrupt { field, what, place } => format!("{field} | {what} | {place}"),
        other => panic!("{other:?}"),
    };

    fs::OpenOptions::new().write(true).open(&path).unwrap().write_all_at(b"X", 5).unwrap();
    let damaged = message();
    assert!(damaged.starts_with("class=od,") && damaged.contains("step=0"), "{damaged}");
    assert!(damaged.contains("checksum") && damaged.ends_with("data.grib at offset 3"), "{damaged}");

    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(9).unwrap();
    assert!(message().contains("past the end of the file at 9"), "{}", message());

    fs::remove_file(&path).unwrap();
    let gone = store.retrieve_one(&field("0", "t")).unwrap_err();
    assert_eq!(gone.code(), "not-found");
    assert!(gone.to_string().contains("data.grib"), "{gone}");
}

#[test]
fn a_part_that_the_file_does_not_have_is_refused() {
    let layout = Layout::memory();
    let store = layout.store();
    let path = layout.folder.path().join("short");
    fs::write(&path, b"12345").unwrap();
    assert_eq!(store.adopt(&field("0", "t"), &path, 3, 3, None).unwrap_err().code(), "invalid-input");
    let absent = store.adopt(&field("0", "t"), &layout.folder.path().join("absent"), 0, 1, None).unwrap_err();
    assert_eq!(absent.code(), "not-found");
    assert!(!store.is_dirty());
}

#[test]
fn a_file_whose_path_is_not_utf8_is_refused() {
    let layout = Layout::memory();
    let store = layout.store();
    let path = layout.folder.path().join(OsStr::from_bytes(b"data-\xff"));
    fs::write(&path, b"12345").unwrap();
    let error = store.adopt(&field("0", "t"), &path, 0, 5, None).unwrap_err();
    assert!(error.is_usage() && error.to_string().ends_with("expected a path in UTF-8"), "{error}");
    assert!(!store.is_dirty());
}

#[test]
fn an_adopted_field_replaces_and_is_replaced_like_any_other() {
    let layout = Layout::memory();
    let store = layout.store();
    let path = layout.folder.path().join("data");
    fs::write(&path, b"adopted").unwrap();
    archive(&store, &[(field("0", "t"), b"first")]);
    store.adopt(&field("0", "t"), &path, 0, 7, None).unwrap();
    store.flush().unwrap();
    assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"adopted");
    archive(&store, &[(field("0", "t"), b"last")]);
    assert_eq!(store.retrieve_one(&field("0", "t")).unwrap().unwrap(), b"last");
    let all = store.list(&request(""), ListOptions { duplicates: true }).unwrap();
    assert_eq!(all.filter(|listed| listed.as_ref().unwrap().is_replaced()).count(), 2);
}

#[test]
fn a_damaged_field_is_an_error_in_its_place_and_the_others_come_all_the_same() {
    for layout in named([Layout::memory(), Layout::far()]) {
        let store = layout.store();
        let path = layout.folder.path().join("data");
        fs::write(&path, b"adopted").unwrap();
        store.adopt(&field("6", "t"), &path, 0, 7, Some(1)).unwrap();
        archive(&store, &[(field("0", "t"), b"zero"), (field("12", "t"), b"twelve")]);
        let retrieval = store.retrieve(&request_like(&field("0", "t"), "step=0/6/12")).unwrap();
        let found: Vec<_> = retrieval
            .map(|field| field.map(|field| field.bytes.into_vec()).map_err(|error| error.code()))
            .collect();
        assert_eq!(found, [Ok(b"zero".to_vec()), Err("corrupt"), Ok(b"twelve".to_vec())]);
    }
}

#[test]
fn fields_of_files_and_of_an_engine_that_reads_ahead_come_in_their_order() {
    let layout = Layout::far();
    let store = layout.store();
    let path = layout.folder.path().join("data");
    fs::write(&path, (0..100).collect::<Vec<u8>>()).unwrap();
    for step in 0..100_u8 {
        let key = field(&step.to_string(), "t");
        match step % 7 {
            0..4 => drop(store.adopt(&key, &path, step.into(), 1, None).unwrap()),
            _ => archive(&store, &[(key, &[step])]),
        }
    }
    store.flush().unwrap();
    let all = request_like(&field("0", "t"), "step=0/to/99/by/1");
    let found: Vec<Vec<u8>> =
        store.retrieve(&all).unwrap().map(|field| field.unwrap().bytes.into_vec()).collect();
    assert_eq!(found, (0..100).map(|step| vec![step]).collect::<Vec<_>>());
}
