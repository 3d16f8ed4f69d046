/*
 * Objects: listing the extents of the records under an akey.
 */
#include "check.h"

SUBJECT(object_extent);

enum { EXTENTS_MAX = 64 };

/* What a listing told, in its order. */
static daos_recx_t extents[EXTENTS_MAX];
static daos_size_t record_size;

static void update(daos_handle_t object, uint64_t index, uint64_t count, daos_size_t size, const char *bytes)
{
    daos_key_t dkey = key_of("dkey");
    daos_recx_t recx = {.rx_idx = index, .rx_nr = count};
    daos_iod_t iod = {.iod_name = key_of("akey"), .iod_type = DAOS_IOD_ARRAY, .iod_size = size, .iod_nr = 1,
                      .iod_recxs = &recx};
    struct buffer buffer;

    buffer_of(&buffer, (void *)(uintptr_t)bytes, count * size);
    OK(daos_obj_update(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, size == 0 ? NULL : &buffer.list, NULL));
}

/* Lists the extents under two keys to the end, so many per call; returns their number. */
static size_t list_under(daos_handle_t object, daos_key_t dkey, daos_key_t akey, uint32_t per_call, bool ascending)
{
    daos_anchor_t anchor;
    size_t count = 0;
    unsigned int calls = 0;

    memset(&anchor, 0, sizeof(anchor));
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

static size_t list(daos_handle_t object, uint32_t per_call, bool ascending)
{
    return list_under(object, key_of("dkey"), key_of("akey"), per_call, ascending);
}

/* Five extents of two records of three bytes, with holes between them. */
static daos_handle_t with_five(void)
{
    daos_handle_t object = new_object();

    for (uint64_t i = 0; i < 5; i++)
        update(object, 10 * i, 2, 3, "aaabbb");
    return object;
}

CHECK(extents_are_listed_in_increasing_order, "incr_order true: by increasing index, with the size of a record")
{
    EQUAL(list(with_five(), 8, true), 5);
    EQUAL(record_size, 3);
    for (uint64_t i = 0; i < 5; i++) {
        EQUAL(extents[i].rx_idx, 10 * i);
        EQUAL(extents[i].rx_nr, 2);
    }
}

CHECK(extents_are_listed_in_decreasing_order, "incr_order false: by decreasing index")
{
    EQUAL(list(with_five(), 8, false), 5);
    EQUAL(record_size, 3);
    for (uint64_t i = 0; i < 5; i++) {
        EQUAL(extents[i].rx_idx, 40 - 10 * i);
        EQUAL(extents[i].rx_nr, 2);
    }
}

CHECK(extents_are_listed_in_several_calls, "the anchor says where the next call goes on, whatever the order")
{
    daos_handle_t object = with_five();

    for (uint32_t per_call = 1; per_call < 6; per_call++) {
        EQUAL(list(object, per_call, true), 5);
        EQUAL(extents[4].rx_idx, 40);
        EQUAL(list(object, per_call, false), 5);
        EQUAL(extents[4].rx_idx, 0);
    }
}

CHECK(removed_records_are_in_no_extent, "a listing of extents tells what a fetch would find")
{
    daos_handle_t object = new_object();

    update(object, 0, 10, 1, "0123456789");
    update(object, 3, 4, 0, NULL);
    EQUAL(list(object, 8, true), 2);
    EQUAL(extents[0].rx_idx, 0);
    EQUAL(extents[0].rx_nr, 3);
    EQUAL(extents[1].rx_idx, 7);
    EQUAL(extents[1].rx_nr, 3);
}

CHECK(absent_records_have_no_extents, "where no records are a listing returns 0, no extent and its end")
{
    daos_handle_t object = new_object();

    EQUAL(list(object, 8, true), 0);
    OK(update_single(object, DAOS_TX_NONE, 0, "dkey", "akey", "value", 5));
    EQUAL(list(object, 8, true), 0);
    EQUAL(list(object, 8, false), 0);
}

CHECK(a_listing_with_room_for_no_extent_is_invalid, "nr 0, or none, gives -DER_INVAL; so does a listing without a dkey")
{
    daos_handle_t object = with_five();
    daos_key_t dkey = key_of("dkey"), akey = key_of("akey");
    daos_anchor_t anchor = {0};
    daos_size_t size = 0;
    daos_recx_t recx;
    daos_epoch_range_t epr;
    uint32_t nr = 0;

    FAILS(daos_obj_list_recx(object, DAOS_TX_NONE, &dkey, &akey, &size, &nr, &recx, &epr, &anchor, true, NULL),
          DER_INVAL);
    FAILS(daos_obj_list_recx(object, DAOS_TX_NONE, &dkey, &akey, &size, NULL, &recx, &epr, &anchor, true, NULL),
          DER_INVAL);
    nr = 1;
    FAILS(daos_obj_list_recx(object, DAOS_TX_NONE, NULL, &akey, &size, &nr, &recx, &epr, &anchor, true, NULL),
          DER_INVAL);
}

CHECK(the_cells_of_an_array_are_extents_under_their_chunk, "the cells of chunk n lie under dkey n + 1 and akey \"0\"")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    daos_handle_t array;
    uint64_t number = 3;
    daos_key_t dkey;
    char bytes[24] = "aaaabbbbccccddddeeeeffff";

    OK(daos_array_create(container(), oid, DAOS_TX_NONE, 4, 8, &array, NULL));
    keep(KEPT_ARRAY, array);
    OK(write_range(array, DAOS_TX_NONE, 13, 6, bytes, sizeof(bytes)));
    d_iov_set(&dkey, &number, sizeof(number));
    EQUAL(list_under(open_object(oid, DAOS_OO_RO), dkey, key_of("0"), 8, true), 1);
    EQUAL(record_size, 4);
    EQUAL(extents[0].rx_idx, 0);
    EQUAL(extents[0].rx_nr, 3);
    number = 0;
    EQUAL(list_under(open_object(oid, DAOS_OO_RO), dkey, key_of("0"), 8, true), 0);
}
