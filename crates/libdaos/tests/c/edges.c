/* What a program may do wrong, or seldom does: each must be refused or come out right, and never end the process.
 *
 *   edges POOL
 */
#define _XOPEN_SOURCE 700
#include <errno.h>

#include <daos_fs.h>
#include <daos_fs_sys.h>
#include <daos_mgmt.h>
#include <daos_pipeline.h>
#include <daos_uns.h>

#include "fixtures.h"

static int fetch(daos_handle_t object, const char *akey, daos_iod_type_t type, daos_recx_t *ranges, unsigned int count,
                 char *buffer, size_t room, daos_size_t *size)
{
    daos_iod_t iod = {.iod_name = *KEY(akey), .iod_type = type, .iod_size = DAOS_REC_ANY, .iod_nr = count, .iod_recxs = ranges};
    d_sg_list_t *list = buffer == NULL ? NULL : LIST(buffer, room);
    int rc = daos_obj_fetch(object, DAOS_TX_NONE, 0, KEY("d"), 1, &iod, list, NULL, NULL);
    *size = iod.iod_size;
    return rc;
}

static int update(daos_handle_t object, const char *akey, daos_iod_type_t type, daos_size_t size, daos_recx_t *range,
                  const char *bytes, size_t length)
{
    daos_iod_t iod = {.iod_name = *KEY(akey), .iod_type = type, .iod_size = size, .iod_nr = 1, .iod_recxs = range};
    return daos_obj_update(object, DAOS_TX_NONE, 0, KEY("d"), 1, &iod, LIST(bytes, length), NULL);
}

static void records(daos_handle_t container)
{
    daos_handle_t object = open_object(container, 1, DAOS_OT_MULTI_HASHED);
    daos_recx_t ten = {.rx_idx = 0, .rx_nr = 10}, far = {.rx_idx = 1ULL << 40, .rx_nr = 1};
    IS(update(object, "r", DAOS_IOD_ARRAY, 1, &ten, "0123456789", 10), 0);

    /* What is not there leaves its place in the buffer alone, and does not move what is behind it. */
    daos_recx_t both[] = {{.rx_idx = 8, .rx_nr = 4}, {.rx_idx = 0, .rx_nr = 4}};
    daos_size_t size;
    char buffer[8];
    memset(buffer, '-', sizeof buffer);
    IS(fetch(object, "r", DAOS_IOD_ARRAY, both, 2, buffer, sizeof buffer, &size), 0);
    IS(memcmp(buffer, "89--0123", 8), 0);

    /* More than there is room for is refused before any memory is taken for it. */
    IS(update(object, "r", DAOS_IOD_ARRAY, 1, &far, "x", 1), 0);
    daos_recx_t all = {.rx_idx = 0, .rx_nr = 1ULL << 40};
    IS(fetch(object, "r", DAOS_IOD_ARRAY, &all, 1, buffer, sizeof buffer, &size), -DER_REC2BIG);
    IS(fetch(object, "r", DAOS_IOD_ARRAY, &all, 1, NULL, 0, &size), 0);
    IS(size, 1);

    /* Records of another size, and a value where there are records, are not taken for what they are not. */
    IS(update(object, "r", DAOS_IOD_ARRAY, 2, &ten, "0123456789abcdefghij", 20), -DER_REC_SIZE);
    IS(fetch(object, "r", DAOS_IOD_SINGLE, NULL, 1, buffer, sizeof buffer, &size), 0);
    IS(size, 0);
    IS(update(object, "v", DAOS_IOD_SINGLE, 5, NULL, "value", 5), 0);
    IS(fetch(object, "v", DAOS_IOD_ARRAY, both, 2, buffer, sizeof buffer, &size), 0);
    IS(size, 0);
    IS(update(object, "r", DAOS_IOD_SINGLE, 5, NULL, "value", 5), -DER_NO_PERM);
    IS(update(object, "v", DAOS_IOD_ARRAY, 1, &ten, "0123456789", 10), -DER_NO_PERM);
    IS(fetch(object, "v", DAOS_IOD_SINGLE, NULL, 1, buffer, sizeof buffer, &size), 0);
    IS(memcmp(buffer, "value", 5), 0);
    IS(update(object, "s", DAOS_IOD_ARRAY, 2, &ten, "0123456789abcdefghij", 20), 0);
    IS(fetch(object, "s", DAOS_IOD_ARRAY, both + 1, 1, buffer, sizeof buffer, &size), 0);
    IS(size, 2);
    IS(memcmp(buffer, "01234567", 8), 0);

    /* Where the records were punched with their key there may be some of another size. */
    daos_recx_t two = {.rx_idx = 0, .rx_nr = 2};
    IS(update(object, "s", DAOS_IOD_ARRAY, 4, &two, "aaaabbbb", 8), -DER_REC_SIZE);
    IS(daos_obj_punch_akeys(object, DAOS_TX_NONE, 0, KEY("d"), 1, KEY("s"), NULL), 0);
    IS(update(object, "s", DAOS_IOD_ARRAY, 4, &two, "aaaabbbb", 8), 0);
    IS(fetch(object, "s", DAOS_IOD_ARRAY, &two, 1, buffer, sizeof buffer, &size), 0);
    IS(size, 4);
    IS(memcmp(buffer, "aaaabbbb", 8), 0);
    IS(daos_obj_punch(object, DAOS_TX_NONE, DAOS_COND_PUNCH, NULL), 0);
    IS(daos_obj_punch(object, DAOS_TX_NONE, DAOS_COND_PUNCH, NULL), -DER_NONEXIST);
    IS(daos_obj_close(object, NULL), 0);
}

