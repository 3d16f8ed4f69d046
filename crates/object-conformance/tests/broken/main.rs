//! The suite finds engines that break the contract: for each rule broken, a case fails, and so does the
//! comparison with the model unless it takes a race to see the difference.
#![expect(clippy::unwrap_used, clippy::panic, reason = "test code")]

mod engine;

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::{BrokenFixture, Fault};
use isotach_object_conformance::{
    Trial, array, concurrency, general, history, kv, listing, model, prepared, refusal, run, snapshot,
    staging, transaction, visibility,
};

/// Any seed finds these; a fixed one keeps the test the same every time.
const SEED: u64 = 1;
const SEQUENCES: u32 = 4000;
/// How often a race is tried.
const ATTEMPTS: usize = 40;

fn fails(test: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(test)).is_err()
}

#[track_caller]
fn case_fails(fault: Fault, case: fn(&Trial<'_>)) {
    let fixture = BrokenFixture::new(fault);
    assert!(fails(|| run(&fixture, "", case)), "the case passes an engine that {fault:?}");
}

/// As [`case_fails`], for what takes a race to see: on a machine with other work it may not be met at once.
#[track_caller]
fn race_fails(fault: Fault, case: fn(&Trial<'_>)) {
    let found = (0..ATTEMPTS).any(|_| fails(|| run(&BrokenFixture::new(fault), "", case)));
    assert!(found, "the case passes an engine that {fault:?}, {ATTEMPTS} times");
}

#[track_caller]
fn case_and_model_fail(fault: Fault, case: fn(&Trial<'_>)) {
    case_fails(fault, case);
    let fixture = BrokenFixture::new(fault);
    let compared = fails(|| model::compare(&fixture, SEQUENCES, SEED));
    assert!(compared, "random sequences pass an engine that {fault:?}");
}

#[test]
fn each_broken_rule_fails_a_case_and_the_comparison_with_the_model() {
    case_and_model_fail(Fault::EmptyIsAbsent, kv::an_empty_value_is_present);
    case_and_model_fail(Fault::ChecksTooLate, refusal::a_batch_with_one_wrong_update_does_nothing);
    case_and_model_fail(Fault::ReversesBatches, kv::a_batch_is_applied_in_order_and_answered_in_order);
    case_and_model_fail(Fault::IgnoresUnchanged, transaction::unchanged_holds_until_an_update_names_the_cell);
    case_and_model_fail(Fault::ForgetsPunches, array::a_punch_makes_a_hole_and_keeps_the_size);
    case_and_model_fail(Fault::TellsHolesAsWritten, array::extents_exclude_holes);
    case_and_model_fail(Fault::LosesAtPageBreaks, listing::pages_of_any_size_hold_every_entry_once);
    case_and_model_fail(Fault::RepeatsAtPageBreaks, listing::pages_of_any_size_hold_every_entry_once);
    case_and_model_fail(Fault::StaysStale, visibility::a_flush_is_seen_by_handles_that_have_read_before);
    case_and_model_fail(Fault::ShowsWhatIsStaged, staging::staged_updates_are_invisible_until_committed);
    let case = snapshot::a_snapshot_does_not_change_while_the_container_goes_on;
    case_and_model_fail(Fault::SnapshotsFollow, case);
}

#[test]
fn rules_outside_the_model_and_in_other_cases_are_found_too() {
    case_fails(Fault::TellsHolesAsWritten, general::extents_of_records_exclude_holes);
    case_fails(Fault::ClearsPastTheEnd, array::reads_past_the_end_are_short);
    case_fails(Fault::ShowsWhatIsStaged, staging::a_staging_that_is_dropped_leaves_nothing);
    case_fails(Fault::ShowsWhatIsStaged, staging::a_staging_that_conflicts_changes_nothing);
    let fault = Fault::CommitsPreparedOneByOne;
    case_fails(fault, prepared::an_unknown_prepared_name_cannot_be_committed_or_aborted);
    case_fails(fault, prepared::a_failed_precondition_prepares_and_commits_nothing);
    case_fails(Fault::SnapshotsFollow, snapshot::a_handle_on_a_snapshot_refuses_every_write);
}

#[test]
fn rules_that_only_a_race_breaks_are_found() {
    race_fails(Fault::PutsInTwo, concurrency::readers_never_see_half_a_value);
    race_fails(Fault::JudgesThenApplies, concurrency::readers_see_both_cells_of_a_transaction_or_neither);
    race_fails(Fault::JudgesThenApplies, concurrency::conditional_puts_have_one_winner_per_key);
    race_fails(Fault::JudgesThenApplies, concurrency::a_counter_loses_no_increment);
    race_fails(Fault::RepeatsIds, concurrency::no_id_is_handed_out_twice);
    race_fails(Fault::ShowsWhatIsStaged, staging::readers_see_all_staged_updates_or_none);
}

/// Threads show no order, and what is shown says so.
#[track_caller]
fn no_order(fault: Fault, case: fn(&Trial<'_>)) -> String {
    let attempt = |_| catch_unwind(AssertUnwindSafe(|| run(&BrokenFixture::new(fault), "", case))).err();
    let Some(failure) = (0..ATTEMPTS).find_map(attempt) else {
        panic!("there is an order of what an engine does that {fault:?}")
    };
    let told = failure.downcast_ref::<String>().unwrap().clone();
    assert!(told.contains("ISOTACH_SEED=") && told.contains("no order of these operations"), "{told}");
    println!("{fault:?}: {told}");
    told
}

#[test]
fn stale_reads_lost_updates_and_torn_values_have_no_order() {
    let case = history::operations_on_single_keys_have_an_order;
    no_order(Fault::StaysStale, case);
    no_order(Fault::JudgesThenApplies, case);
    let told = no_order(Fault::PutsInTwo, case);
    assert!(told.contains("garbled"), "{told}");
}

#[test]
fn transactions_that_come_apart_or_are_seen_too_early_have_no_order() {
    let case = history::transactions_have_an_order_and_are_seen_whole;
    no_order(Fault::JudgesThenApplies, case);
    no_order(Fault::IgnoresUnchanged, case);
    no_order(Fault::ShowsWhatIsStaged, case);
    no_order(Fault::SnapshotsFollow, case);
}
