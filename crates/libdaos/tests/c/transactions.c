/* Transactions of several processes, and what is hard to see in one.
 *
 *   transactions increment POOL CONTAINER COUNT  adds 1 to a number so often, and moves 1 from one account to another, in one transaction
 *   transactions watch POOL CONTAINER COUNT      reads both accounts in a transaction so often: their sum never changes
 *   transactions insert POOL CONTAINER NAME      inserts 100 distribution keys that others insert, too; prints those that were its own
 *   transactions threads POOL CONTAINER          increments from several threads of one process
 *   transactions edges POOL CONTAINER            what one process sees: epochs, conditions, limits, other containers
 *   transactions KEY POOL CONTAINER              prints a number
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daos.h>

enum { ALL = 1000000, INSERTED = 100, THREADS = 4, EACH = 50, UPDATES_MAX = 65535 };

static daos_handle_t pool, container, accounts, object;

#define CHECK(call) is((call), 0, #call, __LINE__)
#define IS(call, expected) is((call), (expected), #call, __LINE__)

static void is(int found, int expected, const char *what, int line)
{
    if (found != expected) {
        fprintf(stderr, "line %d: %s: %s (%d) and not %d\n", line, what, d_errstr(found), found, expected);
        exit(1);
    }
}

static daos_handle_t begin(uint64_t flags)
{
    daos_handle_t transaction;
    CHECK(daos_tx_open(container, &transaction, flags, NULL));
    return transaction;
}

/* A number that is there, or the one that is given. */
static int get(daos_handle_t transaction, const char *key, int64_t *number)
{
    daos_size_t size = sizeof *number;
    return daos_kv_get(accounts, transaction, 0, key, &size, number, NULL);
}

static int put(daos_handle_t transaction, uint64_t flags, const char *key, int64_t number)
{
    return daos_kv_put(accounts, transaction, flags, key, sizeof number, &number, NULL);
}

static int try_increment(daos_handle_t transaction)
{
    int64_t number = 0, one = ALL, other = 0;
    int rc = get(transaction, "number", &number);
    if (rc == 0)
        rc = get(transaction, "one", &one);
    if (rc == 0)
        rc = get(transaction, "other", &other);
    if (rc == 0)
        rc = put(transaction, 0, "number", number + 1);
    if (rc == 0)
        rc = put(transaction, 0, "one", one - 1);
    if (rc == 0)
        rc = put(transaction, 0, "other", other + 1);
    return rc == 0 ? daos_tx_commit(transaction, NULL) : rc;
}

static void increment(int count)
{
    for (; count > 0; count--) {
        daos_handle_t transaction = begin(0);
        int rc;
        while ((rc = try_increment(transaction)) == -DER_TX_RESTART)
            CHECK(daos_tx_restart(transaction, NULL));
        IS(rc, 0);
        CHECK(daos_tx_close(transaction, NULL));
    }
}

static void watch(int count)
{
    for (; count > 0; count--) {
        daos_handle_t transaction = begin(DAOS_TF_RDONLY);
        int64_t one = ALL, other = 0;
        int rc = get(transaction, "one", &one);
        if (rc == 0)
            rc = get(transaction, "other", &other);
        IS(rc, 0);
        IS(one + other == ALL, 1);
        CHECK(daos_tx_commit(transaction, NULL));
        CHECK(daos_tx_close(transaction, NULL));
    }
}

static int update(daos_handle_t transaction, uint64_t flags, const char *dkey, const char *akey, const char *value)
{
    daos_key_t key;
    daos_iod_t iod = {.iod_type = DAOS_IOD_SINGLE, .iod_size = strlen(value), .iod_nr = 1};
    d_iov_t vector;
    d_sg_list_t list = {.sg_nr = 1, .sg_iovs = &vector};
    d_iov_set(&key, (void *)dkey, strlen(dkey));
    d_iov_set(&iod.iod_name, (void *)akey, strlen(akey));
    d_iov_set(&vector, (void *)value, strlen(value));
    return daos_obj_update(object, transaction, flags, &key, 1, &iod, &list, NULL);
}

