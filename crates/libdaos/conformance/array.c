/*
 * Arrays: create, open, write, read, destroy. Sizes and attributes are in array_size.c.
 */
#include "check.h"

#include <stdlib.h>

SUBJECT(array);

#define ARRAY_MAGIC 0xdaca55a9daca55a9ull

CHECK(create_of_a_new_array_succeeds, "array_create makes an array that exists")
{
    new_array(1, 1048576);
}

static int create(daos_obj_id_t oid)
{
    return daos_array_create(container(), oid, DAOS_TX_NONE, 1, 4096, IGNORED(daos_handle_t), NULL);
}

static int open_status(daos_obj_id_t oid)
{
    return daos_array_open(container(), oid, DAOS_TX_NONE, DAOS_OO_RW, IGNORED(daos_size_t), IGNORED(daos_size_t),
                           IGNORED(daos_handle_t), NULL);
}

CHECK(create_of_an_existing_array_fails, "array_create is a conditional insert: -DER_EXIST if present")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);

    create_array(oid, 1, 4096);
    FAILS(create(oid), DER_EXIST);
}

#define CREATES(sentence, type)                                                                                        \
    CHECK(sentence, "array_create takes every array type, and a second one gives -DER_EXIST (dc_array_create)")        \
    {                                                                                                                  \
        daos_obj_id_t oid = new_oid(type);                                                                             \
        daos_handle_t array = create_array(oid, 1, 4096);                                                              \
                                                                                                                       \
        write_text(array, 5, "data");                                                                                  \
        reads(array, 5, "data", 4);                                                                                    \
        FAILS(create(oid), DER_EXIST);                                                                                 \
    }
CREATES(create_takes_a_byte_array, DAOS_OT_ARRAY_BYTE)
CREATES(create_takes_an_array_with_attributes, DAOS_OT_ARRAY_ATTR)

CHECK(create_refuses_what_is_no_array, "array_create needs an object id of an array type, else -DER_INVAL")
{
    FAILS(create(new_oid(DAOS_OT_MULTI_HASHED)), DER_INVAL);
    FAILS(create(new_oid(DAOS_OT_DKEY_LEXICAL)), DER_INVAL);
}

CHECK(create_fails_on_an_array_that_is_not_open, "array_create is a conditional insert: -DER_EXIST if present")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);

    closed(create_array(oid, 8, 512));
    FAILS(create(oid), DER_EXIST);
}

CHECK(open_returns_the_cell_and_chunk_sizes, "array_open reads the metadata of the array")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    daos_size_t cell = 0, chunk = 0;
    daos_handle_t array;

    closed(create_array(oid, 8, 512));
    OK(daos_array_open(container(), oid, DAOS_TX_NONE, DAOS_OO_RW, &cell, &chunk, &array, NULL));
    keep(KEPT_ARRAY, array);
    EQUAL(cell, 8);
    EQUAL(chunk, 512);
}

CHECK(open_of_an_absent_array_fails, "array_open of an absent array gives -DER_NONEXIST")
{
    FAILS(open_status(new_oid(DAOS_OT_ARRAY)), DER_NONEXIST);
}

#define OPEN_REFUSES(sentence, type)                                                                                   \
    CHECK(sentence, "array_open needs an id of type ARRAY, else -DER_INVAL")                                           \
    {                                                                                                                  \
        FAILS(open_status(new_oid(type)), DER_INVAL);                                                                  \
    }
OPEN_REFUSES(open_refuses_a_kv_id, DAOS_OT_KV_HASHED)
OPEN_REFUSES(open_refuses_a_byte_array_id, DAOS_OT_ARRAY_BYTE)
OPEN_REFUSES(open_refuses_an_array_id_with_attributes, DAOS_OT_ARRAY_ATTR)

CHECK(open_refuses_metadata_with_another_magic, "array_open gives -DER_NO_PERM when the magic is wrong")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    uint64_t metadata[3] = {0x1234, 1, 4096};
    daos_iod_t iod = single("0", sizeof(metadata));

    OK(daos_obj_update(open_object(oid, DAOS_OO_RW), DAOS_TX_NONE, 0, NUMBER_KEY(0), 1, &iod,
                       BUFFER(metadata, sizeof(metadata)), NULL));
    FAILS(open_status(oid), DER_NO_PERM);
}

CHECK(the_metadata_of_an_array_lies_under_dkey_zero, "dkey 0, akey \"0\" hold magic, cell size and chunk size")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    uint64_t found[3] = {0};
    daos_iod_t iod = single("0", DAOS_REC_ANY);

    create_array(oid, 8, 512);
    OK(daos_obj_fetch(open_object(oid, DAOS_OO_RO), DAOS_TX_NONE, 0, NUMBER_KEY(0), 1, &iod,
                      BUFFER(found, sizeof(found)), NULL, NULL));
    EQUAL(iod.iod_size, 24);
    EQUAL(found[0], ARRAY_MAGIC);
    EQUAL(found[1], 8);
    EQUAL(found[2], 512);
}

