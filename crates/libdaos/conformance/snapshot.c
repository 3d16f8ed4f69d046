/*
 * Snapshots: create, list, read at, destroy; epochs.
 */
#include "check.h"

#include <time.h>

SUBJECT(snapshot);

enum { EPOCHS_MAX = 32 };

/* 2021-01-01 00:00 UTC, the beginning of epochs, in seconds of Unix time. */
#define EPOCH_ZERO 1609459200

static void destroy(daos_epoch_t low, daos_epoch_t high)
{
    daos_epoch_range_t range = {.epr_lo = low, .epr_hi = high};

    OK(daos_cont_destroy_snap(container(), range, NULL));
}

static uint32_t snapshots(void)
{
    daos_cont_info_t info = {0};

    OK(daos_cont_query(container(), &info, NULL, NULL));
    return info.ci_nsnapshots;
}

CHECK(create_returns_an_epoch, "a snapshot is an epoch")
{
    HOLDS(new_snapshot() != 0);
}

CHECK(later_snapshots_have_higher_epochs, "epochs rise")
{
    daos_epoch_t first = new_snapshot();

    HOLDS(new_snapshot() > first);
}

CHECK(the_epoch_is_the_present_time, "epochs count sixteenths of a nanosecond since 2021")
{
    daos_epoch_t epoch = new_snapshot();
    int64_t seconds = (int64_t)(epoch / 16 / 1000000000) + EPOCH_ZERO;
    int64_t difference = seconds - (int64_t)time(NULL);

    // The clocks of a cluster and of this node may differ a little.
    HOLDS(difference > -300 && difference < 300);
}

CHECK(a_snapshot_with_options_is_created, "create_snap_opt with OPT_CR makes a snapshot")
{
    daos_epoch_t epoch = 0;

    OK(daos_cont_create_snap_opt(container(), &epoch, NULL, DAOS_SNAP_OPT_CR, NULL));
    HOLDS(epoch != 0);
    EQUAL(snapshots(), 1);
}

CHECK(query_counts_the_snapshots, "ci_nsnapshots is the number of snapshots")
{
    EQUAL(snapshots(), 0);
    new_snapshot();
    new_snapshot();
    EQUAL(snapshots(), 2);
}

CHECK(query_names_the_last_snapshot, "ci_lsnapshot is the epoch of the last snapshot")
{
    daos_cont_info_t info = {0};

    new_snapshot();
    daos_epoch_t last = new_snapshot();
    OK(daos_cont_query(container(), &info, NULL, NULL));
    EQUAL(info.ci_lsnapshot, last);
}

CHECK(list_names_every_epoch, "list_snap returns the epochs of the snapshots")
{
    daos_epoch_t made[3] = {new_snapshot(), new_snapshot(), new_snapshot()};
    daos_epoch_t epochs[EPOCHS_MAX] = {0};
    daos_anchor_t anchor = {0};
    int nr = EPOCHS_MAX;

    OK(daos_cont_list_snap(container(), &nr, epochs, NULL, &anchor, NULL));
    EQUAL(nr, 3);
    for (int i = 0; i < 3; i++)
        HOLDS(epochs[0] == made[i] || epochs[1] == made[i] || epochs[2] == made[i]);
}

CHECK(a_snapshot_keeps_a_value_that_is_replaced, "a read at a snapshot sees what was there when it was made")
{
    put_text(kv(), "key", "old");
    daos_epoch_t epoch = new_snapshot();
    put_text(kv(), "key", "new");
    kv_holds_in(kv(), at_epoch(epoch), "key", "old");
    kv_holds(kv(), "key", "new");
}

CHECK(a_snapshot_keeps_a_value_that_is_removed, "a read at a snapshot sees what was there when it was made")
{
    put_text(kv(), "key", "value");
    daos_epoch_t epoch = new_snapshot();
    OK(daos_kv_remove(kv(), DAOS_TX_NONE, 0, "key", NULL));
    kv_holds_in(kv(), at_epoch(epoch), "key", "value");
    kv_lacks(kv(), "key");
}

CHECK(a_snapshot_keeps_an_object_that_is_destroyed, "a read at a snapshot sees what was there when it was made")
{
    put_text(kv(), "key", "value");
    daos_epoch_t epoch = new_snapshot();
    OK(daos_kv_destroy(kv(), DAOS_TX_NONE, NULL));
    kv_holds_in(kv(), at_epoch(epoch), "key", "value");
}

