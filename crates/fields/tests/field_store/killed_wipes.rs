//! Wipes of collocations that are killed, or ended by others while they live.

use std::panic::{AssertUnwindSafe, catch_unwind};

use isotach_fields::{FieldStore, Repair, VerifyOptions};
use isotach_object::{Anchor, Engine, ObjectType, memory::Memory};

use crate::{
    faulty::{Interruption, Moment},
    layouts::{archive, field, listed, request, with},
    races::{Player, Stage, assert_all_readable, code, full},
};

/// A store with two collocations of three fields each: a writer, others, and what is below them.
struct Scene {
    memory: Memory,
    writer: Player,
    wiper: Player,
    other: Player,
}

impl Scene {
    fn set() -> Self {
        let stage = Stage::default();
        let [writer, wiper, other] = [(); 3].map(|()| stage.player("memory:source"));
        for step in ["0", "3"] {
            archive(&writer.store, &[(field(step, "t"), b"forecast"), (analysis(step), b"analysis")]);
        }
        Self { memory: stage.0, writer, wiper, other }
    }

    /// How many arrays there are.
    fn arrays(&self) -> usize {
        let pool = self.memory.open_pool(&"memory:source".parse().unwrap()).unwrap();
        let labels = pool.list_containers().unwrap();
        let label = labels.iter().find(|label| label.as_str().starts_with("od")).unwrap();
        let (objects, _) = pool.open_container(label).unwrap().list_objects(&Anchor::start(), 1000).unwrap();
        objects.into_iter().filter(|object| object.otype() == ObjectType::Array).count()
    }

    /// How many wipes the dataset counts.
    fn counted(&self) -> u16 {
        self.other.store.status(&request("class=od")).unwrap()[0].wipes
    }

    /// Kills a wipe of forecasts before its call of this number. False if it makes fewer.
    fn kill_wipe(&self, (call, label): (Moment, &'static str), number: usize) -> bool {
        for _ in 0..number {
            before(&self.wiper, call, label, || ());
        }
        before(&self.wiper, call, label, || panic!("the wiper dies"));
        let wiped = catch_unwind(AssertUnwindSafe(|| wipe(&self.wiper.store, "type=fc")));
        self.wiper.script.lock().unwrap().before_next.clear();
        wiped.is_err()
    }

    /// A flush that put nothing and failed.
    fn fail_flush(&self) {
        self.writer.store.archive(&field("6", "t"), b"six").unwrap();
        self.writer.script.lock().unwrap().updates.push_back(full());
        assert_eq!(code(&self.writer.store.flush()), "no-space");
    }

    /// How often a flush of one more field flushes the container.
    fn flushes(&self) -> u64 {
        archive(&self.writer.store, &[(analysis("9"), b"declares again")]);
        let count = || self.writer.script.lock().unwrap().calls.get("flush").copied().unwrap_or_default();
        let before = count();
        archive(&self.writer.store, &[(analysis("9"), b"once")]);
        count() - before
    }
}

fn analysis(step: &str) -> isotach_mars::Key {
    with(&field(step, "t"), "type=an")
}

fn wipe(store: &FieldStore, what: &str) {
    store.wipe(&request(&format!("class=od,{what}")), true).unwrap();
}

fn purge(store: &FieldStore) {
    let answer = store.purge(&request("class=od"), true).unwrap();
    assert!(answer.unusable.is_empty(), "{answer:?}");
}

fn repair(store: &FieldStore) -> Vec<Repair> {
    let report = store.verify(&request(""), VerifyOptions::default(), &|_| ()).unwrap();
    report.repair(true).unwrap().repaired.iter().map(|repaired| repaired.repair).collect()
}

fn before(player: &Player, call: Moment, label: &'static str, act: impl FnOnce() + Send + 'static) {
    player.script.lock().unwrap().before_next.push(Interruption(call, label, Box::new(act)));
}

/// Whoever comes next.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Next {
    Wipe,
    Purge,
    Repair,
    Writer,
}

