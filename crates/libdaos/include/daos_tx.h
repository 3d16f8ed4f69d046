/* Transactions. Reads inside one do not see its own writes. */
#ifndef ISOTACH_DAOS_TX_H
#define ISOTACH_DAOS_TX_H

#include <daos_types.h>
#include <daos_event.h>

#if defined(__cplusplus)
extern "C" {
#endif

enum {
	DAOS_TF_RDONLY = 1,
	DAOS_TF_ZERO_COPY = 2
};

int daos_tx_open(daos_handle_t coh, daos_handle_t *th, uint64_t flags, daos_event_t *ev);
int daos_tx_open_snap(daos_handle_t coh, daos_epoch_t epoch, daos_handle_t *th, daos_event_t *ev);
int daos_tx_commit(daos_handle_t th, daos_event_t *ev);
int daos_tx_abort(daos_handle_t th, daos_event_t *ev);
/* After -DER_TX_RESTART: the caller makes all its calls again. */
int daos_tx_restart(daos_handle_t th, daos_event_t *ev);
int daos_tx_close(daos_handle_t th, daos_event_t *ev);
int daos_tx_hdl2epoch(daos_handle_t th, daos_epoch_t *epoch);

#if defined(__cplusplus)
}
#endif

#endif
