/* Calls every function of the interface and tells what each answers. Run on FDB's own library and on ours, it tells the same.
 *
 * Usage: every FILE OUT, where OUT gets what is told, and FILE has the GRIB messages of class=od,expver=0001,stream=oper,date=20240101,time=0000,type=fc,levtype=pl,
 * step=0/6,levelist=500/850,param=130, in this order. FDB_CONFIG names an empty store. */
#include "say.h"

static const char *const FIELD[] = {"class", "rd", "expver", "xxxx", "stream", "oper", "date", "20240101", "time", "0000",
    "domain", "g", "type", "an", "levtype", "sfc", "step", "0", "param", "167", NULL};
static const char *const FORECAST[] = {"class", "od", "expver", "0001", "stream", "oper", "date", "20240101", "time", "0000",
    "domain", "g", "type", "fc", "levtype", "pl", "step", "0", "levelist", "500", "param", "130", NULL};

static void add(fdb_request_t *request, const char *name, const char *value)
{
    MUST(fdb_request_add(request, name, &value, 1));
}

static void library(void)
{
    const char *version = NULL, *commit = NULL;
    SAY(fdb_initialise());
    SAY(fdb_initialise());
    SAY(fdb_version(&version));
    fprintf(told, "version 5: %d\n", strncmp(version, "5.", 2) == 0);
    SAY(fdb_vcs_version(&commit));
    fprintf(told, "commit: %d\n", commit != NULL && commit[0] != '\0');
    fprintf(told, "%s, %s, %s\n", fdb_error_string(FDB_SUCCESS), fdb_error_string(FDB_ITERATION_COMPLETE), fdb_error_string(77));
}

static void print_values(fdb_request_t *request, const char *name)
{
    char **values = NULL;
    size_t count = 0, at;
    fprintf(told, "%s:", name);
    if (fdb_request_get(request, name, &values, &count) != FDB_SUCCESS) {
        fprintf(told, " refused\n");
        return;
    }
    for (at = 0; at < count; at++) {
        fprintf(told, " %s", values[at]);
        free(values[at]);
    }
    free(values);
    fprintf(told, "\n");
}

static void requests(void)
{
    const char *steps[] = {"0", "6/12", "24//30/"};
    fdb_request_t *request;
    MUST(fdb_new_request(&request));
    print_values(request, "step");
    SAY(fdb_request_add(request, "step", steps, 3));
    print_values(request, "step");
    SAY(fdb_request_add(request, "step", steps, 1));
    print_values(request, "step");
    print_values(request, "param");
    MUST(fdb_delete_request(request));

    request = request_of(FORECAST);
    add(request, "step", "0/to/24/by/12");
    add(request, "param", "2t");
    add(request, "time", "12");
    add(request, "expver", "1");
    add(request, "class", "OD");
    add(request, "date", "2024-01-31/to/2024-02-02");
    SAY(fdb_expand_request(request));
    print_values(request, "step");
    print_values(request, "param");
    print_values(request, "time");
    print_values(request, "expver");
    print_values(request, "class");
    print_values(request, "date");
    add(request, "date", "notaday");
    SAY(fdb_expand_request(request));
    MUST(fdb_delete_request(request));
}

static void archive(fdb_handle_t *fdb, const char *step, const char *text)
{
    archive_text(fdb, FIELD, step, text);
}

static void listing(fdb_handle_t *fdb)
{
    fdb_request_t *request = request_of(FIELD);
    print_list(fdb, NULL, true, 3);
    archive(fdb, "0", "zero");
    archive(fdb, "6", "six");
    print_list(fdb, NULL, true, 3);
    SAY(fdb_flush(fdb));
    archive(fdb, "6", "another six");
    SAY(fdb_flush(fdb));
    print_list(fdb, NULL, true, 1);
    print_list(fdb, NULL, true, 2);
    print_list(fdb, NULL, true, 3);
    print_list(fdb, NULL, false, 3);
    print_list(fdb, NULL, true, 0);
    print_list(fdb, NULL, true, -2147483647);
    print_list(fdb, request, true, 3);
    add(request, "step", "0/6/12");
    print_list(fdb, request, true, 3);
    add(request, "step", "12");
    print_list(fdb, request, true, 3);
    MUST(fdb_delete_request(request));
}

/* The bytes that a reader has from where it stands, in pieces of this size. */
static void print_rest(fdb_datareader_t *reader, long piece)
{
    char buffer[64];
    long got = 0;
    fprintf(told, "rest:");
    while (fdb_datareader_read(reader, buffer, piece, &got) == FDB_SUCCESS && got > 0)
        fprintf(told, " [%.*s]", (int)got, buffer);
    fprintf(told, " %ld\n", got);
}

static void print_place(fdb_datareader_t *reader)
{
    long place = -1;
    int number = fdb_datareader_tell(reader, &place);
    fprintf(told, "tell: %d %ld\n", number, place);
}

