/*
 * Pools: connect, query, list the containers.
 */
#include "check.h"

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

/* The table of this subject. */
#define C(sentence) &check_##sentence
SUBJECT(pool, C(connect_for_reading_succeeds), C(connect_for_writing_succeeds),
        C(connect_by_the_text_of_the_uuid_succeeds), C(connect_to_an_absent_pool_fails),
        C(connect_fills_in_the_information), C(every_connection_has_the_same_uuid),
        C(disconnecting_leaves_other_connections_alone), C(a_second_initialisation_needs_a_second_end),
        C(query_counts_targets_and_nodes), C(query_names_space_that_is_possible), C(query_returns_the_label),
        C(list_without_a_buffer_counts_the_containers), C(list_names_a_container_by_label_and_uuid),
        C(list_does_not_name_a_destroyed_container), C(list_into_a_small_buffer_is_truncated), C(list_sets_the_count),
        C(a_read_only_connection_lists));
