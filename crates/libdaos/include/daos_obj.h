/* Objects by dkey and akey, and the table of the object identifiers of a snapshot. */
#ifndef ISOTACH_DAOS_OBJ_H
#define ISOTACH_DAOS_OBJ_H

/* The name that a program imports ends in 2, as with DAOS's own headers. */
#define daos_obj_generate_oid daos_obj_generate_oid2

#include <daos_types.h>
#include <daos_event.h>
#include <daos_obj_class.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* What an object holds: multi objects have dkeys and akeys, the others have an interface of their own. */
enum daos_otype_t {
	DAOS_OT_MULTI_HASHED = 0,
	DAOS_OT_OIT = 1,
	DAOS_OT_DKEY_UINT64 = 2,
	DAOS_OT_AKEY_UINT64 = 3,
	DAOS_OT_MULTI_UINT64 = 4,
	DAOS_OT_DKEY_LEXICAL = 5,
	DAOS_OT_AKEY_LEXICAL = 6,
	DAOS_OT_MULTI_LEXICAL = 7,
	DAOS_OT_KV_HASHED = 8,
	DAOS_OT_KV_UINT64 = 9,
	DAOS_OT_KV_LEXICAL = 10,
	DAOS_OT_ARRAY = 11,
	DAOS_OT_ARRAY_ATTR = 12,
	DAOS_OT_ARRAY_BYTE = 13,
	DAOS_OT_OIT_V2 = 14,
	DAOS_OT_MAX = 14
};

/* The bits of the upper half of an identifier: type, redundancy, number of groups, then 32 bits of the caller's. */
/* The identifier of no object. */
#if defined(__cplusplus)
#define DAOS_OBJ_NIL (daos_obj_id_t{0, 0})
#else
#define DAOS_OBJ_NIL ((daos_obj_id_t){0})
#endif

#define OID_FMT_INTR_BITS 32
#define OID_FMT_TYPE_BITS 8
#define OID_FMT_CLASS_BITS 8
#define OID_FMT_META_BITS 16
#define OID_FMT_TYPE_SHIFT 56
#define OID_FMT_CLASS_SHIFT 48
#define OID_FMT_META_SHIFT 32
#define OID_FMT_TYPE_MAX 0xffULL
#define OID_FMT_CLASS_MAX 0xffULL
#define OID_FMT_META_MAX 0xffffULL
#define OID_FMT_TYPE_MASK (OID_FMT_TYPE_MAX << OID_FMT_TYPE_SHIFT)
#define OID_FMT_CLASS_MASK (OID_FMT_CLASS_MAX << OID_FMT_CLASS_SHIFT)
#define OID_FMT_META_MASK (OID_FMT_META_MAX << OID_FMT_META_SHIFT)

static inline enum daos_otype_t daos_obj_id2type(daos_obj_id_t oid)
{
	return (enum daos_otype_t)((oid.hi & OID_FMT_TYPE_MASK) >> OID_FMT_TYPE_SHIFT);
}

static inline enum daos_obj_redun daos_obj_id2ord(daos_obj_id_t oid)
{
	return (enum daos_obj_redun)((oid.hi & OID_FMT_CLASS_MASK) >> OID_FMT_CLASS_SHIFT);
}

static inline daos_oclass_id_t daos_obj_id2class(daos_obj_id_t oid)
{
	uint32_t groups = (uint32_t)((oid.hi & OID_FMT_META_MASK) >> OID_FMT_META_SHIFT);

	return ((daos_oclass_id_t)daos_obj_id2ord(oid) << OC_REDUN_SHIFT) | groups;
}

static inline bool daos_obj_id_is_nil(daos_obj_id_t oid)
{
	return oid.hi == 0 && oid.lo == 0;
}

/* How many groups of targets an object has. */
static inline uint32_t daos_obj_id2grp_nr(daos_obj_id_t oid)
{
	return (uint32_t)((oid.hi & OID_FMT_META_MASK) >> OID_FMT_META_SHIFT);
}

/* What the keys of a type are, and what it is of. */
static inline bool daos_is_array_type(enum daos_otype_t type)
{
	return type == DAOS_OT_ARRAY || type == DAOS_OT_ARRAY_ATTR || type == DAOS_OT_ARRAY_BYTE;
}

static inline bool daos_is_kv_type(enum daos_otype_t type)
{
	return type == DAOS_OT_KV_HASHED || type == DAOS_OT_KV_UINT64 || type == DAOS_OT_KV_LEXICAL;
}

static inline bool daos_is_dkey_uint64_type(enum daos_otype_t type)
{
	return daos_is_array_type(type) || type == DAOS_OT_DKEY_UINT64 || type == DAOS_OT_MULTI_UINT64 ||
	       type == DAOS_OT_KV_UINT64;
}

