/*
 * The file system: what stat tells, permissions, and extended attributes.
 */
#define _XOPEN_SOURCE 700
#include "dfs_check.h"

#include <stdlib.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

SUBJECT(dfs_attr);

static bool is_between(struct timespec early, struct timespec time, struct timespec late)
{
    return (early.tv_sec < time.tv_sec || (early.tv_sec == time.tv_sec && early.tv_nsec <= time.tv_nsec)) &&
           (time.tv_sec < late.tv_sec || (time.tv_sec == late.tv_sec && time.tv_nsec <= late.tv_nsec));
}

/* The present time; servers may have another clock, of which a second is allowed for. */
static struct timespec now(time_t seconds)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += seconds;
    return time;
}

CHECK(stat_tells_the_kind_and_permissions, "st_mode has the kind of an entry and the permissions it was made with")
{
    dfs_obj_t *node;

    OK(dfs_open(file_system(), NULL, "f", S_IFREG | 0640, O_RDWR | O_CREAT, 0, 0, NULL, &node));
    keep_node(node);
    new_directory(NULL, "d");
    new_link(NULL, "l", "f");
    EQUAL(stat_of("f").st_mode, S_IFREG | 0640);
    EQUAL(stat_of("d").st_mode, S_IFDIR | 0755);
    EQUAL(stat_of("l").st_mode & S_IFMT, S_IFLNK);
}

CHECK(stat_tells_the_size_of_a_file, "st_size is the number of bytes, st_blocks that of blocks of 512")
{
    write_file(new_file(NULL, "f"), 995, "12345");
    EQUAL(stat_of("f").st_size, 1000);
    EQUAL(stat_of("f").st_blocks, 2);
}

CHECK(stat_tells_the_length_of_a_link, "st_size of a link is the length of where it leads")
{
    new_link(NULL, "l", "some/where");
    EQUAL(stat_of("l").st_size, 10);
}

CHECK(stat_tells_the_owner, "user and group of an entry are those of the process that made it")
{
    new_file(NULL, "f");
    EQUAL(stat_of("f").st_uid, geteuid());
    EQUAL(stat_of("f").st_gid, getegid());
    EQUAL(stat_of("f").st_nlink, 1);
}

CHECK(stat_of_the_root_needs_no_name, "without a parent and a name dfs_stat tells of the root")
{
    struct stat found;

    OK(dfs_stat(file_system(), NULL, NULL, &found));
    HOLDS(S_ISDIR(found.st_mode));
}

CHECK(stat_of_what_is_not_there_fails, "dfs_stat of what is not there gives ENOENT")
{
    REFUSES_WITH(dfs_stat(file_system(), NULL, "missing", IGNORED(struct stat)), ENOENT);
}

CHECK(stat_tells_when_an_entry_was_made, "the times of a new entry are those of its making")
{
    struct timespec before = now(-1);

    new_file(NULL, "f");
    HOLDS(is_between(before, stat_of("f").st_mtim, now(1)));
    HOLDS(is_between(before, stat_of("f").st_ctim, now(1)));
}

CHECK(a_write_changes_the_time_of_modification, "after a write st_mtim is later than before")
{
    dfs_obj_t *file = new_file(NULL, "f");
    struct timespec made = stat_of("f").st_mtim;
    struct stat found;

    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    write_file(file, 0, "changed");
    OK(dfs_ostat(file_system(), file, &found));
    HOLDS(!is_between(found.st_mtim, made, made));
    HOLDS(is_between(made, found.st_mtim, now(1)));
}

CHECK(the_time_of_a_write_is_told_before_the_file_is_released, "after dfs_write dfs_stat tells a later st_mtim")
{
    dfs_obj_t *file = new_file(NULL, "f");
    struct stat wanted = {.st_mtim = {.tv_sec = 1000000}};

    OK(dfs_osetattr(file_system(), file, &wanted, DFS_SET_ATTR_MTIME));
    EQUAL(stat_of("f").st_mtim.tv_sec, 1000000);
    write_file(file, 0, "changed");
    HOLDS(stat_of("f").st_mtim.tv_sec > 1000000);
    HOLDS(is_between(stat_of("f").st_mtim, stat_of("f").st_ctim, now(1)));
}

