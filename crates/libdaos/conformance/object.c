/*
 * Objects: single values under dkeys and akeys, conditions, punches. Records are in object_record.c, listings in
 * object_list.c.
 */
#include "check.h"

SUBJECT(object);

static int update(uint64_t flags, const char *dkey, const char *akey, const char *value)
{
    return update_single(object(), DAOS_TX_NONE, flags, dkey, akey, value, strlen(value));
}

static void put_value(const char *dkey, const char *akey, const char *value)
{
    OK(update(0, dkey, akey, value));
}

static int fetch(uint64_t flags, const char *dkey, const char *akey)
{
    char found[64];

    return fetch_single(object(), DAOS_TX_NONE, flags, dkey, akey, found, sizeof(found), IGNORED(daos_size_t));
}

static void holds(const char *dkey, const char *akey, const char *value)
{
    single_holds(object(), dkey, akey, value);
}

static void lacks(const char *dkey, const char *akey)
{
    single_lacks(object(), dkey, akey);
}

CHECK(open_of_an_object_never_written_succeeds, "objects need no creation")
{
    single_lacks(open_object(new_oid(DAOS_OT_MULTI_HASHED), DAOS_OO_RO), "dkey", "akey");
}

CHECK(a_single_value_comes_back, "a fetch returns what was updated")
{
    put_value("dkey", "akey", "value");
    holds("dkey", "akey", "value");
}

CHECK(a_single_value_is_replaced_whole, "an update replaces a single value")
{
    put_value("dkey", "akey", "a long value of many bytes");
    put_value("dkey", "akey", "short");
    holds("dkey", "akey", "short");
}

CHECK(akeys_of_one_dkey_are_separate, "a value is named by its dkey and its akey")
{
    put_value("dkey", "one", "1");
    put_value("dkey", "two", "2");
    holds("dkey", "one", "1");
    holds("dkey", "two", "2");
}

CHECK(dkeys_with_one_akey_are_separate, "a value is named by its dkey and its akey")
{
    put_value("one", "akey", "1");
    put_value("two", "akey", "2");
    holds("one", "akey", "1");
    holds("two", "akey", "2");
}

CHECK(dkey_and_akey_are_not_joined, "a value is named by its dkey and its akey")
{
    put_value("ab", "c", "1");
    put_value("a", "bc", "2");
    holds("ab", "c", "1");
    holds("a", "bc", "2");
}

CHECK(keys_may_hold_zero_bytes, "keys are bytes with a length, not text")
{
    char bytes[3] = {0, 1, 0};
    char found[8] = {0};
    daos_key_t dkey = iov_of(bytes, 3), shorter = iov_of(bytes, 2);
    daos_iod_t iod = {.iod_name = shorter, .iod_type = DAOS_IOD_SINGLE, .iod_size = 5, .iod_nr = 1};

    OK(daos_obj_update(object(), DAOS_TX_NONE, 0, &dkey, 1, &iod, BUFFER("value", 5), NULL));
    OK(daos_obj_fetch(object(), DAOS_TX_NONE, 0, &dkey, 1, &iod, BUFFER(found, sizeof(found)), NULL, NULL));
    EQUAL(iod.iod_size, 5);
    BYTES(found, "value", 5);
    OK(daos_obj_fetch(object(), DAOS_TX_NONE, 0, &shorter, 1, &iod, BUFFER(found, sizeof(found)), NULL, NULL));
    EQUAL(iod.iod_size, 0);
}

CHECK(several_values_go_in_one_update, "an update takes several akeys of one dkey")
{
    daos_iod_t iods[2] = {single("one", 1), single("two", 3)};
    d_sg_list_t lists[2] = {*BUFFER("1", 1), *BUFFER("222", 3)};

    OK(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 2, iods, lists, NULL));
    holds("dkey", "one", "1");
    holds("dkey", "two", "222");
}

