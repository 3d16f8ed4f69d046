/* Virtual datasets: elements of other datasets, in one file and in others. */
#include "check.h"

static void show_values(hid_t dataset, const char *what)
{
    hid_t space = H5Dget_space(dataset);
    hsize_t sizes[2] = {0, 0};
    int rank = H5Sget_simple_extent_dims(space, sizes, NULL);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    int *values = calloc((size_t)count + 1, sizeof *values);
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "read %s", what);
    show("rank", rank);
    show("rows", (long long)sizes[0]);
    show("columns", (long long)sizes[1]);
    for (hssize_t i = 0; i < count; i++)
        show("value", values[i]);
    free(values);
    H5Sclose(space);
}

static hid_t rows_of(hsize_t rows, hsize_t columns, hsize_t row)
{
    hsize_t start[2] = {row, 0}, count[2] = {1, columns};
    hid_t space = space_of(rows, columns, 0);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    return space;
}

static void close_all(hid_t dataset, hid_t list, hid_t space, hid_t file)
{
    H5Dclose(dataset);
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(file);
}

static void sources(void)
{
    const char *names[3] = {"virtual-0.h5", "virtual-1.h5", "virtual-2.h5"};
    for (int i = 0; i < 3; i++) {
        hid_t file = new_file(names[i]), space = space_of(6, 0, 0);
        H5Dclose(int_dataset(file, "data", space, 10 * i));
        H5Sclose(space);
        H5Fclose(file);
    }
}

static void fixed_mappings(void)
{
    hid_t file = new_file("virtual.h5"), list = H5Pcreate(H5P_DATASET_CREATE), space = space_of(5, 6, 0), source = space_of(6, 0, 0);
    const char *names[4] = {"virtual-0.h5", "virtual-1.h5", "virtual-2.h5", "virtual-missing.h5"};
    int fill = -5;
    H5Pset_fill_value(list, H5T_NATIVE_INT, &fill);
    for (int i = 0; i < 4; i++) {
        hid_t row = rows_of(5, 6, (hsize_t)i);
        DONE(H5Pset_virtual(list, row, names[i], "/data", source), "map row %d", i);
        H5Sclose(row);
    }
    hid_t dataset = H5Dcreate2(file, "v", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    DONE(dataset, "a virtual dataset");
    show_values(dataset, "a new virtual dataset");
    close_all(dataset, list, space, file);

    file = open_file("virtual.h5", true);
    dataset = H5Dopen2(file, "v", H5P_DEFAULT);
    list = H5Dget_create_plist(dataset);
    size_t count = 0;
    char name[64] = "";
    check(H5Pget_layout(list) == H5D_VIRTUAL && H5Pget_virtual_count(list, &count) >= 0, "its layout");
    show("mappings", (long long)count);
    show("length of the name", H5Pget_virtual_filename(list, 1, name, sizeof name));
    show_text("file", name);
    H5Pget_virtual_dsetname(list, 2, name, sizeof name);
    show_text("dataset", name);
    space = H5Pget_virtual_vspace(list, 3);
    show("selected", H5Sget_select_npoints(space));
    H5Sclose(space);
    H5Pclose(list);

    hsize_t start[2] = {0, 1}, step[2] = {1, 3}, counts[2] = {5, 2};
    double some[10];
    hid_t memory = space_of(10, 0, 0);
    space = H5Dget_space(dataset);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, step, counts, NULL);
    DONE(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, some), "read some columns as doubles");
    for (int i = 0; i < 10; i++)
        show("value", (long long)some[i]);
    counts[0] = 3;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, step, counts, NULL);
    H5Sclose(memory);
    memory = space_of(6, 0, 0);
    /* In the type of the sources: HDF5 2.0 writes others without converting them. */
    int numbers[6];
    for (int i = 0; i < 6; i++)
        numbers[i] = 100 + i;
    DONE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, numbers), "write to three sources");
    REFUSED(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, some), "a write to a source that is missing");
    show_values(dataset, "after the write");
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    file = open_file("virtual-1.h5", false);
    dataset = H5Dopen2(file, "data", H5P_DEFAULT);
    show_values(dataset, "a source after the write");
    H5Dclose(dataset);
    H5Fclose(file);
    H5Sclose(source);
}

