/* Groups, links and attributes, which all ranks change together. */
#include "parallel.h"

static herr_t list(hid_t group, const char *name, const H5L_info2_t *info, void *text)
{
    (void)group;
    (void)info;
    strcat(text, name);
    strcat(text, " ");
    return 0;
}

static void names(hid_t group, const char *expected)
{
    char text[4096] = "";
    H5Literate2(group, H5_INDEX_NAME, H5_ITER_INC, NULL, list, text);
    check(strcmp(text, expected) == 0, "the links are: %s", expected);
}

static void groups(hid_t file)
{
    hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), inner, deep;
    hid_t parents = H5Pcreate(H5P_LINK_CREATE);
    DONE(group, "create a group");
    inner = H5Gcreate2(group, "inner", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    DONE(inner, "and one in it");
    H5Pset_create_intermediate_group(parents, 1);
    deep = H5Gcreate2(file, "a/b/c", parents, H5P_DEFAULT, H5P_DEFAULT);
    DONE(deep, "with those above");
    REFUSED(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "a second group of a name");
    DONE(H5Lcreate_soft("/g/inner", file, "soft", H5P_DEFAULT, H5P_DEFAULT), "a soft link");
    DONE(H5Lcreate_hard(file, "g/inner", file, "hard", H5P_DEFAULT, H5P_DEFAULT), "a hard link");
    names(file, "a g hard soft ");
    DONE(H5Lmove(file, "hard", group, "moved", H5P_DEFAULT, H5P_DEFAULT), "move a link");
    names(group, "inner moved ");
    DONE(H5Ldelete(file, "soft", H5P_DEFAULT), "delete a link");
    names(file, "a g ");
    check(H5Lexists(file, "soft", H5P_DEFAULT) == 0, "it is not there");
    H5Pclose(parents);
    H5Gclose(deep);
    H5Gclose(inner);
    H5Gclose(group);
}

static void attributes(hid_t file)
{
    hid_t group = H5Gopen2(file, "g", H5P_DEFAULT), text = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), attribute;
    const char *word = "written by all";
    char *back = NULL;
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "number %d", i);
        put_int(group, name, i * i);
    }
    H5Tset_size(text, H5T_VARIABLE);
    attribute = H5Acreate2(group, "word", text, space, H5P_DEFAULT, H5P_DEFAULT);
    check(attribute >= 0 && H5Awrite(attribute, text, &word) >= 0, "an attribute with a string of variable length");
    check(H5Aread(attribute, text, &back) >= 0 && strcmp(back, word) == 0, "all ranks read it");
    H5Dvlen_reclaim(text, space, H5P_DEFAULT, &back);
    H5Aclose(attribute);
    hsize_t many = 6000;
    hid_t large = H5Screate_simple(1, &many, NULL);
    int *values = malloc(many * sizeof *values), *got = calloc(many, sizeof *values);
    for (int i = 0; i < (int)many; i++)
        values[i] = i;
    attribute = H5Acreate2(group, "large", H5T_STD_I32LE, large, H5P_DEFAULT, H5P_DEFAULT);
    DONE(H5Awrite(attribute, H5T_NATIVE_INT, values), "an attribute with many elements");
    check(H5Aread(attribute, H5T_NATIVE_INT, got) >= 0 && memcmp(values, got, many * sizeof *values) == 0, "all ranks read it");
    H5Aclose(attribute);
    DONE(H5Adelete(group, "number 3"), "delete an attribute");
    DONE(H5Arename(group, "number 4", "sixteen"), "rename an attribute");
    free(values);
    free(got);
    H5Sclose(large);
    H5Sclose(space);
    H5Tclose(text);
    H5Gclose(group);
}

