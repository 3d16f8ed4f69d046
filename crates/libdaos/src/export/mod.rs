//! The functions that C calls: pointers become slices here, and results become numbers. All unsafe code of this crate is here.
//!
//! What callers promise is what `daos_api.h` and the others say: a pointer that is not null points to what its type says, for as long as
//! the call takes; strings end with a NUL; a buffer has as many bytes as the number beside it says.

#![expect(unsafe_code, reason = "a C interface: pointers come from outside")]

mod acl;
mod acl_dump;
mod anchors;
mod array;
mod attribute;
mod container;
mod dfs;
mod dmg;
mod duns;
mod event;
mod gurt;
mod gurt_log;
mod hash;
mod kv;
mod library;
mod listing;
mod missing;
mod object;
mod pool;
mod principals;
mod properties;
mod property_values;
mod ranks;
mod snapshot;
mod transaction;

use std::{
    ffi::{CStr, c_char, c_int},
    panic::{self, AssertUnwindSafe},
    ptr, slice,
};

use crate::{
    abi::{errors::*, types::*},
    error::{Der, Result, invalid, refuse},
    events,
};

/// Does what a function is for, and gives its number. With an event the call ends before it returns, so the event is told at once.
fn answer(event: *mut daos_event_t, act: impl FnOnce() -> Result<()>) -> c_int {
    told(event, |Der(number)| -number, act)
}

/// As [`answer`], with other numbers for failures.
fn told<E: From<Der>>(
    event: *mut daos_event_t,
    number_of: impl Fn(E) -> c_int,
    act: impl FnOnce() -> std::result::Result<(), E>,
) -> c_int {
    if !event.is_null()
        && let Err(refused) = events::launch(event.addr())
    {
        return number_of(refused.into());
    }
    let outcome = panic::catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| {
        Ok(refuse(DER_MISC, "a panic, which is a bug of this library; please tell of it")?)
    });
    let number = outcome.map_or_else(number_of, |()| 0);
    if event.is_null() {
        return number;
    }
    // SAFETY: an event of the caller's, which nobody else uses while it is given to a call.
    unsafe { event::end((event.expose_provenance(), number)) };
    0
}

/// A string of the caller's.
///
/// # Safety
/// It ends with a NUL if it is not null, and lives as long as the result is used.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return invalid("a null pointer for a string");
    }
    // SAFETY: as the caller says.
    match unsafe { CStr::from_ptr(text) }.to_str() {
        Ok(text) => Ok(text),
        Err(_) => invalid("a string that is not UTF-8"),
    }
}

