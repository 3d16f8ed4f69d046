/* Asynchronous calls (`..._async`) and event sets: what they leave is what the calls without them leave. */
#include "check.h"

enum { ROWS = 64, COLUMNS = 500, MANY = 8 };

static int out[MANY][ROWS][COLUMNS], in[MANY][ROWS][COLUMNS];

static void fill(int first)
{
    for (int i = 0; i < MANY * ROWS * COLUMNS; i++)
        (&out[0][0][0])[i] = first + i;
}

static void wait_for(hid_t set, const char *what)
{
    size_t going = 99;
    bool failed = true;
    DONE(H5ESwait(set, H5ES_WAIT_FOREVER, &going, &failed), "wait: %s", what);
    check(going == 0 && !failed, "nothing goes on, nothing failed: %s", what);
}

static hid_t list_of(int number)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[2] = {17, 99};
    if (number % 4 > 0)
        H5Pset_chunk(list, 2, chunk);
    if (number % 4 == 2) {
        H5Pset_shuffle(list);
        H5Pset_deflate(list, 1);
    }
    return list;
}

/* Each dataset is created, written and closed before the last one is written. */
static void written(hid_t set)
{
    hid_t file = H5Fcreate_async(path("asynchronous.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT, set);
    hid_t space = space_of(ROWS, COLUMNS, 0);
    DONE(file, "create a file");
    fill(1);
    for (int number = 0; number < MANY; number++) {
        char name[16];
        hid_t list = list_of(number), dataset;
        snprintf(name, sizeof name, "d%d", number);
        dataset = H5Dcreate_async(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT, set);
        DONE(dataset, "create %s", name);
        DONE(H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, out[number], set), "write %s", name);
        put_int(dataset, "number", number);
        DONE(H5Dclose_async(dataset, set), "close %s", name);
        H5Pclose(list);
    }
    DONE(H5Fflush_async(file, H5F_SCOPE_GLOBAL, set), "flush");
    DONE(H5Fclose_async(file, set), "close the file");
    wait_for(set, "datasets");
    H5Sclose(space);
}

static void read_back(hid_t set)
{
    hid_t file = open_file("asynchronous.h5", false), dataset[MANY];
    memset(in, 0, sizeof in);
    for (int number = 0; number < MANY; number++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", number);
        dataset[number] = H5Dopen_async(file, name, H5P_DEFAULT, set);
        DONE(H5Dread_async(dataset[number], H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in[number], set), "read %s", name);
    }
    wait_for(set, "reads");
    check(memcmp(in, out, sizeof in) == 0, "all elements");
    for (int number = 0; number < MANY; number++) {
        check(int_of(dataset[number], "number") == number, "attribute of %d", number);
        H5Dclose(dataset[number]);
    }
    H5Fclose(file);
}

/* A dataset of four chunks, the first of which is written in the background. */
static hid_t chunk_under_way(hid_t file, const char *name, hid_t set)
{
    hsize_t sizes[2] = {ROWS, COLUMNS}, most[2] = {H5S_UNLIMITED, COLUMNS}, chunk[2] = {ROWS / 4, COLUMNS}, start[2] = {0, 0};
    hid_t space = H5Screate_simple(2, sizes, most), list = H5Pcreate(H5P_DATASET_CREATE), dataset;
    H5Pset_chunk(list, 2, chunk);
    dataset = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, chunk, NULL);
    DONE(H5Dwrite_async(dataset, H5T_NATIVE_INT, space, space, H5P_DEFAULT, out[0], set), "write a chunk of %s", name);
    H5Pclose(list);
    H5Sclose(space);
    return dataset;
}

/* Functions that show elements see those of a transfer that was not waited for. */
static void sees_what_was_written(hid_t file, hid_t set)
{
    hsize_t corner[2] = {0, 0}, sizes[2] = {5, COLUMNS}, count = 0;
    size_t bytes = sizeof out[0] / 4;
    H5D_space_status_t status;
    unsigned mask = 9;
    hid_t dataset = chunk_under_way(file, "size", set), source, list, space;
    check(H5Dget_storage_size(dataset) == bytes, "its stored size");
    H5Dclose(dataset);
    dataset = chunk_under_way(file, "status", set);
    check(H5Dget_space_status(dataset, &status) >= 0 && status == H5D_SPACE_STATUS_PART_ALLOCATED, "that a part is stored");
    H5Dclose(dataset);
    dataset = chunk_under_way(file, "count", set);
    check(H5Dget_num_chunks(dataset, H5S_ALL, &count) >= 0 && count == 1, "the number of its chunks");
    H5Dclose(dataset);
    dataset = chunk_under_way(file, "stored", set);
#if H5_VERS_MAJOR >= 2
    check(H5Dread_chunk2(dataset, H5P_DEFAULT, corner, &mask, in[0], &bytes) >= 0 && mask == 0, "read the stored chunk");
#else
    check(H5Dread_chunk(dataset, H5P_DEFAULT, corner, &mask, in[0]) >= 0 && mask == 0, "read the stored chunk");
#endif
    check(memcmp(in[0], out[0], bytes) == 0, "its bytes");
    H5Dclose(dataset);
    dataset = chunk_under_way(file, "extent", set);
    DONE(H5Dset_extent(dataset, sizes), "set the extent");
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in[0]) >= 0, "read the rest");
    check(memcmp(in[0], out[0], 5 * COLUMNS * sizeof in[0][0][0]) == 0, "the rest");
    H5Dclose(dataset);
    source = chunk_under_way(file, "source", set);
    list = H5Pcreate(H5P_DATASET_CREATE);
    space = space_of(ROWS, COLUMNS, 0);
    H5Pset_virtual(list, space, ".", "/source", space);
    dataset = H5Dcreate2(file, "virtual", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in[0]) >= 0, "read a virtual dataset");
    check(memcmp(in[0], out[0], bytes) == 0, "the elements of its source");
    H5Sclose(space);
    H5Pclose(list);
    H5Dclose(dataset);
    H5Dclose(source);
    wait_for(set, "chunks");
}

