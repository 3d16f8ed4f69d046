/* Writers and a reader of fields, as programs that were written for DAOS have them: an index that is a map, and an array for each
 * field. Only pools, containers, maps and arrays are used.
 *
 *   fields write POOL CONTAINER NAME COUNT     archives fields NAME.0, NAME.1, ...; prints each when it is stored
 *   fields read POOL CONTAINER                 reads every field that is in the index; prints its name if its bytes are right
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daos.h>

enum { LENGTH = 100000, NAME_BYTES = 64, KEYS = 50 };

static void check(int rc, const char *what)
{
    if (rc != 0) {
        fprintf(stderr, "%s: %s (%d)\n", what, d_errstr(rc), rc);
        exit(1);
    }
}

/* The bytes of a field follow from its name. */
static void fill(unsigned char *bytes, const char *name)
{
    unsigned int state = 1;
    for (const char *c = name; *c != '\0'; c++)
        state = state * 31 + (unsigned char)*c;
    for (size_t at = 0; at < LENGTH; at++) {
        state = state * 1103515245 + 12345;
        bytes[at] = (unsigned char)(state >> 16);
    }
}

static daos_handle_t open_array(daos_handle_t container, daos_obj_id_t id)
{
    daos_handle_t array;
    check(daos_array_open_with_attr(container, id, DAOS_TX_NONE, DAOS_OO_RW, 1, 1 << 20, &array, NULL), "open array");
    return array;
}

static void write_fields(daos_handle_t container, daos_handle_t index, const char *name, int count)
{
    unsigned char *bytes = malloc(LENGTH);
    for (int number = 0; number < count; number++) {
        char key[NAME_BYTES];
        snprintf(key, sizeof key, "%s.%d", name, number);
        fill(bytes, key);
        daos_obj_id_t id = {0};
        check(daos_cont_alloc_oids(container, 1, &id.lo, NULL), "allocate an id");
        check(daos_obj_generate_oid(container, &id, DAOS_OT_ARRAY_BYTE, OC_S1, 0, 0), "make an id");
        daos_handle_t array = open_array(container, id);
        daos_range_t range = {.rg_idx = 0, .rg_len = LENGTH};
        daos_array_iod_t described = {.arr_nr = 1, .arr_rgs = &range};
        d_iov_t vector;
        d_iov_set(&vector, bytes, LENGTH);
        d_sg_list_t list = {.sg_nr = 1, .sg_iovs = &vector};
        check(daos_array_write(array, DAOS_TX_NONE, &described, &list, NULL), "write");
        check(daos_array_close(array, NULL), "close array");
        check(daos_kv_put(index, DAOS_TX_NONE, DAOS_COND_KEY_INSERT, key, sizeof id, &id, NULL), "put");
        printf("%s\n", key);
        fflush(stdout);
    }
    free(bytes);
}

static void read_field(daos_handle_t container, daos_handle_t index, const char *key)
{
    unsigned char *bytes = malloc(LENGTH), *expected = malloc(LENGTH);
    daos_obj_id_t id;
    daos_size_t size = sizeof id;
    check(daos_kv_get(index, DAOS_TX_NONE, 0, key, &size, &id, NULL), "get");
    daos_handle_t array = open_array(container, id);
    daos_size_t cells;
    check(daos_array_get_size(array, DAOS_TX_NONE, &cells, NULL), "size");
    daos_range_t range = {.rg_idx = 0, .rg_len = LENGTH};
    daos_array_iod_t described = {.arr_nr = 1, .arr_rgs = &range};
    d_iov_t vector;
    d_iov_set(&vector, bytes, LENGTH);
    d_sg_list_t list = {.sg_nr = 1, .sg_iovs = &vector};
    check(daos_array_read(array, DAOS_TX_NONE, &described, &list, NULL), "read");
    fill(expected, key);
    if (size != sizeof id || cells != LENGTH || memcmp(bytes, expected, LENGTH) != 0) {
        fprintf(stderr, "%s is not what was written\n", key);
        exit(1);
    }
    printf("%s\n", key);
    check(daos_array_close(array, NULL), "close array");
    free(bytes);
    free(expected);
}

static void read_fields(daos_handle_t container, daos_handle_t index)
{
    daos_anchor_t anchor = {0};
    while (!daos_anchor_is_eof(&anchor)) {
        char names[KEYS * NAME_BYTES], *name = names;
        daos_key_desc_t found[KEYS];
        uint32_t count = KEYS;
        d_iov_t vector;
        d_iov_set(&vector, names, sizeof names);
        d_sg_list_t list = {.sg_nr = 1, .sg_iovs = &vector};
        check(daos_kv_list(index, DAOS_TX_NONE, &count, found, &list, &anchor, NULL), "list");
        for (uint32_t at = 0; at < count; at++) {
            char key[NAME_BYTES] = {0};
            memcpy(key, name, found[at].kd_key_len);
            name += found[at].kd_key_len;
            read_field(container, index, key);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    daos_handle_t pool, container, index;
    check(daos_init(), "init");
    check(daos_pool_connect(argv[2], NULL, DAOS_PC_RW, &pool, NULL, NULL), "connect");
    /* Several programs may come first. */
    int rc = daos_cont_create_with_label(pool, argv[3], NULL, NULL, NULL);
    check(rc == -DER_EXIST ? 0 : rc, "create container");
    check(daos_cont_open(pool, argv[3], DAOS_COO_RW, &container, NULL, NULL), "open container");
    daos_obj_id_t id = {0};
    check(daos_obj_generate_oid(container, &id, DAOS_OT_KV_HASHED, OC_SX, 0, 0), "make an id");
    check(daos_kv_open(container, id, DAOS_OO_RW, &index, NULL), "open index");
    if (strcmp(argv[1], "write") == 0 && argc == 6)
        write_fields(container, index, argv[4], atoi(argv[5]));
    else
        read_fields(container, index);
    check(daos_kv_close(index, NULL), "close index");
    check(daos_cont_close(container, NULL), "close container");
    check(daos_pool_disconnect(pool, NULL), "disconnect");
    check(daos_fini(), "fini");
    return 0;
}
