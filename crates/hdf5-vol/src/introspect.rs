//! What the connector says of itself.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use crate::{
    abi::{CAPABILITIES, ConnectorClass, Herr, LEVEL_TERMINAL, dataset_op, file_op, object_op},
    error::{Error, Result},
    library::Library,
    out::put,
    tables, through,
};

/// `H5VL_SUBCLS_*`.
mod subclass {
    use std::ffi::c_int;
    pub(super) const DATASET: c_int = 4;
    pub(super) const FILE: c_int = 6;
    pub(super) const OBJECT: c_int = 9;
}

/// `H5VL_OPT_QUERY_SUPPORTED`.
const SUPPORTED: u64 = 1;

/// The class behind an object: this one, or for HDF5's check of native files the native one (see `shadow.rs`).
pub(crate) unsafe fn class(
    library: &'static Library,
    _: *mut c_void,
    level: c_int,
    class: *mut *const ConnectorClass,
) -> Result<Herr> {
    let found = if level == LEVEL_TERMINAL {
        ptr::from_ref(through::class(library)?)
    } else {
        tables::class_of(library).ok_or_else(|| Error::argument("no class for the library"))?
    };
    // SAFETY: HDF5 passes a place for the result.
    unsafe { put(class, found) };
    Ok(0)
}

/// What the connector can do.
pub(crate) unsafe fn capabilities(_: &'static Library, _: *const c_void, flags: *mut u64) -> Result<Herr> {
    // SAFETY: HDF5 passes a place for the result.
    unsafe { put(flags, CAPABILITIES) };
    Ok(0)
}

/// Which of the native connector's operations are answered.
pub(crate) unsafe fn optional_query(
    _: &'static Library,
    _: *mut c_void,
    subclass: c_int,
    op: c_int,
    flags: *mut u64,
) -> Result<Herr> {
    let is_answered = match subclass {
        subclass::DATASET => {
            (dataset_op::CHUNK_INDEX_TYPE..=dataset_op::CHUNK_WRITE).contains(&op)
                || op == dataset_op::CHUNK_ITERATE
        }
        subclass::FILE => op == file_op::SIZE || op == file_op::SET_VERSION_BOUNDS,
        subclass::OBJECT => (object_op::GET_COMMENT..=object_op::NATIVE_INFO).contains(&op),
        _ => false,
    };
    // SAFETY: HDF5 passes a place for the result.
    unsafe { put(flags, if is_answered { SUPPORTED } else { 0 }) };
    Ok(0)
}