/// The bytes of a string of the caller's.
///
/// # Safety
/// As [`text`].
unsafe fn key<'a>(text: *const c_char) -> Result<&'a [u8]> {
    if text.is_null() {
        return invalid("a null pointer for a key");
    }
    // SAFETY: as the caller says.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A place of the caller's for a result.
///
/// # Safety
/// If it is not null it can be read and written, and nobody else uses it meanwhile.
unsafe fn place<'a, T>(place: *mut T) -> Result<&'a mut T> {
    // SAFETY: as the caller says.
    unsafe { place.as_mut() }.map_or_else(|| invalid("a null pointer for a result"), Ok)
}

/// A number of things that there can be at one place.
fn count_of<T>(count: u64) -> Result<usize> {
    let bytes = count.checked_mul(size_of::<T>() as u64).filter(|bytes| isize::try_from(*bytes).is_ok());
    match bytes {
        Some(_) => Ok(count as usize),
        None => invalid(&format!("a list of {count}, which is more than memory has room for")),
    }
}

/// So many things of the caller's.
///
/// # Safety
/// If it is not null there are so many, which nobody changes meanwhile.
unsafe fn many<'a, T>(first: *const T, count: u64) -> Result<&'a [T]> {
    match (first.is_null(), count_of::<T>(count)?) {
        (_, 0) => Ok(&[]),
        (true, _) => invalid("a null pointer for a list"),
        // SAFETY: as the caller says; no more bytes than a slice may have.
        (false, count) => Ok(unsafe { slice::from_raw_parts(first, count) }),
    }
}

/// So many things of the caller's to be changed.
///
/// # Safety
/// As [`many`], and nobody else uses them meanwhile.
unsafe fn many_mut<'a, T>(first: *mut T, count: u64) -> Result<&'a mut [T]> {
    match (first.is_null(), count_of::<T>(count)?) {
        (_, 0) => Ok(&mut []),
        (true, _) => invalid("a null pointer for a list"),
        // SAFETY: as the caller says; no more bytes than a slice may have.
        (false, count) => Ok(unsafe { slice::from_raw_parts_mut(first, count) }),
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

/// Has the buffers of vectors of the caller's filled. Where two overlap, a byte that they share has what was read for one of them.
///
/// # Safety
/// As [`many_mut`], for each buffer, but that they may overlap.
unsafe fn fill<T, E: From<Der>>(
    vectors: &[d_iov_t],
    read: impl FnOnce(Vec<&mut [u8]>) -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    if !overlap(vectors) {
        // SAFETY: as the caller says; no two overlap.
        let buffer = |vector: &d_iov_t| unsafe { many_mut(vector.iov_buf.cast::<u8>(), vector.iov_len) };
        return read(vectors.iter().map(buffer).collect::<Result<_>>()?);
    }
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for vector in vectors {
        // SAFETY: as the caller says; nothing is written while this is borrowed.
        let bytes = unsafe { many(vector.iov_buf.cast::<u8>().cast_const(), vector.iov_len) }?;
        before.push(copy_of(bytes)?);
        after.push(copy_of(bytes)?);
    }
    let told = read(after.iter_mut().map(Vec::as_mut_slice).collect())?;
    for (vector, (before, after)) in vectors.iter().zip(before.iter().zip(&after)) {
        // What was not there leaves alone what was read for another.
        for (at, (_, byte)) in before.iter().zip(after).enumerate().filter(|(_, (old, new))| old != new) {
            // SAFETY: the buffer has that many bytes, as the caller says, and none of them is borrowed.
            unsafe { vector.iov_buf.cast::<u8>().add(at).write(*byte) };
        }
    }
    Ok(told)
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
/// As [`place`], for the list and for its vectors.
unsafe fn vectors<'a>(list: *mut d_sg_list_t) -> Result<&'a mut [d_iov_t]> {
    // SAFETY: as the caller says.
    let list = unsafe { place(list) }?;
    // SAFETY: as the caller says.
    unsafe { many_mut(list.sg_iovs, list.sg_nr.into()) }
}

/// Puts bytes into a vector of the caller's, or only tells how many there are where it has no buffer.
///
/// # Safety
/// As [`place`], for the vector and its buffer.
unsafe fn give(bytes: &[u8], vector: *mut d_iov_t) -> Result<()> {
    // SAFETY: as the caller says.
    let vector = unsafe { place(vector) }?;
    let length = bytes.len() as u64;
    if !vector.iov_buf.is_null() {
        if vector.iov_buf_len < length {
            vector.iov_buf_len = length;
            return Err(Der(DER_TRUNC));
        }
        // SAFETY: the buffer has that many bytes, and is not of this library.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), vector.iov_buf.cast(), bytes.len()) };
        vector.iov_len = length;
    }
    vector.iov_buf_len = length;
    Ok(())
}

/// Memory of C's allocator with these bytes, which the program frees.
fn copied(bytes: &[u8]) -> Result<*mut u8> {
    // SAFETY: memory of so many bytes, or none.
    let copy: *mut u8 = unsafe { libc::malloc(bytes.len().max(1)) }.cast();
    if copy.is_null() {
        return refuse(DER_NOMEM, "no memory for what a program asked for");
    }
    // SAFETY: as above; it is nobody else's yet.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len()) };
    Ok(copy)
}

/// The id of an object.
fn halves(id: daos_obj_id_t) -> (u64, u64) {
    (id.hi, id.lo)
}
