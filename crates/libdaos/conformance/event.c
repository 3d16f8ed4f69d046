/*
 * Events and event queues.
 *
 * Events are static: the library holds on to an event until it is complete, also when a check ends before that.
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <time.h>

SUBJECT(event);

enum { IN_FLIGHT = 16, SECOND = 1000000 };

static daos_event_t events[IN_FLIGHT];
static char value[16];
static daos_size_t size;

static daos_handle_t new_queue(void)
{
    daos_handle_t queue;

    OK(daos_eq_create(&queue));
    keep(KEPT_QUEUE, queue);
    return queue;
}

static daos_event_t *init(daos_handle_t queue, daos_event_t *parent, int number)
{
    memset(&events[number], 0, sizeof(events[number]));
    OK(daos_event_init(&events[number], queue, parent));
    return &events[number];
}

static int launch_put(daos_handle_t kv, const char *key, daos_event_t *event)
{
    return daos_kv_put(kv, DAOS_TX_NONE, 0, key, 5, "value", event);
}

/* Waits until an event without a queue is complete. */
static void finish(daos_event_t *event)
{
    bool complete = false;

    for (int i = 0; i < 60 && !complete; i++)
        OK(daos_event_test(event, SECOND, &complete));
    HOLDS(complete);
}

/* Waits until one event of the queue is complete, and takes it. */
static daos_event_t *take(daos_handle_t queue)
{
    daos_event_t *complete = NULL;
    int found = 0;

    for (int i = 0; i < 60 && found == 0; i++)
        found = daos_eq_poll(queue, 0, SECOND, 1, &complete);
    EQUAL(found, 1);
    return complete;
}

CHECK(a_queue_is_created_and_destroyed, "eq_destroy of an empty queue succeeds")
{
    daos_handle_t queue;

    OK(daos_eq_create(&queue));
    OK(daos_eq_destroy(queue, 0));
}

CHECK(an_event_needs_no_queue, "event_init with an invalid handle makes a private event")
{
    OK(daos_event_fini(init(DAOS_HDL_INVAL, NULL, 0)));
}

CHECK(an_event_joins_a_queue, "event_init with the handle of a queue")
{
    OK(daos_event_fini(init(new_queue(), NULL, 0)));
}

CHECK(an_event_of_a_queue_that_is_gone_is_refused, "event_init with a bad queue gives -DER_NONEXIST")
{
    daos_handle_t queue;
    daos_event_t event;

    memset(&event, 0, sizeof(event));
    OK(daos_eq_create(&queue));
    OK(daos_eq_destroy(queue, 0));
    FAILS(daos_event_init(&event, queue, NULL), DER_NONEXIST);
}

CHECK(an_operation_with_a_private_event_completes, "the call returns 0 at once; ev_error holds the result")
{
    daos_handle_t kv = new_kv();
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    OK(launch_put(kv, "key", event));
    finish(event);
    OK(event->ev_error);
    OK(daos_event_fini(event));
    kv_holds(kv, "key", "value");
}

CHECK(a_private_event_is_used_again, "an event without a queue may be launched again after it completed")
{
    daos_handle_t kv = new_kv();
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    OK(launch_put(kv, "one", event));
    finish(event);
    OK(launch_put(kv, "two", event));
    finish(event);
    OK(event->ev_error);
    OK(daos_event_fini(event));
    kv_holds(kv, "one", "value");
    kv_holds(kv, "two", "value");
}

CHECK(an_operation_with_an_event_of_a_queue_completes, "eq_poll returns the events that are complete")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    OK(launch_put(kv, "key", event));
    HOLDS(take(queue) == event);
    OK(event->ev_error);
    OK(daos_event_fini(event));
    kv_holds(kv, "key", "value");
}

CHECK(a_fetch_with_an_event_fills_its_buffer, "out arguments are set when the event is complete")
{
    daos_handle_t kv = new_kv();
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    put_text(kv, "key", "value");
    memset(value, 0, sizeof(value));
    size = sizeof(value);
    OK(daos_kv_get(kv, DAOS_TX_NONE, 0, "key", &size, value, event));
    finish(event);
    OK(event->ev_error);
    EQUAL(size, 5);
    TEXT(value, "value");
    OK(daos_event_fini(event));
}

CHECK(a_failure_is_in_the_event, "with an event the call returns 0, the error is in ev_error")
{
    daos_handle_t kv = new_kv();
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    put_text(kv, "key", "value");
    OK(daos_kv_put(kv, DAOS_TX_NONE, DAOS_COND_KEY_INSERT, "key", 5, "other", event));
    finish(event);
    FAILS(event->ev_error, DER_EXIST);
    OK(daos_event_fini(event));
}

