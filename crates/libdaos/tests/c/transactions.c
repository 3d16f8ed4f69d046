/* Transactions of several processes, and what is hard to see in one.
 *
 *   transactions increment POOL CONTAINER COUNT  adds 1 to a number so often, and moves 1 from one account to another, in one transaction
 *   transactions watch POOL CONTAINER COUNT      reads both accounts in a transaction so often: their sum never changes
 *   transactions insert POOL CONTAINER NAME      inserts 100 distribution keys that others insert, too; prints those that were its own
 *   transactions threads POOL CONTAINER          increments from several threads of one process
 *   transactions epochs POOL CONTAINER COUNT     puts 1 up to COUNT in turn, and prints an epoch that shows each
 *   transactions at POOL CONTAINER EPOCH         prints the number at an epoch
 *   transactions edges POOL CONTAINER            what one process sees: epochs, conditions, limits, other containers
 *   transactions KEY POOL CONTAINER              prints a number
 */
#include <pthread.h>

#include "fixtures.h"

enum { ALL = 1000000, INSERTED = 100, THREADS = 4, EACH = 50, UPDATES_MAX = 65535 };

static daos_handle_t pool, container, accounts, object;

static daos_handle_t open_transaction(uint64_t flags)
{
    daos_handle_t transaction;
    MUST(daos_tx_open(container, &transaction, flags, NULL));
    return transaction;
}

/* Commits, which must succeed, and closes. */
static void commit(daos_handle_t transaction)
{
    MUST(daos_tx_commit(transaction, NULL));
    MUST(daos_tx_close(transaction, NULL));
}

/* A number that is there, or the one that is given. */
static int get(daos_handle_t transaction, const char *key, int64_t *number)
{
    daos_size_t size = sizeof *number;
    return daos_kv_get(accounts, transaction, 0, key, &size, number, NULL);
}

/* A number, or -1 where none is there. */
static int64_t number_of(daos_handle_t transaction, const char *key)
{
    int64_t number = -1;
    MUST(get(transaction, key, &number));
    return number;
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
        daos_handle_t transaction = open_transaction(0);
        int rc;
        while ((rc = try_increment(transaction)) == -DER_TX_RESTART)
            MUST(daos_tx_restart(transaction, NULL));
        IS(rc, 0);
        MUST(daos_tx_close(transaction, NULL));
    }
}

static void watch(int count)
{
    for (; count > 0; count--) {
        daos_handle_t transaction = open_transaction(DAOS_TF_RDONLY);
        int64_t one = ALL, other = 0;
        int rc = get(transaction, "one", &one);
        if (rc == 0)
            rc = get(transaction, "other", &other);
        IS(rc, 0);
        IS(one + other == ALL, 1);
        commit(transaction);
    }
}

static int update(daos_handle_t transaction, uint64_t flags, const char *dkey, const char *akey, const char *value)
{
    daos_iod_t iod = {.iod_name = *KEY(akey), .iod_type = DAOS_IOD_SINGLE, .iod_size = strlen(value), .iod_nr = 1};
    return daos_obj_update(object, transaction, flags, KEY(dkey), 1, &iod, LIST(value, strlen(value)), NULL);
}

