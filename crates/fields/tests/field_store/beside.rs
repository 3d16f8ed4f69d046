//! Fields of a handle when another handle changes the store at the same time.

use isotach_fields::Location;
use isotach_mars::Key;

use crate::layouts::{Layout, archive, everywhere, field, listed, request, request_like, with};

#[test]
fn a_store_is_neither_copied_nor_moved_to_itself_through_another_handle() {
    let layout = Layout::posix();
    let (store, other) = (layout.store(), layout.store());
    archive(&store, &[(field("0", "t"), b"zero"), (field("6", "t"), b"six")]);
    other.archive(&field("0", "t"), b"not flushed").unwrap();
    for result in [store.copy_to(&other, &request("")), store.move_to(&other, &request("class=od"))] {
        assert!(result.unwrap_err().to_string().contains("to itself"));
    }
    assert_eq!(listed(&store, "").len(), 2);
}

#[test]
fn a_field_wiped_between_finding_and_reading_is_absent_and_no_error() {
    for (_layout, [store, other]) in everywhere(Layout::two_handles) {
        let steps: Vec<String> = (0..40).map(|step| step.to_string()).collect();
        let fields: Vec<(Key, &[u8])> = steps.iter().map(|step| (field(step, "t"), &b"bytes"[..])).collect();
        archive(&store, &fields);
        archive(&store, &[(with(&field("0", "t"), "type=an"), b"stays")]);
        let all = request_like(&field("0", "t"), "step=0/to/39/by/1");
        let mut retrieval = store.retrieve(&all).unwrap();
        assert_eq!(retrieval.next().unwrap().unwrap().bytes, b"bytes");
        other.wipe(&request("class=od,type=fc"), true).unwrap();
        for found in retrieval {
            assert_eq!(found.unwrap().bytes, b"bytes");
        }
    }
}

#[test]
fn datasets_of_an_older_schema_are_found_though_one_of_them_is_gone() {
    let layout = Layout::posix();
    let old = layout.store();
    let [gone, left] = ["20240101", "20240102"].map(|date| with(&field("0", "t"), &format!("date={date}")));
    archive(&old, &[(gone, b"gone"), (left, b"left")]);
    let config = layout.config.clone().with_schema(format!("{} # another text", crate::layouts::SCHEMA));
    let reader = isotach_fields::FieldStore::open(&config, &layout.registry).unwrap();
    old.wipe(&request("date=20240101"), true).unwrap();
    assert_eq!(listed(&reader, "").len(), 1);
}

#[test]
fn a_location_past_all_bounds_is_refused_and_one_past_its_object_is_corrupt() {
    let layout = Layout::memory();
    let store = layout.store();
    archive(&store, &[(field("0", "t"), b"zero")]);
    let there = store.locate(&field("0", "t")).unwrap().unwrap().location;
    let absurd = Location { length: u64::MAX - 5, ..there.clone() };
    assert_eq!(store.index(&field("6", "t"), &absurd).unwrap_err().code(), "invalid-input");
    let long = Location { length: 1 << 50, ..there };
    store.index(&field("6", "t"), &long).unwrap();
    store.flush().unwrap();
    assert_eq!(store.retrieve_one(&field("6", "t")).unwrap_err().code(), "corrupt");
}