CHECK(several_values_come_in_one_fetch, "a fetch takes several akeys of one dkey, present or not")
{
    daos_iod_t iods[2] = {single("one", DAOS_REC_ANY), single("absent", DAOS_REC_ANY)};
    char found[2][8] = {{0}};
    d_sg_list_t lists[2] = {*BUFFER(found[0], 8), *BUFFER(found[1], 8)};

    put_value("dkey", "one", "value");
    OK(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 2, iods, lists, NULL, NULL));
    EQUAL(iods[0].iod_size, 5);
    EQUAL(iods[1].iod_size, 0);
    BYTES(found[0], "value", 5);
}

CHECK(fetch_of_an_absent_value_has_size_zero, "a fetch of what is not there returns 0 and iod_size 0")
{
    put_value("dkey", "akey", "value");
    lacks("dkey", "absent");
    lacks("absent", "akey");
}

CHECK(an_update_of_size_zero_makes_a_present_value, "a value of size 0 is there for conditions, and listed (VOS stores it)")
{
    char found[4];
    daos_size_t size = 1;

    OK(update_single(object(), DAOS_TX_NONE, DAOS_COND_AKEY_INSERT, "dkey", "akey", NULL, 0));
    FAILS(update_single(object(), DAOS_TX_NONE, DAOS_COND_AKEY_INSERT, "dkey", "akey", "value", 5), DER_EXIST);
    FAILS(update_single(object(), DAOS_TX_NONE, DAOS_COND_DKEY_INSERT, "dkey", "other", "value", 5), DER_EXIST);
    OK(fetch_single(object(), DAOS_TX_NONE, DAOS_COND_AKEY_FETCH, "dkey", "akey", found, sizeof(found), &size));
    EQUAL(size, 0);
    OK(update_single(object(), DAOS_TX_NONE, DAOS_COND_AKEY_UPDATE, "dkey", "akey", "value", 5));
    holds("dkey", "akey", "value");
}

CHECK(a_value_may_be_shorter_than_its_buffer, "iod_size bytes of the scatter list are stored; more of them is no error")
{
    daos_iod_t iod = single("akey", 5);

    OK(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, BUFFER("value and more", 15), NULL));
    holds("dkey", "akey", "value");
}

CHECK(a_value_longer_than_its_buffer_is_refused, "iod_size above the size of the scatter list gives -DER_REC2BIG")
{
    daos_iod_t iod = single("akey", 6);

    FAILS(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, BUFFER("value", 5), NULL), DER_REC2BIG);
}

CHECK(an_update_of_a_value_without_buffers_is_invalid, "an update with iod_size above 0 and no scatter list gives -DER_INVAL")
{
    daos_iod_t iod = single("akey", 6);

    FAILS(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, NULL, NULL), DER_INVAL);
}

CHECK(a_call_without_akeys_is_invalid, "fetch, update and punch_akeys of no akey give -DER_INVAL")
{
    daos_iod_t iod = single("akey", DAOS_REC_ANY);

    FAILS(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 0, &iod, NULL, NULL, NULL), DER_INVAL);
    FAILS(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 0, &iod, NULL, NULL), DER_INVAL);
    FAILS(daos_obj_punch_akeys(object(), DAOS_TX_NONE, 0, KEY("dkey"), 0, KEY("akey"), NULL), DER_INVAL);
}

CHECK(a_single_value_with_another_number_of_records_is_invalid, "iod_nr of DAOS_IOD_SINGLE must be 1, else -DER_INVAL")
{
    daos_iod_t iod = single("akey", DAOS_REC_ANY);

    iod.iod_nr = 2;
    FAILS(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, NULL, NULL, NULL), DER_INVAL);
    iod.iod_nr = 0;
    FAILS(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, NULL, NULL, NULL), DER_INVAL);
}

