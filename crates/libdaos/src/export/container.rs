//! Containers.

use std::ffi::{c_char, c_int, c_uint};

use super::{
    answer, answer_into, give, many, out, out_or_none,
    properties::{asked, fill, taken},
    second_name, text,
};
use crate::{
    abi::{info::*, types::*},
    containers::{self, Container, access, properties},
    runtime::{error::Result, globals, handles},
    transactions::snapshots,
};

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_create_with_label(
    pool: daos_handle_t,
    label: *const c_char,
    properties: *mut daos_prop_t,
    uuid: *mut uuid_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: STRING for `label`, STRUCT for `properties`.
        let (label, properties) = unsafe { (text(label)?, taken(properties)?) };
        let made = containers::create(pool.cookie, Some(label), &properties, &[])?;
        // SAFETY: OUT for `uuid`.
        if let Some(uuid) = unsafe { out_or_none(uuid) } {
            uuid.set(made);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_create(
    pool: daos_handle_t,
    uuid: *mut uuid_t,
    properties: *mut daos_prop_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: STRUCT for `properties`.
        let made = containers::create(pool.cookie, None, &unsafe { taken(properties) }?, &[])?;
        // SAFETY: OUT for `uuid`.
        if let Some(uuid) = unsafe { out_or_none(uuid) } {
            uuid.set(made);
        }
        Ok(())
    })
}

second_name! { daos_cont_create2 = daos_cont_create(
    pool: daos_handle_t, uuid: *mut uuid_t, properties: *mut daos_prop_t, event: *mut daos_event_t
) }

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_open(
    pool: daos_handle_t,
    container: *const c_char,
    flags: c_uint,
    handle: *mut daos_handle_t,
    info: *mut daos_cont_info_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: STRING for `container`, OUT for `handle`.
        let (name, handle) = unsafe { (text(container)?, out(handle)?) };
        let cookie = containers::open(pool.cookie, name, flags)?;
        handle.set(daos_handle_t { cookie });
        // SAFETY: OUT for `info`.
        unsafe { tell(cookie, info) }
    })
}

second_name! { daos_cont_open2 = daos_cont_open(
    pool: daos_handle_t, container: *const c_char, flags: c_uint, handle: *mut daos_handle_t,
    info: *mut daos_cont_info_t, event: *mut daos_event_t
) }

#[unsafe(no_mangle)]
extern "C" fn daos_cont_close(container: daos_handle_t, event: *mut daos_event_t) -> c_int {
    answer(event, || containers::close(container.cookie))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_destroy(
    pool: daos_handle_t,
    container: *const c_char,
    force: c_int,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: STRING for `container`.
    answer(event, || containers::destroy(pool.cookie, unsafe { text(container) }?, force != 0))
}

second_name! { daos_cont_destroy2 = daos_cont_destroy(
    pool: daos_handle_t, container: *const c_char, force: c_int, event: *mut daos_event_t
) }

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_query(
    container: daos_handle_t,
    info: *mut daos_cont_info_t,
    properties: *mut daos_prop_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        if !properties.is_null() {
            let opened = Container::get(container.cookie)?;
            // SAFETY: STRUCT for `properties`.
            access::check_told(&opened, unsafe { asked(properties) }?.into_iter())?;
            let found = properties::of(&opened)?;
            // SAFETY: STRUCT for `properties`.
            unsafe { fill(properties, &found) }?;
        }
        // SAFETY: OUT for `info`.
        unsafe { tell(container.cookie, info) }
    })
}

/// Fills the requested information on a container, if any.
///
/// # Safety
/// OUT for `info`.
unsafe fn tell(container: u64, info: *mut daos_cont_info_t) -> Result<()> {
    let container = Container::get(container)?;
    // SAFETY: OUT for `info`.
    if let Some(place) = unsafe { out_or_none(info) } {
        let opened = handles::all::<Container>();
        let handles = opened.iter().filter(|other| other.uuid == container.uuid).count();
        let mut info =
            daos_cont_info_t { ci_uuid: container.uuid, ci_nhandles: handles as u32, ..Default::default() };
        // An engine without snapshots has none.
        if container.inner.capabilities().snapshots {
            let all = snapshots::list(&container)?;
            info.ci_nsnapshots = all.len() as u32;
            info.ci_lsnapshot = all.last().map_or(0, |last| last.epoch);
        }
        place.set(info);
    }
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_alloc_oids(
    container: daos_handle_t,
    count: u64,
    first: *mut u64,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: OUT for `first`.
    unsafe { answer_into(event, first, || Container::get(container.cookie)?.allocate_ids(count)) }
}

#[unsafe(no_mangle)]
extern "C" fn daos_cont_aggregate(container: daos_handle_t, epoch: u64, event: *mut daos_event_t) -> c_int {
    answer(event, || containers::aggregate(container.cookie, epoch))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_local2global(container: daos_handle_t, global: *mut d_iov_t) -> c_int {
    answer(std::ptr::null_mut(), || {
        let packed = globals::of_container(container.cookie)?;
        // SAFETY: STRUCT for `global`.
        unsafe { give(&packed, global) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_global2local(
    pool: daos_handle_t,
    global: d_iov_t,
    container: *mut daos_handle_t,
) -> c_int {
    answer(std::ptr::null_mut(), || {
        // SAFETY: BYTES for `global.iov_buf`, OUT for `container`.
        let (packed, container) =
            unsafe { (many(global.iov_buf.cast::<u8>(), global.iov_len)?, out(container)?) };
        container.set(daos_handle_t { cookie: globals::to_container(pool.cookie, packed)? });
        Ok(())
    })
}
