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

static void put_reference(hid_t at, const char *name, hid_t file, const char *target)
{
    hid_t space = H5Screate(H5S_SCALAR), attribute = H5Acreate2(at, name, H5T_STD_REF_OBJ, space, H5P_DEFAULT, H5P_DEFAULT);
    hobj_ref_t reference;
    DONE(H5Rcreate(&reference, file, target, H5R_OBJECT, -1), "refer to %s", target);
    DONE(H5Awrite(attribute, H5T_STD_REF_OBJ, &reference), "put reference %s", name);
    H5Aclose(attribute);
    H5Sclose(space);
}

static void show_referred(hid_t file, hid_t at, const char *name)
{
    hobj_ref_t reference = 99;
    hid_t attribute = H5Aopen(at, name, H5P_DEFAULT), object = -1;
    DONE(H5Aread(attribute, H5T_STD_REF_OBJ, &reference), "read reference %s", name);
    H5Aclose(attribute);
    show("is set", reference != 0);
    H5E_BEGIN_TRY { object = reference ? H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &reference) : -1; }
    H5E_END_TRY
    show("leads to an object", object >= 0);
    if (object >= 0) {
        show("its attribute", int_of(object, "attribute"));
        H5Oclose(object);
    }
}

static hid_t copying(unsigned flags)
{
    hid_t list = H5Pcreate(H5P_OBJECT_COPY);
    H5Pset_copy_object(list, flags);
    return list;
}

static void references(void)
{
    hid_t file = new_file("references.h5"), other = new_file("references-other.h5"), space = space_of(2, 0, 0), group, dataset, list;
    H5Gclose(H5Gcreate2(file, "outside", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    group = H5Gopen2(file, "outside", H5P_DEFAULT);
    put_int(group, "attribute", 7);
    H5Gclose(group);
    group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    dataset = int_dataset(group, "inside", space, 1);
    put_int(dataset, "attribute", 8);
    H5Dclose(dataset);
    put_reference(group, "out", file, "outside");
    put_reference(group, "in", file, "group/inside");
    H5Gclose(group);
    list = copying(H5O_COPY_EXPAND_REFERENCE_FLAG);
    DONE(H5Ocopy(file, "group", other, "plain", H5P_DEFAULT, H5P_DEFAULT), "copy without what references lead to");
    DONE(H5Ocopy(file, "group", other, "expanded", list, H5P_DEFAULT), "copy with it");
    static const char *const NAMES[] = {"plain", "expanded"};
    for (int i = 0; i < 2; i++) {
        group = H5Gopen2(other, NAMES[i], H5P_DEFAULT);
        show_referred(other, group, "out");
        show_referred(other, group, "in");
        H5Gclose(group);
    }
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(other);
    H5Fclose(file);
}

static void links_to_others(void)
{
    hid_t file = new_file("links.h5"), other = new_file("links-other.h5"), space = space_of(2, 0, 0), group, list;
    H5L_info2_t info;
    static const unsigned FLAGS[] = {0, H5O_COPY_EXPAND_EXT_LINK_FLAG};
    static const char *const NAMES[] = {"kept", "expanded"};
    char place[64];
    H5Dclose(int_dataset(other, "there", space, 1));
    H5Fclose(other);
    group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("links-other.h5", "there", group, "link", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("links-none.h5", "there", group, "lost", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(group);
    for (int i = 0; i < 2; i++) {
        list = copying(FLAGS[i]);
        DONE(H5Ocopy(file, "group", file, NAMES[i], list, H5P_DEFAULT), "copy a group with external links: %s", NAMES[i]);
        H5Pclose(list);
        snprintf(place, sizeof place, "%s/link", NAMES[i]);
        DONE(H5Lget_info2(file, place, &info, H5P_DEFAULT), "its link");
        show("type", info.type);
        snprintf(place, sizeof place, "%s/lost", NAMES[i]);
        DONE(H5Lget_info2(file, place, &info, H5P_DEFAULT), "its link to nothing");
        show("type", info.type);
    }
    H5Sclose(space);
    H5Fclose(file);
}

static void show_committed(hid_t file, const char *name, const char *equal)
{
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), kind = H5Dget_type(dataset), other = H5Topen2(file, equal, H5P_DEFAULT);
    H5O_info2_t one, two;
    show("committed", H5Tcommitted(kind));
    show("size", (long long)H5Tget_size(kind));
    DONE(H5Oget_info3(kind, &one, H5O_INFO_BASIC), "its type");
    H5Oget_info3(other, &two, H5O_INFO_BASIC);
    show("is the one that was there", memcmp(&one.token, &two.token, sizeof one.token) == 0);
    H5Tclose(other);
    H5Tclose(kind);
    H5Dclose(dataset);
}

static void committed_types(void)
{
    hid_t file = new_file("types.h5"), other = new_file("types-other.h5"), space = space_of(2, 0, 0), kind, list = copying(H5O_COPY_MERGE_COMMITTED_DTYPE_FLAG);
    kind = H5Tcopy(H5T_STD_I16BE);
    H5Tcommit2(file, "type", kind, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(H5Dcreate2(file, "dataset", kind, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Tclose(kind);
    kind = H5Tcopy(H5T_STD_I16BE);
    H5Tcommit2(other, "equal", kind, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(kind);
    DONE(H5Ocopy(file, "dataset", other, "plain", H5P_DEFAULT, H5P_DEFAULT), "copy a dataset of a committed type");
    show_committed(other, "plain", "equal");
    DONE(H5Ocopy(file, "dataset", other, "merged", list, H5P_DEFAULT), "copy it with an equal type of the file");
    show_committed(other, "merged", "equal");
    H5Pclose(list);
    H5Sclose(space);
    H5Fclose(other);
    H5Fclose(file);
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
    references();
    links_to_others();
    committed_types();
}
