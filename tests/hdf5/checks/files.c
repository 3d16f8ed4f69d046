/* Files: creation, opening, flags, names, several handles, deletion. */
#include "check.h"

static void creation_and_opening(void)
{
    hid_t file = new_file("files.h5");
    char name[4096];
    unsigned intent = 0;
    check(H5Fget_intent(file, &intent) >= 0 && (intent & H5F_ACC_RDWR), "a new file is writable");
    check(H5Fget_name(file, name, sizeof name) > 0 && strcmp(name, path("files.h5")) == 0, "it has the name that was given");
    check(H5Fget_name(file, NULL, 0) == (ssize_t)strlen(path("files.h5")), "the length of the name is told without a buffer");
    put_int(file, "number", 7);
    DONE(H5Fclose(file), "close it");
    check(H5Fis_accessible(path("files.h5"), H5P_DEFAULT) > 0, "it is accessible");
    REFUSED(H5Fcreate(path("files.h5"), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT), "exclusive creation of a file that is there");
    file = open_file("files.h5", false);
    check(H5Fget_intent(file, &intent) >= 0 && intent == H5F_ACC_RDONLY, "a file opened for reading is read-only");
    check(int_of(file, "number") == 7, "the attribute is there again");
    REFUSED(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "a group in a read-only file");
    DONE(H5Fclose(file), "close it again");
    file = new_file("files.h5");
    check(H5Aexists(file, "number") == 0, "truncation removes what was there");
    H5Fclose(file);
    REFUSED(H5Fopen(path("nothing.h5"), H5F_ACC_RDONLY, H5P_DEFAULT), "opening a file that is not there");
    file = H5Fcreate(path("exclusive.h5"), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
    DONE(file, "exclusive creation of a new file");
    H5Fclose(file);
}

static void several_handles(void)
{
    hid_t first = new_file("handles.h5"), second = H5Freopen(first), third;
    DONE(second, "reopen");
    put_int(first, "number", 3);
    check(int_of(second, "number") == 3, "a reopened file shows what the first handle wrote");
    third = H5Fopen(path("handles.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    check(third >= 0 && int_of(third, "number") == 3, "so does a file that is opened twice");
    H5Fclose(first);
    put_int(second, "more", 4);
    check(int_of(third, "more") == 4, "the others go on when one is closed");
    H5Fclose(second);
    H5Fclose(third);
}

static void open_objects(void)
{
    hid_t file = new_file("open.h5"), group, ids[8];
    check(H5Fget_obj_count(file, H5F_OBJ_ALL) == 1, "only the file is open");
    group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Fget_obj_count(file, H5F_OBJ_GROUP) == 1, "one group is open");
    check(H5Fget_obj_ids(file, H5F_OBJ_GROUP, 8, ids) == 1 && ids[0] == group, "it is that group");
    hid_t same = H5Iget_file_id(group);
    check(same >= 0 && H5Fclose(same) >= 0, "a group knows its file");
    H5Gclose(group);
    H5Fclose(file);
}

static void properties(void)
{
    hid_t list = H5Pcreate(H5P_FILE_CREATE), file, there;
    unsigned flags = 0;
    H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED);
    file = H5Fcreate(path("properties.h5"), H5F_ACC_TRUNC, list, H5P_DEFAULT);
    DONE(file, "create a file that tracks the order of links");
    H5Pclose(list);
    for (int again = 0; again < 2; again++) {
        there = H5Fget_create_plist(file);
        check(there >= 0 && H5Pget_link_creation_order(there, &flags) >= 0, "its creation properties");
        /* The native connector forgets them when the file is closed. */
        check(again || flags == (H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "links are in the order of creation");
        check(H5Pget_attr_creation_order(there, &flags) >= 0, "and those of attributes");
        check(again || flags == H5P_CRT_ORDER_TRACKED, "so are attributes");
        H5Pclose(there);
        H5Fclose(file);
        file = open_file("properties.h5", true);
    }
    there = H5Fget_access_plist(file);
    DONE(there, "its access properties");
    H5Pclose(there);
    H5Fclose(file);
}

static void flushes(void)
{
    hid_t file = new_file("flushes.h5"), group;
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "group%d", i);
        group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        DONE(H5Fflush(group, i % 2 ? H5F_SCOPE_GLOBAL : H5F_SCOPE_LOCAL), "flush after %s", name);
        DONE(H5Gflush(group), "flush %s", name);
        H5Gclose(group);
    }
    H5Fclose(file);
    file = open_file("flushes.h5", false);
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "group%d", i);
        check(H5Lexists(file, name, H5P_DEFAULT) > 0, "%s is there", name);
    }
    H5Fclose(file);
}

void check_files(void)
{
    creation_and_opening();
    several_handles();
    open_objects();
    properties();
    flushes();
    DONE(H5Fdelete(path("flushes.h5"), H5P_DEFAULT), "delete a file");
    REFUSED(H5Fopen(path("flushes.h5"), H5F_ACC_RDONLY, H5P_DEFAULT), "opening a deleted file");
}
