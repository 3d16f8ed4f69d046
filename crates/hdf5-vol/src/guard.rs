//! The only way out to HDF5: no panic and no Rust error crosses.

use std::{
    ffi::{CStr, CString, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    ptr,
};

use isotach_hdf5::Error as FileError;

use crate::{
    abi::{Herr, Hid},
    error::{Error, Result},
    library::Library,
    tables,
};

/// The error of a callback that has panicked.
pub(crate) const PANICKED: &CStr = c"an internal error of the Isotach connector";

/// Runs a callback that returns a status: negative for a failure.
pub(crate) fn status(slot: usize, body: impl FnOnce(&'static Library) -> Result<Herr>) -> Herr {
    run(slot, body).unwrap_or(-1)
}

/// Runs a callback that returns a pointer: null for a failure.
pub(crate) fn pointer(
    slot: usize,
    body: impl FnOnce(&'static Library) -> Result<*mut c_void>,
) -> *mut c_void {
    run(slot, body).unwrap_or(ptr::null_mut())
}

fn run<T>(slot: usize, body: impl FnOnce(&'static Library) -> Result<T>) -> Option<T> {
    call(tables::library(slot)?, body)
}

/// Runs what a program calls. Puts an error on the stack of the library.
pub(crate) fn call<T>(
    library: &'static Library,
    body: impl FnOnce(&'static Library) -> Result<T>,
) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(|| body(library))) {
        Ok(Ok(value)) => Some(value),
        Ok(Err(Error::Native)) => None,
        Ok(Err(error)) => {
            push(library, minor(library, &error), &error.to_string());
            None
        }
        Err(_) => {
            library.push_error(library.H5E_VOL_g(), library.H5E_BADVALUE_g(), PANICKED);
            None
        }
    }
}

/// Puts an error with this minor number on the stack. Every call of the library clears the stack, so this comes last.
pub(crate) fn push(library: &Library, minor: Hid, error: &str) {
    let text = CString::new(error.replace('\0', " ")).unwrap_or_default();
    library.push_error(library.H5E_VOL_g(), minor, &text);
}

fn minor(library: &Library, error: &Error) -> Hid {
    match error {
        Error::At(_, FileError::Unsupported { .. }) => library.H5E_UNSUPPORTED_g(),
        Error::File(FileError::NotFound { .. }) => library.H5E_NOTFOUND_g(),
        Error::File(FileError::AlreadyExists { .. }) => library.H5E_EXISTS_g(),
        Error::File(FileError::ReadOnly { .. }) => library.H5E_WRITEERROR_g(),
        Error::File(FileError::Unsupported { .. }) | Error::Unsupported(_) => library.H5E_UNSUPPORTED_g(),
        Error::File(FileError::InvalidInput { .. }) | Error::Argument(_) => library.H5E_BADVALUE_g(),
        _ => library.H5E_CANTGET_g(),
    }
}
