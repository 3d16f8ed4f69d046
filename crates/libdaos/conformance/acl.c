/*
 * Access control lists: the text of entries, the defaults of containers, the permissions that pools and containers
 * have. What other users may do is not checked: that needs a second user.
 */
#include "check.h"

SUBJECT(acl);

enum { CONTAINER_ALL = 0x1fb, GROUP_DEFAULT = 1 | 2 | 16 | 32 };

static struct daos_ace *entry_of(const char *text)
{
    struct daos_ace *entry = NULL;

    OK(daos_ace_from_str(text, &entry));
    HOLDS(entry != NULL);
    return entry;
}

#define PERMISSION(sentence, letter, bit)                                                                              \
    CHECK(sentence, "each letter of the permissions is one bit")                                                       \
    {                                                                                                                  \
        struct daos_ace *entry = entry_of("A::OWNER@:" letter);                                                        \
                                                                                                                       \
        EQUAL(entry->dae_allow_perms, bit);                                                                            \
        daos_ace_free(entry);                                                                                          \
    }
PERMISSION(r_is_the_permission_to_read, "r", 1)
PERMISSION(w_is_the_permission_to_write, "w", 2)
PERMISSION(c_is_the_permission_to_create_containers, "c", 4)
PERMISSION(d_is_the_permission_to_delete_containers, "d", 8)
PERMISSION(t_is_the_permission_to_get_properties, "t", 16)
PERMISSION(upper_t_is_the_permission_to_set_properties, "T", 32)
PERMISSION(a_is_the_permission_to_get_the_acl, "a", 64)
PERMISSION(upper_a_is_the_permission_to_set_the_acl, "A", 128)
PERMISSION(o_is_the_permission_to_set_the_owner, "o", 256)

#define PRINCIPAL(sentence, text, type)                                                                                \
    CHECK(sentence, "the principal and the flag G tell the type of an entry")                                          \
    {                                                                                                                  \
        struct daos_ace *entry = entry_of(text);                                                                       \
                                                                                                                       \
        EQUAL(entry->dae_principal_type, type);                                                                        \
        EQUAL(entry->dae_access_types, DAOS_ACL_ACCESS_ALLOW);                                                         \
        daos_ace_free(entry);                                                                                          \
    }
PRINCIPAL(owner_is_a_principal, "A::OWNER@:rw", DAOS_ACL_OWNER)
PRINCIPAL(a_user_is_a_principal, "A::user@:rw", DAOS_ACL_USER)
PRINCIPAL(the_owner_group_is_a_principal, "A:G:GROUP@:rw", DAOS_ACL_OWNER_GROUP)
PRINCIPAL(a_group_is_a_principal, "A:G:grp@:r", DAOS_ACL_GROUP)
PRINCIPAL(everyone_is_a_principal, "A::EVERYONE@:r", DAOS_ACL_EVERYONE)

CHECK(the_name_of_a_user_is_kept, "a named entry holds its principal")
{
    struct daos_ace *entry = entry_of("A::user@:rw");

    TEXT(entry->dae_principal, "user@");
    EQUAL(entry->dae_allow_perms, 3);
    daos_ace_free(entry);
}

#define ROUND_TRIP(sentence, text)                                                                                     \
    CHECK(sentence, "an entry and its text are the same: type:flags:principal:permissions")                            \
    {                                                                                                                  \
        struct daos_ace *entry = entry_of(text);                                                                       \
        char found[128] = {0};                                                                                         \
                                                                                                                       \
        OK(daos_ace_to_str(entry, found, sizeof(found)));                                                              \
        TEXT(found, text);                                                                                             \
        daos_ace_free(entry);                                                                                          \
    }
ROUND_TRIP(the_text_of_an_owner_entry_comes_back, "A::OWNER@:rw")
ROUND_TRIP(the_text_of_a_user_entry_comes_back, "A::user@:rw")
ROUND_TRIP(the_text_of_a_group_entry_comes_back, "A:G:grp@:r")

/* The list of a container; the property belongs to the caller. */
static struct daos_acl *acl_of(daos_handle_t handle, daos_prop_t **prop)
{
    struct daos_prop_entry *entry;

    *prop = query_prop(handle, DAOS_PROP_CO_ACL, &entry);
    HOLDS(entry->dpe_val_ptr != NULL);
    return entry->dpe_val_ptr;
}

static uint64_t allowed(struct daos_acl *acl, enum daos_acl_principal_type type, const char *name)
{
    struct daos_ace *entry = NULL;

    OK(daos_acl_get_ace_for_principal(acl, type, name, &entry));
    HOLDS(entry != NULL);
    return entry->dae_allow_perms;
}

#define DEFAULT(sentence, rule, type, permissions)                                                                     \
    CHECK(sentence, rule)                                                                                              \
    {                                                                                                                  \
        daos_prop_t *prop;                                                                                             \
                                                                                                                       \
        EQUAL(allowed(acl_of(container(), &prop), type, NULL), permissions);                                           \
        daos_prop_free(prop);                                                                                          \
    }
DEFAULT(the_owner_of_a_new_container_may_do_everything, "default of a container: OWNER@ has every permission",
        DAOS_ACL_OWNER, CONTAINER_ALL)
DEFAULT(the_group_of_a_new_container_may_read_and_write, "default of a container: GROUP@ has rwtT",
        DAOS_ACL_OWNER_GROUP, GROUP_DEFAULT)

CHECK(a_container_keeps_the_list_it_was_created_with, "a query returns the list that it was created with")
{
    const char *texts[3] = {"A::OWNER@:rwdtTaAo", "A::user@:rt", "A:G:GROUP@:r"};
    struct daos_acl *acl = NULL;
    struct daos_acl *found;
    daos_prop_t *prop;
    const char *label = new_label();

    OK(daos_acl_from_strs(texts, 3, &acl));
    prop = PROP({.dpe_type = DAOS_PROP_CO_REDUN_FAC}, {.dpe_type = DAOS_PROP_CO_ACL, .dpe_val_ptr = acl});
    OK(daos_cont_create_with_label(pool(), label, prop, NULL, NULL));
    daos_acl_free(acl);
    found = acl_of(open_container(label, DAOS_COO_RW), &prop);
    EQUAL(allowed(found, DAOS_ACL_OWNER, NULL), CONTAINER_ALL);
    EQUAL(allowed(found, DAOS_ACL_USER, "user@"), 1 | 16);
    EQUAL(allowed(found, DAOS_ACL_OWNER_GROUP, NULL), 1);
    daos_prop_free(prop);
}

/* Whether a list with this owner entry is valid for a container and for a pool. */
#define VALID(sentence, text, for_container, for_pool)                                                                 \
    CHECK(sentence, "valid for pools 0x1f, for containers 0x1fb")                                                      \
    {                                                                                                                  \
        struct daos_acl *acl = NULL;                                                                                   \
                                                                                                                       \
        OK(daos_acl_from_strs(&(const char *){text}, 1, &acl));                                                        \
        EQUAL(daos_acl_cont_validate(acl) == 0, for_container);                                                        \
        EQUAL(daos_acl_pool_validate(acl) == 0, for_pool);                                                             \
        daos_acl_free(acl);                                                                                            \
    }
VALID(reading_and_writing_are_for_pools_and_containers, "A::OWNER@:rw", true, true)
VALID(creating_containers_is_for_pools_only, "A::OWNER@:rwc", false, true)
VALID(setting_the_acl_is_for_containers_only, "A::OWNER@:rwaA", true, false)
