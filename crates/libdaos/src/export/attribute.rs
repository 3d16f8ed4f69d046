//! Attributes of containers and of pools.

use std::{
    ffi::{c_char, c_int, c_void},
    sync::Arc,
};

use super::{Event, Handle, InOut, Text, export, many, many_mut};
use crate::{
    abi::errors::DER_NONEXIST,
    containers::{
        Container,
        attributes::{self, Access, of_container, of_pool},
    },
    runtime::error::{Der, Result},
};

/// The caller's `count` names, each a valid name of an attribute.
///
/// # Safety
/// LIST of STRINGs, as long as the result is used.
unsafe fn names<'a>(count: c_int, names: *const *const c_char) -> Result<Vec<&'a [u8]>> {
    // SAFETY: LIST for `names`, of `count`.
    let names = unsafe { many(names, u64::try_from(count).unwrap_or(0)) }?;
    // SAFETY: STRING for each of `names`.
    let names = names.iter().map(|name| unsafe { Text::new(*name) }.key()).collect::<Result<Vec<_>>>()?;
    attributes::check(&names, &[])?;
    Ok(names)
}

/// Sets attributes.
///
/// # Safety
/// LIST for `first`, `values` and `sizes`, of `count` each: STRINGs, BYTES and their sizes.
unsafe fn set(
    holder: impl FnOnce() -> Result<Arc<Container>>,
    count: c_int,
    first: *const *const c_char,
    values: *const *const c_void,
    sizes: *const usize,
) -> Result<()> {
    // SAFETY: LIST for `first` and the STRINGs in it.
    let names = unsafe { names(count, first) }?;
    // SAFETY: LIST for `values` and `sizes`, of as many as there are names.
    let (values, sizes) = unsafe { (many(values, names.len() as u64)?, many(sizes, names.len() as u64)?) };
    let values = values.iter().zip(sizes);
    // SAFETY: BYTES for each value, as many as its size says.
    let values = values.map(|(value, size)| unsafe { many(value.cast::<u8>(), *size as u64) });
    let values = values.collect::<Result<Vec<_>>>()?;
    attributes::check(&names, &values)?;
    attributes::set(&*holder()?, &names, &values)
}

/// Copies the values of attributes, all of which must exist. A value that does not fit is cut off. Without a buffer only its size is reported.
///
/// # Safety
/// LIST for `first`, `buffers` and `sizes`, of `count` each: STRINGs, and a BUFFER of as many bytes as its size says.
unsafe fn get(
    holder: impl FnOnce() -> Result<Arc<Container>>,
    count: c_int,
    first: *const *const c_char,
    buffers: *const *mut c_void,
    sizes: *mut usize,
) -> Result<()> {
    // SAFETY: LIST for `first` and the STRINGs in it.
    let names = unsafe { names(count, first) }?;
    let values = attributes::get(&*holder()?, &names)?;
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
/// BUFFER for `buffer`, of `size` bytes.
unsafe fn give_names(names: &[Vec<u8>], buffer: *mut c_char, size: InOut<usize>) -> Result<()> {
    let size = size.get()?;
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

/// The functions for the attributes of one kind of holder. A pool without attributes has no container for them.
macro_rules! functions {
    ($holder:ident: $set:ident, $get:ident, $list:ident, $delete:ident) => {
        #[export]
        unsafe fn $set(
            holder: Handle,
            count: c_int,
            first: *const *const c_char,
            values: *const *const c_void,
            sizes: *const usize,
            event: Event,
        ) -> Result<()> {
            // SAFETY: LIST for `first`, `values` and `sizes`, of `count` each: STRINGs, BYTES and their sizes.
            unsafe { set(|| $holder(holder.cookie, Access::Set), count, first, values, sizes) }
        }

        #[export]
        unsafe fn $get(
            holder: Handle,
            count: c_int,
            first: *const *const c_char,
            buffers: *const *mut c_void,
            sizes: *mut usize,
            event: Event,
        ) -> Result<()> {
            // SAFETY: LIST for `first`, `buffers` and `sizes`, of `count` each: STRINGs, and a BUFFER of as many bytes as its size says.
            unsafe { get(|| $holder(holder.cookie, Access::Read), count, first, buffers, sizes) }
        }

        #[export]
        unsafe fn $list(holder: Handle, buffer: *mut c_char, size: InOut<usize>, event: Event) -> Result<()> {
            let names = match $holder(holder.cookie, Access::Read) {
                Err(Der(DER_NONEXIST)) => Vec::new(),
                holder => attributes::list(&*holder?)?,
            };
            // SAFETY: BUFFER for `buffer`, of `size` bytes.
            unsafe { give_names(&names, buffer, size) }
        }

        #[export]
        unsafe fn $delete(
            holder: Handle,
            count: c_int,
            first: *const *const c_char,
            event: Event,
        ) -> Result<()> {
            // SAFETY: LIST for `first` and the STRINGs in it.
            let names = unsafe { names(count, first) }?;
            match $holder(holder.cookie, Access::Delete) {
                Err(Der(DER_NONEXIST)) => Ok(()),
                holder => attributes::delete(&*holder?, &names),
            }
        }
    };
}

functions!(of_container: daos_cont_set_attr, daos_cont_get_attr, daos_cont_list_attr, daos_cont_del_attr);
functions!(of_pool: daos_pool_set_attr, daos_pool_get_attr, daos_pool_list_attr, daos_pool_del_attr);
