/* What containers keep for programs beside objects: properties, and lists of them, and attributes; and attributes of a pool.
 *
 *   kept POOL
 */
#include <gurt/common.h>

#include "fixtures.h"

#define VALUE(list, type) ((long)daos_prop_entry_get(list, type)->dpe_val)
#define TEXT(list, type) daos_prop_entry_get(list, type)->dpe_str

static void lists(daos_handle_t pool)
{
    const char text[] = "rd_fac:1;label:kept;cksum:crc32;ec_cell_sz:65536";
    const char *entry_text = "A::OWNER@:rw";
    daos_prop_t *read = NULL, *copy, *merged = NULL, *list = daos_prop_alloc(2);
    struct daos_acl *acl = NULL;
    daos_handle_t container;
    IS(daos_prop_from_str(text, sizeof(text), &read), 0);
    IS(read->dpp_nr, 4);
    IS(strcmp(TEXT(read, DAOS_PROP_CO_LABEL), "kept"), 0);
    IS(VALUE(read, DAOS_PROP_CO_CSUM), DAOS_PROP_CO_CSUM_CRC32);
    IS(daos_prop_from_str("label:x;rd_fac:1", 7, &copy), 0);
    IS(copy->dpp_nr, 1);
    daos_prop_free(copy);
    IS(daos_prop_from_str("layout_type:hdf5", 20, &copy), -DER_INVAL);
    IS(daos_prop_from_str(NULL, 20, &copy), -DER_INVAL);
    IS(daos_prop_from_str(text, 0, &copy), -DER_INVAL);

    list->dpp_entries[0].dpe_type = DAOS_PROP_CO_LABEL;
    list->dpp_entries[1].dpe_type = DAOS_PROP_CO_ACL;
    IS(daos_prop_set_str(list, DAOS_PROP_CO_LABEL, "other", 5), 0);
    IS(daos_prop_set_str(list, DAOS_PROP_CO_LABEL, "kept too", 4), 0);
    IS(strcmp(TEXT(list, DAOS_PROP_CO_LABEL), "kept"), 0);
    IS(daos_prop_set_str(list, DAOS_PROP_CO_OWNER, "ann@", 4), -DER_NONEXIST);
    IS(daos_prop_set_str(list, DAOS_PROP_CO_ACL, "ann@", 4), -DER_INVAL);
    IS(daos_acl_from_strs(&entry_text, 1, &acl), 0);
    IS(daos_prop_set_ptr(list, DAOS_PROP_CO_ACL, acl, (daos_size_t)daos_acl_get_size(acl)), 0);
    daos_acl_free(acl);
    IS(daos_prop_has_str(&list->dpp_entries[0]) && !daos_prop_has_ptr(&list->dpp_entries[0]), 1);
    IS(daos_prop_has_ptr(&list->dpp_entries[1]) && !daos_prop_has_str(&list->dpp_entries[1]), 1);

    copy = daos_prop_dup(list, false, true);
    IS(copy != NULL && copy->dpp_nr == 2 && TEXT(copy, DAOS_PROP_CO_LABEL) != TEXT(list, DAOS_PROP_CO_LABEL), 1);
    IS(daos_prop_dup(list, true, true) == NULL, 1);
    IS(daos_prop_merge2(read, copy, &merged), 0);
    IS(merged->dpp_nr, 5);
    daos_prop_free(merged);
    merged = daos_prop_merge(copy, read);
    IS(merged->dpp_nr, 5);
    IS(VALUE(merged, DAOS_PROP_CO_REDUN_FAC), 1);
    daos_prop_free(copy);
    daos_prop_free(read);
    daos_prop_free(list);

    IS(daos_cont_create(pool, NULL, merged, NULL), 0);
    daos_prop_fini(merged);
    IS(merged->dpp_nr == 0 && merged->dpp_entries == NULL, 1);
    IS(daos_cont_open(pool, "kept", DAOS_COO_RO, &container, NULL, NULL), 0);
    /* This list permits to see itself, as to every owner, and nothing else of the properties. */
    IS(daos_cont_get_acl(container, &copy, NULL), 0);
    daos_prop_free(copy);
    IS(daos_cont_query(container, NULL, merged, NULL), -DER_NO_PERM);
    daos_prop_free(merged);
    IS(daos_cont_close(container, NULL), 0);
    IS(daos_cont_destroy(pool, "kept", 0, NULL), 0);
}

