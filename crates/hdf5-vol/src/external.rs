//! External storage: the elements of a dataset are in plain files, which the property list that it was created with names.
//!
//! A native dataset in the shadow reads and writes them, so that they are there as HDF5 has them. They are no part of any version.

use std::{
    env,
    ffi::{CString, c_char},
    path::Path,
    sync::Arc,
};

use isotach_hdf5::{Header, Object};

use crate::{
    abi::{Hid, Hsize},
    error::{Error, Result},
    handle::OpenDataset,
    id::{Id, check},
    native_dataset::NativeDataset,
    plist, space, types,
    view::View,
};

/// `H5F_PREFIX_EFILE`: the variable with the folder of the files.
const VARIABLE: &str = "HDF5_EXTFILE_PREFIX";
/// What stands in it for the folder of the file.
const ORIGIN: &str = "${ORIGIN}";

/// A part of a plain file.
struct Part {
    name: String,
    offset: i64,
    size: Hsize,
}

/// Whether the elements of a dataset are in plain files.
pub(crate) fn is_external(view: &View, header: &Header) -> Result<bool> {
    Ok(files(view, header)?.is_some())
}

/// The property list of a dataset whose elements are in plain files; nothing for another one.
fn files(view: &View, header: &Header) -> Result<Option<Id>> {
    let may_be = header.data.as_ref().is_some_and(|data| !data.is_chunked && data.filters.is_empty());
    if !may_be {
        return Ok(None);
    }
    let list = plist::plain_creation(view.library, header)?;
    Ok(list.filter(|list| view.library.H5Pget_external_count(list.raw()) > 0))
}

/// The native dataset that reads and writes the elements of a dataset; nothing if they are not in plain files.
pub(crate) fn of_dataset(view: &Arc<View>, dataset: &OpenDataset) -> Result<Option<NativeDataset>> {
    let library = view.library;
    let object: &Object = &dataset.node.object;
    let header = object.header()?;
    let Some(files) = files(view, &header)? else { return Ok(None) };
    let data = header.data.as_ref().ok_or_else(|| Error::argument("not a dataset"))?;
    let prefix = prefix(view, dataset.dapl.as_ref().map(Id::raw))?;
    let list = library.H5Pcreate(library.H5P_CLS_DATASET_CREATE_ID_g());
    let list = Id::new(library, list, "H5Pcreate")?;
    let count = check(library.H5Pget_external_count(files.raw()), "H5Pget_external_count")?;
    for index in 0..count.unsigned_abs() {
        let part = part(view, files.raw(), index)?;
        let name = CString::new(below(prefix.as_deref(), &part.name))
            .map_err(|_| Error::argument("a name with a zero byte"))?;
        // SAFETY: the name ends with a zero.
        let status = unsafe { library.H5Pset_external(list.raw(), name.as_ptr(), part.offset, part.size) };
        check(status, "H5Pset_external")?;
    }
    let kind = types::decode(library, &header.datatype)?;
    let space = space::create(library, &data.space)?;
    view.shadow.dataset(kind.raw(), space.raw(), list.raw()).map(Some)
}

fn part(view: &View, list: Hid, index: u32) -> Result<Part> {
    let mut bytes = vec![0_u8; libc::PATH_MAX as usize];
    let (mut offset, mut size) = (0, 0);
    // SAFETY: the library writes at most as many bytes of the name as it is told, and two numbers.
    let status = unsafe {
        let name = bytes.as_mut_ptr().cast::<c_char>();
        view.library.H5Pget_external(list, index, bytes.len() - 1, name, &raw mut offset, &raw mut size)
    };
    check(status, "H5Pget_external")?;
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(0);
    bytes.truncate(length);
    let name = String::from_utf8(bytes).map_err(|_| Error::unsupported("names that are not UTF-8"))?;
    Ok(Part { name, offset, size })
}

/// The folder of plain files, from the environment or the access property list; nothing for the working folder.
fn prefix(view: &View, dapl: Option<Hid>) -> Result<Option<String>> {
    let named = env::var(VARIABLE).ok().filter(|prefix| !prefix.is_empty());
    let listed = |dapl| {
        plist::text("H5Pget_efile_prefix", |text: *mut c_char, size| {
            // SAFETY: the library writes no more bytes than it is told.
            unsafe { view.library.H5Pget_efile_prefix(dapl, text, size) }
        })
    };
    let prefix = match named {
        None => dapl.map(listed).transpose()?,
        named => named,
    };
    let prefix = prefix.filter(|prefix| !prefix.is_empty() && prefix != ".");
    Ok(prefix.map(|prefix| match prefix.strip_prefix(ORIGIN) {
        Some(rest) => format!("{}{rest}", folder(&view.name)),
        None => prefix,
    }))
}

/// Puts the folder of plain files in an access property list that a program gets, as HDF5 does.
pub(crate) fn set_prefix(view: &View, header: &Header, dapl: Hid) -> Result<()> {
    if !is_external(view, header)? {
        return Ok(());
    }
    if let Some(prefix) = prefix(view, Some(dapl))? {
        let prefix = CString::new(prefix).map_err(|_| Error::argument("a name with a zero byte"))?;
        // SAFETY: the prefix ends with a zero.
        let status = unsafe { view.library.H5Pset_efile_prefix(dapl, prefix.as_ptr()) };
        check(status, "H5Pset_efile_prefix")?;
    }
    Ok(())
}

/// The folder that a file is in.
fn folder(name: &str) -> String {
    let path = std::path::absolute(name).unwrap_or_else(|_| Path::new(name).to_owned());
    path.parent().map_or_else(String::new, |folder| folder.to_string_lossy().into_owned())
}

fn below(prefix: Option<&str>, name: &str) -> String {
    match prefix {
        Some(prefix) if !Path::new(name).is_absolute() => format!("{}/{name}", prefix.trim_end_matches('/')),
        _ => name.to_owned(),
    }
}
