/*
 * The file system: entries made, found, listed, moved, exchanged and removed.
 */
#define _XOPEN_SOURCE 700
#include "dfs_check.h"

#include <stdio.h>
#include <stdlib.h>

SUBJECT(dfs_name);

enum { MANY = 500 };

static int find(const char *path, int flags)
{
    dfs_obj_t *node;
    int number = dfs_lookup(file_system(), path, flags, &node, NULL, NULL);

    if (number == 0)
        keep_node(node);
    return number;
}

static int move_to(const char *name, const char *new_name)
{
    return dfs_move(file_system(), NULL, name, NULL, new_name, NULL);
}

CHECK(the_root_is_a_directory, "the path / leads to a directory")
{
    dfs_obj_t *node;
    mode_t mode = 0;

    OK(dfs_lookup(file_system(), "/", O_RDONLY, &node, &mode, NULL));
    keep_node(node);
    HOLDS(S_ISDIR(mode));
}

CHECK(mkdir_makes_a_directory, "dfs_mkdir makes an empty directory with the permissions that are given")
{
    OK(dfs_mkdir(file_system(), NULL, "d", 0750, 0));
    EQUAL(stat_of("d").st_mode, S_IFDIR | 0750);
}

CHECK(mkdir_of_what_is_there_fails, "dfs_mkdir of an entry that is there gives EEXIST")
{
    new_file(NULL, "f");
    OK(dfs_mkdir(file_system(), NULL, "d", 0755, 0));
    REFUSES_WITH(dfs_mkdir(file_system(), NULL, "d", 0755, 0), EEXIST);
    REFUSES_WITH(dfs_mkdir(file_system(), NULL, "f", 0755, 0), EEXIST);
}

CHECK(names_with_slashes_are_invalid, "a name with a slash gives EINVAL")
{
    REFUSES_WITH(dfs_mkdir(file_system(), NULL, "a/b", 0755, 0), EINVAL);
}

CHECK(names_have_255_bytes_at_most, "a name longer than DFS_MAX_NAME gives EINVAL")
{
    char name[258];

    memset(name, 'n', sizeof(name));
    name[256] = '\0';
    REFUSES_WITH(dfs_mkdir(file_system(), NULL, name, 0755, 0), EINVAL);
    name[255] = '\0';
    OK(dfs_mkdir(file_system(), NULL, name, 0755, 0));
    HOLDS(is_there(NULL, name));
}

CHECK(names_are_bytes, "a name may have any byte but a slash")
{
    new_file(NULL, "a b\n\x01\xff");
    HOLDS(is_there(NULL, "a b\n\x01\xff"));
    HOLDS(!is_there(NULL, "A B\n\x01\xff"));
}

CHECK(a_path_is_looked_up, "dfs_lookup goes from the root through directories")
{
    write_file(new_file(new_directory(new_directory(NULL, "a"), "b"), "f"), 0, "deep");
    file_holds("/a/b/f", "deep");
    file_holds("//a///b/f", "deep");
}

CHECK(a_missing_part_of_a_path_fails, "a path of which a part is not there gives ENOENT")
{
    new_directory(NULL, "a");
    REFUSES_WITH(find("/a/b", O_RDONLY), ENOENT);
    REFUSES_WITH(find("/b/a", O_RDONLY), ENOENT);
}

CHECK(a_file_within_a_path_fails, "a path through what is no directory is not found")
{
    new_file(NULL, "f");
    HOLDS(find("/f/g", O_RDONLY) != 0);
}

CHECK(a_path_must_be_absolute, "dfs_lookup of a path without a slash in front gives EINVAL")
{
    new_file(NULL, "f");
    REFUSES_WITH(find("f", O_RDONLY), EINVAL);
}

CHECK(lookup_tells_mode_and_stat, "dfs_lookup tells the mode and what stat tells, where that is wanted")
{
    dfs_obj_t *node;
    struct stat found;
    mode_t mode = 0;

    write_file(new_file(NULL, "f"), 0, "12345");
    OK(dfs_lookup(file_system(), "/f", O_RDONLY, &node, &mode, &found));
    keep_node(node);
    EQUAL(mode, S_IFREG | 0644);
    EQUAL(found.st_mode, mode);
    EQUAL(found.st_size, 5);
}

