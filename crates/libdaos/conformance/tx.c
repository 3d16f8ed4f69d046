/*
 * Transactions: states, isolation, restart.
 *
 * DAOS may ask for a restart at any read or commit, false conflicts included, so a check that expects success of a
 * transaction with company tries it again after -DER_TX_RESTART.
 */
#include "check.h"

#include <stdio.h>

SUBJECT(tx);

enum { ATTEMPTS = 20 };

CHECK(a_committed_write_is_visible, "a commit makes the writes of its transaction visible")
{
    daos_handle_t transaction = new_transaction(0);

    put_text_in(kv(), transaction, "key", "value");
    OK(daos_tx_commit(transaction, NULL));
    kv_holds(kv(), "key", "value");
}

CHECK(a_write_is_not_visible_before_the_commit, "writes are kept in the client until the commit")
{
    daos_handle_t transaction = new_transaction(0);

    put_text_in(kv(), transaction, "key", "value");
    kv_lacks(kv(), "key");
}

CHECK(a_transaction_does_not_read_its_own_writes, "reads go to the servers: no read of one's own writes")
{
    daos_handle_t transaction = new_transaction(0);

    put_text(kv(), "key", "old");
    put_text_in(kv(), transaction, "key", "new");
    kv_holds_in(kv(), transaction, "key", "old");
}

CHECK(an_aborted_write_never_happens, "an abort drops the writes of its transaction")
{
    daos_handle_t transaction = new_transaction(0);

    put_text(kv(), "key", "old");
    put_text_in(kv(), transaction, "key", "new");
    OK(daos_tx_abort(transaction, NULL));
    kv_holds(kv(), "key", "old");
}

CHECK(a_transaction_closed_before_its_commit_never_happens, "writes are kept in the client until the commit")
{
    daos_handle_t transaction = new_transaction(0);

    put_text_in(kv(), transaction, "key", "value");
    closed(transaction);
    kv_lacks(kv(), "key");
}

CHECK(writes_to_two_objects_are_committed_together, "a transaction spans the objects of its container")
{
    daos_handle_t one = new_kv();
    daos_handle_t other = new_kv();
    daos_handle_t transaction = new_transaction(0);

    put_text_in(one, transaction, "key", "1");
    put_text_in(other, transaction, "key", "2");
    kv_lacks(one, "key");
    kv_lacks(other, "key");
    OK(daos_tx_commit(transaction, NULL));
    kv_holds(one, "key", "1");
    kv_holds(other, "key", "2");
}

CHECK(a_remove_is_committed, "a commit makes the removals of its transaction visible")
{
    daos_handle_t transaction = new_transaction(0);

    put_text(kv(), "key", "value");
    OK(daos_kv_remove(kv(), transaction, 0, "key", NULL));
    kv_holds(kv(), "key", "value");
    OK(daos_tx_commit(transaction, NULL));
    kv_lacks(kv(), "key");
}

CHECK(a_remove_is_aborted, "an abort drops the removals of its transaction")
{
    daos_handle_t transaction = new_transaction(0);

    put_text(kv(), "key", "value");
    OK(daos_kv_remove(kv(), transaction, 0, "key", NULL));
    OK(daos_tx_abort(transaction, NULL));
    kv_holds(kv(), "key", "value");
}

CHECK(an_object_update_is_committed, "a commit makes the writes of its transaction visible")
{
    daos_handle_t transaction = new_transaction(0);

    OK(update_single(object(), transaction, 0, "dkey", "akey", "value", 5));
    single_lacks(object(), "dkey", "akey");
    OK(daos_tx_commit(transaction, NULL));
    single_holds(object(), "dkey", "akey", "value");
}

CHECK(an_object_punch_is_committed, "a commit makes the punches of its transaction visible")
{
    daos_handle_t transaction = new_transaction(0);

    OK(update_single(object(), DAOS_TX_NONE, 0, "dkey", "akey", "value", 5));
    OK(daos_obj_punch(object(), transaction, 0, NULL));
    single_holds(object(), "dkey", "akey", "value");
    OK(daos_tx_commit(transaction, NULL));
    single_lacks(object(), "dkey", "akey");
}

CHECK(an_array_write_is_committed, "a commit makes the writes of its transaction visible")
{
    daos_handle_t array = new_byte_array(4096);
    daos_handle_t transaction = new_transaction(0);

    OK(write_range(array, transaction, 0, 4, "four", 4));
    reads(array, 0, "xxxx", 4);
    OK(daos_tx_commit(transaction, NULL));
    reads(array, 0, "four", 4);
}

CHECK(the_last_of_two_writes_of_a_key_counts, "the writes of a transaction take effect in their order")
{
    daos_handle_t transaction = new_transaction(0);

    put_text_in(kv(), transaction, "key", "first");
    put_text_in(kv(), transaction, "key", "second");
    OK(daos_tx_commit(transaction, NULL));
    kv_holds(kv(), "key", "second");
}

CHECK(an_empty_commit_succeeds, "a commit of no operation returns 0")
{
    OK(daos_tx_commit(new_transaction(0), NULL));
}

