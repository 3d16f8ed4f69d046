/* What is refused, with its number and reason; what FDB would crash at; and the texts and handlers of errors.
 *
 * FDB_CONFIG names an empty store. */
#include <pthread.h>
#include <stdlib.h>

#include "older.h"

#define REASON fdb_error_string(FDB_ERROR_GENERAL_EXCEPTION)
#include "../../../capi/tests/c/expect.h"

#define ERROR FDB_ERROR_GENERAL_EXCEPTION

static const char *const FIELD[] = {"class", "rd", "expver", "xxxx", "stream", "oper", "date", "20240101", "time", "0000",
    "domain", "g", "type", "an", "levtype", "sfc", "step", "0", "param", "167", NULL};

static void add(fdb_request_t *request, const char *name, const char *value)
{
    IS(fdb_request_add(request, name, &value, 1), FDB_SUCCESS);
}

static fdb_request_t *request_of(const char *const *pair)
{
    fdb_request_t *request = NULL;
    IS(fdb_new_request(&request), FDB_SUCCESS);
    for (; *pair != NULL; pair += 2)
        add(request, pair[0], pair[1]);
    return request;
}

static fdb_key_t *key_of(const char *const *pair)
{
    fdb_key_t *key = NULL;
    IS(fdb_new_key(&key), FDB_SUCCESS);
    for (; *pair != NULL; pair += 2)
        IS(fdb_key_add(key, pair[0], pair[1]), FDB_SUCCESS);
    return key;
}

static void null_pointers(fdb_handle_t *fdb)
{
    fdb_key_t *key = key_of(FIELD);
    fdb_request_t *request = request_of(FIELD);
    const char *text = "1", *not_utf8 = "\xff";
    char **values;
    size_t count;

    REFUSED(fdb_version(NULL), ERROR, "version is NULL");
    REFUSED(fdb_vcs_version(NULL), ERROR, "sha1 is NULL");
    REFUSED(fdb_new_handle(NULL), ERROR, "fdb is NULL");
    REFUSED(fdb_new_handle_from_yaml(NULL, "", ""), ERROR, "fdb is NULL");
    REFUSED(fdb_new_key(NULL), ERROR, "key is NULL");
    REFUSED(fdb_key_add(NULL, "step", "1"), ERROR, "key is NULL");
    REFUSED(fdb_key_add(key, NULL, "1"), ERROR, "param is NULL");
    REFUSED(fdb_key_add(key, "step", NULL), ERROR, "value is NULL");
    REFUSED(fdb_key_add(key, "step", not_utf8), ERROR, "value is not UTF-8");
    REFUSED(fdb_new_request(NULL), ERROR, "req is NULL");
    REFUSED(fdb_request_add(NULL, "step", &text, 1), ERROR, "req is NULL");
    REFUSED(fdb_request_add(request, NULL, &text, 1), ERROR, "param is NULL");
    REFUSED(fdb_request_add(request, "step", NULL, 1), ERROR, "values is NULL");
    REFUSED(fdb_request_add(request, "step", &text, -1), ERROR, "numValues is -1");
    REFUSED(fdb_request_get(NULL, "step", &values, &count), ERROR, "req is NULL");
    REFUSED(fdb_request_get(request, NULL, &values, &count), ERROR, "param is NULL");
    REFUSED(fdb_request_get(request, "step", NULL, &count), ERROR, "values is NULL");
    REFUSED(fdb_request_get(request, "step", &values, NULL), ERROR, "numValues is NULL");
    REFUSED(fdb_expand_request(NULL), ERROR, "req is NULL");
    REFUSED(fdb_archive(NULL, key, "x", 1), ERROR, "fdb is NULL");
    REFUSED(fdb_archive(fdb, NULL, "x", 1), ERROR, "key is NULL");
    REFUSED(fdb_archive(fdb, key, NULL, 0), ERROR, "data is NULL");
    REFUSED(fdb_archive_multiple(NULL, NULL, "x", 1), ERROR, "fdb is NULL");
    REFUSED(fdb_archive_multiple(fdb, NULL, NULL, 0), ERROR, "data is NULL");
    REFUSED(fdb_flush(NULL), ERROR, "fdb is NULL");
    IS(fdb_delete_key(key), FDB_SUCCESS);
    IS(fdb_delete_request(request), FDB_SUCCESS);
}

