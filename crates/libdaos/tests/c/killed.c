/* Containers that are file systems, made by processes that are killed at it: each is whole, or not there.
 *
 *   killed POOL ROUNDS
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <daos_fs.h>

#include "fixtures.h"

enum { MOST = 4096, SNAPSHOTS = 7 };

static daos_handle_t pool;

static void make_until_killed(int ready)
{
    for (int at = 0; at < MOST; at++) {
        char label[32];
        dfs_attr_t attributes = {.da_props = daos_prop_alloc(1)};
        daos_handle_t container;
        attributes.da_props->dpp_entries[0].dpe_type = DAOS_PROP_CO_SNAPSHOT_MAX;
        attributes.da_props->dpp_entries[0].dpe_val = SNAPSHOTS;
        snprintf(label, sizeof label, "container-%d", at);
        IS(dfs_cont_create_with_label(pool, label, &attributes, NULL, &container, NULL), 0);
        IS(daos_cont_close(container, NULL), 0);
        daos_prop_free(attributes.da_props);
        if (at == 0)
            IS(write(ready, "", 1), 1);
    }
}

/* Looks at each container that there is, and removes it. */
static void look(void)
{
    static struct daos_pool_cont_info found[MOST];
    daos_size_t count = MOST;
    IS(daos_pool_list_cont(pool, &count, found, NULL), 0);
    IS(count > 0, 1);
    for (daos_size_t at = 0; at < count; at++) {
        daos_prop_t *prop = daos_prop_alloc(2);
        dfs_t *dfs;
        prop->dpp_entries[0].dpe_type = DAOS_PROP_CO_LAYOUT_TYPE;
        prop->dpp_entries[1].dpe_type = DAOS_PROP_CO_SNAPSHOT_MAX;
        daos_handle_t container = open_container(pool, found[at].pci_label);
        IS(daos_cont_query(container, NULL, prop, NULL), 0);
        IS(prop->dpp_entries[0].dpe_val, DAOS_PROP_CO_LAYOUT_POSIX);
        IS(prop->dpp_entries[1].dpe_val, SNAPSHOTS);
        int rc = dfs_mount(pool, container, O_RDWR, &dfs);
        IS(rc, 0);
        IS(rc == 0 ? dfs_umount(dfs) : 0, 0);
        IS(daos_cont_close(container, NULL), 0);
        IS(daos_cont_destroy(pool, found[at].pci_label, 0, NULL), 0);
        daos_prop_free(prop);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    for (int round = 0; round < atoi(argv[2]); round++) {
        int ready[2], status = 0;
        char byte;
        IS(pipe(ready), 0);
        pid_t maker = fork();
        if (maker == 0) {
            pool = begin(argv[1]);
            IS(dfs_init(), 0);
            make_until_killed(ready[1]);
            _exit(1);
        }
        IS(read(ready[0], &byte, 1), 1);
        usleep((unsigned int)(rand() % 5000));
        kill(maker, SIGKILL);
        waitpid(maker, &status, 0);
        IS(WIFSIGNALED(status), 1);
        close(ready[0]);
        close(ready[1]);
        pid_t looker = fork();
        if (looker == 0) {
            pool = begin(argv[1]);
            IS(dfs_init(), 0);
            look();
            _exit(failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
        }
        waitpid(looker, &status, 0);
        IS(status, 0);
    }
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
