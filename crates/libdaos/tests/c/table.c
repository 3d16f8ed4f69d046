/* Hash tables as benchmarks use them for the handles of folders: once without references, as long as the table is there,
 * and once with a table from which each record is taken out by who is its last user. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <daos.h>
#include <gurt/common.h>
#include <gurt/hash.h>

#include "expect.h"

static int freed;

struct folder {
    int users;
    d_list_t entry;
    char name[64];
};

static struct folder *of(d_list_t *link)
{
    return container_of(link, struct folder, entry);
}

static struct folder *new_folder(const char *name)
{
    struct folder *folder = calloc(1, sizeof(*folder));
    assert(folder != NULL);
    strncpy(folder->name, name, sizeof(folder->name) - 1);
    return folder;
}

static bool key_cmp(struct d_hash_table *table, d_list_t *link, const void *key, unsigned int size)
{
    (void)table;
    return strlen(of(link)->name) == size && memcmp(of(link)->name, key, size) == 0;
}

static uint32_t rec_hash(struct d_hash_table *table, d_list_t *link)
{
    (void)table;
    return d_hash_string_u32(of(link)->name, (unsigned int)strlen(of(link)->name));
}

static void rec_addref(struct d_hash_table *table, d_list_t *link)
{
    (void)table;
    of(link)->users++;
}

static bool rec_decref(struct d_hash_table *table, d_list_t *link)
{
    (void)table;
    return --of(link)->users == 0;
}

static bool rec_last(struct d_hash_table *table, d_list_t *link)
{
    (void)table;
    (void)link;
    return true;
}

static void rec_free(struct d_hash_table *table, d_list_t *link)
{
    (void)table;
    IS(d_hash_rec_unlinked(link), true);
    freed++;
    free(of(link));
}

static d_hash_table_ops_t with_references = {.hop_key_cmp = key_cmp,
                                             .hop_rec_hash = rec_hash,
                                             .hop_rec_addref = rec_addref,
                                             .hop_rec_decref = rec_decref,
                                             .hop_rec_free = rec_free};

static int insert(struct d_hash_table *table, struct folder *folder)
{
    return d_hash_rec_insert(table, folder->name, (unsigned int)strlen(folder->name), &folder->entry, true);
}

static int count(d_list_t *link, void *argument)
{
    IS(strlen(of(link)->name) > 0, 1);
    return ++*(int *)argument == 1000 ? 7 : 0;
}

static void filled(struct d_hash_table *table, int number)
{
    char name[64];
    for (int i = 0; i < number; i++) {
        snprintf(name, sizeof(name), "/folder/%d", i);
        IS(insert(table, new_folder(name)), 0);
    }
}

/* Who finds a record uses it; the table uses its records, too. */
static void counted(void)
{
    struct d_hash_table table;
    int number = 0;
    d_list_t *link;
    freed = 0;
    IS(d_hash_table_create_inplace(D_HASH_FT_RWLOCK, 4, &number, &with_references, &table), 0);
    IS(table.ht_priv == &number && table.ht_ops == &with_references && table.ht_bits == 4, 1);
    IS(d_hash_table_is_empty(&table), true);
    IS(d_hash_rec_first(&table) == NULL, 1);
    filled(&table, 500);
    IS(d_hash_table_traverse(&table, count, &number), 0);
    IS(number, 500);
    number = 900;
    IS(d_hash_table_traverse(&table, count, &number), 7);
    IS(d_hash_table_traverse(&table, NULL, NULL), -DER_INVAL);

    link = d_hash_rec_find(&table, "/folder/77", 10);
    IS(link != NULL && strcmp(of(link)->name, "/folder/77") == 0 && of(link)->users == 2, 1);
    IS(d_hash_rec_find(&table, "/folder/770", 11) == NULL, 1);
    struct folder *same = new_folder("/folder/77"), *other = new_folder("/folder/other");
    IS(insert(&table, same), -DER_EXIST);
    IS(d_hash_rec_find_insert(&table, same->name, 10, &same->entry) == link, 1);
    free(same);
    IS(of(link)->users, 3);
    IS(d_hash_rec_find_insert(&table, other->name, 13, &other->entry) == &other->entry, 1);
    IS(other->users, 1);
    d_hash_rec_decref(&table, link);
    d_hash_rec_addref(&table, link);
    IS(d_hash_rec_ndecref(&table, 1, link), 0);
    IS(d_hash_rec_delete(&table, "/folder/77", 10), true);
    IS(d_hash_rec_delete(&table, "/folder/77", 10), false);
    IS(freed, 0);
    IS(d_hash_rec_unlinked(link), true);
    d_hash_rec_decref(&table, link);
    IS(freed, 1);
    IS(d_hash_rec_delete_at(&table, &other->entry), true);
    IS(freed, 2);
    IS(d_hash_table_destroy_inplace(&table, false), -DER_BUSY);
    IS(d_hash_table_destroy_inplace(&table, true), 0);
    IS(freed, 501);
    IS(d_hash_table_traverse(&table, count, &number), -DER_UNINIT);
}

