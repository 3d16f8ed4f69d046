//! Files: created, opened, shared, truncated, deleted.

use std::{fs, sync::Arc, thread};

use crate::common::{at, beside, data, dataset, group, linked, memory, places, pool, read_all, whole};
use isotach_hdf5::{Access, Creation, Error, Header, Kind};

#[test]
fn a_file_is_there_with_its_root_once_it_is_created() {
    for place in places() {
        assert!(!place.site.exists(&place.name).unwrap());
        let file = place.create();
        assert!(place.site.exists(&place.name).unwrap());
        let root = file.root().unwrap();
        assert_eq!((root.kind(), root.header().unwrap().references), (Kind::Group, 1));
        assert!(root.header().unwrap().tracks_link_order);
        assert_eq!(file.properties().unwrap(), b"properties");
        drop((root, file));
        assert_eq!(place.open().properties().unwrap(), b"properties");
    }
}

#[test]
fn what_is_not_committed_is_gone_with_the_last_handle() {
    for place in places() {
        let file = place.create();
        linked(&file, "kept", group());
        let file = place.reopened(file);
        linked(&file, "lost", group());
        assert!(file.has_changes());
        drop(file);
        let file = place.open();
        let root = file.root().unwrap();
        assert_eq!((root.link("kept").unwrap().is_some(), root.link("lost").unwrap()), (true, None));
        assert!(!file.has_changes());
    }
}

#[test]
fn all_handles_of_a_process_share_one_file() {
    for place in places() {
        let file = place.create();
        let other = place.site.open(&place.name, Access::ReadOnly).unwrap();
        assert_eq!((file.number(), Arc::ptr_eq(&file, &other)), (other.number(), true));
        linked(&file, "new", group());
        assert!(other.root().unwrap().link("new").unwrap().is_some());
        file.commit().unwrap();
        drop((file, other));
        let reader = place.site.open(&place.name, Access::ReadOnly).unwrap();
        let error = reader.create_object(group()).unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
        let writer = place.open();
        assert!(reader.is_writable() && writer.create_object(group()).is_ok());
    }
}

#[test]
fn after_a_write_that_failed_no_handle_commits() {
    let place = memory();
    let (file, other) = (place.create(), place.open());
    linked(&file, "half", group());
    file.note_failure("the disk is full".to_owned());
    file.note_failure("later".to_owned());
    assert_eq!(other.failure().as_deref(), Some("the disk is full"));
    let error = other.commit().unwrap_err().to_string();
    assert!(error.contains("last version") && error.contains("the disk is full"), "{error}");
    drop((file, other));
    let file = place.open();
    assert_eq!((file.failure(), file.root().unwrap().link("half").unwrap()), (None, None));
    file.commit().unwrap();
}

#[test]
fn a_missing_file_and_an_existing_one_have_the_numbers_of_the_system() {
    for place in places() {
        let error = place.site.open(&place.name, Access::ReadOnly).unwrap_err();
        assert!(
            matches!(error, Error::NotFound { .. }) && error.to_string().contains("errno = 2"),
            "{error}"
        );
        assert!(place.site.delete(&place.name).is_err());
        drop(place.create());
        let error = place.site.create(&place.name, Creation::New, &group(), b"").unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::AlreadyExists { .. }) && text.contains("errno = 17"), "{text}");
    }
}

#[test]
fn truncation_leaves_an_empty_file_and_nothing_of_the_old_one() {
    for place in places() {
        let file = place.create();
        let set = dataset(&file, "old", data(&[3000], &[1000], 8));
        set.write(&whole(&set), &[7; 24_000]).unwrap();
        drop(set);
        file.commit().unwrap();
        let error = place.site.create(&place.name, Creation::Truncate, &group(), b"").unwrap_err();
        assert!(error.to_string().contains("has open"), "{error}");
        drop(file);
        let file = place.create();
        let set = dataset(&file, "new", data(&[3000], &[1000], 8));
        set.write(&whole(&set), &[9; 24_000]).unwrap();
        assert_eq!(file.root().unwrap().link("old").unwrap(), None);
        drop(set);
        let file = place.reopened(file);
        assert_eq!(file.root().unwrap().link_count().unwrap(), 1);
        assert_eq!(read_all(&at(&file, "new")), [9; 24_000]);
    }
}

#[test]
fn a_truncation_that_is_given_up_leaves_the_old_content() {
    for place in places() {
        let file = place.create();
        linked(&file, "old", group());
        file.commit().unwrap();
        drop(file);
        let file = place.create();
        let is_beside = file.root().unwrap().link("old").unwrap().is_none() && !file.has_changes();
        file.discard().unwrap();
        assert!(!file.has_changes());
        file.commit().unwrap();
        let file = place.reopened(file);
        assert_eq!(file.root().unwrap().link("old").unwrap().is_some(), !is_beside);
    }
}

