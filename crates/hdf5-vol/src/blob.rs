//! Blobs: variable-length data, which elements name by 16-byte ids.

use std::{ffi::c_void, slice, sync::atomic::Ordering};

use isotach_hdf5::BlobId;

use crate::{
    abi::{BlobSpecificArgs, Herr, OptionalArgs, blob_specific},
    apart,
    error::{Error, Result},
    handle::handle_without_wait,
    library::Library,
    out::put,
};

/// Stores a blob. A failure is that of the whole conversion: see [`View::keep_failure`](crate::view::View::keep_failure).
pub(crate) unsafe fn store(
    _: &'static Library,
    object: *mut c_void,
    bytes: *const c_void,
    size: usize,
    id: *mut c_void,
) -> Result<Herr> {
    let bytes = if bytes.is_null() {
        &[][..]
    } else {
        // SAFETY: HDF5 passes a buffer of this size.
        unsafe { slice::from_raw_parts(bytes.cast::<u8>(), size) }
    };
    if let Some(name) = apart::store(bytes) {
        // SAFETY: HDF5 passes a place for an id of the size that the container info says.
        unsafe { id.cast::<[u8; 16]>().write_unaligned(name) };
        return Ok(0);
    }
    // SAFETY: HDF5 passes an object of this connector.
    let view = unsafe { handle_without_wait(object) }?.view()?;
    let new = match view.noting(|| false, || Ok(view.file.put_blob(bytes)?)) {
        Ok(BlobId(new)) => new,
        Err(error) => {
            view.keep_failure(error);
            BlobId::NULL.0
        }
    };
    view.blob_changes.fetch_add(1, Ordering::Relaxed);
    // SAFETY: HDF5 passes a place for an id of the size that the container info says.
    unsafe { id.cast::<[u8; 16]>().write_unaligned(new) };
    Ok(0)
}

/// Reads a blob.
pub(crate) unsafe fn get(
    _: &'static Library,
    object: *mut c_void,
    id: *const c_void,
    buffer: *mut c_void,
    size: usize,
) -> Result<Herr> {
    // SAFETY: HDF5 passes an object of this connector and an id.
    let (view, id) = unsafe { (handle_without_wait(object)?.view()?, id_at(id)?) };
    let bytes = match apart::get(&id.0) {
        Some(apart) => apart?,
        None => view.file.blob(&id)?,
    };
    let length = bytes.len().min(size);
    if length < size {
        return Err(Error::argument(format!("a blob of {length} bytes where {size} were written")));
    }
    // SAFETY: HDF5 passes a buffer of this size.
    unsafe { buffer.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), length) };
    Ok(0)
}

/// # Safety
/// The pointer is null, or to an id.
unsafe fn id_at(id: *const c_void) -> Result<BlobId> {
    if id.is_null() {
        return Err(Error::argument("no blob id was given"));
    }
    // SAFETY: the caller's promise.
    Ok(BlobId(unsafe { id.cast::<[u8; 16]>().read_unaligned() }))
}

/// Removes a blob; asks for, and makes, the id of none.
pub(crate) unsafe fn specific(
    _: &'static Library,
    object: *mut c_void,
    id: *mut c_void,
    arguments: *mut BlobSpecificArgs,
) -> Result<Herr> {
    // SAFETY: HDF5 passes the arguments, an object of this connector and an id.
    let (arguments, view, blob) = unsafe {
        (
            arguments.as_ref().ok_or_else(|| Error::argument("no arguments"))?,
            handle_without_wait(object)?.view()?,
            id_at(id)?,
        )
    };
    match arguments.op {
        blob_specific::DELETE => {
            if !blob.is_null() && !apart::is_on() && !view.keeps_blobs.load(Ordering::Relaxed) {
                view.blob_changes.fetch_add(1, Ordering::Relaxed);
                if let Err(error) = view.file.remove_blob(&blob) {
                    view.keep_failure(error.into());
                }
            }
        }
        // SAFETY: the number says which member of the union is set.
        blob_specific::IS_NULL => unsafe { put(arguments.args.is_null, blob.is_null()) },
        // SAFETY: as in `store`.
        blob_specific::SET_NULL => unsafe { id.cast::<[u8; 16]>().write_unaligned(BlobId::NULL.0) },
        other => return Err(Error::unsupported(format!("the operation {other} on blobs"))),
    }
    Ok(0)
}

/// There are no operations of others on blobs.
pub(crate) unsafe fn optional(
    _: &'static Library,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut OptionalArgs,
) -> Result<Herr> {
    Err(Error::unsupported("optional operations on blobs"))
}
