/*
 * Key-value objects: open, put, get, remove, conditions, destroy.
 */
#include "check.h"

#include <stdlib.h>

SUBJECT(kv);

static int put(daos_handle_t kv, uint64_t flags, const char *key, const char *value)
{
    return daos_kv_put(kv, DAOS_TX_NONE, flags, key, strlen(value), value, NULL);
}

static int get(uint64_t flags, const char *key)
{
    return daos_kv_get(kv(), DAOS_TX_NONE, flags, key, IGNORED(daos_size_t), NULL, NULL);
}

/* The size of a value, without its bytes. */
static void has_size(uint64_t flags, const char *key, daos_size_t expected)
{
    daos_size_t size = 0;

    OK(daos_kv_get(kv(), DAOS_TX_NONE, flags, key, &size, NULL, NULL));
    EQUAL(size, expected);
}

/* Gets a value of this size with so much room, over a buffer of 'x', of which so many bytes are then as expected. */
static void get_gives(const char *key, daos_size_t room, daos_size_t size, const char *expected, size_t bytes)
{
    char found[16];

    memset(found, 'x', sizeof(found));
    OK(daos_kv_get(kv(), DAOS_TX_NONE, 0, key, &room, found, NULL));
    EQUAL(room, size);
    BYTES(found, expected, bytes);
}

CHECK(open_of_an_object_that_was_never_written_succeeds, "kv_open is local and needs no existing object")
{
    daos_handle_t kv;

    OK(daos_kv_open(container(), new_oid(DAOS_OT_KV_HASHED), DAOS_OO_RW, &kv, NULL));
    OK(daos_kv_close(kv, NULL));
}

CHECK(open_for_reading_of_an_absent_object_succeeds, "kv_open with OO_RO never fails for a missing object")
{
    kv_lacks(open_kv(new_oid(DAOS_OT_KV_HASHED), DAOS_OO_RO), "absent");
}

#define OPENS(sentence, type)                                                                                          \
    CHECK(sentence, "kv_open accepts every object id of a key-value type")                                             \
    {                                                                                                                  \
        daos_handle_t kv = open_kv(new_oid(type), DAOS_OO_RW);                                                         \
                                                                                                                       \
        put_text(kv, "eight_by", "value");                                                                             \
        kv_holds(kv, "eight_by", "value");                                                                             \
    }
OPENS(a_hashed_kv_takes_values, DAOS_OT_KV_HASHED)
OPENS(a_lexical_kv_takes_values, DAOS_OT_KV_LEXICAL)
OPENS(a_uint64_kv_takes_values_under_keys_of_eight_bytes, DAOS_OT_KV_UINT64)

#define REFUSES(sentence, type)                                                                                        \
    CHECK(sentence, "kv_open needs an object id of a key-value type, else -DER_INVAL")                                 \
    {                                                                                                                  \
        daos_handle_t kv;                                                                                              \
                                                                                                                       \
        FAILS(daos_kv_open(container(), new_oid(type), DAOS_OO_RW, &kv, NULL), DER_INVAL);                             \
    }
REFUSES(open_refuses_an_array_id, DAOS_OT_ARRAY)
REFUSES(open_refuses_a_byte_array_id, DAOS_OT_ARRAY_BYTE)
REFUSES(open_refuses_an_array_id_with_attributes, DAOS_OT_ARRAY_ATTR)
REFUSES(open_refuses_a_multi_level_object_id, DAOS_OT_MULTI_HASHED)

CHECK(a_kv_handle_closes_with_the_close_of_objects, "programs close key-value handles with daos_obj_close")
{
    daos_handle_t kv;

    OK(daos_kv_open(container(), new_oid(DAOS_OT_KV_HASHED), DAOS_OO_RW, &kv, NULL));
    put_text(kv, "key", "value");
    OK(daos_obj_close(kv, NULL));
}

CHECK(get_returns_what_was_put, "get returns the bytes and the size of the value")
{
    put_text(kv(), "key", "the value");
    kv_holds(kv(), "key", "the value");
}

