/* The I/O tester of Legion, a runtime of tasks: a square of doubles is cut into square shards, each with a file of its own. One task makes all files, and a file of
   links that lead to the shards. Then independent tasks, one for each shard, open, write, open again, read back and check. The ranks are workers that share the
   tasks; no call is collective.

   Options: --elements N (in all; a square number), --shards S (a square number whose root divides that of N). */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

static const char *const NAME = "ocean_pr.hdf5", *const GROUP = "bam", *const DATASET = "baz";

/* The shards of a side, and the elements of a shard's side. */
static long long side, edge;

static void path_of(long long shard, char path[64])
{
    snprintf(path, 64, "%lld-%lld-%s", shard / side, shard % side, NAME);
}

static double value_of(long long shard, long long at)
{
    return (double)(shard * edge * edge + at) / 3;
}

/* The corners of a shard in the whole square, as an attribute of its dataset. */
static void put_corners(hid_t dataset, long long shard)
{
    hsize_t two_by_two[2] = {2, 2};
    int row = (int)(shard / side * edge), column = (int)(shard % side * edge);
    int corners[4] = {row, column, row + (int)edge - 1, column + (int)edge - 1};
    hid_t space = (hid_t)H5(H5Screate_simple(2, two_by_two, NULL));
    hid_t attribute = (hid_t)H5(H5Acreate2(dataset, "dims", H5T_STD_I32BE, space, H5P_DEFAULT, H5P_DEFAULT));
    H5(H5Awrite(attribute, H5T_NATIVE_INT, corners));
    H5(H5Aclose(attribute));
    H5(H5Sclose(space));
}

static void expect_corners(hid_t dataset, long long shard)
{
    int corners[4];
    hid_t attribute = (hid_t)H5(H5Aopen(dataset, "dims", H5P_DEFAULT));
    H5(H5Aread(attribute, H5T_NATIVE_INT, corners));
    H5(H5Aclose(attribute));
    expect(corners[0] == shard / side * edge && corners[1] == shard % side * edge);
    expect(corners[2] == corners[0] + edge - 1 && corners[3] == corners[1] + edge - 1);
}

static void make_shard(const char *path, long long shard)
{
    hsize_t extent[2] = {(hsize_t)edge, (hsize_t)edge};
    hid_t file = (hid_t)H5(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    hid_t group = (hid_t)H5(H5Gcreate2(file, GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t space = (hid_t)H5(H5Screate_simple(2, extent, NULL));
    hid_t dataset = (hid_t)H5(H5Dcreate2(group, DATASET, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    put_corners(dataset, shard);
    H5(H5Dclose(dataset));
    H5(H5Sclose(space));
    H5(H5Gclose(group));
    H5(H5Fclose(file));
}

/* All files of the shards, and the file with a link to each: /bam/baz/I-J. */
static void make_files(void)
{
    hid_t links = (hid_t)H5(H5Fcreate(NAME, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    hid_t outer = (hid_t)H5(H5Gcreate2(links, GROUP, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t inner = (hid_t)H5(H5Gcreate2(outer, DATASET, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (long long shard = 0; shard < side * side; shard++) {
        char path[64], name[64], target[64];
        path_of(shard, path);
        make_shard(path, shard);
        snprintf(name, sizeof name, "%lld-%lld", shard / side, shard % side);
        snprintf(target, sizeof target, "%s/%s", GROUP, DATASET);
        H5(H5Lcreate_external(path, target, inner, name, H5P_DEFAULT, H5P_DEFAULT));
    }
    H5(H5Gclose(inner));
    H5(H5Gclose(outer));
    H5(H5Fclose(links));
}

static hid_t open_dataset(hid_t file)
{
    hid_t group = (hid_t)H5(H5Gopen2(file, GROUP, H5P_DEFAULT));
    hid_t dataset = (hid_t)H5(H5Dopen2(group, DATASET, H5P_DEFAULT));
    H5(H5Gclose(group));
    return dataset;
}

static void write_shard(long long shard, const double *values)
{
    char path[64];
    path_of(shard, path);
    hid_t file = (hid_t)H5(H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT)), dataset = open_dataset(file);
    H5(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5(H5Dclose(dataset));
    H5(H5Fclose(file));
}

static void read_shard(long long shard, double *values)
{
    char path[64];
    path_of(shard, path);
    hid_t file = (hid_t)H5(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)), dataset = open_dataset(file);
    H5(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
    H5(H5Dclose(dataset));
    H5(H5Fclose(file));
}

/* Each link leads to the dataset of its shard. */
static void expect_links(void)
{
    hid_t links = (hid_t)H5(H5Fopen(NAME, H5F_ACC_RDONLY, H5P_DEFAULT));
    for (long long shard = 0; shard < side * side; shard++) {
        char path[64];
        snprintf(path, sizeof path, "/%s/%s/%lld-%lld", GROUP, DATASET, shard / side, shard % side);
        hid_t dataset = (hid_t)H5(H5Dopen2(links, path, H5P_DEFAULT));
        expect_corners(dataset, shard);
        H5(H5Dclose(dataset));
    }
    H5(H5Fclose(links));
}

static long long root_of(const char *name, long long square)
{
    long long root = 1;
    while (root * root < square)
        root++;
    if (root * root != square)
        fail("--%s %lld: expected a square number", name, square);
    return root;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    only_options(argc, argv, (const char *const[]){"elements", "shards", NULL});
    long long elements = option(argc, argv, "elements", 1, 1024), shards = option(argc, argv, "shards", 1, 64);
    long long length = root_of("elements", elements), bytes = elements * (long long)sizeof(double);
    side = root_of("shards", shards);
    edge = length / side;
    if (edge * side != length)
        fail("%lld rows cannot be cut into %lld equal parts", length, side);

    double began = phase_begin();
    if (rank == 0)
        make_files();
    double create_seconds = phase_seconds(began), write_seconds = 0, read_seconds = 0;
    double *values = memory(edge * edge, sizeof(double));
    MPI_Barrier(MPI_COMM_WORLD);
    for (long long shard = rank; shard < shards; shard += ranks) {
        for (long long i = 0; i < edge * edge; i++)
            values[i] = value_of(shard, i);
        began = MPI_Wtime();
        write_shard(shard, values);
        write_seconds += MPI_Wtime() - began;
    }
    /* All shards are written when the first is read: a worker would read what is still in its own cache. */
    MPI_Barrier(MPI_COMM_WORLD);
    for (long long shard = (rank + 1) % ranks; shard < shards; shard += ranks) {
        began = MPI_Wtime();
        read_shard(shard, values);
        read_seconds += MPI_Wtime() - began;
        for (long long i = 0; i < edge * edge; i++)
            expect(values[i] == value_of(shard, i));
    }
    double spent[2] = {write_seconds, read_seconds}, longest[2];
    MPI_Allreduce(spent, longest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    began = phase_begin();
    if (rank == 0)
        expect_links();
    double links_seconds = phase_seconds(began);

    report_begin("legion");
    report_count("elements", elements);
    report_count("shards", shards);
    report_count("bytes", bytes);
    report_seconds("create_seconds", create_seconds);
    report_phase("write", bytes, longest[0]);
    report_phase("read", bytes, longest[1]);
    report_seconds("links_seconds", links_seconds);
    free(values);
    return end();
}
