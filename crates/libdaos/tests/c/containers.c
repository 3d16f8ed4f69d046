/* Containers by UUID, beside damaged ones.
 *
 *   containers make POOL COUNT   makes so many with labels and as many without, and prints UUIDs
 *   containers open POOL UUID... opens them by UUID, in capitals, too, and prints what a map in each of them says
 *   containers list POOL         prints labels
 *   containers destroy POOL NAME
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daos.h>

enum { MOST = 100 };

#define CHECK(call) check((call), #call, __LINE__)

static void check(int rc, const char *what, int line)
{
    if (rc != 0) {
        fprintf(stderr, "line %d: %s: %s (%d)\n", line, what, d_errstr(rc), rc);
        exit(1);
    }
}

static const char *text_of(const unsigned char *uuid)
{
    static char text[37];
    char *at = text;
    for (int byte = 0; byte < 16; byte++)
        at += sprintf(at, byte == 4 || byte == 6 || byte == 8 || byte == 10 ? "-%02x" : "%02x", uuid[byte]);
    return text;
}

static daos_handle_t open_map(daos_handle_t pool, const char *name, daos_handle_t *container)
{
    daos_obj_id_t id = {.lo = 1};
    daos_handle_t map;
    CHECK(daos_cont_open(pool, name, DAOS_COO_RW, container, NULL, NULL));
    CHECK(daos_obj_generate_oid(*container, &id, DAOS_OT_KV_HASHED, OC_S1, 0, 0));
    CHECK(daos_kv_open(*container, id, DAOS_OO_RW, &map, NULL));
    return map;
}

static void make(daos_handle_t pool, int count)
{
    for (int at = 0; at < 2 * count; at++) {
        uuid_t uuid;
        char label[32];
        daos_handle_t container, map;
        snprintf(label, sizeof(label), "container-%d", at / 2);
        if (at % 2 == 0)
            CHECK(daos_cont_create_with_label(pool, label, NULL, &uuid, NULL));
        else
            CHECK(daos_cont_create(pool, &uuid, NULL, NULL));
        map = open_map(pool, text_of(uuid), &container);
        CHECK(daos_kv_put(map, DAOS_TX_NONE, 0, "uuid", 36, text_of(uuid), NULL));
        CHECK(daos_kv_close(map, NULL));
        CHECK(daos_cont_close(container, NULL));
        puts(text_of(uuid));
    }
}

static void open_all(daos_handle_t pool, int count, char **uuids)
{
    for (int at = 0; at < 2 * count; at++) {
        daos_handle_t container, map;
        char found[37] = {0}, name[37];
        daos_size_t size = 36;
        snprintf(name, sizeof(name), "%s", uuids[at % count]);
        for (char *letter = name; at >= count && *letter != '\0'; letter++)
            *letter = (char)toupper(*letter);
        map = open_map(pool, name, &container);
        CHECK(daos_kv_get(map, DAOS_TX_NONE, 0, "uuid", &size, found, NULL));
        CHECK(daos_kv_close(map, NULL));
        CHECK(daos_cont_close(container, NULL));
        puts(found);
    }
}

static void list(daos_handle_t pool)
{
    static struct daos_pool_cont_info found[MOST];
    daos_size_t count = MOST;
    CHECK(daos_pool_list_cont(pool, &count, found, NULL));
    for (daos_size_t at = 0; at < count; at++)
        puts(found[at].pci_label);
}

int main(int argc, char **argv)
{
    daos_handle_t pool;
    if (argc < 3)
        return 2;
    CHECK(daos_init());
    CHECK(daos_pool_connect(argv[2], NULL, DAOS_PC_RW, &pool, NULL, NULL));
    if (strcmp(argv[1], "make") == 0)
        make(pool, atoi(argv[3]));
    else if (strcmp(argv[1], "open") == 0)
        open_all(pool, argc - 3, argv + 3);
    else if (strcmp(argv[1], "destroy") == 0)
        CHECK(daos_cont_destroy(pool, argv[3], 0, NULL));
    else
        list(pool);
    CHECK(daos_pool_disconnect(pool, NULL));
    CHECK(daos_fini());
    return 0;
}
