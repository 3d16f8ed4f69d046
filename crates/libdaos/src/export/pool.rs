//! Pools.

use std::ffi::{c_char, c_uint, c_void};

use super::{Bytes, Event, Handle, InOut, Out, Text, export, outs};
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
        globals, handles,
    },
};

#[export(daos_pool_connect2)]
fn daos_pool_connect(
    pool: Text,
    _system: *const c_char,
    flags: c_uint,
    handle: Out<Handle>,
    info: InOut<daos_pool_info_t>,
    event: Event,
) -> Result<()> {
    let (pool, handle) = (pool.text()?, handle.place()?);
    let cookie = pools::connect(pool, flags)?;
    handle.set(Handle { cookie });
    tell(cookie, info).inspect_err(|_| _ = handles::remove(cookie))
}

#[export]
fn daos_pool_disconnect(pool: Handle, event: Event) -> Result<()> {
    pools::disconnect(pool.cookie)
}

/// Reports the label and the access rights, and no other properties. No ranks exist: each process serves itself.
#[export]
fn daos_pool_query(
    pool: Handle,
    ranks: *mut *mut c_void,
    info: InOut<daos_pool_info_t>,
    properties: InOut<daos_prop_t>,
    event: Event,
) -> Result<()> {
    if !ranks.is_null() {
        return refuse(DER_NOSYS, "the ranks of a pool");
    }
    if !properties.is_null() {
        properties.fill(&properties::of_pool(&*Pool::get(pool.cookie)?))?;
    }
    tell(pool.cookie, info)
}

/// Fills the requested information on a pool, if any: `pi_bits` name the requested parts.
fn tell(pool: u64, info: InOut<daos_pool_info_t>) -> Result<()> {
    let pool = Pool::get(pool)?;
    let Some(info) = info.or_none() else { return Ok(()) };
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

#[export]
unsafe fn daos_pool_list_cont(
    pool: Handle,
    count: InOut<u64>,
    buffer: *mut daos_pool_cont_info,
    event: Event,
) -> Result<()> {
    let count = count.get()?;
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
}

#[export]
fn daos_pool_local2global(pool: Handle, global: InOut<d_iov_t>) -> Result<()> {
    global.give(&globals::of_pool(pool.cookie)?)
}

#[export]
fn daos_pool_global2local(global: Bytes, pool: Out<Handle>) -> Result<()> {
    pool.open(|| globals::to_pool(global.get()?))
}
