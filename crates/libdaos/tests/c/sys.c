/* The file system by paths (dfs_sys_*), and paths of the system's that lead to containers (duns_*).
 *
 *   sys POOL FOLDER
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <daos/tests_lib.h>
#include <daos_fs.h>
#include <daos_fs_sys.h>
#include <daos_uns.h>

#include "fixtures.h"

enum { FILES = 60 };

static dfs_sys_t *fs;

static void write_file(const char *path, const char *text)
{
    dfs_obj_t *file = NULL;
    daos_size_t size = strlen(text);
    IS(dfs_sys_open(fs, path, S_IFREG | 0644, O_CREAT | O_RDWR, 0, 0, NULL, &file), 0);
    IS(dfs_sys_write(fs, file, text, 0, &size, NULL), 0);
    IS(dfs_sys_close(file), 0);
}

static void holds(const char *path, const char *text)
{
    dfs_obj_t *file = NULL;
    char found[64] = {0};
    daos_size_t size = sizeof(found) - 1;
    IS(dfs_sys_open(fs, path, S_IFREG, O_RDONLY, 0, 0, NULL, &file), 0);
    IS(dfs_sys_read(fs, file, found, 0, &size, NULL), 0);
    IS(size, strlen(text));
    IS(strcmp(found, text), 0);
    IS(dfs_sys_close(file), 0);
}

static struct stat stat_of(const char *path)
{
    struct stat found = {0};
    IS(dfs_sys_stat(fs, path, 0, &found), 0);
    return found;
}

static void entries(void)
{
    IS(dfs_sys_mkdir(fs, "/a", 0755, 0), 0);
    IS(dfs_sys_mkdir(fs, "/a", 0755, 0), EEXIST);
    IS(dfs_sys_mkdir(fs, "/", 0755, 0), EEXIST);
    IS(dfs_sys_mkdir(fs, "/no/b", 0755, 0), ENOENT);
    IS(dfs_sys_mkdir(fs, "a", 0755, 0), EINVAL);
    IS(dfs_sys_mkdir_p(fs, "/a/b//c/", 0755, 0), 0);
    IS(dfs_sys_mkdir_p(fs, "/a/b/c", 0755, 0), 0);
    write_file("/a/b/c/file", "text");
    holds("/a/b/c/file", "text");
    IS(dfs_sys_mkdir_p(fs, "/a/b/c/file", 0755, 0), EEXIST);
    IS(dfs_sys_mkdir_p(fs, "/a/b/c/file/d", 0755, 0), ENOTDIR);
    IS(dfs_sys_mkdir(fs, "/a/b/c/file/d", 0755, 0), ENOTDIR);
    IS(dfs_sys_mknod(fs, "/a/node", S_IFREG | 0600, 0, 0), 0);
    IS(dfs_sys_mknod(fs, "/a/node", S_IFREG | 0600, 0, 0), EEXIST);
    IS(stat_of("/a/node").st_mode, S_IFREG | 0600);
    IS(S_ISDIR(stat_of("/").st_mode), 1);
    stat_of("/a/b/");
    IS(dfs_sys_stat(fs, "/a/no", 0, &(struct stat){0}), ENOENT);
    IS(dfs_sys_chmod(fs, "/a/node", 0640), 0);
    IS(dfs_sys_chown(fs, "/a/node", 7, 8, 0), 0);
    IS(stat_of("/a/node").st_mode, S_IFREG | 0640);
    IS(stat_of("/a/node").st_uid, 7);
    IS(stat_of("/a/node").st_gid, 8);
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1000, .tv_nsec = 5}};
    IS(dfs_sys_utimens(fs, "/a/node", times, 0), 0);
    IS(stat_of("/a/node").st_mtim.tv_sec, 1000);
    IS(stat_of("/a/node").st_mtim.tv_nsec, 5);
    struct stat found = {.st_size = 10};
    IS(dfs_sys_setattr(fs, "/a/node", &found, DFS_SET_ATTR_SIZE, 0), 0);
    IS(found.st_size, 10);
    IS(dfs_sys_punch(fs, "/a/node", 4, DFS_MAX_FSIZE), 0);
    IS(stat_of("/a/node").st_size, 4);
    IS(dfs_sys_remove_type(fs, "/a/node", false, S_IFDIR, NULL), EINVAL);
    IS(dfs_sys_remove_type(fs, "/a/node", false, S_IFREG, NULL), 0);
    IS(dfs_sys_remove(fs, "/a/node", false, NULL), ENOENT);
    IS(dfs_sys_remove(fs, "/", false, NULL), EBUSY);
    IS(dfs_sys_remove(fs, "/a/b", false, NULL), ENOTEMPTY);
}

static void links(void)
{
    struct stat found;
    dfs_obj_t *opened = NULL;
    char target[32] = {0};
    daos_size_t size = sizeof(target);
    IS(dfs_sys_symlink(fs, "b/c", "/a/link"), 0);
    IS(dfs_sys_symlink(fs, "b/c", "/a/link"), EEXIST);
    IS(dfs_sys_readlink(fs, "/a/link", target, &size), 0);
    IS(size, 4);
    IS(strcmp(target, "b/c"), 0);
    size = sizeof(target);
    IS(dfs_sys_readlink(fs, "/a/b", target, &size), EINVAL);
    holds("/a/link/file", "text");
    IS(dfs_sys_stat(fs, "/a/link", O_NOFOLLOW, &found), 0);
    IS(S_ISLNK(found.st_mode), 1);
    IS(S_ISDIR(stat_of("/a/link").st_mode), 1);
    IS(dfs_sys_symlink(fs, "nowhere", "/a/loose"), 0);
    IS(dfs_sys_access(fs, "/a/loose", R_OK, 0), ENOENT);
    IS(dfs_sys_access(fs, "/a/loose", R_OK, O_NOFOLLOW), 0);
    IS(dfs_sys_access(fs, "/a/link", R_OK | X_OK, 0), 0);
    IS(dfs_sys_open(fs, "/a/link", S_IFREG, O_RDONLY, 0, 0, NULL, &opened), EINVAL);
    IS(dfs_sys_open(fs, "/a/link", S_IFDIR, O_RDONLY, 0, 0, NULL, &opened), 0);
    IS(dfs_sys_close(opened), 0);
    IS(dfs_sys_open(fs, "/", S_IFDIR, O_RDONLY, 0, 0, NULL, &opened), 0);
    IS(dfs_sys_close(opened), 0);
    IS(dfs_sys_open(fs, "/", S_IFDIR, O_CREAT, 0, 0, NULL, &opened), EEXIST);
    IS(dfs_sys_open(fs, "/", S_IFREG, O_RDONLY, 0, 0, NULL, &opened), ENOTDIR);
}

/* Where there is not room enough, also none at all, the size is told with ERANGE. */
static void extended(void)
{
    char found[32] = {0};
    daos_size_t size = 0;
    IS(dfs_sys_setxattr(fs, "/a/link", "of target", "value", 5, 0, 0), 0);
    IS(dfs_sys_setxattr(fs, "/a/link", "of link", "other", 5, 0, O_NOFOLLOW), 0);
    IS(dfs_sys_listxattr(fs, "/a/b/c", NULL, &size, 0), ERANGE);
    IS(size, sizeof("of target"));
    IS(dfs_sys_listxattr(fs, "/a/b/c", found, &size, 0), 0);
    IS(strcmp(found, "of target"), 0);
    size = 0;
    IS(dfs_sys_getxattr(fs, "/a/link", "of target", NULL, &size, 0), ERANGE);
    IS(size, 5);
    size = 2;
    IS(dfs_sys_getxattr(fs, "/a/link", "of target", found, &size, 0), ERANGE);
    size = sizeof(found);
    IS(dfs_sys_getxattr(fs, "/a/link", "of link", found, &size, 0), ENODATA);
    IS(dfs_sys_getxattr(fs, "/a/link", "of link", found, &size, O_NOFOLLOW), 0);
    IS(memcmp(found, "other", 5), 0);
    IS(dfs_sys_removexattr(fs, "/a/link", "of link", O_NOFOLLOW), 0);
    IS(dfs_sys_removexattr(fs, "/a/b/c", "of target", 0), 0);
}

