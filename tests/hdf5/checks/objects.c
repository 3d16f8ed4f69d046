/* Objects: opening, information, reference counts, visiting. */
#include "check.h"

static herr_t note(hid_t at, const char *name, const H5O_info2_t *info, void *data)
{
    char *text = data;
    (void)at;
    snprintf(text + strlen(text), 512 - strlen(text), "%s:%d:%d:%d ", name, (int)info->type, (int)info->rc, (int)info->num_attrs);
    return 0;
}

void check_objects(void)
{
    hid_t file = new_file("objects.h5"), group, space = space_of(3, 0, 0), type = H5Tcopy(H5T_STD_I8LE), object;
    H5O_info2_t info, other;
    group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(int_dataset(group, "dataset", space, 0));
    H5Tcommit2(group, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(type);
    H5Lcreate_hard(file, "group/dataset", file, "second", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("group/dataset", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    put_int(group, "one", 1);
    put_int(group, "two", 2);
    for (int again = 0; again < 2; again++) {
        static const char *const PATHS[] = {"group", "group/dataset", "group/type", "second", "soft", "/"};
        for (int i = 0; i < 6; i++) {
            object = H5Oopen(file, PATHS[i], H5P_DEFAULT);
            DONE(object, "open %s", PATHS[i]);
            show("kind of identifier", H5Iget_type(object));
            check(H5Oget_info3(object, &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) >= 0, "its information");
            show("type", info.type);
            show("references", info.rc);
            show("attributes", (long long)info.num_attrs);
            check(H5Oget_info_by_name3(file, PATHS[i], &other, H5O_INFO_BASIC, H5P_DEFAULT) >= 0, "information by name");
            int order = 1;
            check(H5Otoken_cmp(file, &info.token, &other.token, &order) >= 0 && order == 0, "the same token");
            hid_t same = H5Oopen_by_token(file, info.token);
            DONE(same, "open it by its token");
            H5Oclose(same);
            char *text = NULL;
            H5O_token_t back;
            check(H5Otoken_to_str(file, &info.token, &text) >= 0 && text && H5Otoken_from_str(file, text, &back) >= 0, "the token as text and back");
            check(H5Otoken_cmp(file, &info.token, &back, &order) >= 0 && order == 0, "it is the same");
            H5free_memory(text);
            DONE(H5Oflush(object), "flush it");
            DONE(H5Orefresh(object), "refresh it");
            H5Oclose(object);
        }
        check(H5Oget_info_by_name3(file, "group/dataset", &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0
                  && H5Oget_info_by_name3(file, "second", &other, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 && info.fileno == other.fileno, "both are in one file");
        for (hsize_t n = 0; n < 2; n++) {
            object = H5Oopen_by_idx(file, "group", H5_INDEX_NAME, H5_ITER_INC, n, H5P_DEFAULT);
            DONE(object, "open object %d", (int)n);
            show("kind of identifier", H5Iget_type(object));
            H5Oclose(object);
            check(H5Oget_info_by_idx3(file, "group", H5_INDEX_NAME, H5_ITER_DEC, n, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0, "information of object %d", (int)n);
            show("type", info.type);
        }
        char text[512] = "";
        check(H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, note, text, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) == 0, "visit all objects");
        show_text("seen", text);
        text[0] = 0;
        check(H5Ovisit_by_name3(file, "group", H5_INDEX_NAME, H5_ITER_DEC, note, text, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS, H5P_DEFAULT) == 0, "visit a group");
        show_text("seen", text);
        check(H5Oexists_by_name(file, "group", H5P_DEFAULT) > 0, "an object exists");
        REFUSED(H5Oopen(file, "none", H5P_DEFAULT), "opening an object that is not there");
        H5Gclose(group);
        H5Fclose(file);
        file = open_file("objects.h5", true);
        group = H5Gopen2(file, "group", H5P_DEFAULT);
    }
    DONE(H5Oincr_refcount(group), "raise the reference count");
    check(H5Oget_info3(group, &info, H5O_INFO_BASIC) >= 0 && info.rc == 2, "it is 2");
    DONE(H5Odecr_refcount(group), "lower it");
    check(H5Oget_info3(group, &info, H5O_INFO_BASIC) >= 0 && info.rc == 1, "it is 1");
    object = H5Oopen(file, "second", H5P_DEFAULT);
    H5Ldelete(file, "second", H5P_DEFAULT);
    H5Ldelete(file, "group/dataset", H5P_DEFAULT);
    int values[3] = {9, 9, 9};
    check(H5Dread(object, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && values[2] == 2, "an open dataset without links can be read");
    H5Oclose(object);
    check(H5Oexists_by_name(file, "soft", H5P_DEFAULT) <= 0, "then it is gone");
    H5Sclose(space);
    H5Gclose(group);
    H5Fclose(file);
}
