//! Attributes of containers and of pools.

use std::ffi::{c_char, c_int, c_void};

use super::{answer, key, many, many_mut, place};
use crate::{
    abi::{errors::DER_NONEXIST, types::*},
    attributes,
    error::{Der, Result},
    handles,
};

/// Names, and a value for each.
type Pairs<'a> = (Vec<&'a [u8]>, Vec<&'a [u8]>);

/// So many names of the caller's, each of which can be that of an attribute.
///
/// # Safety
/// As [`many`], and as [`key`] for each.
unsafe fn names<'a>(count: c_int, names: *const *const c_char) -> Result<Vec<&'a [u8]>> {
    // SAFETY: as the caller says.
    let names = unsafe { many(names, u64::try_from(count).unwrap_or(0)) }?;
    // SAFETY: as the caller says.
    let names = names.iter().map(|name| unsafe { key(*name) }).collect::<Result<Vec<_>>>()?;
    attributes::check(&names, &[])?;
    Ok(names)
}

/// So many names of the caller's, with a value for each.
///
/// # Safety
/// As [`names`], and as [`many`] for each value.
unsafe fn pairs<'a>(
    count: c_int,
    first: *const *const c_char,
    values: *const *const c_void,
    sizes: *const usize,
) -> Result<Pairs<'a>> {
    // SAFETY: as the caller says.
    let names = unsafe { names(count, first) }?;
    // SAFETY: as the caller says: as many values and sizes.
    let (values, sizes) = unsafe { (many(values, names.len() as u64)?, many(sizes, names.len() as u64)?) };
    let values = values.iter().zip(sizes);
    // SAFETY: as the caller says: each value has as many bytes.
    let values = values.map(|(value, size)| unsafe { many(value.cast::<u8>(), *size as u64) });
    let values = values.collect::<Result<Vec<_>>>()?;
    attributes::check(&names, &values)?;
    Ok((names, values))
}

/// Gives the values of names. One that has no room is cut; where there is no buffer only its size is told.
///
/// # Safety
/// There are so many sizes, and as many buffers if there are any, each of as many bytes as its size says.
unsafe fn give(values: &[Vec<u8>], buffers: *const *mut c_void, sizes: *mut usize) -> Result<()> {
    // SAFETY: as the caller says.
    let sizes = unsafe { many_mut(sizes, values.len() as u64) }?;
    // SAFETY: as the caller says.
    let buffers = if buffers.is_null() { &[] } else { unsafe { many(buffers, values.len() as u64) }? };
    for (at, value) in values.iter().enumerate() {
        let buffer = buffers.get(at).filter(|buffer| !buffer.is_null());
        if let Some(buffer) = buffer {
            let length = sizes[at].min(value.len());
            // SAFETY: as the caller says.
            unsafe { many_mut(buffer.cast::<u8>(), length as u64) }?.copy_from_slice(&value[..length]);
        }
        sizes[at] = value.len();
    }
    Ok(())
}

/// Gives as many whole names as there is room for, each with a zero behind it, and the size of all.
///
/// # Safety
/// As [`place`], for the size; the buffer has so many bytes, if there is one.
unsafe fn give_names(names: &[Vec<u8>], buffer: *mut c_char, size: *mut usize) -> Result<()> {
    // SAFETY: as the caller says.
    let size = unsafe { place(size) }?;
    let mut rest = match buffer.is_null() {
        true => &mut [],
        // SAFETY: as the caller says.
        false => unsafe { many_mut(buffer.cast::<u8>(), *size as u64) }?,
    };
    *size = 0;
    for name in names {
        *size += name.len() + 1;
        if let Some((place, behind)) = std::mem::take(&mut rest).split_at_mut_checked(name.len() + 1) {
            place[..name.len()].copy_from_slice(name);
            place[name.len()] = 0;
            rest = behind;
        }
    }
    Ok(())
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_set_attr(
    container: daos_handle_t,
    count: c_int,
    first: *const *const c_char,
    values: *const *const c_void,
    sizes: *const usize,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: so many names, values and sizes of the caller's.
        let (names, values) = unsafe { pairs(count, first, values, sizes) }?;
        attributes::set(&*handles::container(container.cookie)?, &names, &values)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_get_attr(
    container: daos_handle_t,
    count: c_int,
    first: *const *const c_char,
    buffers: *const *mut c_void,
    sizes: *mut usize,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: so many names of the caller's.
        let names = unsafe { names(count, first) }?;
        let values = attributes::get(&*handles::container(container.cookie)?, &names)?;
        // SAFETY: as many buffers and sizes of the caller's.
        unsafe { give(&values, buffers, sizes) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_list_attr(
    container: daos_handle_t,
    buffer: *mut c_char,
    size: *mut usize,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let names = attributes::list(&*handles::container(container.cookie)?)?;
        // SAFETY: a place and a buffer of the caller's.
        unsafe { give_names(&names, buffer, size) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_del_attr(
    container: daos_handle_t,
    count: c_int,
    first: *const *const c_char,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: so many names of the caller's.
        let names = unsafe { names(count, first) }?;
        attributes::delete(&*handles::container(container.cookie)?, &names)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_pool_set_attr(
    pool: daos_handle_t,
    count: c_int,
    first: *const *const c_char,
    values: *const *const c_void,
    sizes: *const usize,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: so many names, values and sizes of the caller's.
        let (names, values) = unsafe { pairs(count, first, values, sizes) }?;
        attributes::set(&attributes::of_pool(pool.cookie, true)?, &names, &values)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_pool_get_attr(
    pool: daos_handle_t,
    count: c_int,
    first: *const *const c_char,
    buffers: *const *mut c_void,
    sizes: *mut usize,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: so many names of the caller's.
        let names = unsafe { names(count, first) }?;
        let values = attributes::get(&attributes::of_pool(pool.cookie, false)?, &names)?;
        // SAFETY: as many buffers and sizes of the caller's.
        unsafe { give(&values, buffers, sizes) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_pool_list_attr(
    pool: daos_handle_t,
    buffer: *mut c_char,
    size: *mut usize,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        let names = match attributes::of_pool(pool.cookie, false) {
            Err(Der(DER_NONEXIST)) => Vec::new(),
            attributes => attributes::list(&attributes?)?,
        };
        // SAFETY: a place and a buffer of the caller's.
        unsafe { give_names(&names, buffer, size) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_pool_del_attr(
    pool: daos_handle_t,
    count: c_int,
    first: *const *const c_char,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: so many names of the caller's.
        let names = unsafe { names(count, first) }?;
        handles::pool(pool.cookie)?.check_writable()?;
        match attributes::of_pool(pool.cookie, false) {
            Err(Der(DER_NONEXIST)) => Ok(()),
            attributes => attributes::delete(&attributes?, &names),
        }
    })
}
