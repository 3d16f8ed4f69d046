/* What a read or write of a file tells itself, and what its event tells.
 *
 *   dfs_events POOL
 */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <daos_fs.h>

#include "fixtures.h"

static daos_handle_t queue;
static daos_event_t event;

/* That a call with an event refused it, and the event may be used. */
#define REFUSED(called, number)                                                                                        \
    do {                                                                                                               \
        IS(called, number);                                                                                            \
        IS(daos_eq_query(queue, DAOS_EQR_COMPLETED | DAOS_EQR_WAITING, 0, NULL), 0);                                   \
    } while (0)

/* That a call with an event gave this number in the event. */
#define ENDED(called, number)                                                                                          \
    do {                                                                                                               \
        daos_event_t *ended;                                                                                           \
        IS(called, 0);                                                                                                 \
        IS(daos_eq_poll(queue, 1, DAOS_EQ_WAIT, 1, &ended), 1);                                                        \
        IS(event.ev_error, number);                                                                                    \
    } while (0)

/* What is wrong with the arguments is told by the call of a file system's, and a failure of the rest by the event. */
static void files(dfs_t *dfs, dfs_t *read_only, dfs_obj_t *directory)
{
    dfs_obj_t *reader, *writer, *seen;
    char bytes[4] = "text";
    daos_size_t size = 7;
    d_sg_list_t *list = LIST(bytes, sizeof(bytes));
    daos_range_t range = {.rg_idx = 0, .rg_len = 4};
    dfs_iod_t all = {.iod_nr = 1, .iod_rgs = &range}, none = {.iod_nr = 0};

    IS(dfs_open(dfs, NULL, "f", S_IFREG | 0644, O_CREAT | O_WRONLY, 0, 0, NULL, &writer), 0);
    IS(dfs_open(dfs, NULL, "f", S_IFREG | 0644, O_RDONLY, 0, 0, NULL, &reader), 0);
    IS(dfs_lookup(read_only, "/f", O_RDONLY, &seen, NULL, NULL), 0);
    IS(daos_event_init(&event, queue, NULL), 0);

    REFUSED(dfs_read(NULL, reader, list, 0, &size, &event), EINVAL);
    REFUSED(dfs_read(dfs, NULL, list, 0, &size, &event), EINVAL);
    REFUSED(dfs_read(dfs, directory, list, 0, &size, &event), EINVAL);
    REFUSED(dfs_read(dfs, reader, NULL, 0, &size, &event), EINVAL);
    REFUSED(dfs_read(dfs, reader, list, 0, NULL, &event), EINVAL);
    REFUSED(dfs_read(dfs, writer, list, 0, &size, &event), EPERM);
    REFUSED(dfs_readx(dfs, writer, &all, list, &size, &event), EPERM);
    REFUSED(dfs_readx(dfs, reader, NULL, list, &size, &event), EINVAL);
    REFUSED(dfs_readx(dfs, reader, &all, list, NULL, &event), EINVAL);
    REFUSED(dfs_write(NULL, writer, list, 0, &event), EINVAL);
    REFUSED(dfs_write(dfs, NULL, list, 0, &event), EINVAL);
    REFUSED(dfs_write(dfs, directory, list, 0, &event), EINVAL);
    REFUSED(dfs_write(dfs, reader, list, 0, &event), EPERM);
    REFUSED(dfs_write(read_only, seen, list, 0, &event), EPERM);
    REFUSED(dfs_writex(dfs, reader, &all, list, &event), EPERM);
    REFUSED(dfs_writex(dfs, writer, NULL, list, &event), EINVAL);

    range.rg_len = 3;
    ENDED(dfs_writex(dfs, writer, &all, list, &event), EINVAL);
    ENDED(dfs_readx(dfs, reader, &all, list, &size, &event), EINVAL);
    range.rg_len = 4;
    ENDED(dfs_writex(dfs, writer, &all, list, &event), 0);
    ENDED(dfs_write(dfs, writer, list, 4, &event), 0);
    ENDED(dfs_write(dfs, writer, NULL, 0, &event), 0);

    /* Without ranges nothing is looked at. */
    IS(size, 7);
    IS(dfs_readx(dfs, reader, &none, NULL, &size, NULL), 0);
    IS(dfs_readx(dfs, reader, &none, list, &size, NULL), 0);
    ENDED(dfs_readx(dfs, reader, &none, NULL, &size, &event), 0);
    IS(size, 7);
    IS(dfs_writex(dfs, writer, &none, NULL, NULL), 0);
    IS(dfs_writex(dfs, writer, &none, list, NULL), 0);
    ENDED(dfs_writex(dfs, writer, &none, NULL, &event), 0);
    ENDED(dfs_readx(dfs, reader, &all, list, &size, &event), 0);
    IS(size, 4);
    IS(dfs_get_size(dfs, reader, &size), 0);
    IS(size, 8);

    IS(daos_event_fini(&event), 0);
    IS(dfs_release(seen), 0);
    IS(dfs_release(writer), 0);
    IS(dfs_release(reader), 0);
}

int main(int argc, char **argv)
{
    daos_handle_t container;
    dfs_t *dfs, *read_only;
    dfs_obj_t *directory;

    if (argc != 2)
        return 2;
    /* A poll that does not end is a failure, too. */
    alarm(60);
    daos_handle_t pool = begin(argv[1]);
    IS(daos_eq_create(&queue), 0);
    IS(dfs_cont_create_with_label(pool, "files", NULL, NULL, &container, &dfs), 0);
    IS(dfs_mount(pool, container, O_RDONLY, &read_only), 0);
    IS(dfs_open(dfs, NULL, "d", S_IFDIR | 0755, O_CREAT | O_RDWR, 0, 0, NULL, &directory), 0);
    files(dfs, read_only, directory);
    IS(dfs_release(directory), 0);
    IS(dfs_umount(read_only), 0);
    IS(dfs_umount(dfs), 0);
    IS(daos_cont_close(container, NULL), 0);
    IS(daos_cont_destroy(pool, "files", 0, NULL), 0);
    IS(daos_eq_destroy(queue, 0), 0);
    return end(pool);
}
