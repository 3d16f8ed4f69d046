/* Copies of objects, within a file and into another. */
#include "check.h"

static void look(hid_t file, const char *name)
{
    char place[128];
    int values[6] = {0};
    hid_t group = H5Gopen2(file, name, H5P_DEFAULT), dataset;
    DONE(group, "open the copy %s", name);
    show("attribute", int_of(group, "attribute"));
    show("inner", H5Lexists(group, "inner", H5P_DEFAULT));
    show("soft", H5Lexists(group, "soft", H5P_DEFAULT));
    H5Gclose(group);
    snprintf(place, sizeof place, "%s/dataset", name);
    dataset = H5Dopen2(file, place, H5P_DEFAULT);
    check(dataset >= 0 && H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && values[5] == 15, "its dataset");
    show("attribute of the dataset", int_of(dataset, "attribute"));
    H5Dclose(dataset);
    snprintf(place, sizeof place, "%s/inner/deep", name);
    show("deep", H5Lexists(file, place, H5P_DEFAULT) > 0);
}

void check_copies(void)
{
    hid_t file = new_file("copies.h5"), other = new_file("copies-other.h5"), group, inner, dataset, space = space_of(2, 3, 0), list;
    group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_int(group, "attribute", 1);
    inner = H5Gcreate2(group, "inner", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(inner, "deep", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    dataset = int_dataset(group, "dataset", space, 10);
    put_int(dataset, "attribute", 2);
    H5Lcreate_soft("dataset", group, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(dataset);
    H5Gclose(inner);
    H5Gclose(group);
    DONE(H5Ocopy(file, "group", file, "copy", H5P_DEFAULT, H5P_DEFAULT), "copy a group");
    look(file, "copy");
    DONE(H5Ocopy(file, "group", other, "copy", H5P_DEFAULT, H5P_DEFAULT), "copy it into another file");
    look(other, "copy");
    static const unsigned FLAGS[] = {H5O_COPY_WITHOUT_ATTR_FLAG, H5O_COPY_EXPAND_SOFT_LINK_FLAG, H5O_COPY_SHALLOW_HIERARCHY_FLAG};
    static const char *const NAMES[] = {"without-attributes", "expanded", "shallow"};
    for (int i = 0; i < 3; i++) {
        list = H5Pcreate(H5P_OBJECT_COPY);
        H5Pset_copy_object(list, FLAGS[i]);
        DONE(H5Ocopy(file, "group", other, NAMES[i], list, H5P_DEFAULT), "copy with flag %u", FLAGS[i]);
        H5Pclose(list);
        look(other, NAMES[i]);
    }
    DONE(H5Ocopy(file, "group/dataset", other, "dataset", H5P_DEFAULT, H5P_DEFAULT), "copy a dataset");
    dataset = H5Dopen2(other, "dataset", H5P_DEFAULT);
    int values[6] = {0}, changed[6] = {1, 1, 1, 1, 1, 1};
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && values[0] == 10, "its values");
    DONE(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, changed), "change the copy");
    H5Dclose(dataset);
    dataset = H5Dopen2(file, "group/dataset", H5P_DEFAULT);
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && values[0] == 10, "the original is as it was");
    H5Dclose(dataset);
    REFUSED(H5Ocopy(file, "group", file, "copy", H5P_DEFAULT, H5P_DEFAULT), "a copy to a name that is taken");
    REFUSED(H5Ocopy(file, "none", file, "x", H5P_DEFAULT, H5P_DEFAULT), "a copy of nothing");
    H5Sclose(space);
    H5Fclose(other);
    H5Fclose(file);
}
