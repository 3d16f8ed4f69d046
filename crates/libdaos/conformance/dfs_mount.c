/*
 * The file system: containers, mounts, and what is given to other processes.
 */
#define _XOPEN_SOURCE 700
#include "dfs_check.h"

#include <stdlib.h>

SUBJECT(dfs_mount);

/* What a file system is made with, and what else is given. */
#define ATTRIBUTES(...) (&(dfs_attr_t){.da_props = redundancy_zero(), __VA_ARGS__})

/* A container of layout POSIX, which is closed and destroyed when the check ends. */
static daos_handle_t new_posix(dfs_attr_t *attributes)
{
    daos_handle_t container;

    OK(dfs_cont_create_with_label(pool(), new_label(), attributes, NULL, &container, NULL));
    return keep(KEPT_CONTAINER, container);
}

/* A container of layout POSIX without a label, in which there is a directory; the handle is kept. */
static daos_handle_t new_unlabelled(uuid_t *uuid)
{
    daos_handle_t container;
    dfs_t *dfs;

    OK(dfs_cont_create(pool(), uuid, ATTRIBUTES(), &container, &dfs));
    keep(KEPT_CONTAINER, container);
    OK(dfs_mkdir(dfs, NULL, "kept", 0755, 0));
    OK(dfs_umount(dfs));
    return container;
}

static dfs_t *mounted(daos_handle_t container, int flags)
{
    dfs_t *dfs = NULL;

    OK(dfs_mount(pool(), container, flags, &dfs));
    return dfs;
}

/* Room for bytes, as much as the first call asked for. */
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
    uuid_t uuid;

    memset(uuid, 0, sizeof(uuid));
    OK(dfs_cont_create_with_label(pool(), new_label(), ATTRIBUTES(), &uuid, NULL, NULL));
    HOLDS(memcmp(uuid, none, sizeof(uuid)) != 0);
}

CHECK(a_label_that_is_taken_is_refused, "a label that exists gives EEXIST")
{
    const char *label = new_label();

    OK(dfs_cont_create_with_label(pool(), label, ATTRIBUTES(), NULL, NULL, NULL));
    REFUSES_WITH(dfs_cont_create_with_label(pool(), label, ATTRIBUTES(), NULL, NULL, NULL), EEXIST);
}

CHECK(a_label_with_a_slash_is_refused, "a label that is not valid gives EINVAL")
{
    REFUSES_WITH(dfs_cont_create_with_label(pool(), "a/b", NULL, NULL, NULL, NULL), EINVAL);
}

CHECK(a_container_without_a_label_opens_by_its_uuid, "dfs_cont_create fills in the UUID of what it makes")
{
    uuid_t uuid;

    closed(new_unlabelled(&uuid));
    closed(open_container(uuid_text(uuid), DAOS_COO_RW));
    OK(daos_cont_destroy(pool(), uuid_text(uuid), 0, NULL));
}

CHECK(the_layout_of_the_container_is_posix, "a container of a file system has the property layout POSIX")
{
    daos_prop_t *prop = PROP({.dpe_type = DAOS_PROP_CO_LAYOUT_TYPE});

    OK(daos_cont_query(file_system_container(), NULL, prop, NULL));
    EQUAL(prop->dpp_entries[0].dpe_val, DAOS_PROP_CO_LAYOUT_POSIX);
}

CHECK(a_container_of_another_layout_is_not_mounted, "dfs_mount needs layout POSIX, else EINVAL")
{
    REFUSES_WITH(dfs_mount(pool(), container(), O_RDWR, IGNORED(dfs_t *)), EINVAL);
}

CHECK(a_container_is_mounted_again, "a file system outlives its mounts")
{
    daos_handle_t container = new_posix(ATTRIBUTES());
    dfs_t *dfs = mounted(container, O_RDWR);

    OK(dfs_mkdir(dfs, NULL, "kept", 0755, 0));
    OK(dfs_umount(dfs));
    dfs = mounted(container, O_RDONLY);
    OK(dfs_stat(dfs, NULL, "kept", IGNORED(struct stat)));
    OK(dfs_umount(dfs));
}

