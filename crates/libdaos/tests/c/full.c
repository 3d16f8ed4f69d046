/* A disk that is full for a while: a call that failed for lack of space never takes effect later, and other calls are not disturbed.
 *
 *   full POOL
 *
 * A limit on the size of files stands for the full disk: the log of the container is longer than it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <daos_fs.h>

#include "fixtures.h"

enum { LIMIT = 32 << 10 };

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    IS(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    IS(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Makes the log longer than the limit. */
static void lengthen(daos_handle_t map)
{
    char value[1000] = {0}, name[16];
    for (int number = 0; number < 2 * LIMIT / (int)sizeof(value); number++) {
        snprintf(name, sizeof(name), "filler%d", number);
        IS(daos_kv_put(map, DAOS_TX_NONE, 0, name, sizeof(value), value, NULL), 0);
    }
}

static char value_of(daos_handle_t map, const char *name)
{
    char value = '-';
    daos_size_t size = 1;
    IS(daos_kv_get(map, DAOS_TX_NONE, 0, name, &size, &value, NULL), 0);
    return value;
}

static void keys(daos_handle_t pool)
{
    daos_handle_t first = new_container(pool, "keys"), second = open_container(pool, "keys");
    daos_handle_t map = open_map(first, 1), same = open_map(second, 1);
    IS(daos_kv_put(map, DAOS_TX_NONE, 0, "old", 1, "o", NULL), 0);
    lengthen(map);

    limit_files(LIMIT);
    IS(daos_kv_put(map, DAOS_TX_NONE, 0, "k", 1, "1", NULL), -DER_NOSPACE);
    IS(value_of(map, "old"), 'o');
    limit_files(RLIM_INFINITY);

    IS(daos_kv_put(same, DAOS_TX_NONE, 0, "k", 1, "2", NULL), 0);
    IS(value_of(map, "old"), 'o');
    IS(value_of(same, "k"), '2');
    IS(value_of(map, "k"), '2');
    IS(daos_kv_put(map, DAOS_TX_NONE, 0, "k", 1, "3", NULL), 0);
    IS(value_of(same, "k"), '3');

    IS(daos_kv_close(map, NULL), 0);
    IS(daos_kv_close(same, NULL), 0);
    IS(daos_cont_close(first, NULL), 0);
    IS(daos_cont_close(second, NULL), 0);
}

static void files(daos_handle_t pool)
{
    daos_handle_t container;
    dfs_t *dfs;
    dfs_obj_t *old, *new;
    char bytes[4] = "text", found[8] = {0};
    d_sg_list_t *list = LIST(bytes, sizeof(bytes)), *into = LIST(found, sizeof(found));
    daos_size_t size;
    struct stat about;
    char name[16];

    IS(dfs_cont_create_with_label(pool, "files", NULL, NULL, &container, &dfs), 0);
    IS(dfs_open(dfs, NULL, "old", S_IFREG | 0644, O_CREAT | O_RDWR, 0, 0, NULL, &old), 0);
    IS(dfs_open(dfs, NULL, "new", S_IFREG | 0644, O_CREAT | O_RDWR, 0, 0, NULL, &new), 0);
    IS(dfs_write(dfs, old, list, 0, NULL), 0);
    for (int number = 0; number < 200; number++) {
        snprintf(name, sizeof(name), "filler%d", number);
        IS(dfs_mkdir(dfs, NULL, name, 0755, 0), 0);
    }

    limit_files(LIMIT);
    IS(dfs_write(dfs, new, list, 0, NULL), ENOSPC);
    IS(dfs_read(dfs, old, into, 0, &size, NULL), 0);
    IS(size, 4);
    IS(dfs_stat(dfs, NULL, "old", &about), 0);
    limit_files(RLIM_INFINITY);

    IS(dfs_stat(dfs, NULL, "new", &about), 0);
    IS(about.st_size, 0);
    IS(dfs_write(dfs, new, list, 4, NULL), 0);
    IS(dfs_read(dfs, new, into, 0, &size, NULL), 0);
    IS(size, 8);
    IS(memcmp(found, "\0\0\0\0text", 8), 0);

    IS(dfs_release(old), 0);
    IS(dfs_release(new), 0);
    IS(dfs_umount(dfs), 0);
    IS(daos_cont_close(container, NULL), 0);
}

int main(int count, char **words)
{
    if (count != 2)
        return 2;
    /* A write beyond the limit fails instead of ending the process. */
    signal(SIGXFSZ, SIG_IGN);
    daos_handle_t pool = begin(words[1]);
    keys(pool);
    files(pool);
    return end(pool);
}
