/* Queries through the connector's C interface: tells what it finds, one line each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <isotach_hdf5.h>

static void need(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "failed: %s\n", what);
        exit(1);
    }
}

/* Reads the elements that pass. */
static void read_selected(hid_t dataset, const char *condition)
{
    hid_t space = isotach_h5_select(dataset, condition);
    hssize_t count = H5Sget_select_npoints(space);
    hsize_t length = (hsize_t)count;
    hid_t memory = H5Screate_simple(1, &length, NULL);
    int *values = malloc((size_t)count * sizeof *values), sum = 0;
    need(space >= 0 && H5Dread(dataset, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values) >= 0, "read");
    for (hssize_t at = 0; at < count; at++)
        sum += values[at];
    printf("%d elements, sum %d\n", (int)count, sum);
    free(values);
    H5Sclose(memory);
    H5Sclose(space);
}

static herr_t show(const char *path, H5I_type_t kind, int64_t elements, void *data)
{
    (void)data;
    printf("%s %d %" PRId64 "\n", path, (int)kind, elements);
    return 0;
}

static herr_t show_unsearched(const char *path, const char *why, void *data)
{
    (void)data;
    printf("%s: %s\n", path, why);
    return 7;
}

static herr_t stop(const char *path, H5I_type_t kind, int64_t elements, void *data)
{
    (void)kind, (void)elements;
    /* The program may use the file meanwhile. */
    need(H5Oexists_by_name(*(hid_t *)data, path, H5P_DEFAULT) > 0, "the object is there");
    return 3;
}

static herr_t first_text(unsigned n, const H5E_error2_t *error, void *data)
{
    if (n == 0) {
        printf("refused: %s\n", error->desc);
        *(int *)data = 1;
    }
    return 0;
}

/* What fails for a file of HDF5's own. */
static void select_in_native_file(void)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS), native = H5VLget_connector_id_by_name("native");
    int is_told = 0;
    H5Pset_vol(list, native, NULL);
    hid_t file = H5Fcreate("native.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list);
    isotach_h5_selection_t *selection = (isotach_h5_selection_t *)&file;
    need(file >= 0, "create a native file");
    need(isotach_h5_select_runs(file, "value > 1", &selection) < 0, "a native file");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_text, &is_told);
    need(is_told, "the reason is on the stack");
    need(selection == NULL, "no selection is made");
    H5Fclose(file);
    H5VLclose(native);
    H5Pclose(list);
}

int main(int count, char **arguments)
{
    hid_t file = H5Fopen(arguments[count - 1], H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t mixed = H5Dopen2(file, "mixed", H5P_DEFAULT), smooth = H5Dopen2(file, "g/smooth", H5P_DEFAULT);
    isotach_h5_selection_t *selection;
    isotach_h5_index_info_t info;
    const isotach_h5_run_t *runs;
    int is_told = 0, walked = 0;
    size_t length;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);

    read_selected(mixed, "value in 100..110");
    need(isotach_h5_select_runs(smooth, "value in 10..12.9", &selection) >= 0, "select");
    runs = isotach_h5_get_selection_runs(selection, &length);
    printf("%d runs: %" PRIu64 " %" PRIu64 "\n", (int)length, runs[0].first, isotach_h5_get_selection_count(selection));
    isotach_h5_free_selection(selection);

    need(isotach_h5_build_index(mixed, NULL, 0, ISOTACH_H5_BINS) >= 0, "index");
    read_selected(mixed, "value in 100..110");
    need(isotach_h5_get_index_info(mixed, &info) >= 0, "info");
    printf("index %d, bins %d: %d of %d chunks\n", info.is_there, info.has_bins, (int)info.indexed, (int)info.chunks);
    need(isotach_h5_find(file, "@units = 'K'", show, NULL, NULL) == 0, "find");
    need(isotach_h5_find(file, "has @units and value > 199", show, show_unsearched, NULL) == 7, "find elements");
    need(isotach_h5_find(file, "name like '*'", stop, NULL, &file) == 3, "the function ends the search");

    need(isotach_h5_find(file, "has @units and value > 199", show, NULL, NULL) < 0, "what cannot be searched is an error");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_text, &walked);
    need(isotach_h5_select(H5P_DEFAULT, "value > 1") < 0, "no object");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_text, &walked);
    need(isotach_h5_select(mixed, NULL) < 0, "no condition");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_text, &walked);
    need(isotach_h5_select_runs(mixed, "value > 1", NULL) < 0, "no place for a selection");
    need(isotach_h5_create_selection_space(NULL) < 0, "no selection");
    need(isotach_h5_get_index_info(mixed, NULL) < 0, "no place for the description");
    need(isotach_h5_find(file, "has @units", NULL, NULL, NULL) < 0, "no function");
    need(isotach_h5_build_index(mixed, NULL, 0, 2) < 0, "unknown flags");
    need(isotach_h5_build_index(mixed, NULL, 3, 0) < 0, "three names, and no array of them");
    need(isotach_h5_get_selection_count(NULL) == 0, "no selection has no elements");
    isotach_h5_free_selection(NULL);
    need(isotach_h5_select(mixed, "value >") < 0, "a wrong condition is refused");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, first_text, &is_told);
    need(is_told, "the reason is on the stack");
    need(isotach_h5_remove_index(mixed) >= 0, "remove");
    select_in_native_file();
    H5Dclose(mixed);
    H5Dclose(smooth);
    return H5Fclose(file) < 0;
}