static void lengths(daos_handle_t container)
{
    daos_obj_id_t id = {.lo = 2}, own = {.hi = 0x09010001ffffffff, .lo = UINT64_MAX};
    daos_handle_t map = open_map(container, 2), array;
    IS(daos_kv_put(map, DAOS_TX_NONE, 0, "key", UINT64_MAX, "value", NULL), -DER_INVAL);
    IS(daos_kv_put(map, DAOS_TX_NONE, 0, "key", 5, NULL, NULL), -DER_INVAL);
    IS(daos_kv_open(container, own, DAOS_OO_RW, &array, NULL), -DER_INVAL);
    IS(daos_obj_generate_oid(container, &id, 255, OC_S1, 0, 0), -DER_INVAL);

    array = open_byte_array(container, id_of(container, 3, DAOS_OT_ARRAY_BYTE), 4096);
    char bytes[8] = "12345678";
    d_sg_list_t *halves = LISTS(iov_of(bytes, 5), iov_of(bytes + 4, 3));
    daos_array_iod_t *first = RANGE(0, 8);
    IS(daos_array_write(array, DAOS_TX_NONE, first, halves, NULL), 0);

    /* Of two ranges that are read into the same bytes one is there; one that is not there changes nothing. */
    char same[4] = "----";
    d_sg_list_t *twice = LISTS(iov_of(same, 4), iov_of(same, 4));
    IS(daos_array_read(array, DAOS_TX_NONE, first, twice, NULL), 0);
    IS(first->arr_nr_read, 8);
    IS(memcmp(same, "1234", 4) == 0 || memcmp(same, "5567", 4) == 0, 1);
    memset(same, '-', 4);
    daos_range_t apart[] = {{.rg_idx = 4, .rg_len = 4}, {.rg_idx = 100, .rg_len = 4}};
    daos_array_iod_t both = {.arr_nr = 2, .arr_rgs = apart};
    IS(daos_array_read(array, DAOS_TX_NONE, &both, twice, NULL), 0);
    IS(both.arr_nr_read, 4);
    IS(memcmp(same, "5567", 4), 0);
    first->arr_nr = UINT64_MAX;
    IS(daos_array_write(array, DAOS_TX_NONE, first, halves, NULL), -DER_INVAL);

    /* A range that ends beyond all numbers. */
    daos_array_iod_t *beyond = RANGE(UINT64_MAX - 5, 8);
    IS(daos_array_write(array, DAOS_TX_NONE, beyond, halves, NULL), -DER_INVAL);
    IS(daos_array_write(array, DAOS_TX_NONE, beyond, LIST(bytes, 8), NULL), -DER_INVAL);
    IS(daos_array_read(array, DAOS_TX_NONE, beyond, LIST(bytes, 8), NULL), -DER_INVAL);
    IS(daos_array_punch(array, DAOS_TX_NONE, beyond, NULL), -DER_INVAL);
    IS(daos_array_close(array, NULL), 0);
    IS(daos_obj_close(map, NULL), 0);
}

