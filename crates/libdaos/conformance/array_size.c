/*
 * Arrays: size, holes, short reads, punches, attributes. Creation and transfers are in array.c.
 */
#include "check.h"

SUBJECT(array_size);

static daos_size_t size_of(daos_handle_t array)
{
    return array_size(array, DAOS_TX_NONE);
}

CHECK(a_new_array_has_size_zero, "get_size of an empty array is 0")
{
    EQUAL(size_of(new_array(1, 4096)), 0);
}

CHECK(a_new_byte_array_has_size_zero, "get_size of an empty array is 0")
{
    EQUAL(size_of(new_byte_array(4096)), 0);
}

CHECK(the_size_is_the_end_of_the_highest_cell, "get_size comes from the highest dkey and its highest cell")
{
    EQUAL(size_of(write_text(new_array(1, 4096), 100, "0123456789")), 110);
}

CHECK(the_size_counts_cells_not_bytes, "get_size counts cells")
{
    daos_handle_t array = new_array(8, 512);
    char data[80] = {0};

    OK(write_range(array, DAOS_TX_NONE, 5, 10, data, sizeof(data)));
    EQUAL(size_of(array), 15);
}

CHECK(the_size_reaches_across_chunks, "get_size comes from the highest dkey and its highest cell")
{
    EQUAL(size_of(write_text(new_array(1, 16), 1000, "four")), 1004);
}

CHECK(the_size_of_a_whole_chunk_is_the_chunk, "get_size comes from the highest dkey and its highest cell")
{
    EQUAL(size_of(write_text(new_array(1, 16), 0, "0123456789abcdef")), 16);
}

CHECK(a_lower_write_does_not_change_the_size, "get_size comes from the highest dkey and its highest cell")
{
    daos_handle_t array = write_text(new_array(1, 16), 1000, "four");

    write_text(array, 3, "two");
    EQUAL(size_of(array), 1004);
}

CHECK(two_handles_see_one_size, "the size is of the stored array")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY_BYTE);
    daos_handle_t writer = open_array_with(oid, DAOS_OO_RW, 1, 64);
    daos_handle_t reader = open_array_with(oid, DAOS_OO_RO, 1, 64);

    write_text(writer, 0, "four");
    EQUAL(size_of(reader), 4);
    write_text(writer, 100, "four");
    EQUAL(size_of(reader), 104);
}

CHECK(a_read_of_an_empty_array_succeeds_and_writes_nothing, "a read beyond the end returns 0; the buffer is untouched")
{
    reads(new_array(1, 4096), 0, "xxxx", 4);
}

CHECK(a_read_of_an_empty_byte_array_writes_nothing, "a read beyond the end returns 0; the buffer is untouched")
{
    reads(new_byte_array(4096), 0, "xxxx", 4);
}

CHECK(a_read_beyond_the_end_succeeds_and_writes_nothing, "a read beyond the end returns 0; the buffer is untouched")
{
    reads(write_text(new_array(1, 4096), 0, "four"), 100, "xxxx", 4);
}

CHECK(a_read_across_the_end_fills_what_exists, "a read across the end returns 0 and the cells that exist")
{
    reads(write_text(new_array(1, 4096), 0, "four"), 2, "urxx", 4);
}

CHECK(a_read_across_the_end_of_a_byte_array_fills_what_exists, "beyond the end the buffer is untouched")
{
    reads(write_text(new_byte_array(4096), 0, "four"), 2, "urxx", 4);
}

#define HOLE(sentence, rule, array, end, expected, size)                                                               \
    CHECK(sentence, rule)                                                                                              \
    {                                                                                                                  \
        reads(write_text(write_text(array, 0, "ab"), end, "cd"), 0, expected, size);                                   \
    }
HOLE(a_hole_of_an_array_leaves_the_buffer_alone, "holes of ARRAY leave the buffer untouched", new_array(1, 4096), 6,
     "abxxxxcd", 8)
HOLE(a_hole_of_an_array_with_attributes_leaves_the_buffer_alone, "holes of ARRAY_ATTR leave the buffer untouched",
     open_array_with(new_oid(DAOS_OT_ARRAY_ATTR), DAOS_OO_RW, 1, 4096), 6, "abxxxxcd", 8)
HOLE(a_hole_of_a_byte_array_reads_as_zeros, "holes of ARRAY_BYTE below the end are filled with zeros",
     new_byte_array(4096), 6, "ab\0\0\0\0cd", 8)
