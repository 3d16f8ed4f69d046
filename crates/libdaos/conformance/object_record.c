/*
 * Objects: arrays of records under an akey, and the queries of keys and extents.
 */
#include "check.h"

SUBJECT(object_record);

static daos_iod_t records(const char *akey, daos_size_t size, daos_recx_t *recx)
{
    daos_iod_t iod = {.iod_name = key_of(akey), .iod_type = DAOS_IOD_ARRAY, .iod_size = size, .iod_nr = 1,
                      .iod_recxs = recx};

    return iod;
}

static int update(daos_handle_t object, const char *dkey, uint64_t index, uint64_t count, daos_size_t record_size,
                  const char *bytes)
{
    daos_key_t key = key_of(dkey);
    daos_recx_t recx = {.rx_idx = index, .rx_nr = count};
    daos_iod_t iod = records("akey", record_size, &recx);
    struct buffer buffer;

    buffer_of(&buffer, (void *)(uintptr_t)bytes, count * record_size);
    return daos_obj_update(object, DAOS_TX_NONE, 0, &key, 1, &iod, record_size == 0 ? NULL : &buffer.list, NULL);
}

/* Fetches over a buffer of 'x' and returns the record size that was found. */
static daos_size_t fetch(daos_handle_t object, const char *dkey, uint64_t index, uint64_t count,
                         daos_size_t record_size, char *found)
{
    daos_key_t key = key_of(dkey);
    daos_recx_t recx = {.rx_idx = index, .rx_nr = count};
    daos_iod_t iod = records("akey", record_size, &recx);
    struct buffer buffer;

    memset(found, 'x', count * record_size);
    OK(daos_obj_fetch(object, DAOS_TX_NONE, 0, &key, 1, &iod, buffer_of(&buffer, found, count * record_size), NULL,
                      NULL));
    return iod.iod_size;
}

CHECK(records_come_back, "a fetch returns the records that were updated")
{
    daos_handle_t object = new_object();
    char found[10];

    OK(update(object, "dkey", 5, 10, 1, "0123456789"));
    EQUAL(fetch(object, "dkey", 5, 10, 1, found), 1);
    BYTES(found, "0123456789", 10);
}

CHECK(records_of_four_bytes_come_back, "iod_size is the size of a record")
{
    daos_handle_t object = new_object();
    char found[12];

    OK(update(object, "dkey", 100, 3, 4, "aaaabbbbcccc"));
    EQUAL(fetch(object, "dkey", 100, 3, 4, found), 4);
    BYTES(found, "aaaabbbbcccc", 12);
}

CHECK(a_part_of_the_records_comes_back, "a fetch takes any extent of records")
{
    daos_handle_t object = new_object();
    char found[4];

    OK(update(object, "dkey", 0, 10, 1, "0123456789"));
    fetch(object, "dkey", 3, 4, 1, found);
    BYTES(found, "3456", 4);
}

CHECK(an_update_replaces_the_records_of_its_extent, "an update changes the records of its extents only")
{
    daos_handle_t object = new_object();
    char found[10];

    OK(update(object, "dkey", 0, 10, 1, "0123456789"));
    OK(update(object, "dkey", 3, 4, 1, "abcd"));
    fetch(object, "dkey", 0, 10, 1, found);
    BYTES(found, "012abcd789", 10);
}

CHECK(records_shorter_than_their_buffer_are_stored, "only a list of buffers smaller than the records is refused")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_recx_t recx = {.rx_idx = 0, .rx_nr = 5};
    daos_iod_t iod = records("akey", 1, &recx);
    char bytes[] = "0123456789", found[6];
    struct buffer buffer;

    OK(daos_obj_update(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, bytes, 10), NULL));
    EQUAL(fetch(object, "dkey", 0, 6, 1, found), 1);
    BYTES(found, "01234x", 6);
}

CHECK(records_longer_than_their_buffer_are_refused, "records that take more than the list of buffers has give -DER_REC2BIG")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_recx_t recx = {.rx_idx = 0, .rx_nr = 5};
    daos_iod_t iod = records("akey", 1, &recx);
    char bytes[] = "012", found[5];
    struct buffer buffer;

    FAILS(daos_obj_update(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, bytes, 3), NULL), DER_REC2BIG);
    EQUAL(fetch(object, "dkey", 0, 5, 1, found), 0);
}

