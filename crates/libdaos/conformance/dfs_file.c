/*
 * The file system: files opened, written, read, cut off.
 */
#define _XOPEN_SOURCE 700
#include "dfs_check.h"

#include <stdlib.h>

SUBJECT(dfs_file);

static int open_file(const char *name, int flags)
{
    return open_status(NULL, name, S_IFREG | 0644, flags, NULL);
}

static dfs_obj_t *opened(const char *name, int flags)
{
    dfs_obj_t *node = NULL;

    OK(dfs_open(file_system(), NULL, name, S_IFREG | 0644, flags, 0, 0, NULL, &node));
    return keep_node(node);
}

static daos_size_t size_of(dfs_obj_t *file)
{
    daos_size_t size = ~0ULL;

    OK(dfs_get_size(file_system(), file, &size));
    return size;
}

static int write_status(dfs_obj_t *file, const char *text)
{
    return dfs_write(file_system(), file, BUFFER(text, strlen(text)), 0, NULL);
}

CHECK(a_new_file_is_empty, "a file that was just made has size 0")
{
    EQUAL(size_of(new_file(NULL, "f")), 0);
}

CHECK(what_is_written_is_read, "dfs_read returns the bytes that dfs_write wrote, and their number")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "eleven char");

    file_reads(file, 0, 11, "eleven char", 11);
    EQUAL(size_of(file), 11);
}

CHECK(a_file_is_read_through_another_handle, "what is written is seen by everyone when the call returns")
{
    write_file(new_file(NULL, "f"), 0, "seen");
    file_holds("/f", "seen");
}

CHECK(a_read_at_the_end_is_short, "a read past the end returns the bytes that are there, and their number")
{
    file_reads(write_file(new_file(NULL, "f"), 0, "0123456789"), 6, 10, "6789", 4);
}

CHECK(a_read_behind_the_end_finds_nothing, "a read that begins at or behind the end returns 0 bytes")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "0123");

    file_reads(file, 4, 4, "", 0);
    file_reads(file, 4096, 4, "", 0);
}

CHECK(a_read_of_nothing_succeeds, "a read without room returns 0 bytes")
{
    EQUAL(read_bytes(new_file(NULL, "f"), 0, NULL, 0), 0);
}

CHECK(a_hole_reads_as_zeros, "bytes below the end that were never written read as zeros")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 100, "tail");
    char expected[104] = {0};

    memcpy(expected + 100, "tail", 4);
    EQUAL(size_of(file), 104);
    file_reads(file, 0, 104, expected, 104);
}

CHECK(a_hole_across_chunks_reads_as_zeros, "holes are zeros wherever chunks end")
{
    dfs_obj_t *file = new_file(NULL, "f");
    size_t size = 3 * DFS_DEFAULT_CHUNK_SIZE;
    char *found = malloc(size);
    size_t others = 0;

    memset(found, 'x', size);
    write_file(file, size - 3, "end");
    EQUAL(read_bytes(file, 0, found, size), size);
    for (size_t i = 0; i < size - 3; i++)
        others += found[i] != 0;
    EQUAL(others, 0);
    BYTES(found + size - 3, "end", 3);
    free(found);
}

CHECK(bytes_across_chunks_come_back, "a write may cross the ends of chunks")
{
    dfs_obj_t *file = new_file(NULL, "f");
    size_t size = 2 * DFS_DEFAULT_CHUNK_SIZE + 777;
    unsigned char *bytes = malloc(size), *found = calloc(1, size);

    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 31 + i / 251);
    OK(dfs_write(file_system(), file, BUFFER(bytes, size), 5, NULL));
    EQUAL(read_bytes(file, 5, found, size), size);
    BYTES(found, bytes, size);
    free(bytes);
    free(found);
}

CHECK(a_write_replaces_bytes_and_keeps_others, "a write changes the bytes of its range and no others")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "0123456789");

    write_file(file, 3, "abc");
    file_holds("/f", "012abc6789");
}

CHECK(several_buffers_are_written_in_order, "the buffers of a list follow each other in the file")
{
    dfs_obj_t *file = new_file(NULL, "f");

    OK(dfs_write(file_system(), file, BUFFERS(iov_of("one", 3), iov_of("two", 3), iov_of("three", 5)), 0, NULL));
    file_holds("/f", "onetwothree");
}

