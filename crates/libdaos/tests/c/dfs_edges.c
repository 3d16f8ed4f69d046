/* What a program may do wrong with the file system, or at the same moment: each must be refused or come out right, and never end the
 * process.
 *
 *   dfs_edges POOL
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <pthread.h>

#include <daos/tests_lib.h>
#include <daos_fs.h>

#include "fixtures.h"

static dfs_t *dfs;

static dfs_obj_t *open_file(const char *name)
{
    dfs_obj_t *file = NULL;
    IS(dfs_open(dfs, NULL, name, S_IFREG | 0644, O_RDWR | O_CREAT, 0, 0, NULL, &file), 0);
    return file;
}

static dfs_obj_t *look_up(const char *path)
{
    dfs_obj_t *node = NULL;
    IS(dfs_lookup(dfs, path, O_RDWR, &node, NULL, NULL), 0);
    return node;
}

/* Handles that are none, or none any more. */
static void stale(dfs_obj_t *gone, dfs_t *unmounted)
{
    int nothing[64] = {0};
    dfs_obj_t *wrong[] = {NULL, gone, (dfs_obj_t *)dfs, (dfs_obj_t *)nothing};
    struct stat found;
    daos_size_t size = 4;
    char buffer[4];
    d_iov_t global = {0};
    d_sg_list_t *list = LIST(buffer, sizeof(buffer));
    daos_anchor_t anchor = {0};
    struct dirent names[2];
    uint32_t nr = 2;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        IS(dfs_release(wrong[i]), EINVAL);
        IS(dfs_ostat(dfs, wrong[i], &found), EINVAL);
        IS(dfs_read(dfs, wrong[i], list, 0, &size, NULL), EINVAL);
        IS(dfs_write(dfs, wrong[i], list, 0, NULL), EINVAL);
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
    d_sg_list_t *list = LIST(buffer, 8), *both = LISTS(iov_of(buffer, 8), iov_of(buffer + 4, 4));
    struct dirent names[2];
    daos_size_t size = 0;
    uint32_t nr = 2;
    dfs_obj_t *node;

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
    IS(dfs_read(dfs, file, list, 0, NULL, NULL), EINVAL);
    IS(dfs_read(dfs, file, both, 0, &size, NULL), 0);
    IS(dfs_writex(dfs, file, &iod, list, NULL), EINVAL);
    IS(dfs_readx(dfs, file, &huge, list, &size, NULL), EINVAL);
    IS(dfs_readx(dfs, file, NULL, list, &size, NULL), EINVAL);
    IS(dfs_write(dfs, file, list, ~0ULL - 2, NULL), EINVAL);
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

static int write_to(dfs_obj_t *file, daos_off_t offset, const char *bytes, size_t length)
{
    return dfs_write(dfs, file, LIST(bytes, length), offset, NULL);
}

/* An open file whose name another one has since shows nothing of that one. */
static void successor(void)
{
    dfs_obj_t *old = open_file("s"), *new;
    daos_size_t size = 0;
    IS(dfs_setxattr(dfs, old, "old", "v", 1, 0), 0);
    IS(dfs_remove(dfs, NULL, "s", false, NULL), 0);
    IS(dfs_getxattr(dfs, old, "old", NULL, &size), ENOENT);
    new = open_file("s");
    IS(dfs_getxattr(dfs, new, "old", NULL, &size), ENODATA);
    IS(dfs_listxattr(dfs, new, NULL, &size), 0);
    IS(size, 0);
    IS(dfs_setxattr(dfs, new, "new", "v", 1, 0), 0);
    IS(dfs_getxattr(dfs, old, "new", NULL, &size), ENOENT);
    IS(dfs_listxattr(dfs, old, NULL, &size), ENOENT);
    IS(dfs_setxattr(dfs, old, "new", "w", 1, 0), ENOENT);
    IS(dfs_removexattr(dfs, old, "new"), ENOENT);
    IS(dfs_getxattr(dfs, new, "new", NULL, &size), 0);
    IS(dfs_release(old), 0);
    IS(dfs_release(new), 0);
}

/* What fails when a file is released is told, and the file is released. */
static void failing_release(daos_handle_t container)
{
    const char bytes[10] = "no inode";
    daos_recx_t records = {.rx_idx = 0, .rx_nr = sizeof(bytes)};
    daos_iod_t iod = {.iod_name = *KEY("DFS_INODE"), .iod_type = DAOS_IOD_ARRAY, .iod_size = 1, .iod_nr = 1, .iod_recxs = &records};
    daos_obj_id_t id;
    daos_handle_t object, array;
    dfs_obj_t *root = look_up("/"), *file = open_file("r");
    daos_size_t size;
    IS(write_to(file, 0, bytes, 4), 0);
    IS(dfs_get_file_oh(file, &array), 0);
    IS(dfs_obj2id(root, &id), 0);
    IS(daos_obj_open(container, id, DAOS_OO_RW, &object, NULL), 0);
    IS(daos_obj_punch_akeys(object, DAOS_TX_NONE, 0, KEY("r"), 1, &iod.iod_name, NULL), 0);
    IS(daos_obj_update(object, DAOS_TX_NONE, 0, KEY("r"), 1, &iod, LIST(bytes, sizeof(bytes)), NULL), 0);
    IS(dfs_release(file), EIO);
    IS(dfs_release(file), EINVAL);
    IS(daos_array_get_size(array, DAOS_TX_NONE, &size, NULL), -DER_NO_HDL);
    IS(daos_obj_punch_dkeys(object, DAOS_TX_NONE, 0, 1, KEY("r"), NULL), 0);
    IS(daos_obj_close(object, NULL), 0);
    IS(dfs_release(root), 0);
}

/* What is open in another container's file system is nothing here. */
static void of_another(daos_handle_t pool, dfs_obj_t *file, dfs_obj_t *directory)
{
    daos_handle_t container;
    struct stat found;
    daos_size_t size;
    dfs_obj_t *node;
    dfs_t *other, *again;
    IS(dfs_cont_create_with_label(pool, "other", NULL, NULL, &container, &other), 0);
    IS(dfs_open(other, directory, "x", S_IFREG | 0644, O_RDWR | O_CREAT, 0, 0, NULL, &node), EINVAL);
    IS(dfs_mkdir(other, directory, "x", 0755, 0), EINVAL);
    IS(dfs_stat(other, directory, "x", &found), EINVAL);
    IS(dfs_move(other, NULL, "x", directory, "x", NULL), EINVAL);
    IS(dfs_ostat(other, file, &found), EINVAL);
    IS(dfs_get_size(other, file, &size), EINVAL);
    IS(dfs_punch(other, file, 0, 1), EINVAL);
    IS(dfs_setxattr(other, file, "n", "v", 1, 0), EINVAL);
    IS(dfs_umount(other), 0);
    IS(daos_cont_close(container, NULL), 0);
    IS(daos_cont_destroy(pool, "other", 0, NULL), 0);

    /* That of another mount of the same container is the same thing. */
    IS(dfs_cont_get(dfs, &container), 0);
    IS(dfs_mount(pool, container, O_RDONLY, &again), 0);
    IS(dfs_ostat(again, file, &found), 0);
    IS(dfs_mkdir(again, directory, "x", 0755, 0), EPERM);
    IS(dfs_umount(again), 0);
    IS(dfs_cont_put(dfs, container), 0);
}

/* A prefix is taken away where a name ends. */
static void prefixes(void)
{
    dfs_obj_t *node;
    IS(dfs_mkdir(dfs, NULL, "bar", 0755, 0), 0);
    IS(dfs_set_prefix(dfs, "/foo"), 0);
    IS(dfs_lookup(dfs, "/foobar", O_RDONLY, &node, NULL, NULL), EINVAL);
    IS(dfs_release(look_up("/foo/bar")), 0);
    IS(dfs_release(look_up("/foo")), 0);
    IS(dfs_set_prefix(dfs, "/"), 0);
    IS(dfs_release(look_up("/bar")), 0);
    IS(dfs_set_prefix(dfs, NULL), 0);
}

/* What no file could be made with makes no container. */
static void classes(daos_handle_t pool)
{
    struct daos_prop_entry entry = {.dpe_type = DAOS_PROP_CO_REDUN_FAC, .dpe_val = 1};
    daos_prop_t prop = {.dpp_nr = 1, .dpp_entries = &entry};
    dfs_attr_t wrong[] = {
        {.da_oclass_id = OC_RP_2G1}, {.da_dir_oclass_id = OC_RP_2G1}, {.da_file_oclass_id = OC_EC_2P1G1}, {.da_props = &prop}};
    daos_handle_t container;
    dfs_t *other;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        IS(dfs_cont_create_with_label(pool, "classes", &wrong[i], NULL, &container, &other), EINVAL);
        IS(daos_cont_open(pool, "classes", DAOS_COO_RO, &container, NULL, NULL), -DER_NONEXIST);
    }
}

