/* Containers: made, opened, asked, numbered and snapshot. A container is named by its label or its UUID in text. */
#ifndef ISOTACH_DAOS_CONT_H
#define ISOTACH_DAOS_CONT_H

/* The names that a program imports end in 2, as with DAOS's own headers. */
#define daos_cont_create daos_cont_create2
#define daos_cont_open daos_cont_open2
#define daos_cont_destroy daos_cont_destroy2

#include <daos_types.h>
#include <daos_event.h>
#include <daos_prop.h>
#include <daos_security.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define DAOS_COO_RO 1U
#define DAOS_COO_RW 2U
#define DAOS_COO_EX 4U
#define DAOS_COO_FORCE 8U
#define DAOS_COO_RO_MDSTATS 16U
#define DAOS_COO_EVICT 32U
#define DAOS_COO_EVICT_ALL 64U
/* How a container is opened, and all flags. */
#define DAOS_COO_IO_BASE_MASK (DAOS_COO_RO | DAOS_COO_RW | DAOS_COO_EX)
#define DAOS_COO_NBITS 8
#define DAOS_COO_MASK ((1U << DAOS_COO_NBITS) - 1)
#define DAOS_COO_NEW_LAYOUT 128U

/* Bytes of hints for a file system, with the zero that ends them. */
#define DAOS_CONT_HINT_MAX_LEN 128

/* The two times are hybrid logical clock readings. */
typedef struct {
	uuid_t ci_uuid;
	daos_epoch_t ci_lsnapshot;
	uint32_t ci_nhandles;
	uint32_t ci_nsnapshots;
	uint64_t ci_md_otime;
	uint64_t ci_md_mtime;
} daos_cont_info_t;

/* What daos_cont_create_snap_opt does. */
enum daos_snapshot_opts {
	DAOS_SNAP_OPT_CR = 1,
	DAOS_SNAP_OPT_OIT = 2
};

/* With the zero that ends the name. */
#define DAOS_SNAPSHOT_MAX_LEN 128

int daos_cont_create(daos_handle_t poh, uuid_t *uuid, daos_prop_t *prop, daos_event_t *ev);
int daos_cont_create_with_label(daos_handle_t poh, const char *label, daos_prop_t *prop, uuid_t *uuid,
				daos_event_t *ev);
int daos_cont_open(daos_handle_t poh, const char *cont, unsigned int flags, daos_handle_t *coh,
		   daos_cont_info_t *info, daos_event_t *ev);
int daos_cont_close(daos_handle_t coh, daos_event_t *ev);
int daos_cont_destroy(daos_handle_t poh, const char *cont, int force, daos_event_t *ev);
int daos_cont_query(daos_handle_t coh, daos_cont_info_t *info, daos_prop_t *prop, daos_event_t *ev);

int daos_cont_local2global(daos_handle_t coh, d_iov_t *glob);
int daos_cont_global2local(daos_handle_t poh, d_iov_t glob, daos_handle_t *coh);

/* num_oids numbers from *oid on are the caller's alone: for the lower half of an object identifier. */
int daos_cont_alloc_oids(daos_handle_t coh, daos_size_t num_oids, uint64_t *oid, daos_event_t *ev);

int daos_cont_create_snap(daos_handle_t coh, daos_epoch_t *epoch, char *name, daos_event_t *ev);
int daos_cont_create_snap_opt(daos_handle_t coh, daos_epoch_t *epoch, char *name, enum daos_snapshot_opts opts,
			      daos_event_t *ev);
int daos_cont_destroy_snap(daos_handle_t coh, daos_epoch_range_t epr, daos_event_t *ev);
int daos_cont_list_snap(daos_handle_t coh, int *nr, daos_epoch_t *epochs, char **names, daos_anchor_t *anchor,
			daos_event_t *ev);
/* The table of objects of a snapshot that has none. Missing: -DER_NOSYS. */
int daos_cont_snap_oit_create(daos_handle_t coh, daos_epoch_t epoch, char *name, daos_event_t *ev);
int daos_cont_snap_oit_destroy(daos_handle_t coh, daos_handle_t oh, daos_event_t *ev);
int daos_cont_aggregate(daos_handle_t coh, daos_epoch_t epoch, daos_event_t *ev);
int daos_cont_rollback(daos_handle_t coh, daos_epoch_t epoch, daos_event_t *ev);
int daos_cont_subscribe(daos_handle_t coh, daos_epoch_t *epoch, daos_event_t *ev);

int daos_cont_set_prop(daos_handle_t coh, daos_prop_t *prop, daos_event_t *ev);
int daos_cont_status_clear(daos_handle_t coh, daos_event_t *ev);
/* The caller frees the list with daos_prop_free. */
int daos_cont_get_acl(daos_handle_t coh, daos_prop_t **acl, daos_event_t *ev);
int daos_cont_overwrite_acl(daos_handle_t coh, struct daos_acl *acl, daos_event_t *ev);
int daos_cont_update_acl(daos_handle_t coh, struct daos_acl *acl, daos_event_t *ev);
int daos_cont_delete_acl(daos_handle_t coh, enum daos_acl_principal_type type, d_string_t name, daos_event_t *ev);
int daos_cont_set_owner(daos_handle_t coh, d_string_t user, d_string_t group, daos_event_t *ev);

/*
 * Attributes: names of at most DAOS_ATTR_NAME_MAX bytes, with values. A list is of names that end with a zero, as many as
 * there is room for; size and sizes are the room before and the size of all after. Buffers may be NULL.
 */
int daos_cont_list_attr(daos_handle_t coh, char *buffer, size_t *size, daos_event_t *ev);
int daos_cont_get_attr(daos_handle_t coh, int n, char const *const names[], void *const buffers[], size_t sizes[],
		       daos_event_t *ev);
int daos_cont_set_attr(daos_handle_t coh, int n, char const *const names[], void const *const values[],
		       size_t const sizes[], daos_event_t *ev);
int daos_cont_del_attr(daos_handle_t coh, int n, char const *const names[], daos_event_t *ev);

#if defined(__cplusplus)
}
#endif

#endif
