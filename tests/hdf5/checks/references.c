/* References to objects, attributes and regions, as H5R_ref_t. */
#include "check.h"

void check_references(void)
{
    hid_t file = new_file("references.h5"), group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), space = space_of(8, 0, 0), dataset, type, many, object;
    H5R_ref_t out[4], in[4];
    char name[64];
    dataset = int_dataset(group, "dataset", space, 50);
    put_int(dataset, "attribute", 6);
    type = H5Tcopy(H5T_STD_I16LE);
    H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    DONE(H5Rcreate_object(file, "group", H5P_DEFAULT, &out[0]), "a reference to a group");
    DONE(H5Rcreate_object(file, "group/dataset", H5P_DEFAULT, &out[1]), "a reference to a dataset");
    DONE(H5Rcreate_object(file, "type", H5P_DEFAULT, &out[2]), "a reference to a type");
    DONE(H5Rcreate_attr(file, "group/dataset", "attribute", H5P_DEFAULT, &out[3]), "a reference to an attribute");
    hid_t four = space_of(4, 0, 0);
    many = H5Dcreate2(file, "references", H5T_STD_REF, four, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(many >= 0 && H5Dwrite(many, H5T_STD_REF, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, "write references");
    for (int i = 0; i < 4; i++)
        H5Rdestroy(&out[i]);
    H5Dclose(many);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Gclose(group);
    H5Fclose(file);
    file = open_file("references.h5", true);
    many = H5Dopen2(file, "references", H5P_DEFAULT);
    memset(in, 0, sizeof in);
    check(H5Dread(many, H5T_STD_REF, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0, "read references");
    for (int i = 0; i < 4; i++) {
        H5O_type_t kind = H5O_TYPE_UNKNOWN;
        show("type of the reference", H5Rget_type(&in[i]));
        check(H5Rget_obj_type3(&in[i], H5P_DEFAULT, &kind) >= 0, "the type of its object");
        show("type", kind);
        check(H5Rget_obj_name(&in[i], H5P_DEFAULT, name, sizeof name) > 0, "the name of its object");
        object = H5Ropen_object(&in[i], H5P_DEFAULT, H5P_DEFAULT);
        DONE(object, "open its object");
        show("kind of identifier", H5Iget_type(object));
        H5Oclose(object);
    }
    object = H5Ropen_attr(&in[3], H5P_DEFAULT, H5P_DEFAULT);
    int value = 0;
    check(object >= 0 && H5Aread(object, H5T_NATIVE_INT, &value) >= 0 && value == 6, "open an attribute by its reference");
    H5Aclose(object);
    check(H5Requal(&in[0], &in[0]) > 0 && H5Requal(&in[0], &in[1]) == 0, "references are compared");
    for (int i = 0; i < 4; i++)
        H5Rdestroy(&in[i]);
    H5Dclose(many);
    hsize_t start = 2, count = 3;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
    H5R_ref_t region;
    DONE(H5Rcreate_region(file, "group/dataset", space, H5P_DEFAULT, &region), "a reference to a region");
    object = H5Ropen_region(&region, H5P_DEFAULT, H5P_DEFAULT);
    check(object >= 0 && H5Sget_select_npoints(object) == 3, "it selects three elements");
    H5Sclose(object);
    H5Rdestroy(&region);
    H5Sclose(space);
    H5Sclose(four);
    H5Fclose(file);
}
