/* External storage: the elements of a dataset in plain files. */
#include "check.h"

static hid_t external_dataset(hid_t file, const char *name, hid_t list, hid_t access, hsize_t rows, hsize_t most)
{
    hsize_t sizes[2] = {rows, 4}, limits[2] = {most, 4};
    hid_t space = H5Screate_simple(2, sizes, limits), dataset;
    dataset = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, access);
    H5Sclose(space);
    return dataset;
}

static void show_bytes(const char *name)
{
    FILE *plain = fopen(path(name), "rb");
    unsigned char byte;
    long long count = 0, sum = 0;
    check(plain != NULL, "the plain file %s", name);
    while (plain && fread(&byte, 1, 1, plain) == 1) {
        count++;
        sum += byte * count;
    }
    show("bytes", count);
    show("sum", sum);
    if (plain)
        fclose(plain);
}

static void parts_of_files(void)
{
    hid_t file = new_file("external.h5"), list = H5Pcreate(H5P_DATASET_CREATE), access = H5Pcreate(H5P_DATASET_ACCESS), dataset, space, some, back;
    int values[16], read[16] = {0};
    char name[64];
    hsize_t start[2] = {1, 1}, count[2] = {2, 2}, sizes[2] = {6, 4}, size;
    HDoff_t offset;
    H5D_space_status_t status;
    for (int i = 0; i < 16; i++)
        values[i] = 100 + i;
    H5Pset_external(list, "one.raw", 8, 24);
    H5Pset_external(list, "two.raw", 0, H5F_UNLIMITED);
    DONE(H5Pset_efile_prefix(access, "${ORIGIN}"), "the folder of the file");
    dataset = external_dataset(file, "x", list, access, 4, H5S_UNLIMITED);
    DONE(dataset, "create a dataset in two plain files");
    DONE(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write it");
    show_bytes("one.raw");
    show_bytes("two.raw");
    show("storage", (long long)H5Dget_storage_size(dataset));
    H5Dget_space_status(dataset, &status);
    show("status", status);
    back = H5Dget_create_plist(dataset);
    show("files", H5Pget_external_count(back));
    DONE(H5Pget_external(back, 0, sizeof name, name, &offset, &size), "the first one");
    show_text("name", name);
    show("offset", (long long)offset);
    show("size", (long long)size);
    H5Pclose(back);
    DONE(H5Dset_extent(dataset, sizes), "extend it");
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close it");
    file = open_file("external.h5", true);
    dataset = H5Dopen2(file, "x", access);
    space = H5Dget_space(dataset);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    some = space_of(2, 2, 0);
    check(H5Dread(dataset, H5T_NATIVE_INT, some, space, H5P_DEFAULT, read) >= 0, "read a part");
    for (int i = 0; i < 4; i++)
        show("value", read[i]);
    start[0] = 4;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    check(H5Dread(dataset, H5T_NATIVE_INT, some, space, H5P_DEFAULT, read) >= 0, "read beyond the plain files");
    for (int i = 0; i < 4; i++)
        show("value", read[i]);
    DONE(H5Dwrite(dataset, H5T_NATIVE_INT, some, space, H5P_DEFAULT, values), "write there");
    show_bytes("two.raw");
    H5Sclose(some);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Pclose(access);
    H5Pclose(list);
    DONE(H5Fclose(file), "close it");
}

static void refusals(void)
{
    hid_t file = new_file("external-refused.h5"), list = H5Pcreate(H5P_DATASET_CREATE), dataset, text = H5Tcopy(H5T_C_S1), space = space_of(2, 0, 0);
    int values[16];
    H5Pset_external(list, path("missing/none.raw"), 0, 64);
    REFUSED(external_dataset(file, "unlimited", list, H5P_DEFAULT, 4, H5S_UNLIMITED), "no limit in files that have one");
    REFUSED(external_dataset(file, "large", list, H5P_DEFAULT, 5, 5), "more than the files have room for");
    dataset = external_dataset(file, "x", list, H5P_DEFAULT, 4, 4);
    DONE(dataset, "create a dataset in a file that is not there");
    REFUSED(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "read it");
    H5Dclose(dataset);
    H5Pset_chunk(list, 2, (hsize_t[]){2, 2});
    REFUSED(external_dataset(file, "chunks", list, H5P_DEFAULT, 4, 4), "chunks in plain files");
    H5Tclose(text);
    H5Sclose(space);
    H5Pclose(list);
    DONE(H5Fclose(file), "close it");
}

void check_external(void)
{
    parts_of_files();
    refusals();
}
