//! Deleting single fields.

use std::fs;

use isotach_fields::{Action, FieldStore, ListOptions, Result};
use isotach_mars::Request;
use isotach_object::{Anchor, KeyValue, ObjectType, memory::Memory};

use crate::{
    faulty::{Moment, ScriptedStore, dies, full},
    layouts::{
        Layout, archive, bytes_of, everywhere, field, listed, request, request_like, verify,
        where_snapshots_are, with,
    },
    races::{code, unlock},
};

const STEPS: [&str; 3] = ["0", "6", "12"];

fn steps(steps: &str) -> Request {
    request_like(&field("0", "t"), &format!("step={steps}"))
}

/// Three steps, the first replaced once, and a field of another dataset.
fn fill(store: &FieldStore) {
    archive(store, &[(field("0", "t"), b"old")]);
    archive(store, &STEPS.map(|step| (field(step, "t"), step.as_bytes())));
    archive(store, &[(with(&field("0", "t"), "class=rd"), b"rd")]);
}

fn filled(layout: &Layout) -> FieldStore {
    let store = layout.store();
    fill(&store);
    store
}

fn delete(store: &FieldStore, request: &Request) -> u64 {
    let report = store.delete(request, true).unwrap();
    assert!(report.done);
    report.fields()
}

/// The bytes of a step.
fn one(store: &FieldStore, step: &str) -> Option<Vec<u8>> {
    store.retrieve_one(&field(step, "t")).unwrap().map(Vec::from)
}

/// The number of fields, including replaced and deleted ones.
fn all_of(store: &FieldStore) -> usize {
    store.list(&request("class=od"), ListOptions { duplicates: true }).unwrap().count()
}

/// The number of entries of the only index of `class=od`, below the field layer.
fn index_entries(layout: &Layout, store: &FieldStore) -> usize {
    let dump = store.dump(&request("class=od")).unwrap().found.remove(0);
    let container = layout.container(&dump.status.catalogue);
    let index = dump.collocations[0].index;
    assert_eq!(index.otype(), ObjectType::KeyValue);
    KeyValue::new(&*container, index).unwrap().list(&Anchor::start(), 100, false).unwrap().iter().count()
}

#[test]
fn deleted_fields_are_gone_for_every_reader_and_can_be_archived_again() {
    for (layout, store) in everywhere(filled) {
        let reader = layout.store();
        assert_eq!(listed(&reader, "class=od").len(), 3);
        let dry = store.delete(&steps("0/12/18"), false).unwrap();
        assert_eq!((dry.done, dry.datasets.len(), dry.fields(), dry.bytes()), (false, 1, 2, 3));
        assert_eq!(listed(&reader, "class=od").len(), 3, "a dry run deletes nothing");
        let report = store.delete(&steps("0/12/18"), true).unwrap();
        assert_eq!(report.datasets, dry.datasets);
        for store in [&store, &reader, &layout.store()] {
            assert_eq!(bytes_of(store, &steps("0/6/12")), [b"6"]);
            assert_eq!((one(store, "0"), one(store, "6").unwrap()), (None, b"6".to_vec()));
            assert!(store.retrieve_shared(&field("12", "t")).unwrap().is_none());
            let mut inspection = store.inspect(&steps("0/6/12")).unwrap();
            assert_eq!((inspection.by_ref().count(), inspection.missing().unwrap().count), (1, 2));
            assert_eq!((listed(store, "class=od,step=6").len(), listed(store, "").len()), (1, 2));
            assert!(listed(store, "step=0,param=t,class=od").is_empty());
            let counts = store.stats(&request("class=od")).unwrap().found[0].counts;
            assert_eq!((counts.fields, counts.replaced_fields), (1, 3));
        }
        assert_eq!(delete(&store, &steps("0/12/18")), 0, "they are gone already");
        assert!(verify(&store, true).is_sound());
        archive(&store, &[(field("0", "t"), b"again")]);
        assert_eq!(one(&reader, "0").unwrap(), b"again");
        assert_eq!(listed(&reader, "class=od").len(), 2);
    }
}

