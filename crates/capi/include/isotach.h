/* Isotach for C: a store of weather fields, found by what they are. docs/c.md has a first program.
 *
 * Calls. Each function that can fail returns an isotach_status: ISOTACH_OK, ISOTACH_NONE, or why it failed; isotach_error_text() then has
 * the reason for people. A result goes to where a pointer leads, and only if the call succeeds. A pointer that must not be NULL is refused
 * with ISOTACH_INVALID_INPUT; those that may be are marked so. Texts end with a NUL and are in UTF-8.
 *
 * Objects. What a function gives through isotach_X ** is freed by isotach_X_free (a store by isotach_close), once; NULL is freed in silence.
 * Objects that came from a store stay usable after it is closed. Using an object after it was freed, or freeing it twice, is undefined.
 *
 * Threads may share a store and a transaction. Any other object is for one thread at a time. No object is used after a fork by the child.
 */
#ifndef ISOTACH_H
#define ISOTACH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers never change. isotach_status_name gives the stable code of each, which Python and the program `isotach` have, too. */
enum isotach_status {
    ISOTACH_OK = 0,
    /* Nothing (more): the end of an iteration, a field that does not exist, a value that is absent. No failure. */
    ISOTACH_NONE = 1,
    /* A buffer is too small; the size that is needed was given. */
    ISOTACH_TOO_SMALL = 2,
    /* An error in the library itself. */
    ISOTACH_INTERNAL = 3,

    /* An argument or the configuration is wrong. */
    ISOTACH_INVALID_INPUT = 10,
    /* A key does not fit the schema. */
    ISOTACH_KEY = 11,
    /* A request cannot be understood, or lacks keys. */
    ISOTACH_REQUEST = 12,
    /* The text of a schema is wrong. */
    ISOTACH_SCHEMA = 13,
    /* A message cannot be decoded, or ecCodes is not installed. */
    ISOTACH_MESSAGE = 14,
    /* There is no field store at this place. */
    ISOTACH_NOT_A_STORE = 15,
    /* The store exists with another schema. */
    ISOTACH_OTHER_SCHEMA = 16,
    /* The store has a newer format than this library knows. */
    ISOTACH_NEWER_FORMAT = 17,
    /* A snapshot cannot be changed. */
    ISOTACH_READ_ONLY = 18,
    /* A wipe names single fields. */
    ISOTACH_BELOW_COLLOCATION = 19,
    /* The dataset is locked against this. */
    ISOTACH_LOCKED = 20,
    /* The configuration forbids this. */
    ISOTACH_FORBIDDEN = 21,
    /* The dataset is being moved. */
    ISOTACH_MOVING = 22,
    /* The dataset was wiped while it was written to: archive again. */
    ISOTACH_WIPED = 23,
    /* Fields archived since the last flush are lost: archive again. */
    ISOTACH_LOST = 24,
    /* What is stored is damaged. */
    ISOTACH_CORRUPT = 25,
    /* The dataset below an overlay cannot be shown. */
    ISOTACH_NOTHING_BELOW = 26,
    /* A field below an overlay cannot be given its key. */
    ISOTACH_NOT_RELABELLED = 27,
    /* A copy differs from its source. */
    ISOTACH_COPY_DIFFERS = 28,

    /* A pool, container or object does not exist. A field that does not exist is ISOTACH_NONE. */
    ISOTACH_NOT_FOUND = 40,
    ISOTACH_ALREADY_EXISTS = 41,
    /* Another writer was first: try again. */
    ISOTACH_CONFLICT = 42,
    /* The engine cannot do this. */
    ISOTACH_UNSUPPORTED = 43,
    ISOTACH_PERMISSION_DENIED = 44,
    ISOTACH_NO_SPACE = 45,
    ISOTACH_TOO_MANY_OPEN = 46,
    ISOTACH_IO = 47,
    /* An earlier write failed: close the store and open it again. */
    ISOTACH_POISONED = 48
};