/* Anchors are copied by programs: a copy goes on where it was made, also with keys that are longer than an anchor. */
static void anchors(daos_handle_t container)
{
    daos_handle_t map;
    IS(daos_kv_open(container, id_of(container, 4, DAOS_OT_KV_LEXICAL), DAOS_OO_RW, &map, NULL), 0);
    char name[201], names[400];
    for (int number = 0; number < 6; number++) {
        memset(name, 'a' + number, 200);
        name[200] = '\0';
        IS(daos_kv_put(map, DAOS_TX_NONE, 0, name, 1, "x", NULL), 0);
    }
    daos_anchor_t anchor = {0}, copy = {0};
    for (int page = 0; page < 4; page++) {
        daos_key_desc_t found[2];
        uint32_t count = 2;
        /* The last page is the second once more. */
        daos_anchor_t *from = page == 3 ? &copy : &anchor;
        IS(daos_kv_list(map, DAOS_TX_NONE, &count, found, LIST(names, sizeof names), from, NULL), 0);
        IS(count, 2);
        IS(names[0], page == 3 ? 'c' : 'a' + 2 * page);
        if (page == 0)
            copy = anchor;
    }
    IS(daos_obj_close(map, NULL), 0);
}

static void put_number(daos_handle_t object, uint64_t dkey, uint64_t akey, uint64_t at, int is_single)
{
    daos_key_t key = iov_of(&dkey, sizeof dkey);
    daos_recx_t records = {.rx_idx = at, .rx_nr = 1};
    daos_iod_t iod = {.iod_name = iov_of(&akey, sizeof akey), .iod_type = is_single ? DAOS_IOD_SINGLE : DAOS_IOD_ARRAY,
                      .iod_size = 4, .iod_nr = 1, .iod_recxs = &records};
    IS(daos_obj_update(object, DAOS_TX_NONE, 0, &key, 1, &iod, LIST("four", 4), NULL), 0);
}

static int query(daos_handle_t object, uint64_t flags, uint64_t *dkey, uint64_t *akey, daos_recx_t *records)
{
    daos_key_t keys[] = {iov_of(dkey, sizeof *dkey), iov_of(akey, sizeof *akey)};
    return daos_obj_query_key(object, DAOS_TX_NONE, flags, &keys[0], &keys[1], records, NULL);
}

/* Integer keys, those of the highest byte too; of the last distribution key with records; and of an object without any. */
static void highest_and_lowest(daos_handle_t container)
{
    daos_handle_t object = open_object(container, 5, DAOS_OT_MULTI_UINT64);
    uint64_t dkey = 9, akey = 9;
    daos_recx_t records = {1, 1};
    IS(query(object, DAOS_GET_MAX | DAOS_GET_DKEY | DAOS_GET_AKEY | DAOS_GET_RECX, &dkey, &akey, &records), 0);
    IS(dkey == 0 && akey == 0 && records.rx_nr == 0, 1);
    put_number(object, 3, 7, 10, 0);
    put_number(object, 3, UINT64_MAX, 5, 0);
    put_number(object, 256, 1, 0, 1);
    IS(query(object, DAOS_GET_MAX | DAOS_GET_DKEY, &dkey, &akey, NULL), 0);
    IS(dkey, 256);
    IS(query(object, DAOS_GET_MAX | DAOS_GET_DKEY | DAOS_GET_AKEY | DAOS_GET_RECX, &dkey, &akey, &records), 0);
    IS(dkey == 3 && akey == UINT64_MAX && records.rx_idx + records.rx_nr == 6, 1);
    IS(query(object, DAOS_GET_MIN | DAOS_GET_AKEY, &dkey, &akey, NULL), 0);
    IS(akey, 7);
    IS(query(object, DAOS_GET_MAX | DAOS_GET_RECX, &dkey, &akey, &records), 0);
    IS(records.rx_idx + records.rx_nr, 11);
    IS(query(object, DAOS_GET_MAX | DAOS_GET_MIN | DAOS_GET_DKEY, &dkey, &akey, NULL), -DER_INVAL);
    IS(query(object, DAOS_GET_MAX, &dkey, &akey, NULL), -DER_INVAL);
    IS(daos_obj_close(object, NULL), 0);
}

