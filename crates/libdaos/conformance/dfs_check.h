/*
 * What the checks of the file system share, besides check.h.
 */
#ifndef CONFORMANCE_DFS_CHECK_H
#define CONFORMANCE_DFS_CHECK_H

#include "check.h"

#include <errno.h>

#include <daos_fs.h>

/* That a call gives a number of errno.h. */
#define REFUSES_WITH(call, number) expect_status((call), (number), (number), #call, __FILE__, __LINE__)

/* The file system of this check, in a container of its own, mounted for reading and writing; and the container. */
dfs_t *file_system(void);
daos_handle_t file_system_container(void);

/* Hands something open of a file system to the harness, which releases it when the check ends, or has it released. */
dfs_obj_t *keep_node(dfs_obj_t *node);
void release(dfs_obj_t *node);

/* Entries of a directory, or of the root where it is NULL; what they give is kept. */
dfs_obj_t *new_file(dfs_obj_t *parent, const char *name);
dfs_obj_t *new_directory(dfs_obj_t *parent, const char *name);
dfs_obj_t *new_link(dfs_obj_t *parent, const char *name, const char *target);
dfs_obj_t *look_up(const char *path, int flags);
bool is_there(dfs_obj_t *parent, const char *name);

/* What dfs_open gives where it must not give anything open. */
int open_status(dfs_obj_t *parent, const char *name, mode_t mode, int flags, const char *target);

/* Bytes of a file. They are read with more room than there are bytes, and nothing may be written behind them. */
dfs_obj_t *write_file(dfs_obj_t *file, uint64_t offset, const char *text);
daos_size_t read_bytes(dfs_obj_t *file, uint64_t offset, void *bytes, size_t size);
void file_reads(dfs_obj_t *file, uint64_t offset, size_t room, const char *expected, size_t count);
void file_holds(const char *path, const char *text);

/* Extended attributes with text values. */
void set_attribute(dfs_obj_t *node, const char *name, const char *value);
void attribute_is(dfs_obj_t *node, const char *name, const char *value);
int get_attribute(dfs_obj_t *node, const char *name);

/* What stat tells of an entry of the root. */
struct stat stat_of(const char *name);

#endif