static void listed(void)
{
    DIR *directory = NULL;
    struct dirent *entry;
    char path[64];
    int count = 0, seen[FILES] = {0};
    IS(dfs_sys_mkdir(fs, "/many", 0755, 0), 0);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof(path), "/many/file %d", i);
        write_file(path, path);
    }
    IS(dfs_sys_opendir(fs, "/many/file 1", 0, &directory), ENOTDIR);
    IS(dfs_sys_opendir(fs, "/none", 0, &directory), ENOENT);
    IS(dfs_sys_opendir(fs, "/many", 0, &directory), 0);
    for (;;) {
        IS(dfs_sys_readdir(fs, directory, &entry), 0);
        if (entry == NULL)
            break;
        IS(sscanf(entry->d_name, "file %d", &count), 1);
        seen[count]++;
    }
    for (int i = 0; i < FILES; i++)
        IS(seen[i], 1);
    IS(dfs_sys_closedir(directory), 0);
    IS(dfs_sys_closedir(NULL), EINVAL);
    IS(dfs_sys_remove(fs, "/many", true, NULL), 0);
}

static void prefixed(void)
{
    IS(dfs_sys_set_prefix(fs, "/mnt/tank"), 0);
    stat_of("/mnt/tank");
    stat_of("/mnt/tank/a/b");
    IS(dfs_sys_stat(fs, "/a/b", 0, &(struct stat){0}), EINVAL);
    IS(dfs_sys_set_prefix(fs, NULL), 0);
}