static inline bool daos_is_akey_uint64_type(enum daos_otype_t type)
{
	return type == DAOS_OT_AKEY_UINT64 || type == DAOS_OT_MULTI_UINT64;
}

static inline bool daos_is_dkey_lexical_type(enum daos_otype_t type)
{
	return type == DAOS_OT_DKEY_LEXICAL || type == DAOS_OT_MULTI_LEXICAL || type == DAOS_OT_KV_LEXICAL;
}

static inline bool daos_is_akey_lexical_type(enum daos_otype_t type)
{
	return type == DAOS_OT_AKEY_LEXICAL || type == DAOS_OT_MULTI_LEXICAL;
}

static inline bool daos_is_array(daos_obj_id_t oid)
{
	return daos_is_array_type(daos_obj_id2type(oid));
}

static inline bool daos_is_kv(daos_obj_id_t oid)
{
	return daos_is_kv_type(daos_obj_id2type(oid));
}

static inline bool daos_is_dkey_uint64(daos_obj_id_t oid)
{
	return daos_is_dkey_uint64_type(daos_obj_id2type(oid));
}

static inline bool daos_is_akey_uint64(daos_obj_id_t oid)
{
	return daos_is_akey_uint64_type(daos_obj_id2type(oid));
}

static inline bool daos_is_dkey_lexical(daos_obj_id_t oid)
{
	return daos_is_dkey_lexical_type(daos_obj_id2type(oid));
}

static inline bool daos_is_akey_lexical(daos_obj_id_t oid)
{
	return daos_is_akey_lexical_type(daos_obj_id2type(oid));
}

/* How to open an object. */
enum {
	DAOS_OO_RO = 2,
	DAOS_OO_RW = 4,
	DAOS_OO_EXCL = 8,
	DAOS_OO_IO_RAND = 16,
	DAOS_OO_IO_SEQ = 32
};

/* What must hold for a call to take effect. */
enum {
	DAOS_COND_PUNCH = 1,
	DAOS_COND_DKEY_INSERT = 2,
	DAOS_COND_DKEY_UPDATE = 4,
	DAOS_COND_DKEY_FETCH = 8,
	DAOS_COND_AKEY_INSERT = 16,
	DAOS_COND_AKEY_UPDATE = 32,
	DAOS_COND_AKEY_FETCH = 64,
	DAOS_COND_PER_AKEY = 128,
	DAOS_COND_MASK = 0xff
};

/* A run of records; the top bit of the index is reserved. */
typedef struct {
	uint64_t rx_idx;
	uint64_t rx_nr;
} daos_recx_t;

typedef enum {
	DAOS_IOD_NONE = 0,
	DAOS_IOD_SINGLE = 1,
	DAOS_IOD_ARRAY = 2
} daos_iod_type_t;

/* A record size that the caller does not know. */
enum {
	DAOS_REC_ANY = 0
};

/* What is asked of one akey. A fetch writes iod_size; an update of records with iod_size 0 removes them. */
typedef struct {
	daos_key_t iod_name;
	daos_iod_type_t iod_type;
	daos_size_t iod_size;
	uint64_t iod_flags;
	uint32_t iod_nr;
	daos_recx_t *iod_recxs;
} daos_iod_t;

/* Fill iom_recxs, not the lowest and the highest run alone. */
#define DAOS_IOMF_DETAIL 0x1U

/* What a fetch found of one akey. */
typedef struct {
	daos_iod_type_t iom_type;
	uint32_t iom_nr;
	uint32_t iom_nr_out;
	uint32_t iom_flags;
	daos_size_t iom_size;
	daos_recx_t iom_recx_lo;
	daos_recx_t iom_recx_hi;
	daos_recx_t *iom_recxs;
} daos_iom_t;

/* One key of a listing: how many bytes of the buffer it takes. */
typedef struct {
	daos_size_t kd_key_len;
	uint32_t kd_val_type;
} daos_key_desc_t;

/* What daos_obj_query_key looks for. */
enum {
	DAOS_GET_MAX = 1,
	DAOS_GET_MIN = 2,
	DAOS_GET_DKEY = 4,
	DAOS_GET_AKEY = 8,
	DAOS_GET_RECX = 16
};

/* Write type and class into the upper bits of an identifier. */
int daos_obj_generate_oid(daos_handle_t coh, daos_obj_id_t *oid, enum daos_otype_t type, daos_oclass_id_t cid,
			  daos_oclass_hints_t hints, uint32_t args);

int daos_obj_open(daos_handle_t coh, daos_obj_id_t oid, unsigned int mode, daos_handle_t *oh, daos_event_t *ev);
int daos_obj_close(daos_handle_t oh, daos_event_t *ev);

int daos_obj_fetch(daos_handle_t oh, daos_handle_t th, uint64_t flags, daos_key_t *dkey, unsigned int nr,
		   daos_iod_t *iods, d_sg_list_t *sgls, daos_iom_t *ioms, daos_event_t *ev);