CHECK(a_mount_for_reading_refuses_changes, "changes on a mount with O_RDONLY give EPERM")
{
    dfs_t *dfs = mounted(new_posix(ATTRIBUTES()), O_RDONLY);

    REFUSES_WITH(dfs_mkdir(dfs, NULL, "d", 0755, 0), EPERM);
    REFUSES_WITH(dfs_open(dfs, NULL, "f", S_IFREG | 0644, O_RDWR | O_CREAT, 0, 0, NULL, IGNORED(dfs_obj_t *)), EPERM);
    REFUSES_WITH(dfs_remove(dfs, NULL, "f", false, NULL), EPERM);
    REFUSES_WITH(dfs_sync(dfs), EPERM);
    OK(dfs_umount(dfs));
}

CHECK(a_mount_for_writing_over_a_handle_for_reading_reads,
      "dfs_mount with O_RDWR takes a handle opened with DAOS_COO_RO; changes are refused one by one")
{
    uuid_t uuid;
    daos_handle_t container = new_unlabelled(&uuid), reading = open_container(uuid_text(uuid), DAOS_COO_RO);
    dfs_t *dfs = mounted(reading, O_RDWR);

    OK(dfs_stat(dfs, NULL, "kept", IGNORED(struct stat)));
    REFUSES_WITH(dfs_mkdir(dfs, NULL, "new", 0755, 0), EPERM);
    OK(dfs_umount(dfs));
    closed(reading);
    closed(container);
    OK(daos_cont_destroy(pool(), uuid_text(uuid), 0, NULL));
}

CHECK(a_balanced_container_is_mounted_balanced_only, "a mount without DFS_BALANCED of a container made with it gives EPERM")
{
    daos_handle_t container = new_posix(ATTRIBUTES(.da_mode = DFS_BALANCED));

    REFUSES_WITH(dfs_mount(pool(), container, O_RDWR, IGNORED(dfs_t *)), EPERM);
    OK(dfs_umount(mounted(container, O_RDWR | DFS_BALANCED)));
}

CHECK(a_container_without_a_place_for_its_uuid_is_refused, "dfs_cont_create needs a place for the UUID, else EINVAL")
{
    REFUSES_WITH(dfs_cont_create(pool(), NULL, NULL, IGNORED(daos_handle_t), NULL), EINVAL);
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
    dfs_t *dfs = mounted(new_posix(ATTRIBUTES(.da_chunk_size = 65536, .da_file_oclass_id = OC_S2)), O_RDWR);
    dfs_attr_t found;

    OK(dfs_query(dfs, &found));
    EQUAL(found.da_chunk_size, 65536);
    EQUAL(found.da_file_oclass_id, OC_S2);
    OK(dfs_umount(dfs));
}

CHECK(the_superblock_has_the_magic_number, "the object 0.0 holds the superblock under DFS_SB_METADATA and DFS_MAGIC")
{
    daos_handle_t container = file_system_container();
    daos_obj_id_t oid = {.lo = 0, .hi = 0};
    daos_size_t size = 0;
    uint64_t magic = 0;

    OK(daos_obj_generate_oid(container, &oid, DAOS_OT_MULTI_HASHED, OC_S1, 0, 0));
    OK(fetch_single(open_object_in(container, oid, DAOS_OO_RO), DAOS_TX_NONE, 0, "DFS_SB_METADATA", "DFS_MAGIC", &magic,
                    sizeof(magic), &size));
    EQUAL(size, sizeof(magic));
    EQUAL(magic, 0xda05df50da05df50);
}

CHECK(sync_succeeds, "dfs_sync of a mount for writing returns 0")
{
    OK(dfs_sync(file_system()));
}

