/* Arrays: cells of one size under indices, chunk_size of them under each dkey. */
#ifndef ISOTACH_DAOS_ARRAY_H
#define ISOTACH_DAOS_ARRAY_H

#include <daos_obj.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* A run of cells. */
typedef struct {
	daos_off_t rg_idx;
	daos_size_t rg_len;
} daos_range_t;

/* Which cells to read or write; the last two fields are the library's answer, for byte arrays alone. */
typedef struct {
	daos_size_t arr_nr;
	daos_range_t *arr_rgs;
	daos_size_t arr_nr_short_read;
	daos_size_t arr_nr_read;
} daos_array_iod_t;

/* The size is in cells. */
typedef struct {
	daos_size_t st_size;
	daos_epoch_t st_max_epoch;
} daos_array_stbuf_t;

/* With add_attr the array stores its cell and chunk sizes, without it the caller must know them. */
static inline int daos_array_generate_oid(daos_handle_t coh, daos_obj_id_t *oid, bool add_attr, daos_oclass_id_t cid,
					  daos_oclass_hints_t hints, uint32_t args)
{
	return daos_obj_generate_oid(coh, oid, add_attr ? DAOS_OT_ARRAY : DAOS_OT_ARRAY_ATTR, cid, hints, args);
}

int daos_array_create(daos_handle_t coh, daos_obj_id_t oid, daos_handle_t th, daos_size_t cell_size,
		      daos_size_t chunk_size, daos_handle_t *oh, daos_event_t *ev);
int daos_array_open(daos_handle_t coh, daos_obj_id_t oid, daos_handle_t th, unsigned int mode,
		    daos_size_t *cell_size, daos_size_t *chunk_size, daos_handle_t *oh, daos_event_t *ev);
int daos_array_open_with_attr(daos_handle_t coh, daos_obj_id_t oid, daos_handle_t th, unsigned int mode,
			      daos_size_t cell_size, daos_size_t chunk_size, daos_handle_t *oh, daos_event_t *ev);
int daos_array_close(daos_handle_t oh, daos_event_t *ev);
int daos_array_destroy(daos_handle_t oh, daos_handle_t th, daos_event_t *ev);

int daos_array_read(daos_handle_t oh, daos_handle_t th, daos_array_iod_t *iod, d_sg_list_t *sgl, daos_event_t *ev);
int daos_array_write(daos_handle_t oh, daos_handle_t th, daos_array_iod_t *iod, d_sg_list_t *sgl, daos_event_t *ev);
int daos_array_punch(daos_handle_t oh, daos_handle_t th, daos_array_iod_t *iod, daos_event_t *ev);

int daos_array_get_size(daos_handle_t oh, daos_handle_t th, daos_size_t *size, daos_event_t *ev);
int daos_array_set_size(daos_handle_t oh, daos_handle_t th, daos_size_t size, daos_event_t *ev);
int daos_array_stat(daos_handle_t oh, daos_handle_t th, daos_array_stbuf_t *stbuf, daos_event_t *ev);
int daos_array_get_attr(daos_handle_t oh, daos_size_t *chunk_size, daos_size_t *cell_size);

int daos_array_local2global(daos_handle_t oh, d_iov_t *glob);
int daos_array_global2local(daos_handle_t coh, d_iov_t glob, unsigned int mode, daos_handle_t *oh);

#if defined(__cplusplus)
}
#endif

#endif
