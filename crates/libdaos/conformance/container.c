/*
 * Containers: create, open, query, destroy, labels, ranges of object ids.
 */
#include "check.h"

SUBJECT(container);

static const uuid_t no_uuid;

static int create(const char *label)
{
    return daos_cont_create_with_label(pool(), label, redundancy_zero(), NULL, NULL);
}

static int open_with(const char *name, unsigned int flags)
{
    daos_handle_t handle;
    int status = daos_cont_open(pool(), name, flags, &handle, NULL, NULL);

    if (status == 0)
        keep(KEPT_CONTAINER, handle);
    return status;
}

static int open_status(const char *name)
{
    return open_with(name, DAOS_COO_RW);
}

/* The label of a new container, whose UUID is told. */
static const char *created(uuid_t *uuid)
{
    const char *label = new_label();

    memset(*uuid, 0, sizeof(*uuid));
    OK(daos_cont_create_with_label(pool(), label, redundancy_zero(), uuid, NULL));
    return label;
}

static void destroy(const char *name)
{
    OK(daos_cont_destroy(pool(), name, 0, NULL));
}

CHECK(create_with_a_label_returns_a_uuid, "create_with_label fills in the UUID of the new container")
{
    uuid_t uuid;

    created(&uuid);
    HOLDS(memcmp(uuid, no_uuid, sizeof(uuid)) != 0);
}

CHECK(create_with_a_label_needs_no_place_for_the_uuid, "the UUID of create_with_label may be NULL")
{
    OK(create(new_label()));
}

CHECK(create_with_a_label_needs_no_property, "the property of create_with_label may be NULL")
{
    const char *label = new_label();

    OK(daos_cont_create_with_label(pool(), label, NULL, NULL, NULL));
    OK(open_status(label));
}

CHECK(create_without_a_label_returns_a_uuid_that_opens, "a container without a label is opened by its UUID")
{
    uuid_t uuid;

    memset(uuid, 0, sizeof(uuid));
    OK(daos_cont_create(pool(), &uuid, redundancy_zero(), NULL));
    closed(open_container(uuid_text(uuid), DAOS_COO_RW));
    destroy(uuid_text(uuid));
}

CHECK(create_takes_the_label_from_the_property, "the label is a property of the container")
{
    const char *label = new_label();
    daos_prop_t *prop = PROP({.dpe_type = DAOS_PROP_CO_LABEL, .dpe_str = (char *)(uintptr_t)label},
                             {.dpe_type = DAOS_PROP_CO_REDUN_FAC});

    OK(daos_cont_create(pool(), IGNORED(uuid_t), prop, NULL));
    OK(open_status(label));
}

CHECK(two_containers_have_different_uuids, "every container has a UUID of its own")
{
    uuid_t first, second;

    created(&first);
    created(&second);
    HOLDS(memcmp(first, second, sizeof(first)) != 0);
}

CHECK(a_label_that_is_taken_is_refused, "a label that exists gives -DER_EXIST")
{
    const char *label = new_container();

    FAILS(create(label), DER_EXIST);
    OK(open_status(label));
}

CHECK(a_label_is_free_after_the_destruction, "a label that no container has may be used")
{
    const char *label = new_container();

    destroy(label);
    OK(create(label));
}

CHECK(open_by_label_succeeds, "a container is named by its label or by the text of its UUID")
{
    OK(open_status(new_container()));
}

CHECK(open_by_the_text_of_the_uuid_succeeds, "a container is named by its label or by the text of its UUID")
{
    uuid_t uuid;

    created(&uuid);
    OK(open_status(uuid_text(uuid)));
}

CHECK(open_for_reading_succeeds, "COO_RO opens a container for reading")
{
    open_container(new_container(), DAOS_COO_RO);
}

CHECK(open_of_an_absent_label_fails, "a container that does not exist gives -DER_NONEXIST")
{
    FAILS(open_status(new_label()), DER_NONEXIST);
}

CHECK(open_of_an_absent_uuid_fails, "a container that does not exist gives -DER_NONEXIST")
{
    FAILS(open_status("01234567-89ab-4cde-8f01-23456789abcd"), DER_NONEXIST);
}

