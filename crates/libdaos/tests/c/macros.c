/* The macros of libgurt in programs that use names as the macros might themselves, and values of the macros as DAOS's have them.
 * It asks the system's headers for POSIX and for nothing of GNU's.
 *
 *   macros
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>

#include <daos.h>
#include <gurt/common.h>

#include "expect.h"

#pragma GCC diagnostic error "-Wshadow"

static jmp_buf asserted;

static void caught(const int result, const char *expression, const char *file, const int line)
{
    (void)result, (void)expression, (void)file, (void)line;
    longjmp(asserted, 1);
}

/* Each of these is a name that a macro of DAOS's or of an older header declared. */
static void reallocations(void)
{
    size_t old_bytes = 4, new_bytes = 64, at;
    char *p, *newptr, *optr;
    D_ALLOC(p, old_bytes);
    memset(p, 7, old_bytes);
    D_REALLOC(newptr, p, old_bytes, new_bytes);
    IS(p == NULL, 1);
    for (at = 0; at < new_bytes; at++)
        IS(newptr[at], at < old_bytes ? 7 : 0);
    D_REALLOC_NZ(optr, newptr, new_bytes + 1);
    IS(optr[0], 7);
    D_REALLOC_Z(p, optr, new_bytes);
    for (at = 0; at < new_bytes; at++)
        IS(p[at], 0);
    size_t count = 3, _sz = 5, _cnt = 6;
    int *numbers, *more;
    D_ALLOC_ARRAY(numbers, count);
    numbers[2] = 9;
    D_REALLOC_ARRAY(more, numbers, count, _sz);
    IS(more[2], 9);
    IS(more[4], 0);
    D_REALLOC_ARRAY_Z(numbers, more, _cnt);
    IS(numbers[2], 0);
    D_FREE(numbers);
    if (setjmp(asserted) == 0) {
        /* It could not be told whether there was memory. */
        D_REALLOC(p, p, new_bytes, old_bytes);
        IS(0, 1);
    }
    IS(p != NULL, 1);
    D_FREE(p);
}

static void locks(void)
{
    pthread_mutex_t lock_rc, *lock = &lock_rc;
    pthread_rwlock_t many;
    pthread_cond_t condition;
    int rc, _rc = 1;
    IS(D_MUTEX_INIT(&lock_rc, NULL), 0);
    rc = D_MUTEX_LOCK(lock);
    IS(rc, 0);
    IS(D_MUTEX_TRYLOCK(&lock_rc), -DER_BUSY);
    IS(D_MUTEX_UNLOCK(&lock_rc), 0);
    IS(D_MUTEX_TRYLOCK(&lock_rc), 0);
    D_MUTEX_UNLOCK(lock);
    IS(D_MUTEX_DESTROY(&lock_rc), 0);
    IS(D_RWLOCK_INIT(&many, NULL), 0);
    if (_rc)
        D_RWLOCK_RDLOCK(&many);
    else
        D_RWLOCK_WRLOCK(&many);
    IS(D_RWLOCK_TRYWRLOCK(&many), -DER_BUSY);
    IS(D_RWLOCK_UNLOCK(&many), 0);
    IS(D_RWLOCK_DESTROY(&many), 0);
    IS(D_COND_INIT(&condition, NULL), 0);
    IS(D_COND_DESTROY(&condition), 0);
}

static void texts(void)
{
    int _rc = 5, size = 3;
    char *text;
    D_ASPRINTF(text, "%d %.*s", _rc, size, "words");
    IS(strcmp(text, "5 wor"), 0);
    D_FREE(text);
    IS(D_FPRINTF(stderr, "%s", ""), 0);
    IS(D_FPRINTF(stdin, "%s", "text"), -DER_IO);
    IS(D_ALIGNUP(_rc, 4), 8);
    IS(D_SWAP16(0x1234), 0x3412);
    IS(D_SWAP32(0x12345678), 0x78563412);
    uint64_t number = 1;
    D_SWAP64S(&number);
    IS(number == 1ULL << 56, 1);
}

/* Every line of the log has a number that is this program's. */
static void lines(void)
{
    int line_flags = 1, _isotach = 0, flags = 3, mask = 4, rc = -DER_NONEXIST, *ptr = &flags;
    D_ERROR("number %d\n", line_flags);
    D_TRACE_ERROR(ptr, "number %d\n", line_flags + 1);
    D_TRACE_CRIT(ptr, "number %d\n", flags);
    D_TRACE_INFO(ptr, "not seen %d\n", flags);
    D_TRACE_NOTE(ptr, "not seen %d\n", flags);
    D_TRACE_WARN(ptr, "not seen %d\n", flags);
    D_TRACE_ALERT(ptr, "number %d\n", mask);
    D_TRACE_FATAL(ptr, "number %d\n", 5);
    D_TRACE_EMIT(ptr, "number %d\n", 6);
    DHL_ERROR(ptr, rc, "number %d", 7);
    DHL_WARN(ptr, rc, "not seen %d", 7);
    DHL_INFO(ptr, rc, "not seen");
    DHS_ERROR(ptr, ENOENT, "number %d", 8);
    DHS_WARN(ptr, ENOENT, "not seen");
    DHS_INFO(ptr, ENOENT, "not seen");
    DL_CDEBUG(rc == 0, DLOG_ERR, DLOG_INFO, rc, "not seen");
    DL_CDEBUG(rc != 0, DLOG_ERR, DLOG_INFO, rc, "number %d", 9);
    D_ERROR("number %d\n", _isotach + 10);
    IS(D_LOG_ENABLED(DLOG_ERR) != 0, 1);
    IS(D_LOG_ENABLED(DLOG_INFO), 0);
    IS(D_LOG_ENABLED(DB_IO), 0);
}

int main(void)
{
    IS(d_register_alt_assert(caught), 0);
    reallocations();
    locks();
    texts();
    lines();
    return failures != 0;
}
