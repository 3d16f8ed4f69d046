/*
 * The file system on DAOS: directories, files and symbolic links in a container of layout POSIX. Functions return 0, or
 * a number of errno.h.
 */
#ifndef ISOTACH_DAOS_FS_H
#define ISOTACH_DAOS_FS_H

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>

#include <daos_types.h>
#include <daos_obj.h>
#include <daos_obj_class.h>
#include <daos_array.h>
#include <daos_cont.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Lengths in bytes. A path ends with a zero that is counted. */
#define DFS_MAX_NAME 255
#define DFS_MAX_PATH 4096
#define DFS_MAX_XATTR_NAME 255
#define DFS_MAX_XATTR_LEN 65536
#define DFS_MAX_FSIZE (~0ULL)
#define DFS_DEFAULT_CHUNK_SIZE 1048576

/* Flags of a mount, and modes of a container. */
#define DFS_RDONLY O_RDONLY
#define DFS_RDWR O_RDWR
#define DFS_BALANCED 4
#define DFS_RELAXED 0

/* A mount, and something that is open in it. */
typedef struct dfs dfs_t;
typedef struct dfs_obj dfs_obj_t;

/* What holds for a file system. All of it may be zero when one is made. */
typedef struct {
	uint64_t da_id;
	daos_size_t da_chunk_size;
	daos_oclass_id_t da_oclass_id;
	daos_prop_t *da_props;
	uint32_t da_mode;
	daos_oclass_id_t da_dir_oclass_id;
	daos_oclass_id_t da_file_oclass_id;
	char da_hints[DAOS_CONT_HINT_MAX_LEN];
} dfs_attr_t;

/* Which bytes of a file to read or write. */
typedef struct {
	daos_size_t iod_nr;
	daos_range_t *iod_rgs;
} dfs_iod_t;

/* The classes of new directories and files are told of directories alone. */
typedef struct {
	daos_oclass_id_t doi_oclass_id;
	daos_size_t doi_chunk_size;
	daos_oclass_id_t doi_dir_oclass_id;
	daos_oclass_id_t doi_file_oclass_id;
	daos_obj_id_t doi_oid;
} dfs_obj_info_t;

/* The library of the file system; counted, and with daos_init and daos_fini. */
int dfs_init(void);
int dfs_fini(void);

/* Mount by names, with O_CREAT also where there is no container yet; only after dfs_init. */
int dfs_connect(const char *pool, const char *sys, const char *cont, int flags, dfs_attr_t *attr, dfs_t **dfs);
int dfs_disconnect(dfs_t *dfs);
int dfs_destroy(const char *pool, const char *sys, const char *cont, int force, daos_event_t *ev);

/* Make a container with a file system. It stays open where coh is given, and mounted where dfs is. */
int dfs_cont_create(daos_handle_t poh, uuid_t *uuid, dfs_attr_t *attr, daos_handle_t *coh, dfs_t **dfs);
int dfs_cont_create_with_label(daos_handle_t poh, const char *label, dfs_attr_t *attr, uuid_t *uuid,
			       daos_handle_t *coh, dfs_t **dfs);

/* Mount the file system of an open container, with O_RDONLY or O_RDWR. */
int dfs_mount(daos_handle_t poh, daos_handle_t coh, int flags, dfs_t **dfs);
int dfs_umount(dfs_t *dfs);
int dfs_query(dfs_t *dfs, dfs_attr_t *attr);
int dfs_sync(dfs_t *dfs);

/* What dfs_lookup takes away from the beginning of each path. NULL: nothing. */
int dfs_set_prefix(dfs_t *dfs, const char *prefix);

/* The handles under a mount. It is not unmounted before they are given back. */
int dfs_pool_get(dfs_t *dfs, daos_handle_t *poh);
int dfs_pool_put(dfs_t *dfs, daos_handle_t poh);
int dfs_cont_get(dfs_t *dfs, daos_handle_t *coh);
int dfs_cont_put(dfs_t *dfs, daos_handle_t coh);

/* Mounts and files for other processes. Without a buffer the size is told. Flags of 0 are those of the original. */
int dfs_local2global(dfs_t *dfs, d_iov_t *glob);
int dfs_global2local(daos_handle_t poh, daos_handle_t coh, int flags, d_iov_t glob, dfs_t **dfs);
int dfs_local2global_all(dfs_t *dfs, d_iov_t *glob);
int dfs_global2local_all(int flags, d_iov_t glob, dfs_t **dfs);
int dfs_obj_local2global(dfs_t *dfs, dfs_obj_t *obj, d_iov_t *glob);
int dfs_obj_global2local(dfs_t *dfs, int flags, d_iov_t glob, dfs_obj_t **obj);

/*
 * Look up a path from the root, or a name in a directory (NULL: the root). Symbolic links are followed, the last one not
 * with O_NOFOLLOW. mode and stbuf may be NULL. What was opened is released with dfs_release.
 */