/* A directory does not come to be below itself. */
static void below_itself(void)
{
    IS(dfs_mkdir(dfs, NULL, "a", 0755, 0), 0);
    dfs_obj_t *a = look_up("/a");
    IS(dfs_mkdir(dfs, a, "b", 0755, 0), 0);
    dfs_obj_t *b = look_up("/a/b");
    IS(dfs_mkdir(dfs, b, "c", 0755, 0), 0);
    dfs_obj_t *c = look_up("/a/b/c");
    IS(dfs_mkdir(dfs, c, "d", 0755, 0), 0);
    IS(dfs_move(dfs, NULL, "a", c, "a", NULL), EINVAL);
    IS(dfs_move(dfs, NULL, "a", c, "d", NULL), EINVAL);
    IS(dfs_exchange(dfs, NULL, "a", c, "d"), EINVAL);
    IS(dfs_exchange(dfs, c, "d", NULL, "a"), EINVAL);
    /* Where a directory was moved to counts, and where it was exchanged to. */
    IS(dfs_move(dfs, a, "b", NULL, "b", NULL), 0);
    IS(dfs_move(dfs, NULL, "a", c, "a", NULL), 0);
    IS(dfs_move(dfs, NULL, "b", a, "b", NULL), EINVAL);
    IS(dfs_exchange(dfs, c, "a", NULL, "bar"), 0);
    IS(dfs_move(dfs, NULL, "b", a, "b", NULL), 0);
    IS(dfs_release(a), 0);
    IS(dfs_release(b), 0);
    IS(dfs_release(c), 0);
    IS(dfs_remove(dfs, NULL, "bar", true, NULL), 0);
}

