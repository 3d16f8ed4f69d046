//! Memory of programs: strings, lists, places for results. The clauses in the comments are those at the head of [`super`].

use std::{
    ffi::{CStr, c_char},
    marker::PhantomData,
    mem::MaybeUninit,
    ptr::{self, NonNull},
    slice,
};

use crate::{
    abi::{dfs::*, errors::*, info::*, types::*},
    runtime::error::{Der, Result, invalid, refuse},
};

/// A type of which any bytes are a value: a number, a pointer that is not followed, or a structure of these.
///
/// # Safety
/// Any bytes are a value: there is no `bool` in it, no enumeration, no reference and no function.
pub(super) unsafe trait Plain {}

macro_rules! plain {
    ($($name:ty)*) => {
        // SAFETY: numbers, and structures of numbers and of pointers that are not followed without a look at their clause.
        $(unsafe impl Plain for $name {})*
    };
}

plain! {
    u8 u16 u32 u64 usize i32 uuid_t
    daos_handle_t daos_obj_id_t daos_anchor_t d_iov_t d_sg_list_t
    daos_iod_t daos_iom_t daos_recx_t daos_key_desc_t daos_array_iod_t daos_range_t
    daos_pool_info_t daos_cont_info_t d_rank_list_t
    daos_prop_t daos_prop_entry daos_acl daos_ace
    dfs_attr_t dfs_iod_t duns_attr_t libc::stat
}
// SAFETY: a pointer may be any number as long as nobody follows it.
unsafe impl<T> Plain for *mut T {}
// SAFETY: as for the other pointers.
unsafe impl<T> Plain for *const T {}

/// A string of the caller's.
///
/// # Safety
/// STRING, as long as the result is used.
pub(super) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return invalid("a null pointer for a string");
    }
    // SAFETY: STRING for `text`, which is not null.
    match unsafe { CStr::from_ptr(text) }.to_str() {
        Ok(text) => Ok(text),
        Err(_) => invalid("a string that is not UTF-8"),
    }
}

/// The bytes of a string of the caller's.
///
/// # Safety
/// STRING, as long as the result is used.
pub(super) unsafe fn key<'a>(text: *const c_char) -> Result<&'a [u8]> {
    if text.is_null() {
        return invalid("a null pointer for a key");
    }
    // SAFETY: STRING for `text`, which is not null.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A value of the caller's that is read, or read and written. For one that is only written there is [`out`].
///
/// # Safety
/// STRUCT, as long as the result is used.
pub(super) unsafe fn place<'a, T: Plain>(place: *mut T) -> Result<&'a mut T> {
    // SAFETY: STRUCT for `place`, and any bytes are a value.
    unsafe { place_or_none(place) }.map_or_else(|| invalid("a null pointer for a result"), Ok)
}

/// As [`place`], for a pointer that may be null.
///
/// # Safety
/// STRUCT, as long as the result is used.
pub(super) unsafe fn place_or_none<'a, T: Plain>(place: *mut T) -> Option<&'a mut T> {
    // SAFETY: STRUCT for `place`, and any bytes are a value.
    unsafe { place.as_mut() }
}

/// As [`place_or_none`], for a value that is only read.
///
/// # Safety
/// STRUCT, as long as the result is used.
pub(super) unsafe fn value_or_none<'a, T: Plain>(value: *const T) -> Option<&'a T> {
    // SAFETY: STRUCT for `value`, and any bytes are a value.
    unsafe { value.as_ref() }
}

/// A place of the caller's for a result. Its former content is never read, and need not be a value.
pub(super) struct Out<'a, T>(NonNull<T>, PhantomData<&'a mut MaybeUninit<T>>);

impl<T> Out<'_, T> {
    pub(super) fn set(&self, value: T) {
        // SAFETY: OUT for the pointer, as whoever made this has promised; nothing is read or dropped.
        unsafe { self.0.write(value) };
    }
}

/// A place of the caller's for a result.
///
/// # Safety
/// OUT, as long as the result is used.
pub(super) unsafe fn out<'a, T>(place: *mut T) -> Result<Out<'a, T>> {
    // SAFETY: OUT for `place`.
    unsafe { out_or_none(place) }.map_or_else(|| invalid("a null pointer for a result"), Ok)
}

/// As [`out`], for a pointer that may be null.
///
/// # Safety
/// OUT, as long as the result is used.
pub(super) unsafe fn out_or_none<'a, T>(place: *mut T) -> Option<Out<'a, T>> {
    NonNull::new(place).map(|place| Out(place, PhantomData))
}

/// A number of items that can exist at one address.
fn count_of<T>(count: u64) -> Result<usize> {
    let bytes = count.checked_mul(size_of::<T>() as u64).filter(|bytes| isize::try_from(*bytes).is_ok());
    match bytes {
        Some(_) => Ok(count as usize),
        None => invalid(&format!("a list of {count}, which is more than memory has space for")),
    }
}

/// A list of the caller's of `count` items.
///
/// # Safety
/// LIST, as long as the result is used.
pub(super) unsafe fn many<'a, T: Plain>(first: *const T, count: u64) -> Result<&'a [T]> {
    match (first.is_null(), count_of::<T>(count)?) {
        (_, 0) => Ok(&[]),
        (true, _) => invalid("a null pointer for a list"),
        // SAFETY: LIST for `first`, which is not null. Any bytes are a value, and there are no more of them than a slice may have.
        (false, count) => Ok(unsafe { slice::from_raw_parts(first, count) }),
    }
}

