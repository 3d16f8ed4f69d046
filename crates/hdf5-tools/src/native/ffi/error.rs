//! What HDF5 says of a failed call.

use std::{
    ffi::{CStr, c_int, c_uint, c_void},
    ptr,
};

use super::{
    api::Library,
    call_with_memory,
    raw::{ErrorRecord, Herr},
};
use crate::{Error, Result};

/// Keeps the first description that says something.
unsafe extern "C" fn keep(_: c_uint, record: *const ErrorRecord, kept: *mut c_void) -> Herr {
    // SAFETY: HDF5 passes a record, and the pointer that `reason` passed.
    let (record, kept) = unsafe { (record.as_ref(), kept.cast::<String>().as_mut()) };
    if let (Some(record), Some(kept)) = (record, kept)
        && kept.is_empty()
        && !record.description.is_null()
    {
        // SAFETY: a text of the record, which lives as long as the walk.
        *kept = unsafe { CStr::from_ptr(record.description) }.to_string_lossy().into_owned();
    }
    0
}

impl Library {
    /// The innermost reason on the error stack.
    fn reason(&self) -> String {
        let mut kept = String::new();
        call_with_memory!(self, H5Ewalk2(0, 0, keep, ptr::from_mut(&mut kept).cast()));
        // Some have a time in them, with the end of a line behind it.
        if kept.is_empty() { "it does not say why".to_owned() } else { kept.replace('\n', "") }
    }

    /// The error of the call that just failed: what was attempted, and the library's reason.
    pub(crate) fn error(&self, what: impl Into<String>) -> Error {
        Error::Library { what: what.into(), reason: self.reason() }
    }

    /// A status as a result.
    pub(super) fn check(&self, status: c_int, what: &str) -> Result<c_int> {
        if status < 0 { Err(self.error(what)) } else { Ok(status) }
    }
}