/// Calls `check` after a kill of a wipe before each of its calls, and gives how many there were.
fn after_each_kill(mut check: impl FnMut(&Scene, &str)) -> usize {
    let moments = [Moment::Look, Moment::Commit, Moment::Flush, Moment::Update];
    let mut kills = 0;
    for call in moments.iter().flat_map(|call| [(*call, "root"), (*call, "od")]) {
        for number in 0.. {
            let scene = Scene::set();
            scene.fail_flush();
            if !scene.kill_wipe(call, number) {
                break;
            }
            kills += 1;
            check(&scene, &format!("killed before {call:?} {number}"));
        }
    }
    kills
}

#[test]
fn after_a_wipe_is_killed_anywhere_the_next_to_come_ends_it_and_no_field_is_dropped() {
    for next in [Next::Wipe, Next::Purge, Next::Repair, Next::Writer] {
        let kills = after_each_kill(|scene, kill| {
            match next {
                Next::Wipe => wipe(&scene.other.store, "type=an"),
                Next::Purge => purge(&scene.other.store),
                Next::Repair => assert!(repair(&scene.other.store).is_empty()),
                Next::Writer => {}
            }
            scene.writer.store.flush().unwrap_or_else(|error| panic!("{next:?}, {kill}: {error}"));
            let six = scene.other.store.retrieve_one(&field("6", "t")).unwrap();
            assert_eq!(six.as_deref(), Some(&b"six"[..]), "{next:?}, {kill}");
            assert_eq!(scene.flushes(), 1, "{next:?}, {kill}: each flush publishes once");
            assert_all_readable(&scene.other);
        });
        assert!(kills > 10, "{kills}");
    }
}

#[test]
fn the_arrays_that_a_killed_wipe_left_are_destroyed_by_the_next_purge_or_wipe() {
    for next in [Next::Wipe, Next::Purge] {
        after_each_kill(|scene, kill| {
            scene.writer.store.flush().unwrap();
            match next {
                Next::Wipe => wipe(&scene.other.store, "type=fc"),
                _ => purge(&scene.other.store),
            }
            let fields = listed(&scene.other.store, "").len();
            assert_eq!(scene.arrays(), fields, "{next:?}, {kill}");
            assert_all_readable(&scene.other);
        });
    }
}

#[test]
fn a_flush_that_is_repeated_after_a_killed_wipe_names_no_array_that_is_still_to_go() {
    for next in [Next::Writer, Next::Repair, Next::Purge] {
        let scene = Scene::set();
        scene.writer.store.archive(&field("6", "t"), b"six").unwrap();
        scene.writer.script.lock().unwrap().flushes.push_back(full());
        assert_eq!(code(&scene.writer.store.flush()), "no-space");
        // Its entries could be seen; the wipe removes them and dies before it destroys anything.
        assert!(scene.kill_wipe((Moment::Commit, "root"), 1));
        match next {
            Next::Purge => purge(&scene.other.store),
            Next::Repair => drop(repair(&scene.other.store)),
            _ => {}
        }
        assert_eq!(code(&scene.writer.store.flush()), "wiped", "{next:?}");
        purge(&scene.other.store);
        assert!(listed(&scene.other.store, "type=fc").is_empty(), "{next:?}");
        assert_all_readable(&scene.other);
        assert_eq!(scene.arrays(), 2, "{next:?}");
    }
}

/// What a player does beside a wipe: ends it, or ends another one that was killed just then, too.
fn end_wipes_beside(scene: &Scene, is_another_killed: bool) -> impl FnOnce() + Send + 'static {
    let dying = Stage(scene.memory.clone()).player("memory:source");
    let (purger, writer) = (scene.other.store.clone(), scene.writer.store.clone());
    move || {
        if is_another_killed {
            dying.before(Moment::Commit, || panic!("the other wiper dies"));
            assert!(catch_unwind(AssertUnwindSafe(|| wipe(&dying.store, "type=an"))).is_err());
        }
        purge(&purger);
        archive(&writer, &[(analysis("6"), b"beside")]);
    }
}

