//! Containers.

use std::ffi::{c_int, c_uint};

use super::{Bytes, Event, Handle, InOut, Out, Text, export};
use crate::{
    abi::{info::*, types::*},
    containers::{self, Container, access, properties},
    runtime::{error::Result, globals, handles},
    transactions::snapshots,
};

#[export]
fn daos_cont_create_with_label(
    pool: Handle,
    label: Text,
    properties: InOut<daos_prop_t>,
    uuid: Out<uuid_t>,
    event: Event,
) -> Result<()> {
    uuid.give(containers::create(pool.cookie, Some(label.text()?), &properties.taken()?, &[])?);
    Ok(())
}

#[export(daos_cont_create2)]
fn daos_cont_create(
    pool: Handle,
    uuid: Out<uuid_t>,
    properties: InOut<daos_prop_t>,
    event: Event,
) -> Result<()> {
    uuid.give(containers::create(pool.cookie, None, &properties.taken()?, &[])?);
    Ok(())
}

#[export(daos_cont_open2)]
fn daos_cont_open(
    pool: Handle,
    container: Text,
    flags: c_uint,
    handle: Out<Handle>,
    info: Out<daos_cont_info_t>,
    event: Event,
) -> Result<()> {
    let (name, handle) = (container.text()?, handle.place()?);
    let cookie = containers::open(pool.cookie, name, flags)?;
    handle.set(Handle { cookie });
    tell(cookie, info)
}

#[export]
fn daos_cont_close(container: Handle, event: Event) -> Result<()> {
    containers::close(container.cookie)
}

#[export(daos_cont_destroy2)]
fn daos_cont_destroy(pool: Handle, container: Text, force: c_int, event: Event) -> Result<()> {
    containers::destroy(pool.cookie, container.text()?, force != 0)
}

#[export]
fn daos_cont_query(
    container: Handle,
    info: Out<daos_cont_info_t>,
    mut list: InOut<daos_prop_t>,
    event: Event,
) -> Result<()> {
    if !list.is_null() {
        let opened = Container::get(container.cookie)?;
        access::check_told(&opened, list.reborrow().asked()?.into_iter())?;
        list.fill(&properties::of(&opened)?)?;
    }
    tell(container.cookie, info)
}

/// Fills the requested information on a container, if any.
fn tell(container: u64, info: Out<daos_cont_info_t>) -> Result<()> {
    let container = Container::get(container)?;
    if info.is_null() {
        return Ok(());
    }
    let opened = handles::all::<Container>();
    let handles = opened.iter().filter(|other| other.uuid == container.uuid).count();
    let mut told =
        daos_cont_info_t { ci_uuid: container.uuid, ci_nhandles: handles as u32, ..Default::default() };
    // An engine without snapshots has none.
    if container.inner.capabilities().snapshots {
        let all = snapshots::list(&container)?;
        told.ci_nsnapshots = all.len() as u32;
        told.ci_lsnapshot = all.last().map_or(0, |last| last.epoch);
    }
    info.give(told);
    Ok(())
}

#[export]
fn daos_cont_alloc_oids(container: Handle, count: u64, first: Out<u64>, event: Event) -> Result<()> {
    first.fill(|| Container::get(container.cookie)?.allocate_ids(count))
}

#[export]
fn daos_cont_aggregate(container: Handle, epoch: u64, event: Event) -> Result<()> {
    containers::aggregate(container.cookie, epoch)
}

#[export]
fn daos_cont_local2global(container: Handle, global: InOut<d_iov_t>) -> Result<()> {
    global.give(&globals::of_container(container.cookie)?)
}

#[export]
fn daos_cont_global2local(pool: Handle, global: Bytes, container: Out<Handle>) -> Result<()> {
    container.open(|| globals::to_container(pool.cookie, global.get()?))
}