/* A store. */
typedef struct isotach_store isotach_store;
/* The fields that a request found, one after the other. */
typedef struct isotach_fields isotach_fields;
/* The bytes of one field. */
typedef struct isotach_bytes isotach_bytes;
/* What an operation says of datasets or keys, item by item. */
typedef struct isotach_report isotach_report;
/* Fields of one dataset that become visible together. */
typedef struct isotach_transaction isotach_transaction;

/* ---- The library ---- */

/* The version, as in 0.1.0. */
const char *isotach_version(void);
/* The reason of the last failure of a call by this thread, or an empty text. Valid until the next failure of this thread. */
const char *isotach_error_text(void);
/* The stable code of a status, as in "no-space"; "unknown" for any other number. */
const char *isotach_status_name(int status);

/* ---- Stores ---- */

/* Opens a store that exists. `place` is a URI (posix:/data/fields, rados://pool, daos://pool) or a path that begins with /, ./ or ../. NULL
 * is what the environment names: ISOTACH_STORE, ISOTACH_CONFIG, ./isotach.yaml, then isotach/isotach.yaml in ~/.config and /etc/xdg. */
int isotach_open(const char *place, isotach_store **store);
/* Opens the store of a configuration file, Isotach's own or FDB's. */
int isotach_open_config(const char *path, isotach_store **store);
/* Creates a store, or opens it if it exists. `schema` is the text of a schema; NULL is the standard schema, or that of the store. */
int isotach_create(const char *place, const char *schema, isotach_store **store);
/* Closes a store. What was archived through it and not flushed is lost. */
void isotach_close(isotach_store *store);

/* ---- Archiving ---- */

/* Archives a field under a key, as in "class=od,date=20240101,step=6,param=t". The bytes are copied. Readers see the field after
 * isotach_flush. `data` may be NULL if `length` is 0. */
int isotach_archive(isotach_store *store, const char *key, const void *data, size_t length);
/* The same, with the key as `count` names and values. */
int isotach_archive_pairs(isotach_store *store, const char *const *names, const char *const *values, size_t count, const void *data,
    size_t length);
/* Archives each GRIB message of some bytes under the key that it carries. Needs ecCodes. `count`, which may be NULL, gets how many there
 * are. After a failure the messages before the bad one are archived. */
int isotach_archive_messages(isotach_store *store, const void *data, size_t length, size_t *count);
/* Makes all that was archived through this store durable, and visible to every reader. */
int isotach_flush(isotach_store *store);

/* ---- Retrieving ---- */

/* The bytes of one field. ISOTACH_NONE if it does not exist. */
int isotach_retrieve_one(isotach_store *store, const char *key, isotach_bytes **bytes);
/* The same, into a buffer. `length` gets how many bytes the field has, also if the buffer is too small (ISOTACH_TOO_SMALL). */
int isotach_retrieve_into(isotach_store *store, const char *key, void *buffer, size_t capacity, size_t *length);
/* Where the bytes are, and how many. They are valid until they are freed. */
int isotach_bytes_data(isotach_bytes *bytes, const void **data, size_t *length);
void isotach_bytes_free(isotach_bytes *bytes);

/* The fields of a request with their bytes, in the request's order: "class=od,date=20240101,step=0/to/24/by/6,param=t/u". */
int isotach_retrieve(isotach_store *store, const char *request, isotach_fields **fields);
/* The same without their bytes. */
int isotach_inspect(isotach_store *store, const char *request, isotach_fields **fields);
/* The fields that match a request, in no promised order. A key left out matches every value; an empty request matches all. With
 * ISOTACH_REPLACED replaced fields, too. */
#define ISOTACH_REPLACED 1
int isotach_list(isotach_store *store, const char *request, int flags, isotach_fields **fields);

/* Goes on to the next field. An error takes the place of one field; the call after it goes on. */
int isotach_fields_next(isotach_fields *fields);
/* Of the field that isotach_fields_next came to. What they give is valid until it is called again.
 * Its whole key, as a text. */