CHECK(an_update_of_records_without_buffers_is_invalid, "an update with iod_size above 0 and no scatter list gives -DER_INVAL")
{
    daos_key_t dkey = key_of("dkey");
    daos_recx_t recx = {.rx_idx = 0, .rx_nr = 5};
    daos_iod_t iod = records("akey", 1, &recx);

    FAILS(daos_obj_update(new_object(), DAOS_TX_NONE, 0, &dkey, 1, &iod, NULL, NULL), DER_INVAL);
}

CHECK(a_hole_between_records_leaves_the_buffer_alone, "records that do not exist leave the buffer untouched")
{
    daos_handle_t object = new_object();
    char found[6];

    OK(update(object, "dkey", 0, 2, 1, "ab"));
    OK(update(object, "dkey", 4, 2, 1, "cd"));
    fetch(object, "dkey", 0, 6, 1, found);
    BYTES(found, "abxxcd", 6);
}

CHECK(records_of_two_dkeys_are_separate, "records are named by dkey, akey and index")
{
    daos_handle_t object = new_object();
    char found[2];

    OK(update(object, "one", 0, 2, 1, "ab"));
    OK(update(object, "two", 0, 2, 1, "cd"));
    fetch(object, "one", 0, 2, 1, found);
    BYTES(found, "ab", 2);
}

CHECK(an_update_of_record_size_zero_removes_records, "an update with iod_size 0 is a punch of the extent")
{
    daos_handle_t object = new_object();
    char found[10];

    OK(update(object, "dkey", 0, 10, 1, "0123456789"));
    OK(update(object, "dkey", 3, 4, 0, NULL));
    fetch(object, "dkey", 0, 10, 1, found);
    BYTES(found, "012xxxx789", 10);
}

CHECK(records_that_were_all_removed_have_size_zero, "a fetch of what is not there returns 0 and iod_size 0")
{
    daos_handle_t object = new_object();
    char found[4];

    OK(update(object, "dkey", 0, 4, 1, "0123"));
    OK(update(object, "dkey", 0, 4, 0, NULL));
    EQUAL(fetch(object, "dkey", 0, 4, 1, found), 0);
    BYTES(found, "xxxx", 4);
}

static void fetch_map(daos_iom_t *map)
{
    daos_handle_t object = new_object();
    daos_key_t key = key_of("dkey");
    daos_recx_t recx = {.rx_idx = 0, .rx_nr = 12};
    daos_iod_t iod = records("akey", 2, &recx);
    struct buffer buffer;
    char found[24];

    OK(update(object, "dkey", 2, 3, 2, "aabbcc"));
    OK(update(object, "dkey", 9, 5, 2, "ddeeffgghh"));
    OK(daos_obj_fetch(object, DAOS_TX_NONE, 0, &key, 1, &iod, buffer_of(&buffer, found, sizeof(found)), map, NULL));
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
    daos_handle_t object = new_object();
    char found[2];

    OK(update(object, "dkey", 1ull << 50, 2, 1, "ab"));
    fetch(object, "dkey", 1ull << 50, 2, 1, found);
    BYTES(found, "ab", 2);
}

CHECK(fetch_of_absent_records_has_size_zero, "a fetch of what is not there returns 0 and iod_size 0")
{
    char found[4];

    EQUAL(fetch(new_object(), "dkey", 0, 4, 1, found), 0);
    BYTES(found, "xxxx", 4);
}

CHECK(several_extents_take_the_bytes_in_their_order, "the bytes fill the extents one after another")
{
    daos_handle_t object = new_object();
    daos_key_t dkey = key_of("dkey");
    daos_recx_t recxs[2] = {{.rx_idx = 10, .rx_nr = 3}, {.rx_idx = 20, .rx_nr = 2}};
    daos_iod_t iod = records("akey", 1, recxs);
    struct buffer buffer;
    char found[5] = {0};

    iod.iod_nr = 2;
    OK(daos_obj_update(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, "abcde", 5), NULL));
    OK(daos_obj_fetch(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, found, 5), NULL, NULL));
    BYTES(found, "abcde", 5);
    fetch(object, "dkey", 20, 2, 1, found);
    BYTES(found, "de", 2);
}

CHECK(records_make_no_object_but_their_own, "a table of a snapshot's objects names those that programs wrote")
{
    daos_handle_t object = new_object();
    daos_epoch_t epoch = 0;
    daos_obj_id_t ids[8];
    daos_anchor_t anchor = {0};
    daos_handle_t table;
    uint32_t count = 8;

    OK(update(object, "dkey", 0, 3, 4, "aaaabbbbcccc"));
    OK(daos_cont_create_snap_opt(container(), &epoch, NULL, DAOS_SNAP_OPT_CR | DAOS_SNAP_OPT_OIT, NULL));
    OK(daos_oit_open(container(), epoch, &table, NULL));
    keep(KEPT_OIT, table);
    OK(daos_oit_list(table, ids, &count, &anchor, NULL));
    EQUAL(count, 1);
}