CHECK(open_fills_in_the_information, "the information of open has the UUID of the container")
{
    daos_cont_info_t info = {0};
    daos_handle_t handle;
    uuid_t uuid;

    OK(daos_cont_open(pool(), created(&uuid), DAOS_COO_RW, &handle, &info, NULL));
    keep(KEPT_CONTAINER, handle);
    BYTES(info.ci_uuid, uuid, sizeof(uuid));
    EQUAL(info.ci_nsnapshots, 0);
}

CHECK(query_fills_in_the_information, "the information of a query has the UUID and the number of handles")
{
    daos_cont_info_t info = {0};

    OK(daos_cont_query(container(), &info, NULL, NULL));
    HOLDS(memcmp(info.ci_uuid, no_uuid, sizeof(info.ci_uuid)) != 0);
    HOLDS(info.ci_nhandles >= 1);
    EQUAL(info.ci_nsnapshots, 0);
}

CHECK(query_counts_every_handle, "ci_nhandles is the number of open handles")
{
    daos_cont_info_t info = {0};

    open_container(container_label(), DAOS_COO_RW);
    OK(daos_cont_query(container(), &info, NULL, NULL));
    HOLDS(info.ci_nhandles >= 2);
}

CHECK(two_handles_of_one_container_both_work, "closing one handle leaves the others alone")
{
    closed(open_container(container_label(), DAOS_COO_RW));
    put_text(kv(), "key", "value");
}

CHECK(what_was_written_is_there_after_closing_and_opening, "data belongs to the container, not to a handle")
{
    const char *label = new_container();
    daos_handle_t first = open_container(label, DAOS_COO_RW);
    daos_obj_id_t oid = {.lo = 7, .hi = 0};

    OK(daos_obj_generate_oid(first, &oid, DAOS_OT_KV_HASHED, OC_S1, 0, 0));
    daos_handle_t kv = open_kv_in(first, oid, DAOS_OO_RW);
    put_text(kv, "key", "value");
    closed(kv);
    closed(first);
    kv_holds(open_kv_in(open_container(label, DAOS_COO_RO), oid, DAOS_OO_RO), "key", "value");
}

CHECK(two_containers_share_no_objects, "an object id is of one container")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);

    put_text(open_kv(oid, DAOS_OO_RW), "key", "value");
    kv_lacks(open_kv_in(open_container(new_container(), DAOS_COO_RW), oid, DAOS_OO_RW), "key");
}

CHECK(destroy_by_label_removes_the_container, "a destroyed container does not exist")
{
    const char *label = new_container();

    destroy(label);
    FAILS(open_status(label), DER_NONEXIST);
}

CHECK(destroy_by_uuid_removes_the_container, "a container is named by its label or by the text of its UUID")
{
    uuid_t uuid;
    const char *label = created(&uuid);

    destroy(uuid_text(uuid));
    FAILS(open_status(label), DER_NONEXIST);
}

CHECK(destroy_of_an_absent_container_fails, "a container that does not exist gives -DER_NONEXIST")
{
    FAILS(daos_cont_destroy(pool(), new_label(), 0, NULL), DER_NONEXIST);
}

CHECK(destroy_of_an_open_container_is_refused, "destroy without force of an open container gives -DER_BUSY")
{
    FAILS(daos_cont_destroy(pool(), container_label(), 0, NULL), DER_BUSY);
    put_text(kv(), "key", "value");
}

CHECK(destroy_by_force_removes_an_open_container, "destroy with force removes an open container")
{
    const char *label = new_container();

    open_container(label, DAOS_COO_RW);
    OK(daos_cont_destroy(pool(), label, 1, NULL));
    FAILS(open_status(label), DER_NONEXIST);
}

CHECK(a_handle_does_not_outlive_its_container,
      "after a destroy with force a query by the handle gives -DER_NO_HDL or -DER_NONEXIST, and the handle is closed")
{
    const char *label = new_container();
    daos_handle_t handle = open_container(label, DAOS_COO_RW);

    OK(daos_cont_destroy(pool(), label, 1, NULL));
    EITHER(daos_cont_query(handle, IGNORED(daos_cont_info_t), NULL, NULL), DER_NO_HDL, DER_NONEXIST);
}

/* Creates a container and, should that succeed, destroys it: a label that is wrongly accepted must not stay. */
static int create_and_destroy(const char *label)
{
    int status = create(label);

    if (status == 0)
        destroy(label);
    return status;
}

