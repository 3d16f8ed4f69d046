/* Datasets: layouts, types, fill values, creation properties, conversion. */
#include "check.h"

enum { ROWS = 7, COLUMNS = 11, COUNT = ROWS * COLUMNS };

enum layout { CONTIGUOUS, CHUNKED, COMPACT, EARLY };

static hid_t properties(enum layout layout)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk[2] = {3, 4};
    switch (layout) {
    case CONTIGUOUS: H5Pset_layout(list, H5D_CONTIGUOUS); break;
    case CHUNKED: H5Pset_chunk(list, 2, chunk); break;
    case COMPACT: H5Pset_layout(list, H5D_COMPACT); break;
    case EARLY: H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY); break;
    }
    return list;
}

static const struct {
    const char *name;
    hid_t *type;
} TYPES[] = {
    {"i8", &H5T_STD_I8LE_g},  {"u8", &H5T_STD_U8LE_g},   {"i16", &H5T_STD_I16BE_g},  {"u16", &H5T_STD_U16LE_g}, {"i32", &H5T_STD_I32BE_g},
    {"u32", &H5T_STD_U32LE_g}, {"i64", &H5T_STD_I64LE_g}, {"u64", &H5T_STD_U64BE_g}, {"f32", &H5T_IEEE_F32BE_g}, {"f64", &H5T_IEEE_F64LE_g},
};
enum { TYPE_COUNT = sizeof TYPES / sizeof TYPES[0] };

static void layouts(void)
{
    hid_t file = new_file("datasets.h5"), space = space_of(ROWS, COLUMNS, 0), dataset, there;
    double out[COUNT], in[COUNT];
    char name[16];
    for (int i = 0; i < COUNT; i++)
        out[i] = i + 1;
    for (int layout = CONTIGUOUS; layout <= EARLY; layout++) {
        hid_t list = properties((enum layout)layout);
        for (int type = 0; type < TYPE_COUNT; type++) {
            snprintf(name, sizeof name, "%d-%s", layout, TYPES[type].name);
            dataset = H5Dcreate2(file, name, *TYPES[type].type, space, H5P_DEFAULT, list, H5P_DEFAULT);
            check(dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, "write %s", name);
            memset(in, 0, sizeof in);
            check(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0 && memcmp(in, out, sizeof in) == 0, "read %s", name);
            H5Dclose(dataset);
        }
        H5Pclose(list);
    }
    H5Fclose(file);
    file = open_file("datasets.h5", false);
    for (int layout = CONTIGUOUS; layout <= EARLY; layout++)
        for (int type = 0; type < TYPE_COUNT; type++) {
            snprintf(name, sizeof name, "%d-%s", layout, TYPES[type].name);
            dataset = H5Dopen2(file, name, H5P_DEFAULT);
            memset(in, 0, sizeof in);
            check(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0 && memcmp(in, out, sizeof in) == 0, "read %s again", name);
            there = H5Dget_type(dataset);
            check(H5Tequal(there, *TYPES[type].type) > 0, "its type");
            H5Tclose(there);
            there = H5Dget_space(dataset);
            check(H5Sextent_equal(there, space) > 0, "its space");
            H5Sclose(there);
            there = H5Dget_create_plist(dataset);
            show("layout", H5Pget_layout(there));
            H5Pclose(there);
            H5Dclose(dataset);
        }
    dataset = H5Dopen2(file, "0-i32", H5P_DEFAULT);
    REFUSED(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out), "writing in a read-only file");
    H5Dclose(dataset);
    REFUSED(H5Dopen2(file, "none", H5P_DEFAULT), "opening a dataset that is not there");
    H5Sclose(space);
    H5Fclose(file);
}

