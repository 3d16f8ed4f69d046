/* Streams and facilities of the log. */
#ifndef ISOTACH_GURT_DEBUG_SETUP_H
#define ISOTACH_GURT_DEBUG_SETUP_H

#include <gurt/dlog.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Streams of lines for debugging, none of which comes into the log. */
extern d_dbug_t DB_ALL, DB_ANY, DB_TRACE, DB_MEM, DB_NET, DB_IO, DB_TEST;

/* The facility of lines, of which there is one: the variable, and for each level and stream what was looked up. */
extern int d_misc_logfac;
extern int d_misc_logfac_cache[16];
#define DD_FAC(name) d_misc_logfac
#ifndef D_LOGFAC
#define D_LOGFAC DD_FAC(misc)
#endif

#if defined(__cplusplus)
}
#endif

#endif
