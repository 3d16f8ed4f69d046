/*
 * Arrays: size, holes, short reads, punches, attributes. Creation and transfers are in array.c.
 */
#include "check.h"

SUBJECT(array_size);

static uint64_t size_of(daos_handle_t array)
{
    daos_size_t size = UINT64_MAX;

    OK(daos_array_get_size(array, DAOS_TX_NONE, &size, NULL));
    return size;
}

static void write_text(daos_handle_t array, uint64_t index, char *text)
{
    OK(write_range(array, DAOS_TX_NONE, index, strlen(text), text, strlen(text)));
}

/* Reads `expected`'s length of bytes at `index` over a buffer of 'x'. */
static void reads(daos_handle_t array, uint64_t index, const char *expected, size_t size)
{
    char found[64];

    memset(found, 'x', sizeof(found));
    OK(read_range(array, DAOS_TX_NONE, index, size, found, size));
    BYTES(found, expected, size);
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
    daos_handle_t array = new_array(1, 4096);

    write_text(array, 100, "0123456789");
    EQUAL(size_of(array), 110);
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
    daos_handle_t array = new_array(1, 16);

    write_text(array, 1000, "four");
    EQUAL(size_of(array), 1004);
}

CHECK(the_size_of_a_whole_chunk_is_the_chunk, "get_size comes from the highest dkey and its highest cell")
{
    daos_handle_t array = new_array(1, 16);

    write_text(array, 0, "0123456789abcdef");
    EQUAL(size_of(array), 16);
}

CHECK(a_lower_write_does_not_change_the_size, "get_size comes from the highest dkey and its highest cell")
{
    daos_handle_t array = new_array(1, 16);

    write_text(array, 1000, "four");
    write_text(array, 3, "two");
    EQUAL(size_of(array), 1004);
}

CHECK(two_handles_see_one_size, "the size is of the stored array")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY_BYTE);
    daos_handle_t writer;
    daos_handle_t reader;

    OK(daos_array_open_with_attr(container(), oid, DAOS_TX_NONE, DAOS_OO_RW, 1, 64, &writer, NULL));
    keep(KEPT_ARRAY, writer);
    OK(daos_array_open_with_attr(container(), oid, DAOS_TX_NONE, DAOS_OO_RO, 1, 64, &reader, NULL));
    keep(KEPT_ARRAY, reader);
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
    daos_handle_t array = new_array(1, 4096);

    write_text(array, 0, "four");
    reads(array, 100, "xxxx", 4);
}

CHECK(a_read_across_the_end_fills_what_exists, "a read across the end returns 0 and the cells that exist")
{
    daos_handle_t array = new_array(1, 4096);

    write_text(array, 0, "four");
    reads(array, 2, "urxx", 4);
}

CHECK(a_read_across_the_end_of_a_byte_array_fills_what_exists, "beyond the end the buffer is untouched")
{
    daos_handle_t array = new_byte_array(4096);

    write_text(array, 0, "four");
    reads(array, 2, "urxx", 4);
}

CHECK(a_hole_of_an_array_leaves_the_buffer_alone, "holes of ARRAY leave the buffer untouched")
{
    daos_handle_t array = new_array(1, 4096);

    write_text(array, 0, "ab");
    write_text(array, 6, "cd");
    reads(array, 0, "abxxxxcd", 8);
}

CHECK(a_hole_of_an_array_with_attributes_leaves_the_buffer_alone, "holes of ARRAY_ATTR leave the buffer untouched")
{
    daos_handle_t array;

    OK(daos_array_open_with_attr(container(), new_oid(DAOS_OT_ARRAY_ATTR), DAOS_TX_NONE, DAOS_OO_RW, 1, 4096, &array,
                                 NULL));
    keep(KEPT_ARRAY, array);
    write_text(array, 0, "ab");
    write_text(array, 6, "cd");
    reads(array, 0, "abxxxxcd", 8);
}

CHECK(a_hole_of_a_byte_array_reads_as_zeros, "holes of ARRAY_BYTE below the end are filled with zeros")
{
    daos_handle_t array = new_byte_array(4096);

    write_text(array, 0, "ab");
    write_text(array, 6, "cd");
    reads(array, 0, "ab\0\0\0\0cd", 8);
}

CHECK(a_hole_of_whole_chunks_of_a_byte_array_reads_as_zeros, "holes of ARRAY_BYTE below the end are filled with zeros")
{
    daos_handle_t array = new_byte_array(4);

    write_text(array, 0, "ab");
    write_text(array, 14, "cd");
    reads(array, 0, "ab\0\0\0\0\0\0\0\0\0\0\0\0cd", 16);
}

static void short_read(uint64_t index, uint64_t cells, daos_array_iod_t *iod)
{
    static daos_range_t range;
    daos_handle_t array = new_byte_array(4096);
    struct buffer buffer;
    char found[32];

    write_text(array, 0, "sixsix");
    range = (daos_range_t){.rg_idx = index, .rg_len = cells};
    memset(iod, 0, sizeof(*iod));
    iod->arr_nr = 1;
    iod->arr_rgs = &range;
    OK(daos_array_read(array, DAOS_TX_NONE, iod, buffer_of(&buffer, found, cells), NULL));
}

