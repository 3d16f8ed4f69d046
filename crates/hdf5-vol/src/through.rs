//! Objects of files of HDF5's own format. HDF5 holds a [`Through`] for each of them, in the place of a handle: a call on one goes through to
//! HDF5's own connector (`callbacks.rs`, `forward.rs`), and the file stays native.
//!
//! The objects that its own connector hands out HDF5 wraps in [`Through`]s, too, by the functions at the end.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    ptr,
};

use crate::{
    abi::{ConnectorClass, FileSpecificArgs, Herr, Hid},
    error::{Error, Result},
    library::Library,
    magic,
    native_dataset::native_class,
    shadow,
};

/// An open object of a native file.
#[repr(C)]
struct Through {
    magic: u64,
    object: *mut c_void,
}

/// The native object behind a pointer of HDF5's; nothing for one of ours.
///
/// # Safety
/// The pointer is null, or HDF5 holds it as an object of this connector.
pub(crate) unsafe fn object_of(pointer: *const c_void) -> Option<*mut c_void> {
    // SAFETY: the caller's promise; the number tells what it is.
    unsafe { (magic::of(pointer) == magic::THROUGH).then(|| (*pointer.cast::<Through>()).object) }
}

pub(crate) fn allocate(object: *mut c_void) -> *mut c_void {
    Box::into_raw(Box::new(Through { magic: magic::THROUGH, object })).cast()
}

/// # Safety
/// It comes from [`allocate`], and nobody uses it after this.
unsafe fn release(through: *mut c_void) {
    // SAFETY: the caller's promise.
    unsafe {
        (*through.cast::<Through>()).magic = 0;
        drop(Box::from_raw(through.cast::<Through>()));
    }
}

/// The callbacks of HDF5's own connector.
pub(crate) fn class(library: &'static Library) -> Result<&'static ConnectorClass> {
    if library.native.get().is_none() {
        shadow::prepare(library)?;
    }
    native_class(library)
}

/// The outcome of a native callback that returns a status.
pub(crate) fn status(outcome: Option<Herr>) -> Result<Herr> {
    match outcome {
        Some(status) if status >= 0 => Ok(status),
        Some(_) => Err(Error::Native),
        None => Err(Error::unsupported("this operation on native files")),
    }
}

/// The outcome of a native callback that returns an object.
pub(crate) fn pointer(outcome: Option<*mut c_void>) -> Result<*mut c_void> {
    match outcome {
        Some(object) if !object.is_null() => Ok(allocate(object)),
        Some(_) => Err(Error::Native),
        None => Err(Error::unsupported("this operation on native files")),
    }
}

/// The outcome of a native callback that closes an object. HDF5 closes it again if it failed.
///
/// # Safety
/// HDF5 closes this object.
pub(crate) unsafe fn closed(through: *mut c_void, outcome: Option<Herr>) -> Result<Herr> {
    let closed = status(outcome)?;
    // SAFETY: the caller's promise.
    unsafe { release(through) };
    Ok(closed)
}

/// Creates a native file.
///
/// # Safety
/// The name is a text, the lists are of their classes.
pub(crate) unsafe fn create_file(
    library: &'static Library,
    name: *const c_char,
    flags: c_uint,
    (fcpl, fapl, dxpl): (Hid, Hid, Hid),
) -> Result<*mut c_void> {
    let call = class(library)?.file.create;
    // SAFETY: the caller's promise.
    pointer(call.map(|call| unsafe { call(name, flags, fcpl, fapl, dxpl, ptr::null_mut()) }))
}

/// Opens a native file.
///
/// # Safety
/// As [`create_file`].
pub(crate) unsafe fn open_file(
    library: &'static Library,
    name: *const c_char,
    flags: c_uint,
    (fapl, dxpl): (Hid, Hid),
) -> Result<*mut c_void> {
    let call = class(library)?.file.open;
    // SAFETY: the caller's promise.
    pointer(call.map(|call| unsafe { call(name, flags, fapl, dxpl, ptr::null_mut()) }))
}

/// Looks for native files, and deletes them.
///
/// # Safety
/// The arguments are HDF5's, of an operation that is about no open file.
pub(crate) unsafe fn about_file(library: &'static Library, arguments: *mut FileSpecificArgs) -> Result<Herr> {
    let call = class(library)?.file.specific;
    let transfer = library.H5P_LST_DATASET_XFER_ID_g();
    // SAFETY: the caller's promise.
    status(call.map(|call| unsafe { call(ptr::null_mut(), arguments, transfer, ptr::null_mut()) }))
}

/// Anything but null: HDF5 then asks [`wrap`] about all objects that it makes ids of.
static CONTEXT: u8 = 0;

/// `H5VL_wrap_class_t.get_wrap_ctx`.
pub(crate) unsafe extern "C" fn wrap_context(_: *const c_void, context: *mut *mut c_void) -> Herr {
    // SAFETY: HDF5 passes a place for the result. Nobody writes to the context.
    unsafe { context.write((&raw const CONTEXT).cast_mut().cast()) };
    0
}

/// `H5VL_wrap_class_t.wrap_object`: an object that the native connector hands out becomes a [`Through`]; our own are what they should be.
pub(crate) unsafe extern "C" fn wrap(object: *mut c_void, _: c_int, _: *mut c_void) -> *mut c_void {
    // SAFETY: HDF5 passes an object of this connector or of its own, which all begin with 8 bytes and more.
    unsafe {
        if object.is_null() || magic::is_ours(magic::of(object)) {
            return object;
        }
    }
    allocate(object)
}

/// `H5VL_wrap_class_t.unwrap_object`: ends what [`wrap`] made, but not the native object.
pub(crate) unsafe extern "C" fn unwrap(object: *mut c_void) -> *mut c_void {
    // SAFETY: HDF5 passes an object of this connector, and does not use it after this.
    unsafe {
        match object_of(object) {
            Some(native) => {
                release(object);
                native
            }
            None => object,
        }
    }
}

/// `H5VL_wrap_class_t.free_wrap_ctx`.
pub(crate) unsafe extern "C" fn free_context(_: *mut c_void) -> Herr {
    0
}
