/* Every function on fields: what is archived is found again, in each way there is.
 *
 * Usage: fields STORE FILE, where FILE has four GRIB messages of one dataset. */
#include <isotach.h>
#include <stdlib.h>

#define REASON isotach_error_text()
#include "expect.h"

#define DATASET "class=rd,expver=xxxx,stream=oper,date=20240101,time=0000,domain=g"
#define SURFACE DATASET ",type=an,levtype=sfc,param=167"

static void names(void)
{
    HAS(isotach_version(), ".");
    HAS(isotach_error_text(), "");
    HAS(isotach_status_name(ISOTACH_NO_SPACE), "no-space");
    HAS(isotach_status_name(-1), "unknown");
}

static void archive(isotach_store *store)
{
    const char *keys[] = {"class", "expver", "stream", "date", "time", "domain", "type", "levtype", "step", "param"};
    const char *values[] = {"rd", "xxxx", "oper", "20240101", "0000", "g", "an", "sfc", "6", "167"};
    isotach_bytes *bytes = NULL;
    IS(isotach_archive(store, SURFACE ",step=0", "zero", 4), ISOTACH_OK);
    IS(isotach_archive_pairs(store, keys, values, 10, "six", 3), ISOTACH_OK);
    IS(isotach_archive(store, SURFACE ",step=12", NULL, 0), ISOTACH_OK);
    IS(isotach_retrieve_one(store, SURFACE ",step=0", &bytes), ISOTACH_NONE);
    IS(bytes == NULL, 1);
    IS(isotach_flush(store), ISOTACH_OK);
    IS(isotach_archive(store, SURFACE ",step=6", "another six", 11), ISOTACH_OK);
    IS(isotach_flush(store), ISOTACH_OK);
}

static void one(isotach_store *store)
{
    isotach_bytes *bytes = NULL;
    const void *data = NULL;
    char buffer[16];
    size_t length = 0;
    IS(isotach_retrieve_one(store, SURFACE ",step=6", &bytes), ISOTACH_OK);
    IS(isotach_bytes_data(bytes, &data, &length), ISOTACH_OK);
    IS(length, 11);
    IS(memcmp(data, "another six", 11), 0);
    isotach_bytes_free(bytes);
    IS(isotach_retrieve_one(store, SURFACE ",step=12", &bytes), ISOTACH_OK);
    IS(isotach_bytes_data(bytes, &data, &length), ISOTACH_OK);
    IS(length, 0);
    isotach_bytes_free(bytes);
    IS(isotach_retrieve_into(store, SURFACE ",step=0", buffer, sizeof(buffer), &length), ISOTACH_OK);
    IS(length, 4);
    IS(memcmp(buffer, "zero", 4), 0);
    IS(isotach_retrieve_into(store, SURFACE ",step=18", buffer, sizeof(buffer), &length), ISOTACH_NONE);
    REFUSED(isotach_retrieve_into(store, SURFACE ",step=6", buffer, 10, &length), ISOTACH_TOO_SMALL, "11 bytes");
    IS(length, 11);
    REFUSED(isotach_retrieve_into(store, SURFACE ",step=6", NULL, 0, &length), ISOTACH_TOO_SMALL, "11 bytes");
}

static void many(isotach_store *store)
{
    isotach_fields *fields = NULL;
    const char *text = NULL, *again = NULL;
    const void *data = NULL;
    size_t length = 0;
    uint64_t missing = 0, offset, size;
    uint32_t checksum;
    IS(isotach_retrieve(store, SURFACE ",step=6/18/0", &fields), ISOTACH_OK);
    REFUSED(isotach_fields_missing(fields, &missing), ISOTACH_INVALID_INPUT, "after the last field");
    REFUSED(isotach_fields_missing_key(fields, 0, &text), ISOTACH_INVALID_INPUT, "after the last field");
    IS(isotach_fields_next(fields), ISOTACH_OK);
    IS(isotach_fields_data(fields, &data, &length), ISOTACH_OK);
    IS(length, 11);
    IS(memcmp(data, "another six", 11), 0);
    IS(isotach_fields_value(fields, "STEP", &text), ISOTACH_OK);
    IS(strcmp(text, "6"), 0);
    IS(isotach_fields_value(fields, "levelist", &text), ISOTACH_NONE);
    IS(isotach_fields_key(fields, &text), ISOTACH_OK);
    HAS(text, "class=rd,expver=xxxx,stream=oper,date=20240101,time=0000,domain=g,type=an,levtype=sfc,step=6,param=167");
    IS(isotach_fields_key(fields, &again), ISOTACH_OK);
    IS(text == again, 1);
    IS(isotach_fields_place(fields, &text, &offset, &size, &checksum), ISOTACH_OK);
    HAS(text, "posix:");
    IS(size, 11);
    IS(isotach_fields_place(fields, NULL, NULL, NULL, NULL), ISOTACH_OK);
    REFUSED(isotach_fields_missing(fields, &missing), ISOTACH_INVALID_INPUT, "after the last field");
    IS(isotach_fields_next(fields), ISOTACH_OK);
    IS(isotach_fields_data(fields, &data, &length), ISOTACH_OK);
    IS(memcmp(data, "zero", 4), 0);
    IS(isotach_fields_next(fields), ISOTACH_NONE);
    IS(isotach_fields_next(fields), ISOTACH_NONE);
    IS(isotach_fields_missing(fields, &missing), ISOTACH_OK);
    IS(missing, 1);
    IS(isotach_fields_missing_key(fields, 0, &text), ISOTACH_OK);
    HAS(text, "step=18");
    IS(isotach_fields_missing_key(fields, 1, &text), ISOTACH_NONE);
    isotach_fields_free(fields);

    IS(isotach_inspect(store, SURFACE ",step=0/6", &fields), ISOTACH_OK);
    REFUSED(isotach_fields_missing(fields, &missing), ISOTACH_INVALID_INPUT, "after the last field");
    IS(isotach_fields_next(fields), ISOTACH_OK);
    REFUSED(isotach_fields_data(fields, &data, &length), ISOTACH_INVALID_INPUT, "has no bytes");
    IS(isotach_fields_next(fields), ISOTACH_OK);
    IS(isotach_fields_next(fields), ISOTACH_NONE);
    IS(isotach_fields_missing(fields, &missing), ISOTACH_OK);
    IS(missing, 0);
    isotach_fields_free(fields);
}

