//! Tokens: the 8 bytes by which programs name objects.

use std::ffi::{CString, c_char, c_int, c_void};

use crate::{
    abi::{Herr, Token},
    error::{Error, Result},
    handle::text,
    library::Library,
    out::put,
    place::{number_of, token_of},
};

/// Compares two tokens; no token comes first.
pub(crate) unsafe fn compare(
    _: &'static Library,
    _: *mut c_void,
    one: *const Token,
    other: *const Token,
    result: *mut c_int,
) -> Result<Herr> {
    // SAFETY: HDF5 passes tokens or null, and a place for the result.
    unsafe {
        let order = one.as_ref().map(number_of).cmp(&other.as_ref().map(number_of));
        put(result, order as c_int);
    }
    Ok(0)
}

/// The text of a token; HDF5 frees it with `free`.
pub(crate) unsafe fn to_text(
    _: &'static Library,
    _: *mut c_void,
    _: c_int,
    token: *const Token,
    result: *mut *mut c_char,
) -> Result<Herr> {
    // SAFETY: HDF5 passes a token.
    let token = unsafe { token.as_ref() }.ok_or_else(|| Error::argument("no token was given"))?;
    let digits =
        CString::new(number_of(token).to_string()).map_err(|_| Error::argument("no token was given"))?;
    // SAFETY: the text ends with a zero; `strdup` allocates as `free` expects. HDF5 passes a place for the result.
    unsafe { put(result, libc::strdup(digits.as_ptr())) };
    Ok(0)
}

/// The token of a text.
pub(crate) unsafe fn from_text(
    _: &'static Library,
    _: *mut c_void,
    _: c_int,
    digits: *const c_char,
    result: *mut Token,
) -> Result<Herr> {
    // SAFETY: HDF5 passes a text.
    let digits = unsafe { text(digits) }?;
    let number = digits.parse().map_err(|_| Error::argument(format!("'{digits}' is no token")))?;
    // SAFETY: HDF5 passes a place for the result.
    unsafe { put(result, token_of(number)) };
    Ok(0)
}
