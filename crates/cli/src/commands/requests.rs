//! Requests from the command line or a file.
//!
//! What must stay true: a mistake in any of several requests is found before the first of them is answered.

use std::{
    fs,
    io::{Read, stdin},
    path::Path,
};

use isotach_fields::{Error, FieldStore};
use isotach_mars::{Match, Request, RequestError};

use crate::{
    failure::{Failure, Outcome, say},
    flags::{OneRequest, Requests},
};

/// The requests that were given; there is at least one.
#[derive(Debug)]
pub(crate) struct Given(Vec<Asked>);

/// A request, and where it stands if that is in a file.
#[derive(Debug)]
struct Asked {
    request: Request,
    place: Option<String>,
}

impl Given {
    /// Calls `each` with every request in turn, once all of them have a meaning under the store's schema. A mistake in
    /// one is told with its file and line.
    pub(crate) fn for_each(
        &self,
        store: &FieldStore,
        how: Match,
        each: impl FnMut(&Request) -> Outcome,
    ) -> Outcome {
        if self.are_many() {
            self.try_each(|request| Ok(store.schema().plans(request, how).map(|_| ())?))?;
        }
        self.try_each(each)
    }

    /// Whether there are several.
    pub(crate) fn are_many(&self) -> bool {
        self.0.len() > 1
    }

    fn try_each(&self, mut each: impl FnMut(&Request) -> Outcome) -> Outcome {
        self.0.iter().try_for_each(|asked| each(&asked.request).map_err(|failure| asked.told(failure)))
    }
}

impl Asked {
    /// A failure that is the request's fault names its place; of any other the request is not the cause.
    fn told(&self, failure: Failure) -> Failure {
        match (&self.place, failure) {
            (Some(place), failure @ Failure::Usage(_)) => failure.about(place),
            (_, failure) => failure,
        }
    }
}

/// The requests that were given.
pub(crate) fn given(flags: &Requests) -> Outcome<Given> {
    read(flags.request.as_deref(), flags.file.as_deref())
}

/// The requests that were given; the request for everything if none was.
pub(crate) fn given_or_all(flags: &OneRequest) -> Outcome<Given> {
    read(flags.request.as_deref(), flags.file.as_deref())
}

/// The request that was typed; the one for everything if none was.
pub(crate) fn typed(text: Option<&str>) -> Outcome<Given> {
    read(text, None)
}

fn read(text: Option<&str>, file: Option<&Path>) -> Outcome<Given> {
    let Some(path) = file else {
        let request = text.unwrap_or_default().parse()?;
        return Ok(Given(vec![Asked { request, place: None }]));
    };
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
    let asked = |(line, request)| Asked { request, place: Some(format!("{name}:{line}")) };
    Ok(Given(requests.into_iter().map(asked).collect()))
}

/// Fails if some datasets cannot be used, and tells each.
pub(crate) fn tell_unusable(mut unusable: Vec<Error>) -> Outcome {
    let Some(last) = unusable.pop() else { return Ok(()) };
    unusable.iter().for_each(say);
    Err(last.into())
}

/// The text of a file, or of standard input for `-`.
pub(crate) fn text_of(path: &Path) -> Outcome<String> {
    let mut bytes = Vec::new();
    let read = if is_standard(path) {
        stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        fs::read(path).map(|read| bytes = read)
    };
    read.map_err(Failure::file("read", path))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::usage(format!("{}:{line}: expected text in UTF-8", name_of(path)))
    })
}

/// Whether `-`, standard input or output, was meant.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What an input is called in messages.
pub(crate) fn name_of(path: &Path) -> String {
    if is_standard(path) { "standard input".to_owned() } else { path.display().to_string() }
}
