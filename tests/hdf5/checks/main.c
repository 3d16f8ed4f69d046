/* Checks of an HDF5 connector by the calls of a program: the same ones on the native connector and on any other.
 *
 * Usage: checks FOLDER [AREA...]. Prints a line for each check, and at the end how many there were and how many failed.
 */
#include "check.h"

#include <stdarg.h>

static int checks, failures;
static const char *folder;

bool check(bool holds, const char *format, ...)
{
    va_list arguments;
    printf("%s ", holds ? "ok    " : "FAILED");
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    checks++;
    failures += !holds;
    return holds;
}

void show(const char *what, long long value)
{
    printf("       %s = %lld\n", what, value);
}

void show_text(const char *what, const char *value)
{
    printf("       %s = %s\n", what, value);
}

const char *path(const char *name)
{
    static char paths[4][4096];
    static int next;
    char *text = paths[next++ % 4];
    snprintf(text, sizeof paths[0], "%s/%s", folder, name);
    return text;
}

hid_t new_file(const char *name)
{
    hid_t file = H5Fcreate(path(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    DONE(file, "create %s", name);
    return file;
}

hid_t open_file(const char *name, bool writable)
{
    hid_t file = H5Fopen(path(name), writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, H5P_DEFAULT);
    DONE(file, "open %s", name);
    return file;
}

static const struct {
    const char *name;
    void (*run)(void);
} AREAS[] = {
    {"files", check_files},           {"groups", check_groups},       {"links", check_links},
    {"attributes", check_attributes}, {"types", check_types},         {"datasets", check_datasets},
    {"extents", check_extents},       {"selections", check_selections}, {"chunks", check_chunks},
    {"variable", check_variable},     {"references", check_references}, {"objects", check_objects},
    {"copies", check_copies},         {"virtual", check_virtual},
    {"filters", check_filters},       {"natives", check_natives},     {"external", check_external},
    {"asynchronous", check_asynchronous},
};

static bool is_wanted(const char *name, int count, char **wanted)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, wanted[i]) == 0)
            return true;
    return count == 0;
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: checks FOLDER [AREA...]\n");
        return 2;
    }
    folder = arguments[1];
    if (!getenv("CHECKS_VERBOSE"))
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    for (size_t i = 0; i < sizeof AREAS / sizeof AREAS[0]; i++) {
        if (!is_wanted(AREAS[i].name, count - 2, arguments + 2))
            continue;
        printf("== %s\n", AREAS[i].name);
        AREAS[i].run();
        /* What a check left open would show up in the next one. */
        show("open objects", H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
    }
    printf("%d checks, %d failed\n", checks, failures);
    return failures ? 1 : 0;
}