/* A queue tells what is complete, and takes nothing away. */
static void queue(daos_handle_t container)
{
    daos_handle_t queue;
    daos_event_t first, second, *found[4] = {NULL};
    IS(daos_eq_create(&queue), 0);
    IS(daos_event_init(&first, queue, NULL), 0);
    IS(daos_event_init(&second, queue, NULL), 0);
    IS(daos_eq_query(queue, DAOS_EQR_ALL, 0, NULL), 0);
    IS(daos_cont_aggregate(container, 0, &first), 0);
    IS(daos_cont_aggregate(container, UINT64_MAX, &second), 0);
    IS(daos_eq_query(queue, DAOS_EQR_ALL, 0, NULL), 2);
    IS(daos_eq_query(queue, DAOS_EQR_WAITING, 4, found), 0);
    IS(daos_eq_query(queue, DAOS_EQR_COMPLETED, 1, found), 1);
    IS(found[0] == &first && found[1] == NULL, 1);
    IS(daos_eq_poll(queue, 0, DAOS_EQ_NOWAIT, 4, found), 2);
    IS(found[1] == &second && second.ev_error == -DER_INVAL, 1);
    IS(daos_eq_query(queue, DAOS_EQR_ALL, 4, found), 0);
    IS(daos_eq_destroy(queue, 0), 0);
    IS(daos_eq_query(queue, DAOS_EQR_ALL, 4, found), -DER_NONEXIST);
}

static int note(void *argument, daos_event_t *event, int result)
{
    (void)event;
    *(int *)argument = result;
    return 0;
}

/* A parent has the first failure of its children; what is no event has no functions. */
static void callbacks(daos_handle_t container)
{
    daos_handle_t queue;
    daos_event_t parent, first, second, none, *found;
    int result = 1;
    IS(daos_eq_create(&queue), 0);
    IS(daos_event_init(&parent, queue, NULL), 0);
    IS(daos_event_init(&first, queue, &parent), 0);
    IS(daos_event_init(&second, queue, &parent), 0);
    IS(daos_event_register_comp_cb(&parent, note, &result), 0);
    IS(daos_event_register_comp_cb(&parent, NULL, &result), -DER_INVAL);
    IS(daos_event_register_comp_cb(&none, note, &result), -DER_INVAL);
    IS(daos_cont_aggregate(container, UINT64_MAX, &first), 0);
    IS(daos_event_parent_barrier(&parent), 0);
    IS(daos_eq_query(queue, DAOS_EQR_WAITING, 0, NULL), 1);
    IS(daos_cont_aggregate(container, 0, &second), 0);
    IS(result, -DER_INVAL);
    IS(daos_eq_poll(queue, 0, DAOS_EQ_NOWAIT, 1, &found), 1);
    IS(found == &parent && parent.ev_error == -DER_INVAL && second.ev_error == 0, 1);
    IS(daos_event_next(&none, NULL) == NULL && daos_event_next(&parent, &none) == NULL, 1);
    IS(daos_event_fini(&first), 0);
    IS(daos_event_fini(&second), 0);
    IS(daos_event_fini(&parent), 0);
    IS(daos_eq_destroy(queue, 0), 0);
}

/* One value or range of cells under a distribution key of an array. */
static int under(int writes, daos_handle_t object, uint64_t flags, uint64_t number, const char *akey, daos_recx_t *range,
                 daos_size_t size, const char *bytes, size_t length, daos_size_t *found)
{
    daos_key_t dkey = iov_of(&number, sizeof number);
    daos_iod_t iod = {.iod_name = *KEY(akey), .iod_type = range == NULL ? DAOS_IOD_SINGLE : DAOS_IOD_ARRAY, .iod_size = size,
                      .iod_nr = 1, .iod_recxs = range};
    if (writes)
        return daos_obj_update(object, DAOS_TX_NONE, flags, &dkey, 1, &iod, LIST(bytes, length), NULL);
    int rc = daos_obj_fetch(object, DAOS_TX_NONE, flags, &dkey, 1, &iod, LIST(bytes, length), NULL, NULL);
    *found = iod.iod_size;
    return rc;
}

