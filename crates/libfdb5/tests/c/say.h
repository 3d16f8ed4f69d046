/* What the programs of these tests tell: a line for each call, with what it answered. FDB's own library prints to standard output, so that
 * what is compared goes elsewhere. */
#ifndef SAY_H
#define SAY_H

#include <fdb5/api/fdb_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 256

/* Where it is told. */
static FILE *told;

/* Prints a call and its number. */
#define SAY(call) say(#call, (call))

static inline int say(const char *call, int number)
{
    fprintf(told, "%s: %d\n", call, number);
    return number;
}

/* Ends the program if a call that must succeed does not. */
#define MUST(call) must(#call, (call))

static inline void must(const char *call, int number)
{
    if (number != FDB_SUCCESS) {
        fprintf(stderr, "%s: %d: %s\n", call, number, fdb_error_string(number));
        exit(1);
    }
}

/* Archives a text under names and values that alternate and end with NULL, at a step. */
static inline void archive_text(fdb_handle_t *fdb, const char *const *pairs, const char *step, const char *text)
{
    fdb_key_t *key;
    MUST(fdb_new_key(&key));
    for (; *pairs != NULL; pairs += 2)
        MUST(fdb_key_add(key, pairs[0], pairs[1]));
    MUST(fdb_key_add(key, "step", step));
    MUST(fdb_archive(fdb, key, text, strlen(text)));
    MUST(fdb_delete_key(key));
}

/* A request from names and values that alternate and end with NULL. */
static inline fdb_request_t *request_of(const char *const *pairs)
{
    fdb_request_t *request;
    MUST(fdb_new_request(&request));
    for (; *pairs != NULL; pairs += 2) {
        const char *value = pairs[1];
        MUST(fdb_request_add(request, pairs[0], &value, 1));
    }
    return request;
}

static inline int compare_lines(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Prints lines in the order of their text, and frees them: no order of a listing is promised. */
static inline void print_sorted(char **lines, size_t count)
{
    size_t at;
    qsort(lines, count, sizeof(*lines), compare_lines);
    for (at = 0; at < count; at++) {
        fprintf(told, "  %s\n", lines[at]);
        free(lines[at]);
    }
}

/* The key of the element that an iterator has, without keys that are absent. */
static inline void append_key(fdb_listiterator_t *listing, char *line, size_t size)
{
    fdb_split_key_t *key;
    const char *name, *value;
    size_t level;
    MUST(fdb_new_splitkey(&key));
    MUST(fdb_listiterator_splitkey(listing, key));
    while (fdb_splitkey_next_metadata(key, &name, &value, &level) == FDB_SUCCESS)
        if (value[0] != '\0') {
            size_t used = strlen(line);
            snprintf(line + used, size - used, " %zu:%s=%s", level, name, value);
        }
    MUST(fdb_delete_splitkey(key));
}

/* Prints a listing: each key, and at depth 3 the length. */
static inline void print_list(fdb_handle_t *fdb, const fdb_request_t *request, bool duplicates, int depth)
{
    fdb_listiterator_t *listing;
    char *lines[LINES_MAX];
    size_t count = 0;
    int number;
    MUST(fdb_list(fdb, request, &listing, duplicates, depth));
    while ((number = fdb_listiterator_next(listing)) == FDB_SUCCESS && count < LINES_MAX) {
        char line[512] = "";
        append_key(listing, line, sizeof(line));
        if (depth < 1 || depth > 2) {
            const char *uri = NULL;
            size_t offset = 0, length = 0, used = strlen(line);
            MUST(fdb_listiterator_attrs(listing, &uri, &offset, &length));
            snprintf(line + used, sizeof(line) - used, " %zu bytes%s", length, uri == NULL || *uri == '\0' ? " nowhere" : "");
        }
        lines[count++] = strdup(line);
    }
    fprintf(told, "list depth %d%s: %zu, then %d\n", depth, duplicates ? "" : " with replaced fields", count, number);
    print_sorted(lines, count);
    MUST(fdb_delete_listiterator(listing));
}

#endif
