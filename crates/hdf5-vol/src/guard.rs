//! The only way out to HDF5: no panic and no Rust error crosses.

use std::{
    ffi::{CString, c_void},
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
            push(library, &error);
            None
        }
        Err(_) => {
            library.push_error(
                library.H5E_VOL_g(),
                library.H5E_BADVALUE_g(),
                c"an internal error of the Isotach connector",
            );
            None
        }
    }
}

/// Every call of the library clears the stack, so this comes last.
fn push(library: &Library, error: &Error) {
    let text = CString::new(error.to_string().replace('\0', " ")).unwrap_or_default();
    let (major, minor) = class(library, error);
    library.push_error(major, minor, &text);
}

fn class(library: &Library, error: &Error) -> (Hid, Hid) {
    let minor = match error {
        Error::At(_, FileError::Unsupported { .. }) => library.H5E_UNSUPPORTED_g(),
        Error::File(FileError::NotFound { .. }) => library.H5E_NOTFOUND_g(),
        Error::File(FileError::AlreadyExists { .. }) => library.H5E_EXISTS_g(),
        Error::File(FileError::ReadOnly { .. }) => library.H5E_WRITEERROR_g(),
        Error::File(FileError::Unsupported { .. }) | Error::Unsupported(_) => library.H5E_UNSUPPORTED_g(),
        Error::File(FileError::InvalidInput { .. }) | Error::Argument(_) => library.H5E_BADVALUE_g(),
        _ => library.H5E_CANTGET_g(),
    };
    (library.H5E_VOL_g(), minor)
}
