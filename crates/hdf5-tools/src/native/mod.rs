//! Native HDF5 files, through an HDF5 library that is found and loaded at run time.

mod ffi;
mod find;
mod source;
mod target;

pub use source::NativeFile;
pub(crate) use target::{NativeLimits, NativeTarget};

use crate::Result;

/// Makes the process forget the connector that its environment names (`HDF5_VOL_CONNECTOR`), so that the library opens native files. To
/// be called before there are threads.
pub fn forget_connector() {
    ffi::Library::forget_connector();
}

/// The version of the HDF5 library, which is loaded if it is not yet.
///
/// # Errors
/// `NotInstalled` says what to install; `Unusable` if `ISOTACH_HDF5` names something else.
pub fn library_version() -> Result<String> {
    find::library().map(ffi::Library::version)
}

/// Whether two encoded dataset creation lists have the same mappings of a virtual dataset.
pub(crate) fn have_same_mappings(one: &[u8], other: &[u8]) -> Result<bool> {
    if one == other {
        return Ok(true);
    }
    let list = |encoded| find::library()?.list(encoded, ffi::PropertyClass::DatasetCreation);
    list(one)?.has_mappings_of(&list(other)?)
}
