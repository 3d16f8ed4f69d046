/* fdb_list as older programs call it: with four arguments, or with those in their first order. */
#ifndef OLDER_H
#define OLDER_H

#include <dlfcn.h>
#include <fdb5/api/fdb_c.h>
#include <string.h>

typedef int (*list_of_four_t)(fdb_handle_t *, const fdb_request_t *, fdb_listiterator_t **, bool);
typedef int (*list_of_old_t)(fdb_handle_t *, const fdb_request_t *, bool, fdb_listiterator_t **);

static list_of_four_t list_of_four;
static list_of_old_t list_of_old;

/* Finds the function by its name, as the loader does for these programs. */
static inline void find_older(void)
{
    void *found = dlsym(RTLD_DEFAULT, "fdb_list");
    memcpy(&list_of_four, &found, sizeof(found));
    memcpy(&list_of_old, &found, sizeof(found));
}

#endif
