/* The performance program of PIO, the I/O library of climate models: variables of a distributed array, frame after frame, through netCDF-C. Some ranks do the I/O:
   the others send them their elements.

   Options: --variables V, --frames F, --size M (elements of each rank in a variable), --decomposition BLOCK|ROUNDROBIN, --rearranger BOX|SUBSET,
   --io-ranks R (0: all). */
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "rearrange.h"

static const char *const DECOMPOSITIONS[] = {"BLOCK", "ROUNDROBIN", NULL}, *const REARRANGERS[] = {"BOX", "SUBSET", NULL};
enum { ROUNDROBIN = 1 };

static long long variables, frames, size;
static int decomposition, rearranger, io_ranks;

/* Which elements of a variable this rank has, and what is written and read of them. */
static long long *map;
static double *values, *read_back;

static void make_map(void)
{
    map = memory(size, sizeof *map);
    values = memory(size, sizeof *values);
    read_back = memory(size, sizeof *read_back);
    for (long long i = 0; i < size; i++) {
        map[i] = decomposition == ROUNDROBIN ? i * ranks + rank : i + size * rank;
    }
}

/* Every element of every variable and frame is another number. */
static double value_of(long long variable, long long frame, long long place)
{
    return (double)((frame * variables + variable) * size * ranks + place + 1) / 1e6;
}

static void fill(long long variable, long long frame)
{
    for (long long i = 0; i < size; i++)
        values[i] = value_of(variable, frame, map[i]);
}

static void variable_name(long long number, char name[32])
{
    snprintf(name, 32, "vard%04lld", number + 1);
}

/* A new file with its dimensions and variables, as the ranks that do I/O see it. */
static int create_file(const char *path, MPI_Comm io, int *ids)
{
    int file, dimensions[2], letters, date, before;
    const double none = NC_FILL_DOUBLE;
    NC(nc_create_par(path, NC_NETCDF4 | NC_MPIIO | NC_CLOBBER, io, MPI_INFO_NULL, &file));
    NC(nc_set_fill(file, NC_NOFILL, &before));
    NC(nc_def_dim(file, "strlen", 13, &letters));
    NC(nc_def_var(file, "rundate", NC_CHAR, 1, &letters, &date));
    NC(nc_def_dim(file, "dim000001", (size_t)(size * ranks), &dimensions[1]));
    NC(nc_def_dim(file, "time", NC_UNLIMITED, &dimensions[0]));
    for (long long i = 0; i < variables; i++) {
        char name[32];
        variable_name(i, name);
        NC(nc_def_var(file, name, NC_DOUBLE, 2, dimensions, &ids[i]));
        NC(nc_put_att_double(file, ids[i], "_FillValue", NC_DOUBLE, 1, &none));
    }
    NC(nc_enddef(file));
    return file;
}

/* Moves the regions of a frame between `sorted` and a variable. All ranks call as often as the one with the most regions: the calls are collective. */
static void move(int file, int variable, long long frame, struct plan *plan, bool writes)
{
    double *at = plan->sorted, unused = 0;
    NC(nc_var_par_access(file, variable, NC_COLLECTIVE));
    for (long long i = 0; i < plan->region_count_max; i++) {
        bool here = i < plan->region_count;
        size_t start[2] = {(size_t)frame, here ? (size_t)plan->regions[i].first : 0};
        size_t count[2] = {here ? 1 : 0, here ? (size_t)plan->regions[i].count : 0};
        double *data = here ? at : &unused;
        if (writes)
            NC(nc_put_vara_double(file, variable, start, count, data));
        else
            NC(nc_get_vara_double(file, variable, start, count, data));
        at += count[1];
    }
}

