/* What administrators ask of servers. The library of this project has none of it: each function that returns something returns
 * -DER_NOSYS. */
#ifndef ISOTACH_DAOS_MGMT_H
#define ISOTACH_DAOS_MGMT_H

#include <daos_types.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* A pool of a system. */
typedef struct daos_mgmt_pool_info daos_mgmt_pool_info_t;

/* What a client is told of a system. */
struct daos_sys_info;

int daos_mgmt_get_sys_info(const char *sys, struct daos_sys_info **info);
void daos_mgmt_put_sys_info(struct daos_sys_info *info);
int daos_mgmt_list_pools(const char *group, daos_size_t *npools, daos_mgmt_pool_info_t *pools, daos_event_t *ev);
int daos_mgmt_get_bs_state(const char *group, uuid_t blobstore_uuid, int *blobstore_state, daos_event_t *ev);
int daos_pool_stop_svc(daos_handle_t poh, daos_event_t *ev);

#if defined(__cplusplus)
}
#endif

#endif
