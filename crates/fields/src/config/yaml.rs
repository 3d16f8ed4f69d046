//! Reads YAML into typed structures. Errors name file, line, column and what was expected.

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

/// The first position of a word outside comments, as `file:line:column`; the file alone if there is none.
pub(super) fn place_of(text: &str, path: &Path, word: &str) -> String {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let stands = |line: &str, at: usize| {
        !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    };
    let found = text.lines().zip(1..).find_map(|(line, number): (&str, usize)| {
        let line = line.find(" #").map_or(line, |comment| &line[..comment]);
        let mut places = line.match_indices(word).map(|(at, _)| at).filter(|at| stands(line, *at));
        let at = places.next().filter(|_| !line.starts_with('#'))?;
        Some((number, line[..at].chars().count() + 1))
    });
    let file = path.display();
    found.map_or_else(|| file.to_string(), |(line, column)| format!("{file}:{line}:{column}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_whole_and_outside_comments() {
        let text = "# class\nsubclass: 1 # class\n  \"é\": {class: od}\n";
        assert_eq!(place_of(text, Path::new("a.yaml"), "class"), "a.yaml:3:9");
        assert_eq!(place_of(text, Path::new("a.yaml"), "other"), "a.yaml");
    }
}
