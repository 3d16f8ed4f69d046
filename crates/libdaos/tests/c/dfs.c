/* The file system with several processes: each does its part when it reads a line, which says when, and prints what it succeeded with.
 *
 *   dfs make POOL CONTAINER COUNT          makes the container, and in it directories d0... and files s0...
 *   dfs create POOL CONTAINER COUNT        makes files r0..., each only if there is none
 *   dfs fill POOL CONTAINER COUNT          makes a file in each of the directories, which it opened before
 *   dfs empty POOL CONTAINER COUNT         removes each of the directories that is empty
 *   dfs steal POOL CONTAINER COUNT NAME    moves the files to names of its own
 *   dfs share POOL CONTAINER               writes a file, prints mount and file for others, and reads what they wrote
 *   dfs take POOL CONTAINER MOUNT FILE     reads that file, and writes an answer behind it
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <time.h>

#include <daos_fs.h>

#include "fixtures.h"

enum { GLOBAL_SIZE = 1024, COUNT_MAX = 1000, MICROSECONDS = 2000 };

static daos_handle_t pool, container;
static dfs_t *dfs;
/* When the first entry is to be done, in microseconds since 1970. */
static long long start;

static void wait_for_line(void)
{
    char line[32];

    printf("ready\n");
    fflush(stdout);
    if (fgets(line, sizeof(line), stdin) == NULL)
        exit(1);
    start = atoll(line);
}

/* Waits until it is time for an entry, so that all processes come to it at once. */
static void wait_for_turn(int entry)
{
    struct timespec now;

    do
        clock_gettime(CLOCK_REALTIME, &now);
    while (now.tv_sec * 1000000LL + now.tv_nsec / 1000 < start + entry * MICROSECONDS);
}

/* Prints a name if the call succeeded; it may only fail with the number that is given. */
static void tell(int number, int allowed, const char *name)
{
    if (number == 0)
        printf("%s\n", name);
    else if (number != allowed)
        must(number, name, __LINE__);
}

static void print_packed(d_iov_t global)
{
    for (uint64_t i = 0; i < global.iov_len; i++)
        printf("%02x", ((unsigned char *)global.iov_buf)[i]);
    printf("\n");
}

static d_iov_t parsed(const char *digits)
{
    static unsigned char bytes[2][GLOBAL_SIZE];
    static int turn;
    size_t length = strlen(digits) / 2;
    unsigned char *to = bytes[turn++ % 2];

    for (size_t i = 0; i < length; i++)
        sscanf(digits + 2 * i, "%2hhx", &to[i]);
    return iov_of(to, length);
}

static void make(int count)
{
    char name[32];

    for (int i = 0; i < count; i++) {
        dfs_obj_t *file;

        snprintf(name, sizeof(name), "d%d", i);
        MUST(dfs_mkdir(dfs, NULL, name, 0755, 0));
        snprintf(name, sizeof(name), "s%d", i);
        MUST(dfs_open(dfs, NULL, name, S_IFREG | 0644, O_RDWR | O_CREAT | O_EXCL, 0, 0, NULL, &file));
        MUST(dfs_release(file));
    }
}

static void create(int count)
{
    char name[32];

    wait_for_line();
    for (int i = 0; i < count; i++) {
        dfs_obj_t *file;
        int number;

        snprintf(name, sizeof(name), "r%d", i);
        wait_for_turn(i);
        number = dfs_open(dfs, NULL, name, S_IFREG | 0644, O_RDWR | O_CREAT | O_EXCL, 0, 0, NULL, &file);
        tell(number, EEXIST, name);
        if (number == 0)
            MUST(dfs_release(file));
    }
}

static void fill(int count)
{
    static dfs_obj_t *directories[COUNT_MAX];
    char name[32];

    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        MUST(dfs_lookup_rel(dfs, NULL, name, O_RDWR, &directories[i], NULL, NULL));
    }
    wait_for_line();
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        wait_for_turn(i);
        tell(dfs_mkdir(dfs, directories[i], "entry", 0755, 0), ENOENT, name);
    }
}

static void empty(int count)
{
    char name[32];

    wait_for_line();
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        wait_for_turn(i);
        tell(dfs_remove(dfs, NULL, name, false, NULL), ENOTEMPTY, name);
    }
}

static void steal(int count, const char *thief)
{
    char name[32], mine[64];

    wait_for_line();
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "s%d", i);
        snprintf(mine, sizeof(mine), "%s.%s", thief, name);
        wait_for_turn(i);
        tell(dfs_move(dfs, NULL, name, NULL, mine, NULL), ENOENT, name);
    }
}

static void write_at(dfs_obj_t *file, uint64_t offset, const char *text)
{
    MUST(dfs_write(dfs, file, LIST(text, strlen(text)), offset, NULL));
}

static void print_text(dfs_obj_t *file)
{
    char found[64] = {0};
    daos_size_t size = 0;

    MUST(dfs_read(dfs, file, LIST(found, sizeof(found) - 1), 0, &size, NULL));
    printf("%s\n", found);
}

static void share(void)
{
    char buffer[GLOBAL_SIZE];
    d_iov_t global = iov_of(buffer, sizeof(buffer));
    dfs_obj_t *file;

    MUST(dfs_open(dfs, NULL, "shared", S_IFREG | 0644, O_RDWR | O_CREAT | O_EXCL, 0, 0, NULL, &file));
    write_at(file, 0, "question");
    MUST(dfs_local2global(dfs, &global));
    print_packed(global);
    global = iov_of(buffer, sizeof(buffer));
    MUST(dfs_obj_local2global(dfs, file, &global));
    print_packed(global);
    wait_for_line();
    print_text(file);
    MUST(dfs_release(file));
}

static void take(const char *mount, const char *packed)
{
    dfs_obj_t *file;

    MUST(dfs_umount(dfs));
    MUST(dfs_global2local(pool, container, 0, parsed(mount), &dfs));
    MUST(dfs_obj_global2local(dfs, 0, parsed(packed), &file));
    print_text(file);
    write_at(file, 8, ", answer");
    MUST(dfs_release(file));
}

int main(int argc, char **argv)
{
    const char *what = argc > 3 ? argv[1] : "";
    int count = argc > 4 ? atoi(argv[4]) : 0;

    pool = begin(argv[2]);
    if (strcmp(what, "make") == 0) {
        MUST(dfs_cont_create_with_label(pool, argv[3], NULL, NULL, &container, &dfs));
        make(count);
    } else {
        container = open_container(pool, argv[3]);
        MUST(dfs_mount(pool, container, O_RDWR, &dfs));
        if (strcmp(what, "create") == 0)
            create(count);
        else if (strcmp(what, "fill") == 0)
            fill(count);
        else if (strcmp(what, "empty") == 0)
            empty(count);
        else if (strcmp(what, "steal") == 0)
            steal(count, argv[5]);
        else if (strcmp(what, "share") == 0)
            share();
        else
            take(argv[4], argv[5]);
    }
    MUST(dfs_umount(dfs));
    MUST(daos_cont_close(container, NULL));
    return end(pool);
}
