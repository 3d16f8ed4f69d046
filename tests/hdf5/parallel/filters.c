/* Datasets with filters, which several ranks write only together. */
#include "parallel.h"

enum { ROWS = 26, COLUMNS = 40 };

static hid_t filtered(hid_t file, const char *name, hsize_t chunk_rows, bool is_small)
{
    hsize_t lengths[2] = {ROWS, is_small ? COLUMNS : 3000}, chunk[2] = {chunk_rows, is_small ? 16 : 1000}, most[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, lengths, most);
    H5Pset_chunk(list, 2, chunk);
    H5Pset_shuffle(list);
    H5Pset_deflate(list, 3);
    H5Pset_fletcher32(list);
    hid_t dataset = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    DONE(dataset, "create %s", name);
    H5Sclose(space);
    H5Pclose(list);
    return dataset;
}

static void one(hid_t file, const char *name, hsize_t chunk_rows, bool is_small)
{
    hid_t dataset = filtered(file, name, chunk_rows, is_small), own = rows_space(dataset, rank), next = rows_space(dataset, (rank + 1) % size);
    check(write_selected(dataset, own, 1, true), "write rows of %s", name);
    check(holds_all(dataset, 1, true), "all ranks read all of them");
    DONE(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
    check(holds_all(dataset, 1, true), "after a flush, too");
    check(write_selected(dataset, next, 40, true), "write over them");
    check(holds_all(dataset, 40, true), "all ranks read them");
    hid_t first = rows_space(dataset, 0), last = rows_space(dataset, size - 1);
    if (rank > 0)
        H5Sselect_none(own);
    check(write_selected(dataset, own, 90, true), "only the first rank writes, the others take part");
    check(holds(dataset, own, 90, true), "which it reads");
    /* Native HDF5 keeps a chunk that a rank reads alone, and does not see later that others write it together: so this comes last. */
    check(holds(dataset, first, 90, false), "each rank reads the rows of the first one, alone");
    check(holds(dataset, last, 40, false), "and those of the last one");
    H5Sclose(first);
    H5Sclose(last);
    H5Sclose(own);
    H5Sclose(next);
    H5Dclose(dataset);
}

void check_filters(void)
{
    hid_t file = shared_file("filters.h5");
    one(file, "rows in one chunk", ROWS, true);
    one(file, "chunks of rows", 4, true);
    one(file, "large chunks", 10, false);
    DONE(H5Fclose(file), "close");
    file = open_shared("filters.h5", false);
    hid_t dataset = H5Dopen2(file, "chunks of rows", H5P_DEFAULT), own = rows_space(dataset, rank);
    check(holds(dataset, own, rank > 0 ? 40 : 90, true), "all ranks read their rows after opening");
    H5Sclose(own);
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close");
}
