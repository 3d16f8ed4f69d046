//! Transactions: their fields become visible together or not at all, whatever happens concurrently.

use std::sync::Arc;

use isotach_fields::{Error, FieldStore};
use isotach_object::{Engine, Error as ObjectError, memory::Memory};

use crate::{
    faulty::{Moment, ScriptedStore, full, no_space},
    layouts::{
        Layout, archive, arrays_in, bytes_of, field, listed, named, request, request_like,
        where_transactions_are, with,
    },
};

const PARAMS: [&str; 3] = ["130", "131", "132"];

/// Archives a step in two collocations, in a transaction that is not committed.
fn step_of(store: &FieldStore, step: &str, bytes: &[u8]) -> isotach_fields::Transaction {
    let transaction = store.transaction();
    for kind in ["type=fc", "type=an"] {
        for param in PARAMS {
            transaction.archive(&with(&field(step, param), kind), bytes).unwrap();
        }
    }
    transaction
}

/// The bytes of all fields of a step.
fn seen(store: &FieldStore, step: &str) -> Vec<Vec<u8>> {
    bytes_of(store, &request_like(&field(step, "130"), "type=fc/an,param=130/131/132"))
}

#[test]
fn fields_of_a_transaction_are_unseen_before_the_commit_and_all_seen_after_it() {
    for (layout, [writer, reader]) in where_transactions_are(Layout::two_handles) {
        for step in ["0", "6"] {
            let transaction = step_of(&writer, step, b"first");
            writer.archive(&field("99", "130"), b"beside").unwrap();
            writer.flush().unwrap();
            assert!(!transaction.is_empty());
            assert!(seen(&reader, step).is_empty() && seen(&writer, step).is_empty());
            transaction.commit().unwrap();
            assert!(transaction.is_empty());
            assert_eq!(seen(&reader, step), vec![b"first".to_vec(); 6]);
            assert_eq!(listed(&layout.store(), &format!("step={step}")).len(), 6);
        }
    }
}

#[test]
fn an_engine_without_transactions_refuses_the_first_field_of_one() {
    for layout in named(Layout::all().into_iter().filter(|layout| !layout.has_transactions())) {
        let store = layout.store();
        let transaction = store.transaction();
        let error = transaction.archive(&field("0", "130"), b"zero").unwrap_err();
        assert_eq!(error.code(), "unsupported", "{error}");
        assert!(transaction.is_empty());
        transaction.commit().unwrap();
        assert!(listed(&store, "").is_empty());
        archive(&store, &[(field("0", "130"), b"zero")]);
        assert_eq!(listed(&store, "").len(), 1);
    }
}

#[test]
fn a_replaced_field_is_seen_until_the_commit_and_the_transaction_can_be_used_again() {
    for (_layout, [writer, reader]) in where_transactions_are(Layout::two_handles) {
        let transaction = step_of(&writer, "0", b"old");
        transaction.commit().unwrap();
        for param in PARAMS {
            transaction.archive(&field("0", param), b"new").unwrap();
        }
        assert_eq!(seen(&reader, "0"), vec![b"old".to_vec(); 6]);
        transaction.commit().unwrap();
        let now = [vec![b"new".to_vec(); 3], vec![b"old".to_vec(); 3]].concat();
        assert_eq!(seen(&reader, "0"), now);
        transaction.commit().unwrap();
        // Another dataset is another transaction.
        let other = with(&field("0", "130"), "expver=2");
        transaction.archive(&other, b"other").unwrap();
        transaction.commit().unwrap();
        assert_eq!(reader.retrieve_one(&other).unwrap().unwrap(), b"other");
    }
}

#[test]
fn a_transaction_that_is_dropped_leaves_nothing_that_can_be_seen() {
    for (layout, writer) in where_transactions_are(Layout::store) {
        drop(step_of(&writer, "0", b"dropped"));
        writer.archive(&field("6", "130"), b"kept").unwrap();
        writer.flush().unwrap();
        let reader = layout.store();
        assert!(seen(&reader, "0").is_empty());
        assert_eq!(listed(&reader, "class=od").len(), 1);
    }
}

