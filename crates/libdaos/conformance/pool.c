/*
 * Pools: connect, query, list the containers.
 */
#include "check.h"

SUBJECT(pool);

enum { CONTAINERS_MAX = 4096 };

static daos_pool_info_t info_of(daos_handle_t handle, uint64_t bits)
{
    daos_pool_info_t info = {.pi_bits = bits};

    OK(daos_pool_query(handle, NULL, &info, NULL, NULL));
    return info;
}

static int connect_status(const char *name, unsigned int flags)
{
    daos_handle_t handle;
    int status = daos_pool_connect(name, NULL, flags, &handle, NULL, NULL);

    if (status == 0)
        keep(KEPT_POOL, handle);
    return status;
}

CHECK(connect_looks_at_the_bits_of_the_mode_alone, "of the flags one of PC_RO, PC_RW, PC_EX counts (flags_are_valid)")
{
    OK(connect_status(pool_label(), DAOS_PC_RO | 1U << 20));
    FAILS(connect_status(pool_label(), DAOS_PC_RO | DAOS_PC_RW), DER_INVAL);
    FAILS(connect_status(pool_label(), 0), DER_INVAL);
}

CHECK(connect_for_reading_succeeds, "PC_RO connects for reading")
{
    connect_to_pool(DAOS_PC_RO);
}

CHECK(connect_for_writing_succeeds, "PC_RW connects for reading and writing")
{
    connect_to_pool(DAOS_PC_RW);
}

CHECK(connect_by_the_text_of_the_uuid_succeeds, "a pool is named by its label or by the text of its UUID")
{
    OK(connect_status(uuid_text(info_of(pool(), 0).pi_uuid), DAOS_PC_RW));
}

CHECK(a_query_reports_no_rebuild_under_way, "a pool that is not rebuilt has another state than DRS_IN_PROGRESS")
{
    HOLDS(info_of(pool(), DPI_REBUILD_STATUS).pi_rebuild_st.rs_state != DRS_IN_PROGRESS);
}

CHECK(connect_to_an_absent_pool_fails, "an absent pool gives -DER_NONEXIST or -DER_NO_SERVICE")
{
    EITHER(connect_status("conformance-no-such-pool", DAOS_PC_RW), DER_NONEXIST, DER_NO_SERVICE);
}

CHECK(connect_fills_in_the_information, "the information of connect has UUID, targets and nodes")
{
    static const uuid_t none;
    daos_pool_info_t info = {0};
    daos_handle_t handle;

    OK(daos_pool_connect(pool_label(), NULL, DAOS_PC_RO, &handle, &info, NULL));
    keep(KEPT_POOL, handle);
    HOLDS(memcmp(info.pi_uuid, none, sizeof(none)) != 0);
    HOLDS(info.pi_ntargets > 0);
    HOLDS(info.pi_nnodes > 0);
}

CHECK(every_connection_has_the_same_uuid, "a pool has one UUID")
{
    daos_pool_info_t first = info_of(pool(), 0), second = info_of(connect_to_pool(DAOS_PC_RO), 0);

    BYTES(second.pi_uuid, first.pi_uuid, sizeof(first.pi_uuid));
}

CHECK(disconnecting_leaves_other_connections_alone, "every connect returns a handle of its own")
{
    closed(connect_to_pool(DAOS_PC_RW));
    info_of(pool(), 0);
}

CHECK(a_second_initialisation_needs_a_second_end, "daos_init and daos_fini are counted")
{
    OK(daos_init());
    OK(daos_fini());
    info_of(pool(), 0);
}

CHECK(query_counts_targets_and_nodes, "there are at least as many targets as nodes, and at least one")
{
    daos_pool_info_t info = info_of(pool(), 0);

    HOLDS(info.pi_nnodes > 0);
    HOLDS(info.pi_ntargets >= info.pi_nnodes);
    HOLDS(info.pi_ndisabled <= info.pi_ntargets);
}

CHECK(query_names_space_that_is_possible, "the free space is at most the total space")
{
    daos_pool_info_t info = info_of(pool(), UINT64_MAX);

    HOLDS(info.pi_space.ps_space.s_total[0] + info.pi_space.ps_space.s_total[1] > 0);
    for (int tier = 0; tier < 2; tier++)
        HOLDS(info.pi_space.ps_space.s_free[tier] <= info.pi_space.ps_space.s_total[tier]);
}

CHECK(query_returns_the_label, "PO_LABEL is a property of a pool")
{
    daos_prop_t *prop = daos_prop_alloc(1);
    struct daos_prop_entry *entry;

    HOLDS(prop != NULL);
    if (strlen(pool_label()) == 36 && pool_label()[8] == '-')
        SKIP("the pool was named by its UUID, so its label is not known");
    prop->dpp_entries[0].dpe_type = DAOS_PROP_PO_LABEL;
    OK(daos_pool_query(pool(), NULL, NULL, prop, NULL));
    entry = daos_prop_entry_get(prop, DAOS_PROP_PO_LABEL);
    HOLDS(entry != NULL);
    TEXT(entry->dpe_str, pool_label());
    daos_prop_free(prop);
}

static struct daos_pool_cont_info infos[CONTAINERS_MAX];

/* The entry of the container with this label, or NULL. */
static struct daos_pool_cont_info *listed(const char *label)
{
    daos_size_t count = CONTAINERS_MAX;

    memset(infos, 0, sizeof(infos));
    OK(daos_pool_list_cont(pool(), &count, infos, NULL));
    for (daos_size_t i = 0; i < count && i < CONTAINERS_MAX; i++)
        if (strcmp(infos[i].pci_label, label) == 0)
            return &infos[i];
    return NULL;
}