static void null_deletions(void)
{
    REFUSED(fdb_delete_handle(NULL), ERROR, "fdb is NULL");
    REFUSED(fdb_delete_key(NULL), ERROR, "key is NULL");
    REFUSED(fdb_delete_request(NULL), ERROR, "req is NULL");
    REFUSED(fdb_delete_splitkey(NULL), ERROR, "key is NULL");
    REFUSED(fdb_delete_listiterator(NULL), ERROR, "it is NULL");
    REFUSED(fdb_delete_datareader(NULL), ERROR, "dr is NULL");
    REFUSED(fdb_delete_wipe_element(NULL), ERROR, "element is NULL");
    REFUSED(fdb_delete_purge_element(NULL), ERROR, "element is NULL");
    IS(fdb_delete_wipe_iterator(NULL), FDB_SUCCESS);
    IS(fdb_delete_purge_iterator(NULL), FDB_SUCCESS);
}

static void archiving(fdb_handle_t *fdb)
{
    static const char *const SHORT[] = {"class", "rd", NULL};
    fdb_key_t *key = key_of(SHORT);
    REFUSED(fdb_archive(fdb, key, "x", 1), ERROR, "no rule of the schema fits the key class=rd");
    IS(fdb_delete_key(key), FDB_SUCCESS);
    key = key_of(FIELD);
    IS(fdb_key_add(key, "step", "soon"), FDB_SUCCESS);
    REFUSED(fdb_archive(fdb, key, "x", 1), ERROR, "step=\"soon\"");
    /* Values that are not in the form of fields are no error here. */
    IS(fdb_key_add(key, "step", "0"), FDB_SUCCESS);
    IS(fdb_key_add(key, "time", "0"), FDB_SUCCESS);
    IS(fdb_archive(fdb, key, "zero", 4), FDB_SUCCESS);
    IS(fdb_key_add(key, "step", "6"), FDB_SUCCESS);
    IS(fdb_archive(fdb, key, "six", 3), FDB_SUCCESS);
    IS(fdb_flush(fdb), FDB_SUCCESS);
    REFUSED(fdb_archive_multiple(fdb, NULL, "", 0), ERROR, "GRIB");
    REFUSED(fdb_archive_multiple(fdb, NULL, "GRIB....", 8), ERROR, "message 1");
    IS(fdb_delete_key(key), FDB_SUCCESS);
}