CHECK(put_replaces_a_value_by_a_shorter_one, "put replaces the whole value")
{
    put_text(kv(), "key", "a long value of many bytes");
    put_text(kv(), "key", "short");
    kv_holds(kv(), "key", "short");
}

CHECK(put_replaces_a_value_by_a_longer_one, "put replaces the whole value")
{
    put_text(kv(), "key", "short");
    put_text(kv(), "key", "a long value of many bytes");
    kv_holds(kv(), "key", "a long value of many bytes");
}

/* The rules of empty values are those that DAOS's own suite checks: src/tests/suite/daos_kv.c, kv_cond_ops. */

CHECK(put_of_size_zero_makes_a_present_key, "a put of size 0 makes a key of size 0, which COND_KEY_GET finds")
{
    char found[4] = "old";
    daos_size_t size = sizeof(found);

    OK(daos_kv_put(kv(), DAOS_TX_NONE, 0, "key", 0, NULL, NULL));
    OK(daos_kv_get(kv(), DAOS_TX_NONE, DAOS_COND_KEY_GET, "key", &size, found, NULL));
    EQUAL(size, 0);
    TEXT(found, "old");
    size = 9;
    OK(daos_kv_get(kv(), DAOS_TX_NONE, DAOS_COND_KEY_GET, "key", &size, NULL, NULL));
    EQUAL(size, 0);
}

CHECK(put_of_size_zero_replaces_a_value, "put replaces the whole value, also by one of size 0")
{
    put_text(kv(), "key", "value");
    OK(daos_kv_put(kv(), DAOS_TX_NONE, 0, "key", 0, NULL, NULL));
    has_size(DAOS_COND_KEY_GET, "key", 0);
    put_text(kv(), "key", "another");
    kv_holds(kv(), "key", "another");
}

CHECK(insert_of_a_key_with_an_empty_value_succeeds_once, "a key of size 0 is present for COND_KEY_INSERT: -DER_EXIST")
{
    OK(daos_kv_put(kv(), DAOS_TX_NONE, DAOS_COND_KEY_INSERT, "key", 0, NULL, NULL));
    FAILS(daos_kv_put(kv(), DAOS_TX_NONE, DAOS_COND_KEY_INSERT, "key", 0, NULL, NULL), DER_EXIST);
    FAILS(put(kv(), DAOS_COND_KEY_INSERT, "key", "value"), DER_EXIST);
}

CHECK(update_of_a_key_with_an_empty_value_succeeds, "a key of size 0 is present for COND_KEY_UPDATE")
{
    FAILS(daos_kv_put(kv(), DAOS_TX_NONE, DAOS_COND_KEY_UPDATE, "key", 0, NULL, NULL), DER_NONEXIST);
    OK(daos_kv_put(kv(), DAOS_TX_NONE, 0, "key", 0, NULL, NULL));
    OK(daos_kv_put(kv(), DAOS_TX_NONE, DAOS_COND_KEY_UPDATE, "key", 0, NULL, NULL));
    OK(put(kv(), DAOS_COND_KEY_UPDATE, "key", "value"));
    kv_holds(kv(), "key", "value");
}

CHECK(a_key_with_an_empty_value_is_removed_once, "a key of size 0 is present for COND_KEY_REMOVE, and then gone")
{
    OK(daos_kv_put(kv(), DAOS_TX_NONE, 0, "key", 0, NULL, NULL));
    OK(daos_kv_remove(kv(), DAOS_TX_NONE, DAOS_COND_KEY_REMOVE, "key", NULL));
    FAILS(daos_kv_remove(kv(), DAOS_TX_NONE, DAOS_COND_KEY_REMOVE, "key", NULL), DER_NONEXIST);
    FAILS(get(DAOS_COND_KEY_GET, "key"), DER_NONEXIST);
}

