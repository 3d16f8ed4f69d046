/* Chunks as they are stored, and filters. */
#include "check.h"

enum { ROWS = 10, COLUMNS = 12 };

static void filters(void)
{
    hid_t file = new_file("filters.h5"), space = space_of(ROWS, COLUMNS, 0);
    static const struct {
        const char *name;
        H5Z_filter_t needs;
        bool shuffle, deflate, sum;
    } SETS[] = {
        {"shuffle", H5Z_FILTER_SHUFFLE, true, false, false}, {"deflate", H5Z_FILTER_DEFLATE, false, true, false},
        {"fletcher32", H5Z_FILTER_FLETCHER32, false, false, true}, {"all", H5Z_FILTER_DEFLATE, true, true, true},
    };
    for (size_t i = 0; i < sizeof SETS / sizeof SETS[0]; i++) {
        if (H5Zfilter_avail(SETS[i].needs) <= 0)
            continue;
        hid_t list = H5Pcreate(H5P_DATASET_CREATE), dataset, there;
        hsize_t chunk[2] = {4, 5};
        int out[ROWS * COLUMNS], in[ROWS * COLUMNS] = {0};
        H5Pset_chunk(list, 2, chunk);
        if (SETS[i].shuffle)
            H5Pset_shuffle(list);
        if (SETS[i].deflate)
            H5Pset_deflate(list, 6);
        if (SETS[i].sum)
            H5Pset_fletcher32(list);
        for (int n = 0; n < ROWS * COLUMNS; n++)
            out[n] = n / 3;
        dataset = H5Dcreate2(file, SETS[i].name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
        check(dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, "write through %s", SETS[i].name);
        for (int again = 0; again < 2; again++) {
            check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0 && memcmp(in, out, sizeof in) == 0, "read through %s", SETS[i].name);
            there = H5Dget_create_plist(dataset);
            show("filters", H5Pget_nfilters(there));
            for (int n = 0; n < H5Pget_nfilters(there); n++) {
                unsigned flags, values[8];
                size_t count = 8;
                show("filter", H5Pget_filter2(there, (unsigned)n, &flags, &count, values, 0, NULL, NULL));
            }
            H5Pclose(there);
            H5Dclose(dataset);
            H5Fflush(file, H5F_SCOPE_LOCAL);
            dataset = H5Dopen2(file, SETS[i].name, H5P_DEFAULT);
        }
        H5Dclose(dataset);
        H5Pclose(list);
    }
    H5Sclose(space);
    H5Fclose(file);
}

static void direct(bool with_filter)
{
    hid_t file = new_file("direct.h5"), space = space_of(ROWS, COLUMNS, 0), list = H5Pcreate(H5P_DATASET_CREATE), dataset, there;
    hsize_t chunk[2] = {5, 4}, offset[2] = {5, 8}, count = 0, size = 0;
    int out[20], in[20], all[ROWS * COLUMNS];
    unsigned mask = 9;
    H5Pset_chunk(list, 2, chunk);
    if (with_filter)
        H5Pset_deflate(list, 1);
    dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    for (int i = 0; i < 20; i++)
        out[i] = i + 1;
    /* A mask with a bit for the first filter says that it was left out. */
    DONE(H5Dwrite_chunk(dataset, H5P_DEFAULT, with_filter ? 1 : 0, offset, sizeof out, out), "write a chunk as it is");
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0 && all[5 * COLUMNS + 8] == 1 && all[9 * COLUMNS + 11] == 20
              && all[0] == 0, "its values are where they belong");
#if H5_VERSION_GE(2, 0, 0)
    size_t room = sizeof in;
    check(H5Dread_chunk2(dataset, H5P_DEFAULT, offset, &mask, in, &room) >= 0 && memcmp(in, out, sizeof in) == 0, "read it as it is");
#else
    check(H5Dread_chunk(dataset, H5P_DEFAULT, offset, &mask, in) >= 0 && memcmp(in, out, sizeof in) == 0, "read it as it is");
#endif
    show("mask", mask);
    check(H5Dget_chunk_storage_size(dataset, offset, &size) >= 0 && size == sizeof out, "its stored length");
    there = H5Dget_space(dataset);
    check(H5Dget_num_chunks(dataset, there, &count) >= 0, "the number of chunks");
    show("chunks", (long long)count);
    hsize_t where[2] = {0, 0};
    haddr_t address;
    check(H5Dget_chunk_info(dataset, there, 0, where, &mask, &address, &size) >= 0 && where[0] == 5 && where[1] == 8, "where the first chunk is");
    check(H5Dget_chunk_info_by_coord(dataset, offset, &mask, &address, &size) >= 0 && size == sizeof out, "information by coordinates");
    H5Sclose(there);
    hsize_t wrong[2] = {5, 7};
    REFUSED(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, wrong, sizeof out, out), "a chunk that begins in the middle of another");
    H5D_space_status_t status;
    check(H5Dget_space_status(dataset, &status) >= 0, "the status of its space");
    show("status", status);
    H5Dclose(dataset);
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(file);
}

void check_chunks(void)
{
    filters();
    direct(false);
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0)
        direct(true);
}
