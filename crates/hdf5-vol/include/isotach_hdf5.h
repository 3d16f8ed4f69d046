/* Isotach's HDF5 connector for C: numbered transactions, snapshots, queries and sweeps. docs/hdf5.md has an example.
 *
 * Link with libisotach_vol.so, the file that HDF5 finds in HDF5_PLUGIN_PATH: two copies of it in one process know nothing of each other.
 *
 * Calls follow HDF5's conventions. They return a negative value when they fail, and HDF5's error stack then has the reason. `file` is the id of an open
 * file, `fapl` that of a file-access property list. A process may hold several HDF5 libraries, whose ids look alike: the macros at the end
 * name the one that the program is compiled with. As HDF5 itself, the calls are for one thread at a time unless the HDF5 library is
 * thread-safe.
 *
 * Transactions. A transaction has a number, which the program chooses; numbers begin with 1. One process, or several that each take part, start
 * it, change the file and finish it. It is committed, and is a version of the file that others see, when all its participants have finished and every lower
 * number is committed or aborted. All openings of a file in one process share the transaction that the process has started: what is
 * changed through any of them belongs to it. H5Fflush commits nothing meanwhile. Closing the file before the transaction is finished fails, and
 * gives up what was changed. A process that dies leaves its number open: its part can be started again, or the number aborted, by any process.
 */
#ifndef ISOTACH_HDF5_H
#define ISOTACH_HDF5_H

#include <hdf5.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The HDF5 library that the program is compiled with. */
#define ISOTACH_H5_LIBRARY (&H5E_ERR_CLS_g)

/* How a transaction stands. */
typedef enum isotach_h5_state_t {
    /* No process has started or aborted it. */
    ISOTACH_H5_NOT_STARTED = 0,
    /* It was started, and is neither committed nor aborted. */
    ISOTACH_H5_OPEN = 1,
    /* It is a version of the file. */
    ISOTACH_H5_COMMITTED = 2,
    /* It was aborted: its number is skipped. */
    ISOTACH_H5_ABORTED = 3
} isotach_h5_state_t;

/* A transaction. */
typedef struct isotach_h5_status_t {
    isotach_h5_state_t state;
    /* Of one that is open: how many participants it has, and how many of them have finished. */
    unsigned participants;
    unsigned finished;
    /* Of one that was aborted: why. It ends with a NUL. */
    char reason[244];
} isotach_h5_status_t;

/* Called for each snapshot, oldest first: its name, and the number of its version, as a transaction's; 0 if there was none. A value that is not 0 ends
 * the iteration, and is returned; a negative one means failure. */
typedef herr_t (*isotach_h5_snapshot_op_t)(const char *name, uint64_t version, void *op_data);

/* ---- Transactions ---- */

/* Starts participant `participant` of `participants`, from 0 on, of a transaction: 0 of 1 for one process alone. The file must be open for writing,
 * and have no changes that are not flushed. It goes to the newest version. */
herr_t isotach_h5_start_transaction(const hid_t *library, hid_t file, uint64_t number, unsigned participant, unsigned participants);
/* Ends this process's part of the transaction that it has started. It is durable when this returns. It is seen, also through this file, when the
 * transaction is committed. It fails if the transaction was aborted, or if another process has finished this participant: then the transaction is
 * ended here, and what was changed is given up. After another failure it is still started, and can be aborted. */
herr_t isotach_h5_finish_transaction(const hid_t *library, hid_t file);
/* Aborts a transaction that is not committed, for all its participants, whichever process has started or finished it. What this process has
 * changed in it is given up. */
herr_t isotach_h5_abort_transaction(const hid_t *library, hid_t file, uint64_t number);
/* Waits until a transaction is committed or aborted, at most so many milliseconds, or without end if `timeout` is negative. `status` is how
 * it stands then; it may be NULL. */
