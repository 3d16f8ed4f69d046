//! Reading YAML into a typed structure, with mistakes by file, line, column and what was expected.

use std::{fmt::Display, path::Path};

use serde::de::DeserializeOwned;
use serde_yaml_ng::Error as YamlError;

use crate::{Error, Result};

/// Reads a document.
pub(super) fn parse<T: DeserializeOwned>(text: &str, path: &Path) -> Result<T> {
    serde_yaml_ng::from_str(text).map_err(|error| explain(&error, path))
}

/// A mistake as `file:line:column: what: expected what else`.
fn explain(error: &YamlError, path: &Path) -> Error {
    let mut message = error.to_string();
    let mut place = path.display().to_string();
    if let Some(at) = error.location() {
        let (line, column) = (at.line(), at.column());
        place = format!("{place}:{line}:{column}");
        message = message.replace(&format!(" at line {line} column {column}"), "");
    }
    let missing = message.find("missing field ").map(|at| message.split_at(at));
    if let Some((inside, field)) = missing {
        let inside = inside.trim_end_matches(": ");
        let what = if inside.is_empty() { place } else { format!("{place}: {inside}") };
        return Error::invalid(what, field.replace("missing field", "the key"));
    }
    match message.split_once(", expected ").or_else(|| message.split_once(": expected ")) {
        Some((found, expected)) => Error::invalid(format!("{place}: {found}"), expected),
        None => Error::invalid(place, format!("YAML, but {message}")),
    }
}

/// An error of ours as one of the document's, so that it gets a place.
pub(super) fn custom<E: serde::de::Error>(error: impl Display) -> E {
    E::custom(error)
}