/* Handles that are not closed show when the container and the pool are destroyed without force. */
static void left_open(const char *label)
{
    daos_handle_t container;
    d_iov_t global = {0};
    dfs_t *other;
    IS(dfs_local2global_all(dfs, &global), 0);
    global.iov_buf = malloc(global.iov_buf_len);
    global.iov_len = global.iov_buf_len;
    IS(dfs_local2global_all(dfs, &global), 0);
    ((char *)global.iov_buf)[global.iov_len - 1] = 'x';
    IS(dfs_global2local_all(0, global, &other), EINVAL);
    free(global.iov_buf);
    IS(dfs_init(), 0);
    IS(dfs_connect(label, NULL, "edges", O_RDWR, NULL, &other), 0);
    IS(dfs_cont_get(other, &container), 0);
    IS(dfs_cont_put(other, container), 0);
    IS(daos_cont_close(container, NULL), 0);
    IS(dfs_disconnect(other), EINVAL);
    IS(dfs_disconnect(other), EINVAL);
    IS(dfs_fini(), 0);
}

/* Two threads that do something at the same moment. */
static pthread_barrier_t both;
static dfs_obj_t *mine, *theirs;
static int outcomes[2];

/* A container that only says that it is a file system is none for a mount; who connects to make one makes it. */
static void without_superblock(daos_handle_t pool, const char *label)
{
    daos_prop_t *prop = daos_prop_alloc(1);
    daos_handle_t container;
    dfs_t *mounted;
    prop->dpp_entries[0].dpe_type = DAOS_PROP_CO_LAYOUT_TYPE;
    prop->dpp_entries[0].dpe_val = DAOS_PROP_CO_LAYOUT_POSIX;
    IS(daos_cont_create_with_label(pool, "bare", prop, NULL, NULL), 0);
    daos_prop_free(prop);
    IS(daos_cont_open(pool, "bare", DAOS_COO_RW, &container, NULL, NULL), 0);
    IS(dfs_mount(pool, container, O_RDWR, &mounted), ENOENT);
    IS(dfs_init(), 0);
    IS(dfs_connect(label, NULL, "bare", O_RDWR, NULL, &mounted), ENOENT);
    IS(dfs_connect(label, NULL, "bare", O_RDONLY | O_CREAT, NULL, &mounted), ENOENT);
    IS(dfs_connect(label, NULL, "bare", O_RDWR | O_CREAT, NULL, &mounted), 0);
    IS(dfs_mkdir(mounted, NULL, "d", 0755, 0), 0);
    IS(dfs_disconnect(mounted), 0);
    IS(dfs_mount(pool, container, O_RDWR, &mounted), 0);
    IS(dfs_mkdir(mounted, NULL, "d", 0755, 0), EEXIST);
    IS(dfs_umount(mounted), 0);
    IS(dfs_fini(), 0);
    IS(daos_cont_close(container, NULL), 0);
    IS(daos_cont_destroy(pool, "bare", 0, NULL), 0);
}