#define LABEL_REFUSED(sentence, label)                                                                                 \
    CHECK(sentence, "labels: at most 127 of [A-Za-z0-9._:-], not the text of a UUID; else -DER_INVAL")                 \
    {                                                                                                                  \
        FAILS(create_and_destroy(label), DER_INVAL);                                                                   \
    }
LABEL_REFUSED(an_empty_label_is_invalid, "")
LABEL_REFUSED(a_label_with_a_space_is_invalid, "conformance with space")
LABEL_REFUSED(a_label_with_a_slash_is_invalid, "conformance/slash")
LABEL_REFUSED(a_label_with_a_plus_is_invalid, "conformance+plus")
LABEL_REFUSED(a_label_like_a_uuid_is_invalid, "01234567-89ab-4cde-8f01-23456789abcd")

static void with_label_of(size_t length, int status)
{
    char label[160];
    const char *unique = new_label();

    // The beginning is unique, so that a container that another run left does not change the answer.
    memset(label, 'a', sizeof(label));
    memcpy(label, unique, strlen(unique));
    label[length] = '\0';
    FAILS(create_and_destroy(label), status);
}

CHECK(a_label_of_127_characters_is_valid, "labels have at most 127 characters")
{
    with_label_of(127, 0);
}

CHECK(a_label_of_128_characters_is_invalid, "labels have at most 127 characters, else -DER_INVAL")
{
    with_label_of(128, DER_INVAL);
}

CHECK(a_label_may_have_dots_colons_underlines_and_hyphens, "labels consist of [A-Za-z0-9._:-]")
{
    static const char label[] = "Conformance.1_a:b-C";
    int status = create(label);

    // Another run may have been killed between its create and its destroy.
    if (status == -DER_EXIST) {
        OK(daos_cont_destroy(pool(), label, 1, NULL));
        status = create(label);
    }
    OK(status);
    destroy(label);
}

CHECK(alloc_oids_of_none_is_invalid, "alloc_oids of 0 ids gives -DER_INVAL")
{
    FAILS(daos_cont_alloc_oids(container(), 0, IGNORED(uint64_t), NULL), DER_INVAL);
}

CHECK(alloc_oids_of_one_id_succeeds, "alloc_oids returns the first id of a range")
{
    OK(daos_cont_alloc_oids(container(), 1, IGNORED(uint64_t), NULL));
}

/* Whether [first, first + count) and [other, other + other_count) have no id in common. */
static bool apart(uint64_t first, uint64_t count, uint64_t other, uint64_t other_count)
{
    return first + count <= other || other + other_count <= first;
}

static uint64_t allocated(daos_handle_t handle, daos_size_t count)
{
    uint64_t first;

    OK(daos_cont_alloc_oids(handle, count, &first, NULL));
    return first;
}

CHECK(ranges_of_ids_do_not_overlap, "alloc_oids returns ranges that are unique in the container")
{
    uint64_t ranges[8];

    for (int i = 0; i < 8; i++) {
        ranges[i] = allocated(container(), 100);
        for (int j = 0; j < i; j++)
            HOLDS(apart(ranges[i], 100, ranges[j], 100));
    }
}

CHECK(ranges_of_different_lengths_do_not_overlap, "alloc_oids returns ranges that are unique in the container")
{
    uint64_t one = allocated(container(), 1);
    uint64_t many = allocated(container(), 100000);
    uint64_t last = allocated(container(), 1);

    HOLDS(apart(one, 1, many, 100000));
    HOLDS(apart(last, 1, many, 100000));
    HOLDS(apart(last, 1, one, 1));
}

CHECK(ranges_of_two_handles_do_not_overlap, "alloc_oids returns ranges that are unique in the container")
{
    uint64_t first = allocated(container(), 50);

    HOLDS(apart(first, 50, allocated(open_container(container_label(), DAOS_COO_RW), 50), 50));
}

CHECK(a_range_is_not_given_again_after_closing, "alloc_oids returns ranges that are unique in the container")
{
    const char *label = new_container();
    daos_handle_t handle = open_container(label, DAOS_COO_RW);
    uint64_t first = allocated(handle, 50);

    closed(handle);
    HOLDS(apart(first, 50, allocated(open_container(label, DAOS_COO_RW), 50), 50));
}