CHECK(conditions_of_another_call_are_invalid, "conditions of an update in a fetch, and the other way, give -DER_INVAL")
{
    FAILS(fetch(DAOS_COND_DKEY_INSERT, "d", "a"), DER_INVAL);
    FAILS(fetch(DAOS_COND_PUNCH, "d", "a"), DER_INVAL);
    FAILS(fetch(DAOS_COND_PER_AKEY | DAOS_COND_AKEY_FETCH, "d", "a"), DER_INVAL);
    FAILS(update(DAOS_COND_AKEY_FETCH, "d", "a", "v"), DER_INVAL);
    FAILS(update(DAOS_COND_PUNCH, "d", "a", "v"), DER_INVAL);
}

CHECK(fetch_of_an_absent_value_fills_no_buffer, "a fetch of what is not there: sg_nr_out 0 or iov_len 0")
{
    daos_iod_t iod = single("akey", DAOS_REC_ANY);
    char found[8] = "intact!";
    d_sg_list_t *list = BUFFER(found, sizeof(found));

    OK(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, list, NULL, NULL));
    HOLDS(list->sg_nr_out == 0 || list->sg_iovs[0].iov_len == 0);
    BYTES(found, "intact!", 8);
}

CHECK(fetch_without_buffers_returns_the_size, "a fetch without scatter lists returns the size")
{
    daos_iod_t iod = single("akey", DAOS_REC_ANY);

    put_value("dkey", "akey", "value");
    OK(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, NULL, NULL, NULL));
    EQUAL(iod.iod_size, 5);
}

CHECK(fetch_into_a_small_buffer_is_refused, "a buffer that is too small gives -DER_REC2BIG and the real size")
{
    char found[4];
    daos_size_t size = 0;

    put_value("dkey", "akey", "eleven char");
    FAILS(fetch_single(object(), DAOS_TX_NONE, 0, "dkey", "akey", found, sizeof(found), &size), DER_REC2BIG);
    EQUAL(size, 11);
}

CHECK(dkey_insert_of_a_new_dkey_succeeds, "COND_DKEY_INSERT updates when the dkey is absent")
{
    OK(update(DAOS_COND_DKEY_INSERT, "dkey", "akey", "value"));
    holds("dkey", "akey", "value");
}

CHECK(dkey_insert_of_a_present_dkey_fails, "COND_DKEY_INSERT on a present dkey gives -DER_EXIST, whatever the akey is")
{
    put_value("dkey", "akey", "first");
    FAILS(update(DAOS_COND_DKEY_INSERT, "dkey", "other", "second"), DER_EXIST);
    lacks("dkey", "other");
}

CHECK(dkey_update_of_a_present_dkey_succeeds, "COND_DKEY_UPDATE updates when the dkey is present")
{
    put_value("dkey", "akey", "first");
    OK(update(DAOS_COND_DKEY_UPDATE, "dkey", "other", "second"));
    holds("dkey", "other", "second");
}

CHECK(dkey_update_of_an_absent_dkey_fails, "COND_DKEY_UPDATE on an absent dkey gives -DER_NONEXIST")
{
    put_value("other", "akey", "value");
    FAILS(update(DAOS_COND_DKEY_UPDATE, "dkey", "akey", "value"), DER_NONEXIST);
    lacks("dkey", "akey");
}

CHECK(dkey_insert_with_akey_update_fails_where_nothing_is,
      "COND_DKEY_INSERT | COND_AKEY_UPDATE gives -DER_NONEXIST where nothing is, and writes nothing")
{
    FAILS(update(DAOS_COND_DKEY_INSERT | DAOS_COND_AKEY_UPDATE, "dkey", "akey", "value"), DER_NONEXIST);
    lacks("dkey", "akey");
}

CHECK(dkey_fetch_of_a_present_dkey_succeeds, "COND_DKEY_FETCH looks at the dkey only")
{
    put_value("dkey", "akey", "value");
    OK(fetch(DAOS_COND_DKEY_FETCH, "dkey", "akey"));
    OK(fetch(DAOS_COND_DKEY_FETCH, "dkey", "absent"));
}

