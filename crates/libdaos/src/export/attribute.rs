//! Attributes of containers.

use std::ffi::{c_char, c_int, c_void};

use super::{answer, key, many, many_mut, place};
use crate::{abi::types::*, attributes, error::Result};

/// So many names of the caller's.
///
/// # Safety
/// As [`many`], and as [`key`] for each.
unsafe fn names<'a>(count: c_int, names: *const *const c_char) -> Result<Vec<&'a [u8]>> {
    // SAFETY: as the caller says.
    let names = unsafe { many(names, u64::try_from(count).unwrap_or(0)) }?;
    // SAFETY: as the caller says.
    names.iter().map(|name| unsafe { key(*name) }).collect()
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
        let (names, values, sizes) = unsafe {
            let names = names(count, first)?;
            let count = names.len() as u64;
            (names, many(values, count)?, many(sizes, count)?)
        };
        let values = values.iter().zip(sizes);
        // SAFETY: each value has as many bytes.
        let values = values.map(|(value, size)| unsafe { many(value.cast::<u8>(), *size as u64) });
        attributes::set(container.cookie, &names, &values.collect::<Result<Vec<_>>>()?)
    })
}

/// A value that has no room is cut; where there is no buffer only its size is told.
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
        // SAFETY: so many names and sizes of the caller's, and as many buffers if there are any.
        let (names, sizes) = unsafe {
            let names = names(count, first)?;
            let count = names.len() as u64;
            (names, many_mut(sizes, count)?)
        };
        // SAFETY: as above.
        let buffers = if buffers.is_null() { &[] } else { unsafe { many(buffers, names.len() as u64) }? };
        for (at, value) in attributes::get(container.cookie, &names)?.iter().enumerate() {
            let buffer = buffers.get(at).filter(|buffer| !buffer.is_null());
            if let Some(buffer) = buffer {
                let length = sizes[at].min(value.len());
                // SAFETY: the buffer has as many bytes as the caller said.
                unsafe { many_mut(buffer.cast::<u8>(), length as u64) }?.copy_from_slice(&value[..length]);
            }
            sizes[at] = value.len();
        }
        Ok(())
    })
}

/// Gives as many whole names as there is room for, each with a zero behind it, and the size of all.
#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_list_attr(
    container: daos_handle_t,
    buffer: *mut c_char,
    size: *mut usize,
    event: *mut daos_event_t,
) -> c_int {
    answer(event, || {
        // SAFETY: a place of the caller's.
        let size = unsafe { place(size) }?;
        let mut rest = match buffer.is_null() {
            true => &mut [],
            // SAFETY: the buffer has as many bytes as the caller said.
            false => unsafe { many_mut(buffer.cast::<u8>(), *size as u64) }?,
        };
        *size = 0;
        for name in attributes::list(container.cookie)? {
            *size += name.len() + 1;
            if let Some((place, behind)) = std::mem::take(&mut rest).split_at_mut_checked(name.len() + 1) {
                place[..name.len()].copy_from_slice(&name);
                place[name.len()] = 0;
                rest = behind;
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn daos_cont_del_attr(
    container: daos_handle_t,
    count: c_int,
    first: *const *const c_char,
    event: *mut daos_event_t,
) -> c_int {
    // SAFETY: so many names of the caller's.
    answer(event, || attributes::delete(container.cookie, &unsafe { names(count, first) }?))
}