/* How large a file is that is not open is told without opening its array: else the chunks of that handle were those that array_keys sees. */
static void size_of_file(daos_handle_t pool)
{
    daos_handle_t container;
    dfs_t *dfs;
    dfs_obj_t *file;
    struct stat found;
    IS(dfs_cont_create_with_label(pool, "files", NULL, NULL, &container, &dfs), 0);
    IS(dfs_open(dfs, NULL, "file", S_IFREG | 0644, O_CREAT | O_RDWR, 0, 0, NULL, &file), 0);
    IS(dfs_write(dfs, file, LIST("four", 4), 0, NULL), 0);
    IS(dfs_release(file), 0);
    daos_handle_t map = open_map(container, 1);
    IS(dfs_stat(dfs, NULL, "file", &found), 0);
    IS(found.st_size, 4);
    daos_handle_t next = open_map(container, 1);
    /* Handles count up, above four bits that say of what kind they are. */
    IS((long)((next.cookie >> 4) - (map.cookie >> 4)), 1);
    IS(daos_kv_close(map, NULL), 0);
    IS(daos_kv_close(next, NULL), 0);
    IS(dfs_umount(dfs), 0);
    IS(daos_cont_close(container, NULL), 0);
}

/* Arrays seen as objects of two keys: what is there is found, what nobody knows is refused. */
static void array_keys(daos_handle_t container)
{
    daos_obj_id_t id = id_of(container, 7, DAOS_OT_ARRAY_ATTR);
    daos_handle_t object = open_object(container, 7, DAOS_OT_ARRAY_ATTR), read_only;
    IS(daos_obj_open(container, id, DAOS_OO_RO, &read_only, NULL), 0);
    char bytes[8] = "--------";
    daos_recx_t two = {.rx_idx = 1, .rx_nr = 2}, beyond = {.rx_idx = 7, .rx_nr = 2};
    daos_size_t size = 1;

    /* Under key 0 there is any value. */
    IS(under(0, object, 0, 0, "0", NULL, DAOS_REC_ANY, bytes, 8, &size), 0);
    IS(size, 0);
    IS(under(0, object, DAOS_COND_DKEY_FETCH, 0, "0", NULL, DAOS_REC_ANY, bytes, 8, &size), -DER_NONEXIST);
    IS(under(1, object, DAOS_COND_AKEY_UPDATE, 0, "0", NULL, 5, "value", 5, NULL), -DER_NONEXIST);
    IS(under(1, object, DAOS_COND_AKEY_INSERT, 0, "0", NULL, 5, "value", 5, NULL), 0);
    IS(under(1, object, DAOS_COND_DKEY_INSERT, 0, "0", NULL, 5, "other", 5, NULL), -DER_EXIST);
    IS(under(1, read_only, 0, 0, "0", NULL, 5, "other", 5, NULL), -DER_NO_PERM);
    IS(under(0, object, 0, 0, "0", NULL, DAOS_REC_ANY, bytes, 8, &size), 0);
    IS(size, 5);
    IS(memcmp(bytes, "value---", 8), 0);
    IS(under(0, object, 0, 0, "0", NULL, DAOS_REC_ANY, bytes, 4, &size), -DER_REC2BIG);
    IS(under(0, object, 0, 0, "0", &two, DAOS_REC_ANY, bytes, 8, &size), -DER_MISMATCH);
    IS(under(0, object, 0, 0, "1", NULL, DAOS_REC_ANY, bytes, 8, &size), -DER_NOSYS);
    char names[16];
    daos_key_desc_t found[2];
    daos_anchor_t anchor = {0};
    uint32_t count = 2;
    IS(daos_obj_list_dkey(object, DAOS_TX_NONE, &count, found, LIST(names, sizeof names), &anchor, NULL), 0);
    IS(count, 1);
    IS(memcmp(names, "\0\0\0\0\0\0\0\0", 8), 0);

    /* Chunks are known while someone has the array open. */
    IS(under(1, object, 0, 2, "0", &two, 1, "ab", 2, NULL), -DER_NOSYS);
    daos_handle_t array = open_byte_array(container, id, 8);
    IS(under(1, object, DAOS_COND_DKEY_INSERT, 2, "0", &two, 1, "ab", 2, NULL), 0);
    IS(under(1, object, DAOS_COND_DKEY_INSERT, 2, "0", &two, 1, "ab", 2, NULL), -DER_EXIST);
    IS(under(1, object, 0, 2, "0", &two, 2, "abcd", 4, NULL), -DER_REC_SIZE);
    IS(under(1, object, 0, 2, "0", &beyond, 1, "ab", 2, NULL), -DER_INVAL);
    IS(under(1, object, 0, UINT64_MAX, "0", &two, 1, "ab", 2, NULL), -DER_INVAL);
    IS(under(1, object, 0, 2, "0", NULL, 2, "ab", 2, NULL), -DER_MISMATCH);
    IS(daos_array_get_size(array, DAOS_TX_NONE, &size, NULL), 0);
    IS(size, 11);
    uint64_t number = 0;
    daos_key_t dkey = iov_of(&number, sizeof number);
    daos_recx_t last = {0};
    IS(daos_obj_query_key(object, DAOS_TX_NONE, DAOS_GET_MAX | DAOS_GET_DKEY | DAOS_GET_RECX, &dkey, KEY("0"), &last, NULL), 0);
    IS(number == 2 && last.rx_idx == 1 && last.rx_nr == 2, 1);
    IS(under(1, object, 0, 2, "0", &two, 0, NULL, 0, NULL), 0);
    IS(daos_array_get_size(array, DAOS_TX_NONE, &size, NULL), 0);
    IS(size, 0);
    daos_key_t seven = iov_of(bytes, 7);
    IS(daos_obj_punch_dkeys(object, DAOS_TX_NONE, 0, 1, &seven, NULL), -DER_INVAL);

    /* A transaction that writes to the end of an array and sets that size keeps what it wrote. */
    daos_handle_t transaction;
    IS(daos_tx_open(container, &transaction, 0, NULL), 0);
    IS(daos_array_write(array, transaction, RANGE(2, 4), LIST("four", 4), NULL), 0);
    IS(daos_array_set_size(array, transaction, 6, NULL), 0);
    IS(daos_tx_commit(transaction, NULL), 0);
    IS(daos_tx_close(transaction, NULL), 0);
    memset(bytes, '-', 8);
    IS(daos_array_read(array, DAOS_TX_NONE, RANGE(0, 8), LIST(bytes, 8), NULL), 0);
    IS(memcmp(bytes, "--four--", 8), 0);

    /* Of an array of this type the chunks are those of its opener, whatever another created it with. */
    daos_obj_id_t created = id_of(container, 78, DAOS_OT_ARRAY_BYTE);
    daos_handle_t creator;
    IS(daos_array_create(container, created, DAOS_TX_NONE, 1, 100, &creator, NULL), 0);
    IS(daos_array_close(creator, NULL), 0);
    daos_handle_t opener = open_byte_array(container, created, 8);
    daos_handle_t cells = open_object(container, 78, DAOS_OT_ARRAY_BYTE);
    IS(under(1, cells, 0, 2, "0", &two, 1, "ab", 2, NULL), 0);
    IS(daos_array_get_size(opener, DAOS_TX_NONE, &size, NULL), 0);
    IS(size, 8 + 3);
    IS(daos_array_close(opener, NULL), 0);
    IS(daos_obj_close(cells, NULL), 0);

    /* What is under key 0 goes with the array. */
    IS(daos_array_destroy(array, DAOS_TX_NONE, NULL), 0);
    IS(under(0, object, 0, 0, "0", NULL, DAOS_REC_ANY, bytes, 8, &size), 0);
    IS(size, 0);
    IS(daos_obj_punch(object, DAOS_TX_NONE, DAOS_COND_PUNCH, NULL), -DER_NONEXIST);
    IS(daos_array_close(array, NULL), 0);
    IS(daos_obj_close(object, NULL), 0);
    IS(daos_obj_close(read_only, NULL), 0);
}

