/* Pools that a program makes and removes itself, as with DAOS's library for tests.
 *
 *   pools FOLDER
 *
 * FOLDER is where they are.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <daos/tests_lib.h>

#include "expect.h"


static int make(const char *label, d_rank_list_t *service, uuid_t uuid)
{
    daos_prop_t *prop = NULL;
    int rc;
    if (label != NULL) {
        prop = daos_prop_alloc(1);
        prop->dpp_entries[0].dpe_type = DAOS_PROP_PO_LABEL;
        D_STRNDUP(prop->dpp_entries[0].dpe_str, label, DAOS_PROP_LABEL_MAX_LEN);
    }
    rc = dmg_pool_create("/etc/daos/control.yml", geteuid(), getegid(), NULL, NULL, 1ULL << 30, 0, prop, service, uuid);
    daos_prop_free(prop);
    return rc;
}

static void text_of(const uuid_t uuid, char text[37])
{
    for (int i = 0; i < 16; i++)
        text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
}

static void connects(const char *name, const uuid_t uuid)
{
    daos_pool_info_t info = {0};
    daos_handle_t pool;
    IS(daos_pool_connect(name, NULL, DAOS_PC_RW, &pool, &info, NULL), 0);
    IS(memcmp(info.pi_uuid, uuid, 16), 0);
    IS(daos_cont_create_with_label(pool, "container", NULL, NULL, NULL), 0);
    IS(dmg_pool_destroy(NULL, uuid, NULL, 0), -DER_BUSY);
    IS(daos_cont_destroy(pool, "container", 0, NULL), 0);
    IS(daos_pool_disconnect(pool, NULL), 0);
}

/* A pool whose making was cut off, or is not at its end, is none yet; it can be made, and what is left of it be removed. */
static void half_made(const char *folder)
{
    uuid_t uuid;
    daos_handle_t pool;
    char path[4096], below[4096];
    snprintf(path, sizeof path, "%s/half", folder);
    snprintf(below, sizeof below, "%s/half/containers", folder);
    for (int depth = 0; depth < 2; depth++) {
        IS(mkdir(path, 0777), 0);
        IS(depth == 0 ? 0 : mkdir(below, 0777), 0);
        IS(daos_pool_connect("half", NULL, DAOS_PC_RW, &pool, NULL, NULL), -DER_NONEXIST);
        IS(make("half", NULL, uuid), 0);
        connects("half", uuid);
        IS(dmg_pool_destroy(NULL, uuid, NULL, 0), 0);
        IS(mkdir(path, 0777), 0);
        IS(depth == 0 ? 0 : mkdir(below, 0777), 0);
        IS(dmg_pool_destroy(NULL, uuid, NULL, 0), -DER_NONEXIST);
        if (depth == 0)
            rmdir(path);
        IS(access(path, F_OK), -1);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    uuid_t labelled, again, unlabelled;
    char text[37];
    daos_handle_t pool;
    d_rank_list_t service = {.rl_nr = 3};

    /* Who makes pools need not have called daos_init. */
    D_ALLOC_ARRAY(service.rl_ranks, service.rl_nr);
    service.rl_ranks[0] = 9;
    IS(make("made", &service, labelled), 0);
    IS(service.rl_nr == 1 && service.rl_ranks[0] == 0, 1);
    D_FREE(service.rl_ranks);
    IS(service.rl_ranks == NULL, 1);
    IS(daos_init(), 0);
    IS(make("made", NULL, again), -DER_EXIST);
    IS(make("no/label", NULL, again), -DER_INVAL);
    IS(make("00000000-0000-4000-8000-000000000000", NULL, again), -DER_INVAL);
    IS(dmg_pool_create(NULL, geteuid() + 1, getegid(), NULL, NULL, 0, 0, NULL, NULL, again), -DER_NOTSUPPORTED);
    IS(make(NULL, NULL, unlabelled), 0);

    connects("made", labelled);
    text_of(labelled, text);
    connects(text, labelled);
    text_of(unlabelled, text);
    connects(text, unlabelled);

    IS(dmg_pool_destroy(NULL, NULL, NULL, 0), -DER_INVAL);
    IS(dmg_pool_destroy(NULL, unlabelled, NULL, 0), 0);
    IS(daos_pool_connect(text, NULL, DAOS_PC_RW, &pool, NULL, NULL), -DER_NONEXIST);
    IS(dmg_pool_destroy(NULL, unlabelled, NULL, 0), -DER_NONEXIST);
    IS(daos_pool_connect("made", NULL, DAOS_PC_RW, &pool, NULL, NULL), 0);
    IS(dmg_pool_destroy(NULL, labelled, NULL, 1), 0);
    IS(daos_pool_disconnect(pool, NULL), 0);
    IS(daos_pool_connect("made", NULL, DAOS_PC_RW, &pool, NULL, NULL), -DER_NONEXIST);
    half_made(argv[1]);
    IS(daos_fini(), 0);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
