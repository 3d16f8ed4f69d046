/* Access control lists as programs handle them, and what a list does when a container is opened.
 *
 *   access POOL
 */
#include <unistd.h>

#include "fixtures.h"

static struct daos_acl *list_of(const char **texts, size_t count)
{
    struct daos_acl *list = NULL;
    IS(daos_acl_from_strs(texts, count, &list), 0);
    return list;
}

static void texts_are(struct daos_acl *list, const char **texts, size_t count, int line)
{
    char **found = NULL;
    size_t number = 0;
    expect(daos_acl_to_strs(list, &found, &number), 0, "daos_acl_to_strs", line);
    expect(number, count, "entries", line);
    for (size_t i = 0; i < number; i++) {
        if (i < count && strcmp(found[i], texts[i]) != 0) {
            fprintf(stderr, "line %d: %s where %s is expected\n", line, found[i], texts[i]);
            failures++;
        }
        free(found[i]);
    }
    free(found);
}

static void lists(void)
{
    const char *given[] = {"A::EVERYONE@:", "A:G:hpc@:rw", "A::ann@:r", "A::OWNER@:rwdtTaAo"};
    const char *sorted[] = {"A::OWNER@:rwdtTaAo", "A::ann@:r", "A:G:hpc@:rw", "A::EVERYONE@:"};
    const char *changed[] = {"A::OWNER@:rwdtTaAo", "A::ann@:rt", "A::bob@:r", "A::EVERYONE@:"};
    const char *twice[] = {"A::ann@:r", "A::ann@:rw"};
    struct daos_acl *list = list_of(given, 4), *copy = daos_acl_dup(list), *other = NULL;
    struct daos_ace *entry = NULL, *all[8], *found = NULL;
    texts_are(list, sorted, 4, __LINE__);
    IS(daos_acl_get_size(list), 8 + 4 * 32 + 8 + 8);
    IS(daos_acl_get_size(list), daos_acl_get_size(copy));
    IS(memcmp(list, copy, (size_t)daos_acl_get_size(list)), 0);
    size_t count = 0;
    while ((entry = daos_acl_get_next_ace(list, entry)) != NULL && count < 8)
        all[count++] = entry;
    IS(count, 4);
    other = daos_acl_create(all, (uint16_t)count);
    IS(memcmp(list, other, (size_t)daos_acl_get_size(list)), 0);
    IS(strcmp(daos_ace_get_principal_str(all[0]), "OWNER@"), 0);
    IS(strcmp(daos_ace_get_principal_str(all[2]), "hpc@"), 0);
    daos_acl_free(other);
    for (int i = 0; i < 2; i++) {
        IS(daos_ace_from_str(i == 0 ? "A::ann@:rt" : "A::bob@:r", &entry), 0);
        IS(daos_acl_add_ace(&copy, entry), 0);
        daos_ace_free(entry);
    }
    IS(daos_acl_remove_ace(&copy, DAOS_ACL_GROUP, "hpc@"), 0);
    IS(daos_acl_remove_ace(&copy, DAOS_ACL_GROUP, "hpc@"), -DER_NONEXIST);
    IS(daos_acl_remove_ace(&copy, 9, "hpc@"), -DER_INVAL);
    texts_are(copy, changed, 4, __LINE__);
    IS(daos_acl_get_ace_for_principal(copy, DAOS_ACL_USER, "bob@", &found), 0);
    IS(found->dae_allow_perms, DAOS_ACL_PERM_READ);
    IS(daos_acl_get_ace_for_principal(copy, DAOS_ACL_USER, "cy@", &found), -DER_NONEXIST);
    IS(daos_acl_get_ace_for_principal(copy, DAOS_ACL_USER, NULL, &found), -DER_INVAL);
    copy->dal_len -= 8;
    IS(daos_acl_validate(copy), -DER_INVAL);
    daos_acl_free(copy);
    daos_acl_free(list);
    IS(daos_acl_from_strs(twice, 2, &list), -DER_INVAL);
    IS(daos_acl_from_strs(NULL, 0, &list), -DER_INVAL);
    IS(daos_acl_validate(NULL), -DER_INVAL);
    IS(daos_acl_dup(NULL) == NULL && daos_acl_get_next_ace(NULL, NULL) == NULL, 1);
}

