//! Flushes while another handle moves or wipes the same fields.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use isotach_fields::{Action, Error, FieldStore, Result};
use isotach_object::{Error as ObjectError, memory::Memory};

use crate::{
    faulty::{Moment, ScriptedStore, full},
    layouts::{archive, field, listed, request, verify, with},
};

/// A writer that has flushed step 0, another handle on the same store, and another store.
pub(crate) fn three_handles() -> (ScriptedStore, ScriptedStore, ScriptedStore) {
    handles_in("memory:source", "memory:source")
}

/// The same, with catalogue and store in two pools.
fn three_handles_split() -> (ScriptedStore, ScriptedStore, ScriptedStore) {
    handles_in("memory:catalogue", "memory:source")
}

fn handles_in(catalogue: &str, store: &str) -> (ScriptedStore, ScriptedStore, ScriptedStore) {
    let memory = Memory::new();
    let [writer, other] = [(); 2].map(|()| ScriptedStore::split(&memory, catalogue, store));
    let target = ScriptedStore::single(&memory, "memory:target");
    archive(&writer.store, &[(field("0", "t"), b"zero")]);
    (writer, other, target)
}

pub(crate) fn code(result: &Result<()>) -> &'static str {
    result.as_ref().map_or_else(Error::code, |()| "ok")
}

fn assert_wiped(result: Result<()>, fields: u64) {
    match result.unwrap_err() {
        Error::Wiped { fields: found, .. } => assert_eq!(found, fields),
        error => panic!("{error:?}"),
    }
}

/// The bytes of step 6.
fn six(player: &ScriptedStore) -> Option<Vec<u8>> {
    player.store.retrieve_one(&field("6", "t")).unwrap().map(Vec::from)
}

/// That whatever is listed can be read.
pub(crate) fn assert_all_readable(player: &ScriptedStore) {
    let listing = player.store.list(&request(""), isotach_fields::ListOptions { duplicates: true }).unwrap();
    for listed in listing {
        let listed = listed.unwrap();
        let bytes = player.store.read(listed.location()).unwrap();
        assert_eq!(bytes.len() as u64, listed.location().length, "{}", listed.key());
    }
}

#[test]
fn a_flush_beside_a_move_is_refused_and_goes_through_once_the_move_has_failed() {
    let (writer, mover, target) = three_handles();
    writer.store.archive(&field("6", "t"), b"six").unwrap();
    let beside = writer.store.clone();
    mover.before(Moment::Update, move || {
        assert_eq!(code(&beside.flush()), "moving");
        assert!(beside.is_dirty());
        assert_eq!(listed(&beside, "").len(), 1, "a flush that finds the mark at once puts nothing");
    });
    // What the root refuses is to forget the dataset, after it took the move's mark.
    let refused = ObjectError::corrupt("the root", "a test");
    mover.script.lock().unwrap().commits.extend([None, Some(refused)]);
    let moved = mover.store.move_to(&target.store, &request("class=od"));
    assert_eq!(moved.unwrap_err().code(), "corrupt");
    writer.store.flush().unwrap();
    assert_eq!(six(&mover).unwrap(), b"six");
    assert_eq!(listed(&mover.store, "").len(), 2);
}

#[test]
fn a_flush_refused_by_a_move_reports_what_moved_and_publishes_the_rest() {
    for (moved, call) in [("class=od", Moment::Update), ("class=od,type=fc", Moment::Commit)] {
        let (writer, mover, target) = three_handles();
        writer.store.archive(&field("6", "t"), b"six").unwrap();
        let beside = writer.store.clone();
        mover.before(call, move || assert_eq!(code(&beside.flush()), "moving"));
        mover.store.move_to(&target.store, &request(moved)).unwrap();
        assert_eq!(listed(&target.store, "").len(), 1);
        match call {
            Moment::Update => assert_wiped(writer.store.flush(), 1),
            _ => {
                writer.store.flush().unwrap();
                assert_eq!(six(&mover).unwrap(), b"six");
            }
        }
    }
}

/// Stops a handle before a call until the sender is used or dropped; the receiver tells that it has stopped.
fn stop_before(player: &ScriptedStore, call: Moment) -> (Receiver<()>, Sender<()>) {
    let ((stopped, has_stopped), (go, may_go)) = (channel(), channel::<()>());
    player.before(call, move || {
        stopped.send(()).unwrap();
        may_go.recv().unwrap_or_default();
    });
    (has_stopped, go)
}