int dfs_lookup(dfs_t *dfs, const char *path, int flags, dfs_obj_t **obj, mode_t *mode, struct stat *stbuf);
int dfs_lookup_rel(dfs_t *dfs, dfs_obj_t *parent, const char *name, int flags, dfs_obj_t **obj, mode_t *mode,
		   struct stat *stbuf);

/*
 * Open a file or directory, or make it with O_CREAT (with O_EXCL: only if there is none); mode has its kind. A symbolic
 * link can only be made; value is where it leads. Class and chunk size are for what is made, or 0.
 */
int dfs_open(dfs_t *dfs, dfs_obj_t *parent, const char *name, mode_t mode, int flags, daos_oclass_id_t cid,
	     daos_size_t chunk_size, const char *value, dfs_obj_t **obj);

/* As dfs_open with O_CREAT; stbuf has user and group of what is made, and then what is told of it. */
int dfs_open_stat(dfs_t *dfs, dfs_obj_t *parent, const char *name, mode_t mode, int flags, daos_oclass_id_t cid,
		  daos_size_t chunk_size, const char *value, dfs_obj_t **obj, struct stat *stbuf);
int dfs_dup(dfs_t *dfs, dfs_obj_t *obj, int flags, dfs_obj_t **new_obj);
int dfs_release(dfs_obj_t *obj);

/* What is known of something open. The handle of a file's array is not the caller's to close. */
int dfs_obj2id(dfs_obj_t *obj, daos_obj_id_t *oid);
int dfs_get_mode(dfs_obj_t *obj, mode_t *mode);
int dfs_get_file_oh(dfs_obj_t *obj, daos_handle_t *oh);
int dfs_get_chunk_size(dfs_obj_t *obj, daos_size_t *chunk_size);
int dfs_get_symlink_value(dfs_obj_t *obj, char *buf, daos_size_t *size);
int dfs_obj_get_info(dfs_t *dfs, dfs_obj_t *obj, dfs_obj_info_t *info);

/* What a handle takes for the place of its entry, after a move. Nothing stored is changed. */
int dfs_update_parent(dfs_obj_t *obj, dfs_obj_t *src_obj, const char *name);

/* What new entries of a directory get. */
int dfs_obj_set_oclass(dfs_t *dfs, dfs_obj_t *obj, int flags, daos_oclass_id_t cid);
int dfs_obj_set_chunk_size(dfs_t *dfs, dfs_obj_t *obj, int flags, daos_size_t csize);
int dfs_suggest_oclass(dfs_t *dfs, const char *hint, daos_oclass_id_t *cid);

/* Bytes of files: the iov_len of each buffer counts. A read ends where the file does; holes are zeros. */
int dfs_read(dfs_t *dfs, dfs_obj_t *obj, d_sg_list_t *sgl, daos_off_t off, daos_size_t *read_size, daos_event_t *ev);
int dfs_readx(dfs_t *dfs, dfs_obj_t *obj, dfs_iod_t *iod, d_sg_list_t *sgl, daos_size_t *read_size,
	      daos_event_t *ev);
int dfs_write(dfs_t *dfs, dfs_obj_t *obj, d_sg_list_t *sgl, daos_off_t off, daos_event_t *ev);
int dfs_writex(dfs_t *dfs, dfs_obj_t *obj, dfs_iod_t *iod, d_sg_list_t *sgl, daos_event_t *ev);
int dfs_get_size(dfs_t *dfs, dfs_obj_t *obj, daos_size_t *size);

/* A hole, or with len DFS_MAX_FSIZE the size. A hole that reaches the end makes the file shorter. */
int dfs_punch(dfs_t *dfs, dfs_obj_t *obj, daos_off_t offset, daos_size_t len);

/* Names in a directory: the anchor is zeros first, then what it was, until it says end of file. */
int dfs_readdir(dfs_t *dfs, dfs_obj_t *obj, daos_anchor_t *anchor, uint32_t *nr, struct dirent *dirs);
int dfs_readdirplus(dfs_t *dfs, dfs_obj_t *obj, daos_anchor_t *anchor, uint32_t *nr, struct dirent *dirs,
		    struct stat *stbufs);

/* A function for each entry, until it gives other than 0, or names have size bytes together. */
typedef int (*dfs_filler_cb_t)(dfs_t *dfs, dfs_obj_t *obj, const char name[], void *arg);
int dfs_iterate(dfs_t *dfs, dfs_obj_t *obj, daos_anchor_t *anchor, uint32_t *nr, size_t size, dfs_filler_cb_t op,
		void *arg);
int dfs_obj_anchor_split(dfs_obj_t *obj, uint32_t *nr, daos_anchor_t *anchors);
int dfs_obj_anchor_set(dfs_obj_t *obj, uint32_t index, daos_anchor_t *anchor);

