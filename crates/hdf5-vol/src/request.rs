//! Requests of asynchronous operations. Every operation is complete when its callback returns, so there never is one.

use std::ffi::{c_int, c_void};

use crate::{
    abi::{Herr, OptionalArgs, RequestCallback, RequestSpecificArgs},
    error::{Error, Result},
    library::Library,
    out::put,
};

/// `H5VL_REQUEST_STATUS_SUCCEED`.
const SUCCEEDED: c_int = 1;

/// Waits: the operation has succeeded.
pub(crate) unsafe fn wait(_: &'static Library, _: *mut c_void, _: u64, status: *mut c_int) -> Result<Herr> {
    // SAFETY: HDF5 passes a place for the status.
    unsafe { put(status, SUCCEEDED) };
    Ok(0)
}

/// Calls back at once.
pub(crate) unsafe fn notify(
    _: &'static Library,
    _: *mut c_void,
    call: Option<RequestCallback>,
    context: *mut c_void,
) -> Result<Herr> {
    // SAFETY: HDF5 passes its own function with its own context.
    Ok(call.map_or(0, |call| unsafe { call(context, SUCCEEDED) }))
}

/// There is nothing left to cancel.
pub(crate) unsafe fn cancel(_: &'static Library, _: *mut c_void, status: *mut c_int) -> Result<Herr> {
    // SAFETY: HDF5 passes a place for the status.
    unsafe { put(status, SUCCEEDED) };
    Ok(0)
}

/// There is no failed request to ask about.
pub(crate) unsafe fn specific(
    _: &'static Library,
    _: *mut c_void,
    _: *mut RequestSpecificArgs,
) -> Result<Herr> {
    Err(Error::unsupported("questions about requests"))
}

/// There are no operations of others on requests.
pub(crate) unsafe fn optional(_: &'static Library, _: *mut c_void, _: *mut OptionalArgs) -> Result<Herr> {
    Err(Error::unsupported("optional operations on requests"))
}

/// There is nothing to free.
pub(crate) unsafe fn free(_: &'static Library, _: *mut c_void) -> Result<Herr> {
    Ok(0)
}
