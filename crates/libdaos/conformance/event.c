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
    return keep(KEPT_QUEUE, queue);
}

static daos_event_t *init(daos_handle_t queue, daos_event_t *parent, int number)
{
    memset(&events[number], 0, sizeof(events[number]));
    OK(daos_event_init(&events[number], queue, parent));
    return &events[number];
}

static daos_event_t *new_event(void)
{
    return init(DAOS_HDL_INVAL, NULL, 0);
}

/* Ends so many events: a parent has a lower number than its children. */
static void end(int count)
{
    while (count-- > 0)
        OK(daos_event_fini(&events[count]));
}

static int launch_put(const char *key, daos_event_t *event)
{
    return daos_kv_put(kv(), DAOS_TX_NONE, 0, key, 5, "value", event);
}

/* Makes so many events of the queue, and launches a put under another key with each. */
static void launch_all(daos_handle_t queue, int count)
{
    static char keys[IN_FLIGHT][2];

    for (int i = 0; i < count; i++)
        init(queue, NULL, i);
    for (int i = 0; i < count; i++) {
        keys[i][0] = (char)('a' + i);
        OK(launch_put(keys[i], &events[i]));
    }
}

/* Waits until an event without a queue, which was launched, is complete; returns its result. */
static int finish(int launched, daos_event_t *event)
{
    bool complete = false;

    OK(launched);
    for (int i = 0; i < 60 && !complete; i++)
        OK(daos_event_test(event, SECOND, &complete));
    HOLDS(complete);
    return event->ev_error;
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

/* Puts a value with an event of the queue, and takes that when it is complete. */
static void put_and_take(daos_handle_t queue, const char *key, daos_event_t *event)
{
    OK(launch_put(key, event));
    HOLDS(take(queue) == event);
    OK(event->ev_error);
}

static int poll(daos_handle_t queue, int wait_running, int64_t timeout)
{
    return daos_eq_poll(queue, wait_running, timeout, 1, IGNORED(daos_event_t *));
}

CHECK(a_queue_is_created_and_destroyed, "eq_destroy of an empty queue succeeds")
{
    daos_handle_t queue;

    OK(daos_eq_create(&queue));
    OK(daos_eq_destroy(queue, 0));
}

CHECK(an_event_needs_no_queue, "event_init with an invalid handle makes a private event")
{
    new_event();
    end(1);
}

CHECK(an_event_joins_a_queue, "event_init with the handle of a queue")
{
    init(new_queue(), NULL, 0);
    end(1);
}

CHECK(an_event_of_a_queue_that_is_gone_is_refused, "event_init with a bad queue gives -DER_NONEXIST")
{
    daos_handle_t queue;
    daos_event_t event = {0};

    OK(daos_eq_create(&queue));
    OK(daos_eq_destroy(queue, 0));
    FAILS(daos_event_init(&event, queue, NULL), DER_NONEXIST);
}

CHECK(an_operation_with_a_private_event_completes, "the call returns 0 at once; ev_error holds the result")
{
    daos_event_t *event = new_event();

    OK(finish(launch_put("key", event), event));
    end(1);
    kv_holds(kv(), "key", "value");
}

CHECK(a_private_event_is_used_again, "an event without a queue may be launched again after it completed")
{
    daos_event_t *event = new_event();

    OK(finish(launch_put("one", event), event));
    OK(finish(launch_put("two", event), event));
    end(1);
    kv_holds(kv(), "one", "value");
    kv_holds(kv(), "two", "value");
}

CHECK(an_operation_with_an_event_of_a_queue_completes, "eq_poll returns the events that are complete")
{
    daos_handle_t queue = new_queue();

    put_and_take(queue, "key", init(queue, NULL, 0));
    end(1);
    kv_holds(kv(), "key", "value");
}

CHECK(a_fetch_with_an_event_fills_its_buffer, "out arguments are set when the event is complete")
{
    daos_event_t *event = new_event();

    put_text(kv(), "key", "value");
    memset(value, 0, sizeof(value));
    size = sizeof(value);
    OK(finish(daos_kv_get(kv(), DAOS_TX_NONE, 0, "key", &size, value, event), event));
    EQUAL(size, 5);
    TEXT(value, "value");
    end(1);
}

CHECK(a_failure_is_in_the_event, "with an event the call returns 0, the error is in ev_error")
{
    daos_event_t *event = new_event();

    put_text(kv(), "key", "value");
    FAILS(finish(daos_kv_put(kv(), DAOS_TX_NONE, DAOS_COND_KEY_INSERT, "key", 5, "other", event), event), DER_EXIST);
    end(1);
}

CHECK(a_missing_key_is_in_the_event, "with an event the call returns 0, the error is in ev_error")
{
    daos_event_t *event = new_event();

    size = 0;
    int launched = daos_kv_get(kv(), DAOS_TX_NONE, DAOS_COND_KEY_GET, "missing", &size, NULL, event);
    FAILS(finish(launched, event), DER_NONEXIST);
    end(1);
}

CHECK(an_invalid_argument_is_in_the_event, "with an event also an error of the arguments is in ev_error")
{
    daos_event_t *event = new_event();

    FAILS(finish(daos_kv_get(kv(), DAOS_TX_NONE, 0, "key", NULL, value, event), event), DER_INVAL);
    end(1);
}

CHECK(an_event_that_is_not_ready_is_refused, "a launch with an event that is not ready gives -DER_NO_PERM")
{
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    // Until it is polled the event is running or complete; neither is ready.
    OK(launch_put("one", event));
    FAILS(launch_put("two", event), DER_NO_PERM);
    HOLDS(take(queue) == event);
    end(1);
}

CHECK(an_event_of_a_queue_is_used_again_after_the_poll, "a polled event is ready again")
{
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    put_and_take(queue, "one", event);
    put_and_take(queue, "two", event);
    end(1);
    kv_holds(kv(), "two", "value");
}

CHECK(sixteen_operations_complete_once_each, "eq_poll returns every event once")
{
    daos_handle_t queue = new_queue();
    bool seen[IN_FLIGHT] = {false};
    char key[2] = "a";

    launch_all(queue, IN_FLIGHT);
    for (int i = 0; i < IN_FLIGHT; i++) {
        size_t index = (size_t)(take(queue) - events);

        HOLDS(index < IN_FLIGHT && !seen[index]);
        seen[index] = true;
        OK(events[index].ev_error);
        OK(daos_event_fini(&events[index]));
    }
    for (; key[0] < 'a' + IN_FLIGHT; key[0]++)
        kv_holds(kv(), key, "value");
}

CHECK(a_poll_returns_at_most_the_number_asked_for, "eq_poll returns up to n events")
{
    daos_handle_t queue = new_queue();
    daos_event_t *complete[4];
    unsigned int left = 4;

    launch_all(queue, 4);
    for (int i = 0; i < 60 && left > 0; i++) {
        int found = daos_eq_poll(queue, 0, SECOND, 3, complete);

        HOLDS(found >= 0 && found <= 3);
        left -= (unsigned int)found;
    }
    EQUAL(left, 0);
    end(4);
}

CHECK(a_poll_that_waits_returns_an_event, "EQ_WAIT waits until an event is complete")
{
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);
    daos_event_t *complete = NULL;

    OK(launch_put("key", event));
    EQUAL(daos_eq_poll(queue, 0, DAOS_EQ_WAIT, 1, &complete), 1);
    HOLDS(complete == event);
    end(1);
}