/* Entries of a directory (NULL: the root). oid, if given, is the object that is gone. */
int dfs_mkdir(dfs_t *dfs, dfs_obj_t *parent, const char *name, mode_t mode, daos_oclass_id_t cid);
int dfs_remove(dfs_t *dfs, dfs_obj_t *parent, const char *name, bool force, daos_obj_id_t *oid);
int dfs_move(dfs_t *dfs, dfs_obj_t *parent, const char *name, dfs_obj_t *new_parent, const char *new_name,
	     daos_obj_id_t *oid);
int dfs_exchange(dfs_t *dfs, dfs_obj_t *parent1, const char *name1, dfs_obj_t *parent2, const char *name2);

/* Without a name the root itself. dfs_stat tells of a symbolic link, the others follow it. */
int dfs_stat(dfs_t *dfs, dfs_obj_t *parent, const char *name, struct stat *stbuf);
int dfs_ostat(dfs_t *dfs, dfs_obj_t *obj, struct stat *stbuf);
int dfs_access(dfs_t *dfs, dfs_obj_t *parent, const char *name, int mask);
int dfs_chmod(dfs_t *dfs, dfs_obj_t *parent, const char *name, mode_t mode);
int dfs_chown(dfs_t *dfs, dfs_obj_t *parent, const char *name, uid_t uid, gid_t gid, int flags);

/* Which fields of stbuf dfs_osetattr sets; it then tells all of them. */
#define DFS_SET_ATTR_MODE 1
#define DFS_SET_ATTR_ATIME 2
#define DFS_SET_ATTR_MTIME 4
#define DFS_SET_ATTR_SIZE 8
#define DFS_SET_ATTR_UID 16
#define DFS_SET_ATTR_GID 32
int dfs_osetattr(dfs_t *dfs, dfs_obj_t *obj, struct stat *stbuf, int flags);

/* Extended attributes, of a symbolic link itself. flags: 0, XATTR_CREATE or XATTR_REPLACE. A size of 0 asks for it. */
int dfs_setxattr(dfs_t *dfs, dfs_obj_t *obj, const char *name, const void *value, daos_size_t size, int flags);
int dfs_getxattr(dfs_t *dfs, dfs_obj_t *obj, const char *name, void *value, daos_size_t *size);
int dfs_removexattr(dfs_t *dfs, dfs_obj_t *obj, const char *name);
int dfs_listxattr(dfs_t *dfs, dfs_obj_t *obj, char *list, daos_size_t *size);

/* Missing: ENOSYS. But for the first three, DAOS declares them to its own programs alone. */
int dfs_dir_anchor_set(dfs_obj_t *obj, const char name[], daos_anchor_t *anchor);
/* What is done with objects that no entry names. */
enum {
	DFS_CHECK_PRINT = 1,
	DFS_CHECK_REMOVE = 2,
	DFS_CHECK_RELINK = 4,
	DFS_CHECK_VERIFY = 8,
	DFS_CHECK_EVICT_ALL = 16
};
int dfs_cont_check(daos_handle_t poh, const char *cont, uint64_t flags, const char *name);
int dfs_cont_set_owner(daos_handle_t coh, d_string_t user, uid_t uid, d_string_t group, gid_t gid);
int dfs_cont_scan(daos_handle_t poh, const char *cont, uint64_t flags, const char *subdir);
int dfs_get_size_by_oid(dfs_t *dfs, daos_obj_id_t oid, daos_size_t chunk_size, daos_size_t *size);
int dfs_obj_fix_type(dfs_t *dfs, dfs_obj_t *parent, const char *name);
int dfs_recreate_sb(daos_handle_t coh, dfs_attr_t *attr);
int dfs_relink_root(daos_handle_t coh);

/* What entries of a listing must be like: a regular expression of the name, and changed after a time. */
enum {
	DFS_FILTER_NAME = 2,
	DFS_FILTER_NEWER = 4,
	DFS_FILTER_INCLUDE_DIRS = 8
};
typedef struct {
	char dp_name[DFS_MAX_NAME];
	time_t dp_newer;
	size_t dp_size;
} dfs_predicate_t;
typedef struct dfs_pipeline dfs_pipeline_t;

/* Missing: ENOSYS. */
int dfs_mount_snap(daos_handle_t poh, daos_handle_t coh, int flags, daos_epoch_t epoch, const char *name, dfs_t **dfs);
int dfs_connect_snap(const char *pool, const char *sys, const char *cont, int flags, daos_epoch_t epoch, const char *name,
		     dfs_t **dfs);
int dfs_pipeline_create(dfs_t *dfs, dfs_predicate_t pred, uint64_t flags, dfs_pipeline_t **dpipe);
int dfs_pipeline_destroy(dfs_pipeline_t *dpipe);
int dfs_readdir_with_filter(dfs_t *dfs, dfs_obj_t *obj, dfs_pipeline_t *dpipe, daos_anchor_t *anchor, uint32_t *nr,
			    struct dirent *dirs, daos_obj_id_t *oids, daos_size_t *csizes, uint64_t *nr_scanned);

#if defined(__cplusplus)
}
#endif

#endif
