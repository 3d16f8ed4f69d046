//! Sweeping what dead processes left.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use isotach_hdf5::{Attribute, Charset, Creation, Error, File, Run, Space};
use isotach_object::{Cell, ObjectClass, ObjectId, ObjectType, Update};

use crate::{
    common::{at, data, dataset, filter, group, linked, places, plain, read_all, whole},
    isolation::everywhere,
};

fn attribute(byte: u8) -> Attribute {
    Attribute {
        name: "large".to_owned(),
        charset: Charset::Ascii,
        order: 0,
        datatype: b"type".to_vec(),
        space: Space::Scalar,
        creation: Vec::new(),
        value: vec![byte; 50_000],
    }
}

/// Lets what a file has written be stored, by a commit that fails since another has created its link.
pub(crate) fn store_without_commit(file: &Arc<File>, other: &Arc<File>) {
    linked(file, "taken", group());
    other.refresh().unwrap();
    linked(other, "taken", group());
    other.commit().unwrap();
    let error = file.commit().unwrap_err();
    assert!(matches!(error, Error::AlreadyExists { .. }), "{error}");
}

#[test]
fn what_dead_processes_left_is_swept_and_everything_else_stays() {
    for shared in everywhere().into_iter().filter(crate::isolation::Shared::has_versions) {
        let file = shared.create();
        let set = dataset(&file, "set", data(&[4000], &[1000], 8));
        set.write(&whole(&set), &[1; 32_000]).unwrap();
        set.put_attribute(attribute(1)).unwrap();
        let blob = file.put_blob(&[1; 400_000]).unwrap();
        file.commit().unwrap();
        assert_eq!(shared.site(0).sweep("/x/a.h5").unwrap(), 0);

        // Two processes that die, and one that goes on.
        let dead = shared.open(1);
        let theirs = at(&dead, "set");
        theirs.write(&whole(&theirs), &[2; 32_000]).unwrap();
        theirs.put_attribute(attribute(2)).unwrap();
        dead.put_blob(&[2; 400_000]).unwrap();
        store_without_commit(&dead, &file);
        std::mem::forget((theirs, dead));
        let other = shared.open(2);
        linked(&other, "small", group());
        assert_eq!(shared.site(0).sweep("/x/a.h5").unwrap(), 6);
        assert_eq!(shared.site(0).sweep("/x/a.h5").unwrap(), 0);
        other.commit().unwrap();

        file.refresh().unwrap();
        assert_eq!(read_all(&set), [1; 32_000]);
        assert_eq!(set.attribute("large").unwrap().unwrap().value, [1; 50_000]);
        assert_eq!(file.blob(&blob).unwrap(), [1; 400_000]);
        assert!(file.root().unwrap().link("small").unwrap().is_some());
        // Numbers that were allocated before the sweep are not used after it.
        for (process, byte) in [(0, 3), (2, 4)] {
            let file = shared.open(process);
            at(&file, "set").write(&[Run { first: 0, count: 4000 }], &[byte; 32_000]).unwrap();
            file.commit().unwrap();
            assert_eq!(read_all(&at(&file, "set")), [byte; 32_000]);
        }
    }
}

#[test]
fn a_writer_whose_data_was_swept_gets_an_error_and_can_write_it_again() {
    for shared in everywhere().into_iter().filter(crate::isolation::Shared::has_versions) {
        let file = shared.create();
        let set = dataset(&file, "set", data(&[4000], &[1000], 8));
        set.write(&whole(&set), &[1; 32_000]).unwrap();
        let error = shared.site(0).sweep("/x/a.h5").unwrap_err();
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
        file.commit().unwrap();
        set.write(&whole(&set), &[2; 32_000]).unwrap();
        store_without_commit(&file, &shared.open(1));
        assert_eq!(shared.site(2).sweep("/x/a.h5").unwrap(), 4);
        file.root().unwrap().remove_link("taken").unwrap();
        let error = file.commit().unwrap_err();
        assert!(matches!(error, Error::Swept { .. }), "{error}");
        let error = file.commit().unwrap_err();
        assert!(matches!(error, Error::Swept { .. }), "{error}");
        file.discard().unwrap();
        assert_eq!(read_all(&set), [1; 32_000]);
        set.write(&whole(&set), &[3; 32_000]).unwrap();
        file.commit().unwrap();
        assert_eq!(read_all(&set), [3; 32_000]);
    }
}

