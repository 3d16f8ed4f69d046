//! Names of files: their paths, the labels of their containers, and the errors that name them.

use std::path::{Path, PathBuf};

use isotach_engine_kit::random;
use isotach_object::{Error as ObjectError, Label};
use sha2::{Digest as _, Sha256};

use crate::{Error, Result};

/// The absolute path of a file, through symbolic links as far as it is there.
pub(crate) fn absolute(name: &str) -> Result<PathBuf> {
    let failed = |error| Error::from_io(error, format!("the absolute path of {name}"));
    let path = std::path::absolute(name).map_err(failed)?;
    if let Ok(there) = path.canonicalize() {
        return Ok(there);
    }
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    Ok(match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    })
}

/// The readable part of a label.
pub(crate) fn readable(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let good = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    last.chars().take(60).map(good).collect()
}

/// The label of a file in a pool.
pub(crate) fn label_of(name: &str) -> Result<Label> {
    let sum = Sha256::digest(name.as_bytes());
    let hex: String = sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("h5-{}-{hex}", readable(name)).parse()?)
}

/// A label that nothing has.
pub(crate) fn new_label(path: &Path) -> Result<Label> {
    Ok(format!("h5-{}-{:016x}", readable(&path.to_string_lossy()), random::number()?).parse()?)
}

pub(crate) fn absent(name: &str) -> Error {
    Error::not_found(format!("file {name} (errno = 2)"))
}

/// The error of a stub whose container cannot be opened. A file that is lost is not absent: nothing may take its place.
pub(crate) fn lost_or(error: ObjectError, name: &str, pool: &str, label: &Label) -> Error {
    match error {
        ObjectError::NotFound { .. } => Error::corrupt(
            format!("the data of file {name} is missing: container {label}"),
            format!("pool {pool}"),
        ),
        error => error.into(),
    }
}

pub(crate) fn absent_or(error: ObjectError, name: &str) -> Error {
    match error {
        ObjectError::NotFound { .. } => absent(name),
        error => error.into(),
    }
}

/// A pool cannot be created in a folder that is not there.
pub(crate) fn in_folder(error: Error, name: &str) -> Error {
    match error {
        Error::Object(error) => absent_or(error, name),
        error => error,
    }
}

pub(crate) fn exists(name: &str) -> Error {
    Error::AlreadyExists { what: format!("file {name} (errno = 17)") }
}

pub(crate) fn in_use(name: &str) -> Error {
    Error::invalid(format!("file {name}, which this process has open"), "a file that is closed")
}

pub(crate) fn read_only(name: &str, past: &impl std::fmt::Display) -> Error {
    Error::ReadOnly { what: format!("{past} of file {name}") }
}

pub(crate) fn something_else(name: &str, what: &str) -> Error {
    Error::invalid(format!("{name}, which is {what}"), "a file of Isotach")
}