CHECK(ranges_are_written_and_read, "dfs_writex and dfs_readx move the bytes of a list of ranges")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "..........");
    dfs_iod_t iod = {.iod_nr = 2, .iod_rgs = (daos_range_t[]){{0, 2}, {6, 3}}};
    char found[8] = {0};
    daos_size_t size = 0;

    OK(dfs_writex(file_system(), file, &iod, BUFFER("abcde", 5), NULL));
    file_holds("/f", "ab....cde.");
    OK(dfs_readx(file_system(), file, &iod, BUFFER(found, 5), &size, NULL));
    EQUAL(size, 5);
    TEXT(found, "abcde");
}

CHECK(without_ranges_nothing_is_looked_at, "dfs_readx and dfs_writex of no range give 0, whatever the buffers are")
{
    dfs_obj_t *file = new_file(NULL, "f");
    char bytes[] = "bytes";
    dfs_iod_t iod = {.iod_nr = 0};
    daos_size_t size = 7;

    OK(dfs_writex(file_system(), file, &iod, NULL, NULL));
    OK(dfs_writex(file_system(), file, &iod, BUFFER(bytes, 5), NULL));
    OK(dfs_readx(file_system(), file, &iod, NULL, &size, NULL));
    OK(dfs_readx(file_system(), file, &iod, BUFFER(bytes, 5), &size, NULL));
    EQUAL(size, 7);
    EQUAL(size_of(file), 0);
}

/* Makes an event of a new queue, which is returned. */
static daos_handle_t new_event(daos_event_t *event)
{
    daos_handle_t queue;

    OK(daos_eq_create(&queue));
    OK(daos_event_init(event, keep(KEPT_QUEUE, queue), NULL));
    return queue;
}

CHECK(a_wrong_argument_is_told_by_the_call, "what is wrong with the arguments is what the call gives, and its event is not begun")
{
    static char bytes[] = "bytes";
    static daos_size_t size;
    dfs_obj_t *file = new_file(NULL, "f");
    dfs_obj_t *reader = opened("f", O_RDONLY);
    dfs_obj_t *writer = opened("f", O_WRONLY);
    dfs_obj_t *directory = new_directory(NULL, "d");
    d_sg_list_t *list = BUFFER(bytes, 5);
    daos_event_t event, *done;
    daos_handle_t queue = new_event(&event);

    REFUSES_WITH(dfs_read(file_system(), directory, list, 0, &size, &event), EINVAL);
    REFUSES_WITH(dfs_read(file_system(), file, list, 0, NULL, &event), EINVAL);
    REFUSES_WITH(dfs_read(file_system(), writer, list, 0, &size, &event), EPERM);
    REFUSES_WITH(dfs_write(file_system(), directory, list, 0, &event), EINVAL);
    REFUSES_WITH(dfs_write(file_system(), reader, list, 0, &event), EPERM);
    REFUSES_WITH(dfs_writex(file_system(), file, NULL, list, &event), EINVAL);
    EQUAL(daos_eq_poll(queue, 1, DAOS_EQ_WAIT, 1, &done), 0);
    OK(daos_event_fini(&event));
}

CHECK(an_event_tells_the_end_of_a_read, "with an event the number of the call is in the event")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "later");
    daos_event_t event, *done;
    daos_handle_t queue = new_event(&event);
    daos_size_t size = 0;
    char found[8] = {0};

    OK(dfs_read(file_system(), file, BUFFER(found, 5), 0, &size, &event));
    EQUAL(daos_eq_poll(queue, 0, 1000000, 1, &done), 1);
    EQUAL(event.ev_error, 0);
    EQUAL(size, 5);
    TEXT(found, "later");
    OK(daos_event_fini(&event));
}

CHECK(open_of_a_missing_file_fails, "open without O_CREAT of what is not there gives ENOENT")
{
    REFUSES_WITH(open_file("missing", O_RDWR), ENOENT);
}

CHECK(an_exclusive_creation_of_what_is_there_fails, "O_CREAT with O_EXCL of an entry that is there gives EEXIST")
{
    write_file(new_file(NULL, "f"), 0, "first");
    REFUSES_WITH(open_file("f", O_RDWR | O_CREAT | O_EXCL), EEXIST);
    file_holds("/f", "first");
}