CHECK(the_cells_of_chunk_n_lie_under_dkey_n_plus_one, "data: dkey = index / chunk + 1, akey \"0\", index in the chunk")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY_BYTE);
    daos_iod_t iod = RECORDS("0", 1, {2, 4});
    char found[4] = {0};

    write_text(open_array_with(oid, DAOS_OO_RW, 1, 16), 34, "four");
    OK(daos_obj_fetch(open_object(oid, DAOS_OO_RO), DAOS_TX_NONE, 0, NUMBER_KEY(3), 1, &iod,
                      BUFFER(found, sizeof(found)), NULL, NULL));
    BYTES(found, "four", 4);
}

CHECK(cells_written_under_a_dkey_are_cells_of_the_array, "data: dkey = index / chunk + 1, akey \"0\", index in the chunk")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    daos_handle_t array = create_array(oid, 2, 16);
    daos_iod_t iod = RECORDS("0", 2, {3, 2});
    char found[4];

    OK(daos_obj_update(open_object(oid, DAOS_OO_RW), DAOS_TX_NONE, 0, NUMBER_KEY(2), 1, &iod, BUFFER("four", 4), NULL));
    OK(read_range(array, DAOS_TX_NONE, 19, 2, found, 4));
    BYTES(found, "four", 4);
    EQUAL(array_size(array, DAOS_TX_NONE), 21);
}

CHECK(a_punched_dkey_takes_its_chunk_along, "data: dkey = index / chunk + 1")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    daos_handle_t array = write_text(create_array(oid, 1, 4), 0, "0123456789ab");

    OK(daos_obj_punch_dkeys(open_object(oid, DAOS_OO_RW), DAOS_TX_NONE, 0, 1, NUMBER_KEY(2), NULL));
    reads(array, 0, "0123xxxx89ab", 12);
}

CHECK(the_dkeys_of_an_array_are_those_of_its_chunks, "dkey 0 has the metadata, dkey n + 1 the cells of chunk n")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    daos_handle_t array = create_array(oid, 1, 4), object = open_object(oid, DAOS_OO_RW);
    daos_anchor_t anchor = {0};
    uint64_t seen = 0;

    write_text(array, 2, "four");
    write_text(array, 20, "x");
    while (!daos_anchor_is_eof(&anchor)) {
        daos_key_desc_t descriptions[2];
        uint64_t numbers[2];
        uint32_t nr = 2;

        OK(daos_obj_list_dkey(object, DAOS_TX_NONE, &nr, descriptions, BUFFER(numbers, 16), &anchor, NULL));
        for (uint32_t i = 0; i < nr; i++) {
            EQUAL(descriptions[i].kd_key_len, 8);
            HOLDS(numbers[i] < 64 && (seen >> numbers[i] & 1) == 0);
            seen |= 1ull << numbers[i];
        }
    }
    EQUAL(seen, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 6);
}

#define WITH_ATTRIBUTES(sentence, type, cell, chunk, status)                                                           \
    CHECK(sentence, "open_with_attr takes ARRAY_ATTR and ARRAY_BYTE only, cell and chunk sizes that are not 0")        \
    {                                                                                                                  \
        daos_handle_t array;                                                                                           \
                                                                                                                       \
        FAILS(daos_array_open_with_attr(container(), new_oid(type), DAOS_TX_NONE, DAOS_OO_RW, cell, chunk, &array,     \
                                        NULL),                                                                         \
              status);                                                                                                 \
        if ((status) == 0)                                                                                             \
            OK(daos_array_close(array, NULL));                                                                         \
    }
WITH_ATTRIBUTES(open_with_attributes_takes_a_byte_array, DAOS_OT_ARRAY_BYTE, 1, 4096, 0)
WITH_ATTRIBUTES(open_with_attributes_takes_an_array_with_attributes, DAOS_OT_ARRAY_ATTR, 8, 512, 0)
WITH_ATTRIBUTES(open_with_attributes_refuses_an_array_with_metadata, DAOS_OT_ARRAY, 1, 4096, DER_INVAL)
WITH_ATTRIBUTES(open_with_attributes_refuses_a_kv, DAOS_OT_KV_HASHED, 1, 4096, DER_INVAL)
WITH_ATTRIBUTES(open_with_attributes_refuses_cells_of_size_zero, DAOS_OT_ARRAY_BYTE, 0, 4096, DER_INVAL)
WITH_ATTRIBUTES(open_with_attributes_refuses_chunks_of_size_zero, DAOS_OT_ARRAY_BYTE, 1, 0, DER_INVAL)

