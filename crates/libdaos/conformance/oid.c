/*
 * Object ids and object classes: the encoding, the names, which class is possible.
 */
#include "check.h"

SUBJECT(oid);

static int generate(enum daos_otype_t type, daos_oclass_id_t class, daos_obj_id_t *oid)
{
    *oid = (daos_obj_id_t){.lo = 42, .hi = 0};
    return daos_obj_generate_oid(container(), oid, type, class, 0, 0);
}

static daos_obj_id_t generated(enum daos_otype_t type, daos_oclass_id_t class)
{
    daos_obj_id_t oid;

    OK(generate(type, class, &oid));
    return oid;
}

/* The id of a hashed KV with the bits that are the user's. */
static daos_obj_id_t kv_id(uint64_t hi, uint64_t lo)
{
    daos_obj_id_t oid = {.lo = lo, .hi = hi};

    OK(daos_obj_generate_oid(container(), &oid, DAOS_OT_KV_HASHED, OC_S1, 0, 0));
    return oid;
}

static unsigned int type_of(daos_obj_id_t oid)
{
    return oid.hi >> 56;
}

static unsigned int redundancy_of(daos_obj_id_t oid)
{
    return (oid.hi >> 48) & 0xff;
}

static unsigned int groups_of(daos_obj_id_t oid)
{
    return (oid.hi >> 32) & 0xffff;
}

#define TYPE_IN_TOP_BYTE(sentence, type, number)                                                                       \
    CHECK(sentence, "the highest byte of hi is the type of the object")                                                \
    {                                                                                                                  \
        EQUAL(type_of(generated(type, OC_S1)), number);                                                                \
    }
TYPE_IN_TOP_BYTE(a_multi_hashed_id_has_type_0, DAOS_OT_MULTI_HASHED, 0)
TYPE_IN_TOP_BYTE(a_dkey_uint64_id_has_type_2, DAOS_OT_DKEY_UINT64, 2)
TYPE_IN_TOP_BYTE(an_akey_uint64_id_has_type_3, DAOS_OT_AKEY_UINT64, 3)
TYPE_IN_TOP_BYTE(a_multi_uint64_id_has_type_4, DAOS_OT_MULTI_UINT64, 4)
TYPE_IN_TOP_BYTE(a_dkey_lexical_id_has_type_5, DAOS_OT_DKEY_LEXICAL, 5)
TYPE_IN_TOP_BYTE(an_akey_lexical_id_has_type_6, DAOS_OT_AKEY_LEXICAL, 6)
TYPE_IN_TOP_BYTE(a_multi_lexical_id_has_type_7, DAOS_OT_MULTI_LEXICAL, 7)
TYPE_IN_TOP_BYTE(a_kv_hashed_id_has_type_8, DAOS_OT_KV_HASHED, 8)
TYPE_IN_TOP_BYTE(a_kv_uint64_id_has_type_9, DAOS_OT_KV_UINT64, 9)
TYPE_IN_TOP_BYTE(a_kv_lexical_id_has_type_10, DAOS_OT_KV_LEXICAL, 10)
TYPE_IN_TOP_BYTE(an_array_id_has_type_11, DAOS_OT_ARRAY, 11)
TYPE_IN_TOP_BYTE(an_array_id_with_attributes_has_type_12, DAOS_OT_ARRAY_ATTR, 12)
TYPE_IN_TOP_BYTE(a_byte_array_id_has_type_13, DAOS_OT_ARRAY_BYTE, 13)

CHECK(a_hashed_kv_of_class_s1_has_a_known_encoding, "KV_HASHED of class S1: hi is 0x0801000100000000")
{
    EQUAL(kv_id(0, 42).hi, 0x0801000100000000ull);
    EQUAL(kv_id(0, 42).lo, 42);
}

CHECK(the_96_bits_of_the_user_are_kept, "lo and the low 32 bits of hi are the user's")
{
    daos_obj_id_t oid = kv_id(0x89abcdefull, 0xfedcba9876543210ull);

    EQUAL(oid.lo, 0xfedcba9876543210ull);
    EQUAL(oid.hi & 0xffffffff, 0x89abcdefull);
}

CHECK(the_high_32_bits_of_the_user_are_dropped, "the high 32 bits of hi are replaced, not combined")
{
    EQUAL(kv_id(0xffffffff00000007ull, 42).hi, 0x0801000100000007ull);
}

CHECK(an_id_may_be_generated_again, "the high 32 bits of hi are replaced, not combined")
{
    daos_obj_id_t oid = generated(DAOS_OT_ARRAY, OC_S1);
    daos_obj_id_t again = oid;

    OK(daos_obj_generate_oid(container(), &again, DAOS_OT_ARRAY, OC_S1, 0, 0));
    EQUAL(again.hi, oid.hi);
    EQUAL(again.lo, oid.lo);
}

