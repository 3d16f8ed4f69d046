//! Maps.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
};

use super::{answer, answer_handle, halves, key, listing, many, place};
use crate::{
    abi::{errors::*, types::*},
    objects::{self, arrays, kv},
    runtime::error::Der,
};

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_kv_open(
    container: daos_handle_t,
    id: daos_obj_id_t,
    mode: c_uint,
    handle: *mut daos_handle_t,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: OUT for `handle`.
    unsafe { answer_handle(event, handle, || objects::open_map(container.cookie, halves(id), mode)) }
}

#[unsafe(no_mangle)]
extern "C" fn daos_kv_close(map: daos_handle_t, event: *mut daos_event_t) -> c_int {
    answer(event, || arrays::close_object(map.cookie))
}

#[unsafe(no_mangle)]
extern "C" fn daos_kv_destroy(
    map: daos_handle_t,
    transaction: daos_handle_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (map, scope) = objects::map_in(map.cookie, transaction.cookie)?;
        kv::destroy(&map, &scope)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_kv_put(
    map: daos_handle_t,
    transaction: daos_handle_t,
    flags: u64,
    name: *const c_char,
    size: u64,
    value: *const c_void,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (map, scope) = objects::map_in(map.cookie, transaction.cookie)?;
        // SAFETY: STRING for `name`, BYTES for `value`.
        let (name, value) = unsafe { (key(name)?, many(value.cast::<u8>(), size)?) };
        kv::put(&map, &scope, flags, name, value)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_kv_get(
    map: daos_handle_t,
    transaction: daos_handle_t,
    flags: u64,
    name: *const c_char,
    size: *mut u64,
    value: *mut c_void,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (map, scope) = objects::map_in(map.cookie, transaction.cookie)?;
        // SAFETY: STRING for `name`, STRUCT for `size`.
        let (name, size) = unsafe { (key(name)?, place(size)?) };
        let found = kv::get(&map, &scope, flags, name)?.unwrap_or_default();
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
unsafe extern "C" fn daos_kv_remove(
    map: daos_handle_t,
    transaction: daos_handle_t,
    flags: u64,
    name: *const c_char,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (map, scope) = objects::map_in(map.cookie, transaction.cookie)?;
        // SAFETY: STRING for `name`.
        kv::remove(&map, &scope, flags, unsafe { key(name) }?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_kv_list(
    map: daos_handle_t,
    transaction: daos_handle_t,
    count: *mut u32,
    descriptions: *mut daos_key_desc_t,
    list: *mut d_sg_list_t,
    anchor: *mut daos_anchor_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (map, scope) = objects::map_in(map.cookie, transaction.cookie)?;
        // SAFETY: STRUCT for `count`, `list` and `anchor`, LIST for `descriptions`, of `count`.
        unsafe {
            listing::keys(count, descriptions, list, anchor, |anchor, limit| {
                kv::list(&map, &scope, anchor, limit)
            })
        }
    })
}