/* Writes `cells` cells of `cell` bytes at `index` into a new array and reads them back. */
static void round_trip(daos_size_t cell, daos_size_t chunk, uint64_t index, uint64_t cells)
{
    daos_handle_t array = new_array(cell, chunk);
    size_t size = cell * cells;
    unsigned char *written = malloc(size);
    unsigned char *found = calloc(1, size);

    for (size_t i = 0; i < size; i++)
        written[i] = (unsigned char)(i * 37 + 11);
    OK(write_range(array, DAOS_TX_NONE, index, cells, written, size));
    OK(read_range(array, DAOS_TX_NONE, index, cells, found, size));
    BYTES(found, written, size);
    free(written);
    free(found);
}

#define ROUND_TRIP(sentence, cell, chunk, index, cells)                                                                \
    CHECK(sentence, "a read returns the cells that were written")                                                      \
    {                                                                                                                  \
        round_trip(cell, chunk, index, cells);                                                                         \
    }
ROUND_TRIP(one_cell_comes_back, 1, 4096, 0, 1)
ROUND_TRIP(cells_within_a_chunk_come_back, 1, 4096, 100, 1000)
ROUND_TRIP(a_whole_chunk_comes_back, 1, 4096, 0, 4096)
ROUND_TRIP(cells_across_two_chunks_come_back, 1, 4096, 4000, 1000)
ROUND_TRIP(cells_across_many_chunks_come_back, 1, 64, 13, 1000)
ROUND_TRIP(cells_of_eight_bytes_come_back, 8, 512, 500, 100)
ROUND_TRIP(cells_of_three_bytes_come_back, 3, 100, 95, 20)
ROUND_TRIP(cells_far_from_the_beginning_come_back, 1, 1048576, 1ull << 40, 100)
ROUND_TRIP(one_mebibyte_comes_back, 1, 1048576, 0, 1048576)
ROUND_TRIP(three_mebibytes_at_an_odd_place_come_back, 1, 1048576, 12345, 3 * 1048576)

CHECK(a_write_replaces_cells_and_leaves_the_rest, "a write changes the cells of its ranges only")
{
    daos_handle_t array = write_text(new_array(1, 4096), 0, "aaaaaaaaaa");

    write_text(array, 3, "bbbb");
    reads(array, 0, "aaabbbbaaa", 10);
}

CHECK(a_read_may_begin_inside_a_write, "a read returns the cells that were written, whatever the ranges were")
{
    daos_handle_t array = write_text(new_array(1, 4), 0, "0123456789");

    reads(array, 3, "34567", 5);
}

CHECK(a_new_handle_reads_what_an_old_one_wrote, "a handle is a view of the stored array")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    daos_handle_t array;

    write_text(create_array(oid, 1, 4096), 0, "four");
    OK(daos_array_open(container(), oid, DAOS_TX_NONE, DAOS_OO_RO, IGNORED(daos_size_t), IGNORED(daos_size_t), &array,
                       NULL));
    reads(keep(KEPT_ARRAY, array), 0, "four", 4);
}

CHECK(several_ranges_take_the_bytes_in_their_order, "the bytes of the scatter list fill the ranges one after another")
{
    daos_handle_t array = new_array(1, 4096);
    daos_array_iod_t *iod = RANGES({20, 3}, {0, 2}, {5000, 5});
    char found[10] = {0};

    OK(daos_array_write(array, DAOS_TX_NONE, iod, BUFFER("abcdefghij", 10), NULL));
    reads(array, 20, "abc", 3);
    reads(array, 0, "de", 2);
    reads(array, 5000, "fghij", 5);
    OK(daos_array_read(array, DAOS_TX_NONE, iod, BUFFER(found, 10), NULL));
    BYTES(found, "abcdefghij", 10);
}

CHECK(several_buffers_are_one_sequence_of_bytes, "only the sum of the buffers must equal the sum of the ranges")
{
    daos_handle_t array = new_array(1, 8);
    daos_array_iod_t *iod = RANGES({4, 10});
    char first[3], second[7];

    OK(daos_array_write(array, DAOS_TX_NONE, iod, BUFFERS(iov_of("abcdef", 6), iov_of("ghij", 4)), NULL));
    OK(daos_array_read(array, DAOS_TX_NONE, iod, BUFFERS(iov_of(first, 3), iov_of(second, 7)), NULL));
    BYTES(first, "abc", 3);
    BYTES(second, "defghij", 7);
}

#define REFUSED(sentence, function, bytes, cells)                                                                      \
    CHECK(sentence, "the ranges and the buffers must have the same number of bytes, else -DER_INVAL")                  \
    {                                                                                                                  \
        FAILS(function(new_array(2, 512), DAOS_TX_NONE, 0, cells, (char[16]){0}, bytes), DER_INVAL);                   \
    }
