//! The memory of C programs: texts, bytes, places for results, and our own objects in their hands.
//!
//! # Safety: what a C program promises
//!
//! Our headers ask for the following, from the beginning of a call to its end. Comments at unsafe code name the clauses:
//!
//! - TEXT: a text is null, or ends with a NUL and does not change.
//! - BYTES: a pointer with a size beside it is null, or has so many bytes to read, which do not change.
//! - BUFFER: a pointer with a size beside it is null, or has so many bytes to write, which nobody else uses. The program need not have written
//!   there before: any bytes are valid.
//! - PLACE: a pointer for a result is null, or is of memory for it, which nobody else uses.
//! - HANDLE: a pointer to an object is null, or was given by the library for an object of this type and not freed since. Another thread uses
//!   it at the same time only if the header allows that for its type, and none while it is freed.
//!
//! The type of a parameter names its clause: [`Text`] is a TEXT, [`Out`] a PLACE, [`Handle`] and [`In`] are HANDLEs. Such a value comes from a
//! program, which has promised it, so that code elsewhere follows it without a promise of its own.

#![expect(unsafe_code, reason = "pointers come from outside")]

use std::{
    ffi::{CStr, CString, c_char},
    slice,
};

use crate::{Failure, Result, guarded};

/// A text of the caller's (TEXT).
#[repr(transparent)]
#[derive(Debug)]
pub struct Text(*const c_char);

impl Text {
    /// The text, or `None` for NULL.
    ///
    /// # Errors
    /// If it is not UTF-8.
    pub fn or_none(&self, name: &str) -> Result<Option<&str>> {
        if self.0.is_null() {
            return Ok(None);
        }
        // SAFETY: TEXT by the type of the parameter, and it is not null.
        let text = unsafe { CStr::from_ptr(self.0) }.to_str();
        text.map(Some).map_err(|_| Failure::invalid(format!("{name} is not UTF-8")))
    }

    /// The text.
    ///
    /// # Errors
    /// If it is NULL, or not UTF-8. `name` is that of the parameter.
    pub fn get(&self, name: &str) -> Result<&str> {
        self.or_none(name)?.ok_or_else(|| null(name))
    }
}

/// A text for C, to its first NUL.
pub fn c_text(text: &str) -> CString {
    let to_nul = text.split('\0').next().unwrap_or_default();
    CString::new(to_nul).unwrap_or_default()
}

/// A place of the caller's for a result (PLACE). What is there before is never read.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Refuses NULL, and what is no place for a value of this type.
    ///
    /// # Errors
    /// In these cases. `name` is that of the parameter.
    pub fn check(&self, name: &str) -> Result<()> {
        match (self.0.is_null(), self.0.is_aligned()) {
            (true, _) => Err(null(name)),
            (_, false) => Err(Failure::invalid(format!("{name} is {:p}, no place for a result", self.0))),
            _ => Ok(()),
        }
    }

    /// Puts a result there.
    ///
    /// # Errors
    /// As [`Out::check`].
    pub fn put(self, name: &str, value: T) -> Result<()> {
        self.check(name)?;
        self.put_if_any(value);
        Ok(())
    }

    /// Puts a result there, if the caller wants it.
    pub fn put_if_any(self, value: T) {
        if !self.0.is_null() && self.0.is_aligned() {
            // SAFETY: PLACE by the type of the parameter, not null, aligned.
            unsafe { self.0.write(value) };
        }
    }
}

impl<T: Send> Out<Handle<T>> {
    /// Puts a new object there.
    ///
    /// # Errors
    /// As [`Out::check`], before the object is made, and those of `make`.
    pub fn fill(self, name: &str, make: impl FnOnce() -> Result<T>) -> Result<()> {
        self.check(name)?;
        self.put(name, Handle::new(make()?))
    }
}

/// An object of ours that the caller holds and may change or free (HANDLE). What it gives is borrowed from it:
///
/// ```compile_fail,E0505
/// let handle = isotach_capi_kit::Handle::new(7);
/// let object = handle.get("object");
/// handle.free();
/// println!("{object:?}");
/// ```
#[repr(transparent)]
#[derive(Debug)]
pub struct Handle<T>(*mut T);

impl<T: Send> Handle<T> {
    /// Gives an object to the caller, who may use it on another thread.
    pub fn new(object: T) -> Self {
        Self(Box::into_raw(Box::new(object)))
    }
}

impl<T> Handle<T> {
    /// No object.
    pub fn null() -> Self {
        Self(std::ptr::null_mut())
    }

    /// Whether it is NULL.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The object.
    ///
    /// # Errors
    /// If it is NULL. `name` is that of the parameter.
    pub fn get(&self, name: &str) -> Result<&T> {
        // SAFETY: HANDLE by the type of the parameter: null, or a box of this type that is not freed during the call. Changing and freeing
        // it here take the handle, which is borrowed.
        unsafe { self.0.as_ref() }.ok_or_else(|| null(name))
    }

    /// The object, of a type that one thread uses at a time.
    ///
    /// # Errors
    /// If it is NULL.
    pub fn get_mut(&mut self, name: &str) -> Result<&mut T> {
        // SAFETY: HANDLE by the type of the parameter: null, or a box of this type that is not freed during the call and that no other
        // thread uses. Nothing else here uses it, since the handle is borrowed.
        unsafe { self.0.as_mut() }.ok_or_else(|| null(name))
    }