static void reading(fdb_handle_t *fdb)
{
    fdb_request_t *request = request_of(FIELD);
    fdb_datareader_t *reader;
    char buffer[64];
    long size = -1, got = -1;
    add(request, "step", "6/0");
    MUST(fdb_new_datareader(&reader));
    SAY(fdb_retrieve(fdb, request, reader));
    SAY(fdb_datareader_size(reader, &size));
    fprintf(told, "size before it is open: %ld\n", size);
    SAY(fdb_datareader_open(reader, &size));
    fprintf(told, "size: %ld\n", size);
    print_place(reader);
    SAY(fdb_datareader_read(reader, buffer, 3, &got));
    fprintf(told, "read: %ld [%.*s]\n", got, (int)got, buffer);
    print_place(reader);
    print_rest(reader, 64);
    print_place(reader);
    SAY(fdb_datareader_read(reader, buffer, 3, &got));
    fprintf(told, "read at the end: %ld\n", got);
    SAY(fdb_datareader_seek(reader, 8));
    print_place(reader);
    print_rest(reader, 64);
    SAY(fdb_datareader_seek(reader, 0));
    SAY(fdb_datareader_skip(reader, 8));
    print_place(reader);
    print_rest(reader, 64);
    SAY(fdb_datareader_close(reader));
    SAY(fdb_datareader_open(reader, NULL));
    print_rest(reader, 64);
    SAY(fdb_datareader_close(reader));

    add(request, "step", "12");
    SAY(fdb_retrieve(fdb, request, reader));
    SAY(fdb_datareader_open(reader, &size));
    fprintf(told, "size of nothing: %ld\n", size);
    print_rest(reader, 64);
    SAY(fdb_datareader_close(reader));
    MUST(fdb_delete_datareader(reader));
    MUST(fdb_delete_request(request));
}

static char *file_of(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *bytes;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        exit(2);
    *length = (size_t)ftell(file);
    rewind(file);
    bytes = malloc(*length);
    if (bytes == NULL || fread(bytes, 1, *length, file) != *length)
        exit(2);
    fclose(file);
    return bytes;
}

static void messages(fdb_handle_t *fdb, const char *path)
{
    size_t length = 0;
    char *bytes = file_of(path, &length);
    fdb_request_t *request = request_of(FORECAST);
    add(request, "step", "0/6");
    SAY(fdb_archive_multiple(fdb, request, bytes, length));
    SAY(fdb_flush(fdb));
    add(request, "levelist", "500/850/1000");
    SAY(fdb_archive_multiple(fdb, request, bytes, length));
    SAY(fdb_flush(fdb));
    add(request, "levelist", "850/500");
    SAY(fdb_archive_multiple(fdb, request, bytes, length));
    SAY(fdb_archive_multiple(fdb, NULL, bytes, length));
    SAY(fdb_flush(fdb));
    print_list(fdb, request, true, 3);
    print_list(fdb, NULL, true, 1);
    SAY(fdb_archive_multiple(fdb, NULL, "no message", 10));
    MUST(fdb_delete_request(request));
    free(bytes);
}

static void print_wipe(fdb_handle_t *fdb, fdb_request_t *request, bool doit)
{
    fdb_wipe_iterator_t *iterator;
    fdb_wipe_element_t *element;
    const char *text;
    int elements = 0, number;
    MUST(fdb_wipe(fdb, request, doit, false, false, &iterator));
    while ((number = fdb_wipe_iterator_next(iterator, &element)) == FDB_SUCCESS) {
        text = NULL;
        MUST(fdb_wipe_element_string(element, &text));
        elements += text != NULL && text[0] != '\0';
        MUST(fdb_delete_wipe_element(element));
    }
    if (number == FDB_ITERATION_COMPLETE)
        MUST(fdb_delete_wipe_element(element));
    MUST(fdb_delete_wipe_iterator(iterator));
    fprintf(told, "wipe%s: %s, then %d\n", doit ? " with doit" : "", elements > 0 ? "elements" : "nothing", number);
}

static void print_purge(fdb_handle_t *fdb, fdb_request_t *request, bool doit)
{
    fdb_purge_iterator_t *iterator;
    fdb_purge_element_t *element;
    const char *text;
    int elements = 0, number;
    MUST(fdb_purge(fdb, request, doit, false, &iterator));
    while ((number = fdb_purge_iterator_next(iterator, &element)) == FDB_SUCCESS) {
        text = NULL;
        MUST(fdb_purge_element_string(element, &text));
        elements += text != NULL && text[0] != '\0';
        MUST(fdb_delete_purge_element(element));
    }
    if (number == FDB_ITERATION_COMPLETE)
        MUST(fdb_delete_purge_element(element));
    MUST(fdb_delete_purge_iterator(iterator));
    fprintf(told, "purge%s: %s, then %d\n", doit ? " with doit" : "", elements > 0 ? "elements" : "nothing", number);
}

static void removing(fdb_handle_t *fdb)
{
    static const char *const DATASET[] = {"class", "od", "expver", "0001", "stream", "oper", "date", "20240101", "time", "0000",
        "domain", "g", NULL};
    fdb_request_t *request = request_of(DATASET);
    print_purge(fdb, request, false);
    print_purge(fdb, request, true);
    print_wipe(fdb, request, false);
    print_list(fdb, request, true, 1);
    print_wipe(fdb, request, true);
    print_list(fdb, request, true, 1);
    print_list(fdb, NULL, true, 1);
    MUST(fdb_delete_request(request));
}

int main(int argc, char **argv)
{
    fdb_handle_t *fdb = NULL;
    if (argc != 3 || (told = fopen(argv[2], "w")) == NULL)
        return 2;
    library();
    requests();
    MUST(fdb_new_handle(&fdb));
    listing(fdb);
    reading(fdb);
    messages(fdb, argv[1]);
    removing(fdb);
    SAY(fdb_delete_handle(fdb));
    return fclose(told);
}
