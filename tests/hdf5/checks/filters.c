/* Filters of the program, and those that HDF5 may have: chunks go through them whole. */
#include "check.h"

enum { MASK_FILTER = 300 };

static int runs_forward, runs_back;

/* Turns bits around with a value that depends on the type, and adds a byte. */
static size_t mask_bytes(unsigned flags, size_t count, const unsigned values[], size_t bytes, size_t *size, void **buffer)
{
    unsigned char with = (unsigned char)(count > 1 ? values[0] + values[1] : 0);
    bool is_back = (flags & H5Z_FLAG_REVERSE) != 0;
    if (is_back ? runs_back++ : runs_forward++, is_back && bytes == 0)
        return 0;
    size_t length = is_back ? bytes - 1 : bytes + 1, common = is_back ? length : bytes;
    unsigned char *in = *buffer, *out = malloc(length);
    for (size_t i = 0; i < common; i++)
        out[i] = in[i] ^ with;
    if (!is_back)
        out[bytes] = with;
    else if (in[length] != with) {
        free(out);
        return 0;
    }
    free(*buffer);
    *buffer = out;
    *size = length;
    return length;
}

static herr_t set_local(hid_t list, hid_t type, hid_t space)
{
    unsigned flags, values[8];
    size_t count = 8;
    (void)space;
    if (H5Pget_filter_by_id2(list, MASK_FILTER, &flags, &count, values, 0, NULL, NULL) < 0)
        return -1;
    values[1] = (unsigned)H5Tget_size(type);
    return H5Pmodify_filter(list, MASK_FILTER, flags, 2, values);
}

static const H5Z_class2_t MASK = {H5Z_CLASS_T_VERS, MASK_FILTER, 1, 1, "mask", NULL, set_local, mask_bytes};

static void show_filters(hid_t dataset)
{
    hid_t list = H5Dget_create_plist(dataset);
    int count = H5Pget_nfilters(list);
    for (int i = 0; i < count; i++) {
        unsigned flags, values[16];
        size_t of = 16;
        char name[32] = "";
        show("filter", H5Pget_filter2(list, (unsigned)i, &flags, &of, values, sizeof name, name, NULL));
        show("optional", flags & H5Z_FLAG_OPTIONAL);
    }
    H5Pclose(list);
}

static void whole_and_in_part(const char *name, hid_t list, hid_t type)
{
    hid_t file = new_file("filters.h5");
    hsize_t size[2] = {7, 10}, most[2] = {H5S_UNLIMITED, 10}, chunk[2] = {4, 6}, offset[2] = {0, 6};
    int fill = -3, values[11][10], in[11][10];
    hid_t space = H5Screate_simple(2, size, most);
    H5Pset_chunk(list, 2, chunk);
    H5Pset_fill_value(list, H5T_NATIVE_INT, &fill);
    hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (!check(dataset >= 0, "a dataset with %s", name)) {
        H5Sclose(space);
        H5Fclose(file);
        return;
    }
    for (int i = 0; i < 110; i++)
        values[i / 10][i % 10] = i < 70 ? 5 * i : fill;
    DONE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in), "read what was never written");
    show("value", in[6][9]);
    DONE(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write all");
    hsize_t start[2] = {2, 3}, count[2] = {4, 5};
    int part[20];
    for (int i = 0; i < 20; i++)
        values[2 + i / 5][3 + i % 5] = part[i] = 900 + i;
    hid_t memory = space_of(20, 0, 0);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    DONE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, part), "write a block");
    size[0] = 11;
    DONE(H5Dset_extent(dataset, size), "grow");
    hsize_t chunks = 0;
    DONE(H5Dget_num_chunks(dataset, H5S_ALL, &chunks), "count the chunks");
    show("chunks", (long long)chunks);
    H5Dclose(dataset);
    H5Fclose(file);
    file = open_file("filters.h5", true);
    dataset = H5Dopen2(file, name, H5P_DEFAULT);
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0 && memcmp(in, values, sizeof in) == 0, "everything is there again");
    show_filters(dataset);

    hsize_t stored = 0;
    uint32_t mask = 99;
    unsigned char bytes[4096];
    DONE(H5Dget_chunk_storage_size(dataset, offset, &stored), "the length of a chunk");
    show("length", (long long)stored);
    DONE(H5Dread_chunk1(dataset, H5P_DEFAULT, offset, &mask, bytes), "read a chunk as it is stored");
    show("mask", mask);
    unsigned sum = 0;
    for (hsize_t i = 0; i < stored; i++)
        sum = sum * 31 + bytes[i];
    show("sum of its bytes", sum);
    offset[1] = 0;
    /* With another mask than before HDF5 2.0 decodes the chunk by the mask that it remembers. */
    if (mask == 0)
        DONE(H5Dwrite_chunk(dataset, H5P_DEFAULT, mask, offset, stored, bytes), "store it elsewhere");
    DONE(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, in), "read it there");
    show("value", in[3][1]);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void variable_length(void)
{
    hid_t file = new_file("filters-text.h5"), list = H5Pcreate(H5P_DATASET_CREATE), text = H5Tcopy(H5T_C_S1), space = space_of(3, 0, 0);
    hsize_t chunk = 2;
    unsigned value = 7;
    const char *words[3] = {"one", "", "a longer one"};
    char *in[3] = {NULL, NULL, NULL};
    H5Tset_size(text, H5T_VARIABLE);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_filter(list, MASK_FILTER, H5Z_FLAG_OPTIONAL, 1, &value);
    hid_t dataset = H5Dcreate2(file, "words", text, space, H5P_DEFAULT, list, H5P_DEFAULT);
    check(dataset >= 0 && H5Dwrite(dataset, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, words) >= 0, "write texts past an optional filter");
    DONE(H5Dread(dataset, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, in), "read them");
    for (int i = 0; i < 3; i++)
        show_text("word", in[i] ? in[i] : "");
    H5Treclaim(text, space, H5P_DEFAULT, in);
    H5Dclose(dataset);
    H5Premove_filter(list, H5Z_FILTER_ALL);
    H5Pset_filter(list, MASK_FILTER, 0, 1, &value);
    REFUSED(H5Dcreate2(file, "more", text, space, H5P_DEFAULT, list, H5P_DEFAULT), "texts through a filter");
    H5Tclose(text);
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(file);
}

void check_filters(void)
{
    unsigned value = 7, none = 0;
    DONE(H5Zregister(&MASK), "register a filter");
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_filter(list, MASK_FILTER, 0, 1, &value);
    whole_and_in_part("a filter of the program", list, H5T_STD_I32LE);
    check(runs_forward > 0 && runs_back > 0, "the filter was called both ways");
    H5Pclose(list);

    list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_shuffle(list);
    H5Pset_filter(list, MASK_FILTER, H5Z_FLAG_OPTIONAL, 1, &value);
    H5Pset_deflate(list, 6);
    H5Pset_fletcher32(list);
    whole_and_in_part("four filters", list, H5T_STD_I16BE);
    H5Pclose(list);

    if (H5Zfilter_avail(H5Z_FILTER_SZIP) > 0) {
        list = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_szip(list, H5_SZIP_NN_OPTION_MASK, 4);
        whole_and_in_part("szip", list, H5T_STD_I32LE);
        H5Pclose(list);
    }
    variable_length();

    hid_t file = new_file("filters-none.h5"), space = space_of(4, 0, 0);
    hsize_t chunk = 4;
    list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_filter(list, 301, 0, 0, &none);
    REFUSED(H5Dcreate2(file, "unknown", H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT), "a filter that nobody has");
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(file);
}
