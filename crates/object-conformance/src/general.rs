//! The general form: single values and records under a distribution key and an attribute key.

use super::{
    bytes::awkward_keys,
    trial::{
        General, OwnContainer, Trial, all_keys, all_objects, assert_written, general, general_id, refused,
    },
};
use isotach_object::{Array, Cell, MAX_KEY, Result, Update, extents_of};

const OBJECT: u64 = 1;

fn pair<'p>(place: &'p OwnContainer, dkey: &'p [u8], akey: &'p [u8]) -> General<'p> {
    general(&place.container, OBJECT, dkey, akey)
}

fn dkeys(place: &OwnContainer) -> Vec<Vec<u8>> {
    all_keys(|at| place.container.list_dkeys(general_id(OBJECT), at, 3).unwrap(), 3)
}

fn akeys(place: &OwnContainer, dkey: &[u8]) -> Vec<Vec<u8>> {
    all_keys(|at| place.container.list_akeys(general_id(OBJECT), dkey, at, 3).unwrap(), 3)
}

fn size(place: &OwnContainer, dkey: &[u8], akey: &[u8]) -> Option<u64> {
    place.container.size_many(&[Cell::general(general_id(OBJECT), dkey, akey)]).unwrap()[0]
}

pub fn each_pair_of_keys_holds_its_own_value(trial: &Trial<'_>) {
    // The pairs could be confused where keys are only joined.
    let pairs: [(&[u8], &[u8]); 5] =
        [(b"a", b"bc"), (b"ab", b"c"), (b"a\0", b"b"), (b"a", b"\0b"), (b"b", b"a")];
    for (at, (dkey, akey)) in pairs.iter().enumerate() {
        pair(trial, dkey, akey).put(&[at as u8]).unwrap();
    }
    for (at, (dkey, akey)) in pairs.iter().enumerate() {
        assert_eq!(pair(trial, dkey, akey).get().unwrap().unwrap(), [at as u8]);
    }
    pair(trial, b"a", b"bc").put(b"").unwrap();
    assert_eq!(pair(trial, b"a", b"bc").get().unwrap().unwrap(), b"", "an empty value is present");
    assert_eq!(pair(trial, b"a", b"none").get().unwrap(), None);
    assert_eq!(size(trial, b"a", b"bc"), Some(0));
}

pub fn both_keys_are_any_bytes(trial: &Trial<'_>) {
    let keys = awkward_keys();
    // An engine may need a byte of the longest attribute key.
    let is_refused = |key: &Vec<u8>, outcome: Result<()>| match outcome {
        Err(error) if key.len() == MAX_KEY => error.code() == "invalid-input",
        outcome => outcome.map(|()| false).unwrap(),
    };
    let mut longest_is_refused = false;
    for (at, key) in keys.iter().enumerate() {
        pair(trial, key, b"a").put(&at.to_string().into_bytes()).unwrap();
        longest_is_refused |= is_refused(key, pair(trial, b"d", key).put(&at.to_string().into_bytes()));
    }
    trial.flush();
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(pair(trial, key, b"a").get().unwrap().unwrap(), at.to_string().into_bytes());
        if longest_is_refused && key.len() == MAX_KEY {
            continue;
        }
        assert_eq!(pair(trial, b"d", key).get().unwrap().unwrap(), at.to_string().into_bytes());
    }
    refused(pair(trial, b"", b"a").put(b"x"), "invalid-input");
    let without = Cell::general(general_id(OBJECT), b"d", b"");
    refused(trial.container.update(&[Update::Put { cell: without, value: b"x" }]), "invalid-input");
    refused(trial.container.get_many(&[without]), "invalid-input");
}

pub fn records_are_read_by_index_and_holes_are_zeros(trial: &Trial<'_>) {
    let records = pair(trial, b"d", b"a");
    assert_eq!((size(trial, b"d", b"a"), records.read(0, 9)), (None, Vec::new()));
    records.write(8, b"twoothre").unwrap();
    records.write(0, b"zero").unwrap();
    assert_eq!(size(trial, b"d", b"a"), Some(16));
    assert_eq!(records.read(0, 100), b"zero\0\0\0\0twoothre");
    assert_eq!(records.read(12, 4), b"thre");
}

pub fn the_last_write_decides_between_value_and_records(trial: &Trial<'_>) {
    let value = pair(trial, b"d", b"a");
    let records = value;
    value.put(b"value").unwrap();
    assert_eq!(records.read(0, 9), b"", "a value has no records");
    records.write(2, b"r").unwrap();
    assert_eq!(records.read(0, 9), b"\0\0r", "nothing of the value is left");
    assert_eq!((value.get().unwrap(), size(trial, b"d", b"a")), (None, Some(3)));
    value.put(b"back").unwrap();
    assert_eq!(value.get().unwrap().unwrap(), b"back");
    assert_eq!(size(trial, b"d", b"a"), Some(4));
    let cell = Cell::general(general_id(OBJECT), b"d", b"a");
    trial.update(Update::Punch { cell, offset: 0, length: 2 });
    assert_eq!(value.get().unwrap().unwrap(), b"back", "a punch drops no value");
    trial.update(Update::SetSize { cell, size: 2 });
    assert_eq!((value.get().unwrap(), records.read(0, 9)), (None, vec![0, 0]));
    assert_eq!(akeys(trial, b"d"), [b"a"]);
}

