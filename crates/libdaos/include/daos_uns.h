/*
 * Containers under paths of the system's own file system: a directory, or a file, has an extended attribute that names
 * pool and container. Functions return 0, or a number of errno.h.
 */
#ifndef ISOTACH_DAOS_UNS_H
#define ISOTACH_DAOS_UNS_H

#include <daos_types.h>
#include <daos_cont.h>
#include <daos_obj_class.h>
#include <daos_prop.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* How a path is read: without "daos:" it names pool and container, only its last part is looked at, it is no path. */
enum {
	DUNS_NO_PREFIX = 1,
	DUNS_NO_REVERSE_LOOKUP = 2,
	DUNS_NO_CHECK_PATH = 4
};

/* What a path leads to. Pool and container are labels or UUIDs; what is left of the path is in da_rel_path. */
struct duns_attr_t {
	daos_cont_layout_t da_type;
	daos_oclass_id_t da_oclass_id;
	daos_size_t da_chunk_size;
	daos_prop_t *da_props;
	uint32_t da_flags;
	char da_pool[DAOS_PROP_LABEL_MAX_LEN + 1];
	char da_cont[DAOS_PROP_LABEL_MAX_LEN + 1];
	char *da_sys;
	char *da_rel_path;
	bool da_on_lustre;
	bool da_no_prefix;
	uuid_t da_puuid;
	uuid_t da_cuuid;
	daos_oclass_id_t da_dir_oclass_id;
	daos_oclass_id_t da_file_oclass_id;
	char da_hints[DAOS_CONT_HINT_MAX_LEN];
};

/* The extended attribute of a path that says what it leads to. */
#define DUNS_XATTR_NAME "user.daos"
#define DUNS_MAX_XATTR_LEN 170
#define DUNS_XATTR_FMT "DAOS.%s://%36s/%36s"

int duns_create_path(daos_handle_t poh, const char *path, struct duns_attr_t *attrp);
int duns_link_cont(daos_handle_t poh, const char *cont, const char *path);
int duns_resolve_path(const char *path, struct duns_attr_t *attr);
int duns_destroy_path(daos_handle_t poh, const char *path);
int duns_parse_attr(char *str, daos_size_t len, struct duns_attr_t *attr);
int duns_set_sys_name(struct duns_attr_t *attrp, const char *sys);
void duns_destroy_attr(struct duns_attr_t *attrp);

#if defined(__cplusplus)
}
#endif

#endif