    /// Frees the object. NULL is freed in silence, and so is a panic on the way: the caller can do nothing about it.
    pub fn free(self) {
        if !self.is_null() {
            let _ = guarded(|| self.take("object").map(drop));
        }
    }

    /// Takes the object back.
    ///
    /// # Errors
    /// If it is NULL.
    pub fn take(self, name: &str) -> Result<Box<T>> {
        if self.0.is_null() {
            return Err(null(name));
        }
        // SAFETY: HANDLE by the type of the parameter: `new` made it of a box, and it was not freed since. Nobody uses it.
        Ok(unsafe { Box::from_raw(self.0) })
    }
}

/// An object of ours that the caller holds and that is only read (HANDLE).
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

impl<T> In<T> {
    /// The object, or `None` for NULL.
    pub fn or_none(&self) -> Option<&T> {
        // SAFETY: HANDLE by the type of the parameter.
        unsafe { self.0.as_ref() }
    }
}

/// Bytes of the caller's. NULL is none, if the size is 0.
///
/// # Safety
/// BYTES for `data`, of `length`.
///
/// # Errors
/// NULL with a size, or a size beyond all memory. `name` is that of the parameter.
pub unsafe fn bytes<'a>(name: &str, data: *const u8, length: usize) -> Result<&'a [u8]> {
    check_size(name, data.is_null(), length)?;
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: BYTES for `data`, which is not null and not beyond the largest object.
    Ok(unsafe { slice::from_raw_parts(data, length) })
}

/// A buffer of the caller's. NULL is an empty one, if the size is 0.
///
/// # Safety
/// BUFFER for `data`, of `length`.
///
/// # Errors
/// As [`bytes`].
pub unsafe fn bytes_mut<'a>(name: &str, data: *mut u8, length: usize) -> Result<&'a mut [u8]> {
    check_size(name, data.is_null(), length)?;
    if length == 0 {
        return Ok(&mut []);
    }
    // SAFETY: BUFFER for `data`, which is not null and not beyond the largest object.
    Ok(unsafe { slice::from_raw_parts_mut(data, length) })
}

/// The texts of a list of the caller's.
///
/// # Safety
/// `list` is null, or of `count` TEXTs.
///
/// # Errors
/// NULL for the list or for a text, or a text that is not UTF-8. `name` is that of the parameter.
pub unsafe fn texts<'a>(name: &str, list: *const Text, count: usize) -> Result<Vec<&'a str>> {
    check_size(name, list.is_null(), count.saturating_mul(size_of::<Text>()))?;
    if count == 0 {
        return Ok(Vec::new());
    }
    if !list.is_aligned() {
        return Err(Failure::invalid(format!("{name} is {list:p}, no place of texts")));
    }
    // SAFETY: a list of so many TEXTs, which is not null, aligned, and not beyond the largest object.
    let list = unsafe { slice::from_raw_parts(list, count) };
    list.iter().map(|text| text.get(name)).collect()
}

fn check_size(name: &str, is_null: bool, length: usize) -> Result<()> {
    if is_null && length > 0 {
        return Err(null(name));
    }
    let fits = isize::try_from(length).is_ok();
    fits.then_some(())
        .ok_or_else(|| Failure::invalid(format!("{name} of {length} bytes is beyond all memory")))
}

fn null(name: &str) -> Failure {
    Failure::invalid(format!("{name} is NULL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_comes_back_and_null_is_refused_by_name() {
        let handle = Handle::new(7);
        assert_eq!(handle.get("store").copied(), Ok(7));
        assert_eq!(handle.take("store").map(|object| *object), Ok(7));
        assert_eq!(Handle::<i32>::null().take("store").unwrap_err().text, "store is NULL");
    }

    #[test]
    fn a_result_goes_only_where_it_has_a_place() {
        let mut place = 0_u64;
        assert_eq!(Out(&raw mut place).put("size", 9), Ok(()));
        assert_eq!(place, 9);
        assert!(Out::<u64>(std::ptr::null_mut()).put("size", 9).is_err());
        let odd = Out::<u64>(std::ptr::without_provenance_mut(1));
        assert!(odd.put("size", 9).unwrap_err().text.contains("no place for a result"));
    }

    #[test]
    fn nothing_may_be_null_and_something_may_not() {
        // SAFETY: nothing is read of a null pointer.
        let (none, some) =
            unsafe { (bytes("data", std::ptr::null(), 0), bytes("data", std::ptr::null(), 1)) };
        assert_eq!(none, Ok(&[][..]));
        assert_eq!(some.unwrap_err().text, "data is NULL");
        // SAFETY: the size is refused before anything is read.
        let beyond = unsafe { bytes("data", [1].as_ptr(), usize::MAX) };
        assert!(beyond.unwrap_err().text.contains("beyond all memory"));
    }

    #[test]
    fn a_list_of_texts_begins_where_a_pointer_may_be() {
        let odd = std::ptr::without_provenance(1);
        // SAFETY: the place is refused before anything is read.
        let refused = unsafe { texts("values", odd, 1) }.unwrap_err();
        assert!(refused.text.starts_with("values is 0x1, no place of texts"), "{}", refused.text);
        let list = [Text(c"a".as_ptr()), Text(c"b".as_ptr())];
        // SAFETY: two TEXTs.
        assert_eq!(unsafe { texts("values", list.as_ptr(), 2) }, Ok(vec!["a", "b"]));
    }
}
