/* Committed types, and datasets of every class of types. */
#include "check.h"

struct record {
    int number;
    double value;
    char name[8];
    short pair[2];
};

static hid_t record_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct record)), text = H5Tcopy(H5T_C_S1), pair;
    hsize_t two = 2;
    H5Tset_size(text, 8);
    pair = H5Tarray_create2(H5T_NATIVE_SHORT, 1, &two);
    H5Tinsert(type, "number", HOFFSET(struct record, number), H5T_NATIVE_INT);
    H5Tinsert(type, "value", HOFFSET(struct record, value), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "name", HOFFSET(struct record, name), text);
    H5Tinsert(type, "pair", HOFFSET(struct record, pair), pair);
    H5Tclose(text);
    H5Tclose(pair);
    return type;
}

static hid_t enum_type(void)
{
    hid_t type = H5Tenum_create(H5T_NATIVE_INT);
    for (int i = 0; i < 3; i++) {
        static const char *const NAMES[] = {"RED", "GREEN", "BLUE"};
        H5Tenum_insert(type, NAMES[i], &i);
    }
    return type;
}

static void committed(void)
{
    hid_t file = new_file("types.h5"), types[3] = {record_type(), enum_type(), H5Tcopy(H5T_IEEE_F32BE)}, space = space_of(3, 0, 0), dataset, there;
    static const char *const NAMES[] = {"record", "enum", "float"};
    for (int i = 0; i < 3; i++) {
        check(H5Tcommitted(types[i]) == 0, "%s is not committed", NAMES[i]);
        DONE(H5Tcommit2(file, NAMES[i], types[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "commit %s", NAMES[i]);
        check(H5Tcommitted(types[i]) > 0, "it is committed");
        REFUSED(H5Tcommit2(file, "again", types[i], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "commit it again");
        dataset = H5Dcreate2(file, i == 0 ? "d0" : i == 1 ? "d1" : "d2", types[i], space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        DONE(dataset, "a dataset of it");
        there = H5Dget_type(dataset);
        check(H5Tcommitted(there) > 0 && H5Tequal(there, types[i]) > 0, "its type is the committed one");
        H5Tclose(there);
        H5Dclose(dataset);
        H5Tclose(types[i]);
    }
    H5Fclose(file);
    file = open_file("types.h5", true);
    for (int i = 0; i < 3; i++) {
        H5O_info2_t info;
        hid_t type = H5Topen2(file, NAMES[i], H5P_DEFAULT), fresh = i == 0 ? record_type() : i == 1 ? enum_type() : H5Tcopy(H5T_IEEE_F32BE);
        check(type >= 0 && H5Tequal(type, fresh) > 0, "%s is the same again", NAMES[i]);
        check(H5Oget_info3(type, &info, H5O_INFO_BASIC) >= 0 && info.type == H5O_TYPE_NAMED_DATATYPE, "it is a committed type");
        there = H5Tget_create_plist(type);
        DONE(there, "its creation properties");
        H5Pclose(there);
        H5Tclose(type);
        H5Tclose(fresh);
        dataset = H5Dopen2(file, i == 0 ? "d0" : i == 1 ? "d1" : "d2", H5P_DEFAULT);
        there = H5Dget_type(dataset);
        check(H5Tcommitted(there) > 0, "the dataset's type is committed");
        H5Tclose(there);
        H5Dclose(dataset);
    }
    REFUSED(H5Topen2(file, "d0", H5P_DEFAULT), "opening a dataset as a type");
    H5Sclose(space);
    hid_t type = H5Tcopy(H5T_NATIVE_INT);
    DONE(H5Tcommit_anon(file, type, H5P_DEFAULT, H5P_DEFAULT), "commit without a name");
    DONE(H5Olink(type, file, "later", H5P_DEFAULT, H5P_DEFAULT), "name it later");
    H5Tclose(type);
    H5Fclose(file);
}

static void classes(void)
{
    hid_t file = new_file("classes.h5"), space = space_of(5, 0, 0), type = record_type(), dataset, part;
    struct record out[5], in[5];
    memset(out, 0, sizeof out);
    memset(in, 0, sizeof in);
    for (int i = 0; i < 5; i++) {
        out[i].number = i;
        out[i].value = i / 4.0;
        snprintf(out[i].name, sizeof out[i].name, "n%d", i);
        out[i].pair[0] = (short)-i;
        out[i].pair[1] = (short)(100 * i);
    }
    dataset = H5Dcreate2(file, "records", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, "write records");
    check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0, "read records");
    for (int i = 0; i < 5; i++)
        check(in[i].number == i && in[i].value == out[i].value && strcmp(in[i].name, out[i].name) == 0 && in[i].pair[1] == 100 * i, "record %d", i);
    part = H5Tcreate(H5T_COMPOUND, sizeof(double));
    H5Tinsert(part, "value", 0, H5T_NATIVE_DOUBLE);
    double values[5] = {9, 8, 7, 6, 5};
    check(H5Dwrite(dataset, part, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "write one member");
    check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0, "read all members");
    for (int i = 0; i < 5; i++)
        check(in[i].number == i && in[i].value == 9 - i, "record %d has its other members", i);
    H5Tclose(part);
    H5Dclose(dataset);
    H5Tclose(type);
    type = enum_type();
    int colours[5] = {2, 1, 0, 1, 2}, back[5] = {0};
    dataset = H5Dcreate2(file, "enum", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, colours) >= 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) >= 0
              && memcmp(colours, back, sizeof back) == 0, "enumerations");
    H5Dclose(dataset);
    H5Tclose(type);
    type = H5Tcreate(H5T_OPAQUE, 3);
    H5Tset_tag(type, "three bytes");
    dataset = H5Dcreate2(file, "opaque", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    char bytes[15] = "abcdefghijklmn", again[15] = "";
    check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, again) >= 0
              && memcmp(bytes, again, 15) == 0, "opaque values");
    H5Dclose(dataset);
    H5Tclose(type);
    dataset = H5Dcreate2(file, "bits", H5T_STD_B16BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    unsigned short bits[5] = {1, 2, 0xffff, 0x8000, 7}, same[5] = {0};
    check(H5Dwrite(dataset, H5T_NATIVE_B16, H5S_ALL, H5S_ALL, H5P_DEFAULT, bits) >= 0 && H5Dread(dataset, H5T_NATIVE_B16, H5S_ALL, H5S_ALL, H5P_DEFAULT, same) >= 0
              && memcmp(bits, same, sizeof same) == 0, "bit fields");
    H5Dclose(dataset);
    hsize_t sizes[2] = {2, 3};
    type = H5Tarray_create2(H5T_STD_I32BE, 2, sizes);
    hid_t memory = H5Tarray_create2(H5T_NATIVE_INT, 2, sizes);
    int arrays[5][6], read[5][6];
    for (int i = 0; i < 30; i++)
        arrays[i / 6][i % 6] = i;
    dataset = H5Dcreate2(file, "arrays", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, arrays) >= 0 && H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, read) >= 0
              && memcmp(arrays, read, sizeof read) == 0, "arrays");
    H5Dclose(dataset);
    H5Tclose(type);
    H5Tclose(memory);
    H5Sclose(space);
    H5Fclose(file);
}

void check_types(void)
{
    committed();
    classes();
}
