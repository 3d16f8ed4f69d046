/* Datasets that grow and shrink, against an array in memory. */
#include "check.h"

enum { MOST = 24 };

static int model[MOST][MOST];
static hsize_t rows, columns;

static void same(hid_t dataset, const char *when)
{
    int *in = malloc((rows * columns + 1) * sizeof *in);
    bool good = H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0;
    for (hsize_t r = 0; r < rows; r++)
        for (hsize_t c = 0; c < columns; c++)
            good = good && in[r * columns + c] == model[r][c];
    check(good, "%s: all values of %d x %d", when, (int)rows, (int)columns);
    free(in);
}

static void resize(hid_t dataset, hsize_t new_rows, hsize_t new_columns, int fill)
{
    hsize_t sizes[2] = {new_rows, new_columns};
    DONE(H5Dset_extent(dataset, sizes), "set the extent to %d x %d", (int)new_rows, (int)new_columns);
    for (hsize_t r = 0; r < MOST; r++)
        for (hsize_t c = 0; c < MOST; c++)
            if (r >= new_rows || c >= new_columns || r >= rows || c >= columns)
                model[r][c] = fill;
    rows = new_rows;
    columns = new_columns;
    same(dataset, "resized");
}

static void write_block(hid_t dataset, hsize_t row, hsize_t column, hsize_t height, hsize_t width, int first)
{
    hsize_t start[2] = {row, column}, count[2] = {height, width};
    hid_t space = H5Dget_space(dataset), memory = space_of(height, width, 0);
    int values[MOST * MOST];
    for (hsize_t i = 0; i < height * width; i++) {
        values[i] = first + (int)i;
        model[row + i / width][column + i % width] = values[i];
    }
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    check(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values) >= 0, "write a block of %d x %d", (int)height, (int)width);
    H5Sclose(space);
    H5Sclose(memory);
    same(dataset, "written");
}

static void grow_and_shrink(int with_filter, int fill)
{
    hid_t file = new_file("extents.h5"), list = H5Pcreate(H5P_DATASET_CREATE), space, dataset, there;
    hsize_t sizes[2] = {5, 6}, most[2] = {H5S_UNLIMITED, MOST}, chunk[2] = {4, 5}, read[2], limits[2];
    H5Pset_chunk(list, 2, chunk);
    H5Pset_fill_value(list, H5T_NATIVE_INT, &fill);
    if (with_filter) {
        H5Pset_shuffle(list);
        H5Pset_deflate(list, 4);
    }
    space = H5Screate_simple(2, sizes, most);
    dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    DONE(dataset, "a dataset that can grow");
    H5Pclose(list);
    H5Sclose(space);
    rows = 5, columns = 6;
    for (int i = 0; i < MOST * MOST; i++)
        model[i / MOST][i % MOST] = fill;
    same(dataset, "new");
    write_block(dataset, 0, 0, 5, 6, 1);
    resize(dataset, 9, 6, fill);
    write_block(dataset, 7, 1, 2, 4, 1000);
    resize(dataset, 9, 20, fill);
    write_block(dataset, 3, 3, 5, 16, 2000);
    resize(dataset, 6, 7, fill);
    resize(dataset, 20, 24, fill);
    write_block(dataset, 0, 0, 20, 24, 3000);
    resize(dataset, 4, 5, fill);
    resize(dataset, 0, 5, fill);
    resize(dataset, 8, 8, fill);
    write_block(dataset, 2, 2, 3, 3, 4000);
    H5Dclose(dataset);
    H5Fclose(file);
    file = open_file("extents.h5", true);
    dataset = H5Dopen2(file, "d", H5P_DEFAULT);
    same(dataset, "again");
    space = H5Dget_space(dataset);
    check(H5Sget_simple_extent_dims(space, read, limits) == 2 && read[0] == 8 && read[1] == 8, "the extent");
    check(limits[0] == H5S_UNLIMITED && limits[1] == MOST, "the largest extent");
    H5Sclose(space);
    hsize_t larger[2] = {8, MOST + 1};
    REFUSED(H5Dset_extent(dataset, larger), "an extent beyond the largest");
    there = H5Dget_create_plist(dataset);
    check(H5Pget_chunk(there, 2, read) == 2 && read[0] == 4 && read[1] == 5, "the chunk");
    show("filters", H5Pget_nfilters(there));
    H5Pclose(there);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void appending(void)
{
    hid_t file = new_file("appending.h5"), list = H5Pcreate(H5P_DATASET_CREATE), space, dataset;
    hsize_t size = 0, most = H5S_UNLIMITED, chunk = 16, one = 1;
    H5Pset_chunk(list, 1, &chunk);
    space = H5Screate_simple(1, &size, &most);
    dataset = H5Dcreate2(file, "series", H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(list);
    bool good = true;
    hid_t memory = H5Screate_simple(1, &one, NULL);
    for (int i = 0; i < 100; i++) {
        double value = i / 2.0;
        hsize_t start = (hsize_t)i;
        size = (hsize_t)i + 1;
        good = good && H5Dset_extent(dataset, &size) >= 0;
        space = H5Dget_space(dataset);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &one, NULL);
        good = good && H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0;
        H5Sclose(space);
        if (i % 10 == 9)
            good = good && H5Dflush(dataset) >= 0;
    }
    check(good, "append a hundred values one by one");
    double values[100];
    check(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && values[99] == 49.5 && values[17] == 8.5, "they are there");
    H5Sclose(memory);
    H5Dclose(dataset);
    H5Fclose(file);
}

void check_extents(void)
{
    grow_and_shrink(0, 0);
    grow_and_shrink(0, -7);
    grow_and_shrink(1, 3);
    appending();
}
