//! Objects of the general form, and ids of all.

use std::{
    ffi::{c_int, c_uint},
    ptr,
};

use super::{
    Plain, anchors, answer, answer_handle, halves, listing, many, many_mut, out, out_or_none, outs, place,
    second_name, value_or_none, vectors,
};
use crate::{
    abi::{constants::*, errors::*, types::*},
    containers::Container,
    objects::{self, arrays, extents, general, key_query, records::Fetched, requests::AkeyRequest},
    runtime::error::{Der, Result, invalid, refuse},
};

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_generate_oid(
    container: daos_handle_t,
    id: *mut daos_obj_id_t,
    kind: c_int,
    class: u32,
    _hints: u16,
    _arguments: u32,
) -> c_int {
    answer(ptr::null_mut(), || {
        Container::get(container.cookie)?;
        // SAFETY: STRUCT for `id`.
        let id = unsafe { place(id) }?;
        // A number above a byte is no type.
        (id.hi, id.lo) = objects::generate(halves(*id), u8::try_from(kind).unwrap_or(u8::MAX), class)?;
        Ok(())
    })
}

second_name! { daos_obj_generate_oid2 = daos_obj_generate_oid(
    container: daos_handle_t, id: *mut daos_obj_id_t, kind: c_int, class: u32, hints: u16, arguments: u32
) }

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_open(
    container: daos_handle_t,
    id: daos_obj_id_t,
    mode: c_uint,
    handle: *mut daos_handle_t,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: OUT for `handle`.
    unsafe { answer_handle(event, handle, || objects::open(container.cookie, halves(id), mode)) }
}

#[unsafe(no_mangle)]
extern "C" fn daos_obj_close(object: daos_handle_t, event: *mut daos_event_t) -> c_int {
    answer(event, || arrays::close_object(object.cookie))
}

/// The bytes of a key.
///
/// # Safety
/// STRUCT, with its BYTES, as long as the result is used.
unsafe fn key_of<'a>(key: *const daos_key_t) -> Result<&'a [u8]> {
    // SAFETY: STRUCT for `key`.
    match unsafe { value_or_none(key) } {
        // SAFETY: BYTES for `iov_buf`, as many as `iov_len` says.
        Some(key) => unsafe { many(key.iov_buf.cast::<u8>(), key.iov_len) },
        None => invalid("a null pointer for a key"),
    }
}

/// One item of the caller's, or several.
///
/// # Safety
/// LIST, as long as the result is used.
unsafe fn some_of<'a, T: Plain>(first: *mut T, count: c_uint) -> Result<&'a mut [T]> {
    match count {
        0 => invalid("no attribute key: one is expected at least"),
        // SAFETY: LIST for `first`, of `count`.
        _ => unsafe { many_mut(first, count.into()) },
    }
}

/// Refuses the conditions of another kind of call than these, and one for all attribute keys beside one for each.
fn check_conditions(flags: u64, fitting: u64) -> Result<()> {
    let of_akeys = DAOS_COND_AKEY_INSERT | DAOS_COND_AKEY_UPDATE | DAOS_COND_AKEY_FETCH;
    match flags & DAOS_COND_MASK {
        conditions if conditions & !(fitting | DAOS_COND_PER_AKEY) != 0 => {
            invalid(&format!("conditions {conditions:#x} of another kind of call"))
        }
        conditions if conditions & DAOS_COND_PER_AKEY != 0 && conditions & of_akeys != 0 => {
            invalid(&format!("conditions {conditions:#x}: DAOS_COND_PER_AKEY and one for all attribute keys"))
        }
        _ => Ok(()),
    }
}

/// The request for one attribute key.
///
/// # Safety
/// STRUCT for the description: its name is a key, and its extents are a LIST of `iod_nr`.
unsafe fn part<'a>(described: &daos_iod_t) -> Result<AkeyRequest<'a>> {
    let ranges = match described.iod_type {
        DAOS_IOD_SINGLE if described.iod_nr == 1 => None,
        DAOS_IOD_SINGLE => return invalid("iod_nr of a single value: 1 is expected"),
        DAOS_IOD_ARRAY => {
            // SAFETY: LIST for `iod_recxs`, of `iod_nr`.
            let ranges = unsafe { many(described.iod_recxs, described.iod_nr.into()) }?;
            Some(ranges.iter().map(|range| (range.rx_idx, range.rx_nr)).collect())
        }
        _ => return invalid("the type of an entry: DAOS_IOD_SINGLE or DAOS_IOD_ARRAY is expected"),
    };
    // SAFETY: `described` is a reference, and its name a key with BYTES.
    let akey = unsafe { key_of(&raw const described.iod_name) }?;
    Ok(AkeyRequest { akey, ranges, size: described.iod_size, flags: described.iod_flags, capacity: None })
}

