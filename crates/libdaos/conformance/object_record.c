/*
 * Objects: arrays of records under an akey, and the queries of keys and extents.
 */
#include "check.h"

SUBJECT(object_record);

static int update(const char *dkey, uint64_t index, uint64_t count, daos_size_t record_size, const char *bytes)
{
    daos_iod_t iod = RECORDS("akey", record_size, {index, count});
    d_sg_list_t *list = record_size == 0 ? NULL : BUFFER(bytes, count * record_size);

    return daos_obj_update(object(), DAOS_TX_NONE, 0, KEY(dkey), 1, &iod, list, NULL);
}

/* Fetches over a buffer of 'x', which is then as expected; returns the record size that was found. */
static daos_size_t finds(const char *dkey, uint64_t index, uint64_t count, daos_size_t size, const char *expected)
{
    daos_iod_t iod = RECORDS("akey", size, {index, count});
    char found[32];

    memset(found, 'x', sizeof(found));
    OK(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY(dkey), 1, &iod, BUFFER(found, count * size), NULL, NULL));
    BYTES(found, expected, count * size);
    return iod.iod_size;
}

CHECK(records_come_back, "a fetch returns the records that were updated")
{
    OK(update("dkey", 5, 10, 1, "0123456789"));
    EQUAL(finds("dkey", 5, 10, 1, "0123456789"), 1);
}

CHECK(records_of_four_bytes_come_back, "iod_size is the size of a record")
{
    OK(update("dkey", 100, 3, 4, "aaaabbbbcccc"));
    EQUAL(finds("dkey", 100, 3, 4, "aaaabbbbcccc"), 4);
}

CHECK(a_part_of_the_records_comes_back, "a fetch takes any extent of records")
{
    OK(update("dkey", 0, 10, 1, "0123456789"));
    finds("dkey", 3, 4, 1, "3456");
}

CHECK(an_update_replaces_the_records_of_its_extent, "an update changes the records of its extents only")
{
    OK(update("dkey", 0, 10, 1, "0123456789"));
    OK(update("dkey", 3, 4, 1, "abcd"));
    finds("dkey", 0, 10, 1, "012abcd789");
}

CHECK(records_shorter_than_their_buffer_are_stored, "only a list of buffers smaller than the records is refused")
{
    daos_iod_t iod = RECORDS("akey", 1, {0, 5});

    OK(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, BUFFER("0123456789", 10), NULL));
    EQUAL(finds("dkey", 0, 6, 1, "01234x"), 1);
}

CHECK(records_longer_than_their_buffer_are_refused, "records that take more than the list of buffers has give -DER_REC2BIG")
{
    daos_iod_t iod = RECORDS("akey", 1, {0, 5});

    FAILS(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, BUFFER("012", 3), NULL), DER_REC2BIG);
    EQUAL(finds("dkey", 0, 5, 1, "xxxxx"), 0);
}

CHECK(an_update_of_records_without_buffers_is_invalid, "an update with iod_size above 0 and no scatter list gives -DER_INVAL")
{
    daos_iod_t iod = RECORDS("akey", 1, {0, 5});

    FAILS(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, NULL, NULL), DER_INVAL);
}

CHECK(a_hole_between_records_leaves_the_buffer_alone, "records that do not exist leave the buffer untouched")
{
    OK(update("dkey", 0, 2, 1, "ab"));
    OK(update("dkey", 4, 2, 1, "cd"));
    finds("dkey", 0, 6, 1, "abxxcd");
}

CHECK(records_of_two_dkeys_are_separate, "records are named by dkey, akey and index")
{
    OK(update("one", 0, 2, 1, "ab"));
    OK(update("two", 0, 2, 1, "cd"));
    finds("one", 0, 2, 1, "ab");
}

CHECK(an_update_of_record_size_zero_removes_records, "an update with iod_size 0 is a punch of the extent")
{
    OK(update("dkey", 0, 10, 1, "0123456789"));
    OK(update("dkey", 3, 4, 0, NULL));
    finds("dkey", 0, 10, 1, "012xxxx789");
}

CHECK(records_that_were_all_removed_have_size_zero, "a fetch of what is not there returns 0 and iod_size 0")
{
    OK(update("dkey", 0, 4, 1, "0123"));
    OK(update("dkey", 0, 4, 0, NULL));
    EQUAL(finds("dkey", 0, 4, 1, "xxxx"), 0);
}

static void fetch_map(daos_iom_t *map)
{
    daos_iod_t iod = RECORDS("akey", 2, {0, 12});
    char found[24];

    OK(update("dkey", 2, 3, 2, "aabbcc"));
    OK(update("dkey", 9, 5, 2, "ddeeffgghh"));
    OK(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, BUFFER(found, sizeof(found)), map, NULL));
}

