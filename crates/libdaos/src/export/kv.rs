//! Maps.

use std::{
    ffi::{c_uint, c_void},
    ptr,
};

use super::{Event, Handle, InOut, Out, Text, export, halves, listing, many};
use crate::{
    abi::{constants::DAOS_HTYPE_KV, errors::*, types::*},
    objects::{self, arrays, kv},
    runtime::error::{Der, Result},
};

#[export]
fn daos_kv_open(
    container: Handle,
    id: daos_obj_id_t,
    mode: c_uint,
    handle: Out<Handle>,
    event: Event,
) -> Result<()> {
    handle.open(|| objects::open_map(container.cookie, halves(id), mode))
}

#[export]
fn daos_kv_close(map: Handle, event: Event) -> Result<()> {
    arrays::close_object(map.cookie)
}

#[export]
fn daos_kv_destroy(map: Handle, tx: Handle, event: Event) -> Result<()> {
    let (map, scope) = &objects::object_in(map.cookie, DAOS_HTYPE_KV, tx.cookie)?;
    kv::destroy(map, scope)
}

#[export]
unsafe fn daos_kv_put(
    map: Handle,
    tx: Handle,
    flags: u64,
    name: Text,
    size: u64,
    value: *const c_void,
    event: Event,
) -> Result<()> {
    let (map, scope) = &objects::object_in(map.cookie, DAOS_HTYPE_KV, tx.cookie)?;
    // SAFETY: BYTES for `value`.
    let (name, value) = (name.key()?, unsafe { many(value.cast::<u8>(), size) }?);
    kv::put(map, scope, flags, name, value)
}

#[export]
unsafe fn daos_kv_get(
    map: Handle,
    tx: Handle,
    flags: u64,
    name: Text,
    size: InOut<u64>,
    value: *mut c_void,
    event: Event,
) -> Result<()> {
    let (map, scope) = &objects::object_in(map.cookie, DAOS_HTYPE_KV, tx.cookie)?;
    let (name, size) = (name.key()?, size.get()?);
    let found = kv::get(map, scope, flags, name)?.unwrap_or_default();
    let capacity = std::mem::replace(size, found.len() as u64);
    // A call without a buffer asks for the size only.
    if value.is_null() || capacity == 0 {
        return Ok(());
    }
    if capacity < *size {
        return Err(Der(DER_REC2BIG));
    }
    // SAFETY: BUFFER for `value`, of `size` bytes, which are no fewer; `found` is of this library.
    unsafe { ptr::copy_nonoverlapping(found.as_ptr(), value.cast(), found.len()) };
    Ok(())
}

#[export]
fn daos_kv_remove(map: Handle, tx: Handle, flags: u64, name: Text, event: Event) -> Result<()> {
    let (map, scope) = &objects::object_in(map.cookie, DAOS_HTYPE_KV, tx.cookie)?;
    kv::remove(map, scope, flags, name.key()?)
}

#[export]
unsafe fn daos_kv_list(
    map: Handle,
    tx: Handle,
    count: InOut<u32>,
    descriptions: *mut daos_key_desc_t,
    list: InOut<d_sg_list_t>,
    anchor: InOut<daos_anchor_t>,
    event: Event,
) -> Result<()> {
    let (map, scope) = &objects::object_in(map.cookie, DAOS_HTYPE_KV, tx.cookie)?;
    let page = |from: &_, limit| kv::list(map, scope, from, limit);
    // SAFETY: LIST for `descriptions`, of `count`; BUFFER for the vectors of `list`.
    unsafe { listing::keys(count, descriptions, list, anchor, page) }
}