static void listing(fdb_handle_t *fdb)
{
    fdb_listiterator_t *it = NULL, *untouched = NULL;
    fdb_request_t *request = request_of(FIELD), *empty = NULL;
    fdb_split_key_t *key = NULL;
    const char *uri = NULL, *name = NULL, *value = NULL;
    size_t offset, length, level, fields = 0;
    int number;

    IS(fdb_new_request(&empty), FDB_SUCCESS);
    IS(fdb_new_splitkey(&key), FDB_SUCCESS);
    REFUSED(fdb_new_splitkey(NULL), ERROR, "key is NULL");
    REFUSED(fdb_list(NULL, request, &it, true, 3), ERROR, "fdb is NULL");
    REFUSED(fdb_list(fdb, request, NULL, true, 3), ERROR, "it is NULL");
    REFUSED(fdb_list(fdb, empty, &it, true, 3), ERROR, "a request without keys");
    add(request, "colour", "red");
    REFUSED(fdb_list(fdb, request, &it, true, 3), ERROR, "unknown key \"colour\"");
    REFUSED(list_of_old(fdb, request, true, &untouched), ERROR, "no place for a result");
    REFUSED(fdb_listiterator_next(NULL), ERROR, "it is NULL");
    REFUSED(fdb_splitkey_next_metadata(NULL, &name, &value, &level), ERROR, "it is NULL");
    REFUSED(fdb_splitkey_next_metadata(key, &name, &value, &level), ERROR, "the split key is empty");

    IS(list_of_four(fdb, NULL, &it, true), FDB_SUCCESS);
    REFUSED(fdb_listiterator_attrs(it, &uri, &offset, &length), ERROR, "the iterator has no element");
    REFUSED(fdb_listiterator_splitkey(it, key), ERROR, "the iterator has no element");
    while ((number = fdb_listiterator_next(it)) == FDB_SUCCESS) {
        REFUSED(fdb_listiterator_attrs(NULL, &uri, &offset, &length), ERROR, "it is NULL");
        REFUSED(fdb_listiterator_attrs(it, NULL, &offset, &length), ERROR, "uri is NULL");
        REFUSED(fdb_listiterator_attrs(it, &uri, NULL, &length), ERROR, "off is NULL");
        REFUSED(fdb_listiterator_attrs(it, &uri, &offset, NULL), ERROR, "len is NULL");
        REFUSED(fdb_listiterator_splitkey(it, NULL), ERROR, "key is NULL");
        IS(fdb_listiterator_attrs(it, &uri, &offset, &length), FDB_SUCCESS);
        HAS(uri, "posix:");
        IS(fdb_listiterator_splitkey(it, key), FDB_SUCCESS);
        REFUSED(fdb_splitkey_next_metadata(key, NULL, &value, &level), ERROR, "key is NULL");
        REFUSED(fdb_splitkey_next_metadata(key, &name, NULL, &level), ERROR, "value is NULL");
        IS(fdb_splitkey_next_metadata(key, &name, &value, NULL), FDB_SUCCESS);
        IS(strcmp(name, "class") || strcmp(value, "rd"), 0);
        fields++;
    }
    IS(number, FDB_ITERATION_COMPLETE);
    IS(fields, 2);
    IS(fdb_listiterator_next(it), FDB_ITERATION_COMPLETE);
    REFUSED(fdb_listiterator_attrs(it, &uri, &offset, &length), ERROR, "the iterator has no element");
    /* A split key keeps its element, whatever becomes of the iterator. */
    IS(fdb_delete_listiterator(it), FDB_SUCCESS);
    IS(strcmp(name, "class") || strcmp(value, "rd"), 0);
    IS(fdb_splitkey_next_metadata(key, &name, &value, &level), FDB_SUCCESS);
    while (fdb_splitkey_next_metadata(key, &name, &value, &level) == FDB_SUCCESS)
        continue;
    IS(strcmp(name, "step"), 0);
    IS(level, 2);
    IS(fdb_splitkey_next_metadata(key, &name, &value, &level), FDB_ITERATION_COMPLETE);

    IS(fdb_list(fdb, NULL, &it, true, 1), FDB_SUCCESS);
    IS(fdb_listiterator_next(it), FDB_SUCCESS);
    REFUSED(fdb_listiterator_attrs(it, &uri, &offset, &length), ERROR, "depth 1 has no places");
    IS(fdb_delete_listiterator(it), FDB_SUCCESS);
    IS(fdb_delete_splitkey(key), FDB_SUCCESS);
    IS(fdb_delete_request(request), FDB_SUCCESS);
    IS(fdb_delete_request(empty), FDB_SUCCESS);
}

