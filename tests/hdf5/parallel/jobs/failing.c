/* What ranks are told of each other's failures. Only for a connector whose ranks tell each other: native HDF5 leaves them waiting.
 *
 * Usage: mpirun -n N failing FOLDER. The ranks print in turn what they were told.
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size;

static herr_t last(unsigned depth, const H5E_error2_t *error, void *text)
{
    (void)depth;
    if (error->desc)
        snprintf(text, 512, "%s", error->desc);
    return 0;
}

/* Prints whether a call has succeeded, or what its failure says, rank by rank. */
static void tell(const char *what, long long result)
{
    char text[512] = "done";
    if (result < 0)
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, last, text);
    for (int turn = 0; turn < size; turn++) {
        char other[512];
        memcpy(other, text, sizeof text);
        MPI_Bcast(other, sizeof other, MPI_CHAR, turn, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s, rank %d: %s\n", what, turn, other);
    }
    fflush(stdout);
}

int main(int count, char **arguments)
{
    char path[4096], other[4096];
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), list = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);

    snprintf(path, sizeof path, "%s/a.h5", arguments[1]);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t length = 100, start = 90, many = rank == 1 ? 20 : 10;
    hid_t space = H5Screate_simple(1, &length, NULL), memory = H5Screate_simple(1, &many, NULL);
    hid_t dataset = H5Dcreate2(file, "d", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int values[100] = {0};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &many, NULL);
    tell("write", H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, list, values));
    tell("read", H5Dread(dataset, H5T_NATIVE_INT, memory, space, list, values));
    hid_t set = H5EScreate();
    tell("asynchronous write", H5Dwrite_async(dataset, H5T_NATIVE_INT, memory, space, list, values, set));
    tell("asynchronous read", H5Dread_async(dataset, H5T_NATIVE_INT, memory, space, list, values, set));
    H5ESclose(set);
    H5Sselect_all(space);
    tell("write again", H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, space, list, values));
    H5Dclose(dataset);
    tell("close", H5Fclose(file));

    file = H5Fopen(path, H5F_ACC_RDWR, access);
    hid_t group = H5Gcreate2(file, rank == 1 ? "one" : "other", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(group);
    tell("close with different links", H5Fclose(file));

    snprintf(other, sizeof other, "%s/%s", arguments[1], rank == 1 ? "b.h5" : "a.h5");
    tell("open different files", H5Fopen(other, H5F_ACC_RDONLY, access));
    snprintf(other, sizeof other, "%s/absent.h5", arguments[1]);
    tell("open nothing", H5Fopen(other, H5F_ACC_RDONLY, access));

    file = H5Fopen(path, H5F_ACC_RDWR, access);
    tell("open alone, too", H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
    tell("atomic transfers", H5Fset_mpi_atomicity(file, true));
    if (rank == 1)
        dataset = H5Dopen2(file, "d", H5P_DEFAULT);
    tell("close with an object open", H5Fclose(file));
    if (rank == 1)
        H5Dclose(dataset);
    tell("close with none", H5Fclose(file));

    /* Left open: HDF5 closes it in MPI_Finalize. */
    snprintf(path, sizeof path, "%s/left.h5", arguments[1]);
    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    group = H5Gcreate2(file, "left", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    MPI_Finalize();
    return 0;
}