CHECK(the_time_of_a_write_is_kept_when_the_file_is_released, "after dfs_release everyone sees the time of the last write")
{
    dfs_obj_t *file = new_file(NULL, "f");
    struct timespec made = stat_of("f").st_mtim;

    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    write_file(file, 0, "changed");
    release(file);
    HOLDS(!is_between(stat_of("f").st_mtim, made, made));
    HOLDS(is_between(made, stat_of("f").st_mtim, now(1)));
}

CHECK(a_new_entry_changes_the_time_of_its_directory, "st_mtim of a directory is that of the last change of its entries")
{
    dfs_obj_t *directory = new_directory(NULL, "d");
    struct timespec made = stat_of("d").st_mtim, filled;

    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    new_file(directory, "f");
    filled = stat_of("d").st_mtim;
    HOLDS(!is_between(filled, made, made));
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    OK(dfs_remove(file_system(), directory, "f", false, NULL));
    HOLDS(!is_between(stat_of("d").st_mtim, filled, filled));
}

CHECK(ostat_tells_the_same_as_stat, "dfs_ostat tells of what is open what dfs_stat tells of its entry")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "123");
    struct stat found;

    OK(dfs_ostat(file_system(), file, &found));
    EQUAL(found.st_size, 3);
    EQUAL(found.st_mode, stat_of("f").st_mode);
    EQUAL(found.st_mtim.tv_nsec, stat_of("f").st_mtim.tv_nsec);
}

CHECK(ostat_of_what_was_removed_fails, "dfs_ostat of what was removed gives ENOENT")
{
    dfs_obj_t *file = new_file(NULL, "f");
    struct stat found;

    OK(dfs_remove(file_system(), NULL, "f", false, NULL));
    REFUSES_WITH(dfs_ostat(file_system(), file, &found), ENOENT);
    new_file(NULL, "f");
    REFUSES_WITH(dfs_ostat(file_system(), file, &found), ENOENT);
}

CHECK(open_stat_takes_an_owner, "dfs_open_stat makes an entry of the user and group in stbuf, and tells of it")
{
    struct stat found = {.st_uid = 1234, .st_gid = 5678};
    dfs_obj_t *node;

    OK(dfs_open_stat(file_system(), NULL, "f", S_IFREG | 0600, O_RDWR | O_CREAT | O_EXCL, 0, 0, NULL, &node, &found));
    keep_node(node);
    EQUAL(found.st_mode, S_IFREG | 0600);
    EQUAL(stat_of("f").st_uid, 1234);
    EQUAL(stat_of("f").st_gid, 5678);
}

CHECK(chmod_changes_permissions, "dfs_chmod changes the permissions and keeps the kind")
{
    new_file(NULL, "f");
    OK(dfs_chmod(file_system(), NULL, "f", 0400));
    EQUAL(stat_of("f").st_mode, S_IFREG | 0400);
    OK(dfs_chmod(file_system(), NULL, "f", S_IFREG | 0600));
    EQUAL(stat_of("f").st_mode, S_IFREG | 0600);
}

CHECK(chmod_does_not_change_the_kind, "dfs_chmod with another kind gives EINVAL")
{
    new_file(NULL, "f");
    REFUSES_WITH(dfs_chmod(file_system(), NULL, "f", S_IFDIR | 0600), EINVAL);
}

CHECK(chmod_refuses_the_sticky_bit, "the sticky bit gives ENOTSUP")
{
    new_directory(NULL, "d");
    REFUSES_WITH(dfs_chmod(file_system(), NULL, "d", 01755), ENOTSUP);
}

CHECK(chmod_follows_links, "dfs_chmod of a link changes what it leads to")
{
    new_file(NULL, "f");
    new_link(NULL, "l", "f");
    OK(dfs_chmod(file_system(), NULL, "l", 0400));
    EQUAL(stat_of("f").st_mode, S_IFREG | 0400);
    EQUAL(stat_of("l").st_mode & S_IFMT, S_IFLNK);
}

