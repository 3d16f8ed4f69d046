/* Pools. A pool is named by its label or its UUID in text. */
#ifndef ISOTACH_DAOS_POOL_H
#define ISOTACH_DAOS_POOL_H

/* The name that a program imports ends in 2, as with DAOS's own headers. */
#define daos_pool_connect daos_pool_connect2

#include <daos_types.h>
#include <daos_event.h>
#include <daos_prop.h>
#include <daos_cont.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define DAOS_PC_RO 1U
#define DAOS_PC_RW 2U
#define DAOS_PC_EX 4U

enum daos_media_type_t {
	DAOS_MEDIA_SCM = 0,
	DAOS_MEDIA_NVME = 1,
	DAOS_MEDIA_MAX = 2
};

/* Bytes of each kind of storage. */
struct daos_space {
	uint64_t s_total[DAOS_MEDIA_MAX];
	uint64_t s_free[DAOS_MEDIA_MAX];
};

/* The sum over all targets, and what is free on the fullest, the emptiest and the average target. */
struct daos_pool_space {
	struct daos_space ps_space;
	uint64_t ps_free_min[DAOS_MEDIA_MAX];
	uint64_t ps_free_max[DAOS_MEDIA_MAX];
	uint64_t ps_free_mean[DAOS_MEDIA_MAX];
	uint32_t ps_ntargets;
	uint32_t ps_padding;
};

enum daos_rebuild_state_t {
	DRS_IN_PROGRESS = 0,
	DRS_NOT_STARTED = 1,
	DRS_COMPLETED = 2
};

struct daos_rebuild_status {
	uint32_t rs_version;
	uint32_t rs_seconds;
	int32_t rs_errno;
	union {
		int32_t rs_state;
		int32_t rs_done;
	};
	uint16_t rs_max_supported_layout_ver;
	uint8_t rs_flags;
	uint8_t rs_pad;
	int32_t rs_fail_rank;
	uint64_t rs_toberb_obj_nr;
	uint64_t rs_obj_nr;
	uint64_t rs_rec_nr;
	uint64_t rs_size;
};

/* What daos_pool_query is asked for; DPI_ALL is a pi_bits with all bits set. */
enum daos_pool_info_bit {
	DPI_SPACE = 1,
	DPI_REBUILD_STATUS = 2,
	DPI_ENGINES_ENABLED = 4,
	DPI_ENGINES_DISABLED = 8,
	DPI_ENGINES_DEAD = 16,
	DPI_REBUILD_MAX_LAYOUT_VER = 32,
	DPI_SELF_HEAL_POLICY = 64,
	DPI_ALL = -1
};

typedef struct {
	uuid_t pi_uuid;
	uint32_t pi_ntargets;
	uint32_t pi_nnodes;
	uint32_t pi_ndisabled;
	uint32_t pi_map_ver;
	uint32_t pi_leader;
	uint64_t pi_bits;
	struct daos_pool_space pi_space;
	struct daos_rebuild_status pi_rebuild_st;
} daos_pool_info_t;

/* One container of a listing. */
struct daos_pool_cont_info {
	uuid_t pci_uuid;
	char pci_label[DAOS_PROP_LABEL_MAX_LEN + 1];
};

struct daos_pool_cont_info2 {
	struct daos_pool_cont_info pci_id;
	daos_cont_info_t pci_cinfo;
	void *pci_reserved[2];
};

/* Without the zero that ends it. */
#define DAOS_SYS_NAME_MAX_LEN 127

/* sys may be NULL: the system that the library finds by itself. */
int daos_pool_connect(const char *pool, const char *sys, unsigned int flags, daos_handle_t *poh,
		      daos_pool_info_t *info, daos_event_t *ev);
int daos_pool_disconnect(daos_handle_t poh, daos_event_t *ev);
int daos_pool_query(daos_handle_t poh, d_rank_list_t **ranks, daos_pool_info_t *info, daos_prop_t *prop,
		    daos_event_t *ev);

/* ncont is the room in cbuf before and the number of containers after; cbuf may be NULL. */
int daos_pool_list_cont(daos_handle_t poh, daos_size_t *ncont, struct daos_pool_cont_info *cbuf, daos_event_t *ev);

