/* What is refused: NULL where something must be, keys and requests that are wrong, stores that are not there.
 *
 * Usage: refusals STORE NOWHERE, where STORE is made, and nothing is at NOWHERE. */
#include <isotach.h>

#define REASON isotach_error_text()
#include "expect.h"

#define WRONG ISOTACH_INVALID_INPUT
#define SURFACE "class=rd,expver=xxxx,stream=oper,date=20240101,time=0000,domain=g,type=an,levtype=sfc,step=0,param=167"

static void stores(const char *place, const char *nowhere)
{
    isotach_store *store = NULL;
    REFUSED(isotach_open(place, NULL), WRONG, "store is NULL");
    REFUSED(isotach_open(nowhere, &store), ISOTACH_NOT_FOUND, "does not exist");
    REFUSED(isotach_open("fields", &store), WRONG, "or a URI such as");
    REFUSED(isotach_open("tape:/x", &store), WRONG, "tape");
    REFUSED(isotach_open("\xff", &store), WRONG, "place is not UTF-8");
    REFUSED(isotach_open(NULL, &store), WRONG, "no store: expected ISOTACH_STORE");
    REFUSED(isotach_open_config(NULL, &store), WRONG, "path is NULL");
    REFUSED(isotach_open_config(nowhere, &store), ISOTACH_NOT_FOUND, "does not exist");
    REFUSED(isotach_open_config(nowhere, NULL), WRONG, "store is NULL");
    REFUSED(isotach_create(place, NULL, NULL), WRONG, "store is NULL");
    REFUSED(isotach_create(nowhere, "[ class", &store), ISOTACH_SCHEMA, "line 1");
    REFUSED(isotach_create(place, "[ class [ type [ step ]]]", &store), ISOTACH_OTHER_SCHEMA, "another schema");
    IS(store == NULL, 1);
    isotach_close(NULL);
}

static void archiving(isotach_store *store)
{
    const char *names[] = {"class", "CLASS"}, *values[] = {"od", "rd"}, *null[] = {"class", NULL};
    size_t count = 77;
    REFUSED(isotach_archive(NULL, SURFACE, "x", 1), WRONG, "store is NULL");
    REFUSED(isotach_archive(store, NULL, "x", 1), WRONG, "key is NULL");
    REFUSED(isotach_archive(store, SURFACE, NULL, 1), WRONG, "data is NULL");
    REFUSED(isotach_archive(store, SURFACE, "x", (size_t)-1), WRONG, "beyond all memory");
    REFUSED(isotach_archive(store, "class", "x", 1), ISOTACH_KEY, "expected");
    REFUSED(isotach_archive(store, "class=rd", "x", 1), ISOTACH_KEY, "no rule of the schema fits");
    REFUSED(isotach_archive(store, "class=\xff", "x", 1), WRONG, "key is not UTF-8");
    REFUSED(isotach_archive_pairs(NULL, names, values, 1, "x", 1), WRONG, "store is NULL");
    REFUSED(isotach_archive_pairs(store, NULL, values, 1, "x", 1), WRONG, "names is NULL");
    REFUSED(isotach_archive_pairs(store, names, NULL, 1, "x", 1), WRONG, "values is NULL");
    REFUSED(isotach_archive_pairs(store, names, null, 2, "x", 1), WRONG, "values is NULL");
    REFUSED(isotach_archive_pairs(store, names, values, (size_t)-1, "x", 1), WRONG, "beyond all memory");
    REFUSED(isotach_archive_pairs(store, names, values, 2, "x", 1), ISOTACH_KEY, "CLASS twice");
    REFUSED(isotach_archive_pairs(store, NULL, NULL, 0, "x", 1), ISOTACH_KEY, "no rule");
    REFUSED(isotach_archive_messages(NULL, "x", 1, &count), WRONG, "store is NULL");
    REFUSED(isotach_archive_messages(store, NULL, 1, &count), WRONG, "data is NULL");
    REFUSED(isotach_archive_messages(store, "x", 1, &count), ISOTACH_MESSAGE, "GRIB");
    IS(count, 77);
    REFUSED(isotach_flush(NULL), WRONG, "store is NULL");
}

