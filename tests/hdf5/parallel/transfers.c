/* Transfers of rows: alone and together, contiguous and chunked, with chunks that several ranks have a part of. */
#include "parallel.h"

enum { ROWS = 37, COLUMNS = 24 };

static const struct {
    const char *name;
    hsize_t rows, columns, chunk_rows, chunk_columns;
} SHAPES[] = {
    {"contiguous", ROWS, COLUMNS, 0, 0},    {"small chunks", ROWS, COLUMNS, 4, 5},       {"one chunk", ROWS, COLUMNS, ROWS, COLUMNS},
    {"large chunks", ROWS, 2000, 5, 700},   {"wide contiguous", 300, 4000, 0, 0},
};

static void shapes(bool is_collective)
{
    char file_name[32];
    snprintf(file_name, sizeof file_name, "rows-%s.h5", mode(is_collective));
    hid_t file = shared_file(file_name);
    for (size_t i = 0; i < sizeof SHAPES / sizeof SHAPES[0]; i++) {
        hid_t dataset =
            grid(file, SHAPES[i].name, SHAPES[i].rows, SHAPES[i].columns, SHAPES[i].chunk_rows, SHAPES[i].chunk_columns, false);
        hid_t own = rows_space(dataset, rank), next = rows_space(dataset, (rank + 1) % size);
        check(write_selected(dataset, own, 5, is_collective), "write the rank's rows %s", mode(is_collective));
        check(holds(dataset, own, 5, false), "each rank reads its own");
        if (!is_collective)
            DONE(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
        MPI_Barrier(MPI_COMM_WORLD);
        check(holds(dataset, next, 5, false), "each rank reads those of the next one");
        check(holds_all(dataset, 5, true), "all ranks read all rows together");
        check(write_selected(dataset, next, 9, is_collective), "write over those of the next one");
        DONE(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
        check(holds_all(dataset, 9, false), "all ranks read all rows, alone");
        H5Sclose(own);
        H5Sclose(next);
        DONE(H5Dclose(dataset), "close the dataset");
    }
    DONE(H5Fclose(file), "close");
    file = open_shared(file_name, true);
    for (size_t i = 0; i < sizeof SHAPES / sizeof SHAPES[0]; i++) {
        hid_t dataset = H5Dopen2(file, SHAPES[i].name, H5P_DEFAULT), own = rows_space(dataset, rank);
        check(holds_all(dataset, 9, is_collective), "%s is there after opening", SHAPES[i].name);
        check(write_selected(dataset, own, 70, is_collective), "write over what is committed");
        H5Sclose(own);
        H5Dclose(dataset);
    }
    DONE(H5Fclose(file), "close");
    if (rank == 0)
        file = H5Fopen(path(file_name), H5F_ACC_RDONLY, H5P_DEFAULT);
    for (size_t i = 0; i < sizeof SHAPES / sizeof SHAPES[0]; i++) {
        bool same = true;
        if (rank == 0) {
            hid_t dataset = H5Dopen2(file, SHAPES[i].name, H5P_DEFAULT);
            same = holds_all(dataset, 70, false);
            H5Dclose(dataset);
        }
        check(same, "a process alone reads %s", SHAPES[i].name);
    }
    if (rank == 0)
        H5Fclose(file);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Every rank writes all of it, the same; and types that are converted. */
static void the_same(void)
{
    hid_t file = shared_file("same.h5"), dataset = grid(file, "d", ROWS, COLUMNS, 8, 8, false), space = H5Dget_space(dataset);
    check(write_selected(dataset, space, 3, true), "all ranks write all, together");
    check(holds_all(dataset, 3, true), "and read it");
    check(write_selected(dataset, space, 4, false), "all ranks write all, alone");
    DONE(H5Fflush(dataset, H5F_SCOPE_LOCAL), "flush");
    check(holds_all(dataset, 4, true), "and read it");
    hsize_t first, count;
    rows_of(rank, ROWS, &first, &count);
    hsize_t start[2] = {first, 0}, block[2] = {count, COLUMNS}, lengths[1] = {count * COLUMNS};
    double *values = malloc(count * COLUMNS * sizeof *values);
    for (hsize_t i = 0; i < count * COLUMNS; i++)
        values[i] = (double)(first * COLUMNS + i) + 6;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL);
    hid_t memory = H5Screate_simple(1, lengths, NULL);
    DONE(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, transfer(true), values), "write doubles to integers");
    check(holds_all(dataset, 6, true), "which are converted");
    free(values);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close");
}

/* Alternating elements of one chunk, and one element of each rank in turn. */
static void interleaved(bool is_collective)
{
    hid_t file = shared_file("turns.h5"), dataset = grid(file, "d", 1, (hsize_t)size * 100, 1, 64, false), space = H5Dget_space(dataset);
    hsize_t start[2] = {0, (hsize_t)rank}, stride[2] = {1, (hsize_t)size}, count[2] = {1, 100};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
    check(write_selected(dataset, space, 1, is_collective), "write every element in turn, %s", mode(is_collective));
    if (!is_collective)
        DONE(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
    check(holds_all(dataset, 1, is_collective), "all ranks read all of them");
    for (int turn = 0; turn < 3; turn++) {
        start[1] = (hsize_t)(rank + turn) % (hsize_t)size;
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
        check(write_selected(dataset, space, 10 * turn, is_collective), "write those of another rank");
        if (!is_collective)
            DONE(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
        check(holds_all(dataset, 10 * turn, is_collective), "all ranks read all of them");
    }
    H5Sclose(space);
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close");
}

/* A fill value where nobody has written, and one part written by one rank. */
static void fill(void)
{
    hid_t file = shared_file("fill.h5"), list = H5Pcreate(H5P_DATASET_CREATE), memory, space, dataset;
    hsize_t chunk[2] = {4, 4}, lengths[2] = {10, 10}, start[2] = {3, 3}, count[2] = {2, 2}, four = 4;
    int value = -1, values[100], put[4] = {1, 2, 3, 4};
    H5Pset_chunk(list, 2, chunk);
    H5Pset_fill_value(list, H5T_NATIVE_INT, &value);
    space = H5Screate_simple(2, lengths, NULL);
    dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    memory = H5Screate_simple(1, &four, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    if (rank == size - 1)
        check(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, transfer(false), put) >= 0, "the last rank writes alone");
    else
        check(true, "the last rank writes alone");
    DONE(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer(true), values) >= 0 && values[33] == 1 && values[44] == 4
              && values[0] == -1 && values[35] == -1 && values[99] == -1,
          "all ranks read it, and the fill value around it");
    H5Sclose(memory);
    H5Sclose(space);
    H5Pclose(list);
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close");
}

void check_transfers(void)
{
    shapes(true);
    shapes(false);
    the_same();
    interleaved(true);
    interleaved(false);
    fill();
}