static void entries(void)
{
    struct daos_ace *entry = daos_ace_create(DAOS_ACL_GROUP, "hpc@");
    char text[64];
    IS(daos_ace_get_size(entry), 40);
    IS(entry->dae_access_flags, DAOS_ACL_FLAG_GROUP);
    entry->dae_access_types = DAOS_ACL_ACCESS_ALLOW;
    entry->dae_allow_perms = DAOS_ACL_PERM_READ;
    IS(daos_ace_is_valid(entry), 1);
    IS(daos_ace_to_str(entry, text, sizeof(text)), 0);
    IS(strcmp(text, "A:G:hpc@:r"), 0);
    IS(daos_ace_to_str(entry, text, 5), -DER_TRUNC);
    entry->dae_access_flags = 0;
    IS(daos_ace_is_valid(entry), 0);
    daos_ace_free(entry);
    IS(daos_ace_create(DAOS_ACL_USER, NULL) == NULL && daos_ace_create(DAOS_ACL_USER, "") == NULL, 1);
    char long_name[70000];
    memset(long_name, 'n', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    IS(daos_ace_create(DAOS_ACL_USER, long_name) == NULL, 1);
    IS(daos_ace_get_size(NULL), -DER_INVAL);
    IS(daos_ace_is_valid(NULL), 0);
}

/* Entries whose names take more room than they need, or are not there. */
static void other_layouts(void)
{
    struct daos_ace *first = daos_ace_create(DAOS_ACL_USER, "ann@"), *found = NULL;
    struct daos_ace *without = daos_ace_create(DAOS_ACL_OWNER, NULL);
    struct daos_acl *list = calloc(1, 8 + 48 + 40);
    list->dal_ver = DAOS_ACL_VERSION;
    list->dal_len = 48 + 40;
    memcpy(list->dal_ace, first, 40);
    ((struct daos_ace *)list->dal_ace)->dae_principal_len = 16;
    memcpy(list->dal_ace + 48, first, 40);
    memcpy(list->dal_ace + 48 + 32, "bob@", 4);
    IS(daos_acl_get_ace_for_principal(list, DAOS_ACL_USER, "bob@", &found), 0);
    IS((uint8_t *)found - list->dal_ace, 48);
    IS(strcmp(daos_ace_get_principal_str(found), "bob@"), 0);
    IS(daos_acl_get_ace_for_principal(list, DAOS_ACL_USER, "cy@", &found), -DER_NONEXIST);
    without->dae_principal_type = DAOS_ACL_USER;
    IS(strcmp(daos_ace_get_principal_str(without), ""), 0);
    daos_ace_free(first);
    daos_ace_free(without);
    free(list);
}

static void principals(void)
{
    enum daos_acl_principal_type kind;
    char *name = NULL;
    uid_t user = 1;
    gid_t group = 1;
    IS(daos_acl_uid_to_principal(0, &name), 0);
    IS(strcmp(name, "root@"), 0);
    IS(daos_acl_principal_to_uid(name, &user), 0);
    free(name);
    IS(user, 0);
    IS(daos_acl_gid_to_principal(0, &name), 0);
    IS(daos_acl_principal_to_gid(name, &group), 0);
    free(name);
    IS(group, 0);
    IS(daos_acl_principal_to_uid("nobody that there is@", &user), -DER_NONEXIST);
    IS(daos_acl_principal_to_uid("root", &user), -DER_INVAL);
    IS(daos_acl_principal_is_valid("ann@site") && !daos_acl_principal_is_valid("@site"), 1);
    IS(daos_acl_principal_from_str("g:hpc@", &kind, &name), 0);
    IS(kind, DAOS_ACL_GROUP);
    IS(strcmp(name, "hpc@"), 0);
    free(name);
    IS(daos_acl_principal_from_str("EVERYONE@", &kind, &name), 0);
    IS(kind == DAOS_ACL_EVERYONE && name == NULL, 1);
    IS(daos_acl_principal_from_str("ann@", &kind, &name), -DER_INVAL);
}

/* The list of a container says so. */
static void says(daos_handle_t container, const char **texts, size_t count, int line)
{
    daos_prop_t *found = NULL;
    expect(daos_cont_get_acl(container, &found, NULL), 0, "daos_cont_get_acl", line);
    expect(found->dpp_nr, 3, "properties", line);
    texts_are(daos_prop_entry_get(found, DAOS_PROP_CO_ACL)->dpe_val_ptr, texts, count, line);
    expect(daos_prop_entry_get(found, DAOS_PROP_CO_OWNER)->dpe_str != NULL, 1, "owner", line);
    daos_prop_free(found);
}

static int open_as(daos_handle_t pool, unsigned int flags, daos_handle_t *container)
{
    return daos_cont_open(pool, "access", flags, container, NULL, NULL);
}

static int put(daos_handle_t container)
{
    daos_handle_t map;
    int rc = daos_kv_open(container, id_of(container, 7, DAOS_OT_KV_HASHED), DAOS_OO_RW, &map, NULL);
    if (rc == 0) {
        rc = daos_kv_put(map, DAOS_TX_NONE, 0, "key", 1, "v", NULL);
        daos_kv_close(map, NULL);
    }
    return rc;
}

/* Replaces the list of a container. */
static int overwrite(daos_handle_t container, const char **texts, size_t count)
{
    struct daos_acl *list = list_of(texts, count);
    int rc = daos_cont_overwrite_acl(container, list, NULL);
    daos_acl_free(list);
    return rc;
}

/* What a put gives after the container was opened for writing anew. */
static int put_anew(daos_handle_t pool)
{
    daos_handle_t again;
    IS(open_as(pool, DAOS_COO_RW, &again), 0);
    int rc = put(again);
    IS(daos_cont_close(again, NULL), 0);
    return rc;
}

static void of_owner(daos_handle_t pool)
{
    const char *first[] = {"A::OWNER@:rwdtTaAo", "A:G:GROUP@:rwtT"};
    const char *more[] = {"A::ann@:r", "A:G:GROUP@:r"};
    const char *then[] = {"A::OWNER@:rwdtTaAo", "A::ann@:r", "A:G:GROUP@:r"};
    const char *without[] = {"A::OWNER@:rwdtTaAo", "A:G:GROUP@:r"};
    const char *only[] = {"A::OWNER@:r"}, *of_pool[] = {"A::OWNER@:rc"};
    daos_handle_t container, again;
    struct daos_acl *list = list_of(more, 2);
    IS(open_as(pool, DAOS_COO_RW, &container), 0);
    says(container, first, 2, __LINE__);
    IS(daos_cont_update_acl(container, list, NULL), 0);
    daos_acl_free(list);
    says(container, then, 3, __LINE__);
    IS(daos_cont_delete_acl(container, DAOS_ACL_USER, "ann@", NULL), 0);
    IS(daos_cont_delete_acl(container, DAOS_ACL_USER, "ann@", NULL), -DER_NONEXIST);
    says(container, without, 2, __LINE__);
    IS(overwrite(container, of_pool, 1), -DER_INVAL);
    IS(overwrite(container, only, 1), 0);
    says(container, only, 1, __LINE__);
    /* What is open keeps what it was opened with; the owner may always change the list. */
    IS(put(container), 0);
    IS(open_as(pool, DAOS_COO_RW, &again), 0);
    IS(put(again), -DER_NO_PERM);
    IS(daos_cont_set_owner(again, "ann@", NULL, NULL), -DER_NO_PERM);
    IS(overwrite(again, only, 1), 0);
    IS(daos_cont_close(again, NULL), 0);
    IS(open_as(pool, DAOS_COO_RO, &again), 0);
    IS(daos_cont_delete_acl(again, DAOS_ACL_OWNER, NULL, NULL), -DER_NO_PERM);
    says(again, only, 1, __LINE__);
    IS(daos_cont_close(again, NULL), 0);
    IS(overwrite(container, first, 2), 0);
    IS(daos_cont_close(container, NULL), 0);
}

/* The container becomes another's; this process is then one of its group, a user with a name, or anyone. */
static void of_others(daos_handle_t pool)
{
    const char *of_group[] = {"A::OWNER@:rwdtTaAo", "A:G:GROUP@:r"}, *of_nobody[] = {"A::OWNER@:rw"};
    const char *named[3] = {"A::OWNER@:rw", NULL, "A::EVERYONE@:rw"};
    char *user = NULL, *group = NULL, text[300];
    daos_handle_t container, again;
    IS(daos_acl_uid_to_principal(geteuid(), &user), 0);
    IS(daos_acl_gid_to_principal(getegid(), &group), 0);
    IS(open_as(pool, DAOS_COO_RW, &container), 0);
    IS(daos_cont_set_owner(container, NULL, NULL, NULL), -DER_INVAL);
    IS(daos_cont_set_owner(container, "ann", NULL, NULL), -DER_INVAL);
    IS(daos_cont_set_owner(container, "no such user@", group, NULL), 0);
    IS(overwrite(container, of_group, 2), 0);
    IS(open_as(pool, DAOS_COO_RW, &again), 0);
    IS(put(again), -DER_NO_PERM);
    daos_prop_t *found = NULL;
    IS(daos_cont_get_acl(again, &found, NULL), -DER_NO_PERM);
    found = daos_prop_alloc(0);
    IS(daos_cont_query(again, NULL, found, NULL), -DER_NO_PERM);
    daos_prop_free(found);
    IS(daos_cont_close(again, NULL), 0);
    IS(daos_cont_set_owner(container, NULL, "no such group@", NULL), 0);
    IS(open_as(pool, DAOS_COO_RO, &again), -DER_NO_PERM);
    snprintf(text, sizeof(text), "A::%s:t", user);
    named[1] = text;
    IS(overwrite(container, named, 3), 0);
    IS(put_anew(pool), -DER_NO_PERM);
    IS(daos_cont_delete_acl(container, DAOS_ACL_USER, user, NULL), 0);
    IS(put_anew(pool), 0);
    IS(overwrite(container, of_nobody, 1), 0);
    IS(open_as(pool, DAOS_COO_RW, &again), -DER_NO_PERM);
    IS(daos_cont_close(container, NULL), 0);
    free(user);
    free(group);
}

static void everything_is_told(daos_handle_t pool)
{
    daos_handle_t container;
    daos_prop_t *found = daos_prop_alloc(0);
    struct daos_prop_entry roots = {.dpe_type = DAOS_PROP_CO_ROOTS};
    struct daos_prop_co_roots oids = {.cr_oids = {{.lo = 1, .hi = 2}, {.lo = 3, .hi = 4}}};
    daos_prop_t given = {.dpp_nr = 1, .dpp_entries = &roots};
    IS(open_as(pool, DAOS_COO_RW, &container), 0);
    roots.dpe_val_ptr = &oids;
    IS(daos_cont_set_prop(container, &given, NULL), 0);
    IS(daos_cont_query(container, NULL, found, NULL), 0);
    IS(found->dpp_nr > 15, 1);
    IS(strcmp(daos_prop_entry_get(found, DAOS_PROP_CO_LABEL)->dpe_str, "access"), 0);
    IS(memcmp(daos_prop_entry_get(found, DAOS_PROP_CO_ROOTS)->dpe_val_ptr, &oids, sizeof(oids)), 0);
    IS(daos_acl_cont_validate(daos_prop_entry_get(found, DAOS_PROP_CO_ACL)->dpe_val_ptr), 0);
    daos_prop_free(found);
    found = daos_prop_alloc(0);
    IS(daos_pool_query(pool, NULL, NULL, found, NULL), 0);
    IS(daos_acl_pool_validate(daos_prop_entry_get(found, DAOS_PROP_PO_ACL)->dpe_val_ptr), 0);
    IS(daos_acl_principal_is_valid(daos_prop_entry_get(found, DAOS_PROP_PO_OWNER)->dpe_str), 1);
    daos_prop_free(found);
    IS(daos_cont_close(container, NULL), 0);
}

/* What is printed stands where the program prints. */
static void dumped(void)
{
    const char *texts[] = {"A::OWNER@:rw", "A:G:GROUP@:r"};
    struct daos_acl *list = list_of(texts, 2);
    daos_acl_dump(list);
    daos_ace_dump(daos_acl_get_next_ace(list, NULL), 2);
    daos_ace_dump(NULL, 1);
    printf("end\n");
    daos_acl_free(list);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    daos_handle_t pool = begin(argv[1]);
    IS(daos_cont_create_with_label(pool, "access", NULL, NULL, NULL), 0);
    lists();
    entries();
    other_layouts();
    principals();
    dumped();
    everything_is_told(pool);
    of_owner(pool);
    of_others(pool);
    IS(daos_cont_destroy(pool, "access", 0, NULL), 0);
    return end(pool);
}
