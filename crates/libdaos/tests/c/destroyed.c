/* What is open in a container that its own process destroys: it is of nothing any more, and can be closed.
 *
 *   destroyed POOL
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <daos_fs.h>

#include "fixtures.h"

int main(int argc, char **argv)
{
    daos_handle_t container, array, transaction, again;
    daos_cont_info_t info;
    dfs_t *dfs;
    dfs_obj_t *file;
    daos_size_t size;
    char bytes[8] = "old";
    if (argc < 2)
        return 2;
    daos_handle_t pool = begin(argv[1]);
    IS(dfs_cont_create_with_label(pool, "destroyed", NULL, NULL, &container, &dfs), 0);
    IS(dfs_open(dfs, NULL, "f", S_IFREG | 0644, O_RDWR | O_CREAT, 0, 0, NULL, &file), 0);
    daos_obj_id_t map_id = id_of(container, 1, DAOS_OT_KV_HASHED), array_id = id_of(container, 2, DAOS_OT_ARRAY);
    daos_handle_t map = open_map(container, 1);
    IS(daos_kv_put(map, DAOS_TX_NONE, 0, "k", 3, "old", NULL), 0);
    IS(daos_array_create(container, array_id, DAOS_TX_NONE, 1, 4096, &array, NULL), 0);
    IS(daos_tx_open(container, &transaction, 0, NULL), 0);
    IS(daos_kv_put(map, transaction, 0, "k", 3, "new", NULL), 0);

    IS(daos_cont_destroy(pool, "destroyed", 0, NULL), -DER_BUSY);
    size = sizeof bytes;
    IS(daos_kv_get(map, DAOS_TX_NONE, 0, "k", &size, bytes, NULL), 0);
    IS(daos_cont_destroy(pool, "destroyed", 1, NULL), 0);
    /* Another one under the label changes nothing, and is not in use. */
    for (int round = 0; round < 2; round++) {
        size = sizeof bytes;
        IS(daos_kv_get(map, DAOS_TX_NONE, 0, "k", &size, bytes, NULL), -DER_NO_HDL);
        IS(daos_kv_put(map, DAOS_TX_NONE, 0, "k", 3, "new", NULL), -DER_NO_HDL);
        IS(daos_array_get_size(array, DAOS_TX_NONE, &size, NULL), -DER_NO_HDL);
        IS(daos_cont_query(container, &info, NULL, NULL), -DER_NO_HDL);
        IS(daos_kv_open(container, map_id, DAOS_OO_RW, &again, NULL), -DER_NO_HDL);
        IS(daos_tx_commit(transaction, NULL), -DER_NO_HDL);
        IS(dfs_mkdir(dfs, NULL, "d", 0755, 0), EINVAL);
        IS(dfs_get_size(dfs, file, &size), EINVAL);
        if (round == 0)
            IS(daos_cont_create_with_label(pool, "destroyed", NULL, NULL, NULL), 0);
    }
    IS(daos_cont_open(pool, "destroyed", DAOS_COO_EX, &again, NULL, NULL), 0);
    IS(daos_cont_close(again, NULL), 0);
    IS(daos_cont_destroy(pool, "destroyed", 0, NULL), 0);

    IS(daos_pool_disconnect(pool, NULL), -DER_BUSY);
    IS(daos_kv_close(map, NULL), 0);
    IS(daos_array_close(array, NULL), 0);
    IS(daos_tx_close(transaction, NULL), 0);
    IS(dfs_release(file), 0);
    IS(dfs_umount(dfs), 0);
    IS(daos_cont_close(container, NULL), 0);
    return end(pool);
}