CHECK(a_creation_of_what_is_there_opens_it, "O_CREAT without O_EXCL opens an entry that is there, with its bytes")
{
    write_file(new_file(NULL, "f"), 0, "first");
    file_reads(opened("f", O_RDWR | O_CREAT), 0, 5, "first", 5);
}

CHECK(truncation_empties_a_file, "O_TRUNC makes an entry that is there empty")
{
    write_file(new_file(NULL, "f"), 0, "first");
    EQUAL(size_of(opened("f", O_RDWR | O_TRUNC)), 0);
    EQUAL(size_of(opened("f", O_RDONLY)), 0);
}

CHECK(truncation_with_creation_empties_a_file, "O_CREAT with O_TRUNC empties an entry that is there")
{
    write_file(new_file(NULL, "f"), 0, "first");
    EQUAL(size_of(opened("f", O_RDWR | O_CREAT | O_TRUNC)), 0);
}

CHECK(appending_is_not_supported, "O_APPEND gives ENOTSUP")
{
    REFUSES_WITH(open_file("f", O_RDWR | O_CREAT | O_APPEND), ENOTSUP);
}

CHECK(a_directory_is_not_opened_as_a_file, "open with S_IFREG of what is no file gives EINVAL")
{
    new_directory(NULL, "d");
    REFUSES_WITH(open_file("d", O_RDWR), EINVAL);
}

CHECK(a_file_is_not_opened_as_a_directory, "open with S_IFDIR of what is no directory gives ENOTDIR")
{
    new_file(NULL, "f");
    REFUSES_WITH(open_status(NULL, "f", S_IFDIR, O_RDONLY, NULL), ENOTDIR);
}

CHECK(a_file_is_no_parent, "a parent that is no directory gives ENOTDIR")
{
    dfs_obj_t *file = new_file(NULL, "f");

    REFUSES_WITH(open_status(file, "g", S_IFREG | 0644, O_RDWR | O_CREAT, NULL), ENOTDIR);
}

CHECK(a_mode_without_a_kind_is_invalid, "open needs S_IFREG, S_IFDIR or S_IFLNK, else EINVAL")
{
    REFUSES_WITH(open_status(NULL, "f", 0644, O_RDWR | O_CREAT, NULL), EINVAL);
}

CHECK(a_file_opened_for_reading_is_not_written, "a write to what was opened with O_RDONLY gives EPERM")
{
    new_file(NULL, "f");
    REFUSES_WITH(write_status(opened("f", O_RDONLY), "no"), EPERM);
}

CHECK(a_file_opened_for_writing_is_not_read, "a read of what was opened with O_WRONLY gives EPERM")
{
    char found[4];

    new_file(NULL, "f");
    REFUSES_WITH(
        dfs_read(file_system(), opened("f", O_WRONLY), BUFFER(found, 4), 0, IGNORED(daos_size_t), NULL), EPERM);
}

CHECK(a_directory_has_no_bytes, "reads and writes of a directory give EINVAL")
{
    dfs_obj_t *directory = new_directory(NULL, "d");

    REFUSES_WITH(write_status(directory, "no"), EINVAL);
    REFUSES_WITH(dfs_get_size(file_system(), directory, IGNORED(daos_size_t)), EINVAL);
}

#define PUNCHED(sentence, rule, text, offset, length, expected, size)                                                  \
    CHECK(sentence, rule)                                                                                              \
    {                                                                                                                  \
        dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, text);                                                    \
                                                                                                                       \
        OK(dfs_punch(file_system(), file, offset, length));                                                            \
        EQUAL(size_of(file), size);                                                                                    \
        file_reads(look_up("/f", O_RDONLY), 0, 16, expected, size);                                                    \
    }
PUNCHED(a_truncation_cuts_off_bytes, "a punch of DFS_MAX_FSIZE sets the size",
        "0123456789", 4, DFS_MAX_FSIZE, "0123", 4)
PUNCHED(a_truncation_lengthens_a_file, "a punch of DFS_MAX_FSIZE behind the end makes the file longer, with zeros",
        "0123", 8, DFS_MAX_FSIZE, "0123\0\0\0\0", 8)

