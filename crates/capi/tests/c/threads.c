/* Threads that share one store: each archives and retrieves its own fields, and each has the reason of its own failure.
 *
 * Usage: threads STORE */
#include <isotach.h>
#include <pthread.h>

#define REASON isotach_error_text()
#include "expect.h"

#define THREADS 8
#define FIELDS 50

static isotach_store *store;

static void *archive_and_retrieve(void *number)
{
    int member = *(int *)number, step;
    char key[256], value[32], buffer[32], unknown[64];
    size_t length = 0;
    for (step = 0; step < FIELDS; step++) {
        snprintf(key, sizeof(key), "class=rd,expver=xxxx,stream=enfo,date=20240101,time=0000,domain=g,type=pf,levtype=sfc,"
            "number=%d,step=%d,param=167", member, step);
        snprintf(value, sizeof(value), "%d of %d", step, member);
        IS(isotach_archive(store, key, value, strlen(value)), ISOTACH_OK);
        IS(isotach_flush(store), ISOTACH_OK);
        IS(isotach_retrieve_into(store, key, buffer, sizeof(buffer), &length), ISOTACH_OK);
        IS(length == strlen(value) && memcmp(buffer, value, length) == 0, 1);
        snprintf(unknown, sizeof(unknown), "colour%d=red", member);
        IS(isotach_archive(store, unknown, value, 1), ISOTACH_KEY);
        snprintf(unknown, sizeof(unknown), "colour%d", member);
        HAS(isotach_error_text(), unknown);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], at, count = 0;
    isotach_fields *fields = NULL;
    if (argc != 2 || isotach_create(argv[1], NULL, &store) != ISOTACH_OK)
        return 2;
    for (at = 0; at < THREADS; at++) {
        numbers[at] = at + 1;
        IS(pthread_create(&threads[at], NULL, archive_and_retrieve, &numbers[at]), 0);
    }
    for (at = 0; at < THREADS; at++)
        IS(pthread_join(threads[at], NULL), 0);
    IS(isotach_list(store, "class=rd", 0, &fields), ISOTACH_OK);
    while (isotach_fields_next(fields) == ISOTACH_OK)
        count++;
    IS(count, THREADS * FIELDS);
    isotach_fields_free(fields);
    isotach_close(store);
    return failures != 0;
}
