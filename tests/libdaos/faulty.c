/* A libdaos before the libdaos, for tests of programs that load it: calls fail when it is told so, and operations with an event end
 * later, on threads of their own, as they do where a network lies between. What is not here is found in the library behind it.
 *
 * FAULTS=NAME:FIRST-LAST:NUMBER,...   the calls of a function that fail, counted from 1, and DAOS's number of the error
 * FAULTS_AFTER=...                    the same, of calls that are done and fail all the same
 * FAULTS_LATE=1                       operations with an event end late, in any order
 * FAULTS_UNCLEAN=1                    containers have lost something: opened by those who say that they know
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <daos.h>

static void *behind(const char *name)
{
	void *library = dlopen("libdaos.so.2", RTLD_NOW);
	void *found = library == NULL ? NULL : dlsym(library, name);

	if (found == NULL) {
		fprintf(stderr, "faulty: %s\n", dlerror());
		abort();
	}
	return found;
}

#define BEHIND(name) ((__typeof__(&name))behind(#name))

static int is_set(const char *variable)
{
	return getenv(variable) != NULL;
}

/* The error that a variable names for the n-th call of a function; 0 if none. */
static int fault(const char *variable, const char *name, long nth)
{
	const char *faults = getenv(variable);

	while (faults != NULL && *faults != '\0') {
		char wanted[64];
		long first, last;
		int number;

		if (sscanf(faults, "%63[^:]:%ld-%ld:%d", wanted, &first, &last, &number) != 4) {
			fprintf(stderr, "faulty: %s=%s: expected NAME:FIRST-LAST:NUMBER\n", variable, faults);
			abort();
		}
		if (strcmp(wanted, name) == 0 && nth >= first && nth <= last)
			return -number;
		faults = strchr(faults, ',');
		faults = faults == NULL ? NULL : faults + 1;
	}
	return 0;
}

#define COUNTED(variable, name)                                                                                            \
	({ static long calls; fault(variable, name, __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST)); })
#define FAULT(name) COUNTED("FAULTS", name)
#define FAULT_AFTER(name) COUNTED("FAULTS_AFTER", name)

int daos_tx_commit(daos_handle_t th, daos_event_t *ev)
{
	int rc = FAULT("daos_tx_commit");

	if (rc == 0)
		rc = BEHIND(daos_tx_commit)(th, ev);
	return rc != 0 ? rc : FAULT_AFTER("daos_tx_commit");
}

int daos_pool_connect(const char *pool, const char *sys, unsigned int flags, daos_handle_t *poh, daos_pool_info_t *info,
		      daos_event_t *ev)
{
	int rc = FAULT("daos_pool_connect");

	return rc != 0 ? rc : BEHIND(daos_pool_connect2)(pool, sys, flags, poh, info, ev);
}

int daos_cont_open(daos_handle_t poh, const char *cont, unsigned int flags, daos_handle_t *coh, daos_cont_info_t *info,
		   daos_event_t *ev)
{
	int rc = FAULT("daos_cont_open");

	if (rc == 0 && is_set("FAULTS_UNCLEAN") && !(flags & DAOS_COO_FORCE))
		rc = -DER_RF;
	return rc != 0 ? rc : BEHIND(daos_cont_open2)(poh, cont, flags, coh, info, ev);
}

/* An operation with its arguments, and the event that tells of its end. */
struct operation {
	int (*run)(struct operation *, daos_event_t *);
	daos_handle_t oh, th;
	uint64_t flags;
	daos_key_t *dkey;
	unsigned int nr;
	void *iods;
	d_sg_list_t *sgls;
	daos_event_t *ev;
};

/* Events of a queue that have come. */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t came;
	daos_event_t *events[4096];
	unsigned int count, under_way;
};

static struct queue *queue_of(daos_event_t *ev)
{
	return (struct queue *)ev->ev_private.space[0];
}

static void *end_late(void *argument)
{
	struct operation *operation = argument;
	struct queue *queue = queue_of(operation->ev);
	unsigned int seed = (unsigned int)(uintptr_t)operation;

	usleep(rand_r(&seed) % 3000);
	int rc = operation->run(operation, NULL);

	usleep(rand_r(&seed) % 1000);
	pthread_mutex_lock(&queue->lock);
	operation->ev->ev_error = rc;
	queue->events[queue->count++] = operation->ev;
	queue->under_way--;
	pthread_cond_broadcast(&queue->came);
	pthread_mutex_unlock(&queue->lock);
	free(operation);
	return NULL;
}

static int begin(const struct operation *operation)
{
	struct operation *kept = malloc(sizeof(*kept));
	struct queue *queue = queue_of(operation->ev);
	pthread_t thread;

	*kept = *operation;
	pthread_mutex_lock(&queue->lock);
	queue->under_way++;
	pthread_mutex_unlock(&queue->lock);
	if (pthread_create(&thread, NULL, end_late, kept) != 0)
		abort();
	pthread_detach(thread);
	return 0;
}

