//! Moves that are killed, taken over by another move, or unlocked, at any of their calls.

use std::panic::{AssertUnwindSafe, catch_unwind};

use isotach_fields::{Action, FieldStore};
use isotach_mars::Key;

use crate::{
    faulty::{Interruption, Moment},
    layouts::{archive, field, listed, request, with},
    races::{Player, Stage, assert_all_readable, full},
};

/// What is moved: a whole dataset, and a collocation of it.
const MOVED: [&str; 2] = ["class=od", "class=od,type=fc"];

/// A store with two collocations, and another to move to.
struct Scene {
    stage: Stage,
    writer: Player,
    mover: Player,
    other: Player,
    target: Player,
}

/// A call of the mover: its kind, the container, and how many such calls come before it.
type Call = (Moment, &'static str, usize);

impl Scene {
    fn set() -> Self {
        let stage = Stage::default();
        let pools = ["memory:source", "memory:source", "memory:source", "memory:target"];
        let [writer, mover, other, target] = pools.map(|pool| stage.player(pool));
        let fields = ["0", "3"].map(|step| [(field(step, "t"), b"fc"), (analysis(step), b"an")]);
        fields.iter().flatten().for_each(|(key, bytes)| archive(&writer.store, &[(key.clone(), *bytes)]));
        Self { stage, writer, mover, other, target }
    }

    /// Moves, and acts before one of the calls. None if there is no such call.
    fn act_before(
        &self,
        (call, label, number): Call,
        moved: &str,
        act: impl FnOnce() + Send + 'static,
    ) -> Option<Result<u64, String>> {
        let mut script = self.mover.script.lock().unwrap();
        (0..number).for_each(|_| script.before_next.push(Interruption(call, label, Box::new(|| ()))));
        script.before_next.push(Interruption(call, label, Box::new(act)));
        drop(script);
        let moving = || self.mover.store.move_to(&self.target.store, &request(moved));
        let outcome = match catch_unwind(AssertUnwindSafe(moving)) {
            Ok(outcome) => outcome.map(|report| report.fields).map_err(|error| error.code().to_owned()),
            Err(_) => Err("killed".to_owned()),
        };
        let left = std::mem::take(&mut self.mover.script.lock().unwrap().before_next);
        left.is_empty().then_some(outcome)
    }

    /// That all is in the target and nothing of it in the source, which takes fields.
    fn assert_moved(&self, moved: &str, what: &str) {
        let (here, there) = (listed(&self.other.store, moved), listed(&self.target.store, moved));
        let expected = if moved.contains("type") { 2 } else { 4 };
        assert_eq!((here.len(), there.len()), (0, expected), "{what}");
        archive(&self.writer.store, &[(analysis("9"), b"no lock is left")]);
        assert_all_readable(&self.other);
    }
}

fn analysis(step: &str) -> Key {
    with(&field(step, "t"), "type=an")
}

fn unlock(store: &FieldStore) {
    store.control(&request("class=od"), false, &[Action::Archive]).unwrap();
}

/// Calls `check` with a scene of its own for each call that a move makes, until it says that there is no such call.
fn for_each_call(mut check: impl FnMut(Scene, Call, &str) -> bool) {
    let mut calls = 0;
    for moved in MOVED {
        for call in [Moment::Look, Moment::Commit, Moment::Flush, Moment::Update, Moment::Destroy] {
            for label in ["root", "od"] {
                calls +=
                    (0..).take_while(|number| check(Scene::set(), (call, label, *number), moved)).count();
            }
        }
    }
    assert!(calls > 40, "{calls}");
}

#[test]
fn a_move_that_is_killed_anywhere_goes_on_when_it_is_repeated() {
    for_each_call(|scene, call, moved| {
        let what = format!("{moved}: killed before {call:?}");
        let killed = scene.act_before(call, moved, || panic!("the mover dies"));
        scene.other.store.move_to(&scene.target.store, &request(moved)).unwrap();
        scene.assert_moved(moved, &what);
        killed.is_some()
    });
}

#[test]
fn a_move_that_is_killed_anywhere_is_ended_by_an_unlock() {
    for_each_call(|scene, call, moved| {
        let killed = scene.act_before(call, moved, || panic!("the mover dies"));
        unlock(&scene.other.store);
        archive(&scene.writer.store, &[(field("6", "t"), b"six"), (analysis("6"), b"six")]);
        let stores = [&scene.other.store, &scene.target.store];
        for step in ["0", "3"] {
            for key in [field(step, "t"), analysis(step)] {
                assert!(
                    stores.iter().any(|store| store.retrieve_one(&key).unwrap().is_some()),
                    "{call:?}: {key}"
                );
            }
        }
        assert!(scene.other.store.retrieve_one(&field("6", "t")).unwrap().is_some(), "{moved}, {call:?}");
        assert_all_readable(&scene.other);
        killed.is_some()
    });
}

#[test]
fn a_move_that_lives_while_another_takes_over_fails_or_is_done_and_nothing_is_lost() {
    for_each_call(|scene, call, moved| {
        let what = format!("{moved}: taken over before {call:?}");
        let [later, late] = ["memory:source", "memory:target"].map(|pool| scene.stage.player(pool).store);
        let all = request(moved);
        let outcome = scene.act_before(call, moved, move || {
            later.move_to(&late, &all).unwrap();
        });
        if let Some(Err(code)) = &outcome {
            assert!(["conflict", "moving"].contains(&code.as_str()), "{what}: {code}");
        }
        scene.assert_moved(moved, &what);
        outcome.is_some()
    });
}

#[test]
fn what_is_flushed_after_an_unlock_is_not_lost_though_the_move_lives() {
    for_each_call(|scene, call, moved| {
        let what = format!("{moved}: unlocked before {call:?}");
        let (unlocker, writer) = (scene.other.store.clone(), scene.writer.store.clone());
        let outcome = scene.act_before(call, moved, move || {
            unlock(&unlocker);
            archive(&writer, &[(field("6", "t"), b"six")]);
        });
        if let Some(Err(code)) = &outcome {
            assert_eq!(code, "conflict", "{what}");
        }
        let stores = [&scene.other.store, &scene.target.store];
        let found = |key: &Key| stores.iter().any(|store| store.retrieve_one(key).unwrap().is_some());
        let keys = [field("0", "t"), field("3", "t"), analysis("0"), analysis("3")];
        assert!(keys.iter().all(found), "{what}");
        assert!(outcome.is_none() || found(&field("6", "t")), "{what}");
        assert_all_readable(&scene.other);
        outcome.is_some()
    });
}

#[test]
fn a_move_that_has_no_room_to_wipe_destroys_nothing_before_its_entry_is_gone() {
    let scene = Scene::set();
    let script = std::sync::Arc::clone(&scene.mover.script);
    // The first update is that of the mark of a wipe, and the first commit after it would remove the entry.
    script.lock().unwrap().updates.push_back(full());
    let moved = scene.mover.store.move_to(&scene.target.store, &request("class=od"));
    assert_eq!(moved.unwrap_err().code(), "no-space");
    assert_eq!(listed(&scene.other.store, "").len(), 4);
    scene.other.store.move_to(&scene.target.store, &request("class=od")).unwrap();
    scene.assert_moved("class=od", "after room was made");
}

#[test]
fn a_flush_after_a_move_that_took_over_and_failed_does_not_go_with_the_earlier_move() {
    let scene = Scene::set();
    let [later, late] = ["memory:source", "memory:target"].map(|pool| scene.stage.player(pool));
    let writer = scene.writer.store.clone();
    let moved = scene.act_before((Moment::Commit, "od", 0), "class=od,type=fc", move || {
        late.script.lock().unwrap().lookups.push_back(full());
        let failed = later.store.move_to(&late.store, &request("class=od,type=fc"));
        assert_eq!(failed.unwrap_err().code(), "no-space");
        archive(&writer, &[(field("6", "t"), b"six")]);
    });
    assert_eq!(moved, Some(Err("conflict".to_owned())));
    assert_eq!(listed(&scene.other.store, "type=fc").len(), 3);
}
