/* A job of which one rank is killed while the ranks write together.
 *
 * Usage: mpirun -n N killed FILE MICROSECONDS. Version after version, all ranks write one number to all elements of two datasets, which share
 * their chunks, and flush. After the third one the last rank is killed so many microseconds into the next write, or before it with 0. The first
 * rank prints each version once it is committed.
 */
#include <hdf5.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { LENGTH = 100000 };

static void die(int number)
{
    (void)number;
    raise(SIGKILL);
}

static void write_all(hid_t dataset, int rank, int size, int version, hid_t list)
{
    hsize_t start = (hsize_t)rank, stride = (hsize_t)size, count = LENGTH / (hsize_t)size;
    hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(1, &count, NULL);
    int *values = malloc(count * sizeof *values);
    for (hsize_t i = 0; i < count; i++)
        values[i] = version;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &count, NULL);
    H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, list, values);
    free(values);
    H5Sclose(memory);
    H5Sclose(space);
}

int main(int count, char **arguments)
{
    int rank, size;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    long after = count > 2 ? atol(arguments[2]) : 0;
    hsize_t length = LENGTH / (hsize_t)size * (hsize_t)size, chunk = 7001;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), list = H5Pcreate(H5P_DATASET_XFER), creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_deflate(creation, 1);
    hid_t file = H5Fcreate(arguments[1], H5F_ACC_TRUNC, H5P_DEFAULT, access), space = H5Screate_simple(1, &length, NULL);
    hid_t plain = H5Dcreate2(file, "plain", H5T_STD_I32LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t packed = H5Dcreate2(file, "packed", H5T_STD_I32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    signal(SIGALRM, die);
    for (int version = 1; version < 1000; version++) {
        if (version == 4 && rank == size - 1) {
            struct itimerval timer = {{0, 0}, {after / 1000000, after % 1000000}};
            if (after == 0)
                raise(SIGKILL);
            setitimer(ITIMER_REAL, &timer, NULL);
        }
        write_all(plain, rank, size, version, list);
        write_all(packed, rank, size, version, list);
        H5Fflush(file, H5F_SCOPE_GLOBAL);
        if (rank == 0) {
            printf("committed %d\n", version);
            fflush(stdout);
        }
    }
    return 0;
}