herr_t isotach_h5_wait_transaction(const hid_t *library, hid_t file, uint64_t number, int64_t timeout, isotach_h5_status_t *status);
/* How a transaction stands. */
herr_t isotach_h5_get_transaction_status(const hid_t *library, hid_t file, uint64_t number, isotach_h5_status_t *status);
/* The number of the transaction that this process has started and not ended; 0 if there is none. */
herr_t isotach_h5_get_started_transaction(const hid_t *library, hid_t file, uint64_t *number);
/* The number of the version that is read through the file: that of the last transaction in it that is committed; 0 if there is none. */
herr_t isotach_h5_get_file_version(const hid_t *library, hid_t file, uint64_t *number);
/* The number of the newest version. */
herr_t isotach_h5_get_newest_version(const hid_t *library, hid_t file, uint64_t *number);

/* ---- Snapshots ---- */

/* Names the newest version, so that it stays readable. What was changed through the file is committed before. */
herr_t isotach_h5_create_snapshot(const hid_t *library, hid_t file, const char *name);
/* Removes a snapshot. Files that are open at it stay open. */
herr_t isotach_h5_remove_snapshot(const hid_t *library, hid_t file, const char *name);
/* Calls `op` for each snapshot. Returns what the last call returned; 0 if there was none. */
herr_t isotach_h5_iterate_snapshots(const hid_t *library, hid_t file, isotach_h5_snapshot_op_t op, void *op_data);

/* ---- Property lists ---- */

/* Opens files at the snapshot of this name, for reading. NULL, as at first: at the newest version. */
herr_t isotach_h5_set_snapshot(const hid_t *library, hid_t fapl, const char *name);
/* The name that was set: as much as `size` bytes hold with a NUL at the end. Returns its length; 0 if none was set. */
ssize_t isotach_h5_get_snapshot(const hid_t *library, hid_t fapl, char *name, size_t size);
/* Opens files at the version with this number, for reading: the newest one, or one that a snapshot shows. 0, as at first: at the newest version. */
herr_t isotach_h5_set_version(const hid_t *library, hid_t fapl, uint64_t number);
/* The number that was set; 0 if none was. */
herr_t isotach_h5_get_version(const hid_t *library, hid_t fapl, uint64_t *number);

/* ---- Queries ----
 *
 * A condition is a text, as in "temperature > 280 and not (pressure in 100..500)". docs/hdf5.md lists what it may hold. A dataset that has an index is
 * not read as a whole. */

/* Elements that follow each other, counted in row-major order of the dataset's extent. */
typedef struct isotach_h5_run_t {
    uint64_t first;
    uint64_t count;
} isotach_h5_run_t;

/* The elements that a query has found. */
typedef struct isotach_h5_selection_t isotach_h5_selection_t;

/* The index of a dataset. */
typedef struct isotach_h5_index_info_t {
    /* Whether there is one, and whether it has bins. */
    int is_there;
    int has_bins;
    /* How many chunks are stored; how many of them have an index that fits; how many can have none, since they are very small or were changed in
     * place. */
    uint64_t chunks;
    uint64_t indexed;
    uint64_t without;
} isotach_h5_index_info_t;

/* Also index where each number is. This takes about as much space as the numbers. */
#define ISOTACH_H5_BINS 1u

/* Called for each object that was found: its path from the group that was searched, its kind, and how many of its elements pass, or -1 where the
 * condition is not on elements. A value that is not 0 ends the iteration, and is returned; a negative one means failure. */
typedef herr_t (*isotach_h5_find_op_t)(const char *path, H5I_type_t kind, int64_t elements, void *op_data);
/* Called for each dataset of which it is not known whether it passes: its path, and why its elements cannot be read, such as a filter that is not
 * known. Returns as isotach_h5_find_op_t does. */
typedef herr_t (*isotach_h5_unsearched_op_t)(const char *path, const char *why, void *op_data);

