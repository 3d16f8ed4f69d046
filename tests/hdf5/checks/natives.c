/* Native files among those of the connector: opened by name, and led to by links and virtual datasets of others. Files with a driver of
 * their own. */
#include "check.h"

/* An access property list that names HDF5's own connector. */
static hid_t native_list(void)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS), native = H5VLget_connector_id_by_name("native");
    H5Pset_vol(list, native, NULL);
    H5VLclose(native);
    return list;
}

static void make(const char *name)
{
    hid_t list = native_list(), file = H5Fcreate(path(name), H5F_ACC_TRUNC, H5P_DEFAULT, list);
    hid_t space = space_of(2, 3, 0), group, dataset, kind, text, attribute, one = H5Screate(H5S_SCALAR);
    const char *words = "variable";
    DONE(file, "create a native file");
    H5Pclose(list);
    group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    dataset = int_dataset(group, "dataset", space, 10);
    put_int(dataset, "attribute", 2);
    H5Lcreate_soft("dataset", group, "soft", H5P_DEFAULT, H5P_DEFAULT);
    kind = H5Tcopy(H5T_STD_I16LE);
    DONE(H5Tcommit2(file, "type", kind, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "commit a type");
    text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    attribute = H5Acreate2(group, "text", text, one, H5P_DEFAULT, H5P_DEFAULT);
    DONE(H5Awrite(attribute, text, &words), "a text");
    H5Aclose(attribute);
    H5Tclose(text);
    H5Tclose(kind);
    H5Dclose(dataset);
    H5Gclose(group);
    H5Sclose(space);
    H5Sclose(one);
    DONE(H5Fclose(file), "close it");
}

static herr_t tell_link(hid_t group, const char *name, const H5L_info2_t *info, void *count)
{
    ++*(int *)count;
    check(group > 0, "link %s of type %d", name, (int)info->type);
    show("there", H5Lexists(group, name, H5P_DEFAULT));
    return 0;
}

static herr_t tell_link1(hid_t group, const char *name, const H5L_info1_t *info, void *count)
{
    ++*(int *)count;
    check(group > 0, "link %s of type %d", name, (int)info->type);
    return 0;
}

static herr_t tell_object(hid_t start, const char *name, const H5O_info2_t *info, void *count)
{
    ++*(int *)count;
    check(start > 0, "object %s of type %d", name, (int)info->type);
    return 0;
}

static herr_t tell_attribute(hid_t object, const char *name, const H5A_info_t *info, void *count)
{
    ++*(int *)count;
    check(object > 0, "attribute %s of %llu bytes", name, (unsigned long long)info->data_size);
    return 0;
}

static void show_text_of(hid_t at)
{
    hid_t attribute = H5Aopen(at, "text", H5P_DEFAULT), kind = H5Aget_type(attribute);
    char *value = NULL;
    check(H5Aread(attribute, kind, &value) >= 0 && value && strcmp(value, "variable") == 0, "read the text");
    H5free_memory(value);
    H5Tclose(kind);
    H5Aclose(attribute);
}

static void look(hid_t at, const char *name)
{
    int values[6] = {0}, count = 0;
    char text[64] = "";
    hid_t group = H5Gopen2(at, name, H5P_DEFAULT), dataset, file;
    H5O_info1_t old;
    DONE(group, "open %s", name);
    DONE(H5Literate2(group, H5_INDEX_NAME, H5_ITER_INC, NULL, tell_link, &count), "its links");
    DONE(H5Literate1(group, H5_INDEX_NAME, H5_ITER_INC, NULL, tell_link1, &count), "its links by the first interface");
    DONE(H5Lvisit1(group, H5_INDEX_NAME, H5_ITER_INC, tell_link1, &count), "all links by the first interface");
    DONE(H5Ovisit3(group, H5_INDEX_NAME, H5_ITER_INC, tell_object, &count, H5O_INFO_BASIC), "its objects");
    DONE(H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, NULL, tell_attribute, &count), "its attributes");
    show("seen", count);
    show_text_of(group);
    dataset = H5Oopen(group, "soft", H5P_DEFAULT);
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && values[5] == 15, "its dataset");
    show("attribute", int_of(dataset, "attribute"));
    DONE(H5Oget_info1(dataset, &old), "what it is by the first interface");
    show("references", old.rc);
    H5Iget_name(dataset, text, sizeof text);
    show_text("name", text);
    file = H5Iget_file_id(dataset);
    DONE(file, "its file");
    show("datasets open", H5Fget_obj_count(file, H5F_OBJ_DATASET));
    H5Fclose(file);
    H5Dclose(dataset);
    H5Gclose(group);
}