static void insert(const char *name)
{
    for (int number = 0; number < INSERTED; number++) {
        char key[16];
        snprintf(key, sizeof key, "%d", number);
        int rc = update(DAOS_TX_NONE, DAOS_COND_DKEY_INSERT, key, "name", name);
        if (rc == -DER_EXIST)
            continue;
        CHECK(rc);
        printf("%s\n", key);
        fflush(stdout);
    }
}

static void *increment_each(void *unused)
{
    (void)unused;
    increment(EACH);
    return NULL;
}

static void threads(void)
{
    pthread_t running[THREADS];
    for (int at = 0; at < THREADS; at++)
        IS(pthread_create(&running[at], NULL, increment_each, NULL), 0);
    for (int at = 0; at < THREADS; at++)
        IS(pthread_join(running[at], NULL), 0);
    watch(1);
    int64_t number = 0;
    CHECK(get(DAOS_TX_NONE, "number", &number));
    IS(number, THREADS * EACH);
}

/* An epoch that the program is told reads the same state again, in its transaction and in one of a snapshot. */
static void epochs(void)
{
    daos_handle_t transaction = begin(0), past;
    daos_epoch_t read_at, written_at, snapshot;
    int64_t number = 0;

    CHECK(put(DAOS_TX_NONE, 0, "epoch", 1));
    IS(daos_tx_hdl2epoch(transaction, &read_at), -DER_UNINIT);
    CHECK(get(transaction, "epoch", &number));
    CHECK(daos_tx_hdl2epoch(transaction, &read_at));
    CHECK(put(transaction, 0, "epoch", 2));
    CHECK(daos_tx_commit(transaction, NULL));
    CHECK(daos_tx_hdl2epoch(transaction, &written_at));
    CHECK(daos_tx_close(transaction, NULL));
    CHECK(put(DAOS_TX_NONE, 0, "epoch", 3));
    CHECK(daos_cont_create_snap(container, &snapshot, NULL, NULL));
    CHECK(put(DAOS_TX_NONE, 0, "epoch", 4));
    IS(read_at < written_at && written_at < snapshot, 1);

    // The state between two that are known is the earlier one's; of before the first nothing is known.
    struct {
        daos_epoch_t epoch;
        int64_t number;
    } expected[] = {{read_at, 1}, {written_at, 2}, {written_at + 1, 2}, {snapshot, 3}, {UINT64_MAX - 1, 4}};
    for (size_t at = 0; at < sizeof expected / sizeof *expected; at++) {
        CHECK(daos_tx_open_snap(container, expected[at].epoch, &past, NULL));
        CHECK(get(past, "epoch", &number));
        IS(number, expected[at].number);
        daos_epoch_t told;
        CHECK(daos_tx_hdl2epoch(past, &told));
        IS(told == expected[at].epoch, 1);
        CHECK(daos_tx_commit(past, NULL));
        CHECK(daos_tx_close(past, NULL));
    }
    daos_epoch_t unknown[] = {1, snapshot + 1};
    for (int at = 0; at < 2; at++) {
        CHECK(daos_tx_open_snap(container, unknown[at], &past, NULL));
        IS(get(past, "epoch", &number), -DER_NONEXIST);
        CHECK(daos_tx_close(past, NULL));
    }
    IS(daos_tx_hdl2epoch(DAOS_TX_NONE, &snapshot), -DER_INVAL);
}