static void retrieving(isotach_store *store)
{
    isotach_fields *fields = NULL;
    isotach_bytes *bytes = NULL;
    const void *data = NULL;
    char buffer[8];
    size_t length = 77;
    REFUSED(isotach_retrieve_one(NULL, SURFACE, &bytes), WRONG, "store is NULL");
    REFUSED(isotach_retrieve_one(store, NULL, &bytes), WRONG, "key is NULL");
    REFUSED(isotach_retrieve_one(store, SURFACE, NULL), WRONG, "bytes is NULL");
    REFUSED(isotach_retrieve_one(store, "class=rd", &bytes), ISOTACH_REQUEST, "also needs date");
    REFUSED(isotach_retrieve_into(NULL, SURFACE, buffer, 8, &length), WRONG, "store is NULL");
    REFUSED(isotach_retrieve_into(store, NULL, buffer, 8, &length), WRONG, "key is NULL");
    REFUSED(isotach_retrieve_into(store, SURFACE, NULL, 8, &length), WRONG, "buffer is NULL");
    REFUSED(isotach_retrieve_into(store, SURFACE, buffer, 8, NULL), WRONG, "length is NULL");
    IS(length, 77);
    REFUSED(isotach_bytes_data(NULL, &data, &length), WRONG, "bytes is NULL");
    isotach_bytes_free(NULL);
    REFUSED(isotach_retrieve(NULL, SURFACE, &fields), WRONG, "store is NULL");
    REFUSED(isotach_retrieve(store, NULL, &fields), WRONG, "request is NULL");
    REFUSED(isotach_retrieve(store, SURFACE, NULL), WRONG, "fields is NULL");
    REFUSED(isotach_retrieve(store, "class=rd", &fields), ISOTACH_REQUEST, "also needs date");
    REFUSED(isotach_inspect(NULL, SURFACE, &fields), WRONG, "store is NULL");
    REFUSED(isotach_inspect(store, NULL, &fields), WRONG, "request is NULL");
    REFUSED(isotach_inspect(store, SURFACE, NULL), WRONG, "fields is NULL");
    REFUSED(isotach_list(NULL, "", 0, &fields), WRONG, "store is NULL");
    REFUSED(isotach_list(store, NULL, 0, &fields), WRONG, "request is NULL");
    REFUSED(isotach_list(store, "", 0, NULL), WRONG, "fields is NULL");
    REFUSED(isotach_list(store, "", 2, &fields), WRONG, "flags 2");
    REFUSED(isotach_list(store, "colour=red", 0, &fields), ISOTACH_REQUEST, "unknown key \"colour\"");
    REFUSED(isotach_list(store, "class=", 0, &fields), ISOTACH_REQUEST, "expected");
    IS(fields == NULL && bytes == NULL, 1);
}

static void iterating(isotach_store *store)
{
    isotach_fields *fields = NULL;
    const char *text;
    const void *data;
    size_t length;
    uint64_t number;
    int is_replaced;
    IS(isotach_archive(store, SURFACE, "zero", 4), ISOTACH_OK);
    IS(isotach_flush(store), ISOTACH_OK);
    IS(isotach_retrieve(store, SURFACE, &fields), ISOTACH_OK);
    REFUSED(isotach_fields_next(NULL), WRONG, "fields is NULL");
    REFUSED(isotach_fields_key(fields, &text), WRONG, "there is no field");
    REFUSED(isotach_fields_value(fields, "step", &text), WRONG, "there is no field");
    REFUSED(isotach_fields_data(fields, &data, &length), WRONG, "there is no field");
    REFUSED(isotach_fields_place(fields, &text, NULL, NULL, NULL), WRONG, "there is no field");
    REFUSED(isotach_fields_is_replaced(fields, &is_replaced), WRONG, "there is no field");
    IS(isotach_fields_next(fields), ISOTACH_OK);
    REFUSED(isotach_fields_key(NULL, &text), WRONG, "fields is NULL");
    REFUSED(isotach_fields_key(fields, NULL), WRONG, "key is NULL");
    REFUSED(isotach_fields_value(NULL, "step", &text), WRONG, "fields is NULL");
    REFUSED(isotach_fields_value(fields, NULL, &text), WRONG, "name is NULL");
    REFUSED(isotach_fields_value(fields, "step", NULL), WRONG, "value is NULL");
    REFUSED(isotach_fields_data(NULL, &data, &length), WRONG, "fields is NULL");
    REFUSED(isotach_fields_data(fields, NULL, &length), WRONG, "data is NULL");
    REFUSED(isotach_fields_data(fields, &data, NULL), WRONG, "length is NULL");
    REFUSED(isotach_fields_place(NULL, &text, NULL, NULL, NULL), WRONG, "fields is NULL");
    REFUSED(isotach_fields_is_replaced(NULL, &is_replaced), WRONG, "fields is NULL");
    REFUSED(isotach_fields_is_replaced(fields, NULL), WRONG, "is_replaced is NULL");
    IS(isotach_fields_next(fields), ISOTACH_NONE);
    REFUSED(isotach_fields_missing(NULL, &number), WRONG, "fields is NULL");
    REFUSED(isotach_fields_missing(fields, NULL), WRONG, "count is NULL");
    REFUSED(isotach_fields_missing_key(NULL, 0, &text), WRONG, "fields is NULL");
    REFUSED(isotach_fields_missing_key(fields, 0, NULL), WRONG, "key is NULL");
    isotach_fields_free(fields);
    isotach_fields_free(NULL);
}

