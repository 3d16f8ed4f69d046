/*
 * The conformance program: runs checks of DAOS's semantics against the library that it is linked with.
 *
 * Exit status: 0 when no check failed, 1 when one failed, 2 when it was called wrongly or could not start.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

/* One line for each subject; the subjects are in the files of their names. */
#define SUBJECTS(APPLY)                                                                                                \
    APPLY(pool)                                                                                                        \
    APPLY(container)                                                                                                   \
    APPLY(oid)                                                                                                         \
    APPLY(kv)                                                                                                          \
    APPLY(kv_list)                                                                                                     \
    APPLY(array)                                                                                                       \
    APPLY(array_size)                                                                                                  \
    APPLY(object)                                                                                                      \
    APPLY(object_record)                                                                                               \
    APPLY(object_extent)                                                                                               \
    APPLY(object_list)                                                                                                 \
    APPLY(tx)                                                                                                          \
    APPLY(snapshot)                                                                                                    \
    APPLY(oit)                                                                                                         \
    APPLY(event)                                                                                                       \
    APPLY(prop)                                                                                                        \
    APPLY(acl)                                                                                                         \
    APPLY(handle)                                                                                                      \
    APPLY(errors)                                                                                                      \
    APPLY(dfs_mount)                                                                                                   \
    APPLY(dfs_file)                                                                                                    \
    APPLY(dfs_name)                                                                                                    \
    APPLY(dfs_attr)

#define DECLARE(name) extern struct subject name##_subject;
SUBJECTS(DECLARE)

#define ADDRESS(name) &name##_subject,
static const struct subject *const subjects[] = {SUBJECTS(ADDRESS)};

enum { NAME_MAX_SIZE = 256 };

struct options {
    const char *pool;
    const char *only;
    bool list;
    bool json;
};

struct totals {
    unsigned int passed;
    unsigned int failed;
    unsigned int skipped;
};

static const char usage[] =
    "usage: daos-conformance [--pool LABEL] [--only PREFIX] [--list] [--json]\n"
    "\n"
    "  --pool LABEL   the pool to use (label or UUID); otherwise the environment variable DAOS_CONFORMANCE_POOL\n"
    "  --only PREFIX  run the checks whose names begin with PREFIX, for instance kv. or array.open\n"
    "  --list         print the names and the rules of the checks and run none\n"
    "  --json         print one JSON object a line\n";

_Noreturn static void refuse(const char *reason, const char *what)
{
    fprintf(stderr, "daos-conformance: %s%s\n%s", reason, what, usage);
    exit(2);
}

static const char *value_of(int argc, char **argv, int *i)
{
    if (*i + 1 >= argc)
        refuse("a value is missing after ", argv[*i]);
    return argv[++*i];
}

static struct options parse(int argc, char **argv)
{
    struct options options = {.pool = getenv("DAOS_CONFORMANCE_POOL"), .only = ""};

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--pool") == 0) {
            options.pool = value_of(argc, argv, &i);
        } else if (strcmp(argv[i], "--only") == 0) {
            options.only = value_of(argc, argv, &i);
        } else if (strcmp(argv[i], "--list") == 0) {
            options.list = true;
        } else if (strcmp(argv[i], "--json") == 0) {
            options.json = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            exit(0);
        } else {
            refuse("unknown option ", argv[i]);
        }
    }
    return options;
}

static void print_json_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c > 0x7e)
            // Bytes outside of ASCII come from a failed comparison and need not be UTF-8.
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_json(const char *name, const struct check *check, const struct result *result)
{
    static const char *const outcomes[] = {"passed", "failed", "skipped"};

    printf("{\"check\":");
    print_json_text(name);
    printf(",\"rule\":");
    print_json_text(check->rule);
    if (result != NULL) {
        printf(",\"outcome\":\"%s\"", outcomes[result->outcome]);
        if (result->message[0] != '\0') {
            printf(",\"message\":");
            print_json_text(result->message);
        }
    }
    printf("}\n");
}

static void print_text(const char *name, const struct check *check, const struct result *result)
{
    if (result == NULL)
        printf("%s\n    %s\n", name, check->rule);
    else if (result->outcome == PASSED)
        printf("passed   %s\n", name);
    else if (result->outcome == SKIPPED)
        printf("skipped  %s\n    reason: %s\n", name, result->message);
    else
        printf("FAILED   %s\n    rule: %s\n    %s\n", name, check->rule, result->message);
}

static void count(struct totals *totals, const struct result *result)
{
    totals->passed += result->outcome == PASSED;
    totals->failed += result->outcome == FAILED;
    totals->skipped += result->outcome == SKIPPED;
}

static void visit(const struct options *options, const struct subject *subject, const struct check *check,
                  struct totals *totals)
{
    static struct result result;
    char name[NAME_MAX_SIZE];

    snprintf(name, sizeof(name), "%s.%s", subject->name, check->name);
    if (strncmp(name, options->only, strlen(options->only)) != 0)
        return;
    if (!options->list) {
        harness_run(check, &result);
        count(totals, &result);
    }
    (options->json ? print_json : print_text)(name, check, options->list ? NULL : &result);
    // A library that crashes in the next check must not take the results so far with it.
    fflush(stdout);
}

static void visit_all(const struct options *options, struct totals *totals)
{
    for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
        for (const struct check *check = subjects[i]->first; check != NULL; check = check->next)
            visit(options, subjects[i], check, totals);
}

static void start(const struct options *options)
{
    int status;

    if (options->pool == NULL)
        refuse("no pool is named", "");
    status = harness_start(options->pool);
    if (status != 0) {
        fprintf(stderr, "daos-conformance: cannot connect to pool %s: %s (%d)\n", options->pool, status_name(status),
                status);
        exit(2);
    }
}

static void print_totals(const struct options *options, const struct totals *totals)
{
    printf(options->json ? "{\"passed\":%u,\"failed\":%u,\"skipped\":%u}\n" : "%u passed, %u failed, %u skipped\n",
           totals->passed, totals->failed, totals->skipped);
}

int main(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    struct totals totals = {0};

    if (options.list) {
        visit_all(&options, &totals);
        return 0;
    }
    start(&options);
    visit_all(&options, &totals);
    harness_stop();
    if (totals.passed + totals.failed + totals.skipped == 0)
        refuse("no check begins with ", options.only);
    print_totals(&options, &totals);
    return totals.failed > 0;
}
