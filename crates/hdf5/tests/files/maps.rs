//! Maps: keys and values, on all engines and by several writers.

use std::sync::Arc;

use isotach_hdf5::{
    Access, Charset, Convert, CopyOf, CopyOptions, Error, File, Header, Kind, Object, TransactionStatus,
};
use isotach_object::{Cell, ObjectClass, ObjectId, ObjectType, Update};

use crate::{
    common::{Place, at, data, dataset, group, hard, linked, memory, places, pool},
    isolation::{Shared, everywhere},
    meeting::as_ranks,
};

const LARGE: usize = 100_000;

/// A datatype as the connector keeps it: its encoded form behind a version and the number of no committed one.
fn stored(encoded: &[u8]) -> Vec<u8> {
    [&[1][..], &[0; 8], encoded].concat()
}

fn header() -> Header {
    let integer = [3, 0, 0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0];
    Header::map(b"key type".to_vec(), stored(&integer))
}

fn map(file: &Arc<File>, name: &str) -> Object {
    linked(file, name, header())
}

fn put(map: &Object, key: &[u8], value: &[u8]) {
    map.put_map_value(key, value.to_vec()).unwrap();
}

#[track_caller]
fn holds(map: &Object, entries: &[(&[u8], &[u8])]) {
    assert_eq!(map.map_keys().unwrap(), entries.iter().map(|(key, _)| *key).collect::<Vec<_>>());
    assert_eq!(map.map_count().unwrap(), entries.len() as u64);
    for (key, value) in entries {
        assert!(map.has_map_key(key).unwrap());
        assert!(map.map_value(key).unwrap().as_deref() == Some(*value), "{key:?}");
    }
}

#[test]
fn keys_and_values_are_kept_by_a_commit_and_given_up_without_one() {
    for place in places() {
        let file = place.create();
        let numbers = map(&file, "map");
        let large = vec![7; LARGE];
        let all: [(&[u8], &[u8]); 4] = [(b"", b"empty"), (b"a", b""), (b"b", b"2"), (b"large", &large)];
        all.iter().for_each(|(key, value)| put(&numbers, key, value));
        holds(&numbers, &all);
        drop(numbers);
        let file = place.reopened(file);
        let numbers = at(&file, "map");
        assert_eq!(
            (numbers.kind(), numbers.header().unwrap().key_datatype.as_slice()),
            (Kind::Map, &b"key type"[..])
        );
        holds(&numbers, &all);

        put(&numbers, b"large", b"small");
        put(&numbers, b"new", &large);
        numbers.remove_map_key(b"a").unwrap();
        numbers.remove_map_key(b"b").unwrap();
        put(&numbers, b"b", b"again");
        let changed: [(&[u8], &[u8]); 4] =
            [(b"", b"empty"), (b"b", b"again"), (b"large", b"small"), (b"new", &large)];
        holds(&numbers, &changed);
        file.discard().unwrap();
        holds(&numbers, &all);
        put(&numbers, b"large", b"small");
        numbers.remove_map_key(b"a").unwrap();
        drop(numbers);
        let file = place.reopened(file);
        holds(&at(&file, "map"), &[(b"", b"empty"), (b"b", b"2"), (b"large", b"small")]);
    }
}

