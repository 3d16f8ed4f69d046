/*
 * Hash tables of the program's own records. A record has a link in it, by which the table knows it; functions of the
 * program say the rest. The hash of a key is d_hash_string_u32 unless the program has another.
 */
#ifndef ISOTACH_GURT_HASH_H
#define ISOTACH_GURT_HASH_H

#include <gurt/list.h>
#include <gurt/types.h>

#if defined(__cplusplus)
extern "C" {
#endif

struct d_hash_table;

/* All but the first may be NULL. Each is called with the table locked, but hop_rec_free. */
typedef struct {
	bool (*hop_key_cmp)(struct d_hash_table *htable, d_list_t *link, const void *key, unsigned int ksize);
	void (*hop_key_init)(struct d_hash_table *htable, d_list_t *link, void *arg);
	uint32_t (*hop_key_hash)(struct d_hash_table *htable, const void *key, unsigned int ksize);
	uint32_t (*hop_rec_hash)(struct d_hash_table *htable, d_list_t *link);
	void (*hop_rec_addref)(struct d_hash_table *htable, d_list_t *link);
	/* Says whether nobody refers to the record any more: then hop_rec_free is called. */
	bool (*hop_rec_decref)(struct d_hash_table *htable, d_list_t *link);
	int (*hop_rec_ndecref)(struct d_hash_table *htable, d_list_t *link, int count);
	void (*hop_rec_free)(struct d_hash_table *htable, d_list_t *link);
} d_hash_table_ops_t;

/* Without the first a table has a lock; which one makes no difference here. */
enum d_hash_feats {
	D_HASH_FT_NOLOCK = 1,
	D_HASH_FT_MUTEX = 2,
	D_HASH_FT_RWLOCK = 4,
	/* The table does not refer to its records, and the last who does takes a record out. */
	D_HASH_FT_EPHEMERAL = 8,
	/* A record that is found comes first. */
	D_HASH_FT_LRU = 16,
	D_HASH_FT_GLOCK = 32768
};

/* Room for a lock of any kind. */
union d_hash_lock {
	uint64_t space[7];
};

struct d_hash_bucket {
	d_list_t hb_head;
};

struct d_hash_table {
	union d_hash_lock ht_lock;
	uint32_t ht_bits;
	uint32_t ht_feats;
	void *ht_priv;
	d_hash_table_ops_t *ht_ops;
	struct d_hash_bucket *ht_buckets;
	union d_hash_lock *ht_locks;
};

/* A function that is called with each record, until it returns something else than 0. It may take out its record. */
typedef int (*d_hash_traverse_cb_t)(d_list_t *link, void *arg);

/* A table with two to the power of bits lists; in memory of its own, or in the caller's. */
int d_hash_table_create(uint32_t feats, uint32_t bits, void *priv, d_hash_table_ops_t *hops,
			struct d_hash_table **htable_pp);
int d_hash_table_create_inplace(uint32_t feats, uint32_t bits, void *priv, d_hash_table_ops_t *hops,
				struct d_hash_table *htable);
/* A table with records in it is destroyed by force only, which deletes them first. */
int d_hash_table_destroy(struct d_hash_table *htable, bool force);
int d_hash_table_destroy_inplace(struct d_hash_table *htable, bool force);
int d_hash_table_traverse(struct d_hash_table *htable, d_hash_traverse_cb_t cb, void *arg);
bool d_hash_table_is_empty(struct d_hash_table *htable);

/* The record with a key, or NULL. Who gets it refers to it until d_hash_rec_decref. */
d_list_t *d_hash_rec_find(struct d_hash_table *htable, const void *key, unsigned int ksize);
/* The record with a key, or else this one, which is put into the table. */
d_list_t *d_hash_rec_find_insert(struct d_hash_table *htable, const void *key, unsigned int ksize, d_list_t *link);
/* exclusive: -DER_EXIST where there is a record with the key. */
int d_hash_rec_insert(struct d_hash_table *htable, const void *key, unsigned int ksize, d_list_t *link,
		      bool exclusive);
/* Whether there was a record to be taken out. */
bool d_hash_rec_delete(struct d_hash_table *htable, const void *key, unsigned int ksize);
bool d_hash_rec_delete_at(struct d_hash_table *htable, d_list_t *link);
void d_hash_rec_addref(struct d_hash_table *htable, d_list_t *link);
void d_hash_rec_decref(struct d_hash_table *htable, d_list_t *link);
int d_hash_rec_ndecref(struct d_hash_table *htable, int count, d_list_t *link);
/* Whether a record is in no table. */
bool d_hash_rec_unlinked(d_list_t *link);
/* Any record, or NULL; nobody refers to it for that. */
d_list_t *d_hash_rec_first(struct d_hash_table *htable);

#if defined(__cplusplus)
}
#endif

#endif
