//! Snapshots, and tables of objects.

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use super::{answer, many_mut, place, text};
use crate::{
    abi::{constants::*, types::*},
    error::invalid,
    handles, snapshots,
};

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_create_snap(
    container: daos_handle_t,
    epoch: *mut u64,
    name: *mut c_char,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe { daos_cont_create_snap_opt(container, epoch, name, DAOS_SNAP_OPT_CR, event) }
}

/// A table of the objects needs no preparation, so whether one is asked for makes no difference.
#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_create_snap_opt(
    container: daos_handle_t,
    epoch: *mut u64,
    name: *mut c_char,
    options: c_int,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        if options & DAOS_SNAP_OPT_CR == 0 || options & !(DAOS_SNAP_OPT_CR | DAOS_SNAP_OPT_OIT) != 0 {
            return invalid(
                "options of a snapshot: DAOS_SNAP_OPT_CR, with or without DAOS_SNAP_OPT_OIT, is expected",
            );
        }
        // SAFETY: a place and a string of the caller's.
        let (epoch, name) = unsafe { (place(epoch)?, if name.is_null() { None } else { Some(text(name)?) }) };
        *epoch = snapshots::create(container.cookie, name)?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_cont_destroy_snap(
    container: daos_handle_t,
    range: daos_epoch_range_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || snapshots::destroy(container.cookie, range.epr_lo, range.epr_hi))
}

/// Names are not told: places for them are set to null.
#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_list_snap(
    container: daos_handle_t,
    count: *mut c_int,
    epochs: *mut u64,
    names: *mut *mut c_char,
    anchor: *mut daos_anchor_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: places of the caller's.
        let (count, anchor) = unsafe { (place(count)?, place(anchor)?) };
        let room = u64::try_from(*count).unwrap_or(0);
        let all = snapshots::list(&*handles::container(container.cookie)?)?;
        let from = index(anchor);
        let rest = all.get(from..).unwrap_or_default();
        *count = rest.len() as c_int;
        if epochs.is_null() {
            return Ok(());
        }
        // SAFETY: the caller has room for so many, of each if it is not null.
        let (epochs, names) = unsafe {
            (many_mut(epochs, room)?, if names.is_null() { &mut [] } else { many_mut(names, room)? })
        };
        names.iter_mut().for_each(|name| *name = ptr::null_mut());
        epochs.iter_mut().zip(rest).for_each(|(place, snapshot)| *place = snapshot.epoch);
        go_on(anchor, from + epochs.len().min(rest.len()), rest.len() > epochs.len());
        Ok(())
    })
}

/// Where a listing by index goes on.
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

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_oit_open(
    container: daos_handle_t,
    epoch: u64,
    table: *mut daos_handle_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: a place of the caller's.
        let table = unsafe { place(table) }?;
        table.cookie = snapshots::open_table(container.cookie, epoch)?;
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_oit_close(table: daos_handle_t, event: *mut daos_event_t) -> c_int {
    answer(event, || snapshots::close_table(table.cookie))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_oit_list(
    table: daos_handle_t,
    ids: *mut daos_obj_id_t,
    count: *mut u32,
    anchor: *mut daos_anchor_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: places of the caller's.
        let (count, anchor) = unsafe { (place(count)?, place(anchor)?) };
        // SAFETY: the caller has room for so many.
        let places = unsafe { many_mut(ids, (*count).into()) }?;
        let table = handles::object_table(table.cookie)?;
        let from = index(anchor);
        let (page, has_more) = table.page(from, places.len());
        for (place, id) in places.iter_mut().zip(page) {
            (place.hi, place.lo) = (id.hi(), id.lo());
        }
        *count = page.len() as u32;
        go_on(anchor, from.saturating_add(page.len()), has_more);
        Ok(())
    })
}
