//! Where files are: the connector's info string, which is in `HDF5_VOL_CONNECTOR` or in a file access property list.

use std::{
    collections::BTreeMap,
    ffi::{CStr, CString, c_char, c_int, c_ulong, c_void},
    ptr,
    sync::{Mutex, PoisonError},
};

use isotach_hdf5::Site;

use crate::{
    abi::{DEFAULT, Herr, Hid, INVALID, NAME},
    error::Result,
    id::{Id, check},
    library::Library,
    past, shadow,
};

/// The sites of the process, by info string.
static SITES: Mutex<BTreeMap<String, Site>> = Mutex::new(BTreeMap::new());

/// The site of a file access property list.
pub(crate) fn of(library: &Library, fapl: Hid) -> Result<Site> {
    let text = info(library, fapl)?;
    let mut sites = SITES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(site) = sites.get(&text) {
        return Ok(site.clone());
    }
    let site = Site::from_environment(Some(&text).filter(|text| !text.is_empty()).map(String::as_str))?;
    sites.insert(text, site.clone());
    Ok(site)
}

/// The site of a list that a program has given to the connector itself. One of another connector says nothing of where files are.
pub(crate) fn of_program(library: &'static Library, fapl: Hid) -> Result<Site> {
    let fapl = if fapl == DEFAULT { library.H5P_LST_FILE_ACCESS_ID_g() } else { fapl };
    past::check_list(library, fapl)?;
    if is_ours(library, fapl)? { of(library, fapl) } else { Ok(Site::from_environment(None)?) }
}

/// Whether a list names this connector.
fn is_ours(library: &'static Library, fapl: Hid) -> Result<bool> {
    let Ok(ours) = shadow::connector(library, NAME) else { return Ok(false) };
    let (mut named, mut order) = (INVALID, 0);
    // SAFETY: the library sets an id, which is closed once.
    check(unsafe { library.H5Pget_vol_id(fapl, &raw mut named) }, "H5Pget_vol_id")?;
    let named = Id::new(library, named, "H5Pget_vol_id")?;
    // SAFETY: the library sets a number.
    let status = unsafe { library.H5VLcmp_connector_cls(&raw mut order, ours.raw(), named.raw()) };
    check(status, "H5VLcmp_connector_cls")?;
    Ok(order == 0)
}

/// Whether a file access property list says itself where the bytes of a file go, so that the file is native: in several files, in memory
/// only, or where the program's own driver puts them. The other drivers say how the bytes of one file are moved, which is our affair.
pub(crate) fn has_own_place(library: &Library, fapl: Hid) -> Result<bool> {
    let features = features(library, fapl)?;
    if features & FEATURE_IMAGE == 0 {
        return Ok(features & (FEATURE_MPI | FEATURE_ONE_FILE) == 0);
    }
    let (mut increment, mut is_stored, mut image) = (0, false, 0);
    // SAFETY: the library sets a number and a flag.
    let core = unsafe { library.H5Pget_fapl_core(fapl, &raw mut increment, &raw mut is_stored) };
    // SAFETY: without a place for the bytes the library sets their length.
    let status = unsafe { library.H5Pget_file_image(fapl, ptr::null_mut(), &raw mut image) };
    check(status, "H5Pget_file_image")?;
    Ok(image > 0 || (core >= 0 && !is_stored))
}

/// Whether the driver is that of parallel programs.
pub(crate) fn is_parallel(library: &Library, fapl: Hid) -> Result<bool> {
    Ok(features(library, fapl)? & FEATURE_MPI != 0)
}

fn features(library: &Library, fapl: Hid) -> Result<c_ulong> {
    let driver = library.H5Pget_driver(fapl);
    let mut features: c_ulong = 0;
    // SAFETY: the library sets one number.
    check(unsafe { library.H5FDdriver_query(driver, &raw mut features) }, "H5FDdriver_query")?;
    Ok(features)
}

/// `H5FD_FEAT_HAS_MPI`, `H5FD_FEAT_ALLOW_FILE_IMAGE` and `H5FD_FEAT_DEFAULT_VFD_COMPATIBLE`.
const FEATURE_MPI: c_ulong = 0x100;
const FEATURE_IMAGE: c_ulong = 0x400;
const FEATURE_ONE_FILE: c_ulong = 0x8000;

fn info(library: &Library, fapl: Hid) -> Result<String> {
    let mut info = ptr::null_mut();
    // SAFETY: the library sets the pointer to a copy that `copy` below made, or to null.
    check(unsafe { library.H5Pget_vol_info(fapl, &raw mut info) }, "H5Pget_vol_info")?;
    if info.is_null() {
        return Ok(String::new());
    }
    // SAFETY: infos of this connector are texts that `CString` made; this one is ours to free.
    let text = unsafe { CString::from_raw(info.cast::<c_char>()) };
    Ok(text.to_string_lossy().trim().to_owned())
}

/// `H5VL_info_class_t.copy`.
pub(crate) unsafe extern "C" fn copy(info: *const c_void) -> *mut c_void {
    if info.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: infos of this connector are texts.
    unsafe { CStr::from_ptr(info.cast()) }.to_owned().into_raw().cast()
}

/// `H5VL_info_class_t.cmp`.
pub(crate) unsafe extern "C" fn compare(
    result: *mut c_int,
    one: *const c_void,
    other: *const c_void,
) -> Herr {
    // SAFETY: infos of this connector are texts or null.
    let text = |info: *const c_void| (!info.is_null()).then(|| unsafe { CStr::from_ptr(info.cast()) });
    let order = text(one).cmp(&text(other));
    // SAFETY: HDF5 passes the place of the result.
    unsafe { result.write(order as c_int) };
    0
}

/// `H5VL_info_class_t.free`.
pub(crate) unsafe extern "C" fn free(info: *mut c_void) -> Herr {
    if !info.is_null() {
        // SAFETY: infos of this connector are texts that `CString` made.
        drop(unsafe { CString::from_raw(info.cast::<c_char>()) });
    }
    0
}

/// `H5VL_info_class_t.to_str`: HDF5 frees the result with `free`.
pub(crate) unsafe extern "C" fn to_text(info: *const c_void, text: *mut *mut c_char) -> Herr {
    // SAFETY: infos of this connector are texts or null; `strdup` allocates as `free` expects.
    let copy = if info.is_null() { ptr::null_mut() } else { unsafe { libc::strdup(info.cast()) } };
    // SAFETY: HDF5 passes the place of the result.
    unsafe { text.write(copy) };
    0
}

/// `H5VL_info_class_t.from_str`.
pub(crate) unsafe extern "C" fn from_text(text: *const c_char, info: *mut *mut c_void) -> Herr {
    // SAFETY: HDF5 passes a text or null, and the place of the result.
    unsafe { info.write(copy(text.cast())) };
    0
}