CHECK(a_missing_key_is_in_the_event, "with an event the call returns 0, the error is in ev_error")
{
    daos_handle_t kv = new_kv();
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    size = 0;
    OK(daos_kv_get(kv, DAOS_TX_NONE, DAOS_COND_KEY_GET, "missing", &size, NULL, event));
    finish(event);
    FAILS(event->ev_error, DER_NONEXIST);
    OK(daos_event_fini(event));
}

CHECK(an_invalid_argument_is_in_the_event, "with an event also an error of the arguments is in ev_error")
{
    daos_handle_t kv = new_kv();
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    OK(daos_kv_get(kv, DAOS_TX_NONE, 0, "key", NULL, value, event));
    finish(event);
    FAILS(event->ev_error, DER_INVAL);
    OK(daos_event_fini(event));
}

CHECK(an_event_that_is_not_ready_is_refused, "a launch with an event that is not ready gives -DER_NO_PERM")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    // Until it is polled the event is running or complete; neither is ready.
    OK(launch_put(kv, "one", event));
    FAILS(launch_put(kv, "two", event), DER_NO_PERM);
    HOLDS(take(queue) == event);
    OK(daos_event_fini(event));
}

CHECK(an_event_of_a_queue_is_used_again_after_the_poll, "a polled event is ready again")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    OK(launch_put(kv, "one", event));
    HOLDS(take(queue) == event);
    OK(launch_put(kv, "two", event));
    HOLDS(take(queue) == event);
    OK(daos_event_fini(event));
    kv_holds(kv, "two", "value");
}

CHECK(sixteen_operations_complete_once_each, "eq_poll returns every event once")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    bool seen[IN_FLIGHT] = {false};
    char key[2] = "a";

    for (int i = 0; i < IN_FLIGHT; i++)
        init(queue, NULL, i);
    for (int i = 0; i < IN_FLIGHT; i++) {
        static char keys[IN_FLIGHT][2];

        keys[i][0] = (char)('a' + i);
        OK(launch_put(kv, keys[i], &events[i]));
    }
    for (int i = 0; i < IN_FLIGHT; i++) {
        size_t index = (size_t)(take(queue) - events);

        HOLDS(index < IN_FLIGHT && !seen[index]);
        seen[index] = true;
        OK(events[index].ev_error);
        OK(daos_event_fini(&events[index]));
    }
    for (; key[0] < 'a' + IN_FLIGHT; key[0]++)
        kv_holds(kv, key, "value");
}

CHECK(a_poll_returns_at_most_the_number_asked_for, "eq_poll returns up to n events")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    daos_event_t *complete[4];
    unsigned int left = 4;

    for (int i = 0; i < 4; i++)
        init(queue, NULL, i);
    OK(launch_put(kv, "a", &events[0]));
    OK(launch_put(kv, "b", &events[1]));
    OK(launch_put(kv, "c", &events[2]));
    OK(launch_put(kv, "d", &events[3]));
    for (int i = 0; i < 60 && left > 0; i++) {
        int found = daos_eq_poll(queue, 0, SECOND, 3, complete);

        HOLDS(found >= 0 && found <= 3);
        left -= (unsigned int)found;
    }
    EQUAL(left, 0);
    for (int i = 0; i < 4; i++)
        OK(daos_event_fini(&events[i]));
}

CHECK(a_poll_that_waits_returns_an_event, "EQ_WAIT waits until an event is complete")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);
    daos_event_t *complete = NULL;

    OK(launch_put(kv, "key", event));
    EQUAL(daos_eq_poll(queue, 0, DAOS_EQ_WAIT, 1, &complete), 1);
    HOLDS(complete == event);
    OK(daos_event_fini(event));
}

CHECK(a_poll_of_an_idle_queue_returns_none, "EQ_NOWAIT returns 0 when nothing is complete")
{
    daos_event_t *complete;

    EQUAL(daos_eq_poll(new_queue(), 0, DAOS_EQ_NOWAIT, 1, &complete), 0);
}

CHECK(a_poll_of_an_idle_queue_times_out, "eq_poll returns 0 after the timeout")
{
    daos_event_t *complete;

    EQUAL(daos_eq_poll(new_queue(), 0, 1000, 1, &complete), 0);
}

CHECK(a_poll_that_waits_for_running_events_returns_at_once_where_none_is,
      "eq_poll with wait_running other than 0 returns 0 as soon as nothing is complete and nothing running")
{
    daos_event_t *complete;

    EQUAL(daos_eq_poll(new_queue(), 1, DAOS_EQ_WAIT, 1, &complete), 0);
}

