//! The past state at which files are opened: properties that a program has put into a file-access property list.
//!
//! They are of fixed size, so HDF5 copies and compares them byte by byte.

use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
};

use isotach_hdf5::Site;

use crate::{
    abi::Hid,
    error::{Error, Result},
    id::{check, yes},
    library::Library,
};

const SNAPSHOT: &CStr = c"isotach_snapshot";
const VERSION: &CStr = c"isotach_version";
/// A name has up to 127 characters.
type Name = [c_char; 128];

/// Sets or removes the name of the snapshot.
pub(crate) fn set_snapshot(library: &Library, fapl: Hid, name: Option<&CStr>) -> Result<()> {
    let mut value: Name = [0; 128];
    if let Some(name) = name {
        let text = name.to_string_lossy();
        // Refuses a name that no snapshot can have.
        Site::from_environment(None)?.at_snapshot(&text)?;
        value.iter_mut().zip(name.to_bytes()).for_each(|(place, byte)| *place = byte.cast_signed());
    }
    set(library, fapl, SNAPSHOT, name.map(|_| value))
}

/// Sets the number of the version, or removes it if it is 0.
pub(crate) fn set_version(library: &Library, fapl: Hid, number: u64) -> Result<()> {
    set(library, fapl, VERSION, Some(number).filter(|number| *number > 0))
}

/// The name of the snapshot.
pub(crate) fn snapshot(library: &Library, fapl: Hid) -> Result<Option<String>> {
    let Some(value) = get::<Name>(library, fapl, SNAPSHOT)? else { return Ok(None) };
    let name = value.iter().take_while(|character| **character != 0);
    let name: Vec<u8> = name.map(|character| character.cast_unsigned()).collect();
    Ok(Some(String::from_utf8_lossy(&name).into_owned()))
}

/// The number of the version.
pub(crate) fn version(library: &Library, fapl: Hid) -> Result<Option<u64>> {
    get(library, fapl, VERSION)
}

/// The site where files are opened at what the list says.
pub(crate) fn of(library: &Library, fapl: Hid, site: &Site) -> Result<Site> {
    match (snapshot(library, fapl)?, version(library, fapl)?) {
        (None, None) => Ok(site.clone()),
        (Some(name), None) => Ok(site.clone().at_snapshot(&name)?),
        (None, Some(number)) => Ok(site.clone().at_version(number)),
        (Some(name), Some(number)) => Err(Error::argument(format!(
            "snapshot {name} and version {number} are set: expected one of them"
        ))),
    }
}

/// Whether a list says something.
pub(crate) fn is_set(library: &Library, fapl: Hid) -> Result<bool> {
    Ok(snapshot(library, fapl)?.is_some() || version(library, fapl)?.is_some())
}

/// Refuses a list for a file that is created.
pub(crate) fn refuse(library: &Library, fapl: Hid) -> Result<()> {
    if !is_set(library, fapl)? {
        return Ok(());
    }
    Err(Error::argument(
        "a file cannot be created at a snapshot or version: expected a property list without one",
    ))
}

/// Refuses an id that is not that of a file-access property list.
pub(crate) fn check_list(library: &Library, list: Hid) -> Result<()> {
    if library.H5Pisa_class(list, library.H5P_CLS_FILE_ACCESS_ID_g()) > 0 {
        return Ok(());
    }
    let text =
        format!("id {list}: expected a file-access property list, which H5Pcreate(H5P_FILE_ACCESS) makes");
    Err(Error::argument(text))
}

fn set<T>(library: &Library, list: Hid, name: &CStr, value: Option<T>) -> Result<()> {
    check_list(library, list)?;
    let is_set = has(library, list, name)?;
    match value {
        // SAFETY: the name ends with a zero.
        None if is_set => check(unsafe { library.H5Premove(list, name.as_ptr()) }, "H5Premove")?,
        None => 0,
        Some(value) => {
            let value = (&raw const value).cast::<c_void>().cast_mut();
            // SAFETY: the name ends with a zero, and the library copies as many bytes as the value has.
            let status = unsafe {
                if is_set {
                    library.H5Pset(list, name.as_ptr(), value)
                } else {
                    let (size, none) = (size_of::<T>(), ptr::null());
                    library.H5Pinsert2(list, name.as_ptr(), size, value, none, none, none, none, none, none)
                }
            };
            check(status, "H5Pinsert2")?
        }
    };
    Ok(())
}

fn has(library: &Library, list: Hid, name: &CStr) -> Result<bool> {
    // SAFETY: the name ends with a zero.
    yes(unsafe { library.H5Pexist(list, name.as_ptr()) }, "H5Pexist")
}

/// A property, which has the size of `T`. Any bytes are a `T`.
fn get<T: Copy + Plain>(library: &Library, list: Hid, name: &CStr) -> Result<Option<T>> {
    // The default list has no properties of programs.
    if list == crate::abi::DEFAULT || !has(library, list, name)? {
        return Ok(None);
    }
    let mut size = 0;
    // SAFETY: the name ends with a zero, and the library sets a number.
    check(unsafe { library.H5Pget_size(list, name.as_ptr(), &raw mut size) }, "H5Pget_size")?;
    if size != size_of::<T>() {
        return Err(Error::argument(format!("the property {} has {size} bytes", name.to_string_lossy())));
    }
    let mut value = T::ZERO;
    // SAFETY: as above; the library copies as many bytes as the value has.
    check(unsafe { library.H5Pget(list, name.as_ptr(), (&raw mut value).cast()) }, "H5Pget")?;
    Ok(Some(value))
}

/// Values that any bytes are one of.
trait Plain {
    const ZERO: Self;
}

impl Plain for Name {
    const ZERO: Self = [0; 128];
}

impl Plain for u64 {
    const ZERO: Self = 0;
}
