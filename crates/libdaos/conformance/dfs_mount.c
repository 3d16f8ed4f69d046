/*
 * The file system: containers, mounts, and what is given to other processes.
 */
#define _XOPEN_SOURCE 700
#include "dfs_check.h"

#include <stdlib.h>

SUBJECT(dfs_mount);

static dfs_attr_t attributes(void)
{
    return (dfs_attr_t){.da_props = redundancy_zero()};
}

/* A container of layout POSIX, which is closed and destroyed when the check ends. */
static daos_handle_t new_container(dfs_attr_t *attr)
{
    daos_handle_t container;

    OK(dfs_cont_create_with_label(pool(), new_label(), attr, NULL, &container, NULL));
    keep(KEPT_CONTAINER, container);
    return container;
}

static void *packed(int status, d_iov_t *global)
{
    OK(status);
    HOLDS(global->iov_buf_len > 0);
    global->iov_buf = malloc(global->iov_buf_len);
    global->iov_len = global->iov_buf_len;
    return global->iov_buf;
}

CHECK(a_container_with_a_label_gets_a_uuid, "dfs_cont_create_with_label fills in the UUID")
{
    static const uuid_t none;
    dfs_attr_t attr = attributes();
    uuid_t uuid;

    memset(uuid, 0, sizeof(uuid));
    OK(dfs_cont_create_with_label(pool(), new_label(), &attr, &uuid, NULL, NULL));
    HOLDS(memcmp(uuid, none, sizeof(uuid)) != 0);
}

CHECK(a_label_that_is_taken_is_refused, "a label that exists gives EEXIST")
{
    dfs_attr_t attr = attributes();
    const char *label = new_label();

    OK(dfs_cont_create_with_label(pool(), label, &attr, NULL, NULL, NULL));
    REFUSES_WITH(dfs_cont_create_with_label(pool(), label, &attr, NULL, NULL, NULL), EEXIST);
}

CHECK(a_label_with_a_slash_is_refused, "a label that is not valid gives EINVAL")
{
    REFUSES_WITH(dfs_cont_create_with_label(pool(), "a/b", NULL, NULL, NULL, NULL), EINVAL);
}

CHECK(a_container_without_a_label_opens_by_its_uuid, "dfs_cont_create fills in the UUID of what it makes")
{
    dfs_attr_t attr = attributes();
    daos_handle_t container;
    uuid_t uuid;
    dfs_t *dfs;

    OK(dfs_cont_create(pool(), &uuid, &attr, &container, &dfs));
    OK(dfs_umount(dfs));
    OK(daos_cont_close(container, NULL));
    OK(daos_cont_open(pool(), uuid_text(uuid), DAOS_COO_RW, &container, NULL, NULL));
    OK(daos_cont_close(container, NULL));
    OK(daos_cont_destroy(pool(), uuid_text(uuid), 0, NULL));
}

CHECK(the_layout_of_the_container_is_posix, "a container of a file system has the property layout POSIX")
{
    struct daos_prop_entry entry = {.dpe_type = DAOS_PROP_CO_LAYOUT_TYPE};
    daos_prop_t prop = {.dpp_nr = 1, .dpp_entries = &entry};

    OK(daos_cont_query(file_system_container(), NULL, &prop, NULL));
    EQUAL(entry.dpe_val, DAOS_PROP_CO_LAYOUT_POSIX);
}

CHECK(a_container_of_another_layout_is_not_mounted, "dfs_mount needs layout POSIX, else EINVAL")
{
    dfs_t *dfs;

    REFUSES_WITH(dfs_mount(pool(), container(), O_RDWR, &dfs), EINVAL);
}

CHECK(a_container_is_mounted_again, "a file system outlives its mounts")
{
    dfs_attr_t attr = attributes();
    daos_handle_t container = new_container(&attr);
    struct stat found;
    dfs_t *dfs;

    OK(dfs_mount(pool(), container, O_RDWR, &dfs));
    OK(dfs_mkdir(dfs, NULL, "kept", 0755, 0));
    OK(dfs_umount(dfs));
    OK(dfs_mount(pool(), container, O_RDONLY, &dfs));
    OK(dfs_stat(dfs, NULL, "kept", &found));
    OK(dfs_umount(dfs));
}

CHECK(a_mount_for_reading_refuses_changes, "changes on a mount with O_RDONLY give EPERM")
{
    dfs_attr_t attr = attributes();
    daos_handle_t container = new_container(&attr);
    dfs_obj_t *node;
    dfs_t *dfs;

    OK(dfs_mount(pool(), container, O_RDONLY, &dfs));
    REFUSES_WITH(dfs_mkdir(dfs, NULL, "d", 0755, 0), EPERM);
    REFUSES_WITH(dfs_open(dfs, NULL, "f", S_IFREG | 0644, O_RDWR | O_CREAT, 0, 0, NULL, &node), EPERM);
    REFUSES_WITH(dfs_remove(dfs, NULL, "f", false, NULL), EPERM);
    REFUSES_WITH(dfs_sync(dfs), EPERM);
    OK(dfs_umount(dfs));
}

