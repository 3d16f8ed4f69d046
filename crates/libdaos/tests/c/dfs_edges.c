/* What a program may do wrong with the file system: each must be refused, and never end the process.
 *
 *   dfs_edges POOL
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daos.h>
#include <daos_fs.h>

static int failures;

static void expect(long found, long expected, const char *what, int line)
{
    if (found != expected) {
        fprintf(stderr, "line %d: %s: expected %ld, found %ld\n", line, what, expected, found);
        failures++;
    }
}

#define IS(call, expected) expect((call), (expected), #call, __LINE__)

static dfs_t *dfs;

/* Handles that are none, or none any more. */
static void stale(dfs_obj_t *gone, dfs_t *unmounted)
{
    int nothing[64] = {0};
    dfs_obj_t *wrong[] = {NULL, gone, (dfs_obj_t *)dfs, (dfs_obj_t *)nothing};
    struct stat found;
    daos_size_t size = 4;
    char buffer[4];
    d_iov_t vector, global = {0};
    d_sg_list_t list = {.sg_nr = 1, .sg_iovs = &vector};
    daos_anchor_t anchor = {0};
    struct dirent names[2];
    uint32_t nr = 2;

    d_iov_set(&vector, buffer, sizeof(buffer));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        IS(dfs_release(wrong[i]), EINVAL);
        IS(dfs_ostat(dfs, wrong[i], &found), EINVAL);
        IS(dfs_read(dfs, wrong[i], &list, 0, &size, NULL), EINVAL);
        IS(dfs_write(dfs, wrong[i], &list, 0, NULL), EINVAL);
        IS(dfs_get_size(dfs, wrong[i], &size), EINVAL);
        IS(dfs_getxattr(dfs, wrong[i], "n", NULL, &size), EINVAL);
        IS(dfs_obj_local2global(dfs, wrong[i], &global), EINVAL);
        IS(dfs_readdir(dfs, wrong[i], &anchor, &nr, names), EINVAL);
        if (wrong[i] != NULL)
            IS(dfs_mkdir(dfs, wrong[i], "d", 0755, 0), EINVAL);
    }
    IS(dfs_stat(unmounted, NULL, NULL, &found), EINVAL);
    IS(dfs_umount(unmounted), EINVAL);
    IS(dfs_stat((dfs_t *)nothing, NULL, NULL, &found), EINVAL);
}

