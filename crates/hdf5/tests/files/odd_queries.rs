//! Queries of sparse, lossy, damaged and unreadable datasets.

use isotach_hdf5::{Comparison, Condition, Data, Error, Filter, Header, IndexOptions, Literal, Run, Test};
use isotach_object::{Anchor, Cell, ObjectClass, ObjectId, ObjectType, Update};

use crate::{
    common::{at, data, dataset, filter, linked, memory, read_all, whole},
    types::{compound, enumeration, float, integer, stored, variable_text},
};

const BINS: IndexOptions = IndexOptions { has_bins: true, members: Vec::new() };

fn parsed(text: &str) -> Condition {
    Condition::parse(text).unwrap()
}

/// The values of scale-offset for a chunk of floating-point numbers with one digit.
fn one_digit(count: u32) -> Filter {
    let mut values = vec![0, 1, count, 1, 4, 1, 0];
    values.resize(20, 0);
    filter(6, &values)
}

#[test]
fn an_index_of_rounded_numbers_describes_what_readers_see() {
    let place = memory();
    let file = place.create();
    let of = Data { filters: vec![one_digit(20_000)], ..data(&[20_000], &[20_000], 4) };
    let set = linked(&file, "set", Header::dataset(stored(&float(4, false)), of));
    set.build_index(&BINS).unwrap();
    // Without a pattern, so that the chunk is large enough for an array.
    let numbers: Vec<f32> = (0..20_000_u32).map(|at| -1e6 + (at * 7919 % 20_000) as f32 * 50.02).collect();
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    bytes[..4].copy_from_slice(&126.26_f32.to_le_bytes());
    set.write(&whole(&set), &bytes).unwrap();
    file.commit().unwrap();
    let info = set.index().unwrap().unwrap();
    assert_eq!((info.chunks, info.indexed), (1, 0), "{info:?}");
    let info = set.build_index(&BINS).unwrap();
    assert_eq!((info.indexed, info.without), (1, 0), "{info:?}");
    let seen = f32::from_le_bytes(read_all(&set)[..4].try_into().unwrap());
    assert!(seen.to_bits() != 126.26_f32.to_bits(), "{seen}");
    let found = set.select(&parsed(&format!("value = {seen:?}"))).unwrap();
    assert_eq!((found.runs()[0], found.work().scanned), (Run { first: 0, count: 1 }, 0));
}

#[test]
fn a_sparse_dataset_whose_fill_value_passes_is_answered_at_once() {
    let place = memory();
    let file = place.create();
    let header = Header::dataset(stored(&float(4, false)), data(&[1 << 50], &[1], 4));
    let set = linked(&file, "sparse", header);
    let all = set.select(&parsed("value = 0")).unwrap();
    assert_eq!((all.runs(), all.work().skipped), (&[Run { first: 0, count: 1 << 50 }][..], 1 << 50));
    set.write(&[Run { first: 1 << 40, count: 1 }], &3_f32.to_le_bytes()).unwrap();
    for _ in 0..2 {
        let found = set.select(&parsed("not value > 1")).unwrap();
        let second = Run { first: (1 << 40) + 1, count: (1 << 50) - (1 << 40) - 1 };
        assert_eq!(found.runs(), [Run { first: 0, count: 1 << 40 }, second]);
        assert_eq!(set.select(&parsed("value > 1")).unwrap().count(), 1);
        file.commit().unwrap();
    }
    for chunk in [[1, 1, 1], [1, 1, 1 << 20]] {
        let of = data(&[0, 1 << 60, 1 << 20], &chunk, 4);
        let name = format!("none {}", chunk[2]);
        let none = linked(&file, &name, Header::dataset(stored(&float(4, false)), of));
        let found = none.select(&parsed("value = 0")).unwrap();
        assert_eq!((found.count(), found.work().skipped), (0, 0));
    }
}

#[test]
fn bins_with_a_directory_that_is_too_long_are_not_read() {
    let place = memory();
    let file = place.create();
    let set = linked(&file, "set", Header::dataset(stored(&float(4, false)), data(&[5000], &[5000], 4)));
    let numbers: Vec<u8> = (0..5000_u32).flat_map(|at| ((at * 7919 % 5000) as f32).to_le_bytes()).collect();
    set.write(&whole(&set), &numbers).unwrap();
    set.build_index(&BINS).unwrap();
    file.commit().unwrap();
    assert_eq!(set.select(&parsed("value in 7..9")).unwrap().work().by_bins, 1);
    let container = place.container();
    let index = ObjectId::new(ObjectType::KeyValue, ObjectClass::SX, 8, set.number());
    let key = [0; 8];
    let cell = Cell::kv(index, &key);
    let mut record = container.get_many(&[cell]).unwrap().pop().flatten().unwrap();
    let end = record.len() - 4;
    record[end..].copy_from_slice(&u32::MAX.to_le_bytes());
    container.update(&[Update::Put { cell, value: &record }]).unwrap();
    file.refresh().unwrap();
    let found = set.select(&parsed("value in 7..9")).unwrap();
    assert_eq!((found.count(), found.work().by_bins, found.work().scanned), (3, 0, 1));
}

