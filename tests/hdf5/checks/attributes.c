/* Attributes: types, spaces, renaming, deletion, iteration, information; on groups, datasets and committed types. */
#include "check.h"

static void values(hid_t at, const char *what)
{
    static const struct {
        const char *name;
        hid_t *file, *memory;
    } TYPES[] = {
        {"i8", &H5T_STD_I8LE_g, &H5T_NATIVE_LLONG_g},       {"u16", &H5T_STD_U16BE_g, &H5T_NATIVE_LLONG_g},
        {"i32", &H5T_STD_I32LE_g, &H5T_NATIVE_LLONG_g},     {"i64", &H5T_STD_I64BE_g, &H5T_NATIVE_LLONG_g},
        {"f32", &H5T_IEEE_F32LE_g, &H5T_NATIVE_LLONG_g},    {"f64", &H5T_IEEE_F64BE_g, &H5T_NATIVE_LLONG_g},
    };
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        long long out[6] = {1, 2, 3, 100, 5, 6}, in[6] = {0};
        hid_t space = space_of(2, 3, 0), attribute, there;
        attribute = H5Acreate2(at, TYPES[i].name, *TYPES[i].file, space, H5P_DEFAULT, H5P_DEFAULT);
        check(attribute >= 0 && H5Awrite(attribute, *TYPES[i].memory, out) >= 0, "%s: write %s", what, TYPES[i].name);
        check(H5Aread(attribute, *TYPES[i].memory, in) >= 0 && memcmp(in, out, sizeof in) == 0, "%s: read it", what);
        there = H5Aget_type(attribute);
        check(H5Tequal(there, *TYPES[i].file) > 0, "%s: its type", what);
        H5Tclose(there);
        there = H5Aget_space(attribute);
        check(H5Sextent_equal(there, space) > 0, "%s: its space", what);
        H5Sclose(there);
        show("storage", (long long)H5Aget_storage_size(attribute));
        H5Aclose(attribute);
        H5Sclose(space);
    }
}

static void strings(hid_t at)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), attribute;
    char text[16] = "isotach", back[16] = "";
    char *variable = "a string of any length", *read = NULL;
    H5Tset_size(type, 12);
    H5Tset_strpad(type, H5T_STR_SPACEPAD);
    attribute = H5Acreate2(at, "fixed", type, space, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Awrite(attribute, type, "isotach     ") >= 0 && H5Aread(attribute, type, back) >= 0, "a string of fixed length");
    check(memcmp(back, "isotach     ", 12) == 0, "it is the same");
    H5Aclose(attribute);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    attribute = H5Acreate2(at, "variable", type, space, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Awrite(attribute, type, &variable) >= 0, "a string of variable length");
    H5Aclose(attribute);
    attribute = H5Aopen(at, "variable", H5P_DEFAULT);
    check(H5Aread(attribute, type, &read) >= 0 && read && strcmp(read, variable) == 0, "it is the same");
    H5free_memory(read);
    H5Aclose(attribute);
    H5Sclose(space);
    space = H5Screate(H5S_NULL);
    attribute = H5Acreate2(at, "empty", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    DONE(attribute, "an attribute without elements");
    show("storage", (long long)H5Aget_storage_size(attribute));
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    (void)text;
}

static void large(hid_t at)
{
    enum { COUNT = 50000 };
    int *out = malloc(COUNT * sizeof *out), *in = calloc(COUNT, sizeof *in);
    hid_t space = space_of(COUNT, 0, 0), attribute;
    for (int i = 0; i < COUNT; i++)
        out[i] = i * 7;
    H5E_BEGIN_TRY { attribute = H5Acreate2(at, "large", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT); }
    H5E_END_TRY
    /* The native format has room for 64 KiB unless it is asked for more. */
    if (attribute >= 0) {
        H5Awrite(attribute, H5T_NATIVE_INT, out);
        H5Aread(attribute, H5T_NATIVE_INT, in);
        if (memcmp(in, out, COUNT * sizeof *in) != 0)
            check(false, "a large attribute");
        H5Aclose(attribute);
        H5Adelete(at, "large");
    }
    H5Sclose(space);
    free(out);
    free(in);
}

static herr_t note(hid_t at, const char *name, const H5A_info_t *info, void *data)
{
    char *text = data;
    (void)at;
    snprintf(text + strlen(text), 256 - strlen(text), "%s:%d:%d ", name, (int)info->data_size, (int)info->cset);
    return strcmp(name, "stop") == 0 ? 3 : 0;
}

