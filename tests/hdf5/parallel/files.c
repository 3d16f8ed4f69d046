/* Files that several ranks create, open, flush and close together. */
#include "parallel.h"

static void creation(void)
{
    hid_t file = shared_file("a.h5"), again;
    int put = 7;
    put_int(file, "answer", put);
    check(int_of(file, "answer") == put, "all ranks see the attribute before a commit");
    DONE(H5Fflush(file, H5F_SCOPE_GLOBAL), "flush");
    check(int_of(file, "answer") == put, "and after it");
    DONE(H5Fclose(file), "close");
    REFUSED(H5Fcreate(path("a.h5"), H5F_ACC_EXCL, H5P_DEFAULT, together), "to create it again as a new file");
    file = open_shared("a.h5", false);
    check(int_of(file, "answer") == put, "the attribute is there after opening");
    hid_t space = H5Screate(H5S_SCALAR);
    REFUSED(H5Acreate2(file, "other", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT), "an attribute in a file for reading");
    H5Sclose(space);
    DONE(H5Fclose(file), "close");
    file = open_shared("a.h5", true);
    again = H5Freopen(file);
    DONE(again, "reopen");
    put_int(again, "other", 8);
    check(int_of(file, "other") == 8, "both openings see what one has written");
    DONE(H5Fclose(again), "close one");
    DONE(H5Fclose(file), "close the other");
    file = shared_file("a.h5");
    check(H5Aexists(file, "answer") == 0, "a file that is created over another is empty");
    DONE(H5Fclose(file), "close");
    REFUSED(H5Fopen(path("absent.h5"), H5F_ACC_RDONLY, together), "to open what is not there");
    REFUSED(H5Fcreate(path("a.h5"), H5F_ACC_EXCL, H5P_DEFAULT, together), "to create what is there");
    check(H5Fis_accessible(path("a.h5"), together) > 0, "the file is one of HDF5");
    DONE(H5Fdelete(path("a.h5"), together), "delete");
    REFUSED(H5Fopen(path("a.h5"), H5F_ACC_RDONLY, together), "to open a deleted file");
}

static void properties(void)
{
    hid_t file = shared_file("p.h5"), list = H5Fget_access_plist(file);
    MPI_Comm communicator = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    int count = 0, same = 0;
    unsigned intent = 0;
    hbool_t is_atomic = true;
    check(list >= 0 && H5Pget_driver(list) == H5FD_MPIO, "the driver is that of MPI");
    DONE(H5Pget_fapl_mpio(list, &communicator, &info), "the file's communicator");
    MPI_Comm_size(communicator, &count);
    MPI_Comm_compare(communicator, MPI_COMM_WORLD, &same);
    check(count == size && same == MPI_CONGRUENT, "it is a duplicate of the program's");
    MPI_Comm_free(&communicator);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    check(H5Fget_intent(file, &intent) >= 0 && intent == H5F_ACC_RDWR, "it was opened for writing");
    check(H5Fget_mpi_atomicity(file, &is_atomic) >= 0 && !is_atomic, "transfers are not atomic");
    DONE(H5Fset_mpi_atomicity(file, false), "which can be said");
    check(H5Fget_obj_count(file, H5F_OBJ_ALL) == 1, "one handle is open");
    H5Pclose(list);
    DONE(H5Fclose(file), "close");
}

/* Files by a part of the ranks, by one alone, and by another number of them. */
static void parts(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    hid_t list = H5Pcreate(H5P_FILE_ACCESS), file, dataset, space;
    char name[32];
    H5Pset_fapl_mpio(list, half, MPI_INFO_NULL);
    snprintf(name, sizeof name, "half%d.h5", rank % 2);
    file = H5Fcreate(path(name), H5F_ACC_TRUNC, H5P_DEFAULT, list);
    DONE(file, "each half of the ranks creates a file");
    hsize_t length = 100;
    space = H5Screate_simple(1, &length, NULL);
    dataset = int_dataset(file, "d", space, rank % 2 * 1000);
    H5Dclose(dataset);
    DONE(H5Fclose(file), "and closes it");
    H5Pclose(list);
    MPI_Comm_free(&half);
    for (int of = 0; of < 2 && of < size; of++) {
        int values[100] = {0};
        snprintf(name, sizeof name, "half%d.h5", of);
        file = open_shared(name, false);
        dataset = H5Dopen2(file, "d", H5P_DEFAULT);
        check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer(true), values) >= 0 && values[99] == of * 1000 + 99,
              "all ranks read the file of half %d", of);
        H5Dclose(dataset);
        DONE(H5Fclose(file), "close");
    }
    list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(list, MPI_COMM_SELF, MPI_INFO_NULL);
    snprintf(name, sizeof name, "own%d.h5", rank);
    file = H5Fcreate(path(name), H5F_ACC_TRUNC, H5P_DEFAULT, list);
    dataset = int_dataset(file, "d", space, rank);
    H5Dclose(dataset);
    DONE(H5Fclose(file), "each rank has a file of its own");
    H5Pclose(list);
    MPI_Barrier(MPI_COMM_WORLD);
    int next = (rank + 1) % size, values[100] = {0};
    snprintf(name, sizeof name, "own%d.h5", next);
    file = H5Fopen(path(name), H5F_ACC_RDONLY, H5P_DEFAULT);
    dataset = H5Dopen2(file, "d", H5P_DEFAULT);
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0 && values[0] == next,
          "each rank reads the file of the next one, without MPI");
    H5Dclose(dataset);
    H5Fclose(file);
    H5Sclose(space);
    MPI_Barrier(MPI_COMM_WORLD);
}

void check_files(void)
{
    creation();
    properties();
    parts();
}
