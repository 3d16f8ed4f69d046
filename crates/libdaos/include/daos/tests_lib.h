/* Making and removing pools, as DAOS's own library for tests does it. Programs find these in libdaos_tests. */
#ifndef ISOTACH_DAOS_TESTS_LIB_H
#define ISOTACH_DAOS_TESTS_LIB_H

#include <daos.h>
#include <gurt/common.h>

#if defined(__cplusplus)
extern "C" {
#endif

/*
 * Make a pool of this process's user and group. prop may have its label (DAOS_PROP_PO_LABEL); svc, if given, has room
 * for rl_nr numbers of servers and gets the one there is. Configuration, system, servers and sizes are not looked at.
 */
int dmg_pool_create(const char *dmg_config_file, uid_t uid, gid_t gid, const char *grp, const d_rank_list_t *tgts,
		    daos_size_t scm_size, daos_size_t nvme_size, daos_prop_t *prop, d_rank_list_t *svc, uuid_t uuid);

/* Remove a pool with all that is in it; without force only if this process is not connected to it. */
int dmg_pool_destroy(const char *dmg_config_file, const uuid_t uuid, const char *grp, int force);

#if defined(__cplusplus)
}
#endif

#endif