#[test]
fn a_purge_frees_deleted_fields_and_leaves_no_trace_of_them() {
    for (layout, store) in everywhere(filled) {
        assert_eq!(delete(&store, &steps("0/6")), 2);
        archive(&store, &[(field("6", "t"), b"again")]);
        assert_eq!((all_of(&store), index_entries(&layout, &store)), (5, 3));
        let purge = |doit| store.purge(&request("class=od"), doit).unwrap().found.remove(0);
        assert_eq!((purge(false).replaced_fields, purge(true).replaced_fields), (3, 3));
        assert_eq!((all_of(&store), index_entries(&layout, &store)), (2, 2));
        assert_eq!(layout.arrays(&store, "class=od"), 2);
        assert_eq!(bytes_of(&store, &steps("0/6/12")), [&b"again"[..], b"12"]);
        assert!(verify(&store, true).is_sound());
        assert_eq!(purge(true).replaced_fields, 0);
    }
}

/// The steps on the axes of a store.
fn axis(store: &FieldStore) -> Vec<String> {
    let axes = store.axes(&request("class=od")).unwrap().found;
    axes.into_iter().find(|axis| axis.name == "step").map(|axis| axis.values).unwrap_or_default()
}

#[test]
fn axes_have_the_values_of_the_fields_that_are_there() {
    for (layout, store) in everywhere(filled) {
        let reader = layout.store();
        assert_eq!(axis(&reader), STEPS);
        delete(&store, &steps("6"));
        assert_eq!(axis(&reader), ["0", "12"]);
        let why = reader.explain(&steps("6"));
        assert_eq!(why.as_deref(), Some("step=6 matches nothing: stored is step=0/12"));
        archive(&store, &[(field("18", "t"), b"18"), (field("6", "u"), b"u")]);
        assert_eq!(axis(&reader), ["0", "6", "12", "18"]);
        store.purge(&request(""), true).unwrap();
        delete(&store, &request_like(&field("6", "u"), "step=0/6,param=t/u"));
        assert_eq!(axis(&reader), ["12", "18"]);
        delete(&store, &steps("all"));
        assert!(axis(&reader).is_empty());
        store.wipe(&request("class=od,type=fc"), true).unwrap();
        archive(&store, &[(field("6", "t"), b"again")]);
        assert_eq!(axis(&layout.store()), ["6"]);
    }
}

#[test]
fn a_request_to_delete_names_each_key_of_its_fields() {
    let store = filled(&Layout::memory());
    let refused = |text: &str| {
        let error = store.delete(&request(text), true).unwrap_err();
        assert!(error.is_usage(), "{text}: {error}");
        error.to_string()
    };
    assert!(refused("").contains("a request without keys"));
    assert!(refused("class=od").contains("type"), "{}", refused("class=od"));
    let mut lacks_param = steps("0");
    lacks_param.remove("param");
    assert!(refused(&lacks_param.to_string()).contains("param"));
    assert!(refused(&format!("{},area=1/2/3/4", steps("0"))).contains("area"));
    assert_eq!(listed(&store, "").len(), 4);
    assert_eq!(delete(&store, &steps("all")), 3);
}

#[test]
fn a_step_names_its_range_and_a_wind_component_no_other_field() {
    let store = Layout::memory().store();
    let fields = [field("24", "t"), field("0-24", "t"), field("6", "vo"), field("6", "d")];
    archive(&store, &fields.map(|key| (key, &b"bytes"[..])));
    assert_eq!(bytes_of(&store, &request_like(&field("6", "u"), "")).len(), 2, "read gives these for u");
    assert_eq!(delete(&store, &Request::from(&field("6", "u"))), 0);
    assert_eq!(delete(&store, &Request::from(&field("24", "t"))), 2);
    assert_eq!(listed(&store, "").len(), 2);
}