/* A dataspace with the dataset's extent, in which the elements that pass are selected: for H5Dread and others. H5Sclose it. Negative on failure. */
hid_t isotach_h5_select(const hid_t *library, hid_t dataset, const char *condition);
/* The elements that pass as runs; NULL on failure. isotach_h5_free_selection frees them. */
herr_t isotach_h5_select_runs(const hid_t *library, hid_t dataset, const char *condition, isotach_h5_selection_t **selection);
/* How many elements a selection has. */
uint64_t isotach_h5_get_selection_count(const isotach_h5_selection_t *selection);
/* The runs of a selection, in order, and how many there are. They live as long as the selection. */
const isotach_h5_run_t *isotach_h5_get_selection_runs(const isotach_h5_selection_t *selection, size_t *count);
/* A dataspace as isotach_h5_select gives one. */
hid_t isotach_h5_create_selection_space(const hid_t *library, const isotach_h5_selection_t *selection);
void isotach_h5_free_selection(isotach_h5_selection_t *selection);
/* Calls `op` for each object in and below a group or file, and for the group itself, that passes, and then `unsearched_op` for each dataset that
 * could not be searched. With NULL for `unsearched_op` such a dataset is an error, and nothing is called. Returns what the last call returned; 0 if
 * there was none. */
herr_t isotach_h5_find(const hid_t *library, hid_t group, const char *condition, isotach_h5_find_op_t op,
                       isotach_h5_unsearched_op_t unsearched_op, void *op_data);

/* Indexes a dataset: the chunks that have no index that fits, and from then on each chunk when it is stored. `members` are `count` members as conditions
 * have them ("wind.speed"); all numbers for a `count` of 0. `flags` are 0 or ISOTACH_H5_BINS. The index is committed with the file. */
herr_t isotach_h5_build_index(const hid_t *library, hid_t dataset, const char *const *members, size_t count, unsigned flags);
herr_t isotach_h5_remove_index(const hid_t *library, hid_t dataset);
herr_t isotach_h5_get_index_info(const hid_t *library, hid_t dataset, isotach_h5_index_info_t *info);

/* ---- Sweeps ---- */

/* Removes the data that processes have stored in a file and not committed before they died, and counts the arrays that were removed; `removed`
 * may be NULL. Others may read and write meanwhile. */
herr_t isotach_h5_sweep(const hid_t *library, const char *name, hid_t fapl, uint64_t *removed);

#ifdef __cplusplus
}
#endif

/* A program leaves `library` out. */
#define isotach_h5_start_transaction(...) isotach_h5_start_transaction(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_finish_transaction(...) isotach_h5_finish_transaction(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_abort_transaction(...) isotach_h5_abort_transaction(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_wait_transaction(...) isotach_h5_wait_transaction(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_get_transaction_status(...) isotach_h5_get_transaction_status(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_get_started_transaction(...) isotach_h5_get_started_transaction(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_get_file_version(...) isotach_h5_get_file_version(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_get_newest_version(...) isotach_h5_get_newest_version(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_create_snapshot(...) isotach_h5_create_snapshot(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_remove_snapshot(...) isotach_h5_remove_snapshot(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_iterate_snapshots(...) isotach_h5_iterate_snapshots(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_set_snapshot(...) isotach_h5_set_snapshot(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_get_snapshot(...) isotach_h5_get_snapshot(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_set_version(...) isotach_h5_set_version(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_get_version(...) isotach_h5_get_version(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_select(...) isotach_h5_select(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_select_runs(...) isotach_h5_select_runs(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_create_selection_space(...) isotach_h5_create_selection_space(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_find(...) isotach_h5_find(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_build_index(...) isotach_h5_build_index(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_remove_index(...) isotach_h5_remove_index(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_get_index_info(...) isotach_h5_get_index_info(ISOTACH_H5_LIBRARY, __VA_ARGS__)
#define isotach_h5_sweep(...) isotach_h5_sweep(ISOTACH_H5_LIBRARY, __VA_ARGS__)

#endif
