//! Arrays.

use std::ffi::{c_int, c_uint};

use super::{answer, answer_handle, fill, give, halves, many, out, place, vectors};
use crate::{
    abi::types::*,
    containers::Container,
    objects::arrays::{self, Array, Range},
    runtime::{error::Result, globals},
    transactions::scope::Scope,
};

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_create(
    container: daos_handle_t,
    id: daos_obj_id_t,
    transaction: daos_handle_t,
    cell_size: u64,
    chunk_size: u64,
    handle: *mut daos_handle_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let scope = Scope::of(Container::get(container.cookie)?, transaction.cookie)?;
        // SAFETY: OUT for `handle`.
        let handle = unsafe { out(handle) }?;
        handle.set(daos_handle_t { cookie: arrays::create(&scope, halves(id), cell_size, chunk_size)? });
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_open(
    container: daos_handle_t,
    id: daos_obj_id_t,
    transaction: daos_handle_t,
    mode: c_uint,
    cell_size: *mut u64,
    chunk_size: *mut u64,
    handle: *mut daos_handle_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let scope = Scope::of(Container::get(container.cookie)?, transaction.cookie)?;
        // SAFETY: OUT for `cell_size`, `chunk_size` and `handle`.
        let (cell_size, chunk_size, handle) = unsafe { (out(cell_size)?, out(chunk_size)?, out(handle)?) };
        let (cookie, (found_cell, found_chunk)) = arrays::open(&scope, halves(id), mode)?;
        cell_size.set(found_cell);
        chunk_size.set(found_chunk);
        handle.set(daos_handle_t { cookie });
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_open_with_attr(
    container: daos_handle_t,
    id: daos_obj_id_t,
    _transaction: daos_handle_t,
    mode: c_uint,
    cell_size: u64,
    chunk_size: u64,
    handle: *mut daos_handle_t,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: OUT for `handle`.
    unsafe {
        answer_handle(event, handle, || {
            arrays::open_with_attributes(container.cookie, halves(id), mode, cell_size, chunk_size)
        })
    }
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_close(array: daos_handle_t, event: *mut daos_event_t) -> c_int {
    answer(event, || arrays::close(array.cookie))
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_destroy(
    array: daos_handle_t,
    transaction: daos_handle_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (array, scope) = arrays::array_in(array.cookie, transaction.cookie)?;
        arrays::destroy(&array, &scope)
    })
}

/// The ranges of a call.
///
/// # Safety
/// STRUCT, with its LIST of `arr_nr` ranges, as long as the result is used.
unsafe fn ranges<'a>(described: *mut daos_array_iod_t) -> Result<(&'a mut daos_array_iod_t, Vec<Range>)> {
    // SAFETY: STRUCT for `described`.
    let described = unsafe { place(described) }?;
    // SAFETY: LIST for `arr_rgs`, of `arr_nr`.
    let ranges = unsafe { many(described.arr_rgs, described.arr_nr) }?;
    let ranges = ranges.iter().map(|range| (range.rg_idx, range.rg_len)).collect();
    Ok((described, ranges))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_write(
    array: daos_handle_t,
    transaction: daos_handle_t,
    described: *mut daos_array_iod_t,
    list: *mut d_sg_list_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (array, scope) = arrays::array_in(array.cookie, transaction.cookie)?;
        // SAFETY: STRUCT for `described` and `list`.
        let ((_, ranges), vectors) = unsafe { (ranges(described)?, vectors(list)?) };
        // SAFETY: BYTES for each vector, as many as `iov_len` says.
        let buffers =
            vectors.iter().map(|vector| unsafe { many(vector.iov_buf.cast::<u8>(), vector.iov_len) });
        let buffers: Vec<&[u8]> = buffers.collect::<Result<_>>()?;
        array.write(&scope, &ranges, &buffers)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_read(
    array: daos_handle_t,
    transaction: daos_handle_t,
    described: *mut daos_array_iod_t,
    list: *mut d_sg_list_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (array, scope) = arrays::array_in(array.cookie, transaction.cookie)?;
        // SAFETY: STRUCT for `described` and `list`.
        let ((described, ranges), vectors) = unsafe { (ranges(described)?, vectors(list)?) };
        // SAFETY: BUFFER for each vector.
        let filled = unsafe { fill(vectors, |buffers| array.read(&scope, &ranges, buffers)) }?;
        if array.is_of_bytes() {
            (described.arr_nr_read, described.arr_nr_short_read) = (filled.read, filled.short);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_get_size(
    array: daos_handle_t,
    transaction: daos_handle_t,
    size: *mut u64,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (array, scope) = arrays::array_in(array.cookie, transaction.cookie)?;
        // SAFETY: OUT for `size`.
        let size = unsafe { out(size) }?;
        size.set(array.size(&scope)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_set_size(
    array: daos_handle_t,
    transaction: daos_handle_t,
    size: u64,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (array, scope) = arrays::array_in(array.cookie, transaction.cookie)?;
        array.set_size(&scope, size)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_punch(
    array: daos_handle_t,
    transaction: daos_handle_t,
    described: *mut daos_array_iod_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (array, scope) = arrays::array_in(array.cookie, transaction.cookie)?;
        // SAFETY: STRUCT for `described`.
        let (_, ranges) = unsafe { ranges(described) }?;
        array.punch(&scope, &ranges)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_get_attr(
    array: daos_handle_t,
    chunk_size: *mut u64,
    cell_size: *mut u64,
) -> c_int {
    answer(std::ptr::null_mut(), || {
        // SAFETY: OUT for `chunk_size` and `cell_size`.
        let (chunk_size, cell_size) = unsafe { (out(chunk_size)?, out(cell_size)?) };
        let array = Array::get(array.cookie)?;
        chunk_size.set(array.chunk_size);
        cell_size.set(array.cell_size);
        Ok(())
    })
}

/// The size, and an epoch at which the array has it. The epoch of the last change is unknown.
#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_stat(
    array: daos_handle_t,
    transaction: daos_handle_t,
    found: *mut daos_array_stbuf_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (array, scope) = arrays::array_in(array.cookie, transaction.cookie)?;
        // SAFETY: OUT for `found`.
        let found = unsafe { out(found) }?;
        let (st_size, st_max_epoch) = array.stat(&scope)?;
        found.set(daos_array_stbuf_t { st_size, st_max_epoch });
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_local2global(array: daos_handle_t, global: *mut d_iov_t) -> c_int {
    answer(std::ptr::null_mut(), || {
        let packed = globals::of_array(array.cookie)?;
        // SAFETY: STRUCT for `global`.
        unsafe { give(&packed, global) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_global2local(
    container: daos_handle_t,
    global: d_iov_t,
    mode: c_uint,
    array: *mut daos_handle_t,
) -> c_int {
    answer(std::ptr::null_mut(), || {
        // SAFETY: BYTES for `global.iov_buf`, OUT for `array`.
        let (packed, array) = unsafe { (many(global.iov_buf.cast::<u8>(), global.iov_len)?, out(array)?) };
        array.set(daos_handle_t { cookie: globals::to_array(container.cookie, packed, mode)? });
        Ok(())
    })
}