CHECK(a_name_is_looked_up_in_a_directory, "dfs_lookup_rel finds a name in an open directory")
{
    dfs_obj_t *directory = new_directory(NULL, "d"), *node;
    mode_t mode = 0;

    new_file(directory, "f");
    OK(dfs_lookup_rel(file_system(), directory, "f", O_RDWR, &node, &mode, IGNORED(struct stat)));
    write_file(keep_node(node), 0, "relative");
    HOLDS(S_ISREG(mode));
    file_holds("/d/f", "relative");
    REFUSES_WITH(dfs_lookup_rel(file_system(), directory, "g", O_RDWR, &node, NULL, NULL), ENOENT);
}

CHECK(a_link_keeps_where_it_leads, "dfs_get_symlink_value tells where a link leads, and the size with the zero")
{
    dfs_obj_t *link = new_link(NULL, "l", "some/where");
    daos_size_t size = 0;
    char found[32];

    OK(dfs_get_symlink_value(link, NULL, &size));
    EQUAL(size, 11);
    size = sizeof(found);
    OK(dfs_get_symlink_value(look_up("/l", O_RDONLY | O_NOFOLLOW), found, &size));
    EQUAL(size, 11);
    TEXT(found, "some/where");
    size = 5;
    OK(dfs_get_symlink_value(link, found, &size));
    EQUAL(size, 11);
    TEXT(found, "some");
}

CHECK(a_link_that_is_there_is_not_made_again, "a link over an entry that is there gives EEXIST")
{
    new_link(NULL, "l", "a");
    REFUSES_WITH(open_status(NULL, "l", S_IFLNK, O_RDWR | O_CREAT, "b"), EEXIST);
}

CHECK(a_link_needs_a_value, "a link without where it leads gives EINVAL")
{
    REFUSES_WITH(open_status(NULL, "l", S_IFLNK, O_RDWR | O_CREAT, NULL), EINVAL);
}

CHECK(a_link_at_the_end_of_a_path_is_followed, "dfs_lookup follows the last link of a path")
{
    dfs_obj_t *directory = new_directory(NULL, "d");

    write_file(new_file(directory, "f"), 0, "linked");
    new_link(directory, "l", "f");
    new_link(NULL, "to_d", "d/l");
    file_holds("/d/l", "linked");
    file_holds("/to_d", "linked");
}

CHECK(a_link_within_a_path_is_followed, "dfs_lookup follows links within a path")
{
    write_file(new_file(new_directory(new_directory(NULL, "a"), "b"), "f"), 0, "linked");
    new_link(NULL, "l", "a/b");
    new_link(NULL, "m", "l");
    file_holds("/l/f", "linked");
    file_holds("/m/f", "linked");
}

CHECK(a_link_may_lead_to_the_directory_above, "a link is followed from the directory in which it is")
{
    write_file(new_file(NULL, "f"), 0, "above");
    new_link(new_directory(NULL, "d"), "l", "../f");
    file_holds("/d/l", "above");
}

CHECK(a_link_in_the_root_may_be_absolute, "an absolute link in the root begins at the root")
{
    write_file(new_file(new_directory(NULL, "d"), "f"), 0, "absolute");
    new_link(NULL, "l", "/d/f");
    file_holds("/l", "absolute");
}

CHECK(the_last_link_is_not_followed_if_that_is_wanted, "O_NOFOLLOW opens the last link itself")
{
    dfs_obj_t *node;
    mode_t mode = 0;

    new_file(NULL, "f");
    new_link(NULL, "l", "f");
    OK(dfs_lookup(file_system(), "/l", O_RDONLY | O_NOFOLLOW, &node, &mode, NULL));
    keep_node(node);
    HOLDS(S_ISLNK(mode));
    OK(dfs_lookup_rel(file_system(), NULL, "l", O_RDONLY, &node, &mode, NULL));
    keep_node(node);
    HOLDS(S_ISREG(mode));
}

CHECK(a_link_to_nowhere_is_not_followed, "a link to what is not there gives ENOENT")
{
    new_link(NULL, "l", "missing");
    REFUSES_WITH(find("/l", O_RDONLY), ENOENT);
    OK(find("/l", O_RDONLY | O_NOFOLLOW));
}

