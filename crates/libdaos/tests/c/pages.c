/* The programs of DAOS's documentation pages, written anew: each does what its page does, and prints what came of it.
 * The page on Python is in dictionary.c.
 *
 *   pages POOL
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include <daos_fs.h>

#include "fixtures.h"

enum { KEYS = 10, BYTES = 1024 };

static const char *pool_label;
static daos_handle_t pool, container;
static uint64_t serial;

static daos_obj_id_t new_id(enum daos_otype_t type, daos_oclass_id_t class)
{
    daos_obj_id_t id = {.lo = ++serial};
    IS(daos_obj_generate_oid(container, &id, type, class, 0, 0), 0);
    return id;
}

/* One value or range under a dkey and the akey "akey". */
static int move(daos_handle_t object, daos_handle_t th, int write, const char *dkey, daos_recx_t *records, void *bytes,
                daos_size_t size)
{
    daos_iod_t iod = {.iod_name = *KEY("akey"), .iod_nr = 1, .iod_recxs = records};
    iod.iod_type = records == NULL ? DAOS_IOD_SINGLE : DAOS_IOD_ARRAY;
    iod.iod_size = records == NULL ? size : 1;
    return write ? daos_obj_update(object, th, 0, KEY(dkey), 1, &iod, LIST(bytes, size), NULL)
                 : daos_obj_fetch(object, th, 0, KEY(dkey), 1, &iod, LIST(bytes, size), NULL, NULL);
}

/* How many dkeys an object has, or how many keys a map. */
static int count_keys(daos_handle_t object, int is_map)
{
    char bytes[256];
    daos_key_desc_t kds[4];
    daos_anchor_t anchor = {0};
    d_sg_list_t *list = LIST(bytes, sizeof(bytes));
    int count = 0;
    for (int status = 0; status == 0 && !daos_anchor_is_eof(&anchor);) {
        uint32_t nr = 4;
        status = is_map ? daos_kv_list(object, DAOS_TX_NONE, &nr, kds, list, &anchor, NULL)
                        : daos_obj_list_dkey(object, DAOS_TX_NONE, &nr, kds, list, &anchor, NULL);
        IS(status, 0);
        count += (int)nr;
    }
    return count;
}

/* docs/user/interface.md names the examples of src/tests, simple_obj.c: keys with ranges of an array, then keys with one value each. */
static void keys(int with_ranges)
{
    daos_handle_t object;
    char written[BYTES], found[BYTES], name[32];
    daos_recx_t records = {.rx_idx = 2 * BYTES, .rx_nr = BYTES};
    daos_recx_t *given = with_ranges ? &records : NULL;
    IS(daos_obj_open(container, new_id(DAOS_OT_MULTI_HASHED, OC_SX), DAOS_OO_RW, &object, NULL), 0);
    for (int i = 0; i < KEYS; i++) {
        snprintf(name, sizeof(name), "dkey_%d", i);
        memset(written, 'a' + i, BYTES);
        IS(move(object, DAOS_TX_NONE, 1, name, given, written, BYTES), 0);
    }
    for (int i = 0; i < KEYS; i++) {
        snprintf(name, sizeof(name), "dkey_%d", i);
        memset(written, 'a' + i, BYTES);
        memset(found, 0, BYTES);
        IS(move(object, DAOS_TX_NONE, 0, name, given, found, BYTES), 0);
        IS(memcmp(found, written, BYTES), 0);
    }
    printf("%d keys", count_keys(object, 0));
    IS(daos_obj_punch_dkeys(object, DAOS_TX_NONE, 0, 1, KEY("dkey_2"), NULL), 0);
    printf(", %d after one was punched\n", count_keys(object, 0));
    IS(daos_obj_close(object, NULL), 0);
}

/* The same: an array of cells, which is opened again, grown and cut off. */
static void array(void)
{
    daos_obj_id_t id = {.lo = ++serial};
    daos_handle_t array;
    daos_size_t cell, chunk, size;
    char written[BYTES], found[BYTES];
    memset(written, 'w', BYTES);
    IS(daos_array_generate_oid(container, &id, true, OC_SX, 0, 0), 0);
    IS(daos_array_create(container, id, DAOS_TX_NONE, 1, 4096, &array, NULL), 0);
    IS(daos_array_write(array, DAOS_TX_NONE, RANGE(BYTES, BYTES), LIST(written, BYTES), NULL), 0);
    IS(daos_array_close(array, NULL), 0);
    IS(daos_array_open(container, id, DAOS_TX_NONE, DAOS_OO_RW, &cell, &chunk, &array, NULL), 0);
    IS(daos_array_get_size(array, DAOS_TX_NONE, &size, NULL), 0);
    IS(daos_array_read(array, DAOS_TX_NONE, RANGE(BYTES, BYTES), LIST(found, BYTES), NULL), 0);
    IS(memcmp(found, written, BYTES), 0);
    printf("an array of cells of %d byte, %d in a chunk, %d cells", (int)cell, (int)chunk, (int)size);
    IS(daos_array_set_size(array, DAOS_TX_NONE, 1500, NULL), 0);
    IS(daos_array_get_size(array, DAOS_TX_NONE, &size, NULL), 0);
    printf(", then %d\n", (int)size);
    IS(daos_array_destroy(array, DAOS_TX_NONE, NULL), 0);
    IS(daos_array_close(array, NULL), 0);
    IS(daos_array_open(container, id, DAOS_TX_NONE, DAOS_OO_RW, &cell, &chunk, &array, NULL), -DER_NONEXIST);
}