CHECK(a_queue_is_drained_by_polls_that_wait_for_running_events,
      "eq_poll with wait_running other than 0 returns what is complete or running, and then 0")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    daos_event_t *complete;
    int taken = 0;

    for (int i = 0; i < 3; i++)
        init(queue, NULL, i);
    OK(launch_put(kv, "a", &events[0]));
    OK(launch_put(kv, "b", &events[1]));
    OK(launch_put(kv, "c", &events[2]));
    while (daos_eq_poll(queue, 1, DAOS_EQ_WAIT, 1, &complete) > 0)
        taken++;
    EQUAL(taken, 3);
    for (int i = 0; i < 3; i++)
        OK(daos_event_fini(&events[i]));
}

CHECK(a_poll_of_an_idle_queue_waits, "eq_poll with wait_running 0 waits, also where nothing is running")
{
    daos_event_t *complete;
    struct timespec before, after;

    clock_gettime(CLOCK_MONOTONIC, &before);
    EQUAL(daos_eq_poll(new_queue(), 0, SECOND / 5, 1, &complete), 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    HOLDS((after.tv_sec - before.tv_sec) * 10 + (after.tv_nsec - before.tv_nsec) / 100000000 >= 1);
}

CHECK(a_poll_without_a_place_is_invalid, "eq_poll with a null pointer for the events gives -DER_INVAL and takes none")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    OK(launch_put(kv, "key", event));
    FAILS(daos_eq_poll(queue, 0, DAOS_EQ_NOWAIT, 1, NULL), DER_INVAL);
    HOLDS(take(queue) == event);
    OK(daos_event_fini(event));
}

CHECK(a_poll_for_no_event_is_invalid, "eq_poll with n 0 gives -DER_INVAL")
{
    daos_event_t *complete;

    FAILS(daos_eq_poll(new_queue(), 0, DAOS_EQ_NOWAIT, 0, &complete), DER_INVAL);
}

CHECK(a_queue_with_events_is_not_destroyed, "eq_destroy of a queue with events gives -DER_BUSY")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    OK(launch_put(kv, "key", event));
    FAILS(daos_eq_destroy(queue, 0), DER_BUSY);
    HOLDS(take(queue) == event);
    OK(daos_event_fini(event));
}

CHECK(a_queue_with_events_is_destroyed_by_force, "eq_destroy with FORCE takes a queue with events")
{
    daos_handle_t queue;

    OK(daos_eq_create(&queue));
    init(queue, NULL, 0);
    OK(daos_eq_destroy(queue, DAOS_EQ_DESTROY_FORCE));
}

CHECK(a_child_has_no_children, "there is one level of parents: a second one gives -DER_NO_PERM")
{
    daos_handle_t queue = new_queue();
    daos_event_t *parent = init(queue, NULL, 0);
    daos_event_t *child = init(queue, parent, 1);

    memset(&events[2], 0, sizeof(events[2]));
    FAILS(daos_event_init(&events[2], queue, child), DER_NO_PERM);
    OK(daos_event_fini(child));
    OK(daos_event_fini(parent));
}

CHECK(a_child_is_not_tested, "event_test of a child gives -DER_NO_PERM")
{
    daos_event_t *parent = init(DAOS_HDL_INVAL, NULL, 0);
    daos_event_t *child = init(DAOS_HDL_INVAL, parent, 1);
    bool complete = false;

    FAILS(daos_event_test(child, DAOS_EQ_NOWAIT, &complete), DER_NO_PERM);
    OK(daos_event_fini(child));
    OK(daos_event_fini(parent));
}

CHECK(a_parent_completes_with_its_children, "a parent is complete when all of its children are")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    daos_event_t *parent = init(queue, NULL, 0);
    daos_event_t *first = init(queue, parent, 1);
    daos_event_t *second = init(queue, parent, 2);

    OK(launch_put(kv, "one", first));
    OK(launch_put(kv, "two", second));
    OK(daos_event_parent_barrier(parent));
    HOLDS(take(queue) == parent);
    OK(first->ev_error);
    OK(second->ev_error);
    kv_holds(kv, "one", "value");
    kv_holds(kv, "two", "value");
    OK(daos_event_fini(first));
    OK(daos_event_fini(second));
    OK(daos_event_fini(parent));
}

CHECK(a_barrier_needs_children, "event_parent_barrier of an event without children gives -DER_INVAL")
{
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    FAILS(daos_event_parent_barrier(event), DER_INVAL);
    OK(daos_event_fini(event));
}