CHECK(a_ring_of_links_ends, "links that lead to each other give ELOOP")
{
    new_link(NULL, "a", "b");
    new_link(NULL, "b", "a");
    REFUSES_WITH(find("/a", O_RDONLY), ELOOP);
}

/* All names of a directory, in an array of so many, sorted. */
static uint32_t names_of(dfs_obj_t *directory, uint32_t page, struct dirent *names, uint32_t room)
{
    daos_anchor_t anchor = {0};
    uint32_t count = 0;

    while (!daos_anchor_is_eof(&anchor)) {
        uint32_t nr = page;

        HOLDS(count + page <= room);
        OK(dfs_readdir(file_system(), directory, &anchor, &nr, names + count));
        HOLDS(nr <= page);
        count += nr;
    }
    return count;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(((const struct dirent *)one)->d_name, ((const struct dirent *)other)->d_name);
}

CHECK(readdir_gives_each_of_many_names_once, "pages of dfs_readdir together have each entry, and none twice")
{
    dfs_obj_t *directory = new_directory(NULL, "d");
    struct dirent *names = calloc(MANY + 64, sizeof(*names));
    char name[16];

    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "entry%04d", i);
        OK(dfs_mkdir(file_system(), directory, name, 0755, 0));
    }
    EQUAL(names_of(directory, 64, names, MANY + 64), MANY);
    qsort(names, MANY, sizeof(*names), by_name);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "entry%04d", i);
        TEXT(names[i].d_name, name);
    }
    free(names);
}

CHECK(readdir_of_an_empty_directory_ends_at_once, "dfs_readdir of an empty directory gives no entry and the end")
{
    dfs_obj_t *directory = new_directory(NULL, "d");
    struct dirent names[4];

    EQUAL(names_of(directory, 4, names, 4), 0);
}

CHECK(readdir_does_not_give_what_was_removed, "an entry that was removed is not listed")
{
    struct dirent names[8];

    new_file(NULL, "a");
    new_file(NULL, "b");
    OK(dfs_remove(file_system(), NULL, "a", false, NULL));
    EQUAL(names_of(look_up("/", O_RDONLY), 4, names, 8), 1);
    TEXT(names[0].d_name, "b");
}

CHECK(readdir_of_a_file_fails, "dfs_readdir of what is no directory gives ENOTDIR")
{
    daos_anchor_t anchor = {0};
    uint32_t nr = 1;

    REFUSES_WITH(dfs_readdir(file_system(), new_file(NULL, "f"), &anchor, &nr, IGNORED(struct dirent)), ENOTDIR);
}

CHECK(readdirplus_tells_of_each_entry, "dfs_readdirplus tells names, and what stat tells")
{
    dfs_obj_t *directory = new_directory(NULL, "d");
    daos_anchor_t anchor = {0};
    struct dirent names[4];
    struct stat stats[4];
    uint32_t nr = 4;

    write_file(new_file(directory, "f"), 0, "123");
    OK(dfs_readdirplus(file_system(), directory, &anchor, &nr, names, stats));
    EQUAL(nr, 1);
    TEXT(names[0].d_name, "f");
    EQUAL(stats[0].st_size, 3);
}

static int count_names(dfs_t *dfs, dfs_obj_t *directory, const char name[], void *argument)
{
    (void)dfs;
    (void)directory;
    *(size_t *)argument += strlen(name);
    return 0;
}

CHECK(iterate_calls_a_function_for_each_entry, "dfs_iterate calls the function once for each entry")
{
    dfs_obj_t *directory = new_directory(NULL, "d");
    daos_anchor_t anchor = {0};
    size_t bytes = 0;
    uint32_t nr = 10;

    new_file(directory, "a");
    new_file(directory, "bb");
    new_file(directory, "ccc");
    OK(dfs_iterate(file_system(), directory, &anchor, &nr, 1024, count_names, &bytes));
    EQUAL(nr, 3);
    EQUAL(bytes, 6);
    HOLDS(daos_anchor_is_eof(&anchor));
}

CHECK(remove_takes_a_file_away, "after dfs_remove the entry is not there, and its object is told")
{
    dfs_obj_t *file = new_file(NULL, "f");
    daos_obj_id_t oid, gone = {0};

    OK(dfs_obj2id(file, &oid));
    OK(dfs_remove(file_system(), NULL, "f", false, &gone));
    HOLDS(!is_there(NULL, "f"));
    HOLDS(oid.hi == gone.hi && oid.lo == gone.lo);
}

