/* Variable-length data: strings, sequences, sequences in compounds, fill values. */
#include "check.h"

static void strings(void)
{
    hid_t file = new_file("variable.h5"), space = space_of(40, 0, 0), type = H5Tcopy(H5T_C_S1), list = H5Pcreate(H5P_DATASET_CREATE), dataset;
    char *out[40], *in[40] = {NULL};
    hsize_t chunk = 7;
    for (int i = 0; i < 40; i++) {
        out[i] = malloc((size_t)(10 * i + 1));
        memset(out[i], 'a' + i % 26, (size_t)(10 * i));
        out[i][10 * i] = 0;
    }
    H5Tset_size(type, H5T_VARIABLE);
    H5Pset_chunk(list, 1, &chunk);
    for (int chunked = 0; chunked < 2; chunked++) {
        const char *name = chunked ? "chunked" : "contiguous";
        dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, chunked ? list : H5P_DEFAULT, H5P_DEFAULT);
        check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, "write strings, %s", name);
        for (int again = 0; again < 2; again++) {
            check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0, "read them");
            bool good = true;
            for (int i = 0; i < 40; i++)
                good = good && in[i] && strcmp(in[i], out[i]) == 0;
            check(good, "they are the same");
            DONE(H5Treclaim(type, space, H5P_DEFAULT, in), "give their memory back");
            H5Dclose(dataset);
            H5Fclose(file);
            file = open_file("variable.h5", true);
            dataset = H5Dopen2(file, name, H5P_DEFAULT);
        }
        hsize_t start = 3, one = 1, size = 0;
        hid_t part = H5Scopy(space), memory = space_of(1, 0, 0);
        char *text = "replaced", *back = NULL;
        H5Sselect_hyperslab(part, H5S_SELECT_SET, &start, NULL, &one, NULL);
        check(H5Dwrite(dataset, type, memory, part, H5P_DEFAULT, &text) >= 0 && H5Dread(dataset, type, memory, part, H5P_DEFAULT, &back) >= 0
                  && strcmp(back, text) == 0, "replace one");
        H5free_memory(back);
        check(H5Dvlen_get_buf_size(dataset, type, space, &size) >= 0, "the memory that all need");
        show("bytes", (long long)size);
        H5Sclose(part);
        H5Sclose(memory);
        H5Dclose(dataset);
    }
    for (int i = 0; i < 40; i++)
        free(out[i]);
    H5Pclose(list);
    H5Tclose(type);
    H5Sclose(space);
    H5Fclose(file);
}

static void sequences(void)
{
    hid_t file = new_file("sequences.h5"), space = space_of(5, 0, 0), type = H5Tvlen_create(H5T_STD_I32BE), memory = H5Tvlen_create(H5T_NATIVE_INT), dataset;
    hvl_t out[5], in[5];
    int numbers[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    for (int i = 0; i < 5; i++) {
        out[i].len = (size_t)(2 * i);
        out[i].p = numbers;
    }
    memset(in, 0, sizeof in);
    dataset = H5Dcreate2(file, "sequences", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0 && in[2].len == 0, "sequences that nobody wrote are empty");
    check(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, "write sequences");
    check(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0, "read them");
    for (int i = 0; i < 5; i++)
        check(in[i].len == out[i].len && memcmp(in[i].p ? in[i].p : numbers, numbers, in[i].len * sizeof(int)) == 0, "sequence %d", i);
    H5Treclaim(memory, space, H5P_DEFAULT, in);
    H5Dclose(dataset);
    H5Tclose(type);
    /* A compound with a string and a sequence. */
    struct mixed {
        int number;
        char *text;
        hvl_t list;
    } records[5], back[5];
    hid_t text = H5Tcopy(H5T_C_S1), mixed = H5Tcreate(H5T_COMPOUND, sizeof(struct mixed));
    H5Tset_size(text, H5T_VARIABLE);
    H5Tinsert(mixed, "number", HOFFSET(struct mixed, number), H5T_NATIVE_INT);
    H5Tinsert(mixed, "text", HOFFSET(struct mixed, text), text);
    H5Tinsert(mixed, "list", HOFFSET(struct mixed, list), memory);
    for (int i = 0; i < 5; i++) {
        records[i].number = i;
        records[i].text = i % 2 ? "odd" : "even";
        records[i].list.len = (size_t)i;
        records[i].list.p = numbers;
    }
    dataset = H5Dcreate2(file, "mixed", mixed, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Dwrite(dataset, mixed, H5S_ALL, H5S_ALL, H5P_DEFAULT, records) >= 0, "write compounds with variable members");
    H5Dclose(dataset);
    H5Fclose(file);
    file = open_file("sequences.h5", false);
    dataset = H5Dopen2(file, "mixed", H5P_DEFAULT);
    check(H5Dread(dataset, mixed, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0, "read them again");
    for (int i = 0; i < 5; i++)
        check(back[i].number == i && strcmp(back[i].text, records[i].text) == 0 && back[i].list.len == (size_t)i, "compound %d", i);
    H5Treclaim(mixed, space, H5P_DEFAULT, back);
    H5Dclose(dataset);
    H5Tclose(mixed);
    H5Tclose(text);
    H5Tclose(memory);
    H5Sclose(space);
    H5Fclose(file);
}

static void fill(void)
{
    hid_t file = new_file("variable-fill.h5"), space = space_of(3, 0, 0), type = H5Tcopy(H5T_C_S1), list = H5Pcreate(H5P_DATASET_CREATE), dataset, there;
    const char *value = "nothing yet";
    char *in[3] = {NULL}, *told = NULL;
    H5Tset_size(type, H5T_VARIABLE);
    H5Pset_fill_value(list, type, &value);
    dataset = H5Dcreate2(file, "filled", type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    DONE(dataset, "strings with a fill value");
    H5Dclose(dataset);
    H5Fclose(file);
    file = open_file("variable-fill.h5", false);
    dataset = H5Dopen2(file, "filled", H5P_DEFAULT);
    check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0 && in[1] && strcmp(in[1], value) == 0, "they are the fill value");
    H5Treclaim(type, space, H5P_DEFAULT, in);
    there = H5Dget_create_plist(dataset);
    check(H5Pget_fill_value(there, type, &told) >= 0 && told && strcmp(told, value) == 0, "the properties tell it");
    H5free_memory(told);
    H5Pclose(there);
    H5Dclose(dataset);
    H5Pclose(list);
    H5Tclose(type);
    H5Sclose(space);
    H5Fclose(file);
}

void check_variable(void)
{
    strings();
    sequences();
    fill();
}
