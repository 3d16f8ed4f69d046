//! The line by which an engine enters the suite, and the list of all cases.

/// Makes a module for an engine with one test per case: `conformance_suite! { name => fixture }`, where
/// the fixture is an expression for a [`Fixture`](crate::Fixture), evaluated for each test.
///
/// The module also has a test `child_process`, which does nothing by itself: it is how a case runs a part
/// of itself in another process.
#[macro_export]
macro_rules! conformance_suite {
    ($($engines:tt)+) => { $crate::__suite! { __conformance_cases $($engines)+ } };
}

/// Makes a module for an engine that checks histories of several processes: `history_suite! { name => fixture }`, with a
/// fixture as [`conformance_suite!`](crate::conformance_suite) has it. See [`crate::history`].
#[macro_export]
macro_rules! history_suite {
    ($($engines:tt)+) => { $crate::__suite! { __history_cases $($engines)+ } };
}

/// A module for each engine, with a test for each case of a list.
#[doc(hidden)]
#[macro_export]
macro_rules! __suite {
    ($cases:ident $($name:ident => $fixture:expr),+ $(,)?) => { $(
        mod $name {
            #[allow(unused_imports, reason = "the fixture may need none of them")]
            use super::*;

            const CHILD: &str = concat!(module_path!(), "::child_process");

            #[test]
            fn child_process() {
                $crate::run_child(&$fixture);
            }

            $crate::$cases! { $fixture }
        }
    )+ };
}

/// The list of all cases that make histories.
#[doc(hidden)]
#[macro_export]
macro_rules! __history_cases {
    ($fixture:expr) => {
        $crate::__conformance_tests! { $fixture;
            history {
                what_happens_to_single_keys_has_an_order,
                transactions_have_an_order_and_are_seen_whole,
            }
        }
    };
}