static void write_there(hid_t file)
{
    hid_t space = space_of(4, 0, 0), kind = H5Topen2(file, "type", H5P_DEFAULT), dataset, list = H5Pcreate(H5P_OBJECT_COPY), again;
    short values[4] = {1, 2, 3, 4};
    hobj_ref_t reference;
    H5R_ref_t newer;
    show("committed", H5Tcommitted(kind));
    dataset = H5Dcreate2(file, "new", kind, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    DONE(dataset, "create a dataset of a committed type");
    DONE(H5Dwrite(dataset, H5T_NATIVE_SHORT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), "write it");
    H5Tclose(kind);
    kind = H5Dget_type(dataset);
    show("committed", H5Tcommitted(kind));
    DONE(H5Rcreate(&reference, file, "group/dataset", H5R_OBJECT, -1), "refer to a dataset");
    again = H5Rdereference2(file, H5P_DEFAULT, H5R_OBJECT, &reference);
    show("attribute", int_of(again, "attribute"));
    H5Dclose(again);
    DONE(H5Rcreate_object(file, "group/dataset", H5P_DEFAULT, &newer), "refer to it");
    again = H5Ropen_object(&newer, H5P_DEFAULT, H5P_DEFAULT);
    show("attribute", int_of(again, "attribute"));
    H5Dclose(again);
    H5Rdestroy(&newer);
    DONE(H5Lcreate_hard(file, "new", file, "hard", H5P_DEFAULT, H5P_DEFAULT), "a hard link");
    DONE(H5Lmove(file, "hard", file, "moved", H5P_DEFAULT, H5P_DEFAULT), "move it");
    DONE(H5Ocopy(file, "group", file, "copy", list, H5P_DEFAULT), "copy a group");
    DONE(H5Drefresh(dataset), "refresh");
    DONE(H5Fflush(file, H5F_SCOPE_GLOBAL), "flush");
    again = H5Freopen(file);
    show("moved", H5Lexists(again, "moved", H5P_DEFAULT));
    H5Fclose(again);
    H5Pclose(list);
    H5Tclose(kind);
    H5Dclose(dataset);
    H5Sclose(space);
}

static void open_by_name(void)
{
    hid_t file, other;
    char magic[9] = "";
    FILE *plain;
    make("native.h5");
    show("accessible", H5Fis_accessible(path("native.h5"), H5P_DEFAULT));
    file = open_file("native.h5", false);
    look(file, "group");
    REFUSED(H5Gcreate2(file, "x", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "a group in a file for reading");
    DONE(H5Fclose(file), "close it");
    file = open_file("native.h5", true);
    write_there(file);
    look(file, "copy");
    make("child.h5");
    other = open_file("child.h5", false);
    H5Gclose(H5Gcreate2(file, "mount", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    DONE(H5Fmount(file, "mount", other, H5P_DEFAULT), "mount a file");
    look(file, "mount/group");
    DONE(H5Funmount(file, "mount"), "unmount it");
    H5Fclose(other);
    DONE(H5Fclose(file), "close it");
    plain = fopen(path("native.h5"), "rb");
    check(fread(magic, 1, 8, plain) == 8 && fgetc(plain) != 'i', "it is native");
    fclose(plain);
    plain = fopen(path("text.h5"), "w");
    fputs("no HDF5 file", plain);
    fclose(plain);
    show("accessible", H5Fis_accessible(path("text.h5"), H5P_DEFAULT));
    REFUSED(H5Fopen(path("text.h5"), H5F_ACC_RDONLY, H5P_DEFAULT), "a text");
    DONE(H5Fdelete(path("child.h5"), H5P_DEFAULT), "delete a native file");
}

static void led_to(void)
{
    hid_t file = new_file("leads.h5"), dataset, space = space_of(2, 3, 0), all = space_of(4, 3, 0), list, group;
    hsize_t start[2] = {1, 0}, count[2] = {2, 3};
    int values[12], one = 99;
    unsigned count_of = 0;
    H5O_info2_t info;
    DONE(H5Lcreate_external("native.h5", "/", file, "all", H5P_DEFAULT, H5P_DEFAULT), "a link to a native file");
    look(file, "all/group");
    H5Lcreate_external("native.h5", "/group/dataset", file, "dataset", H5P_DEFAULT, H5P_DEFAULT);
    dataset = H5Dopen2(file, "dataset", H5P_DEFAULT);
    DONE(dataset, "open a dataset behind a link");
    put_int(dataset, "late", 4);
    H5Dclose(dataset);
    show("attribute by name", H5Aexists_by_name(file, "all/group/dataset", "late", H5P_DEFAULT));
    DONE(H5Oget_info_by_name3(file, "dataset", &info, H5O_INFO_BASIC, H5P_DEFAULT), "what it is");
    show("type", (long long)info.type);
    show("exists", H5Lexists(file, "all/group", H5P_DEFAULT));
    show("exists", H5Lexists(file, "all/none", H5P_DEFAULT));
    show("exists", H5Oexists_by_name(file, "dataset", H5P_DEFAULT));
    REFUSED(H5Oopen(file, "all/none", H5P_DEFAULT), "nothing behind a link");
    group = H5Gcreate2(file, "all/made", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    DONE(group, "a group behind a link");
    H5Gclose(group);
    DONE(H5Ldelete(file, "all/made", H5P_DEFAULT), "delete it");
    (void)count_of;
    list = H5Pcreate(H5P_DATASET_CREATE);
    H5Sselect_hyperslab(all, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Pset_virtual(list, all, "native.h5", "/group/dataset", space);
    H5Pset_fill_value(list, H5T_NATIVE_INT, &one);
    H5Sselect_all(all);
    dataset = H5Dcreate2(file, "virtual", H5T_STD_I32LE, all, H5P_DEFAULT, list, H5P_DEFAULT);
    DONE(dataset, "a virtual dataset of a native one");
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "read it");
    for (int i = 0; i < 12; i++)
        show("value", values[i]);
    start[0] = start[1] = 1;
    count[0] = count[1] = 2;
    H5Sselect_hyperslab(all, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Sclose(space);
    space = space_of(2, 2, 0);
    values[0] = values[1] = values[2] = values[3] = -7;
    DONE(H5Dwrite(dataset, H5T_NATIVE_INT, space, all, H5P_DEFAULT, values), "write a part of it");
    H5Dclose(dataset);
    dataset = H5Dopen2(file, "dataset", H5P_DEFAULT);
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "read the source");
    for (int i = 0; i < 6; i++)
        show("value", values[i]);
    H5Dclose(dataset);
    H5Pclose(list);
    H5Sclose(space);
    H5Sclose(all);
    DONE(H5Fclose(file), "close it");
}

static void own_drivers(void)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS), file, dataset, space = space_of(3, 0, 0);
    hsize_t size = 0;
    FILE *plain;
    H5Pset_fapl_core(list, 4096, false);
    file = H5Fcreate(path("memory.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, list);
    DONE(file, "a file in memory");
    H5Dclose(int_dataset(file, "x", space, 1));
    DONE(H5Fget_filesize(file, &size), "its size");
    show("has bytes", size > 0);
    show("image", H5Fget_file_image(file, NULL, 0) > 0);
    DONE(H5Fclose(file), "close it");
    plain = fopen(path("memory.h5"), "rb");
    check(plain == NULL, "it is not on the disk");
    REFUSED(H5Fopen(path("memory.h5"), H5F_ACC_RDONLY, list), "it is gone");
    file = H5Fopen(path("native.h5"), H5F_ACC_RDWR, list);
    DONE(file, "a native file as a copy in memory");
    DONE(H5Ldelete(file, "group", H5P_DEFAULT), "delete a group of the copy");
    DONE(H5Fclose(file), "close it");
    file = open_file("native.h5", false);
    show("group", H5Lexists(file, "group", H5P_DEFAULT));
    H5Fclose(file);
    H5Pset_fapl_family(list, 1 << 16, H5P_DEFAULT);
    file = H5Fcreate(path("family-%d.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, list);
    DONE(file, "a file in several files");
    H5Dclose(int_dataset(file, "x", space, 1));
    DONE(H5Fclose(file), "close it");
    plain = fopen(path("family-0.h5"), "rb");
    check(plain != NULL, "they are on the disk");
    fclose(plain);
    show("accessible", H5Fis_accessible(path("family-%d.h5"), list));
    file = H5Fopen(path("family-%d.h5"), H5F_ACC_RDONLY, list);
    dataset = H5Dopen2(file, "x", H5P_DEFAULT);
    DONE(dataset, "open it again");
    H5Dclose(dataset);
    DONE(H5Fclose(file), "close it");
    DONE(H5Fdelete(path("family-%d.h5"), list), "delete it");
    plain = fopen(path("family-0.h5"), "rb");
    check(plain == NULL, "they are gone");
    H5Pclose(list);
    H5Sclose(space);
}

void check_natives(void)
{
    open_by_name();
    led_to();
    own_drivers();
}
