//! A handle that writes to more datasets than it keeps open.

use isotach_fields::FieldStore;
use isotach_mars::Key;
use isotach_object::{Error as ObjectError, memory::Memory};

use crate::{
    faulty::{Moment, Script, ScriptedStore, full},
    layouts::{field, listed, with},
};

/// A store on a scripted engine, with so many datasets of one field.
fn with_datasets(count: usize) -> (FieldStore, Script) {
    let first = ScriptedStore::single(&Memory::new(), "memory:all");
    (0..count).for_each(|dataset| first.archive(&key(dataset, 0), b"first").unwrap());
    first.flush().unwrap();
    (first.open(), first.script)
}

fn key(dataset: usize, step: usize) -> Key {
    with(&field(&step.to_string(), "t"), &format!("class=c{dataset}"))
}

#[test]
fn a_failed_eviction_keeps_its_fields_and_fails_no_other_dataset() {
    let (store, script) = with_datasets(70);
    (0..64).for_each(|dataset| store.archive(&key(dataset, 6), b"second").unwrap());
    // The two that are evicted.
    script.outcomes(Moment::Update, [full(), full()]);
    (64..70).for_each(|dataset| store.archive(&key(dataset, 6), b"second").unwrap());
    assert!(store.is_dirty());
    store.flush().unwrap();
    assert_eq!(listed(&store, "step=6").len(), 70);
}

#[test]
fn the_next_flush_reports_what_an_eviction_lost() {
    let (store, script) = with_datasets(66);
    (0..64).for_each(|dataset| store.archive(&key(dataset, 6), b"second").unwrap());
    script.outcomes(Moment::Update, [Some(ObjectError::Poisoned { what: "container".to_owned() })]);
    store.archive(&key(64, 6), b"second").unwrap();
    store.archive(&key(65, 6), b"second").unwrap();
    let error = store.flush().unwrap_err();
    assert!(error.code() == "lost" && error.to_string().contains("class=c0,"), "{error}");
    assert_eq!(listed(&store, "step=6").len(), 65);
    assert!(!store.is_dirty());
    store.flush().unwrap();
}

#[test]
fn a_handle_holds_a_bounded_number_of_datasets_that_cannot_be_flushed() {
    let (store, script) = with_datasets(130);
    script.outcomes(Moment::Flush, (0..1000).map(|_| full()));
    (0..128).for_each(|dataset| store.archive(&key(dataset, 6), b"second").unwrap());
    let refused = store.archive(&key(128, 6), b"second").unwrap_err();
    assert_eq!(refused.code(), "no-space");
    store.archive(&key(5, 12), b"of a dataset that is held").unwrap();
    script.outcomes(Moment::Flush, []);
    store.archive(&key(128, 6), b"second").unwrap();
    store.archive(&key(129, 6), b"second").unwrap();
    store.flush().unwrap();
    assert_eq!((listed(&store, "step=6").len(), listed(&store, "step=12").len()), (130, 1));
}