#[test]
fn a_dataset_that_is_locked_for_wiping_keeps_its_fields() {
    for (layout, store) in everywhere(filled) {
        store.control(&request("class=od"), true, &[Action::Wipe]).unwrap();
        assert_eq!(store.delete(&steps("0"), false).unwrap_err().code(), "locked");
        assert_eq!(store.delete(&steps("0"), true).unwrap_err().code(), "locked");
        store.control(&request("class=od"), false, &[Action::Wipe]).unwrap();
        store.control(&request("class=od"), true, &[Action::List, Action::Archive]).unwrap();
        assert_eq!(delete(&layout.store(), &steps("0")), 1);
        assert!(one(&store, "0").is_none());
    }
}

#[test]
fn a_deletion_beside_a_move_is_refused() {
    let memory = Memory::new();
    let [deleter, mover] = [(); 2].map(|()| ScriptedStore::single(&memory, "memory:source"));
    let target = ScriptedStore::single(&memory, "memory:target");
    fill(&deleter);
    mover.script.before(Moment::Update, "od", || panic!("the mover dies"));
    let (mover, copy) = (mover.store, target.store.clone());
    deleter.before(Moment::Update, move || {
        assert!(dies(|| mover.move_to(&copy, &request("class=od"))));
    });
    let moved = |step| code(&deleter.delete(&steps(step), true).map(drop));
    assert_eq!(moved("0"), "moving", "the move may have copied the field before it was deleted");
    assert!(one(&deleter, "0").is_none());
    assert_eq!((moved("6"), one(&deleter, "6").unwrap()), ("moving", b"6".to_vec()));
    assert_eq!(listed(&target, "class=od").len(), 3);
    unlock(&deleter);
    assert_eq!((moved("6"), listed(&deleter, "class=od").len()), ("ok", 1));
}

/// Deletes step 0 of a new store while `act` runs before a call of the deleter, with another handle and an empty store. Returns the
/// result, what the other store then has of step 0, and whether there was such a call.
fn delete_beside(
    (number, call): (usize, Moment),
    act: impl FnOnce(&FieldStore, &FieldStore) + Send + 'static,
) -> (Result<u64>, Option<Vec<u8>>, bool) {
    let [deleter, other] = scripted("memory:all");
    let target = ScriptedStore::single(&Memory::new(), "memory:target");
    let (beside, copy) = (other.store.clone(), target.store.clone());
    deleter.script.before_nth(number, call, "od", move || act(&beside, &copy));
    let deleted = deleter.delete(&steps("0"), true).map(|report| report.fields());
    let has_acted = deleter.script.forget_waiting() == 0;
    assert!(!has_acted || listed(&other, "class=od").is_empty(), "before {call:?} {number}");
    assert!(verify(&other, true).is_sound(), "before {call:?} {number}");
    (deleted, one(&target, "0"), has_acted)
}

#[test]
fn a_deletion_during_which_a_move_ended_is_an_error() {
    for moved in ["class=od", "class=od,type=fc"] {
        for call in [Moment::Update, Moment::Flush] {
            let (deleted, left, _) = delete_beside((0, call), |mover, target| {
                mover.move_to(target, &request(moved)).unwrap();
            });
            let error = deleted.unwrap_err();
            assert_eq!(error.code(), "conflict", "{moved}, {call:?}");
            assert!(error.to_string().contains("a wipe or a move removed fields"), "{error}");
            // Before the flush the deletion counts, and the move did not list the field. The deleter cannot know.
            assert_eq!(left.is_some(), call == Moment::Update, "{moved}, {call:?}");
        }
    }
}

