/* The C interface of FDB 5, as Isotach's libfdb5 has it. docs/libfdb5.md says what differs from FDB's own.
 *
 * Each function returns an FdbErrorValues, but for fdb_error_string. A result goes to where a pointer leads. What a fdb_new_ function
 * or an iterator gives is deleted by the fdb_delete_ function of its type, once; NULL is refused there, but for iterators of wipes and
 * purges. Pointers that are refused where they are NULL are all those without a word about it.
 *
 * Threads may share a handle. Anything else is for one thread at a time.
 */
#ifndef FDB5_API_FDB_C_H
#define FDB5_API_FDB_C_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum FdbErrorValues {
    FDB_SUCCESS = 0,
    /* fdb_error_string has the reason. */
    FDB_ERROR_GENERAL_EXCEPTION = 1,
    /* An error in the library itself. */
    FDB_ERROR_UNKNOWN_EXCEPTION = 2,
    /* An iterator has no further element. */
    FDB_ITERATION_COMPLETE = 3
};

/* A store. */
typedef struct fdb_handle_t fdb_handle_t;
/* The name of one field: pairs of a key and a value. */
typedef struct fdb_key_t fdb_key_t;
/* Which fields: keys with lists of values. */
typedef struct fdb_request_t fdb_request_t;
/* The key of a listed field, pair by pair, with the level of each. */
typedef struct fdb_split_key_t fdb_split_key_t;
typedef struct fdb_listiterator_t fdb_listiterator_t;
/* The bytes of the fields of a request, one after the other. */
typedef struct fdb_datareader_t fdb_datareader_t;
typedef struct fdb_wipe_iterator_t fdb_wipe_iterator_t;
typedef struct fdb_wipe_element_t fdb_wipe_element_t;
typedef struct fdb_purge_iterator_t fdb_purge_iterator_t;
typedef struct fdb_purge_element_t fdb_purge_element_t;

/* Does nothing, and may be called any number of times. */
int fdb_initialise(void);
/* The version of FDB whose interface this is. The text is constant. */
int fdb_version(const char **version);
/* The name and version of this library. The text is constant. */
int fdb_vcs_version(const char **sha1);

/* What a number means; for an error the reason of the last one of this process. Valid until this thread asks for another one. */
const char *fdb_error_string(int err);
/* Called for each error with its number, once the reason is there. NULL removes it. */
typedef void (*fdb_failure_handler_t)(void *context, int error_code);
int fdb_set_failure_handler(fdb_failure_handler_t handler, void *context);

int fdb_new_key(fdb_key_t **key);
/* A key that is there gets the new value. */
int fdb_key_add(fdb_key_t *key, const char *param, const char *value);
int fdb_delete_key(fdb_key_t *key);

int fdb_new_request(fdb_request_t **req);
/* Sets the values of a key. A value with slashes is a list. */
int fdb_request_add(fdb_request_t *req, const char *param, const char *values[], int numValues);
/* The values of a key. The array and each text in it are the caller's, who frees each by free(). */
int fdb_request_get(fdb_request_t *req, const char *param, char **values[], size_t *numValues);
/* Writes each value in the form in which fields have it, and ranges (0/to/24/by/6) as lists. */
int fdb_expand_request(fdb_request_t *req);
int fdb_delete_request(fdb_request_t *req);

int fdb_new_splitkey(fdb_split_key_t **key);
/* The next pair, and its level: 0, 1 or 2. `level` may be NULL. A key that the field does not have has an empty value. The texts are
 * valid as long as the split key or the list iterator has this element. */
int fdb_splitkey_next_metadata(fdb_split_key_t *it, const char **key, const char **value, size_t *level);
int fdb_delete_splitkey(fdb_split_key_t *key);

int fdb_listiterator_next(fdb_listiterator_t *it);
/* Where the field is: the path of a file or the place in an engine, the first byte there, and how many. The text is valid until the
 * next element. A listing of depth 1 or 2 has no fields: it has the text of the key, 0 and 0. */
