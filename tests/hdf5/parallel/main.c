/* Checks of an HDF5 connector by the calls of a parallel program: the same ones on the native connector and on any other.
 *
 * Usage: mpirun -n N parallel FOLDER [AREA...]. The first rank prints a line for each check, and at the end how many there were and how many
 * failed.
 */
#include "parallel.h"

#include <stdarg.h>

int rank, size;
hid_t together;
static int checks, failures;
static const char *folder;

bool check(bool holds, const char *format, ...)
{
    va_list arguments;
    int mine = holds, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (!mine && getenv("CHECKS_VERBOSE"))
        H5Eprint2(H5E_DEFAULT, stderr);
    checks++;
    failures += !all;
    if (rank == 0) {
        printf("%s ", all ? "ok    " : "FAILED");
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        printf("\n");
        fflush(stdout);
    }
    return all;
}

void show(const char *what, long long value)
{
    if (rank == 0)
        printf("       %s = %lld\n", what, value);
}

const char *path(const char *name)
{
    static char paths[4][4096];
    static int next;
    char *text = paths[next++ % 4];
    snprintf(text, sizeof paths[0], "%s/%s", folder, name);
    return text;
}

hid_t transfer(bool is_collective)
{
    static hid_t lists[2];
    if (lists[is_collective] == 0) {
        lists[is_collective] = H5Pcreate(H5P_DATASET_XFER);
        H5Pset_dxpl_mpio(lists[is_collective], is_collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    }
    return lists[is_collective];
}

const char *mode(bool is_collective)
{
    return is_collective ? "together" : "alone";
}

hid_t shared_file(const char *name)
{
    hid_t file = H5Fcreate(path(name), H5F_ACC_TRUNC, H5P_DEFAULT, together);
    DONE(file, "create %s", name);
    return file;
}

hid_t open_shared(const char *name, bool writable)
{
    hid_t file = H5Fopen(path(name), writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, together);
    DONE(file, "open %s", name);
    return file;
}

hid_t grid(hid_t at, const char *name, hsize_t rows, hsize_t columns, hsize_t chunk_rows, hsize_t chunk_columns, bool grows)
{
    hsize_t lengths[2] = {rows, columns}, chunk[2] = {chunk_rows, chunk_columns}, most[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
    hid_t space = H5Screate_simple(2, lengths, grows ? most : NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    if (chunk_rows)
        H5Pset_chunk(list, 2, chunk);
    /* Without it native parallel HDF5 leaves what nobody writes as it finds it. */
    H5Pset_fill_time(list, H5D_FILL_TIME_ALLOC);
    hid_t dataset = H5Dcreate2(at, name, H5T_STD_I32LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    DONE(dataset, "create dataset %s", name);
    H5Pclose(list);
    H5Sclose(space);
    return dataset;
}

/* The numbers of the selected elements in the order of a transfer: the points one by one, or those of the blocks in the order of rows. */
static int *numbers_of(hid_t space, hsize_t *count)
{
    hsize_t starts[64], done = 0;
    size_t run_count, element_count, lengths[64];
    *count = (hsize_t)H5Sget_select_npoints(space);
    int *numbers = malloc((*count + 1) * sizeof *numbers);
    hid_t iterator = *count ? H5Ssel_iter_create(space, 1, 0) : -1;
    while (done < *count) {
        H5Ssel_iter_get_seq_list(iterator, 64, *count - done, &run_count, &element_count, starts, lengths);
        for (size_t run = 0; run < run_count; run++)
            for (size_t i = 0; i < lengths[run]; i++)
                numbers[done++] = (int)(starts[run] + i);
    }
    if (iterator >= 0)
        H5Ssel_iter_close(iterator);
    return numbers;
}

static hid_t memory_of(hsize_t count)
{
    hid_t memory = H5Screate_simple(1, &count, NULL);
    if (count == 0)
        H5Sselect_none(memory);
    return memory;
}

bool write_selected(hid_t dataset, hid_t space, int base, bool is_collective)
{
    hsize_t count;
    int *values = numbers_of(space, &count);
    for (hsize_t i = 0; i < count; i++)
        values[i] += base;
    hid_t memory = memory_of(count);
    herr_t status = H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, transfer(is_collective), values);
    H5Sclose(memory);
    free(values);
    return status >= 0;
}

bool holds(hid_t dataset, hid_t space, int base, bool is_collective)
{
    hsize_t count;
    int *numbers = numbers_of(space, &count), *values = calloc(count + 1, sizeof *values);
    hid_t memory = memory_of(count);
    bool same = H5Dread(dataset, H5T_NATIVE_INT, memory, space, transfer(is_collective), values) >= 0;
    for (hsize_t i = 0; same && i < count; i++)
        same = values[i] == numbers[i] + base;
    H5Sclose(memory);
    free(numbers);
    free(values);
    return same;
}

bool holds_all(hid_t dataset, int base, bool is_collective)
{
    hid_t space = H5Dget_space(dataset);
    bool same = holds(dataset, space, base, is_collective);
    H5Sclose(space);
    return same;
}

void rows_of(int of, hsize_t rows, hsize_t *first, hsize_t *count)
{
    hsize_t each = rows / (hsize_t)size;
    *first = (hsize_t)of * each;
    *count = of == size - 1 ? rows - *first : each;
}

hid_t rows_space(hid_t dataset, int of)
{
    hid_t space = H5Dget_space(dataset);
    hsize_t lengths[2], start[2] = {0, 0}, count[2];
    H5Sget_simple_extent_dims(space, lengths, NULL);
    rows_of(of, lengths[0], &start[0], &count[0]);
    count[1] = lengths[1];
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    return space;
}

static const struct {
    const char *name;
    void (*run)(void);
} AREAS[] = {
    {"files", check_files},     {"transfers", check_transfers}, {"selections", check_selections}, {"extents", check_extents},
    {"metadata", check_metadata}, {"filters", check_filters},   {"ranks", check_ranks},
};

static bool is_wanted(const char *name, int count, char **wanted)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, wanted[i]) == 0)
            return true;
    return count == 0;
}

int main(int count, char **arguments)
{
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (count < 2) {
        fprintf(stderr, "usage: parallel FOLDER [AREA...]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    folder = arguments[1];
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    together = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(together, MPI_COMM_WORLD, MPI_INFO_NULL);
    for (size_t i = 0; i < sizeof AREAS / sizeof AREAS[0]; i++) {
        if (!is_wanted(AREAS[i].name, count - 2, arguments + 2))
            continue;
        if (rank == 0)
            printf("== %s\n", AREAS[i].name);
        AREAS[i].run();
        /* What a check left open would show up in the next one. */
        show("open objects", H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
    }
    H5Pclose(together);
    if (rank == 0)
        printf("%d checks, %d failed\n", checks, failures);
    MPI_Finalize();
    return failures ? 1 : 0;
}