CHECK(dkey_fetch_of_an_absent_dkey_fails, "COND_DKEY_FETCH on an absent dkey gives -DER_NONEXIST")
{
    put_value("other", "akey", "value");
    FAILS(fetch(DAOS_COND_DKEY_FETCH, "dkey", "akey"), DER_NONEXIST);
}

CHECK(akey_insert_of_a_new_akey_succeeds, "COND_AKEY_INSERT updates when the akey is absent")
{
    put_value("dkey", "other", "value");
    OK(update(DAOS_COND_AKEY_INSERT, "dkey", "akey", "value"));
    holds("dkey", "akey", "value");
}

CHECK(akey_insert_of_a_present_akey_fails, "COND_AKEY_INSERT on a present akey gives -DER_EXIST")
{
    put_value("dkey", "akey", "first");
    FAILS(update(DAOS_COND_AKEY_INSERT, "dkey", "akey", "second"), DER_EXIST);
    holds("dkey", "akey", "first");
}

CHECK(akey_update_of_a_present_akey_succeeds, "COND_AKEY_UPDATE updates when the akey is present")
{
    put_value("dkey", "akey", "first");
    OK(update(DAOS_COND_AKEY_UPDATE, "dkey", "akey", "second"));
    holds("dkey", "akey", "second");
}

CHECK(akey_update_of_an_absent_akey_fails, "COND_AKEY_UPDATE on an absent akey gives -DER_NONEXIST")
{
    put_value("dkey", "other", "value");
    FAILS(update(DAOS_COND_AKEY_UPDATE, "dkey", "akey", "value"), DER_NONEXIST);
    lacks("dkey", "akey");
}

CHECK(akey_fetch_of_a_present_akey_succeeds, "COND_AKEY_FETCH fetches when the akey is present")
{
    put_value("dkey", "akey", "value");
    OK(fetch(DAOS_COND_AKEY_FETCH, "dkey", "akey"));
}

CHECK(akey_fetch_of_an_absent_akey_fails, "COND_AKEY_FETCH on an absent akey gives -DER_NONEXIST")
{
    put_value("dkey", "other", "value");
    FAILS(fetch(DAOS_COND_AKEY_FETCH, "dkey", "akey"), DER_NONEXIST);
}

CHECK(per_akey_conditions_are_taken_from_the_descriptions, "COND_PER_AKEY takes the condition from iod_flags")
{
    daos_iod_t iods[2] = {single("one", 1), single("two", 1)};
    d_sg_list_t lists[2] = {*BUFFER("1", 1), *BUFFER("2", 1)};

    put_value("dkey", "one", "0");
    iods[0].iod_flags = DAOS_COND_AKEY_UPDATE;
    iods[1].iod_flags = DAOS_COND_AKEY_INSERT;
    OK(daos_obj_update(object(), DAOS_TX_NONE, DAOS_COND_PER_AKEY, KEY("dkey"), 2, iods, lists, NULL));
    holds("dkey", "one", "1");
    holds("dkey", "two", "2");
    FAILS(daos_obj_update(object(), DAOS_TX_NONE, DAOS_COND_PER_AKEY, KEY("dkey"), 2, iods, lists, NULL), DER_EXIST);
}

CHECK(a_failed_condition_updates_none_of_the_akeys, "a conditional operation is a transaction of one operation")
{
    daos_iod_t iods[2] = {single("new", 1), single("old", 1)};
    d_sg_list_t lists[2] = {*BUFFER("1", 1), *BUFFER("2", 1)};

    put_value("dkey", "old", "0");
    FAILS(daos_obj_update(object(), DAOS_TX_NONE, DAOS_COND_AKEY_INSERT, KEY("dkey"), 2, iods, lists, NULL), DER_EXIST);
    lacks("dkey", "new");
    holds("dkey", "old", "0");
}

static int punch_dkey(uint64_t flags, const char *dkey)
{
    return daos_obj_punch_dkeys(object(), DAOS_TX_NONE, flags, 1, KEY(dkey), NULL);
}

