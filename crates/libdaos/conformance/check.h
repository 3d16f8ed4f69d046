/*
 * The harness of the conformance program: what a check is, what it may use, and how it states its expectations.
 *
 * A check is a function whose name is a sentence and which carries the rule that it checks. It runs on the calling
 * thread, gets a container of its own on the first call of `container()`, as it does objects with `kv()` and
 * `object()`, and ends at the first expectation that is not met. Whatever it opened through this file is closed, and its
 * containers are destroyed, however it ends.
 *
 * Must stay true: the program uses only the declared interface of DAOS, so that it builds and runs unchanged against
 * any library that has this interface.
 */
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <daos.h>
#include <daos_prop.h>
#include <daos_security.h>

struct check {
    const char *name;
    const char *rule;
    void (*run)(void);
    struct check *next;
};

struct subject {
    const char *name;
    struct check *first;
    struct check **end;
};

/* Names the subject of a file, before its checks. */
#define SUBJECT(identifier)                                                                                            \
    struct subject identifier##_subject = {.name = #identifier, .end = &identifier##_subject.first};                   \
    static struct subject *const this_subject = &identifier##_subject

/* Defines a check, which is behind those of its subject before main begins. */
#define CHECK(sentence, rule_text)                                                                                     \
    static void sentence(void);                                                                                        \
    __attribute__((constructor)) static void add_##sentence(void)                                                      \
    {                                                                                                                  \
        static struct check check = {#sentence, rule_text, sentence, NULL};                                            \
                                                                                                                       \
        *this_subject->end = &check;                                                                                   \
        this_subject->end = &check.next;                                                                               \
    }                                                                                                                  \
    static void sentence(void)

/* Expectations. Each one evaluates its arguments once. */
#define OK(call) expect_status((call), 0, 0, #call, __FILE__, __LINE__)
#define FAILS(call, status) expect_status((call), -(status), -(status), #call, __FILE__, __LINE__)
#define EITHER(call, one, other) expect_status((call), -(one), -(other), #call, __FILE__, __LINE__)
#define EQUAL(found, expected) expect_number((uint64_t)(found), (uint64_t)(expected), #found, __FILE__, __LINE__)
#define BYTES(found, expected, size) expect_bytes((found), (expected), (size), #found, __FILE__, __LINE__)
#define TEXT(found, expected) expect_text((found), (expected), #found, __FILE__, __LINE__)
#define HOLDS(condition) expect_condition((condition), #condition, __FILE__, __LINE__)
#define SKIP(reason) skip_check(reason)

/* A place, filled with zeros, for a result that a check does not look at. */
#define IGNORED(type) (&(type){0})

/* The number of elements of an array of `type` with this initializer. */
#define COUNT(type, ...) (sizeof((type[]){__VA_ARGS__}) / sizeof(type))

void expect_status(int found, int expected, int other, const char *what, const char *file, int line);
void expect_number(uint64_t found, uint64_t expected, const char *what, const char *file, int line);
void expect_bytes(const void *found, const void *expected, size_t size, const char *what, const char *file, int line);
void expect_text(const char *found, const char *expected, const char *what, const char *file, int line);
void expect_condition(bool condition, const char *what, const char *file, int line);
_Noreturn void skip_check(const char *reason);

/* The name of a status for people: "-DER_NONEXIST". */
const char *status_name(int status);

/* What every check shares: the pool, connected for reading and writing when the program starts. */
daos_handle_t pool(void);
const char *pool_label(void);

/* The container of this check, with redundancy factor 0 so that S1 is allowed on every system; label and UUID. */
daos_handle_t container(void);
const char *container_label(void);

/* A label that no other check and no other run uses; the container with it, if any, is destroyed at the end. */
const char *new_label(void);

/* The label of a new container with redundancy factor 0. */
const char *new_container(void);
daos_handle_t open_container(const char *label, unsigned int flags);

/* Another connection to the pool, by its label. */
daos_handle_t connect_to_pool(unsigned int flags);

/* A property with these entries. */
#define PROP(...)                                                                                                      \
    (&(daos_prop_t){.dpp_nr = COUNT(struct daos_prop_entry, __VA_ARGS__),                                              \
                    .dpp_entries = (struct daos_prop_entry[]){__VA_ARGS__}})

/* The property that each container of the program is created with. */
daos_prop_t *redundancy_zero(void);

/* The answer to a query for one property of a container, which the caller frees, and its entry. */
daos_prop_t *query_prop(daos_handle_t handle, uint32_t type, struct daos_prop_entry **entry);

/* The text of a UUID, in a static buffer that the next call overwrites. */
const char *uuid_text(const unsigned char *uuid);

/* An object id that this run has not used, of class S1, in the container of this check. */
daos_obj_id_t new_oid(enum daos_otype_t type);

/* The key-value object and the object of this check, which are opened for reading and writing on the first call. */
daos_handle_t kv(void);
daos_handle_t object(void);

/* Objects that are closed when the check ends. */
daos_handle_t open_kv(daos_obj_id_t oid, unsigned int mode);
daos_handle_t open_kv_in(daos_handle_t container, daos_obj_id_t oid, unsigned int mode);
daos_handle_t open_object(daos_obj_id_t oid, unsigned int mode);
daos_handle_t open_object_in(daos_handle_t container, daos_obj_id_t oid, unsigned int mode);
daos_handle_t new_kv(void);
daos_handle_t new_object(void);
daos_handle_t create_array(daos_obj_id_t oid, daos_size_t cell_size, daos_size_t chunk_size);
daos_handle_t open_array_with(daos_obj_id_t oid, unsigned int mode, daos_size_t cell_size, daos_size_t chunk_size);
daos_handle_t new_array(daos_size_t cell_size, daos_size_t chunk_size);
daos_handle_t new_byte_array(daos_size_t chunk_size);
daos_handle_t new_transaction(uint64_t flags);

/* Snapshots, and the transaction that reads at an epoch. */
daos_epoch_t new_snapshot(void);
daos_handle_t at_epoch(daos_epoch_t epoch);

/* Hands a handle to the harness, which closes it when the check ends, the newest first; returns it. */
enum kept { KEPT_POOL, KEPT_CONTAINER, KEPT_OBJECT, KEPT_KV, KEPT_ARRAY, KEPT_TRANSACTION, KEPT_OIT, KEPT_QUEUE };
daos_handle_t keep(enum kept kind, daos_handle_t handle);

/* Closes a handle that the harness has, which must succeed; returns what is a handle no more. */
daos_handle_t closed(daos_handle_t handle);

/* Scatter lists and keys, which live as long as the block that they stand in. The interface has no const here, yet only
 * reads keys and what is written. */
#define BUFFERS(...) (&(d_sg_list_t){.sg_nr = COUNT(d_iov_t, __VA_ARGS__), .sg_iovs = (d_iov_t[]){__VA_ARGS__}})
#define BUFFER(bytes, size) BUFFERS(iov_of((void *)(uintptr_t)(bytes), size))
#define KEY(text) ((daos_key_t[]){key_of(text)})
#define NUMBER_KEY(number) ((daos_key_t[]){iov_of(&(uint64_t){number}, sizeof(uint64_t))})
d_iov_t iov_of(void *bytes, size_t size);
daos_key_t key_of(const char *text);

/* Descriptions of what is under an akey, and of the cells of an array; an extent is {index, number}. */
daos_iod_t single(const char *akey, daos_size_t size);
#define RECORDS(akey, size, ...)                                                                                       \
    ((daos_iod_t){.iod_name = key_of(akey), .iod_type = DAOS_IOD_ARRAY, .iod_size = (size),                            \
                  .iod_nr = COUNT(daos_recx_t, __VA_ARGS__), .iod_recxs = (daos_recx_t[]){__VA_ARGS__}})
#define RANGES(...)                                                                                                    \
    (&(daos_array_iod_t){.arr_nr = COUNT(daos_range_t, __VA_ARGS__), .arr_rgs = (daos_range_t[]){__VA_ARGS__}})

/* Key-value pairs with text values, outside of transactions unless one is named. */
void put_text(daos_handle_t kv, const char *key, const char *value);
void put_text_in(daos_handle_t kv, daos_handle_t transaction, const char *key, const char *value);
void kv_holds(daos_handle_t kv, const char *key, const char *value);
void kv_holds_in(daos_handle_t kv, daos_handle_t transaction, const char *key, const char *value);
void kv_lacks(daos_handle_t kv, const char *key);

/* Single values under a dkey and an akey. */
int update_single(daos_handle_t object, daos_handle_t th, uint64_t flags, const char *dkey, const char *akey,
                  const void *value, size_t size);
int fetch_single(daos_handle_t object, daos_handle_t th, uint64_t flags, const char *dkey, const char *akey,
                 void *value, size_t capacity, daos_size_t *size);
void single_holds(daos_handle_t object, const char *dkey, const char *akey, const char *value);
void single_lacks(daos_handle_t object, const char *dkey, const char *akey);

/* One range of an array. */
int write_range(daos_handle_t array, daos_handle_t th, uint64_t index, uint64_t cells, const void *bytes, size_t size);
int read_range(daos_handle_t array, daos_handle_t th, uint64_t index, uint64_t cells, void *bytes, size_t size);

/* Cells of one byte, whose text is written, and which are read over a buffer of 'x'; the size of an array. */
daos_handle_t write_text(daos_handle_t array, uint64_t index, const char *text);
void reads_in(daos_handle_t array, daos_handle_t th, uint64_t index, const char *expected, size_t size);
void reads(daos_handle_t array, uint64_t index, const char *expected, size_t size);
daos_size_t array_size(daos_handle_t array, daos_handle_t th);

/* For the harness only: releases, unmounts and forgets what a check left. */
void dfs_clean_up(void);

/* The number of targets and of nodes of the pool. */
uint32_t pool_targets(void);
uint32_t pool_nodes(void);

/* For main only. */
enum outcome { PASSED, FAILED, SKIPPED };
struct result {
    enum outcome outcome;
    char message[1024];
};
int harness_start(const char *pool_label);
void harness_stop(void);
void harness_run(const struct check *check, struct result *result);

#endif
