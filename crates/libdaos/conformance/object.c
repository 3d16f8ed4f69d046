/*
 * Objects: single values under dkeys and akeys, conditions, punches. Records are in object_record.c, listings in
 * object_list.c.
 */
#include "check.h"

SUBJECT(object);

static int update(daos_handle_t object, uint64_t flags, const char *dkey, const char *akey, const char *value)
{
    return update_single(object, DAOS_TX_NONE, flags, dkey, akey, value, strlen(value));
}

static void put_value(daos_handle_t object, const char *dkey, const char *akey, const char *value)
{
    OK(update(object, 0, dkey, akey, value));
}

static int fetch(daos_handle_t object, uint64_t flags, const char *dkey, const char *akey)
{
    char found[64];
    daos_size_t size;

    return fetch_single(object, DAOS_TX_NONE, flags, dkey, akey, found, sizeof(found), &size);
}

CHECK(open_of_an_object_never_written_succeeds, "objects need no creation")
{
    single_lacks(open_object(new_oid(DAOS_OT_MULTI_HASHED), DAOS_OO_RO), "dkey", "akey");
}

CHECK(a_single_value_comes_back, "a fetch returns what was updated")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "value");
    single_holds(object, "dkey", "akey", "value");
}

CHECK(a_single_value_is_replaced_whole, "an update replaces a single value")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "a long value of many bytes");
    put_value(object, "dkey", "akey", "short");
    single_holds(object, "dkey", "akey", "short");
}

CHECK(akeys_of_one_dkey_are_separate, "a value is named by its dkey and its akey")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "one", "1");
    put_value(object, "dkey", "two", "2");
    single_holds(object, "dkey", "one", "1");
    single_holds(object, "dkey", "two", "2");
}

CHECK(dkeys_with_one_akey_are_separate, "a value is named by its dkey and its akey")
{
    daos_handle_t object = new_object();

    put_value(object, "one", "akey", "1");
    put_value(object, "two", "akey", "2");
    single_holds(object, "one", "akey", "1");
    single_holds(object, "two", "akey", "2");
}

CHECK(dkey_and_akey_are_not_joined, "a value is named by its dkey and its akey")
{
    daos_handle_t object = new_object();

    put_value(object, "ab", "c", "1");
    put_value(object, "a", "bc", "2");
    single_holds(object, "ab", "c", "1");
    single_holds(object, "a", "bc", "2");
}

CHECK(keys_may_hold_zero_bytes, "keys are bytes with a length, not text")
{
    daos_handle_t object = new_object();
    char bytes[3] = {0, 1, 0};
    char found[8] = {0};
    daos_key_t dkey;
    daos_iod_t iod = {.iod_type = DAOS_IOD_SINGLE, .iod_size = 5, .iod_nr = 1};
    struct buffer buffer;

    d_iov_set(&dkey, bytes, 3);
    d_iov_set(&iod.iod_name, bytes, 2);
    OK(daos_obj_update(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, "value", 5), NULL));
    OK(daos_obj_fetch(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, found, sizeof(found)), NULL, NULL));
    EQUAL(iod.iod_size, 5);
    BYTES(found, "value", 5);
    d_iov_set(&dkey, bytes, 2);
    OK(daos_obj_fetch(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, found, sizeof(found)), NULL, NULL));
    EQUAL(iod.iod_size, 0);
}

CHECK(several_values_go_in_one_update, "an update takes several akeys of one dkey")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_iod_t iods[2] = {{.iod_name = key_of("one"), .iod_type = DAOS_IOD_SINGLE, .iod_size = 1, .iod_nr = 1},
                          {.iod_name = key_of("two"), .iod_type = DAOS_IOD_SINGLE, .iod_size = 3, .iod_nr = 1}};
    struct buffer first;
    struct buffer second;
    d_sg_list_t lists[2];

    lists[0] = *buffer_of(&first, "1", 1);
    lists[1] = *buffer_of(&second, "222", 3);
    OK(daos_obj_update(object, DAOS_TX_NONE, 0, &dkey, 2, iods, lists, NULL));
    single_holds(object, "dkey", "one", "1");
    single_holds(object, "dkey", "two", "222");
}

