/*
 * Properties of containers: set at creation, read by a query; the functions that make and search them.
 */
#include "check.h"

SUBJECT(prop);

static uint64_t number(daos_handle_t handle, uint32_t type)
{
    struct daos_prop_entry *entry;
    daos_prop_t *prop = query_prop(handle, type, &entry);
    uint64_t value = entry->dpe_val;

    daos_prop_free(prop);
    return value;
}

/* Opens a new container that has the property `type` with `value`, and redundancy factor 0. */
static daos_handle_t created_with(uint32_t type, uint64_t value)
{
    daos_prop_t *prop = PROP({.dpe_type = DAOS_PROP_CO_REDUN_FAC}, {.dpe_type = type, .dpe_val = value});
    const char *label = new_label();

    OK(daos_cont_create_with_label(pool(), label, prop, NULL, NULL));
    return open_container(label, DAOS_COO_RW);
}

#define KEEPS(sentence, type, value)                                                                                   \
    CHECK(sentence, "a query returns the property that the container was created with")                                \
    {                                                                                                                  \
        EQUAL(number(created_with(type, value), type), value);                                                         \
    }
KEEPS(the_layout_posix_is_kept, DAOS_PROP_CO_LAYOUT_TYPE, 1)
KEEPS(the_layout_hdf5_is_kept, DAOS_PROP_CO_LAYOUT_TYPE, 2)
KEEPS(the_layout_python_is_kept, DAOS_PROP_CO_LAYOUT_TYPE, 3)
KEEPS(the_checksum_off_is_kept, DAOS_PROP_CO_CSUM, 0)
KEEPS(the_checksum_crc32_is_kept, DAOS_PROP_CO_CSUM, 2)
KEEPS(the_checksum_crc64_is_kept, DAOS_PROP_CO_CSUM, 3)
KEEPS(the_checksum_sha256_is_kept, DAOS_PROP_CO_CSUM, 5)

CHECK(the_redundancy_factor_zero_is_kept, "a query returns the property that the container was created with")
{
    EQUAL(number(container(), DAOS_PROP_CO_REDUN_FAC), 0);
}

CHECK(the_label_is_a_property, "a query returns the label of the container")
{
    struct daos_prop_entry *entry;
    daos_prop_t *prop = query_prop(container(), DAOS_PROP_CO_LABEL, &entry);

    TEXT(entry->dpe_str, container_label());
    daos_prop_free(prop);
}

CHECK(the_number_of_snapshots_is_unlimited, "the default of SNAPSHOT_MAX is 0, unlimited")
{
    EQUAL(number(container(), DAOS_PROP_CO_SNAPSHOT_MAX), 0);
}

#define PRINCIPAL(sentence, rule, type)                                                                                \
    CHECK(sentence, rule)                                                                                              \
    {                                                                                                                  \
        struct daos_prop_entry *entry;                                                                                 \
        daos_prop_t *prop = query_prop(container(), type, &entry);                                                     \
                                                                                                                       \
        HOLDS(entry->dpe_str != NULL && strlen(entry->dpe_str) > 1);                                                   \
        EQUAL(entry->dpe_str[strlen(entry->dpe_str) - 1], '@');                                                        \
        daos_prop_free(prop);                                                                                          \
    }
PRINCIPAL(the_owner_is_a_user, "the owner is the user who made the container", DAOS_PROP_CO_OWNER)
PRINCIPAL(the_owner_group_is_a_group, "the owner group is the group of the user who made the container",
          DAOS_PROP_CO_OWNER_GROUP)

CHECK(several_properties_come_in_one_query, "a query fills in every entry of the property")
{
    daos_prop_t *prop = daos_prop_alloc(2);

    HOLDS(prop != NULL);
    container();
    prop->dpp_entries[0].dpe_type = DAOS_PROP_CO_LABEL;
    prop->dpp_entries[1].dpe_type = DAOS_PROP_CO_REDUN_FAC;
    OK(daos_cont_query(container(), NULL, prop, NULL));
    TEXT(daos_prop_entry_get(prop, DAOS_PROP_CO_LABEL)->dpe_str, container_label());
    EQUAL(daos_prop_entry_get(prop, DAOS_PROP_CO_REDUN_FAC)->dpe_val, 0);
    daos_prop_free(prop);
}

CHECK(a_property_has_the_entries_asked_for, "prop_alloc makes a property with this number of entries")
{
    daos_prop_t *prop = daos_prop_alloc(3);

    HOLDS(prop != NULL);
    EQUAL(prop->dpp_nr, 3);
    HOLDS(prop->dpp_entries != NULL);
    EQUAL(prop->dpp_entries[2].dpe_type, 0);
    daos_prop_free(prop);
}

CHECK(an_entry_is_found_by_its_type, "prop_entry_get returns the entry of a type, or NULL")
{
    daos_prop_t *prop = daos_prop_alloc(2);

    HOLDS(prop != NULL);
    prop->dpp_entries[0].dpe_type = DAOS_PROP_CO_CSUM;
    prop->dpp_entries[1].dpe_type = DAOS_PROP_CO_REDUN_FAC;
    HOLDS(daos_prop_entry_get(prop, DAOS_PROP_CO_REDUN_FAC) == &prop->dpp_entries[1]);
    HOLDS(daos_prop_entry_get(prop, DAOS_PROP_CO_LABEL) == NULL);
    daos_prop_free(prop);
}

#define STAYS(sentence, type, value)                                                                                   \
    CHECK(sentence, "cont_set_prop of what only the creation of a container sets is refused: -DER_NO_PERM")            \
    {                                                                                                                  \
        FAILS(daos_cont_set_prop(container(), PROP({.dpe_type = type, .dpe_val = value}), NULL), DER_NO_PERM);         \
    }
STAYS(the_highest_allocated_oid_is_not_set, DAOS_PROP_CO_ALLOCED_OID, 1)
STAYS(the_cell_size_of_erasure_codes_is_not_set, DAOS_PROP_CO_EC_CELL_SZ, 128 << 10)
STAYS(the_affinity_of_erasure_codes_is_not_set, DAOS_PROP_CO_EC_PDA, 1)
STAYS(the_affinity_of_replicas_is_not_set, DAOS_PROP_CO_RP_PDA, 1)

CHECK(the_label_that_a_container_has_may_be_set, "to set the label that a container has changes nothing")
{
    daos_prop_t *prop = daos_prop_alloc(1);

    container();
    HOLDS(prop != NULL);
    prop->dpp_entries[0].dpe_type = DAOS_PROP_CO_LABEL;
    OK(daos_prop_entry_set_str(&prop->dpp_entries[0], container_label(), strlen(container_label())));
    int status = daos_cont_set_prop(container(), prop, NULL);
    daos_prop_free(prop);
    OK(status);
}