CHECK(the_id_zero_is_a_valid_id, "all 96 bits of the user may be 0")
{
    put_text(open_kv(kv_id(0, 0), DAOS_OO_RW), "key", "value");
    kv_holds(open_kv(kv_id(0, 0), DAOS_OO_RO), "key", "value");
}

CHECK(ids_that_differ_in_their_type_are_different_objects, "the whole id names the object")
{
    put_text(open_kv(generated(DAOS_OT_KV_HASHED, OC_S1), DAOS_OO_RW), "key", "value");
    kv_lacks(open_kv(generated(DAOS_OT_KV_LEXICAL, OC_S1), DAOS_OO_RO), "key");
}

CHECK(ids_that_differ_in_the_user_bits_of_hi_are_different_objects, "the whole id names the object")
{
    put_text(open_kv(kv_id(1, 42), DAOS_OO_RW), "key", "value");
    kv_lacks(open_kv(kv_id(2, 42), DAOS_OO_RO), "key");
}

/* A class of `groups` groups without redundancy: possible when the pool has that many targets. */
static void spread(daos_oclass_id_t class, unsigned int groups)
{
    daos_obj_id_t oid;

    if (pool_targets() < groups) {
        FAILS(generate(DAOS_OT_KV_HASHED, class, &oid), DER_INVAL);
        return;
    }
    OK(generate(DAOS_OT_KV_HASHED, class, &oid));
    EQUAL(redundancy_of(oid), 1);
    EQUAL(groups_of(oid), groups);
}

#define SPREAD(sentence, class, groups)                                                                                \
    CHECK(sentence, "a class is encoded as redundancy and groups; more groups than targets give -DER_INVAL")           \
    {                                                                                                                  \
        spread(class, groups);                                                                                         \
    }
SPREAD(class_s1_needs_one_target, OC_S1, 1)
SPREAD(class_s2_needs_two_targets, OC_S2, 2)
SPREAD(class_s4_needs_four_targets, OC_S4, 4)
SPREAD(class_s8_needs_eight_targets, OC_S8, 8)
SPREAD(class_s32_needs_thirty_two_targets, OC_S32, 32)

CHECK(class_sx_is_stored_with_the_real_number_of_groups, "X classes are stored with the count of targets, at least 1")
{
    daos_obj_id_t oid = generated(DAOS_OT_KV_HASHED, OC_SX);

    EQUAL(redundancy_of(oid), 1);
    HOLDS(groups_of(oid) >= 1 && groups_of(oid) <= pool_targets());
}

/* A class with `replicas` members in a group, encoded with `redundancy`: possible with that many fault domains. */
static void replicated(daos_oclass_id_t class, unsigned int members, unsigned int redundancy)
{
    daos_obj_id_t oid;

    if (pool_nodes() < members) {
        FAILS(generate(DAOS_OT_MULTI_HASHED, class, &oid), DER_INVAL);
        return;
    }
    OK(generate(DAOS_OT_MULTI_HASHED, class, &oid));
    EQUAL(redundancy_of(oid), redundancy);
    EQUAL(groups_of(oid), 1);
}

#define REPLICATED(sentence, class, members, redundancy)                                                               \
    CHECK(sentence, "a group larger than the number of fault domains gives -DER_INVAL")                                \
    {                                                                                                                  \
        replicated(class, members, redundancy);                                                                        \
    }
REPLICATED(class_rp_2g1_needs_two_nodes, OC_RP_2G1, 2, 8)
REPLICATED(class_rp_3g1_needs_three_nodes, OC_RP_3G1, 3, 9)
REPLICATED(class_ec_2p1g1_needs_three_nodes, OC_EC_2P1G1, 3, 0x20)

CHECK(class_unknown_spreads_a_kv_over_all_targets, "class 0 with redundancy factor 0: a KV takes all targets")
{
    EQUAL(generated(DAOS_OT_KV_HASHED, OC_UNKNOWN).hi, generated(DAOS_OT_KV_HASHED, OC_SX).hi);
}

CHECK(class_unknown_spreads_an_array_over_all_targets, "class 0 with redundancy factor 0: arrays take all targets")
{
    EQUAL(generated(DAOS_OT_ARRAY_BYTE, OC_UNKNOWN).hi, generated(DAOS_OT_ARRAY_BYTE, OC_SX).hi);
}

CHECK(class_unknown_gives_other_types_one_group, "class 0 with redundancy factor 0: other types take S1")
{
    daos_obj_id_t oid = generated(DAOS_OT_MULTI_HASHED, OC_UNKNOWN);

    EQUAL(redundancy_of(oid), 1);
    EQUAL(groups_of(oid), 1);
}

