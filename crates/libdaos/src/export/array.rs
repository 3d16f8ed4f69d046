//! Arrays.

use std::ffi::{c_int, c_uint};

use super::{Bytes, Event, Handle, InOut, Out, answer, bytes_of, done, fill, halves, many};
use crate::{
    abi::types::*,
    containers::Container,
    objects::arrays::{self, Array, Range},
    runtime::{error::Result, globals},
    transactions::scope::Scope,
};

/// Runs an operation on an array.
fn on(event: Event, array: Handle, tx: Handle, act: impl FnOnce(&Array, &Scope) -> Result<()>) -> c_int {
    answer(event, || {
        let (array, scope) = arrays::array_in(array.cookie, tx.cookie)?;
        act(&array, &scope)
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_create(
    container: Handle,
    id: daos_obj_id_t,
    tx: Handle,
    cell_size: u64,
    chunk_size: u64,
    handle: Out<Handle>,
    event: Event,
) -> c_int {
    answer(event, || {
        let scope = Scope::of(Container::get(container.cookie)?, tx.cookie)?;
        handle.open(|| arrays::create(&scope, halves(id), cell_size, chunk_size))
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_open(
    container: Handle,
    id: daos_obj_id_t,
    tx: Handle,
    mode: c_uint,
    cell_size: Out<u64>,
    chunk_size: Out<u64>,
    handle: Out<Handle>,
    event: Event,
) -> c_int {
    answer(event, || {
        let scope = Scope::of(Container::get(container.cookie)?, tx.cookie)?;
        let (cell_size, chunk_size, handle) = (cell_size.place()?, chunk_size.place()?, handle.place()?);
        let (cookie, (found_cell, found_chunk)) = arrays::open(&scope, halves(id), mode)?;
        cell_size.set(found_cell);
        chunk_size.set(found_chunk);
        handle.set(Handle { cookie });
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_open_with_attr(
    container: Handle,
    id: daos_obj_id_t,
    _tx: Handle,
    mode: c_uint,
    cell_size: u64,
    chunk_size: u64,
    handle: Out<Handle>,
    event: Event,
) -> c_int {
    let open = || arrays::open_with_attributes(container.cookie, halves(id), mode, cell_size, chunk_size);
    answer(event, || handle.open(open))
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_close(array: Handle, event: Event) -> c_int {
    answer(event, || arrays::close(array.cookie))
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_destroy(array: Handle, tx: Handle, event: Event) -> c_int {
    on(event, array, tx, arrays::destroy)
}

impl<'a> InOut<'a, daos_array_iod_t> {
    /// The ranges of a call.
    fn ranges(self) -> Result<(&'a mut daos_array_iod_t, Vec<Range>)> {
        let described = self.get()?;
        // SAFETY: STRUCT for the description by the type of the parameter, so LIST for `arr_rgs`, of `arr_nr`.
        let ranges = unsafe { many(described.arr_rgs, described.arr_nr) }?;
        let ranges = ranges.iter().map(|range| (range.rg_idx, range.rg_len)).collect();
        Ok((described, ranges))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_write(
    array: Handle,
    tx: Handle,
    described: InOut<daos_array_iod_t>,
    list: InOut<d_sg_list_t>,
    event: Event,
) -> c_int {
    on(event, array, tx, |array, scope| {
        let ((_, ranges), vectors) = (described.ranges()?, list.vectors()?);
        // SAFETY: BYTES for each vector.
        array.write(scope, &ranges, &unsafe { bytes_of(vectors) }?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_array_read(
    array: Handle,
    tx: Handle,
    described: InOut<daos_array_iod_t>,
    list: InOut<d_sg_list_t>,
    event: Event,
) -> c_int {
    on(event, array, tx, |array, scope| {
        let ((described, ranges), vectors) = (described.ranges()?, list.vectors()?);
        // SAFETY: BUFFER for each vector.
        let filled = unsafe { fill(vectors, |buffers| array.read(scope, &ranges, buffers)) }?;
        if array.is_of_bytes() {
            (described.arr_nr_read, described.arr_nr_short_read) = (filled.read, filled.short);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_get_size(array: Handle, tx: Handle, size: Out<u64>, event: Event) -> c_int {
    on(event, array, tx, |array, scope| size.fill(|| array.size(scope)))
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_set_size(array: Handle, tx: Handle, size: u64, event: Event) -> c_int {
    on(event, array, tx, |array, scope| array.set_size(scope, size))
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_punch(
    array: Handle,
    tx: Handle,
    described: InOut<daos_array_iod_t>,
    event: Event,
) -> c_int {
    on(event, array, tx, |array, scope| array.punch(scope, &described.ranges()?.1))
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_get_attr(array: Handle, chunk_size: Out<u64>, cell_size: Out<u64>) -> c_int {
    done(|| {
        let (chunk_size, cell_size) = (chunk_size.place()?, cell_size.place()?);
        let array = Array::get(array.cookie)?;
        chunk_size.set(array.chunk_size);
        cell_size.set(array.cell_size);
        Ok(())
    })
}

/// The size, and an epoch at which the array has it. The epoch of the last change is unknown.
#[unsafe(no_mangle)]
extern "C" fn daos_array_stat(
    array: Handle,
    tx: Handle,
    found: Out<daos_array_stbuf_t>,
    event: Event,
) -> c_int {
    on(event, array, tx, |array, scope| {
        found.fill(|| {
            let (st_size, st_max_epoch) = array.stat(scope)?;
            Ok(daos_array_stbuf_t { st_size, st_max_epoch })
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_local2global(array: Handle, global: InOut<d_iov_t>) -> c_int {
    done(|| global.give(&globals::of_array(array.cookie)?))
}

#[unsafe(no_mangle)]
extern "C" fn daos_array_global2local(
    container: Handle,
    global: Bytes,
    mode: c_uint,
    array: Out<Handle>,
) -> c_int {
    done(|| array.open(|| globals::to_array(container.cookie, global.get()?, mode)))
}