typedef int (*report_function)(isotach_store *, const char *, isotach_report **);

static int wipe(isotach_store *store, const char *request, isotach_report **report)
{
    return isotach_wipe(store, request, 0, report);
}

static int delete_fields(isotach_store *store, const char *request, isotach_report **report)
{
    return isotach_delete(store, request, 0, report);
}

static int purge(isotach_store *store, const char *request, isotach_report **report)
{
    return isotach_purge(store, request, 0, report);
}

static void reports(isotach_store *store)
{
    report_function functions[] = {isotach_axes, isotach_status_of, wipe, purge, delete_fields};
    isotach_report *report = NULL;
    const char *text;
    uint64_t number;
    size_t at;
    for (at = 0; at < sizeof functions / sizeof *functions; at++) {
        REFUSED(functions[at](NULL, "class=rd", &report), WRONG, "store is NULL");
        REFUSED(functions[at](store, NULL, &report), WRONG, "request is NULL");
        REFUSED(functions[at](store, "class=rd", NULL), WRONG, "report is NULL");
        REFUSED(functions[at](store, "colour=red", &report), ISOTACH_REQUEST, "unknown key");
    }
    REFUSED(isotach_wipe(store, "class=rd,step=0", 1, &report), ISOTACH_BELOW_COLLOCATION, "step");
    REFUSED(isotach_delete(store, "class=rd,step=0", 1, &report), ISOTACH_REQUEST, "type");
    IS(isotach_axes(store, "", &report), ISOTACH_OK);
    IS(isotach_report_next(report), ISOTACH_OK);
    REFUSED(isotach_report_next(NULL), WRONG, "report is NULL");
    REFUSED(isotach_report_text(NULL, "name", 0, &text), WRONG, "report is NULL");
    REFUSED(isotach_report_text(report, NULL, 0, &text), WRONG, "name is NULL");
    REFUSED(isotach_report_text(report, "name", 0, NULL), WRONG, "text is NULL");
    REFUSED(isotach_report_number(NULL, "name", &number), WRONG, "report is NULL");
    REFUSED(isotach_report_number(report, NULL, &number), WRONG, "name is NULL");
    REFUSED(isotach_report_number(report, "name", NULL), WRONG, "expected one of");
    isotach_report_free(report);
    isotach_report_free(NULL);
}

static void transactions(isotach_store *store)
{
    isotach_transaction *transaction = NULL;
    REFUSED(isotach_transaction_begin(NULL, &transaction), WRONG, "store is NULL");
    REFUSED(isotach_transaction_begin(store, NULL), WRONG, "transaction is NULL");
    IS(isotach_transaction_begin(store, &transaction), ISOTACH_OK);
    REFUSED(isotach_transaction_archive(NULL, SURFACE, "x", 1), WRONG, "transaction is NULL");
    REFUSED(isotach_transaction_archive(transaction, NULL, "x", 1), WRONG, "key is NULL");
    REFUSED(isotach_transaction_archive(transaction, SURFACE, NULL, 1), WRONG, "data is NULL");
    REFUSED(isotach_transaction_archive_messages(NULL, "x", 1, NULL), WRONG, "transaction is NULL");
    REFUSED(isotach_transaction_archive_messages(transaction, "x", 1, NULL), ISOTACH_MESSAGE, "GRIB");
    IS(isotach_transaction_archive(transaction, SURFACE, "x", 1), ISOTACH_OK);
    REFUSED(isotach_transaction_archive(transaction, "class=od,expver=xxxx,stream=oper,date=20240101,time=0000,domain=g,type=an,"
        "levtype=sfc,step=0,param=167", "x", 1), WRONG, "one dataset in each transaction");
    REFUSED(isotach_transaction_commit(NULL), WRONG, "transaction is NULL");
    isotach_transaction_free(transaction);
    isotach_transaction_free(NULL);
}

int main(int argc, char **argv)
{
    isotach_store *store = NULL;
    if (argc != 3)
        return 2;
    IS(isotach_create(argv[1], NULL, &store), ISOTACH_OK);
    if (store == NULL)
        return 2;
    stores(argv[1], argv[2]);
    archiving(store);
    retrieving(store);
    iterating(store);
    reports(store);
    transactions(store);
    isotach_close(store);
    return failures != 0;
}