/* The same: a map from strings to values. */
static void map(void)
{
    daos_handle_t map;
    char found[64] = {0};
    daos_size_t size = 0;
    IS(daos_kv_open(container, new_id(DAOS_OT_KV_HASHED, OC_SX), DAOS_OO_RW, &map, NULL), 0);
    for (int i = 0; i < KEYS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "key%d", i);
        IS(daos_kv_put(map, DAOS_TX_NONE, 0, name, strlen(name), name, NULL), 0);
    }
    IS(daos_kv_get(map, DAOS_TX_NONE, 0, "key7", &size, NULL, NULL), 0);
    IS(daos_kv_get(map, DAOS_TX_NONE, 0, "key7", &size, found, NULL), 0);
    printf("key7 has %d bytes: %s", (int)size, found);
    IS(daos_kv_remove(map, DAOS_TX_NONE, 0, "key7", NULL), 0);
    IS(daos_kv_get(map, DAOS_TX_NONE, 0, "key7", &size, found, NULL), 0);
    printf(", removed it has %d\n", (int)size);
    IS(daos_obj_close(map, NULL), 0);
}

/* docs/overview/transaction.md: the flow of a transaction, begun again where another was faster. */
static void transactions(void)
{
    daos_handle_t object, th, other;
    uint64_t number = 1, seen = 0;
    int begun = 0, status;
    IS(daos_obj_open(container, new_id(DAOS_OT_MULTI_HASHED, OC_S1), DAOS_OO_RW, &object, NULL), 0);
    IS(move(object, DAOS_TX_NONE, 1, "count", NULL, &number, sizeof(number)), 0);
    IS(daos_tx_open(container, &th, 0, NULL), 0);
    do {
        begun++;
        IS(move(object, th, 0, "count", NULL, &number, sizeof(number)), 0);
        number++;
        IS(move(object, th, 1, "count", NULL, &number, sizeof(number)), 0);
        /* What it wrote itself it does not see. */
        IS(move(object, th, 0, "count", NULL, &seen, sizeof(seen)), 0);
        IS(seen, number - 1);
        if (begun == 1) {
            uint64_t others = 10;
            IS(daos_tx_open(container, &other, 0, NULL), 0);
            IS(move(object, other, 1, "count", NULL, &others, sizeof(others)), 0);
            IS(daos_tx_commit(other, NULL), 0);
            IS(daos_tx_close(other, NULL), 0);
        }
        status = daos_tx_commit(th, NULL);
        if (status == -DER_TX_RESTART)
            IS(daos_tx_restart(th, NULL), 0);
    } while (status == -DER_TX_RESTART);
    IS(status, 0);
    IS(daos_tx_close(th, NULL), 0);
    IS(daos_tx_commit(th, NULL), -DER_NO_HDL);
    IS(move(object, DAOS_TX_NONE, 0, "count", NULL, &seen, sizeof(seen)), 0);
    printf("committed at attempt %d: %d", begun, (int)seen);
    IS(daos_tx_open(container, &th, 0, NULL), 0);
    number = 99;
    IS(move(object, th, 1, "count", NULL, &number, sizeof(number)), 0);
    IS(daos_tx_abort(th, NULL), 0);
    IS(daos_tx_close(th, NULL), 0);
    IS(move(object, DAOS_TX_NONE, 0, "count", NULL, &seen, sizeof(seen)), 0);
    printf(", after an abort %d\n", (int)seen);
    IS(daos_obj_close(object, NULL), 0);
}