CHECK(a_map_tells_the_lowest_and_the_highest_records, "iom_recx_lo and iom_recx_hi are the outer extents that exist")
{
    daos_iom_t map = {.iom_nr = 0};

    fetch_map(&map);
    EQUAL(map.iom_type, DAOS_IOD_ARRAY);
    EQUAL(map.iom_size, 2);
    EQUAL(map.iom_recx_lo.rx_idx, 2);
    EQUAL(map.iom_recx_lo.rx_nr, 3);
    EQUAL(map.iom_recx_hi.rx_idx, 9);
    EQUAL(map.iom_recx_hi.rx_nr, 3);
}

CHECK(a_detailed_map_tells_all_records, "DAOS_IOMF_DETAIL: iom_recxs are the extents that exist, iom_nr_out their number")
{
    daos_recx_t recxs[4] = {{0}};
    daos_iom_t map = {.iom_nr = 4, .iom_flags = DAOS_IOMF_DETAIL, .iom_recxs = recxs};

    fetch_map(&map);
    EQUAL(map.iom_nr_out, 2);
    EQUAL(recxs[0].rx_idx, 2);
    EQUAL(recxs[0].rx_nr, 3);
    EQUAL(recxs[1].rx_idx, 9);
    EQUAL(recxs[1].rx_nr, 3);
}

CHECK(records_at_a_large_index_come_back, "an index has 63 bits")
{
    OK(update("dkey", 1ull << 50, 2, 1, "ab"));
    finds("dkey", 1ull << 50, 2, 1, "ab");
}

CHECK(fetch_of_absent_records_has_size_zero, "a fetch of what is not there returns 0 and iod_size 0")
{
    EQUAL(finds("dkey", 0, 4, 1, "xxxx"), 0);
}

CHECK(several_extents_take_the_bytes_in_their_order, "the bytes fill the extents one after another")
{
    daos_iod_t iod = RECORDS("akey", 1, {10, 3}, {20, 2});
    char found[5] = {0};

    OK(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, BUFFER("abcde", 5), NULL));
    OK(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, BUFFER(found, 5), NULL, NULL));
    BYTES(found, "abcde", 5);
    finds("dkey", 20, 2, 1, "de");
}

CHECK(records_make_no_object_but_their_own, "a table of a snapshot's objects names those that programs wrote")
{
    daos_epoch_t epoch = 0;
    daos_obj_id_t ids[8];
    daos_anchor_t anchor = {0};
    daos_handle_t table;
    uint32_t count = 8;

    OK(update("dkey", 0, 3, 4, "aaaabbbbcccc"));
    OK(daos_cont_create_snap_opt(container(), &epoch, NULL, DAOS_SNAP_OPT_CR | DAOS_SNAP_OPT_OIT, NULL));
    OK(daos_oit_open(container(), epoch, &table, NULL));
    keep(KEPT_OIT, table);
    OK(daos_oit_list(table, ids, &count, &anchor, NULL));
    EQUAL(count, 1);
}

/* Puts records under integer dkeys, and queries them. */
static uint64_t queried_dkey(uint64_t flags, daos_recx_t *recx)
{
    static const uint64_t dkeys[] = {7, 2, 300, 41};
    daos_handle_t object = open_object(new_oid(DAOS_OT_DKEY_UINT64), DAOS_OO_RW);
    uint64_t number = UINT64_MAX;
    daos_key_t dkey = iov_of(&number, sizeof(number));

    for (size_t i = 0; i < 4; i++) {
        daos_iod_t iod = RECORDS("akey", 1, {10 * dkeys[i], 3});

        OK(daos_obj_update(object, DAOS_TX_NONE, 0, NUMBER_KEY(dkeys[i]), 1, &iod, BUFFER("abc", 3), NULL));
    }
    OK(daos_obj_query_key(object, DAOS_TX_NONE, flags, &dkey, KEY("akey"), recx, NULL));
    return number;
}

CHECK(the_highest_dkey_is_found, "query_key with GET_MAX and GET_DKEY returns the highest integer dkey")
{
    EQUAL(queried_dkey(DAOS_GET_MAX | DAOS_GET_DKEY, IGNORED(daos_recx_t)), 300);
}

CHECK(the_lowest_dkey_is_found, "query_key with GET_MIN and GET_DKEY returns the lowest integer dkey")
{
    EQUAL(queried_dkey(DAOS_GET_MIN | DAOS_GET_DKEY, IGNORED(daos_recx_t)), 2);
}

CHECK(the_highest_records_of_the_highest_dkey_are_found, "query_key with GET_RECX returns its extent")
{
    daos_recx_t recx = {0};

    EQUAL(queried_dkey(DAOS_GET_MAX | DAOS_GET_DKEY | DAOS_GET_RECX, &recx), 300);
    EQUAL(recx.rx_idx + recx.rx_nr, 3003);
}

#define MIXED "an update that mixes a single value and records under an akey gives -DER_NO_PERM and changes nothing"

