/* A reader beside a writer that replaces its fields by others of the same length.
 *
 * FDB_CONFIG names an empty store. */
#include "say.h"

#define REASON fdb_error_string(FDB_ERROR_GENERAL_EXCEPTION)
#include "../../../capi/tests/c/expect.h"

static const char *const FIELD[] = {"class", "rd", "expver", "xxxx", "stream", "oper", "date", "20240101", "time", "0000",
    "domain", "g", "type", "an", "levtype", "sfc", "step", "0", "param", "167", NULL};
static const char *const DATASET[] = {"class", "rd", "expver", "xxxx", "stream", "oper", "date", "20240101", "time", "0000",
    "domain", "g", NULL};

static void archive(fdb_handle_t *fdb, const char *step, const char *text)
{
    archive_text(fdb, FIELD, step, text);
    MUST(fdb_flush(fdb));
}

/* The bytes of all fields are these. */
static void reads(fdb_datareader_t *reader, const char *expected)
{
    char buffer[32];
    long got = -1;
    IS(fdb_datareader_seek(reader, 0), FDB_SUCCESS);
    IS(fdb_datareader_read(reader, buffer, (long)strlen(expected), &got), FDB_SUCCESS);
    IS(got, strlen(expected));
    IS(memcmp(buffer, expected, strlen(expected)), 0);
}

static void purge(fdb_handle_t *fdb)
{
    fdb_request_t *request = request_of(DATASET);
    fdb_purge_iterator_t *purged;
    MUST(fdb_purge(fdb, request, true, false, &purged));
    MUST(fdb_delete_purge_iterator(purged));
    MUST(fdb_delete_request(request));
}

int main(void)
{
    const char *steps = "0/6/12";
    fdb_handle_t *fdb, *writer;
    fdb_request_t *request = request_of(FIELD);
    fdb_datareader_t *reader;
    char buffer[32];
    long size = -1, got = -1;
    told = stderr;
    MUST(fdb_request_add(request, "step", &steps, 1));
    MUST(fdb_new_handle(&fdb));
    MUST(fdb_new_handle(&writer));
    archive(fdb, "0", "zero");
    archive(fdb, "6", "six.");
    archive(fdb, "12", "dozn");
    MUST(fdb_new_datareader(&reader));
    MUST(fdb_retrieve(fdb, request, reader));
    MUST(fdb_datareader_open(reader, &size));
    IS(size, 12);
    archive(writer, "6", "SIX!");
    reads(reader, "zerosix.dozn");
    reads(reader, "zerosix.dozn");
    /* What no longer exists is an error. */
    purge(writer);
    IS(fdb_datareader_seek(reader, 4), FDB_SUCCESS);
    REFUSED(fdb_datareader_read(reader, buffer, 4, &got), FDB_ERROR_GENERAL_EXCEPTION, "was replaced or removed");
    /* A field that was not replaced is read on. */
    IS(fdb_datareader_seek(reader, 8), FDB_SUCCESS);
    IS(fdb_datareader_read(reader, buffer, 4, &got), FDB_SUCCESS);
    IS(memcmp(buffer, "dozn", 4), 0);
    MUST(fdb_datareader_close(reader));
    MUST(fdb_retrieve(fdb, request, reader));
    MUST(fdb_datareader_open(reader, &size));
    reads(reader, "zeroSIX!dozn");
    MUST(fdb_delete_datareader(reader));
    MUST(fdb_delete_request(request));
    MUST(fdb_delete_handle(writer));
    MUST(fdb_delete_handle(fdb));
    return failures != 0;
}
