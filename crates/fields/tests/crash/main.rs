//! The field layer after power failures, on the simulated disk.
//!
//! A workload is run once and recorded. Then the disk is reconstructed as a power failure at each moment would have
//! left it, and the store is opened there. What must hold: every flushed field exists with the right bytes, the visible
//! part of a dataset is a prefix of its history, no transaction is half visible, nothing is damaged, and the store can
//! be written without a recovery step. A snapshot is unchanged, absent, or reported as unfinished and removable. The
//! logs are too short for a purge to punch holes in them; the engine's own tests cover that.
//!
//! `ISOTACH_SEQUENCES` sets the number of random losses (500 by default), `ISOTACH_SEED` their seed (from the clock by
//! default). Every failure prints its seed and the number of changes before the power failure.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]

mod check;
mod full;
mod full_anywhere;
mod history;
mod wipes;
mod workload;

use std::thread;

use isotach_engine_posix::simulation::{Loss, Random};
use isotach_needs::{number, seed};

use self::{
    check::check,
    history::History,
    workload::{Places, record},
};

/// The number of operations of the workload.
const OPERATIONS: usize = 200;
/// The default number of random losses.
const SEQUENCES: u64 = 500;
/// From this number of losses on, all losses are tried after every change.
const ALL_FROM: u64 = 10_000;
/// Threads of a test: with one, the longest would go on alone for half of the time.
const THREADS: usize = 2;

fn history(places: Places) -> History {
    let seed = seed();
    println!("ISOTACH_SEED={seed}");
    record(seed, places, OPERATIONS)
}

fn sequences() -> u64 {
    number("ISOTACH_SEQUENCES").unwrap_or(SEQUENCES)
}

/// Checks power failures after so many changes, with what each loses.
fn check_all(history: &History, failures: &[(usize, Loss)]) {
    thread::scope(|scope| {
        for part in 0..THREADS {
            let failures = failures.iter().skip(part).step_by(THREADS);
            scope.spawn(move || failures.for_each(|(changes, loss)| check(history, *changes, *loss)));
        }
    });
}

/// A power failure at every change, with one loss each, or with all losses in long runs.
fn check_every_change(places: Places) {
    let history = history(places);
    let mut failures = Vec::new();
    for changes in 0..=history.disk.changes() {
        let losses = [Loss::All, Loss::Nothing, Loss::LastTorn(history.seed ^ changes as u64)];
        let chosen = match sequences() {
            ..ALL_FROM => &losses[changes % losses.len()..][..1],
            _ => &losses[..],
        };
        failures.extend(chosen.iter().map(|loss| (changes, *loss)));
    }
    check_all(&history, &failures);
    println!("{places:?}: {} crashes of {OPERATIONS} operations, seed {}", failures.len(), history.seed);
}

/// Random losses at random moments.
fn check_random_losses(places: Places) {
    let history = history(places);
    let mut random = Random(history.seed);
    let changes = history.disk.changes() as u64 + 1;
    let failures: Vec<_> =
        (0..sequences()).map(|_| (random.below(changes) as usize, Loss::Seeded(random.number()))).collect();
    check_all(&history, &failures);
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
