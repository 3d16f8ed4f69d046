//! Arrays.

use std::ffi::c_uint;

use super::{Bytes, Event, Handle, InOut, Out, bytes_of, export, fill, halves, many};
use crate::{
    abi::types::*,
    containers::Container,
    objects::arrays::{self, Array, Range},
    runtime::{error::Result, globals},
    transactions::scope::Scope,
};

#[export]
fn daos_array_create(
    container: Handle,
    id: daos_obj_id_t,
    tx: Handle,
    cell_size: u64,
    chunk_size: u64,
    handle: Out<Handle>,
    event: Event,
) -> Result<()> {
    let scope = Scope::of(Container::get(container.cookie)?, tx.cookie)?;
    handle.open(|| arrays::create(&scope, halves(id), cell_size, chunk_size))
}

#[export]
fn daos_array_open(
    container: Handle,
    id: daos_obj_id_t,
    tx: Handle,
    mode: c_uint,
    cell_size: Out<u64>,
    chunk_size: Out<u64>,
    handle: Out<Handle>,
    event: Event,
) -> Result<()> {
    let scope = Scope::of(Container::get(container.cookie)?, tx.cookie)?;
    let (cell_size, chunk_size, handle) = (cell_size.place()?, chunk_size.place()?, handle.place()?);
    let (cookie, (found_cell, found_chunk)) = arrays::open(&scope, halves(id), mode)?;
    cell_size.set(found_cell);
    chunk_size.set(found_chunk);
    handle.set(Handle { cookie });
    Ok(())
}

#[export]
fn daos_array_open_with_attr(
    container: Handle,
    id: daos_obj_id_t,
    _tx: Handle,
    mode: c_uint,
    cell_size: u64,
    chunk_size: u64,
    handle: Out<Handle>,
    event: Event,
) -> Result<()> {
    let open = || arrays::open_with_attributes(container.cookie, halves(id), mode, cell_size, chunk_size);
    handle.open(open)
}

#[export]
fn daos_array_close(array: Handle, event: Event) -> Result<()> {
    arrays::close(array.cookie)
}

#[export]
fn daos_array_destroy(array: Handle, tx: Handle, event: Event) -> Result<()> {
    let (array, scope) = &arrays::array_in(array.cookie, tx.cookie)?;
    arrays::destroy(array, scope)
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

#[export]
unsafe fn daos_array_write(
    array: Handle,
    tx: Handle,
    described: InOut<daos_array_iod_t>,
    list: InOut<d_sg_list_t>,
    event: Event,
) -> Result<()> {
    let (array, scope) = &arrays::array_in(array.cookie, tx.cookie)?;
    let ((_, ranges), vectors) = (described.ranges()?, list.vectors()?);
    // SAFETY: BYTES for each vector.
    array.write(scope, &ranges, &unsafe { bytes_of(vectors) }?)
}

#[export]
unsafe fn daos_array_read(
    array: Handle,
    tx: Handle,
    described: InOut<daos_array_iod_t>,
    list: InOut<d_sg_list_t>,
    event: Event,
) -> Result<()> {
    let (array, scope) = &arrays::array_in(array.cookie, tx.cookie)?;
    let ((described, ranges), vectors) = (described.ranges()?, list.vectors()?);
    // SAFETY: BUFFER for each vector.
    let filled = unsafe { fill(vectors, |buffers| array.read(scope, &ranges, buffers)) }?;
    if array.is_of_bytes() {
        (described.arr_nr_read, described.arr_nr_short_read) = (filled.read, filled.short);
    }
    Ok(())
}

#[export]
fn daos_array_get_size(array: Handle, tx: Handle, size: Out<u64>, event: Event) -> Result<()> {
    let (array, scope) = &arrays::array_in(array.cookie, tx.cookie)?;
    size.fill(|| array.size(scope))
}

#[export]
fn daos_array_set_size(array: Handle, tx: Handle, size: u64, event: Event) -> Result<()> {
    let (array, scope) = &arrays::array_in(array.cookie, tx.cookie)?;
    array.set_size(scope, size)
}

#[export]
fn daos_array_punch(
    array: Handle,
    tx: Handle,
    described: InOut<daos_array_iod_t>,
    event: Event,
) -> Result<()> {
    let (array, scope) = &arrays::array_in(array.cookie, tx.cookie)?;
    array.punch(scope, &described.ranges()?.1)
}

#[export]
fn daos_array_get_attr(array: Handle, chunk_size: Out<u64>, cell_size: Out<u64>) -> Result<()> {
    let (chunk_size, cell_size) = (chunk_size.place()?, cell_size.place()?);
    let array = Array::get(array.cookie)?;
    chunk_size.set(array.chunk_size);
    cell_size.set(array.cell_size);
    Ok(())
}

/// The size, and an epoch at which the array has it. The epoch of the last change is unknown.
#[export]
fn daos_array_stat(array: Handle, tx: Handle, found: Out<daos_array_stbuf_t>, event: Event) -> Result<()> {
    let (array, scope) = &arrays::array_in(array.cookie, tx.cookie)?;
    found.fill(|| {
        let (st_size, st_max_epoch) = array.stat(scope)?;
        Ok(daos_array_stbuf_t { st_size, st_max_epoch })
    })
}

#[export]
fn daos_array_local2global(array: Handle, global: InOut<d_iov_t>) -> Result<()> {
    global.give(&globals::of_array(array.cookie)?)
}

#[export]
fn daos_array_global2local(container: Handle, global: Bytes, mode: c_uint, array: Out<Handle>) -> Result<()> {
    array.open(|| globals::to_array(container.cookie, global.get()?, mode))
}