#[test]
fn a_deletion_after_a_move_or_a_wipe_of_its_dataset_has_nothing_to_delete() {
    for is_move in [false, true] {
        let mut number = 0;
        loop {
            let (deleted, _, has_acted) =
                delete_beside((number, Moment::Look), move |other, target| match is_move {
                    true => drop(other.move_to(target, &request("class=od")).unwrap()),
                    false => drop(other.wipe(&request("class=od"), true).unwrap()),
                });
            assert_eq!(deleted.unwrap(), u64::from(!has_acted), "move: {is_move}, before look {number}");
            if !has_acted {
                break;
            }
            number += 1;
        }
        assert!(number > 0);
    }
}

#[test]
fn a_snapshot_still_shows_fields_that_were_deleted_and_purged() {
    for (layout, store) in where_snapshots_are(filled) {
        store.snapshot(&request(""), "before").unwrap();
        assert_eq!(delete(&store, &steps("0/6/12")), 3);
        store.purge(&request(""), true).unwrap();
        let past = layout.store().at("before").unwrap();
        assert_eq!(bytes_of(&past, &steps("0/6/12")), [&b"0"[..], b"6", b"12"]);
        assert_eq!(past.delete(&steps("0"), true).unwrap_err().code(), "read-only");
        assert!(listed(&store, "class=od").is_empty());
    }
}

#[test]
fn an_overlay_shows_the_field_below_again_once_its_own_is_deleted() {
    for (_layout, store) in everywhere(filled) {
        store.relabel_with(|message, _| Ok(message.to_vec()));
        let dataset =
            |class: &str| format!("class={class},expver=1,stream=oper,date=20240101,time=0").parse().unwrap();
        store.overlay(&dataset("od"), &dataset("rd"), &["class"], true).unwrap();
        let shown = with(&field("0", "t"), "class=rd");
        assert_eq!(store.retrieve_one(&shown).unwrap().unwrap(), b"rd");
        assert_eq!(delete(&store, &Request::from(&shown)), 1);
        assert_eq!(store.retrieve_one(&shown).unwrap().unwrap(), b"0");
        assert_eq!(listed(&store, "class=rd").len(), 3);
        assert_eq!(delete(&store, &Request::from(&shown)), 0, "the field below is another dataset's");
        assert_eq!(listed(&store, "").len(), 6);
    }
}

#[test]
fn a_retrieval_under_way_reads_what_it_has_found() {
    for (layout, store) in everywhere(filled) {
        let reader = layout.store();
        let mut found = reader.inspect(&steps("0/6/12")).unwrap();
        let first = found.next().unwrap().unwrap();
        assert_eq!(delete(&store, &steps("0/6/12")), 3);
        assert_eq!(reader.read(&first.location).unwrap(), b"0");
        assert_eq!(bytes_of(&reader, &steps("0/6/12")), [b""; 0]);
    }
}

#[test]
fn adopted_files_stay_unchanged() {
    for (layout, store) in everywhere(Layout::store) {
        let file = layout.folder.path().join("adopted");
        fs::write(&file, b"adopted").unwrap();
        store.adopt(&field("0", "t"), &file, 0, 7, None).unwrap();
        store.flush().unwrap();
        assert_eq!(store.delete(&steps("0"), true).unwrap().bytes(), 7);
        store.purge(&request(""), true).unwrap();
        assert!(one(&store, "0").is_none());
        assert_eq!(fs::read(&file).unwrap(), b"adopted");
    }
}

/// Two handles on a filled store, in one pool or with catalogue and store in two.
fn scripted(store: &str) -> [ScriptedStore; 2] {
    let memory = Memory::new();
    let handles = [(); 2].map(|()| ScriptedStore::split(&memory, "memory:all", store));
    fill(&handles[1]);
    handles
}

