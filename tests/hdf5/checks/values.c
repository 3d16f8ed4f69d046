/* Small datasets and attributes, which the checks of one process and of several write. */
#include "check.h"

hid_t space_of(hsize_t first, hsize_t second, hsize_t third)
{
    hsize_t sizes[3] = {first, second, third};
    int rank = third ? 3 : second ? 2 : 1;
    return H5Screate_simple(rank, sizes, NULL);
}

hid_t int_dataset(hid_t at, const char *name, hid_t space, int first)
{
    hsize_t count = (hsize_t)H5Sget_simple_extent_npoints(space);
    int *values = malloc(count * sizeof *values);
    hid_t dataset = H5Dcreate2(at, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (hsize_t i = 0; i < count; i++)
        values[i] = first + (int)i;
    check(dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0,
          "create and write %s", name);
    free(values);
    return dataset;
}

void put_int(hid_t at, const char *name, int value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(at, name, H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    check(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT, &value) >= 0, "put attribute %s", name);
    H5Aclose(attribute);
    H5Sclose(space);
}

int int_of(hid_t at, const char *name)
{
    int value = -1;
    hid_t attribute = H5Aopen(at, name, H5P_DEFAULT);
    if (attribute < 0 || H5Aread(attribute, H5T_NATIVE_INT, &value) < 0)
        value = -1;
    if (attribute >= 0)
        H5Aclose(attribute);
    return value;
}