CHECK(a_full_read_of_a_byte_array_counts_its_cells, "arr_nr_read is the number of cells read; nothing is short")
{
    daos_array_iod_t iod;

    short_read(1, 4, &iod);
    EQUAL(iod.arr_nr_read, 4);
    EQUAL(iod.arr_nr_short_read, 0);
}

CHECK(a_short_read_of_a_byte_array_counts_its_cells, "a read across the end sets arr_nr_read and arr_nr_short_read")
{
    daos_array_iod_t iod;

    short_read(0, 10, &iod);
    EQUAL(iod.arr_nr_read, 6);
    HOLDS(iod.arr_nr_short_read != 0);
}

CHECK(a_read_beyond_the_end_of_a_byte_array_reads_no_cell, "a read beyond the end sets arr_nr_read to 0")
{
    daos_array_iod_t iod;

    short_read(100, 10, &iod);
    EQUAL(iod.arr_nr_read, 0);
    HOLDS(iod.arr_nr_short_read != 0);
}

CHECK(set_size_shrinks_an_array, "a smaller set_size removes the cells above it")
{
    daos_handle_t array = new_byte_array(4096);

    write_text(array, 0, "0123456789");
    OK(daos_array_set_size(array, DAOS_TX_NONE, 4, NULL));
    EQUAL(size_of(array), 4);
    reads(array, 0, "0123xx", 6);
}

CHECK(set_size_shrinks_across_chunks, "a smaller set_size punches the higher dkeys")
{
    daos_handle_t array = new_byte_array(4);

    write_text(array, 0, "0123456789abcdef");
    OK(daos_array_set_size(array, DAOS_TX_NONE, 6, NULL));
    EQUAL(size_of(array), 6);
    reads(array, 0, "012345xxxx", 10);
}

CHECK(set_size_grows_an_array, "a larger set_size writes one zero cell at its end")
{
    daos_handle_t array = new_byte_array(4096);

    write_text(array, 0, "four");
    OK(daos_array_set_size(array, DAOS_TX_NONE, 10, NULL));
    EQUAL(size_of(array), 10);
    reads(array, 0, "four\0\0\0\0\0\0", 10);
}

CHECK(set_size_grows_an_empty_array, "a larger set_size writes one zero cell at its end")
{
    daos_handle_t array = new_array(1, 16);

    OK(daos_array_set_size(array, DAOS_TX_NONE, 100, NULL));
    EQUAL(size_of(array), 100);
    reads(array, 98, "x\0", 2);
}

CHECK(set_size_to_zero_empties_an_array, "a smaller set_size removes the cells above it")
{
    daos_handle_t array = new_array(1, 16);

    write_text(array, 0, "0123456789abcdef0123");
    OK(daos_array_set_size(array, DAOS_TX_NONE, 0, NULL));
    EQUAL(size_of(array), 0);
}

CHECK(set_size_keeps_the_metadata, "an array of size 0 still exists")
{
    daos_obj_id_t oid = new_oid(DAOS_OT_ARRAY);
    daos_size_t cell = 0;
    daos_size_t chunk = 0;
    daos_handle_t array;

    OK(daos_array_create(container(), oid, DAOS_TX_NONE, 1, 16, &array, NULL));
    keep(KEPT_ARRAY, array);
    write_text(array, 0, "0123456789abcdef0123");
    OK(daos_array_set_size(array, DAOS_TX_NONE, 0, NULL));
    OK(daos_array_open(container(), oid, DAOS_TX_NONE, DAOS_OO_RO, &cell, &chunk, &array, NULL));
    keep(KEPT_ARRAY, array);
    EQUAL(chunk, 16);
}

CHECK(set_size_to_the_same_size_changes_nothing, "set_size to the present size keeps the cells")
{
    daos_handle_t array = new_byte_array(4096);

    write_text(array, 0, "0123456789");
    OK(daos_array_set_size(array, DAOS_TX_NONE, 10, NULL));
    EQUAL(size_of(array), 10);
    reads(array, 0, "0123456789", 10);
}

