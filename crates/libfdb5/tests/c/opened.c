/* Opens a store, archives a field, and says where it went, or why not.
 *
 * Usage: opened              the store of the environment
 *        opened SYSTEM USER  that of a configuration in text */
#include "say.h"

static const char *const FIELD[] = {"class", "rd", "expver", "xxxx", "stream", "oper", "date", "20240101", "time", "0000",
    "domain", "g", "type", "an", "levtype", "sfc", "step", "0", "param", "167", NULL};

static int refused(const char *what)
{
    fprintf(told, "%s: %s\n", what, fdb_error_string(FDB_ERROR_GENERAL_EXCEPTION));
    return 1;
}

int main(int argc, char **argv)
{
    fdb_handle_t *fdb = NULL;
    fdb_key_t *key = NULL;
    fdb_listiterator_t *listing = NULL;
    const char *const *pair, *uri = NULL;
    size_t offset, length;
    int number;
    told = stdout;
    number = argc == 3 ? fdb_new_handle_from_yaml(&fdb, argv[1], argv[2]) : fdb_new_handle(&fdb);
    if (number != FDB_SUCCESS)
        return refused("open");
    MUST(fdb_new_key(&key));
    for (pair = FIELD; *pair != NULL; pair += 2)
        MUST(fdb_key_add(key, pair[0], pair[1]));
    if (fdb_archive(fdb, key, "bytes", 5) != FDB_SUCCESS)
        return refused("archive");
    MUST(fdb_delete_key(key));
    /* Deleting the handle flushes. */
    MUST(fdb_delete_handle(fdb));
    MUST(argc == 3 ? fdb_new_handle_from_yaml(&fdb, argv[1], argv[2]) : fdb_new_handle(&fdb));
    MUST(fdb_list(fdb, NULL, &listing, true, 3));
    MUST(fdb_listiterator_next(listing));
    MUST(fdb_listiterator_attrs(listing, &uri, &offset, &length));
    fprintf(told, "%zu bytes in %s\n", length, uri);
    MUST(fdb_delete_listiterator(listing));
    MUST(fdb_delete_handle(fdb));
    return 0;
}
