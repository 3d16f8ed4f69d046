/*
 * What many checks do with objects: make ids, open, put and get small values. See check.h.
 */
#include "check.h"

#include <stdio.h>

enum { VALUE_MAX = 256 };

daos_obj_id_t new_oid(enum daos_otype_t type)
{
    static uint64_t serial;
    daos_obj_id_t oid = {.lo = ++serial, .hi = 0};

    OK(daos_obj_generate_oid(container(), &oid, type, OC_S1, 0, 0));
    return oid;
}

daos_handle_t open_kv(daos_obj_id_t oid, unsigned int mode)
{
    daos_handle_t kv;

    OK(daos_kv_open(container(), oid, mode, &kv, NULL));
    keep(KEPT_KV, kv);
    return kv;
}

daos_handle_t open_object(daos_obj_id_t oid, unsigned int mode)
{
    daos_handle_t object;

    OK(daos_obj_open(container(), oid, mode, &object, NULL));
    keep(KEPT_OBJECT, object);
    return object;
}

daos_handle_t new_kv(void)
{
    return open_kv(new_oid(DAOS_OT_KV_HASHED), DAOS_OO_RW);
}

daos_handle_t new_object(void)
{
    return open_object(new_oid(DAOS_OT_MULTI_HASHED), DAOS_OO_RW);
}

daos_handle_t new_array(daos_size_t cell_size, daos_size_t chunk_size)
{
    daos_handle_t array;

    OK(daos_array_create(container(), new_oid(DAOS_OT_ARRAY), DAOS_TX_NONE, cell_size, chunk_size, &array, NULL));
    keep(KEPT_ARRAY, array);
    return array;
}

daos_handle_t new_byte_array(daos_size_t chunk_size)
{
    daos_handle_t array;

    OK(daos_array_open_with_attr(container(), new_oid(DAOS_OT_ARRAY_BYTE), DAOS_TX_NONE, DAOS_OO_RW, 1, chunk_size,
                                 &array, NULL));
    keep(KEPT_ARRAY, array);
    return array;
}

daos_handle_t new_transaction(uint64_t flags)
{
    daos_handle_t transaction;

    OK(daos_tx_open(container(), &transaction, flags, NULL));
    keep(KEPT_TRANSACTION, transaction);
    return transaction;
}

d_sg_list_t *buffer_of(struct buffer *buffer, void *bytes, size_t size)
{
    d_iov_set(&buffer->iov, bytes, size);
    buffer->list.sg_nr = 1;
    buffer->list.sg_nr_out = 0;
    buffer->list.sg_iovs = &buffer->iov;
    return &buffer->list;
}

daos_key_t key_of(const char *text)
{
    daos_key_t key;

    // The interface has no const here, yet it only reads a key.
    d_iov_set(&key, (void *)(uintptr_t)text, strlen(text));
    return key;
}

void put_text_in(daos_handle_t kv, daos_handle_t transaction, const char *key, const char *value)
{
    OK(daos_kv_put(kv, transaction, 0, key, strlen(value), value, NULL));
}

void put_text(daos_handle_t kv, const char *key, const char *value)
{
    put_text_in(kv, DAOS_TX_NONE, key, value);
}

void kv_holds_in(daos_handle_t kv, daos_handle_t transaction, const char *key, const char *value)
{
    char found[VALUE_MAX] = {0};
    daos_size_t size = sizeof(found) - 1;

    OK(daos_kv_get(kv, transaction, 0, key, &size, found, NULL));
    EQUAL(size, strlen(value));
    TEXT(found, value);
}

void kv_holds(daos_handle_t kv, const char *key, const char *value)
{
    kv_holds_in(kv, DAOS_TX_NONE, key, value);
}

void kv_lacks(daos_handle_t kv, const char *key)
{
    daos_size_t size = 0;

    OK(daos_kv_get(kv, DAOS_TX_NONE, 0, key, &size, NULL, NULL));
    EQUAL(size, 0);
}

int update_single(daos_handle_t object, daos_handle_t th, uint64_t flags, const char *dkey, const char *akey,
                  const void *value, size_t size)
{
    daos_key_t key = key_of(dkey);
    daos_iod_t iod = {.iod_name = key_of(akey), .iod_type = DAOS_IOD_SINGLE, .iod_size = size, .iod_nr = 1};
    struct buffer buffer;

    return daos_obj_update(object, th, flags, &key, 1, &iod, buffer_of(&buffer, (void *)(uintptr_t)value, size), NULL);
}

int fetch_single(daos_handle_t object, daos_handle_t th, uint64_t flags, const char *dkey, const char *akey,
                 void *value, size_t capacity, daos_size_t *size)
{
    daos_key_t key = key_of(dkey);
    daos_iod_t iod = {.iod_name = key_of(akey), .iod_type = DAOS_IOD_SINGLE, .iod_size = DAOS_REC_ANY, .iod_nr = 1};
    struct buffer buffer;
    int status;

    status = daos_obj_fetch(object, th, flags, &key, 1, &iod, buffer_of(&buffer, value, capacity), NULL, NULL);
    *size = iod.iod_size;
    return status;
}

void single_holds(daos_handle_t object, const char *dkey, const char *akey, const char *value)
{
    char found[VALUE_MAX] = {0};
    daos_size_t size = 0;

    OK(fetch_single(object, DAOS_TX_NONE, 0, dkey, akey, found, sizeof(found) - 1, &size));
    EQUAL(size, strlen(value));
    TEXT(found, value);
}

void single_lacks(daos_handle_t object, const char *dkey, const char *akey)
{
    char found[VALUE_MAX] = {0};
    daos_size_t size = 1;

    OK(fetch_single(object, DAOS_TX_NONE, 0, dkey, akey, found, sizeof(found), &size));
    EQUAL(size, 0);
}

static int move_range(bool write, daos_handle_t array, daos_handle_t th, daos_range_t *range, void *bytes, size_t size)
{
    daos_array_iod_t iod;
    struct buffer buffer;

    memset(&iod, 0, sizeof(iod));
    iod.arr_nr = 1;
    iod.arr_rgs = range;
    buffer_of(&buffer, bytes, size);
    if (write)
        return daos_array_write(array, th, &iod, &buffer.list, NULL);
    return daos_array_read(array, th, &iod, &buffer.list, NULL);
}

int write_range(daos_handle_t array, daos_handle_t th, uint64_t index, uint64_t cells, void *bytes, size_t size)
{
    daos_range_t range = {.rg_idx = index, .rg_len = cells};

    return move_range(true, array, th, &range, bytes, size);
}

int read_range(daos_handle_t array, daos_handle_t th, uint64_t index, uint64_t cells, void *bytes, size_t size)
{
    daos_range_t range = {.rg_idx = index, .rg_len = cells};

    return move_range(false, array, th, &range, bytes, size);
}