/* docs/overview/transaction.md and docs/user/container.md: a snapshot is named by its epoch, which is a time, and stays readable. */
static void snapshots(void)
{
    daos_handle_t map, th;
    daos_epoch_t epoch, found[4];
    daos_anchor_t anchor = {0};
    struct timespec time, now;
    char value[8] = {0};
    daos_size_t size = sizeof(value);
    int count = 4;
    IS(daos_kv_open(container, new_id(DAOS_OT_KV_HASHED, OC_S1), DAOS_OO_RW, &map, NULL), 0);
    IS(daos_kv_put(map, DAOS_TX_NONE, 0, "step", 3, "one", NULL), 0);
    IS(daos_cont_create_snap(container, &epoch, NULL, NULL), 0);
    IS(daos_kv_put(map, DAOS_TX_NONE, 0, "step", 3, "two", NULL), 0);
    IS(daos_hlc2timespec(epoch, &time), 0);
    clock_gettime(CLOCK_REALTIME, &now);
    IS(llabs((long long)now.tv_sec - time.tv_sec) < 60, 1);
    IS(daos_cont_list_snap(container, &count, found, NULL, &anchor, NULL), 0);
    IS(found[0], epoch);
    IS(daos_tx_open_snap(container, epoch, &th, NULL), 0);
    IS(daos_kv_get(map, th, 0, "step", &size, value, NULL), 0);
    printf("%d snapshot, in which step is %s", count, value);
    IS(daos_tx_close(th, NULL), 0);
    IS(daos_cont_destroy_snap(container, (daos_epoch_range_t){epoch, epoch}, NULL), 0);
    memset(&anchor, 0, sizeof(anchor));
    count = 4;
    IS(daos_cont_list_snap(container, &count, found, NULL, &anchor, NULL), 0);
    printf(", then %d\n", count);
    IS(daos_kv_close(map, NULL), 0);
}

/* docs/user/container.md: what a container is made with, and what it has otherwise. */
static void properties(void)
{
    static const char given[] = "cksum:sha1;dedup:hash;rd_fac:1";
    daos_prop_t *asked, *told = daos_prop_alloc(0);
    daos_handle_t other;
    IS(daos_prop_from_str(given, strlen(given), &asked), 0);
    IS(daos_cont_create_with_label(pool, "mycont2", asked, NULL, NULL), 0);
    IS(daos_cont_create_with_label(pool, "mycont2", asked, NULL, NULL), -DER_EXIST);
    IS(daos_cont_open(pool, "mycont2", DAOS_COO_RW, &other, NULL, NULL), 0);
    IS(daos_cont_query(other, NULL, told, NULL), 0);
#define NUMBER(name) (int)daos_prop_entry_get(told, name)->dpe_val
    IS(NUMBER(DAOS_PROP_CO_CSUM), DAOS_PROP_CO_CSUM_SHA1);
    IS(NUMBER(DAOS_PROP_CO_DEDUP), DAOS_PROP_CO_DEDUP_HASH);
    IS(NUMBER(DAOS_PROP_CO_COMPRESS), DAOS_PROP_CO_COMPRESS_OFF);
    IS(NUMBER(DAOS_PROP_CO_ENCRYPT), DAOS_PROP_CO_ENCRYPT_OFF);
    printf("%s: rd_fac %d, checksum chunk %d, dedupe threshold %d, EC cell %d, layout %d version %d, %d snapshots",
           daos_prop_entry_get(told, DAOS_PROP_CO_LABEL)->dpe_str, NUMBER(DAOS_PROP_CO_REDUN_FAC),
           NUMBER(DAOS_PROP_CO_CSUM_CHUNK_SIZE), NUMBER(DAOS_PROP_CO_DEDUP_THRESHOLD), NUMBER(DAOS_PROP_CO_EC_CELL_SZ),
           NUMBER(DAOS_PROP_CO_LAYOUT_TYPE), NUMBER(DAOS_PROP_CO_LAYOUT_VER), NUMBER(DAOS_PROP_CO_SNAPSHOT_MAX));
    char **entries;
    size_t count;
    IS(daos_acl_to_strs(daos_prop_entry_get(told, DAOS_PROP_CO_ACL)->dpe_val_ptr, &entries, &count), 0);
    printf(", list %s, %s\n", entries[0], entries[1]);
    for (size_t i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    daos_prop_free(told);
    daos_prop_free(asked);
    IS(daos_cont_close(other, NULL), 0);
    IS(daos_cont_destroy(pool, "mycont2", 0, NULL), 0);
    IS(daos_cont_open(pool, "mycont2", DAOS_COO_RW, &other, NULL, NULL), -DER_NONEXIST);
}

/* docs/user/container.md and docs/user/workflow.md: attributes of a container, and of a pool. */
static void attributes(int of_pool)
{
    const char *name = of_pool ? "project_deadline" : "import_date";
    const void *value = of_pool ? "September 30, 2025" : "12/01/2021";
    size_t size = strlen(value), room = 0, found_size = 64;
    char names[64] = {0}, found[64] = {0};
    void *places[] = {found};
#define OF(call, ...) (of_pool ? daos_pool_##call(pool, __VA_ARGS__) : daos_cont_##call(container, __VA_ARGS__))
    IS(OF(set_attr, 1, &name, &value, &size, NULL), 0);
    room = sizeof(names);
    IS(OF(list_attr, names, &room, NULL), 0);
    IS(OF(get_attr, 1, &name, places, &found_size, NULL), 0);
    printf("%s %.*s", names, (int)found_size, found);
    IS(OF(del_attr, 1, &name, NULL), 0);
    room = 0;
    IS(OF(list_attr, NULL, &room, NULL), 0);
    printf(", then %d bytes of names\n", (int)room);
}

/* docs/user/container.md: an entry of the list is added, then replaced, then taken out. */
static void lists(void)
{
    static const char *const steps[] = {"A::friend@:r", "A::friend@:rw"};
    for (size_t i = 0; i < 2; i++) {
        struct daos_acl *list;
        const char *entry = steps[i];
        IS(daos_acl_from_strs(&entry, 1, &list), 0);
        IS(daos_cont_update_acl(container, list, NULL), 0);
        daos_acl_free(list);
    }
    char name[] = "friend@", **entries;
    daos_prop_t *told;
    size_t before = 0, after = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t count;
        IS(daos_cont_get_acl(container, &told, NULL), 0);
        IS(daos_acl_to_strs(daos_prop_entry_get(told, DAOS_PROP_CO_ACL)->dpe_val_ptr, &entries, &count), 0);
        if (pass == 0)
            printf("%s", entries[1]);
        *(pass == 0 ? &before : &after) = count;
        for (size_t i = 0; i < count; i++)
            free(entries[i]);
        free(entries);
        daos_prop_free(told);
        if (pass == 0)
            IS(daos_cont_delete_acl(container, DAOS_ACL_USER, name, NULL), 0);
    }
    printf(", %d entries, then %d\n", (int)before, (int)after);
}