#[test]
fn what_a_dropped_transaction_stored_is_given_back() {
    let layout = Layout::memory();
    let writer = layout.store();
    archive(&writer, &[(field("6", "130"), b"kept")]);
    let size = || writer.stats(&request("class=od")).unwrap().found[0].container_bytes;
    let before = size();
    let transaction = step_of(&writer, "0", &[7; 100_000]);
    assert!(size() >= before + 600_000);
    drop(transaction);
    assert_eq!(size(), before);
}

#[test]
fn a_transaction_dropped_after_a_refused_commit_leaves_no_array() {
    let io = ObjectError::Io { what: "a commit".to_owned(), source: "a test".into() };
    for (catalogue, failure, left) in
        [("memory:all", no_space(), 0), ("memory:catalogue", no_space(), 0), ("memory:all", io, 6)]
    {
        let memory = Memory::new();
        let writer = ScriptedStore::split(&memory, catalogue, "memory:all");
        let transaction = step_of(&writer, "0", b"zero");
        let (what, code) = (failure.to_string(), failure.code());
        writer.outcomes(Moment::Commit, [Some(failure)]);
        assert_eq!(transaction.commit().unwrap_err().code(), code, "{what}");
        drop(transaction);
        let at = writer.status(&request("")).unwrap().remove(0).store;
        let container = memory.open_pool(&at.pool).unwrap().open_container(&at.label).unwrap();
        // After an uncertain outcome an entry may name them.
        assert_eq!(arrays_in(&*container), left, "{catalogue}: {what}");
    }
}

#[test]
fn a_large_transaction_that_is_dropped_leaves_no_array() {
    let layout = Layout::posix();
    let writer = layout.store();
    archive(&writer, &[(field("6", "130"), b"kept")]);
    let transaction = writer.transaction();
    // More than a handle gathers before it publishes.
    for step in 0..20_000 {
        transaction.archive(&field(&step.to_string(), "131"), &[7; 100]).unwrap();
    }
    assert!(layout.arrays(&writer, "class=od") > 10_000);
    drop(transaction);
    assert_eq!(layout.arrays(&writer, "class=od"), 1);
}

#[test]
fn a_dropped_transaction_leaves_the_arrays_that_it_only_indexed() {
    for (layout, writer) in where_transactions_are(Layout::store) {
        archive(&writer, &[(field("6", "130"), b"kept")]);
        let kept = writer.locate(&field("6", "130")).unwrap().unwrap().location;
        let transaction = step_of(&writer, "0", b"dropped");
        transaction.index(&field("12", "130"), &kept).unwrap();
        drop(transaction);
        let there = layout.store().retrieve_one(&field("6", "130"));
        assert_eq!(there.unwrap().unwrap(), b"kept");
        assert_eq!(layout.arrays(&writer, "class=od"), 1);
    }
}

#[test]
fn fields_of_another_dataset_are_refused_and_the_transaction_goes_on() {
    for (_layout, store) in where_transactions_are(Layout::store) {
        let transaction = step_of(&store, "0", b"one");
        let error = transaction.archive(&with(&field("0", "130"), "expver=2"), b"two").unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("expver=0002"), "{error}");
        transaction.commit().unwrap();
        assert_eq!(listed(&store, "").len(), 6);
    }
}

#[test]
fn a_commit_without_space_shows_nothing_and_may_be_repeated() {
    let [writer, reader] = ScriptedStore::pair();
    let transaction = step_of(&writer, "0", b"zero");
    writer.outcomes(Moment::Commit, [full()]);
    assert_eq!(transaction.commit().unwrap_err().code(), "no-space");
    assert!(seen(&reader, "0").is_empty());
    transaction.archive(&field("6", "130"), b"since").unwrap();
    transaction.commit().unwrap();
    assert_eq!(seen(&reader, "0").len(), 6);
    assert_eq!(seen(&reader, "6").len(), 1);
}

#[test]
fn a_flush_that_fails_after_the_commit_takes_nothing_back() {
    for repeat in [true, false] {
        let [writer, reader] = ScriptedStore::pair();
        let transaction = step_of(&writer, "0", b"zero");
        writer.outcomes(Moment::Flush, [full()]);
        assert_eq!(transaction.commit().unwrap_err().code(), "no-space");
        assert_eq!(seen(&reader, "0").len(), 6, "in memory what is committed is seen");
        if repeat {
            transaction.commit().unwrap();
        }
        drop(transaction);
        writer.flush().unwrap();
        assert_eq!(seen(&reader, "0"), vec![b"zero".to_vec(); 6]);
    }
}