int fdb_listiterator_attrs(fdb_listiterator_t *it, const char **uri, size_t *off, size_t *len);
int fdb_listiterator_splitkey(fdb_listiterator_t *it, fdb_split_key_t *key);
int fdb_delete_listiterator(fdb_listiterator_t *it);

int fdb_new_datareader(fdb_datareader_t **dr);
/* Begins at the first byte. `size`, which may be NULL, gets how many there are in all. */
int fdb_datareader_open(fdb_datareader_t *dr, long *size);
int fdb_datareader_close(fdb_datareader_t *dr);
int fdb_datareader_tell(fdb_datareader_t *dr, long *pos);
int fdb_datareader_seek(fdb_datareader_t *dr, long pos);
/* Moves on by `count` bytes. */
int fdb_datareader_skip(fdb_datareader_t *dr, long count);
/* How many bytes there are in all, whether it is open or not. */
int fdb_datareader_size(fdb_datareader_t *dr, long *size);
/* Reads up to `count` bytes; fewer come only at the end. */
int fdb_datareader_read(fdb_datareader_t *dr, void *buf, long count, long *read);
int fdb_delete_datareader(fdb_datareader_t *dr);

/* The store that the environment names: ISOTACH_STORE, ISOTACH_CONFIG, FDB_CONFIG, FDB_CONFIG_FILE, FDB_HOME. */
int fdb_new_handle(fdb_handle_t **fdb);
/* The store of a configuration in YAML or JSON, FDB's or Isotach's own. An empty text, or NULL, for the system is the environment's.
 * The user's may be empty or NULL, and has no effect. */
int fdb_new_handle_from_yaml(fdb_handle_t **fdb, const char *system_config, const char *user_config);
/* Archives one field. Readers see it after fdb_flush. */
int fdb_archive(fdb_handle_t *fdb, fdb_key_t *key, const char *data, size_t length);
/* Archives GRIB messages, each under the key that it carries. With a request, which may be NULL, a message that it does not name is
 * refused before it is stored, and so is the end of the data while a field is missing. */
int fdb_archive_multiple(fdb_handle_t *fdb, fdb_request_t *req, const char *data, size_t length);
/* Lists what is there: datasets (1), collocations (2) or fields (3; so is any other number). NULL for the request is everything.
 * `duplicates` shows replaced fields, too. */
int fdb_list(fdb_handle_t *fdb, const fdb_request_t *req, fdb_listiterator_t **it, const bool duplicates, int depth);
/* Gives the reader the fields of a request, in the request's order. What is missing is left out. */
int fdb_retrieve(fdb_handle_t *fdb, fdb_request_t *req, fdb_datareader_t *dr);
/* Makes what this handle archived durable and visible. */
int fdb_flush(fdb_handle_t *fdb);
/* Flushes first. */
int fdb_delete_handle(fdb_handle_t *fdb);

/* Removes datasets and collocations if `doit`, else only says what it would remove. */
int fdb_wipe(fdb_handle_t *fdb, fdb_request_t *req, bool doit, bool porcelain, bool unsafeWipeAll, fdb_wipe_iterator_t **it);
/* There is an element to delete at the end, too. */
int fdb_wipe_iterator_next(fdb_wipe_iterator_t *it, fdb_wipe_element_t **element);
int fdb_delete_wipe_iterator(fdb_wipe_iterator_t *it);
/* Valid as long as the element. */
int fdb_wipe_element_string(fdb_wipe_element_t *element, const char **str);
int fdb_delete_wipe_element(fdb_wipe_element_t *element);

/* Frees the space of replaced fields if `doit`, else only says how much that is. */
int fdb_purge(fdb_handle_t *fdb, fdb_request_t *req, bool doit, bool porcelain, fdb_purge_iterator_t **it);
/* There is an element to delete at the end, too. */
int fdb_purge_iterator_next(fdb_purge_iterator_t *it, fdb_purge_element_t **element);
int fdb_delete_purge_iterator(fdb_purge_iterator_t *it);
/* Valid as long as the element. */
int fdb_purge_element_string(fdb_purge_element_t *element, const char **str);
int fdb_delete_purge_element(fdb_purge_element_t *element);

#ifdef __cplusplus
}
#endif

#endif
