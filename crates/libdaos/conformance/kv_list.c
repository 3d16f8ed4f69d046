/*
 * Listing the keys of key-value objects: packing, anchors, order, limits.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

SUBJECT(kv_list);

enum { KEYS_MAX = 512, KEY_SIZE = 16, BUFFER_MAX = 16384 };

/* The keys that a listing has returned so far, in the order in which they came. */
static struct listing {
    char keys[KEYS_MAX][KEY_SIZE];
    uint32_t count;
    uint32_t calls;
} listing;

/* What the last call of a listing gave. */
static daos_key_desc_t descriptions[KEYS_MAX];
static char bytes[BUFFER_MAX];

static int list_once(uint32_t *nr, size_t size, daos_anchor_t *anchor)
{
    return daos_kv_list(kv(), DAOS_TX_NONE, nr, descriptions, BUFFER(bytes, size), anchor, NULL);
}

static void unpack(uint32_t nr)
{
    const char *next = bytes;

    for (uint32_t i = 0; i < nr; i++) {
        size_t length = descriptions[i].kd_key_len;

        HOLDS(listing.count < KEYS_MAX);
        HOLDS(length > 0 && length < KEY_SIZE);
        memcpy(listing.keys[listing.count], next, length);
        listing.keys[listing.count++][length] = '\0';
        next += length;
    }
}

/* Lists to the end, with room for `per_call` keys and `size` bytes in each call. */
static void list_all(daos_handle_t kv, uint32_t per_call, size_t size)
{
    daos_anchor_t anchor = {0};

    memset(&listing, 0, sizeof(listing));
    while (!daos_anchor_is_eof(&anchor)) {
        uint32_t nr = per_call;

        OK(daos_kv_list(kv, DAOS_TX_NONE, &nr, descriptions, BUFFER(bytes, size), &anchor, NULL));
        HOLDS(nr <= per_call);
        unpack(nr);
        // A listing that never ends must fail, not hang.
        HOLDS(++listing.calls < 10 * KEYS_MAX);
    }
}

static void put_numbered(daos_handle_t kv, unsigned int count)
{
    char key[KEY_SIZE];

    for (unsigned int i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "key-%04u", i);
        put_text(kv, key, "value");
    }
}

static int by_text(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* Every key that `put_numbered` put, once each, in any order. */
static void has_numbered(unsigned int count)
{
    char key[KEY_SIZE];

    EQUAL(listing.count, count);
    qsort(listing.keys, listing.count, KEY_SIZE, by_text);
    for (unsigned int i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "key-%04u", i);
        TEXT(listing.keys[i], key);
    }
}

/* Puts these keys into an object. */
static void put_all(daos_handle_t kv, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_text(kv, keys[i], "value");
}

/* The listing has these keys, in their order. */
static void has(const char *const *keys, size_t count)
{
    EQUAL(listing.count, count);
    for (size_t i = 0; i < count; i++)
        TEXT(listing.keys[i], keys[i]);
}

#define KEYS(...) (const char *const[]){__VA_ARGS__}, COUNT(const char *, __VA_ARGS__)

CHECK(an_object_never_written_lists_no_keys, "a listing of an empty object ends with no key")
{
    list_all(new_kv(), 8, 256);
    EQUAL(listing.count, 0);
}

CHECK(a_single_key_is_listed, "a listing names every key")
{
    put_text(kv(), "alone", "value");
    list_all(kv(), 8, 256);
    has(KEYS("alone"));
}

#define NUMBERED(sentence, rule, count, per_call, size, calls_min)                                                     \
    CHECK(sentence, rule)                                                                                              \
    {                                                                                                                  \
        put_numbered(kv(), count);                                                                                     \
        list_all(kv(), per_call, size);                                                                                \
        has_numbered(count);                                                                                           \
        HOLDS(listing.calls >= calls_min);                                                                             \
    }
NUMBERED(a_listing_in_one_call_names_every_key_once, "a listing names every key",
         40, 128, 4096, 1)
NUMBERED(a_listing_in_many_calls_names_every_key_once, "the anchor carries a listing from ZERO to EOF",
         40, 7, 4096, 6)
NUMBERED(a_listing_of_one_key_per_call_names_every_key_once, "the anchor carries a listing from ZERO to EOF",
         10, 1, 4096, 10)
NUMBERED(a_small_buffer_ends_a_call_early_and_loses_no_key, "a call returns the keys that fit into the buffer",
         40, 128, 64, 5)
NUMBERED(a_listing_of_500_keys_names_every_key_once, "the anchor carries a listing from ZERO to EOF",
         500, 64, 1024, 8)

CHECK(keys_of_different_lengths_are_packed_back_to_back, "keys lie back to back, their lengths in the descriptions")
{
    put_all(kv(), KEYS("a", "bcd", "efghijk"));
    list_all(kv(), 8, 256);
    qsort(listing.keys, listing.count, KEY_SIZE, by_text);
    has(KEYS("a", "bcd", "efghijk"));
}

CHECK(a_listing_of_hashed_keys_has_the_same_order_twice, "keys of KV_HASHED come in the order of their hashes")
{
    static struct listing first;

    put_numbered(kv(), 40);
    list_all(kv(), 128, 4096);
    first = listing;
    list_all(kv(), 5, 4096);
    EQUAL(listing.count, first.count);
    for (uint32_t i = 0; i < first.count; i++)
        TEXT(listing.keys[i], first.keys[i]);
}