CHECK(get_into_a_buffer_of_no_bytes_gives_the_size, "get with *size 0 is a query of the size, with a buffer or without")
{
    put_text(kv(), "key", "value");
    get_gives("key", 0, 5, "x", 1);
}

CHECK(a_value_may_hold_zero_bytes, "values are bytes, not text")
{
    static const char value[] = {0, 1, 0, 2, 0};

    OK(daos_kv_put(kv(), DAOS_TX_NONE, 0, "key", sizeof(value), value, NULL));
    get_gives("key", sizeof(value), sizeof(value), value, sizeof(value));
}

static void round_trip(size_t length)
{
    unsigned char *value = malloc(length);
    unsigned char *found = calloc(1, length);
    daos_size_t size = length;

    for (size_t i = 0; i < length; i++)
        value[i] = (unsigned char)(i * 31 + 7);
    OK(daos_kv_put(kv(), DAOS_TX_NONE, 0, "key", length, value, NULL));
    OK(daos_kv_get(kv(), DAOS_TX_NONE, 0, "key", &size, found, NULL));
    EQUAL(size, length);
    BYTES(found, value, length);
    free(value);
    free(found);
}

#define ROUND_TRIP(sentence, length)                                                                                   \
    CHECK(sentence, "get returns the bytes and the size of the value")                                                 \
    {                                                                                                                  \
        round_trip(length);                                                                                            \
    }
ROUND_TRIP(a_value_of_one_byte_comes_back, 1)
ROUND_TRIP(a_value_of_4096_bytes_comes_back, 4096)
ROUND_TRIP(a_value_of_65537_bytes_comes_back, 65537)
ROUND_TRIP(a_value_of_one_mebibyte_comes_back, 1 << 20)

CHECK(get_of_a_missing_key_returns_size_zero, "a get of a missing key returns 0 and sets the size to 0")
{
    put_text(kv(), "other", "value");
    get_gives("missing", 8, 0, "", 0);
}

CHECK(get_from_an_object_never_written_returns_size_zero, "a get of a missing key returns 0 and sets the size to 0")
{
    kv_lacks(new_kv(), "missing");
}

CHECK(get_without_a_buffer_returns_the_size, "a get with a NULL buffer returns the size only")
{
    put_text(kv(), "key", "eleven char");
    has_size(0, "key", 11);
}

CHECK(get_into_a_small_buffer_names_the_size, "a buffer that is too small gives -DER_REC2BIG and the real size")
{
    char found[4];
    daos_size_t size = sizeof(found);

    put_text(kv(), "key", "eleven char");
    FAILS(daos_kv_get(kv(), DAOS_TX_NONE, 0, "key", &size, found, NULL), DER_REC2BIG);
    EQUAL(size, 11);
}

CHECK(get_into_a_buffer_of_the_exact_size_succeeds, "only a buffer that is too small gives -DER_REC2BIG")
{
    put_text(kv(), "key", "eleven char");
    get_gives("key", 11, 11, "eleven char", 11);
}

CHECK(get_into_a_larger_buffer_leaves_its_rest_alone, "get writes the bytes of the value and no others")
{
    put_text(kv(), "key", "four");
    get_gives("key", 16, 4, "fourxxxxxxxxxxxx", 16);
}

CHECK(get_without_a_size_is_invalid, "a NULL size pointer gives -DER_INVAL")
{
    FAILS(daos_kv_get(kv(), DAOS_TX_NONE, 0, "key", NULL, (char[8]){0}, NULL), DER_INVAL);
}

CHECK(get_with_the_condition_finds_a_present_key, "COND_KEY_GET on a present key changes nothing")
{
    put_text(kv(), "key", "value");
    has_size(DAOS_COND_KEY_GET, "key", 5);
}

CHECK(get_with_the_condition_refuses_a_missing_key, "COND_KEY_GET on a missing key gives -DER_NONEXIST")
{
    put_text(kv(), "other", "value");
    FAILS(get(DAOS_COND_KEY_GET, "missing"), DER_NONEXIST);
}