static void by_prefix(void)
{
    struct duns_attr_t found = {0};
    IS(duns_resolve_path("daos://tank/files/a/b", &found), 0);
    IS(strcmp(found.da_pool, "tank"), 0);
    IS(strcmp(found.da_cont, "files"), 0);
    IS(strcmp(found.da_rel_path, "/a/b"), 0);
    duns_destroy_attr(&found);
    IS(found.da_rel_path == NULL, 1);
    IS(duns_set_sys_name(&found, "daos_server"), 0);
    IS(strcmp(found.da_sys, "daos_server"), 0);
    duns_destroy_attr(&found);
    IS(duns_resolve_path("", &found), EINVAL);
    IS(duns_resolve_path(NULL, &found), EINVAL);
    found.da_flags = DUNS_NO_CHECK_PATH | DUNS_NO_PREFIX;
    IS(duns_resolve_path("/tank/files", &found), 0);
    IS(strcmp(found.da_cont, "files"), 0);
    IS(found.da_rel_path == NULL, 1);
    /* What is there in the place of a bool is one byte or other, and is looked at as such. */
    struct duns_attr_t raw;
    memset(&raw, 2, sizeof(raw));
    raw.da_flags = DUNS_NO_CHECK_PATH;
    IS(duns_resolve_path("/tank/files", &raw), 0);
    IS(strcmp(raw.da_cont, "files"), 0);
}

