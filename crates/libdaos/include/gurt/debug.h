/* Lines of the log with the place in the source, and assertions. */
#ifndef ISOTACH_GURT_DEBUG_H
#define ISOTACH_GURT_DEBUG_H

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <daos_errno.h>
#include <gurt/debug_setup.h>

#if defined(__cplusplus)
extern "C" {
#endif

#ifndef likely
#define likely(condition) __builtin_expect((uintptr_t)(condition), 1)
#endif
#ifndef unlikely
#define unlikely(condition) __builtin_expect((uintptr_t)(condition), 0)
#endif

/* Where the log goes, and which levels come into it. */
#define D_LOG_FILE_ENV "D_LOG_FILE"
#define D_LOG_MASK_ENV "D_LOG_MASK"

/* The name of the one variable is nobody else's, whatever the arguments are. */
#define _D_LINE(flags, fmt, ...)                                                                                       \
	do {                                                                                                           \
		int _isotach_line_flags = d_log_check((int)(flags));                                                   \
		if (_isotach_line_flags != 0)                                                                          \
			d_log(_isotach_line_flags, fmt, ##__VA_ARGS__);                                                \
	} while (0)

/* Whether lines of a level or stream come into the log. */
#define D_LOG_ENABLED(flag) (d_log_check((int)(flag)) != 0)

/* A line of a level or stream; with a pointer to what it is about. */
#define D_DEBUG(flag, fmt, ...) _D_LINE(flag, "%s:%d %s() " fmt, __FILE__, __LINE__, __func__, ##__VA_ARGS__)
#define D_TRACE_DEBUG(flag, ptr, fmt, ...)                                                                             \
	_D_LINE(flag, "%s:%d %s(%p) " fmt, __FILE__, __LINE__, __func__, (void *)(ptr), ##__VA_ARGS__)
#define D_CDEBUG(condition, flag, other_flag, ...)                                                                     \
	do {                                                                                                           \
		if (condition)                                                                                         \
			D_DEBUG(flag, __VA_ARGS__);                                                                    \
		else                                                                                                   \
			D_DEBUG(other_flag, __VA_ARGS__);                                                              \
	} while (0)

#define D_INFO(fmt, ...) D_DEBUG(DLOG_INFO, fmt, ##__VA_ARGS__)
#define D_NOTE(fmt, ...) D_DEBUG(DLOG_NOTE, fmt, ##__VA_ARGS__)
#define D_WARN(fmt, ...) D_DEBUG(DLOG_WARN, fmt, ##__VA_ARGS__)
#define D_ERROR(fmt, ...) D_DEBUG(DLOG_ERR, fmt, ##__VA_ARGS__)
#define D_ALERT(fmt, ...) D_DEBUG(DLOG_ALERT, fmt, ##__VA_ARGS__)
#define D_CRIT(fmt, ...) D_DEBUG(DLOG_CRIT, fmt, ##__VA_ARGS__)
#define D_FATAL(fmt, ...) D_DEBUG(DLOG_EMERG, fmt, ##__VA_ARGS__)
#define D_EMIT(fmt, ...) D_DEBUG(DLOG_EMIT, fmt, ##__VA_ARGS__)

#define D_TRACE_INFO(ptr, fmt, ...) D_TRACE_DEBUG(DLOG_INFO, ptr, fmt, ##__VA_ARGS__)
#define D_TRACE_NOTE(ptr, fmt, ...) D_TRACE_DEBUG(DLOG_NOTE, ptr, fmt, ##__VA_ARGS__)
#define D_TRACE_WARN(ptr, fmt, ...) D_TRACE_DEBUG(DLOG_WARN, ptr, fmt, ##__VA_ARGS__)
#define D_TRACE_ERROR(ptr, fmt, ...) D_TRACE_DEBUG(DLOG_ERR, ptr, fmt, ##__VA_ARGS__)
#define D_TRACE_ALERT(ptr, fmt, ...) D_TRACE_DEBUG(DLOG_ALERT, ptr, fmt, ##__VA_ARGS__)
#define D_TRACE_CRIT(ptr, fmt, ...) D_TRACE_DEBUG(DLOG_CRIT, ptr, fmt, ##__VA_ARGS__)
#define D_TRACE_FATAL(ptr, fmt, ...) D_TRACE_DEBUG(DLOG_EMERG, ptr, fmt, ##__VA_ARGS__)
#define D_TRACE_EMIT(ptr, fmt, ...) D_TRACE_DEBUG(DLOG_EMIT, ptr, fmt, ##__VA_ARGS__)

/* A result in a format, and the arguments for it: "DER_NONEXIST(-1005): ...". */
#define DF_RC "%s(%d): '%s'"
#define DP_RC(rc) d_errstr(rc), rc, d_errdesc(rc)
const char *d_errstr(int rc);
const char *d_errdesc(int rc);

/* Lines that end with a result of DAOS's, or a number of errno.h. */
#define DL_INFO(rc, fmt, ...) D_DEBUG(DLOG_INFO, fmt ": " DF_RC "\n", ##__VA_ARGS__, DP_RC(rc))
#define DL_WARN(rc, fmt, ...) D_DEBUG(DLOG_WARN, fmt ": " DF_RC "\n", ##__VA_ARGS__, DP_RC(rc))
#define DL_ERROR(rc, fmt, ...) D_DEBUG(DLOG_ERR, fmt ": " DF_RC "\n", ##__VA_ARGS__, DP_RC(rc))
#define DS_INFO(rc, fmt, ...) D_DEBUG(DLOG_INFO, fmt ": %d (%s)\n", ##__VA_ARGS__, rc, strerror(rc))
#define DS_WARN(rc, fmt, ...) D_DEBUG(DLOG_WARN, fmt ": %d (%s)\n", ##__VA_ARGS__, rc, strerror(rc))
#define DS_ERROR(rc, fmt, ...) D_DEBUG(DLOG_ERR, fmt ": %d (%s)\n", ##__VA_ARGS__, rc, strerror(rc))

#define DL_CDEBUG(condition, flag, other_flag, rc, fmt, ...)                                                            \
	D_CDEBUG(condition, flag, other_flag, fmt ": " DF_RC "\n", ##__VA_ARGS__, DP_RC(rc))

/* The same with a pointer to what they are about. */
#define DHL_INFO(ptr, rc, fmt, ...) D_TRACE_INFO(ptr, fmt ": " DF_RC "\n", ##__VA_ARGS__, DP_RC(rc))
#define DHL_WARN(ptr, rc, fmt, ...) D_TRACE_WARN(ptr, fmt ": " DF_RC "\n", ##__VA_ARGS__, DP_RC(rc))
#define DHL_ERROR(ptr, rc, fmt, ...) D_TRACE_ERROR(ptr, fmt ": " DF_RC "\n", ##__VA_ARGS__, DP_RC(rc))
#define DHS_INFO(ptr, rc, fmt, ...) D_TRACE_INFO(ptr, fmt ": %d (%s)\n", ##__VA_ARGS__, rc, strerror(rc))
#define DHS_WARN(ptr, rc, fmt, ...) D_TRACE_WARN(ptr, fmt ": %d (%s)\n", ##__VA_ARGS__, rc, strerror(rc))
#define DHS_ERROR(ptr, rc, fmt, ...) D_TRACE_ERROR(ptr, fmt ": %d (%s)\n", ##__VA_ARGS__, rc, strerror(rc))

/* To standard output and standard error, whatever the log does. */
#define D_PRINT(fmt, ...)                                                                                              \
	do {                                                                                                           \
		fprintf(stdout, fmt, ##__VA_ARGS__);                                                                   \
		fflush(stdout);                                                                                        \
	} while (0)
#define D_PRINT_ERR(fmt, ...)                                                                                          \
	do {                                                                                                           \
		fprintf(stderr, "%s:%d:%s() " fmt, __FILE__, __LINE__, __func__, ##__VA_ARGS__);                       \
		fflush(stderr);                                                                                        \
	} while (0)

/* What a failed assertion calls before it aborts, if there is one; tests of DAOS's set it. */
extern void (*d_alt_assert)(const int, const char *, const char *, const int);
int d_register_alt_assert(void (*alt_assert)(const int, const char *, const char *, const int));

#define D_ASSERTF(condition, fmt, ...)                                                                                 \
	do {                                                                                                           \
		if (likely(condition))                                                                                 \
			break;                                                                                         \
		D_FATAL("Assertion '%s' failed: " fmt, #condition, ##__VA_ARGS__);                                     \
		d_log_sync();                                                                                          \
		if (d_alt_assert != NULL)                                                                              \
			d_alt_assert(0, #condition, __FILE__, __LINE__);                                               \
		assert(0);                                                                                             \
	} while (0)
#define D_ASSERT(condition) D_ASSERTF(condition, "\n")
#define D_CASSERT(condition, ...) _Static_assert(condition, #condition ": " __VA_ARGS__)

/* Formats of numbers of 64 bits. */
#define DF_U64 "%" PRIu64
#define DF_X64 "%" PRIx64

#if defined(__cplusplus)
}
#endif

#endif