CHECK(several_values_come_in_one_fetch, "a fetch takes several akeys of one dkey, present or not")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_iod_t iods[2] = {{.iod_name = key_of("one"), .iod_type = DAOS_IOD_SINGLE, .iod_nr = 1},
                          {.iod_name = key_of("absent"), .iod_type = DAOS_IOD_SINGLE, .iod_nr = 1}};
    char found[2][8] = {{0}};
    struct buffer first;
    struct buffer second;
    d_sg_list_t lists[2];

    put_value(object, "dkey", "one", "value");
    lists[0] = *buffer_of(&first, found[0], 8);
    lists[1] = *buffer_of(&second, found[1], 8);
    OK(daos_obj_fetch(object, DAOS_TX_NONE, 0, &dkey, 2, iods, lists, NULL, NULL));
    EQUAL(iods[0].iod_size, 5);
    EQUAL(iods[1].iod_size, 0);
    BYTES(found[0], "value", 5);
}

CHECK(fetch_of_an_absent_value_has_size_zero, "a fetch of what is not there returns 0 and iod_size 0")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "value");
    single_lacks(object, "dkey", "absent");
    single_lacks(object, "absent", "akey");
}

CHECK(an_update_of_size_zero_makes_a_present_value, "a value of size 0 is there for conditions, and listed (VOS stores it)")
{
    daos_handle_t object = new_object();
    char found[4];
    daos_size_t size = 1;

    OK(update_single(object, DAOS_TX_NONE, DAOS_COND_AKEY_INSERT, "dkey", "akey", NULL, 0));
    FAILS(update_single(object, DAOS_TX_NONE, DAOS_COND_AKEY_INSERT, "dkey", "akey", "value", 5), DER_EXIST);
    FAILS(update_single(object, DAOS_TX_NONE, DAOS_COND_DKEY_INSERT, "dkey", "other", "value", 5), DER_EXIST);
    OK(fetch_single(object, DAOS_TX_NONE, DAOS_COND_AKEY_FETCH, "dkey", "akey", found, sizeof(found), &size));
    EQUAL(size, 0);
    OK(update_single(object, DAOS_TX_NONE, DAOS_COND_AKEY_UPDATE, "dkey", "akey", "value", 5));
    single_holds(object, "dkey", "akey", "value");
}

CHECK(a_value_may_be_shorter_than_its_buffer, "iod_size bytes of the scatter list are stored; more of them is no error")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_iod_t iod = {.iod_name = key_of("akey"), .iod_type = DAOS_IOD_SINGLE, .iod_size = 5, .iod_nr = 1};
    char value[] = "value and more";
    struct buffer buffer;

    OK(daos_obj_update(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, value, sizeof(value)), NULL));
    single_holds(object, "dkey", "akey", "value");
}

CHECK(a_value_longer_than_its_buffer_is_refused, "iod_size above the size of the scatter list gives -DER_REC2BIG")
{
    daos_key_t dkey = key_of("dkey");
    daos_iod_t iod = {.iod_name = key_of("akey"), .iod_type = DAOS_IOD_SINGLE, .iod_size = 6, .iod_nr = 1};
    char value[] = "value";
    struct buffer buffer;

    FAILS(daos_obj_update(new_object(), DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, value, 5), NULL),
          DER_REC2BIG);
}

CHECK(an_update_of_a_value_without_buffers_is_invalid, "an update with iod_size above 0 and no scatter list gives -DER_INVAL")
{
    daos_key_t dkey = key_of("dkey");
    daos_iod_t iod = {.iod_name = key_of("akey"), .iod_type = DAOS_IOD_SINGLE, .iod_size = 6, .iod_nr = 1};

    FAILS(daos_obj_update(new_object(), DAOS_TX_NONE, 0, &dkey, 1, &iod, NULL, NULL), DER_INVAL);
}