static int append(void)
{
    return write_to(mine, 100, "0123456789", 10);
}

static int punch(void)
{
    return dfs_punch(dfs, theirs, 0, 100);
}

static int move_one(void)
{
    return dfs_move(dfs, NULL, "one", theirs, "one", NULL);
}

static int move_other(void)
{
    return dfs_move(dfs, NULL, "other", mine, "other", NULL);
}

struct racer {
    int (*call)(void);
    int outcome;
};

static void *race(void *argument)
{
    struct racer *racer = argument;
    pthread_barrier_wait(&both);
    racer->outcome = racer->call();
    return NULL;
}

static void at_once(int (*one)(void), int (*other)(void))
{
    struct racer racers[] = {{.call = one}, {.call = other}};
    pthread_t threads[2];
    for (int at = 0; at < 2; at++)
        pthread_create(&threads[at], NULL, race, &racers[at]);
    for (int at = 0; at < 2; at++) {
        pthread_join(threads[at], NULL);
        outcomes[at] = racers[at].outcome;
    }
}

static void races(void)
{
    daos_size_t size;
    pthread_barrier_init(&both, NULL, 2);
    /* What is appended beside a punch up to the end stays. */
    mine = open_file("log");
    IS(dfs_dup(dfs, mine, O_RDWR, &theirs), 0);
    for (int round = 0; round < 300; round++) {
        IS(dfs_punch(dfs, mine, 0, DFS_MAX_FSIZE), 0);
        IS(write_to(mine, 99, "x", 1), 0);
        at_once(append, punch);
        IS(outcomes[0] == 0 && outcomes[1] == 0, 1);
        IS(dfs_get_size(dfs, mine, &size), 0);
        IS(size, 110);
    }
    IS(dfs_release(mine), 0);
    IS(dfs_release(theirs), 0);
    /* Of two directories that are moved into each other one is. */
    IS(dfs_mkdir(dfs, NULL, "one", 0755, 0), 0);
    IS(dfs_mkdir(dfs, NULL, "other", 0755, 0), 0);
    mine = look_up("/one");
    theirs = look_up("/other");
    for (int round = 0; round < 50; round++) {
        at_once(move_one, move_other);
        IS((outcomes[0] == 0) + (outcomes[1] == 0), 1);
        if (outcomes[0] == 0)
            IS(dfs_move(dfs, theirs, "one", NULL, "one", NULL), 0);
        else
            IS(dfs_move(dfs, mine, "other", NULL, "other", NULL), 0);
    }
    IS(dfs_release(mine), 0);
    IS(dfs_release(theirs), 0);
    pthread_barrier_destroy(&both);
}

int main(int argc, char **argv)
{
    daos_handle_t container;
    daos_pool_info_t info = {0};
    dfs_obj_t *directory, *gone;
    dfs_t *unmounted;

    if (argc != 2)
        return 2;
    daos_handle_t pool = begin(argv[1]);
    IS(daos_pool_query(pool, NULL, &info, NULL, NULL), 0);
    IS(dfs_cont_create_with_label(pool, "edges", NULL, NULL, &container, &dfs), 0);
    IS(dfs_mount(pool, container, O_RDWR, &unmounted), 0);
    IS(dfs_umount(unmounted), 0);
    dfs_obj_t *file = open_file("f");
    IS(dfs_open(dfs, NULL, "d", S_IFDIR | 0755, O_RDWR | O_CREAT, 0, 0, NULL, &directory), 0);
    IS(dfs_dup(dfs, file, O_RDWR, &gone), 0);
    IS(dfs_release(gone), 0);
    stale(gone, unmounted);
    arguments(file, directory);
    successor();
    failing_release(container);
    of_another(pool, file, directory);
    prefixes();
    classes(pool);
    below_itself();
    races();
    without_superblock(pool, argv[1]);
    left_open(argv[1]);
    IS(dfs_release(file), 0);
    IS(dfs_release(directory), 0);
    IS(dfs_umount(dfs), 0);
    IS(daos_cont_close(container, NULL), 0);
    IS(daos_cont_destroy(pool, "edges", 0, NULL), 0);
    IS(daos_pool_disconnect(pool, NULL), 0);
    IS(dmg_pool_destroy(NULL, info.pi_uuid, NULL, 0), 0);
    IS(daos_fini(), 0);
    return failures != 0;
}