#[test]
fn a_writer_whose_data_went_with_a_truncation_gets_an_error() {
    for shared in everywhere().into_iter().filter(crate::isolation::Shared::has_versions) {
        drop(shared.create());
        let writer = shared.open(1);
        let set = dataset(&writer, "set", data(&[1000], &[1000], 8));
        set.write(&whole(&set), &[1; 8000]).unwrap();
        store_without_commit(&writer, &shared.open(2));
        writer.root().unwrap().remove_link("taken").unwrap();
        let file = shared.site(0).create("/x/a.h5", Creation::Truncate, &group(), b"").unwrap();
        file.commit().unwrap();
        let error = writer.commit().unwrap_err();
        assert!(matches!(error, Error::Swept { .. }), "{error}");
        let own = dataset(&file, "own", data(&[1000], &[1000], 8));
        own.write(&whole(&own), &[2; 8000]).unwrap();
        file.commit().unwrap();
        assert_eq!(read_all(&own), [2; 8000]);
    }
}

#[test]
fn sweeps_beside_writers_take_nothing_that_counts() {
    for shared in everywhere().into_iter().filter(crate::isolation::Shared::has_versions) {
        let file = shared.create();
        for (name, filters) in [("plain", vec![]), ("packed", vec![filter(1, &[1])])] {
            let set = isotach_hdf5::Data { filters, ..data(&[4000], &[1000], 8) };
            let set = dataset(&file, name, set);
            set.write(&whole(&set), &[1; 32_000]).unwrap();
        }
        file.commit().unwrap();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let writers: Vec<_> = (1..3)
                .map(|process| {
                    let shared = &shared;
                    scope.spawn(move || {
                        let file = shared.open(process);
                        for round in 0..40_u8 {
                            for name in ["plain", "packed"] {
                                let first = 2000 * (process as u64 - 1) + 500;
                                let set = at(&file, name);
                                // What was swept before its commit cannot be read either.
                                let _ = set.write(&[Run { first, count: 1500 }], &[round; 12_000]);
                                let _ = set.put_attribute(attribute(round));
                            }
                            match file.commit() {
                                Ok(_) => {}
                                Err(Error::Swept { .. } | Error::Corrupt { .. }) => file.discard().unwrap(),
                                Err(error) => panic!("{error}"),
                            }
                        }
                    })
                })
                .collect();
            let (shared, done) = (&shared, &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    shared.site(3).sweep("/x/a.h5").unwrap();
                }
            });
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            done.store(true, Ordering::Relaxed);
        });
        let file = shared.open(4);
        for name in ["plain", "packed"] {
            let set = at(&file, name);
            read_all(&set);
            let value = set.attribute("large").unwrap();
            assert!(value.is_none_or(|found| found.value.len() == 50_000));
        }
    }
}

#[test]
fn a_sweep_that_cannot_be_done_changes_nothing() {
    let place = plain();
    place.create();
    let error = place.site.sweep(&place.name).unwrap_err();
    assert!(error.to_string().contains("without transactions"), "{error}");
    for place in places() {
        let error = place.site.sweep("/no/such/file.h5").unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
        let file = place.create();
        if !place.container().capabilities().transactions {
            continue;
        }
        let set = dataset(&file, "set", data(&[4000], &[1000], 8));
        set.write(&whole(&set), &[1; 32_000]).unwrap();
        file.commit().unwrap();
        let garbage = ObjectId::new(ObjectType::Array, ObjectClass::S1, 4, 20);
        let container = place.container();
        container.write_new(garbage, b"garbage").unwrap();
        let index = ObjectId::new(ObjectType::KeyValue, ObjectClass::SX, 3, set.number());
        let damage = Update::Put { cell: Cell::kv(index, &[0; 8]), value: b"damage" };
        container.update(&[damage]).unwrap();
        container.flush().unwrap();
        let before = place.objects();
        let error = place.site.sweep(&place.name).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. } | Error::Newer { .. }), "{error}");
        assert_eq!(place.objects(), before);
    }
}