CHECK(a_call_without_akeys_is_invalid, "fetch, update and punch_akeys of no akey give -DER_INVAL")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_key_t akey = key_of("akey");
    daos_iod_t iod = {.iod_name = akey, .iod_type = DAOS_IOD_SINGLE, .iod_size = DAOS_REC_ANY, .iod_nr = 1};

    FAILS(daos_obj_fetch(object, DAOS_TX_NONE, 0, &dkey, 0, &iod, NULL, NULL, NULL), DER_INVAL);
    FAILS(daos_obj_update(object, DAOS_TX_NONE, 0, &dkey, 0, &iod, NULL, NULL), DER_INVAL);
    FAILS(daos_obj_punch_akeys(object, DAOS_TX_NONE, 0, &dkey, 0, &akey, NULL), DER_INVAL);
}

CHECK(a_single_value_with_another_number_of_records_is_invalid, "iod_nr of DAOS_IOD_SINGLE must be 1, else -DER_INVAL")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_iod_t iod = {.iod_name = key_of("akey"), .iod_type = DAOS_IOD_SINGLE, .iod_size = DAOS_REC_ANY, .iod_nr = 2};

    FAILS(daos_obj_fetch(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, NULL, NULL, NULL), DER_INVAL);
    iod.iod_nr = 0;
    FAILS(daos_obj_fetch(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, NULL, NULL, NULL), DER_INVAL);
}

CHECK(conditions_of_another_call_are_invalid, "conditions of an update in a fetch, and the other way, give -DER_INVAL")
{
    daos_handle_t object = new_object();
    char found[8];
    daos_size_t size;
    const uint64_t both = DAOS_COND_PER_AKEY | DAOS_COND_AKEY_FETCH;

    FAILS(fetch_single(object, DAOS_TX_NONE, DAOS_COND_DKEY_INSERT, "d", "a", found, sizeof(found), &size), DER_INVAL);
    FAILS(fetch_single(object, DAOS_TX_NONE, DAOS_COND_PUNCH, "d", "a", found, sizeof(found), &size), DER_INVAL);
    FAILS(fetch_single(object, DAOS_TX_NONE, both, "d", "a", found, sizeof(found), &size), DER_INVAL);
    FAILS(update_single(object, DAOS_TX_NONE, DAOS_COND_AKEY_FETCH, "d", "a", "v", 1), DER_INVAL);
    FAILS(update_single(object, DAOS_TX_NONE, DAOS_COND_PUNCH, "d", "a", "v", 1), DER_INVAL);
}

CHECK(fetch_of_an_absent_value_fills_no_buffer, "a fetch of what is not there: sg_nr_out 0 or iov_len 0")
{
    daos_key_t dkey = key_of("dkey");
    daos_iod_t iod = {.iod_name = key_of("akey"), .iod_type = DAOS_IOD_SINGLE, .iod_size = DAOS_REC_ANY, .iod_nr = 1};
    char found[8] = "intact!";
    struct buffer buffer;

    OK(daos_obj_fetch(new_object(), DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, found, sizeof(found)), NULL,
                      NULL));
    HOLDS(buffer.list.sg_nr_out == 0 || buffer.iov.iov_len == 0);
    BYTES(found, "intact!", 8);
}

CHECK(fetch_without_buffers_returns_the_size, "a fetch without scatter lists returns the size")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_iod_t iod = {.iod_name = key_of("akey"), .iod_type = DAOS_IOD_SINGLE, .iod_size = DAOS_REC_ANY, .iod_nr = 1};

    put_value(object, "dkey", "akey", "value");
    OK(daos_obj_fetch(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, NULL, NULL, NULL));
    EQUAL(iod.iod_size, 5);
}

