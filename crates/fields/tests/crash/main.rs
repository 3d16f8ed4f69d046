//! The field layer after power failures, on the simulated disk.
//!
//! A workload is run once and written down; then the disk is made up as a power failure at every moment of it would have
//! left it, and the store is opened there. What must hold: every field that was flushed is there with the right bytes, what
//! is visible of a dataset is a prefix of its history, no transaction is half visible, nothing is damaged, and the store can be
//! written on without anybody's doing. A snapshot shows what it showed, or is not there, or is told as unfinished and can
//! be removed. The logs are too short for a purge to make holes in them: that is the engine's own test's.
//!
//! `ISOTACH_SEQUENCES` says how many random losses are tried (500 if not set), `ISOTACH_SEED` which (by the clock if not
//! set). Every failure says its seed and the number of changes before the power failed.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]

mod check;
mod full;
mod full_anywhere;
mod history;
mod wipes;
mod workload;

use std::{
    env,
    time::{SystemTime, UNIX_EPOCH},
};

use isotach_engine_posix::simulation::{Loss, Random};

use self::{
    check::check,
    history::History,
    workload::{Places, record},
};

/// How many operations the workload has.
const OPERATIONS: usize = 200;
/// How many random losses are tried where `ISOTACH_SEQUENCES` does not say.
const SEQUENCES: u64 = 500;
/// From so many on, all losses are tried after every change.
const ALL_FROM: u64 = 10_000;

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap())
}

fn history(places: Places) -> History {
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = number("ISOTACH_SEED").unwrap_or_else(clock);
    println!("ISOTACH_SEED={seed}");
    record(seed, places, OPERATIONS)
}

fn sequences() -> u64 {
    number("ISOTACH_SEQUENCES").unwrap_or(SEQUENCES)
}

/// A failure at every change: with one loss each, or with all where there is the time for ten thousand random ones.
fn check_every_change(places: Places) {
    let history = history(places);
    let mut checked = 0;
    for changes in 0..=history.disk.changes() {
        let losses = [Loss::All, Loss::Nothing, Loss::LastTorn(history.seed ^ changes as u64)];
        let chosen = match sequences() {
            ..ALL_FROM => &losses[changes % losses.len()..][..1],
            _ => &losses[..],
        };
        chosen.iter().for_each(|loss| check(&history, changes, *loss));
        checked += chosen.len();
    }
    println!("{places:?}: {checked} crashes of {OPERATIONS} operations, seed {}", history.seed);
}

/// Random losses at random moments.
fn check_random_losses(places: Places) {
    let history = history(places);
    let mut random = Random(history.seed);
    for _ in 0..sequences() {
        let at = random.below(history.disk.changes() as u64 + 1) as usize;
        check(&history, at, Loss::Seeded(random.number()));
    }
    println!("{places:?}: {} random losses, seed {}", sequences(), history.seed);
}

#[test]
fn flushed_fields_and_whole_transactions_survive_a_power_failure_at_any_moment() {
    check_every_change(Places::Together);
}

#[test]
fn flushed_fields_survive_a_power_failure_with_catalogue_and_store_apart() {
    check_every_change(Places::Apart);
}

#[test]
fn flushed_fields_and_whole_transactions_survive_the_loss_of_random_sectors() {
    check_random_losses(Places::Together);
    check_random_losses(Places::Apart);
}