CHECK(get_with_the_condition_refuses_an_empty_object, "COND_KEY_GET on a missing key gives -DER_NONEXIST")
{
    FAILS(get(DAOS_COND_KEY_GET, "missing"), DER_NONEXIST);
}

CHECK(insert_of_a_new_key_succeeds, "COND_KEY_INSERT on a missing key puts the value")
{
    OK(put(kv(), DAOS_COND_KEY_INSERT, "key", "value"));
    kv_holds(kv(), "key", "value");
}

CHECK(insert_of_a_present_key_fails_and_keeps_the_value, "COND_KEY_INSERT on a present key gives -DER_EXIST")
{
    put_text(kv(), "key", "first");
    FAILS(put(kv(), DAOS_COND_KEY_INSERT, "key", "second"), DER_EXIST);
    kv_holds(kv(), "key", "first");
}

CHECK(insert_after_a_remove_succeeds, "a removed key is a missing key for COND_KEY_INSERT")
{
    put_text(kv(), "key", "first");
    OK(daos_kv_remove(kv(), DAOS_TX_NONE, 0, "key", NULL));
    OK(put(kv(), DAOS_COND_KEY_INSERT, "key", "second"));
    kv_holds(kv(), "key", "second");
}

CHECK(update_of_a_present_key_succeeds, "COND_KEY_UPDATE on a present key replaces the value")
{
    put_text(kv(), "key", "first");
    OK(put(kv(), DAOS_COND_KEY_UPDATE, "key", "second"));
    kv_holds(kv(), "key", "second");
}

CHECK(update_of_a_missing_key_fails_and_puts_nothing, "COND_KEY_UPDATE on a missing key gives -DER_NONEXIST")
{
    put_text(kv(), "other", "value");
    FAILS(put(kv(), DAOS_COND_KEY_UPDATE, "key", "value"), DER_NONEXIST);
    kv_lacks(kv(), "key");
}

CHECK(update_of_an_empty_object_fails, "COND_KEY_UPDATE on a missing key gives -DER_NONEXIST")
{
    FAILS(put(new_kv(), DAOS_COND_KEY_UPDATE, "key", "value"), DER_NONEXIST);
}

CHECK(insert_and_update_together_are_invalid, "conditions that contradict each other give -DER_INVAL")
{
    FAILS(put(new_kv(), DAOS_COND_KEY_INSERT | DAOS_COND_KEY_UPDATE, "key", "value"), DER_INVAL);
}

CHECK(remove_takes_the_key_away, "after a remove the key is missing")
{
    put_text(kv(), "key", "value");
    OK(daos_kv_remove(kv(), DAOS_TX_NONE, 0, "key", NULL));
    kv_lacks(kv(), "key");
}

CHECK(remove_leaves_other_keys_alone, "a remove concerns one key")
{
    put_text(kv(), "key", "value");
    put_text(kv(), "other", "stays");
    OK(daos_kv_remove(kv(), DAOS_TX_NONE, 0, "key", NULL));
    kv_holds(kv(), "other", "stays");
}

CHECK(remove_of_a_missing_key_succeeds, "a remove of a missing key returns 0")
{
    put_text(kv(), "other", "value");
    OK(daos_kv_remove(kv(), DAOS_TX_NONE, 0, "missing", NULL));
}

CHECK(remove_with_the_condition_takes_a_present_key_away, "COND_KEY_REMOVE on a present key removes it")
{
    put_text(kv(), "key", "value");
    OK(daos_kv_remove(kv(), DAOS_TX_NONE, DAOS_COND_KEY_REMOVE, "key", NULL));
    kv_lacks(kv(), "key");
}

CHECK(remove_with_the_condition_refuses_a_missing_key, "COND_KEY_REMOVE on a missing key gives -DER_NONEXIST")
{
    put_text(kv(), "other", "value");
    FAILS(daos_kv_remove(kv(), DAOS_TX_NONE, DAOS_COND_KEY_REMOVE, "missing", NULL), DER_NONEXIST);
}