static int done(struct operation operation, int rc)
{
	if (rc != 0)
		return rc;
	if (is_set("FAULTS_LATE") && operation.ev != NULL)
		return begin(&operation);
	return operation.run(&operation, operation.ev);
}

static int run_read(struct operation *of, daos_event_t *ev)
{
	return BEHIND(daos_array_read)(of->oh, of->th, of->iods, of->sgls, ev);
}

static int run_write(struct operation *of, daos_event_t *ev)
{
	return BEHIND(daos_array_write)(of->oh, of->th, of->iods, of->sgls, ev);
}

static int run_fetch(struct operation *of, daos_event_t *ev)
{
	return BEHIND(daos_obj_fetch)(of->oh, of->th, of->flags, of->dkey, of->nr, of->iods, of->sgls, NULL, ev);
}

static int run_update(struct operation *of, daos_event_t *ev)
{
	return BEHIND(daos_obj_update)(of->oh, of->th, of->flags, of->dkey, of->nr, of->iods, of->sgls, ev);
}

int daos_array_read(daos_handle_t oh, daos_handle_t th, daos_array_iod_t *iod, d_sg_list_t *sgl, daos_event_t *ev)
{
	struct operation operation = {run_read, oh, th, .iods = iod, .sgls = sgl, .ev = ev};

	return done(operation, FAULT("daos_array_read"));
}

int daos_array_write(daos_handle_t oh, daos_handle_t th, daos_array_iod_t *iod, d_sg_list_t *sgl, daos_event_t *ev)
{
	struct operation operation = {run_write, oh, th, .iods = iod, .sgls = sgl, .ev = ev};

	return done(operation, FAULT("daos_array_write"));
}

int daos_obj_fetch(daos_handle_t oh, daos_handle_t th, uint64_t flags, daos_key_t *dkey, unsigned int nr, daos_iod_t *iods,
		   d_sg_list_t *sgls, daos_iom_t *ioms, daos_event_t *ev)
{
	struct operation operation = {run_fetch, oh, th, flags, dkey, nr, iods, sgls, ev};

	if (ioms != NULL)
		abort();
	return done(operation, FAULT("daos_obj_fetch"));
}

int daos_obj_update(daos_handle_t oh, daos_handle_t th, uint64_t flags, daos_key_t *dkey, unsigned int nr, daos_iod_t *iods,
		    d_sg_list_t *sgls, daos_event_t *ev)
{
	struct operation operation = {run_update, oh, th, flags, dkey, nr, iods, sgls, ev};

	return done(operation, FAULT("daos_obj_update"));
}

int daos_eq_create(daos_handle_t *eqh)
{
	if (!is_set("FAULTS_LATE"))
		return BEHIND(daos_eq_create)(eqh);

	struct queue *queue = calloc(1, sizeof(*queue));

	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->came, NULL);
	eqh->cookie = (uint64_t)(uintptr_t)queue;
	return 0;
}

int daos_eq_destroy(daos_handle_t eqh, int flags)
{
	struct queue *queue = (struct queue *)(uintptr_t)eqh.cookie;

	if (!is_set("FAULTS_LATE"))
		return BEHIND(daos_eq_destroy)(eqh, flags);
	if (queue->under_way != 0 || queue->count != 0) {
		fprintf(stderr, "faulty: a queue with %u events is destroyed\n", queue->under_way + queue->count);
		abort();
	}
	free(queue);
	return 0;
}

int daos_eq_poll(daos_handle_t eqh, int wait_running, int64_t timeout, unsigned int nevents, daos_event_t **events)
{
	struct queue *queue = (struct queue *)(uintptr_t)eqh.cookie;
	unsigned int taken = 0;

	if (!is_set("FAULTS_LATE"))
		return BEHIND(daos_eq_poll)(eqh, wait_running, timeout, nevents, events);
	pthread_mutex_lock(&queue->lock);
	while (queue->count == 0 && queue->under_way != 0)
		pthread_cond_wait(&queue->came, &queue->lock);
	while (queue->count != 0 && taken < nevents)
		events[taken++] = queue->events[--queue->count];
	pthread_mutex_unlock(&queue->lock);
	return (int)taken;
}

int daos_event_init(daos_event_t *ev, daos_handle_t eqh, daos_event_t *parent)
{
	if (!is_set("FAULTS_LATE"))
		return BEHIND(daos_event_init)(ev, eqh, parent);
	memset(ev, 0, sizeof(*ev));
	ev->ev_private.space[0] = eqh.cookie;
	return 0;
}

int daos_event_fini(daos_event_t *ev)
{
	return is_set("FAULTS_LATE") ? 0 : BEHIND(daos_event_fini)(ev);
}
