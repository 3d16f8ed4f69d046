//! The posix engine after power failures, full disks and flipped bits, on the simulated disk.
//!
//! A workload runs once and is recorded. Then the engine opens the disk in every state that a power failure could have left. What must
//! hold: everything flushed exists with the right bytes, what is visible is a prefix of the history, nothing is half visible, and writing
//! continues without a repair.
//!
//! `ISOTACH_SEQUENCES` is the number of random losses (default 500), and `ISOTACH_SEED` their seed (default: the clock). Every failure
//! prints its seed and the number of changes before the power failure.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code: a failure here is a failed test")]

mod check;
mod failures;
mod flips;
mod place;
mod purge;
mod removal;
mod restore;
mod versions;
mod workload;

use std::thread;

use isotach_engine_posix::simulation::{Loss, Random};
use isotach_needs::{number, seed};

use self::{check::check, workload::History};

/// Operations of the workload.
const OPERATIONS: usize = 200;
/// Random losses unless `ISOTACH_SEQUENCES` says otherwise.
const SEQUENCES: u64 = 500;
/// Threads of a test: the two long ones would keep one core each, one of them long after the other tests have ended.
const THREADS: usize = 2;

/// Checks power failures after so many changes, with what each loses.
fn check_all(history: &History, failures: &[(usize, Loss)]) {
    thread::scope(|scope| {
        for part in 0..THREADS {
            let failures = failures.iter().skip(part).step_by(THREADS);
            scope.spawn(move || failures.for_each(|(changes, loss)| check(history, *changes, *loss)));
        }
    });
}

#[test]
fn a_crash_at_any_change_keeps_what_was_flushed_and_splits_no_transaction() {
    let seed = seed();
    let history = History::record(seed, OPERATIONS);
    let losses = |changes| [Loss::All, Loss::Nothing, Loss::LastTorn(seed ^ changes as u64)];
    let changes = 0..=history.disk.changes();
    let failures: Vec<_> = changes.flat_map(|changes| losses(changes).map(|loss| (changes, loss))).collect();
    check_all(&history, &failures);
    println!("{} crashes of {OPERATIONS} operations, seed {seed}", failures.len());
}

#[test]
fn random_losses_keep_what_was_flushed_and_split_no_transaction() {
    let (seed, sequences) = (seed(), number("ISOTACH_SEQUENCES").unwrap_or(SEQUENCES));
    let mut random = Random(seed);
    let history = History::record(seed, OPERATIONS);
    let changes = history.disk.changes() as u64 + 1;
    let failures: Vec<_> =
        (0..sequences).map(|_| (random.below(changes) as usize, Loss::Seeded(random.number()))).collect();
    check_all(&history, &failures);
    println!("{sequences} random losses, seed {seed}");
}
