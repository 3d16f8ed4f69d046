/*
 * Pools: connect, query, list the containers.
 */
#include "check.h"

SUBJECT(pool);

enum { CONTAINERS_MAX = 4096 };

static void answers(daos_handle_t handle)
{
    daos_pool_info_t info;

    memset(&info, 0, sizeof(info));
    OK(daos_pool_query(handle, NULL, &info, NULL, NULL));
}

static daos_handle_t connect_to(const char *name, unsigned int flags)
{
    daos_handle_t handle;

    OK(daos_pool_connect(name, NULL, flags, &handle, NULL, NULL));
    keep(KEPT_POOL, handle);
    return handle;
}

CHECK(connect_looks_at_the_bits_of_the_mode_alone, "of the flags one of PC_RO, PC_RW, PC_EX counts (flags_are_valid)")
{
    daos_handle_t handle;

    connect_to(pool_label(), DAOS_PC_RO | 1U << 20);
    FAILS(daos_pool_connect(pool_label(), NULL, DAOS_PC_RO | DAOS_PC_RW, &handle, NULL, NULL), DER_INVAL);
    FAILS(daos_pool_connect(pool_label(), NULL, 0, &handle, NULL, NULL), DER_INVAL);
}

CHECK(connect_for_reading_succeeds, "PC_RO connects for reading")
{
    connect_to(pool_label(), DAOS_PC_RO);
}

CHECK(connect_for_writing_succeeds, "PC_RW connects for reading and writing")
{
    connect_to(pool_label(), DAOS_PC_RW);
}

CHECK(connect_by_the_text_of_the_uuid_succeeds, "a pool is named by its label or by the text of its UUID")
{
    daos_pool_info_t info;

    memset(&info, 0, sizeof(info));
    OK(daos_pool_query(pool(), NULL, &info, NULL, NULL));
    connect_to(uuid_text(info.pi_uuid), DAOS_PC_RW);
}

CHECK(a_query_reports_no_rebuild_under_way, "a pool that is not rebuilt has another state than DRS_IN_PROGRESS")
{
    daos_pool_info_t info;

    memset(&info, 0, sizeof(info));
    info.pi_bits = DPI_REBUILD_STATUS;
    OK(daos_pool_query(pool(), NULL, &info, NULL, NULL));
    HOLDS(info.pi_rebuild_st.rs_state != DRS_IN_PROGRESS);
}

CHECK(connect_to_an_absent_pool_fails, "an absent pool gives -DER_NONEXIST or -DER_NO_SERVICE")
{
    daos_handle_t handle;

    EITHER(daos_pool_connect("conformance-no-such-pool", NULL, DAOS_PC_RW, &handle, NULL, NULL), DER_NONEXIST,
           DER_NO_SERVICE);
}

CHECK(connect_fills_in_the_information, "the information of connect has UUID, targets and nodes")
{
    static const uuid_t none;
    daos_pool_info_t info;
    daos_handle_t handle;

    memset(&info, 0, sizeof(info));
    OK(daos_pool_connect(pool_label(), NULL, DAOS_PC_RO, &handle, &info, NULL));
    keep(KEPT_POOL, handle);
    HOLDS(memcmp(info.pi_uuid, none, sizeof(none)) != 0);
    HOLDS(info.pi_ntargets > 0);
    HOLDS(info.pi_nnodes > 0);
}

CHECK(every_connection_has_the_same_uuid, "a pool has one UUID")
{
    daos_pool_info_t first;
    daos_pool_info_t second;

    memset(&first, 0, sizeof(first));
    memset(&second, 0, sizeof(second));
    OK(daos_pool_query(pool(), NULL, &first, NULL, NULL));
    OK(daos_pool_query(connect_to(pool_label(), DAOS_PC_RO), NULL, &second, NULL, NULL));
    BYTES(second.pi_uuid, first.pi_uuid, sizeof(first.pi_uuid));
}

CHECK(disconnecting_leaves_other_connections_alone, "every connect returns a handle of its own")
{
    daos_handle_t handle;

    OK(daos_pool_connect(pool_label(), NULL, DAOS_PC_RW, &handle, NULL, NULL));
    OK(daos_pool_disconnect(handle, NULL));
    answers(pool());
}

CHECK(a_second_initialisation_needs_a_second_end, "daos_init and daos_fini are counted")
{
    OK(daos_init());
    OK(daos_fini());
    answers(pool());
}

CHECK(query_counts_targets_and_nodes, "there are at least as many targets as nodes, and at least one")
{
    daos_pool_info_t info;

    memset(&info, 0, sizeof(info));
    OK(daos_pool_query(pool(), NULL, &info, NULL, NULL));
    HOLDS(info.pi_nnodes > 0);
    HOLDS(info.pi_ntargets >= info.pi_nnodes);
    HOLDS(info.pi_ndisabled <= info.pi_ntargets);
}