CHECK(a_second_commit_is_refused, "a commit of a committed transaction gives -DER_ALREADY")
{
    daos_handle_t transaction = new_transaction(0);

    put_text_in(kv(), transaction, "key", "value");
    OK(daos_tx_commit(transaction, NULL));
    FAILS(daos_tx_commit(transaction, NULL), DER_ALREADY);
}

static daos_handle_t committed(void)
{
    daos_handle_t transaction = new_transaction(0);

    OK(daos_tx_commit(transaction, NULL));
    return transaction;
}

static daos_handle_t aborted(void)
{
    daos_handle_t transaction = new_transaction(0);

    OK(daos_tx_abort(transaction, NULL));
    return transaction;
}

CHECK(a_second_abort_is_refused, "an abort of an aborted transaction gives -DER_ALREADY")
{
    FAILS(daos_tx_abort(aborted(), NULL), DER_ALREADY);
}

CHECK(a_commit_after_an_abort_is_refused, "a commit in a state other than open gives -DER_NO_PERM")
{
    FAILS(daos_tx_commit(aborted(), NULL), DER_NO_PERM);
}

CHECK(a_restart_of_an_open_transaction_is_refused, "a restart is possible after a failure only, else -DER_NO_PERM")
{
    FAILS(daos_tx_restart(new_transaction(0), NULL), DER_NO_PERM);
}

CHECK(a_restart_of_a_committed_transaction_is_refused, "a restart is possible after a failure only, else -DER_NO_PERM")
{
    FAILS(daos_tx_restart(committed(), NULL), DER_NO_PERM);
}

#define READ_ONLY(sentence, call)                                                                                      \
    CHECK(sentence, "a write in a transaction of TF_RDONLY gives -DER_NO_PERM")                                        \
    {                                                                                                                  \
        daos_handle_t transaction = new_transaction(DAOS_TF_RDONLY);                                                   \
                                                                                                                       \
        FAILS(call, DER_NO_PERM);                                                                                      \
    }
READ_ONLY(a_read_only_transaction_refuses_a_put, daos_kv_put(kv(), transaction, 0, "key", 5, "value", NULL))
READ_ONLY(a_read_only_transaction_refuses_a_remove, daos_kv_remove(kv(), transaction, 0, "key", NULL))
READ_ONLY(a_read_only_transaction_refuses_an_update,
          update_single(object(), transaction, 0, "dkey", "akey", "value", 5))
READ_ONLY(a_read_only_transaction_refuses_a_punch, daos_obj_punch(object(), transaction, 0, NULL))

CHECK(a_read_only_transaction_reads_and_commits, "TF_RDONLY allows reads")
{
    daos_handle_t transaction = new_transaction(DAOS_TF_RDONLY);

    put_text(kv(), "key", "value");
    kv_holds_in(kv(), transaction, "key", "value");
    OK(daos_tx_commit(transaction, NULL));
}

CHECK(a_transaction_reads_at_one_epoch, "a later write is not seen: the old value, or -DER_TX_RESTART")
{
    daos_handle_t transaction = new_transaction(DAOS_TF_RDONLY);
    char found[8] = {0};
    daos_size_t size = sizeof(found);

    put_text(kv(), "key", "old");
    kv_holds_in(kv(), transaction, "key", "old");
    put_text(kv(), "key", "new");
    int status = daos_kv_get(kv(), transaction, 0, "key", &size, found, NULL);
    EITHER(status, 0, DER_TX_RESTART);
    if (status == 0)
        BYTES(found, "old", 3);
}

/* Reads a number and puts the next one; the caller commits. */
static int increment(daos_handle_t transaction)
{
    char text[16] = {0};
    daos_size_t size = sizeof(text);
    int number = 0;
    int status = daos_kv_get(kv(), transaction, 0, "number", &size, text, NULL);

    if (status != 0)
        return status;
    if (size > 0)
        HOLDS(sscanf(text, "%d", &number) == 1);
    snprintf(text, sizeof(text), "%d", number + 1);
    return daos_kv_put(kv(), transaction, 0, "number", strlen(text), text, NULL);
}

/* Increments and commits, from the beginning again whenever the system asks for it. */
static void increment_to_the_end(daos_handle_t transaction)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int status = increment(transaction);

        if (status == 0)
            status = daos_tx_commit(transaction, NULL);
        EITHER(status, 0, DER_TX_RESTART);
        if (status == 0)
            return;
        OK(daos_tx_restart(transaction, NULL));
    }
    HOLDS(!"the transaction gets through");
}

/* A transaction that read a number which another has changed since, and whose commit failed for that. */
static daos_handle_t failed(void)
{
    daos_handle_t loser = new_transaction(0);

    put_text(kv(), "number", "0");
    OK(increment(loser));
    increment_to_the_end(new_transaction(0));
    FAILS(daos_tx_commit(loser, NULL), DER_TX_RESTART);
    return loser;
}

CHECK(a_conflict_asks_for_a_restart, "two transactions that read and write one key: one gives -DER_TX_RESTART")
{
    failed();
    kv_holds(kv(), "number", "1");
}

