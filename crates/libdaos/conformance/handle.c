/*
 * Handles as bytes for other processes: local to global and back. Here both ends are in one process.
 */
#include "check.h"

SUBJECT(handle);

enum { GLOBAL_MAX = 4096 };

static char bytes[GLOBAL_MAX];

typedef int (*to_global)(daos_handle_t handle, d_iov_t *global);

/* Asks for the size, then for the bytes. */
static d_iov_t global_of(to_global convert, daos_handle_t handle)
{
    d_iov_t global = {0};

    OK(convert(handle, &global));
    HOLDS(global.iov_buf_len > 0 && global.iov_buf_len <= GLOBAL_MAX);
    global.iov_buf = bytes;
    global.iov_len = global.iov_buf_len;
    OK(convert(handle, &global));
    HOLDS(global.iov_len > 0 && global.iov_len <= global.iov_buf_len);
    return global;
}

#define HAS_SIZE(sentence, convert, handle)                                                                            \
    CHECK(sentence, "local2global with a NULL buffer returns the size that is needed")                                 \
    {                                                                                                                  \
        d_iov_t global = {0};                                                                                          \
                                                                                                                       \
        OK(convert(handle, &global));                                                                                  \
        HOLDS(global.iov_buf_len > 0);                                                                                 \
    }
HAS_SIZE(a_pool_handle_has_a_size_as_bytes, daos_pool_local2global, pool())
HAS_SIZE(a_container_handle_has_a_size_as_bytes, daos_cont_local2global, container())
HAS_SIZE(an_array_handle_has_a_size_as_bytes, daos_array_local2global, new_array(1, 4096))

CHECK(a_pool_handle_comes_back, "global2local makes a handle of the same pool")
{
    d_iov_t global = global_of(daos_pool_local2global, pool());
    daos_pool_info_t here = {0};
    daos_pool_info_t there = {0};
    daos_handle_t copy;

    OK(daos_pool_global2local(global, &copy));
    keep(KEPT_POOL, copy);
    OK(daos_pool_query(pool(), NULL, &here, NULL, NULL));
    OK(daos_pool_query(copy, NULL, &there, NULL, NULL));
    BYTES(there.pi_uuid, here.pi_uuid, sizeof(here.pi_uuid));
}

static daos_handle_t container_copy(void)
{
    d_iov_t global = global_of(daos_cont_local2global, container());
    daos_handle_t copy;

    OK(daos_cont_global2local(pool(), global, &copy));
    return keep(KEPT_CONTAINER, copy);
}

CHECK(a_container_handle_comes_back, "global2local makes a handle of the same container")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);

    put_text(open_kv(oid, DAOS_OO_RW), "key", "value");
    kv_holds(open_kv_in(container_copy(), oid, DAOS_OO_RW), "key", "value");
}

CHECK(a_container_handle_that_came_back_writes, "the new handle has the rights of the old one")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);

    put_text(open_kv_in(container_copy(), oid, DAOS_OO_RW), "key", "value");
    kv_holds(open_kv(oid, DAOS_OO_RO), "key", "value");
}

CHECK(closing_the_copy_of_a_container_leaves_the_original, "the two handles are closed separately")
{
    daos_handle_t copy = container_copy();

    closed(copy);
    put_text(new_kv(), "key", "value");
}

static daos_handle_t array_copy(daos_handle_t array)
{
    d_iov_t global = global_of(daos_array_local2global, array);
    daos_handle_t copy;

    OK(daos_array_global2local(container(), global, DAOS_OO_RW, &copy));
    return keep(KEPT_ARRAY, copy);
}

CHECK(an_array_handle_comes_back, "global2local makes a handle of the same array")
{
    reads(array_copy(write_text(new_array(1, 4096), 0, "four")), 0, "four", 4);
}

CHECK(an_array_handle_keeps_its_attributes, "the bytes of an array handle hold cell and chunk size")
{
    daos_size_t cell = 0;
    daos_size_t chunk = 0;

    OK(daos_array_get_attr(array_copy(new_array(8, 512)), &chunk, &cell));
    EQUAL(cell, 8);
    EQUAL(chunk, 512);
}

CHECK(an_array_opened_with_attributes_comes_back, "the bytes of an array handle hold cell and chunk size")
{
    daos_handle_t array = new_byte_array(64);

    write_text(array_copy(array), 100, "four");
    reads(array, 100, "four", 4);
}

CHECK(the_handle_inval_is_invalid, "DAOS_HDL_INVAL has the cookie 0")
{
    daos_handle_t none = DAOS_HDL_INVAL;

    EQUAL(none.cookie, 0);
    HOLDS(daos_handle_is_inval(none));
    HOLDS(!daos_handle_is_inval(pool()));
}
