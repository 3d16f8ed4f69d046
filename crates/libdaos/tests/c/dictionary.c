/* docs/user/python.md of DAOS, step by step, with the calls that pydaos makes of libdaos: prints what the page says that Python prints.
 *
 *   dictionary POOL
 */
#include "fixtures.h"

/* Operations that are under way at once in bput and bget, of pydaos. */
enum { IN_FLIGHT = 16, LONGEST = 64, MOST = 32 };

struct record {
    const char *key, *value;
    char found[LONGEST];
    daos_size_t size;
    daos_event_t event;
};

static daos_handle_t neo, root;
static uint64_t serial;

/* The keys that were iterated last, and those of a dump. */
static char names[MOST][LONGEST], copied[MOST][LONGEST], *keys[MOST];

/* The map of names under the container's root. */
static void open_root(void)
{
    daos_prop_t *told = daos_prop_alloc(0);
    struct daos_prop_co_roots roots;
    IS(daos_cont_query(neo, NULL, told, NULL), 0);
    IS(daos_prop_entry_get(told, DAOS_PROP_CO_LAYOUT_TYPE)->dpe_val, DAOS_PROP_CO_LAYOUT_PYTHON);
    memcpy(&roots, daos_prop_entry_get(told, DAOS_PROP_CO_ROOTS)->dpe_val_ptr, sizeof(roots));
    daos_prop_free(told);
    roots.cr_oids[0].hi |= (uint64_t)DAOS_OT_KV_HASHED << OID_FMT_TYPE_SHIFT;
    IS(daos_kv_open(neo, roots.cr_oids[0], DAOS_OO_RW, &root, NULL), 0);
}

/* dcont.dict: an object of a class with a name, which is given once. */
static int dict(const char *name, daos_oclass_id_t class, daos_handle_t *map)
{
    daos_obj_id_t id = {.lo = ++serial};
    int rc = daos_obj_generate_oid(neo, &id, DAOS_OT_KV_HASHED, class, 0, 0);
    if (rc == 0)
        rc = daos_kv_put(root, DAOS_TX_NONE, DAOS_COND_KEY_INSERT, name, sizeof(id), &id, NULL);
    return rc == 0 ? daos_kv_open(neo, id, DAOS_OO_RW, map, NULL) : rc;
}

/* dcont.get: the object of a name. */
static int get(const char *name, daos_handle_t *map)
{
    daos_obj_id_t id;
    daos_size_t size = sizeof(id);
    int rc = daos_kv_get(root, DAOS_TX_NONE, DAOS_COND_KEY_GET, name, &size, &id, NULL);
    return rc == 0 ? daos_kv_open(neo, id, DAOS_OO_RW, map, NULL) : rc;
}

/* bput, or bget: all at once. */
static void bulk(daos_handle_t map, struct record *records, int count, int write)
{
    daos_event_t *ended[IN_FLIGHT];
    daos_handle_t queue;
    int at, rc;
    IS(daos_eq_create(&queue), 0);
    for (at = 0; at < count; at++) {
        struct record *one = &records[at];
        one->size = LONGEST;
        IS(daos_event_init(&one->event, queue, NULL), 0);
        rc = write ? daos_kv_put(map, DAOS_TX_NONE, 0, one->key, strlen(one->value), one->value, &one->event)
                   : daos_kv_get(map, DAOS_TX_NONE, 0, one->key, &one->size, one->found, &one->event);
        IS(rc, 0);
    }
    for (at = 0; at < count; at += rc) {
        rc = daos_eq_poll(queue, 1, DAOS_EQ_WAIT, IN_FLIGHT, ended);
        IS(rc > 0, 1);
        if (rc <= 0)
            break;
    }
    for (at = 0; at < count; at++) {
        IS(records[at].event.ev_error, 0);
        IS(daos_event_fini(&records[at].event), 0);
    }
    IS(daos_eq_destroy(queue, 0), 0);
}

static void put(daos_handle_t map, const char *key, const char *value)
{
    IS(daos_kv_put(map, DAOS_TX_NONE, 0, key, strlen(value), value, NULL), 0);
}

static void print_value(daos_handle_t map, const char *key)
{
    char found[LONGEST];
    daos_size_t size = sizeof(found);
    IS(daos_kv_get(map, DAOS_TX_NONE, DAOS_COND_KEY_GET, key, &size, found, NULL), 0);
    printf("b'%.*s'\n", (int)size, found);
}