CHECK(a_poll_of_an_idle_queue_returns_none, "EQ_NOWAIT returns 0 when nothing is complete")
{
    EQUAL(poll(new_queue(), 0, DAOS_EQ_NOWAIT), 0);
}

CHECK(a_poll_of_an_idle_queue_times_out, "eq_poll returns 0 after the timeout")
{
    EQUAL(poll(new_queue(), 0, 1000), 0);
}

CHECK(a_poll_that_waits_for_running_events_returns_at_once_where_none_is,
      "eq_poll with wait_running other than 0 returns 0 as soon as nothing is complete and nothing running")
{
    EQUAL(poll(new_queue(), 1, DAOS_EQ_WAIT), 0);
}

CHECK(a_queue_is_drained_by_polls_that_wait_for_running_events,
      "eq_poll with wait_running other than 0 returns what is complete or running, and then 0")
{
    daos_handle_t queue = new_queue();
    int taken = 0;

    launch_all(queue, 3);
    while (poll(queue, 1, DAOS_EQ_WAIT) > 0)
        taken++;
    EQUAL(taken, 3);
    end(3);
}

CHECK(a_poll_of_an_idle_queue_waits, "eq_poll with wait_running 0 waits, also where nothing is running")
{
    struct timespec before, after;

    clock_gettime(CLOCK_MONOTONIC, &before);
    EQUAL(poll(new_queue(), 0, SECOND / 5), 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    HOLDS((after.tv_sec - before.tv_sec) * 10 + (after.tv_nsec - before.tv_nsec) / 100000000 >= 1);
}

CHECK(a_poll_without_a_place_is_invalid, "eq_poll with a null pointer for the events gives -DER_INVAL and takes none")
{
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    OK(launch_put("key", event));
    FAILS(daos_eq_poll(queue, 0, DAOS_EQ_NOWAIT, 1, NULL), DER_INVAL);
    HOLDS(take(queue) == event);
    end(1);
}

CHECK(a_poll_for_no_event_is_invalid, "eq_poll with n 0 gives -DER_INVAL")
{
    FAILS(daos_eq_poll(new_queue(), 0, DAOS_EQ_NOWAIT, 0, IGNORED(daos_event_t *)), DER_INVAL);
}

CHECK(a_queue_with_events_is_not_destroyed, "eq_destroy of a queue with events gives -DER_BUSY")
{
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    OK(launch_put("key", event));
    FAILS(daos_eq_destroy(queue, 0), DER_BUSY);
    HOLDS(take(queue) == event);
    end(1);
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
    end(2);
}

CHECK(a_child_is_not_tested, "event_test of a child gives -DER_NO_PERM")
{
    daos_event_t *parent = new_event();
    daos_event_t *child = init(DAOS_HDL_INVAL, parent, 1);
    bool complete = false;

    FAILS(daos_event_test(child, DAOS_EQ_NOWAIT, &complete), DER_NO_PERM);
    end(2);
}

CHECK(a_parent_completes_with_its_children, "a parent is complete when all of its children are")
{
    daos_handle_t queue = new_queue();
    daos_event_t *parent = init(queue, NULL, 0);
    daos_event_t *first = init(queue, parent, 1);
    daos_event_t *second = init(queue, parent, 2);

    OK(launch_put("one", first));
    OK(launch_put("two", second));
    OK(daos_event_parent_barrier(parent));
    HOLDS(take(queue) == parent);
    OK(first->ev_error);
    OK(second->ev_error);
    kv_holds(kv(), "one", "value");
    kv_holds(kv(), "two", "value");
    end(3);
}

CHECK(a_barrier_needs_children, "event_parent_barrier of an event without children gives -DER_INVAL")
{
    daos_event_t *event = new_event();

    FAILS(daos_event_parent_barrier(event), DER_INVAL);
    end(1);
}

CHECK(children_are_told_in_their_order, "event_next gives the first child, and the one behind another")
{
    daos_event_t *parent = new_event();
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
static struct call {
    void *argument;
    daos_event_t *event;
    int result;
} calls[CALLS_MAX];
static int called;

static int note(void *argument, daos_event_t *event, int result)
{
    if (called < CALLS_MAX)
        calls[called] = (struct call){argument, event, result};
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
    daos_event_t *event = new_event();

    called = 0;
    OK(daos_event_register_comp_cb(event, note, &calls));
    EQUAL(called, 0);
    OK(finish(launch_put("one", event), event));
    EQUAL(called, 1);
    HOLDS(calls[0].argument == &calls && calls[0].event == event);
    OK(calls[0].result);
    end(1);
}

CHECK(a_function_is_called_before_the_event_is_polled, "functions are called when the event is complete, not by the poll alone")
{
    daos_handle_t queue = new_queue();
    daos_event_t *event = init(queue, NULL, 0);

    called = 0;
    OK(daos_event_register_comp_cb(event, note, NULL));
    put_and_take(queue, "one", event);
    EQUAL(called, 1);
    end(1);
}

CHECK(a_function_is_told_of_a_failure, "the function gets what ev_error will be")
{
    daos_event_t *event = new_event();

    called = 0;
    put_text(kv(), "key", "value");
    OK(daos_event_register_comp_cb(event, note, NULL));
    FAILS(finish(daos_kv_put(kv(), DAOS_TX_NONE, DAOS_COND_KEY_INSERT, "key", 5, "other", event), event), DER_EXIST);
    EQUAL(called, 1);
    FAILS(calls[0].result, DER_EXIST);
    end(1);
}

CHECK(functions_are_called_once_in_their_order, "a function that was called is registered no more")
{
    daos_event_t *event = new_event();

    called = 0;
    OK(daos_event_register_comp_cb(event, note, &calls[0]));
    OK(daos_event_register_comp_cb(event, note, &calls[1]));
    OK(finish(launch_put("one", event), event));
    EQUAL(called, 2);
    HOLDS(calls[0].argument == &calls[0] && calls[1].argument == &calls[1]);
    OK(finish(launch_put("two", event), event));
    EQUAL(called, 2);
    end(1);
}

CHECK(the_failure_of_a_function_is_that_of_the_event, "where the call succeeded, ev_error is what the first function gives other than 0")
{
    daos_event_t *event = new_event();

    called = 0;
    OK(daos_event_register_comp_cb(event, note_and_fail, NULL));
    OK(daos_event_register_comp_cb(event, note, NULL));
    FAILS(finish(launch_put("one", event), event), DER_MISC);
    EQUAL(called, 2);
    OK(calls[1].result);
    end(1);
}

CHECK(a_function_of_a_parent_is_called_when_its_children_are_complete, "a barrier calls what is registered, too")
{
    daos_event_t *parent = new_event();
    daos_event_t *child = init(DAOS_HDL_INVAL, parent, 1);

    called = 0;
    OK(daos_event_register_comp_cb(parent, note, NULL));
    OK(launch_put("one", child));
    EQUAL(called, 0);
    OK(finish(daos_event_parent_barrier(parent), parent));
    EQUAL(called, 1);
    HOLDS(calls[0].event == parent);
    end(2);
}