/// Moves while a flush of step 6 has checked for locks and not put its entries yet. The entries are put at `call` of
/// the handle `at`. Returns the result of the flush, and the number of moved fields.
fn put_during_move(
    (writer, mover, target): &(ScriptedStore, ScriptedStore, ScriptedStore),
    moved: &str,
    at: &ScriptedStore,
    call: Moment,
) -> (Result<()>, u64) {
    writer.store.archive(&field("6", "t"), b"six").unwrap();
    let (has_stopped, go) = stop_before(writer, Moment::Update);
    let store = writer.store.clone();
    let flush = thread::spawn(move || store.flush());
    has_stopped.recv().unwrap();
    let (send, result) = channel();
    at.before(call, move || {
        drop(go);
        send.send(flush.join().unwrap()).unwrap();
    });
    let report = mover.store.move_to(&target.store, &request(moved)).unwrap();
    (result.recv().unwrap(), report.fields)
}

#[test]
fn entries_put_between_the_comparison_and_the_wipe_of_a_move_are_no_success() {
    let set = three_handles();
    let (flushed, moved) = put_during_move(&set, "class=od", &set.1, Moment::Update);
    assert_eq!((code(&flushed), moved), ("moving", 1));
    assert_wiped(set.0.store.flush(), 1);
    assert!(six(&set.1).is_none() && six(&set.2).is_none());
}

#[test]
fn entries_put_while_a_collocation_is_moved_are_put_again() {
    let set = three_handles();
    let (flushed, moved) = put_during_move(&set, "class=od,type=fc", &set.1, Moment::Commit);
    assert_eq!((code(&flushed), moved), ("moving", 1));
    assert!(six(&set.1).is_none());
    set.0.store.flush().unwrap();
    assert_eq!(six(&set.1).unwrap(), b"six");
    assert_eq!(listed(&set.1.store, "").len(), 1);
}

#[test]
fn what_a_refused_flush_puts_during_a_copy_is_moved_too() {
    for moved in ["class=od", "class=od,type=fc"] {
        let set = three_handles();
        let (flushed, fields) = put_during_move(&set, moved, &set.2, Moment::Flush);
        assert_eq!((code(&flushed), fields), ("moving", 2));
        assert_eq!(six(&set.2).unwrap(), b"six");
        assert_wiped(set.0.store.flush(), 1);
        assert!(listed(&set.1.store, "").is_empty());
    }
}

#[test]
fn a_flush_whose_entries_are_moved_before_its_last_check_reports_them_gone() {
    for moved in ["class=od", "class=od,type=fc"] {
        let (writer, mover, target) = three_handles();
        writer.store.archive(&field("6", "t"), b"six").unwrap();
        let (from, to) = (mover.store.clone(), target.store.clone());
        writer.before(Moment::Flush, move || {
            assert_eq!(from.move_to(&to, &request(moved)).unwrap().fields, 2);
        });
        assert_wiped(writer.store.flush(), 1);
        assert_eq!(six(&target).unwrap(), b"six");
        assert!(six(&mover).is_none());
        archive(&writer.store, &[(field("6", "t"), b"again")]);
        assert_eq!(six(&mover).unwrap(), b"again");
    }
}

#[test]
fn a_dataset_that_is_made_again_beside_a_move_stays() {
    // After the move has removed it, and when someone else wiped it first.
    for (of_target, call) in [(false, Moment::Destroy), (true, Moment::Flush)] {
        let (writer, mover, target) = three_handles();
        let (store, other) = (writer.store.clone(), mover.store.clone());
        let at = if of_target { &target } else { &mover };
        at.before(call, move || {
            if of_target {
                other.wipe(&request("class=od"), true).unwrap();
            }
            archive(&store, &[(field("6", "t"), b"six")]);
        });
        mover.store.move_to(&target.store, &request("class=od")).unwrap();
        assert_eq!(listed(&mover.store, "").len(), 1, "{call:?}");
        assert_eq!(six(&mover).unwrap(), b"six");
        archive(&writer.store, &[(field("12", "t"), b"no lock is left")]);
    }
}