static int compared(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* for key in dd: the keys, here in order, with their values if they are wanted. How many there are. */
static int iterate(daos_handle_t map, int is_printed)
{
    char bytes[256];
    daos_key_desc_t described[4];
    daos_anchor_t anchor = {0};
    int count = 0, at;
    while (!daos_anchor_is_eof(&anchor)) {
        uint32_t number = 4, one, end = 0;
        IS(daos_kv_list(map, DAOS_TX_NONE, &number, described, LIST(bytes, sizeof(bytes)), &anchor, NULL), 0);
        for (one = 0; one < number; end += (uint32_t)described[one++].kd_key_len, count++) {
            snprintf(names[count], LONGEST, "%.*s", (int)described[one].kd_key_len, bytes + end);
            keys[count] = names[count];
        }
    }
    qsort(keys, (size_t)count, sizeof(*keys), compared);
    for (at = 0; is_printed && at < count; at++) {
        printf("%s ", keys[at]);
        print_value(map, keys[at]);
    }
    return count;
}

/* dd.dump(): the number of records, with their values. */
static int dump(daos_handle_t map, struct record *records)
{
    const int count = iterate(map, 0);
    for (int at = 0; at < count; at++) {
        snprintf(copied[at], LONGEST, "%s", keys[at]);
        records[at].key = copied[at];
    }
    bulk(map, records, count, 0);
    return count;
}

/* d == dd */
static const char *equals(const struct record *records, int count, daos_handle_t map)
{
    struct record found[MOST];
    memcpy(found, records, sizeof(found));
    if (iterate(map, 0) != count)
        return "False";
    bulk(map, found, count, 0);
    for (int at = 0; at < count; at++)
        if (found[at].size != records[at].size || memcmp(found[at].found, records[at].found, found[at].size) != 0)
            return "False";
    return "True";
}

/* dd[key] = None, or "", which pydaos makes a removal. */
static void put_nothing(daos_handle_t map, const char *key)
{
    IS(daos_kv_remove(map, DAOS_TX_NONE, 0, key, NULL), 0);
}

/* key in dd */
static const char *contains(daos_handle_t map, const char *key)
{
    daos_size_t size = 0;
    return daos_kv_get(map, DAOS_TX_NONE, DAOS_COND_KEY_GET, key, &size, NULL, NULL) == 0 ? "True" : "False";
}

int main(int argc, char **argv)
{
    struct daos_prop_entry layout = {.dpe_type = DAOS_PROP_CO_LAYOUT_TYPE, .dpe_val = DAOS_PROP_CO_LAYOUT_PYTHON};
    daos_prop_t given = {.dpp_nr = 1, .dpp_entries = &layout};
    struct record more[] = {{.key = "Madrid", .value = "Santiago-Bernabéu"}, {.key = "Manchester", .value = "Old Trafford"}};
    struct record first[] = {{.key = "Barcelona", .value = "Camp Nou"}, {.key = "London", .value = "Wembley"}};
    static struct record all[MOST];
    daos_handle_t dd, copies, again;
    int count;
    if (argc != 2)
        return 2;
    daos_handle_t pool = begin(argv[1]);
    IS(daos_cont_create_with_label(pool, "neo", &given, NULL, NULL), 0);
    neo = open_container(pool, "neo");
    open_root();
    IS(dict("stadium", OC_UNKNOWN, &dd), 0);
    bulk(dd, first, 2, 1);
    printf("%d\n", iterate(dd, 0));
    IS(dict("stadium_2024", OC_RP_2G1, &copies), 0);
    put(copies, "France", "Stade de France");
    printf("%d\n", iterate(copies, 0));
    printf("%s\n", d_errstr(dict("stadium", OC_UNKNOWN, &again)));
    IS(get("nothing", &again), -DER_NONEXIST);
    IS(get("stadium", &again), 0);
    put(dd, "Milano", "San Siro");
    put(dd, "Rio", "Maracanã");
    print_value(again, "Milano");
    printf("%d\n", iterate(again, 0));
    bulk(dd, more, 2, 1);
    printf("%d\n", iterate(dd, 0));
    bulk(again, more, 2, 0);
    printf("{'%s': b'%.*s', '%s': b'%.*s'}\n", more[0].key, (int)more[0].size, more[0].found, more[1].key, (int)more[1].size,
           more[1].found);
    /* del, and pop. */
    IS(daos_kv_remove(dd, DAOS_TX_NONE, DAOS_COND_PUNCH, "Madrid", NULL), 0);
    IS(daos_kv_remove(dd, DAOS_TX_NONE, DAOS_COND_PUNCH, "Rio", NULL), 0);
    IS(daos_kv_remove(dd, DAOS_TX_NONE, DAOS_COND_PUNCH, "Rio", NULL), -DER_NONEXIST);
    printf("%d\n", iterate(dd, 0));
    iterate(dd, 1);
    count = dump(dd, all);
    printf("%s\n", equals(all, count, dd));
    put(dd, "Rio", "Maracanã");
    printf("%s\n", equals(all, count, dd));
    printf("%s\n%s\n", contains(again, "Rio"), contains(again, "Paris"));
    put_nothing(dd, "Rio");
    put_nothing(dd, "Paris");
    printf("%d\n", iterate(again, 0));
    put_nothing(dd, "Milano");
    put_nothing(dd, "London");
    printf("%d\n", iterate(again, 0));
    IS(daos_kv_close(again, NULL), 0);
    IS(daos_kv_close(copies, NULL), 0);
    IS(daos_kv_close(dd, NULL), 0);
    IS(daos_kv_close(root, NULL), 0);
    IS(daos_cont_close(neo, NULL), 0);
    return end(pool);
}
