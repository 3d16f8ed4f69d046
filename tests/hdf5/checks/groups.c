/* Groups: creation, nesting, names, information. */
#include "check.h"

static void nesting(void)
{
    hid_t file = new_file("groups.h5"), group, list = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(list, 1);
    group = H5Gcreate2(file, "a/b/c/d", list, H5P_DEFAULT, H5P_DEFAULT);
    DONE(group, "create intermediate groups");
    H5Gclose(group);
    H5Pclose(list);
    REFUSED(H5Gcreate2(file, "x/y", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "a group in a group that is not there");
    REFUSED(H5Gcreate2(file, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "a group whose name is taken");
    static const char *const PATHS[] = {"a", "/a/b", "a/b/c", "a//b/./c/", "./a", "/", ".", "a/b/c/d"};
    for (size_t i = 0; i < sizeof PATHS / sizeof PATHS[0]; i++) {
        group = H5Gopen2(file, PATHS[i], H5P_DEFAULT);
        DONE(group, "open %s", PATHS[i]);
        char name[64];
        check(H5Iget_name(group, name, sizeof name) > 0, "its name");
        show_text("name", name);
        H5Gclose(group);
    }
    static const char *const NONE[] = {"b", "a/c", "a/b/c/d/e", "A"};
    for (size_t i = 0; i < sizeof NONE / sizeof NONE[0]; i++)
        REFUSED(H5Gopen2(file, NONE[i], H5P_DEFAULT), "opening %s, which is not there", NONE[i]);
    H5Fclose(file);
}

static void information(void)
{
    hid_t file = new_file("information.h5"), group, list = H5Pcreate(H5P_GROUP_CREATE), there;
    H5G_info_t info;
    unsigned flags;
    H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    group = H5Gcreate2(file, "ordered", H5P_DEFAULT, list, H5P_DEFAULT);
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", 9 - i);
        H5Gclose(H5Gcreate2(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    check(H5Gget_info(group, &info) >= 0 && info.nlinks == 5 && !info.mounted, "five links");
    show("largest creation order", info.max_corder);
    check(H5Gget_info_by_name(file, "ordered/9", &info, H5P_DEFAULT) >= 0 && info.nlinks == 0, "no link in a group in it");
    check(H5Gget_info_by_idx(file, "ordered", H5_INDEX_CRT_ORDER, H5_ITER_INC, 0, &info, H5P_DEFAULT) >= 0, "information by number");
    there = H5Gget_create_plist(group);
    check(there >= 0 && H5Pget_link_creation_order(there, &flags) >= 0, "its creation properties");
    show("link creation order", flags);
    H5Pclose(there);
    H5Pclose(list);
    H5Gclose(group);
    group = H5Gcreate_anon(file, H5P_DEFAULT, H5P_DEFAULT);
    check(group >= 0 && H5Gget_info(group, &info) >= 0 && info.nlinks == 0, "a group without a name");
    DONE(H5Olink(group, file, "named", H5P_DEFAULT, H5P_DEFAULT), "give it one");
    H5Gclose(group);
    check(H5Lexists(file, "named", H5P_DEFAULT) > 0, "it has the name");
    group = H5Gcreate_anon(file, H5P_DEFAULT, H5P_DEFAULT);
    DONE(H5Gclose(group), "close a group without a name");
    H5Fclose(file);
}

static void names(void)
{
    hid_t file = new_file("names.h5"), group, list = H5Pcreate(H5P_LINK_CREATE);
    static const char *const NAMES[] = {"with space", "a.b", "x:y", "\xc3\xa4\xe2\x82\xac", "-", "0", "%41", "\x01\x7f", "a\\b"};
    char longest[1025];
    H5Pset_char_encoding(list, H5T_CSET_UTF8);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        group = H5Gcreate2(file, NAMES[i], list, H5P_DEFAULT, H5P_DEFAULT);
        check(group >= 0 && H5Lexists(file, NAMES[i], H5P_DEFAULT) > 0, "name %zu", i);
        H5Gclose(group);
    }
    memset(longest, 'n', 1024);
    longest[1024] = 0;
    group = H5Gcreate2(file, longest, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(group >= 0 && H5Lexists(file, longest, H5P_DEFAULT) > 0, "a name of 1024 bytes");
    H5Gclose(group);
    H5Pclose(list);
    H5Fclose(file);
    file = open_file("names.h5", false);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        check(H5Lexists(file, NAMES[i], H5P_DEFAULT) > 0, "name %zu is there again", i);
    H5Fclose(file);
}

static void many(void)
{
    hid_t file = new_file("many.h5");
    H5G_info_t info;
    char name[16];
    bool good = true;
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%03d", i);
        hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        good = good && group >= 0;
        H5Gclose(group);
    }
    check(good, "1000 groups");
    H5Fclose(file);
    file = open_file("many.h5", false);
    check(H5Gget_info(file, &info) >= 0 && info.nlinks == 1000, "there are 1000 links");
    for (int i = 0; i < 1000; i += 111) {
        ssize_t length = H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)i, name, sizeof name, H5P_DEFAULT);
        check(length == 3 && atoi(name) == i, "link %d by its number", i);
    }
    H5Fclose(file);
}

void check_groups(void)
{
    nesting();
    information();
    names();
    many();
}
