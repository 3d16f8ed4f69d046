/* Maps (H5M), which native HDF5 does not have: so this says itself what must hold.
 *
 *     maps check FOLDER        calls everything, and prints a line for each check
 *     maps write FILE          sets all of 100 keys to 1, 2, 3, and so on, with a flush between; prints what was committed, until it is killed
 *     maps read FILE           prints the one value that all keys have
 */
#include <hdf5.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks, failed;

static bool check(bool holds, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    checks++;
    if (!holds) {
        failed++;
        printf("FAILED ");
        vprintf(format, arguments);
        printf("\n");
    }
    va_end(arguments);
    return holds;
}

#define DONE(call) check((long long)(call) >= 0, "%d: %s", __LINE__, #call)
#define REFUSED(call)                                                                                                       \
    do {                                                                                                                    \
        long long refused_;                                                                                                 \
        H5E_BEGIN_TRY { refused_ = (long long)(call); }                                                                     \
        H5E_END_TRY                                                                                                         \
        check(refused_ < 0, "%d: not refused: %s", __LINE__, #call);                                                        \
    } while (0)
#define HOLDS(condition) check(condition, "%d: %s", __LINE__, #condition)

static hid_t texts(void)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    return type;
}

static hsize_t count_of(hid_t map)
{
    hsize_t count = 999;
    DONE(H5Mget_count(map, &count, H5P_DEFAULT));
    return count;
}

static bool has(hid_t map, hid_t type, const void *key)
{
    hbool_t exists = false;
    DONE(H5Mexists(map, type, key, &exists, H5P_DEFAULT));
    return exists;
}

/* Sums numbers, and stops at the second key. */
struct sum {
    int count, stop_at;
    long long sum;
};

static herr_t add(hid_t map, const void *key, void *data)
{
    struct sum *sum = data;
    long long number;
    double value = 0;
    memcpy(&number, key, sizeof number);
    HOLDS(H5Mget(map, H5T_NATIVE_LLONG, key, H5T_NATIVE_DOUBLE, &value, H5P_DEFAULT) >= 0 && value == number * 1.5);
    sum->sum += number;
    return ++sum->count == sum->stop_at;
}