#[test]
fn an_operation_on_a_map_that_cannot_be_done_says_why() {
    let place = pool();
    let file = place.create();
    let numbers = map(&file, "map");
    let error = |outcome: Result<(), Error>| outcome.unwrap_err().to_string();
    let place_of = format!("object {} of {}", numbers.number(), file.name());
    assert_eq!(
        error(numbers.put_map_value(&[1; 65_535], Vec::new())),
        format!("a key of 65535 bytes in the map {place_of}: expected at most 65534 bytes")
    );
    put(&numbers, &[1; 65_534], b"longest");
    assert!(!numbers.has_map_key(&[1; 65_535]).unwrap());
    assert_eq!(numbers.map_value(&[1; 70_000]).unwrap(), None);
    assert_eq!(
        error(numbers.remove_map_key(b"none")),
        format!("the key in the map {place_of} does not exist")
    );
    let root = file.root().unwrap();
    assert!(error(root.put_map_value(b"a", Vec::new())).ends_with("which is a Group: expected a map"));
    let error = file.create_object(Header::new(Kind::Map)).unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
    file.commit().unwrap();
    drop((numbers, root, file));
    let file = place.site.open(&place.name, Access::ReadOnly).unwrap();
    let outcomes =
        [at(&file, "map").put_map_value(b"a", Vec::new()), at(&file, "map").remove_map_key(&[1; 65_534])];
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Error::ReadOnly { .. }))));
}

#[test]
fn a_map_that_is_removed_leaves_nothing() {
    for place in places() {
        let file = place.create();
        file.commit().unwrap();
        let before = place.objects();
        let numbers = map(&file, "map");
        put(&numbers, b"small", b"1");
        put(&numbers, b"large", &vec![1; LARGE]);
        file.commit().unwrap();
        assert_eq!(place.objects().len(), before.len() + 3);
        assert_eq!(file.stored_size().unwrap(), LARGE as u64);
        put(&numbers, b"more", &vec![2; LARGE]);
        drop(numbers);
        file.root().unwrap().remove_link("map").unwrap();
        file.commit().unwrap();
        assert_eq!((place.objects(), file.stored_size().unwrap()), (before.clone(), 0));
        // One that no commit has seen.
        let numbers = map(&file, "map");
        put(&numbers, b"large", &vec![1; LARGE]);
        drop(numbers);
        file.root().unwrap().remove_link("map").unwrap();
        linked(&file, "group", group());
        file.commit().unwrap();
        // What is given up is surely gone with the next commit.
        file.root().unwrap().remove_link("group").unwrap();
        drop(place.reopened(file));
        assert_eq!(place.objects(), before);
    }
}

/// References to objects.
const REFERENCES: [u8; 10] = [3, 0, 0x17, 0, 0, 0, 8, 0, 0, 0];

/// A copy that knows no types but those of references.
struct Plainly;

impl Convert for Plainly {
    fn applies(&self, _: &[u8]) -> Result<bool, Error> {
        Ok(false)
    }

    fn convert(
        &self,
        _: &Arc<File>,
        _: &[u8],
        elements: Vec<u8>,
        _: &mut CopyOf<'_>,
    ) -> Result<Vec<u8>, Error> {
        Ok(elements)
    }

    fn committed(&self, _: &[u8]) -> Result<u64, Error> {
        Ok(0)
    }

    fn with_committed(&self, datatype: &[u8], _: u64) -> Result<Vec<u8>, Error> {
        Ok(datatype.to_vec())
    }

    fn linked(&self, _: &Object, _: &str, _: &str) -> Result<Option<Object>, Error> {
        Ok(None)
    }
}