#[test]
fn a_move_whose_dataset_is_unlocked_fails_before_it_wipes() {
    for (moved, call) in [("class=od", Moment::Update), ("class=od,type=fc", Moment::Flush)] {
        let (writer, mover, target) = three_handles();
        let at = if call == Moment::Update { &mover } else { &target };
        let store = writer.store.clone();
        at.before(call, move || {
            store.control(&request("class=od"), false, &[Action::Archive]).unwrap();
            archive(&store, &[(field("6", "t"), b"six")]);
        });
        assert_eq!(mover.store.move_to(&target.store, &request(moved)).unwrap_err().code(), "conflict");
        assert_eq!(listed(&mover.store, "").len(), 2, "{moved}");
        archive(&writer.store, &[(field("12", "t"), b"twelve")]);
    }
}

#[test]
fn of_two_moves_the_later_takes_over_unless_the_earlier_wipes_already() {
    let memory = Memory::new();
    let players = ["memory:source", "memory:source", "memory:target", "memory:target"];
    let [other, mover, target, to] = players.map(|pool| ScriptedStore::single(&memory, pool));
    archive(&other.store, &[(field("0", "t"), b"zero"), (with(&field("0", "t"), "type=an"), b"stays")]);
    let (later, late) = (other.store.clone(), to.store.clone());
    target.before(Moment::Flush, move || {
        assert_eq!(later.move_to(&late, &request("class=od,type=fc")).unwrap().fields, 1);
        // The mark of the later one is off by now. What comes here must not go with the earlier one.
        archive(&later, &[(field("6", "t"), b"six")]);
    });
    let moved = mover.store.move_to(&target.store, &request("class=od,type=fc"));
    assert_eq!(moved.unwrap_err().code(), "conflict");
    assert_eq!(six(&other).unwrap(), b"six");

    mover.before(Moment::Commit, move || {
        assert_eq!(
            other.store.move_to(&to.store, &request("class=od,type=an")).unwrap_err().code(),
            "moving"
        );
    });
    mover.store.move_to(&target.store, &request("class=od,type=fc")).unwrap();
    assert_eq!((listed(&mover.store, "").len(), listed(&target.store, "").len()), (1, 2));
}

#[test]
fn a_maker_that_looks_after_a_move_gave_up_its_dataset_leaves_it_there() {
    let memory = Memory::new();
    let players = ["memory:source", "memory:source", "memory:source", "memory:target"];
    let [maker, writer, mover, target] = players.map(|pool| ScriptedStore::single(&memory, pool));
    let (wrote, unlocked) = (writer.store.clone(), writer.store.clone());
    mover.before(Moment::Flush, move || {
        unlocked.control(&request("class=od"), false, &[Action::Archive]).unwrap();
    });
    let act = move || {
        archive(&wrote, &[(field("6", "t"), b"six")]);
        assert_eq!(mover.store.move_to(&target.store, &request("class=od")).unwrap_err().code(), "conflict");
    };
    // The entry can be seen, and the maker has yet to look at the marks.
    maker.script.lock().unwrap().before(Moment::Flush, "root", act);
    archive(&maker.store, &[(field("0", "t"), b"zero")]);
    assert_eq!(listed(&writer.store, "").len(), 2);
    assert_eq!(six(&writer).unwrap(), b"six");
}

#[test]
fn a_collocation_whose_dataset_goes_while_it_is_wiped_is_wiped() {
    for (call, label) in [(Moment::Flush, "root"), (Moment::Commit, "od"), (Moment::Update, "od")] {
        let (_, wiper, _) = three_handles();
        let other = wiper.store.clone();
        let act = move || drop(other.wipe(&request("class=od"), true).unwrap());
        wiper.script.lock().unwrap().before(call, label, act);
        wiper.store.wipe(&request("class=od,type=fc"), true).unwrap();
        assert!(listed(&wiper.store, "").is_empty());
    }
}

/// A flush of step 6, of another collocation and of a field of the target's store that fails once all of it can be
/// seen.
fn failed_flush((writer, _, target): &(ScriptedStore, ScriptedStore, ScriptedStore)) {
    archive(&target.store, &[(field("0", "t"), b"elsewhere")]);
    let elsewhere = target.store.locate(&field("0", "t")).unwrap().unwrap().location;
    writer.store.archive(&field("6", "t"), b"six").unwrap();
    writer.store.archive(&with(&field("6", "t"), "type=an"), b"").unwrap();
    writer.store.index(&field("12", "t"), &elsewhere).unwrap();
    let space = &writer.store.spaces()[0];
    // The catalogue's container is flushed after the store's.
    let before = usize::from(space.catalogue != space.store);
    writer.script.lock().unwrap().flushes.extend((0..before).map(|_| None).chain([full()]));
    assert_eq!(code(&writer.store.flush()), "no-space");
}

