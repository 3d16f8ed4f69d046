/* What is said of datasets: axes, status, deletions, wipes and purges, item by item.
 *
 * Usage: datasets STORE */
#include <isotach.h>

#define REASON isotach_error_text()
#include "expect.h"

#define DATASET "class=rd,expver=xxxx,stream=oper,date=20240101,time=0000,domain=g"
#define SURFACE DATASET ",type=an,levtype=sfc,param=167"

static const char *text_of(isotach_report *report, const char *name, size_t at)
{
    const char *text = "";
    IS(isotach_report_text(report, name, at, &text), ISOTACH_OK);
    return text;
}

static uint64_t number_of(isotach_report *report, const char *name)
{
    uint64_t number = 0;
    IS(isotach_report_number(report, name, &number), ISOTACH_OK);
    return number;
}

static void axes(isotach_store *store)
{
    isotach_report *report = NULL;
    const char *text;
    int number, steps = 0;
    IS(isotach_axes(store, "class=rd", &report), ISOTACH_OK);
    while ((number = isotach_report_next(report)) == ISOTACH_OK) {
        if (strcmp(text_of(report, "name", 0), "step") != 0)
            continue;
        steps++;
        HAS(text_of(report, "values", 0), "0");
        HAS(text_of(report, "values", 1), "6");
        IS(isotach_report_text(report, "values", 2, &text), ISOTACH_NONE);
    }
    IS(number, ISOTACH_NONE);
    IS(steps, 1);
    isotach_report_free(report);
}

static void status(isotach_store *store)
{
    isotach_report *report = NULL;
    const char *text;
    uint64_t number;
    IS(isotach_status_of(store, "", &report), ISOTACH_OK);
    REFUSED(isotach_report_text(report, "dataset", 0, &text), ISOTACH_INVALID_INPUT, "there is no item");
    IS(isotach_report_next(report), ISOTACH_OK);
    HAS(text_of(report, "dataset", 0), DATASET);
    HAS(text_of(report, "catalogue", 0), "posix:");
    HAS(text_of(report, "store", 0), "posix:");
    HAS(text_of(report, "rule", 0), "class");
    IS(number_of(report, "created_us") > 0, 1);
    IS(isotach_report_text(report, "locks", 0, &text), ISOTACH_NONE);
    IS(isotach_report_text(report, "forbidden", 0, &text), ISOTACH_NONE);
    IS(isotach_report_text(report, "below", 0, &text), ISOTACH_NONE);
    REFUSED(isotach_report_text(report, "colour", 0, &text), ISOTACH_INVALID_INPUT, "expected one of dataset, catalogue");
    REFUSED(isotach_report_number(report, "dataset", &number), ISOTACH_INVALID_INPUT, "expected one of created_us");
    IS(isotach_report_next(report), ISOTACH_NONE);
    isotach_report_free(report);
}

static void purge(isotach_store *store, int doit)
{
    isotach_report *report = NULL;
    IS(isotach_purge(store, DATASET, doit, &report), ISOTACH_OK);
    IS(isotach_report_next(report), ISOTACH_OK);
    HAS(text_of(report, "dataset", 0), DATASET);
    IS(number_of(report, "replaced_fields"), 1);
    IS(number_of(report, "replaced_bytes"), 3);
    IS(number_of(report, "before") > 0, 1);
    number_of(report, "freed");
    number_of(report, "held");
    number_of(report, "history_stays");
    IS(isotach_report_next(report), ISOTACH_NONE);
    isotach_report_free(report);
}

static void delete_one(isotach_store *store, int doit)
{
    isotach_report *report = NULL;
    IS(isotach_delete(store, SURFACE ",step=6", doit, &report), ISOTACH_OK);
    IS(isotach_report_next(report), ISOTACH_OK);
    HAS(text_of(report, "dataset", 0), DATASET);
    IS(number_of(report, "fields"), 1);
    IS(number_of(report, "bytes"), 11);
    IS(isotach_report_next(report), ISOTACH_NONE);
    isotach_report_free(report);
}

static void wipe(isotach_store *store, int doit)
{
    isotach_report *report = NULL;
    const char *text;
    IS(isotach_wipe(store, DATASET, doit, &report), ISOTACH_OK);
    IS(isotach_report_next(report), ISOTACH_OK);
    HAS(text_of(report, "dataset", 0), DATASET);
    HAS(text_of(report, "collocations", 0), "type=an,levtype=sfc");
    IS(isotach_report_text(report, "kept_by", 0, &text), ISOTACH_NONE);
    IS(isotach_report_text(report, "uncounted", 0, &text), ISOTACH_NONE);
    IS(number_of(report, "is_whole"), 1);
    IS(number_of(report, "fields"), 1);
    IS(number_of(report, "bytes"), 4);
    IS(number_of(report, "replaced_fields"), 1);
    IS(number_of(report, "replaced_bytes"), 11);
    IS(isotach_report_next(report), ISOTACH_NONE);
    isotach_report_free(report);
}

int main(int argc, char **argv)
{
    isotach_store *store = NULL;
    isotach_report *report = NULL;
    if (argc != 2)
        return 2;
    IS(isotach_create(argv[1], NULL, &store), ISOTACH_OK);
    if (store == NULL)
        return 2;
    IS(isotach_archive(store, SURFACE ",step=0", "zero", 4), ISOTACH_OK);
    IS(isotach_archive(store, SURFACE ",step=6", "six", 3), ISOTACH_OK);
    IS(isotach_flush(store), ISOTACH_OK);
    IS(isotach_archive(store, SURFACE ",step=6", "another six", 11), ISOTACH_OK);
    IS(isotach_flush(store), ISOTACH_OK);
    axes(store);
    status(store);
    purge(store, 0);
    purge(store, 1);
    delete_one(store, 0);
    delete_one(store, 1);
    wipe(store, 0);
    wipe(store, 1);
    IS(isotach_status_of(store, "", &report), ISOTACH_OK);
    IS(isotach_report_next(report), ISOTACH_NONE);
    isotach_report_free(report);
    REFUSED(isotach_wipe(store, "", 1, &report), ISOTACH_INVALID_INPUT, "a request without keys");
    isotach_close(store);
    return failures != 0;
}