/* What is wrong with arguments is told as what it is. */
static void wrong(daos_handle_t pool, daos_handle_t container)
{
    char path[6001] = "/";
    dfs_sys_t *other = NULL;
    d_iov_t global = {0};
    DIR *directory = NULL;
    memset(path + 1, 'x', 5999);
    IS(dfs_sys_opendir(fs, "relative", 0, &directory), EINVAL);
    IS(dfs_sys_opendir(fs, NULL, 0, &directory), EINVAL);
    IS(dfs_sys_opendir(NULL, "/", 0, &directory), EINVAL);
    IS(dfs_sys_opendir(fs, "/a/b/c/file", 0, &directory), ENOTDIR);
    IS(dfs_sys_opendir(fs, "/nothing", 0, &directory), ENOENT);
    IS(dfs_sys_opendir(fs, path, 0, &directory), ENAMETOOLONG);
    IS(dfs_sys_mkdir_p(fs, path, 0755, 0), ENAMETOOLONG);
    IS(dfs_sys_mkdir_p(fs, "relative", 0755, 0), EINVAL);
    IS(dfs_sys_mount(pool, container, O_RDWR, 1234 << 5, &other), EINVAL);
    IS(dfs_sys_connect("tank", NULL, "files", O_RDWR, 4, NULL, &other), EINVAL);
    IS(dfs_sys_global2local(pool, container, 0, 4, global, &other), EINVAL);
    IS(dfs_sys_global2local_all(0, 4, global, &other), EINVAL);
    IS(other == NULL, 1);
}

/* The bytes for another process, of which the first call gives the length. */
static d_iov_t packed(int (*pack)(dfs_sys_t *, d_iov_t *), char *bytes, size_t space)
{
    d_iov_t global = {0};
    IS(pack(fs, &global), 0);
    IS(global.iov_buf_len > 0 && global.iov_buf_len <= space, 1);
    d_iov_set(&global, bytes, space);
    IS(pack(fs, &global), 0);
    IS(global.iov_len > 0 && global.iov_len <= space, 1);
    return global;
}

/* A mount that comes from bytes is of the same container, can do the same, and is closed by itself. */
static void handed_over(daos_handle_t pool, daos_handle_t container)
{
    char bytes[1024];
    d_iov_t global = packed(dfs_sys_local2global, bytes, sizeof(bytes));
    dfs_sys_t *own = fs;
    IS(dfs_sys_global2local(pool, container, 0, DFS_SYS_NO_LOCK, global, &fs), 0);
    holds("/a/b/c/file", "text");
    write_file("/handed over", "by the other");
    IS(dfs_sys_umount(fs), 0);
    fs = own;
    holds("/handed over", "by the other");
    global.iov_len--;
    IS(dfs_sys_global2local(pool, container, 0, 0, global, &fs), EINVAL);
    global = packed(dfs_sys_local2global_all, bytes, sizeof(bytes));
    IS(dfs_sys_global2local_all(0, DFS_SYS_NO_CACHE, global, &fs), 0);
    holds("/handed over", "by the other");
    IS(dfs_sys_remove(fs, "/handed over", false, NULL), 0);
    IS(dfs_sys_umount(fs), EINVAL);
    IS(dfs_sys_disconnect(fs), 0);
    fs = own;
    IS(dfs_sys_access(fs, "/handed over", F_OK, 0), ENOENT);
    IS(dfs_sys_local2global(NULL, &global), EINVAL);
    IS(dfs_sys_local2global_all(fs, NULL), EINVAL);
}

