/* What the checks share. Each prints a line, so that two runs on different connectors can be compared word by word. */
#ifndef CHECK_H
#define CHECK_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the text with "ok" or "FAILED" in front. Returns whether it holds. */
bool check(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a value that both connectors must have. */
void show(const char *what, long long value);
void show_text(const char *what, const char *value);

/* A call that must fail. Its errors are not printed. */
#define REFUSED(call, ...)                                                                                                  \
    do {                                                                                                                    \
        long long refused_;                                                                                                 \
        H5E_BEGIN_TRY { refused_ = (long long)(call); }                                                                     \
        H5E_END_TRY                                                                                                         \
        check(refused_ < 0, "refused: " __VA_ARGS__);                                                                       \
    } while (0)

/* A call that must succeed. */
#define DONE(call, ...) check((long long)(call) >= 0, __VA_ARGS__)

/* The path of a file of this run. The text is valid until the next call but three. */
const char *path(const char *name);

/* A new file, and an existing one. */
hid_t new_file(const char *name);
hid_t open_file(const char *name, bool writable);

/* A simple space of up to three dimensions; those after the first 0 are left out. */
hid_t space_of(hsize_t first, hsize_t second, hsize_t third);

/* A dataset of native integers with the numbers from `first` on, or NULL space for a scalar. */
hid_t int_dataset(hid_t at, const char *name, hid_t space, int first);

/* An attribute with one integer. */
void put_int(hid_t at, const char *name, int value);
int int_of(hid_t at, const char *name);

void check_files(void);
void check_groups(void);
void check_links(void);
void check_attributes(void);
void check_types(void);
void check_datasets(void);
void check_extents(void);
void check_selections(void);
void check_chunks(void);
void check_variable(void);
void check_references(void);
void check_objects(void);
void check_copies(void);
void check_virtual(void);
void check_filters(void);
void check_natives(void);
void check_external(void);
void check_asynchronous(void);

#endif
