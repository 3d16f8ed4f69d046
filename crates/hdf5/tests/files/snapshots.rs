//! Snapshots: versions of a file that have a name.

use std::sync::Arc;

use isotach_hdf5::{Access, Creation, Error, File};
use isotach_object::Error as ObjectError;

use crate::common::{Place, at, beside, data, dataset, group, linked, places, plain, read_all, whole};

fn places_with_snapshots() -> impl Iterator<Item = Place> {
    places().into_iter().filter(Place::has_snapshots)
}

fn write(file: &Arc<File>, byte: u8) {
    let set = at(file, "set");
    set.write(&whole(&set), &[byte; 32_000]).unwrap();
}

/// A file with versions 1 and 2, which are snapshots, and a version 3.
fn three_versions(place: &Place) -> Arc<File> {
    let file = place.create();
    drop(dataset(&file, "set", data(&[4000], &[1000], 8)));
    for (byte, name) in [(1, "one"), (2, "2024-01-02T03:04")] {
        write(&file, byte);
        linked(&file, name, group());
        let version = file.create_snapshot(name).unwrap();
        assert_eq!((version, file.has_changes()), (file.snapshots().unwrap().last().unwrap().version, false));
    }
    write(&file, 3);
    file.commit().unwrap();
    file
}

fn at_snapshot(place: &Place, snapshot: &str) -> Arc<File> {
    place.site.open(&format!("{}@{snapshot}", place.name), Access::ReadOnly).unwrap()
}

#[test]
fn a_snapshot_stays_what_it_was() {
    for place in places_with_snapshots() {
        let file = three_versions(&place);
        let (one, two) = (at_snapshot(&place, "one"), at_snapshot(&place, "2024-01-02T03:04"));
        assert_eq!((read_all(&at(&one, "set"))[0], one.root().unwrap().link_count().unwrap()), (1, 2));
        write(&file, 4);
        file.root().unwrap().remove_link("one").unwrap();
        file.commit().unwrap();
        for (snapshot, byte) in [(&one, 1), (&two, 2), (&file, 4)] {
            snapshot.refresh().unwrap();
            assert_eq!(read_all(&at(snapshot, "set")), [byte; 32_000]);
        }
        assert_eq!((one.number() != two.number(), one.is_writable()), (true, false));
        assert!(one.version() < two.version() && two.version() < file.version());
        drop((one, two));
        let file = place.reopened(file);
        assert_eq!(read_all(&at(&at_snapshot(&place, "one"), "set")), [1; 32_000]);
        drop(file);
        assert_eq!(read_all(&at(&at_snapshot(&place, "2024-01-02T03:04"), "set")), [2; 32_000]);
    }
}

#[test]
fn snapshots_are_listed_and_removed_by_name() {
    for place in places_with_snapshots() {
        let file = three_versions(&place);
        let names = |file: &File| -> Vec<String> {
            file.snapshots().unwrap().into_iter().map(|snapshot| snapshot.name).collect()
        };
        assert_eq!(names(&file), ["one", "2024-01-02T03:04"]);
        let error = file.create_snapshot("one").unwrap_err();
        assert!(matches!(error, Error::AlreadyExists { .. }) && error.to_string().contains("one"), "{error}");
        let open = at_snapshot(&place, "one");
        file.remove_snapshot("one").unwrap();
        assert_eq!((names(&file), read_all(&at(&open, "set"))[0]), (vec!["2024-01-02T03:04".to_owned()], 1));
        drop(open);
        let error = file.remove_snapshot("one").unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }) && error.to_string().contains("one"), "{error}");
        let error = place.site.open(&format!("{}@one", place.name), Access::ReadOnly).unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
        assert!(error.to_string().contains("snapshot one of file"), "{error}");
        for wrong in ["", ".a", "a b", "a/b", "a@b", &"a".repeat(128)] {
            let error = file.create_snapshot(wrong).unwrap_err();
            assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
        }
    }
}

#[test]
fn a_snapshot_is_for_reading() {
    for place in places_with_snapshots() {
        let file = three_versions(&place);
        let name = format!("{}@one", place.name);
        let open = |access| place.site.open(&name, access);
        let error = open(Access::ReadWrite).unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
        let one = open(Access::ReadOnly).unwrap();
        assert!(matches!(open(Access::ReadWrite), Err(Error::ReadOnly { .. })));
        assert!(Arc::ptr_eq(&one, &open(Access::ReadOnly).unwrap()));
        assert!(matches!(one.create_object(group()), Err(Error::ReadOnly { .. })));
        assert!(matches!(one.create_snapshot("again"), Err(Error::ReadOnly { .. })));
        assert!(matches!(one.remove_snapshot("one"), Err(Error::ReadOnly { .. })));
        drop(file);
        let error = place.site.create(&place.name, Creation::Truncate, &group(), b"").unwrap_err();
        assert!(error.to_string().contains("has open"), "{error}");
        assert!(place.site.delete(&place.name).is_err());
        drop(one);
        place.site.delete(&place.name).unwrap();
        assert!(matches!(open(Access::ReadOnly), Err(Error::NotFound { .. })));
    }
}

#[test]
fn a_file_whose_name_has_an_at_sign_comes_before_a_snapshot() {
    for place in places_with_snapshots() {
        let file = three_versions(&place);
        let name = format!("{}@one", place.name);
        assert!(place.site.exists(&name).unwrap() && place.site.exists(&place.name).unwrap());
        assert!(!place.site.exists(&format!("{}@two", place.name)).unwrap());
        let other = place.site.create(&name, Creation::New, &group(), b"other").unwrap();
        linked(&other, "other", group());
        other.commit().unwrap();
        drop(other);
        let other = place.site.open(&name, Access::ReadWrite).unwrap();
        assert!(other.root().unwrap().link("other").unwrap().is_some());
        drop((file, other));
        let error = place.site.open("/no/such/file.h5@one", Access::ReadOnly).unwrap_err();
        assert!(error.to_string().contains("file.h5@one (errno = 2)"), "{error}");
    }
}

#[test]
fn a_site_can_be_at_a_snapshot() {
    for place in places_with_snapshots() {
        let file = three_versions(&place);
        let site = place.site.clone().at_snapshot("one").unwrap();
        let one = site.open(&place.name, Access::ReadOnly).unwrap();
        assert_eq!(read_all(&at(&one, "set"))[0], 1);
        assert!(matches!(site.open(&place.name, Access::ReadWrite), Err(Error::ReadOnly { .. })));
        let two = site.open(&format!("{}@2024-01-02T03:04", place.name), Access::ReadOnly).unwrap();
        assert_eq!(read_all(&at(&two, "set"))[0], 2);
        drop(file);
        assert!(place.site.clone().at_snapshot("a b").is_err());
    }
}

#[test]
fn where_the_engine_has_no_snapshots_they_are_refused_by_name() {
    let place = plain();
    let file = place.create();
    let error = file.create_snapshot("one").unwrap_err();
    assert!(matches!(error, Error::Object(ObjectError::Unsupported { .. })), "{error}");
    assert!(file.snapshots().unwrap().is_empty() && file.remove_snapshot("one").is_err());
    assert!(!place.site.exists(&format!("{}@one", place.name)).unwrap());
    assert!(place.site.open(&format!("{}@one", place.name), Access::ReadOnly).is_err());
}

#[test]
fn truncation_beside_a_path_takes_the_snapshots_with_it() {
    let place = beside();
    drop(three_versions(&place));
    let file = place.create();
    assert!(file.snapshots().unwrap().is_empty());
}