HOLE(a_hole_of_whole_chunks_of_a_byte_array_reads_as_zeros, "holes of ARRAY_BYTE below the end are filled with zeros",
     new_byte_array(4), 14, "ab\0\0\0\0\0\0\0\0\0\0\0\0cd", 16)

/* What a read of a byte array of six cells says that it read. */
static daos_array_iod_t short_read(uint64_t index, uint64_t cells)
{
    daos_handle_t array = new_byte_array(4096);
    daos_array_iod_t *iod = RANGES({index, cells});
    char found[32];

    write_text(array, 0, "sixsix");
    OK(daos_array_read(array, DAOS_TX_NONE, iod, BUFFER(found, cells), NULL));
    return *iod;
}

#define COUNTS(sentence, rule, index, cells, read, is_short)                                                           \
    CHECK(sentence, rule)                                                                                              \
    {                                                                                                                  \
        daos_array_iod_t iod = short_read(index, cells);                                                               \
                                                                                                                       \
        EQUAL(iod.arr_nr_read, read);                                                                                  \
        EQUAL(iod.arr_nr_short_read != 0, is_short);                                                                   \
    }
COUNTS(a_full_read_of_a_byte_array_counts_its_cells, "arr_nr_read is the number of cells read; nothing is short", 1, 4,
       4, false)
COUNTS(a_short_read_of_a_byte_array_counts_its_cells,
       "a read across the end sets arr_nr_read and arr_nr_short_read", 0, 10, 6, true)
COUNTS(a_read_beyond_the_end_of_a_byte_array_reads_no_cell, "a read beyond the end sets arr_nr_read to 0", 100, 10, 0,
       true)

#define SET_SIZE(sentence, rule, chunk_size, text, size, expected, count)                                              \
    CHECK(sentence, rule)                                                                                              \
    {                                                                                                                  \
        daos_handle_t array = write_text(new_byte_array(chunk_size), 0, text);                                         \
                                                                                                                       \
        OK(daos_array_set_size(array, DAOS_TX_NONE, size, NULL));                                                      \
        EQUAL(size_of(array), size);                                                                                   \
        reads(array, 0, expected, count);                                                                              \
    }
SET_SIZE(set_size_shrinks_an_array, "a smaller set_size removes the cells above it", 4096, "0123456789", 4, "0123xx", 6)
SET_SIZE(set_size_shrinks_across_chunks, "a smaller set_size punches the higher dkeys", 4, "0123456789abcdef", 6,
         "012345xxxx", 10)
SET_SIZE(set_size_grows_an_array, "a larger set_size writes one zero cell at its end", 4096, "four", 10,
         "four\0\0\0\0\0\0", 10)

CHECK(set_size_grows_an_empty_array, "a larger set_size writes one zero cell at its end")
{
    daos_handle_t array = new_array(1, 16);

    OK(daos_array_set_size(array, DAOS_TX_NONE, 100, NULL));
    EQUAL(size_of(array), 100);
    reads(array, 98, "x\0", 2);
}

CHECK(set_size_to_zero_empties_an_array, "a smaller set_size removes the cells above it")
{
    daos_handle_t array = write_text(new_array(1, 16), 0, "0123456789abcdef0123");

    OK(daos_array_set_size(array, DAOS_TX_NONE, 0, NULL));
    EQUAL(size_of(array), 0);
}

CHECK(set_size_keeps_the_metadata, "an array of size 0 still exists")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    daos_handle_t array = create_array(oid, 1, 16);
    daos_size_t cell = 0, chunk = 0;

    write_text(array, 0, "0123456789abcdef0123");
    OK(daos_array_set_size(array, DAOS_TX_NONE, 0, NULL));
    OK(daos_array_open(container(), oid, DAOS_TX_NONE, DAOS_OO_RO, &cell, &chunk, &array, NULL));
    keep(KEPT_ARRAY, array);
    EQUAL(chunk, 16);
}

SET_SIZE(set_size_to_the_same_size_changes_nothing, "set_size to the present size keeps the cells", 4096, "0123456789",
         10, "0123456789", 10)