/* A transaction that has read something, and writes more than what may go by between a read and a commit, commits. */
static void large_transaction(daos_handle_t container)
{
    static char value[16000];
    daos_handle_t map = open_map(container, 4000), transaction;
    daos_size_t size = 0;
    char name[16];

    IS(daos_kv_put(map, DAOS_TX_NONE, 0, "read", 1, "x", NULL), 0);
    IS(daos_tx_open(container, &transaction, 0, NULL), 0);
    IS(daos_kv_get(map, transaction, 0, "read", &size, NULL, NULL), 0);
    for (int number = 0; number < 4500; number++) {
        snprintf(name, sizeof(name), "%d", number);
        if (daos_kv_put(map, transaction, 0, name, sizeof(value), value, NULL) != 0)
            break;
    }
    IS(daos_tx_commit(transaction, NULL), 0);
    IS(daos_tx_close(transaction, NULL), 0);
    size = 0;
    IS(daos_kv_get(map, DAOS_TX_NONE, 0, "4499", &size, NULL, NULL), 0);
    IS(size, sizeof(value));
    IS(daos_kv_close(map, NULL), 0);
}

/* A second barrier would lose the event that the first one completed. */
static void barriers(void)
{
    daos_handle_t queue;
    daos_event_t parent, child, *found;

    IS(daos_eq_create(&queue), 0);
    IS(daos_event_init(&parent, queue, NULL), 0);
    IS(daos_event_init(&child, DAOS_HDL_INVAL, &parent), 0);
    IS(daos_cont_close(DAOS_HDL_INVAL, &child) != 0 || child.ev_error != 0, 1);
    IS(daos_event_parent_barrier(&parent), 0);
    IS(daos_event_parent_barrier(&parent), -DER_NO_PERM);
    IS(daos_eq_poll(queue, 1, DAOS_EQ_WAIT, 1, &found), 1);
    IS(daos_event_fini(&child), 0);
    IS(daos_event_fini(&parent), 0);
    IS(daos_eq_destroy(queue, 0), 0);
}