static void conditions(void)
{
    daos_handle_t transaction = begin(0), other = begin(0);
    IS(put(transaction, DAOS_COND_KEY_UPDATE, "condition", 1), -DER_NONEXIST);
    CHECK(put(transaction, DAOS_COND_KEY_INSERT, "condition", 1));
    CHECK(put(other, DAOS_COND_KEY_INSERT, "condition", 2));
    CHECK(daos_tx_commit(transaction, NULL));
    IS(daos_tx_commit(other, NULL), -DER_TX_RESTART);
    IS(put(other, 0, "condition", 2), -DER_NO_PERM);
    CHECK(daos_tx_restart(other, NULL));
    IS(put(other, DAOS_COND_KEY_INSERT, "condition", 2), -DER_EXIST);
    CHECK(daos_tx_abort(other, NULL));
    CHECK(daos_tx_close(transaction, NULL));
    CHECK(daos_tx_close(other, NULL));

    // A condition that fails is something that was read, too.
    transaction = begin(0);
    IS(put(transaction, DAOS_COND_KEY_INSERT, "condition", 3), -DER_EXIST);
    CHECK(put(transaction, 0, "it is there", 1));
    CHECK(daos_kv_remove(accounts, DAOS_TX_NONE, 0, "condition", NULL));
    IS(daos_tx_commit(transaction, NULL), -DER_TX_RESTART);
    CHECK(daos_tx_close(transaction, NULL));

    // A distribution key counts as long as anything is under it.
    transaction = begin(0);
    CHECK(update(DAOS_TX_NONE, 0, "dkey", "a", "1"));
    CHECK(update(transaction, DAOS_COND_DKEY_UPDATE, "dkey", "b", "2"));
    CHECK(daos_obj_punch(object, DAOS_TX_NONE, 0, NULL));
    IS(daos_tx_commit(transaction, NULL), -DER_TX_RESTART);
    CHECK(daos_tx_restart(transaction, NULL));
    IS(update(transaction, DAOS_COND_DKEY_UPDATE, "dkey", "b", "2"), -DER_NONEXIST);
    CHECK(update(transaction, DAOS_COND_DKEY_INSERT, "dkey", "b", "2"));
    CHECK(daos_tx_commit(transaction, NULL));
    IS(update(DAOS_TX_NONE, DAOS_COND_DKEY_INSERT, "dkey", "c", "3"), -DER_EXIST);
    CHECK(daos_tx_close(transaction, NULL));
}

/* A condition is on what the transaction did before: who removes a key may insert it, as in a move over something. */
static void own_conditions(void)
{
    daos_handle_t transaction = begin(0);
    daos_key_t dkey, akeys[2];
    d_iov_set(&dkey, "moved", 5);
    d_iov_set(&akeys[0], "a", 1);
    d_iov_set(&akeys[1], "b", 1);
    CHECK(update(DAOS_TX_NONE, 0, "moved", "a", "1"));
    CHECK(update(DAOS_TX_NONE, 0, "moved", "b", "1"));
    CHECK(put(DAOS_TX_NONE, 0, "own", 1));
    IS(put(transaction, DAOS_COND_KEY_INSERT, "own", 2), -DER_EXIST);
    CHECK(daos_kv_remove(accounts, transaction, DAOS_COND_KEY_REMOVE, "own", NULL));
    IS(daos_kv_remove(accounts, transaction, DAOS_COND_KEY_REMOVE, "own", NULL), -DER_NONEXIST);
    CHECK(put(transaction, DAOS_COND_KEY_INSERT, "own", 2));
    IS(put(transaction, DAOS_COND_KEY_INSERT, "own", 3), -DER_EXIST);
    CHECK(put(transaction, DAOS_COND_KEY_UPDATE, "own", 3));

    CHECK(daos_obj_punch_akeys(object, transaction, 0, &dkey, 1, akeys, NULL));
    IS(update(transaction, DAOS_COND_DKEY_INSERT, "moved", "a", "2"), -DER_EXIST);
    CHECK(daos_obj_punch_akeys(object, transaction, 0, &dkey, 1, &akeys[1], NULL));
    CHECK(update(transaction, DAOS_COND_DKEY_INSERT, "moved", "a", "2"));
    CHECK(daos_obj_punch_dkeys(object, transaction, DAOS_COND_PUNCH, 1, &dkey, NULL));
    IS(daos_obj_punch_dkeys(object, transaction, DAOS_COND_PUNCH, 1, &dkey, NULL), -DER_NONEXIST);
    CHECK(update(transaction, DAOS_COND_DKEY_INSERT, "moved", "c", "3"));
    CHECK(daos_tx_commit(transaction, NULL));
    CHECK(daos_tx_close(transaction, NULL));
    int64_t number = 0;
    CHECK(get(DAOS_TX_NONE, "own", &number));
    IS(number, 3);
    CHECK(daos_obj_punch_akeys(object, DAOS_TX_NONE, DAOS_COND_PUNCH, &dkey, 1, &(daos_key_t){"c", 1, 1}, NULL));
    IS(daos_obj_punch_dkeys(object, DAOS_TX_NONE, DAOS_COND_PUNCH, 1, &dkey, NULL), -DER_NONEXIST);
}