CHECK(null_for_a_mount_is_invalid, "a NULL mount gives EINVAL")
{
    REFUSES_WITH(dfs_mkdir(NULL, NULL, "d", 0755, 0), EINVAL);
    REFUSES_WITH(dfs_stat(NULL, NULL, "d", IGNORED(struct stat)), EINVAL);
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
    new_directory(NULL, "d");
    OK(dfs_set_prefix(file_system(), "/mnt/fs/"));
    look_up("/mnt/fs/d", O_RDONLY);
    look_up("/mnt/fs", O_RDONLY);
    REFUSES_WITH(dfs_lookup(file_system(), "/d", O_RDONLY, IGNORED(dfs_obj_t *), NULL, NULL), EINVAL);
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
    dfs_t *other;

    new_directory(NULL, "d");
    packed(dfs_local2global(file_system(), &global), &global);
    OK(dfs_local2global(file_system(), &global));
    OK(dfs_global2local(pool(), file_system_container(), 0, global, &other));
    OK(dfs_stat(other, NULL, "d", IGNORED(struct stat)));
    OK(dfs_mkdir(other, NULL, "e", 0755, 0));
    OK(dfs_umount(other));
    free(global.iov_buf);
    HOLDS(is_there(NULL, "e"));
}

CHECK(bytes_of_another_kind_are_no_mount, "bytes that dfs_local2global did not write give EINVAL")
{
    char bytes[512] = "not a mount";

    REFUSES_WITH(dfs_global2local(pool(), file_system_container(), 0, iov_of(bytes, sizeof(bytes)), IGNORED(dfs_t *)),
                 EINVAL);
}

CHECK(a_file_is_given_on_as_bytes, "dfs_obj_global2local opens what dfs_obj_local2global packed")
{
    dfs_obj_t *file = new_file(NULL, "f"), *other;
    d_iov_t global = {0};

    packed(dfs_obj_local2global(file_system(), file, &global), &global);
    OK(dfs_obj_local2global(file_system(), file, &global));
    OK(dfs_obj_global2local(file_system(), 0, global, &other));
    keep_node(other);
    free(global.iov_buf);
    write_file(other, 0, "shared");
    file_reads(file, 0, 8, "shared", 6);
}

CHECK(a_directory_is_not_given_on, "dfs_obj_local2global of what is no file gives EINVAL")
{
    REFUSES_WITH(dfs_obj_local2global(file_system(), new_directory(NULL, "d"), IGNORED(d_iov_t)), EINVAL);
}

CHECK(connect_needs_init, "dfs_connect before dfs_init gives EACCES")
{
    REFUSES_WITH(dfs_connect(pool_label(), NULL, "none", O_RDWR, NULL, IGNORED(dfs_t *)), EACCES);
}

CHECK(connect_makes_a_container, "dfs_connect with O_CREAT makes a container that is not there")
{
    const char *label = new_label();
    dfs_t *dfs;

    OK(dfs_init());
    REFUSES_WITH(dfs_connect(pool_label(), NULL, label, O_RDWR, NULL, &dfs), ENOENT);
    OK(dfs_connect(pool_label(), NULL, label, O_RDWR | O_CREAT, ATTRIBUTES(), &dfs));
    OK(dfs_mkdir(dfs, NULL, "d", 0755, 0));
    REFUSES_WITH(dfs_umount(dfs), EINVAL);
    OK(dfs_disconnect(dfs));
    OK(dfs_connect(pool_label(), NULL, label, O_RDONLY, NULL, &dfs));
    OK(dfs_stat(dfs, NULL, "d", IGNORED(struct stat)));
    OK(dfs_disconnect(dfs));
    OK(dfs_destroy(pool_label(), NULL, label, 0, NULL));
    OK(dfs_fini());
}

CHECK(disconnect_is_for_what_was_connected, "dfs_disconnect of a mount of dfs_mount gives EINVAL")
{
    REFUSES_WITH(dfs_disconnect(file_system()), EINVAL);
}
