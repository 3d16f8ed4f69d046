/* Reads commands, one a line, and calls the connector's C interface: so that tests drive several processes step by step.
 *
 * Each command is answered by one line: "ok" and what was found, or "error" and the texts of HDF5's error stack.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <isotach_hdf5.h>

#define COUNT 1000
#define TEXT 4096

static hid_t file = H5I_INVALID_HID;
static hid_t dataset = H5I_INVALID_HID;
static char found[TEXT];

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void tell(const char *format, ...)
{
    size_t length = strlen(found);
    va_list values;
    va_start(values, format);
    vsnprintf(found + length, sizeof found - length, format, values);
    va_end(values);
}

static herr_t add_text(unsigned n, const H5E_error2_t *error, void *data)
{
    (void)n, (void)data;
    tell(" | %s", error->desc);
    return 0;
}

static herr_t open_file(const char *how, const char *name, const char *past)
{
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), copy;
    herr_t status = 0;
    if (strcmp(how, "snapshot") == 0)
        status = isotach_h5_set_snapshot(fapl, past);
    else if (strcmp(how, "version") == 0)
        status = isotach_h5_set_version(fapl, strtoull(past, NULL, 10));
    if (status < 0)
        return status;
    /* What was set is in a copy, too. */
    copy = H5Pcopy(fapl);
    H5Pclose(fapl);
    if (strcmp(how, "create") == 0)
        file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, copy);
    else
        file = H5Fopen(name, strcmp(how, "rw") == 0 ? H5F_ACC_RDWR : H5F_ACC_RDONLY, copy);
    if (file < 0)
        return -1;
    H5Pclose(copy);
    return 0;
}

static herr_t close_file(void)
{
    hid_t closing = file;
    if (dataset >= 0)
        H5Dclose(dataset);
    dataset = file = H5I_INVALID_HID;
    return H5Fclose(closing);
}

static herr_t open_dataset(void)
{
    hsize_t count = COUNT, chunk = COUNT / 4;
    hid_t space, dcpl;
    if (dataset >= 0)
        return 0;
    if (H5Lexists(file, "x", H5P_DEFAULT) > 0) {
        dataset = H5Dopen2(file, "x", H5P_DEFAULT);
        return dataset < 0 ? -1 : 0;
    }
    space = H5Screate_simple(1, &count, NULL);
    dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, 1, &chunk);
    dataset = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    H5Pclose(dcpl);
    H5Sclose(space);
    return dataset < 0 ? -1 : 0;
}

static herr_t write_part(int value, hsize_t first, hsize_t count)
{
    int values[COUNT];
    hid_t space, memory;
    herr_t status;
    if (open_dataset() < 0)
        return -1;
    for (int at = 0; at < COUNT; at++)
        values[at] = value;
    space = H5Dget_space(dataset);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL);
    memory = H5Screate_simple(1, &count, NULL);
    status = H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values);
    H5Sclose(memory);
    H5Sclose(space);
    return status;
}

