//! When jump indexes are made, and that they are used.

use isotach_fields::{Action, FieldStore, JumpIndex};
use isotach_grib::JumpInfo;
use isotach_mars::Key;
use isotach_values::{Points, ValuesOptions, index_fields, values, values_at};

use crate::stores::{Filled, NO_INDEX, PACKINGS, damage, key, message, steps};

fn points() -> Points {
    Points::Ranges(vec![7..8])
}

fn index_of(store: &FieldStore, step: usize) -> JumpIndex {
    let field = store.locate(&key(step)).unwrap().unwrap();
    store.jump_indexes(&[field]).unwrap().remove(0)
}

#[test]
fn simple_packing_is_indexed_at_once_and_ccsds_when_it_is_first_used() {
    let Some(filled) = Filled::new(60_000, 3, &PACKINGS) else { return };
    let index = |step| index_of(&filled.store, step).unwrap();
    assert_eq!(index(0), Some(JumpInfo::of(&filled.messages[0]).unwrap().to_bytes()));
    assert_eq!((index(1), index(2)), (None, None));
    let (request, options) = (steps(3), ValuesOptions::default());
    let first = values(&filled.store, &request, &points(), &options).unwrap();
    assert_eq!((first.indexed, first.whole), (1, 1));
    assert_eq!(index(1), Some(JumpInfo::of(&filled.messages[1]).unwrap().to_bytes()));
    let second = values(&filled.again(), &request, &points(), &options).unwrap();
    assert_eq!((second.indexed, second.whole), (0, 1));
    assert_eq!(first.rows, second.rows);
}

#[test]
fn only_the_bytes_of_the_points_are_read_of_a_field_with_an_index() {
    let Some(filled) = Filled::new(200_000, 1, &["grid_simple"]) else { return };
    // What lies in another block of 64 KiB is not looked at.
    damage(filled.folder.path(), &filled.messages[0], 150_000);
    let options = ValuesOptions::default();
    let row = values_at(&filled.store, &[key(0)], &points(), &options).unwrap().remove(0).unwrap();
    assert_eq!(row.values, filled.whole()[0][7..8]);
    let last = filled.whole()[0].len() as u64 - 1;
    let error = values_at(&filled.store, &[key(0)], &Points::Ranges(vec![0..last]), &options).unwrap_err();
    assert!(error.code() == "corrupt" && error.to_string().contains("step=0"), "{error}");
}

#[test]
fn a_store_that_takes_no_index_gives_the_same_values() {
    let Some(filled) = Filled::new(60_000, 1, &["grid_ccsds"]) else { return };
    filled.store.control(&"class=od".parse().unwrap(), true, &[Action::Archive]).unwrap();
    for _ in 0..2 {
        let found = values(&filled.store, &steps(1), &points(), &ValuesOptions::default()).unwrap();
        assert_eq!((found.indexed, &found.rows[0].values[..]), (1, &filled.whole()[0][7..8]));
    }
    filled.store.snapshot(&"".parse().unwrap(), "now").unwrap();
    let past = filled.store.at("now").unwrap();
    let found = values(&past, &steps(1), &points(), &ValuesOptions::default()).unwrap();
    assert_eq!(found.rows[0].values, filled.whole()[0][7..8]);
}

#[test]
fn a_locked_dataset_is_not_read_and_does_not_keep_others_from_their_indexes() {
    let Some(filled) = Filled::new(60_000, 1, &["grid_ccsds"]) else { return };
    let store = &filled.store;
    let elsewhere = ["a", "b"].map(|version| key(0).with("expver", version));
    for key in &elsewhere {
        store.archive(key, &filled.messages[0]).unwrap();
    }
    store.flush().unwrap();
    store.control(&"class=od,expver=0001".parse().unwrap(), true, &[Action::Archive]).unwrap();
    let has_index = |key: &Key| {
        let field = store.locate(key).unwrap().unwrap();
        store.jump_indexes(&[field]).unwrap().remove(0).unwrap().is_some()
    };
    values_at(store, &[key(0), elsewhere[0].clone()], &points(), &ValuesOptions::default()).unwrap();
    assert!(has_index(&elsewhere[0]) && !has_index(&key(0)));
    let report = index_fields(store, &"".parse().unwrap(), 1, &|_, _| ()).unwrap();
    assert_eq!(
        (report.fields, report.had, report.indexed, report.failures.len()),
        (3, 1, 1, 1),
        "{report:?}"
    );
    assert_eq!(report.failures[0].code(), "locked");
    assert_eq!(report.bytes, filled.messages[0].len() as u64, "only one field is read");
    assert!(has_index(&elsewhere[1]));
}

#[test]
fn a_store_gets_the_indexes_that_it_lacks_and_damaged_ones_anew() {
    let Some(filled) = Filled::new(60_000, 6, &PACKINGS) else { return };
    let store = &filled.store;
    store.archive(&key(6), b"no message").unwrap();
    let wrong = store.locate(&key(0)).unwrap().unwrap();
    store.keep_jump_indexes(&[(wrong, NO_INDEX.to_vec())]).unwrap();
    store.flush().unwrap();
    let everything = "".parse().unwrap();
    for threads in [1, 3] {
        let report = index_fields(store, &everything, threads, &|_, _| ()).unwrap();
        assert_eq!((report.fields, report.whole, report.failures.len()), (7, 2, 1), "{report:?}");
        let expected = if threads == 1 { (1, 3) } else { (4, 0) };
        assert_eq!((report.had, report.indexed), expected);
        assert!(report.failures[0].to_string().contains("step=6"), "{:?}", report.failures);
    }
    for step in [0, 1, 3, 4] {
        let index = JumpInfo::of(&filled.messages[step]).unwrap().to_bytes();
        assert_eq!(index_of(store, step).unwrap(), Some(index));
    }
}

#[test]
fn an_adopted_field_is_indexed_and_its_bytes_are_checked_as_a_whole() {
    let Some(filled) = Filled::new(60_000, 1, &["grid_simple"]) else { return };
    let adopted = message(filled.eccodes, 60_000, 1, "grid_ccsds");
    let file = filled.folder.path().join("adopted");
    std::fs::write(&file, [b"pad", &adopted[..]].concat()).unwrap();
    let named = Key::from(filled.eccodes.message_key(&adopted).unwrap());
    filled.store.adopt(&named, &file, 3, adopted.len() as u64, None).unwrap();
    filled.store.flush().unwrap();
    let options = ValuesOptions::default();
    for indexed in [1, 0] {
        let found = values(&filled.store, &steps(2), &points(), &options).unwrap();
        assert_eq!(found.indexed, indexed);
        assert_eq!(found.rows[1].values, filled.eccodes.values(&adopted).unwrap()[7..8]);
    }
    damage(filled.folder.path(), &adopted, 20_000);
    let error = values(&filled.store, &steps(2), &points(), &options).unwrap_err();
    assert!(error.code() == "corrupt" && error.to_string().contains("step=1"), "{error}");
}