static void reading(fdb_handle_t *fdb)
{
    static const char *const SHORT[] = {"class", "rd", NULL};
    fdb_request_t *request = request_of(FIELD), *incomplete = request_of(SHORT);
    fdb_datareader_t *reader = NULL;
    char buffer[16];
    long got = -1, size = -1;

    REFUSED(fdb_new_datareader(NULL), ERROR, "dr is NULL");
    IS(fdb_new_datareader(&reader), FDB_SUCCESS);
    REFUSED(fdb_datareader_open(reader, &size), ERROR, "the reader has nothing");
    REFUSED(fdb_datareader_size(reader, &size), ERROR, "the reader has nothing");
    REFUSED(fdb_datareader_close(reader), ERROR, "the reader has nothing");
    REFUSED(fdb_retrieve(NULL, request, reader), ERROR, "fdb is NULL");
    REFUSED(fdb_retrieve(fdb, NULL, reader), ERROR, "req is NULL");
    REFUSED(fdb_retrieve(fdb, request, NULL), ERROR, "dr is NULL");
    REFUSED(fdb_retrieve(fdb, incomplete, reader), ERROR, "expver");
    IS(fdb_retrieve(fdb, request, reader), FDB_SUCCESS);
    REFUSED(fdb_datareader_tell(reader, &got), ERROR, "the reader is not open");
    REFUSED(fdb_datareader_seek(reader, 0), ERROR, "the reader is not open");
    REFUSED(fdb_datareader_skip(reader, 0), ERROR, "the reader is not open");
    REFUSED(fdb_datareader_read(reader, buffer, 1, &got), ERROR, "the reader is not open");
    IS(fdb_datareader_close(reader), FDB_SUCCESS);
    REFUSED(fdb_datareader_open(NULL, &size), ERROR, "dr is NULL");
    IS(fdb_datareader_open(reader, &size), FDB_SUCCESS);
    IS(size, 4);
    REFUSED(fdb_datareader_open(reader, &size), ERROR, "the reader is open");
    REFUSED(fdb_datareader_read(NULL, buffer, 1, &got), ERROR, "dr is NULL");
    REFUSED(fdb_datareader_read(reader, NULL, 1, &got), ERROR, "buf is NULL");
    REFUSED(fdb_datareader_read(reader, buffer, 1, NULL), ERROR, "read is NULL");
    REFUSED(fdb_datareader_read(reader, buffer, -1, &got), ERROR, "count is -1");
    REFUSED(fdb_datareader_seek(NULL, 0), ERROR, "dr is NULL");
    REFUSED(fdb_datareader_seek(reader, -1), ERROR, "from 0 to 4");
    REFUSED(fdb_datareader_seek(reader, 5), ERROR, "from 0 to 4");
    REFUSED(fdb_datareader_skip(NULL, 1), ERROR, "dr is NULL");
    REFUSED(fdb_datareader_skip(reader, 5), ERROR, "from 0 to 4");
    REFUSED(fdb_datareader_tell(NULL, &got), ERROR, "dr is NULL");
    REFUSED(fdb_datareader_tell(reader, NULL), ERROR, "pos is NULL");
    REFUSED(fdb_datareader_size(NULL, &got), ERROR, "dr is NULL");
    REFUSED(fdb_datareader_size(reader, NULL), ERROR, "size is NULL");
    REFUSED(fdb_datareader_close(NULL), ERROR, "dr is NULL");
    IS(fdb_datareader_read(reader, buffer, 0, &got), FDB_SUCCESS);
    IS(got, 0);
    IS(fdb_datareader_seek(reader, 4), FDB_SUCCESS);
    IS(fdb_datareader_skip(reader, -3), FDB_SUCCESS);
    IS(fdb_datareader_read(reader, buffer, 16, &got), FDB_SUCCESS);
    IS(got, 3);
    IS(memcmp(buffer, "ero", 3), 0);
    /* Ranges and names of parameters need no fdb_expand_request. */
    add(request, "step", "0/to/6/by/6");
    add(request, "param", "2t");
    IS(fdb_retrieve(fdb, request, reader), FDB_SUCCESS);
    IS(fdb_datareader_open(reader, &size), FDB_SUCCESS);
    IS(size, 7);
    IS(fdb_delete_datareader(reader), FDB_SUCCESS);
    IS(fdb_delete_request(request), FDB_SUCCESS);
    IS(fdb_delete_request(incomplete), FDB_SUCCESS);
}

static void removing(fdb_handle_t *fdb)
{
    fdb_request_t *request = request_of(FIELD), *empty = NULL;
    fdb_wipe_iterator_t *wipe = NULL;
    fdb_purge_iterator_t *purge = NULL;
    fdb_wipe_element_t *wiped;
    fdb_purge_element_t *purged;
    const char *text;

    IS(fdb_new_request(&empty), FDB_SUCCESS);
    REFUSED(fdb_wipe(NULL, request, false, false, false, &wipe), ERROR, "fdb is NULL");
    REFUSED(fdb_wipe(fdb, NULL, false, false, false, &wipe), ERROR, "req is NULL");
    REFUSED(fdb_wipe(fdb, request, false, false, false, NULL), ERROR, "it is NULL");
    REFUSED(fdb_wipe(fdb, empty, true, false, false, &wipe), ERROR, "a request without keys");
    REFUSED(fdb_wipe(fdb, request, true, false, false, &wipe), ERROR, "tell single fields apart");
    REFUSED(fdb_wipe_iterator_next(NULL, &wiped), ERROR, "it is NULL");
    REFUSED(fdb_wipe_element_string(NULL, &text), ERROR, "element is NULL");
    REFUSED(fdb_purge(NULL, request, false, false, &purge), ERROR, "fdb is NULL");
    REFUSED(fdb_purge(fdb, NULL, false, false, &purge), ERROR, "req is NULL");
    REFUSED(fdb_purge(fdb, request, false, false, NULL), ERROR, "it is NULL");
    REFUSED(fdb_purge(fdb, empty, true, false, &purge), ERROR, "a request without keys");
    REFUSED(fdb_purge_iterator_next(NULL, &purged), ERROR, "it is NULL");
    REFUSED(fdb_purge_element_string(NULL, &text), ERROR, "element is NULL");

    add(empty, "class", "rd");
    IS(fdb_wipe(fdb, empty, true, true, false, &wipe), FDB_SUCCESS);
    REFUSED(fdb_wipe_iterator_next(wipe, NULL), ERROR, "element is NULL");
    IS(fdb_wipe_iterator_next(wipe, &wiped), FDB_SUCCESS);
    REFUSED(fdb_wipe_element_string(wiped, NULL), ERROR, "str is NULL");
    IS(fdb_wipe_element_string(wiped, &text), FDB_SUCCESS);
    HAS(text, "posix:");
    IS(fdb_delete_wipe_element(wiped), FDB_SUCCESS);
    IS(fdb_wipe_iterator_next(wipe, &wiped), FDB_ITERATION_COMPLETE);
    IS(fdb_wipe_element_string(wiped, &text), FDB_SUCCESS);
    IS(strlen(text), 0);
    IS(fdb_delete_wipe_element(wiped), FDB_SUCCESS);
    IS(fdb_delete_wipe_iterator(wipe), FDB_SUCCESS);
    IS(fdb_delete_request(request), FDB_SUCCESS);
    IS(fdb_delete_request(empty), FDB_SUCCESS);
}

