/* Processes that make the same pool at once where there is none: one makes it, and all connect.
 *
 *   pool_race ROUNDS
 */
#define _XOPEN_SOURCE 700
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <daos/tests_lib.h>

#include "expect.h"

enum { PROCESSES = 6 };

static int make(const char *label)
{
    uuid_t uuid;
    daos_prop_t *prop = daos_prop_alloc(1);
    prop->dpp_entries[0].dpe_type = DAOS_PROP_PO_LABEL;
    prop->dpp_entries[0].dpe_str = strdup(label);
    int rc = dmg_pool_create(NULL, geteuid(), getegid(), NULL, NULL, 0, 0, prop, NULL, uuid);
    daos_prop_free(prop);
    return rc;
}

static void take_part(int rounds, int go)
{
    char byte;
    IS(daos_init(), 0);
    IS(read(go, &byte, 1), 0);
    for (int round = 0; round < rounds; round++) {
        char label[32];
        daos_handle_t pool;
        snprintf(label, sizeof label, "race-%d", round);
        int rc = daos_pool_connect(label, NULL, DAOS_PC_RW, &pool, NULL, NULL);
        if (rc != 0) {
            IS(rc, -DER_NONEXIST);
            rc = make(label);
            IS(rc == 0 || rc == -DER_EXIST, 1);
            IS(daos_pool_connect(label, NULL, DAOS_PC_RW, &pool, NULL, NULL), 0);
        }
        IS(daos_pool_disconnect(pool, NULL), 0);
    }
    IS(daos_fini(), 0);
}

int main(int argc, char **argv)
{
    int go[2], status;
    if (argc < 2)
        return 2;
    IS(pipe(go), 0);
    for (int at = 0; at < PROCESSES; at++)
        if (fork() == 0) {
            close(go[1]);
            take_part(atoi(argv[1]), go[0]);
            _exit(failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
        }
    close(go[1]);
    for (int at = 0; at < PROCESSES; at++) {
        wait(&status);
        IS(status, 0);
    }
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
