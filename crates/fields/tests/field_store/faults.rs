//! Failures of the storage, and damage to it.

use std::{fs, io};

use isotach_fields::{Action, Error, FieldStore, ListOptions, Repair, VerifyOptions};
use isotach_mars::Key;
use isotach_object::{Error as ObjectError, KeyValue, memory::Memory};

use crate::{
    faulty::{Moment, ScriptedStore, full, no_space},
    layouts::{Layout, archive, everywhere, field, files_below, listed, request, request_like, with},
};

/// A store with one field, on a scripted engine.
fn faulty(catalogue: &str, store: &str) -> (ScriptedStore, FieldStore) {
    let writer = ScriptedStore::split(&Memory::new(), catalogue, store);
    archive(&writer, &[(field("0", "t"), b"before")]);
    let reader = writer.open();
    (writer, reader)
}

fn poisoned() -> Option<ObjectError> {
    Some(ObjectError::Poisoned { what: "container od".to_owned() })
}

#[test]
fn a_failed_archive_leaves_nothing_visible_and_the_handle_usable() {
    let (writer, reader) = faulty("memory:a", "memory:a");
    writer.archive(&field("6", "t"), b"six").unwrap();
    writer.outcomes(Moment::Update, [full()]);
    let error = writer.archive(&field("12", "t"), b"never").unwrap_err();
    assert_eq!(error.code(), "no-space");
    assert!(error.to_string().contains("step=12"), "{error}");
    writer.flush().unwrap();
    assert_eq!(listed(&reader, "").len(), 2);
    archive(&writer, &[(field("12", "t"), b"now")]);
    assert_eq!(listed(&reader, "").len(), 3);
}

#[test]
fn a_failed_flush_keeps_its_fields_and_can_be_tried_again() {
    for (catalogue, store) in [("memory:a", "memory:a"), ("memory:a", "memory:b")] {
        let (writer, reader) = faulty(catalogue, store);
        for failing in 0..2 {
            let step = (6 * (failing + 1)).to_string();
            writer.archive(&field(&step, "t"), b"field").unwrap();
            writer.outcomes([Moment::Update, Moment::Flush][failing], [full()]);
            assert_eq!(writer.flush().unwrap_err().code(), "no-space");
            assert!(writer.is_dirty());
            writer.archive(&field(&step, "t"), b"newer").unwrap();
            writer.flush().unwrap();
            assert_eq!(reader.retrieve_one(&field(&step, "t")).unwrap().unwrap(), b"newer");
        }
        assert_eq!(listed(&reader, "").len(), 3);
    }
}

#[test]
fn the_catalogue_learns_of_nothing_that_the_store_did_not_keep() {
    let (writer, reader) = faulty("memory:a", "memory:b");
    writer.archive(&field("6", "t"), b"six").unwrap();
    writer.outcomes(Moment::Flush, [full()]);
    assert!(writer.flush().is_err());
    // The failing flush was the store's: the catalogue's container was not written at all.
    assert_eq!(listed(&reader, "").len(), 1);
}

#[test]
fn fields_lost_for_good_are_counted_and_the_handle_goes_on() {
    let (writer, reader) = faulty("memory:a", "memory:a");
    writer.archive(&field("6", "t"), b"six").unwrap();
    writer.archive(&field("12", "t"), b"twelve").unwrap();
    writer.outcomes(Moment::Update, [poisoned()]);
    match writer.flush().unwrap_err() {
        Error::Lost { fields: 2, dataset, .. } => assert!(dataset.contains("class=od"), "{dataset}"),
        error => panic!("{error:?}"),
    }
    assert!(!writer.is_dirty());
    archive(&writer, &[(field("18", "t"), b"eighteen")]);
    assert_eq!(listed(&reader, "").len(), 2);
}

