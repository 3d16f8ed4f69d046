//! Creating and removing pools by the functions of DAOS's `libdaos_tests`, for test programs.

use std::ffi::{c_char, c_int};

use rustix::process::{getegid, geteuid};

use super::{
    In, InOut, Out, Text, export,
    properties::{daos_prop_entry_get, value},
};
use crate::{
    abi::{errors::*, info::*, properties::*, types::*},
    containers::pools,
    runtime::error::{Result, invalid, refuse},
};

/// Only the label of the properties counts. There is one server, so the choice of servers and sizes is ignored. The pool belongs to its creator.
#[export]
fn dmg_pool_create(
    _configuration: *const c_char,
    user: libc::uid_t,
    group: libc::gid_t,
    _system: *const c_char,
    _targets: *const d_rank_list_t,
    _scm_size: u64,
    _nvme_size: u64,
    properties: InOut<daos_prop_t>,
    service: InOut<d_rank_list_t>,
    uuid: Out<uuid_t>,
) -> Result<()> {
    if (user, group) != (geteuid().as_raw(), getegid().as_raw()) {
        return refuse(DER_NOTSUPPORTED, "a pool that belongs to another user or group than this process");
    }
    // SAFETY: STRUCT for `properties`, in which the entry is; STRING for the value, since a label is one.
    let label = unsafe {
        let entry = In::new(daos_prop_entry_get(properties, DAOS_PROP_PO_LABEL)).or_none();
        entry.map(|entry| Text::new(value(entry).cast()).text()).transpose()?
    };
    let uuid = uuid.place()?;
    let service = service.or_none().filter(|service| service.rl_nr > 0);
    // SAFETY: LIST for `rl_ranks`, of `rl_nr`, which is 1 or more.
    let rank = service.as_ref().map(|service| unsafe { Out::new(service.rl_ranks) }.place()).transpose()?;
    uuid.set(pools::create(label)?);
    if let (Some(service), Some(rank)) = (service, rank) {
        service.rl_nr = 1;
        rank.set(0);
    }
    Ok(())
}

#[export]
fn dmg_pool_destroy(
    _configuration: *const c_char,
    uuid: In<uuid_t>,
    _system: *const c_char,
    force: c_int,
) -> Result<()> {
    match uuid.or_none() {
        None => invalid("a null pointer for a UUID"),
        Some(uuid) => pools::destroy(uuid, force != 0),
    }
}