static int change_records(daos_handle_t transaction, uint64_t at, uint64_t size, const char *bytes)
{
    daos_key_t key;
    daos_recx_t range = {.rx_idx = at, .rx_nr = 1};
    daos_iod_t iod = {.iod_type = DAOS_IOD_ARRAY, .iod_size = size, .iod_nr = 1, .iod_recxs = &range};
    d_iov_t vector;
    d_sg_list_t list = {.sg_nr = 1, .sg_iovs = &vector};
    d_iov_set(&key, "records", 7);
    d_iov_set(&iod.iod_name, "a", 1);
    d_iov_set(&vector, (void *)bytes, size);
    return daos_obj_update(object, transaction, 0, &key, 1, &iod, size == 0 ? NULL : &list, NULL);
}

/* How large a record is may be decided in the same transaction. */
static void own_records(void)
{
    daos_handle_t transaction = begin(0);
    daos_key_t dkey, akey;
    daos_recx_t range = {.rx_idx = 0, .rx_nr = 3};
    daos_iod_t iod = {.iod_type = DAOS_IOD_ARRAY, .iod_nr = 1, .iod_recxs = &range};
    char found[12] = "............";
    d_iov_t vector;
    d_sg_list_t list = {.sg_nr = 1, .sg_iovs = &vector};
    d_iov_set(&dkey, "records", 7);
    d_iov_set(&akey, "a", 1);
    CHECK(change_records(transaction, 0, 4, "aaaa"));
    CHECK(change_records(transaction, 1, 4, "bbbb"));
    CHECK(change_records(transaction, 2, 4, "cccc"));
    CHECK(change_records(transaction, 1, 0, NULL));
    IS(change_records(transaction, 1, 8, "dddddddd"), -DER_REC_SIZE);
    CHECK(daos_tx_commit(transaction, NULL));
    CHECK(daos_tx_close(transaction, NULL));
    iod.iod_name = akey;
    d_iov_set(&vector, found, sizeof found);
    CHECK(daos_obj_fetch(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, &list, NULL, NULL));
    IS(memcmp(found, "aaaa", 4), 0);
    IS(memcmp(found + 4, "bbbb", 4) != 0, 1);
    IS(memcmp(found + 8, "cccc", 4), 0);

    transaction = begin(0);
    CHECK(daos_obj_punch_dkeys(object, transaction, 0, 1, &dkey, NULL));
    CHECK(change_records(transaction, 0, 8, "dddddddd"));
    CHECK(daos_tx_commit(transaction, NULL));
    CHECK(daos_tx_close(transaction, NULL));
    range.rx_nr = 1;
    iod.iod_size = 4;
    CHECK(daos_obj_fetch(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, &list, NULL, NULL));
    IS(iod.iod_size == 8 && memcmp(found, "dddddddd", 8) == 0, 1);
}

/* What only writes meets no conflict, and what only reads does not either. */
static void no_conflict(void)
{
    daos_handle_t writer = begin(0), reader = begin(0);
    int64_t number = 0;
    CHECK(put(writer, 0, "blind", 1));
    CHECK(get(reader, "blind", &number));
    CHECK(put(DAOS_TX_NONE, 0, "blind", 2));
    CHECK(daos_tx_commit(writer, NULL));
    CHECK(get(DAOS_TX_NONE, "blind", &number));
    IS(number, 1);
    number = 0;
    CHECK(get(reader, "blind", &number));
    IS(number, 0);
    CHECK(daos_tx_commit(reader, NULL));
    IS(get(reader, "blind", &number), -DER_NO_PERM);
    CHECK(daos_tx_close(writer, NULL));
    CHECK(daos_tx_close(reader, NULL));
}

