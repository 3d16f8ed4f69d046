/* Rings of links that lie in records: the head of a list is a link, too, and an empty list is a head alone. */
#ifndef ISOTACH_GURT_LIST_H
#define ISOTACH_GURT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__cplusplus)
extern "C" {
#endif

typedef struct d_list_head {
	struct d_list_head *next;
	struct d_list_head *prev;
} d_list_t;

/* The record in which a link lies as a field. */
#ifndef container_of
#define container_of(link, type, field) ((type *)(void *)((char *)(link)-offsetof(type, field)))
#endif
#define d_list_entry(link, type, field) container_of(link, type, field)

static inline void D_INIT_LIST_HEAD(d_list_t *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool d_list_empty(const d_list_t *head)
{
	return head->next == head;
}

/* Put a link first. */
static inline void d_list_add(d_list_t *link, d_list_t *head)
{
	link->prev = head;
	link->next = head->next;
	head->next->prev = link;
	head->next = link;
}

/* Put a link last. */
static inline void d_list_add_tail(d_list_t *link, d_list_t *head)
{
	d_list_add(link, head->prev);
}

/* Take a link out, which is no head and no link then. */
static inline void d_list_del(d_list_t *link)
{
	link->next->prev = link->prev;
	link->prev->next = link->next;
}

/* Take a link out, which is alone then. */
static inline void d_list_del_init(d_list_t *link)
{
	d_list_del(link);
	D_INIT_LIST_HEAD(link);
}

/* Put a link of another list first, or last. */
static inline void d_list_move(d_list_t *link, d_list_t *head)
{
	d_list_del(link);
	d_list_add(link, head);
}

static inline void d_list_move_tail(d_list_t *link, d_list_t *head)
{
	d_list_del(link);
	d_list_add_tail(link, head);
}

/* An empty list, as a value and as a variable. */
#define D_LIST_HEAD_INIT(name)                                                                                         \
	{                                                                                                              \
		&(name), &(name)                                                                                       \
	}
#define D_LIST_HEAD(name) d_list_t name = D_LIST_HEAD_INIT(name)

/* Links may not be taken out meanwhile, but by the last of these the one that it is at. */
#define d_list_for_each(link, head) for ((link) = (head)->next; (link) != (head); (link) = (link)->next)

#define d_list_for_each_entry(record, head, field)                                                                     \
	for ((record) = d_list_entry((head)->next, __typeof__(*(record)), field); &(record)->field != (head);          \
	     (record) = d_list_entry((record)->field.next, __typeof__(*(record)), field))

#define d_list_for_each_entry_reverse(record, head, field)                                                             \
	for ((record) = d_list_entry((head)->prev, __typeof__(*(record)), field); &(record)->field != (head);          \
	     (record) = d_list_entry((record)->field.prev, __typeof__(*(record)), field))

#define d_list_for_each_entry_safe(record, behind, head, field)                                                        \
	for ((record) = d_list_entry((head)->next, __typeof__(*(record)), field),                                      \
	    (behind) = d_list_entry((record)->field.next, __typeof__(*(record)), field);                               \
	     &(record)->field != (head);                                                                               \
	     (record) = (behind), (behind) = d_list_entry((behind)->field.next, __typeof__(*(behind)), field))

#if defined(__cplusplus)
}
#endif

#endif
