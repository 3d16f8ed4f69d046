/* What the checks of a parallel program share. All ranks run them; a check holds if it does on every rank, and the first rank prints it. */
#ifndef PARALLEL_H
#define PARALLEL_H

#include "../checks/check.h"
#include <mpi.h>

extern int rank, size;

/* Access by all ranks, and transfers: collective ones, or those of each rank alone. */
extern hid_t together;
hid_t transfer(bool is_collective);
const char *mode(bool is_collective);

/* A file that all ranks have open. */
hid_t shared_file(const char *name);
hid_t open_shared(const char *name, bool writable);

/* A dataset of 32-bit integers: chunked if the first length of a chunk is not 0, without limits if `grows`. */
hid_t grid(hid_t at, const char *name, hsize_t rows, hsize_t columns, hsize_t chunk_rows, hsize_t chunk_columns, bool grows);

/* Writes the rank's selection with values that tell their place, plus `base`. */
bool write_selected(hid_t dataset, hid_t space, int base, bool is_collective);
/* Whether the rank's selection holds these values. */
bool holds(hid_t dataset, hid_t space, int base, bool is_collective);
/* Whether all elements do, as this rank reads them. */
bool holds_all(hid_t dataset, int base, bool is_collective);

/* The rows of a rank, of which the last rank has the rest. */
void rows_of(int of, hsize_t rows, hsize_t *first, hsize_t *count);
/* Selects the rows of a rank. */
hid_t rows_space(hid_t dataset, int of);

void check_files(void);
void check_transfers(void);
void check_selections(void);
void check_extents(void);
void check_metadata(void);
void check_filters(void);
void check_ranks(void);

#endif
