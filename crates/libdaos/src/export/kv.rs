//! Maps.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
};

use super::{Event, Handle, InOut, Out, Text, answer, halves, listing, many};
use crate::{
    abi::{constants::DAOS_HTYPE_KV, errors::*, types::*},
    objects::{self, Object, arrays, kv},
    runtime::error::{Der, Result},
    transactions::scope::Scope,
};

/// Runs an operation on a map.
fn on(event: Event, map: Handle, tx: Handle, act: impl FnOnce(&Object, &Scope) -> Result<()>) -> c_int {
    answer(event, || {
        let (map, scope) = objects::object_in(map.cookie, DAOS_HTYPE_KV, tx.cookie)?;
        act(&map, &scope)
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_kv_open(
    container: Handle,
    id: daos_obj_id_t,
    mode: c_uint,
    handle: Out<Handle>,
    event: Event,
) -> c_int {
    answer(event, || handle.open(|| objects::open_map(container.cookie, halves(id), mode)))
}

#[unsafe(no_mangle)]
extern "C" fn daos_kv_close(map: Handle, event: Event) -> c_int {
    answer(event, || arrays::close_object(map.cookie))
}

#[unsafe(no_mangle)]
extern "C" fn daos_kv_destroy(map: Handle, tx: Handle, event: Event) -> c_int {
    on(event, map, tx, kv::destroy)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_kv_put(
    map: Handle,
    tx: Handle,
    flags: u64,
    name: Text,
    size: u64,
    value: *const c_void,
    event: Event,
) -> c_int {
    on(event, map, tx, |map, scope| {
        // SAFETY: BYTES for `value`.
        let (name, value) = (name.key()?, unsafe { many(value.cast::<u8>(), size) }?);
        kv::put(map, scope, flags, name, value)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_kv_get(
    map: Handle,
    tx: Handle,
    flags: u64,
    name: Text,
    size: InOut<u64>,
    value: *mut c_void,
    event: Event,
) -> c_int {
    on(event, map, tx, |map, scope| {
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
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_kv_remove(map: Handle, tx: Handle, flags: u64, name: Text, event: Event) -> c_int {
    on(event, map, tx, |map, scope| kv::remove(map, scope, flags, name.key()?))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_kv_list(
    map: Handle,
    tx: Handle,
    count: InOut<u32>,
    descriptions: *mut daos_key_desc_t,
    list: InOut<d_sg_list_t>,
    anchor: InOut<daos_anchor_t>,
    event: Event,
) -> c_int {
    on(event, map, tx, |map, scope| {
        let page = |from: &_, limit| kv::list(map, scope, from, limit);
        // SAFETY: LIST for `descriptions`, of `count`; BUFFER for the vectors of `list`.
        unsafe { listing::keys(count, descriptions, list, anchor, page) }
    })
}