static int handled, handled_number;

static void handler(void *context, int number)
{
    handled += *(int *)context;
    handled_number = number;
    /* The reason is there already. */
    HAS(fdb_error_string(number), "key is NULL");
}

static void *of_another_thread(void *text)
{
    (void)text;
    REFUSED(fdb_delete_request(NULL), ERROR, "req is NULL");
    return NULL;
}

static void errors(void)
{
    int weight = 7;
    pthread_t thread;
    const char *mine;
    IS(fdb_set_failure_handler(handler, &weight), FDB_SUCCESS);
    IS(fdb_delete_key(NULL), ERROR);
    IS(handled, 7);
    IS(handled_number, ERROR);
    IS(fdb_set_failure_handler(NULL, NULL), FDB_SUCCESS);
    IS(fdb_delete_key(NULL), ERROR);
    IS(handled, 7);
    /* The last error is the process's, and a text that was given stays. */
    mine = fdb_error_string(ERROR);
    IS(mine == fdb_error_string(ERROR), 1);
    if (pthread_create(&thread, NULL, of_another_thread, NULL) != 0 || pthread_join(thread, NULL) != 0)
        failures++;
    HAS(mine, "key is NULL");
    HAS(fdb_error_string(ERROR), "req is NULL");
    HAS(fdb_error_string(FDB_ERROR_UNKNOWN_EXCEPTION), "req is NULL");
    IS(strcmp(fdb_error_string(FDB_SUCCESS), "Success"), 0);
    IS(strcmp(fdb_error_string(FDB_ITERATION_COMPLETE), "Iteration complete"), 0);
    IS(strcmp(fdb_error_string(-1), "<unknown>"), 0);
}

/* The values of a request are the caller's, each to be freed. */
static void values(void)
{
    const char *given[] = {"0/6", "12"};
    fdb_request_t *request = NULL;
    char **found = NULL;
    size_t count = 0, at;
    IS(fdb_new_request(&request), FDB_SUCCESS);
    REFUSED(fdb_request_get(request, "step", &found, &count), ERROR, "has no step");
    IS(fdb_request_add(request, "STEP", given, 2), FDB_SUCCESS);
    IS(fdb_request_get(request, "step", &found, &count), FDB_SUCCESS);
    IS(count, 3);
    for (at = 0; at < count; at++)
        free(found[at]);
    free(found);
    add(request, "step", "soon");
    REFUSED(fdb_expand_request(request), ERROR, "step=\"soon\"");
    add(request, "step", "0");
    add(request, "colour", "red");
    REFUSED(fdb_expand_request(request), ERROR, "unknown key \"colour\"");
    IS(fdb_delete_request(request), FDB_SUCCESS);
}

int main(void)
{
    fdb_handle_t *fdb = NULL;
    IS(fdb_initialise(), FDB_SUCCESS);
    IS(fdb_new_handle(&fdb), FDB_SUCCESS);
    if (fdb == NULL)
        return 2;
    find_older();
    null_pointers(fdb);
    null_deletions();
    archiving(fdb);
    listing(fdb);
    reading(fdb);
    removing(fdb);
    errors();
    values();
    IS(fdb_delete_handle(fdb), FDB_SUCCESS);
    return failures != 0;
}