CHECK(fetch_into_a_small_buffer_is_refused, "a buffer that is too small gives -DER_REC2BIG and the real size")
{
    daos_handle_t object = new_object();
    char found[4];
    daos_size_t size = 0;

    put_value(object, "dkey", "akey", "eleven char");
    FAILS(fetch_single(object, DAOS_TX_NONE, 0, "dkey", "akey", found, sizeof(found), &size), DER_REC2BIG);
    EQUAL(size, 11);
}

CHECK(dkey_insert_of_a_new_dkey_succeeds, "COND_DKEY_INSERT updates when the dkey is absent")
{
    daos_handle_t object = new_object();

    OK(update(object, DAOS_COND_DKEY_INSERT, "dkey", "akey", "value"));
    single_holds(object, "dkey", "akey", "value");
}

CHECK(dkey_insert_of_a_present_dkey_fails, "COND_DKEY_INSERT on a present dkey gives -DER_EXIST, whatever the akey is")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "first");
    FAILS(update(object, DAOS_COND_DKEY_INSERT, "dkey", "other", "second"), DER_EXIST);
    single_lacks(object, "dkey", "other");
}

CHECK(dkey_update_of_a_present_dkey_succeeds, "COND_DKEY_UPDATE updates when the dkey is present")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "first");
    OK(update(object, DAOS_COND_DKEY_UPDATE, "dkey", "other", "second"));
    single_holds(object, "dkey", "other", "second");
}

CHECK(dkey_update_of_an_absent_dkey_fails, "COND_DKEY_UPDATE on an absent dkey gives -DER_NONEXIST")
{
    daos_handle_t object = new_object();

    put_value(object, "other", "akey", "value");
    FAILS(update(object, DAOS_COND_DKEY_UPDATE, "dkey", "akey", "value"), DER_NONEXIST);
    single_lacks(object, "dkey", "akey");
}

CHECK(dkey_insert_with_akey_update_fails_where_nothing_is,
      "COND_DKEY_INSERT | COND_AKEY_UPDATE gives -DER_NONEXIST where nothing is, and writes nothing")
{
    daos_handle_t object = new_object();

    FAILS(update(object, DAOS_COND_DKEY_INSERT | DAOS_COND_AKEY_UPDATE, "dkey", "akey", "value"), DER_NONEXIST);
    single_lacks(object, "dkey", "akey");
}

CHECK(dkey_fetch_of_a_present_dkey_succeeds, "COND_DKEY_FETCH looks at the dkey only")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "value");
    OK(fetch(object, DAOS_COND_DKEY_FETCH, "dkey", "akey"));
    OK(fetch(object, DAOS_COND_DKEY_FETCH, "dkey", "absent"));
}

CHECK(dkey_fetch_of_an_absent_dkey_fails, "COND_DKEY_FETCH on an absent dkey gives -DER_NONEXIST")
{
    daos_handle_t object = new_object();

    put_value(object, "other", "akey", "value");
    FAILS(fetch(object, DAOS_COND_DKEY_FETCH, "dkey", "akey"), DER_NONEXIST);
}

CHECK(akey_insert_of_a_new_akey_succeeds, "COND_AKEY_INSERT updates when the akey is absent")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "other", "value");
    OK(update(object, DAOS_COND_AKEY_INSERT, "dkey", "akey", "value"));
    single_holds(object, "dkey", "akey", "value");
}

CHECK(akey_insert_of_a_present_akey_fails, "COND_AKEY_INSERT on a present akey gives -DER_EXIST")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "first");
    FAILS(update(object, DAOS_COND_AKEY_INSERT, "dkey", "akey", "second"), DER_EXIST);
    single_holds(object, "dkey", "akey", "first");
}

