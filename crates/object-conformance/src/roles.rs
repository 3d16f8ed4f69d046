//! The roles of all cases, and the two entries of the tests that the macro makes.

use std::env;

use super::{
    Fixture, concurrency, history, numbered, prepared,
    process::{Roles, TASK, run_task},
    snapshot, staging,
    trial::Trial,
    visibility,
};

/// Roles with their names.
macro_rules! roles {
    ($($subject:ident { $($role:ident),+ })+) => { &[$($((stringify!($role), $subject::$role)),+),+] };
}

/// All roles.
const ROLES: Roles = roles! {
    concurrency { allocate_ids, claim_keys, count_up, create_containers }
    concurrency { put_values, read_values, commit_pairs, read_pairs, rewrite_array, read_array }
    staging { commit_staged, read_staged, stage_and_die, count_with_retry }
    prepared { prepare_and_die, take_prepared, abort_races }
    numbered { take_part, read_versions, finish_and_die, update_and_die }
    snapshot { put_numbered, make_snapshots }
    visibility { put_in_order, read_in_order, put_and_flush, get_numbers }
};

/// Runs a case.
pub fn run(fixture: &dyn Fixture, child_test: &'static str, case: impl FnOnce(&Trial<'_>)) {
    case(&Trial::new(fixture, child_test, ROLES));
}

/// Runs the task that the environment names, if it names one.
pub fn run_child(fixture: &dyn Fixture) {
    let Ok(task) = env::var(TASK) else { return };
    if !history::play(fixture, &task) {
        run_task(fixture, ROLES, &task);
    }
}
