/*
 * Events and event queues. A call with an event returns 0 once it is started; ev_error holds its result when the
 * event is complete. A call without one returns its result.
 */
#ifndef ISOTACH_DAOS_EVENT_H
#define ISOTACH_DAOS_EVENT_H

#include <daos_types.h>
#include <daos_errno.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef int (*daos_event_comp_cb_t)(void *argument, daos_event_t *ev, int rc);

/* Destroy a queue even if it holds events. */
#define DAOS_EQ_DESTROY_FORCE 1

int daos_eq_create(daos_handle_t *eqh);
int daos_eq_destroy(daos_handle_t eqh, int flags);

/* Returns how many events were complete, at most nevents; timeout is in microseconds. */
int daos_eq_poll(daos_handle_t eqh, int wait_running, int64_t timeout, unsigned int nevents, daos_event_t **events);
int daos_eq_query(daos_handle_t eqh, daos_eq_query_t query, unsigned int nevents, daos_event_t **events);

int daos_event_init(daos_event_t *ev, daos_handle_t eqh, daos_event_t *parent);
int daos_event_fini(daos_event_t *ev);
/* The first child, or the one behind another; NULL behind the last. */
daos_event_t *daos_event_next(daos_event_t *parent, daos_event_t *child);
int daos_event_test(daos_event_t *ev, int64_t timeout, bool *flag);
int daos_event_parent_barrier(daos_event_t *ev);
/* Have a function called once when the event is complete; what it gives counts where the call gave 0. */
int daos_event_register_comp_cb(daos_event_t *ev, daos_event_comp_cb_t callback, void *argument);
int daos_event_abort(daos_event_t *ev);

#if defined(__cplusplus)
}
#endif

#endif
