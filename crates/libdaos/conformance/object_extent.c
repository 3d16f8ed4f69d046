/*
 * Objects: listing the extents of the records under an akey.
 */
#include "check.h"

SUBJECT(object_extent);

enum { EXTENTS_MAX = 64 };

/* What a listing told, in its order. */
static daos_recx_t extents[EXTENTS_MAX];
static daos_size_t record_size;

static void update(uint64_t index, uint64_t count, daos_size_t size, const char *bytes)
{
    daos_iod_t iod = RECORDS("akey", size, {index, count});
    d_sg_list_t *list = size == 0 ? NULL : BUFFER(bytes, count * size);

    OK(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, list, NULL));
}

/* Lists the extents under two keys to the end, so many per call; returns their number. */
static size_t list_under(daos_handle_t object, daos_key_t dkey, daos_key_t akey, uint32_t per_call, bool ascending)
{
    daos_anchor_t anchor = {0};
    size_t count = 0;
    unsigned int calls = 0;

    record_size = 0;
    while (!daos_anchor_is_eof(&anchor)) {
        daos_recx_t recxs[EXTENTS_MAX];
        daos_epoch_range_t eprs[EXTENTS_MAX];
        daos_size_t size = 0;
        uint32_t nr = per_call;

        OK(daos_obj_list_recx(object, DAOS_TX_NONE, &dkey, &akey, &size, &nr, recxs, eprs, &anchor, ascending, NULL));
        HOLDS(nr <= per_call);
        HOLDS(count + nr <= EXTENTS_MAX);
        HOLDS(++calls < 200);
        memcpy(extents + count, recxs, nr * sizeof(recxs[0]));
        count += nr;
        if (nr > 0)
            record_size = size;
    }
    return count;
}

static size_t list(uint32_t per_call, bool ascending)
{
    return list_under(object(), key_of("dkey"), key_of("akey"), per_call, ascending);
}

/* Five extents of two records of three bytes, with holes between them. */
static void put_five(void)
{
    for (uint64_t i = 0; i < 5; i++)
        update(10 * i, 2, 3, "aaabbb");
}

static void extent_is(size_t at, uint64_t index, uint64_t count)
{
    EQUAL(extents[at].rx_idx, index);
    EQUAL(extents[at].rx_nr, count);
}

CHECK(extents_are_listed_in_increasing_order, "incr_order true: by increasing index, with the size of a record")
{
    put_five();
    EQUAL(list(8, true), 5);
    EQUAL(record_size, 3);
    for (uint64_t i = 0; i < 5; i++)
        extent_is(i, 10 * i, 2);
}

CHECK(extents_are_listed_in_decreasing_order, "incr_order false: by decreasing index")
{
    put_five();
    EQUAL(list(8, false), 5);
    EQUAL(record_size, 3);
    for (uint64_t i = 0; i < 5; i++)
        extent_is(i, 40 - 10 * i, 2);
}

CHECK(extents_are_listed_in_several_calls, "the anchor says where the next call goes on, whatever the order")
{
    put_five();
    for (uint32_t per_call = 1; per_call < 6; per_call++) {
        EQUAL(list(per_call, true), 5);
        EQUAL(extents[4].rx_idx, 40);
        EQUAL(list(per_call, false), 5);
        EQUAL(extents[4].rx_idx, 0);
    }
}

CHECK(removed_records_are_in_no_extent, "a listing of extents tells what a fetch would find")
{
    update(0, 10, 1, "0123456789");
    update(3, 4, 0, NULL);
    EQUAL(list(8, true), 2);
    extent_is(0, 0, 3);
    extent_is(1, 7, 3);
}

CHECK(absent_records_have_no_extents, "where no records are a listing returns 0, no extent and its end")
{
    EQUAL(list(8, true), 0);
    OK(update_single(object(), DAOS_TX_NONE, 0, "dkey", "akey", "value", 5));
    EQUAL(list(8, true), 0);
    EQUAL(list(8, false), 0);
}

static int list_once(daos_key_t *dkey, uint32_t *nr)
{
    return daos_obj_list_recx(object(), DAOS_TX_NONE, dkey, KEY("akey"), IGNORED(daos_size_t), nr, IGNORED(daos_recx_t),
                              IGNORED(daos_epoch_range_t), IGNORED(daos_anchor_t), true, NULL);
}

CHECK(a_listing_with_room_for_no_extent_is_invalid, "nr 0, or none, gives -DER_INVAL; so does a listing without a dkey")
{
    put_five();
    FAILS(list_once(KEY("dkey"), &(uint32_t){0}), DER_INVAL);
    FAILS(list_once(KEY("dkey"), NULL), DER_INVAL);
    FAILS(list_once(NULL, &(uint32_t){1}), DER_INVAL);
}

CHECK(the_cells_of_an_array_are_extents_under_their_chunk, "the cells of chunk n lie under dkey n + 1 and akey \"0\"")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);

    OK(write_range(create_array(oid, 4, 8), DAOS_TX_NONE, 13, 6, "aaaabbbbccccddddeeeeffff", 24));
    EQUAL(list_under(open_object(oid, DAOS_OO_RO), *NUMBER_KEY(3), key_of("0"), 8, true), 1);
    EQUAL(record_size, 4);
    extent_is(0, 0, 3);
    EQUAL(list_under(open_object(oid, DAOS_OO_RO), *NUMBER_KEY(0), key_of("0"), 8, true), 0);
}