static daos_handle_t numbered(const uint64_t *dkeys, size_t count)
{
    daos_handle_t object = open_object(new_oid(DAOS_OT_DKEY_UINT64), DAOS_OO_RW);

    for (size_t i = 0; i < count; i++) {
        uint64_t number = dkeys[i];
        daos_recx_t recx = {.rx_idx = 10 * number, .rx_nr = 3};
        daos_iod_t iod = records("akey", 1, &recx);
        struct buffer buffer;
        daos_key_t dkey;

        d_iov_set(&dkey, &number, sizeof(number));
        OK(daos_obj_update(object, DAOS_TX_NONE, 0, &dkey, 1, &iod, buffer_of(&buffer, "abc", 3), NULL));
    }
    return object;
}

static uint64_t queried_dkey(daos_handle_t object, uint64_t flags, daos_recx_t *recx)
{
    uint64_t number = UINT64_MAX;
    daos_key_t dkey;
    daos_key_t akey = key_of("akey");

    d_iov_set(&dkey, &number, sizeof(number));
    OK(daos_obj_query_key(object, DAOS_TX_NONE, flags, &dkey, &akey, recx, NULL));
    return number;
}

static const uint64_t some_dkeys[] = {7, 2, 300, 41};

CHECK(the_highest_dkey_is_found, "query_key with GET_MAX and GET_DKEY returns the highest integer dkey")
{
    daos_recx_t recx = {0};

    EQUAL(queried_dkey(numbered(some_dkeys, 4), DAOS_GET_MAX | DAOS_GET_DKEY, &recx), 300);
}

CHECK(the_lowest_dkey_is_found, "query_key with GET_MIN and GET_DKEY returns the lowest integer dkey")
{
    daos_recx_t recx = {0};

    EQUAL(queried_dkey(numbered(some_dkeys, 4), DAOS_GET_MIN | DAOS_GET_DKEY, &recx), 2);
}

CHECK(the_highest_records_of_the_highest_dkey_are_found, "query_key with GET_RECX returns its extent")
{
    daos_recx_t recx = {0};

    EQUAL(queried_dkey(numbered(some_dkeys, 4), DAOS_GET_MAX | DAOS_GET_DKEY | DAOS_GET_RECX, &recx), 300);
    EQUAL(recx.rx_idx + recx.rx_nr, 3003);
}

#define MIXED "an update that mixes a single value and records under an akey gives -DER_NO_PERM and changes nothing"

CHECK(records_do_not_replace_a_single_value, MIXED)
{
    daos_handle_t object = new_object();

    OK(update_single(object, DAOS_TX_NONE, 0, "dkey", "akey", "value", 5));
    FAILS(update(object, "dkey", 0, 3, 1, "abc"), DER_NO_PERM);
    single_holds(object, "dkey", "akey", "value");
}

CHECK(a_single_value_does_not_replace_records, MIXED)
{
    daos_handle_t object = new_object();
    char found[3];

    OK(update(object, "dkey", 0, 3, 1, "abc"));
    FAILS(update_single(object, DAOS_TX_NONE, 0, "dkey", "akey", "value", 5), DER_NO_PERM);
    EQUAL(fetch(object, "dkey", 0, 3, 1, found), 1);
    BYTES(found, "abc", 3);
}

CHECK(a_fetch_of_records_does_not_find_a_single_value, "a fetch of the other kind finds nothing: 0 and iod_size 0")
{
    daos_handle_t object = new_object();
    char found[3];

    OK(update_single(object, DAOS_TX_NONE, 0, "dkey", "akey", "value", 5));
    EQUAL(fetch(object, "dkey", 0, 3, 1, found), 0);
    BYTES(found, "xxx", 3);
}

CHECK(a_fetch_of_a_single_value_does_not_find_records,
      "a fetch of the other kind finds nothing: -DER_NONEXIST under COND_AKEY_FETCH")
{
    daos_handle_t object = new_object();
    char found[5];
    daos_size_t size = 5;

    OK(update(object, "dkey", 0, 3, 1, "abc"));
    single_lacks(object, "dkey", "akey");
    FAILS(fetch_single(object, DAOS_TX_NONE, DAOS_COND_AKEY_FETCH, "dkey", "akey", found, sizeof(found), &size),
          DER_NONEXIST);
}