#[test]
fn a_poisoned_handle_is_replaced_when_nothing_is_lost_by_it() {
    let (writer, reader) = faulty("memory:a", "memory:a");
    writer.outcomes(Moment::Update, [poisoned()]);
    archive(&writer, &[(field("6", "t"), b"six")]);
    assert_eq!(listed(&reader, "").len(), 2);
    // A loss of a buffered field is reported.
    writer.archive(&field("12", "t"), b"twelve").unwrap();
    writer.outcomes(Moment::Update, [poisoned(), poisoned()]);
    assert_eq!(writer.archive(&field("18", "t"), b"eighteen").unwrap_err().code(), "poisoned");
    assert_eq!(writer.flush().unwrap_err().code(), "lost");
    archive(&writer, &[(field("18", "t"), b"eighteen")]);
    assert_eq!(listed(&reader, "").len(), 3);
}

#[test]
fn archive_refuses_a_key_too_long_for_its_entries_and_the_next_flush_succeeds() {
    for (_layout, store) in everywhere(Layout::store) {
        let long = "x".repeat(65_536);
        for name in ["type", "number"] {
            let key = with(&field("0", "t"), &format!("{name}={long}"));
            let error = store.archive(&key, b"never").unwrap_err();
            assert!(error.is_usage() && error.to_string().contains(&format!("value of {name}")), "{name}");
        }
        archive(&store, &[(field("0", "t"), b"zero")]);
        assert_eq!(listed(&store, "").len(), 1);
    }
}

#[test]
fn a_data_file_cut_short_is_corrupt_and_names_the_field_and_the_file() {
    let layout = Layout::posix();
    let big = vec![7_u8; 3 << 20];
    archive(&layout.store(), &[(field("0", "t"), &big)]);
    let files = files_below(layout.folder.path()).into_iter();
    let data = files.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();
    fs::OpenOptions::new().write(true).open(&data).unwrap().set_len(1 << 20).unwrap();
    let store = layout.store();
    let key = field("0", "t");
    let mut buffer = big;
    let errors = [
        store.retrieve_one(&key).unwrap_err(),
        store.retrieve_into(&key, &mut buffer).unwrap_err(),
        store.retrieve(&isotach_mars::Request::from(&key)).unwrap().next().unwrap().unwrap_err(),
    ];
    for error in errors {
        let Error::Corrupt { field, place, .. } = &error else { panic!("{error:?}") };
        assert!(field.contains("step=0"), "{error}");
        let name = data.file_name().unwrap().to_str().unwrap();
        assert!(place.contains(name), "{error} does not name {data:?}");
    }
}

#[test]
fn a_failed_lookup_is_an_error_and_its_fields_are_not_missing() {
    let (writer, reader) = faulty("memory:a", "memory:a");
    let steps = 0..600;
    for step in steps.clone() {
        writer.archive(&field(&step.to_string(), "t"), b"t").unwrap();
    }
    writer.archive(&field("0", "q"), b"q").unwrap();
    writer.flush().unwrap();
    // Two parameters for each step: lookups of 512 fields, 512, and 176.
    let all = request_like(&field("0", "t"), "step=0/to/599/by/1,param=t/q");
    let complete = reader.inspect(&all).unwrap();
    assert_eq!(complete.map(Result::unwrap).count(), 601);

    writer.outcomes(Moment::Look, [None, full()]);
    let mut inspection = reader.inspect(&all).unwrap();
    let (found, failures): (Vec<_>, Vec<_>) = inspection.by_ref().partition(Result::is_ok);
    assert_eq!((found.len(), failures.len()), (256 + 1 + 88, 1));
    assert_eq!(failures[0].as_ref().unwrap_err().code(), "no-space");
    let step_of = |key: &Key| key.get("step").unwrap().parse::<u32>().unwrap();
    let missing = inspection.missing().unwrap();
    let expected: Vec<u32> = steps.filter(|step| (1..256).contains(step) || *step >= 512).collect();
    assert_eq!(missing.count, expected.len() as u64);
    assert_eq!(missing.keys.iter().map(step_of).collect::<Vec<_>>(), expected);
}

