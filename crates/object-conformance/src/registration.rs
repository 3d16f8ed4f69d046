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
                operations_on_single_keys_have_an_order,
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
                a_destroyed_pool_is_gone_and_can_be_created_again_empty,
                pools_have_their_own_containers,
                unknown_options_and_schemes_are_refused,
                a_registry_finds_the_engine_by_its_scheme,
            }
            container {
                a_container_is_created_once_and_opened_by_its_label,
                a_new_container_holds_its_first_updates_at_once,
                similar_labels_name_different_containers,
                the_listing_is_sorted_and_follows,
                a_destroyed_container_is_gone_and_can_be_created_again_empty,
                a_handle_never_reaches_a_later_container_of_its_label,
                containers_have_their_own_objects_and_ids,
                sizes_follow_the_stored_bytes,
            }
            facets {
                the_facets_are_those_that_the_capabilities_name,
                missing_facets_are_refused,
                rights_are_refused_without_access_control,
                unknown_properties_and_containers_are_refused,
            }
            kv {
                a_get_returns_the_last_put,
                an_empty_value_is_present,
                a_removed_entry_is_gone_and_may_come_back,
                sizes_are_known_without_the_values,
                put_if_absent_keeps_an_existing_value,
                compare_and_put_needs_the_expected_value,
                keys_are_any_bytes,
                values_of_all_sizes_come_back,
                a_key_or_value_of_a_forbidden_size_is_refused,
                a_batch_is_applied_in_order_and_answered_in_order,
                the_same_key_in_two_objects_is_two_entries,
                a_destroyed_object_is_empty_and_can_be_written_again,
            }
            listing {
                pages_of_any_size_hold_every_entry_once,
                keys_of_any_bytes_are_listed,
                an_ordered_listing_ascends,
                removed_entries_are_not_listed_and_an_empty_object_lists_nothing,
                a_listing_continues_after_the_entry_at_its_anchor_was_removed,
                a_listing_during_writes_holds_every_entry_that_stays,
                objects_are_listed_while_they_hold_something,
                distribution_and_attribute_keys_are_listed_in_pages,
                a_page_of_no_entries_is_refused,
            }
            array {
                ranges_come_back,
                new_arrays_are_written_as_others,
                write_new_of_an_existing_array_writes_it_or_refuses_whole,
                pending_reads_return_the_bytes_of_the_array,
                an_absent_array_has_no_bytes,
                reads_past_the_end_are_short,
                overlapping_rewrites_show_the_last,
                many_small_writes_agree_with_a_vector,
                holes_read_as_zeros,
                growing_adds_a_hole,
                bytes_dropped_by_shrinking_do_not_come_back,
                a_punch_makes_a_hole_and_keeps_the_size,
                a_punch_of_an_absent_array_creates_nothing,
                extents_exclude_holes,
                extents_are_cut_to_the_range,
                a_write_of_no_bytes_creates_and_does_not_grow,
                many_ranges_are_read_in_one_call,
                far_offsets_take_no_space,
                an_extent_past_the_largest_offset_is_refused,
                a_large_array_comes_back,
                a_destroyed_array_is_absent_and_can_be_written_again,
                shared_bytes_are_right_and_never_change,
            }
            general {
                each_pair_of_keys_holds_its_own_value,
                both_keys_are_any_bytes,
                records_are_read_by_index_and_holes_are_zeros,
                the_last_write_decides_between_value_and_records,
                records_are_resized_punched_and_removed,
                extents_of_records_exclude_holes,
                the_last_attribute_key_takes_its_distribution_key_along,
                removing_a_distribution_key_removes_all_under_it,
                a_destroyed_general_object_is_empty_and_can_be_written_again,
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
                unchanged_notices_creation_and_removal,
                without_a_history_unchanged_compares_contents,
                unchanged_passes_for_earlier_updates_of_the_handle,
                preconditions_are_judged_before_the_updates,
                a_transaction_without_updates_only_judges,
                epochs_grow_and_a_flush_reaches_its_epoch,
                a_commit_counts_for_every_handle_at_once,
            }
            staging {
                staged_updates_are_invisible_until_committed,
                every_kind_of_update_can_be_staged_and_counts_in_order,
                a_staging_that_is_dropped_leaves_nothing,
                a_staging_that_conflicts_changes_nothing,
                a_wrong_update_is_refused_and_the_staging_goes_on,
                stagings_of_one_handle_are_apart,
                a_staging_has_no_limit_in_size,
                readers_see_all_staged_updates_or_none,
                staged_updates_die_with_their_process,
                retries_after_conflicts_lose_no_increment,
            }
            prepared {
                prepared_updates_are_invisible_until_committed_and_then_count_in_order,
                a_prepared_name_is_unique_until_it_is_committed_or_aborted,
                an_unknown_prepared_name_cannot_be_committed_or_aborted,
                a_failed_precondition_prepares_and_commits_nothing,
                a_handle_on_the_past_lists_prepared_transactions_and_commits_none,
                prepared_transactions_outlive_their_process_and_others_commit_them,
                of_racing_commits_and_aborts_of_a_prepared_transaction_one_succeeds,
            }
            numbered {
                a_version_is_seen_when_all_participants_have_finished_and_not_before,
                versions_come_in_the_order_of_their_numbers,
                an_aborted_number_is_skipped_and_counts,
                invalid_numbered_transactions_are_refused,
                a_version_can_be_read_while_others_are_committed,
                random_starts_finishes_and_aborts_agree_with_a_plain_model,
                processes_write_versions_together_and_readers_see_each_whole_and_in_order,
                a_participant_that_dies_is_aborted_before_finishing_and_committed_after,
            }
            snapshot {
                a_snapshot_does_not_change_while_the_container_goes_on,
                a_snapshot_holds_unflushed_updates_of_its_handle,
                snapshots_are_listed_from_the_oldest_and_by_every_handle,
                a_snapshot_name_is_unique_until_its_snapshot_is_destroyed,
                a_handle_on_a_snapshot_refuses_every_write,
                a_retained_epoch_is_opened_and_another_is_refused_by_name,
                objects_of_the_engine_are_refused,
                a_snapshot_during_writes_is_a_prefix,
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
                a_flush_is_seen_by_handles_that_have_read_before,
                the_epoch_of_a_reader_includes_flushed_updates,
                a_flush_shows_everything_to_other_processes,
                flushed_updates_outlive_their_process,
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
                a_new_engine_value_finds_everything_in_the_pool,
                history_goes_on_after_reopening,
            }
            faults {
                a_flipped_bit_in_a_small_value_is_corrupt,
                a_flipped_bit_in_a_large_value_is_corrupt,
                a_flipped_bit_in_an_array_is_corrupt,
                a_flipped_bit_in_shared_bytes_is_corrupt,
                damage_to_one_array_leaves_the_others_readable,
                after_a_crash_a_prefix_with_all_flushed_updates_remains,
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
