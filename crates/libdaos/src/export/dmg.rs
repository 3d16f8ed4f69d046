//! Making and removing pools, as programs that test do it with DAOS's `libdaos_tests`.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use rustix::process::{getegid, geteuid};

use super::{
    answer, many_mut, place,
    properties::{Union, daos_prop_entry_get},
    text,
};
use crate::{
    abi::{errors::*, info::*, properties::*, types::*},
    error::{invalid, refuse},
    pools,
};

/// Of the properties the label counts. There is one server, so which and how much room are not looked at; the pool belongs to whoever makes it.
#[unsafe(no_mangle)]
unsafe extern "C" fn dmg_pool_create(
    _configuration: *const c_char,
    user: libc::uid_t,
    group: libc::gid_t,
    _system: *const c_char,
    _targets: *const d_rank_list_t,
    _scm_size: u64,
    _nvme_size: u64,
    properties: *mut daos_prop_t,
    service: *mut d_rank_list_t,
    uuid: *mut uuid_t,
) -> c_int {
    answer(ptr::null_mut(), || {
        if (user, group) != (geteuid().as_raw(), getegid().as_raw()) {
            return refuse(
                DER_NOTSUPPORTED,
                "a pool that belongs to another user or group than this process",
            );
        }
        // SAFETY: a list of the caller's, or none.
        let label = unsafe { daos_prop_entry_get(properties, DAOS_PROP_PO_LABEL).as_ref() };
        // SAFETY: the value of this property is a string.
        let label = label.map(|entry| unsafe { text(entry.value().cast()) }).transpose()?;
        // SAFETY: places of the caller's.
        let (uuid, service) = unsafe { (place(uuid)?, service.as_mut()) };
        let service = service.filter(|service| service.rl_nr > 0);
        // SAFETY: a list of the caller's with so many places.
        let rank = service.as_ref().map(|service| unsafe { many_mut(service.rl_ranks, 1) }).transpose()?;
        *uuid = pools::create(label)?;
        if let (Some(service), Some(rank)) = (service, rank) {
            (service.rl_nr, rank[0]) = (1, 0);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dmg_pool_destroy(
    _configuration: *const c_char,
    uuid: *const uuid_t,
    _system: *const c_char,
    force: c_int,
) -> c_int {
    answer(ptr::null_mut(), || {
        // SAFETY: a UUID of the caller's.
        match unsafe { uuid.as_ref() } {
            None => invalid("a null pointer for a UUID"),
            Some(uuid) => pools::destroy(uuid, force != 0),
        }
    })
}