static void check_numbers(hid_t file)
{
    hid_t map = H5Mcreate(file, "numbers", H5T_STD_I32BE, H5T_NATIVE_DOUBLE, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    DONE(map);
    HOLDS(H5Iget_type(map) == H5I_MAP && count_of(map) == 0);
    for (int key = -2; key <= 2; key++) {
        float value = key * 1.5F;
        DONE(H5Mput(map, H5T_NATIVE_INT, &key, H5T_NATIVE_FLOAT, &value, H5P_DEFAULT));
    }
    long long key = -2, absent = 7;
    double value = 0;
    DONE(H5Mget(map, H5T_NATIVE_LLONG, &key, H5T_NATIVE_DOUBLE, &value, H5P_DEFAULT));
    HOLDS(value == -3 && count_of(map) == 5 && has(map, H5T_NATIVE_LLONG, &key) && !has(map, H5T_NATIVE_LLONG, &absent));
    REFUSED(H5Mget(map, H5T_NATIVE_LLONG, &absent, H5T_NATIVE_DOUBLE, &value, H5P_DEFAULT));
    REFUSED(H5Mdelete(map, H5T_NATIVE_LLONG, &absent, H5P_DEFAULT));
    REFUSED(H5Mget(map, texts(), &key, H5T_NATIVE_DOUBLE, &value, H5P_DEFAULT));
    REFUSED(H5Mput(map, H5T_NATIVE_LLONG, &key, H5T_NATIVE_DOUBLE, NULL, H5P_DEFAULT));

    struct sum all = {0, 0, 0}, first = {0, 2, 0}, rest = {0, 0, 0};
    hsize_t at = 0;
    HOLDS(H5Miterate(map, NULL, H5T_NATIVE_LLONG, add, &all, H5P_DEFAULT) == 0 && all.count == 5 && all.sum == 0);
    HOLDS(H5Miterate(map, &at, H5T_NATIVE_LLONG, add, &first, H5P_DEFAULT) == 1 && at == 2);
    HOLDS(H5Miterate_by_name(file, "numbers", &at, H5T_NATIVE_LLONG, add, &rest, H5P_DEFAULT, H5P_DEFAULT) == 0);
    HOLDS(at == 5 && rest.count == 3 && first.sum + rest.sum == 0);
    DONE(H5Mdelete(map, H5T_NATIVE_LLONG, &key, H5P_DEFAULT));
    HOLDS(count_of(map) == 4 && !has(map, H5T_NATIVE_LLONG, &key));

    hid_t type = H5Mget_key_type(map), values = H5Mget_val_type(map);
    HOLDS(H5Tequal(type, H5T_STD_I32BE) > 0 && H5Tequal(values, H5T_NATIVE_DOUBLE) > 0);
    hid_t mcpl = H5Mget_create_plist(map), mapl = H5Mget_access_plist(map);
    HOLDS(H5Pisa_class(mcpl, H5P_MAP_CREATE) > 0 && H5Pisa_class(mapl, H5P_MAP_ACCESS) > 0);
    H5Pclose(mcpl);
    H5Pclose(mapl);
    H5Tclose(type);
    H5Tclose(values);
    DONE(H5Mclose(map));

    mapl = H5Pcreate(H5P_MAP_ACCESS);
    DONE(H5Pset_map_iterate_hints(mapl, 12, 345));
    DONE(map = H5Mopen(file, "numbers", mapl));
    H5Pclose(mapl);
    size_t prefetch = 0, allocated = 0;
    mapl = H5Mget_access_plist(map);
    HOLDS(H5Pget_map_iterate_hints(mapl, &prefetch, &allocated) >= 0 && prefetch == 12 && allocated == 345);
    H5Pclose(mapl);
    H5Mclose(map);
    REFUSED(H5Mcreate(file, "numbers", H5T_NATIVE_INT, H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    REFUSED(H5Mopen(file, "nothing", H5P_DEFAULT));
    REFUSED(H5Mopen(file, "/", H5P_DEFAULT));
    REFUSED(H5Dopen2(file, "numbers", H5P_DEFAULT));
}

struct person {
    int age;
    char *name;
};

static hid_t person_type(void)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct person)), text = texts();
    H5Tinsert(type, "age", HOFFSET(struct person, age), H5T_NATIVE_INT);
    H5Tinsert(type, "name", HOFFSET(struct person, name), text);
    H5Tclose(text);
    return type;
}

/* Collects keys that are texts. */
static herr_t join(hid_t map, const void *key, void *data)
{
    const char *text = *(char *const *)key;
    (void)map;
    strcat(data, "/");
    strcat(data, text);
    return 0;
}

