/* What programs take from libgurt: memory, lists of buffers and of server processes, times, and hashes. */
#ifndef ISOTACH_GURT_COMMON_H
#define ISOTACH_GURT_COMMON_H

#include <gurt/types.h>
#include <gurt/debug.h>
#include <gurt/fault_inject.h>
#include <gurt/list.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Memory, as the C library's functions of these names give it. */
void *d_calloc(size_t nmemb, size_t size);
void *d_malloc(size_t size);
void *d_realloc(void *ptr, size_t size);
void d_free(void *ptr);
char *d_strndup(const char *s, size_t n);
void *d_aligned_alloc(size_t alignment, size_t size, bool zero);
char *d_realpath(const char *path, char *resolved_path);

/* Whether a variable of the environment is set to something else than the number 0; -DER_NONEXIST where it is not set. */
int d_getenv_bool(const char *name, bool *bool_val);

/* A new text of a format, or NULL; *rc gets its length, or -1. */
__attribute__((__format__(__printf__, 2, 3))) static inline char *d_asprintf2(int *rc, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int length;

	va_start(ap, fmt);
	length = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (length >= 0)
		text = (char *)d_malloc((size_t)length + 1);
	if (text != NULL) {
		va_start(ap, fmt);
		vsnprintf(text, (size_t)length + 1, fmt, ap);
		va_end(ap);
	}
	if (rc != NULL)
		*rc = text != NULL ? length : -1;
	return text;
}

/*
 * Macros here declare nothing that an argument could mean: what needs a variable is a function, whose name begins with _isotach_.
 * Memory, zeroed but for the forms that end in NZ; D_FREE leaves a null pointer.
 */
#define D_ALLOC_ARRAY(ptr, count) ((ptr) = (__typeof__(ptr))d_calloc((count), sizeof(*(ptr))))
#define D_ALLOC_ARRAY_NZ(ptr, count) ((ptr) = (__typeof__(ptr))d_malloc((count) * sizeof(*(ptr))))
#define D_ALLOC_PTR(ptr) D_ALLOC_ARRAY(ptr, 1)
#define D_ALLOC_PTR_NZ(ptr) D_ALLOC_ARRAY_NZ(ptr, 1)
#define D_ALLOC(ptr, size) ((ptr) = (__typeof__(ptr))d_calloc(1, (size)))
#define D_ALLOC_NZ(ptr, size) ((ptr) = (__typeof__(ptr))d_malloc(size))
#define D_ALIGNED_ALLOC(ptr, alignment, size) ((ptr) = (__typeof__(ptr))d_aligned_alloc((alignment), (size), true))
#define D_ALIGNED_ALLOC_NZ(ptr, alignment, size) ((ptr) = (__typeof__(ptr))d_aligned_alloc((alignment), (size), false))
#define D_STRNDUP(ptr, s, n) ((ptr) = d_strndup((s), (n)))
#define D_STRNDUP_S(ptr, s) ((ptr) = d_strndup((s), sizeof(s)))
#define D_REALPATH(ptr, path) ((ptr) = d_realpath((path), NULL))
#define D_ASPRINTF(ptr, ...) ((ptr) = d_asprintf2(NULL, __VA_ARGS__))
#define D_FREE(ptr)                                                                                                    \
	do {                                                                                                           \
		d_free(ptr);                                                                                           \
		(ptr) = NULL;                                                                                          \
	} while (0)

/* Memory of another size; what is new of it is zeroed. */
static inline void *_isotach_realloc(void *old, size_t old_bytes, size_t new_bytes)
{
	char *memory = (char *)d_realloc(old, new_bytes > 0 ? new_bytes : 1);

	if (memory != NULL && new_bytes > old_bytes)
		memset(memory + old_bytes, 0, new_bytes - old_bytes);
	return memory;
}

/*
 * Make memory of another size. The two are different variables: where there is no memory the old pointer stays, else it is NULL.
 * What is new is zeroed, and nothing by the forms that end in NZ, and everything by those that end in Z.
 */
#define _D_REALLOC(newptr, oldptr, oldsize, newsize)                                                                   \
	do {                                                                                                           \
		D_ASSERT((void *)&(newptr) != (void *)&(oldptr));                                                      \
		(newptr) = (__typeof__(newptr))_isotach_realloc((oldptr), (oldsize), (newsize));                       \
		if ((newptr) != NULL)                                                                                  \
			(oldptr) = NULL;                                                                               \
	} while (0)
