/*
 * Objects: listing dkeys and akeys.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

SUBJECT(object_list);

enum { KEYS_MAX = 256, KEY_SIZE = 16 };

static char keys[KEYS_MAX][KEY_SIZE];

static int by_text(const void *left, const void *right)
{
    return strcmp(left, right);
}

/* Lists the dkeys, or the akeys of `dkey`, to the end and sorts them; returns their number. */
static size_t list(daos_handle_t object, const char *dkey, uint32_t per_call, size_t size)
{
    static daos_key_desc_t descriptions[KEYS_MAX];
    static char bytes[4096];
    daos_anchor_t anchor = {0};
    size_t count = 0;
    unsigned int calls = 0;

    while (!daos_anchor_is_eof(&anchor)) {
        uint32_t nr = per_call;
        const char *next = bytes;
        d_sg_list_t *list = BUFFER(bytes, size);

        if (dkey != NULL)
            OK(daos_obj_list_akey(object, DAOS_TX_NONE, KEY(dkey), &nr, descriptions, list, &anchor, NULL));
        else
            OK(daos_obj_list_dkey(object, DAOS_TX_NONE, &nr, descriptions, list, &anchor, NULL));
        HOLDS(nr <= per_call && count + nr <= KEYS_MAX);
        for (uint32_t i = 0; i < nr; i++) {
            HOLDS(descriptions[i].kd_key_len < KEY_SIZE);
            memset(keys[count], 0, KEY_SIZE);
            memcpy(keys[count++], next, descriptions[i].kd_key_len);
            next += descriptions[i].kd_key_len;
        }
        // A listing that never ends must fail, not hang.
        HOLDS(++calls < 10 * KEYS_MAX);
    }
    qsort(keys, count, KEY_SIZE, by_text);
    return count;
}

static void put_value(daos_handle_t object, const char *dkey, const char *akey)
{
    OK(update_single(object, DAOS_TX_NONE, 0, dkey, akey, "value", 5));
}

static daos_handle_t with_dkeys(unsigned int count)
{
    char key[KEY_SIZE];

    for (unsigned int i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "key-%03u", i);
        put_value(object(), key, "akey");
    }
    return object();
}

static void are_numbered(size_t found, size_t count)
{
    char key[32];

    EQUAL(found, count);
    for (size_t i = 0; i < count; i++) {
        snprintf(key, sizeof(key), "key-%03zu", i);
        TEXT(keys[i], key);
    }
}

CHECK(an_object_never_written_lists_no_dkeys, "a listing of an empty object ends with no key")
{
    EQUAL(list(new_object(), NULL, 8, 256), 0);
}

CHECK(every_dkey_is_listed_once, "a listing names every dkey")
{
    are_numbered(list(with_dkeys(50), NULL, 128, 4096), 50);
}

CHECK(dkeys_are_listed_in_several_calls, "the anchor carries a listing from ZERO to EOF")
{
    are_numbered(list(with_dkeys(50), NULL, 7, 4096), 50);
}

CHECK(dkeys_are_listed_through_a_small_buffer, "a call returns the keys that fit into the buffer")
{
    are_numbered(list(with_dkeys(50), NULL, 128, 64), 50);
}

CHECK(a_punched_dkey_is_not_listed, "a punched dkey is absent")
{
    put_value(object(), "gone", "akey");
    put_value(object(), "stays", "akey");
    OK(daos_obj_punch_dkeys(object(), DAOS_TX_NONE, 0, 1, KEY("gone"), NULL));
    EQUAL(list(object(), NULL, 8, 256), 1);
    TEXT(keys[0], "stays");
}

CHECK(a_punched_object_lists_no_dkeys, "a punched object holds nothing")
{
    daos_handle_t object = with_dkeys(5);

    OK(daos_obj_punch(object, DAOS_TX_NONE, 0, NULL));
    EQUAL(list(object, NULL, 8, 256), 0);
}

CHECK(every_akey_of_a_dkey_is_listed_once, "a listing names every akey of its dkey")
{
    char key[KEY_SIZE];

    for (unsigned int i = 0; i < 30; i++) {
        snprintf(key, sizeof(key), "key-%03u", i);
        put_value(object(), "dkey", key);
    }
    put_value(object(), "other", "elsewhere");
    are_numbered(list(object(), "dkey", 7, 4096), 30);
}

CHECK(akeys_of_an_absent_dkey_are_none, "a listing of an absent dkey ends with no key")
{
    put_value(object(), "other", "akey");
    EQUAL(list(object(), "absent", 8, 256), 0);
}

CHECK(a_punched_akey_is_not_listed, "a punched akey is absent")
{
    put_value(object(), "dkey", "gone");
    put_value(object(), "dkey", "stays");
    OK(daos_obj_punch_akeys(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, KEY("gone"), NULL));
    EQUAL(list(object(), "dkey", 8, 256), 1);
    TEXT(keys[0], "stays");
}

CHECK(the_keys_of_a_kv_are_its_dkeys, "a key of a KV is a dkey")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);

    put_text(open_kv(oid, DAOS_OO_RW), "key", "value");
    EQUAL(list(open_object(oid, DAOS_OO_RO), NULL, 8, 256), 1);
    TEXT(keys[0], "key");
}

CHECK(the_akey_of_a_kv_is_zero, "the value of a KV lies under the akey \"0\"")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_KV_HASHED);

    put_text(open_kv(oid, DAOS_OO_RW), "key", "value");
    EQUAL(list(open_object(oid, DAOS_OO_RO), "key", 8, 256), 1);
    TEXT(keys[0], "0");
}
