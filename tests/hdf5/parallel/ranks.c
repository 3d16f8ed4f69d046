/* What HDF5 refuses for several ranks, and orders of transfers. */
#include "parallel.h"

static void wrong(void)
{
    hid_t file = shared_file("wrong.h5"), dataset = grid(file, "d", 10, 10, 5, 5, false), space = H5Dget_space(dataset);
    hsize_t start[2] = {8, 0}, count[2] = {5, 10}, few = 3;
    int values[100] = {0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    REFUSED(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, space, transfer(true), values), "all ranks write beyond the extent");
    hid_t memory = H5Screate_simple(1, &few, NULL);
    REFUSED(H5Dwrite(dataset, H5T_NATIVE_INT, memory, H5S_ALL, transfer(true), values), "all ranks write another number of elements");
    REFUSED(H5Dread(dataset, H5T_NATIVE_INT, memory, H5S_ALL, transfer(true), values), "all ranks read another number of elements");
    REFUSED(H5Dopen2(file, "absent", H5P_DEFAULT), "a dataset that is not there");
    hid_t text = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR), strings;
    const char *word = "word";
    H5Tset_size(text, H5T_VARIABLE);
    strings = H5Dcreate2(file, "strings", text, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    DONE(strings, "create a dataset of strings");
    REFUSED(H5Dwrite(strings, text, H5S_ALL, H5S_ALL, transfer(true), &word), "strings of variable length by several ranks");
    H5Dclose(strings);
    H5Sclose(memory);
    H5Sclose(scalar);
    H5Tclose(text);
    H5Sselect_all(space);
    check(write_selected(dataset, space, 0, true), "a write after the refusals");
    check(holds_all(dataset, 0, true), "which is there");
    H5Sclose(space);
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close");
}

/* Ranks write the same rows one after another: the later ones count. */
static void in_order(void)
{
    hid_t file = shared_file("order.h5"), dataset = grid(file, "d", 8, 64, 4, 64, false), space = H5Dget_space(dataset), some = H5Dget_space(dataset);
    for (int turn = 0; turn < size; turn++) {
        hsize_t start[2] = {(hsize_t)turn, 3}, count[2] = {2, 50};
        H5Sselect_hyperslab(some, H5S_SELECT_SET, start, NULL, count, NULL);
        if (rank != turn)
            H5Sselect_none(some);
        check(write_selected(dataset, some, 100 * turn, true), "rank %d writes two rows", turn);
    }
    int values[512];
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer(false), values) >= 0, "all ranks read all");
    for (int row = 0; row < size + 1 && row < 8; row++)
        show("element", values[row * 64 + 5]);
    H5Sselect_all(some);
    check(write_selected(dataset, some, 7, true), "all ranks write all");
    check(holds_all(dataset, 7, false), "and see it");
    H5Sclose(some);
    H5Sclose(space);
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close");
}

/* Several transfers alone before anything is exchanged, by ranks in chunks that they share. */
static void alone_for_long(void)
{
    hid_t file = shared_file("long.h5"), dataset = grid(file, "d", 64, 64, 48, 48, false), space = H5Dget_space(dataset);
    bool written = true;
    for (int row = rank; row < 64; row += size)
        for (int part = 0; part < 4; part++) {
            hsize_t start[2] = {(hsize_t)row, (hsize_t)part * 16}, count[2] = {1, 16};
            H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
            written = written && write_selected(dataset, space, 0, false);
        }
    check(written, "each rank writes its rows in parts, alone");
    check(holds_all(dataset, 0, true), "a transfer together reads what all have written");
    H5Sclose(space);
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close");
    file = open_shared("long.h5", false);
    dataset = H5Dopen2(file, "d", H5P_DEFAULT);
    check(holds_all(dataset, 0, false), "it is there after opening");
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close");
}

void check_ranks(void)
{
    wrong();
    in_order();
    alone_for_long();
}