static int punch_akey(uint64_t flags, const char *dkey, const char *akey)
{
    return daos_obj_punch_akeys(object(), DAOS_TX_NONE, flags, KEY(dkey), 1, KEY(akey), NULL);
}

CHECK(punch_of_an_object_removes_everything, "a punched object holds nothing")
{
    put_value("one", "akey", "value");
    put_value("two", "akey", "value");
    OK(daos_obj_punch(object(), DAOS_TX_NONE, 0, NULL));
    lacks("one", "akey");
    lacks("two", "akey");
}

CHECK(a_punched_object_may_be_written_again, "objects need no creation")
{
    put_value("old", "akey", "value");
    OK(daos_obj_punch(object(), DAOS_TX_NONE, 0, NULL));
    put_value("new", "akey", "value");
    lacks("old", "akey");
    holds("new", "akey", "value");
}

CHECK(punch_of_a_dkey_removes_its_akeys, "a punched dkey holds nothing")
{
    put_value("dkey", "one", "value");
    put_value("dkey", "two", "value");
    put_value("other", "one", "stays");
    OK(punch_dkey(0, "dkey"));
    lacks("dkey", "one");
    lacks("dkey", "two");
    holds("other", "one", "stays");
}

CHECK(punch_of_two_dkeys_is_invalid, "punch_dkeys takes one dkey, else -DER_INVAL")
{
    daos_key_t keys[2] = {key_of("one"), key_of("two")};

    FAILS(daos_obj_punch_dkeys(object(), DAOS_TX_NONE, 0, 2, keys, NULL), DER_INVAL);
}

CHECK(punch_of_an_akey_leaves_the_others, "a punch of an akey concerns that akey")
{
    put_value("dkey", "one", "value");
    put_value("dkey", "two", "stays");
    OK(punch_akey(0, "dkey", "one"));
    lacks("dkey", "one");
    holds("dkey", "two", "stays");
}

CHECK(punch_of_several_akeys_removes_each, "punch_akeys takes several akeys")
{
    daos_key_t akeys[2] = {key_of("one"), key_of("two")};

    put_value("dkey", "one", "value");
    put_value("dkey", "two", "value");
    put_value("dkey", "three", "stays");
    OK(daos_obj_punch_akeys(object(), DAOS_TX_NONE, 0, KEY("dkey"), 2, akeys, NULL));
    lacks("dkey", "one");
    lacks("dkey", "two");
    holds("dkey", "three", "stays");
}

CHECK(punch_of_the_last_akey_removes_the_dkey, "a dkey goes away with its last akey")
{
    put_value("dkey", "akey", "value");
    OK(punch_akey(0, "dkey", "akey"));
    FAILS(fetch(DAOS_COND_DKEY_FETCH, "dkey", "akey"), DER_NONEXIST);
}

CHECK(punch_of_an_absent_dkey_succeeds, "a punch without a condition does not ask whether the key exists")
{
    OK(punch_dkey(0, "absent"));
}

CHECK(conditional_punch_of_an_absent_dkey_fails, "COND_PUNCH of an absent key gives -DER_NONEXIST")
{
    put_value("other", "akey", "value");
    FAILS(punch_dkey(DAOS_COND_PUNCH, "absent"), DER_NONEXIST);
}

CHECK(conditional_punch_of_a_present_dkey_succeeds, "COND_PUNCH of a present key removes it")
{
    put_value("dkey", "akey", "value");
    OK(punch_dkey(DAOS_COND_PUNCH, "dkey"));
    lacks("dkey", "akey");
}

CHECK(conditional_punch_of_an_absent_akey_fails, "COND_PUNCH of an absent key gives -DER_NONEXIST")
{
    put_value("dkey", "akey", "value");
    FAILS(punch_akey(DAOS_COND_PUNCH, "dkey", "absent"), DER_NONEXIST);
}