static void insert(const char *name)
{
    for (int number = 0; number < INSERTED; number++) {
        char key[16];
        snprintf(key, sizeof key, "%d", number);
        int rc = update(DAOS_TX_NONE, DAOS_COND_DKEY_INSERT, key, "name", name);
        if (rc == -DER_EXIST)
            continue;
        MUST(rc);
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
    IS(number_of(DAOS_TX_NONE, "number"), THREADS * EACH);
}

/* An epoch that the program is told reads the same state again, in its transaction and in one of a snapshot. */
static void epochs(void)
{
    daos_handle_t transaction = open_transaction(0), past;
    daos_epoch_t read_at, written_at, snapshot;
    int64_t number = 0;

    MUST(put(DAOS_TX_NONE, 0, "epoch", 1));
    IS(daos_tx_hdl2epoch(transaction, &read_at), -DER_UNINIT);
    MUST(get(transaction, "epoch", &number));
    MUST(daos_tx_hdl2epoch(transaction, &read_at));
    MUST(put(transaction, 0, "epoch", 2));
    MUST(daos_tx_commit(transaction, NULL));
    MUST(daos_tx_hdl2epoch(transaction, &written_at));
    MUST(daos_tx_close(transaction, NULL));
    MUST(put(DAOS_TX_NONE, 0, "epoch", 3));
    MUST(daos_cont_create_snap(container, &snapshot, NULL, NULL));
    MUST(put(DAOS_TX_NONE, 0, "epoch", 4));
    IS(read_at < written_at && written_at < snapshot, 1);

    // The state between two that are known is the earlier one's; of before the first nothing is known.
    struct {
        daos_epoch_t epoch;
        int64_t number;
    } expected[] = {{read_at, 1}, {written_at, 2}, {written_at + 1, 2}, {snapshot, 3}, {UINT64_MAX - 1, 4}};
    for (size_t at = 0; at < sizeof expected / sizeof *expected; at++) {
        MUST(daos_tx_open_snap(container, expected[at].epoch, &past, NULL));
        IS(number_of(past, "epoch"), expected[at].number);
        daos_epoch_t told;
        MUST(daos_tx_hdl2epoch(past, &told));
        IS(told == expected[at].epoch, 1);
        commit(past);
    }
    daos_epoch_t unknown[] = {1, snapshot + 1};
    for (int at = 0; at < 2; at++) {
        MUST(daos_tx_open_snap(container, unknown[at], &past, NULL));
        IS(get(past, "epoch", &number), -DER_NONEXIST);
        MUST(daos_tx_close(past, NULL));
    }
    IS(daos_tx_hdl2epoch(DAOS_TX_NONE, &snapshot), -DER_INVAL);
}

static void conditions(void)
{
    daos_handle_t transaction = open_transaction(0), other = open_transaction(0);
    IS(put(transaction, DAOS_COND_KEY_UPDATE, "condition", 1), -DER_NONEXIST);
    MUST(put(transaction, DAOS_COND_KEY_INSERT, "condition", 1));
    MUST(put(other, DAOS_COND_KEY_INSERT, "condition", 2));
    MUST(daos_tx_commit(transaction, NULL));
    IS(daos_tx_commit(other, NULL), -DER_TX_RESTART);
    IS(put(other, 0, "condition", 2), -DER_NO_PERM);
    MUST(daos_tx_restart(other, NULL));
    IS(put(other, DAOS_COND_KEY_INSERT, "condition", 2), -DER_EXIST);
    MUST(daos_tx_abort(other, NULL));
    MUST(daos_tx_close(transaction, NULL));
    MUST(daos_tx_close(other, NULL));

    // A condition that fails is something that was read, too.
    transaction = open_transaction(0);
    IS(put(transaction, DAOS_COND_KEY_INSERT, "condition", 3), -DER_EXIST);
    MUST(put(transaction, 0, "it is there", 1));
    MUST(daos_kv_remove(accounts, DAOS_TX_NONE, 0, "condition", NULL));
    IS(daos_tx_commit(transaction, NULL), -DER_TX_RESTART);
    MUST(daos_tx_close(transaction, NULL));

    // A distribution key counts as long as anything is under it.
    transaction = open_transaction(0);
    MUST(update(DAOS_TX_NONE, 0, "dkey", "a", "1"));
    MUST(update(transaction, DAOS_COND_DKEY_UPDATE, "dkey", "b", "2"));
    MUST(daos_obj_punch(object, DAOS_TX_NONE, 0, NULL));
    IS(daos_tx_commit(transaction, NULL), -DER_TX_RESTART);
    MUST(daos_tx_restart(transaction, NULL));
    IS(update(transaction, DAOS_COND_DKEY_UPDATE, "dkey", "b", "2"), -DER_NONEXIST);
    MUST(update(transaction, DAOS_COND_DKEY_INSERT, "dkey", "b", "2"));
    MUST(daos_tx_commit(transaction, NULL));
    IS(update(DAOS_TX_NONE, DAOS_COND_DKEY_INSERT, "dkey", "c", "3"), -DER_EXIST);
    MUST(daos_tx_close(transaction, NULL));
}

/* A condition is on what the transaction did before: who removes a key may insert it, as in a move over something. */
static void own_conditions(void)
{
    daos_handle_t transaction = open_transaction(0);
    daos_key_t *dkey = KEY("moved");
    MUST(update(DAOS_TX_NONE, 0, "moved", "a", "1"));
    MUST(update(DAOS_TX_NONE, 0, "moved", "b", "1"));
    MUST(put(DAOS_TX_NONE, 0, "own", 1));
    IS(put(transaction, DAOS_COND_KEY_INSERT, "own", 2), -DER_EXIST);
    MUST(daos_kv_remove(accounts, transaction, DAOS_COND_KEY_REMOVE, "own", NULL));
    IS(daos_kv_remove(accounts, transaction, DAOS_COND_KEY_REMOVE, "own", NULL), -DER_NONEXIST);
    MUST(put(transaction, DAOS_COND_KEY_INSERT, "own", 2));
    IS(put(transaction, DAOS_COND_KEY_INSERT, "own", 3), -DER_EXIST);
    MUST(put(transaction, DAOS_COND_KEY_UPDATE, "own", 3));

    MUST(daos_obj_punch_akeys(object, transaction, 0, dkey, 1, KEY("a"), NULL));
    IS(update(transaction, DAOS_COND_DKEY_INSERT, "moved", "a", "2"), -DER_EXIST);
    MUST(daos_obj_punch_akeys(object, transaction, 0, dkey, 1, KEY("b"), NULL));
    MUST(update(transaction, DAOS_COND_DKEY_INSERT, "moved", "a", "2"));
    MUST(daos_obj_punch_dkeys(object, transaction, DAOS_COND_PUNCH, 1, dkey, NULL));
    IS(daos_obj_punch_dkeys(object, transaction, DAOS_COND_PUNCH, 1, dkey, NULL), -DER_NONEXIST);
    MUST(update(transaction, DAOS_COND_DKEY_INSERT, "moved", "c", "3"));
    commit(transaction);
    IS(number_of(DAOS_TX_NONE, "own"), 3);
    MUST(daos_obj_punch_akeys(object, DAOS_TX_NONE, DAOS_COND_PUNCH, dkey, 1, KEY("c"), NULL));
    IS(daos_obj_punch_dkeys(object, DAOS_TX_NONE, DAOS_COND_PUNCH, 1, dkey, NULL), -DER_NONEXIST);
}

static int change_records(daos_handle_t transaction, uint64_t at, uint64_t size, const char *bytes)
{
    daos_recx_t range = {.rx_idx = at, .rx_nr = 1};
    daos_iod_t iod = {.iod_name = *KEY("a"), .iod_type = DAOS_IOD_ARRAY, .iod_size = size, .iod_nr = 1, .iod_recxs = &range};
    d_sg_list_t *list = size == 0 ? NULL : LIST(bytes, size);
    return daos_obj_update(object, transaction, 0, KEY("records"), 1, &iod, list, NULL);
}

/* How large a record is may be decided in the same transaction. */
static void own_records(void)
{
    daos_handle_t transaction = open_transaction(0);
    daos_recx_t range = {.rx_idx = 0, .rx_nr = 3};
    daos_iod_t iod = {.iod_name = *KEY("a"), .iod_type = DAOS_IOD_ARRAY, .iod_nr = 1, .iod_recxs = &range};
    char found[12] = "............";
    d_sg_list_t *list = LIST(found, sizeof found);
    MUST(change_records(transaction, 0, 4, "aaaa"));
    MUST(change_records(transaction, 1, 4, "bbbb"));
    MUST(change_records(transaction, 2, 4, "cccc"));
    MUST(change_records(transaction, 1, 0, NULL));
    IS(change_records(transaction, 1, 8, "dddddddd"), -DER_REC_SIZE);
    commit(transaction);
    MUST(daos_obj_fetch(object, DAOS_TX_NONE, 0, KEY("records"), 1, &iod, list, NULL, NULL));
    IS(memcmp(found, "aaaa", 4), 0);
    IS(memcmp(found + 4, "bbbb", 4) != 0, 1);
    IS(memcmp(found + 8, "cccc", 4), 0);

    transaction = open_transaction(0);
    MUST(daos_obj_punch_dkeys(object, transaction, 0, 1, KEY("records"), NULL));
    MUST(change_records(transaction, 0, 8, "dddddddd"));
    commit(transaction);
    range.rx_nr = 1;
    iod.iod_size = 4;
    MUST(daos_obj_fetch(object, DAOS_TX_NONE, 0, KEY("records"), 1, &iod, list, NULL, NULL));
    IS(iod.iod_size == 8 && memcmp(found, "dddddddd", 8) == 0, 1);
}

/* What only writes meets no conflict, and what only reads does not either. */
static void no_conflict(void)
{
    daos_handle_t writer = open_transaction(0), reader = open_transaction(0);
    int64_t number = 0;
    MUST(put(writer, 0, "blind", 1));
    MUST(get(reader, "blind", &number));
    MUST(put(DAOS_TX_NONE, 0, "blind", 2));
    MUST(daos_tx_commit(writer, NULL));
    IS(number_of(DAOS_TX_NONE, "blind"), 1);
    number = 0;
    MUST(get(reader, "blind", &number));
    IS(number, 0);
    MUST(daos_tx_commit(reader, NULL));
    IS(get(reader, "blind", &number), -DER_NO_PERM);
    MUST(daos_tx_close(writer, NULL));
    MUST(daos_tx_close(reader, NULL));
}

/* What an array has is of the transaction's moment, whatever its size; what it did not have then leaves the buffer alone. */
static void arrays(uint64_t cells)
{
    daos_obj_id_t id = id_of(container, 3 + cells, DAOS_OT_ARRAY_BYTE);
    daos_handle_t array = open_byte_array(container, id, 1 << 20), transaction = open_transaction(0);
    char *bytes = malloc(cells), *found = malloc(cells);
    memset(bytes, 'a', cells);
    MUST(daos_array_write(array, DAOS_TX_NONE, RANGE(0, cells / 2), LIST(bytes, cells / 2), NULL));
    daos_size_t size;
    MUST(daos_array_get_size(array, transaction, &size, NULL));
    IS(size == cells / 2, 1);
    memset(bytes, 'b', cells);
    MUST(daos_array_write(array, DAOS_TX_NONE, RANGE(0, cells), LIST(bytes, cells), NULL));
    memset(found, '.', cells);
    MUST(daos_array_read(array, transaction, RANGE(0, cells), LIST(found, cells), NULL));
    IS(found[0] == 'a' && found[cells / 2 - 1] == 'a' && found[cells / 2] == '.' && found[cells - 1] == '.', 1);
    MUST(daos_array_set_size(array, transaction, 1, NULL));
    IS(daos_tx_commit(transaction, NULL), -DER_TX_RESTART);
    MUST(daos_tx_close(transaction, NULL));
    MUST(daos_array_close(array, NULL));
    free(bytes);
    free(found);
}

static void limits(void)
{
    daos_handle_t transaction = open_transaction(DAOS_TF_ZERO_COPY);
    for (int at = 0; at < UPDATES_MAX; at++)
        MUST(put(transaction, 0, "limit", at));
    IS(put(transaction, 0, "limit", -1), -DER_OVERFLOW);
    commit(transaction);
    IS(number_of(DAOS_TX_NONE, "limit"), UPDATES_MAX - 1);
    IS(daos_tx_open(container, &transaction, 8, NULL), -DER_INVAL);
}

/* Aggregation takes no snapshot away, and a transaction either reads on at its moment or is restarted. */
static void aggregation(void)
{
    daos_handle_t reader = open_transaction(0), late = open_transaction(0), past;
    daos_epoch_t snapshot, epoch;
    int64_t number = 0;
    static char large[1 << 20];
    MUST(put(DAOS_TX_NONE, 0, "history", 1));
    MUST(get(reader, "history", &number));
    MUST(put(late, 0, "late", 1));
    MUST(daos_tx_hdl2epoch(late, &epoch));
    MUST(put(DAOS_TX_NONE, 0, "history", 2));
    IS(number_of(reader, "history"), 1);
    MUST(daos_cont_create_snap(container, &snapshot, NULL, NULL));
    for (int at = 0; at < 10; at++)
        MUST(daos_kv_put(accounts, DAOS_TX_NONE, 0, "large", sizeof large, large, NULL));
    MUST(put(DAOS_TX_NONE, 0, "history", 3));
    MUST(daos_cont_aggregate(container, snapshot, NULL));
    MUST(daos_cont_aggregate(container, 0, NULL));
    IS(number_of(reader, "history"), 1);
    MUST(daos_tx_open_snap(container, snapshot, &past, NULL));
    IS(number_of(past, "history"), 2);
    MUST(daos_tx_close(past, NULL));
    IS(get(late, "history", &number), -DER_TX_RESTART);
    IS(get(late, "history", &number), -DER_NO_PERM);
    MUST(daos_tx_restart(late, NULL));
    IS(number_of(late, "history"), 3);
    MUST(daos_tx_commit(late, NULL));
    MUST(daos_tx_open_snap(container, epoch, &past, NULL));
    IS(get(past, "history", &number), -DER_NONEXIST);
    MUST(daos_tx_close(past, NULL));
    MUST(daos_tx_close(late, NULL));
    MUST(daos_tx_close(reader, NULL));
}

static void another_container(const char *label)
{
    daos_handle_t transaction;
    char name[128];
    snprintf(name, sizeof name, "%s-other", label);
    daos_handle_t other = new_container(pool, name);
    MUST(daos_tx_open(other, &transaction, 0, NULL));
    IS(put(transaction, 0, "key", 1), -DER_INVAL);
    IS(put(accounts, 0, "key", 1), -DER_NO_HDL);
    MUST(daos_tx_close(transaction, NULL));
    MUST(daos_cont_close(other, NULL));
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
    pool = begin(pool_label);
    int rc = daos_cont_create_with_label(pool, label, NULL, NULL, NULL);
    if (rc != -DER_EXIST)
        MUST(rc);
    container = open_container(pool, label);
    accounts = open_map(container, 1);
    object = open_object(container, 2, DAOS_OT_MULTI_HASHED);
}

static void tell_epochs(int count)
{
    for (int number = 1; number <= count; number++) {
        daos_handle_t transaction = open_transaction(0);
        uint64_t epoch;
        MUST(put(transaction, 0, "number", number));
        MUST(daos_tx_commit(transaction, NULL));
        MUST(daos_tx_hdl2epoch(transaction, &epoch));
        MUST(daos_tx_close(transaction, NULL));
        printf("%llu\n", (unsigned long long)epoch);
    }
}

static void at(const char *epoch)
{
    daos_handle_t then;
    MUST(daos_tx_open_snap(container, strtoull(epoch, NULL, 10), &then, NULL));
    printf("%lld\n", (long long)number_of(then, "number"));
    MUST(daos_tx_close(then, NULL));
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
    else if (strcmp(words[1], "epochs") == 0)
        tell_epochs(atoi(words[4]));
    else if (strcmp(words[1], "at") == 0)
        at(words[4]);
    else if (strcmp(words[1], "edges") == 0)
        edges(words[3]);
    else
        printf("%lld\n", (long long)number_of(DAOS_TX_NONE, words[1]));
    MUST(daos_obj_close(object, NULL));
    MUST(daos_kv_close(accounts, NULL));
    MUST(daos_cont_close(container, NULL));
    return end(pool);
}
