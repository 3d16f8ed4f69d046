/* The calls of a program that reads fields through a library of formats: it lists what a request names with fdb_list of four arguments,
 * takes each key apart, and then reads each field by a request of that key.
 *
 * Usage: cdi KEY=VALUE... FDB_CONFIG names a store. Prints each field, and its bytes. */
#include "older.h"
#include "say.h"

typedef struct {
    char name[32], value[64];
} pair_t;

#define PAIRS_MAX 32

static size_t key_of(fdb_listiterator_t *listing, pair_t *pairs)
{
    fdb_split_key_t *key = NULL;
    const char *name, *value;
    size_t level, count = 0;
    MUST(fdb_new_splitkey(&key));
    MUST(fdb_listiterator_splitkey(listing, key));
    while (count < PAIRS_MAX && fdb_splitkey_next_metadata(key, &name, &value, &level) == FDB_SUCCESS) {
        snprintf(pairs[count].name, sizeof(pairs[count].name), "%s", name);
        snprintf(pairs[count].value, sizeof(pairs[count].value), "%s", value);
        count++;
    }
    MUST(fdb_delete_splitkey(key));
    return count;
}

static void read_field(fdb_handle_t *fdb, const pair_t *pairs, size_t count)
{
    fdb_request_t *request = NULL;
    fdb_datareader_t *reader = NULL;
    const char *value;
    char *bytes;
    long size = 0, got = 0, all = 0;
    size_t at;
    MUST(fdb_new_request(&request));
    for (at = 0; at < count; at++) {
        value = pairs[at].value;
        MUST(fdb_request_add(request, pairs[at].name, &value, 1));
    }
    MUST(fdb_new_datareader(&reader));
    MUST(fdb_retrieve(fdb, request, reader));
    MUST(fdb_datareader_open(reader, &size));
    if (size == 0)
        exit(3);
    bytes = malloc((size_t)size);
    while (all < size) {
        MUST(fdb_datareader_read(reader, bytes + all, size - all, &got));
        if (got == 0)
            exit(4);
        all += got;
    }
    fprintf(told, "%.*s\n", (int)size, bytes);
    free(bytes);
    MUST(fdb_datareader_close(reader));
    MUST(fdb_delete_datareader(reader));
    MUST(fdb_delete_request(request));
}

int main(int argc, char **argv)
{
    fdb_handle_t *fdb = NULL;
    fdb_request_t *request = NULL;
    fdb_listiterator_t *listing = NULL;
    pair_t pairs[PAIRS_MAX];
    int at, number;
    told = stdout;
    find_older();
    (void)list_of_old;
    MUST(fdb_initialise());
    MUST(fdb_new_handle(&fdb));
    MUST(fdb_new_request(&request));
    for (at = 1; at < argc; at++) {
        const char *value = strchr(argv[at], '=');
        if (value == NULL)
            return 2;
        snprintf(pairs[0].name, sizeof(pairs[0].name), "%.*s", (int)(value - argv[at]), argv[at]);
        value++;
        MUST(fdb_request_add(request, pairs[0].name, &value, 1));
    }
    MUST(list_of_four(fdb, request, &listing, true));
    while ((number = fdb_listiterator_next(listing)) == FDB_SUCCESS)
        read_field(fdb, pairs, key_of(listing, pairs));
    if (number != FDB_ITERATION_COMPLETE)
        return 5;
    MUST(fdb_delete_listiterator(listing));
    MUST(fdb_delete_request(request));
    MUST(fdb_delete_handle(fdb));
    return 0;
}