#[test]
fn a_text_that_is_gone_is_an_error_with_its_place() {
    let place = memory();
    let file = place.create();
    let set = linked(&file, "set", Header::dataset(stored(&variable_text()), data(&[2, 3], &[1, 2], 20)));
    let mut bytes = [0; 120];
    // The last element names a page that there is not.
    bytes[100] = 4;
    bytes[104] = 99;
    bytes[116] = 4;
    set.write(&whole(&set), &bytes).unwrap();
    file.commit().unwrap();
    let error = set.select(&parsed("value = \"late\"")).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    let expected = format!("element [1, 2] of object {}", set.number());
    assert!(error.to_string().contains(&expected), "{error}");
}

#[test]
fn names_of_an_enumeration_have_no_order() {
    let place = memory();
    let file = place.create();
    let message = compound(1, &[("state", 0, enumeration(&["good", "bad"]))]);
    let set = linked(&file, "set", Header::dataset(stored(&message), data(&[3], &[3], 1)));
    for comparison in [Comparison::Less, Comparison::AtMost, Comparison::Greater, Comparison::AtLeast] {
        let test = Test::Is(comparison, Literal::Text("good".to_owned()));
        let condition = Condition::Value { member: vec!["state".to_owned()], test };
        let error = set.select(&condition).unwrap_err();
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
        assert!(error.to_string().contains("=, != or like with a name"), "{error}");
    }
}

#[test]
fn datasets_that_cannot_be_read_are_named_beside_what_is_found() {
    let place = memory();
    let file = place.create();
    let message = stored(&integer(4, true, false));
    let foreign = Filter { flags: Filter::FOREIGN, ..filter(307, &[]) };
    let of = Data { filters: vec![foreign], ..data(&[4], &[4], 4) };
    let set = linked(&file, "foreign", Header::dataset(message.clone(), of));
    set.write_chunk(&[0], 0, &[7; 9]).unwrap();
    let good = linked(&file, "good", Header::dataset(message, data(&[4], &[4], 4)));
    good.write(&whole(&good), &[1; 16]).unwrap();
    file.commit().unwrap();
    let findings = file.root().unwrap().find(&parsed("value > 1")).unwrap();
    let found: Vec<_> = findings.found.iter().map(|found| found.path.as_str()).collect();
    let unsearched: Vec<_> =
        findings.unsearched.iter().map(|one| (one.path.as_str(), one.why.as_str())).collect();
    assert_eq!((found, unsearched.len()), (vec!["good"], 1));
    assert_eq!(unsearched[0].0, "foreign");
    assert!(unsearched[0].1.contains("filter 307"), "{}", unsearched[0].1);
    // Conditions that its elements do not matter for.
    let findings = file.root().unwrap().find(&parsed("name like \"f*\"")).unwrap();
    assert_eq!((findings.found.len(), findings.unsearched.len()), (1, 0));
}

#[test]
fn a_sweep_destroys_the_index_of_a_dataset_that_is_gone() {
    let place = memory();
    let file = place.create();
    dataset(&file, "other", data(&[4], &[4], 4));
    let of = data(&[40_000], &[5000], 4);
    let set = linked(&file, "set", Header::dataset(stored(&float(4, false)), of));
    let numbers: Vec<u8> = (0..40_000_u32).flat_map(|at| (at as f32).to_le_bytes()).collect();
    set.write(&whole(&set), &numbers).unwrap();
    set.build_index(&BINS).unwrap();
    let kept = at(&file, "other");
    file.commit().unwrap();
    let number = set.number();
    drop((set, kept));
    assert_eq!(place.site.sweep(&place.name).unwrap(), 0);
    let container = place.container();
    let metadata = ObjectId::new(ObjectType::KeyValue, ObjectClass::S1, 2, number);
    let index = ObjectId::new(ObjectType::KeyValue, ObjectClass::SX, 8, number);
    container.update(&[Update::Destroy { object: metadata }]).unwrap();
    container.flush().unwrap();
    // The bins of eight chunks, and the index that names them.
    assert_eq!(place.site.sweep(&place.name).unwrap(), 9);
    let (objects, _) = container.list_objects(&Anchor::start(), 1000).unwrap();
    assert!(!objects.contains(&index));
    assert_eq!(place.site.sweep(&place.name).unwrap(), 0);
}
