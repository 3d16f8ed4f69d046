/* Selections: blocks, strides, unions, points, and selections in memory, against an array in memory. */
#include "check.h"

enum { ROWS = 13, COLUMNS = 17, COUNT = ROWS * COLUMNS };

static int model[COUNT];

/* Selects something in a space of ROWS x COLUMNS. Returns how many elements. */
static hssize_t select_in(hid_t space, int which)
{
    hsize_t start[2] = {2, 3}, stride[2] = {3, 4}, count[2] = {3, 3}, block[2] = {2, 2}, points[8] = {12, 16, 0, 0, 5, 5, 5, 4};
    hsize_t row[2] = {5, 0}, whole[2] = {1, COLUMNS}, column[2] = {0, 7}, tall[2] = {ROWS, 1}, inner[2] = {1, 1}, size[2] = {11, 15};
    switch (which) {
    case 0: H5Sselect_all(space); break;
    case 1: H5Sselect_hyperslab(space, H5S_SELECT_SET, row, NULL, whole, NULL); break;
    case 2: H5Sselect_hyperslab(space, H5S_SELECT_SET, column, NULL, tall, NULL); break;
    case 3: H5Sselect_hyperslab(space, H5S_SELECT_SET, inner, NULL, size, NULL); break;
    case 4: H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block); break;
    case 5:
        H5Sselect_hyperslab(space, H5S_SELECT_SET, row, NULL, whole, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_OR, column, NULL, tall, NULL);
        break;
    case 6:
        H5Sselect_hyperslab(space, H5S_SELECT_SET, inner, NULL, size, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_NOTB, start, stride, count, block);
        break;
    case 7:
        H5Sselect_hyperslab(space, H5S_SELECT_SET, inner, NULL, size, NULL);
        H5Sselect_hyperslab(space, H5S_SELECT_XOR, row, NULL, whole, NULL);
        break;
    case 8: H5Sselect_elements(space, H5S_SELECT_SET, 4, points); break;
    case 9: H5Sselect_none(space); break;
    }
    return H5Sget_select_npoints(space);
}
enum { WHICH = 10 };

/* The positions of the selected elements in the order of the selection. */
static int positions(hid_t space, int *list)
{
    if (H5Sget_select_type(space) == H5S_SEL_POINTS) {
        hsize_t points[16];
        hssize_t count = H5Sget_select_elem_npoints(space);
        H5Sget_select_elem_pointlist(space, 0, (hsize_t)count, points);
        for (int i = 0; i < count; i++)
            list[i] = (int)(points[2 * i] * COLUMNS + points[2 * i + 1]);
        return (int)count;
    }
    int count = 0;
    for (int i = 0; i < COUNT; i++) {
        hsize_t at[2] = {(hsize_t)i / COLUMNS, (hsize_t)i % COLUMNS};
        if (H5Sselect_intersect_block(space, at, at) > 0)
            list[count++] = i;
    }
    return count;
}

static void one(hid_t dataset, int which, int from)
{
    hid_t space = space_of(ROWS, COLUMNS, 0), memory;
    int count = (int)select_in(space, which), list[COUNT], values[2 * COUNT];
    check(positions(space, list) == count, "selection %d has %d elements", which, count);
    hsize_t length = (hsize_t)(count ? count : 1);
    memory = H5Screate_simple(1, &length, NULL);
    if (!count)
        H5Sselect_none(memory);
    for (int i = 0; i < count; i++) {
        values[i] = from + i;
        model[list[i]] = values[i];
    }
    DONE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values), "write selection %d", which);
    memset(values, 0, sizeof values);
    DONE(H5Dread(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values), "read selection %d", which);
    bool good = true;
    for (int i = 0; i < count; i++)
        good = good && values[i] == model[list[i]];
    check(good, "its values");
    H5Sclose(memory);
    int all[COUNT];
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0 && memcmp(all, model, sizeof model) == 0, "all values after it");
    /* Every other element of the memory. */
    hsize_t twice = 2 * COUNT, start = 1, stride = 2, number = (hsize_t)count;
    memory = H5Screate_simple(1, &twice, NULL);
    if (count)
        H5Sselect_hyperslab(memory, H5S_SELECT_SET, &start, &stride, &number, NULL);
    else
        H5Sselect_none(memory);
    for (int i = 0; i < 2 * COUNT; i++)
        values[i] = -1;
    DONE(H5Dread(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values), "read selection %d into every other element", which);
    good = true;
    for (int i = 0; i < 2 * COUNT; i++)
        good = good && values[i] == (i % 2 && i / 2 < count ? model[list[i / 2]] : -1);
    check(good, "those and no others");
    short shorts[2 * COUNT];
    for (int i = 0; i < 2 * COUNT; i++)
        shorts[i] = (short)(i / 2);
    DONE(H5Dwrite(dataset, H5T_NATIVE_SHORT, memory, space, H5P_DEFAULT, shorts), "write it from shorts in every other element");
    for (int i = 0; i < count; i++)
        model[list[i]] = i;
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0 && memcmp(all, model, sizeof model) == 0, "all values after that");
    H5Sclose(memory);
    H5Sclose(space);
}

void check_selections(void)
{
    hid_t file = new_file("selections.h5"), space = space_of(ROWS, COLUMNS, 0);
    for (int layout = 0; layout < 3; layout++) {
        hid_t list = H5Pcreate(H5P_DATASET_CREATE), dataset;
        hsize_t chunk[2] = {4, 5}, row[2] = {1, COLUMNS};
        if (layout)
            H5Pset_chunk(list, 2, layout == 1 ? chunk : row);
        memset(model, 0, sizeof model);
        dataset = H5Dcreate2(file, layout == 0 ? "contiguous" : layout == 1 ? "chunked" : "rows", H5T_STD_I32BE, space, H5P_DEFAULT, list, H5P_DEFAULT);
        DONE(dataset, "layout %d", layout);
        for (int which = WHICH - 1; which >= 0; which--)
            one(dataset, which, 100 * (which + 1));
        H5Dclose(dataset);
        H5Pclose(list);
    }
    hid_t dataset = H5Dopen2(file, "chunked", H5P_DEFAULT), small = space_of(3, 0, 0);
    int values[3] = {0};
    REFUSED(H5Dread(dataset, H5T_NATIVE_INT, small, H5S_ALL, H5P_DEFAULT, values), "a memory space with another number of elements");
    H5Sclose(small);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
}