/* Fetches records from 0 on, of `*size` bytes each; returns the status, and the size that was told. */
static int fetch_sized(daos_handle_t object, uint64_t count, daos_size_t *size, char *found, size_t room)
{
    daos_key_t key = key_of("dkey");
    daos_recx_t recx = {.rx_idx = 0, .rx_nr = count};
    daos_iod_t iod = records("akey", *size, &recx);
    struct buffer buffer;
    int status;

    memset(found, 'x', room);
    status = daos_obj_fetch(object, DAOS_TX_NONE, 0, &key, 1, &iod, buffer_of(&buffer, found, room), NULL, NULL);
    *size = iod.iod_size;
    return status;
}

CHECK(a_fetch_tells_the_size_of_records_whatever_size_was_asked_for,
      "iod_size of a fetch is only compared with the buffers: the size that is stored counts, and is returned")
{
    daos_handle_t object = new_object();
    daos_size_t size = 2;
    char found[8];

    OK(update(object, "dkey", 0, 2, 4, "aaaabbbb"));
    OK(fetch_sized(object, 2, &size, found, sizeof(found)));
    EQUAL(size, 4);
    BYTES(found, "aaaabbbb", 8);
}

CHECK(a_fetch_into_too_small_buffers_says_so, "-DER_REC2BIG where iod_size, or what is stored, exceeds the buffers")
{
    daos_handle_t object = new_object();
    daos_size_t size = 5;
    char found[8];

    OK(update(object, "dkey", 0, 2, 4, "aaaabbbb"));
    FAILS(fetch_sized(object, 2, &size, found, sizeof(found)), DER_REC2BIG);
    size = 1;
    FAILS(fetch_sized(object, 2, &size, found, 4), DER_REC2BIG);
}

CHECK(records_that_are_not_there_need_no_room, "holes behind the last record of a fetch take no buffer")
{
    daos_handle_t object = new_object();
    daos_size_t size = DAOS_REC_ANY;
    char found[8];

    OK(update(object, "dkey", 0, 2, 4, "aaaabbbb"));
    OK(fetch_sized(object, 100, &size, found, sizeof(found)));
    EQUAL(size, 4);
    BYTES(found, "aaaabbbb", 8);
}

CHECK(a_fetch_tells_how_many_buffers_it_filled, "sg_nr_out counts the buffers up to the last record, holes included")
{
    daos_handle_t object = new_object();
    daos_key_t key = key_of("dkey");
    daos_recx_t recx = {.rx_idx = 0, .rx_nr = 12};
    daos_iod_t iod = records("akey", 1, &recx);
    char bytes[12];
    d_iov_t iovs[3];
    d_sg_list_t list = {.sg_nr = 3, .sg_iovs = iovs};

    OK(update(object, "dkey", 5, 2, 1, "ab"));
    for (size_t i = 0; i < 3; i++)
        d_iov_set(&iovs[i], bytes + 4 * i, 4);
    OK(daos_obj_fetch(object, DAOS_TX_NONE, 0, &key, 1, &iod, &list, NULL, NULL));
    EQUAL(list.sg_nr_out, 2);
    EQUAL(iovs[0].iov_len, 4);
    EQUAL(iovs[1].iov_len, 3);
}

CHECK(extents_that_overlap_are_invalid, "extents of one description that overlap give -DER_INVAL")
{
    daos_handle_t object = new_object();
    daos_key_t key = key_of("dkey");
    daos_recx_t recxs[2] = {{.rx_idx = 0, .rx_nr = 3}, {.rx_idx = 2, .rx_nr = 2}};
    daos_iod_t iod = records("akey", 1, recxs);
    struct buffer buffer;
    char found[5] = "abcde";

    iod.iod_nr = 2;
    FAILS(daos_obj_update(object, DAOS_TX_NONE, 0, &key, 1, &iod, buffer_of(&buffer, found, 5), NULL), DER_INVAL);
    FAILS(daos_obj_fetch(object, DAOS_TX_NONE, 0, &key, 1, &iod, buffer_of(&buffer, found, 5), NULL, NULL),
          DER_INVAL);
}

CHECK(an_index_has_63_bits, "bit 63 of an index is reserved: -DER_INVAL")
{
    daos_handle_t object = new_object();
    char found[1];

    OK(update(object, "dkey", INT64_MAX - 1, 1, 1, "a"));
    EQUAL(fetch(object, "dkey", INT64_MAX - 1, 1, 1, found), 1);
    BYTES(found, "a", 1);
    FAILS(update(object, "dkey", 1ull << 63, 1, 1, "a"), DER_INVAL);
    FAILS(update(object, "dkey", 1ull << 63, 1, 0, NULL), DER_INVAL);
}
