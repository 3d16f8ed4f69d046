/* Links: hard, soft and external ones; existence, values, information, moving, copying, deletion, iteration. */
#include "check.h"

static void kinds(void)
{
    hid_t other = new_file("links-other.h5"), file, group;
    H5Gclose(H5Gcreate2(other, "far", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(other);
    file = new_file("links.h5");
    group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(H5Gcreate2(group, "inner", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    DONE(H5Lcreate_hard(file, "group", file, "hard", H5P_DEFAULT, H5P_DEFAULT), "a hard link");
    DONE(H5Lcreate_hard(group, "inner", H5L_SAME_LOC, "twin", H5P_DEFAULT, H5P_DEFAULT), "a hard link beside the first");
    DONE(H5Lcreate_soft("/group/inner", file, "soft", H5P_DEFAULT, H5P_DEFAULT), "a soft link");
    DONE(H5Lcreate_soft("inner", group, "relative", H5P_DEFAULT, H5P_DEFAULT), "a relative soft link");
    DONE(H5Lcreate_soft("nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT), "a dangling soft link");
    DONE(H5Lcreate_external("links-other.h5", "/far", file, "external", H5P_DEFAULT, H5P_DEFAULT), "an external link");
    REFUSED(H5Lcreate_hard(file, "none", file, "bad", H5P_DEFAULT, H5P_DEFAULT), "a hard link to nothing");
    REFUSED(H5Lcreate_soft("x", file, "soft", H5P_DEFAULT, H5P_DEFAULT), "a soft link whose name is taken");
    H5Gclose(group);
    for (int again = 0; again < 2; again++) {
        static const char *const NAMES[] = {"group", "hard", "hard/twin", "soft", "group/relative", "dangling", "external"};
        for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
            H5L_info2_t info;
            char value[256] = "";
            check(H5Lexists(file, NAMES[i], H5P_DEFAULT) > 0, "%s exists", NAMES[i]);
            check(H5Lget_info2(file, NAMES[i], &info, H5P_DEFAULT) >= 0, "information of %s", NAMES[i]);
            show("type", info.type);
            show("character set", info.cset);
            if (info.type == H5L_TYPE_HARD)
                continue;
            show("length of the value", (long long)info.u.val_size);
            check(H5Lget_val(file, NAMES[i], value, sizeof value, H5P_DEFAULT) >= 0, "value of %s", NAMES[i]);
            if (info.type == H5L_TYPE_SOFT) {
                show_text("value", value);
            } else {
                const char *name, *where;
                check(H5Lunpack_elink_val(value, info.u.val_size, NULL, &name, &where) >= 0, "its parts");
                show_text("file", name);
                show_text("object", where);
            }
        }
        check(H5Oexists_by_name(file, "soft", H5P_DEFAULT) > 0, "the soft link leads to an object");
        check(H5Oexists_by_name(file, "dangling", H5P_DEFAULT) <= 0, "the dangling one does not");
        REFUSED(H5Gopen2(file, "dangling", H5P_DEFAULT), "opening a dangling link");
        static const char *const GROUPS[] = {"soft", "group/relative", "hard/inner", "external", "hard/twin"};
        for (size_t i = 0; i < sizeof GROUPS / sizeof GROUPS[0]; i++) {
            group = H5Gopen2(file, GROUPS[i], H5P_DEFAULT);
            DONE(group, "open a group by %s", GROUPS[i]);
            H5Gclose(group);
        }
        H5Fclose(file);
        file = open_file("links.h5", true);
    }
    H5Fclose(file);
}

static void changes(void)
{
    hid_t file = new_file("changes.h5"), group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < 6; i++) {
        char name[8];
        snprintf(name, sizeof name, "l%d", i);
        H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    DONE(H5Lmove(file, "l0", file, "moved", H5P_DEFAULT, H5P_DEFAULT), "rename a link");
    check(H5Lexists(file, "l0", H5P_DEFAULT) == 0 && H5Lexists(file, "moved", H5P_DEFAULT) > 0, "it has its new name only");
    DONE(H5Lmove(file, "l1", group, "inside", H5P_DEFAULT, H5P_DEFAULT), "move a link into a group");
    check(H5Lexists(file, "l1", H5P_DEFAULT) == 0 && H5Lexists(group, "inside", H5P_DEFAULT) > 0, "it is in the group");
    DONE(H5Lcopy(file, "l2", group, "copy", H5P_DEFAULT, H5P_DEFAULT), "copy a link");
    check(H5Lexists(file, "l2", H5P_DEFAULT) > 0 && H5Lexists(file, "g/copy", H5P_DEFAULT) > 0, "both are there");
    REFUSED(H5Lmove(file, "l3", file, "l4", H5P_DEFAULT, H5P_DEFAULT), "a move onto a link that is there");
    REFUSED(H5Lmove(file, "none", file, "x", H5P_DEFAULT, H5P_DEFAULT), "a move of nothing");
    DONE(H5Ldelete(file, "l3", H5P_DEFAULT), "delete a link");
    REFUSED(H5Ldelete(file, "l3", H5P_DEFAULT), "delete it again");
    DONE(H5Ldelete_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, 1, H5P_DEFAULT), "delete the second link by name");
    static const char *const NAMES[] = {"g", "l2", "l4", "l5", "moved"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        show(NAMES[i], H5Lexists(file, NAMES[i], H5P_DEFAULT));
    H5Gclose(group);
    H5Fclose(file);
}

struct seen {
    char text[512];
    int stop_after;
};

static herr_t note(hid_t group, const char *name, const H5L_info2_t *info, void *data)
{
    struct seen *seen = data;
    (void)group;
    snprintf(seen->text + strlen(seen->text), sizeof seen->text - strlen(seen->text), "%s:%d ", name, (int)info->type);
    return seen->stop_after > 0 && --seen->stop_after == 0 ? 5 : 0;
}

static void iteration(void)
{
    hid_t list = H5Pcreate(H5P_FILE_CREATE), file, group;
    H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    file = H5Fcreate(path("iteration.h5"), H5F_ACC_TRUNC, list, H5P_DEFAULT);
    H5Pclose(list);
    static const char *const NAMES[] = {"d", "a", "c", "e", "b"};
    for (int i = 0; i < 5; i++) {
        group = H5Gcreate2(file, NAMES[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(H5Gcreate2(group, "leaf", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Gclose(group);
    }
    H5Lcreate_soft("a", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
    for (int again = 0; again < 2; again++) {
        for (int by = 0; by < 2; by++)
            for (int order = 0; order < 2; order++) {
                struct seen seen = {"", 0};
                H5_index_t index = by ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
                H5_iter_order_t way = order ? H5_ITER_DEC : H5_ITER_INC;
                hsize_t position = 0;
                check(H5Literate2(file, index, way, &position, note, &seen) == 0, "iterate by %d, order %d", by, order);
                show_text("seen", seen.text);
                show("position", (long long)position);
                struct seen part = {"", 2};
                position = 1;
                check(H5Literate2(file, index, way, &position, note, &part) == 5, "stop after two");
                show_text("seen", part.text);
                show("position", (long long)position);
                struct seen all = {"", 0};
                check(H5Lvisit2(file, index, way, note, &all) == 0, "visit all");
                show_text("seen", all.text);
                for (hsize_t n = 0; n < 6; n++) {
                    char name[16] = "";
                    H5L_info2_t info;
                    check(H5Lget_name_by_idx(file, ".", index, way, n, name, sizeof name, H5P_DEFAULT) > 0, "name of %d", (int)n);
                    show_text("name", name);
                    check(H5Lget_info_by_idx2(file, ".", index, way, n, &info, H5P_DEFAULT) >= 0, "information of %d", (int)n);
                    show("creation order", info.corder_valid ? (long long)info.corder : -1);
                }
            }
        char name[16];
        REFUSED(H5Lget_name_by_idx(file, ".", H5_INDEX_NAME, H5_ITER_INC, 6, name, sizeof name, H5P_DEFAULT), "a number past the last");
        struct seen inner = {"", 0};
        check(H5Literate_by_name2(file, "a", H5_INDEX_NAME, H5_ITER_INC, NULL, note, &inner, H5P_DEFAULT) == 0, "iterate over a group by name");
        show_text("seen", inner.text);
        H5Fclose(file);
        file = open_file("iteration.h5", true);
    }
    H5Fclose(file);
}

void check_links(void)
{
    kinds();
    changes();
    iteration();
}
