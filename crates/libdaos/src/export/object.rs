//! Objects of the general form, and ids of all.

use std::ffi::{c_int, c_uint};

use super::{
    Event, Handle, In, InOut, Out, Plain, anchors, bytes_of, export, halves, listing, many, many_mut, outs,
};
use crate::{
    abi::{constants::*, errors::*, types::*},
    containers::Container,
    objects::{self, arrays, extents, general, key_query, records::Fetched, requests::AkeyRequest},
    runtime::error::{Der, Result, invalid, refuse},
};

#[export(daos_obj_generate_oid2)]
fn daos_obj_generate_oid(
    container: Handle,
    id: InOut<daos_obj_id_t>,
    kind: c_int,
    class: u32,
    _hints: u16,
    _arguments: u32,
) -> Result<()> {
    Container::get(container.cookie)?;
    let id = id.get()?;
    // A number above a byte is no type.
    (id.hi, id.lo) = objects::generate(halves(*id), u8::try_from(kind).unwrap_or(u8::MAX), class)?;
    Ok(())
}

#[export]
fn daos_obj_open(
    container: Handle,
    id: daos_obj_id_t,
    mode: c_uint,
    handle: Out<Handle>,
    event: Event,
) -> Result<()> {
    handle.open(|| objects::open(container.cookie, halves(id), mode))
}