#[test]
fn a_wipe_that_lives_and_is_ended_by_others_begins_again_and_ends_right() {
    let calls = [Moment::Look, Moment::Commit, Moment::Flush].map(|call| [(call, "root"), (call, "od")]);
    for (call, label) in calls.into_iter().flatten() {
        for (number, is_another_killed) in (0..6).flat_map(|number| [(number, false), (number, true)]) {
            let scene = Scene::set();
            (0..number).for_each(|_| before(&scene.wiper, call, label, || ()));
            before(&scene.wiper, call, label, end_wipes_beside(&scene, is_another_killed));
            wipe(&scene.wiper.store, "type=fc");
            scene.wiper.script.lock().unwrap().before_next.clear();
            let what = format!("{call:?} {label} {number}, another killed: {is_another_killed}");
            assert!(listed(&scene.other.store, "type=fc").is_empty(), "{what}");
            assert_eq!(scene.counted(), 0, "{what}");
            assert_eq!(scene.arrays(), listed(&scene.other.store, "type=an").len(), "{what}");
            assert_all_readable(&scene.other);
        }
    }
}

#[test]
fn a_wipe_that_was_ended_by_others_takes_away_no_count_but_its_own() {
    let scene = Scene::set();
    let stage = Stage(scene.memory.clone());
    let (purger, dying) = (scene.other.store.clone(), stage.player("memory:source"));
    // The second commit in the root counts the wipe as ended.
    before(&scene.wiper, Moment::Commit, "root", || ());
    before(&scene.wiper, Moment::Commit, "root", move || {
        purge(&purger);
        dying.before(Moment::Commit, || panic!("the other wiper dies"));
        assert!(catch_unwind(AssertUnwindSafe(|| wipe(&dying.store, "type=an"))).is_err());
    });
    wipe(&scene.wiper.store, "type=fc");
    assert_eq!(scene.counted(), 1, "the other wipe's");
    purge(&scene.other.store);
    assert_eq!(scene.counted(), 0);
    assert_eq!(listed(&scene.other.store, "type=an").len(), 2);
}

#[test]
fn a_flush_that_is_repeated_beside_a_living_wipe_ends_it_and_the_wipe_begins_again() {
    let scene = Scene::set();
    scene.fail_flush();
    let store = scene.writer.store.clone();
    scene.wiper.before(Moment::Commit, move || store.flush().unwrap());
    wipe(&scene.wiper.store, "type=fc");
    // The flush ended the wipe, which began again and found the field.
    assert!(listed(&scene.other.store, "type=fc").is_empty());
    assert_eq!((scene.counted(), scene.arrays()), (0, 2));
}

#[test]
fn without_transactions_a_killed_wipe_is_told_by_verify_and_ended_by_repair_only() {
    let scene = Scene::set();
    for player in [&scene.writer, &scene.wiper, &scene.other] {
        player.script.lock().unwrap().is_plain = true;
    }
    assert!(scene.kill_wipe((Moment::Update, "od"), 0));
    purge(&scene.other.store);
    assert_eq!(scene.counted(), 1, "nobody knows that it does not live");
    let report = scene.other.store.verify(&request(""), VerifyOptions::default(), &|_| ()).unwrap();
    let told: Vec<_> = report.parts.iter().flat_map(|part| &part.damage).collect();
    assert!(told.len() == 1 && told[0].what.contains("has begun and not ended"), "{told:?}");
    let planned = report.repair(false).unwrap();
    assert_eq!((planned.repaired[0].repair, scene.counted()), (Repair::Ended, 1));
    assert_eq!(repair(&scene.other.store), [Repair::Ended]);
    assert_eq!(scene.counted(), 0);
    assert!(scene.other.store.verify(&request(""), VerifyOptions::default(), &|_| ()).unwrap().is_sound());
    assert_eq!(scene.flushes(), 1);
}