#[test]
fn missing_fields_are_unknown_when_a_dataset_cannot_be_read() {
    let (writer, reader) = faulty("memory:a", "memory:a");
    archive(&writer, &[(with(&field("0", "t"), "class=rd"), b"rd")]);
    let both = request_like(&field("0", "t"), "class=od/rd,step=0/6");
    let inspect = || {
        let mut inspection = reader.inspect(&both).unwrap();
        let said: Vec<_> = inspection.by_ref().map(|found| found.map_err(|error| error.code())).collect();
        let missing = inspection.missing().map(|missing| missing.count);
        (said.len(), said.into_iter().find_map(Result::err), missing)
    };
    assert_eq!(inspect(), (2, None, Some(2)));
    writer.control(&request("class=rd"), true, &[Action::Retrieve]).unwrap();
    assert_eq!(inspect(), (2, Some("locked"), None));
}

#[test]
fn a_damaged_index_entry_is_an_error_in_its_place_and_all_others_are_found() {
    let layout = Layout::memory();
    let (writer, store) = (layout.store(), layout.store());
    let steps = ["0", "6", "12", "18"];
    for step in steps {
        archive(&writer, &[(field(step, "t"), step.as_bytes())]);
    }
    let dump = store.dump(&request("")).unwrap().found.remove(0);
    let container = layout.container(&dump.status.catalogue);
    KeyValue::new(&*container, dump.collocations[0].index).unwrap().put(b"6::500:130", b"?").unwrap();
    container.flush().unwrap();

    let exact = request_like(&field("0", "t"), "step=0/6/12/18");
    let mut inspection = store.inspect(&exact).unwrap();
    let found: Vec<_> = inspection.by_ref().map(|found| found.map(|found| found.key)).collect();
    assert_eq!(inspection.missing().unwrap().count, 0, "it is there, though damaged");
    let bytes: Vec<_> = store.retrieve(&exact).unwrap().map(|field| field.map(|field| field.bytes)).collect();
    assert_eq!((found.len(), bytes.len()), (4, 4));
    for (at, step) in steps.into_iter().enumerate() {
        if step == "6" {
            for error in [found[at].as_ref().unwrap_err(), bytes[at].as_ref().unwrap_err()] {
                assert!(error.code() == "corrupt" && error.to_string().contains("step=6"), "{error}");
            }
        } else {
            assert_eq!(found[at].as_ref().unwrap().get("step"), Some(step));
            assert_eq!(*bytes[at].as_ref().unwrap(), step.as_bytes());
        }
    }
    let listing: Vec<_> = store.list(&request(""), ListOptions::default()).unwrap().collect();
    assert_eq!((listing.len(), listing.iter().filter(|listed| listed.is_err()).count()), (4, 1));
    // What is damaged can be wiped.
    assert_eq!(store.wipe(&request("class=od,type=fc"), false).unwrap().counts().fields, 3);
    store.wipe(&request("class=od"), true).unwrap();
    assert!(listed(&store, "").is_empty());
}

#[test]
fn a_field_that_is_unreadable_for_once_is_reported_and_not_repaired() {
    let (writer, _) = faulty("memory:a", "memory:a");
    let with_bytes = VerifyOptions { data: true, threads: 1 };
    let io = |source| ObjectError::Io { what: "read".to_owned(), source };
    let (slow, broken) =
        (io("the server does not answer".into()), io(io::Error::from_raw_os_error(5).into()));
    for (failure, expected) in [(slow, Repair::Left), (no_space(), Repair::Left), (broken, Repair::TakenOut)]
    {
        writer.outcomes(Moment::Read, [Some(failure)]);
        let report = writer.verify(&request(""), with_bytes, &|_| ()).unwrap();
        let damage = &report.parts.iter().find(|part| !part.damage.is_empty()).unwrap().damage;
        assert_eq!(damage[0].what.contains("not known to be whole"), expected == Repair::Left, "{damage:?}");
        assert_eq!(report.repair(false).unwrap().repaired[0].repair, expected);
    }
}
