//! Pools.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::{answer, give, many, out, outs, place, place_or_none, properties::fill, second_name, text};
use crate::{
    abi::{
        acl::{DPI_SPACE, DRS_NOT_STARTED},
        errors::*,
        info::*,
        types::*,
    },
    containers::{
        labels,
        pools::{self, Pool},
        properties,
    },
    objects::TARGETS,
    runtime::{
        error::{Der, Result, refuse},
        handles,
    },
};

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_pool_connect(
    pool: *const c_char,
    _system: *const c_char,
    flags: c_uint,
    handle: *mut daos_handle_t,
    info: *mut daos_pool_info_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: STRING for `pool`, OUT for `handle`.
        let (pool, handle) = unsafe { (text(pool)?, out(handle)?) };
        let cookie = pools::connect(pool, flags)?;
        handle.set(daos_handle_t { cookie });
        // SAFETY: STRUCT for `info`.
        unsafe { tell(cookie, info) }.inspect_err(|_| {
            let _ = handles::remove(cookie);
        })
    })
}

second_name! { daos_pool_connect2 = daos_pool_connect(
    pool: *const c_char, system: *const c_char, flags: c_uint, handle: *mut daos_handle_t,
    info: *mut daos_pool_info_t, event: *mut daos_event_t
) }

#[unsafe(no_mangle)]
extern "C" fn daos_pool_disconnect(pool: daos_handle_t, event: *mut daos_event_t) -> c_int {
    answer(event, || pools::disconnect(pool.cookie))
}

/// Reports the label and the access rights, and no other properties. No ranks exist: each process serves itself.
#[unsafe(no_mangle)]
unsafe extern "C" fn daos_pool_query(
    pool: daos_handle_t,
    ranks: *mut *mut c_void,
    info: *mut daos_pool_info_t,
    properties: *mut daos_prop_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        if !ranks.is_null() {
            return refuse(DER_NOSYS, "the ranks of a pool");
        }
        if !properties.is_null() {
            let found = properties::of_pool(&*Pool::get(pool.cookie)?);
            // SAFETY: STRUCT for `properties`.
            unsafe { fill(properties, &found) }?;
        }
        // SAFETY: STRUCT for `info`.
        unsafe { tell(pool.cookie, info) }
    })
}

/// Fills the requested information on a pool, if any.
///
/// # Safety
/// STRUCT for `info`, whose `pi_bits` name the requested parts.
unsafe fn tell(pool: u64, info: *mut daos_pool_info_t) -> Result<()> {
    let pool = Pool::get(pool)?;
    // SAFETY: STRUCT for `info`.
    let Some(info) = (unsafe { place_or_none(info) }) else { return Ok(()) };
    // Measuring the space reads everything, so it is reported on request only.
    let wants_room = info.pi_bits & DPI_SPACE != 0;
    *info = daos_pool_info_t {
        pi_uuid: pool.uuid(),
        pi_ntargets: TARGETS,
        pi_nnodes: 1,
        pi_map_ver: 1,
        pi_bits: info.pi_bits,
        pi_rebuild_st: daos_rebuild_status { rs_state: DRS_NOT_STARTED, ..Default::default() },
        ..Default::default()
    };
    if !wants_room {
        // A pool that no longer exists has no report.
        return Ok(pool.inner.list_containers().map(drop)?);
    }
    let usage = pool.inner.usage()?;
    // The space of other users on the same storage does not belong to the pool's.
    info.pi_space.ps_space.s_total[0] = usage.used.saturating_add(usage.free);
    info.pi_space.ps_space.s_free[0] = usage.free;
    info.pi_space.ps_ntargets = TARGETS;
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_pool_list_cont(
    pool: daos_handle_t,
    count: *mut u64,
    buffer: *mut daos_pool_cont_info,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: STRUCT for `count`.
        let count = unsafe { place(count) }?;
        let capacity = *count;
        let all = labels::list(&*Pool::get(pool.cookie)?)?;
        *count = all.len() as u64;
        if buffer.is_null() {
            return Ok(());
        }
        if capacity < *count {
            return Err(Der(DER_TRUNC));
        }
        // SAFETY: LIST for `buffer`, of `count` as it was given, which is no less.
        let places = unsafe { outs(buffer, *count) }?;
        for (place, listed) in places.iter_mut().zip(all) {
            let info = place.write(daos_pool_cont_info { pci_uuid: listed.uuid, pci_label: [0; 128] });
            for (place, byte) in info.pci_label.iter_mut().zip(listed.label.as_str().bytes()) {
                *place = byte as c_char;
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_pool_local2global(pool: daos_handle_t, global: *mut d_iov_t) -> c_int {
    answer(std::ptr::null_mut(), || {
        let packed = crate::runtime::globals::of_pool(pool.cookie)?;
        // SAFETY: STRUCT for `global`.
        unsafe { give(&packed, global) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_pool_global2local(global: d_iov_t, pool: *mut daos_handle_t) -> c_int {
    answer(std::ptr::null_mut(), || {
        // SAFETY: BYTES for `global.iov_buf`, OUT for `pool`.
        let (packed, pool) = unsafe { (many(global.iov_buf.cast::<u8>(), global.iov_len)?, out(pool)?) };
        pool.set(daos_handle_t { cookie: crate::runtime::globals::to_pool(packed)? });
        Ok(())
    })
}