CHECK(remove_of_what_is_not_there_fails, "dfs_remove of what is not there gives ENOENT")
{
    REFUSES_WITH(dfs_remove(file_system(), NULL, "missing", false, NULL), ENOENT);
}

CHECK(remove_of_a_link_leaves_the_file, "dfs_remove of a link removes the link")
{
    write_file(new_file(NULL, "f"), 0, "stays");
    new_link(NULL, "l", "f");
    OK(dfs_remove(file_system(), NULL, "l", false, NULL));
    HOLDS(!is_there(NULL, "l"));
    file_holds("/f", "stays");
}

CHECK(a_file_made_again_is_another_one, "a file under the name of one that was removed is empty")
{
    daos_size_t size = 1;

    write_file(new_file(NULL, "f"), 0, "old");
    OK(dfs_remove(file_system(), NULL, "f", false, NULL));
    OK(dfs_get_size(file_system(), new_file(NULL, "f"), &size));
    EQUAL(size, 0);
}

CHECK(an_empty_directory_is_removed, "dfs_remove takes an empty directory away")
{
    new_directory(NULL, "d");
    OK(dfs_remove(file_system(), NULL, "d", false, NULL));
    HOLDS(!is_there(NULL, "d"));
}

CHECK(a_directory_with_entries_is_not_removed, "dfs_remove of a directory with entries gives ENOTEMPTY")
{
    write_file(new_file(new_directory(NULL, "d"), "f"), 0, "stays");
    REFUSES_WITH(dfs_remove(file_system(), NULL, "d", false, NULL), ENOTEMPTY);
    file_holds("/d/f", "stays");
    OK(dfs_remove(file_system(), look_up("/d", O_RDWR), "f", false, NULL));
    OK(dfs_remove(file_system(), NULL, "d", false, NULL));
}

CHECK(a_directory_is_removed_with_all_in_it_by_force, "dfs_remove with force removes what is in a directory, too")
{
    dfs_obj_t *directory = new_directory(NULL, "d");

    new_file(new_directory(directory, "e"), "f");
    new_link(directory, "l", "e");
    OK(dfs_remove(file_system(), NULL, "d", true, NULL));
    HOLDS(!is_there(NULL, "d"));
    HOLDS(!is_there(directory, "e"));
}

CHECK(move_gives_another_name, "after dfs_move the entry is under the new name alone")
{
    write_file(new_file(NULL, "a"), 0, "moved");
    OK(move_to("a", "b"));
    HOLDS(!is_there(NULL, "a"));
    file_holds("/b", "moved");
}

CHECK(move_goes_between_directories, "dfs_move takes an entry to another directory")
{
    dfs_obj_t *one = new_directory(NULL, "one"), *other = new_directory(NULL, "other");

    write_file(new_file(one, "f"), 0, "moved");
    OK(dfs_move(file_system(), one, "f", other, "g", NULL));
    HOLDS(!is_there(one, "f"));
    file_holds("/other/g", "moved");
}

CHECK(move_of_what_is_not_there_fails, "dfs_move of what is not there gives ENOENT")
{
    REFUSES_WITH(move_to("missing", "b"), ENOENT);
}

CHECK(move_replaces_a_file, "dfs_move over a file replaces it, and tells its object")
{
    dfs_obj_t *replaced = new_file(NULL, "b");
    daos_obj_id_t oid, gone = {0};

    write_file(replaced, 0, "a longer old text");
    OK(dfs_obj2id(replaced, &oid));
    write_file(new_file(NULL, "a"), 0, "new");
    OK(dfs_move(file_system(), NULL, "a", NULL, "b", &gone));
    HOLDS(oid.hi == gone.hi && oid.lo == gone.lo);
    HOLDS(!is_there(NULL, "a"));
    file_holds("/b", "new");
}

CHECK(move_replaces_an_empty_directory, "dfs_move of a directory over an empty one replaces it")
{
    write_file(new_file(new_directory(NULL, "a"), "f"), 0, "inside");
    new_directory(NULL, "b");
    OK(move_to("a", "b"));
    HOLDS(!is_there(NULL, "a"));
    file_holds("/b/f", "inside");
}