CHECK(cut_off_bytes_do_not_come_back, "bytes that were cut off are zeros when the file is longer again")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "0123456789");

    OK(dfs_punch(file_system(), file, 2, DFS_MAX_FSIZE));
    OK(dfs_punch(file_system(), file, 10, DFS_MAX_FSIZE));
    file_reads(file, 0, 10, "01\0\0\0\0\0\0\0\0", 10);
}

PUNCHED(a_punch_makes_a_hole, "a punch within the file makes zeros and keeps the size",
        "0123456789", 2, 3, "01\0\0\0" "56789", 10)
PUNCHED(a_punch_up_to_the_end_cuts_off, "a punch that reaches the end makes the file shorter",
        "0123456789", 7, 100, "0123456", 7)
PUNCHED(a_punch_behind_the_end_does_nothing, "a punch that begins behind the end changes nothing",
        "0123", 4, 10, "0123", 4)

CHECK(the_chunk_size_is_that_of_the_file_system, "a file gets the chunk size of the file system where no other is given")
{
    daos_size_t size = 0;

    OK(dfs_get_chunk_size(new_file(NULL, "f"), &size));
    EQUAL(size, DFS_DEFAULT_CHUNK_SIZE);
}

CHECK(a_file_keeps_its_chunk_size, "the chunk size that a file is made with is kept with it")
{
    dfs_obj_t *node;
    daos_size_t size = 0;

    OK(dfs_open(file_system(), NULL, "f", S_IFREG | 0644, O_RDWR | O_CREAT, 0, 4096, NULL, &node));
    OK(dfs_release(node));
    OK(dfs_get_chunk_size(opened("f", O_RDONLY), &size));
    EQUAL(size, 4096);
}

CHECK(a_directory_gives_its_chunk_size_to_new_files, "dfs_obj_set_chunk_size counts for new files of the directory")
{
    dfs_obj_t *directory = new_directory(NULL, "d");
    daos_size_t size = 0;

    OK(dfs_obj_set_chunk_size(file_system(), directory, 0, 8192));
    OK(dfs_get_chunk_size(new_file(directory, "f"), &size));
    EQUAL(size, 8192);
    OK(dfs_get_chunk_size(new_file(look_up("/d", O_RDWR), "g"), &size));
    EQUAL(size, 8192);
}

CHECK(a_file_is_an_array_of_bytes, "dfs_get_file_oh gives the array that holds the bytes of the file")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "byte");
    daos_handle_t array;
    daos_obj_id_t oid;

    OK(dfs_get_file_oh(file, &array));
    reads(array, 0, "byte", 4);
    OK(dfs_obj2id(file, &oid));
    EQUAL(oid.hi >> 56, DAOS_OT_ARRAY_BYTE);
}

CHECK(a_file_has_the_class_it_was_made_with, "the object class is for what is made")
{
    dfs_obj_info_t info = {0};
    dfs_obj_t *node;

    OK(dfs_open(file_system(), NULL, "f", S_IFREG | 0644, O_RDWR | O_CREAT, OC_S1, 0, NULL, &node));
    OK(dfs_obj_get_info(file_system(), keep_node(node), &info));
    EQUAL(info.doi_oclass_id, OC_S1);
    EQUAL(info.doi_chunk_size, DFS_DEFAULT_CHUNK_SIZE);
}

CHECK(a_duplicate_is_another_handle, "dfs_dup opens the same again")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "twice"), *other;

    OK(dfs_dup(file_system(), file, O_RDONLY, &other));
    release(file);
    file_reads(keep_node(other), 0, 5, "twice", 5);
    REFUSES_WITH(write_status(other, "no"), EPERM);
}

CHECK(two_mounts_see_the_same_file, "a file written under one mount is read under another")
{
    dfs_obj_t *node;
    dfs_t *other;
    daos_size_t size = 0;

    write_file(new_file(NULL, "f"), 0, "both");
    OK(dfs_mount(pool(), file_system_container(), O_RDONLY, &other));
    OK(dfs_lookup(other, "/f", O_RDONLY, &node, NULL, NULL));
    OK(dfs_get_size(other, node, &size));
    EQUAL(size, 4);
    OK(dfs_release(node));
    OK(dfs_umount(other));
}