CHECK(lexical_keys_are_listed_in_order, "keys of KV_LEXICAL come in the order of their bytes")
{
    daos_handle_t kv = open_kv(new_oid(DAOS_OT_KV_LEXICAL), DAOS_OO_RW);

    put_all(kv, KEYS("pear", "apple", "quince", "banana"));
    list_all(kv, 3, 256);
    has(KEYS("apple", "banana", "pear", "quince"));
}

CHECK(uint64_keys_are_listed_in_numeric_order, "keys of KV_UINT64 come in the order of their numbers")
{
    daos_handle_t kv = open_kv(new_oid(DAOS_OT_KV_UINT64), DAOS_OO_RW);

    // As little-endian numbers the last byte weighs most, so this order differs from the order of the bytes.
    put_all(kv, KEYS("11111113", "31111111", "11111112"));
    list_all(kv, 8, 256);
    has(KEYS("31111111", "11111112", "11111113"));
}

CHECK(a_removed_key_is_not_listed, "after a remove the key is missing")
{
    put_text(kv(), "gone", "value");
    put_text(kv(), "stays", "value");
    OK(daos_kv_remove(kv(), DAOS_TX_NONE, 0, "gone", NULL));
    list_all(kv(), 8, 256);
    has(KEYS("stays"));
}

CHECK(a_key_put_with_size_zero_is_listed, "a put of size 0 makes a present key (kv_cond_ops of DAOS's suite)")
{
    OK(daos_kv_put(kv(), DAOS_TX_NONE, 0, "empty", 0, NULL, NULL));
    list_all(kv(), 8, 256);
    has(KEYS("empty"));
}

CHECK(a_key_put_twice_is_listed_once, "a listing names every key once")
{
    put_text(kv(), "key", "first");
    put_text(kv(), "key", "second");
    list_all(kv(), 8, 256);
    EQUAL(listing.count, 1);
}

CHECK(a_destroyed_object_lists_no_keys, "destroy is a punch of the object")
{
    put_numbered(kv(), 5);
    OK(daos_kv_destroy(kv(), DAOS_TX_NONE, NULL));
    list_all(kv(), 8, 256);
    EQUAL(listing.count, 0);
}

CHECK(a_read_only_handle_lists, "a listing needs only the right to read")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);

    put_numbered(open_kv(oid, DAOS_OO_RW), 5);
    list_all(open_kv(oid, DAOS_OO_RO), 8, 256);
    has_numbered(5);
}

CHECK(a_second_listing_starts_at_the_beginning, "a zeroed anchor starts a listing anew")
{
    put_numbered(kv(), 9);
    list_all(kv(), 4, 256);
    list_all(kv(), 4, 256);
    has_numbered(9);
}

CHECK(two_listings_of_one_handle_do_not_disturb_each_other, "the state of a listing is in its anchor alone")
{
    daos_anchor_t first = {0}, second = {0};
    char one[64];

    put_numbered(kv(), 12);
    for (int i = 0; i < 3; i++) {
        uint32_t first_nr = 2, second_nr = 2;

        OK(list_once(&first_nr, sizeof(one), &first));
        memcpy(one, bytes, sizeof(one));
        OK(list_once(&second_nr, sizeof(one), &second));
        EQUAL(second_nr, first_nr);
        BYTES(bytes, one, 8 * (size_t)first_nr);
    }
}

CHECK(an_anchor_set_by_the_macro_of_the_header_starts_a_listing, "daos_anchor_init makes an anchor of type ZERO")
{
    daos_anchor_t anchor;
    uint32_t nr = 4;

    put_text(kv(), "key", "value");
    memset(&anchor, 0xff, sizeof(anchor));
    OK(daos_anchor_init(&anchor, 0));
    HOLDS(!daos_anchor_is_eof(&anchor));
    OK(list_once(&nr, 64, &anchor));
    EQUAL(nr, 1);
}

CHECK(a_first_key_that_does_not_fit_is_too_big, "a first key that does not fit gives -DER_KEY2BIG")
{
    uint32_t nr = 4;

    memset(descriptions, 0, sizeof(descriptions));
    put_text(kv(), "a-long-key", "value");
    FAILS(list_once(&nr, 4, IGNORED(daos_anchor_t)), DER_KEY2BIG);
    EQUAL(descriptions[0].kd_key_len, 10);
}

CHECK(a_listing_goes_on_after_a_key_that_did_not_fit, "after -DER_KEY2BIG a larger buffer gets the key")
{
    daos_anchor_t anchor = {0};
    uint32_t nr = 4;

    put_text(kv(), "a-long-key", "value");
    FAILS(list_once(&nr, 4, &anchor), DER_KEY2BIG);
    nr = 4;
    OK(list_once(&nr, 64, &anchor));
    EQUAL(nr, 1);
    BYTES(bytes, "a-long-key", 10);
}

CHECK(a_listing_without_a_count_is_invalid, "a NULL count gives -DER_INVAL")
{
    FAILS(list_once(NULL, 64, IGNORED(daos_anchor_t)), DER_INVAL);
}

CHECK(a_listing_with_room_for_no_key_is_invalid, "a count of 0 gives -DER_INVAL")
{
    FAILS(list_once(&(uint32_t){0}, 64, IGNORED(daos_anchor_t)), DER_INVAL);
}