CHECK(chmod_of_the_root_needs_no_name, "without a parent and a name dfs_chmod changes the root")
{
    struct stat found;

    OK(dfs_chmod(file_system(), NULL, NULL, 0700));
    OK(dfs_stat(file_system(), NULL, NULL, &found));
    EQUAL(found.st_mode, S_IFDIR | 0700);
}

CHECK(chown_changes_what_is_given, "dfs_chown changes user and group, -1 leaves one as it is")
{
    new_file(NULL, "f");
    gid_t group = stat_of("f").st_gid;
    OK(dfs_chown(file_system(), NULL, "f", 4321, (gid_t)-1, 0));
    EQUAL(stat_of("f").st_uid, 4321);
    EQUAL(stat_of("f").st_gid, group);
    OK(dfs_chown(file_system(), NULL, "f", (uid_t)-1, 8765, 0));
    EQUAL(stat_of("f").st_uid, 4321);
    EQUAL(stat_of("f").st_gid, 8765);
}

CHECK(chown_follows_links_unless_told_otherwise, "dfs_chown follows links, with O_NOFOLLOW it changes the link")
{
    new_file(NULL, "f");
    new_link(NULL, "l", "f");
    OK(dfs_chown(file_system(), NULL, "l", 1111, (gid_t)-1, 0));
    OK(dfs_chown(file_system(), NULL, "l", 2222, (gid_t)-1, O_NOFOLLOW));
    EQUAL(stat_of("f").st_uid, 1111);
    EQUAL(stat_of("l").st_uid, 2222);
}

CHECK(osetattr_sets_the_mode, "dfs_osetattr sets what the flags name, and tells all")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "123");
    struct stat wanted = {.st_mode = S_IFREG | 0444};

    OK(dfs_osetattr(file_system(), file, &wanted, DFS_SET_ATTR_MODE));
    EQUAL(wanted.st_size, 3);
    EQUAL(wanted.st_mode, S_IFREG | 0444);
    EQUAL(stat_of("f").st_mode, S_IFREG | 0444);
}

CHECK(osetattr_sets_the_size, "dfs_osetattr makes a file shorter or longer")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "0123456789");
    struct stat wanted = {.st_size = 4};

    OK(dfs_osetattr(file_system(), file, &wanted, DFS_SET_ATTR_SIZE));
    EQUAL(wanted.st_size, 4);
    file_holds("/f", "0123");
}

CHECK(osetattr_sets_the_time_of_modification, "a time of modification that was set stays until the next change")
{
    dfs_obj_t *file = write_file(new_file(NULL, "f"), 0, "before");
    struct stat wanted = {.st_mtim = {.tv_sec = 1000000, .tv_nsec = 7}};

    OK(dfs_osetattr(file_system(), file, &wanted, DFS_SET_ATTR_MTIME));
    EQUAL(stat_of("f").st_mtim.tv_sec, 1000000);
    EQUAL(stat_of("f").st_mtim.tv_nsec, 7);
    release(file);
    EQUAL(stat_of("f").st_mtim.tv_sec, 1000000);
    file = look_up("/f", O_RDWR);
    write_file(file, 0, "after");
    OK(dfs_ostat(file_system(), file, &wanted));
    HOLDS(wanted.st_mtim.tv_sec > 1000000);
}

CHECK(osetattr_sets_the_time_of_a_directory, "a time of modification may be set on a directory")
{
    dfs_obj_t *directory = new_directory(NULL, "d");
    struct stat wanted = {.st_mtim = {.tv_sec = 1000000}};

    new_file(directory, "f");
    OK(dfs_osetattr(file_system(), directory, &wanted, DFS_SET_ATTR_MTIME));
    EQUAL(stat_of("d").st_mtim.tv_sec, 1000000);
    new_file(directory, "g");
    HOLDS(stat_of("d").st_mtim.tv_sec > 1000000);
}

CHECK(osetattr_refuses_flags_that_it_does_not_know, "dfs_osetattr with other flags gives EINVAL")
{
    REFUSES_WITH(dfs_osetattr(file_system(), new_file(NULL, "f"), IGNORED(struct stat), 1 << 20), EINVAL);
}