#[test]
fn a_transaction_on_a_wiped_dataset_fails_with_wiped() {
    for (_layout, [writer, other]) in where_transactions_are(Layout::two_handles) {
        let transaction = step_of(&writer, "0", b"zero");
        other.wipe(&request("class=od"), true).unwrap();
        match transaction.commit().unwrap_err() {
            Error::Wiped { fields, .. } => assert_eq!(fields, 6),
            error => panic!("{error:?}"),
        }
        // What comes next is in the dataset that is made anew.
        transaction.archive(&field("6", "130"), b"six").unwrap();
        transaction.commit().unwrap();
        assert_eq!(listed(&other, "").len(), 1);
    }
}

#[test]
fn collocations_wiped_before_the_commit_come_with_it_again() {
    for (_layout, [writer, other]) in where_transactions_are(Layout::two_handles) {
        let transaction = step_of(&writer, "0", b"zero");
        transaction.commit().unwrap();
        for param in PARAMS {
            transaction.archive(&field("6", param), b"six").unwrap();
        }
        other.wipe(&request("class=od,type=fc"), true).unwrap();
        transaction.commit().unwrap();
        assert_eq!(listed(&other, "type=fc").len(), 3);
        assert_eq!(bytes_of(&other, &request_like(&field("6", "130"), "param=130/131/132")).len(), 3);
    }
}

#[test]
fn a_wipe_beside_a_commit_leaves_the_whole_transaction_or_is_reported() {
    for moment in [Moment::Commit, Moment::Flush] {
        let [writer, other] = ScriptedStore::pair();
        archive(&other, &[(field("0", "130"), b"zero")]);
        let transaction = step_of(&writer, "6", b"six");
        writer.meanwhile(moment, &other, |other| {
            other.wipe(&request("class=od,type=fc"), true).unwrap();
        });
        let result = transaction.commit();
        match moment {
            Moment::Commit => {
                result.unwrap();
                assert_eq!(seen(&other, "6").len(), 6);
            }
            _ => {
                assert!(matches!(result, Err(Error::Wiped { fields: 3, .. })), "{result:?}");
                assert_eq!(listed(&other, "").len(), 3, "the other collocation's");
            }
        }
        assert!(transaction.is_empty());
    }
}

#[test]
fn a_commit_beside_a_move_is_refused_and_goes_through_once_the_move_has_failed() {
    let [writer, mover] = ScriptedStore::pair();
    let target = Layout::memory().target();
    archive(&writer, &[(field("0", "130"), b"zero")]);
    let transaction = Arc::new(step_of(&writer, "6", b"six"));
    let beside = Arc::clone(&transaction);
    mover.meanwhile(Moment::Update, &writer, move |reader| {
        assert_eq!(beside.commit().unwrap_err().code(), "moving");
        assert!(seen(reader, "6").is_empty());
    });
    mover.outcomes(Moment::Commit, [None, Some(ObjectError::corrupt("the root", "a test"))]);
    let moved = mover.move_to(&target, &request("class=od"));
    assert_eq!(moved.unwrap_err().code(), "corrupt");
    transaction.commit().unwrap();
    assert_eq!(seen(&mover, "6").len(), 6);
}

/// Commits a transaction before each call of a read in turn, and returns the numbers of fields that were found.
fn counts_beside_a_commit(read: impl Fn(&FieldStore) -> usize) -> Vec<usize> {
    let mut counts = Vec::new();
    for after in 0..60 {
        let [writer, reader] = ScriptedStore::pair();
        archive(&writer, &[(field("0", "130"), b"zero"), (with(&field("0", "130"), "type=an"), b"zero")]);
        assert_eq!(read(&reader), 2);
        archive(&writer, &[(field("0", "130"), b"again")]);
        let transaction = step_of(&writer, "6", b"six");
        reader.script.before_nth(after, Moment::Look, "od", move || transaction.commit().unwrap());
        counts.push(read(&reader));
        if reader.script.forget_waiting() > 1 {
            // There are no more calls to get in between.
            return counts;
        }
    }
    panic!("a reading of more calls than expected")
}