CHECK(cells_cut_off_do_not_come_back, "a smaller set_size removes the cells above it")
{
    daos_handle_t array = new_byte_array(8);

    write_text(array, 0, "0123456789abcdef");
    OK(daos_array_set_size(array, DAOS_TX_NONE, 4, NULL));
    OK(daos_array_set_size(array, DAOS_TX_NONE, 16, NULL));
    reads(array, 0, "0123\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

CHECK(set_size_to_a_hole_makes_the_last_cell_exist, "set_size makes sure that the last cell exists")
{
    daos_handle_t array = new_byte_array(8);

    write_text(array, 0, "ab");
    write_text(array, 30, "cd");
    OK(daos_array_set_size(array, DAOS_TX_NONE, 20, NULL));
    EQUAL(size_of(array), 20);
}

static void punch(daos_handle_t array, uint64_t index, uint64_t cells)
{
    daos_range_t range = {.rg_idx = index, .rg_len = cells};
    daos_array_iod_t iod = {.arr_nr = 1, .arr_rgs = &range};

    OK(daos_array_punch(array, DAOS_TX_NONE, &iod, NULL));
}

CHECK(a_punch_of_an_array_makes_a_hole, "a punch removes the cells of its ranges")
{
    daos_handle_t array = new_array(1, 4096);

    write_text(array, 0, "0123456789");
    punch(array, 2, 5);
    reads(array, 0, "01xxxxx789", 10);
}

CHECK(a_punch_of_a_byte_array_reads_as_zeros, "a punch removes the cells of its ranges")
{
    daos_handle_t array = new_byte_array(4096);

    write_text(array, 0, "0123456789");
    punch(array, 2, 5);
    reads(array, 0, "01\0\0\0\0\0" "789", 10);
}

CHECK(a_punch_across_chunks_makes_a_hole, "a punch removes the cells of its ranges")
{
    daos_handle_t array = new_array(1, 4);

    write_text(array, 0, "0123456789abcdef");
    punch(array, 2, 11);
    reads(array, 0, "01xxxxxxxxxxxdef", 16);
}

CHECK(a_punch_in_the_middle_keeps_the_size, "get_size comes from the highest dkey and its highest cell")
{
    daos_handle_t array = new_array(1, 4096);

    write_text(array, 0, "0123456789");
    punch(array, 2, 5);
    EQUAL(size_of(array), 10);
}

CHECK(a_punch_at_the_end_takes_the_size_back, "get_size comes from the highest dkey and its highest cell")
{
    daos_handle_t array = new_array(1, 8);

    write_text(array, 0, "0123456789abcdef");
    punch(array, 5, 11);
    EQUAL(size_of(array), 5);
    punch(array, 0, 5);
    EQUAL(size_of(array), 0);
}

CHECK(a_read_behind_a_punch_at_the_end_of_a_byte_array_is_short, "beyond the end the buffer is untouched")
{
    daos_handle_t array = new_byte_array(4096);

    write_text(array, 0, "ab");
    write_text(array, 4, "cdef");
    punch(array, 6, 2);
    EQUAL(size_of(array), 6);
    reads(array, 0, "ab\0\0cdxx", 8);
}

CHECK(a_hole_that_two_buffers_share_leaves_both_alone, "holes of ARRAY leave the buffer untouched")
{
    daos_handle_t array = new_array(2, 512);
    daos_range_t ranges[2] = {{.rg_idx = 0, .rg_len = 4}, {.rg_idx = 10, .rg_len = 2}};
    daos_array_iod_t iod = {.arr_nr = 2, .arr_rgs = ranges};
    char first[5];
    char second[7];
    d_iov_t iovs[2];
    d_sg_list_t list = {.sg_nr = 2, .sg_iovs = iovs};

    OK(write_range(array, DAOS_TX_NONE, 0, 1, "ab", 2));
    OK(write_range(array, DAOS_TX_NONE, 3, 1, "gh", 2));
    OK(write_range(array, DAOS_TX_NONE, 11, 1, "kl", 2));
    memset(first, 'x', sizeof(first));
    memset(second, 'x', sizeof(second));
    d_iov_set(&iovs[0], first, sizeof(first));
    d_iov_set(&iovs[1], second, sizeof(second));
    OK(daos_array_read(array, DAOS_TX_NONE, &iod, &list, NULL));
    BYTES(first, "abxxx", 5);
    BYTES(second, "xghxxkl", 7);
}

CHECK(a_punched_range_may_be_written_again, "a write after a punch is visible")
{
    daos_handle_t array = new_array(1, 4096);

    write_text(array, 0, "0123456789");
    punch(array, 2, 5);
    write_text(array, 3, "ab");
    reads(array, 0, "01xabxx789", 10);
}

CHECK(stat_names_the_size, "array_stat returns the size in st_size")
{
    daos_handle_t array = new_byte_array(4096);
    daos_array_stbuf_t stat;

    memset(&stat, 0, sizeof(stat));
    write_text(array, 10, "four");
    OK(daos_array_stat(array, DAOS_TX_NONE, &stat, NULL));
    EQUAL(stat.st_size, 14);
}

CHECK(the_attributes_are_those_of_the_creation, "array_get_attr returns the chunk size and the cell size")
{
    daos_size_t cell = 0;
    daos_size_t chunk = 0;

    OK(daos_array_get_attr(new_array(8, 512), &chunk, &cell));
    EQUAL(chunk, 512);
    EQUAL(cell, 8);
}

CHECK(the_attributes_are_those_of_the_opening, "array_get_attr returns the chunk size and the cell size")
{
    daos_size_t cell = 0;
    daos_size_t chunk = 0;

    OK(daos_array_get_attr(new_byte_array(12345), &chunk, &cell));
    EQUAL(chunk, 12345);
    EQUAL(cell, 1);
}
