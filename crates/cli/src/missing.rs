//! Prints what the field store says of missing fields, and why a request finds nothing.

use std::io::{IsTerminal, stderr};

use isotach_fields::FieldStore;
use isotach_mars::{Match, Request};

use crate::{
    failure::{Outcome, say},
    requests::Requests,
};

/// Prints on a terminal that no field matches, and why. Programs get no such note.
pub(crate) fn note(store: &FieldStore, requests: &Requests) -> Outcome {
    if !stderr().is_terminal() {
        return Ok(());
    }
    say("no field matches");
    requests.for_each(store, Match::Partial, |request| {
        store.explain(request).into_iter().for_each(say);
        Ok(())
    })
}

/// Prints how many datasets of the request an answer leaves out because they may not be listed.
pub(crate) fn note_unlisted(store: &FieldStore, request: &Request) {
    store.explain_unlisted(request).into_iter().for_each(say);
}

/// Prints that a request matches no dataset, and why, where the answer about its datasets is empty.
pub(crate) fn note_no_dataset(store: &FieldStore, request: &Request, is_empty: bool) {
    if is_empty && !request.is_empty() {
        say("the request matches no dataset");
        store.explain(request).into_iter().for_each(say);
    }
}

/// The missing fields of a request.
#[derive(Debug)]
pub(crate) struct Missing<'r> {
    /// The request.
    pub(crate) request: &'r Request,
    /// The library's answer, or none if it is unknown.
    pub(crate) found: Option<isotach_fields::Missing>,
}

impl Missing<'_> {
    /// The number of missing fields.
    pub(crate) fn count(&self) -> u64 {
        self.found.as_ref().map_or(0, |found| found.count)
    }

    /// A line that names the first missing fields, or none if nothing is missing.
    pub(crate) fn text(&self) -> Option<String> {
        self.found.as_ref()?.text(self.request)
    }
}