CHECK(access_finds_what_is_there, "F_OK succeeds for what is there, else gives ENOENT")
{
    new_file(NULL, "f");
    OK(dfs_access(file_system(), NULL, "f", F_OK));
    OK(dfs_access(file_system(), NULL, NULL, F_OK));
    REFUSES_WITH(dfs_access(file_system(), NULL, "missing", F_OK), ENOENT);
}

CHECK(access_knows_permissions, "access that the permissions do not give is EACCES")
{
    new_file(NULL, "f");
    OK(dfs_access(file_system(), NULL, "f", R_OK | W_OK));
    REFUSES_WITH(dfs_access(file_system(), NULL, "f", X_OK), EACCES);
    OK(dfs_chmod(file_system(), NULL, "f", 0100));
    OK(dfs_access(file_system(), NULL, "f", X_OK));
    REFUSES_WITH(dfs_access(file_system(), NULL, "f", R_OK), EACCES);
    REFUSES_WITH(dfs_access(file_system(), NULL, "f", W_OK), EACCES);
}

CHECK(access_follows_links, "dfs_access of a link is about what it leads to")
{
    new_link(NULL, "l", "f");
    REFUSES_WITH(dfs_access(file_system(), NULL, "l", F_OK), ENOENT);
    new_file(NULL, "f");
    OK(dfs_access(file_system(), NULL, "l", R_OK));
    REFUSES_WITH(dfs_access(file_system(), NULL, "l", X_OK), EACCES);
}

CHECK(get_mode_tells_the_mode_of_what_is_open, "dfs_get_mode tells kind and permissions")
{
    mode_t mode = 0;

    OK(dfs_get_mode(new_file(NULL, "f"), &mode));
    EQUAL(mode, S_IFREG | 0644);
}

CHECK(an_extended_attribute_comes_back, "dfs_getxattr returns the value that dfs_setxattr put, and its size")
{
    dfs_obj_t *file = new_file(NULL, "f");
    daos_size_t size = 0;

    set_attribute(file, "user.kind", "value");
    OK(dfs_getxattr(file_system(), file, "user.kind", NULL, &size));
    EQUAL(size, 5);
    attribute_is(look_up("/f", O_RDONLY), "user.kind", "value");
}

CHECK(a_missing_extended_attribute_is_told, "dfs_getxattr of what is not there gives ENODATA")
{
    REFUSES_WITH(get_attribute(new_file(NULL, "f"), "user.kind"), ENODATA);
}

CHECK(a_small_buffer_for_an_extended_attribute_is_refused, "a buffer that is too small for a value is refused")
{
    dfs_obj_t *file = new_file(NULL, "f");
    char found[2];
    daos_size_t size = sizeof(found);

    set_attribute(file, "user.kind", "value");
    HOLDS(dfs_getxattr(file_system(), file, "user.kind", found, &size) != 0);
}

CHECK(an_extended_attribute_is_replaced, "dfs_setxattr without flags replaces a value")
{
    dfs_obj_t *file = new_file(NULL, "f");

    set_attribute(file, "user.kind", "a longer value");
    set_attribute(file, "user.kind", "short");
    attribute_is(file, "user.kind", "short");
}

CHECK(an_extended_attribute_may_have_to_be_new, "XATTR_CREATE of an attribute that is there gives EEXIST")
{
    dfs_obj_t *file = new_file(NULL, "f");

    OK(dfs_setxattr(file_system(), file, "user.kind", "value", 5, XATTR_CREATE));
    REFUSES_WITH(dfs_setxattr(file_system(), file, "user.kind", "other", 5, XATTR_CREATE), EEXIST);
}

CHECK(an_extended_attribute_may_have_to_be_there, "XATTR_REPLACE of an attribute that is not there fails")
{
    dfs_obj_t *file = new_file(NULL, "f");

    HOLDS(dfs_setxattr(file_system(), file, "user.kind", "value", 5, XATTR_REPLACE) != 0);
    set_attribute(file, "user.kind", "value");
    OK(dfs_setxattr(file_system(), file, "user.kind", "other", 5, XATTR_REPLACE));
}

