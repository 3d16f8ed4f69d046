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

/// A string of the caller's (STRING), or null.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct Text<'a>(*const c_char, PhantomData<&'a CStr>);

impl<'a> Text<'a> {
    /// # Safety
    /// STRING, as long as the result is used.
    pub(super) unsafe fn new(text: *const c_char) -> Self {
        Self(text, PhantomData)
    }

    pub(super) fn c_str(self) -> Option<&'a CStr> {
        // SAFETY: STRING by the type of the parameter, which is not null.
        (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) })
    }

    pub(super) fn bytes_or_none(self) -> Option<&'a [u8]> {
        self.c_str().map(CStr::to_bytes)
    }

    pub(super) fn key(self) -> Result<&'a [u8]> {
        self.bytes_or_none().map_or_else(|| invalid("a null pointer for a key"), Ok)
    }

    pub(super) fn text_or_none(self) -> Result<Option<&'a str>> {
        self.c_str().map(CStr::to_str).transpose().or_else(|_| invalid("a string that is not UTF-8"))
    }

    pub(super) fn text(self) -> Result<&'a str> {
        self.text_or_none()?.map_or_else(|| invalid("a null pointer for a string"), Ok)
    }
}

/// A value of the caller's that is only read (STRUCT), or null.
#[repr(transparent)]
pub(super) struct In<'a, T>(*const T, PhantomData<&'a T>);

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<'_, T> {}

impl<'a, T: Plain> In<'a, T> {
    /// # Safety
    /// STRUCT, as long as the result is used.
    pub(super) unsafe fn new(value: *const T) -> Self {
        Self(value, PhantomData)
    }

    pub(super) fn or_none(self) -> Option<&'a T> {
        // SAFETY: STRUCT by the type of the parameter, and any bytes are a value.
        unsafe { self.0.as_ref() }
    }

    /// The address, for what follows a head.
    pub(super) fn as_ptr(self) -> *const T {
        self.0
    }
}

/// A value of the caller's that is read and written (STRUCT), or null. For one that is only written there is [`Out`].
#[repr(transparent)]
pub(super) struct InOut<'a, T>(*mut T, PhantomData<&'a mut T>);

impl<'a, T: Plain> InOut<'a, T> {
    /// # Safety
    /// STRUCT, as long as the result is used.
    pub(super) unsafe fn new(value: *mut T) -> Self {
        Self(value, PhantomData)
    }

    pub(super) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The same value, where it is only read.
    pub(super) fn as_in(&self) -> In<'_, T> {
        In(self.0, PhantomData)
    }

    /// The same value, for a part of a function.
    pub(super) fn reborrow(&mut self) -> InOut<'_, T> {
        InOut(self.0, PhantomData)
    }

    pub(super) fn or_none(self) -> Option<&'a mut T> {
        // SAFETY: STRUCT by the type of the parameter, and any bytes are a value. Only this owned pointer leads there.
        unsafe { self.0.as_mut() }
    }

    pub(super) fn get(self) -> Result<&'a mut T> {
        self.or_none().map_or_else(|| invalid("a null pointer for a result"), Ok)
    }
}

impl<'a, T> From<&'a mut T> for InOut<'a, T> {
    fn from(value: &'a mut T) -> Self {
        Self(value, PhantomData)
    }
}

impl<'a> InOut<'a, d_sg_list_t> {
    /// The vectors of a list.
    pub(super) fn vectors(self) -> Result<&'a mut [d_iov_t]> {
        let list = self.get()?;
        // SAFETY: STRUCT for the list by the type of the parameter, so LIST for `sg_iovs`, whose count is `sg_nr`.
        unsafe { many_mut(list.sg_iovs, list.sg_nr.into()) }
    }
}

impl InOut<'_, d_iov_t> {
    /// Copies bytes into a vector. Without a buffer, only reports their number.
    pub(super) fn give(self, bytes: &[u8]) -> Result<()> {
        let vector = self.get()?;
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
}

impl<'a> In<'a, daos_key_t> {
    /// The bytes of a key.
    pub(super) fn key(self) -> Result<&'a [u8]> {
        match self.or_none() {
            // SAFETY: STRUCT for the key by the type of the parameter, so BYTES for `iov_buf`, as many as `iov_len` says.
            Some(key) => unsafe { many(key.iov_buf.cast::<u8>(), key.iov_len) },
            None => invalid("a null pointer for a key"),
        }
    }
}

/// A vector of the caller's that is given by value, of which only the bytes count (BYTES).
#[repr(transparent)]
pub(super) struct Bytes<'a>(d_iov_t, PhantomData<&'a [u8]>);

impl<'a> Bytes<'a> {
    pub(super) fn get(self) -> Result<&'a [u8]> {
        // SAFETY: BYTES for `iov_buf` by the type of the parameter, as many as `iov_len` says.
        unsafe { many(self.0.iov_buf.cast::<u8>(), self.0.iov_len) }
    }
}

/// A place of the caller's for a result (OUT), or null. Its former content is never read, and need not be a value.
#[repr(transparent)]
pub(super) struct Out<'a, T>(*mut T, PhantomData<&'a mut MaybeUninit<T>>);

impl<'a, T> Out<'a, T> {
    /// # Safety
    /// OUT, as long as the result is used.
    pub(super) unsafe fn new(place: *mut T) -> Self {
        Self(place, PhantomData)
    }

    /// No place.
    pub(super) fn null() -> Self {
        Self(ptr::null_mut(), PhantomData)
    }

    pub(super) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    pub(super) fn place(self) -> Result<CallerPlace<'a, T>> {
        match NonNull::new(self.0) {
            Some(place) => Ok(CallerPlace(place, PhantomData)),
            None => invalid("a null pointer for a result"),
        }
    }

    /// Writes a result, unless the pointer is null.
    pub(super) fn give(self, value: T) {
        if let Some(place) = NonNull::new(self.0) {
            CallerPlace(place, PhantomData).set(value);
        }
    }

    /// Writes the result of an operation, which is not begun without a place.
    pub(super) fn fill<E: From<Der>>(
        self,
        make: impl FnOnce() -> std::result::Result<T, E>,
    ) -> std::result::Result<(), E> {
        let place = self.place()?;
        place.set(make()?);
        Ok(())
    }
}

impl Out<'_, daos_handle_t> {
    /// As [`Out::fill`], for an operation that opens something.
    pub(super) fn open<E: From<Der>>(
        self,
        open: impl FnOnce() -> std::result::Result<u64, E>,
    ) -> std::result::Result<(), E> {
        self.fill(|| Ok(daos_handle_t { cookie: open()? }))
    }
}

impl<'a, T> From<&'a mut T> for Out<'a, T> {
    fn from(place: &'a mut T) -> Self {
        Self(place, PhantomData)
    }
}

/// A place of the caller's that exists.
pub(super) struct CallerPlace<'a, T>(NonNull<T>, PhantomData<&'a mut MaybeUninit<T>>);

impl<T> CallerPlace<'_, T> {
    pub(super) fn set(&self, value: T) {
        // SAFETY: OUT for the pointer by the type of the parameter; nothing is read or dropped.
        unsafe { self.0.write(value) };
    }
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

/// The bytes of vectors of the caller's.
///
/// # Safety
/// BYTES for each vector, as many as `iov_len` says, as long as the result is used.
pub(super) unsafe fn bytes_of<'a>(vectors: &[d_iov_t]) -> Result<Vec<&'a [u8]>> {
    // SAFETY: BYTES for each vector, as many as `iov_len` says.
    vectors.iter().map(|vector| unsafe { many(vector.iov_buf.cast::<u8>(), vector.iov_len) }).collect()
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
