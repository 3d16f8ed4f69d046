/*
 * The DAOS client interface, as this project's libdaos has it. It declares what DAOS 2.0 to 2.8 declare: a program
 * that was compiled with either set of headers runs on either library. This file includes all the others but those of
 * the file system, of names in the system's files (daos_uns.h) and of libgurt (gurt/common.h), as DAOS's does.
 */
#ifndef ISOTACH_DAOS_H
#define ISOTACH_DAOS_H

#include <daos_version.h>
#include <daos_types.h>
#include <daos_errno.h>
#include <daos_event.h>
#include <daos_prop.h>
#include <daos_security.h>
#include <daos_obj_class.h>
#include <daos_obj.h>
#include <daos_cont.h>
#include <daos_pool.h>
#include <daos_api.h>
#include <daos_kv.h>
#include <daos_array.h>
#include <daos_mgmt.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Start the library. Calls are counted: the last daos_fini ends it. */
int daos_init(void);
int daos_fini(void);

/* Start the library anew in a process that was forked from one that used it. */
int daos_reinit(void);

#if defined(__cplusplus)
}
#endif

#endif