#[test]
fn a_copy_of_a_map_has_its_entries_and_refers_to_copies() {
    let (place, elsewhere) = (pool(), memory());
    let (file, other) = (place.create(), elsewhere.create());
    let tree = linked(&file, "tree", group());
    let target = dataset(&file, "target", data(&[4], &[4], 1));
    let index =
        crate::common::linked_in(&tree, "index", Header::map(b"key type".to_vec(), stored(&REFERENCES)));
    put(&index, b"to", &target.number().to_le_bytes());
    put(&index, b"nowhere", &[0; 8]);
    let numbers = crate::common::linked_in(&tree, "numbers", header());
    put(&numbers, b"large", &vec![3; LARGE]);
    for (to, expands) in [(&file, false), (&other, false), (&other, true)] {
        let options =
            CopyOptions { expand_references: expands, convert: Some(&Plainly), ..CopyOptions::default() };
        let copy = tree.copy_to(to, &options).unwrap();
        let name = format!("copy {expands}");
        to.root().unwrap().insert_link(&name, hard(&copy), Charset::Ascii).unwrap();
        holds(&at(to, &format!("{name}/numbers")), &[(b"large", &vec![3; LARGE])]);
        let index = at(to, &format!("{name}/index"));
        assert_eq!(index.map_value(b"nowhere").unwrap().unwrap(), [0; 8]);
        let number = index.map_value(b"to").unwrap().unwrap();
        let number = u64::from_le_bytes(number.try_into().unwrap());
        match (Arc::ptr_eq(to, &file), expands) {
            (true, _) => assert_eq!(number, target.number()),
            (false, false) => assert_eq!(number, 0),
            (false, true) => assert_eq!(to.object(number).unwrap().kind(), Kind::Dataset),
        }
        to.commit().unwrap();
    }
    put(&index, b"damaged", b"short");
    let options = CopyOptions { convert: Some(&Plainly), ..CopyOptions::default() };
    let error = tree.copy_to(&other, &options).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[test]
fn keys_of_two_writers_both_stay_and_of_one_key_the_later_commit_counts() {
    for shared in everywhere() {
        let file = shared.create();
        put(&map(&file, "map"), b"old", &vec![0; LARGE]);
        file.commit().unwrap();
        let (one, two, reader) = (shared.open(1), shared.open(2), shared.open(3));
        assert_eq!(at(&reader, "map").map_count().unwrap(), 1);
        for (file, key, value) in [(&one, b"1", b"one"), (&two, b"2", b"two")] {
            put(&at(file, "map"), key, value);
            put(&at(file, "map"), b"both", value);
        }
        at(&one, "map").remove_map_key(b"old").unwrap();
        put(&at(&two, "map"), b"old", b"new");
        one.commit().unwrap();
        two.commit().unwrap();
        if shared.has_versions() {
            holds(&at(&reader, "map"), &[(b"old", &vec![0; LARGE])]);
        }
        reader.refresh().unwrap();
        holds(&at(&reader, "map"), &[(b"1", b"one"), (b"2", b"two"), (b"both", b"two"), (b"old", b"new")]);
    }
}

#[test]
fn a_value_that_is_put_again_counts_over_that_of_another_process() {
    for shared in everywhere() {
        let file = shared.create();
        put(&map(&file, "map"), b"key", b"old");
        file.commit().unwrap();
        let (one, two) = (shared.open(1), shared.open(2));
        put(&at(&one, "map"), b"key", b"new");
        put(&at(&two, "map"), b"key", b"old");
        one.commit().unwrap();
        two.commit().unwrap();
        file.refresh().unwrap();
        holds(&at(&file, "map"), &[(b"key", b"old")]);
    }
}

#[test]
fn a_value_that_ranks_put_again_stays() {
    for place in places() {
        as_ranks(2, |rank, ranks| {
            let file = together(&place, ranks);
            let numbers = map(&file, "map");
            for round in 0..3 {
                put(&numbers, b"all", b"the same");
                if rank == 1 {
                    put(&numbers, b"one", b"the same");
                }
                put(&numbers, b"round", &[round]);
                file.commit().unwrap();
                assert_eq!(numbers.map_value(b"all").unwrap().unwrap(), b"the same");
            }
        });
        let file = place.open();
        holds(&at(&file, "map"), &[(b"all", b"the same"), (b"one", b"the same"), (b"round", &[2])]);
    }
}

#[test]
fn what_is_put_in_a_map_that_another_process_removes_is_given_up() {
    for shared in everywhere() {
        let file = shared.create();
        let number = map(&file, "map").number();
        file.commit().unwrap();
        let other = shared.open(1);
        put(&at(&other, "map"), b"key", &vec![1; LARGE]);
        linked(&other, "group", group());
        file.root().unwrap().remove_link("map").unwrap();
        file.commit().unwrap();
        let error = other.commit().unwrap_err().to_string();
        assert!(error.contains(&format!("another process has removed object {number}")), "{error}");
        other.commit().unwrap();
        file.refresh().unwrap();
        assert!(file.root().unwrap().link("group").unwrap().is_some());
        assert!(matches!(file.object(number), Err(Error::NotFound { .. })));
    }
}

#[test]
fn keys_of_several_participants_are_in_the_version_of_their_transaction() {
    for shared in everywhere().into_iter().filter(Shared::has_versions) {
        let file = shared.create();
        let number = map(&file, "map").number();
        put(&at(&file, "map"), b"old", &vec![0; LARGE]);
        file.commit().unwrap();
        let processes = [shared.open(1), shared.open(2)];
        for (participant, process) in processes.iter().enumerate() {
            process.start_transaction(1, participant as u32, 2).unwrap();
        }
        for (participant, process) in processes.iter().enumerate().rev() {
            put(&at(process, "map"), &[b'0' + participant as u8], &vec![1; LARGE]);
            put(&at(process, "map"), b"both", &[participant as u8]);
            if participant == 0 {
                at(process, "map").remove_map_key(b"old").unwrap();
            }
            process.finish_transaction().unwrap();
            // What a part of a transaction names is kept.
            assert_eq!(shared.site(3).sweep("/x/a.h5").unwrap(), 0);
        }
        file.refresh().unwrap();
        let large = vec![1; LARGE];
        holds(&at(&file, "map"), &[(b"0", &large), (b"1", &large), (b"both", &[1])]);

        // One participant removes the map that another has put a key in.
        for (participant, process) in processes.iter().enumerate() {
            process.start_transaction(2, participant as u32, 2).unwrap();
        }
        put(&at(&processes[0], "map"), b"late", b"1");
        processes[1].root().unwrap().remove_link("map").unwrap();
        processes.iter().for_each(|process| process.finish_transaction().unwrap());
        let status = file.transaction_status(2).unwrap();
        let expected = format!("object {number} is removed by one participant and changed by another");
        assert_eq!(status, TransactionStatus::Aborted { reason: expected });
    }
}

/// The object with the entries of a map.
fn entries_of(number: u64) -> ObjectId {
    ObjectId::new(ObjectType::KeyValue, ObjectClass::SX, 9, number)
}

#[test]
fn a_sweep_keeps_what_maps_name_and_removes_entries_of_maps_that_are_gone() {
    for place in [pool(), memory()] {
        let file = place.create();
        let numbers = map(&file, "map");
        put(&numbers, b"large", &vec![1; LARGE]);
        file.commit().unwrap();
        let before = place.objects();
        assert_eq!(place.site.sweep(&place.name).unwrap(), 0);
        // What a program that knows no maps leaves of one.
        let left = entries_of(numbers.number() + 1);
        let container = place.container();
        let put = Update::Put { cell: Cell::kv(left, b"ekey"), value: b"\x01\0\0\0\0\0" };
        container.update(&[put]).unwrap();
        container.flush().unwrap();
        assert_eq!(place.objects().len(), before.len() + 1);
        assert_eq!(place.site.sweep(&place.name).unwrap(), 1);
        assert_eq!(place.objects(), before);
        holds(&numbers, &[(b"large", &vec![1; LARGE])]);
    }
}

#[test]
fn keys_that_each_rank_puts_are_in_one_version() {
    for place in places() {
        as_ranks(3, |rank, ranks| {
            let file = together(&place, ranks);
            let numbers = map(&file, "map");
            let large = |rank: usize| vec![rank as u8; LARGE];
            let name = |rank: usize| vec![b'0' + rank as u8];
            put(&numbers, &name(rank), &large(rank));
            put(&numbers, b"all", &large(rank));
            put(&numbers, b"gone", b"soon");
            assert_eq!(numbers.map_count().unwrap(), 3);
            file.exchange::<(), Error>(Ok(())).unwrap();
            let shown = |numbers: &Object| {
                let values: Vec<_> =
                    (0..3).map(|rank| numbers.map_value(&name(rank)).unwrap().unwrap()).collect();
                assert!(values == [large(0), large(1), large(2)]);
                assert!(numbers.map_value(b"all").unwrap().unwrap() == large(2));
            };
            shown(&numbers);
            assert_eq!(numbers.map_count().unwrap(), 5);
            if rank == 1 {
                numbers.remove_map_key(b"gone").unwrap();
            }
            file.commit().unwrap();
            shown(&numbers);
            assert_eq!((numbers.map_count().unwrap(), numbers.has_map_key(b"gone").unwrap()), (4, false));
            assert_eq!(file.stored_size().unwrap(), 4 * LARGE as u64);
            // Over what is committed.
            if rank > 0 {
                put(&numbers, b"all", &name(rank));
            }
            file.commit().unwrap();
            assert_eq!(numbers.map_value(b"all").unwrap().unwrap(), name(2));
            assert_eq!(file.stored_size().unwrap(), 3 * LARGE as u64);
        });
        let file = place.open();
        assert_eq!(at(&file, "map").map_count().unwrap(), 4);
        let arrays = place.objects().iter().filter(|object| object.otype() == ObjectType::Array).count();
        assert_eq!(arrays, 3, "values that were replaced are gone");
    }
}

fn together(place: &Place, ranks: Box<dyn isotach_hdf5::Ranks>) -> Arc<File> {
    use isotach_hdf5::Creation;
    place.site.create_together(ranks, &place.name, Creation::Truncate, &group(), b"properties").unwrap()
}

#[test]
fn a_snapshot_shows_the_entries_of_its_version() {
    let shared = Shared::new();
    let file = shared.create();
    let numbers = map(&file, "map");
    put(&numbers, b"key", &vec![1; LARGE]);
    file.create_snapshot("before").unwrap();
    put(&numbers, b"key", b"2");
    put(&numbers, b"more", b"3");
    file.commit().unwrap();
    let before = shared.site(1).open("/x/a.h5@before", Access::ReadOnly).unwrap();
    holds(&at(&before, "map"), &[(b"key", &vec![1; LARGE])]);
    holds(&numbers, &[(b"key", b"2"), (b"more", b"3")]);
}

#[test]
fn values_that_are_replaced_before_their_map_is_removed_are_counted_once() {
    for place in places() {
        let file = place.create();
        let removed = map(&file, "removed");
        put(&removed, b"replaced", &vec![1; LARGE]);
        put(&removed, b"left", &vec![2; LARGE]);
        put(&map(&file, "kept"), b"large", &vec![3; LARGE]);
        file.commit().unwrap();
        assert_eq!(file.stored_size().unwrap(), 3 * LARGE as u64);
        put(&removed, b"replaced", &vec![4; 2 * LARGE]);
        drop(removed);
        file.root().unwrap().remove_link("removed").unwrap();
        file.commit().unwrap();
        assert_eq!(file.stored_size().unwrap(), LARGE as u64);
    }
}

#[test]
fn a_value_that_another_process_has_replaced_goes_with_its_map() {
    for shared in everywhere().into_iter().filter(Shared::has_versions) {
        let file = shared.create();
        put(&map(&file, "map"), b"key", &vec![1; LARGE]);
        file.commit().unwrap();
        let other = shared.open(1);
        put(&at(&file, "map"), b"key", &vec![2; LARGE]);
        put(&at(&other, "map"), b"key", &vec![3; LARGE]);
        other.commit().unwrap();
        file.refresh().unwrap();
        file.root().unwrap().remove_link("map").unwrap();
        file.commit().unwrap();
        drop((file, other));
        assert_eq!(shared.site(0).sweep("/x/a.h5").unwrap(), 0);
    }
}