#[test]
fn a_flush_repeated_after_a_wipe_of_its_collocation_names_no_lost_array() {
    let set = three_handles();
    failed_flush(&set);
    set.1.store.wipe(&request("class=od,type=fc"), true).unwrap();
    assert_wiped(set.0.store.flush(), 1);
    let expected = [listed(&set.1.store, "step=12"), listed(&set.1.store, "type=an")].concat();
    assert_eq!(expected.len(), 2, "an adopted field stays, and one without bytes in another collocation");
    assert_eq!(listed(&set.1.store, "").len(), 2);
    assert_all_readable(&set.1);
    set.0.store.flush().unwrap();
    archive(&set.0.store, &[(field("6", "t"), b"again")]);
    assert_eq!(six(&set.1).unwrap(), b"again");
}

#[test]
fn a_flush_that_is_repeated_while_its_collocation_is_wiped_brings_nothing_back() {
    let set = three_handles();
    failed_flush(&set);
    let wiper = set.1.store.clone();
    set.0.before(Moment::Update, move || {
        wiper.wipe(&request("class=od,type=fc"), true).unwrap();
    });
    // The field with bytes and the adopted one.
    assert_wiped(set.0.store.flush(), 2);
    assert_eq!(listed(&set.1.store, ""), listed(&set.1.store, "type=an"));
    assert_eq!(listed(&set.1.store, "").len(), 1);
    assert_all_readable(&set.1);
}

#[test]
fn a_wiped_collocation_is_declared_again_before_the_fields_that_need_it() {
    let (writer, wiper, _) = three_handles();
    wiper.store.wipe(&request("class=od,type=fc"), true).unwrap();
    writer.store.archive(&field("0", "t"), b"again").unwrap();
    let (other, looked) = (wiper.store.clone(), Arc::new(Mutex::new(0)));
    for _ in 0..2 {
        let (other, looked) = (other.clone(), Arc::clone(&looked));
        writer.before(Moment::Update, move || {
            let report = verify(&other, false);
            assert!(report.is_sound(), "{:?}", report.parts);
            *looked.lock().unwrap() += 1;
        });
    }
    writer.store.flush().unwrap();
    assert_eq!((zero(&wiper), *looked.lock().unwrap()), (b"again".to_vec(), 2));
}

#[test]
fn the_next_flush_puts_an_unsent_field_though_its_collocation_is_wiped() {
    let (writer, wiper, _) = three_handles();
    writer.store.archive(&field("6", "t"), b"six").unwrap();
    writer.script.lock().unwrap().updates.push_back(full());
    assert_eq!(code(&writer.store.flush()), "no-space");
    assert!(six(&wiper).is_none());
    let other = wiper.store.clone();
    writer.before(Moment::Update, move || drop(other.wipe(&request("class=od,type=fc"), true).unwrap()));
    writer.store.flush().unwrap();
    assert_eq!((six(&wiper).unwrap(), listed(&wiper.store, "").len()), (b"six".to_vec(), 1));
}

/// The bytes of step 0.
fn zero(player: &ScriptedStore) -> Vec<u8> {
    player.store.retrieve_one(&field("0", "t")).unwrap().unwrap().into_vec()
}

/// A writer whose flush of step 0 has failed once it could be seen, so that what was there before is replaced.
fn half_flushed() -> (ScriptedStore, ScriptedStore, ScriptedStore) {
    let set = three_handles();
    set.0.store.archive(&field("0", "t"), b"one").unwrap();
    set.0.script.lock().unwrap().flushes.push_back(full());
    assert_eq!(code(&set.0.store.flush()), "no-space");
    assert_eq!(zero(&set.1), b"one");
    set
}

fn purge(store: &FieldStore) -> u64 {
    store.purge(&request(""), true).unwrap().found[0].replaced_fields
}