static void order(void)
{
    hid_t file = new_file("attribute-order.h5"), list = H5Pcreate(H5P_GROUP_CREATE), group;
    H5O_info2_t info;
    H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    group = H5Gcreate2(file, "group", H5P_DEFAULT, list, H5P_DEFAULT);
    H5Pclose(list);
    static const char *const NAMES[] = {"delta", "alpha", "charlie", "echo", "bravo"};
    for (int i = 0; i < 5; i++)
        put_int(group, NAMES[i], i);
    check(H5Oget_info3(group, &info, H5O_INFO_ALL) >= 0, "information of the group");
    show("attributes", (long long)info.num_attrs);
    for (int again = 0; again < 2; again++) {
        for (int by = 0; by < 2; by++)
            for (int way = 0; way < 2; way++) {
                char text[256] = "";
                hsize_t position = 0;
                H5_index_t index = by ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
                H5_iter_order_t order = way ? H5_ITER_DEC : H5_ITER_INC;
                check(H5Aiterate2(group, index, order, &position, note, text) == 0, "iterate by %d, order %d", by, way);
                show_text("seen", text);
                for (hsize_t n = 0; n < 5; n++) {
                    char name[16] = "";
                    hid_t attribute = H5Aopen_by_idx(file, "group", index, order, n, H5P_DEFAULT, H5P_DEFAULT);
                    H5A_info_t about;
                    check(attribute >= 0 && H5Aget_name(attribute, sizeof name, name) > 0, "attribute %d", (int)n);
                    show_text("name", name);
                    check(H5Aget_info(attribute, &about) >= 0, "information");
                    show("creation order", about.corder_valid ? (long long)about.corder : -1);
                    H5Aclose(attribute);
                    check(H5Aget_name_by_idx(file, "group", index, order, n, name, sizeof name, H5P_DEFAULT) > 0, "its name");
                    show_text("name", name);
                }
            }
        H5Gclose(group);
        H5Fclose(file);
        file = open_file("attribute-order.h5", true);
        group = H5Gopen2(file, "group", H5P_DEFAULT);
    }
    DONE(H5Arename(group, "alpha", "zulu"), "rename");
    check(H5Aexists(group, "alpha") == 0 && int_of(group, "zulu") == 1, "it has its new name only");
    REFUSED(H5Arename(group, "bravo", "zulu"), "renaming to a name that is taken");
    REFUSED(H5Arename(group, "none", "x"), "renaming nothing");
    DONE(H5Adelete(group, "delta"), "delete");
    REFUSED(H5Adelete(group, "delta"), "delete it again");
    DONE(H5Adelete_by_name(file, "group", "echo", H5P_DEFAULT), "delete by name");
    DONE(H5Adelete_by_idx(file, "group", H5_INDEX_NAME, H5_ITER_DEC, 0, H5P_DEFAULT), "delete the last by name");
    check(H5Aexists_by_name(file, "group", "bravo", H5P_DEFAULT) > 0, "bravo is left");
    show("zulu", H5Aexists(group, "zulu"));
    put_int(group, "bravo2", 9);
    REFUSED(H5Acreate2(group, "bravo2", H5T_STD_I32LE, H5S_ALL, H5P_DEFAULT, H5P_DEFAULT), "an attribute whose name is taken");
    REFUSED(H5Aopen(group, "none", H5P_DEFAULT), "opening one that is not there");
    H5Gclose(group);
    H5Fclose(file);
}

void check_attributes(void)
{
    hid_t file = new_file("attributes.h5"), group, dataset, space = space_of(4, 0, 0), type;
    group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    dataset = int_dataset(file, "dataset", space, 0);
    type = H5Tcopy(H5T_STD_I32LE);
    H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    values(file, "file");
    values(group, "group");
    values(dataset, "dataset");
    values(type, "type");
    strings(group);
    strings(dataset);
    large(group);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Gclose(group);
    H5Sclose(space);
    H5Fclose(file);
    file = open_file("attributes.h5", false);
    static const char *const PATHS[] = {"/", "group", "dataset", "type"};
    for (int i = 0; i < 4; i++) {
        hid_t object = H5Oopen(file, PATHS[i], H5P_DEFAULT);
        long long in[6] = {0};
        hid_t attribute = H5Aopen(object, "f64", H5P_DEFAULT);
        check(attribute >= 0 && H5Aread(attribute, H5T_NATIVE_LLONG, in) >= 0 && in[3] == 100, "%s: a value again", PATHS[i]);
        H5Aclose(attribute);
        REFUSED(H5Acreate2(object, "more", H5T_STD_I32LE, H5S_ALL, H5P_DEFAULT, H5P_DEFAULT), "an attribute in a read-only file");
        H5Oclose(object);
    }
    H5Fclose(file);
    order();
}
