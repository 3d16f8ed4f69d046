//! Calls a program's function for each entry of a list.

use std::ffi::{CString, c_char};

use crate::{
    abi::{Herr, Hsize},
    error::{Error, Result},
    handle,
    id::Id,
    library::Library,
    place::Place,
};

/// An id of an object for the program's function.
pub(crate) fn register(library: &'static Library, place: Place) -> Result<Id> {
    let (pointer, kind) = place.open()?;
    // SAFETY: the library takes the handle over, and closes it with the id.
    let id = unsafe { library.H5VLwrap_register(pointer, kind) };
    Id::new(library, id, "H5VLwrap_register").inspect_err(|_| {
        // SAFETY: the library has not taken it.
        drop(unsafe { handle::take(pointer) });
    })
}

/// Calls `call` for each entry from `*at` on, until it returns something else than 0, which is the result. Sets `*at` to the next entry.
///
/// # Safety
/// `at` is null or valid.
pub(crate) unsafe fn each<T>(
    at: *mut Hsize,
    entries: Vec<T>,
    mut call: impl FnMut(T) -> Result<Herr>,
) -> Result<Herr> {
    // SAFETY: the caller's promise.
    let first = unsafe { at.as_ref() }.copied().unwrap_or(0);
    let skipped = usize::try_from(first).unwrap_or(usize::MAX);
    if skipped > 0 && skipped >= entries.len() {
        return Err(Error::argument("the iteration starts behind the last entry"));
    }
    let mut next = first;
    for entry in entries.into_iter().skip(skipped) {
        next += 1;
        let result = call(entry)?;
        if !at.is_null() {
            // SAFETY: the caller's promise.
            unsafe { at.write(next) };
        }
        if result != 0 {
            return Ok(result);
        }
    }
    Ok(0)
}

/// Calls `call` with a text of C.
pub(crate) fn with_text(text: &str, call: impl FnOnce(*const c_char) -> Herr) -> Result<Herr> {
    let text = CString::new(text).map_err(|_| Error::argument("a name with a zero byte"))?;
    Ok(call(text.as_ptr()))
}