#[test]
fn a_flush_repeated_beside_a_purge_of_what_it_replaced_keeps_its_field() {
    for call in [None, Some(Moment::Update), Some(Moment::Flush)] {
        let (writer, purger, _) = half_flushed();
        // So that there is something to put.
        writer.store.archive(&field("6", "t"), b"six").unwrap();
        match call {
            None => assert_eq!(purge(&purger.store), 1),
            Some(call) => {
                let store = purger.store.clone();
                writer.before(call, move || assert_eq!(purge(&store), 1));
            }
        }
        writer.store.flush().unwrap();
        assert_eq!((zero(&purger), six(&purger).unwrap()), (b"one".to_vec(), b"six".to_vec()), "{call:?}");
        assert_all_readable(&purger);
        assert_eq!(purge(&purger.store), 0);
    }
}

#[test]
fn a_flush_repeated_after_a_replacement_and_a_purge_keeps_the_newer_field() {
    let (writer, purger, _) = half_flushed();
    archive(&purger.store, &[(field("0", "t"), b"two")]);
    assert_eq!(purge(&purger.store), 2);
    writer.store.flush().unwrap();
    assert_eq!(zero(&purger), b"two");
    assert_all_readable(&purger);
}

#[test]
fn a_killed_purge_takes_nothing_from_flushes_that_are_repeated() {
    let (writer, purger, _) = half_flushed();
    purger.before(Moment::Update, || panic!("the purger dies"));
    assert!(catch_unwind(AssertUnwindSafe(|| purge(&purger.store))).is_err());
    writer.store.flush().unwrap();
    writer.store.archive(&field("6", "t"), b"six").unwrap();
    for _ in 0..2 {
        writer.script.lock().unwrap().updates.push_back(full());
        assert_eq!(code(&writer.store.flush()), "no-space");
    }
    writer.store.flush().unwrap();
    assert_eq!((zero(&purger), six(&purger).unwrap()), (b"one".to_vec(), b"six".to_vec()));
    assert_eq!(purge(&purger.store), 1);
}

#[test]
fn a_flush_repeated_between_the_steps_of_a_wipe_names_no_doomed_array() {
    // The wipe commits in the catalogue, and then in the store.
    for step in [0, 1] {
        let set = three_handles_split();
        failed_flush(&set);
        let store = set.0.store.clone();
        (0..step).for_each(|_| set.1.before(Moment::Commit, || ()));
        set.1.before(Moment::Commit, move || match step {
            // What the failed flush put goes with the wipe.
            0 => store.flush().unwrap(),
            _ => assert_wiped(store.flush(), 1),
        });
        set.1.store.wipe(&request("class=od,type=fc"), true).unwrap();
        assert_eq!(set.1.script.lock().unwrap().forget_waiting(), 0);
        assert!(six(&set.1).is_none());
        assert_eq!(listed(&set.1.store, "type=an").len(), 1, "the other collocation's stays");
        assert_all_readable(&set.1);
    }
}

#[test]
fn a_flush_beside_the_second_of_two_wipes_is_listed_though_the_first_has_ended() {
    let (writer, wiper, _) = three_handles_split();
    let analysis = with(&field("0", "t"), "type=an");
    archive(&writer.store, &[(analysis, b"an")]);
    let store = writer.store.clone();
    wiper.before(Moment::Commit, move || {
        store.wipe(&request("class=od,type=an"), true).unwrap();
        archive(&store, &[(field("6", "t"), b"before the wipe's transaction")]);
    });
    let (reader, store) = (wiper.store.clone(), writer.store);
    wiper.before(Moment::Commit, move || {
        archive(&store, &[(field("12", "t"), b"after it")]);
        assert_eq!(listed(&reader, "type=fc").len(), 1);
    });
    wiper.store.wipe(&request("class=od,type=fc"), true).unwrap();
    assert_eq!(listed(&wiper.store, "").len(), 1);
    assert_all_readable(&wiper);
}

#[test]
fn a_wipe_that_failed_midway_leaves_nothing_under_way() {
    let (writer, wiper, _) = three_handles_split();
    // The commits of the wipe: its count, the collocation, the arrays.
    wiper.script.lock().unwrap().commits.extend([None, None, full()]);
    let wiped = wiper.store.wipe(&request("class=od,type=fc"), true).map(drop);
    assert_eq!(code(&wiped), "no-space");
    writer.store.archive(&field("6", "t"), b"six").unwrap();
    writer.script.lock().unwrap().flushes.push_back(full());
    assert_eq!(code(&writer.store.flush()), "no-space");
    // With a wipe under way its field would be given up.
    writer.store.flush().unwrap();
    assert_eq!(six(&wiper).unwrap(), b"six");
}