#[test]
fn a_file_in_a_pool_does_not_replace_the_stub_of_another() {
    let (beside, pool) = (beside(), pool());
    drop(beside.create());
    let stub = fs::read(&beside.name).unwrap();
    let error = pool.site.create(&beside.name, Creation::New, &group(), b"").unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
    drop(pool.site.create(&beside.name, Creation::Truncate, &group(), b"").unwrap());
    assert_eq!(fs::read(&beside.name).unwrap(), stub);
    drop(beside.open());
    drop(pool.create());
    assert!(fs::read(&pool.name).unwrap() != stub, "without one there, it is written");
}

#[test]
fn a_deleted_file_is_gone_and_an_open_one_is_kept() {
    for place in places() {
        let file = place.create();
        assert!(place.site.delete(&place.name).is_err());
        drop(file);
        place.site.delete(&place.name).unwrap();
        assert!(!place.site.exists(&place.name).unwrap());
        drop(place.create());
    }
}

#[test]
fn a_file_of_others_gives_way_to_one_in_a_pool_that_is_to_replace_it() {
    let place = pool();
    fs::write(&place.name, b"a text").unwrap();
    let error = place.site.create(&place.name, Creation::New, &group(), b"").unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
    assert_eq!(fs::read(&place.name).unwrap(), b"a text");
    drop(place.create());
    assert!(fs::read(&place.name).unwrap().starts_with(b"\x89HDF"));
}

#[test]
fn a_file_of_others_is_neither_read_nor_deleted_and_truncation_replaces_it() {
    let place = beside();
    for (bytes, what) in [
        (&b"\x89HDF\r\n\x1a\n\0\0\0\0"[..], "native HDF5"),
        (b"a text", "no HDF5 file"),
        (b"", "without bytes"),
    ] {
        fs::write(&place.name, bytes).unwrap();
        assert!(!place.site.exists(&place.name).unwrap());
        for error in [
            place.site.open(&place.name, Access::ReadOnly).unwrap_err(),
            place.site.delete(&place.name).unwrap_err(),
        ] {
            assert!(error.to_string().contains(what), "{error}");
        }
        assert!(place.site.create(&place.name, Creation::New, &group(), b"").is_err());
        assert_eq!(fs::read(&place.name).unwrap(), bytes);
        drop(place.create());
        place.site.delete(&place.name).unwrap();
    }
    fs::write(&place.name, b"\x89HDF\r\n\x1a\nisotach 9\n").unwrap();
    assert!(place.site.create(&place.name, Creation::Truncate, &group(), b"").is_err());
}

#[test]
fn a_stub_that_moves_in_its_folder_keeps_the_file() {
    let place = beside();
    let file = place.create();
    linked(&file, "member", group());
    file.commit().unwrap();
    drop(file);
    let moved = place.name.replace("a.h5", "b.h5");
    fs::rename(&place.name, &moved).unwrap();
    let file = place.site.open(&moved, Access::ReadOnly).unwrap();
    assert!(file.root().unwrap().link("member").unwrap().is_some());
    drop(place.create());
    assert!(place.site.open(&moved, Access::ReadOnly).is_ok());
}

#[test]
fn of_many_that_create_one_new_file_one_succeeds() {
    for place in places() {
        // Each has a process of its own, as far as the open files go: the name of the file differs, and the container does not.
        let created: usize = thread::scope(|scope| {
            let creators: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        let created = place.site.create(&place.name, Creation::New, &group(), b"");
                        usize::from(created.is_ok())
                    })
                })
                .collect();
            creators.into_iter().map(|creator| creator.join().unwrap()).sum()
        });
        assert!(created >= 1);
        assert!(place.site.exists(&place.name).unwrap());
        assert_eq!(place.open().root().unwrap().link_count().unwrap(), 0);
    }
}

#[test]
fn a_name_can_be_the_uri_of_a_pool_and_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let place = pool();
    let name = format!("posix:{}/p/a.h5?sync=no", folder.path().display());
    let site = isotach_hdf5::Site::new(
        None,
        isotach_object::Registry::new().with(Arc::new(isotach_engine_posix::Posix)),
    );
    let file = site.create(&name, Creation::New, &group(), b"").unwrap();
    assert!(site.exists(&name).unwrap() && !place.site.exists(&place.name).unwrap());
    assert_eq!(file.name(), name);
    assert_eq!(memory().create().root().unwrap().header().unwrap().created, Header::new(Kind::Group).created);
}