/// A list of the caller's of `count` items that are read and written. [`outs`] is for items that are only written.
///
/// # Safety
/// LIST, as long as the result is used.
pub(super) unsafe fn many_mut<'a, T: Plain>(first: *mut T, count: u64) -> Result<&'a mut [T]> {
    match (first.is_null(), count_of::<T>(count)?) {
        (_, 0) => Ok(&mut []),
        (true, _) => invalid("a null pointer for a list"),
        // SAFETY: LIST for `first`, which is not null. Any bytes are a value, and there are no more of them than a slice may have.
        (false, count) => Ok(unsafe { slice::from_raw_parts_mut(first, count) }),
    }
}

/// `count` places of the caller's for results.
///
/// # Safety
/// LIST, as long as the result is used. The items need not be values.
pub(super) unsafe fn outs<'a, T>(first: *mut T, count: u64) -> Result<&'a mut [MaybeUninit<T>]> {
    match (first.is_null(), count_of::<T>(count)?) {
        (_, 0) => Ok(&mut []),
        (true, _) => invalid("a null pointer for a list"),
        // SAFETY: LIST for `first`, which is not null; without a value it is a `MaybeUninit`. A slice may have so many bytes.
        (false, count) => Ok(unsafe { slice::from_raw_parts_mut(first.cast(), count) }),
    }
}

/// Whether two buffers have a byte in common.
fn overlap(vectors: &[d_iov_t]) -> bool {
    let mut places: Vec<(usize, u64)> = vectors
        .iter()
        .map(|vector| (vector.iov_buf.addr(), vector.iov_len))
        .filter(|(_, length)| *length > 0)
        .collect();
    places.sort_unstable();
    places.windows(2).any(|two| (two[0].0 as u64).saturating_add(two[0].1) > two[1].0 as u64)
}

/// Lets `read` fill the buffers of vectors of the caller's. Where two overlap, a shared byte has the content of one of them.
///
/// # Safety
/// BUFFER, for the `iov_len` bytes of each vector. They may overlap.
pub(super) unsafe fn fill<T, E: From<Der>>(
    vectors: &[d_iov_t],
    read: impl FnOnce(Vec<&mut [u8]>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    if !overlap(vectors) {
        // SAFETY: BUFFER for each vector; no two overlap, so each has the only reference to its bytes. A program may not have written
        // there, but memory that comes from outside has some bytes, and any are values of `u8`.
        let buffer = |vector: &d_iov_t| unsafe { many_mut(vector.iov_buf.cast::<u8>(), vector.iov_len) };
        return read(vectors.iter().map(buffer).collect::<Result<_>>()?);
    }
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for vector in vectors {
        // SAFETY: BUFFER for each vector; nothing is written while this is borrowed.
        let bytes = unsafe { many(vector.iov_buf.cast::<u8>().cast_const(), vector.iov_len) }?;
        before.push(copy_of(bytes)?);
        after.push(copy_of(bytes)?);
    }
    let returned = read(after.iter_mut().map(Vec::as_mut_slice).collect())?;
    for (vector, (before, after)) in vectors.iter().zip(before.iter().zip(&after)) {
        // Missing bytes do not overwrite bytes of another buffer.
        for (at, (_, byte)) in before.iter().zip(after).enumerate().filter(|(_, (old, new))| old != new) {
            // SAFETY: BUFFER for the vector, whose copy has as many bytes, so `at` is within; none of them is borrowed any more.
            unsafe { vector.iov_buf.cast::<u8>().add(at).write(*byte) };
        }
    }
    Ok(returned)
}

fn copy_of(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| Der(DER_NOMEM))?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// The vectors of a list of the caller's.
///
/// # Safety
/// STRUCT for the list, as long as the result is used.
pub(super) unsafe fn vectors<'a>(list: *mut d_sg_list_t) -> Result<&'a mut [d_iov_t]> {
    // SAFETY: STRUCT for `list`.
    let list = unsafe { place(list) }?;
    // SAFETY: LIST for `sg_iovs`, whose count is `sg_nr`.
    unsafe { many_mut(list.sg_iovs, list.sg_nr.into()) }
}

/// Copies bytes into a vector of the caller's. Without a buffer, only reports their number.
///
/// # Safety
/// STRUCT for the vector.
pub(super) unsafe fn give(bytes: &[u8], vector: *mut d_iov_t) -> Result<()> {
    // SAFETY: STRUCT for `vector`.
    let vector = unsafe { place(vector) }?;
    let length = bytes.len() as u64;
    if !vector.iov_buf.is_null() {
        if vector.iov_buf_len < length {
            vector.iov_buf_len = length;
            return Err(Der(DER_TRUNC));
        }
        // SAFETY: BUFFER for `iov_buf`, whose `iov_buf_len` bytes are no fewer than `bytes`, which are of this library.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), vector.iov_buf.cast(), bytes.len()) };
        vector.iov_len = length;
    }
    vector.iov_buf_len = length;
    Ok(())
}

/// Memory of C's allocator with these bytes, which the program frees.
pub(super) fn copied(bytes: &[u8]) -> Result<*mut u8> {
    // SAFETY: `malloc` takes any size.
    let copy: *mut u8 = unsafe { libc::malloc(bytes.len().max(1)) }.cast();
    if copy.is_null() {
        return refuse(DER_NOMEM, "no memory for what a program asked for");
    }
    // SAFETY: `copy` was made just now with so many bytes, and is nobody else's yet.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len()) };
    Ok(copy)
}