int daos_obj_update(daos_handle_t oh, daos_handle_t th, uint64_t flags, daos_key_t *dkey, unsigned int nr,
		    daos_iod_t *iods, d_sg_list_t *sgls, daos_event_t *ev);

int daos_obj_punch(daos_handle_t oh, daos_handle_t th, uint64_t flags, daos_event_t *ev);
/* One dkey at a time: nr is 1. */
int daos_obj_punch_dkeys(daos_handle_t oh, daos_handle_t th, uint64_t flags, unsigned int nr, daos_key_t *dkeys,
			 daos_event_t *ev);
int daos_obj_punch_akeys(daos_handle_t oh, daos_handle_t th, uint64_t flags, daos_key_t *dkey, unsigned int nr,
			 daos_key_t *akeys, daos_event_t *ev);

int daos_obj_list_dkey(daos_handle_t oh, daos_handle_t th, uint32_t *nr, daos_key_desc_t *kds, d_sg_list_t *sgl,
		       daos_anchor_t *anchor, daos_event_t *ev);
int daos_obj_list_akey(daos_handle_t oh, daos_handle_t th, daos_key_t *dkey, uint32_t *nr, daos_key_desc_t *kds,
		       d_sg_list_t *sgl, daos_anchor_t *anchor, daos_event_t *ev);
/* The extents of the records under two keys, from the first on or from the last. eprs is left alone. */
int daos_obj_list_recx(daos_handle_t oh, daos_handle_t th, daos_key_t *dkey, daos_key_t *akey, daos_size_t *size,
		       uint32_t *nr, daos_recx_t *recxs, daos_epoch_range_t *eprs, daos_anchor_t *anchor,
		       bool incr_order, daos_event_t *ev);
int daos_obj_query_key(daos_handle_t oh, daos_handle_t th, uint64_t flags, daos_key_t *dkey, daos_key_t *akey,
		       daos_recx_t *recx, daos_event_t *ev);

/* Missing: -DER_NOSYS. DAOS declares what is of an object's layout to its own programs alone. */
struct daos_obj_attr;
struct daos_obj_layout;
struct daos_oclass_attr;
int daos_obj_query(daos_handle_t oh, struct daos_obj_attr *oa, d_rank_list_t *ranks, daos_event_t *ev);
int daos_obj_query_class(daos_handle_t coh, daos_oclass_id_t cid, struct daos_oclass_attr *cattr, daos_event_t *ev);
int daos_obj_verify(daos_handle_t coh, daos_obj_id_t oid, daos_epoch_t epoch);
int daos_obj_layout_get(daos_handle_t coh, daos_obj_id_t oid, struct daos_obj_layout **layout);
int daos_obj_layout_free(struct daos_obj_layout *layout);
int daos_obj_key2anchor(daos_handle_t oh, daos_handle_t th, daos_key_t *dkey, daos_key_t *akey, daos_anchor_t *anchor,
			daos_event_t *ev);
int daos_obj_query_max_epoch(daos_handle_t oh, daos_handle_t th, daos_epoch_t *epoch, daos_event_t *ev);
/* Whether an identifier, with its mark or NULL, is listed: above 0 if it is, below 0 ends the listing. */
typedef int(daos_oit_filter_cb)(daos_obj_id_t oid, d_iov_t *marker);
int daos_oit_list_filter(daos_handle_t oh, daos_obj_id_t *oids, uint32_t *oids_nr, daos_anchor_t *anchor,
			 daos_oit_filter_cb filter, daos_event_t *ev);

/* Anchors by which the parts of an object are listed side by side; here an object has one part. */
int daos_obj_anchor_split(daos_handle_t oh, uint32_t *nr, daos_anchor_t *anchors);
int daos_obj_anchor_set(daos_handle_t oh, uint32_t index, daos_anchor_t *anchor);

int daos_oit_open(daos_handle_t coh, daos_epoch_t epoch, daos_handle_t *oh, daos_event_t *ev);
int daos_oit_close(daos_handle_t oh, daos_event_t *ev);
int daos_oit_list(daos_handle_t oh, daos_obj_id_t *oids, uint32_t *oids_nr, daos_anchor_t *anchor,
		  daos_event_t *ev);

/* Mark an identifier that is in the table, or with NULL take its mark away. */
#define DAOS_OIT_MARKER_MAX_LEN 32
int daos_oit_mark(daos_handle_t oh, daos_obj_id_t oid, d_iov_t *marker, daos_event_t *ev);
int daos_oit_list_unmarked(daos_handle_t oh, daos_obj_id_t *oids, uint32_t *oids_nr, daos_anchor_t *anchor,
			   daos_event_t *ev);

#if defined(__cplusplus)
}
#endif

#endif