CHECK(a_mount_for_writing_over_a_handle_for_reading_reads,
      "dfs_mount with O_RDWR takes a handle opened with DAOS_COO_RO; changes are refused one by one")
{
    dfs_attr_t attr = attributes();
    daos_handle_t container, reading;
    struct stat found;
    uuid_t uuid;
    dfs_t *dfs;

    OK(dfs_cont_create(pool(), &uuid, &attr, &container, &dfs));
    OK(dfs_mkdir(dfs, NULL, "kept", 0755, 0));
    OK(dfs_umount(dfs));
    OK(daos_cont_open(pool(), uuid_text(uuid), DAOS_COO_RO, &reading, NULL, NULL));
    OK(dfs_mount(pool(), reading, O_RDWR, &dfs));
    OK(dfs_stat(dfs, NULL, "kept", &found));
    REFUSES_WITH(dfs_mkdir(dfs, NULL, "new", 0755, 0), EPERM);
    OK(dfs_umount(dfs));
    OK(daos_cont_close(reading, NULL));
    OK(daos_cont_close(container, NULL));
    OK(daos_cont_destroy(pool(), uuid_text(uuid), 0, NULL));
}

CHECK(a_balanced_container_is_mounted_balanced_only, "a mount without DFS_BALANCED of a container made with it gives EPERM")
{
    dfs_attr_t attr = attributes();
    daos_handle_t container;
    dfs_t *dfs;

    attr.da_mode = DFS_BALANCED;
    container = new_container(&attr);
    REFUSES_WITH(dfs_mount(pool(), container, O_RDWR, &dfs), EPERM);
    OK(dfs_mount(pool(), container, O_RDWR | DFS_BALANCED, &dfs));
    OK(dfs_umount(dfs));
}

CHECK(a_container_without_a_place_for_its_uuid_is_refused, "dfs_cont_create needs a place for the UUID, else EINVAL")
{
    daos_handle_t container;

    REFUSES_WITH(dfs_cont_create(pool(), NULL, NULL, &container, NULL), EINVAL);
}

CHECK(query_tells_the_default_chunk_size, "the chunk size of a file system is 1 MiB where no other was given")
{
    dfs_attr_t found;

    OK(dfs_query(file_system(), &found));
    EQUAL(found.da_chunk_size, DFS_DEFAULT_CHUNK_SIZE);
    EQUAL(found.da_mode, DFS_RELAXED);
}

CHECK(query_tells_what_the_container_was_made_with, "attributes of the container are kept in its superblock")
{
    dfs_attr_t attr = {.da_props = redundancy_zero(), .da_chunk_size = 65536, .da_file_oclass_id = OC_S2};
    dfs_attr_t found;
    dfs_t *dfs;

    OK(dfs_mount(pool(), new_container(&attr), O_RDWR, &dfs));
    OK(dfs_query(dfs, &found));
    EQUAL(found.da_chunk_size, 65536);
    EQUAL(found.da_file_oclass_id, OC_S2);
    OK(dfs_umount(dfs));
}

CHECK(the_superblock_has_the_magic_number, "the object 0.0 holds the superblock under DFS_SB_METADATA and DFS_MAGIC")
{
    daos_obj_id_t oid = {.lo = 0, .hi = 0};
    daos_handle_t object;
    daos_size_t size = 0;
    uint64_t magic = 0;

    OK(daos_obj_generate_oid(file_system_container(), &oid, DAOS_OT_MULTI_HASHED, OC_S1, 0, 0));
    OK(daos_obj_open(file_system_container(), oid, DAOS_OO_RO, &object, NULL));
    keep(KEPT_OBJECT, object);
    OK(fetch_single(object, DAOS_TX_NONE, 0, "DFS_SB_METADATA", "DFS_MAGIC", &magic, sizeof(magic), &size));
    EQUAL(size, sizeof(magic));
    EQUAL(magic, 0xda05df50da05df50);
}

CHECK(sync_succeeds, "dfs_sync of a mount for writing returns 0")
{
    OK(dfs_sync(file_system()));
}

CHECK(null_for_a_mount_is_invalid, "a NULL mount gives EINVAL")
{
    struct stat found;

    REFUSES_WITH(dfs_mkdir(NULL, NULL, "d", 0755, 0), EINVAL);
    REFUSES_WITH(dfs_stat(NULL, NULL, "d", &found), EINVAL);
    REFUSES_WITH(dfs_umount(NULL), EINVAL);
}

