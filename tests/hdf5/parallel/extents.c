/* Extents that all ranks change together. */
#include "parallel.h"

static hsize_t rows_in(hid_t dataset)
{
    hid_t space = H5Dget_space(dataset);
    hsize_t lengths[2] = {0, 0};
    H5Sget_simple_extent_dims(space, lengths, NULL);
    H5Sclose(space);
    return lengths[0];
}

/* Each step adds a row for each rank, as programs that write time series do. */
static void append(hid_t file, hsize_t chunk_rows, hsize_t chunk_columns)
{
    char name[32];
    snprintf(name, sizeof name, "series %d", (int)chunk_rows);
    hid_t dataset = grid(file, name, 0, 16, chunk_rows, chunk_columns, true);
    for (hsize_t step = 0; step < 4; step++) {
        hsize_t lengths[2] = {(step + 1) * (hsize_t)size, 16}, start[2] = {step * (hsize_t)size + (hsize_t)rank, 0}, count[2] = {1, 16};
        DONE(H5Dset_extent(dataset, lengths), "make it longer");
        hid_t space = H5Dget_space(dataset);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
        check(write_selected(dataset, space, 1, true), "write a row of each rank");
        check(holds_all(dataset, 1, step % 2), "all rows are there, read %s", mode(step % 2));
        H5Sclose(space);
        if (step == 1)
            DONE(H5Fflush(file, H5F_SCOPE_LOCAL), "flush in between");
    }
    check(rows_in(dataset) == 4 * (hsize_t)size, "it has four rows of each rank");
    H5Dclose(dataset);
}

/* Sets the extent and opens the dataset again: native HDF5 1.14 fails on reading chunks that it has kept while the extent became smaller. */
static void resize(hid_t file, const char *name, hid_t *dataset, const hsize_t *lengths, const char *what)
{
    DONE(H5Dset_extent(*dataset, lengths), "%s", what);
    H5Dclose(*dataset);
    *dataset = H5Dopen2(file, name, H5P_DEFAULT);
}

static void shrink(hid_t file, bool flushes)
{
    const char *name = flushes ? "committed" : "not committed";
    hid_t dataset = grid(file, name, 30, 10, 4, 4, true), own = rows_space(dataset, rank), space;
    hsize_t shorter[2] = {13, 10}, longer[2] = {30, 10}, kept[2] = {13, 10}, start[2] = {0, 0}, narrower[2] = {13, 7}, wider[2] = {13, 10};
    int values[300];
    check(write_selected(dataset, own, 1, !flushes), "write rows %s", mode(!flushes));
    if (flushes)
        DONE(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
    resize(file, name, &dataset, shorter, "cut rows off");
    check(rows_in(dataset) == 13, "there are fewer rows");
    check(holds_all(dataset, 1, true), "those that are left are as they were");
    resize(file, name, &dataset, longer, "make it as long as it was");
    space = H5Dget_space(dataset);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, kept, NULL);
    check(holds(dataset, space, 1, false), "the kept rows are there");
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer(true), values) >= 0 && values[130] == 0 && values[299] == 0,
          "what was cut off is gone");
    H5Sclose(space);
    resize(file, name, &dataset, shorter, "cut rows off again");
    resize(file, name, &dataset, narrower, "cut columns off");
    resize(file, name, &dataset, wider, "and add them");
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer(false), values) >= 0 && values[6] == 7 && values[7] == 0
              && values[126] == 127 && values[129] == 0,
          "the columns are empty");
    H5Sclose(own);
    H5Dclose(dataset);
}

void check_extents(void)
{
    hid_t file = shared_file("extents.h5");
    append(file, 1, 16);
    append(file, 3, 5);
    append(file, 64, 16);
    shrink(file, false);
    shrink(file, true);
    hid_t fixed = grid(file, "fixed", 4, 4, 2, 2, false);
    hsize_t more[2] = {5, 4}, less[2] = {3, 4};
    REFUSED(H5Dset_extent(fixed, more), "more rows than it may have");
    DONE(H5Dset_extent(fixed, less), "fewer rows");
    check(rows_in(fixed) == 3, "they count");
    H5Dclose(fixed);
    DONE(H5Fclose(file), "close");
    file = open_shared("extents.h5", false);
    hid_t dataset = H5Dopen2(file, "series 3", H5P_DEFAULT);
    check(holds_all(dataset, 1, true), "the series is there after opening");
    H5Dclose(dataset);
    dataset = H5Dopen2(file, "committed", H5P_DEFAULT);
    check(rows_in(dataset) == 13, "so is the extent");
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close");
}