/// The list of all cases, by subject. A test of this crate compares it with the functions there are.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_cases {
    ($fixture:expr) => {
        $crate::__conformance_tests! { $fixture;
            pool {
                a_pool_is_created_once_and_opened_by_its_uri,
                a_destroyed_pool_is_gone_and_may_be_made_again_empty,
                pools_have_their_own_containers,
                an_option_or_a_scheme_that_the_engine_does_not_know_is_refused,
                a_registry_finds_the_engine_by_its_scheme,
            }
            container {
                a_container_is_created_once_and_opened_by_its_label,
                a_container_has_from_the_first_moment_on_what_it_is_made_with,
                labels_are_told_apart,
                the_listing_is_sorted_and_follows,
                a_destroyed_container_is_gone_and_may_be_made_again_empty,
                a_handle_never_reaches_the_container_that_came_after_its_own,
                containers_have_their_own_objects_and_ids,
                the_facets_are_those_that_the_capabilities_name,
                properties_that_there_are_not_are_refused_by_name_and_those_of_no_container_as_well,
                sizes_follow_what_is_stored,
            }
            kv {
                what_was_put_is_got_and_a_put_replaces_it,
                an_empty_value_is_present,
                a_removed_entry_is_gone_and_may_come_back,
                sizes_are_known_without_the_values,
                put_if_absent_keeps_what_is_there,
                compare_and_put_needs_the_expected_value,
                keys_are_any_bytes,
                values_of_all_sizes_come_back,
                a_key_or_value_of_a_forbidden_size_is_refused,
                a_batch_is_applied_in_order_and_answered_in_order,
                the_same_key_in_two_objects_is_two_entries,
                a_destroyed_object_is_empty_and_may_be_written_again,
            }
            listing {
                pages_of_any_size_hold_every_entry_once,
                keys_of_any_bytes_are_listed,
                an_ordered_listing_ascends,
                what_is_gone_is_not_listed_and_an_empty_object_lists_nothing,
                a_listing_goes_on_after_the_entry_it_stopped_at_was_removed,
                a_listing_during_writes_holds_what_was_there_throughout,
                objects_are_listed_while_they_hold_something,
                distribution_and_attribute_keys_are_listed_in_pages,
                a_page_of_nothing_is_refused,
            }
            array {
                ranges_come_back,
                arrays_that_are_told_to_be_new_are_written_as_others,
                an_array_that_is_there_is_written_as_a_new_one_or_refused_whole,
                reads_that_were_begun_give_what_is_there,
                an_array_that_is_absent_has_no_bytes,
                reads_past_the_end_are_short,
                overlapping_rewrites_show_the_last,
                many_small_writes_agree_with_a_vector,
                holes_read_as_zeros,
                growing_adds_a_hole,
                what_shrinking_dropped_does_not_come_back,
                a_punch_makes_a_hole_and_keeps_the_size,
                a_punch_of_what_is_absent_creates_nothing,
                what_was_written_is_told_from_holes,
                a_range_of_what_was_written_is_told,
                a_write_of_nothing_creates_and_does_not_grow,
                many_ranges_are_read_in_one_call,
                far_offsets_take_no_room,
                an_extent_past_the_largest_offset_is_refused,
                a_large_array_comes_back,
                a_destroyed_array_is_absent_and_may_be_written_again,
                shared_bytes_are_right_and_never_change,
            }
            general {
                each_pair_of_keys_holds_its_own_value,
                both_keys_are_any_bytes,
                records_are_read_by_index_and_holes_are_zeros,
                the_last_write_decides_between_value_and_records,
                records_are_resized_punched_and_removed,
                what_was_written_of_records_is_told_from_holes,
                the_last_attribute_key_takes_its_distribution_key_along,
                removing_a_distribution_key_removes_all_under_it,
                a_destroyed_object_holds_nothing_and_may_be_written_again,
                array_handles_refuse_general_objects,
            }
            transaction {
                updates_of_a_transaction_count_together_and_in_order,
                a_transaction_that_fails_changes_nothing,
                a_conflict_names_the_object_and_the_key,
                absent_and_present_speak_of_every_kind_of_cell,
                an_empty_array_and_empty_records_are_present,
                equals_compares_values_and_never_records,
                unchanged_holds_until_an_update_names_the_cell,
                unchanged_notices_what_came_and_went,
                without_a_history_unchanged_compares_what_a_cell_holds,
                unchanged_passes_for_what_the_handle_itself_did_before_it_looked,
                preconditions_are_judged_before_the_updates,
                a_transaction_without_updates_only_judges,
                epochs_grow_and_a_flush_covers_what_it_flushed,
                what_is_committed_counts_for_all_at_once,
            }
            staging {
                what_is_staged_is_unseen_until_it_is_committed,
                every_kind_of_update_can_be_staged_and_counts_in_order,
                a_staging_that_is_dropped_leaves_nothing,
                a_staging_that_conflicts_changes_nothing,
                a_wrong_update_is_refused_and_the_staging_goes_on,
                stagings_of_one_handle_are_apart,
                a_staging_has_no_limit_in_size,
                readers_see_all_that_was_staged_or_nothing,
                what_a_process_has_staged_dies_with_it,
                who_retries_a_conflict_loses_no_increment,
            }
            prepared {
                what_is_prepared_is_unseen_until_it_is_committed_and_then_counts_in_order,
                a_prepared_name_is_given_once_and_free_again_when_it_is_committed_or_aborted,
                what_is_not_prepared_cannot_be_committed_or_aborted,
                a_condition_that_fails_prepares_nothing_and_commits_nothing_prepared,
                a_handle_on_the_past_shows_what_was_prepared_and_commits_nothing,
                what_processes_have_prepared_outlives_them_and_is_committed_by_another,
                of_several_that_commit_or_abort_what_is_prepared_one_succeeds,
            }
            numbered {
                a_version_is_seen_when_all_participants_have_finished_and_not_before,
                versions_come_in_the_order_of_their_numbers,
                an_aborted_number_is_skipped_and_counts,
                what_makes_no_transaction_is_refused,
                a_version_can_be_read_while_others_are_committed,
                random_starts_finishes_and_aborts_agree_with_a_plain_model,
                processes_write_versions_together_and_readers_see_each_whole_and_in_order,
                who_dies_before_finishing_is_aborted_and_who_dies_after_it_is_committed_by_others,
            }
            snapshot {
                a_snapshot_does_not_change_while_the_container_goes_on,
                a_snapshot_holds_what_its_handle_had_not_flushed,
                snapshots_are_listed_from_the_oldest_and_by_every_handle,
                a_name_is_given_once_and_is_free_again_when_its_snapshot_is_gone,
                a_handle_on_a_snapshot_refuses_every_write,
                an_epoch_that_is_kept_is_opened_and_another_is_told,
                an_object_of_the_engine_is_nobodys,
                a_snapshot_made_while_writers_write_is_a_prefix,
            }
            refusal {
                a_batch_with_one_wrong_update_does_nothing,
                reads_of_the_wrong_type_are_refused,
                lists_of_the_wrong_type_are_refused,
                a_precondition_on_a_malformed_cell_is_refused,
                typed_handles_refuse_objects_of_other_types,
                a_redundant_class_is_kept_or_refused,
                an_allocation_of_no_ids_is_refused,
            }
            visibility {
                a_handle_sees_its_own_updates_at_once,
                a_flush_shows_everything_to_handles_new_and_old,
                what_was_flushed_is_seen_by_a_handle_that_looked_before,
                the_epoch_of_a_reader_reaches_what_was_flushed,
                a_flush_shows_everything_to_other_processes,
                what_was_flushed_outlives_a_process_that_dies,
                others_see_the_updates_of_a_handle_in_its_order,
            }
            concurrency {
                conditional_puts_have_one_winner_per_key,
                a_counter_loses_no_increment,
                no_id_is_handed_out_twice,
                readers_never_see_half_a_value,
                readers_see_both_cells_of_a_transaction_or_neither,
                readers_see_an_array_that_is_rewritten_whole,
                containers_created_at_once_have_one_creator_each,
                one_handle_serves_many_threads,
            }
            persistence {
                everything_is_there_when_a_new_engine_opens_the_pool,
                history_goes_on_after_reopening,
            }
            faults {
                a_flipped_bit_in_a_small_value_is_corrupt,
                a_flipped_bit_in_a_large_value_is_corrupt,
                a_flipped_bit_in_an_array_is_corrupt,
                a_flipped_bit_in_shared_bytes_is_corrupt,
                damage_to_one_array_leaves_the_others_readable,
                after_a_crash_the_container_holds_a_prefix_with_all_that_was_flushed,
                a_full_storage_is_no_space_and_loses_nothing,
            }
        }
    };
}

/// One test per case.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_tests {
    ($fixture:expr; $($subject:ident { $($case:ident,)+ })+) => { $(
        mod $subject {
            #[allow(unused_imports, reason = "the fixture may need none of them")]
            use super::*;

            $(
                #[test]
                fn $case() {
                    $crate::run(&$fixture, super::CHILD, $crate::$subject::$case);
                }
            )+
        }
    )+ };
}
