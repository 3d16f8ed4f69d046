//! The errors of files that are not there, are there already, are in use or are something else.

use isotach_object::{Error as ObjectError, Label};

use crate::Error;

/// There is no such file.
pub(crate) fn absent(name: &str) -> Error {
    Error::not_found(format!("file {name} (errno = 2)"))
}

/// The error of a stub whose container cannot be opened. A file that is lost is not absent: nothing may take its place.
pub(crate) fn lost_or(error: ObjectError, name: &str, (pool, label): &(String, Label)) -> Error {
    match error {
        ObjectError::NotFound { .. } => Error::corrupt(
            format!("the data of file {name} is missing: container {label}"),
            format!("pool {pool}"),
        ),
        error => error.into(),
    }
}

/// An engine's error, where a container or pool that is missing means that there is no such file.
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

pub(crate) fn something_else(name: &str, what: &str) -> Error {
    Error::invalid(format!("{name}, which is {what}"), "a file of Isotach")
}