#[export]
fn daos_obj_close(object: Handle, event: Event) -> Result<()> {
    arrays::close_object(object.cookie)
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
    // SAFETY: STRUCT for the description, and so for its name.
    let akey = unsafe { In::new(&raw const described.iod_name) }.key()?;
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

#[export]
unsafe fn daos_obj_fetch(
    object: Handle,
    tx: Handle,
    flags: u64,
    dkey: In<daos_key_t>,
    count: c_uint,
    described: *mut daos_iod_t,
    lists: *mut d_sg_list_t,
    maps: *mut daos_iom_t,
    event: Event,
) -> Result<()> {
    let (object, scope) = &objects::object_in(object.cookie, DAOS_HTYPE_OBJ, tx.cookie)?;
    check_conditions(flags, DAOS_COND_DKEY_FETCH | DAOS_COND_AKEY_FETCH)?;
    // SAFETY: LIST for `described`, of `count`.
    let (dkey, described) = (dkey.key()?, unsafe { some_of(described, count) }?);
    let mut parts = Vec::with_capacity(described.len());
    for (at, one) in described.iter().enumerate() {
        // SAFETY: STRUCT for `one`: its name is a key, its extents are a LIST of `iod_nr`.
        let mut part = unsafe { part(one) }?;
        if !lists.is_null() {
            // SAFETY: LIST for `lists`, of `count` as `described`: `at` is within.
            let vectors = unsafe { InOut::new(lists.add(at)) }.vectors()?;
            part.capacity =
                Some(vectors.iter().fold(0, |capacity, vector| vector.iov_buf_len.saturating_add(capacity)));
        }
        part.check_fetch()?;
        parts.push(part);
    }
    let found = general::fetch(object, scope, flags, dkey, &parts)?;
    for (at, (described, found)) in described.iter_mut().zip(&found).enumerate() {
        described.iod_size = found.size;
        if !maps.is_null() {
            // SAFETY: LIST for `maps`, of `count` as `described`: `at` is within. Each has a LIST of `iom_nr` extents.
            unsafe { tell(found, described.iod_type, InOut::new(maps.add(at)).get()?) }?;
        }
        if lists.is_null() {
            continue;
        }
        // SAFETY: LIST for `lists`, of `count` as `described`: `at` is within.
        let mut list = unsafe { InOut::new(lists.add(at)) };
        let vectors = list.reborrow().vectors()?;
        for (position, bytes) in &found.pieces {
            // SAFETY: BUFFER for each of `vectors`.
            unsafe { listing::scatter(*position, bytes, vectors) };
        }
        let end = found.pieces.iter().map(|(position, bytes)| position + bytes.len() as u64).max();
        let filled = filled_up_to(end.unwrap_or(0), vectors);
        list.get()?.sg_nr_out = filled;
    }
    match found.iter().any(|found| found.is_too_big) {
        true => Err(Der(DER_REC2BIG)),
        false => Ok(()),
    }
}

#[export]
unsafe fn daos_obj_update(
    object: Handle,
    tx: Handle,
    flags: u64,
    dkey: In<daos_key_t>,
    count: c_uint,
    described: *mut daos_iod_t,
    lists: *mut d_sg_list_t,
    event: Event,
) -> Result<()> {
    let (object, scope) = &objects::object_in(object.cookie, DAOS_HTYPE_OBJ, tx.cookie)?;
    check_conditions(
        flags,
        DAOS_COND_DKEY_INSERT | DAOS_COND_DKEY_UPDATE | DAOS_COND_AKEY_INSERT | DAOS_COND_AKEY_UPDATE,
    )?;
    // SAFETY: LIST for `described`, of `count`.
    let (dkey, described) = (dkey.key()?, unsafe { some_of(described, count) }?);
    let mut parts = Vec::with_capacity(described.len());
    for (at, one) in described.iter().enumerate() {
        let mut bytes = Vec::new();
        if lists.is_null() && one.iod_size > 0 {
            return invalid("an update without a list of buffers");
        }
        if one.iod_size > 0 {
            // SAFETY: LIST for `lists`, of `count` as `described`: `at` is within. BYTES for each of its vectors.
            bytes = unsafe { bytes_of(InOut::new(lists.add(at)).vectors()?) }?.concat();
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
    general::update(object, scope, flags, dkey, &parts)
}

/// The number of anchors that list parts of an object in parallel: one.
#[export]
fn daos_obj_anchor_split(object: Handle, count: InOut<u32>, anchors: Out<daos_anchor_t>) -> Result<()> {
    objects::object_in(object.cookie, DAOS_HTYPE_OBJ, 0)?;
    let count = count.get()?;
    if *count > 1 {
        return invalid("anchors of other than the one part that an object has");
    }
    *count = 1;
    anchors.give(daos_anchor_t::default());
    Ok(())
}

#[export]
fn daos_obj_anchor_set(object: Handle, index: u32, anchor: Out<daos_anchor_t>) -> Result<()> {
    objects::object_in(object.cookie, DAOS_HTYPE_OBJ, 0)?;
    if index != 0 {
        return invalid("the anchor of another part than the one that an object has");
    }
    anchor.fill(|| Ok(daos_anchor_t::default()))
}

#[export]
fn daos_obj_punch(object: Handle, tx: Handle, flags: u64, event: Event) -> Result<()> {
    let (object, scope) = &objects::object_in(object.cookie, DAOS_HTYPE_OBJ, tx.cookie)?;
    general::punch(object, scope, flags)
}

#[export]
fn daos_obj_punch_dkeys(
    object: Handle,
    tx: Handle,
    flags: u64,
    count: c_uint,
    dkeys: In<daos_key_t>,
    event: Event,
) -> Result<()> {
    let (object, scope) = &objects::object_in(object.cookie, DAOS_HTYPE_OBJ, tx.cookie)?;
    match count {
        1 => general::punch_dkey(object, scope, flags, dkeys.key()?),
        _ => invalid("daos_obj_punch_dkeys of other than one key"),
    }
}

#[export]
unsafe fn daos_obj_punch_akeys(
    object: Handle,
    tx: Handle,
    flags: u64,
    dkey: In<daos_key_t>,
    count: c_uint,
    akeys: *mut daos_key_t,
    event: Event,
) -> Result<()> {
    let (object, scope) = &objects::object_in(object.cookie, DAOS_HTYPE_OBJ, tx.cookie)?;
    let dkey = dkey.key()?;
    // SAFETY: LIST for `akeys`, of `count`: each is a vector with BYTES.
    let akeys = unsafe { bytes_of(some_of(akeys, count)?) }?;
    general::punch_akeys(object, scope, flags, dkey, &akeys)
}

#[export]
unsafe fn daos_obj_list_dkey(
    object: Handle,
    tx: Handle,
    count: InOut<u32>,
    descriptions: *mut daos_key_desc_t,
    list: InOut<d_sg_list_t>,
    anchor: InOut<daos_anchor_t>,
    event: Event,
) -> Result<()> {
    let (object, scope) = &objects::object_in(object.cookie, DAOS_HTYPE_OBJ, tx.cookie)?;
    let page = |from: &_, limit| general::list(object, scope, None, from, limit);
    // SAFETY: LIST for `descriptions`, of `count`; BUFFER for the vectors of `list`.
    unsafe { listing::keys(count, descriptions, list, anchor, page) }
}

#[export]
unsafe fn daos_obj_list_akey(
    object: Handle,
    tx: Handle,
    dkey: In<daos_key_t>,
    count: InOut<u32>,
    descriptions: *mut daos_key_desc_t,
    list: InOut<d_sg_list_t>,
    anchor: InOut<daos_anchor_t>,
    event: Event,
) -> Result<()> {
    let (object, scope) = &objects::object_in(object.cookie, DAOS_HTYPE_OBJ, tx.cookie)?;
    let dkey = dkey.key()?;
    let page = |from: &_, limit| general::list(object, scope, Some(dkey), from, limit);
    // SAFETY: LIST for `descriptions`, of `count`; BUFFER for the vectors of `list`.
    unsafe { listing::keys(count, descriptions, list, anchor, page) }
}

/// Epochs of extents are unknown here, so `_epochs` stay unchanged, as on DAOS.
#[export]
unsafe fn daos_obj_list_recx(
    object: Handle,
    tx: Handle,
    dkey: In<daos_key_t>,
    akey: In<daos_key_t>,
    size: Out<u64>,
    count: InOut<u32>,
    records: *mut daos_recx_t,
    _epochs: *mut daos_epoch_range_t,
    anchor: InOut<daos_anchor_t>,
    is_ascending: bool,
    event: Event,
) -> Result<()> {
    let (object, scope) = &objects::object_in(object.cookie, DAOS_HTYPE_OBJ, tx.cookie)?;
    let (keys, count, anchor) = ((dkey.key()?, akey.key()?), count.get()?, anchor.get()?);
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
    let found = extents::list(object, scope, keys, &from, places.len(), is_ascending)?;
    let ranges = found.ranges.iter().map(|(first, count)| daos_recx_t { rx_idx: *first, rx_nr: *count });
    places.iter_mut().zip(ranges).for_each(|(place, range)| _ = place.write(range));
    *count = found.ranges.len() as u32;
    anchors::pack(found.next.as_ref(), anchor);
    size.give(found.size);
    Ok(())
}

/// Writes an integer key to the caller's buffer.
///
/// # Safety
/// BUFFER of `iov_buf_len` or `iov_len` bytes, whichever are more.
unsafe fn give_key(number: u64, key: InOut<daos_key_t>) -> Result<()> {
    let key = key.get()?;
    if key.iov_buf_len.max(key.iov_len) < 8 {
        return invalid("less than eight bytes of space for an integer key");
    }
    // SAFETY: BUFFER for `iov_buf`, which has eight bytes or more, as was looked at.
    unsafe { many_mut(key.iov_buf.cast::<u8>(), 8) }?.copy_from_slice(&number.to_le_bytes());
    key.iov_len = 8;
    Ok(())
}

/// Something that does not exist has keys of 0 and no records.
#[export]
unsafe fn daos_obj_query_key(
    object: Handle,
    tx: Handle,
    flags: u64,
    dkey: InOut<daos_key_t>,
    akey: InOut<daos_key_t>,
    records: Out<daos_recx_t>,
    event: Event,
) -> Result<()> {
    let (object, scope) = &objects::object_in(object.cookie, DAOS_HTYPE_OBJ, tx.cookie)?;
    let (wants_dkey, wants_akey) = (flags & DAOS_GET_DKEY != 0, flags & DAOS_GET_AKEY != 0);
    // A query without records needs no attribute key.
    let needs_akey = !wants_akey && flags & DAOS_GET_RECX != 0;
    let query = key_query::Query {
        flags,
        dkey: (!wants_dkey).then(|| dkey.as_in().key()).transpose()?,
        akey: needs_akey.then(|| akey.as_in().key()).transpose()?,
    };
    let found = key_query::find(object, scope, &query)?.unwrap_or_default();
    // SAFETY: BUFFER for `dkey` and `akey`, where they are asked for.
    unsafe {
        if wants_dkey {
            give_key(found.dkey, dkey)?;
        }
        if wants_akey {
            give_key(found.akey, akey)?;
        }
    }
    if flags & DAOS_GET_RECX != 0 {
        let (rx_idx, rx_nr) = found.records;
        records.place()?.set(daos_recx_t { rx_idx, rx_nr });
    }
    Ok(())
}