CHECK(query_names_space_that_is_possible, "the free space is at most the total space")
{
    daos_pool_info_t info;

    memset(&info, 0, sizeof(info));
    info.pi_bits = UINT64_MAX;
    OK(daos_pool_query(pool(), NULL, &info, NULL, NULL));
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

CHECK(list_without_a_buffer_counts_the_containers, "list_cont with a NULL buffer returns their number")
{
    daos_size_t count = 0;

    container();
    OK(daos_pool_list_cont(pool(), &count, NULL, NULL));
    HOLDS(count >= 1);
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
    const char *label = new_label();

    create_container(label);
    OK(daos_cont_destroy(pool(), label, 0, NULL));
    HOLDS(listed(label) == NULL);
}

CHECK(list_into_a_small_buffer_is_truncated, "a buffer that is too small gives -DER_TRUNC")
{
    daos_size_t count = 1;

    create_container(new_label());
    create_container(new_label());
    FAILS(daos_pool_list_cont(pool(), &count, infos, NULL), DER_TRUNC);
}

CHECK(list_sets_the_count, "list_cont returns how many containers there are")
{
    daos_size_t count = CONTAINERS_MAX;

    create_container(new_label());
    create_container(new_label());
    OK(daos_pool_list_cont(pool(), &count, infos, NULL));
    // Others may use the pool, so there is no exact number.
    HOLDS(count >= 2 && count < CONTAINERS_MAX);
}

CHECK(a_read_only_connection_lists, "a listing needs only the right to read")
{
    daos_size_t count = 0;

    container();
    OK(daos_pool_list_cont(connect_to(pool_label(), DAOS_PC_RO), &count, NULL, NULL));
    HOLDS(count >= 1);
}

enum { NAMES_MAX = 4096 };

/* An attribute of the pool with a name of this check's own. */
static const char *set_attribute(const char *value)
{
    const char *name = new_label();
    const void *values[] = {value};
    size_t sizes[] = {strlen(value)};

    OK(daos_pool_set_attr(pool(), 1, &name, values, sizes, NULL));
    return name;
}

/* The value of an attribute, of at most 31 bytes. */
static const char *attribute(const char *name)
{
    static char value[32];
    void *buffers[] = {value};
    size_t sizes[] = {sizeof(value) - 1};

    memset(value, 0, sizeof(value));
    OK(daos_pool_get_attr(pool(), 1, &name, buffers, sizes, NULL));
    HOLDS(sizes[0] < sizeof(value));
    return value;
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
    size_t sizes[] = {0};

    TEXT(attribute(name), "value");
    OK(daos_pool_get_attr(pool(), 1, &name, NULL, sizes, NULL));
    EQUAL(sizes[0], 5);
    OK(daos_pool_del_attr(pool(), 1, &name, NULL));
}

CHECK(an_attribute_of_the_pool_is_seen_through_another_connection, "attributes are the pool's and not the connection's")
{
    const char *name = set_attribute("value");
    daos_handle_t other = connect_to(pool_label(), DAOS_PC_RO);
    char value[8] = {0};
    void *buffers[] = {value};
    size_t sizes[] = {sizeof(value)};

    OK(daos_pool_get_attr(other, 1, &name, buffers, sizes, NULL));
    EQUAL(sizes[0], 5);
    TEXT(value, "value");
    OK(daos_pool_del_attr(pool(), 1, &name, NULL));
}

CHECK(an_attribute_of_the_pool_is_replaced, "pool_set_attr replaces a value")
{
    const char *name = set_attribute("a longer value");
    const void *values[] = {"short"};
    size_t sizes[] = {5};

    OK(daos_pool_set_attr(pool(), 1, &name, values, sizes, NULL));
    TEXT(attribute(name), "short");
    OK(daos_pool_del_attr(pool(), 1, &name, NULL));
}

CHECK(attributes_of_the_pool_are_listed, "pool_list_attr gives the names, each with a zero behind it")
{
    const char *name = set_attribute("value");

    HOLDS(attribute_is_listed(name));
    OK(daos_pool_del_attr(pool(), 1, &name, NULL));
    HOLDS(!attribute_is_listed(name));
}

CHECK(a_deleted_attribute_of_the_pool_is_gone, "pool_get_attr of what is not there gives -DER_NONEXIST")
{
    const char *name = set_attribute("value");
    size_t sizes[] = {0};

    OK(daos_pool_del_attr(pool(), 1, &name, NULL));
    FAILS(daos_pool_get_attr(pool(), 1, &name, NULL, sizes, NULL), DER_NONEXIST);
}

CHECK(an_attribute_of_the_pool_needs_a_name_and_a_value, "an empty name or value gives -DER_INVAL")
{
    const char *names[] = {"", new_label()};
    const void *values[] = {"value", "value"};
    size_t sizes[] = {5, 0};

    FAILS(daos_pool_set_attr(pool(), 1, names, values, sizes, NULL), DER_INVAL);
    FAILS(daos_pool_set_attr(pool(), 1, names + 1, values + 1, sizes + 1, NULL), DER_INVAL);
    FAILS(daos_pool_set_attr(pool(), 0, names, values, sizes, NULL), DER_INVAL);
}

CHECK(a_read_only_connection_sets_no_attribute, "pool_set_attr needs a connection that may write, else -DER_NO_PERM")
{
    const char *name = new_label();
    const void *values[] = {"value"};
    size_t sizes[] = {5};

    FAILS(daos_pool_set_attr(connect_to(pool_label(), DAOS_PC_RO), 1, &name, values, sizes, NULL), DER_NO_PERM);
}
