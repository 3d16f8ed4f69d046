/* A program that forks while it has things open: they stay the parent's, and the child opens anew what it needs.
 *
 *   fork POOL
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <daos_fs.h>

#include "fixtures.h"

static struct {
    daos_handle_t pool, container, kv, array, transaction, queue;
    dfs_t *dfs;
    dfs_obj_t *file;
} open_things;

static int put(daos_handle_t kv, const char *key, const char *value)
{
    return daos_kv_put(kv, DAOS_TX_NONE, 0, key, strlen(value), value, NULL);
}

static int holds(daos_handle_t kv, const char *key, const char *value)
{
    char found[16] = {0};
    daos_size_t size = sizeof(found) - 1;
    return daos_kv_get(kv, DAOS_TX_NONE, 0, key, &size, found, NULL) == 0 && strcmp(found, value) == 0;
}

static int cells(int writes, daos_handle_t array, uint64_t first, const char *bytes, size_t length)
{
    return writes ? daos_array_write(array, DAOS_TX_NONE, RANGE(first, length), LIST(bytes, length), NULL)
                  : daos_array_read(array, DAOS_TX_NONE, RANGE(first, length), LIST(bytes, length), NULL);
}

static daos_handle_t open_cells(daos_handle_t container)
{
    return open_byte_array(container, id_of(container, 2, DAOS_OT_ARRAY_BYTE), 4096);
}

/* The handles of the parent are none of the child's, which harms nothing of the parent's by trying. */
static void refused(void)
{
    char bytes[4] = "none";
    daos_size_t size = sizeof(bytes);
    struct stat found;
    IS(put(open_things.kv, "child", "no"), -DER_NO_HDL);
    IS(daos_kv_get(open_things.kv, DAOS_TX_NONE, 0, "parent", &size, bytes, NULL), -DER_NO_HDL);
    IS(cells(1, open_things.array, 0, bytes, 4), -DER_NO_HDL);
    IS(cells(0, open_things.array, 0, bytes, 4), -DER_NO_HDL);
    IS(daos_tx_commit(open_things.transaction, NULL), -DER_NO_HDL);
    IS(dfs_ostat(open_things.dfs, open_things.file, &found), EINVAL);
    IS(dfs_release(open_things.file), EINVAL);
    IS(dfs_umount(open_things.dfs), EINVAL);
    IS(daos_kv_close(open_things.kv, NULL), -DER_NO_HDL);
    IS(daos_array_close(open_things.array, NULL), -DER_NO_HDL);
    IS(daos_cont_close(open_things.container, NULL), -DER_NO_HDL);
    IS(daos_cont_destroy(open_things.pool, "fork", 1, NULL), -DER_NO_HDL);
    IS(daos_pool_disconnect(open_things.pool, NULL), -DER_NO_HDL);
    IS(daos_eq_destroy(open_things.queue, DAOS_EQ_DESTROY_FORCE), -DER_NONEXIST);
}

/* What a child does: the parent's handles are refused, what it opens itself is there. */
static int child(const char *label, const char *name, int does_reinit)
{
    daos_handle_t pool;
    char bytes[4] = "";
    daos_event_t event;
    bool complete = false;
    failures = 0;
    if (does_reinit)
        IS(daos_reinit(), 0);
    refused();
    IS(daos_pool_connect(label, NULL, DAOS_PC_RW, &pool, NULL, NULL), 0);
    /* Only of its own process it is known whether a container is open. */
    daos_handle_t container = open_container(pool, "fork");
    IS(container.cookie == open_things.container.cookie, 0);
    daos_handle_t kv = open_map(container, 1), array = open_cells(container);
    IS(holds(kv, "parent", "wrote"), 1);
    IS(cells(0, array, 0, bytes, 4), 0);
    IS(memcmp(bytes, "four", 4), 0);
    IS(put(kv, name, "wrote"), 0);
    IS(cells(1, array, 4 * (uint64_t)(name[0] - '0'), "cell", 4), 0);
    IS(daos_event_init(&event, DAOS_HDL_INVAL, NULL), 0);
    IS(daos_kv_put(kv, DAOS_TX_NONE, 0, "event", 1, "x", &event), 0);
    IS(daos_event_test(&event, DAOS_EQ_WAIT, &complete), 0);
    IS(complete && event.ev_error == 0, 1);
    IS(daos_array_close(array, NULL), 0);
    IS(daos_kv_close(kv, NULL), 0);
    IS(daos_cont_close(container, NULL), 0);
    return end(pool);
}

static pid_t forked(const char *label, const char *name, int does_reinit)
{
    pid_t process;
    fflush(NULL);
    process = fork();
    if (process == 0)
        exit(child(label, name, does_reinit));
    return process;
}

static void ends_well(pid_t process)
{
    int status = -1;
    IS(waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS, 1);
}

int main(int argc, char **argv)
{
    daos_handle_t files;
    char bytes[12] = "";
    pid_t first, second;
    int rc;
    if (argc != 2)
        return 2;
    open_things.pool = begin(argv[1]);
    open_things.container = new_container(open_things.pool, "fork");
    open_things.kv = open_map(open_things.container, 1);
    open_things.array = open_cells(open_things.container);
    IS(daos_eq_create(&open_things.queue), 0);
    IS(dfs_cont_create_with_label(open_things.pool, "files", NULL, NULL, &files, &open_things.dfs), 0);
    IS(dfs_open(open_things.dfs, NULL, "f", S_IFREG | 0644, O_RDWR | O_CREAT, 0, 0, NULL, &open_things.file), 0);
    IS(put(open_things.kv, "parent", "wrote"), 0);
    IS(cells(1, open_things.array, 0, "four", 4), 0);
    /* Not each engine has transactions. */
    rc = daos_tx_open(open_things.container, &open_things.transaction, 0, NULL);
    IS(rc == 0 || rc == -DER_NOTSUPPORTED, 1);
    IS(daos_kv_put(open_things.kv, open_things.transaction, 0, "transaction", 9, "committed", NULL), 0);

    /* Both at once, while the parent goes on. */
    first = forked(argv[1], "1", 1);
    second = forked(argv[1], "2", 0);
    IS(put(open_things.kv, "meanwhile", "wrote"), 0);
    ends_well(first);
    ends_well(second);

    IS(holds(open_things.kv, "1", "wrote") && holds(open_things.kv, "2", "wrote"), 1);
    IS(holds(open_things.kv, "meanwhile", "wrote"), 1);
    IS(cells(0, open_things.array, 0, bytes, 12), 0);
    IS(memcmp(bytes, "fourcellcell", 12), 0);
    IS(put(open_things.kv, "parent", "goes on"), 0);
    IS(holds(open_things.kv, "parent", "goes on"), 1);
    if (rc == 0) {
        IS(daos_tx_commit(open_things.transaction, NULL), 0);
        IS(daos_tx_close(open_things.transaction, NULL), 0);
    }
    IS(holds(open_things.kv, "transaction", "committed"), 1);
    IS(daos_eq_destroy(open_things.queue, 0), 0);
    IS(dfs_release(open_things.file), 0);
    IS(dfs_umount(open_things.dfs), 0);
    IS(daos_cont_close(files, NULL), 0);
    IS(daos_array_close(open_things.array, NULL), 0);
    IS(daos_kv_close(open_things.kv, NULL), 0);
    IS(daos_cont_close(open_things.container, NULL), 0);
    IS(daos_cont_destroy(open_things.pool, "fork", 0, NULL), 0);
    return end(open_things.pool);
}
