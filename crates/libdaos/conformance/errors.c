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

static daos_handle_t closed_kv(void)
{
    daos_handle_t kv;

    OK(daos_kv_open(container(), new_oid(DAOS_OT_KV_HASHED), DAOS_OO_RW, &kv, NULL));
    OK(daos_kv_close(kv, NULL));
    return kv;
}

CHECK(a_put_through_a_closed_handle_fails, "a handle that is not open gives -DER_NO_HDL")
{
    FAILS(daos_kv_put(closed_kv(), DAOS_TX_NONE, 0, "key", 5, "value", NULL), DER_NO_HDL);
}

CHECK(a_get_through_a_closed_handle_fails, "a handle that is not open gives -DER_NO_HDL")
{
    daos_size_t size = 0;

    FAILS(daos_kv_get(closed_kv(), DAOS_TX_NONE, 0, "key", &size, NULL, NULL), DER_NO_HDL);
}

CHECK(a_second_close_of_a_kv_fails, "a handle that is not open gives -DER_NO_HDL")
{
    FAILS(daos_kv_close(closed_kv(), NULL), DER_NO_HDL);
}

CHECK(a_closed_array_handle_has_no_size, "a handle that is not open gives -DER_NO_HDL")
{
    daos_handle_t array = new_array(1, 4096);
    daos_size_t size;

    forget(array);
    OK(daos_array_close(array, NULL));
    FAILS(daos_array_get_size(array, DAOS_TX_NONE, &size, NULL), DER_NO_HDL);
}

CHECK(a_closed_container_handle_gives_no_ids, "a handle that is not open gives -DER_NO_HDL")
{
    daos_handle_t handle;
    uint64_t first;

    container();
    OK(daos_cont_open(pool(), container_label(), DAOS_COO_RW, &handle, NULL, NULL));
    OK(daos_cont_close(handle, NULL));
    FAILS(daos_cont_alloc_oids(handle, 1, &first, NULL), DER_NO_HDL);
}

CHECK(a_second_close_of_a_container_fails, "a handle that is not open gives -DER_NO_HDL")
{
    daos_handle_t handle;

    container();
    OK(daos_cont_open(pool(), container_label(), DAOS_COO_RW, &handle, NULL, NULL));
    OK(daos_cont_close(handle, NULL));
    FAILS(daos_cont_close(handle, NULL), DER_NO_HDL);
}

CHECK(a_pool_that_is_disconnected_opens_no_container, "a handle that is not open gives -DER_NO_HDL")
{
    daos_handle_t connection;
    daos_handle_t handle;

    OK(daos_pool_connect(pool_label(), NULL, DAOS_PC_RW, &connection, NULL, NULL));
    OK(daos_pool_disconnect(connection, NULL));
    FAILS(daos_cont_open(connection, container_label(), DAOS_COO_RW, &handle, NULL, NULL), DER_NO_HDL);
}

CHECK(a_second_disconnect_fails, "a handle that is not open gives -DER_NO_HDL")
{
    daos_handle_t connection;

    OK(daos_pool_connect(pool_label(), NULL, DAOS_PC_RW, &connection, NULL, NULL));
    OK(daos_pool_disconnect(connection, NULL));
    FAILS(daos_pool_disconnect(connection, NULL), DER_NO_HDL);
}

CHECK(a_closed_transaction_does_not_commit, "a handle that is not open gives -DER_NO_HDL")
{
    daos_handle_t transaction;

    OK(daos_tx_open(container(), &transaction, 0, NULL));
    OK(daos_tx_close(transaction, NULL));
    FAILS(daos_tx_commit(transaction, NULL), DER_NO_HDL);
}

CHECK(rollback_is_declared_and_missing, "cont_rollback gives -DER_NOSYS")
{
    daos_epoch_t epoch = 0;

    OK(daos_cont_create_snap(container(), &epoch, NULL, NULL));
    FAILS(daos_cont_rollback(container(), epoch, NULL), DER_NOSYS);
}

CHECK(subscribe_is_declared_and_missing, "cont_subscribe gives -DER_NOSYS")
{
    daos_epoch_t epoch = 0;

    FAILS(daos_cont_subscribe(container(), &epoch, NULL), DER_NOSYS);
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