static void fill_values(void)
{
    hid_t file = new_file("fill.h5"), space = space_of(ROWS, COLUMNS, 0), list, dataset, there;
    for (int chunked = 0; chunked < 2; chunked++)
        for (int with = 0; with < 2; with++) {
            int fill = 42, in[COUNT];
            char name[16];
            H5D_fill_value_t defined;
            snprintf(name, sizeof name, "%d-%d", chunked, with);
            list = properties(chunked ? CHUNKED : CONTIGUOUS);
            if (with)
                H5Pset_fill_value(list, H5T_NATIVE_INT, &fill);
            dataset = H5Dcreate2(file, name, H5T_STD_I16BE, space, H5P_DEFAULT, list, H5P_DEFAULT);
            H5Pclose(list);
            for (int again = 0; again < 2; again++) {
                check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0, "read %s, which nobody wrote", name);
                bool good = true;
                for (int i = 0; i < COUNT; i++)
                    good = good && in[i] == (with ? 42 : 0);
                check(good, "all are the fill value");
                there = H5Dget_create_plist(dataset);
                check(H5Pfill_value_defined(there, &defined) >= 0, "whether the fill value is defined");
                show("defined", defined);
                int value = -1;
                check(H5Pget_fill_value(there, H5T_NATIVE_INT, &value) >= 0, "the fill value");
                show("fill value", value);
                H5Pclose(there);
                H5Dclose(dataset);
                H5Fclose(file);
                file = open_file("fill.h5", true);
                dataset = H5Dopen2(file, name, H5P_DEFAULT);
            }
            hsize_t start[2] = {1, 2}, count[2] = {2, 3};
            hid_t part = H5Scopy(space), memory = space_of(2, 3, 0);
            int six[6] = {1, 2, 3, 4, 5, 6};
            H5Sselect_hyperslab(part, H5S_SELECT_SET, start, NULL, count, NULL);
            check(H5Dwrite(dataset, H5T_NATIVE_INT, memory, part, H5P_DEFAULT, six) >= 0, "write six values");
            check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0, "read all");
            long long sum = 0;
            for (int i = 0; i < COUNT; i++)
                sum += in[i];
            show("sum", sum);
            check(in[COLUMNS + 2] == 1 && in[2 * COLUMNS + 4] == 6, "the six values are in their places");
            H5Sclose(part);
            H5Sclose(memory);
            H5Dclose(dataset);
        }
    H5Sclose(space);
    H5Fclose(file);
}

static void spaces(void)
{
    hid_t file = new_file("spaces.h5"), space, dataset;
    int out = 5, in = 0;
    space = H5Screate(H5S_SCALAR);
    dataset = H5Dcreate2(file, "scalar", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &out) >= 0 && H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &in) >= 0
              && in == 5, "a scalar");
    H5Dclose(dataset);
    H5Sclose(space);
    space = H5Screate(H5S_NULL);
    dataset = H5Dcreate2(file, "null", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    DONE(dataset, "a dataset without elements");
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &in) >= 0 && in == 5, "reading it changes nothing");
    H5Dclose(dataset);
    H5Sclose(space);
    hsize_t none = 0, most = H5S_UNLIMITED;
    space = H5Screate_simple(1, &none, NULL);
    dataset = H5Dcreate2(file, "zero", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(dataset >= 0 && H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &in) >= 0, "a dataset of no elements");
    H5Dclose(dataset);
    H5Sclose(space);
    space = H5Screate_simple(1, &none, &most);
    REFUSED(H5Dcreate2(file, "unlimited", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "an unlimited dataset that is not chunked");
    H5Sclose(space);
    space = space_of(3, 0, 0);
    dataset = H5Dcreate_anon(file, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    DONE(dataset, "a dataset without a name");
    DONE(H5Olink(dataset, file, "named", H5P_DEFAULT, H5P_DEFAULT), "name it");
    H5Dclose(dataset);
    hsize_t sizes[5] = {2, 3, 4, 5, 6};
    H5Sclose(space);
    space = H5Screate_simple(5, sizes, NULL);
    dataset = int_dataset(file, "five", space, 10);
    int *values = calloc(720, sizeof *values);
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && values[719] == 729, "five dimensions");
    free(values);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
}

void check_datasets(void)
{
    layouts();
    fill_values();
    spaces();
}
