/* Moves the elements of a distributed array to the ranks that do I/O, and back. */
#include "rearrange.h"

#include <stdlib.h>

#include "common.h"

/* An element that has been received: where it is in the array, and what number it has among those received. */
struct arrival {
    long long index, number;
};

/* How far two ranks that do I/O are from each other. */
static int io_stride(int io_ranks)
{
    return ranks / io_ranks > 1 ? ranks / io_ranks : 1;
}

bool does_io(int io_ranks)
{
    return rank % io_stride(io_ranks) == 0 && rank / io_stride(io_ranks) < io_ranks;
}

/* The rank that does the I/O for an element of this rank. */
static int destination(enum rearranger rearranger, int io_ranks, long long all, long long index)
{
    int stride = io_stride(io_ranks);
    if (rearranger == SUBSET)
        return (rank / stride < io_ranks ? rank / stride : io_ranks - 1) * stride;
    /* The first boxes have one element more where the array cannot be cut evenly. */
    long long size = all / io_ranks, larger = all % io_ranks, in_larger = larger * (size + 1);
    return (int)(index < in_larger ? index / (size + 1) : larger + (index - in_larger) / size) * stride;
}

static int by_index(const void *left, const void *right)
{
    long long a = ((const struct arrival *)left)->index, b = ((const struct arrival *)right)->index;
    return (a > b) - (a < b);
}

/* Where each part begins; the sum of all. */
static long long starts(const int *counts, int *at)
{
    long long sum = 0;
    for (int i = 0; i < ranks; i++) {
        at[i] = (int)sum;
        sum += counts[i];
    }
    return sum;
}

/* Puts the elements of this rank into the order in which they are sent, and returns where each is in the array. */
static long long *order_by_destination(struct plan *plan, const long long *map, const int *destinations, long long count)
{
    long long *indices = memory(count, sizeof *indices);
    int *next = memory(ranks, sizeof *next);
    for (int i = 0; i < ranks; i++)
        next[i] = plan->send_at[i];
    for (long long i = 0; i < count; i++) {
        int at = next[destinations[i]]++;
        plan->sent[at] = i;
        indices[at] = map[i];
    }
    free(next);
    return indices;
}

/* Sorts what is received by where it is in the array, and finds the regions. */
static void sort_arrivals(struct plan *plan, const long long *indices)
{
    long long count = plan->received_count;
    struct arrival *arrivals = memory(count, sizeof *arrivals);
    for (long long i = 0; i < count; i++)
        arrivals[i] = (struct arrival){indices[i], i};
    qsort(arrivals, (size_t)count, sizeof *arrivals, by_index);
    plan->regions = memory(count, sizeof *plan->regions);
    for (long long i = 0; i < count; i++) {
        plan->place[arrivals[i].number] = i;
        if (i == 0 || arrivals[i].index != arrivals[i - 1].index + 1)
            plan->regions[plan->region_count++].first = arrivals[i].index;
        plan->regions[plan->region_count - 1].count++;
    }
    free(arrivals);
}

struct plan plan_make(enum rearranger rearranger, int io_ranks, long long all, const long long *map, long long count)
{
    struct plan plan = {.sent_count = count};
    plan.send_counts = memory(ranks, sizeof(int));
    plan.send_at = memory(ranks, sizeof(int));
    plan.receive_counts = memory(ranks, sizeof(int));
    plan.receive_at = memory(ranks, sizeof(int));
    plan.sent = memory(count, sizeof *plan.sent);
    int *destinations = memory(count, sizeof *destinations);
    for (long long i = 0; i < count; i++) {
        destinations[i] = destination(rearranger, io_ranks, all, map[i]);
        plan.send_counts[destinations[i]]++;
    }
    MPI_Alltoall(plan.send_counts, 1, MPI_INT, plan.receive_counts, 1, MPI_INT, MPI_COMM_WORLD);
    starts(plan.send_counts, plan.send_at);
    plan.received_count = starts(plan.receive_counts, plan.receive_at);

    long long *leaving = order_by_destination(&plan, map, destinations, count);
    long long *arriving = memory(plan.received_count, sizeof *arriving);
    MPI_Alltoallv(leaving, plan.send_counts, plan.send_at, MPI_LONG_LONG, arriving, plan.receive_counts, plan.receive_at, MPI_LONG_LONG,
                  MPI_COMM_WORLD);
    plan.place = memory(plan.received_count, sizeof *plan.place);
    sort_arrivals(&plan, arriving);
    MPI_Allreduce(&plan.region_count, &plan.region_count_max, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    free(destinations);
    free(leaving);
    free(arriving);
    plan.packed = memory(count, sizeof(double));
    plan.received = memory(plan.received_count, sizeof(double));
    plan.sorted = memory(plan.received_count, sizeof(double));
    return plan;
}

void plan_free(struct plan *plan)
{
    void *blocks[] = {plan->regions,    plan->sorted, plan->send_counts, plan->send_at, plan->receive_counts,
                      plan->receive_at, plan->sent,   plan->place,       plan->packed,  plan->received};
    for (unsigned i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        free(blocks[i]);
}

void plan_gather(struct plan *plan, const double *values)
{
    for (long long i = 0; i < plan->sent_count; i++)
        plan->packed[i] = values[plan->sent[i]];
    MPI_Alltoallv(plan->packed, plan->send_counts, plan->send_at, MPI_DOUBLE, plan->received, plan->receive_counts, plan->receive_at, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    for (long long i = 0; i < plan->received_count; i++)
        plan->sorted[plan->place[i]] = plan->received[i];
}

void plan_scatter(struct plan *plan, double *values)
{
    for (long long i = 0; i < plan->received_count; i++)
        plan->received[i] = plan->sorted[plan->place[i]];
    MPI_Alltoallv(plan->received, plan->receive_counts, plan->receive_at, MPI_DOUBLE, plan->packed, plan->send_counts, plan->send_at, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    for (long long i = 0; i < plan->sent_count; i++)
        values[plan->sent[i]] = plan->packed[i];
}