/* The first decref takes a record out, as a program does at its end with all of them. */
static void ephemeral(void)
{
    static d_hash_table_ops_t ops = {
        .hop_key_cmp = key_cmp, .hop_rec_decref = rec_last, .hop_rec_free = rec_free, .hop_rec_hash = rec_hash};
    struct d_hash_table *table = NULL;
    d_list_t *link;
    freed = 0;
    IS(d_hash_table_create(D_HASH_FT_EPHEMERAL | D_HASH_FT_NOLOCK | D_HASH_FT_LRU, 2, NULL, &ops, &table), 0);
    filled(table, 100);
    IS(d_hash_rec_find(table, "/folder/5", 9) != NULL, 1);
    IS(d_hash_table_destroy(table, false), -DER_BUSY);
    while ((link = d_hash_rec_first(table)) != NULL)
        d_hash_rec_decref(table, link);
    IS(freed, 100);
    IS(d_hash_table_destroy(table, false), 0);
}

/* The oldest form: no references at all, and the default hash and lock. */
static void plain(void)
{
    static d_hash_table_ops_t ops = {.hop_key_cmp = key_cmp, .hop_rec_free = rec_free};
    struct d_hash_table *table = NULL;
    freed = 0;
    IS(d_hash_table_create(0, 16, NULL, &ops, &table), 0);
    struct folder *folder = new_folder("/");
    IS(insert(table, folder), 0);
    IS(d_hash_rec_find(table, "/", 1) == &folder->entry, 1);
    IS(d_hash_rec_find(table, NULL, 1) == NULL && d_hash_rec_find(table, "/", 0) == NULL, 1);
    IS(d_hash_table_destroy(table, true), 0);
    IS(freed, 0);
    free(folder);
    ops.hop_key_cmp = NULL;
    IS(d_hash_table_create(0, 4, NULL, &ops, &table), -DER_INVAL);
    IS(table == NULL, 1);
    IS(d_hash_table_create(0, 4, NULL, NULL, &table), -DER_INVAL);
}

enum { EACH = 20000 };

static void *use(void *argument)
{
    struct d_hash_table *table = argument;
    char name[64];
    for (int i = 0; i < EACH; i++) {
        snprintf(name, sizeof(name), "/folder/%d", i % 50);
        unsigned int size = (unsigned int)strlen(name);
        struct folder *mine = new_folder(name);
        mine->users = 1;
        d_list_t *link = d_hash_rec_find_insert(table, name, size, &mine->entry);
        d_hash_rec_decref(table, link);
        if (link != &mine->entry)
            free(mine);
        if (i % 3 == 0)
            d_hash_rec_delete(table, name, size);
    }
    return NULL;
}

/* Threads find, insert and delete the same records; none is freed twice or lost. */
static void by_threads(void)
{
    struct d_hash_table *table = NULL;
    pthread_t threads[4];
    IS(d_hash_table_create(D_HASH_FT_MUTEX, 3, NULL, &with_references, &table), 0);
    for (int i = 0; i < 4; i++)
        IS(pthread_create(&threads[i], NULL, use, table), 0);
    for (int i = 0; i < 4; i++)
        IS(pthread_join(threads[i], NULL), 0);
    IS(d_hash_table_destroy(table, true), 0);
}

int main(void)
{
    const unsigned char bytes[] = "The quick brown fox jumps over the lazy dog";
    IS(d_hash_string_u32("", 0), 5381);
    IS(d_hash_string_u32("a", 1), 177670);
    IS(d_hash_murmur64(bytes, 0, 0), 0);
    /* The same bytes at another address, and with another seed. */
    unsigned char moved[64];
    memcpy(moved + 1, bytes, 43);
    IS(d_hash_murmur64(bytes, 43, 0xDEAD10CC) == d_hash_murmur64(moved + 1, 43, 0xDEAD10CC), 1);
    IS(d_hash_murmur64(bytes, 43, 0xDEAD10CC) != d_hash_murmur64(bytes, 43, 0), 1);
    counted();
    ephemeral();
    plain();
    by_threads();
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