/* What holds a pool's attributes is no container to programs. */
static void attributes_of_pools(daos_handle_t pool)
{
    const char *names[] = {"colour"};
    const void *const values[] = {"red"};
    const size_t sizes[] = {3};
    daos_handle_t container;

    IS(daos_pool_set_attr(pool, 1, names, values, sizes, NULL), 0);
    IS(daos_cont_open(pool, "daos.pool-attributes", DAOS_COO_RO, &container, NULL, NULL), -DER_NONEXIST);
    IS(daos_cont_destroy(pool, "daos.pool-attributes", 1, NULL), -DER_NONEXIST);
    IS(daos_cont_create_with_label(pool, "daos.pool-attributes", NULL, NULL, NULL), -DER_INVAL);
}

/* What is not there says so. */
static void labels(void)
{
    char label[DAOS_PROP_MAX_LABEL_BUF_LEN + 1] = {0};
    IS(daos_label_is_valid(NULL), 0);
    IS(daos_label_is_valid(""), 0);
    IS(daos_label_is_valid("a:b.c_d-e"), 1);
    IS(daos_label_is_valid("a/b"), 0);
    IS(daos_label_is_valid("01234567-89ab-cdef-0123-456789ABCDEF"), 0);
    IS(daos_label_is_valid("01234567-89ab-cdef-0123-456789ABCDEX"), 1);
    memset(label, 'x', DAOS_PROP_LABEL_MAX_LEN);
    IS(daos_label_is_valid(label), 1);
    memset(label, 'x', DAOS_PROP_LABEL_MAX_LEN + 1);
    IS(daos_label_is_valid(label), 0);
    IS(DAOS_UUID_STR_SIZE, strlen("01234567-89ab-cdef-0123-456789abcdef") + 1);
    IS(DAOS_SYS_NAME_MAX, 15);
}

/* Whoever lists the parts of an object side by side finds one, which has all keys. */
static void parts(daos_handle_t container)
{
    daos_handle_t object = open_object(container, 77, DAOS_OT_MULTI_HASHED);
    uint32_t parts = 0, count = 4;
    daos_anchor_t anchors[2] = {{.da_type = DAOS_ANCHOR_TYPE_EOF}, {.da_type = DAOS_ANCHOR_TYPE_EOF}};
    daos_key_desc_t described[4];
    char names[64];
    d_sg_list_t *list = LIST(names, sizeof(names));
    IS(DAOS_OBJ_NIL.lo | DAOS_OBJ_NIL.hi, 0);
    IS(update(object, "a", DAOS_IOD_SINGLE, 1, NULL, "v", 1), 0);
    IS(daos_obj_anchor_split(object, NULL, NULL), -DER_INVAL);
    IS(daos_obj_anchor_split(object, &parts, NULL), 0);
    IS(parts, 1);
    IS(daos_obj_anchor_split(object, &parts, anchors), 0);
    IS(daos_obj_list_dkey(object, DAOS_TX_NONE, &count, described, list, anchors, NULL), 0);
    IS(count, 1);
    parts = 2;
    IS(daos_obj_anchor_split(object, &parts, anchors), -DER_INVAL);
    IS(daos_obj_anchor_set(object, 1, &anchors[1]), -DER_INVAL);
    IS(daos_obj_anchor_set(object, 0, &anchors[1]), 0);
    count = 4;
    IS(daos_obj_list_dkey(object, DAOS_TX_NONE, &count, described, list, &anchors[1], NULL), 0);
    IS(count, 1);
    IS(daos_obj_close(object, NULL), 0);
    IS(daos_obj_anchor_set(object, 0, anchors), -DER_NO_HDL);
}