static daos_size_t containers(daos_handle_t handle)
{
    daos_size_t count = 0;

    OK(daos_pool_list_cont(handle, &count, NULL, NULL));
    return count;
}

CHECK(list_without_a_buffer_counts_the_containers, "list_cont with a NULL buffer returns their number")
{
    container();
    HOLDS(containers(pool()) >= 1);
}

CHECK(list_names_a_container_by_label_and_uuid, "list_cont returns the UUID and the label of every container")
{
    const char *label = new_label();
    struct daos_pool_cont_info *entry;
    uuid_t uuid;

    OK(daos_cont_create_with_label(pool(), label, redundancy_zero(), &uuid, NULL));
    entry = listed(label);
    HOLDS(entry != NULL);
    BYTES(entry->pci_uuid, uuid, sizeof(uuid));
}

CHECK(list_does_not_name_a_destroyed_container, "list_cont returns the containers that exist")
{
    const char *label = new_container();

    OK(daos_cont_destroy(pool(), label, 0, NULL));
    HOLDS(listed(label) == NULL);
}

CHECK(list_into_a_small_buffer_is_truncated, "a buffer that is too small gives -DER_TRUNC")
{
    daos_size_t count = 1;

    new_container();
    new_container();
    FAILS(daos_pool_list_cont(pool(), &count, infos, NULL), DER_TRUNC);
}

CHECK(list_sets_the_count, "list_cont returns how many containers there are")
{
    daos_size_t count = CONTAINERS_MAX;

    new_container();
    new_container();
    OK(daos_pool_list_cont(pool(), &count, infos, NULL));
    // Others may use the pool, so there is no exact number.
    HOLDS(count >= 2 && count < CONTAINERS_MAX);
}

CHECK(a_read_only_connection_lists, "a listing needs only the right to read")
{
    container();
    HOLDS(containers(connect_to_pool(DAOS_PC_RO)) >= 1);
}

enum { NAMES_MAX = 4096 };

static int set(daos_handle_t handle, int count, const char *name, const char *value)
{
    return daos_pool_set_attr(handle, count, &name, (const void *[]){value}, (size_t[]){strlen(value)}, NULL);
}

/* An attribute of the pool with a name of this check's own. */
static const char *set_attribute(const char *value)
{
    const char *name = new_label();

    OK(set(pool(), 1, name, value));
    return name;
}

static void delete_attribute(const char *name)
{
    OK(daos_pool_del_attr(pool(), 1, &name, NULL));
}

/* The value and the size of an attribute, of less than 32 bytes. */
static void attribute_is(daos_handle_t handle, const char *name, const char *expected)
{
    char value[32] = {0};
    void *buffers[] = {value};
    size_t size = sizeof(value) - 1;

    OK(daos_pool_get_attr(handle, 1, &name, buffers, &size, NULL));
    EQUAL(size, strlen(expected));
    TEXT(value, expected);
}

static bool attribute_is_listed(const char *name)
{
    static char names[NAMES_MAX];
    size_t size = sizeof(names);

    OK(daos_pool_list_attr(pool(), names, &size, NULL));
    if (size > sizeof(names))
        SKIP("the pool has attributes with more names than this check has room for");
    for (size_t at = 0; at < size; at += strlen(names + at) + 1)
        if (strcmp(names + at, name) == 0)
            return true;
    return false;
}

CHECK(an_attribute_of_the_pool_comes_back, "pool_get_attr gives what pool_set_attr put, and its size")
{
    const char *name = set_attribute("value");
    size_t size = 0;

    attribute_is(pool(), name, "value");
    OK(daos_pool_get_attr(pool(), 1, &name, NULL, &size, NULL));
    EQUAL(size, 5);
    delete_attribute(name);
}

CHECK(an_attribute_of_the_pool_is_seen_through_another_connection, "attributes are the pool's and not the connection's")
{
    const char *name = set_attribute("value");

    attribute_is(connect_to_pool(DAOS_PC_RO), name, "value");
    delete_attribute(name);
}

CHECK(an_attribute_of_the_pool_is_replaced, "pool_set_attr replaces a value")
{
    const char *name = set_attribute("a longer value");

    OK(set(pool(), 1, name, "short"));
    attribute_is(pool(), name, "short");
    delete_attribute(name);
}

CHECK(attributes_of_the_pool_are_listed, "pool_list_attr gives the names, each with a zero behind it")
{
    const char *name = set_attribute("value");

    HOLDS(attribute_is_listed(name));
    delete_attribute(name);
    HOLDS(!attribute_is_listed(name));
}

CHECK(a_deleted_attribute_of_the_pool_is_gone, "pool_get_attr of what is not there gives -DER_NONEXIST")
{
    const char *name = set_attribute("value");

    delete_attribute(name);
    FAILS(daos_pool_get_attr(pool(), 1, &name, NULL, IGNORED(size_t), NULL), DER_NONEXIST);
}

CHECK(an_attribute_of_the_pool_needs_a_name_and_a_value, "an empty name or value gives -DER_INVAL")
{
    FAILS(set(pool(), 1, "", "value"), DER_INVAL);
    FAILS(set(pool(), 1, new_label(), ""), DER_INVAL);
    FAILS(set(pool(), 0, new_label(), "value"), DER_INVAL);
}

CHECK(a_read_only_connection_sets_no_attribute, "pool_set_attr needs a connection that may write, else -DER_NO_PERM")
{
    FAILS(set(connect_to_pool(DAOS_PC_RO), 1, new_label(), "value"), DER_NO_PERM);
}
