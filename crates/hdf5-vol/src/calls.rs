//! Calls of programs: they name an HDF5 library by an address, and a file by an id of that library.
//!
//! The ids of two libraries look alike, so a program says which one it means: by the address of its variable `H5E_ERR_CLS_g`, which tells
//! libraries apart in the [tables](crate::tables), too. A call on a file goes through HDF5, as an optional operation of the connector, so that HDF5
//! checks the id and has its locks.

use std::{
    ffi::{c_char, c_int, c_void},
    io::{self, Write as _},
    ptr,
    sync::Arc,
};

use crate::{
    abi::{DEFAULT, Herr, Hid, NAME, OptionalArgs, id_type},
    error::{Error, Result},
    guard,
    id::check,
    library::Library,
    tables,
    view::View,
};

/// The number of the operation. HDF5 gives numbers to other connectors' operations from 1024 on.
pub(crate) const OPERATION: c_int = 0x6973_6f74;

/// What a call does with the file.
type Body<'b> = dyn FnMut(&Arc<View>) -> Result<()> + 'b;

/// The arguments of the operation. The first member is the same in all versions of the connector.
#[repr(C)]
struct Call<'b> {
    /// Of the connector that is called: the address of [`COPY`].
    copy: *const u8,
    body: &'b mut Body<'b>,
}

/// Its address tells the copies of the connector in a process apart.
static COPY: u8 = 0;

/// Runs a call that names no file. The address is that of the variable `H5E_ERR_CLS_g` of an HDF5 library.
///
/// # Safety
/// The address lies in a loaded library or program.
pub(crate) unsafe fn with_library(
    address: *const Hid,
    body: impl FnOnce(&'static Library) -> Result<Herr>,
) -> Herr {
    match library(address) {
        Ok(library) => guard::call(library, body).unwrap_or(-1),
        Err(error) => {
            // There is no error stack to put it on, and nobody to be told if this fails.
            drop(io::stderr().write_all(format!("isotach_vol: {error}\n").as_bytes()));
            -1
        }
    }
}

fn library(address: *const Hid) -> Result<&'static Library, String> {
    if address.is_null() {
        return Err("no HDF5 library was named: expected ISOTACH_H5_LIBRARY".to_owned());
    }
    if let Some(known) = tables::with_key(address.addr()) {
        return Ok(known);
    }
    // A program that has not used the connector so far.
    let slot = tables::enter(Library::of_address(address.cast())?)?;
    let library = tables::library(slot).ok_or("the HDF5 library is not known")?;
    library.H5open();
    Ok(library)
}

/// Runs a call on an open file.
///
/// # Safety
/// As [`with_library`].
pub(crate) unsafe fn with_file(
    address: *const Hid,
    file: Hid,
    mut body: impl FnMut(&Arc<View>) -> Result<()>,
) -> Herr {
    // SAFETY: the caller's promise.
    unsafe { with_library(address, |library| on_file(library, file, &mut body)) }
}

/// Runs the body of a call on an open file. The status is negative if HDF5, the connector or the body has failed, and has put an error on the stack.
pub(crate) fn on_file(library: &Library, file: Hid, body: &mut Body<'_>) -> Result<Herr> {
    check_file(library, file)?;
    let mut call = Call { copy: &raw const COPY, body };
    let mut arguments = OptionalArgs { op: OPERATION, args: (&raw mut call).cast() };
    // SAFETY: the texts are constants, and the arguments outlive the call, which `run` takes them from.
    Ok(unsafe {
        library.H5VLfile_optional_op(
            c"isotach_vol".as_ptr(),
            c"isotach".as_ptr(),
            0,
            file,
            &raw mut arguments,
            DEFAULT,
            DEFAULT,
        )
    })
}

/// Refuses what is not an open file of the connector.
fn check_file(library: &Library, file: Hid) -> Result<()> {
    if library.H5Iget_type(file) != id_type::FILE {
        return Err(Error::argument(format!(
            "id {file}: expected that of an open file of this HDF5 library"
        )));
    }
    let mut name: [c_char; 64] = [0; 64];
    // SAFETY: the library sets as many characters as there are.
    let length = unsafe { library.H5VLget_connector_name(file, name.as_mut_ptr(), name.len()) };
    check(length.signum() as c_int, "H5VLget_connector_name")?;
    // SAFETY: the library has set a text that ends with a zero.
    let name = unsafe { std::ffi::CStr::from_ptr(name.as_ptr()) };
    if name == NAME {
        return Ok(());
    }
    let text = format!(
        "the file of id {file} was opened with the connector {}: expected a file of Isotach, which is opened with HDF5_VOL_CONNECTOR=isotach",
        name.to_string_lossy()
    );
    Err(Error::argument(text))
}

/// Runs the body of a call: HDF5 calls back with the file.
///
/// # Safety
/// The arguments are those of the operation [`OPERATION`].
pub(crate) unsafe fn run(view: &Arc<View>, arguments: *mut c_void) -> Result<Herr> {
    let call = arguments.cast::<Call<'_>>();
    // SAFETY: the caller's promise; the first member is the same in each copy of the connector.
    if call.is_null() || !ptr::eq(unsafe { (*call).copy }, &raw const COPY) {
        return Err(Error::argument(
            "the program is linked with another copy of libisotach_vol.so than the one that HDF5 has opened: \
             expected the file in HDF5_PLUGIN_PATH",
        ));
    }
    // SAFETY: this copy has made it, for the time of the call.
    (unsafe { &mut *(*call).body })(view)?;
    Ok(0)
}