/* The value of the attribute `user.daos`, with or without an end. */
static void parsed(void)
{
#define ONE "01234567-89ab-cdef-0123-456789abcdef"
#define OTHER "fedcba98-7654-3210-fedc-ba9876543210"
    static const char *const wrong[] = {"", "DAOS", "DAOS.POSIX", "DAOS.POSIX://tank/files", "DAOS.what://" ONE "/" OTHER,
                                        "DAOS.POSIX://" ONE};
    char value[] = "DAOS.HDF5://" ONE "/" OTHER;
    struct duns_attr_t found = {0};
    IS(duns_parse_attr(value, sizeof(value), &found), 0);
    IS(found.da_type, DAOS_PROP_CO_LAYOUT_HDF5);
    IS(strcmp(found.da_pool, ONE), 0);
    IS(strcmp(found.da_cont, OTHER), 0);
    IS(found.da_puuid[0] == 0x01 && found.da_puuid[15] == 0xef, 1);
    IS(found.da_cuuid[0] == 0xfe && found.da_cuuid[15] == 0x10, 1);
    IS(found.da_rel_path == NULL, 1);
    IS(duns_parse_attr(value, sizeof(value) - 1, &found), 0);
    IS(duns_parse_attr(value, sizeof(value) - 2, &found), EINVAL);
    for (size_t at = 0; at < sizeof(wrong) / sizeof(wrong[0]); at++) {
        char text[128];
        strcpy(text, wrong[at]);
        IS(duns_parse_attr(text, strlen(text), &found), EINVAL);
    }
    IS(duns_parse_attr(NULL, 5, &found), EINVAL);
    IS(duns_parse_attr(value, sizeof(value), NULL), EINVAL);
}

/* A container is of the pool that its path names, whatever else has its label. */
static void of_pool(daos_handle_t pool, daos_handle_t other)
{
    struct duns_attr_t made = {0};
    dfs_attr_t attributes = {0};
    daos_handle_t container;
    IS(dfs_cont_create_with_label(pool, "same", &attributes, NULL, NULL, NULL), 0);
    IS(dfs_cont_create_with_label(other, "same", &attributes, NULL, NULL, NULL), 0);
    IS(duns_destroy_path(other, "daos://tank/same"), EINVAL);
    IS(daos_cont_close(open_container(other, "same"), NULL), 0);
    IS(duns_destroy_path(pool, "daos://tank/same"), 0);
    IS(daos_cont_open(pool, "same", DAOS_COO_RO, &container, NULL, NULL), -DER_NONEXIST);
    IS(duns_destroy_path(other, "daos://other/same"), 0);
    made.da_type = 77;
    IS(duns_create_path(pool, "daos://tank/unknown", &made), EINVAL);
    IS(daos_cont_open(pool, "unknown", DAOS_COO_RO, &container, NULL, NULL), -DER_NONEXIST);
}

static void by_path(daos_handle_t pool, daos_handle_t other, const char *folder)
{
    struct duns_attr_t made = {.da_type = DAOS_PROP_CO_LAYOUT_POSIX}, found = {0}, file = {.da_type = DAOS_PROP_CO_LAYOUT_HDF5};
    char path[512], below[600], second[600], hdf5[600];
    daos_handle_t container, reader;
    struct stat entry;
    mode_t mask = umask(0);
    dfs_t *mounted;
    int status;
    umask(mask);
    snprintf(path, sizeof(path), "%s/entry", folder);
    snprintf(below, sizeof(below), "%s/x", path);
    snprintf(second, sizeof(second), "%s/second", folder);
    snprintf(hdf5, sizeof(hdf5), "%s/file.h5", folder);
    IS(duns_resolve_path(folder, &found), ENODATA);
    status = duns_create_path(pool, path, &made);
    if (status == ENOTSUP) {
        printf("skipped: %s has no extended attributes of users\n", folder);
        IS(access(path, F_OK), -1);
        return;
    }
    IS(status, 0);
    IS(duns_create_path(pool, path, &made), EEXIST);
    IS(mkdir(below, 0755), 0);
    IS(duns_resolve_path(below, &found), 0);
    IS(found.da_type, DAOS_PROP_CO_LAYOUT_POSIX);
    IS(strcmp(found.da_cont, made.da_cont), 0);
    IS(strcmp(found.da_pool, made.da_pool), 0);
    IS(memcmp(found.da_cuuid, made.da_cuuid, sizeof(uuid_t)), 0);
    IS(strcmp(found.da_rel_path, "/x"), 0);
    duns_destroy_attr(&found);
    found.da_flags = DUNS_NO_REVERSE_LOOKUP;
    IS(duns_resolve_path(below, &found), ENODATA);
    IS(rmdir(below), 0);
    container = open_container(pool, made.da_cont);
    IS(dfs_mount(pool, container, O_RDWR, &mounted), 0);
    IS(dfs_umount(mounted), 0);
    IS(daos_cont_close(container, NULL), 0);
    IS(duns_link_cont(pool, made.da_cont, second), 0);
    found.da_flags = 0;
    IS(duns_resolve_path(second, &found), 0);
    IS(strcmp(found.da_cont, made.da_cont), 0);
    /* One of this name in another pool, or one that may not be removed, stays, and so does the path. */
    IS(duns_destroy_path(other, path), EINVAL);
    IS(daos_pool_connect("tank", NULL, DAOS_PC_RO, &reader, NULL, NULL), 0);
    IS(duns_destroy_path(reader, path), EPERM);
    IS(daos_pool_disconnect(reader, NULL), 0);
    IS(duns_resolve_path(path, &found), 0);
    IS(strcmp(found.da_cont, made.da_cont), 0);
    IS(duns_destroy_path(pool, path), 0);
    IS(daos_cont_open(pool, made.da_cont, DAOS_COO_RW, &container, NULL, NULL), -DER_NONEXIST);
    IS(duns_create_path(pool, hdf5, &file), 0);
    IS(duns_resolve_path(hdf5, &found), 0);
    IS(found.da_type, DAOS_PROP_CO_LAYOUT_HDF5);
    IS(stat(hdf5, &entry), 0);
    IS(entry.st_mode, S_IFREG | (0664 & ~mask));
    IS(duns_destroy_path(pool, hdf5), 0);
    IS(access(hdf5, F_OK), -1);
    made.da_type = DAOS_PROP_CO_LAYOUT_UNKNOWN;
    IS(duns_create_path(pool, path, &made), EINVAL);
}

