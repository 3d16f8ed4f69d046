//! Wipes of collocations that are killed, or ended by a repair while they are still running.

use std::iter::repeat_with;

use isotach_fields::{EndedWipes, FieldStore};
use isotach_object::{Error as ObjectError, memory::Memory};

use crate::{
    faulty::{Moment, ScriptedStore, dies, full},
    layouts::{archive, field, listed, request, verify, with},
    races::{assert_all_readable, code, three_handles, unlock},
};

/// A store with two collocations of two fields each, in one pool or with catalogue and store in two.
struct Store {
    writer: ScriptedStore,
    wiper: ScriptedStore,
    other: ScriptedStore,
}

impl Store {
    fn new(is_apart: bool) -> Self {
        let memory = Memory::new();
        let [writer, wiper, other] = [(); 3].map(|()| match is_apart {
            true => ScriptedStore::split(&memory, "memory:catalogue", "memory:store"),
            false => ScriptedStore::single(&memory, "memory:source"),
        });
        for step in ["0", "3"] {
            archive(&writer, &[(field(step, "t"), b"forecast"), (analysis(step), b"analysis")]);
        }
        Self { writer, wiper, other }
    }

    /// Kills a wipe before its call of this number. False if it makes fewer.
    fn kill_wipe(&self, wiped: &str, (call, label): (Moment, &'static str), number: usize) -> bool {
        self.wiper.script.before_nth(number, call, label, || panic!("the wiper dies"));
        let is_killed = dies(|| self.wiper.wipe(&request(wiped), true));
        self.wiper.script.forget_waiting();
        is_killed
    }

    /// A flush that put nothing and failed.
    fn fail_flush(&self) {
        self.writer.archive(&field("6", "t"), b"six").unwrap();
        self.writer.outcomes(Moment::Update, [full()]);
        assert_eq!(code(&self.writer.flush()), "no-space");
    }

    /// How often the flush of one field flushes the dataset's container.
    fn flushes(&self) -> u64 {
        archive(&self.writer, &[(analysis("9"), b"declares again")]);
        self.writer.script.take_calls();
        archive(&self.writer, &[(analysis("9"), b"once")]);
        self.writer.script.take_calls()["flush"]
    }
}

fn is_moving(store: &FieldStore) -> bool {
    store.status(&request("class=od")).unwrap()[0].locks.is_moving()
}

/// The bytes of step 6.
fn six(store: &FieldStore) -> Option<Vec<u8>> {
    store.retrieve_one(&field("6", "t")).unwrap().map(Vec::from)
}

fn analysis(step: &str) -> isotach_mars::Key {
    with(&field(step, "t"), "type=an")
}

fn wipe(store: &FieldStore) -> isotach_fields::Result<()> {
    store.wipe(&request("class=od,type=fc"), true).map(drop)
}

/// How many wipes the store counts as not ended.
fn unended(store: &FieldStore) -> u16 {
    let report = verify(store, false);
    assert!(report.is_sound(), "{report:?}");
    report.parts.iter().map(|part| part.unended_wipes).sum()
}

/// How many arrays no entry names.
fn unnamed(store: &FieldStore) -> u64 {
    let report = verify(store, false);
    assert!(report.is_sound(), "{report:?}");
    report.parts.iter().filter_map(|part| part.unnamed_fields.as_ref()).map(|unnamed| unnamed.fields).sum()
}

/// Repairs, and returns how many wipes that ended.
fn repair(store: &FieldStore, doit: bool) -> u16 {
    let report = verify(store, false).repair(doit).unwrap();
    assert!(report.repaired.is_empty(), "{report:?}");
    report.ended_wipes.iter().map(|EndedWipes { wipes, .. }| wipes).sum()
}

/// Calls `check` after a kill of a wipe before each of its calls.
fn after_each_kill(is_apart: bool, mut check: impl FnMut(&Store, &str)) {
    let moments = [Moment::Look, Moment::Commit, Moment::Flush, Moment::Update];
    let mut kills = 0;
    for call in moments.iter().flat_map(|call| [(*call, "root"), (*call, "od")]) {
        for number in 0.. {
            let store = Store::new(is_apart);
            store.fail_flush();
            if !store.kill_wipe("class=od,type=fc", call, number) {
                break;
            }
            kills += 1;
            check(&store, &format!("apart: {is_apart}, killed before {call:?} {number}"));
        }
    }
    assert!(kills > 8, "{kills}");
}

#[test]
fn a_killed_wipe_is_reported_and_ended_by_a_repair() {
    for is_apart in [false, true] {
        let mut counted = 0;
        after_each_kill(is_apart, |store, what| {
            let wipes = unended(&store.other);
            counted += wipes;
            assert_eq!(repair(&store.other, false), wipes, "{what}");
            assert_eq!(repair(&store.other, true), wipes, "{what}");
            assert_eq!(unended(&store.other), 0, "{what}");
            store.writer.flush().unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(six(&store.other).unwrap(), b"six", "{what}: no field is dropped");
            let once = if is_apart { 2 } else { 1 };
            assert_eq!(store.flushes(), once, "{what}: a flush publishes once");
            assert_all_readable(&store.other);
        });
        assert!(counted > 0);
    }
}

#[test]
fn a_repeated_flush_drops_no_field_after_a_killed_wipe_of_one_container() {
    after_each_kill(false, |store, what| {
        store.writer.flush().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(six(&store.other).unwrap(), b"six", "{what}");
        assert_all_readable(&store.other);
    });
}

#[test]
fn a_wipe_killed_between_two_collocations_keeps_the_arrays_that_they_share() {
    for is_apart in [false, true] {
        let mut kills = 0;
        for number in 0.. {
            let store = Store::new(is_apart);
            for (from, to) in [(field("0", "t"), analysis("12")), (analysis("0"), field("12", "t"))] {
                let shared = store.writer.locate(&from).unwrap().unwrap().location;
                store.writer.index(&to, &shared).unwrap();
            }
            archive(&store.writer, &[(with(&field("0", "t"), "type=pf"), b"stays")]);
            if !store.kill_wipe("class=od,type=an/fc", (Moment::Commit, "od"), number) {
                assert_eq!(listed(&store.other, "").len(), 1);
                assert_eq!(unnamed(&store.other), 0);
                break;
            }
            kills += 1;
            assert_all_readable(&store.other);
        }
        assert!(kills >= 2, "{kills}");
    }
}

#[test]
fn a_flush_while_a_wipe_reads_the_history_leaves_no_array() {
    for is_apart in [false, true] {
        for number in 0.. {
            let store = Store::new(is_apart);
            let writer = store.writer.store.clone();
            store.wiper.script.before_nth(number, Moment::Listed, "od", move || {
                archive(&writer, &[(field("6", "t"), b"six")]);
            });
            wipe(&store.wiper).unwrap();
            if store.wiper.script.forget_waiting() > 0 {
                assert!(number > 2, "{number}");
                break;
            }
            assert_eq!(unnamed(&store.other), 0, "{is_apart} {number}");
            assert!(listed(&store.other, "type=fc").len() <= 1);
            assert_all_readable(&store.other);
        }
    }
}

#[test]
fn a_running_wipe_that_a_repair_ends_removes_nothing_more() {
    for (is_apart, number) in [(false, 0), (true, 0), (true, 1)] {
        let store = Store::new(is_apart);
        let (repairer, writer) = (store.other.store.clone(), store.writer.store.clone());
        store.wiper.script.before_nth(number, Moment::Commit, "od", move || {
            assert_eq!(repair(&repairer, true), 1);
            archive(&writer, &[(field("6", "t"), b"six")]);
        });
        let wiped = wipe(&store.wiper);
        assert_eq!(code(&wiped), "conflict", "{is_apart} {number}");
        assert!(wiped.unwrap_err().to_string().contains("wipe again"));
        assert_eq!(six(&store.other).unwrap(), b"six", "{is_apart} {number}");
        assert_all_readable(&store.other);
        wipe(&store.wiper).unwrap();
        assert!(listed(&store.other, "type=fc").is_empty());
        assert_eq!(unended(&store.other), 0);
    }
}

#[test]
fn a_wipe_that_a_repair_ended_takes_back_no_count_but_its_own() {
    let Store { writer: dying, wiper, other } = Store::new(false);
    let repairer = other.store.clone();
    // The second commit in the root takes the count back.
    wiper.script.before_nth(1, Moment::Commit, "root", move || {
        assert_eq!(repair(&repairer, true), 1);
        dying.before(Moment::Commit, || panic!("the other wiper dies"));
        assert!(dies(|| dying.wipe(&request("class=od,type=an"), true)));
    });
    wipe(&wiper).unwrap();
    assert_eq!(unended(&other), 1, "the other wipe's");
    assert_eq!(listed(&other, "type=an").len(), 2);
}

#[test]
fn a_wipe_beside_a_damaged_history_destroys_no_array_that_it_may_name() {
    for is_apart in [false, true] {
        let store = Store::new(is_apart);
        let shared = store.writer.locate(&field("0", "t")).unwrap().unwrap().location;
        store.writer.index(&analysis("12"), &shared).unwrap();
        store.writer.flush().unwrap();
        let dump = store.other.dump(&request("type=an")).unwrap().found;
        let [other] = &dump[0].collocations[..] else { panic!("{dump:?}") };
        store.wiper.script.damage(other.history);
        wipe(&store.wiper).unwrap();
        assert!(listed(&store.other, "type=fc").is_empty());
        assert_eq!(listed(&store.other, "type=an").len(), 3);
        assert_all_readable(&store.other);
        assert_eq!((unended(&store.other), unnamed(&store.other)), (0, 1));
    }
}

fn uncertain() -> Option<ObjectError> {
    Some(ObjectError::Io { what: "append".to_owned(), source: "broken".into() })
}

#[test]
fn a_wipe_whose_begin_is_uncertain_names_the_command_that_ends_it() {
    for counts in [false, true] {
        let store = Store::new(false);
        store.wiper.outcomes(if counts { Moment::Committed } else { Moment::Commit }, [uncertain()]);
        let error = wipe(&store.wiper).unwrap_err();
        assert_eq!(error.code(), "io");
        assert!(error.to_string().ends_with("`isotach repair --doit` ends it"), "{error}");
        assert_eq!(listed(&store.other, "type=fc").len(), 2);
        assert_eq!(unended(&store.other), u16::from(counts));
        assert_eq!(repair(&store.other, true), u16::from(counts));
        assert_eq!(unended(&store.other), 0);
    }
}

#[test]
fn a_move_whose_begin_is_uncertain_leaves_the_mark_and_names_the_command() {
    for counts in [false, true] {
        let (writer, mover, target) = three_handles();
        mover.outcomes(if counts { Moment::Committed } else { Moment::Commit }, [uncertain()]);
        let error = mover.move_to(&target, &request("class=od,type=fc")).unwrap_err();
        assert_eq!(error.code(), "io");
        assert!(error.to_string().ends_with("`isotach unlock REQUEST --archive` ends it"), "{error}");
        assert_eq!(is_moving(&writer), counts);
        unlock(&writer);
        assert!(!is_moving(&writer));
    }
}

/// A full disk: which commits and flushes find it full, after how many that succeed.
fn fill(player: &ScriptedStore, commits: [usize; 2], flushes: [usize; 2]) {
    for (moment, [good, bad]) in [(Moment::Commit, commits), (Moment::Flush, flushes)] {
        let good = repeat_with(|| None).take(good);
        player.outcomes(moment, good.chain(repeat_with(full).take(bad)));
    }
}

#[test]
fn a_wipe_that_fails_takes_its_count_back_or_names_the_remedy() {
    const NONE: [usize; 2] = [0, 0];
    // The commits: the count, the removal, the end. Each is flushed.
    for (commits, flushes, left, counted, told) in [
        (NONE, [0, 1], 2, 0, "no space left"),
        ([1, 2], [0, 1], 2, 1, "may have removed some"),
        ([1, 1], NONE, 2, 0, "no space left"),
        ([1, 3], NONE, 2, 1, "may have removed some"),
        ([2, 1], NONE, 0, 0, "wiped"),
        ([2, 2], NONE, 0, 1, "has removed its collocations"),
        (NONE, [2, 1], 0, 0, "wiped"),
        (NONE, [2, 2], 0, 0, "has removed its collocations"),
    ] {
        for killed in [0, 1] {
            let (store, case) = (Store::new(false), format!("{commits:?} {flushes:?} {killed}"));
            if killed == 1 {
                assert!(store.kill_wipe("class=od,type=an", (Moment::Commit, "od"), 0));
            }
            fill(&store.wiper, commits, flushes);
            let wiped = wipe(&store.wiper);
            let said = wiped.as_ref().map_or_else(ToString::to_string, |()| "wiped".to_owned());
            assert!(said.contains(told), "{case}: {said}");
            assert_eq!(said.contains("`isotach repair --doit` ends it"), said.contains("removed"), "{case}");
            assert_eq!(code(&wiped), if told == "wiped" { "ok" } else { "no-space" }, "{case}");
            assert_eq!(listed(&store.other, "type=fc").len(), left, "{case}");
            assert_eq!(unended(&store.other), killed + counted, "{case}");
            assert_eq!(repair(&store.other, true), killed + counted, "{case}");
            assert_all_readable(&store.other);
        }
    }
}

#[test]
fn a_move_that_fails_takes_its_lock_back_or_names_the_remedy() {
    // The commits: two of the mark, three of the wipe, the end. The mark's and the wipe's are flushed.
    for (commits, flushes, is_locked) in [
        ([0, 0], [0, 1], false),
        ([0, 0], [1, 1], false),
        ([1, 1], [0, 0], false),
        ([1, 3], [0, 0], true),
        ([5, 2], [0, 0], true),
    ] {
        let (writer, mover, target) = three_handles();
        fill(&mover, commits, flushes);
        let moved = mover.move_to(&target, &request("class=od,type=fc"));
        let (error, case) = (moved.unwrap_err(), format!("{commits:?} {flushes:?}"));
        assert_eq!(error.code(), "no-space", "{case}");
        let said = error.to_string();
        assert_eq!(said.ends_with("`isotach unlock REQUEST --archive` ends it"), is_locked, "{case}: {said}");
        assert_eq!(is_moving(&writer), is_locked, "{case}");
        if is_locked {
            unlock(&writer);
        }
        archive(&writer, &[(field("6", "t"), b"six")]);
        let fields = listed(&writer, "").len() + listed(&target, "").len();
        assert!(fields >= 2, "{case}: {fields}");
    }
}

#[test]
fn a_flush_after_an_unlock_outlives_a_move_that_is_still_wiping() {
    for call in [Moment::Look, Moment::Commit] {
        let (writer, mover, target) = three_handles();
        let (store, script) = (writer.store.clone(), mover.script.clone());
        let act = move || {
            assert_eq!(unended(&store), 1, "{call:?}");
            unlock(&store);
            archive(&store, &[(field("6", "t"), b"six")]);
        };
        // The third commit in the root counts the wipe. The others set the mark, and let it wipe.
        mover.script.before_nth(2, Moment::Commit, "root", move || script.before(call, "od", act));
        let outcome = mover.move_to(&target, &request("class=od,type=fc")).map(drop);
        assert_eq!(code(&outcome), "conflict", "{call:?}: {outcome:?}");
        assert_eq!(listed(&writer, "").len(), 2, "{call:?}: nothing was removed");
        assert_all_readable(&writer);
        assert_eq!(unended(&writer), 0);
        archive(&writer, &[(field("12", "t"), b"twelve")]);
    }
}

#[test]
fn a_move_that_was_killed_while_it_wiped_is_reported_and_ended_by_an_unlock() {
    for call in [Moment::Commit, Moment::Flush] {
        let (writer, mover, target) = three_handles();
        mover.before(call, || panic!("the mover dies"));
        assert!(dies(|| mover.move_to(&target, &request("class=od,type=fc"))));
        assert!(is_moving(&writer));
        let refused = writer.archive(&field("6", "t"), b"six").unwrap_err();
        assert!(refused.to_string().contains("isotach unlock"), "{refused}");
        unlock(&writer);
        archive(&writer, &[(field("6", "t"), b"six")]);
        assert_eq!(unended(&writer), 0, "{call:?}");
        mover.move_to(&target, &request("class=od,type=fc")).unwrap();
        assert_eq!((listed(&writer, "").len(), listed(&target, "").len()), (0, 2));
    }
}
