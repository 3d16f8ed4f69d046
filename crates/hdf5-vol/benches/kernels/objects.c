/* Metadata: each rank creates a file of its own with many small datasets that have attributes, closes it, opens it again and reads every attribute.

   Options: --datasets N, --attributes N (of each dataset). */
#include <hdf5.h>
#include <stdio.h>

#include "common.h"

enum { NAME = 32, ELEMENTS = 10 };

static long long datasets, attributes;
static char path[NAME];

static long long value_of(long long dataset, long long attribute)
{
    return dataset * attributes + attribute;
}

static void name_object(char *name, char kind, long long number)
{
    snprintf(name, NAME, "%c%lld", kind, number);
}

static void create_attributes(hid_t dataset, long long number, hid_t scalar)
{
    char name[NAME];
    for (long long at = 0; at < attributes; at++) {
        name_object(name, 'a', at);
        hid_t attribute = (hid_t)H5(H5Acreate2(dataset, name, H5T_STD_I64LE, scalar, H5P_DEFAULT, H5P_DEFAULT));
        long long value = value_of(number, at);
        H5(H5Awrite(attribute, H5T_NATIVE_LLONG, &value));
        H5(H5Aclose(attribute));
    }
}

static void create_all(void)
{
    char name[NAME];
    hid_t file = (hid_t)H5(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    hid_t space = (hid_t)H5(H5Screate_simple(1, (hsize_t[]){ELEMENTS}, NULL)), scalar = (hid_t)H5(H5Screate(H5S_SCALAR));
    for (long long number = 0; number < datasets; number++) {
        name_object(name, 'd', number);
        hid_t dataset = (hid_t)H5(H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        create_attributes(dataset, number, scalar);
        H5(H5Dclose(dataset));
    }
    H5(H5Sclose(scalar));
    H5(H5Sclose(space));
    H5(H5Fclose(file));
}

static void read_attributes(hid_t dataset, long long number)
{
    char name[NAME];
    for (long long at = 0; at < attributes; at++) {
        name_object(name, 'a', at);
        hid_t attribute = (hid_t)H5(H5Aopen(dataset, name, H5P_DEFAULT));
        long long value = -1;
        H5(H5Aread(attribute, H5T_NATIVE_LLONG, &value));
        expect(value == value_of(number, at));
        H5(H5Aclose(attribute));
    }
}

static void read_all(void)
{
    char name[NAME];
    hid_t file = (hid_t)H5(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
    for (long long number = 0; number < datasets; number++) {
        name_object(name, 'd', number);
        hid_t dataset = (hid_t)H5(H5Dopen2(file, name, H5P_DEFAULT));
        read_attributes(dataset, number);
        H5(H5Dclose(dataset));
    }
    H5(H5Fclose(file));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    only_options(argc, argv, (const char *const[]){"datasets", "attributes", NULL});
    datasets = option(argc, argv, "datasets", 1, 1000);
    attributes = option(argc, argv, "attributes", 1, 10);
    snprintf(path, sizeof path, "objects-%d.h5", rank);

    double began = phase_begin();
    create_all();
    double create_seconds = phase_seconds(began);
    began = phase_begin();
    read_all();
    double read_seconds = phase_seconds(began);

    long long objects = datasets * (1 + attributes) * ranks;
    report_begin("objects");
    report_count("objects", objects);
    report_objects("write", objects, create_seconds);
    report_objects("read", objects, read_seconds);
    return end();
}