int isotach_fields_key(isotach_fields *fields, const char **key);
/* The value of one of its keys. ISOTACH_NONE without one. */
int isotach_fields_value(isotach_fields *fields, const char *name, const char **value);
/* Its bytes, if isotach_retrieve gave it. */
int isotach_fields_data(isotach_fields *fields, const void **data, size_t *length);
/* Where it is stored: the place as a URI, the first byte there, how many, and their CRC32C. Each may be NULL. */
int isotach_fields_place(isotach_fields *fields, const char **uri, uint64_t *offset, uint64_t *length, uint32_t *checksum);
/* Whether a later field has replaced it: 0 or 1. */
int isotach_fields_is_replaced(isotach_fields *fields, int *is_replaced);
/* After the last field of isotach_retrieve or isotach_inspect: how many that the request names do not exist. ISOTACH_NONE if that is
 * unknown, since a dataset could not be read. Refused before isotach_fields_next has returned ISOTACH_NONE. */
int isotach_fields_missing(isotach_fields *fields, uint64_t *count);
/* The key of one of them, from 0; at most 1000 are named. ISOTACH_NONE after the last. */
int isotach_fields_missing_key(isotach_fields *fields, size_t at, const char **key);
void isotach_fields_free(isotach_fields *fields);

/* ---- Datasets ---- */

/* For each key the values that the fields of a request have. Items: "name", and the texts "values". */
int isotach_axes(isotach_store *store, const char *request, isotach_report **report);
/* The datasets of a request. Items: "dataset", "catalogue", "store", "rule"; the texts "locks", "forbidden", "below"; the number
 * "created_us". */
int isotach_status_of(isotach_store *store, const char *request, isotach_report **report);
/* Removes the datasets or collocations that a request names if `doit` is not 0, else only says what it would remove. Items: "dataset",
 * "catalogue", "store"; the texts "collocations", "kept_by", "uncounted"; the numbers "is_whole", "fields", "bytes", "replaced_fields",
 * "replaced_bytes". */
int isotach_wipe(isotach_store *store, const char *request, int doit, isotach_report **report);
/* Deletes the fields that a request names if `doit` is not 0, else only says how many. The request names every key that the schema asks
 * for, as for isotach_retrieve. isotach_purge frees the space. Items: "dataset"; the numbers "fields", "bytes". */
int isotach_delete(isotach_store *store, const char *request, int doit, isotach_report **report);
/* Frees the space of replaced and deleted fields in the datasets that a request names if `doit` is not 0, else only says how much that is. Items:
 * "dataset"; the numbers "replaced_fields", "replaced_bytes", "before", "freed", "held", "history_stays". */
int isotach_purge(isotach_store *store, const char *request, int doit, isotach_report **report);

/* Goes on to the next item. An error takes the place of a dataset that could not be read; the call after it goes on. */
int isotach_report_next(isotach_report *report);
/* A text of the item by its name, the one with this number from 0; ISOTACH_NONE after the last. Valid until isotach_report_next. */
int isotach_report_text(isotach_report *report, const char *name, size_t at, const char **text);
/* A number of the item by its name. */
int isotach_report_number(isotach_report *report, const char *name, uint64_t *number);
void isotach_report_free(isotach_report *report);

/* ---- Transactions ---- */

/* Begins a transaction. isotach_flush does not touch it. */
int isotach_transaction_begin(isotach_store *store, isotach_transaction **transaction);
/* As isotach_archive. All fields of a transaction are of one dataset. */
int isotach_transaction_archive(isotach_transaction *transaction, const char *key, const void *data, size_t length);
/* As isotach_archive_messages. */
int isotach_transaction_archive_messages(isotach_transaction *transaction, const void *data, size_t length, size_t *count);
/* Makes its fields durable and visible, together. What is archived in it afterwards is a new transaction. */
int isotach_transaction_commit(isotach_transaction *transaction);
/* Discards what was not committed. */
void isotach_transaction_free(isotach_transaction *transaction);

#ifdef __cplusplus
}
#endif

#endif
