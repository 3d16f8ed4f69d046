/*
 * Buffers, lists of buffers and lists of server processes. Programs rely on the headers of the system that DAOS's own
 * file includes, so this one includes them, too.
 */
#ifndef ISOTACH_GURT_TYPES_H
#define ISOTACH_GURT_TYPES_H

#include <byteswap.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* The number of a server process. */
typedef uint32_t d_rank_t;
/* A string of the caller's, and one that is not changed. */
typedef char *d_string_t;
typedef const char *d_const_string_t;

typedef struct {
	d_rank_t *rl_ranks;
	uint32_t rl_nr;
} d_rank_list_t;

/* One buffer: where it is, how many bytes it can hold, how many of them are data. */
typedef struct {
	void *iov_buf;
	size_t iov_buf_len;
	size_t iov_len;
} d_iov_t;

/* Buffers that are filled or written in turn; sg_nr_out is how many a call used. */
typedef struct {
	uint32_t sg_nr;
	uint32_t sg_nr_out;
	d_iov_t *sg_iovs;
} d_sg_list_t;

/* Let a buffer describe size bytes, all of them data. */
static inline void d_iov_set(d_iov_t *iov, void *buf, size_t size)
{
	iov->iov_buf = buf;
	iov->iov_buf_len = size;
	iov->iov_len = size;
}

#if defined(__cplusplus)
}
#endif

#endif