#define D_REALLOC(newptr, oldptr, oldsize, size) _D_REALLOC(newptr, oldptr, oldsize, size)
#define D_REALLOC_NZ(newptr, oldptr, size) _D_REALLOC(newptr, oldptr, size, size)
#define D_REALLOC_Z(newptr, oldptr, size) _D_REALLOC(newptr, oldptr, 0, size)
#define D_REALLOC_ARRAY(newptr, oldptr, oldcount, count)                                                               \
	_D_REALLOC(newptr, oldptr, (oldcount) * sizeof(*(oldptr)), (count) * sizeof(*(oldptr)))
#define D_REALLOC_ARRAY_NZ(newptr, oldptr, count)                                                                      \
	_D_REALLOC(newptr, oldptr, (count) * sizeof(*(oldptr)), (count) * sizeof(*(oldptr)))
#define D_REALLOC_ARRAY_Z(newptr, oldptr, count) _D_REALLOC(newptr, oldptr, 0, (count) * sizeof(*(oldptr)))

/* Leave by a label; the result is evaluated first. */
#define D_GOTO(label, rc)                                                                                              \
	do {                                                                                                           \
		(void)(rc);                                                                                            \
		goto label;                                                                                            \
	} while (0)

/* Print to a stream: 0, or -DER_IO. */
#define D_FPRINTF(...) (fprintf(__VA_ARGS__) < 0 ? -DER_IO : 0)

/* The result of DAOS's that a number of errno.h becomes. */
static inline int d_errno2der(int err)
{
	switch (err) {
	case 0:
		return 0;
	case EPERM:
	case EACCES:
		return -DER_NO_PERM;
	case ENOMEM:
		return -DER_NOMEM;
	case EDQUOT:
	case ENOSPC:
		return -DER_NOSPACE;
	case EEXIST:
		return -DER_EXIST;
	case ENOENT:
		return -DER_NONEXIST;
	case ECANCELED:
		return -DER_CANCELED;
	case EBUSY:
		return -DER_BUSY;
	default:
		return -DER_MISC;
	}
}

/* What a function for locks came to, as a result of DAOS's. A failure that is not expected is a mistake of the program's. */
static inline int _isotach_locked(int err, int expected, const char *call)
{
	D_ASSERTF(err == 0 || err == expected, "%s: %s\n", call, strerror(err));
	return d_errno2der(err);
}

/* Locks: each is an expression with such a result. */
#define _D_LOCKED(function, lock) _isotach_locked(function(lock), 0, #function "(" #lock ")")
#define _D_TRIED(function, lock) _isotach_locked(function(lock), EBUSY, #function "(" #lock ")")
#define D_MUTEX_INIT(lock, attr) d_errno2der(pthread_mutex_init((lock), (attr)))
#define D_MUTEX_LOCK(lock) _D_LOCKED(pthread_mutex_lock, lock)
#define D_MUTEX_TRYLOCK(lock) _D_TRIED(pthread_mutex_trylock, lock)
#define D_MUTEX_UNLOCK(lock) _D_LOCKED(pthread_mutex_unlock, lock)
#define D_MUTEX_DESTROY(lock) _D_LOCKED(pthread_mutex_destroy, lock)
#define D_SPIN_INIT(lock, attr) d_errno2der(pthread_spin_init((lock), (attr)))
#define D_SPIN_LOCK(lock) _D_LOCKED(pthread_spin_lock, lock)
#define D_SPIN_UNLOCK(lock) _D_LOCKED(pthread_spin_unlock, lock)
#define D_SPIN_DESTROY(lock) _D_LOCKED(pthread_spin_destroy, lock)
#define D_RWLOCK_INIT(lock, attr) d_errno2der(pthread_rwlock_init((lock), (attr)))
#define D_RWLOCK_RDLOCK(lock) _D_LOCKED(pthread_rwlock_rdlock, lock)
#define D_RWLOCK_WRLOCK(lock) _D_LOCKED(pthread_rwlock_wrlock, lock)
#define D_RWLOCK_TRYWRLOCK(lock) _D_TRIED(pthread_rwlock_trywrlock, lock)
#define D_RWLOCK_UNLOCK(lock) _D_LOCKED(pthread_rwlock_unlock, lock)
#define D_RWLOCK_DESTROY(lock) _D_LOCKED(pthread_rwlock_destroy, lock)
#define D_COND_INIT(condition, attr) d_errno2der(pthread_cond_init((condition), (attr)))
#define D_COND_DESTROY(condition) _D_LOCKED(pthread_cond_destroy, condition)

