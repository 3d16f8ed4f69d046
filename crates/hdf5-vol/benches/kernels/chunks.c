/* A dataset that all ranks write in whole chunks of 1 MiB: rank r of R has rows r, r + R, ... Each reads what the rank after it has written.

   Options: --rows N (rows of each rank), --calls independent|collective. */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { WIDTH = 1 << 17 };
enum { MIB = 1 << 20 };

static const char *const CALLS[] = {"independent", "collective", NULL};

static hid_t access_list, transfer_list;
static hsize_t rows;

/* What the rows of a rank hold: no two elements of a row are equal, and no two rows. */
static long long value_of(hsize_t row, hsize_t column)
{
    return (long long)(row * WIDTH + column) * 31 + 7;
}

static hsize_t row_of(int owner, hsize_t number)
{
    return number * (hsize_t)ranks + (hsize_t)owner;
}

/* Moves the rows of a rank between memory and the dataset, a call for each. */
static void move(hid_t dataset, int owner, long long *values, bool writes)
{
    hsize_t count[2] = {1, WIDTH};
    hid_t in_file = (hid_t)H5(H5Dget_space(dataset)), in_memory = (hid_t)H5(H5Screate_simple(2, count, NULL));
    for (hsize_t number = 0; number < rows; number++) {
        hsize_t start[2] = {row_of(owner, number), 0};
        H5(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL));
        long long *row = values + number * WIDTH;
        if (writes)
            H5(H5Dwrite(dataset, H5T_NATIVE_LLONG, in_memory, in_file, transfer_list, row));
        else
            H5(H5Dread(dataset, H5T_NATIVE_LLONG, in_memory, in_file, transfer_list, row));
    }
    H5(H5Sclose(in_memory));
    H5(H5Sclose(in_file));
}

static void write_all(long long *values)
{
    hid_t file = (hid_t)H5(H5Fcreate("chunks.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access_list));
    hsize_t all[2] = {rows * (hsize_t)ranks, WIDTH}, chunk[2] = {1, WIDTH};
    hid_t space = (hid_t)H5(H5Screate_simple(2, all, NULL)), layout = (hid_t)H5(H5Pcreate(H5P_DATASET_CREATE));
    H5(H5Pset_chunk(layout, 2, chunk));
    hid_t dataset = (hid_t)H5(H5Dcreate2(file, "x", H5T_NATIVE_LLONG, space, H5P_DEFAULT, layout, H5P_DEFAULT));
    move(dataset, rank, values, true);
    H5(H5Dclose(dataset));
    H5(H5Pclose(layout));
    H5(H5Sclose(space));
    H5(H5Fclose(file));
}

static void read_all(int owner, long long *values)
{
    hid_t file = (hid_t)H5(H5Fopen("chunks.h5", H5F_ACC_RDONLY, access_list));
    hid_t dataset = (hid_t)H5(H5Dopen2(file, "x", H5P_DEFAULT));
    move(dataset, owner, values, false);
    H5(H5Dclose(dataset));
    H5(H5Fclose(file));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    only_options(argc, argv, (const char *const[]){"rows", "calls", NULL});
    rows = (hsize_t)option(argc, argv, "rows", 1, 16);
    int calls = choice(argc, argv, "calls", CALLS);
    access_list = (hid_t)H5(H5Pcreate(H5P_FILE_ACCESS));
    H5(H5Pset_fapl_mpio(access_list, MPI_COMM_WORLD, MPI_INFO_NULL));
    transfer_list = (hid_t)H5(H5Pcreate(H5P_DATASET_XFER));
    H5(H5Pset_dxpl_mpio(transfer_list, calls == 0 ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE));

    long long *values = memory((long long)rows * WIDTH, sizeof *values);
    for (hsize_t at = 0; at < rows * WIDTH; at++)
        values[at] = value_of(row_of(rank, at / WIDTH), at % WIDTH);
    double began = phase_begin();
    write_all(values);
    double write_seconds = phase_seconds(began);

    int owner = (rank + 1) % ranks;
    memset(values, 0xff, rows * MIB);
    began = phase_begin();
    read_all(owner, values);
    double read_seconds = phase_seconds(began);
    for (hsize_t at = 0; at < rows * WIDTH; at++)
        expect(values[at] == value_of(row_of(owner, at / WIDTH), at % WIDTH));

    long long bytes = (long long)rows * ranks * MIB;
    report_begin("chunks");
    report_text("calls", CALLS[calls]);
    report_count("bytes", bytes);
    report_phase("write", bytes, write_seconds);
    report_phase("read", bytes, read_seconds);
    free(values);
    H5(H5Pclose(access_list));
    H5(H5Pclose(transfer_list));
    return end();
}