CHECK(akey_update_of_a_present_akey_succeeds, "COND_AKEY_UPDATE updates when the akey is present")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "first");
    OK(update(object, DAOS_COND_AKEY_UPDATE, "dkey", "akey", "second"));
    single_holds(object, "dkey", "akey", "second");
}

CHECK(akey_update_of_an_absent_akey_fails, "COND_AKEY_UPDATE on an absent akey gives -DER_NONEXIST")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "other", "value");
    FAILS(update(object, DAOS_COND_AKEY_UPDATE, "dkey", "akey", "value"), DER_NONEXIST);
    single_lacks(object, "dkey", "akey");
}

CHECK(akey_fetch_of_a_present_akey_succeeds, "COND_AKEY_FETCH fetches when the akey is present")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "value");
    OK(fetch(object, DAOS_COND_AKEY_FETCH, "dkey", "akey"));
}

CHECK(akey_fetch_of_an_absent_akey_fails, "COND_AKEY_FETCH on an absent akey gives -DER_NONEXIST")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "other", "value");
    FAILS(fetch(object, DAOS_COND_AKEY_FETCH, "dkey", "akey"), DER_NONEXIST);
}

CHECK(per_akey_conditions_are_taken_from_the_descriptions, "COND_PER_AKEY takes the condition from iod_flags")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_iod_t iods[2] = {{.iod_name = key_of("one"), .iod_type = DAOS_IOD_SINGLE, .iod_size = 1, .iod_nr = 1,
                           .iod_flags = DAOS_COND_AKEY_UPDATE},
                          {.iod_name = key_of("two"), .iod_type = DAOS_IOD_SINGLE, .iod_size = 1, .iod_nr = 1,
                           .iod_flags = DAOS_COND_AKEY_INSERT}};
    struct buffer first;
    struct buffer second;
    d_sg_list_t lists[2];

    put_value(object, "dkey", "one", "0");
    lists[0] = *buffer_of(&first, "1", 1);
    lists[1] = *buffer_of(&second, "2", 1);
    OK(daos_obj_update(object, DAOS_TX_NONE, DAOS_COND_PER_AKEY, &dkey, 2, iods, lists, NULL));
    single_holds(object, "dkey", "one", "1");
    single_holds(object, "dkey", "two", "2");
    FAILS(daos_obj_update(object, DAOS_TX_NONE, DAOS_COND_PER_AKEY, &dkey, 2, iods, lists, NULL), DER_EXIST);
}

CHECK(a_failed_condition_updates_none_of_the_akeys, "a conditional operation is a transaction of one operation")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_iod_t iods[2] = {{.iod_name = key_of("new"), .iod_type = DAOS_IOD_SINGLE, .iod_size = 1, .iod_nr = 1},
                          {.iod_name = key_of("old"), .iod_type = DAOS_IOD_SINGLE, .iod_size = 1, .iod_nr = 1}};
    struct buffer first;
    struct buffer second;
    d_sg_list_t lists[2];

    put_value(object, "dkey", "old", "0");
    lists[0] = *buffer_of(&first, "1", 1);
    lists[1] = *buffer_of(&second, "2", 1);
    FAILS(daos_obj_update(object, DAOS_TX_NONE, DAOS_COND_AKEY_INSERT, &dkey, 2, iods, lists, NULL), DER_EXIST);
    single_lacks(object, "dkey", "new");
    single_holds(object, "dkey", "old", "0");
}

static int punch_dkey(daos_handle_t object, uint64_t flags, const char *dkey)
{
    daos_key_t key = key_of(dkey);

    return daos_obj_punch_dkeys(object, DAOS_TX_NONE, flags, 1, &key, NULL);
}

static int punch_akey(daos_handle_t object, uint64_t flags, const char *dkey, const char *akey)
{
    daos_key_t key = key_of(dkey);
    daos_key_t name = key_of(akey);

    return daos_obj_punch_akeys(object, DAOS_TX_NONE, flags, &key, 1, &name, NULL);
}

