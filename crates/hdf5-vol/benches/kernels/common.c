/* What the kernels share. */
#include "common.h"

#include <hdf5.h>
#include <netcdf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rank, ranks;

static long long wrong, checked;

void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* Where the connector that the environment names cannot be loaded this fails, and later calls would go to native HDF5. */
    H5(H5open());
}

void fail(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "rank %d: error: ", rank);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* The text after `--name`, or NULL. */
static const char *text_option(int argc, char **argv, const char *name)
{
    for (int i = 1; i + 1 < argc; i += 2)
        if (strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, name) == 0)
            return argv[i + 1];
    return NULL;
}

long long option(int argc, char **argv, const char *name, long long least, long long otherwise)
{
    const char *text = text_option(argc, argv, name);
    if (text == NULL)
        return otherwise;
    char *rest;
    long long value = strtoll(text, &rest, 10);
    if (rest == text || *rest != '\0' || value < least)
        fail("--%s %s: expected a number of at least %lld", name, text, least);
    return value;
}

int choice(int argc, char **argv, const char *name, const char *const *words)
{
    const char *text = text_option(argc, argv, name);
    for (int i = 0; words[i] != NULL; i++)
        if (text == NULL || strcmp(text, words[i]) == 0)
            return i;
    fail("--%s %s: expected %s or another of its words", name, text, words[0]);
}

void only_options(int argc, char **argv, const char *const *names)
{
    for (int i = 1; i < argc; i += 2) {
        bool known = false;
        for (int n = 0; names[n] != NULL; n++)
            known |= strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i] + 2, names[n]) == 0;
        if (!known)
            fail("unknown option %s", argv[i]);
        if (i + 1 == argc)
            fail("%s needs a value", argv[i]);
    }
}

long long h5_result(long long result, const char *call)
{
    if (result < 0)
        fail("%s", call);
    return result;
}

void nc_result(int status, const char *call)
{
    if (status != NC_NOERR)
        fail("%s: %s", call, nc_strerror(status));
}

void *memory(long long count, unsigned long size)
{
    void *block = calloc(count > 0 ? (size_t)count : 1, size);
    if (block == NULL)
        fail("no memory for %lld elements of %lu bytes", count, size);
    return block;
}

double phase_begin(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

double phase_seconds(double began)
{
    double seconds = MPI_Wtime() - began, longest;
    MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

void expect(bool right)
{
    checked++;
    wrong += !right;
}

/* A new member of the line, and its name. */
static void member(const char *name)
{
    printf(", \"%s\": ", name);
}

void report_begin(const char *kernel)
{
    if (rank == 0)
        printf("{\"kernel\": \"%s\", \"ranks\": %d", kernel, ranks);
}

void report_text(const char *name, const char *value)
{
    if (rank == 0) {
        member(name);
        printf("\"%s\"", value);
    }
}

void report_count(const char *name, long long value)
{
    if (rank == 0) {
        member(name);
        printf("%lld", value);
    }
}

void report_seconds(const char *name, double value)
{
    if (rank == 0) {
        member(name);
        printf("%.6f", value);
    }
}

static void report_rate(const char *name, const char *unit, double amount, double seconds)
{
    char whole[64];
    snprintf(whole, sizeof whole, "%s_seconds", name);
    report_seconds(whole, seconds);
    snprintf(whole, sizeof whole, "%s_%s_per_second", name, unit);
    report_seconds(whole, amount / seconds);
}

void report_phase(const char *name, long long bytes, double seconds)
{
    report_rate(name, "mib", (double)bytes / (1 << 20), seconds);
}

void report_objects(const char *name, long long objects, double seconds)
{
    report_rate(name, "objects", (double)objects, seconds);
}

int end(void)
{
    long long here[2] = {checked, wrong}, all[2];
    MPI_Allreduce(here, all, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    report_count("checked", all[0]);
    report_count("wrong", all[1]);
    if (rank == 0)
        printf("}\n");
    MPI_Finalize();
    /* Nothing that was checked is nothing that is right. */
    return all[1] == 0 && all[0] > 0 ? 0 : 1;
}
