/* Containers by UUID, beside damaged ones.
 *
 *   containers make POOL COUNT   makes so many with labels and as many without, and prints UUIDs
 *   containers open POOL UUID... opens them by UUID, in capitals, too, and prints what a map in each of them says
 *   containers list POOL         prints labels
 *   containers destroy POOL NAME
 */
#include <ctype.h>

#include "fixtures.h"

enum { MOST = 100 };

static const char *text_of(const unsigned char *uuid)
{
    static char text[37];
    char *at = text;
    for (int byte = 0; byte < 16; byte++)
        at += sprintf(at, byte == 4 || byte == 6 || byte == 8 || byte == 10 ? "-%02x" : "%02x", uuid[byte]);
    return text;
}

static void make(daos_handle_t pool, int count)
{
    for (int at = 0; at < 2 * count; at++) {
        uuid_t uuid;
        char label[32];
        snprintf(label, sizeof(label), "container-%d", at / 2);
        if (at % 2 == 0)
            MUST(daos_cont_create_with_label(pool, label, NULL, &uuid, NULL));
        else
            MUST(daos_cont_create(pool, &uuid, NULL, NULL));
        daos_handle_t container = open_container(pool, text_of(uuid)), map = open_map(container, 1);
        MUST(daos_kv_put(map, DAOS_TX_NONE, 0, "uuid", 36, text_of(uuid), NULL));
        MUST(daos_kv_close(map, NULL));
        MUST(daos_cont_close(container, NULL));
        puts(text_of(uuid));
    }
}

static void open_all(daos_handle_t pool, int count, char **uuids)
{
    for (int at = 0; at < 2 * count; at++) {
        char found[37] = {0}, name[37];
        daos_size_t size = 36;
        snprintf(name, sizeof(name), "%s", uuids[at % count]);
        for (char *letter = name; at >= count && *letter != '\0'; letter++)
            *letter = (char)toupper(*letter);
        daos_handle_t container = open_container(pool, name), map = open_map(container, 1);
        MUST(daos_kv_get(map, DAOS_TX_NONE, 0, "uuid", &size, found, NULL));
        MUST(daos_kv_close(map, NULL));
        MUST(daos_cont_close(container, NULL));
        puts(found);
    }
}

static void list(daos_handle_t pool)
{
    static struct daos_pool_cont_info found[MOST];
    daos_size_t count = MOST;
    MUST(daos_pool_list_cont(pool, &count, found, NULL));
    for (daos_size_t at = 0; at < count; at++)
        puts(found[at].pci_label);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    daos_handle_t pool = begin(argv[2]);
    if (strcmp(argv[1], "make") == 0)
        make(pool, atoi(argv[3]));
    else if (strcmp(argv[1], "open") == 0)
        open_all(pool, argc - 3, argv + 3);
    else if (strcmp(argv[1], "destroy") == 0)
        MUST(daos_cont_destroy(pool, argv[3], 0, NULL));
    else
        list(pool);
    return end(pool);
}
