//! Flushes while another handle moves or wipes the same fields.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread,
};

use isotach_fields::{Action, Error, FieldStore, Result};
use isotach_object::{Error as ObjectError, memory::Memory};

use crate::{
    faulty::{Moment, ScriptedStore, dies, full},
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
    archive(&writer, &[(field("0", "t"), b"zero")]);
    (writer, other, target)
}

pub(crate) fn code(result: &Result<()>) -> &'static str {
    result.as_ref().map_or_else(Error::code, |()| "ok")
}

/// Takes the lock of a move off.
pub(crate) fn unlock(store: &FieldStore) {
    store.control(&request("class=od"), false, &[Action::Archive]).unwrap();
}

fn assert_wiped(result: Result<()>, fields: u64) {
    match result.unwrap_err() {
        Error::Wiped { fields: found, .. } => assert_eq!(found, fields),
        error => panic!("{error:?}"),
    }
}

/// The bytes of step 6.
fn six(player: &ScriptedStore) -> Option<Vec<u8>> {
    player.retrieve_one(&field("6", "t")).unwrap().map(Vec::from)
}

/// That whatever is listed can be read.
pub(crate) fn assert_all_readable(player: &ScriptedStore) {
    let listing = player.list(&request(""), isotach_fields::ListOptions { duplicates: true }).unwrap();
    for listed in listing {
        let listed = listed.unwrap();
        let bytes = player.read(listed.location()).unwrap();
        assert_eq!(bytes.len() as u64, listed.location().length, "{}", listed.key());
    }
}

#[test]
fn a_flush_beside_a_move_is_refused_and_goes_through_once_the_move_has_failed() {
    let (writer, mover, target) = three_handles();
    writer.archive(&field("6", "t"), b"six").unwrap();
    mover.meanwhile(Moment::Update, &writer, |beside| {
        assert_eq!(code(&beside.flush()), "moving");
        assert!(beside.is_dirty());
        assert_eq!(listed(beside, "").len(), 1, "a flush that finds the mark at once puts nothing");
    });
    // What the root refuses is to forget the dataset, after it took the move's mark.
    mover.outcomes(Moment::Commit, [None, Some(ObjectError::corrupt("the root", "a test"))]);
    let moved = mover.move_to(&target, &request("class=od"));
    assert_eq!(moved.unwrap_err().code(), "corrupt");
    writer.flush().unwrap();
    assert_eq!(six(&mover).unwrap(), b"six");
    assert_eq!(listed(&mover, "").len(), 2);
}