CHECK(move_does_not_replace_a_directory_with_entries, "dfs_move over a directory with entries gives ENOTEMPTY")
{
    new_directory(NULL, "a");
    new_file(new_directory(NULL, "b"), "f");
    REFUSES_WITH(move_to("a", "b"), ENOTEMPTY);
    HOLDS(is_there(NULL, "a"));
}

CHECK(move_does_not_put_a_file_over_a_directory, "dfs_move of a file over a directory is refused")
{
    new_file(NULL, "f");
    new_directory(NULL, "d");
    HOLDS(move_to("f", "d") != 0);
    HOLDS(is_there(NULL, "f"));
    EQUAL(stat_of("d").st_mode & S_IFMT, S_IFDIR);
}

CHECK(move_does_not_put_a_directory_over_a_file, "dfs_move of a directory over a file is refused, as by rename")
{
    write_file(new_file(NULL, "f"), 0, "stays");
    new_directory(NULL, "d");
    HOLDS(move_to("d", "f") != 0);
    file_holds("/f", "stays");
}

CHECK(move_to_the_same_name_changes_nothing, "dfs_move of an entry to where it is leaves it, as rename does")
{
    write_file(new_file(NULL, "f"), 0, "stays");
    OK(move_to("f", "f"));
    file_holds("/f", "stays");
}

CHECK(move_of_a_directory_into_itself_is_refused, "a directory is not moved into itself")
{
    dfs_obj_t *directory = new_directory(NULL, "d");

    REFUSES_WITH(dfs_move(file_system(), NULL, "d", directory, "e", NULL), EINVAL);
    HOLDS(is_there(NULL, "d"));
}

CHECK(move_of_a_link_keeps_where_it_leads, "dfs_move of a link moves the link itself")
{
    write_file(new_file(NULL, "f"), 0, "linked");
    new_link(NULL, "l", "f");
    OK(move_to("l", "m"));
    HOLDS(!is_there(NULL, "l"));
    file_holds("/m", "linked");
}

CHECK(move_keeps_extended_attributes, "extended attributes move with the entry")
{
    set_attribute(new_file(NULL, "a"), "user.kind", "value");
    OK(move_to("a", "b"));
    attribute_is(look_up("/b", O_RDONLY), "user.kind", "value");
}

CHECK(move_does_not_keep_attributes_of_what_it_replaces, "what is replaced is gone with its extended attributes")
{
    set_attribute(new_file(NULL, "b"), "user.old", "value");
    new_file(NULL, "a");
    OK(move_to("a", "b"));
    REFUSES_WITH(get_attribute(look_up("/b", O_RDONLY), "user.old"), ENODATA);
}

CHECK(a_handle_may_be_told_of_a_move, "dfs_update_parent gives an open handle its new place")
{
    dfs_obj_t *file = new_file(NULL, "a");
    struct stat found;

    OK(move_to("a", "b"));
    REFUSES_WITH(dfs_ostat(file_system(), file, &found), ENOENT);
    OK(dfs_update_parent(file, file, "b"));
    OK(dfs_ostat(file_system(), file, &found));
}

CHECK(exchange_swaps_two_files, "after dfs_exchange each file is under the other's name")
{
    write_file(new_file(NULL, "a"), 0, "was a");
    write_file(new_file(NULL, "b"), 0, "was b");
    OK(dfs_exchange(file_system(), NULL, "a", NULL, "b"));
    file_holds("/a", "was b");
    file_holds("/b", "was a");
}

CHECK(exchange_swaps_a_file_and_a_directory, "dfs_exchange swaps entries of any kinds, in any directories")
{
    dfs_obj_t *directory = new_directory(NULL, "d");

    write_file(new_file(new_directory(directory, "e"), "f"), 0, "inside");
    write_file(new_file(NULL, "g"), 0, "file");
    OK(dfs_exchange(file_system(), NULL, "g", directory, "e"));
    file_holds("/g/f", "inside");
    file_holds("/d/e", "file");
}

CHECK(exchange_needs_both, "dfs_exchange with what is not there fails and changes nothing")
{
    write_file(new_file(NULL, "a"), 0, "stays");
    HOLDS(dfs_exchange(file_system(), NULL, "a", NULL, "missing") != 0);
    HOLDS(dfs_exchange(file_system(), NULL, "missing", NULL, "a") != 0);
    file_holds("/a", "stays");
}
