//! The error of an encoder.

use std::fmt::Display;

use crate::Error;

/// An encoder that failed.
pub(super) fn failed(name: &str, error: impl Display) -> Error {
    Error::invalid(format!("a chunk that {name} cannot encode ({error})"), "other data or another filter")
}