/// Reports the extents that have records.
///
/// # Safety
/// LIST for `iom_recxs`, of `iom_nr`.
unsafe fn tell(found: &Fetched, kind: daos_iod_type_t, map: &mut daos_iom_t) -> Result<()> {
    let runs = found.ranges.iter().map(|(first, count)| daos_recx_t { rx_idx: *first, rx_nr: *count });
    (map.iom_type, map.iom_size) = (kind, found.size);
    map.iom_nr_out = found.ranges.len() as u32;
    map.iom_recx_lo = runs.clone().min_by_key(|run| run.rx_idx).unwrap_or_default();
    map.iom_recx_hi = runs.clone().max_by_key(|run| run.rx_idx).unwrap_or_default();
    if map.iom_flags & DAOS_IOMF_DETAIL != 0 {
        // SAFETY: LIST for `iom_recxs`, of `iom_nr`.
        let places = unsafe { outs(map.iom_recxs, map.iom_nr.into()) }?;
        places.iter_mut().zip(runs).for_each(|(place, run)| _ = place.write(run));
    }
    Ok(())
}

/// Reports how far buffers are filled, including holes between records. Returns the number of filled buffers.
fn filled_up_to(end: u64, vectors: &mut [d_iov_t]) -> u32 {
    let (mut left, mut count) = (end, 0);
    for vector in vectors {
        count += u32::from(left > 0);
        vector.iov_len = left.min(vector.iov_buf_len);
        left -= vector.iov_len;
    }
    count
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_fetch(
    object: daos_handle_t,
    transaction: daos_handle_t,
    flags: u64,
    dkey: *const daos_key_t,
    count: c_uint,
    described: *mut daos_iod_t,
    lists: *mut d_sg_list_t,
    maps: *mut daos_iom_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (object, scope) = objects::object_in(object.cookie, transaction.cookie)?;
        check_conditions(flags, DAOS_COND_DKEY_FETCH | DAOS_COND_AKEY_FETCH)?;
        // SAFETY: STRUCT for `dkey`, LIST for `described`, of `count`.
        let (dkey, described) = unsafe { (key_of(dkey)?, some_of(described, count)?) };
        let mut parts = Vec::with_capacity(described.len());
        for (at, one) in described.iter().enumerate() {
            // SAFETY: STRUCT for `one`: its name is a key, its extents are a LIST of `iod_nr`.
            let mut part = unsafe { part(one) }?;
            if !lists.is_null() {
                // SAFETY: LIST for `lists`, of `count` as `described`: `at` is within.
                let vectors = unsafe { vectors(lists.add(at)) }?;
                part.capacity = Some(
                    vectors.iter().fold(0, |capacity, vector| vector.iov_buf_len.saturating_add(capacity)),
                );
            }
            part.check_fetch()?;
            parts.push(part);
        }
        let found = general::fetch(&object, &scope, flags, dkey, &parts)?;
        for (at, (described, found)) in described.iter_mut().zip(&found).enumerate() {
            described.iod_size = found.size;
            if !maps.is_null() {
                // SAFETY: LIST for `maps`, of `count` as `described`: `at` is within. Each has a LIST of `iom_nr` extents.
                unsafe { tell(found, described.iod_type, place(maps.add(at))?) }?;
            }
            if lists.is_null() {
                continue;
            }
            // SAFETY: LIST for `lists`, of `count` as `described`: `at` is within.
            let list = unsafe { place(lists.add(at)) }?;
            // SAFETY: STRUCT for `list`.
            let vectors = unsafe { vectors(list) }?;
            for (position, bytes) in &found.pieces {
                // SAFETY: BUFFER for each of `vectors`.
                unsafe { listing::scatter_at(*position, bytes, vectors) };
            }
            let end = found.pieces.iter().map(|(position, bytes)| position + bytes.len() as u64).max();
            list.sg_nr_out = filled_up_to(end.unwrap_or(0), vectors);
        }
        match found.iter().any(|found| found.is_too_big) {
            true => Err(Der(DER_REC2BIG)),
            false => Ok(()),
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_update(
    object: daos_handle_t,
    transaction: daos_handle_t,
    flags: u64,
    dkey: *const daos_key_t,
    count: c_uint,
    described: *mut daos_iod_t,
    lists: *mut d_sg_list_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (object, scope) = objects::object_in(object.cookie, transaction.cookie)?;
        check_conditions(
            flags,
            DAOS_COND_DKEY_INSERT | DAOS_COND_DKEY_UPDATE | DAOS_COND_AKEY_INSERT | DAOS_COND_AKEY_UPDATE,
        )?;
        // SAFETY: STRUCT for `dkey`, LIST for `described`, of `count`.
        let (dkey, described) = unsafe { (key_of(dkey)?, some_of(described, count)?) };
        let mut parts = Vec::with_capacity(described.len());
        for (at, one) in described.iter().enumerate() {
            let mut bytes = Vec::new();
            if lists.is_null() && one.iod_size > 0 {
                return invalid("an update without a list of buffers");
            }
            if one.iod_size > 0 {
                // SAFETY: LIST for `lists`, of `count` as `described`: `at` is within.
                for vector in unsafe { vectors(lists.add(at)) }? {
                    // SAFETY: BYTES for each vector, as many as `iov_len` says.
                    bytes.extend_from_slice(unsafe { many(vector.iov_buf.cast::<u8>(), vector.iov_len) }?);
                }
            }
            // SAFETY: STRUCT for `one`: its name is a key, its extents are a LIST of `iod_nr`.
            let part = unsafe { part(one) }?;
            part.check_update(!lists.is_null())?;
            if part.ranges.is_none() {
                if (bytes.len() as u64) < part.size {
                    return refuse(DER_REC2BIG, "a single value that is larger than its buffers");
                }
                // Buffers may be larger than the value.
                bytes.truncate(part.size as usize);
            }
            parts.push((part, bytes));
        }
        general::update(&object, &scope, flags, dkey, &parts)
    })
}

/// The number of anchors that list parts of an object in parallel: one.
#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_anchor_split(
    object: daos_handle_t,
    count: *mut u32,
    anchors: *mut daos_anchor_t,
) -> c_int {
    answer(ptr::null_mut(), || {
        objects::object_in(object.cookie, 0)?;
        // SAFETY: STRUCT for `count`.
        let count = unsafe { place(count) }?;
        if *count > 1 {
            return invalid("anchors of other than the one part that an object has");
        }
        *count = 1;
        // SAFETY: OUT for `anchors`.
        if let Some(anchor) = unsafe { out_or_none(anchors) } {
            anchor.set(daos_anchor_t::default());
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_anchor_set(
    object: daos_handle_t,
    index: u32,
    anchor: *mut daos_anchor_t,
) -> c_int {
    answer(ptr::null_mut(), || {
        objects::object_in(object.cookie, 0)?;
        if index != 0 {
            return invalid("the anchor of another part than the one that an object has");
        }
        // SAFETY: OUT for `anchor`.
        unsafe { out(anchor) }?.set(daos_anchor_t::default());
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn daos_obj_punch(
    object: daos_handle_t,
    transaction: daos_handle_t,
    flags: u64,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (object, scope) = objects::object_in(object.cookie, transaction.cookie)?;
        general::punch(&object, &scope, flags)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_punch_dkeys(
    object: daos_handle_t,
    transaction: daos_handle_t,
    flags: u64,
    count: c_uint,
    dkeys: *mut daos_key_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (object, scope) = objects::object_in(object.cookie, transaction.cookie)?;
        if count != 1 {
            return invalid("daos_obj_punch_dkeys of other than one key");
        }
        // SAFETY: STRUCT for `dkeys`.
        general::punch_dkey(&object, &scope, flags, unsafe { key_of(dkeys) }?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_punch_akeys(
    object: daos_handle_t,
    transaction: daos_handle_t,
    flags: u64,
    dkey: *const daos_key_t,
    count: c_uint,
    akeys: *mut daos_key_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (object, scope) = objects::object_in(object.cookie, transaction.cookie)?;
        // SAFETY: STRUCT for `dkey`, LIST for `akeys`, of `count`.
        let (dkey, akeys) = unsafe { (key_of(dkey)?, some_of(akeys, count)?) };
        // SAFETY: STRUCT for each of `akeys`.
        let akeys: Vec<&[u8]> = akeys.iter().map(|akey| unsafe { key_of(akey) }).collect::<Result<_>>()?;
        general::punch_akeys(&object, &scope, flags, dkey, &akeys)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_list_dkey(
    object: daos_handle_t,
    transaction: daos_handle_t,
    count: *mut u32,
    descriptions: *mut daos_key_desc_t,
    list: *mut d_sg_list_t,
    anchor: *mut daos_anchor_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (object, scope) = objects::object_in(object.cookie, transaction.cookie)?;
        let page = |anchor: &_, limit| general::list(&object, &scope, None, anchor, limit);
        // SAFETY: STRUCT for `count`, `list` and `anchor`, LIST for `descriptions`, of `count`.
        unsafe { listing::keys(count, descriptions, list, anchor, page) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_list_akey(
    object: daos_handle_t,
    transaction: daos_handle_t,
    dkey: *const daos_key_t,
    count: *mut u32,
    descriptions: *mut daos_key_desc_t,
    list: *mut d_sg_list_t,
    anchor: *mut daos_anchor_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (object, scope) = objects::object_in(object.cookie, transaction.cookie)?;
        // SAFETY: STRUCT for `dkey`.
        let dkey = unsafe { key_of(dkey) }?;
        let page = |anchor: &_, limit| general::list(&object, &scope, Some(dkey), anchor, limit);
        // SAFETY: STRUCT for `count`, `list` and `anchor`, LIST for `descriptions`, of `count`.
        unsafe { listing::keys(count, descriptions, list, anchor, page) }
    })
}

/// Epochs of extents are unknown here, so `_epochs` stay unchanged, as on DAOS.
#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_list_recx(
    object: daos_handle_t,
    transaction: daos_handle_t,
    dkey: *const daos_key_t,
    akey: *const daos_key_t,
    size: *mut u64,
    count: *mut u32,
    records: *mut daos_recx_t,
    _epochs: *mut daos_epoch_range_t,
    anchor: *mut daos_anchor_t,
    is_ascending: bool,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (object, scope) = objects::object_in(object.cookie, transaction.cookie)?;
        // SAFETY: STRUCT for `dkey`, `akey`, `count` and `anchor`.
        let (keys, count, anchor) =
            unsafe { ((key_of(dkey)?, key_of(akey)?), place(count)?, place(anchor)?) };
        // SAFETY: LIST for `records`, of `count`.
        let places = unsafe { outs(records, (*count).into()) }?;
        if places.is_empty() {
            return invalid("a listing with space for no extent");
        }
        if anchor.da_type == DAOS_ANCHOR_TYPE_EOF {
            *count = 0;
            return Ok(());
        }
        let from = anchors::unpacked(anchor)?;
        let found = extents::list(&object, &scope, keys, &from, places.len(), is_ascending)?;
        let ranges = found.ranges.iter().map(|(first, count)| daos_recx_t { rx_idx: *first, rx_nr: *count });
        places.iter_mut().zip(ranges).for_each(|(place, range)| _ = place.write(range));
        *count = found.ranges.len() as u32;
        anchors::pack(found.next.as_ref(), anchor);
        // SAFETY: OUT for `size`.
        if let Some(size) = unsafe { out_or_none(size) } {
            size.set(found.size);
        }
        Ok(())
    })
}

/// Writes an integer key to the caller's buffer.
///
/// # Safety
/// STRUCT, with a BUFFER of `iov_buf_len` or `iov_len` bytes, whichever are more.
unsafe fn give_key(number: u64, key: *mut daos_key_t) -> Result<()> {
    // SAFETY: STRUCT for `key`.
    let key = unsafe { place(key) }?;
    if key.iov_buf_len.max(key.iov_len) < 8 {
        return invalid("less than eight bytes of space for an integer key");
    }
    // SAFETY: BUFFER for `iov_buf`, which has eight bytes or more, as was looked at.
    unsafe { many_mut(key.iov_buf.cast::<u8>(), 8) }?.copy_from_slice(&number.to_le_bytes());
    key.iov_len = 8;
    Ok(())
}

/// Something that does not exist has keys of 0 and no records.
#[unsafe(no_mangle)]
unsafe extern "C" fn daos_obj_query_key(
    object: daos_handle_t,
    transaction: daos_handle_t,
    flags: u64,
    dkey: *mut daos_key_t,
    akey: *mut daos_key_t,
    records: *mut daos_recx_t,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let (object, scope) = objects::object_in(object.cookie, transaction.cookie)?;
        let (wants_dkey, wants_akey) = (flags & DAOS_GET_DKEY != 0, flags & DAOS_GET_AKEY != 0);
        // A query without records needs no attribute key.
        let needs_akey = !wants_akey && flags & DAOS_GET_RECX != 0;
        // SAFETY: STRUCT for `dkey` and `akey`.
        let (given_dkey, given_akey) = unsafe {
            (
                if wants_dkey { None } else { Some(key_of(dkey)?) },
                if needs_akey { Some(key_of(akey)?) } else { None },
            )
        };
        let query = key_query::Query { flags, dkey: given_dkey, akey: given_akey };
        let found = key_query::find(&object, &scope, &query)?.unwrap_or_default();
        // SAFETY: STRUCT for `dkey` and `akey`, OUT for `records`, where they are asked for.
        unsafe {
            if wants_dkey {
                give_key(found.dkey, dkey)?;
            }
            if wants_akey {
                give_key(found.akey, akey)?;
            }
            if flags & DAOS_GET_RECX != 0 {
                out(records)?.set(daos_recx_t { rx_idx: found.records.0, rx_nr: found.records.1 });
            }
        }
        Ok(())
    })
}
