/* The checkpoints of CLAMR, a simulation of shallow water on a mesh that refines itself: each step writes a file with small arrays, and with the mesh and the
   state of each cell. All ranks write their part of every array in collective calls. The restart reads all of it back.

   Options: --cells N (the mesh has N * N cells), --steps S, --chunk C (elements in a chunk of a cell's array; 0: contiguous). */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

struct array {
    const char *group, *name;
    bool real;
    /* Elements that each rank has; 0 for one per cell. */
    int each;
};

static const struct array ARRAYS[] = {
    {"default", "version", false, 1}, {"default", "step", false, 2},      {"default", "time", true, 3},
    {"mesh", "version", false, 1},    {"mesh", "extent", false, 8},       {"mesh", "counters", false, 20},
    {"mesh", "timers", true, 50},     {"mesh", "i", false, 0},            {"mesh", "j", false, 0},
    {"mesh", "level", false, 0},      {"state", "version", false, 1},     {"state", "counters", false, 12},
    {"state", "timers", true, 30},    {"state", "H", true, 0},            {"state", "U", true, 0},
    {"state", "V", true, 0},
};
enum { COUNT = sizeof ARRAYS / sizeof ARRAYS[0] };

static const char *const GROUPS[] = {"default", "mesh", "state"};
enum { GROUP_COUNT = sizeof GROUPS / sizeof GROUPS[0] };

struct part {
    hsize_t all, first, count;
};

static long long cells, steps, chunk;

/* This rank's part of an array: that of the ranks before it comes before. */
static struct part part_of(const struct array *array)
{
    long long total = cells * cells;
    long long count = array->each > 0 ? array->each : total / ranks + (rank < total % ranks), counts[ranks];
    MPI_Allgather(&count, 1, MPI_LONG_LONG, counts, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
    struct part part = {0, 0, (hsize_t)count};
    for (int i = 0; i < ranks; i++) {
        part.first += i < rank ? (hsize_t)counts[i] : 0;
        part.all += (hsize_t)counts[i];
    }
    return part;
}

/* What element `at` of an array is in a step: a number that both kinds of arrays hold. */
static int value_of(int number, long long step, hsize_t at)
{
    return (int)((at * 31 + (hsize_t)step * 1009 + (hsize_t)number * 100003) & 0x3fffffff);
}

static hid_t type_of(const struct array *array)
{
    return array->real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT;
}

static void fill(int number, long long step, const struct part *part, void *values)
{
    for (hsize_t i = 0; i < part->count; i++) {
        int value = value_of(number, step, part->first + i);
        if (ARRAYS[number].real)
            ((double *)values)[i] = value + 0.5;
        else
            ((int *)values)[i] = value;
    }
}

static void compare(int number, long long step, const struct part *part, const void *values)
{
    for (hsize_t i = 0; i < part->count; i++) {
        int value = value_of(number, step, part->first + i);
        expect(ARRAYS[number].real ? ((const double *)values)[i] == value + 0.5 : ((const int *)values)[i] == value);
    }
}

/* The file of a step, and the property lists of all access to it. */
static hid_t access_list, transfer_list;

static void path_of(long long step, char path[32])
{
    snprintf(path, 32, "backup%05lld.h5", step);
}

/* Moves this rank's part between memory and a dataset. */
static void move(hid_t dataset, const struct array *array, const struct part *part, void *values, bool writes)
{
    hid_t in_file = (hid_t)H5(H5Dget_space(dataset)), in_memory = (hid_t)H5(H5Screate_simple(1, &part->count, NULL));
    if (part->count > 0)
        H5(H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &part->first, NULL, &part->count, NULL));
    else
        H5(H5Sselect_none(in_file) + H5Sselect_none(in_memory));
    if (writes)
        H5(H5Dwrite(dataset, type_of(array), in_memory, in_file, transfer_list, values));
    else
        H5(H5Dread(dataset, type_of(array), in_memory, in_file, transfer_list, values));
    H5(H5Sclose(in_memory));
    H5(H5Sclose(in_file));
}

