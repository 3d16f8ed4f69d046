//! Creating and removing pools by the functions of DAOS's `libdaos_tests`, for test programs.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use rustix::process::{getegid, geteuid};

use super::{
    answer, out, place_or_none,
    properties::{Union, daos_prop_entry_get},
    text, value_or_none,
};
use crate::{
    abi::{errors::*, info::*, properties::*, types::*},
    containers::pools,
    runtime::error::{invalid, refuse},
};

/// Only the label of the properties counts. There is one server, so the choice of servers and sizes is ignored. The pool belongs to its creator.
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
        // SAFETY: STRUCT for `properties`, in which the entry is.
        let label = unsafe { value_or_none(daos_prop_entry_get(properties, DAOS_PROP_PO_LABEL)) };
        // SAFETY: STRING for the value, since a label is one.
        let label = label.map(|entry| unsafe { text(entry.value().cast()) }).transpose()?;
        // SAFETY: OUT for `uuid`, STRUCT for `service`.
        let (uuid, service) = unsafe { (out(uuid)?, place_or_none(service)) };
        let service = service.filter(|service| service.rl_nr > 0);
        // SAFETY: LIST for `rl_ranks`, of `rl_nr`, which is 1 or more.
        let rank = service.as_ref().map(|service| unsafe { out(service.rl_ranks) }).transpose()?;
        uuid.set(pools::create(label)?);
        if let (Some(service), Some(rank)) = (service, rank) {
            service.rl_nr = 1;
            rank.set(0);
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
        // SAFETY: STRUCT for `uuid`.
        match unsafe { value_or_none(uuid) } {
            None => invalid("a null pointer for a UUID"),
            Some(uuid) => pools::destroy(uuid, force != 0),
        }
    })
}
