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

daos_handle_t open_kv_in(daos_handle_t container, daos_obj_id_t oid, unsigned int mode)
{
    daos_handle_t kv;

    OK(daos_kv_open(container, oid, mode, &kv, NULL));
    return keep(KEPT_KV, kv);
}

daos_handle_t open_kv(daos_obj_id_t oid, unsigned int mode)
{
    return open_kv_in(container(), oid, mode);
}

daos_handle_t open_object_in(daos_handle_t container, daos_obj_id_t oid, unsigned int mode)
{
    daos_handle_t object;

    OK(daos_obj_open(container, oid, mode, &object, NULL));
    return keep(KEPT_OBJECT, object);
}

daos_handle_t open_object(daos_obj_id_t oid, unsigned int mode)
{
    return open_object_in(container(), oid, mode);
}

daos_handle_t new_kv(void)
{
    return open_kv(new_oid(DAOS_OT_KV_HASHED), DAOS_OO_RW);
}

daos_handle_t new_object(void)
{
    return open_object(new_oid(DAOS_OT_MULTI_HASHED), DAOS_OO_RW);
}

daos_handle_t create_array(daos_obj_id_t oid, daos_size_t cell_size, daos_size_t chunk_size)
{
    daos_handle_t array;

    OK(daos_array_create(container(), oid, DAOS_TX_NONE, cell_size, chunk_size, &array, NULL));
    return keep(KEPT_ARRAY, array);
}

daos_handle_t open_array_with(daos_obj_id_t oid, unsigned int mode, daos_size_t cell_size, daos_size_t chunk_size)
{
    daos_handle_t array;

    OK(daos_array_open_with_attr(container(), oid, DAOS_TX_NONE, mode, cell_size, chunk_size, &array, NULL));
    return keep(KEPT_ARRAY, array);
}

daos_handle_t new_array(daos_size_t cell_size, daos_size_t chunk_size)
{
    return create_array(new_oid(DAOS_OT_ARRAY), cell_size, chunk_size);
}

daos_handle_t new_byte_array(daos_size_t chunk_size)
{
    return open_array_with(new_oid(DAOS_OT_ARRAY_BYTE), DAOS_OO_RW, 1, chunk_size);
}

daos_handle_t new_transaction(uint64_t flags)
{
    daos_handle_t transaction;

    OK(daos_tx_open(container(), &transaction, flags, NULL));
    return keep(KEPT_TRANSACTION, transaction);
}

daos_epoch_t new_snapshot(void)
{
    daos_epoch_t epoch = 0;

    OK(daos_cont_create_snap(container(), &epoch, NULL, NULL));
    return epoch;
}

daos_handle_t at_epoch(daos_epoch_t epoch)
{
    daos_handle_t transaction;

    OK(daos_tx_open_snap(container(), epoch, &transaction, NULL));
    return keep(KEPT_TRANSACTION, transaction);
}

d_iov_t iov_of(void *bytes, size_t size)
{
    d_iov_t iov;

    d_iov_set(&iov, bytes, size);
    return iov;
}

daos_key_t key_of(const char *text)
{
    return iov_of((void *)(uintptr_t)text, strlen(text));
}

daos_iod_t single(const char *akey, daos_size_t size)
{
    return (daos_iod_t){.iod_name = key_of(akey), .iod_type = DAOS_IOD_SINGLE, .iod_size = size, .iod_nr = 1};
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
    daos_iod_t iod = single(akey, size);

    return daos_obj_update(object, th, flags, KEY(dkey), 1, &iod, BUFFER(value, size), NULL);
}

int fetch_single(daos_handle_t object, daos_handle_t th, uint64_t flags, const char *dkey, const char *akey,
                 void *value, size_t capacity, daos_size_t *size)
{
    daos_iod_t iod = single(akey, DAOS_REC_ANY);
    int status = daos_obj_fetch(object, th, flags, KEY(dkey), 1, &iod, BUFFER(value, capacity), NULL, NULL);

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

int write_range(daos_handle_t array, daos_handle_t th, uint64_t index, uint64_t cells, const void *bytes, size_t size)
{
    return daos_array_write(array, th, RANGES({index, cells}), BUFFER(bytes, size), NULL);
}

int read_range(daos_handle_t array, daos_handle_t th, uint64_t index, uint64_t cells, void *bytes, size_t size)
{
    return daos_array_read(array, th, RANGES({index, cells}), BUFFER(bytes, size), NULL);
}

daos_handle_t write_text(daos_handle_t array, uint64_t index, const char *text)
{
    OK(write_range(array, DAOS_TX_NONE, index, strlen(text), text, strlen(text)));
    return array;
}

void reads_in(daos_handle_t array, daos_handle_t th, uint64_t index, const char *expected, size_t size)
{
    char found[VALUE_MAX];

    memset(found, 'x', sizeof(found));
    OK(read_range(array, th, index, size, found, size));
    BYTES(found, expected, size);
}

void reads(daos_handle_t array, uint64_t index, const char *expected, size_t size)
{
    reads_in(array, DAOS_TX_NONE, index, expected, size);
}

daos_size_t array_size(daos_handle_t array, daos_handle_t th)
{
    daos_size_t size = UINT64_MAX;

    OK(daos_array_get_size(array, th, &size, NULL));
    return size;
}
