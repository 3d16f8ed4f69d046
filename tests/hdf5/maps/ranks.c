/* Ranks that put keys of their own in one map, together with a dataset. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MUST(call)                                                                                                          \
    do {                                                                                                                    \
        if ((long long)(call) < 0) {                                                                                        \
            printf("rank %d: %s failed\n", rank, #call);                                                                    \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                                   \
        }                                                                                                                   \
    } while (0)

#define KEYS 50

int main(int count, char **arguments)
{
    int rank, size;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(arguments[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    MUST(file);
    hid_t map = H5Mcreate(file, "map", H5T_NATIVE_INT, text, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    MUST(map);
    char buffer[40], *value = buffer;
    for (int at = 0; at < KEYS; at++) {
        int key = at * size + rank;
        snprintf(buffer, sizeof buffer, "key %d of rank %d", key, rank);
        MUST(H5Mput(map, H5T_NATIVE_INT, &key, text, &value, H5P_DEFAULT));
    }
    int shared = -1;
    snprintf(buffer, sizeof buffer, "rank %d", rank);
    MUST(H5Mput(map, H5T_NATIVE_INT, &shared, text, &value, H5P_DEFAULT));
    hsize_t before = 0, after = 0;
    MUST(H5Mget_count(map, &before, H5P_DEFAULT));
    MUST(H5Fflush(file, H5F_SCOPE_GLOBAL));
    MUST(H5Mget_count(map, &after, H5P_DEFAULT));
    MUST(H5Mget(map, H5T_NATIVE_INT, &shared, text, &value, H5P_DEFAULT));
    printf("rank %d: %d keys, then %d, and %s\n", rank, (int)before, (int)after, value);
    /* A file of ranks is closed after its objects. */
    herr_t closed;
    H5E_BEGIN_TRY { closed = H5Fclose(file); }
    H5E_END_TRY
    if (closed >= 0)
        printf("rank %d: the file was closed before its map\n", rank);
    MUST(H5Mclose(map));
    MUST(H5Fclose(file));
    H5Pclose(fapl);
    H5Tclose(text);
    MPI_Finalize();
    return 0;
}
