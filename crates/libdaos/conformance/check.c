/*
 * The harness: runs one check, closes what it opened, and describes what it found. See check.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { HANDLES_MAX = 64, LABELS_MAX = 16, LABEL_SIZE = 128 };

struct kept_handle {
    enum kept kind;
    daos_handle_t handle;
};

static struct {
    daos_handle_t pool;
    const char *pool_label;
    daos_pool_info_t pool_info;
    daos_handle_t container;
    const char *container_label;
    daos_handle_t kv;
    daos_handle_t object;
    struct kept_handle handles[HANDLES_MAX];
    size_t handle_count;
    char labels[LABELS_MAX][LABEL_SIZE];
    size_t label_count;
    uint64_t label_serial;
    struct result *result;
    jmp_buf leave;
} state;

_Noreturn static void leave(enum outcome outcome, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(state.result->message, sizeof(state.result->message), format, arguments);
    va_end(arguments);
    state.result->outcome = outcome;
    longjmp(state.leave, 1);
}

_Noreturn void skip_check(const char *reason)
{
    leave(SKIPPED, "%s", reason);
}

const char *status_name(int status)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {
        {0, "0"},
        {DER_NO_PERM, "-DER_NO_PERM"},
        {DER_NO_HDL, "-DER_NO_HDL"},
        {DER_INVAL, "-DER_INVAL"},
        {DER_EXIST, "-DER_EXIST"},
        {DER_NONEXIST, "-DER_NONEXIST"},
        {DER_NOSPACE, "-DER_NOSPACE"},
        {DER_ALREADY, "-DER_ALREADY"},
        {DER_NOMEM, "-DER_NOMEM"},
        {DER_NOSYS, "-DER_NOSYS"},
        {DER_TIMEDOUT, "-DER_TIMEDOUT"},
        {DER_BUSY, "-DER_BUSY"},
        {DER_AGAIN, "-DER_AGAIN"},
        {DER_UNINIT, "-DER_UNINIT"},
        {DER_TRUNC, "-DER_TRUNC"},
        {DER_OVERFLOW, "-DER_OVERFLOW"},
        {DER_MISC, "-DER_MISC"},
        {DER_IO, "-DER_IO"},
        {DER_KEY2BIG, "-DER_KEY2BIG"},
        {DER_REC2BIG, "-DER_REC2BIG"},
        {DER_IO_INVAL, "-DER_IO_INVAL"},
        {DER_INPROGRESS, "-DER_INPROGRESS"},
        {DER_TX_RESTART, "-DER_TX_RESTART"},
        {DER_RF, "-DER_RF"},
        {DER_AGENT_COMM, "-DER_AGENT_COMM"},
        {DER_NOTSUPPORTED, "-DER_NOTSUPPORTED"},
        {DER_NO_SERVICE, "-DER_NO_SERVICE"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (status == -names[i].status)
            return names[i].name;
    return "another status";
}

void expect_status(int found, int expected, int other, const char *what, const char *file, int line)
{
    if (found == expected || found == other)
        return;
    if (expected == other)
        leave(FAILED, "%s:%d: %s: expected %s (%d), found %s (%d)", file, line, what, status_name(expected), expected,
              status_name(found), found);
    leave(FAILED, "%s:%d: %s: expected %s (%d) or %s (%d), found %s (%d)", file, line, what, status_name(expected),
          expected, status_name(other), other, status_name(found), found);
}

void expect_number(uint64_t found, uint64_t expected, const char *what, const char *file, int line)
{
    if (found != expected)
        leave(FAILED, "%s:%d: %s: expected %llu (0x%llx), found %llu (0x%llx)", file, line, what,
              (unsigned long long)expected, (unsigned long long)expected, (unsigned long long)found,
              (unsigned long long)found);
}

void expect_bytes(const void *found, const void *expected, size_t size, const char *what, const char *file, int line)
{
    const unsigned char *left = found;
    const unsigned char *right = expected;

    for (size_t i = 0; i < size; i++)
        if (left[i] != right[i])
            leave(FAILED, "%s:%d: %s: byte %zu of %zu: expected 0x%02x, found 0x%02x", file, line, what, i, size,
                  right[i], left[i]);
}

void expect_text(const char *found, const char *expected, const char *what, const char *file, int line)
{
    if (found == NULL || strcmp(found, expected) != 0)
        leave(FAILED, "%s:%d: %s: expected \"%s\", found \"%s\"", file, line, what, expected,
              found == NULL ? "(null)" : found);
}

void expect_condition(bool condition, const char *what, const char *file, int line)
{
    if (!condition)
        leave(FAILED, "%s:%d: expected that %s, found that it is not so", file, line, what);
}

daos_handle_t pool(void)
{
    return state.pool;
}

const char *pool_label(void)
{
    return state.pool_label;
}

uint32_t pool_targets(void)
{
    return state.pool_info.pi_ntargets;
}

uint32_t pool_nodes(void)
{
    return state.pool_info.pi_nnodes;
}

const char *new_label(void)
{
    char *label;

    if (state.label_count == LABELS_MAX)
        leave(FAILED, "the check uses more than %d labels", LABELS_MAX);
    label = state.labels[state.label_count++];
    // The clock tells this run from an earlier process with the same number that was killed before it cleaned up.
    snprintf(label, LABEL_SIZE, "conformance-%lld-%ld-%llu", (long long)time(NULL), (long)getpid(),
             (unsigned long long)state.label_serial++);
    return label;
}

daos_prop_t *redundancy_zero(void)
{
    static struct daos_prop_entry entry;
    static daos_prop_t prop;

    entry = (struct daos_prop_entry){.dpe_type = DAOS_PROP_CO_REDUN_FAC};
    prop = (daos_prop_t){.dpp_nr = 1, .dpp_entries = &entry};
    return &prop;
}

daos_prop_t *query_prop(daos_handle_t handle, uint32_t type, struct daos_prop_entry **entry)
{
    daos_prop_t *prop = daos_prop_alloc(1);

    HOLDS(prop != NULL);
    prop->dpp_entries[0].dpe_type = type;
    OK(daos_cont_query(handle, NULL, prop, NULL));
    *entry = daos_prop_entry_get(prop, type);
    HOLDS(*entry != NULL);
    return prop;
}

const char *new_container(void)
{
    const char *label = new_label();

    OK(daos_cont_create_with_label(pool(), label, redundancy_zero(), NULL, NULL));
    return label;
}

daos_handle_t open_container(const char *label, unsigned int flags)
{
    daos_handle_t handle;

    OK(daos_cont_open(pool(), label, flags, &handle, NULL, NULL));
    return keep(KEPT_CONTAINER, handle);
}

daos_handle_t connect_to_pool(unsigned int flags)
{
    daos_handle_t connection;

    OK(daos_pool_connect(pool_label(), NULL, flags, &connection, NULL, NULL));
    return keep(KEPT_POOL, connection);
}

const char *container_label(void)
{
    container();
    return state.container_label;
}

daos_handle_t container(void)
{
    if (state.container_label == NULL) {
        const char *label = new_container();

        state.container = open_container(label, DAOS_COO_RW);
        state.container_label = label;
    }
    return state.container;
}

daos_handle_t kv(void)
{
    if (daos_handle_is_inval(state.kv))
        state.kv = new_kv();
    return state.kv;
}

daos_handle_t object(void)
{
    if (daos_handle_is_inval(state.object))
        state.object = new_object();
    return state.object;
}

const char *uuid_text(const unsigned char *uuid)
{
    static char text[37];
    char *out = text;

    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        out += snprintf(out, 3, "%02x", uuid[i]);
    }
    return text;
}

daos_handle_t keep(enum kept kind, daos_handle_t handle)
{
    if (state.handle_count == HANDLES_MAX)
        leave(FAILED, "the check keeps more than %d handles", HANDLES_MAX);
    state.handles[state.handle_count++] = (struct kept_handle){kind, handle};
    return handle;
}

static int destroy_queue(daos_handle_t queue, daos_event_t *event)
{
    (void)event;
    return daos_eq_destroy(queue, DAOS_EQ_DESTROY_FORCE);
}

static int close_kept(struct kept_handle kept)
{
    static int (*const closers[])(daos_handle_t, daos_event_t *) = {
        [KEPT_POOL] = daos_pool_disconnect,  [KEPT_CONTAINER] = daos_cont_close, [KEPT_OBJECT] = daos_obj_close,
        [KEPT_KV] = daos_kv_close,           [KEPT_ARRAY] = daos_array_close,    [KEPT_TRANSACTION] = daos_tx_close,
        [KEPT_OIT] = daos_oit_close,         [KEPT_QUEUE] = destroy_queue,
    };

    return closers[kept.kind](kept.handle, NULL);
}

daos_handle_t closed(daos_handle_t handle)
{
    size_t at = state.handle_count;

    while (at > 0 && state.handles[at - 1].handle.cookie != handle.cookie)
        at--;
    HOLDS(at > 0);
    struct kept_handle kept = state.handles[at - 1];
    memmove(&state.handles[at - 1], &state.handles[at], (state.handle_count - at) * sizeof(kept));
    state.handle_count--;
    OK(close_kept(kept));
    return handle;
}

static void clean_up(void)
{
    dfs_clean_up();
    // The status is not looked at: the check has ended, and a failure to close must not hide its result.
    while (state.handle_count > 0)
        close_kept(state.handles[--state.handle_count]);
    while (state.label_count > 0)
        daos_cont_destroy(state.pool, state.labels[--state.label_count], 1, NULL);
    state.container_label = NULL;
    state.kv = state.object = DAOS_HDL_INVAL;
}

static void run_until_left(const struct check *check)
{
    if (setjmp(state.leave) == 0)
        check->run();
}

void harness_run(const struct check *check, struct result *result)
{
    result->outcome = PASSED;
    result->message[0] = '\0';
    state.result = result;
    run_until_left(check);
    clean_up();
}

int harness_start(const char *label)
{
    int status = daos_init();

    if (status != 0)
        return status;
    state.pool_label = label;
    status = daos_pool_connect(label, NULL, DAOS_PC_RW, &state.pool, NULL, NULL);
    if (status == 0)
        status = daos_pool_query(state.pool, NULL, &state.pool_info, NULL, NULL);
    return status;
}

void harness_stop(void)
{
    daos_pool_disconnect(state.pool, NULL);
    daos_fini();
}
