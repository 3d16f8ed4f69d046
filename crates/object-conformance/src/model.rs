//! Random sequences of operations, run on an engine and on the model, whose answers must agree.
//!
//! The sequence is run with two handles in turns. Updates of one handle that are not flushed may or may not
//! be seen by the other, so they are flushed before the other takes its turn; then every answer is
//! determined, and a difference is an error of the engine (or of the model).

use std::cell::Cell as Counter;

use isotach_needs::{number, seed};
use proptest::{
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
    {collection::vec, prelude::Strategy},
};

use super::{
    Fixture,
    trial::{general_id, kv_id, label},
};
use isotach_object::{Capabilities, memory::Memory};

mod side;
mod step;
mod strategy;
mod views;

use side::Side;
use step::{Step, Turn};

/// How many sequences are run where neither `ISOTACH_SEQUENCES` nor the engine says.
pub const SEQUENCES: u32 = 500;
/// The longest sequence, in turns.
const TURNS: usize = 40;

/// Makes a module for an engine with one test, which runs random sequences of operations on the engine and
/// on the model: `model_suite! { name => fixture }`.
///
/// `ISOTACH_SEQUENCES` says how many (500 if not set), `ISOTACH_SEED` which (by the clock if not set). A slow engine has fewer than
/// 500 by `model_suite! { 100; name => fixture }`.
#[macro_export]
macro_rules! model_suite {
    ($($name:ident => $fixture:expr),+ $(,)?) => {
        $crate::model_suite! { $crate::model::SEQUENCES; $($name => $fixture),+ }
    };
    ($sequences:expr; $($name:ident => $fixture:expr),+ $(,)?) => { $(
        mod $name {
            #[allow(unused_imports, reason = "the fixture may need none of them")]
            use super::*;

            #[test]
            fn random_sequences_agree_with_the_model() {
                $crate::model::run(&$fixture, $sequences);
            }
        }
    )+ };
}

/// As [`compare`], with the seed from the environment, and the number of sequences, too, where it says one.
///
/// # Panics
/// As [`compare`]; and when a variable is not a number.
pub fn run(fixture: &dyn Fixture, sequences: u32) {
    let sequences = number("ISOTACH_SEQUENCES").map_or(sequences, |number| number as u32);
    compare(fixture, sequences, seed());
}

/// Runs this many random sequences from the seed.
///
/// # Panics
/// When an answer differs; the message holds the seed and the smallest sequence that was found to differ.
pub fn compare(fixture: &dyn Fixture, sequences: u32, seed: u64) {
    let config =
        Config { cases: sequences, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let mut seed_bytes = [0; 32];
    seed_bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed_bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let arena = Arena::new(fixture);
    let Capabilities { transactions, snapshots, .. } = fixture.engine().capabilities();
    let turn = strategy::turn().prop_map(move |Turn { handle, step }| {
        let step = if snapshots { step } else { step.of_the_present() };
        Turn { handle, step: if transactions { step } else { step.of_one_cell() } }
    });
    let turns = vec(turn, 1..TURNS).prop_map(Turns);
    if let Err(failure) = runner.run(&turns, |turns| arena.run(&turns.0).map_err(TestCaseError::fail)) {
        panic!("an engine and the model differ; run again with ISOTACH_SEED={seed}\n{failure}");
    }
}

/// A sequence that prints one turn in a line.
struct Turns(Vec<Turn>);

impl std::fmt::Debug for Turns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f)?;
        self.0.iter().try_for_each(|turn| writeln!(f, "    {turn:?}"))
    }
}

/// Where sequences are run: each in a container of its own.
struct Arena<'f> {
    engine: side::Home<'f>,
    model: side::Home<'f>,
    sequences: Counter<u64>,
}

impl<'f> Arena<'f> {
    fn new(fixture: &'f dyn Fixture) -> Self {
        let engine = side::Home::new(Box::new(|| fixture.engine()), fixture.fresh_pool());
        let memory = Memory::new();
        let model_uri = "memory:model".parse().unwrap();
        let model = side::Home::new(Box::new(move || std::sync::Arc::new(memory.clone())), model_uri);
        Self { engine, model, sequences: Counter::new(0) }
    }

    fn run(&self, turns: &[Turn]) -> Result<(), String> {
        let name = label(&format!("sequence-{}", self.sequences.replace(self.sequences.get() + 1)));
        let (engine, model) = (self.engine.enter(&name), self.model.enter(&name));
        let can = engine.capabilities();
        let mut sides = [engine, model.that_can(can)];
        let result = play(&mut sides, turns);
        // A container that differs stays for inspection.
        if result.is_ok() {
            self.engine.leave(&name);
            self.model.leave(&name);
        }
        result
    }
}

fn play(sides: &mut [Side<'_>; 2], turns: &[Turn]) -> Result<(), String> {
    let mut holds_back = None;
    for (at, turn) in turns.iter().enumerate() {
        let at_turn = |difference| format!("turn {at}: {difference}");
        if let Some(other) = holds_back.filter(|handle| *handle != turn.handle) {
            same(sides, other, &Step::Flush).map_err(at_turn)?;
        }
        same(sides, turn.handle, &turn.step).map_err(at_turn)?;
        holds_back = Some(turn.handle);
    }
    for handle in [holds_back.unwrap_or(0), 0, 1] {
        same(sides, handle, &Step::Flush)?;
        same(sides, handle, &Step::Reopen { new_engine: true })?;
    }
    let look = closing_look();
    look.iter().try_for_each(|step| same(sides, 0, step))?;
    if !sides[0].has_snapshots() {
        return Ok(());
    }
    same(sides, 0, &Step::ListSnapshots)?;
    // Both refuse an absent one.
    let mut at_all = strategy::SNAPSHOTS.iter().flat_map(|name| look.iter().map(move |step| (*name, step)));
    at_all.try_for_each(|(name, step)| same(sides, 0, &Step::At(name, Box::new(step.clone()))))
}

/// Everything there is, seen in every way.
fn closing_look() -> Vec<Step> {
    let mut steps = vec![Step::ListObjects { limit: 2 }];
    for object in [kv_id(1), kv_id(2)] {
        steps.push(Step::ListEntries { object, limit: 2, values: true });
    }
    steps.push(Step::ListDkeys { object: general_id(1), limit: 1 });
    for dkey in strategy::KEYS {
        steps.push(Step::ListAkeys { object: general_id(1), dkey, limit: 1 });
    }
    steps.push(Step::Size(strategy::all_cells()));
    let values = strategy::all_cells().into_iter().filter(|cell| cell.check_value().is_ok());
    steps.push(Step::Get(values.collect()));
    for cell in strategy::all_cells().into_iter().filter(|cell| cell.check_extent().is_ok()) {
        let ranges = [0, 70_000, strategy::FAR, strategy::LAST - 100];
        steps.push(Step::Extents(cell, 0, u64::MAX));
        steps.push(Step::Read(ranges.map(|offset| (cell, offset, 70_000)).to_vec()));
    }
    steps
}

fn same(sides: &mut [Side<'_>; 2], handle: usize, step: &Step) -> Result<(), String> {
    let [engine, model] = sides;
    let (answer, expected) = (engine.act(handle, step), model.act(handle, step));
    if answer == expected {
        return Ok(());
    }
    Err(format!("handle {handle}: {step:?}\n  engine: {answer:?}\n  model:  {expected:?}"))
}