/* What the program times: the plan, all frames of all variables, and the close. */
static double write_file(int file, const int *ids, struct plan *plan)
{
    double began = phase_begin(), filling = 0;
    *plan = plan_make((enum rearranger)rearranger, io_ranks, size * ranks, map, size);
    for (long long frame = 0; frame < frames; frame++)
        for (long long i = 0; i < variables; i++) {
            double since = MPI_Wtime();
            fill(i, frame);
            filling += MPI_Wtime() - since;
            plan_gather(plan, values);
            if (does_io(io_ranks))
                move(file, ids[i], frame, plan, true);
        }
    if (does_io(io_ranks)) {
        NC(nc_sync(file));
        NC(nc_close(file));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return phase_seconds(began + filling);
}

static double read_file(const char *path, MPI_Comm io, int *ids, struct plan *plan)
{
    int file = 0;
    char name[32];
    if (does_io(io_ranks))
        NC(nc_open_par(path, NC_NOWRITE | NC_MPIIO, io, MPI_INFO_NULL, &file));
    for (long long i = 0; does_io(io_ranks) && i < variables; i++) {
        variable_name(i, name);
        NC(nc_inq_varid(file, name, &ids[i]));
    }
    double began = phase_begin(), comparing = 0;
    for (long long frame = 0; frame < frames; frame++)
        for (long long i = 0; i < variables; i++) {
            double since = MPI_Wtime();
            memset(plan->sorted, 0xff, plan->received_count * sizeof *plan->sorted);
            memset(read_back, 0xff, (size_t)size * sizeof *read_back);
            comparing += MPI_Wtime() - since;
            if (does_io(io_ranks))
                move(file, ids[i], frame, plan, false);
            plan_scatter(plan, read_back);
            since = MPI_Wtime();
            for (long long at = 0; at < size; at++)
                expect(read_back[at] == value_of(i, frame, map[at]));
            comparing += MPI_Wtime() - since;
        }
    if (does_io(io_ranks))
        NC(nc_close(file));
    return phase_seconds(began + comparing);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    only_options(argc, argv, (const char *const[]){"variables", "frames", "size", "decomposition", "rearranger", "io-ranks", NULL});
    variables = option(argc, argv, "variables", 1, 10);
    frames = option(argc, argv, "frames", 1, 5);
    size = option(argc, argv, "size", 1, 100000);
    io_ranks = (int)option(argc, argv, "io-ranks", 0, 0);
    decomposition = choice(argc, argv, "decomposition", DECOMPOSITIONS);
    rearranger = choice(argc, argv, "rearranger", REARRANGERS);
    if (io_ranks == 0)
        io_ranks = ranks;
    if (io_ranks > ranks)
        fail("--io-ranks %d: there are %d ranks", io_ranks, ranks);
    if (size * ranks > 1 << 28)
        fail("--size %lld: expected at most %d elements in a variable", size, 1 << 28);
    make_map();

    char path[64];
    snprintf(path, sizeof path, "pioperf.%d-%04d-1.nc", rearranger + 1, io_ranks);
    int *ids = memory(variables, sizeof *ids), file = 0;
    MPI_Comm io;
    MPI_Comm_split(MPI_COMM_WORLD, does_io(io_ranks) ? 0 : MPI_UNDEFINED, rank, &io);
    if (does_io(io_ranks))
        file = create_file(path, io, ids);
    struct plan plan;
    double write_seconds = write_file(file, ids, &plan), read_seconds = read_file(path, io, ids, &plan);

    long long bytes = variables * frames * size * ranks * (long long)sizeof(double);
    report_begin("pio");
    report_text("decomposition", DECOMPOSITIONS[decomposition]);
    report_text("rearranger", REARRANGERS[rearranger]);
    report_count("io_ranks", io_ranks);
    report_count("variables", variables);
    report_count("frames", frames);
    report_count("size", size);
    report_count("regions", plan.region_count_max);
    report_count("bytes", bytes);
    report_phase("write", bytes, write_seconds);
    report_phase("read", bytes, read_seconds);
    plan_free(&plan);
    free(ids);
    free(map);
    free(values);
    free(read_back);
    if (does_io(io_ranks))
        MPI_Comm_free(&io);
    return end();
}