static void write_array(hid_t group, const struct array *array, const struct part *part, void *values)
{
    hid_t space = (hid_t)H5(H5Screate_simple(1, &part->all, NULL)), layout = (hid_t)H5(H5Pcreate(H5P_DATASET_CREATE));
    hsize_t length = (hsize_t)chunk < part->all ? (hsize_t)chunk : part->all;
    if (chunk > 0 && array->each == 0)
        H5(H5Pset_chunk(layout, 1, &length));
    hid_t dataset = (hid_t)H5(H5Dcreate2(group, array->name, type_of(array), space, H5P_DEFAULT, layout, H5P_DEFAULT));
    move(dataset, array, part, values, true);
    H5(H5Dclose(dataset));
    H5(H5Pclose(layout));
    H5(H5Sclose(space));
}

static void checkpoint(long long step, const struct part *parts, void **values)
{
    char path[32];
    path_of(step, path);
    hid_t file = (hid_t)H5(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access_list)), groups[GROUP_COUNT];
    for (int i = 0; i < GROUP_COUNT; i++)
        groups[i] = (hid_t)H5(H5Gcreate2(file, GROUPS[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    for (int number = 0; number < COUNT; number++) {
        int group = 0;
        while (GROUPS[group] != ARRAYS[number].group)
            group++;
        write_array(groups[group], &ARRAYS[number], &parts[number], values[number]);
    }
    for (int i = 0; i < GROUP_COUNT; i++)
        H5(H5Gclose(groups[i]));
    H5(H5Fclose(file));
}

static void restart(long long step, const struct part *parts, void **values)
{
    char path[32], name[64];
    path_of(step, path);
    hid_t file = (hid_t)H5(H5Fopen(path, H5F_ACC_RDONLY, access_list));
    for (int number = 0; number < COUNT; number++) {
        snprintf(name, sizeof name, "%s/%s", ARRAYS[number].group, ARRAYS[number].name);
        hid_t dataset = (hid_t)H5(H5Dopen2(file, name, H5P_DEFAULT));
        move(dataset, &ARRAYS[number], &parts[number], values[number], false);
        H5(H5Dclose(dataset));
    }
    H5(H5Fclose(file));
}

static void make_lists(void)
{
    access_list = (hid_t)H5(H5Pcreate(H5P_FILE_ACCESS));
    H5(H5Pset_fapl_mpio(access_list, MPI_COMM_WORLD, MPI_INFO_NULL));
    H5(H5Pset_libver_bounds(access_list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST));
    transfer_list = (hid_t)H5(H5Pcreate(H5P_DATASET_XFER));
    H5(H5Pset_dxpl_mpio(transfer_list, H5FD_MPIO_COLLECTIVE));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    only_options(argc, argv, (const char *const[]){"cells", "steps", "chunk", NULL});
    cells = option(argc, argv, "cells", 1, 128);
    steps = option(argc, argv, "steps", 1, 5);
    chunk = option(argc, argv, "chunk", 0, 0);
    make_lists();

    struct part parts[COUNT];
    void *values[COUNT];
    long long bytes = 0;
    for (int number = 0; number < COUNT; number++) {
        long size = ARRAYS[number].real ? sizeof(double) : sizeof(int);
        parts[number] = part_of(&ARRAYS[number]);
        values[number] = memory((long long)parts[number].count, (unsigned long)size);
        bytes += (long long)parts[number].all * size;
    }
    double write_seconds = 0, read_seconds = 0;
    for (long long step = 0; step < steps; step++) {
        for (int number = 0; number < COUNT; number++)
            fill(number, step, &parts[number], values[number]);
        double began = phase_begin();
        checkpoint(step, parts, values);
        write_seconds += phase_seconds(began);
    }
    for (long long step = 0; step < steps; step++) {
        for (int number = 0; number < COUNT; number++)
            memset(values[number], 0xff, (size_t)parts[number].count * (ARRAYS[number].real ? sizeof(double) : sizeof(int)));
        double began = phase_begin();
        restart(step, parts, values);
        read_seconds += phase_seconds(began);
        for (int number = 0; number < COUNT; number++)
            compare(number, step, &parts[number], values[number]);
    }
    report_begin("clamr");
    report_count("cells", cells);
    report_count("steps", steps);
    report_count("chunk", chunk);
    report_count("bytes", bytes * steps);
    report_phase("write", bytes * steps, write_seconds);
    report_phase("read", bytes * steps, read_seconds);
    for (int number = 0; number < COUNT; number++)
        free(values[number]);
    H5(H5Pclose(access_list));
    H5(H5Pclose(transfer_list));
    return end();
}