static void attributes(daos_handle_t pool)
{
    const char *names[] = {"first", "second"}, *none[] = {"third"}, *empty[] = {""};
    const void *values[] = {"one", "\0\1\2\3"};
    char one[8] = "", two[2], all[32];
    void *buffers[] = {one, two};
    size_t sizes[] = {3, 4}, room[] = {sizeof(one), sizeof(two)}, size = 0;
    char long_name[600];
    const char *too_long[] = {long_name};
    daos_handle_t container = new_container(pool, "attributes");
    IS(daos_cont_list_attr(container, NULL, &size, NULL), 0);
    IS(size, 0);
    IS(daos_cont_set_attr(container, 2, names, values, sizes, NULL), 0);
    IS(daos_cont_get_attr(container, 2, names, buffers, room, NULL), 0);
    IS(room[0] == 3 && room[1] == 4, 1);
    IS(memcmp(one, "one", 3) == 0 && memcmp(two, "\0\1", 2) == 0, 1);
    room[0] = 0;
    IS(daos_cont_get_attr(container, 1, names, NULL, room, NULL), 0);
    IS(room[0], 3);
    IS(daos_cont_get_attr(container, 1, none, buffers, room, NULL), -DER_NONEXIST);
    IS(daos_cont_list_attr(container, NULL, &size, NULL), 0);
    IS(size, 6 + 7);
    memset(all, 'z', sizeof(all));
    size = sizeof(all);
    IS(daos_cont_list_attr(container, all, &size, NULL), 0);
    IS(size, 6 + 7);
    IS(memcmp(all, "first\0second\0z", 14) == 0 || memcmp(all, "second\0first\0z", 14) == 0, 1);
    size = 8;
    memset(all, 'z', sizeof(all));
    IS(daos_cont_list_attr(container, all, &size, NULL), 0);
    IS(size == 13 && all[8] == 'z' && strlen(all) >= 5 && strlen(all) <= 6, 1);
    IS(daos_cont_del_attr(container, 1, names, NULL), 0);
    IS(daos_cont_del_attr(container, 1, names, NULL), 0);
    IS(daos_cont_get_attr(container, 1, names, buffers, room, NULL), -DER_NONEXIST);
    memset(long_name, 'n', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    IS(daos_cont_set_attr(container, 1, too_long, values, sizes, NULL), -DER_INVAL);
    IS(daos_cont_set_attr(container, 1, empty, values, sizes, NULL), -DER_INVAL);
    IS(daos_cont_set_attr(container, 0, names, values, sizes, NULL), -DER_INVAL);
    sizes[0] = 0;
    IS(daos_cont_set_attr(container, 1, names, values, sizes, NULL), -DER_INVAL);
    IS(daos_cont_close(container, NULL), 0);
    IS(daos_cont_open(pool, "attributes", DAOS_COO_RO, &container, NULL, NULL), 0);
    IS(daos_cont_del_attr(container, 1, names + 1, NULL), -DER_NO_PERM);
    IS(daos_cont_close(container, NULL), 0);
    IS(daos_cont_destroy(pool, "attributes", 0, NULL), 0);
}

/* Those of a pool: who only asks for one makes nothing, and where they are kept no listing tells. */
static void attributes_of_pool(daos_handle_t pool, const char *label)
{
    const char *names[] = {"first"};
    const void *values[] = {"one"};
    size_t sizes[] = {3}, size = 9;
    daos_size_t before = 0, after = 0;
    daos_handle_t again;
    IS(daos_pool_list_cont(pool, &before, NULL, NULL), 0);
    IS(daos_pool_list_attr(pool, NULL, &size, NULL), 0);
    IS(size, 0);
    IS(daos_pool_get_attr(pool, 1, names, NULL, sizes, NULL), -DER_NONEXIST);
    IS(daos_pool_del_attr(pool, 1, names, NULL), 0);
    IS(daos_cont_open(pool, "daos.pool-attributes", DAOS_COO_RO, &again, NULL, NULL), -DER_NONEXIST);
    IS(daos_pool_set_attr(pool, 1, names, values, sizes, NULL), 0);
    IS(daos_pool_list_cont(pool, &after, NULL, NULL), 0);
    IS(after, before);
    IS(daos_pool_connect(label, NULL, DAOS_PC_RO, &again, NULL, NULL), 0);
    sizes[0] = 0;
    IS(daos_pool_get_attr(again, 1, names, NULL, sizes, NULL), 0);
    IS(sizes[0], 3);
    IS(daos_pool_del_attr(again, 1, names, NULL), -DER_NO_PERM);
    IS(daos_pool_disconnect(again, NULL), 0);
    IS(daos_pool_get_attr(again, 1, names, NULL, sizes, NULL), -DER_NO_HDL);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    daos_handle_t pool = begin(argv[1]);
    lists(pool);
    attributes(pool);
    attributes_of_pool(pool, argv[1]);
    d_rank_list_t *ranks = daos_rank_list_parse("3:14:0", ":");
    IS(ranks != NULL && ranks->rl_nr == 3 && ranks->rl_ranks[1] == 14, 1);
    d_rank_list_free(ranks);
    d_rank_list_free(NULL);
    IS(daos_rank_list_parse("", ":") == NULL && daos_rank_list_parse("one", ":") == NULL, 1);
    return end(pool);
}