/* Null pointers, lengths beyond all memory, and anchors of others. */
static void arguments(dfs_obj_t *file, dfs_obj_t *directory)
{
    daos_range_t range = {.rg_idx = ~0ULL - 4, .rg_len = 8};
    dfs_iod_t iod = {.iod_nr = 1, .iod_rgs = &range}, huge = {.iod_nr = ~0ULL, .iod_rgs = &range};
    daos_anchor_t anchor = {0};
    char buffer[8] = {0}, name[300];
    d_iov_t vectors[2];
    d_sg_list_t list = {.sg_nr = 1, .sg_iovs = vectors}, both = {.sg_nr = 2, .sg_iovs = vectors};
    struct dirent names[2];
    daos_size_t size = 0;
    uint32_t nr = 2;
    dfs_obj_t *node;

    d_iov_set(&vectors[0], buffer, 8);
    d_iov_set(&vectors[1], buffer + 4, 4);
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    IS(dfs_open(dfs, NULL, NULL, S_IFREG, O_RDWR | O_CREAT, 0, 0, NULL, &node), EINVAL);
    IS(dfs_open(dfs, NULL, "", S_IFREG, O_RDWR | O_CREAT, 0, 0, NULL, &node), EINVAL);
    IS(dfs_open(dfs, NULL, name, S_IFREG, O_RDWR | O_CREAT, 0, 0, NULL, &node), EINVAL);
    IS(dfs_open(dfs, NULL, ".", S_IFDIR, O_RDWR | O_CREAT, 0, 0, NULL, &node), ENOTSUP);
    IS(dfs_open(dfs, NULL, "x", S_IFREG, O_RDWR | O_CREAT, 0, 0, NULL, NULL), EINVAL);
    IS(dfs_open(dfs, NULL, "x", S_IFREG, O_ACCMODE | O_CREAT, 0, 0, NULL, &node), EINVAL);
    IS(dfs_open(dfs, NULL, "x", S_IFREG, O_RDWR | O_CREAT, OC_RP_2G1, 0, NULL, &node), EINVAL);
    IS(dfs_open(dfs, NULL, "x", S_IFLNK, O_RDWR | O_CREAT, 0, 0, "", &node), EINVAL);
    IS(dfs_lookup(dfs, NULL, O_RDONLY, &node, NULL, NULL), EINVAL);
    IS(dfs_lookup(dfs, "/f", O_RDONLY, NULL, NULL, NULL), EINVAL);
    IS(dfs_lookup(dfs, "/..", O_RDONLY, &node, NULL, NULL), ENOENT);
    IS(dfs_stat(dfs, NULL, "f", NULL), EINVAL);
    IS(dfs_stat(dfs, directory, NULL, (struct stat[1]){0}), EINVAL);
    IS(dfs_write(dfs, file, NULL, 0, NULL), 0);
    IS(dfs_read(dfs, file, NULL, 0, &size, NULL), EINVAL);
    IS(dfs_read(dfs, file, &list, 0, NULL, NULL), EINVAL);
    IS(dfs_read(dfs, file, &both, 0, &size, NULL), EINVAL);
    IS(dfs_writex(dfs, file, &iod, &list, NULL), EINVAL);
    IS(dfs_readx(dfs, file, &huge, &list, &size, NULL), EINVAL);
    IS(dfs_readx(dfs, file, NULL, &list, &size, NULL), EINVAL);
    IS(dfs_write(dfs, file, &list, ~0ULL - 2, NULL), EINVAL);
    IS(dfs_punch(dfs, file, ~0ULL - 1, DFS_MAX_FSIZE), EINVAL);
    IS(dfs_readdir(dfs, directory, NULL, &nr, names), EINVAL);
    IS(dfs_readdir(dfs, directory, &anchor, NULL, names), EINVAL);
    IS(dfs_readdir(dfs, directory, &anchor, &nr, NULL), EINVAL);
    memset(&anchor, 0xff, sizeof(anchor));
    IS(dfs_readdir(dfs, directory, &anchor, &nr, names), EINVAL);
    IS(dfs_setxattr(dfs, file, NULL, "v", 1, 0), EINVAL);
    IS(dfs_setxattr(dfs, file, "", "v", 1, 0), EINVAL);
    IS(dfs_setxattr(dfs, file, name, "v", 1, 0), EINVAL);
    IS(dfs_setxattr(dfs, file, "n", NULL, 1, 0), EINVAL);
    IS(dfs_setxattr(dfs, file, "n", NULL, 0, 0), 0);
    IS(dfs_getxattr(dfs, file, "n", NULL, &size), 0);
    IS(dfs_getxattr(dfs, file, "n", NULL, NULL), EINVAL);
    IS(dfs_move(dfs, NULL, "f", NULL, NULL, NULL), EINVAL);
    IS(dfs_exchange(dfs, NULL, NULL, NULL, "f"), EINVAL);
    IS(dfs_local2global(dfs, NULL), EINVAL);
    IS(dfs_query(dfs, NULL), EINVAL);
}

int main(int argc, char **argv)
{
    daos_handle_t pool, container;
    dfs_obj_t *file, *directory, *gone;
    dfs_t *unmounted;

    if (argc != 2)
        return 2;
    IS(daos_init(), 0);
    IS(daos_pool_connect(argv[1], NULL, DAOS_PC_RW, &pool, NULL, NULL), 0);
    IS(dfs_cont_create_with_label(pool, "edges", NULL, NULL, &container, &dfs), 0);
    IS(dfs_mount(pool, container, O_RDWR, &unmounted), 0);
    IS(dfs_umount(unmounted), 0);
    IS(dfs_open(dfs, NULL, "f", S_IFREG | 0644, O_RDWR | O_CREAT, 0, 0, NULL, &file), 0);
    IS(dfs_open(dfs, NULL, "d", S_IFDIR | 0755, O_RDWR | O_CREAT, 0, 0, NULL, &directory), 0);
    IS(dfs_dup(dfs, file, O_RDWR, &gone), 0);
    IS(dfs_release(gone), 0);
    stale(gone, unmounted);
    arguments(file, directory);
    IS(dfs_release(file), 0);
    IS(dfs_release(directory), 0);
    IS(dfs_umount(dfs), 0);
    IS(daos_cont_close(container, NULL), 0);
    IS(daos_pool_disconnect(pool, NULL), 0);
    IS(daos_fini(), 0);
    return failures != 0;
}