REFUSED(a_write_of_fewer_bytes_than_cells_is_invalid, write_range, 6, 4)
REFUSED(a_write_of_more_bytes_than_cells_is_invalid, write_range, 10, 4)
REFUSED(a_read_into_fewer_bytes_than_cells_is_invalid, read_range, 6, 4)
REFUSED(a_read_into_more_bytes_than_cells_is_invalid, read_range, 10, 4)

#define WITHOUT(sentence, function, iod, list)                                                                         \
    CHECK(sentence, "a NULL description or scatter list gives -DER_INVAL")                                             \
    {                                                                                                                  \
        FAILS(function(new_array(1, 4096), DAOS_TX_NONE, iod, list, NULL), DER_INVAL);                                 \
    }
WITHOUT(a_write_without_ranges_is_invalid, daos_array_write, NULL, BUFFER((char[4]){0}, 4))
WITHOUT(a_write_without_buffers_is_invalid, daos_array_write, RANGES({0, 4}), NULL)
WITHOUT(a_read_without_ranges_is_invalid, daos_array_read, NULL, BUFFER((char[4]){0}, 4))
WITHOUT(a_read_without_buffers_is_invalid, daos_array_read, RANGES({0, 4}), NULL)

CHECK(more_than_16384_tiny_ranges_are_not_supported, "more than 16384 ranges of at most 16 bytes: -DER_NOTSUPPORTED")
{
    enum { MANY = 16385 };
    static daos_range_t ranges[MANY];
    static char data[MANY];
    daos_array_iod_t iod = {.arr_nr = MANY, .arr_rgs = ranges};

    for (uint64_t i = 0; i < MANY; i++)
        ranges[i] = (daos_range_t){.rg_idx = 2 * i, .rg_len = 1};
    FAILS(daos_array_write(new_array(1, 1048576), DAOS_TX_NONE, &iod, BUFFER(data, MANY), NULL), DER_NOTSUPPORTED);
}

CHECK(a_destroyed_array_is_absent, "destroy punches the object, its metadata too")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    daos_handle_t array = write_text(create_array(oid, 1, 4096), 0, "four");

    OK(daos_array_destroy(array, DAOS_TX_NONE, NULL));
    FAILS(open_status(oid), DER_NONEXIST);
}

CHECK(a_destroyed_array_may_be_created_again, "destroy punches the object, its metadata too")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    daos_handle_t array = write_text(create_array(oid, 1, 4096), 0, "four");

    OK(daos_array_destroy(array, DAOS_TX_NONE, NULL));
    EQUAL(array_size(create_array(oid, 8, 512), DAOS_TX_NONE), 0);
}

CHECK(create_leaves_cells_alone, "create stores what an array was created with, under dkey 0, and nothing else")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);

    write_text(create_array(oid, 1, 16), 3, "four");
    OK(daos_obj_punch_dkeys(open_object(oid, DAOS_OO_RW), DAOS_TX_NONE, 0, 1, NUMBER_KEY(0), NULL));
    reads(create_array(oid, 1, 16), 3, "four", 4);
}

CHECK(the_handle_of_a_destroyed_array_still_closes, "after a destroy the handle must still be closed")
{
    daos_handle_t array = new_array(1, 4096);

    OK(daos_array_destroy(array, DAOS_TX_NONE, NULL));
    closed(array);
}

CHECK(ranges_that_overlap_in_a_chunk_are_invalid, "ranges of one chunk that overlap give -DER_INVAL")
{
    daos_handle_t array = new_array(1, 10);
    daos_array_iod_t *overlapping = RANGES({0, 5}, {3, 5});
    char bytes[] = "0123456789";

    FAILS(daos_array_write(array, DAOS_TX_NONE, overlapping, BUFFER(bytes, 10), NULL), DER_INVAL);
    FAILS(daos_array_read(array, DAOS_TX_NONE, overlapping, BUFFER(bytes, 10), NULL), DER_INVAL);
    OK(daos_array_write(array, DAOS_TX_NONE, RANGES({0, 5}, {5, 5}), BUFFER(bytes, 10), NULL));
}

CHECK(ranges_that_overlap_are_read_when_another_chunk_parts_them, "each is an operation of its own")
{
    daos_handle_t array = new_array(1, 10);
    char found[9];

    write_text(array, 0, "012");
    write_text(array, 30, "012");
    OK(daos_array_read(array, DAOS_TX_NONE, RANGES({0, 3}, {30, 3}, {0, 3}), BUFFER(found, 9), NULL));
    BYTES(found, "012012012", 9);
}