/* Calls without an event set come after all that was asked for before. */
static void in_order(hid_t set)
{
    hid_t file = open_file("asynchronous.h5", true), dataset = H5Dopen2(file, "d2", H5P_DEFAULT), space = space_of(ROWS, COLUMNS, 0);
    hsize_t start[2] = {3, 5}, stride[2] = {4, 7}, count[2] = {10, 60}, sizes[2] = {ROWS, COLUMNS};
    double real[ROWS];
    hid_t half = H5Screate_simple(2, sizes, NULL), copy, lines = space_of(ROWS, 0, 0), numbers;
    fill(1000);
    for (int round = 0; round < 4; round++) {
        DONE(H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, out[round], set), "write all, round %d", round);
    }
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in[0]) >= 0, "read without waiting");
    check(memcmp(in[0], out[3], sizeof in[0]) == 0, "the last of four writes");
    wait_for(set, "four writes");

    H5Sselect_hyperslab(half, H5S_SELECT_SET, start, stride, count, NULL);
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            out[0][row][column] = -1;
    DONE(H5Dwrite_async(dataset, H5T_NATIVE_INT, half, half, H5P_DEFAULT, out[0], set), "write a part from a part of memory");
    DONE(H5Ocopy(file, "d2", file, "copy", H5P_DEFAULT, H5P_DEFAULT), "copy without waiting");
    wait_for(set, "a part");
    copy = H5Dopen2(file, "copy", H5P_DEFAULT);
    memset(in[1], 0, sizeof in[1]);
    DONE(H5Dread_async(copy, H5T_NATIVE_INT, half, half, H5P_DEFAULT, in[1], set), "read a part of the copy into a part of memory");
    DONE(H5Dread_async(copy, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in[2], set), "read the copy");
    wait_for(set, "the copy");
    int wrong = 0;
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < COLUMNS; column++) {
            bool is_part = row >= 3 && (row - 3) % 4 == 0 && (row - 3) / 4 < 10 && column >= 5 && (column - 5) % 7 == 0 && (column - 5) / 7 < 60;
            wrong += in[1][row][column] != (is_part ? -1 : 0) || in[2][row][column] != (is_part ? -1 : out[3][row][column]);
        }
    check(wrong == 0, "the part and nothing else");

    numbers = H5Dcreate2(file, "numbers", H5T_IEEE_F32BE, lines, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int row = 0; row < ROWS; row++)
        real[row] = row / 4.0;
    DONE(H5Dwrite_async(numbers, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, real, set), "write numbers of another type");
    memset(real, 0, sizeof real);
    DONE(H5Dread_async(numbers, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, real, set), "read them");
    wait_for(set, "numbers");
    check(real[0] == 0 && real[1] == 0.25 && real[ROWS - 1] == (ROWS - 1) / 4.0, "numbers of another type");

    sees_what_was_written(file, set);
    DONE(H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, out[1], set), "write before a link is removed");
    DONE(H5Ldelete(file, "d2", H5P_DEFAULT), "remove the link");
    DONE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in[0]), "read what has no link");
    check(memcmp(in[0], out[1], sizeof in[0]) == 0, "its last values");
    wait_for(set, "a dataset without links");
    H5Dclose(numbers);
    H5Dclose(copy);
    H5Dclose(dataset);
    H5Sclose(half);
    H5Sclose(lines);
    H5Sclose(space);
    H5Fclose(file);
}

static void refused(hid_t set)
{
    hid_t file = open_file("asynchronous.h5", false), dataset = H5Dopen2(file, "d1", H5P_DEFAULT), few = space_of(3, 0, 0);
    REFUSED(H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, out, set), "to write a file that is open for reading");
    REFUSED(H5Dread_async(dataset, H5T_NATIVE_INT, few, H5S_ALL, H5P_DEFAULT, in, set), "selections of two sizes");
    REFUSED(H5Dread_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, NULL, set), "no memory");
    wait_for(set, "what was refused");
    H5Sclose(few);
    H5Dclose(dataset);
    H5Fclose(file);
}

void check_asynchronous(void)
{
    hid_t set = H5EScreate();
    DONE(set, "an event set");
    written(set);
    read_back(set);
    in_order(set);
    refused(set);
    DONE(H5ESclose(set), "close the event set");
}