CHECK(punch_of_an_object_removes_everything, "a punched object holds nothing")
{
    daos_handle_t object = new_object();

    put_value(object, "one", "akey", "value");
    put_value(object, "two", "akey", "value");
    OK(daos_obj_punch(object, DAOS_TX_NONE, 0, NULL));
    single_lacks(object, "one", "akey");
    single_lacks(object, "two", "akey");
}

CHECK(a_punched_object_may_be_written_again, "objects need no creation")
{
    daos_handle_t object = new_object();

    put_value(object, "old", "akey", "value");
    OK(daos_obj_punch(object, DAOS_TX_NONE, 0, NULL));
    put_value(object, "new", "akey", "value");
    single_lacks(object, "old", "akey");
    single_holds(object, "new", "akey", "value");
}

CHECK(punch_of_a_dkey_removes_its_akeys, "a punched dkey holds nothing")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "one", "value");
    put_value(object, "dkey", "two", "value");
    put_value(object, "other", "one", "stays");
    OK(punch_dkey(object, 0, "dkey"));
    single_lacks(object, "dkey", "one");
    single_lacks(object, "dkey", "two");
    single_holds(object, "other", "one", "stays");
}

CHECK(punch_of_two_dkeys_is_invalid, "punch_dkeys takes one dkey, else -DER_INVAL")
{
    daos_key_t keys[2] = {key_of("one"), key_of("two")};

    FAILS(daos_obj_punch_dkeys(new_object(), DAOS_TX_NONE, 0, 2, keys, NULL), DER_INVAL);
}

CHECK(punch_of_an_akey_leaves_the_others, "a punch of an akey concerns that akey")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "one", "value");
    put_value(object, "dkey", "two", "stays");
    OK(punch_akey(object, 0, "dkey", "one"));
    single_lacks(object, "dkey", "one");
    single_holds(object, "dkey", "two", "stays");
}

CHECK(punch_of_several_akeys_removes_each, "punch_akeys takes several akeys")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_key_t akeys[2] = {key_of("one"), key_of("two")};

    put_value(object, "dkey", "one", "value");
    put_value(object, "dkey", "two", "value");
    put_value(object, "dkey", "three", "stays");
    OK(daos_obj_punch_akeys(object, DAOS_TX_NONE, 0, &dkey, 2, akeys, NULL));
    single_lacks(object, "dkey", "one");
    single_lacks(object, "dkey", "two");
    single_holds(object, "dkey", "three", "stays");
}

CHECK(punch_of_the_last_akey_removes_the_dkey, "a dkey goes away with its last akey")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "value");
    OK(punch_akey(object, 0, "dkey", "akey"));
    FAILS(fetch(object, DAOS_COND_DKEY_FETCH, "dkey", "akey"), DER_NONEXIST);
}

CHECK(punch_of_an_absent_dkey_succeeds, "a punch without a condition does not ask whether the key exists")
{
    OK(punch_dkey(new_object(), 0, "absent"));
}

CHECK(conditional_punch_of_an_absent_dkey_fails, "COND_PUNCH of an absent key gives -DER_NONEXIST")
{
    daos_handle_t object = new_object();

    put_value(object, "other", "akey", "value");
    FAILS(punch_dkey(object, DAOS_COND_PUNCH, "absent"), DER_NONEXIST);
}

CHECK(conditional_punch_of_a_present_dkey_succeeds, "COND_PUNCH of a present key removes it")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "value");
    OK(punch_dkey(object, DAOS_COND_PUNCH, "dkey"));
    single_lacks(object, "dkey", "akey");
}

CHECK(conditional_punch_of_an_absent_akey_fails, "COND_PUNCH of an absent key gives -DER_NONEXIST")
{
    daos_handle_t object = new_object();

    put_value(object, "dkey", "akey", "value");
    FAILS(punch_akey(object, DAOS_COND_PUNCH, "dkey", "absent"), DER_NONEXIST);
}
