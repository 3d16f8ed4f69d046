//! Snapshots, and tables of objects.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use super::{Event, Handle, In, InOut, Out, Text, export, halves, outs};
use crate::{
    abi::{constants::*, types::*},
    containers::Container,
    objects::table::{self, ObjectTable},
    runtime::error::{Result, invalid},
    transactions::snapshots,
};

#[export]
fn daos_cont_create_snap(container: Handle, epoch: Out<u64>, name: Text, event: Event) -> c_int {
    daos_cont_create_snap_opt(container, epoch, name, DAOS_SNAP_OPT_CR, event)
}

/// An object table needs no preparation, so a request for one changes nothing.
#[export]
fn daos_cont_create_snap_opt(
    container: Handle,
    epoch: Out<u64>,
    name: Text,
    options: c_int,
    event: Event,
) -> Result<()> {
    if options & DAOS_SNAP_OPT_CR == 0 || options & !(DAOS_SNAP_OPT_CR | DAOS_SNAP_OPT_OIT) != 0 {
        return invalid(
            "options of a snapshot: DAOS_SNAP_OPT_CR, with or without DAOS_SNAP_OPT_OIT, is expected",
        );
    }
    epoch.fill(|| snapshots::create(container.cookie, name.text_or_none()?))
}

#[export]
fn daos_cont_destroy_snap(container: Handle, range: daos_epoch_range_t, event: Event) -> Result<()> {
    snapshots::destroy(container.cookie, range.epr_lo, range.epr_hi)
}

/// Names are not reported: their pointers are set to null.
#[export]
unsafe fn daos_cont_list_snap(
    container: Handle,
    count: InOut<c_int>,
    epochs: *mut u64,
    names: *mut *mut c_char,
    anchor: InOut<daos_anchor_t>,
    event: Event,
) -> Result<()> {
    let (count, anchor) = (count.get()?, anchor.get()?);
    let capacity = u64::try_from(*count).unwrap_or(0);
    let all = snapshots::list(&*Container::get(container.cookie)?)?;
    let from = index(anchor);
    let rest = all.get(from..).unwrap_or_default();
    *count = rest.len() as c_int;
    if epochs.is_null() {
        return Ok(());
    }
    // SAFETY: LIST for `epochs` and `names`, of `count` each.
    let (epochs, names) =
        unsafe { (outs(epochs, capacity)?, if names.is_null() { &mut [] } else { outs(names, capacity)? }) };
    names.iter_mut().for_each(|name| _ = name.write(ptr::null_mut()));
    epochs.iter_mut().zip(rest).for_each(|(place, snapshot)| _ = place.write(snapshot.epoch));
    go_on(anchor, from + epochs.len().min(rest.len()), rest.len() > epochs.len());
    Ok(())
}

/// The place where a listing by index continues.
fn index(anchor: &daos_anchor_t) -> usize {
    match anchor.da_type {
        DAOS_ANCHOR_TYPE_ZERO => 0,
        DAOS_ANCHOR_TYPE_EOF => usize::MAX,
        _ => anchor.da_buf.first_chunk().map_or(usize::MAX, |bytes| usize::from_le_bytes(*bytes)),
    }
}

fn go_on(anchor: &mut daos_anchor_t, next: usize, has_more: bool) {
    anchor.da_type = if has_more { DAOS_ANCHOR_TYPE_HKEY } else { DAOS_ANCHOR_TYPE_EOF };
    anchor.da_buf[..8].copy_from_slice(&next.to_le_bytes());
}

#[export]
fn daos_oit_open(container: Handle, epoch: u64, table: Out<Handle>, event: Event) -> Result<()> {
    table.open(|| table::open(container.cookie, epoch))
}

#[export]
fn daos_oit_close(table: Handle, event: Event) -> Result<()> {
    table::close(table.cookie)
}

#[export]
unsafe fn daos_oit_list(
    table: Handle,
    ids: *mut daos_obj_id_t,
    count: InOut<u32>,
    anchor: InOut<daos_anchor_t>,
    event: Event,
) -> Result<()> {
    // SAFETY: LIST for `ids`, of `count`.
    unsafe { list(table, ids, count, anchor, false) }
}

#[export]
unsafe fn daos_oit_list_unmarked(
    table: Handle,
    ids: *mut daos_obj_id_t,
    count: InOut<u32>,
    anchor: InOut<daos_anchor_t>,
    event: Event,
) -> Result<()> {
    // SAFETY: LIST for `ids`, of `count`.
    unsafe { list(table, ids, count, anchor, true) }
}

/// Copies a page of ids, and the start of the next page.
///
/// # Safety
/// LIST for `ids`, of `count`.
unsafe fn list(
    table: Handle,
    ids: *mut daos_obj_id_t,
    count: InOut<u32>,
    anchor: InOut<daos_anchor_t>,
    is_unmarked: bool,
) -> Result<()> {
    let table = ObjectTable::get(table.cookie)?;
    let (count, anchor) = (count.get()?, anchor.get()?);
    // SAFETY: LIST for `ids`, of `count`.
    let places = unsafe { outs(ids, (*count).into()) }?;
    if places.is_empty() {
        return invalid("a list of object ids without space for one");
    }
    let (page, next) = table.page(index(anchor), places.len(), is_unmarked);
    for (place, id) in places.iter_mut().zip(&page) {
        place.write(daos_obj_id_t { lo: id.lo(), hi: id.hi() });
    }
    *count = page.len() as u32;
    go_on(anchor, next.unwrap_or(usize::MAX), next.is_some());
    Ok(())
}

#[export]
fn daos_oit_mark(table: Handle, id: daos_obj_id_t, marker: In<d_iov_t>, event: Event) -> Result<()> {
    let table = ObjectTable::get(table.cookie)?;
    let marker = marker.or_none();
    let is_wrong = |marker: &d_iov_t| {
        marker.iov_buf.is_null() || !(1..=DAOS_OIT_MARKER_MAX_LEN).contains(&marker.iov_len)
    };
    if marker.is_some_and(is_wrong) {
        return invalid("a mark of an object id: 1 to 32 bytes are expected");
    }
    table.mark(halves(id), marker.is_some())
}