CHECK(a_restarted_transaction_succeeds, "after tx_restart every operation is done again")
{
    daos_handle_t loser = failed();

    OK(daos_tx_restart(loser, NULL));
    increment_to_the_end(loser);
    kv_holds(kv(), "number", "2");
}

CHECK(an_update_is_never_lost, "transactions are serializable: a write outside is not overwritten unseen")
{
    daos_handle_t transaction = new_transaction(0);

    put_text(kv(), "number", "0");
    OK(increment(transaction));
    put_text(kv(), "number", "100");
    int status = daos_tx_commit(transaction, NULL);
    EITHER(status, 0, DER_TX_RESTART);
    // Both answers leave 100: a commit that succeeds is one that came before the write.
    kv_holds(kv(), "number", "100");
}

/* Reads one key and puts the other. */
static int put_other(daos_handle_t transaction, const char *read, const char *written)
{
    daos_size_t size = 0;
    int status = daos_kv_get(kv(), transaction, 0, read, &size, NULL, NULL);

    return status != 0 ? status : daos_kv_put(kv(), transaction, 0, written, 5, "value", NULL);
}

CHECK(two_that_read_what_the_other_writes_do_not_both_commit, "transactions are serializable: no write skew")
{
    daos_handle_t one = new_transaction(0);
    daos_handle_t other = new_transaction(0);

    OK(put_other(one, "left", "right"));
    OK(put_other(other, "right", "left"));
    int first = daos_tx_commit(one, NULL);
    EITHER(first, 0, DER_TX_RESTART);
    int second = daos_tx_commit(other, NULL);
    EITHER(second, 0, DER_TX_RESTART);
    HOLDS(first != 0 || second != 0);
}

CHECK(a_blind_write_of_a_key_that_changed_is_committed, "a transaction that read nothing has no conflict to fear")
{
    daos_handle_t transaction = new_transaction(0);

    put_text_in(kv(), transaction, "key", "new");
    put_text(kv(), "key", "old");
    OK(daos_tx_commit(transaction, NULL));
    kv_holds(kv(), "key", "new");
}

CHECK(an_abort_after_a_commit_is_refused, "an abort of a committed transaction gives -DER_NO_PERM")
{
    FAILS(daos_tx_abort(committed(), NULL), DER_NO_PERM);
}

CHECK(a_write_in_a_committed_transaction_is_refused, "an operation in a state other than open gives -DER_NO_PERM")
{
    FAILS(daos_kv_put(kv(), committed(), 0, "key", 5, "value", NULL), DER_NO_PERM);
}

CHECK(a_read_in_an_aborted_transaction_is_refused, "an operation in a state other than open gives -DER_NO_PERM")
{
    FAILS(daos_kv_get(kv(), aborted(), 0, "key", IGNORED(daos_size_t), NULL, NULL), DER_NO_PERM);
}

CHECK(an_insert_of_a_present_key_fails, "a condition that does not hold fails at the operation or at the commit")
{
    daos_handle_t transaction = new_transaction(0);

    put_text(kv(), "key", "old");
    int status = daos_kv_put(kv(), transaction, DAOS_COND_KEY_INSERT, "key", 3, "new", NULL);
    if (status == 0)
        status = daos_tx_commit(transaction, NULL);
    FAILS(status, DER_EXIST);
    kv_holds(kv(), "key", "old");
}

CHECK(a_transaction_without_operation_has_no_epoch, "hdl2epoch before the epoch is chosen gives -DER_UNINIT")
{
    FAILS(daos_tx_hdl2epoch(new_transaction(0), IGNORED(daos_epoch_t)), DER_UNINIT);
}

CHECK(a_committed_write_has_an_epoch, "hdl2epoch after a commit gives its epoch, at which its writes are read")
{
    daos_handle_t transaction = new_transaction(0);
    daos_epoch_t epoch = 0;

    put_text_in(kv(), transaction, "key", "first");
    OK(daos_tx_commit(transaction, NULL));
    OK(daos_tx_hdl2epoch(transaction, &epoch));
    put_text(kv(), "key", "second");
    kv_holds_in(kv(), at_epoch(epoch), "key", "first");
}

CHECK(a_transaction_of_an_epoch_has_that_epoch, "hdl2epoch of a transaction of tx_open_snap gives the epoch it was opened at")
{
    daos_epoch_t snapshot = new_snapshot();
    daos_epoch_t epoch = 0;

    OK(daos_tx_hdl2epoch(at_epoch(snapshot), &epoch));
    EQUAL(epoch, snapshot);
}

CHECK(a_listing_is_of_the_moment_of_its_transaction, "reads go to the epoch of the transaction")
{
    daos_handle_t transaction = new_transaction(DAOS_TF_RDONLY);
    daos_key_desc_t found[4];
    char bytes[64];
    daos_anchor_t anchor = {0};
    uint32_t count = 4;

    put_text(kv(), "key", "value");
    kv_holds_in(kv(), transaction, "key", "value");
    put_text(kv(), "later", "value");
    int status = daos_kv_list(kv(), transaction, &count, found, BUFFER(bytes, sizeof(bytes)), &anchor, NULL);
    EITHER(status, 0, DER_TX_RESTART);
    if (status == 0)
        EQUAL(count, 1);
}