#[test]
fn a_flush_refused_by_a_move_reports_what_moved_and_publishes_the_rest() {
    for (moved, call) in [("class=od", Moment::Update), ("class=od,type=fc", Moment::Commit)] {
        let (writer, mover, target) = three_handles();
        writer.archive(&field("6", "t"), b"six").unwrap();
        mover.meanwhile(call, &writer, |beside| assert_eq!(code(&beside.flush()), "moving"));
        mover.move_to(&target, &request(moved)).unwrap();
        assert_eq!(listed(&target, "").len(), 1);
        match call {
            Moment::Update => assert_wiped(writer.flush(), 1),
            _ => {
                writer.flush().unwrap();
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
    writer.archive(&field("6", "t"), b"six").unwrap();
    let (has_stopped, go) = stop_before(writer, Moment::Update);
    let store = writer.store.clone();
    let flush = thread::spawn(move || store.flush());
    has_stopped.recv().unwrap();
    let (send, result) = channel();
    at.before(call, move || {
        drop(go);
        send.send(flush.join().unwrap()).unwrap();
    });
    let report = mover.move_to(target, &request(moved)).unwrap();
    (result.recv().unwrap(), report.fields)
}

#[test]
fn entries_put_between_the_comparison_and_the_wipe_of_a_move_are_no_success() {
    let set = three_handles();
    let (flushed, moved) = put_during_move(&set, "class=od", &set.1, Moment::Update);
    assert_eq!((code(&flushed), moved), ("moving", 1));
    assert_wiped(set.0.flush(), 1);
    assert!(six(&set.1).is_none() && six(&set.2).is_none());
}

#[test]
fn entries_put_while_a_collocation_is_moved_are_put_again() {
    let set = three_handles();
    let (flushed, moved) = put_during_move(&set, "class=od,type=fc", &set.1, Moment::Commit);
    assert_eq!((code(&flushed), moved), ("moving", 1));
    assert!(six(&set.1).is_none());
    set.0.flush().unwrap();
    assert_eq!(six(&set.1).unwrap(), b"six");
    assert_eq!(listed(&set.1, "").len(), 1);
}

#[test]
fn what_a_refused_flush_puts_during_a_copy_is_moved_too() {
    for moved in ["class=od", "class=od,type=fc"] {
        let set = three_handles();
        let (flushed, fields) = put_during_move(&set, moved, &set.2, Moment::Flush);
        assert_eq!((code(&flushed), fields), ("moving", 2));
        assert_eq!(six(&set.2).unwrap(), b"six");
        assert_wiped(set.0.flush(), 1);
        assert!(listed(&set.1, "").is_empty());
    }
}

#[test]
fn a_flush_whose_entries_are_moved_before_its_last_check_reports_them_gone() {
    for moved in ["class=od", "class=od,type=fc"] {
        let (writer, mover, target) = three_handles();
        writer.archive(&field("6", "t"), b"six").unwrap();
        let (from, to) = (mover.store.clone(), target.store.clone());
        writer.before(Moment::Flush, move || {
            assert_eq!(from.move_to(&to, &request(moved)).unwrap().fields, 2);
        });
        assert_wiped(writer.flush(), 1);
        assert_eq!(six(&target).unwrap(), b"six");
        assert!(six(&mover).is_none());
        archive(&writer, &[(field("6", "t"), b"again")]);
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
        mover.move_to(&target, &request("class=od")).unwrap();
        assert_eq!(listed(&mover, "").len(), 1, "{call:?}");
        assert_eq!(six(&mover).unwrap(), b"six");
        archive(&writer, &[(field("12", "t"), b"no lock is left")]);
    }
}

#[test]
fn a_move_whose_dataset_is_unlocked_fails_before_it_wipes() {
    for (moved, call) in [("class=od", Moment::Update), ("class=od,type=fc", Moment::Flush)] {
        let (writer, mover, target) = three_handles();
        let at = if call == Moment::Update { &mover } else { &target };
        at.meanwhile(call, &writer, |store| {
            unlock(store);
            archive(store, &[(field("6", "t"), b"six")]);
        });
        assert_eq!(mover.move_to(&target, &request(moved)).unwrap_err().code(), "conflict");
        assert_eq!(listed(&mover, "").len(), 2, "{moved}");
        archive(&writer, &[(field("12", "t"), b"twelve")]);
    }
}

#[test]
fn of_two_moves_the_later_takes_over_unless_the_earlier_wipes_already() {
    let memory = Memory::new();
    let players = ["memory:source", "memory:source", "memory:target", "memory:target"];
    let [other, mover, target, to] = players.map(|pool| ScriptedStore::single(&memory, pool));
    archive(&other, &[(field("0", "t"), b"zero"), (with(&field("0", "t"), "type=an"), b"stays")]);
    let (later, late) = (other.store.clone(), to.store.clone());
    target.before(Moment::Flush, move || {
        assert_eq!(later.move_to(&late, &request("class=od,type=fc")).unwrap().fields, 1);
        // The mark of the later one is off by now. What comes here must not go with the earlier one.
        archive(&later, &[(field("6", "t"), b"six")]);
    });
    let moved = mover.move_to(&target, &request("class=od,type=fc"));
    assert_eq!(moved.unwrap_err().code(), "conflict");
    assert_eq!(six(&other).unwrap(), b"six");

    mover.before(Moment::Commit, move || {
        let moved = other.move_to(&to, &request("class=od,type=an"));
        assert_eq!(moved.unwrap_err().code(), "moving");
    });
    mover.move_to(&target, &request("class=od,type=fc")).unwrap();
    assert_eq!((listed(&mover, "").len(), listed(&target, "").len()), (1, 2));
}

#[test]
fn a_maker_that_looks_after_a_move_gave_up_its_dataset_leaves_it_there() {
    let memory = Memory::new();
    let players = ["memory:source", "memory:source", "memory:source", "memory:target"];
    let [maker, writer, mover, target] = players.map(|pool| ScriptedStore::single(&memory, pool));
    let (wrote, unlocked) = (writer.store.clone(), writer.store.clone());
    mover.before(Moment::Flush, move || {
        unlock(&unlocked);
    });
    let act = move || {
        archive(&wrote, &[(field("6", "t"), b"six")]);
        assert_eq!(mover.move_to(&target, &request("class=od")).unwrap_err().code(), "conflict");
    };
    // The entry can be seen, and the maker has yet to look at the marks.
    maker.script.before(Moment::Flush, "root", act);
    archive(&maker, &[(field("0", "t"), b"zero")]);
    assert_eq!(listed(&writer, "").len(), 2);
    assert_eq!(six(&writer).unwrap(), b"six");
}

#[test]
fn a_collocation_whose_dataset_goes_while_it_is_wiped_is_wiped() {
    for (call, label) in [(Moment::Flush, "root"), (Moment::Commit, "od"), (Moment::Update, "od")] {
        let (_, wiper, _) = three_handles();
        let other = wiper.store.clone();
        wiper.script.before(call, label, move || wipe(&other, "class=od"));
        wipe(&wiper, "class=od,type=fc");
        assert!(listed(&wiper, "").is_empty());
    }
}

/// A flush of step 6, of another collocation and of a field of the target's store that fails once all of it can be
/// seen.
fn failed_flush((writer, _, target): &(ScriptedStore, ScriptedStore, ScriptedStore)) {
    archive(target, &[(field("0", "t"), b"elsewhere")]);
    let elsewhere = target.locate(&field("0", "t")).unwrap().unwrap().location;
    writer.archive(&field("6", "t"), b"six").unwrap();
    writer.archive(&with(&field("6", "t"), "type=an"), b"").unwrap();
    writer.index(&field("12", "t"), &elsewhere).unwrap();
    let space = &writer.spaces()[0];
    // The catalogue's container is flushed after the store's.
    let before = usize::from(space.catalogue != space.store);
    writer.outcomes(Moment::Flush, (0..before).map(|_| None).chain([full()]));
    assert_eq!(code(&writer.flush()), "no-space");
}

#[test]
fn a_flush_repeated_after_a_wipe_of_its_collocation_names_no_lost_array() {
    let set = three_handles();
    failed_flush(&set);
    wipe(&set.1, "class=od,type=fc");
    assert_wiped(set.0.flush(), 1);
    let expected = [listed(&set.1, "step=12"), listed(&set.1, "type=an")].concat();
    assert_eq!(expected.len(), 2, "an adopted field stays, and one without bytes in another collocation");
    assert_eq!(listed(&set.1, "").len(), 2);
    assert_all_readable(&set.1);
    set.0.flush().unwrap();
    archive(&set.0, &[(field("6", "t"), b"again")]);
    assert_eq!(six(&set.1).unwrap(), b"again");
}

#[test]
fn a_flush_that_is_repeated_while_its_collocation_is_wiped_brings_nothing_back() {
    let set = three_handles();
    failed_flush(&set);
    set.0.meanwhile(Moment::Update, &set.1, |wiper| wipe(wiper, "class=od,type=fc"));
    // The field with bytes and the adopted one.
    assert_wiped(set.0.flush(), 2);
    assert_eq!(listed(&set.1, ""), listed(&set.1, "type=an"));
    assert_eq!(listed(&set.1, "").len(), 1);
    assert_all_readable(&set.1);
}

#[test]
fn a_wiped_collocation_is_declared_again_before_the_fields_that_need_it() {
    let (writer, wiper, _) = three_handles();
    wipe(&wiper, "class=od,type=fc");
    writer.archive(&field("0", "t"), b"again").unwrap();
    for _ in 0..2 {
        writer.meanwhile(Moment::Update, &wiper, |other| {
            let report = verify(other, false);
            assert!(report.is_sound(), "{:?}", report.parts);
        });
    }
    writer.flush().unwrap();
    assert_eq!((zero(&wiper), writer.script.forget_waiting()), (b"again".to_vec(), 0));
}

#[test]
fn the_next_flush_puts_an_unsent_field_though_its_collocation_is_wiped() {
    let (writer, wiper, _) = three_handles();
    writer.archive(&field("6", "t"), b"six").unwrap();
    writer.outcomes(Moment::Update, [full()]);
    assert_eq!(code(&writer.flush()), "no-space");
    assert!(six(&wiper).is_none());
    writer.meanwhile(Moment::Update, &wiper, |other| wipe(other, "class=od,type=fc"));
    writer.flush().unwrap();
    assert_eq!((six(&wiper).unwrap(), listed(&wiper, "").len()), (b"six".to_vec(), 1));
}

/// The bytes of step 0.
fn zero(player: &ScriptedStore) -> Vec<u8> {
    player.retrieve_one(&field("0", "t")).unwrap().unwrap().into_vec()
}

/// A writer whose flush of step 0 has failed once it could be seen, so that what was there before is replaced.
fn half_flushed() -> (ScriptedStore, ScriptedStore, ScriptedStore) {
    let set = three_handles();
    set.0.archive(&field("0", "t"), b"one").unwrap();
    set.0.outcomes(Moment::Flush, [full()]);
    assert_eq!(code(&set.0.flush()), "no-space");
    assert_eq!(zero(&set.1), b"one");
    set
}

fn wipe(store: &FieldStore, what: &str) {
    store.wipe(&request(what), true).unwrap();
}

fn purge(store: &FieldStore) -> u64 {
    store.purge(&request(""), true).unwrap().found[0].replaced_fields
}

#[test]
fn a_flush_repeated_beside_a_purge_of_what_it_replaced_keeps_its_field() {
    for call in [None, Some(Moment::Update), Some(Moment::Flush)] {
        let (writer, purger, _) = half_flushed();
        // So that there is something to put.
        writer.archive(&field("6", "t"), b"six").unwrap();
        match call {
            None => assert_eq!(purge(&purger), 1),
            Some(call) => writer.meanwhile(call, &purger, |store| assert_eq!(purge(store), 1)),
        }
        writer.flush().unwrap();
        assert_eq!((zero(&purger), six(&purger).unwrap()), (b"one".to_vec(), b"six".to_vec()), "{call:?}");
        assert_all_readable(&purger);
        assert_eq!(purge(&purger), 0);
    }
}

#[test]
fn a_flush_repeated_after_a_replacement_and_a_purge_keeps_the_newer_field() {
    let (writer, purger, _) = half_flushed();
    archive(&purger, &[(field("0", "t"), b"two")]);
    assert_eq!(purge(&purger), 2);
    writer.flush().unwrap();
    assert_eq!(zero(&purger), b"two");
    assert_all_readable(&purger);
}

#[test]
fn a_killed_purge_takes_nothing_from_flushes_that_are_repeated() {
    let (writer, purger, _) = half_flushed();
    purger.before(Moment::Update, || panic!("the purger dies"));
    assert!(dies(|| purge(&purger)));
    writer.flush().unwrap();
    writer.archive(&field("6", "t"), b"six").unwrap();
    for _ in 0..2 {
        writer.outcomes(Moment::Update, [full()]);
        assert_eq!(code(&writer.flush()), "no-space");
    }
    writer.flush().unwrap();
    assert_eq!((zero(&purger), six(&purger).unwrap()), (b"one".to_vec(), b"six".to_vec()));
    assert_eq!(purge(&purger), 1);
}

#[test]
fn a_flush_repeated_between_the_steps_of_a_wipe_names_no_doomed_array() {
    // The wipe commits in the catalogue, and then in the store.
    for step in [0, 1] {
        let set = three_handles_split();
        failed_flush(&set);
        (0..step).for_each(|_| set.1.before(Moment::Commit, || ()));
        set.1.meanwhile(Moment::Commit, &set.0, move |store| match step {
            // What the failed flush put goes with the wipe.
            0 => store.flush().unwrap(),
            _ => assert_wiped(store.flush(), 1),
        });
        wipe(&set.1, "class=od,type=fc");
        assert_eq!(set.1.script.forget_waiting(), 0);
        assert!(six(&set.1).is_none());
        assert_eq!(listed(&set.1, "type=an").len(), 1, "the other collocation's stays");
        assert_all_readable(&set.1);
    }
}

#[test]
fn a_flush_beside_the_second_of_two_wipes_is_listed_though_the_first_has_ended() {
    let (writer, wiper, _) = three_handles_split();
    let analysis = with(&field("0", "t"), "type=an");
    archive(&writer, &[(analysis, b"an")]);
    wiper.meanwhile(Moment::Commit, &writer, |store| {
        wipe(store, "class=od,type=an");
        archive(store, &[(field("6", "t"), b"before the wipe's transaction")]);
    });
    let reader = wiper.store.clone();
    wiper.meanwhile(Moment::Commit, &writer, move |store| {
        archive(store, &[(field("12", "t"), b"after it")]);
        assert_eq!(listed(&reader, "type=fc").len(), 1);
    });
    wipe(&wiper, "class=od,type=fc");
    assert_eq!(listed(&wiper, "").len(), 1);
    assert_all_readable(&wiper);
}

#[test]
fn a_wipe_that_failed_midway_leaves_nothing_under_way() {
    let (writer, wiper, _) = three_handles_split();
    // The commits of the wipe: its count, the collocation, the arrays.
    wiper.outcomes(Moment::Commit, [None, None, full()]);
    let wiped = wiper.wipe(&request("class=od,type=fc"), true).map(drop);
    assert_eq!(code(&wiped), "no-space");
    writer.archive(&field("6", "t"), b"six").unwrap();
    writer.outcomes(Moment::Flush, [full()]);
    assert_eq!(code(&writer.flush()), "no-space");
    // With a wipe under way its field would be given up.
    writer.flush().unwrap();
    assert_eq!(six(&wiper).unwrap(), b"six");
}
