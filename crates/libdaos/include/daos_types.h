/*
 * Types that all parts of the interface share. Sizes and offsets are those of DAOS on 64-bit machines and never
 * change: programs that were compiled elsewhere share memory with the library.
 */
#ifndef ISOTACH_DAOS_TYPES_H
#define ISOTACH_DAOS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/* Programs expect uuid_parse and the like to be declared; where the library for them is missing, the type suffices. */
#if defined(__has_include)
#if __has_include(<uuid/uuid.h>)
#include <uuid/uuid.h>
#define ISOTACH_DAOS_HAS_UUID
#endif
#endif
#if !defined(ISOTACH_DAOS_HAS_UUID)
typedef unsigned char uuid_t[16];
#endif

#include <gurt/types.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef uint64_t daos_size_t;
typedef uint64_t daos_off_t;

/* How many bytes the name of a system has at most, and how many the text of a UUID takes with the zero that ends it. */
#define DAOS_SYS_NAME_MAX 15
#define DAOS_UUID_STR_SIZE 37

/* How many bytes the name of an attribute has at most. */
#define DAOS_ATTR_NAME_MAX 511

/* A point in the history of a container: a hybrid logical clock reading. */
typedef uint64_t daos_epoch_t;

/* Both ends are included. */
typedef struct {
	daos_epoch_t epr_lo;
	daos_epoch_t epr_hi;
} daos_epoch_range_t;

#define DAOS_EPOCH_MAX (~0ULL)

/* An open pool, container, object, transaction or event queue. Zero means none. */
typedef struct {
	uint64_t cookie;
} daos_handle_t;

#if defined(__cplusplus)
#define DAOS_HDL_INVAL (daos_handle_t{0})
#else
#define DAOS_HDL_INVAL ((daos_handle_t){0})
#endif
#define DAOS_TX_NONE DAOS_HDL_INVAL

static inline bool daos_handle_is_inval(daos_handle_t handle)
{
	return handle.cookie == 0;
}

static inline bool daos_handle_is_valid(daos_handle_t handle)
{
	return handle.cookie != 0;
}

/* A key is a buffer: only iov_buf and iov_len count. */
typedef d_iov_t daos_key_t;

typedef enum {
	DAOS_ANCHOR_TYPE_ZERO = 0,
	DAOS_ANCHOR_TYPE_HKEY = 1,
	DAOS_ANCHOR_TYPE_KEY = 2,
	DAOS_ANCHOR_TYPE_EOF = 3
} daos_anchor_type_t;

#define DAOS_ANCHOR_BUF_MAX 104

/* Where a listing stands. The caller starts from zeros and passes back what it got until that says end of file. */
typedef struct {
	uint16_t da_type;
	uint16_t da_shard;
	uint32_t da_flags;
	uint64_t da_sub_anchors;
	uint8_t da_buf[DAOS_ANCHOR_BUF_MAX];
} daos_anchor_t;

#define DAOS_ANCHOR_INIT                                                                                               \
	{                                                                                                              \
		DAOS_ANCHOR_TYPE_ZERO, 0, 0, 0, {0}                                                                    \
	}

/* Sets the type alone, so the anchor must have been all zeros, or one of a listing that is begun again. */
static inline void daos_anchor_set_zero(daos_anchor_t *anchor)
{
	anchor->da_type = DAOS_ANCHOR_TYPE_ZERO;
}

static inline void daos_anchor_set_eof(daos_anchor_t *anchor)
{
	anchor->da_type = DAOS_ANCHOR_TYPE_EOF;
}

static inline bool daos_anchor_is_zero(daos_anchor_t *anchor)
{
	return anchor->da_type == DAOS_ANCHOR_TYPE_ZERO;
}

static inline bool daos_anchor_is_eof(daos_anchor_t *anchor)
{
	return anchor->da_type == DAOS_ANCHOR_TYPE_EOF;
}

/* Begin a listing. The options are reserved. */
static inline int daos_anchor_init(daos_anchor_t *anchor, unsigned int options)
{
	(void)options;
	memset(anchor, 0, sizeof(*anchor));
	return 0;
}

static inline void daos_anchor_fini(daos_anchor_t *anchor)
{
	(void)anchor;
}

/* The lower 96 bits are the caller's; daos_obj_generate_oid writes the others. */
typedef struct {
	uint64_t lo;
	uint64_t hi;
} daos_obj_id_t;

/* The end of a call that was started without waiting for it. */
typedef struct daos_event {
	int ev_error;
	struct {
		uint64_t space[20];
	} ev_private;
	uint64_t ev_debug;
} daos_event_t;

#define DAOS_EQ_WAIT (-1)
#define DAOS_EQ_NOWAIT 0

typedef enum {
	DAOS_EQR_COMPLETED = 1,
	DAOS_EQR_WAITING = 2,
	DAOS_EQR_ALL = 3
} daos_eq_query_t;

/* What becomes of an event. */
typedef enum {
	DAOS_EVS_READY = 0,
	DAOS_EVS_RUNNING = 1,
	DAOS_EVS_COMPLETED = 2,
	DAOS_EVS_ABORTED = 3
} daos_ev_status_t;

/* What a handle is of: the low four bits of its number. */
enum {
	DAOS_HTYPE_EQ = 1,
	DAOS_HTYPE_POOL = 3,
	DAOS_HTYPE_CO = 5,
	DAOS_HTYPE_OBJ = 7,
	DAOS_HTYPE_ARRAY = 9,
	DAOS_HTYPE_TX = 11,
	DAOS_HTYPE_KV = 13
};

/* Whether a key has no bytes. */
static inline bool daos_key_is_null(daos_key_t key)
{
	return key.iov_buf == NULL || key.iov_buf_len == 0;
}

#if defined(__cplusplus)
}
#endif

#endif