CHECK(a_snapshot_does_not_show_later_values, "a read at a snapshot sees what was there when it was made")
{
    daos_epoch_t epoch = new_snapshot();
    daos_size_t size = 1;

    put_text(kv(), "key", "value");
    OK(daos_kv_get(kv(), at_epoch(epoch), 0, "key", &size, NULL, NULL));
    EQUAL(size, 0);
}

CHECK(two_snapshots_show_two_states, "a read at a snapshot sees what was there when it was made")
{
    put_text(kv(), "key", "first");
    daos_epoch_t first = new_snapshot();
    put_text(kv(), "key", "second");
    daos_epoch_t second = new_snapshot();
    put_text(kv(), "key", "third");
    kv_holds_in(kv(), at_epoch(first), "key", "first");
    kv_holds_in(kv(), at_epoch(second), "key", "second");
}

CHECK(a_snapshot_keeps_the_cells_of_an_array, "a read at a snapshot sees what was there when it was made")
{
    daos_handle_t array = write_text(new_byte_array(4096), 0, "aaaa");
    daos_epoch_t epoch = new_snapshot();

    write_text(array, 0, "bbbb");
    reads_in(array, at_epoch(epoch), 0, "aaaa", 4);
}

CHECK(an_array_reads_at_the_epoch_that_stat_tells, "st_max_epoch is an epoch, at which the array is as it was then")
{
    daos_handle_t array = write_text(new_byte_array(4096), 0, "four");
    daos_array_stbuf_t stat = {0};

    OK(daos_array_stat(array, DAOS_TX_NONE, &stat, NULL));
    EQUAL(stat.st_size, 4);
    write_text(array, 0, "later");
    EQUAL(array_size(array, at_epoch(stat.st_max_epoch)), 4);
    reads_in(array, at_epoch(stat.st_max_epoch), 0, "fourxxxx", 8);
}

CHECK(a_transaction_of_a_snapshot_refuses_a_put, "a write in the transaction of a snapshot gives -DER_NO_PERM")
{
    FAILS(daos_kv_put(kv(), at_epoch(new_snapshot()), 0, "key", 5, "value", NULL), DER_NO_PERM);
}

CHECK(a_transaction_of_a_snapshot_refuses_a_punch, "a write in the transaction of a snapshot gives -DER_NO_PERM")
{
    FAILS(daos_obj_punch(object(), at_epoch(new_snapshot()), 0, NULL), DER_NO_PERM);
}

#define EPOCH_REFUSED(sentence, epoch)                                                                                 \
    CHECK(sentence, "tx_open_snap of the epochs 0 and MAX gives -DER_INVAL")                                           \
    {                                                                                                                  \
        FAILS(daos_tx_open_snap(container(), epoch, IGNORED(daos_handle_t), NULL), DER_INVAL);                         \
    }
EPOCH_REFUSED(a_transaction_at_epoch_zero_is_invalid, 0)
EPOCH_REFUSED(a_transaction_at_the_highest_epoch_is_invalid, UINT64_MAX)

CHECK(a_transaction_may_name_an_epoch_without_a_snapshot, "tx_open_snap does not look whether the snapshot exists")
{
    at_epoch(new_snapshot() - 1);
}

CHECK(destroy_of_one_epoch_leaves_the_others, "a range whose ends are equal is one snapshot")
{
    daos_epoch_t first = new_snapshot();

    new_snapshot();
    daos_epoch_t last = new_snapshot();
    destroy(first, first);
    EQUAL(snapshots(), 2);
    destroy(last, last);
    EQUAL(snapshots(), 1);
}

CHECK(destroy_from_zero_takes_all_up_to_an_epoch, "a range from 0 takes every snapshot up to its end")
{
    new_snapshot();
    daos_epoch_t second = new_snapshot();
    new_snapshot();
    destroy(0, second);
    EQUAL(snapshots(), 1);
}

CHECK(destroy_to_the_highest_epoch_takes_all_from_an_epoch, "a range to MAX takes every snapshot from its beginning")
{
    new_snapshot();
    daos_epoch_t second = new_snapshot();
    new_snapshot();
    destroy(second, UINT64_MAX);
    EQUAL(snapshots(), 1);
}

CHECK(destroy_of_a_snapshot_keeps_the_present_state, "a snapshot holds no data of its own")
{
    put_text(kv(), "key", "value");
    daos_epoch_t epoch = new_snapshot();
    destroy(epoch, epoch);
    kv_holds(kv(), "key", "value");
}
