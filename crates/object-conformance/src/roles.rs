//! The roles of all cases, and the two entries of the tests that the macro makes.

use std::env;

use super::{
    Fixture, concurrency, history, numbered, prepared,
    process::{Roles, TASK, run_task},
    snapshot, staging,
    trial::Trial,
    visibility,
};

/// All roles.
const ROLES: Roles = &[
    ("allocate_ids", concurrency::allocate_ids),
    ("claim_keys", concurrency::claim_keys),
    ("count_up", concurrency::count_up),
    ("create_containers", concurrency::create_containers),
    ("put_values", concurrency::put_values),
    ("read_values", concurrency::read_values),
    ("commit_pairs", concurrency::commit_pairs),
    ("read_pairs", concurrency::read_pairs),
    ("rewrite_array", concurrency::rewrite_array),
    ("read_array", concurrency::read_array),
    ("commit_staged", staging::commit_staged),
    ("read_staged", staging::read_staged),
    ("stage_and_die", staging::stage_and_die),
    ("count_with_retry", staging::count_with_retry),
    ("prepare_and_die", prepared::prepare_and_die),
    ("take_prepared", prepared::take_prepared),
    ("abort_races", prepared::abort_races),
    ("take_part", numbered::take_part),
    ("read_versions", numbered::read_versions),
    ("finish_and_die", numbered::finish_and_die),
    ("update_and_die", numbered::update_and_die),
    ("put_numbered", snapshot::put_numbered),
    ("make_snapshots", snapshot::make_snapshots),
    ("put_in_order", visibility::put_in_order),
    ("read_in_order", visibility::read_in_order),
    ("put_and_flush", visibility::put_and_flush),
    ("get_numbers", visibility::get_numbers),
];

/// Runs a case.
pub fn run(fixture: &dyn Fixture, child_test: &'static str, case: impl FnOnce(&Trial<'_>)) {
    case(&Trial { fixture, child_test, roles: ROLES });
}

/// Runs the task that the environment names, if it names one.
pub fn run_child(fixture: &dyn Fixture) {
    let Ok(task) = env::var(TASK) else { return };
    if !history::play(fixture, &task) {
        run_task(fixture, ROLES, &task);
    }
}
