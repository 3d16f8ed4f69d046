/* What programs take from libgurt by DAOS's macros: memory, lines of the log, assertions, lists, times. The data that these look at are
 * also named here as the macros of DAOS's own headers name them. Prints nothing; the log has the lines.
 *
 *   gurt
 */
#define _GNU_SOURCE
#include <setjmp.h>

#include <gurt/common.h>
#include <daos.h>

#include "expect.h"

/* As in DAOS's headers: an executable that names these has copies of them. */
extern int d_misc_logfac_cache[16];
extern d_dbug_t DB_ANY, DB_MEM;

static jmp_buf asserted;

static void caught(const int result, const char *expression, const char *file, const int line)
{
    (void)result, (void)file, (void)line;
    IS(strcmp(expression, "1 == 2"), 0);
    longjmp(asserted, 1);
}

static void environment(void)
{
    bool found = false;
    unsetenv("ISOTACH_TEST_BOOL");
    IS(d_getenv_bool("ISOTACH_TEST_BOOL", &found), -DER_NONEXIST);
    static const struct { const char *text; bool is_set; } cases[] = {{"1", true}, {"0", false}, {"00", false}, {"no", true}, {"", true}};
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        setenv("ISOTACH_TEST_BOOL", cases[at].text, 1);
        IS(d_getenv_bool("ISOTACH_TEST_BOOL", &found), 0);
        IS(found, cases[at].is_set);
    }
}

static void memory(void)
{
    int *numbers, *more;
    char *text, *aligned;
    D_ALLOC_ARRAY(numbers, 4);
    IS(numbers[0] | numbers[3], 0);
    numbers[3] = 7;
    D_REALLOC_ARRAY(more, numbers, 4, 8);
    IS(numbers == NULL, 1);
    IS(more[3], 7);
    IS(more[7], 0);
    D_FREE(more);
    IS(more == NULL, 1);
    D_ALLOC(text, 3);
    D_FREE(text);
    D_STRNDUP(text, "text and more", 4);
    IS(strcmp(text, "text"), 0);
    free(text);
    D_ASPRINTF(text, "%d %s", 5, "words");
    IS(strcmp(text, "5 words"), 0);
    D_FREE(text);
    D_ALIGNED_ALLOC(aligned, 4096, 100);
    IS((uintptr_t)aligned % 4096, 0);
    IS(aligned[99], 0);
    D_FREE(aligned);
}

static void lists(void)
{
    d_sg_list_t list;
    d_rank_list_t *ranks;
    IS(d_sgl_init(&list, 2), 0);
    IS(list.sg_nr, 2);
    D_ALLOC(list.sg_iovs[0].iov_buf, 10);
    list.sg_iovs[0].iov_buf_len = 10;
    IS(d_sgl_buf_size(&list), 10);
    d_sgl_fini(&list, true);
    IS(list.sg_nr, 0);
    IS(daos_sgl_init(&list, 3), 0);
    IS(list.sg_nr, 3);
    IS(daos_sgl_fini(&list, true), 0);
    IS(list.sg_iovs == NULL, 1);
    ranks = d_rank_list_alloc(3);
    IS(ranks->rl_nr, 3);
    IS(ranks->rl_ranks[2], 2);
    d_rank_list_free(ranks);
    ranks = d_rank_list_alloc(0);
    IS(ranks->rl_nr, 0);
    d_rank_list_free(ranks);
}

/* The tables of the header say what the library says. */
static void errors(void)
{
    int count = 0;
#define SAME(name, text)                                                                                               \
    IS(strcmp(d_errstr(-name), #name), 0);                                                                             \
    IS(strcmp(d_errdesc(-name), #text), 0);                                                                            \
    count++;
    D_FOREACH_GURT_ERR(SAME)
    D_FOREACH_DAOS_ERR(SAME)
    IS(count > 90, 1);
}

static void times(void)
{
    struct timespec time;
    time_t seconds;
    uint64_t epoch, now = d_hlc_get();
    IS(d_hlc2timespec(0, &time), 0);
    IS(time.tv_sec, 1609459200);
    IS(daos_hlc2timespec(16 * 1500000000ULL, &time), 0);
    IS(time.tv_sec, 1609459201);
    IS(time.tv_nsec, 500000000);
    IS(daos_hlc2timestamp(16 * 1500000000ULL, &seconds), 0);
    IS(seconds, 1609459201);
    IS(d_timespec2hlc(time, &epoch), 0);
    IS(epoch, 16 * 1500000000ULL);
    IS(d_unixnsec2hlc(d_hlc2unixnsec(epoch)), epoch);
    IS(d_unixnsec2hlc(1), 0);
    IS(d_hlc2sec(epoch), 1);
    IS(d_hlc_get() > now, 1);
    IS(daos_hlc2timespec(1, NULL), -DER_INVAL);
}

/* Two records of a list, from its end on, and after one moved to another list. */
static void moved_links(void)
{
    struct record {
        int number;
        d_list_t link;
    } records[2] = {{.number = 1}, {.number = 2}}, *record;
    D_LIST_HEAD(list);
    D_LIST_HEAD(other);
    int order = 0;
    d_list_add_tail(&records[0].link, &list);
    d_list_add_tail(&records[1].link, &list);
    d_list_for_each_entry_reverse(record, &list, link)
        order = 10 * order + record->number;
    IS(order, 21);
    d_list_move(&records[1].link, &other);
    d_list_move_tail(&records[0].link, &other);
    IS(d_list_empty(&list), 1);
    order = 0;
    d_list_for_each_entry(record, &other, link)
        order = 10 * order + record->number;
    IS(order, 21);
}

int main(void)
{
    d_misc_logfac_cache[0] = 5;
    IS(d_misc_logfac_cache[0], 5);
    IS(d_misc_logfac, 0);
    IS(d_fault_inject, 0);
    IS(d_fault_attr_mem == NULL, 1);
    IS(D_SHOULD_FAIL(d_fault_attr_mem), 0);
    IS(d_should_fail(NULL), 0);
    environment();
    memory();
    lists();
    moved_links();
    errors();
    times();
    D_DEBUG(DB_MEM, "not seen %d\n", 1);
    D_DEBUG(DB_ANY, "not seen %d\n", 2);
    IS(DB_ANY != 0 && DB_ANY != DB_MEM, 1);
    D_INFO("not seen either\n");
    D_WARN("nor this\n");
    D_ERROR("an error with %s and %d\n", "a text", 42);
    DL_ERROR(-DER_NONEXIST, "nothing %s", "there");
    D_CRIT("worse\n");
    D_ASSERT(1 == 1);
    IS(d_register_alt_assert(NULL), -DER_INVAL);
    IS(d_register_alt_assert(caught), 0);
    if (setjmp(asserted) == 0) {
        D_ASSERT(1 == 2);
        IS(0, 1);
    }
    d_log_sync();
    return failures != 0;
}