CHECK(open_for_writing_needs_no_connection_for_writing, "a container's own list decides; pydaos connects with PC_RO")
{
    const char *label = new_container();
    daos_handle_t handle;

    OK(daos_cont_open(connect_to_pool(DAOS_PC_RO), label, DAOS_COO_RW, &handle, NULL, NULL));
    allocated(keep(KEPT_CONTAINER, handle), 1);
}

CHECK(a_new_container_of_another_user_is_invalid, "CO_OWNER at creation must be the user's own, else -DER_INVAL")
{
    daos_prop_t *prop = daos_prop_alloc(1);

    HOLDS(prop != NULL);
    prop->dpp_entries[0].dpe_type = DAOS_PROP_CO_OWNER;
    OK(daos_prop_set_str(prop, DAOS_PROP_CO_OWNER, "somebody.else@", 14));
    FAILS(daos_cont_create_with_label(pool(), new_label(), prop, NULL, NULL), DER_INVAL);
    daos_prop_free(prop);
}

CHECK(a_container_has_a_root_object, "without CO_ROOTS at creation a container gets one root object (dup_cont_create_props)")
{
    const char *label = new_container();
    daos_prop_t *found = daos_prop_alloc(0);
    struct daos_prop_entry *entry;
    struct daos_prop_co_roots roots;

    OK(daos_cont_query(open_container(label, DAOS_COO_RO), NULL, found, NULL));
    entry = daos_prop_entry_get(found, DAOS_PROP_CO_ROOTS);
    HOLDS(entry != NULL && entry->dpe_val_ptr != NULL);
    memcpy(&roots, entry->dpe_val_ptr, sizeof(roots));
    daos_prop_free(found);
    HOLDS(!daos_obj_id_is_nil(roots.cr_oids[0]));
    HOLDS(daos_obj_id_is_nil(roots.cr_oids[1]));
    EQUAL(roots.cr_oids[0].lo, 0);
    EQUAL(roots.cr_oids[0].hi & 0xffffffff, 0);
    EQUAL(daos_obj_id2type(roots.cr_oids[0]), DAOS_OT_MULTI_HASHED);
    /* As pydaos does it. */
    roots.cr_oids[0].hi |= (uint64_t)DAOS_OT_KV_HASHED << OID_FMT_TYPE_SHIFT;
    daos_handle_t kv = open_kv_in(open_container(label, DAOS_COO_RW), roots.cr_oids[0], DAOS_OO_RW);
    put_text(kv, "key", "value");
    kv_holds(kv, "key", "value");
}

CHECK(flags_that_contradict_each_other_open_no_container,
      "one of COO_RO, COO_RW and COO_EX; COO_EVICT without COO_EX, COO_EVICT_ALL with it: else -DER_INVAL")
{
    const char *label = new_container();

    FAILS(open_with(label, DAOS_COO_EVICT), DER_INVAL);
    FAILS(open_with(label, DAOS_COO_RO | DAOS_COO_RW), DER_INVAL);
    FAILS(open_with(label, DAOS_COO_RW | DAOS_COO_EVICT | DAOS_COO_EVICT_ALL), DER_INVAL);
    FAILS(open_with(label, DAOS_COO_EX | DAOS_COO_EVICT | DAOS_COO_EVICT_ALL), DER_INVAL);
    FAILS(open_with(label, DAOS_COO_EX | DAOS_COO_EVICT), DER_INVAL);
    FAILS(open_with(label, DAOS_COO_RW | DAOS_COO_EVICT_ALL), DER_INVAL);
    FAILS(open_with(label, DAOS_COO_RO | DAOS_COO_EVICT_ALL), DER_INVAL);
    FAILS(open_with(label, DAOS_COO_RW | 1U << 20), DER_INVAL);
}

CHECK(who_opens_a_container_alone_may_evict_others, "COO_EX gives -DER_BUSY beside other handles, unless it evicts them")
{
    const char *label = new_container();

    open_container(label, DAOS_COO_RW);
    FAILS(open_with(label, DAOS_COO_EX), DER_BUSY);
    OK(open_with(label, DAOS_COO_EX | DAOS_COO_EVICT_ALL));
    OK(open_with(label, DAOS_COO_RW | DAOS_COO_EVICT));
    OK(open_with(label, DAOS_COO_RW));
}
