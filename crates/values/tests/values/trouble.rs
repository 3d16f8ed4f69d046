//! Damage, and fields that others replace or wipe.

use isotach_fields::FieldStore;
use isotach_grib::JumpInfo;
use isotach_values::{Points, ValuesOptions, index_fields, values, values_at};

use crate::stores::{Filled, NO_INDEX, PACKINGS, damage, key, message, steps};

fn points() -> Points {
    Points::Ranges(vec![7..8])
}

#[test]
fn a_damaged_field_is_an_error_that_names_it_whatever_its_packing() {
    for packing in PACKINGS {
        let Some(filled) = Filled::new(4000, 3, &[packing]) else { return };
        // Makes the indexes.
        values(&filled.store, &steps(3), &points(), &ValuesOptions::default()).unwrap();
        damage(filled.folder.path(), &filled.messages[1], 2000);
        let error = values(&filled.again(), &steps(3), &points(), &ValuesOptions::default()).unwrap_err();
        assert!(error.code() == "corrupt" && error.to_string().contains("step=1"), "{packing}: {error}");
        let keys = [key(0), key(2)];
        let rows = values_at(&filled.store, &keys, &points(), &ValuesOptions::default()).unwrap();
        assert!(rows.iter().all(Option::is_some));
    }
}

#[test]
fn a_field_with_a_damaged_index_is_read_whole_until_the_index_is_made_anew() {
    let Some(filled) = Filled::new(4000, 2, &PACKINGS) else { return };
    let field = filled.store.locate(&key(1)).unwrap().unwrap();
    filled.store.keep_jump_indexes(&[(field.clone(), NO_INDEX.to_vec())]).unwrap();
    filled.store.snapshot(&"".parse().unwrap(), "damaged").unwrap();
    let read = |store: &FieldStore| {
        let found = values(store, &steps(2), &points(), &ValuesOptions::default()).unwrap();
        assert_eq!(found.rows[1].values, filled.whole()[1][7..8]);
        found.indexed
    };
    let past = filled.store.at("damaged").unwrap();
    assert_eq!([read(&past), read(&past)], [1, 1], "a snapshot keeps the damaged index");
    assert_eq!([read(&filled.store), read(&filled.again())], [1, 0]);
    let index = filled.store.jump_indexes(&[field]).unwrap().remove(0).unwrap();
    assert_eq!(index, Some(JumpInfo::of(&filled.messages[1]).unwrap().to_bytes()));
}

#[test]
fn an_index_of_another_version_stays_and_its_field_is_read_whole() {
    let Some(filled) = Filled::new(4000, 2, &PACKINGS) else { return };
    let field = filled.store.locate(&key(1)).unwrap().unwrap();
    filled.store.keep_jump_indexes(&[(field.clone(), b"\x02later".to_vec())]).unwrap();
    for _ in 0..2 {
        let found = values(&filled.store, &steps(2), &points(), &ValuesOptions::default()).unwrap();
        assert_eq!((found.indexed, &found.rows[1].values[..]), (1, &filled.whole()[1][7..8]));
    }
    let report = index_fields(&filled.store, &"".parse().unwrap(), 1, &|_, _| ()).unwrap();
    assert_eq!((report.had, report.indexed), (2, 0));
    let index = filled.store.jump_indexes(&[field]).unwrap().remove(0).unwrap();
    assert_eq!(index.as_deref(), Some(&b"\x02later"[..]));
}

#[test]
fn what_is_no_message_is_an_error_that_names_the_field() {
    let Some(filled) = Filled::new(4000, 1, &PACKINGS) else { return };
    filled.store.archive(&key(1), b"GRIB, or is it").unwrap();
    filled.store.flush().unwrap();
    let error = values(&filled.store, &steps(2), &points(), &ValuesOptions::default()).unwrap_err();
    assert!(error.code() == "corrupt" && error.to_string().contains("step=1"), "{error}");
}

#[test]
fn a_field_that_is_replaced_or_wiped_is_read_in_its_new_state() {
    let Some(filled) = Filled::new(4000, 2, &["grid_simple"]) else { return };
    let options = ValuesOptions::default();
    values(&filled.store, &steps(2), &points(), &options).unwrap();
    let new = message(filled.eccodes, 4000, 0, "grid_ccsds");
    let other = filled.again();
    other.archive(&key(0), &new).unwrap();
    other.flush().unwrap();
    other.purge(&"".parse().unwrap(), true).unwrap();
    let found = values(&filled.store, &steps(2), &points(), &options).unwrap();
    assert_eq!(found.rows[0].values, filled.eccodes.values(&new).unwrap()[7..8]);
    assert_eq!(found.rows[1].values, filled.whole()[1][7..8]);
    other.wipe(&"class=od".parse().unwrap(), true).unwrap();
    let found = values(&filled.store, &steps(2), &points(), &options).unwrap();
    assert_eq!((found.rows.len(), found.missing.unwrap().count), (0, 2));
}