/* docs/user/workflow.md: what a pool is asked. docs/user/container.md: to open a container takes no right to write to the pool. */
static void pools(void)
{
    daos_pool_info_t info = {.pi_bits = DPI_ALL};
    daos_handle_t reader, opened;
    IS(daos_pool_query(pool, NULL, &info, NULL, NULL), 0);
    IS(info.pi_ntargets > 0, 1);
    IS(info.pi_ndisabled, 0);
    IS(info.pi_space.ps_space.s_free[0] <= info.pi_space.ps_space.s_total[0], 1);
    IS(daos_pool_connect(pool_label, NULL, DAOS_PC_RO, &reader, NULL, NULL), 0);
    IS(daos_cont_open(reader, "mycont", DAOS_COO_RW, &opened, NULL, NULL), 0);
    IS(daos_cont_close(opened, NULL), 0);
    IS(daos_pool_disconnect(reader, NULL), 0);
    printf("a pool without disabled targets\n");
}

/* docs/user/filesystem.md, and src/tests/simple_dfs.c: a file in a directory; O_APPEND is not there. */
static void files(void)
{
    dfs_t *dfs;
    dfs_obj_t *directory, *file;
    struct stat stat;
    char found[32] = {0};
    daos_size_t size = sizeof(found);
    IS(dfs_init(), 0);
    IS(dfs_connect(pool_label, NULL, "mycont4", O_CREAT | O_RDWR, NULL, &dfs), 0);
    IS(dfs_open(dfs, NULL, "dir1", S_IFDIR | 0755, O_RDWR | O_CREAT, 0, 0, NULL, &directory), 0);
    IS(dfs_mkdir(dfs, directory, "dir2", 0755, 0), 0);
    IS(dfs_open(dfs, directory, "file1", S_IFREG | 0644, O_RDWR | O_CREAT, 0, 0, NULL, &file), 0);
    IS(dfs_write(dfs, file, LIST("hello world!", 12), 0, NULL), 0);
    IS(dfs_read(dfs, file, LIST(found, sizeof(found)), 0, &size, NULL), 0);
    IS(dfs_release(file), 0);
    IS(dfs_open(dfs, directory, "file1", S_IFREG, O_RDWR | O_APPEND, 0, 0, NULL, &file), ENOTSUP);
    IS(dfs_lookup(dfs, "/dir1/file1", O_RDONLY, &file, NULL, &stat), 0);
    IS(dfs_release(file), 0);
    IS(dfs_release(directory), 0);
    printf("read back %d bytes of %d: %s\n", (int)size, (int)stat.st_size, found);
    IS(dfs_disconnect(dfs), 0);
    IS(dfs_fini(), 0);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    pool_label = argv[1];
    pool = begin(pool_label);
    container = new_container(pool, "mycont");
    keys(1);
    keys(0);
    array();
    map();
    transactions();
    snapshots();
    properties();
    attributes(0);
    attributes(1);
    lists();
    pools();
    files();
    IS(daos_cont_close(container, NULL), 0);
    return end(pool);
}
