/* A program that asks for copies: refused, or where that is ignored one copy of everything.
 *
 *   redundancy POOL refused|ignored
 */
#define _XOPEN_SOURCE 700
#include <fcntl.h>

#include <daos_fs.h>

#include "fixtures.h"

static void maps(daos_handle_t container, int refused)
{
    static const daos_oclass_id_t classes[] = {OC_RP_2G1, OC_RP_2GX, OC_RP_3GX, OC_EC_4P2GX, OC_EC_8P2G1,
                                               OC_RP_XSF};
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        daos_obj_id_t id = {.lo = i};
        daos_handle_t map;
        char found[8];
        daos_size_t size = sizeof(found);
        IS(daos_obj_generate_oid(container, &id, DAOS_OT_KV_HASHED, classes[i], 0, 0), refused ? -DER_INVAL : 0);
        if (refused)
            continue;
        IS(daos_obj_id2ord(id), OR_RP_1);
        IS(daos_kv_open(container, id, DAOS_OO_RW, &map, NULL), 0);
        IS(daos_kv_put(map, DAOS_TX_NONE, 0, "key", 5, "value", NULL), 0);
        IS(daos_kv_get(map, DAOS_TX_NONE, 0, "key", &size, found, NULL), 0);
        IS(size, 5);
        IS(daos_kv_close(map, NULL), 0);
    }
    daos_obj_id_t unknown = {.lo = 1};
    IS(daos_obj_generate_oid(container, &unknown, DAOS_OT_KV_HASHED, 0x7e000001, 0, 0), -DER_INVAL);
}

int main(int argc, char **argv)
{
    daos_handle_t container, map;
    daos_prop_t *factor;
    if (argc != 3)
        return 2;
    int refused = strcmp(argv[2], "refused") == 0;
    daos_handle_t pool = begin(argv[1]);
    IS(daos_prop_from_str("rd_fac:1", 8, &factor), 0);
    IS(daos_cont_create_with_label(pool, argv[2], factor, NULL, NULL), 0);
    container = open_container(pool, argv[2]);
    daos_obj_id_t id = id_of(container, 9, DAOS_OT_KV_HASHED);
    IS(daos_kv_open(container, id, DAOS_OO_RW, &map, NULL), refused ? -DER_INVAL : 0);
    if (!refused)
        IS(daos_kv_close(map, NULL), 0);
    maps(container, refused);
    IS(daos_cont_close(container, NULL), 0);
    dfs_attr_t attributes = {.da_props = factor, .da_file_oclass_id = OC_RP_2GX, .da_dir_oclass_id = OC_RP_3G1};
    dfs_t *dfs;
    dfs_obj_t *file;
    IS(dfs_cont_create_with_label(pool, "files", &attributes, NULL, &container, &dfs), refused ? EINVAL : 0);
    if (!refused) {
        IS(dfs_open(dfs, NULL, "file", S_IFREG | 0644, O_CREAT | O_RDWR, OC_EC_4P2GX, 0, NULL, &file), 0);
        IS(dfs_release(file), 0);
        IS(dfs_umount(dfs), 0);
        IS(daos_cont_close(container, NULL), 0);
    }
    daos_prop_free(factor);
    return end(pool);
}