#[test]
fn a_reader_sees_all_of_a_transaction_that_is_committed_while_it_reads_or_nothing() {
    let all = request_like(&field("0", "130"), "type=fc/an,step=0/6,param=130/131/132");
    let counts = [
        counts_beside_a_commit(|store| listed(store, "class=od").len()),
        counts_beside_a_commit(|store| bytes_of(store, &all).len()),
        counts_beside_a_commit(|store| {
            store.stats(&request("class=od")).unwrap().found[0].counts.fields as usize
        }),
    ];
    for counts in counts {
        assert!(counts.len() > 3 && counts.contains(&8), "{counts:?}");
        assert!(counts.iter().all(|count| [2, 8].contains(count)), "{counts:?}");
    }
}

/// More than are read together, wherever they are.
const STEPS: usize = 100;

fn replace_all(store: &FieldStore, bytes: &[u8]) {
    replace(store, STEPS, bytes);
}

/// Archives so many steps in one transaction, and leaves nothing of what was there before.
fn replace(store: &FieldStore, steps: usize, bytes: &[u8]) {
    let transaction = store.transaction();
    (0..steps).for_each(|step| transaction.archive(&field(&step.to_string(), "t"), bytes).unwrap());
    transaction.commit().unwrap();
    store.purge(&request("class=od"), true).unwrap();
}

fn all_steps() -> isotach_mars::Request {
    request_like(&field("0", "t"), "step=0/to/99/by/1")
}

#[test]
fn a_retrieval_ends_when_a_transaction_replaces_its_remaining_fields() {
    for (_layout, [writer, reader]) in where_transactions_are(Layout::two_handles) {
        replace_all(&writer, b"old");
        let mut retrieval = reader.retrieve(&all_steps()).unwrap();
        assert_eq!(retrieval.next().unwrap().unwrap().bytes, b"old");
        replace_all(&writer, b"new");
        let mut rest: Vec<_> = retrieval.by_ref().collect();
        let error = rest.pop().unwrap().unwrap_err();
        assert_eq!(error.code(), "conflict", "{error}");
        assert!(error.to_string().ends_with("ask again"), "{error}");
        assert!(rest.len() < STEPS - 1);
        assert!(rest.iter().all(|field| field.as_ref().unwrap().bytes == b"old"));
        assert!(retrieval.next().is_none() && retrieval.missing().is_none());
        assert_eq!(bytes_of(&reader, &all_steps()), vec![b"new".to_vec(); STEPS]);
    }
}

#[test]
fn a_retrieval_that_has_handed_out_nothing_begins_again_by_itself() {
    [false, true].into_iter().for_each(begins_again);
}

fn begins_again(is_far: bool) {
    let [reader, writer] = ScriptedStore::pair();
    reader.script.set_far(is_far);
    replace_all(&writer, b"old");
    // With a step that was not there when the fields were found.
    reader.before(Moment::Read, move || replace(&writer, STEPS + 1, b"new"));
    let mut retrieval = reader.retrieve(&request_like(&field("0", "t"), "step=0/to/100/by/1")).unwrap();
    let found: Vec<_> = retrieval.by_ref().map(|field| field.unwrap().bytes.to_vec()).collect();
    assert_eq!(found, vec![b"new".to_vec(); STEPS + 1]);
    assert_eq!(retrieval.missing().unwrap().count, 0);
}

#[test]
fn a_retrieval_goes_on_where_a_plain_flush_replaced_a_field() {
    for (_layout, [writer, reader]) in where_transactions_are(Layout::two_handles) {
        replace_all(&writer, b"old");
        let mut retrieval = reader.retrieve(&all_steps()).unwrap();
        assert_eq!(retrieval.next().unwrap().unwrap().bytes, b"old");
        archive(&writer, &[(field("99", "t"), b"new")]);
        writer.purge(&request("class=od"), true).unwrap();
        let rest: Vec<_> = retrieval.map(|field| field.unwrap().bytes.to_vec()).collect();
        assert_eq!((rest.len(), &*rest[STEPS - 2]), (STEPS - 1, &b"new"[..]));
    }
}
