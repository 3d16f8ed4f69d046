/* What DAOS declares here: transactions, anchors (daos_types.h), lists of server processes, and the times of epochs. */
#ifndef ISOTACH_DAOS_API_H
#define ISOTACH_DAOS_API_H

#include <time.h>

#include <daos_types.h>
#include <daos_tx.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* The numbers in text, between separators; the caller frees the list with d_rank_list_free. */
d_rank_list_t *daos_rank_list_parse(const char *str, const char *sep);

/* The system's time of an epoch, for instance of ci_md_mtime: to the nanosecond, or in seconds. */
int daos_hlc2timespec(uint64_t hlc, struct timespec *ts);
int daos_hlc2timestamp(uint64_t hlc, time_t *ts);

#if defined(__cplusplus)
}
#endif

#endif