CHECK(the_class_of_an_s1_id_is_s1, "daos_obj_id2class takes the class from the id")
{
    EQUAL(daos_obj_id2class(generated(DAOS_OT_KV_HASHED, OC_S1)), OC_S1);
}

CHECK(an_array_id_with_metadata_has_the_type_of_arrays, "array_generate_oid with add_attr makes an id of type ARRAY")
{
    daos_obj_id_t oid = {.lo = 42, .hi = 0};

    OK(daos_array_generate_oid(container(), &oid, true, OC_S1, 0, 0));
    EQUAL(type_of(oid), DAOS_OT_ARRAY);
}

CHECK(an_array_id_without_metadata_opens_with_attributes, "without add_attr the id is one for open_with_attr")
{
    daos_obj_id_t oid = {.lo = 42, .hi = 0};

    OK(daos_array_generate_oid(container(), &oid, false, OC_S1, 0, 0));
    open_array_with(oid, DAOS_OO_RW, 1, 4096);
}

CHECK(a_class_below_the_redundancy_of_the_container_is_refused, "a class must have at least the container's redundancy")
{
    const char *label = new_label();
    daos_prop_t *prop = redundancy_zero();
    daos_obj_id_t oid = {.lo = 42, .hi = 0};
    daos_handle_t object;

    prop->dpp_entries[0].dpe_val = 1;
    int status = daos_cont_create_with_label(pool(), label, prop, NULL, NULL);
    // A system of one node may refuse the container, its object ids, or only the opening of its objects.
    if (status == -DER_INVAL)
        SKIP("the pool takes no container of redundancy factor 1");
    OK(status);
    daos_handle_t handle = open_container(label, DAOS_COO_RW);
    status = daos_obj_generate_oid(handle, &oid, DAOS_OT_MULTI_HASHED, OC_S1, 0, 0);
    if (status == 0)
        status = daos_obj_open(handle, oid, DAOS_OO_RW, &object, NULL);
    FAILS(status, DER_INVAL);
}

#define NAMED(sentence, name, id)                                                                                      \
    CHECK(sentence, "a class has a name without OC_; id = (redundancy << 24) | groups")                                \
    {                                                                                                                  \
        char text[64] = {0};                                                                                           \
                                                                                                                       \
        EQUAL(daos_oclass_name2id(name), id);                                                                          \
        OK(daos_oclass_id2name(id, text));                                                                             \
        TEXT(text, name);                                                                                              \
    }
NAMED(class_s1_has_a_name, "S1", 0x1000001)
NAMED(class_s2_has_a_name, "S2", 0x1000002)
NAMED(class_s4_has_a_name, "S4", 0x1000004)
NAMED(class_s32_has_a_name, "S32", 0x1000020)
NAMED(class_sx_has_a_name, "SX", 0x100ffff)
NAMED(class_rp_2g1_has_a_name, "RP_2G1", 0x8000001)
NAMED(class_rp_2gx_has_a_name, "RP_2GX", 0x800ffff)
NAMED(class_rp_xsf_has_a_name, "RP_XSF", 80)
NAMED(class_rp_3g1_has_a_name, "RP_3G1", 0x9000001)
NAMED(class_ec_2p1g1_has_a_name, "EC_2P1G1", 0x20000001)
NAMED(class_ec_8p2gx_has_a_name, "EC_8P2GX", 0x2500ffff)
NAMED(class_ec_8p3g1_has_a_name, "EC_8P3G1", 0x29000001)
NAMED(class_ec_16p3gx_has_a_name, "EC_16P3GX", 0x2a00ffff)

CHECK(a_name_of_no_class_is_class_zero, "daos_oclass_name2id of an unknown name is 0")
{
    EQUAL(daos_oclass_name2id("NO_SUCH_CLASS"), 0);
}

CHECK(an_id_says_what_its_object_is, "daos_is_array, daos_is_kv and the like tell by the type in an id")
{
    daos_obj_id_t array = new_oid(DAOS_OT_ARRAY_BYTE), map = new_oid(DAOS_OT_KV_LEXICAL),
                  numbered = new_oid(DAOS_OT_AKEY_UINT64);
    daos_key_t none = {.iov_buf = NULL};

    HOLDS(daos_is_array(array) && !daos_is_kv(array) && daos_is_dkey_uint64(array) && !daos_is_akey_uint64(array));
    HOLDS(daos_is_kv(map) && !daos_is_array(map) && daos_is_dkey_lexical(map) && !daos_is_akey_lexical(map));
    HOLDS(daos_is_akey_uint64(numbered) && !daos_is_dkey_uint64(numbered));
    EQUAL(daos_obj_id2grp_nr(map), 1);
    HOLDS(daos_key_is_null(none) && !daos_key_is_null(key_of("key")));
}