static void missing(daos_handle_t container)
{
    daos_obj_id_t id = {.lo = 1};
    daos_target_info_t target;
    daos_pool_cont_filter_t containers;
    daos_pipeline_t pipeline;
    dfs_pipeline_t *filter;
    dfs_predicate_t none = {.dp_newer = 0};
    IS(daos_obj_verify(container, id, DAOS_EPOCH_MAX), -DER_NOSYS);
    IS(daos_pool_query_target(DAOS_HDL_INVAL, 0, 0, &target, NULL), -DER_NOSYS);
    IS(daos_pool_cont_filter_init(&containers, PCF_COMBINE_LOGICAL_AND), -DER_NOSYS);
    daos_pool_cont_filter_fini(&containers);
    daos_pipeline_init(&pipeline);
    IS(daos_pipeline_check(&pipeline), -DER_NOSYS);
    IS(daos_mgmt_list_pools(NULL, NULL, NULL, NULL), -DER_NOSYS);
    IS(dfs_pipeline_create(NULL, none, DFS_FILTER_NEWER, &filter), ENOSYS);
    IS(dfs_cont_check(DAOS_HDL_INVAL, "files", DFS_CHECK_PRINT, NULL), ENOSYS);
    IS(daos_obj_key2anchor(container, DAOS_TX_NONE, NULL, NULL, NULL, NULL), -DER_NOSYS);
    IS(daos_obj_query_max_epoch(container, DAOS_TX_NONE, NULL, NULL), -DER_NOSYS);
    IS(daos_oit_list_filter(container, NULL, NULL, NULL, NULL, NULL), -DER_NOSYS);
    IS(daos_acl_to_stream(stdout, NULL, false), -DER_NOSYS);
    IS(daos_mgmt_get_sys_info(NULL, NULL), -DER_NOSYS);
    daos_mgmt_put_sys_info(NULL);
    IS(dfs_mount_snap(container, container, 0, 1, NULL, NULL), ENOSYS);
    IS(dfs_connect_snap("tank", NULL, "c", 0, 1, NULL, NULL), ENOSYS);
}

int main(int argc, char **argv)
{
    daos_handle_t second, container, other;
    if (argc != 2)
        return 2;
    daos_handle_t pool = begin(argv[1]);
    IS(daos_pool_connect(argv[1], NULL, DAOS_PC_RW, &second, NULL, NULL), 0);
    IS(daos_cont_create_with_label(pool, "edges", NULL, NULL, NULL), 0);

    /* Who has it alone has it alone, and who has it open is known, whichever connection it is open through. */
    IS(daos_cont_open(pool, "edges", DAOS_COO_EX, &container, NULL, NULL), 0);
    IS(daos_cont_open(second, "edges", DAOS_COO_RW, &other, NULL, NULL), -DER_BUSY);
    IS(daos_cont_destroy(second, "edges", 0, NULL), -DER_BUSY);
    IS(daos_pool_disconnect(pool, NULL), -DER_BUSY);

    records(container);
    lengths(container);
    anchors(container);
    highest_and_lowest(container);
    queue(container);
    callbacks(container);
    array_keys(container);
    size_of_file(second);
    large_transaction(container);
    barriers();
    labels();
    parts(container);
    missing(container);
    attributes_of_pools(second);
    IS(daos_cont_close(container, NULL), 0);
    IS(daos_cont_destroy(second, "edges", 0, NULL), 0);
    IS(daos_pool_disconnect(second, NULL), 0);
    return end(pool);
}
