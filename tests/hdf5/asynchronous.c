/* What only a connector with transfers in the background does. Usage: asynchronous going | failing | cancelled FILE */
#include <assert.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { COUNT = 1 << 20, MANY = 12 };

static int values[COUNT], back[COUNT];

static hid_t new_dataset(hid_t file, const char *name)
{
    hsize_t size = COUNT, chunk = COUNT / 4;
    hid_t space = H5Screate_simple(1, &size, NULL), list = H5Pcreate(H5P_DATASET_CREATE), dataset;
    H5Pset_chunk(list, 1, &chunk);
    H5Pset_deflate(list, 6);
    dataset = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert(dataset >= 0);
    H5Pclose(list);
    H5Sclose(space);
    return dataset;
}

static void write_many(hid_t file, hid_t set)
{
    for (int number = 0; number < MANY; number++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", number);
        hid_t dataset = new_dataset(file, name);
        assert(H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values, set) >= 0);
        H5Dclose(dataset);
    }
}

/* The set holds what was not waited for; the file is committed when it is closed, with all of it. */
static void going(hid_t file, hid_t set)
{
    size_t count = 0, left = 0;
    hbool_t failed = 1;
    write_many(file, set);
    H5ESget_count(set, &count);
    printf("%zu requests\n", count);
    assert(H5Fclose(file) >= 0);
    assert(H5ESwait(set, 0, &left, &failed) >= 0 && left == 0 && !failed);
}

/* The text of the first error in a stack. */
static herr_t first_text(unsigned number, const H5E_error2_t *error, void *text)
{
    (void)number;
    snprintf(text, 1024, "%s", error->desc);
    return 1;
}

static void failing(hid_t file, hid_t set)
{
    struct rlimit small = {200000, RLIM_INFINITY};
    size_t left = 0, count = 0;
    hbool_t failed = 0;
    H5ES_err_info_t info;
    char text[1024] = "";
    assert(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    hid_t dataset = new_dataset(file, "failing");
    assert(H5Dwrite_async(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values, set) >= 0);
    assert(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed) >= 0 && failed);
    assert(H5ESget_err_info(set, 1, &info, &count) >= 0 && count == 1);
    H5Ewalk2(info.err_stack_id, H5E_WALK_UPWARD, first_text, text);
    printf("%s: %s\n", info.api_name, text);
    H5free_memory(info.api_name);
    H5free_memory(info.api_args);
    H5free_memory(info.app_file_name);
    H5free_memory(info.app_func_name);
    H5Eclose_stack(info.err_stack_id);
    H5Dclose(dataset);
    printf("close: %d\n", H5Fclose(file) < 0);
}

static void cancelled(hid_t file, hid_t set)
{
    size_t kept = 0, left = 0;
    hbool_t failed = 1;
    write_many(file, set);
    assert(H5EScancel(set, &kept, &failed) >= 0 && !failed);
    assert(H5ESwait(set, H5ES_WAIT_FOREVER, &left, &failed) >= 0 && left == 0 && !failed);
    int whole = 0;
    for (int number = 0; number < MANY; number++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", number);
        hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
        assert(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0);
        int is_whole = memcmp(back, values, sizeof back) == 0;
        static const int nothing[COUNT];
        assert(is_whole || memcmp(back, nothing, sizeof back) == 0);
        whole += is_whole;
        H5Dclose(dataset);
    }
    printf("as many as could not be cancelled: %d\n", whole >= (int)kept && whole < MANY);
    assert(H5Fclose(file) >= 0);
}

int main(int count, char **arguments)
{
    assert(count == 3);
    for (int i = 0; i < COUNT; i++)
        values[i] = rand();
    hid_t set = H5EScreate(), file = H5Fcreate(arguments[2], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert(set >= 0 && file >= 0);
    if (strcmp(arguments[1], "going") == 0)
        going(file, set);
    else if (strcmp(arguments[1], "failing") == 0)
        failing(file, set);
    else
        cancelled(file, set);
    assert(H5ESclose(set) >= 0);
    return 0;
}
