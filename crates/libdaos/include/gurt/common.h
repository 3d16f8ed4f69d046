/* What programs take from libgurt. */
#ifndef ISOTACH_GURT_COMMON_H
#define ISOTACH_GURT_COMMON_H

#include <stdlib.h>
#include <string.h>

#include <gurt/list.h>
#include <gurt/types.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Memory, zeroed, that D_FREE gives back; D_FREE leaves a null pointer. */
#define D_ALLOC_ARRAY(ptr, count) ((ptr) = (__typeof__(ptr))calloc((count), sizeof(*(ptr))))
#define D_ALLOC_PTR(ptr) D_ALLOC_ARRAY(ptr, 1)
#define D_STRNDUP(ptr, s, n) ((ptr) = strndup((s), (n)))
#define D_FREE(ptr)                                                                                                    \
	do {                                                                                                           \
		free(ptr);                                                                                             \
		(ptr) = NULL;                                                                                          \
	} while (0)

/* The name of a result, positive or negative, for instance "DER_NONEXIST"; the caller does not free it. */
const char *d_errstr(int rc);
/* What a result means, in a few words; the caller does not free it. */
const char *d_errdesc(int rc);

/* Free a list that daos_pool_query or daos_rank_list_parse returned; NULL is allowed. */
void d_rank_list_free(d_rank_list_t *rank_list);

/* The hash of bytes: of Bernstein's, with 33 and addition, and Murmur's of 64 bits (MurmurHash64A). */
uint32_t d_hash_string_u32(const char *string, unsigned int len);
uint64_t d_hash_murmur64(const unsigned char *key, unsigned int key_len, unsigned int seed);

#if defined(__cplusplus)
}
#endif

#endif