static void check_texts(hid_t file)
{
    hid_t text = texts(), person = person_type();
    hid_t map = H5Mcreate(file, "people", text, person, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    DONE(map);
    const char *keys[] = {"ann", "", "bob"};
    struct person people[] = {{31, "Ann A."}, {0, ""}, {45, "Bob B. Bobson, whose name is longer"}};
    for (int at = 0; at < 3; at++)
        DONE(H5Mput(map, text, &keys[at], person, &people[at], H5P_DEFAULT));
    for (int at = 0; at < 3; at++) {
        struct person found = {-1, NULL};
        DONE(H5Mget(map, text, &keys[at], person, &found, H5P_DEFAULT));
        HOLDS(found.age == people[at].age && strcmp(found.name, people[at].name) == 0);
        hid_t space = H5Screate(H5S_SCALAR);
        DONE(H5Treclaim(person, space, H5P_DEFAULT, &found));
        H5Sclose(space);
    }
    /* One member alone: the other stays. */
    hid_t age = H5Tcreate(H5T_COMPOUND, sizeof(long));
    H5Tinsert(age, "age", 0, H5T_NATIVE_LONG);
    long years = 46;
    DONE(H5Mput(map, text, &keys[2], age, &years, H5P_DEFAULT));
    struct person found = {0, NULL};
    DONE(H5Mget(map, text, &keys[2], person, &found, H5P_DEFAULT));
    HOLDS(found.age == 46 && strcmp(found.name, people[2].name) == 0);
    years = 0;
    HOLDS(H5Mget(map, text, &keys[0], age, &years, H5P_DEFAULT) >= 0 && years == 31);
    char joined[100] = "";
    HOLDS(H5Miterate(map, NULL, text, join, joined, H5P_DEFAULT) == 0 && strcmp(joined, "//ann/bob") == 0);
    hid_t type = H5Mget_key_type(map);
    HOLDS(H5Tis_variable_str(type) > 0);
    H5Tclose(type);
    H5Tclose(age);
    H5Tclose(text);
    H5Tclose(person);
    DONE(H5Mclose(map));
}

/* Adds up the elements of keys that are sequences. */
static herr_t add_elements(hid_t map, const void *key, void *data)
{
    const hvl_t *sequence = key;
    (void)map;
    for (size_t at = 0; at < sequence->len; at++)
        *(long *)data += ((long *)sequence->p)[at];
    return 0;
}

static void check_keys(hid_t file)
{
    hid_t shorts = H5Tvlen_create(H5T_STD_I16LE), longs = H5Tvlen_create(H5T_NATIVE_LONG);
    hid_t map = H5Mcreate(file, "sequences", shorts, H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    long elements[] = {1, 2, 3};
    short same[] = {1, 2};
    for (size_t length = 0; length <= 3; length++) {
        hvl_t key = {length, elements};
        int value = (int)length;
        DONE(H5Mput(map, longs, &key, H5T_NATIVE_INT, &value, H5P_DEFAULT));
    }
    hvl_t key = {2, same};
    int value = 0;
    HOLDS(count_of(map) == 4 && H5Mget(map, shorts, &key, H5T_NATIVE_INT, &value, H5P_DEFAULT) >= 0 && value == 2);
    long sum = 0;
    HOLDS(H5Miterate(map, NULL, longs, add_elements, &sum, H5P_DEFAULT) == 0 && sum == 1 + 1 + 2 + 1 + 2 + 3);
    H5Mclose(map);
    H5Tclose(shorts);
    H5Tclose(longs);

    /* What stands behind the end of a text, and between members, is no part of a key. */
    hid_t fixed = H5Tcopy(H5T_C_S1);
    H5Tset_size(fixed, 8);
    map = H5Mcreate(file, "fixed", fixed, H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    char one[8] = "key\0xyz", other[8] = "key";
    DONE(H5Mput(map, fixed, one, H5T_NATIVE_INT, &value, H5P_DEFAULT));
    HOLDS(has(map, fixed, other) && count_of(map) == 1);
    H5Mclose(map);
    struct gap {
        char letter;
        double number;
    } gaps[2];
    memset(&gaps[0], 0xaa, sizeof gaps[0]);
    memset(&gaps[1], 0x55, sizeof gaps[1]);
    gaps[0].letter = gaps[1].letter = 'x';
    gaps[0].number = gaps[1].number = 2.5;
    hid_t gap = H5Tcreate(H5T_COMPOUND, sizeof(struct gap));
    H5Tinsert(gap, "letter", HOFFSET(struct gap, letter), H5T_NATIVE_CHAR);
    H5Tinsert(gap, "number", HOFFSET(struct gap, number), H5T_NATIVE_DOUBLE);
    map = H5Mcreate(file, "gaps", gap, H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    DONE(H5Mput(map, gap, &gaps[0], H5T_NATIVE_INT, &value, H5P_DEFAULT));
    HOLDS(has(map, gap, &gaps[1]));
    H5Mclose(map);
    H5Tclose(gap);
    H5Tclose(fixed);
    REFUSED(H5Mcreate(file, "bad", H5T_STD_REF, H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    REFUSED(H5Mcreate(file, "bad", H5T_NATIVE_INT, H5T_STD_REF_DSETREG, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    HOLDS(H5Lexists(file, "bad", H5P_DEFAULT) == 0);
}

static herr_t count_maps(hid_t at, const char *name, const H5O_info2_t *info, void *data)
{
    (void)at;
    (void)name;
    *(int *)data += info->type == H5O_TYPE_MAP;
    return 0;
}

static void check_objects(hid_t file)
{
    hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t values = H5Tcopy(H5T_NATIVE_INT), space = H5Screate(H5S_SCALAR);
    DONE(H5Tcommit2(file, "type", values, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t map = H5Mcreate(group, "map", H5T_NATIVE_INT, values, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int key = 1, value = 10, found = 0;
    DONE(H5Mput(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &value, H5P_DEFAULT));
    hid_t type = H5Mget_val_type(map);
    HOLDS(H5Tcommitted(type) > 0);
    H5Tclose(type);
    hid_t attribute = H5Acreate2(map, "unit", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
    DONE(H5Awrite(attribute, H5T_NATIVE_INT, &value));
    H5Aclose(attribute);
    H5O_info2_t info;
    HOLDS(H5Oget_info3(map, &info, H5O_INFO_ALL) >= 0 && info.type == H5O_TYPE_MAP && info.num_attrs == 1 && info.rc == 1);
    int maps = 0;
    HOLDS(H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, count_maps, &maps, H5O_INFO_BASIC) == 0 && maps == 6);
    char name[20] = "";
    HOLDS(H5Iget_name(map, name, sizeof name) == 10 && strcmp(name, "/group/map") == 0);
    DONE(H5Mclose(map));

    /* References to a map, and in one. */
    H5R_ref_t reference, back;
    H5O_type_t what = H5O_TYPE_UNKNOWN;
    DONE(H5Rcreate_object(file, "group/map", H5P_DEFAULT, &reference));
    HOLDS(H5Rget_obj_type3(&reference, H5P_DEFAULT, &what) >= 0 && what == H5O_TYPE_MAP);
    hid_t index = H5Mcreate(file, "index", H5T_NATIVE_INT, H5T_STD_REF, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    DONE(H5Mput(index, H5T_NATIVE_INT, &key, H5T_STD_REF, &reference, H5P_DEFAULT));
    DONE(H5Mget(index, H5T_NATIVE_INT, &key, H5T_STD_REF, &back, H5P_DEFAULT));
    DONE(map = H5Ropen_object(&back, H5P_DEFAULT, H5P_DEFAULT));
    HOLDS(H5Iget_type(map) == H5I_MAP && H5Mget(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &found, H5P_DEFAULT) >= 0 && found == 10);
    H5Mclose(map);
    H5Rdestroy(&reference);
    H5Rdestroy(&back);
    H5Mclose(index);

    DONE(map = H5Oopen(file, "group/map", H5P_DEFAULT));
    HOLDS(H5Iget_type(map) == H5I_MAP);
    DONE(H5Oclose(map));
    DONE(H5Ocopy(file, "group", file, "copy", H5P_DEFAULT, H5P_DEFAULT));
    DONE(map = H5Mopen(file, "copy/map", H5P_DEFAULT));
    found = 0;
    HOLDS(H5Mget(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &found, H5P_DEFAULT) >= 0 && found == 10);
    HOLDS(H5Aexists(map, "unit") > 0);
    value = 11;
    DONE(H5Mput(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &value, H5P_DEFAULT));
    H5Mclose(map);
    DONE(map = H5Mopen(group, "map", H5P_DEFAULT));
    HOLDS(H5Mget(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &found, H5P_DEFAULT) >= 0 && found == 10);
    H5Mclose(map);
    DONE(H5Ldelete(file, "copy", H5P_DEFAULT));

    DONE(map = H5Mcreate_anon(file, H5T_NATIVE_INT, H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT));
    DONE(H5Mput(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &value, H5P_DEFAULT));
    DONE(H5Olink(map, file, "linked", H5P_DEFAULT, H5P_DEFAULT));
    H5Mclose(map);
    /* Calls of an event set are done when they return. */
    hid_t events = H5EScreate();
    size_t left = 9;
    hbool_t has_failed = true;
    DONE(map = H5Mopen_async(file, "linked", H5P_DEFAULT, events));
    value = 12;
    DONE(H5Mput_async(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &value, H5P_DEFAULT, events));
    HOLDS(H5Mget_async(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &found, H5P_DEFAULT, events) >= 0 && found == 12);
    DONE(H5Mclose_async(map, events));
    HOLDS(H5ESwait(events, H5ES_WAIT_FOREVER, &left, &has_failed) >= 0 && left == 0 && !has_failed);
    H5ESclose(events);
    H5Tclose(values);
    H5Sclose(space);
    H5Gclose(group);
}

static void check_all(const char *folder)
{
    char name[2000];
    snprintf(name, sizeof name, "%s/maps.h5", folder);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    DONE(file);
    check_numbers(file);
    check_texts(file);
    check_keys(file);
    check_objects(file);
    /* A map that is open longer than its file. */
    hid_t map = H5Mopen(file, "linked", H5P_DEFAULT);
    DONE(H5Fclose(file));
    int key = 1, value = 13, found = 0;
    DONE(H5Mput(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &value, H5P_DEFAULT));
    DONE(H5Mclose(map));

    file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    map = H5Mopen(file, "linked", H5P_DEFAULT);
    HOLDS(H5Mget(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &found, H5P_DEFAULT) >= 0 && found == 13);
    REFUSED(H5Mput(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &value, H5P_DEFAULT));
    REFUSED(H5Mdelete(map, H5T_NATIVE_INT, &key, H5P_DEFAULT));
    H5Mclose(map);
    REFUSED(H5Mcreate(file, "new", H5T_NATIVE_INT, H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    hid_t text = texts();
    const char *ann = "ann";
    map = H5Mopen(file, "people", H5P_DEFAULT);
    HOLDS(has(map, text, &ann) && count_of(map) == 3);
    H5Tclose(text);
    H5Mclose(map);
    DONE(H5Fclose(file));
}

#define KEYS 100

static void write_for_ever(const char *name)
{
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t map = H5Mcreate(file, "map", H5T_NATIVE_INT, H5T_NATIVE_INT, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int value = 1;; value++) {
        for (int key = 0; key < KEYS; key++)
            if (H5Mput(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &value, H5P_DEFAULT) < 0)
                exit(1);
        if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0)
            exit(1);
        printf("committed %d\n", value);
        fflush(stdout);
    }
}

static void read_once(const char *name)
{
    hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t map = H5Mopen(file, "map", H5P_DEFAULT);
    int first = -1, value = 0;
    HOLDS(count_of(map) == KEYS);
    for (int key = 0; key < KEYS; key++) {
        DONE(H5Mget(map, H5T_NATIVE_INT, &key, H5T_NATIVE_INT, &value, H5P_DEFAULT));
        first = key == 0 ? value : first;
        HOLDS(value == first);
    }
    printf("%d\n", first);
    H5Mclose(map);
    H5Fclose(file);
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    if (strcmp(arguments[1], "write") == 0)
        write_for_ever(arguments[2]);
    else if (strcmp(arguments[1], "read") == 0)
        read_once(arguments[2]);
    else {
        check_all(arguments[2]);
        printf("%d checks, %d failed\n", checks, failed);
    }
    return failed != 0;
}
