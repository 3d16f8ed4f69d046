//! The page buffer of native files. No file of ours has one, but programs see its size, and HDF5's rules for it.

use std::ffi::{c_int, c_uint};

use crate::{
    abi::{DEFAULT, Hid, Hsize},
    error::{Error, Result},
    id::{Id, check},
    library::Library,
};

/// `H5F_FSPACE_STRATEGY_PAGE`.
const STRATEGY_PAGE: c_int = 1;

/// The length of a page, if a file creation property list has pages.
fn page(library: &Library, fcpl: Hid) -> Result<Option<usize>> {
    if fcpl == DEFAULT {
        return Ok(None);
    }
    let (mut strategy, mut persists, mut threshold, mut size): (c_int, bool, Hsize, Hsize) = (0, false, 0, 0);
    // SAFETY: the library sets two numbers and a flag.
    let status = unsafe {
        let (strategy, persists, threshold) = (&raw mut strategy, &raw mut persists, &raw mut threshold);
        library.H5Pget_file_space_strategy(fcpl, strategy, persists, threshold)
    };
    check(status, "H5Pget_file_space_strategy")?;
    // SAFETY: the library sets one number.
    let status = unsafe { library.H5Pget_file_space_page_size(fcpl, &raw mut size) };
    check(status, "H5Pget_file_space_page_size")?;
    Ok(Some(size as usize).filter(|_| strategy == STRATEGY_PAGE))
}

/// The size of the buffer that a file access property list asks for, and the parts that metadata and data keep of it.
fn wanted(library: &Library, fapl: Hid) -> Result<(usize, c_uint, c_uint)> {
    let (mut size, mut metadata, mut raw) = (0, 0, 0);
    // SAFETY: the library sets three numbers.
    let status =
        unsafe { library.H5Pget_page_buffer_size(fapl, &raw mut size, &raw mut metadata, &raw mut raw) };
    check(status, "H5Pget_page_buffer_size")?;
    Ok((size, metadata, raw))
}

/// Refuses a buffer for a new file without pages.
pub(crate) fn check_new(library: &Library, fcpl: Hid, fapl: Hid) -> Result<()> {
    if wanted(library, fapl)?.0 > 0 && page(library, fcpl)?.is_none() {
        return Err(Error::argument("page buffering needs a file whose space is managed in pages"));
    }
    Ok(())
}

/// Sets the size of the buffer that an open file would have: whole pages, and none without pages.
pub(crate) fn set_actual(
    library: &'static Library,
    fcpl: impl FnOnce() -> Result<Id>,
    fapl: Hid,
) -> Result<()> {
    let (size, metadata, raw) = wanted(library, fapl)?;
    if size == 0 {
        return Ok(());
    }
    let actual = page(library, fcpl()?.raw())?.map_or(0, |page| size.max(page) / page.max(1) * page);
    let (metadata, raw) = if actual == 0 { (0, 0) } else { (metadata, raw) };
    check(library.H5Pset_page_buffer_size(fapl, actual, metadata, raw), "H5Pset_page_buffer_size")?;
    Ok(())
}