pub fn records_are_resized_punched_and_removed(trial: &Trial<'_>) {
    let cell = Cell::general(general_id(OBJECT), b"d", b"a");
    let update = |update| trial.update(update);
    let records = pair(trial, b"d", b"a");
    update(Update::Punch { cell, offset: 0, length: 9 });
    assert!(dkeys(trial).is_empty(), "a punch creates nothing");
    records.write(0, b"aabbccdd").unwrap();
    update(Update::Punch { cell, offset: 2, length: 2 });
    update(Update::SetSize { cell, size: 6 });
    assert_eq!(records.read(0, 99), b"aa\0\0cc");
    update(Update::Remove { cell });
    assert_eq!(size(trial, b"d", b"a"), None);
    update(Update::Write { cell, offset: 4, data: b"" });
    assert_eq!(size(trial, b"d", b"a"), Some(0), "a write of nothing creates");
}

pub fn extents_of_records_exclude_holes(trial: &Trial<'_>) {
    let cell = Cell::general(general_id(1), b"d", b"a");
    let update = |update| trial.update(update);
    let is_told = |expected: &[(u64, u64)]| assert_written(&trial.container, cell, (0, u64::MAX), expected);
    is_told(&[]);
    update(Update::Write { cell, offset: 4, data: b"ab" });
    update(Update::Write { cell, offset: 10, data: &[0; 4] });
    is_told(&[(4, 6), (10, 14)]);
    update(Update::Punch { cell, offset: 11, length: 1 });
    update(Update::SetSize { cell, size: 13 });
    update(Update::SetSize { cell, size: 30 });
    is_told(&[(4, 6), (10, 11), (12, 13)]);
    assert_written(&trial.container, cell, (5, 6), &[(5, 6), (10, 11)]);
    update(Update::Write { cell, offset: 0, data: &[1; 20] });
    trial.flush();
    assert_written(&trial.reopened(), cell, (0, u64::MAX), &[(0, 20)]);
    pair(trial, b"d", b"a").put(b"value").unwrap();
    // A value of any size has no records.
    assert_eq!(extents_of(&*trial.container, cell, 0, u64::MAX).unwrap(), []);
    let other = Cell::general(general_id(1), b"d", b"b");
    assert_written(&trial.container, other, (0, u64::MAX), &[]);
}

pub fn the_last_attribute_key_takes_its_distribution_key_along(trial: &Trial<'_>) {
    pair(trial, b"d1", b"a").put(b"x").unwrap();
    pair(trial, b"d1", b"b").put(b"x").unwrap();
    pair(trial, b"d2", b"a").write(0, b"x").unwrap();
    assert_eq!(dkeys(trial), [b"d1", b"d2"]);
    pair(trial, b"d1", b"a").remove().unwrap();
    assert_eq!((dkeys(trial), akeys(trial, b"d1")), (vec![b"d1".into(), b"d2".into()], vec![b"b".into()]));
    pair(trial, b"d1", b"b").remove().unwrap();
    assert_eq!((dkeys(trial).len(), akeys(trial, b"d1").len()), (1, 0));
    pair(trial, b"d2", b"a").remove().unwrap();
    assert!(dkeys(trial).is_empty());
    assert!(all_objects(&trial.container, 5).is_empty());
}

pub fn removing_a_distribution_key_removes_all_under_it(trial: &Trial<'_>) {
    let remove = Update::RemoveDkey { object: general_id(OBJECT), dkey: b"d" };
    trial.update(remove);
    for akey in 0..20_u8 {
        pair(trial, b"d", &[akey]).put(b"x").unwrap();
    }
    pair(trial, b"d", b"records").write(0, b"x").unwrap();
    pair(trial, b"d\0", b"a").put(b"stays").unwrap();
    let again = Update::Put { cell: Cell::general(general_id(OBJECT), b"d", &[3]), value: b"new" };
    trial.container.update(&[remove, again]).unwrap();
    assert_eq!(akeys(trial, b"d"), [[3]]);
    assert_eq!(pair(trial, b"d", &[4]).get().unwrap(), None);
    assert_eq!(pair(trial, b"d", &[3]).get().unwrap().unwrap(), b"new");
    assert_eq!(pair(trial, b"d\0", b"a").get().unwrap().unwrap(), b"stays");
}

pub fn a_destroyed_general_object_is_empty_and_can_be_written_again(trial: &Trial<'_>) {
    for dkey in 0..9_u8 {
        pair(trial, &[dkey], b"a").put(b"x").unwrap();
        pair(trial, &[dkey], b"r").write(7, b"x").unwrap();
    }
    trial.update(Update::Destroy { object: general_id(OBJECT) });
    assert!(dkeys(trial).is_empty() && akeys(trial, &[3]).is_empty());
    assert_eq!(pair(trial, &[3], b"a").get().unwrap(), None);
    pair(trial, &[3], b"r").write(1, b"y").unwrap();
    assert_eq!(pair(trial, &[3], b"r").read(0, 99), b"\0y");
    assert_eq!(akeys(trial, &[3]), [b"r"]);
}

pub fn array_handles_refuse_general_objects(trial: &Trial<'_>) {
    refused(Array::new(&*trial.container, general_id(OBJECT)), "invalid-input");
}