int main(int argc, char **argv)
{
    daos_handle_t other, container;
    struct daos_prop_entry entry = {.dpe_type = DAOS_PROP_PO_LABEL, .dpe_str = "other"};
    daos_prop_t label = {.dpp_nr = 1, .dpp_entries = &entry};
    uuid_t uuid;
    dfs_t *base = NULL;
    dfs_attr_t attributes = {0};
    struct stat found;
    if (argc != 3)
        return 2;
    daos_handle_t pool = begin(argv[1]);
    IS(dfs_init(), 0);
    IS(dfs_cont_create_with_label(pool, "files", &attributes, NULL, &container, NULL), 0);
    IS(dfs_sys_mount(pool, container, O_RDWR, 0, &fs), 0);
    IS(dfs_sys2base(fs, &base), 0);
    IS(dfs_stat(base, NULL, NULL, &found), 0);
    entries();
    links();
    extended();
    listed();
    wrong(pool, container);
    handed_over(pool, container);
    parsed();
    prefixed();
    IS(dfs_sys_umount(fs), 0);
    IS(dfs_sys_stat(fs, "/", 0, &found), EINVAL);
    IS(daos_cont_close(container, NULL), 0);
    IS(dfs_sys_connect(argv[1], NULL, "files", O_RDONLY, DFS_SYS_NO_CACHE | DFS_SYS_NO_LOCK, NULL, &fs), 0);
    holds("/a/b/c/file", "text");
    IS(dfs_sys_mkdir(fs, "/new", 0755, 0), EPERM);
    IS(dfs_sys_disconnect(fs), 0);
    by_prefix();
    IS(dmg_pool_create(NULL, geteuid(), getegid(), NULL, NULL, 0, 0, &label, NULL, uuid), 0);
    IS(daos_pool_connect("other", NULL, DAOS_PC_RW, &other, NULL, NULL), 0);
    of_pool(pool, other);
    by_path(pool, other, argv[2]);
    IS(daos_pool_disconnect(other, NULL), 0);
    IS(dfs_fini(), 0);
    return end(pool);
}