CHECK(records_do_not_replace_a_single_value, MIXED)
{
    OK(update_single(object(), DAOS_TX_NONE, 0, "dkey", "akey", "value", 5));
    FAILS(update("dkey", 0, 3, 1, "abc"), DER_NO_PERM);
    single_holds(object(), "dkey", "akey", "value");
}

CHECK(a_single_value_does_not_replace_records, MIXED)
{
    OK(update("dkey", 0, 3, 1, "abc"));
    FAILS(update_single(object(), DAOS_TX_NONE, 0, "dkey", "akey", "value", 5), DER_NO_PERM);
    EQUAL(finds("dkey", 0, 3, 1, "abc"), 1);
}

CHECK(a_fetch_of_records_does_not_find_a_single_value, "a fetch of the other kind finds nothing: 0 and iod_size 0")
{
    OK(update_single(object(), DAOS_TX_NONE, 0, "dkey", "akey", "value", 5));
    EQUAL(finds("dkey", 0, 3, 1, "xxx"), 0);
}

CHECK(a_fetch_of_a_single_value_does_not_find_records,
      "a fetch of the other kind finds nothing: -DER_NONEXIST under COND_AKEY_FETCH")
{
    char found[5];
    daos_size_t size = 5;

    OK(update("dkey", 0, 3, 1, "abc"));
    single_lacks(object(), "dkey", "akey");
    FAILS(fetch_single(object(), DAOS_TX_NONE, DAOS_COND_AKEY_FETCH, "dkey", "akey", found, sizeof(found), &size),
          DER_NONEXIST);
}

/* Fetches records from 0 on, of `*size` bytes each; returns the status, and the size that was told. */
static int fetch_sized(uint64_t count, daos_size_t *size, char *found, size_t room)
{
    daos_iod_t iod = RECORDS("akey", *size, {0, count});

    memset(found, 'x', room);
    int status = daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, BUFFER(found, room), NULL, NULL);
    *size = iod.iod_size;
    return status;
}

CHECK(a_fetch_tells_the_size_of_records_whatever_size_was_asked_for,
      "iod_size of a fetch is only compared with the buffers: the size that is stored counts, and is returned")
{
    daos_size_t size = 2;
    char found[8];

    OK(update("dkey", 0, 2, 4, "aaaabbbb"));
    OK(fetch_sized(2, &size, found, sizeof(found)));
    EQUAL(size, 4);
    BYTES(found, "aaaabbbb", 8);
}

CHECK(a_fetch_into_too_small_buffers_says_so, "-DER_REC2BIG where iod_size, or what is stored, exceeds the buffers")
{
    daos_size_t size = 5;
    char found[8];

    OK(update("dkey", 0, 2, 4, "aaaabbbb"));
    FAILS(fetch_sized(2, &size, found, sizeof(found)), DER_REC2BIG);
    size = 1;
    FAILS(fetch_sized(2, &size, found, 4), DER_REC2BIG);
}

CHECK(records_that_are_not_there_need_no_room, "holes behind the last record of a fetch take no buffer")
{
    daos_size_t size = DAOS_REC_ANY;
    char found[8];

    OK(update("dkey", 0, 2, 4, "aaaabbbb"));
    OK(fetch_sized(100, &size, found, sizeof(found)));
    EQUAL(size, 4);
    BYTES(found, "aaaabbbb", 8);
}

CHECK(a_fetch_tells_how_many_buffers_it_filled, "sg_nr_out counts the buffers up to the last record, holes included")
{
    daos_iod_t iod = RECORDS("akey", 1, {0, 12});
    char bytes[12];
    d_sg_list_t *list = BUFFERS(iov_of(bytes, 4), iov_of(bytes + 4, 4), iov_of(bytes + 8, 4));

    OK(update("dkey", 5, 2, 1, "ab"));
    OK(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, list, NULL, NULL));
    EQUAL(list->sg_nr_out, 2);
    EQUAL(list->sg_iovs[0].iov_len, 4);
    EQUAL(list->sg_iovs[1].iov_len, 3);
}

CHECK(extents_that_overlap_are_invalid, "extents of one description that overlap give -DER_INVAL")
{
    daos_iod_t iod = RECORDS("akey", 1, {0, 3}, {2, 2});
    d_sg_list_t *list = BUFFER((char[5]){"abcde"}, 5);

    FAILS(daos_obj_update(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, list, NULL), DER_INVAL);
    FAILS(daos_obj_fetch(object(), DAOS_TX_NONE, 0, KEY("dkey"), 1, &iod, list, NULL, NULL), DER_INVAL);
}

CHECK(an_index_has_63_bits, "bit 63 of an index is reserved: -DER_INVAL")
{
    OK(update("dkey", INT64_MAX - 1, 1, 1, "a"));
    EQUAL(finds("dkey", INT64_MAX - 1, 1, 1, "a"), 1);
    FAILS(update("dkey", 1ull << 63, 1, 1, "a"), DER_INVAL);
    FAILS(update("dkey", 1ull << 63, 1, 0, NULL), DER_INVAL);
}