static void overlapping(void)
{
    hid_t file = new_file("virtual-one.h5"), list = H5Pcreate(H5P_DATASET_CREATE), space = space_of(8, 0, 0), source = space_of(6, 0, 0);
    H5Dclose(int_dataset(file, "a", source, 10));
    H5Dclose(int_dataset(file, "b", source, 20));
    for (hsize_t i = 0; i < 2; i++) {
        hsize_t start = 2 * i, count = 6;
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
        DONE(H5Pset_virtual(list, space, ".", i ? "b" : "a", source), "map within the file");
    }
    hid_t dataset = H5Dcreate2(file, "v", H5T_STD_I64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    show_values(dataset, "mappings that overlap");
    H5Pclose(list);

    /* A virtual dataset of a virtual dataset, with single elements. */
    list = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t points[3] = {7, 0, 3};
    hid_t three = space_of(3, 0, 0);
    H5Sselect_none(space);
    for (int i = 0; i < 3; i++) {
        hsize_t one = 1;
        H5Sselect_hyperslab(space, H5S_SELECT_OR, &points[i], NULL, &one, NULL);
    }
    DONE(H5Pset_virtual(list, three, ".", "/v", space), "map single elements");
    hid_t outer = H5Dcreate2(file, "outer", H5T_STD_I32LE, three, H5P_DEFAULT, list, H5P_DEFAULT);
    show_values(outer, "a virtual dataset of a virtual one");
    H5Dclose(outer);
    H5Sclose(three);
    H5Sclose(source);
    close_all(dataset, list, space, file);
}

static hid_t growing_source(hid_t file, const char *name, hsize_t rows, int first)
{
    hsize_t most = H5S_UNLIMITED, chunk = 4;
    hid_t space = H5Screate_simple(1, &rows, &most), list = H5Pcreate(H5P_DATASET_CREATE);
    int values[32];
    for (int i = 0; i < 32; i++)
        values[i] = first + i;
    H5Pset_chunk(list, 1, &chunk);
    hid_t dataset = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    check(dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "a source of %d rows", (int)rows);
    H5Pclose(list);
    H5Sclose(space);
    return dataset;
}

static void unlimited(void)
{
    hid_t file = new_file("virtual-growing.h5"), list = H5Pcreate(H5P_DATASET_CREATE);
    hid_t even = growing_source(file, "even", 5, 100), odd = growing_source(file, "odd", 3, 200);
    hsize_t size = 0, most = H5S_UNLIMITED, step = 2, count = H5S_UNLIMITED, one = 1, zero = 0;
    hid_t source = H5Screate_simple(1, &one, &most), space = H5Screate_simple(1, &size, &most);
    H5Sselect_hyperslab(source, H5S_SELECT_SET, &zero, NULL, &one, &count);
    for (hsize_t i = 0; i < 2; i++) {
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &i, &step, &count, &one);
        DONE(H5Pset_virtual(list, space, ".", i ? "odd" : "even", source), "map all that comes");
    }
    hid_t dataset = H5Dcreate2(file, "v", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    show_values(dataset, "up to the last that is there");
    size = 7;
    DONE(H5Dset_extent(odd, &size), "a source grows");
    show_values(dataset, "after a source grew");
    H5Dclose(dataset);
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_virtual_view(access, H5D_VDS_FIRST_MISSING);
    dataset = H5Dopen2(file, "v", access);
    show_values(dataset, "up to the first that is missing");
    H5Pclose(access);
    H5Sclose(source);
    H5Dclose(even);
    H5Dclose(odd);
    close_all(dataset, list, space, file);
}

static void numbered_sources(void)
{
    hid_t file = new_file("virtual-numbered.h5"), list = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t size = 2, most = H5S_UNLIMITED, zero = 0, step = 6, count = H5S_UNLIMITED, block = 6;
    hid_t source = space_of(6, 0, 0), space = H5Screate_simple(1, &size, &most);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &zero, &step, &count, &block);
    DONE(H5Pset_virtual(list, space, "virtual-%b.h5", "data", source), "map numbered files");
    hid_t dataset = H5Dcreate2(file, "v", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    show_values(dataset, "numbered files");
    H5Dclose(dataset);
    DONE(H5Fdelete(path("virtual-1.h5"), H5P_DEFAULT), "remove one");
    hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    dataset = H5Dopen2(file, "v", access);
    show_values(dataset, "up to the gap");
    H5Dclose(dataset);
    H5Pset_virtual_printf_gap(access, 1);
    dataset = H5Dopen2(file, "v", access);
    show_values(dataset, "beyond the gap");
    H5Pclose(access);
    H5Sclose(source);
    close_all(dataset, list, space, file);
}

void check_virtual(void)
{
    sources();
    fixed_mappings();
    overlapping();
    unlimited();
    numbered_sources();
}