CHECK(the_handles_of_a_mount_are_those_it_was_given, "dfs_pool_get and dfs_cont_get give the handles of the mount")
{
    daos_handle_t found;

    OK(dfs_pool_get(file_system(), &found));
    EQUAL(found.cookie, pool().cookie);
    OK(dfs_pool_put(file_system(), found));
    OK(dfs_cont_get(file_system(), &found));
    EQUAL(found.cookie, file_system_container().cookie);
    REFUSES_WITH(dfs_umount(file_system()), EBUSY);
    OK(dfs_cont_put(file_system(), found));
    REFUSES_WITH(dfs_cont_put(file_system(), found), EINVAL);
}

CHECK(a_prefix_is_taken_off_paths, "with a prefix set, paths of dfs_lookup begin with it")
{
    dfs_obj_t *node;

    new_directory(NULL, "d");
    OK(dfs_set_prefix(file_system(), "/mnt/fs/"));
    look_up("/mnt/fs/d", O_RDONLY);
    look_up("/mnt/fs", O_RDONLY);
    REFUSES_WITH(dfs_lookup(file_system(), "/d", O_RDONLY, &node, NULL, NULL), EINVAL);
    OK(dfs_set_prefix(file_system(), NULL));
    look_up("/d", O_RDONLY);
}

CHECK(a_prefix_begins_with_a_slash, "a prefix that is no absolute path gives EINVAL")
{
    REFUSES_WITH(dfs_set_prefix(file_system(), "mnt"), EINVAL);
}

CHECK(a_mount_is_given_on_as_bytes, "dfs_global2local mounts what dfs_local2global packed")
{
    d_iov_t global = {0};
    struct stat found;
    dfs_t *other;

    new_directory(NULL, "d");
    packed(dfs_local2global(file_system(), &global), &global);
    OK(dfs_local2global(file_system(), &global));
    OK(dfs_global2local(pool(), file_system_container(), 0, global, &other));
    OK(dfs_stat(other, NULL, "d", &found));
    OK(dfs_mkdir(other, NULL, "e", 0755, 0));
    OK(dfs_umount(other));
    free(global.iov_buf);
    HOLDS(is_there(NULL, "e"));
}

CHECK(bytes_of_another_kind_are_no_mount, "bytes that dfs_local2global did not write give EINVAL")
{
    char bytes[512] = "not a mount";
    d_iov_t global;
    dfs_t *other;

    d_iov_set(&global, bytes, sizeof(bytes));
    REFUSES_WITH(dfs_global2local(pool(), file_system_container(), 0, global, &other), EINVAL);
}

CHECK(a_file_is_given_on_as_bytes, "dfs_obj_global2local opens what dfs_obj_local2global packed")
{
    dfs_obj_t *file = new_file(NULL, "f"), *other;
    d_iov_t global = {0};
    char found[8] = {0};

    packed(dfs_obj_local2global(file_system(), file, &global), &global);
    OK(dfs_obj_local2global(file_system(), file, &global));
    OK(dfs_obj_global2local(file_system(), 0, global, &other));
    keep_node(other);
    free(global.iov_buf);
    write_file(other, 0, "shared");
    EQUAL(read_bytes(file, 0, found, sizeof(found)), 6);
    TEXT(found, "shared");
}

CHECK(a_directory_is_not_given_on, "dfs_obj_local2global of what is no file gives EINVAL")
{
    d_iov_t global = {0};

    REFUSES_WITH(dfs_obj_local2global(file_system(), new_directory(NULL, "d"), &global), EINVAL);
}

CHECK(connect_needs_init, "dfs_connect before dfs_init gives EACCES")
{
    dfs_t *dfs;

    REFUSES_WITH(dfs_connect(pool_label(), NULL, "none", O_RDWR, NULL, &dfs), EACCES);
}

CHECK(connect_makes_a_container, "dfs_connect with O_CREAT makes a container that is not there")
{
    dfs_attr_t attr = attributes();
    const char *label = new_label();
    struct stat found;
    dfs_t *dfs;

    OK(dfs_init());
    REFUSES_WITH(dfs_connect(pool_label(), NULL, label, O_RDWR, NULL, &dfs), ENOENT);
    OK(dfs_connect(pool_label(), NULL, label, O_RDWR | O_CREAT, &attr, &dfs));
    OK(dfs_mkdir(dfs, NULL, "d", 0755, 0));
    REFUSES_WITH(dfs_umount(dfs), EINVAL);
    OK(dfs_disconnect(dfs));
    OK(dfs_connect(pool_label(), NULL, label, O_RDONLY, NULL, &dfs));
    OK(dfs_stat(dfs, NULL, "d", &found));
    OK(dfs_disconnect(dfs));
    OK(dfs_destroy(pool_label(), NULL, label, 0, NULL));
    OK(dfs_fini());
}

CHECK(disconnect_is_for_what_was_connected, "dfs_disconnect of a mount of dfs_mount gives EINVAL")
{
    REFUSES_WITH(dfs_disconnect(file_system()), EINVAL);
}
