/*
 * Errors: their numbers, handles that are closed, calls that DAOS declares and does not have.
 */
#include "check.h"

SUBJECT(errors);

CHECK(the_numbers_of_errors_are_those_of_daos, "programs compare with the numbers, so they are part of the interface")
{
    EQUAL(DER_NO_PERM, 1001);
    EQUAL(DER_NO_HDL, 1002);
    EQUAL(DER_INVAL, 1003);
    EQUAL(DER_EXIST, 1004);
    EQUAL(DER_NONEXIST, 1005);
    EQUAL(DER_NOSPACE, 1007);
    EQUAL(DER_ALREADY, 1008);
    EQUAL(DER_NOMEM, 1009);
    EQUAL(DER_NOSYS, 1010);
    EQUAL(DER_TIMEDOUT, 1011);
    EQUAL(DER_BUSY, 1012);
    EQUAL(DER_UNINIT, 1015);
    EQUAL(DER_TRUNC, 1016);
    EQUAL(DER_OVERFLOW, 1017);
    EQUAL(DER_MISC, 1025);
    EQUAL(DER_IO, 2001);
    EQUAL(DER_KEY2BIG, 2012);
    EQUAL(DER_REC2BIG, 2013);
    EQUAL(DER_INPROGRESS, 2018);
    EQUAL(DER_CSUM, 2021);
    EQUAL(DER_TX_RESTART, 2025);
    EQUAL(DER_RF, 2031);
    EQUAL(DER_NOTSUPPORTED, 2037);
}

#define CLOSED(sentence, call)                                                                                         \
    CHECK(sentence, "a handle that is not open gives -DER_NO_HDL")                                                     \
    {                                                                                                                  \
        FAILS(call, DER_NO_HDL);                                                                                       \
    }
CLOSED(a_put_through_a_closed_handle_fails, daos_kv_put(closed(new_kv()), DAOS_TX_NONE, 0, "key", 5, "value", NULL))
CLOSED(a_get_through_a_closed_handle_fails,
       daos_kv_get(closed(new_kv()), DAOS_TX_NONE, 0, "key", IGNORED(daos_size_t), NULL, NULL))
CLOSED(a_second_close_of_a_kv_fails, daos_kv_close(closed(new_kv()), NULL))
CLOSED(a_closed_array_handle_has_no_size,
       daos_array_get_size(closed(new_array(1, 4096)), DAOS_TX_NONE, IGNORED(daos_size_t), NULL))
CLOSED(a_closed_container_handle_gives_no_ids,
       daos_cont_alloc_oids(closed(open_container(container_label(), DAOS_COO_RW)), 1, IGNORED(uint64_t), NULL))
CLOSED(a_second_close_of_a_container_fails,
       daos_cont_close(closed(open_container(container_label(), DAOS_COO_RW)), NULL))
CLOSED(a_pool_that_is_disconnected_opens_no_container,
       daos_cont_open(closed(connect_to_pool(DAOS_PC_RW)), container_label(), DAOS_COO_RW, IGNORED(daos_handle_t), NULL,
                      NULL))
CLOSED(a_second_disconnect_fails, daos_pool_disconnect(closed(connect_to_pool(DAOS_PC_RW)), NULL))
CLOSED(a_closed_transaction_does_not_commit, daos_tx_commit(closed(new_transaction(0)), NULL))

CHECK(rollback_is_declared_and_missing, "cont_rollback gives -DER_NOSYS")
{
    FAILS(daos_cont_rollback(container(), new_snapshot(), NULL), DER_NOSYS);
}

CHECK(subscribe_is_declared_and_missing, "cont_subscribe gives -DER_NOSYS")
{
    FAILS(daos_cont_subscribe(container(), IGNORED(daos_epoch_t), NULL), DER_NOSYS);
}

CHECK(aggregate_up_to_now_succeeds, "cont_aggregate with the epoch 0 means now")
{
    put_text(new_kv(), "key", "value");
    OK(daos_cont_aggregate(container(), 0, NULL));
}

CHECK(aggregate_up_to_the_highest_epoch_is_invalid, "cont_aggregate with the epoch MAX gives -DER_INVAL")
{
    FAILS(daos_cont_aggregate(container(), UINT64_MAX, NULL), DER_INVAL);
}