CHECK(children_are_told_in_their_order, "event_next gives the first child, and the one behind another")
{
    daos_event_t *parent = init(DAOS_HDL_INVAL, NULL, 0);
    daos_event_t *first = init(DAOS_HDL_INVAL, parent, 1);
    daos_event_t *second = init(DAOS_HDL_INVAL, parent, 2);

    HOLDS(daos_event_next(parent, NULL) == first);
    HOLDS(daos_event_next(parent, first) == second);
    HOLDS(daos_event_next(parent, second) == NULL);
    OK(daos_event_fini(second));
    HOLDS(daos_event_next(parent, first) == NULL);
    OK(daos_event_fini(first));
    HOLDS(daos_event_next(parent, NULL) == NULL);
    OK(daos_event_fini(parent));
}

enum { CALLS_MAX = 4 };

/* What was called, in its order. */
static struct {
    void *argument;
    daos_event_t *event;
    int result;
} calls[CALLS_MAX];
static int called;

static int note(void *argument, daos_event_t *event, int result)
{
    if (called < CALLS_MAX) {
        calls[called].argument = argument;
        calls[called].event = event;
        calls[called].result = result;
    }
    called++;
    return 0;
}

static int note_and_fail(void *argument, daos_event_t *event, int result)
{
    note(argument, event, result);
    return -DER_MISC;
}

CHECK(a_function_is_called_when_the_event_is_complete,
      "event_register_comp_cb: the function gets its argument, the event and the result")
{
    daos_handle_t kv = new_kv();
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    called = 0;
    OK(daos_event_register_comp_cb(event, note, &calls));
    EQUAL(called, 0);
    OK(launch_put(kv, "one", event));
    finish(event);
    EQUAL(called, 1);
    HOLDS(calls[0].argument == &calls && calls[0].event == event);
    OK(calls[0].result);
    OK(daos_event_fini(event));
}

CHECK(a_function_is_called_before_the_event_is_polled, "functions are called when the event is complete, not by the poll alone")
{
    daos_handle_t kv = new_kv();
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    called = 0;
    OK(daos_event_register_comp_cb(event, note, NULL));
    OK(launch_put(kv, "one", event));
    HOLDS(take(queue) == event);
    EQUAL(called, 1);
    OK(daos_event_fini(event));
}

CHECK(a_function_is_told_of_a_failure, "the function gets what ev_error will be")
{
    daos_handle_t kv = new_kv();
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    called = 0;
    put_text(kv, "key", "value");
    OK(daos_event_register_comp_cb(event, note, NULL));
    OK(daos_kv_put(kv, DAOS_TX_NONE, DAOS_COND_KEY_INSERT, "key", 5, "other", event));
    finish(event);
    EQUAL(called, 1);
    FAILS(calls[0].result, DER_EXIST);
    FAILS(event->ev_error, DER_EXIST);
    OK(daos_event_fini(event));
}

CHECK(functions_are_called_once_in_their_order, "a function that was called is registered no more")
{
    daos_handle_t kv = new_kv();
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    called = 0;
    OK(daos_event_register_comp_cb(event, note, &calls[0]));
    OK(daos_event_register_comp_cb(event, note, &calls[1]));
    OK(launch_put(kv, "one", event));
    finish(event);
    EQUAL(called, 2);
    HOLDS(calls[0].argument == &calls[0] && calls[1].argument == &calls[1]);
    OK(launch_put(kv, "two", event));
    finish(event);
    EQUAL(called, 2);
    OK(daos_event_fini(event));
}

CHECK(the_failure_of_a_function_is_that_of_the_event, "where the call succeeded, ev_error is what the first function gives other than 0")
{
    daos_handle_t kv = new_kv();
    daos_event_t *event = init(DAOS_HDL_INVAL, NULL, 0);

    called = 0;
    OK(daos_event_register_comp_cb(event, note_and_fail, NULL));
    OK(daos_event_register_comp_cb(event, note, NULL));
    OK(launch_put(kv, "one", event));
    finish(event);
    EQUAL(called, 2);
    OK(calls[1].result);
    FAILS(event->ev_error, DER_MISC);
    OK(daos_event_fini(event));
}

CHECK(a_function_of_a_parent_is_called_when_its_children_are_complete, "a barrier calls what is registered, too")
{
    daos_handle_t kv = new_kv();
    daos_event_t *parent = init(DAOS_HDL_INVAL, NULL, 0);
    daos_event_t *child = init(DAOS_HDL_INVAL, parent, 1);

    called = 0;
    OK(daos_event_register_comp_cb(parent, note, NULL));
    OK(launch_put(kv, "one", child));
    EQUAL(called, 0);
    OK(daos_event_parent_barrier(parent));
    finish(parent);
    EQUAL(called, 1);
    HOLDS(calls[0].event == parent);
    OK(daos_event_fini(child));
    OK(daos_event_fini(parent));
}
