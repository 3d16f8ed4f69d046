/*
 * What the checks of the file system share: the mount of a check, and small files, directories and links. See dfs_check.h.
 */
#define _XOPEN_SOURCE 700
#include "dfs_check.h"

enum { NODES_MAX = 64, TEXT_MAX = 256 };

static struct {
    dfs_t *mounted;
    daos_handle_t container;
    dfs_obj_t *nodes[NODES_MAX];
    size_t count;
} left;

dfs_t *file_system(void)
{
    if (left.mounted == NULL) {
        dfs_attr_t attributes = {.da_props = redundancy_zero()};

        OK(dfs_cont_create_with_label(pool(), new_label(), &attributes, NULL, &left.container, &left.mounted));
        keep(KEPT_CONTAINER, left.container);
    }
    return left.mounted;
}

daos_handle_t file_system_container(void)
{
    file_system();
    return left.container;
}

dfs_obj_t *keep_node(dfs_obj_t *node)
{
    HOLDS(node != NULL && left.count < NODES_MAX);
    return left.nodes[left.count++] = node;
}

void release(dfs_obj_t *node)
{
    for (size_t i = left.count; i-- > 0;)
        if (left.nodes[i] == node)
            left.nodes[i] = left.nodes[--left.count];
    OK(dfs_release(node));
}

void dfs_clean_up(void)
{
    // The numbers are not looked at: the check has ended.
    while (left.count > 0)
        dfs_release(left.nodes[--left.count]);
    if (left.mounted != NULL)
        dfs_umount(left.mounted);
    left.mounted = NULL;
}

static dfs_obj_t *made(dfs_obj_t *parent, const char *name, mode_t mode, const char *target)
{
    dfs_obj_t *node = NULL;

    OK(dfs_open(file_system(), parent, name, mode, O_RDWR | O_CREAT | O_EXCL, 0, 0, target, &node));
    return keep_node(node);
}

int open_status(dfs_obj_t *parent, const char *name, mode_t mode, int flags, const char *target)
{
    return dfs_open(file_system(), parent, name, mode, flags, 0, 0, target, IGNORED(dfs_obj_t *));
}

dfs_obj_t *new_file(dfs_obj_t *parent, const char *name)
{
    return made(parent, name, S_IFREG | 0644, NULL);
}

dfs_obj_t *new_directory(dfs_obj_t *parent, const char *name)
{
    return made(parent, name, S_IFDIR | 0755, NULL);
}

dfs_obj_t *new_link(dfs_obj_t *parent, const char *name, const char *target)
{
    return made(parent, name, S_IFLNK, target);
}

dfs_obj_t *look_up(const char *path, int flags)
{
    dfs_obj_t *node = NULL;

    OK(dfs_lookup(file_system(), path, flags, &node, NULL, NULL));
    return keep_node(node);
}

bool is_there(dfs_obj_t *parent, const char *name)
{
    struct stat found;
    int number = dfs_stat(file_system(), parent, name, &found);

    HOLDS(number == 0 || number == ENOENT);
    return number == 0;
}

dfs_obj_t *write_file(dfs_obj_t *file, uint64_t offset, const char *text)
{
    OK(dfs_write(file_system(), file, BUFFER(text, strlen(text)), offset, NULL));
    return file;
}

daos_size_t read_bytes(dfs_obj_t *file, uint64_t offset, void *bytes, size_t size)
{
    daos_size_t found = 0;

    OK(dfs_read(file_system(), file, BUFFER(bytes, size), offset, &found, NULL));
    return found;
}

void file_reads(dfs_obj_t *file, uint64_t offset, size_t room, const char *expected, size_t count)
{
    char found[TEXT_MAX];

    memset(found, 'x', sizeof(found));
    EQUAL(read_bytes(file, offset, found, room), count);
    BYTES(found, expected, count);
    for (size_t i = count; i < room; i++)
        EQUAL(found[i], 'x');
}

void file_holds(const char *path, const char *text)
{
    char found[TEXT_MAX] = {0};

    EQUAL(read_bytes(look_up(path, O_RDONLY), 0, found, sizeof(found) - 1), strlen(text));
    TEXT(found, text);
}

void set_attribute(dfs_obj_t *node, const char *name, const char *value)
{
    OK(dfs_setxattr(file_system(), node, name, value, strlen(value), 0));
}

void attribute_is(dfs_obj_t *node, const char *name, const char *value)
{
    char found[TEXT_MAX] = {0};
    daos_size_t size = sizeof(found) - 1;

    OK(dfs_getxattr(file_system(), node, name, found, &size));
    EQUAL(size, strlen(value));
    TEXT(found, value);
}

int get_attribute(dfs_obj_t *node, const char *name)
{
    return dfs_getxattr(file_system(), node, name, NULL, IGNORED(daos_size_t));
}

struct stat stat_of(const char *name)
{
    struct stat found;

    OK(dfs_stat(file_system(), NULL, name, &found));
    return found;
}