static void listed(isotach_store *store, const char *request, int flags, int expected, int expected_replaced)
{
    isotach_fields *fields = NULL;
    int number, count = 0, replaced = 0, is_replaced = -1;
    uint64_t missing;
    IS(isotach_list(store, request, flags, &fields), ISOTACH_OK);
    while ((number = isotach_fields_next(fields)) == ISOTACH_OK) {
        IS(isotach_fields_is_replaced(fields, &is_replaced), ISOTACH_OK);
        replaced += is_replaced;
        count++;
    }
    IS(number, ISOTACH_NONE);
    IS(count, expected);
    IS(replaced, expected_replaced);
    REFUSED(isotach_fields_missing(fields, &missing), ISOTACH_INVALID_INPUT, "misses nothing");
    isotach_fields_free(fields);
}

static void messages(isotach_store *store, const char *path)
{
    FILE *file = fopen(path, "rb");
    static char bytes[1 << 16];
    size_t length = file == NULL ? 0 : fread(bytes, 1, sizeof(bytes), file), count = 0;
    isotach_transaction *transaction = NULL;
    if (file != NULL)
        fclose(file);
    IS(isotach_archive_messages(store, bytes, length, &count), ISOTACH_OK);
    IS(count, 4);
    IS(isotach_archive_messages(store, bytes, length, NULL), ISOTACH_OK);
    IS(isotach_flush(store), ISOTACH_OK);
    listed(store, "class=od", 0, 4, 0);
    IS(isotach_transaction_begin(store, &transaction), ISOTACH_OK);
    IS(isotach_transaction_archive_messages(transaction, bytes, length, &count), ISOTACH_OK);
    IS(count, 4);
    IS(isotach_transaction_commit(transaction), ISOTACH_OK);
    isotach_transaction_free(transaction);
}

static void transactions(isotach_store *store)
{
    isotach_transaction *transaction = NULL;
    IS(isotach_transaction_begin(store, &transaction), ISOTACH_OK);
    IS(isotach_transaction_archive(transaction, SURFACE ",step=24", "24", 2), ISOTACH_OK);
    IS(isotach_transaction_archive(transaction, SURFACE ",step=30", "30", 2), ISOTACH_OK);
    IS(isotach_flush(store), ISOTACH_OK);
    listed(store, "class=rd,step=24/30", 0, 0, 0);
    IS(isotach_transaction_commit(transaction), ISOTACH_OK);
    listed(store, "class=rd,step=24/30", 0, 2, 0);
    IS(isotach_transaction_archive(transaction, SURFACE ",step=36", "36", 2), ISOTACH_OK);
    isotach_transaction_free(transaction);
    listed(store, "class=rd,step=36", 0, 0, 0);
    IS(isotach_transaction_begin(store, &transaction), ISOTACH_OK);
    IS(isotach_transaction_commit(transaction), ISOTACH_OK);
    isotach_transaction_free(transaction);
}

int main(int argc, char **argv)
{
    isotach_store *store = NULL;
    isotach_fields *fields = NULL;
    if (argc != 3)
        return 2;
    names();
    IS(isotach_create(argv[1], NULL, &store), ISOTACH_OK);
    if (store == NULL)
        return 2;
    archive(store);
    one(store);
    many(store);
    listed(store, "", 0, 3, 0);
    listed(store, "class=rd,step=6", ISOTACH_REPLACED, 2, 1);
    listed(store, "class=rd,step=99", 0, 0, 0);
    messages(store, argv[2]);
    transactions(store);
    /* What came from a store outlives it. */
    IS(isotach_retrieve(store, SURFACE ",step=0/6", &fields), ISOTACH_OK);
    isotach_close(store);
    IS(isotach_fields_next(fields), ISOTACH_OK);
    isotach_fields_free(fields);
    return failures != 0;
}
