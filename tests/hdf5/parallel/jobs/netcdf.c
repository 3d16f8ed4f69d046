/* A parallel NetCDF program: variables with and without an unlimited dimension, written together and alone.
 *
 * Usage: mpirun -n N netcdf FILE. The first rank prints a line for each step.
 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>

enum { EACH = 1000, FRAMES = 3 };

static int rank, size, failures;

static void step(int status, const char *what)
{
    int mine = status == NC_NOERR, all;
    if (!mine)
        fprintf(stderr, "rank %d: %s: %s\n", rank, what, nc_strerror(status));
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    failures += !all;
    if (rank == 0)
        printf("%s %s\n", all ? "ok    " : "FAILED", what);
}

static double value(int frame, size_t at)
{
    return frame * 1e6 + (double)at;
}

static int same(const double *values, int frame, size_t start, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] != value(frame, start + i))
            return NC_EINVAL;
    return NC_NOERR;
}

static void put_frames(int file, int variable, int first, int last)
{
    size_t start[2] = {0, (size_t)rank * EACH}, count[2] = {1, EACH};
    double values[EACH];
    for (int frame = first; frame < last; frame++) {
        for (size_t i = 0; i < EACH; i++)
            values[i] = value(frame, start[1] + i);
        start[0] = (size_t)frame;
        step(nc_put_vara_double(file, variable, start, count, values), "put a frame");
    }
}

int main(int count, char **arguments)
{
    int file, dimensions[2], series, table, i, found;
    size_t length;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    step(nc_create_par(arguments[1], NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "create");
    step(nc_def_dim(file, "time", NC_UNLIMITED, &dimensions[0]), "an unlimited dimension");
    step(nc_def_dim(file, "x", (size_t)size * EACH, &dimensions[1]), "a dimension");
    step(nc_def_var(file, "series", NC_DOUBLE, 2, dimensions, &series), "a variable of frames");
    step(nc_def_var(file, "table", NC_INT, 1, &dimensions[1], &table), "a variable of numbers");
    step(nc_def_var_deflate(file, table, 1, 1, 2), "which are compressed");
    step(nc_put_att_text(file, series, "units", 1, "K"), "an attribute");
    step(nc_put_att_text(file, NC_GLOBAL, "title", 5, "ranks"), "and one of the file");
    step(nc_enddef(file), "end of definitions");
    step(nc_var_par_access(file, series, NC_COLLECTIVE), "together");
    step(nc_var_par_access(file, table, NC_COLLECTIVE), "together");
    put_frames(file, series, 0, FRAMES);
    size_t start[2] = {0, (size_t)rank * EACH}, counts[2] = {1, EACH};
    int numbers[EACH];
    for (i = 0; i < EACH; i++)
        numbers[i] = rank * EACH + i;
    step(nc_put_vara_int(file, table, &start[1], &counts[1], numbers), "put numbers");
    step(nc_sync(file), "sync");
    step(nc_close(file), "close");

    step(nc_open_par(arguments[1], NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "open for writing");
    step(nc_inq_varid(file, "series", &series), "the variable");
    step(nc_inq_dimlen(file, dimensions[0], &length), "its frames");
    step(length == FRAMES ? NC_NOERR : NC_EDIMSIZE, "are as many as were put");
    put_frames(file, series, 1, 2);
    step(nc_var_par_access(file, series, NC_COLLECTIVE), "together");
    put_frames(file, series, FRAMES, FRAMES + 2);
    step(nc_close(file), "close");

    step(nc_open_par(arguments[1], NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "open for reading");
    step(nc_inq_varid(file, "series", &series), "the variable");
    step(nc_inq_varid(file, "table", &table), "the other one");
    step(nc_inq_dimlen(file, dimensions[0], &length), "its frames");
    step(length == FRAMES + 2 ? NC_NOERR : NC_EDIMSIZE, "are as many as were put");
    step(nc_var_par_access(file, series, NC_COLLECTIVE), "together");
    double *frame = malloc((size_t)size * EACH * sizeof *frame);
    for (found = 0; found < FRAMES + 2; found++) {
        start[0] = (size_t)found;
        start[1] = 0;
        counts[1] = (size_t)size * EACH;
        step(nc_get_vara_double(file, series, start, counts, frame), "get a frame");
        step(same(frame, found, 0, (size_t)size * EACH), "which is what the ranks have put");
    }
    free(frame);
    int *all = malloc((size_t)size * EACH * sizeof *all);
    step(nc_get_var_int(file, table, all), "get all numbers");
    found = NC_NOERR;
    for (i = 0; i < size * EACH; i++)
        found = all[i] == i ? found : NC_EINVAL;
    step(found, "which are what the ranks have put");
    free(all);
    step(nc_close(file), "close");
    if (rank == 0)
        printf("%d failed\n", failures);
    MPI_Finalize();
    return failures ? 1 : 0;
}