/* What an array has is of the transaction's moment, whatever its size; what it did not have then leaves the buffer alone. */
static void arrays(uint64_t cells)
{
    daos_handle_t array, transaction = begin(0);
    daos_obj_id_t id = {.lo = 3 + cells};
    char *bytes = malloc(cells), *found = malloc(cells);
    daos_range_t range = {.rg_len = cells / 2};
    daos_array_iod_t iod = {.arr_nr = 1, .arr_rgs = &range};
    d_iov_t vector;
    d_sg_list_t list = {.sg_nr = 1, .sg_iovs = &vector};
    memset(bytes, 'a', cells);
    CHECK(daos_obj_generate_oid(container, &id, DAOS_OT_ARRAY_BYTE, OC_S1, 0, 0));
    CHECK(daos_array_open_with_attr(container, id, DAOS_TX_NONE, DAOS_OO_RW, 1, 1 << 20, &array, NULL));
    d_iov_set(&vector, bytes, cells / 2);
    CHECK(daos_array_write(array, DAOS_TX_NONE, &iod, &list, NULL));
    daos_size_t size;
    CHECK(daos_array_get_size(array, transaction, &size, NULL));
    IS(size == cells / 2, 1);
    memset(bytes, 'b', cells);
    range.rg_len = cells;
    d_iov_set(&vector, bytes, cells);
    CHECK(daos_array_write(array, DAOS_TX_NONE, &iod, &list, NULL));
    memset(found, '.', cells);
    d_iov_set(&vector, found, cells);
    CHECK(daos_array_read(array, transaction, &iod, &list, NULL));
    IS(found[0] == 'a' && found[cells / 2 - 1] == 'a' && found[cells / 2] == '.' && found[cells - 1] == '.', 1);
    CHECK(daos_array_set_size(array, transaction, 1, NULL));
    IS(daos_tx_commit(transaction, NULL), -DER_TX_RESTART);
    CHECK(daos_tx_close(transaction, NULL));
    CHECK(daos_array_close(array, NULL));
    free(bytes);
    free(found);
}

static void limits(void)
{
    daos_handle_t transaction = begin(DAOS_TF_ZERO_COPY);
    for (int at = 0; at < UPDATES_MAX; at++)
        CHECK(put(transaction, 0, "limit", at));
    IS(put(transaction, 0, "limit", -1), -DER_OVERFLOW);
    CHECK(daos_tx_commit(transaction, NULL));
    CHECK(daos_tx_close(transaction, NULL));
    int64_t number = 0;
    CHECK(get(DAOS_TX_NONE, "limit", &number));
    IS(number, UPDATES_MAX - 1);
    IS(daos_tx_open(container, &transaction, 8, NULL), -DER_INVAL);
}