/* Attributes of a pool, as those of a container. */
int daos_pool_list_attr(daos_handle_t poh, char *buffer, size_t *size, daos_event_t *ev);
int daos_pool_get_attr(daos_handle_t poh, int n, char const *const names[], void *const buffers[], size_t sizes[],
		       daos_event_t *ev);
int daos_pool_set_attr(daos_handle_t poh, int n, char const *const names[], void const *const values[],
		       size_t const sizes[], daos_event_t *ev);
int daos_pool_del_attr(daos_handle_t poh, int n, char const *const names[], daos_event_t *ev);

/* With an iov_buf of NULL, iov_buf_len becomes the size that is needed. */
int daos_pool_local2global(daos_handle_t poh, d_iov_t *glob);
int daos_pool_global2local(d_iov_t glob, daos_handle_t *poh);

/* One target: what its storage is, and how it is. */
typedef enum {
	DAOS_TP_UNKNOWN = 0,
	DAOS_TP_HDD = 1,
	DAOS_TP_SSD = 2,
	DAOS_TP_PM = 3,
	DAOS_TP_VM = 4
} daos_target_type_t;

typedef enum {
	DAOS_TS_UNKNOWN = 0,
	DAOS_TS_DOWN_OUT = 1,
	DAOS_TS_DOWN = 2,
	DAOS_TS_UP = 3,
	DAOS_TS_UP_IN = 4,
	DAOS_TS_NEW = 5,
	DAOS_TS_DRAIN = 6
} daos_target_state_t;

/* Nothing is told of it. */
typedef struct {
	int foo;
} daos_target_perf_t;

typedef struct {
	daos_target_type_t ta_type;
	daos_target_state_t ta_state;
	daos_target_perf_t ta_perf;
	struct daos_space ta_space;
} daos_target_info_t;

/* Missing: -DER_NOSYS. */
int daos_pool_query_target(daos_handle_t poh, uint32_t tgt, d_rank_t rank, daos_target_info_t *info,
			   daos_event_t *ev);

/* Which containers of a pool are listed. The functions of filters are missing: -DER_NOSYS. */
enum daos_pool_cont_filter_func {
	PCF_FUNC_EQ = 0,
	PCF_FUNC_NE = 1,
	PCF_FUNC_LT = 2,
	PCF_FUNC_LE = 3,
	PCF_FUNC_GT = 4,
	PCF_FUNC_GE = 5,
	PCF_FUNC_MAX = 6
};

enum daos_pool_cont_filter_key {
	PCF_KEY_MD_OTIME = 0,
	PCF_KEY_MD_MTIME = 1,
	PCF_KEY_NUM_SNAPSHOTS = 2,
	PCF_KEY_NUM_HANDLES = 3,
	PCF_KEY_MAX = 4
};

enum daos_pool_cont_filter_combine {
	PCF_COMBINE_LOGICAL_AND = 0,
	PCF_COMBINE_LOGICAL_OR = 1
};

#define DAOS_POOL_CONT_FILTER_MAX_NPARTS 8

typedef struct daos_pool_cont_filter_part {
	uint32_t pcfp_func;
	uint32_t pcfp_key;
	union {
		uint64_t pcfp_val64;
		d_string_t pcfp_valstr;
	};
} daos_pool_cont_filter_part_t;

typedef struct daos_pool_cont_filter {
	uint32_t pcf_combine_func;
	uint32_t pcf_nparts;
	struct daos_pool_cont_filter_part **pcf_parts;
} daos_pool_cont_filter_t;

int daos_pool_cont_filter_init(daos_pool_cont_filter_t *filt, uint32_t combine_func);
int daos_pool_cont_filter_add(daos_pool_cont_filter_t *filt, daos_pool_cont_filter_part_t *part);
void daos_pool_cont_filter_fini(daos_pool_cont_filter_t *filt);
int daos_pool_filter_cont(daos_handle_t poh, daos_pool_cont_filter_t *filter, daos_size_t *ncont,
			  struct daos_pool_cont_info2 *cbuf, daos_event_t *ev);

#if defined(__cplusplus)
}
#endif

#endif