CHECK(an_empty_key_is_invalid_for_put, "empty keys give -DER_INVAL")
{
    FAILS(put(new_kv(), 0, "", "value"), DER_INVAL);
}

CHECK(a_uint64_key_must_have_eight_bytes, "keys of KV_UINT64 have exactly 8 bytes, else -DER_INVAL")
{
    FAILS(put(open_kv(new_oid(DAOS_OT_KV_UINT64), DAOS_OO_RW), 0, "seven_b", "value"), DER_INVAL);
}

CHECK(keys_with_slashes_and_dots_are_plain_keys, "a key is bytes: no character is special")
{
    put_text(kv(), "../a/b", "one");
    put_text(kv(), ".", "two");
    put_text(kv(), "a b\n\x01\xff", "three");
    kv_holds(kv(), "../a/b", "one");
    kv_holds(kv(), ".", "two");
    kv_holds(kv(), "a b\n\x01\xff", "three");
}

CHECK(keys_differ_by_case, "a key is bytes: upper and lower case differ")
{
    put_text(kv(), "Key", "upper");
    put_text(kv(), "key", "lower");
    kv_holds(kv(), "Key", "upper");
    kv_holds(kv(), "key", "lower");
}

CHECK(a_key_that_begins_like_another_is_another_key, "keys are compared in full")
{
    put_text(kv(), "prefix", "one");
    put_text(kv(), "prefix-more", "two");
    kv_holds(kv(), "prefix", "one");
    kv_holds(kv(), "prefix-more", "two");
}

CHECK(two_handles_of_one_object_see_the_same_values, "a handle is a view of the stored object")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);
    daos_handle_t writer = open_kv(oid, DAOS_OO_RW);
    daos_handle_t reader = open_kv(oid, DAOS_OO_RO);

    put_text(writer, "key", "first");
    kv_holds(reader, "key", "first");
    put_text(writer, "key", "second");
    kv_holds(reader, "key", "second");
}

CHECK(two_objects_have_separate_keys, "objects with different ids share nothing")
{
    daos_handle_t one = new_kv();
    daos_handle_t other = new_kv();

    put_text(one, "key", "one");
    kv_lacks(other, "key");
}

CHECK(a_value_is_stored_under_akey_zero_of_its_dkey, "a key is a dkey, its value a single value under the akey \"0\"")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);

    put_text(open_kv(oid, DAOS_OO_RW), "key", "value");
    single_holds(open_object(oid, DAOS_OO_RO), "key", "0", "value");
}

CHECK(a_single_value_under_akey_zero_is_a_kv_value, "a key is a dkey, its value a single value under the akey \"0\"")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);

    OK(update_single(open_object(oid, DAOS_OO_RW), DAOS_TX_NONE, 0, "key", "0", "value", 5));
    kv_holds(open_kv(oid, DAOS_OO_RO), "key", "value");
}

CHECK(destroy_removes_every_key, "destroy is a punch of the object")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);
    daos_handle_t kv = open_kv(oid, DAOS_OO_RW);

    put_text(kv, "one", "1");
    put_text(kv, "two", "2");
    OK(daos_kv_destroy(kv, DAOS_TX_NONE, NULL));
    kv_lacks(open_kv(oid, DAOS_OO_RO), "one");
    kv_lacks(open_kv(oid, DAOS_OO_RO), "two");
}

CHECK(the_handle_of_a_destroyed_object_still_closes, "after a destroy the handle must still be closed")
{
    put_text(kv(), "key", "value");
    OK(daos_kv_destroy(kv(), DAOS_TX_NONE, NULL));
    closed(kv());
}

CHECK(a_destroyed_object_may_be_written_again, "objects need no creation: a put brings the object back")
{
    put_text(kv(), "old", "value");
    OK(daos_kv_destroy(kv(), DAOS_TX_NONE, NULL));
    put_text(kv(), "new", "value");
    kv_holds(kv(), "new", "value");
    kv_lacks(kv(), "old");
}