#[test]
fn a_deletion_killed_before_any_call_leaves_each_field_there_or_gone() {
    let moments = [Moment::Look, Moment::Update, Moment::Flush];
    for (pool, call) in ["memory:all", "memory:store"].into_iter().flat_map(|pool| moments.map(|m| (pool, m)))
    {
        let mut killed = 0;
        loop {
            let [deleter, other] = scripted(pool);
            deleter.script.before_nth(killed, call, "od", || panic!("the deleter dies"));
            let is_killed = dies(|| deleter.delete(&steps("0/6"), true));
            let case = format!("{pool}, before {call:?} {killed}");
            assert!(verify(&other, true).is_sound(), "{case}");
            let left = bytes_of(&other, &steps("0/6/12"));
            assert_eq!(left.last().unwrap(), b"12", "{case}");
            assert!(is_killed || left.len() == 1, "{case}");
            other.purge(&request(""), true).unwrap();
            assert_eq!(bytes_of(&other, &steps("0/6/12")), left, "{case}");
            assert_eq!(delete(&other, &steps("0/6")), left.len() as u64 - 1, "{case}");
            assert_eq!(bytes_of(&other, &steps("0/6/12")), [b"12"], "{case}");
            if !is_killed {
                break;
            }
            killed += 1;
        }
        assert!(killed > 0, "{pool}, {call:?}");
    }
}

#[test]
fn a_deletion_that_fails_half_way_says_how_many_fields_are_deleted() {
    let memory = Memory::new();
    let [deleter, other] = [(); 2].map(|()| ScriptedStore::single(&memory, "memory:all"));
    let key = |step: usize| field(&step.to_string(), "t");
    let fields: Vec<_> = (0..5000).map(|step| (key(step), &b"bytes"[..])).collect();
    archive(&other, &fields);
    let fail = |call, succeed: usize| {
        deleter.outcomes(call, (0..succeed).map(|_| None).chain([full()]));
        deleter.delete(&steps("all"), true).unwrap_err()
    };
    let error = fail(Moment::Flush, 0);
    assert!(!error.to_string().contains("already deleted"), "{error}: nothing is sure");
    archive(&other, &fields);
    let error = fail(Moment::Update, 1);
    assert!(error.code() == "no-space" && error.to_string().ends_with("; 4096 fields were already deleted"));
    assert_eq!(listed(&other, "").len(), 5000 - 4096);
    assert_eq!((delete(&deleter, &steps("all")), listed(&other, "").len()), (5000 - 4096, 0));
}

#[test]
fn a_field_archived_again_while_a_purge_forgets_its_deletion_stays() {
    for pool in ["memory:all", "memory:store"] {
        let [purger, other] = scripted(pool);
        delete(&other, &steps("0/6"));
        purger.meanwhile(Moment::Commit, &other, |beside| {
            archive(beside, &[(field("0", "t"), b"again")]);
        });
        purger.purge(&request("class=od"), true).unwrap();
        assert_eq!(bytes_of(&other, &steps("0/6/12")), [&b"again"[..], b"12"], "{pool}");
        assert_eq!(all_of(&other), 2, "{pool}");
        assert!(verify(&other, true).is_sound());
    }
}

#[test]
fn a_repeated_flush_does_not_bring_a_deleted_field_back() {
    let cases = ["memory:all", "memory:store"].into_iter().flat_map(|pool| [(pool, false), (pool, true)]);
    for (pool, is_purged) in cases {
        let [writer, other] = scripted(pool);
        writer.archive(&field("18", "t"), b"18").unwrap();
        // The last flush fails, when the entries are there.
        let before = if pool == "memory:all" { 0 } else { 1 };
        let outcomes = (0..before).map(|_| None).chain([full()]);
        writer.outcomes(Moment::Flush, outcomes);
        assert_eq!(code(&writer.flush()), "no-space");
        assert_eq!(one(&other, "18").unwrap(), b"18", "{pool}");
        assert_eq!(delete(&other, &steps("18")), 1);
        if is_purged {
            other.purge(&request(""), true).unwrap();
        }
        assert_eq!(code(&writer.flush()), "ok");
        assert!(one(&other, "18").is_none(), "{pool}, purged: {is_purged}");
    }
}
