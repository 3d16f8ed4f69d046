/* Events while a call is under way, and where the library is not initialised.
 *
 *   events POOL
 */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include <daos_fs.h>

#include "fixtures.h"

static daos_handle_t map, queue;
static daos_event_t event;
static atomic_int entered, go;

static void sleep_for(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static int put(daos_event_t *with)
{
    return daos_kv_put(map, DAOS_TX_NONE, 0, "key", 5, "value", with);
}

/* Events and queues are of a library that is initialised. */
static void uninitialised(void)
{
    daos_event_t alone;
    daos_handle_t none;
    IS(daos_eq_create(&none), -DER_UNINIT);
    IS(daos_event_init(&alone, DAOS_HDL_INVAL, NULL), -DER_UNINIT);
}

static int hold(void *argument, daos_event_t *of, int result)
{
    (void)argument, (void)of, (void)result;
    entered = 1;
    while (!go)
        sleep_for(1);
    sleep_for(100);
    return 0;
}

static void *call(void *argument)
{
    (void)argument;
    IS(put(&event), 0);
    return NULL;
}

/* A call of another thread is under way until its event is complete. */
static void under_way(void)
{
    daos_event_t *found;
    pthread_t thread;
    bool is_complete = true;

    IS(daos_event_init(&event, queue, NULL), 0);
    IS(daos_event_register_comp_cb(&event, hold, NULL), 0);
    pthread_create(&thread, NULL, call, NULL);
    while (!entered)
        sleep_for(1);
    IS(daos_eq_poll(queue, 1, DAOS_EQ_NOWAIT, 1, &found), 0);
    double before = now();
    IS(daos_eq_poll(queue, 1, 100000, 1, &found), 0);
    IS(now() - before >= 0.1, 1);
    IS(daos_eq_query(queue, DAOS_EQR_WAITING, 1, &found), 1);
    IS(found == &event, 1);
    IS(daos_event_test(&event, DAOS_EQ_NOWAIT, &is_complete), 0);
    IS(is_complete, 0);
    IS(put(&event), -DER_NO_PERM);
    IS(daos_event_fini(&event), -DER_BUSY);
    IS(daos_eq_destroy(queue, 0), -DER_BUSY);
    go = 1;
    found = NULL;
    IS(daos_eq_poll(queue, 1, DAOS_EQ_WAIT, 1, &found), 1);
    IS(found == &event, 1);
    pthread_join(thread, NULL);
    IS(daos_eq_poll(queue, 1, DAOS_EQ_WAIT, 1, &found), 0);
    IS(daos_event_fini(&event), 0);
}

/* A result goes where no value was before: neither the flag nor the event is one. */
static void unwritten(void)
{
    unsigned char flag = 7;
    daos_event_t raw;

    memset(&raw, 7, sizeof(raw));
    IS(daos_event_init(NULL, queue, NULL), -DER_INVAL);
    IS(daos_event_init(&raw, queue, NULL), 0);
    IS(put(&raw), 0);
    IS(daos_event_test(&raw, DAOS_EQ_WAIT, NULL), -DER_INVAL);
    IS(daos_event_test(&raw, DAOS_EQ_WAIT, (bool *)&flag), 0);
    IS(flag, 1);
    IS(daos_event_fini(&raw), 0);
}

/* The loop with which programs take what is left. */
static void drained(void)
{
    daos_event_t events[3], *found;
    int taken = 0;

    for (int number = 0; number < 3; number++) {
        IS(daos_event_init(&events[number], queue, NULL), 0);
        IS(put(&events[number]), 0);
    }
    IS(daos_eq_poll(queue, 1, DAOS_EQ_WAIT, 1, NULL), -DER_INVAL);
    while (daos_eq_poll(queue, 1, DAOS_EQ_WAIT, 1, &found) > 0)
        taken++;
    IS(taken, 3);
    double before = now();
    IS(daos_eq_poll(queue, 0, 100000, 1, &found), 0);
    IS(now() - before >= 0.1, 1);
    for (int number = 0; number < 3; number++)
        IS(daos_event_fini(&events[number]), 0);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    /* A poll that does not end is a failure, too. */
    alarm(60);
    uninitialised();
    IS(dfs_init(), 0);
    IS(daos_eq_create(&queue), 0);
    IS(daos_eq_destroy(queue, 0), 0);
    IS(dfs_fini(), 0);
    uninitialised();
    daos_handle_t pool = begin(argv[1]), container = new_container(pool, "events");
    map = open_map(container, 1);
    IS(daos_eq_create(&queue), 0);
    unwritten();
    drained();
    under_way();
    IS(daos_eq_destroy(queue, 0), 0);
    IS(daos_kv_close(map, NULL), 0);
    IS(daos_cont_close(container, NULL), 0);
    IS(daos_cont_destroy(pool, "events", 0, NULL), 0);
    end(pool);
    uninitialised();
    return failures != 0;
}
