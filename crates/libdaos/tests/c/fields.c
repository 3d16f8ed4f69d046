/* Writers and a reader of fields, as programs that were written for DAOS have them: an index that is a map, and an array for each
 * field. Only pools, containers, maps and arrays are used.
 *
 *   fields write POOL CONTAINER NAME COUNT     archives fields NAME.0, NAME.1, ...; prints each when it is stored
 *   fields read POOL CONTAINER                 reads every field that is in the index; prints its name if its bytes are right
 */
#include "fixtures.h"

enum { LENGTH = 100000, NAME_BYTES = 64, KEYS = 50 };

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

static void write_fields(daos_handle_t container, daos_handle_t index, const char *name, int count)
{
    unsigned char *bytes = malloc(LENGTH);
    for (int number = 0; number < count; number++) {
        char key[NAME_BYTES];
        snprintf(key, sizeof key, "%s.%d", name, number);
        fill(bytes, key);
        daos_obj_id_t id = {0};
        MUST(daos_cont_alloc_oids(container, 1, &id.lo, NULL));
        MUST(daos_obj_generate_oid(container, &id, DAOS_OT_ARRAY_BYTE, OC_S1, 0, 0));
        daos_handle_t array = open_byte_array(container, id, 1 << 20);
        MUST(daos_array_write(array, DAOS_TX_NONE, RANGE(0, LENGTH), LIST(bytes, LENGTH), NULL));
        MUST(daos_array_close(array, NULL));
        MUST(daos_kv_put(index, DAOS_TX_NONE, DAOS_COND_KEY_INSERT, key, sizeof id, &id, NULL));
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
    MUST(daos_kv_get(index, DAOS_TX_NONE, 0, key, &size, &id, NULL));
    daos_handle_t array = open_byte_array(container, id, 1 << 20);
    daos_size_t cells;
    MUST(daos_array_get_size(array, DAOS_TX_NONE, &cells, NULL));
    MUST(daos_array_read(array, DAOS_TX_NONE, RANGE(0, LENGTH), LIST(bytes, LENGTH), NULL));
    fill(expected, key);
    if (size != sizeof id || cells != LENGTH || memcmp(bytes, expected, LENGTH) != 0) {
        fprintf(stderr, "%s is not what was written\n", key);
        exit(1);
    }
    printf("%s\n", key);
    MUST(daos_array_close(array, NULL));
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
        MUST(daos_kv_list(index, DAOS_TX_NONE, &count, found, LIST(names, sizeof names), &anchor, NULL));
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
    daos_handle_t pool = begin(argv[2]), index;
    /* Several programs may come first. */
    int rc = daos_cont_create_with_label(pool, argv[3], NULL, NULL, NULL);
    MUST(rc == -DER_EXIST ? 0 : rc);
    daos_handle_t container = open_container(pool, argv[3]);
    daos_obj_id_t id = {0};
    MUST(daos_obj_generate_oid(container, &id, DAOS_OT_KV_HASHED, OC_SX, 0, 0));
    MUST(daos_kv_open(container, id, DAOS_OO_RW, &index, NULL));
    if (strcmp(argv[1], "write") == 0 && argc == 6)
        write_fields(container, index, argv[4], atoi(argv[5]));
    else
        read_fields(container, index);
    MUST(daos_kv_close(index, NULL));
    MUST(daos_cont_close(container, NULL));
    return end(pool);
}
