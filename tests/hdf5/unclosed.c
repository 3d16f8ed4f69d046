/* Ends with a file, a group, a dataset and an attribute open: `unclosed write FILE`; or reads what it left: `unclosed read FILE`. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

static hid_t make(hid_t at, const char *name, hid_t space)
{
    int value = 7;
    hid_t dataset = H5Dcreate2(at, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    return dataset;
}

int main(int argc, char **argv)
{
    int value = 0;
    if (argc != 3)
        return 2;
    if (strcmp(argv[1], "write") == 0) {
        hid_t file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
        hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), dataset = make(group, "dataset", space);
        hid_t attribute = H5Acreate2(dataset, "attribute", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
        return file < 0 || attribute < 0;
    }
    hid_t file = H5Fopen(argv[2], H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, "group/dataset", H5P_DEFAULT);
    H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    return value != 7 || H5Aexists(dataset, "attribute") <= 0;
}