static void stored(hid_t file)
{
    hid_t group = H5Gopen2(file, "g", H5P_DEFAULT), attribute = H5Aopen(group, "word", H5P_DEFAULT), text = H5Aget_type(attribute);
    hid_t space = H5Aget_space(attribute);
    char *back = NULL;
    int got[6000] = {0};
    check(H5Aread(attribute, text, &back) >= 0 && back && strcmp(back, "written by all") == 0, "the string is there");
    H5Dvlen_reclaim(text, space, H5P_DEFAULT, &back);
    H5Aclose(attribute);
    H5Tclose(text);
    H5Sclose(space);
    attribute = H5Aopen(group, "large", H5P_DEFAULT);
    check(H5Aread(attribute, H5T_NATIVE_INT, got) >= 0 && got[5999] == 5999, "the many elements are there");
    H5Aclose(attribute);
    check(int_of(group, "number 2") == 4 && int_of(group, "sixteen") == 16 && H5Aexists(group, "number 3") == 0, "so are the others");
    names(group, "inner moved ");
    H5Gclose(group);
}

/* More objects than numbers are handed out at once, and several datasets in turn. */
static void many(hid_t file)
{
    hid_t group = H5Gcreate2(file, "many", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool created = true, there = true;
    for (int i = 0; i < 1200; i++) {
        char name[16];
        snprintf(name, sizeof name, "%04d", i);
        hid_t one = H5Gcreate2(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        created = created && one >= 0;
        H5Gclose(one);
    }
    check(created, "create 1200 groups");
    hid_t datasets[6];
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        datasets[i] = grid(group, name, (hsize_t)size * 3, 5, i % 2 ? 2 : 0, 5, false);
    }
    for (int i = 0; i < 6; i++) {
        hid_t own = rows_space(datasets[i], rank);
        there = there && write_selected(datasets[i], own, i, i % 3 > 0);
        H5Sclose(own);
    }
    check(there, "write six datasets");
    DONE(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
    for (int i = 0; i < 6; i++) {
        check(holds_all(datasets[i], i, i % 2), "dataset %d holds what all have written", i);
        H5Dclose(datasets[i]);
    }
    DONE(H5Ldelete(group, "d1", H5P_DEFAULT), "delete a dataset");
    check(H5Lexists(group, "d1", H5P_DEFAULT) == 0, "it is gone");
    DONE(H5Ocopy(group, "d2", file, "copy", H5P_DEFAULT, H5P_DEFAULT), "copy a dataset");
    hid_t copy = H5Dopen2(file, "copy", H5P_DEFAULT);
    check(holds_all(copy, 2, true), "the copy holds the same");
    H5Dclose(copy);
    H5Gclose(group);
}

/* A dataset that is written, deleted, and made again under its name. */
static void again(hid_t file)
{
    hid_t dataset = grid(file, "again", 8, 8, 3, 3, false), own = rows_space(dataset, rank);
    check(write_selected(dataset, own, 1, true), "write it");
    H5Dclose(dataset);
    DONE(H5Ldelete(file, "again", H5P_DEFAULT), "delete it before a commit");
    dataset = grid(file, "again", 8, 8, 0, 0, false);
    check(write_selected(dataset, own, 2, true), "write another one of its name");
    check(holds_all(dataset, 2, false), "which all ranks see");
    H5Sclose(own);
    H5Dclose(dataset);
}

void check_metadata(void)
{
    hid_t file = shared_file("metadata.h5");
    groups(file);
    attributes(file);
    DONE(H5Fflush(file, H5F_SCOPE_GLOBAL), "flush");
    stored(file);
    many(file);
    again(file);
    DONE(H5Fclose(file), "close");
    file = open_shared("metadata.h5", true);
    stored(file);
    check(H5Lexists(file, "many/1199", H5P_DEFAULT) > 0, "the last of the many groups is there");
    hid_t dataset = H5Dopen2(file, "again", H5P_DEFAULT);
    check(holds_all(dataset, 2, true), "the dataset that was made again is there");
    H5Dclose(dataset);
    DONE(H5Ldelete(file, "many", H5P_DEFAULT), "delete the many groups");
    DONE(H5Fclose(file), "close");
    file = open_shared("metadata.h5", false);
    names(file, "a again copy g ");
    DONE(H5Fclose(file), "close");
}
