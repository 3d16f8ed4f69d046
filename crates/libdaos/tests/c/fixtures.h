/* What nearly all programs of these tests open and pass, besides expect.h. */
#ifndef FIXTURES_H
#define FIXTURES_H

#include <stdlib.h>
#include <string.h>

#include <daos.h>

#include "expect.h"

/* That a call succeeds, without which nothing else makes sense: else the program ends. */
#define MUST(call) must((call), #call, __LINE__)

static inline void must(int rc, const char *what, int line)
{
    if (rc != 0) {
        fprintf(stderr, "line %d: %s: %s (%d)\n", line, what, d_errstr(rc), rc);
        exit(EXIT_FAILURE);
    }
}

/* Initialises the library and connects to a pool. */
static inline daos_handle_t begin(const char *label)
{
    daos_handle_t pool;
    MUST(daos_init());
    MUST(daos_pool_connect(label, NULL, DAOS_PC_RW, &pool, NULL, NULL));
    return pool;
}

/* The opposite; gives what the program gives. */
static inline int end(daos_handle_t pool)
{
    IS(daos_pool_disconnect(pool, NULL), 0);
    IS(daos_fini(), 0);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static inline daos_handle_t open_container(daos_handle_t pool, const char *name)
{
    daos_handle_t container;
    MUST(daos_cont_open(pool, name, DAOS_COO_RW, &container, NULL, NULL));
    return container;
}

static inline daos_handle_t new_container(daos_handle_t pool, const char *label)
{
    MUST(daos_cont_create_with_label(pool, label, NULL, NULL, NULL));
    return open_container(pool, label);
}

/* The id of an object of class S1, and what is opened by it. */
static inline daos_obj_id_t id_of(daos_handle_t container, uint64_t number, enum daos_otype_t type)
{
    daos_obj_id_t id = {.lo = number};
    MUST(daos_obj_generate_oid(container, &id, type, OC_S1, 0, 0));
    return id;
}

static inline daos_handle_t open_map(daos_handle_t container, uint64_t number)
{
    daos_handle_t map;
    MUST(daos_kv_open(container, id_of(container, number, DAOS_OT_KV_HASHED), DAOS_OO_RW, &map, NULL));
    return map;
}

static inline daos_handle_t open_object(daos_handle_t container, uint64_t number, enum daos_otype_t type)
{
    daos_handle_t object;
    MUST(daos_obj_open(container, id_of(container, number, type), DAOS_OO_RW, &object, NULL));
    return object;
}

static inline daos_handle_t open_byte_array(daos_handle_t container, daos_obj_id_t id, daos_size_t chunk_size)
{
    daos_handle_t array;
    MUST(daos_array_open_with_attr(container, id, DAOS_TX_NONE, DAOS_OO_RW, 1, chunk_size, &array, NULL));
    return array;
}

/* Lists of buffers, keys and ranges of an array, which live as long as the block that they stand in. The interface has no
 * const here, yet only reads keys and what is written. */
#define LISTS(...)                                                                                                     \
    (&(d_sg_list_t){.sg_nr = sizeof((d_iov_t[]){__VA_ARGS__}) / sizeof(d_iov_t), .sg_iovs = (d_iov_t[]){__VA_ARGS__}})
#define LIST(bytes, size) LISTS(iov_of((void *)(uintptr_t)(bytes), size))
#define KEY(text) ((daos_key_t[]){iov_of((void *)(uintptr_t)(text), strlen(text))})
#define RANGE(first, length) (&(daos_array_iod_t){.arr_nr = 1, .arr_rgs = &(daos_range_t){first, length}})

static inline d_iov_t iov_of(void *bytes, size_t size)
{
    d_iov_t iov;
    d_iov_set(&iov, bytes, size);
    return iov;
}

#endif
