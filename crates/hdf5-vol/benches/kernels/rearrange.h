/* Moves the elements of a distributed array to the ranks that do I/O, and back.

   BOX: each of these ranks has a contiguous part of the array, and gets elements of any rank. SUBSET: each serves some ranks, and has what they have. */
#ifndef REARRANGE_H
#define REARRANGE_H

#include <stdbool.h>

enum rearranger { BOX, SUBSET };

/* Elements that are next to each other in the array. */
struct region {
    long long first, count;
};

struct plan {
    /* The regions here in ascending order, whose elements are in `sorted`; and the most that a rank has. */
    struct region *regions;
    long long region_count, region_count_max;
    double *sorted;

    /* Elements from and to each rank, and where they begin. */
    int *send_counts, *send_at, *receive_counts, *receive_at;
    /* Which of this rank's elements is sent at a place, and where a received element is in `sorted`. */
    long long *sent, *place;
    long long sent_count, received_count;
    double *packed, *received;
};

/* Whether this rank does I/O, if `io_ranks` do: they are as far from each other as can be, from rank 0 on. */
bool does_io(int io_ranks);

/* The plan for an array of `all` elements, of which this rank has `count`: `map` says which. */
struct plan plan_make(enum rearranger rearranger, int io_ranks, long long all, const long long *map, long long count);
void plan_free(struct plan *plan);

/* Values of this rank to the `sorted` of all, and the way back. */
void plan_gather(struct plan *plan, const double *values);
void plan_scatter(struct plan *plan, double *values);

#endif