CHECK(an_extended_attribute_is_removed, "after dfs_removexattr the attribute is not there")
{
    dfs_obj_t *file = new_file(NULL, "f");

    set_attribute(file, "user.kind", "value");
    OK(dfs_removexattr(file_system(), file, "user.kind"));
    REFUSES_WITH(get_attribute(file, "user.kind"), ENODATA);
    HOLDS(dfs_removexattr(file_system(), file, "user.kind") != 0);
}

CHECK(extended_attributes_are_listed, "dfs_listxattr gives the names, each with a zero, and the size of all")
{
    dfs_obj_t *file = new_file(NULL, "f");
    char list[64] = {0};
    daos_size_t size = 0;

    set_attribute(file, "user.a", "1");
    set_attribute(file, "user.bb", "2");
    OK(dfs_listxattr(file_system(), file, NULL, &size));
    EQUAL(size, 15);
    size = sizeof(list);
    OK(dfs_listxattr(file_system(), file, list, &size));
    EQUAL(size, 15);
    HOLDS(memcmp(list, "user.a\0user.bb", 15) == 0 || memcmp(list, "user.bb\0user.a", 15) == 0);
}

CHECK(directories_have_extended_attributes, "extended attributes are for entries of all kinds")
{
    dfs_obj_t *directory = new_directory(NULL, "d");

    set_attribute(directory, "user.kind", "value");
    attribute_is(directory, "user.kind", "value");
    set_attribute(look_up("/", O_RDWR), "user.root", "value");
    attribute_is(look_up("/", O_RDWR), "user.root", "value");
}

CHECK(a_long_value_of_an_extended_attribute_is_refused, "a value of more than DFS_MAX_XATTR_LEN bytes gives EINVAL")
{
    dfs_obj_t *file = new_file(NULL, "f");
    char *value = calloc(1, DFS_MAX_XATTR_LEN + 1);

    OK(dfs_setxattr(file_system(), file, "user.kind", value, DFS_MAX_XATTR_LEN, 0));
    REFUSES_WITH(dfs_setxattr(file_system(), file, "user.kind", value, DFS_MAX_XATTR_LEN + 1, 0), EINVAL);
    free(value);
}

/* The object of an open directory or file. */
static daos_obj_id_t id_of(dfs_obj_t *node)
{
    daos_obj_id_t oid;

    OK(dfs_obj2id(node, &oid));
    return oid;
}

CHECK(an_extended_attribute_is_a_value_beside_the_inode, "the attribute n of an entry is under the akey x:n")
{
    dfs_obj_t *directory = new_directory(NULL, "d");

    set_attribute(new_file(directory, "f"), "user.kind", "value");
    single_holds(open_object_in(file_system_container(), id_of(directory), DAOS_OO_RO), "f", "x:user.kind", "value");
}

CHECK(the_inode_of_an_entry_is_an_array_of_bytes, "the akey DFS_INODE has mode, object id, times, chunk size and so on, in 88 bytes")
{
    dfs_obj_t *directory = new_directory(NULL, "d"), *file = new_file(directory, "f");
    daos_handle_t object = open_object_in(file_system_container(), id_of(directory), DAOS_OO_RO);
    daos_iod_t iod = RECORDS("DFS_INODE", 1, {0, 88});
    unsigned char inode[88] = {0};
    daos_obj_id_t oid = id_of(file);
    mode_t mode;
    uint64_t chunk_size;

    OK(daos_obj_fetch(object, DAOS_TX_NONE, 0, KEY("f"), 1, &iod, BUFFER(inode, sizeof(inode)), NULL, NULL));
    memcpy(&mode, inode, sizeof(mode));
    EQUAL(mode, S_IFREG | 0644);
    BYTES(inode + 4, &oid, sizeof(oid));
    memcpy(&chunk_size, inode + 36, sizeof(chunk_size));
    EQUAL(chunk_size, DFS_DEFAULT_CHUNK_SIZE);
}