/* Aggregation takes no snapshot away, and a transaction either reads on at its moment or is restarted. */
static void aggregation(void)
{
    daos_handle_t reader = begin(0), late = begin(0), past;
    daos_epoch_t snapshot, epoch;
    int64_t number = 0;
    static char large[1 << 20];
    CHECK(put(DAOS_TX_NONE, 0, "history", 1));
    CHECK(get(reader, "history", &number));
    CHECK(put(late, 0, "late", 1));
    CHECK(daos_tx_hdl2epoch(late, &epoch));
    CHECK(put(DAOS_TX_NONE, 0, "history", 2));
    CHECK(get(reader, "history", &number));
    IS(number, 1);
    CHECK(daos_cont_create_snap(container, &snapshot, NULL, NULL));
    for (int at = 0; at < 10; at++)
        CHECK(daos_kv_put(accounts, DAOS_TX_NONE, 0, "large", sizeof large, large, NULL));
    CHECK(put(DAOS_TX_NONE, 0, "history", 3));
    CHECK(daos_cont_aggregate(container, snapshot, NULL));
    CHECK(daos_cont_aggregate(container, 0, NULL));
    CHECK(get(reader, "history", &number));
    IS(number, 1);
    CHECK(daos_tx_open_snap(container, snapshot, &past, NULL));
    CHECK(get(past, "history", &number));
    IS(number, 2);
    CHECK(daos_tx_close(past, NULL));
    IS(get(late, "history", &number), -DER_TX_RESTART);
    IS(get(late, "history", &number), -DER_NO_PERM);
    CHECK(daos_tx_restart(late, NULL));
    CHECK(get(late, "history", &number));
    IS(number, 3);
    CHECK(daos_tx_commit(late, NULL));
    CHECK(daos_tx_open_snap(container, epoch, &past, NULL));
    IS(get(past, "history", &number), -DER_NONEXIST);
    CHECK(daos_tx_close(past, NULL));
    CHECK(daos_tx_close(late, NULL));
    CHECK(daos_tx_close(reader, NULL));
}

static void another_container(const char *label)
{
    daos_handle_t other, transaction;
    char name[128];
    snprintf(name, sizeof name, "%s-other", label);
    CHECK(daos_cont_create_with_label(pool, name, NULL, NULL, NULL));
    CHECK(daos_cont_open(pool, name, DAOS_COO_RW, &other, NULL, NULL));
    CHECK(daos_tx_open(other, &transaction, 0, NULL));
    IS(put(transaction, 0, "key", 1), -DER_INVAL);
    IS(put(accounts, 0, "key", 1), -DER_NO_HDL);
    CHECK(daos_tx_close(transaction, NULL));
    CHECK(daos_cont_close(other, NULL));
}

static void edges(const char *label)
{
    epochs();
    conditions();
    own_conditions();
    own_records();
    no_conflict();
    arrays(1000);
    arrays(4 << 20);
    limits();
    aggregation();
    another_container(label);
}

static void open_all(const char *pool_label, const char *label)
{
    CHECK(daos_init());
    CHECK(daos_pool_connect(pool_label, NULL, DAOS_PC_RW, &pool, NULL, NULL));
    int rc = daos_cont_create_with_label(pool, label, NULL, NULL, NULL);
    if (rc != -DER_EXIST)
        CHECK(rc);
    CHECK(daos_cont_open(pool, label, DAOS_COO_RW, &container, NULL, NULL));
    daos_obj_id_t id = {.lo = 1};
    CHECK(daos_obj_generate_oid(container, &id, DAOS_OT_KV_HASHED, OC_S1, 0, 0));
    CHECK(daos_kv_open(container, id, DAOS_OO_RW, &accounts, NULL));
    id = (daos_obj_id_t){.lo = 2};
    CHECK(daos_obj_generate_oid(container, &id, DAOS_OT_MULTI_HASHED, OC_S1, 0, 0));
    CHECK(daos_obj_open(container, id, DAOS_OO_RW, &object, NULL));
}

int main(int count, char **words)
{
    if (count < 4)
        return 2;
    open_all(words[2], words[3]);
    if (strcmp(words[1], "increment") == 0)
        increment(atoi(words[4]));
    else if (strcmp(words[1], "watch") == 0)
        watch(atoi(words[4]));
    else if (strcmp(words[1], "insert") == 0)
        insert(words[4]);
    else if (strcmp(words[1], "threads") == 0)
        threads();
    else if (strcmp(words[1], "edges") == 0)
        edges(words[3]);
    else {
        int64_t number = 0;
        CHECK(get(DAOS_TX_NONE, words[1], &number));
        printf("%lld\n", (long long)number);
    }
    CHECK(daos_obj_close(object, NULL));
    CHECK(daos_kv_close(accounts, NULL));
    CHECK(daos_cont_close(container, NULL));
    CHECK(daos_pool_disconnect(pool, NULL));
    CHECK(daos_fini());
    return 0;
}