/* A number rounded up to a multiple of a power of two, and with its bytes the other way round. */
#define D_ALIGNUP(x, a) (((x) + ((a)-1)) & ~((a)-1))
#define D_SWAP16(x) bswap_16(x)
#define D_SWAP32(x) bswap_32(x)
#define D_SWAP64(x) bswap_64(x)
#define D_SWAP16S(x) ((void)(*(x) = D_SWAP16(*(x))))
#define D_SWAP32S(x) ((void)(*(x) = D_SWAP32(*(x))))
#define D_SWAP64S(x) ((void)(*(x) = D_SWAP64(*(x))))

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
/* Not in C++, where they are words of the language's own library. */
#if !defined(__cplusplus)
#ifndef min
#define min(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef max
#define max(a, b) ((a) > (b) ? (a) : (b))
#endif
#endif

#ifndef NSEC_PER_SEC
#define NSEC_PER_SEC 1000000000
#endif
#ifndef NSEC_PER_MSEC
#define NSEC_PER_MSEC 1000000
#endif
#ifndef NSEC_PER_USEC
#define NSEC_PER_USEC 1000
#endif

/* Make a list of nr buffers, which are not there yet; give it back, with its buffers if that is wanted. */
static inline int d_sgl_init(d_sg_list_t *sgl, unsigned int nr)
{
	sgl->sg_nr = nr;
	sgl->sg_nr_out = 0;
	sgl->sg_iovs = NULL;
	if (nr == 0)
		return 0;
	D_ALLOC_ARRAY(sgl->sg_iovs, nr);
	return sgl->sg_iovs == NULL ? -DER_NOMEM : 0;
}

static inline void d_sgl_fini(d_sg_list_t *sgl, bool free_iovs)
{
	uint32_t at;

	if (sgl == NULL || sgl->sg_iovs == NULL)
		return;
	for (at = 0; free_iovs && at < sgl->sg_nr; at++)
		D_FREE(sgl->sg_iovs[at].iov_buf);
	D_FREE(sgl->sg_iovs);
	sgl->sg_nr = 0;
	sgl->sg_nr_out = 0;
}

/* How many bytes the buffers of a list can hold. */
static inline size_t d_sgl_buf_size(d_sg_list_t *sgl)
{
	size_t size = 0;
	uint32_t at;

	for (at = 0; sgl->sg_iovs != NULL && at < sgl->sg_nr; at++)
		size += sgl->sg_iovs[at].iov_buf_len;
	return size;
}

/* The same by the names that DAOS has in libdaos_common. */
int daos_sgl_init(d_sg_list_t *sgl, unsigned int nr);
int daos_sgl_fini(d_sg_list_t *sgl, bool free_iovs);

/* A list of the processes 0 to size - 1. */
d_rank_list_t *d_rank_list_alloc(uint32_t size);
/* Free a list that came from there, daos_pool_query or daos_rank_list_parse; NULL is allowed. */
void d_rank_list_free(d_rank_list_t *rank_list);

/* Epochs are times of a hybrid logical clock: the present one, and others as nanoseconds since it began, or as Unix times. */
uint64_t d_hlc_get(void);
uint64_t d_hlc2nsec(uint64_t hlc);
uint64_t d_nsec2hlc(uint64_t nsec);
uint64_t d_hlc2unixnsec(uint64_t hlc);
uint64_t d_unixnsec2hlc(uint64_t unixnsec);
int d_hlc2timespec(uint64_t hlc, struct timespec *ts);
int d_timespec2hlc(struct timespec ts, uint64_t *hlc);

static inline uint64_t d_hlc2usec(uint64_t hlc)
{
	return d_hlc2nsec(hlc) / 1000;
}

static inline uint64_t d_hlc2msec(uint64_t hlc)
{
	return d_hlc2nsec(hlc) / 1000000;
}

static inline uint64_t d_hlc2sec(uint64_t hlc)
{
	return d_hlc2nsec(hlc) / NSEC_PER_SEC;
}

/* The time of the system's clock that only goes forward, and how much later one is than another. */
#if defined(CLOCK_MONOTONIC)
static inline int d_gettime(struct timespec *t)
{
	return clock_gettime(CLOCK_MONOTONIC, t) == 0 ? 0 : d_errno2der(errno);
}
#endif

static inline int64_t d_timediff_ns(const struct timespec *t1, const struct timespec *t2)
{
	return (t2->tv_sec - t1->tv_sec) * (int64_t)NSEC_PER_SEC + t2->tv_nsec - t1->tv_nsec;
}

/* The hash of bytes: of Bernstein's, with 33 and addition, and Murmur's of 64 bits (MurmurHash64A). */
uint32_t d_hash_string_u32(const char *string, unsigned int len);
uint64_t d_hash_murmur64(const unsigned char *key, unsigned int key_len, unsigned int seed);

#if defined(__cplusplus)
}
#endif

#endif
