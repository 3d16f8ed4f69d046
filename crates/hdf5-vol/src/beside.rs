//! Opens files that a file names: by external links, and as sources of virtual datasets.

use std::{env, ffi::c_uint, path::Path, sync::Arc};

use isotach_hdf5::Error as FileError;

use crate::{
    abi::{DEFAULT, Hid, access},
    error::{Error, Result},
    id::{Id, check},
    view::{Beside, View},
};

/// Opens the file that an external link names, looking where HDF5 looks.
pub(crate) fn open_linked(view: &Arc<View>, name: &str, lapl: Hid) -> Result<Beside> {
    let flags = external_flags(view, lapl)?;
    let fapl = external_fapl(view, lapl)?;
    open(view, name, &folders("HDF5_EXT_PREFIX", prefix(view, lapl)), flags, fapl.as_ref())
}

/// Opens the file with the source of a virtual dataset, looking where HDF5 looks.
pub(crate) fn open_source(view: &Arc<View>, name: &str, prefix: Option<String>) -> Result<Beside> {
    open(view, name, &folders("HDF5_VDS_PREFIX", prefix), access::DEFAULT, None)
}

fn open(
    view: &Arc<View>,
    name: &str,
    prefixes: &[String],
    flags: c_uint,
    fapl: Option<&Id>,
) -> Result<Beside> {
    let mut first: Option<Error> = None;
    for candidate in candidates(view, name, prefixes) {
        match view.open_beside(&candidate, flags, fapl) {
            Ok(opened) => return Ok(opened),
            Err(error) if error.is_not_found() => first = first.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    Err(first.unwrap_or_else(|| FileError::not_found(format!("the file '{name}' (errno = 2)")).into()))
}

fn external_flags(view: &View, lapl: Hid) -> Result<c_uint> {
    let mut flags = access::DEFAULT;
    if lapl != DEFAULT {
        // SAFETY: the library sets one number.
        let status = unsafe { view.library.H5Pget_elink_acc_flags(lapl, &raw mut flags) };
        check(status, "H5Pget_elink_acc_flags")?;
    }
    Ok(flags)
}

/// The access property list for the other file, if the link access property list has one.
fn external_fapl(view: &View, lapl: Hid) -> Result<Option<Id>> {
    if lapl == DEFAULT {
        return Ok(None);
    }
    let fapl = view.library.H5Pget_elink_fapl(lapl);
    if fapl == DEFAULT { Ok(None) } else { Id::new(view.library, fapl, "H5Pget_elink_fapl").map(Some) }
}

/// The folders of an environment variable, then that of a property list.
fn folders(variable: &str, property: Option<String>) -> Vec<String> {
    let listed = env::var(variable).unwrap_or_default();
    let listed = listed.split(':').filter(|prefix| !prefix.is_empty()).map(str::to_owned);
    listed.chain(property).collect()
}

/// Where a file is looked for: the given folders, that of the file that names it, the working folder.
fn candidates(view: &View, name: &str, prefixes: &[String]) -> Vec<String> {
    let path = Path::new(name);
    let is_plain = !path.is_absolute() && !name.contains("://");
    let file_name =
        path.file_name().map_or_else(|| name.to_owned(), |part| part.to_string_lossy().into_owned());
    let folder = Path::new(&view.name)
        .parent()
        .map(|folder| folder.to_string_lossy().into_owned())
        .unwrap_or_default();
    let below = |prefix: &str, name: &str| {
        let prefix = prefix.replace("${ORIGIN}", &folder);
        if prefix.is_empty() { name.to_owned() } else { format!("{}/{name}", prefix.trim_end_matches('/')) }
    };
    let mut all = Vec::new();
    if !is_plain {
        all.push(name.to_owned());
    }
    let rest = if is_plain { name } else { file_name.as_str() };
    all.extend(prefixes.iter().map(|prefix| below(prefix, rest)));
    all.push(below(&folder, rest));
    all.push(rest.to_owned());
    all
}

/// The folder for external links of a link access property list.
fn prefix(view: &View, lapl: Hid) -> Option<String> {
    if lapl == DEFAULT {
        return None;
    }
    let mut bytes = [0_u8; 4096];
    // SAFETY: the library writes at most as many bytes as it is told.
    let length = unsafe { view.library.H5Pget_elink_prefix(lapl, bytes.as_mut_ptr().cast(), bytes.len()) };
    let length = usize::try_from(length).ok().filter(|length| *length > 0 && *length < bytes.len())?;
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}
