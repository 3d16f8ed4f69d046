//! Requests from the command line or a file.

use std::{
    fs,
    io::{Read, stdin},
    path::Path,
};

use isotach_fields::FieldStore;
use isotach_mars::{Request, RequestError};

use crate::{
    failure::{Failure, Outcome},
    flags::{OneRequest, Requests},
};

/// The requests that were given; there is at least one.
pub(crate) fn given(flags: &Requests) -> Outcome<Vec<Request>> {
    read(flags.request.as_deref(), flags.file.as_deref())
}

/// The requests that were given; the request for everything if none was.
pub(crate) fn given_or_all(flags: &OneRequest) -> Outcome<Vec<Request>> {
    read(flags.request.as_deref(), flags.file.as_deref())
}

fn read(text: Option<&str>, file: Option<&Path>) -> Outcome<Vec<Request>> {
    let Some(path) = file else { return Ok(vec![text.unwrap_or_default().parse()?]) };
    let text = text_of(path)?;
    let name = name_of(path);
    let requests = Request::parse_many(&text).map_err(|error| match error {
        RequestError::Syntax { line, column, expected, found } => {
            Failure::usage(format!("{name}:{line}:{column}: expected {expected}, found {found}"))
        }
        other => Failure::from(other).about(&name),
    })?;
    if requests.is_empty() {
        return Err(Failure::usage(format!("{name}: expected a request, found none")));
    }
    Ok(requests)
}

/// Fails with the first dataset that the root lists and whose container is gone, once the others have been told.
pub(crate) fn tell_lost(store: &FieldStore, request: &Request) -> Outcome {
    match store.lost(request)?.into_iter().next() {
        Some(lost) => Err(lost.into()),
        None => Ok(()),
    }
}

/// The text of a file, or of standard input for `-`.
pub(crate) fn text_of(path: &Path) -> Outcome<String> {
    let mut text = String::new();
    let read = if is_standard(path) {
        stdin().lock().read_to_string(&mut text).map(|_| ())
    } else {
        fs::read_to_string(path).map(|read| text = read)
    };
    read.map_err(Failure::file("read", path))?;
    Ok(text)
}

/// Whether `-`, standard input or output, was meant.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What an input is called in messages.
pub(crate) fn name_of(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() }
}
