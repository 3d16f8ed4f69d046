//! Attributes of containers and of pools.

use std::ffi::{c_char, c_int, c_void};

use super::{answer, key, many, many_mut, place};
use crate::{
    abi::{errors::DER_NONEXIST, types::*},
    containers::{Container, attributes, pools::Pool},
    runtime::error::{Der, Result},
};

/// Names, and a value for each.
type Pairs<'a> = (Vec<&'a [u8]>, Vec<&'a [u8]>);

/// The caller's `count` names, each a valid name of an attribute.
///
/// # Safety
/// LIST of STRINGs, as long as the result is used.
unsafe fn names<'a>(count: c_int, names: *const *const c_char) -> Result<Vec<&'a [u8]>> {
    // SAFETY: LIST for `names`, of `count`.
    let names = unsafe { many(names, u64::try_from(count).unwrap_or(0)) }?;
    // SAFETY: STRING for each of `names`.
    let names = names.iter().map(|name| unsafe { key(*name) }).collect::<Result<Vec<_>>>()?;
    attributes::check(&names, &[])?;
    Ok(names)
}

/// The caller's `count` names, with a value for each.
///
/// # Safety
/// LIST for `first`, `values` and `sizes`, of `count` each: STRINGs, BYTES and their sizes; as long as the result is used.
unsafe fn pairs<'a>(
    count: c_int,
    first: *const *const c_char,
    values: *const *const c_void,
    sizes: *const usize,
) -> Result<Pairs<'a>> {
    // SAFETY: LIST for `first` and the STRINGs in it.
    let names = unsafe { names(count, first) }?;
    // SAFETY: LIST for `values` and `sizes`, of as many as there are names.
    let (values, sizes) = unsafe { (many(values, names.len() as u64)?, many(sizes, names.len() as u64)?) };
    let values = values.iter().zip(sizes);
    // SAFETY: BYTES for each value, as many as its size says.
    let values = values.map(|(value, size)| unsafe { many(value.cast::<u8>(), *size as u64) });
    let values = values.collect::<Result<Vec<_>>>()?;
    attributes::check(&names, &values)?;
    Ok((names, values))
}

/// Copies the values of names. A value that does not fit is cut off. Without a buffer only its size is reported.
///
/// # Safety
/// LIST for `sizes` and `buffers`, of as many as there are values; BUFFER for each of these, of as many bytes as its size says.
unsafe fn give(values: &[Vec<u8>], buffers: *const *mut c_void, sizes: *mut usize) -> Result<()> {
    // SAFETY: LIST for `sizes`, of as many as there are values.
    let sizes = unsafe { many_mut(sizes, values.len() as u64) }?;
    // SAFETY: LIST for `buffers`, of as many as there are values.
    let buffers = if buffers.is_null() { &[] } else { unsafe { many(buffers, values.len() as u64) }? };
    for (at, value) in values.iter().enumerate() {
        let buffer = buffers.get(at).filter(|buffer| !buffer.is_null());
        if let Some(buffer) = buffer {
            let length = sizes[at].min(value.len());
            // SAFETY: BUFFER for `buffer`, of which no more is used than its size says.
            unsafe { many_mut(buffer.cast::<u8>(), length as u64) }?.copy_from_slice(&value[..length]);
        }
        sizes[at] = value.len();
    }
    Ok(())
}

/// Copies as many whole names as fit, each with a NUL, and reports the size of all.
///
/// # Safety
/// STRUCT for `size`, BUFFER for `buffer`, of that size.
unsafe fn give_names(names: &[Vec<u8>], buffer: *mut c_char, size: *mut usize) -> Result<()> {
    // SAFETY: STRUCT for `size`.
    let size = unsafe { place(size) }?;
    let mut rest = match buffer.is_null() {
        true => &mut [],
        // SAFETY: BUFFER for `buffer`, of `size` bytes.
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
        // SAFETY: LIST for `first`, `values` and `sizes`, of `count` each: STRINGs, BYTES and their sizes.
        let (names, values) = unsafe { pairs(count, first, values, sizes) }?;
        attributes::set(&*Container::get(container.cookie)?, &names, &values)
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
        // SAFETY: LIST for `first` and the STRINGs in it.
        let names = unsafe { names(count, first) }?;
        let values = attributes::get(&*Container::get(container.cookie)?, &names)?;
        // SAFETY: LIST for `buffers` and `sizes`, of `count` each, as there are values; BUFFER for each of `buffers`.
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
        let names = attributes::list(&*Container::get(container.cookie)?)?;
        // SAFETY: BUFFER for `buffer`, of `size` bytes, and STRUCT for `size`.
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
        // SAFETY: LIST for `first` and the STRINGs in it.
        let names = unsafe { names(count, first) }?;
        attributes::delete(&*Container::get(container.cookie)?, &names)
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
        // SAFETY: LIST for `first`, `values` and `sizes`, of `count` each: STRINGs, BYTES and their sizes.
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
        // SAFETY: LIST for `first` and the STRINGs in it.
        let names = unsafe { names(count, first) }?;
        let values = attributes::get(&attributes::of_pool(pool.cookie, false)?, &names)?;
        // SAFETY: LIST for `buffers` and `sizes`, of `count` each, as there are values; BUFFER for each of `buffers`.
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
        // SAFETY: BUFFER for `buffer`, of `size` bytes, and STRUCT for `size`.
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
        // SAFETY: LIST for `first` and the STRINGs in it.
        let names = unsafe { names(count, first) }?;
        Pool::get(pool.cookie)?.check_writable()?;
        match attributes::of_pool(pool.cookie, false) {
            Err(Der(DER_NONEXIST)) => Ok(()),
            attributes => attributes::delete(&attributes?, &names),
        }
    })
}
