/* Selections of every kind, together and alone: each rank has its own, some have none. */
#include "parallel.h"

enum { ROWS = 24, COLUMNS = 30 };

typedef void (*choose)(hid_t space, int of);

static void columns(hid_t space, int of)
{
    hsize_t start[2] = {0, (hsize_t)of}, stride[2] = {1, (hsize_t)size}, count[2] = {ROWS, (hsize_t)((COLUMNS - of + size - 1) / size)};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
}

static void blocks(hid_t space, int of)
{
    hsize_t start[2] = {0, (hsize_t)of * 2}, stride[2] = {3, (hsize_t)size * 2}, count[2] = {8, 2}, block[2] = {2, 2};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, block);
}

static void corners(hid_t space, int of)
{
    hsize_t start[2] = {(hsize_t)of, 0}, stride[2] = {(hsize_t)size, 1}, count[2] = {2, 7}, other[2] = {(hsize_t)of, 20};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_OR, other, stride, count, NULL);
}

static void without(hid_t space, int of)
{
    hsize_t start[2] = {(hsize_t)of * 4, 2}, count[2] = {4, 20}, hole[2] = {(hsize_t)of * 4 + 1, 5}, lengths[2] = {2, 9};
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_NOTB, hole, NULL, lengths, NULL);
}

static void points(hid_t space, int of)
{
    hsize_t places[6][2];
    for (int i = 0; i < 6; i++) {
        places[i][0] = (hsize_t)((5 * i + 7 * of) % ROWS);
        places[i][1] = (hsize_t)(of + size * i);
    }
    H5Sselect_elements(space, H5S_SELECT_SET, 6, (const hsize_t *)places);
}

static void only_one(hid_t space, int of)
{
    if (of == size - 1)
        H5Sselect_all(space);
    else
        H5Sselect_none(space);
}

static void odd_ranks(hid_t space, int of)
{
    hsize_t start[2] = {(hsize_t)of * 3, 0}, count[2] = {3, COLUMNS};
    if (of % 2)
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    else
        H5Sselect_none(space);
}

static void nobody(hid_t space, int of)
{
    (void)of;
    H5Sselect_none(space);
}

static const struct {
    const char *name;
    choose choose;
} KINDS[] = {
    {"columns", columns}, {"blocks", blocks},     {"two corners", corners},    {"blocks with holes", without},
    {"points", points},   {"one rank", only_one}, {"odd ranks", odd_ranks},    {"no rank", nobody},
};

static void kind(hid_t file, size_t at, hsize_t chunk_rows, hsize_t chunk_columns, bool is_collective)
{
    char name[64];
    snprintf(name, sizeof name, "%s %d %s", KINDS[at].name, (int)chunk_rows, mode(is_collective));
    hid_t dataset = grid(file, name, ROWS, COLUMNS, chunk_rows, chunk_columns, false), own = H5Dget_space(dataset);
    hid_t other = H5Dget_space(dataset);
    KINDS[at].choose(own, rank);
    KINDS[at].choose(other, (rank + 1) % size);
    check(write_selected(dataset, own, 11, is_collective), "write %s", name);
    if (!is_collective)
        DONE(H5Fflush(file, H5F_SCOPE_LOCAL), "flush");
    check(holds(dataset, other, 11, is_collective), "read those of the next rank");
    int values[ROWS * COLUMNS], sum = 0;
    check(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, transfer(true), values) >= 0, "read all");
    for (int i = 0; i < ROWS * COLUMNS; i++)
        sum += values[i];
    show("sum", sum);
    H5Sclose(own);
    H5Sclose(other);
    H5Dclose(dataset);
}

/* A selection of the program's buffer, and none of it with no buffer. */
static void in_memory(hid_t file)
{
    hid_t dataset = grid(file, "memory", (hsize_t)size, 8, 1, 4, false), space = H5Dget_space(dataset), memory;
    hsize_t start[2] = {(hsize_t)rank, 0}, count[2] = {1, 8}, room = 40, from = 3, stride = 4, eight = 8;
    int values[40], got[40];
    for (int i = 0; i < 40; i++) {
        values[i] = -i;
        got[i] = 1000;
    }
    for (int i = 0; i < 8; i++)
        values[3 + 4 * i] = rank * 8 + i + 2;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
    memory = H5Screate_simple(1, &room, NULL);
    H5Sselect_hyperslab(memory, H5S_SELECT_SET, &from, &stride, &eight, NULL);
    DONE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, transfer(true), values), "write every fourth of a buffer");
    check(holds_all(dataset, 2, true), "all ranks read it");
    DONE(H5Dread(dataset, H5T_NATIVE_INT, memory, space, transfer(true), got), "read into every fourth");
    check(got[3] == rank * 8 + 2 && got[31] == rank * 8 + 9 && got[4] == 1000, "the rest of the buffer is as it was");
    H5Sselect_none(memory);
    H5Sselect_none(space);
    DONE(H5Dwrite(dataset, H5T_NATIVE_INT, memory, space, transfer(true), NULL), "write nothing, from no buffer");
    DONE(H5Dread(dataset, H5T_NATIVE_INT, memory, space, transfer(true), NULL), "read nothing, to no buffer");
    check(holds_all(dataset, 2, true), "nothing has changed");
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
}

void check_selections(void)
{
    hid_t file = shared_file("selections.h5");
    for (size_t at = 0; at < sizeof KINDS / sizeof KINDS[0]; at++)
        for (int is_collective = 1; is_collective >= 0; is_collective--) {
            kind(file, at, 0, 0, is_collective);
            kind(file, at, 5, 7, is_collective);
        }
    in_memory(file);
    DONE(H5Fclose(file), "close");
    file = open_shared("selections.h5", false);
    for (size_t at = 0; at < sizeof KINDS / sizeof KINDS[0]; at++) {
        char name[64];
        snprintf(name, sizeof name, "%s 5 together", KINDS[at].name);
        hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), own = H5Dget_space(dataset);
        KINDS[at].choose(own, rank);
        check(holds(dataset, own, 11, true), "%s are there after opening", name);
        H5Sclose(own);
        H5Dclose(dataset);
    }
    DONE(H5Fclose(file), "close");
}
