/*
 * Lines of the log. Of a program only errors and what is worse come into the log; lines of lower levels and of the
 * streams for debugging are not formatted.
 */
#ifndef ISOTACH_GURT_DLOG_H
#define ISOTACH_GURT_DLOG_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* A stream of lines for debugging. */
typedef uint64_t d_dbug_t;

/* The level of a line, and the bits of its facility. */
enum {
	DLOG_DBG = 0x00ffff00,
	DLOG_INFO = 0x01000000,
	DLOG_NOTE = 0x02000000,
	DLOG_WARN = 0x03000000,
	DLOG_ERR = 0x04000000,
	DLOG_CRIT = 0x05000000,
	DLOG_ALERT = 0x06000000,
	DLOG_EMERG = 0x07000000,
	DLOG_EMIT = 0x08000000
};
#define DLOG_PRIMASK 0x0fffff00
#define DLOG_FACMASK 0x000000ff
#define DLOG_UNINIT 0x80000000

/* A part of a program, and from which level on its lines count. */
struct dlog_fac {
	char *fac_aname;
	char *fac_lname;
	int fac_mask;
	bool is_enabled;
};

/* The state of the log; without a tag it is closed. */
struct d_log_xstate {
	char *tag;
	struct dlog_fac *dlog_facs;
	char *nodename;
	int fac_cnt;
};
extern struct d_log_xstate d_log_xst;

/* Add a line, whatever its level; write what has not been written. */
void d_vlog(int flags, const char *fmt, va_list ap);
void d_log_sync(void);

/* What d_vlog is to be given for a line of these flags, or 0 where it does not count. */
static inline int d_log_check(int flags)
{
	int fac = flags & DLOG_FACMASK;
	int level = flags & DLOG_PRIMASK;
	int mask;

	if (d_log_xst.tag == NULL)
		return 0;
	if (fac >= d_log_xst.fac_cnt)
		fac = 0;
	mask = d_log_xst.dlog_facs[fac].fac_mask;
	if (level >= DLOG_INFO ? level < mask : (level & mask) == 0)
		return 0;
	return level | fac;
}

__attribute__((__format__(__printf__, 2, 3))) static inline void d_log(int flags, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	d_vlog(flags, fmt, ap);
	va_end(ap);
}

#if defined(__cplusplus)
}
#endif

#endif