CHECK(cells_cut_off_do_not_come_back, "a smaller set_size removes the cells above it")
{
    daos_handle_t array = write_text(new_byte_array(8), 0, "0123456789abcdef");

    OK(daos_array_set_size(array, DAOS_TX_NONE, 4, NULL));
    OK(daos_array_set_size(array, DAOS_TX_NONE, 16, NULL));
    reads(array, 0, "0123\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

CHECK(set_size_to_a_hole_makes_the_last_cell_exist, "set_size makes sure that the last cell exists")
{
    daos_handle_t array = write_text(new_byte_array(8), 0, "ab");

    write_text(array, 30, "cd");
    OK(daos_array_set_size(array, DAOS_TX_NONE, 20, NULL));
    EQUAL(size_of(array), 20);
}

static void punch(daos_handle_t array, uint64_t index, uint64_t cells)
{
    OK(daos_array_punch(array, DAOS_TX_NONE, RANGES({index, cells}), NULL));
}

#define PUNCHED(sentence, array, text, cells, expected)                                                                \
    CHECK(sentence, "a punch removes the cells of its ranges")                                                         \
    {                                                                                                                  \
        daos_handle_t written = write_text(array, 0, text);                                                            \
                                                                                                                       \
        punch(written, 2, cells);                                                                                      \
        reads(written, 0, expected, strlen(text));                                                                     \
    }
PUNCHED(a_punch_of_an_array_makes_a_hole, new_array(1, 4096), "0123456789", 5, "01xxxxx789")
PUNCHED(a_punch_of_a_byte_array_reads_as_zeros, new_byte_array(4096), "0123456789", 5, "01\0\0\0\0\0" "789")
PUNCHED(a_punch_across_chunks_makes_a_hole, new_array(1, 4), "0123456789abcdef", 11, "01xxxxxxxxxxxdef")

CHECK(a_punch_in_the_middle_keeps_the_size, "get_size comes from the highest dkey and its highest cell")
{
    daos_handle_t array = write_text(new_array(1, 4096), 0, "0123456789");

    punch(array, 2, 5);
    EQUAL(size_of(array), 10);
}

CHECK(a_punch_at_the_end_takes_the_size_back, "get_size comes from the highest dkey and its highest cell")
{
    daos_handle_t array = write_text(new_array(1, 8), 0, "0123456789abcdef");

    punch(array, 5, 11);
    EQUAL(size_of(array), 5);
    punch(array, 0, 5);
    EQUAL(size_of(array), 0);
}

CHECK(a_read_behind_a_punch_at_the_end_of_a_byte_array_is_short, "beyond the end the buffer is untouched")
{
    daos_handle_t array = write_text(new_byte_array(4096), 0, "ab");

    write_text(array, 4, "cdef");
    punch(array, 6, 2);
    EQUAL(size_of(array), 6);
    reads(array, 0, "ab\0\0cdxx", 8);
}

CHECK(a_hole_that_two_buffers_share_leaves_both_alone, "holes of ARRAY leave the buffer untouched")
{
    daos_handle_t array = new_array(2, 512);
    char first[] = "xxxxx", second[] = "xxxxxxx";
    d_sg_list_t *list = BUFFERS(iov_of(first, 5), iov_of(second, 7));

    OK(write_range(array, DAOS_TX_NONE, 0, 1, "ab", 2));
    OK(write_range(array, DAOS_TX_NONE, 3, 1, "gh", 2));
    OK(write_range(array, DAOS_TX_NONE, 11, 1, "kl", 2));
    OK(daos_array_read(array, DAOS_TX_NONE, RANGES({0, 4}, {10, 2}), list, NULL));
    TEXT(first, "abxxx");
    TEXT(second, "xghxxkl");
}

CHECK(a_punched_range_may_be_written_again, "a write after a punch is visible")
{
    daos_handle_t array = write_text(new_array(1, 4096), 0, "0123456789");

    punch(array, 2, 5);
    write_text(array, 3, "ab");
    reads(array, 0, "01xabxx789", 10);
}

CHECK(stat_names_the_size, "array_stat returns the size in st_size")
{
    daos_handle_t array = new_byte_array(4096);
    daos_array_stbuf_t stat = {0};

    write_text(array, 10, "four");
    OK(daos_array_stat(array, DAOS_TX_NONE, &stat, NULL));
    EQUAL(stat.st_size, 14);
}

#define ATTRIBUTES(sentence, array, cell_size, chunk_size)                                                             \
    CHECK(sentence, "array_get_attr returns the chunk size and the cell size")                                         \
    {                                                                                                                  \
        daos_size_t cell = 0, chunk = 0;                                                                               \
                                                                                                                       \
        OK(daos_array_get_attr(array, &chunk, &cell));                                                                 \
        EQUAL(chunk, chunk_size);                                                                                      \
        EQUAL(cell, cell_size);                                                                                        \
    }
ATTRIBUTES(the_attributes_are_those_of_the_creation, new_array(8, 512), 8, 512)
ATTRIBUTES(the_attributes_are_those_of_the_opening, new_byte_array(12345), 1, 12345)