/* Tells the runs of equal elements. */
static herr_t read_all(void)
{
    int values[COUNT];
    if (open_dataset() < 0 || H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        return -1;
    for (int at = 0, first = 0; at < COUNT; at++)
        if (at + 1 == COUNT || values[at + 1] != values[first]) {
            tell(" %dx%d", at + 1 - first, values[first]);
            first = at + 1;
        }
    return 0;
}

static herr_t tell_status(herr_t outcome, const isotach_h5_status_t *status)
{
    static const char *const states[] = {"not-started", "open", "committed", "aborted"};
    if (outcome < 0)
        return outcome;
    tell(" %s", states[status->state]);
    if (status->state == ISOTACH_H5_OPEN)
        tell(" %u/%u", status->finished, status->participants);
    if (status->state == ISOTACH_H5_ABORTED)
        tell(" %s", status->reason);
    return outcome;
}

static herr_t tell_snapshot(const char *name, uint64_t version, void *data)
{
    (void)data;
    tell(" %s=%" PRIu64, name, version);
    return 0;
}

/* The number is read after the call that finds it. */
static herr_t tell_number(herr_t outcome, const uint64_t *number)
{
    if (outcome >= 0)
        tell(" %" PRIu64, *number);
    return outcome;
}

/* The properties of the list that an open file gives. */
static herr_t tell_list(void)
{
    char name[128];
    uint64_t version = 0;
    hid_t fapl = H5Fget_access_plist(file);
    ssize_t length = isotach_h5_get_snapshot(fapl, name, sizeof name);
    herr_t status = isotach_h5_get_version(fapl, &version);
    if (length < 0 || status < 0)
        return -1;
    tell(" %s %" PRIu64, length ? name : "-", version);
    return H5Pclose(fapl);
}

static herr_t run(const char *name, const char *one, const char *two, const char *three)
{
    uint64_t number = strtoull(one, NULL, 10), out = 0;
    isotach_h5_status_t status;
    if (strcmp(name, "open") == 0)
        return open_file(one, two, three);
    if (strcmp(name, "close") == 0)
        return close_file();
    if (strcmp(name, "flush") == 0)
        return H5Fflush(file, H5F_SCOPE_GLOBAL);
    if (strcmp(name, "write") == 0)
        return write_part((int)number, *two ? strtoull(two, NULL, 10) : 0, *three ? strtoull(three, NULL, 10) : COUNT);
    if (strcmp(name, "group") == 0)
        return H5Gclose(H5Gcreate2(file, one, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    if (strcmp(name, "has") == 0)
        return out = H5Lexists(file, one, H5P_DEFAULT) > 0, tell_number(0, &out);
    if (strcmp(name, "read") == 0)
        return read_all();
    if (strcmp(name, "refresh") == 0)
        return open_dataset() < 0 ? -1 : H5Drefresh(dataset);
    if (strcmp(name, "start") == 0)
        return isotach_h5_start_transaction(file, number, (unsigned)atoi(two), (unsigned)atoi(three));
    if (strcmp(name, "finish") == 0)
        return isotach_h5_finish_transaction(file);
    if (strcmp(name, "abort") == 0)
        return isotach_h5_abort_transaction(file, number);
    if (strcmp(name, "wait") == 0)
        return tell_status(isotach_h5_wait_transaction(file, number, atoll(two), &status), &status);
    if (strcmp(name, "status") == 0)
        return tell_status(isotach_h5_get_transaction_status(file, number, &status), &status);
    if (strcmp(name, "started") == 0)
        return tell_number(isotach_h5_get_started_transaction(file, &out), &out);
    if (strcmp(name, "version") == 0)
        return tell_number(isotach_h5_get_file_version(file, &out), &out);
    if (strcmp(name, "newest") == 0)
        return tell_number(isotach_h5_get_newest_version(file, &out), &out);
    if (strcmp(name, "create_snapshot") == 0)
        return isotach_h5_create_snapshot(file, one);
    if (strcmp(name, "remove_snapshot") == 0)
        return isotach_h5_remove_snapshot(file, one);
    if (strcmp(name, "snapshots") == 0)
        return isotach_h5_iterate_snapshots(file, tell_snapshot, NULL);
    if (strcmp(name, "list") == 0)
        return tell_list();
    if (strcmp(name, "sweep") == 0)
        return tell_number(isotach_h5_sweep(one, H5P_DEFAULT, &out), &out);
    if (strcmp(name, "with") == 0) {
        /* The started number, by another id: of the dataset, of none, or of a property list. */
        hid_t id = strcmp(one, "dataset") == 0 ? dataset : strcmp(one, "list") == 0 ? H5P_FILE_ACCESS_DEFAULT : H5I_INVALID_HID;
        return isotach_h5_get_started_transaction(id, &out);
    }
    if (strcmp(name, "set") == 0)
        return isotach_h5_set_snapshot(strcmp(one, "file") == 0 ? file : H5P_DEFAULT, two);
    tell(" no such command: %s", name);
    return -1;
}

int main(void)
{
    char line[TEXT], name[TEXT], one[TEXT], two[TEXT], three[TEXT];
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    while (fgets(line, sizeof line, stdin)) {
        *name = *one = *two = *three = *found = 0;
        sscanf(line, "%4095s %4095s %4095s %4095s", name, one, two, three);
        if (run(name, one, two, three) >= 0)
            printf("ok%s\n", found);
        else {
            H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, add_text, NULL);
            printf("error%s\n", found);
        }
        fflush(stdout);
    }
    return 0;
}
