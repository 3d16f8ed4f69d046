//! Explains missing fields: which fields of a request are missing, and which of its keys matches nothing.
//!
//! What must stay true: an explanation follows an answer that is complete without it. So it never fails, claims nothing
//! about datasets that cannot be read, and reads only a few datasets.

use std::{
    collections::BTreeSet,
    io::{IsTerminal, stderr},
};

use isotach_fields::{Action, DatasetStatus, FieldStore, ListOptions};
use isotach_mars::{Key, Match, Request};

use crate::{
    failure::{Outcome, say},
    output::count,
    requests::Requests,
};

/// The number of values of a key that are shown.
const VALUES_MAX: usize = 8;
/// The number of datasets that are read for an explanation.
const DATASETS_MAX: usize = 64;
/// The number of missing fields that are named.
const NAMED_MAX: usize = 5;

/// Explains why a request finds nothing. Returns no line if the reason is unknown.
pub(crate) fn explain(store: &FieldStore, request: &Request) -> Option<String> {
    try_explain(store, request).ok().flatten()
}

/// Prints on a terminal that no field matches, and why. Programs get no such note.
pub(crate) fn note(store: &FieldStore, requests: &Requests) -> Outcome {
    if !stderr().is_terminal() {
        return Ok(());
    }
    say("no field matches");
    requests.for_each(store, Match::Partial, |request| {
        explain(store, request).into_iter().for_each(say);
        Ok(())
    })
}

/// Prints how many datasets of the request an answer leaves out because they may not be listed.
pub(crate) fn note_unlisted(store: &FieldStore, request: &Request) {
    let datasets = store.status(request).unwrap_or_default();
    unlisted(&datasets).into_iter().for_each(say);
}

/// Prints that a request matches no dataset, and why, where the answer about its datasets is empty.
pub(crate) fn note_no_dataset(store: &FieldStore, request: &Request, is_empty: bool) {
    if is_empty && !request.is_empty() {
        say("the request matches no dataset");
        explain(store, request).into_iter().for_each(say);
    }
}

fn try_explain(store: &FieldStore, request: &Request) -> Outcome<Option<String>> {
    let (part, datasets) = match match_datasets(store, request)? {
        Datasets::NoMatch(line) => return Ok(Some(line)),
        Datasets::Matched(part, datasets) => (part, datasets),
    };
    let unlisted = unlisted(&datasets);
    if unlisted.is_some() || datasets.len() > DATASETS_MAX {
        return Ok(unlisted);
    }
    match unnamed_keys(store, request)? {
        Some(unnamed) => Ok(unnamed),
        None => unmatched_key(store, request, part),
    }
}

/// The datasets that a request matches, by their keys alone.
enum Datasets {
    /// None. The text names the key that matches no dataset.
    NoMatch(String),
    /// The part of the request that names datasets, and the datasets that it matches.
    Matched(Request, Vec<DatasetStatus>),
}

fn match_datasets(store: &FieldStore, request: &Request) -> Outcome<Datasets> {
    let mut part = Request::new();
    let mut matched = store.status(&part)?;
    if matched.is_empty() {
        return Ok(Datasets::NoMatch("the store has no fields".to_owned()));
    }
    for (name, values) in request.iter() {
        let stored: BTreeSet<&str> = matched.iter().filter_map(|dataset| dataset.key.get(name)).collect();
        if stored.is_empty() {
            continue;
        }
        part.set(name, values.to_vec());
        let rest = store.status(&part)?;
        if rest.is_empty() {
            let stored: Vec<&str> = stored.into_iter().filter(|value| !value.is_empty()).collect();
            return Ok(Datasets::NoMatch(no_match(name, values, &stored)));
        }
        matched = rest;
    }
    Ok(Datasets::Matched(part, matched))
}

/// Reports datasets that a listing skips.
fn unlisted(datasets: &[DatasetStatus]) -> Option<String> {
    let is_unlisted = |dataset: &&DatasetStatus| {
        dataset.locks.contains(Action::List) || dataset.forbidden.contains(Action::List)
    };
    let unlisted = datasets.iter().filter(is_unlisted).count() as u64;
    let are = if unlisted == 1 { "is" } else { "are" };
    (unlisted > 0).then(|| {
        let datasets = count(unlisted, "dataset");
        format!("{datasets} of the request {are} locked for listing, or the configuration forbids it")
    })
}

/// Where the request matches fields as soon as keys may be left out: a line with the keys that it does not name.
fn unnamed_keys(store: &FieldStore, request: &Request) -> Outcome<Option<Option<String>>> {
    let Some(field) = store.list(request, ListOptions::default())?.next() else { return Ok(None) };
    let key = field?.key();
    let is_unnamed = |(name, value): &(&str, &str)| request.get(name).is_none() && !value.is_empty();
    let unnamed: Vec<String> =
        key.iter().filter(is_unnamed).map(|(name, value)| format!("{name}={value}")).collect();
    let line = || format!("some fields have {}, which the request does not name", unnamed.join(","));
    Ok(Some((!unnamed.is_empty()).then(line)))
}

/// The first key of the request below `part` that matches nothing, with the values that are stored.
fn unmatched_key(store: &FieldStore, request: &Request, mut part: Request) -> Outcome<Option<String>> {
    let mut before = store.axes(&part)?;
    for (name, values) in request.iter().filter(|(name, _)| part.get(name).is_none()).collect::<Vec<_>>() {
        if !before.unusable.is_empty() {
            return Ok(None);
        }
        part.set(name, values.to_vec());
        let axes = store.axes(&part)?;
        if axes.found.is_empty() {
            let axis = before.found.iter().find(|axis| axis.name == name);
            let stored = axis.map(|axis| axis.values.as_slice()).unwrap_or_default();
            return Ok(Some(no_match(name, values, stored)));
        }
        before = axes;
    }
    Ok(Some("each value of the request is stored, but no field has all of them".to_owned()))
}

fn no_match(name: &str, values: &[String], stored: &[impl AsRef<str>]) -> String {
    let asked = values.join("/");
    if stored.is_empty() {
        return format!("{name}={asked} matches nothing: no stored field has this key");
    }
    let shown = stored.iter().take(VALUES_MAX).map(AsRef::as_ref).collect::<Vec<_>>().join("/");
    let more = match stored.len().saturating_sub(VALUES_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{name}={asked} matches nothing: stored is {name}={shown}{more}")
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
        let found = self.found.as_ref().filter(|found| found.count > 0)?;
        let named: Vec<String> =
            found.keys.iter().take(NAMED_MAX).map(|key| self.distinct(key).to_string()).collect();
        let rest = found.count.saturating_sub(named.len() as u64);
        let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        Some(format!("{} missing: {}{more}", count(found.count, "field"), named.join("; ")))
    }

    /// The pairs that distinguish the field from others of the request. All pairs if the request names only one field.
    fn distinct(&self, key: &Key) -> Key {
        let varies = |name: &str| self.request.get(name).is_none_or(|values| values.len() > 1);
        let distinct: Key = key.iter().filter(|(name, _)| varies(name)).collect();
        if distinct.is_empty() { key.clone() } else { distinct }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_fields_are_named_by_the_keys_that_vary_and_all_are_counted() {
        let steps: Vec<String> = (0..9).map(|step| format!("step={step}")).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let many = "100 fields missing: step=0; step=1; step=2; step=3; step=4; and 95 more";
        for (request, keys, more, expected) in [
            (
                "class=od,step=6/7/8",
                &["class=od,step=7", "class=od,step=8"][..],
                0,
                Some("2 fields missing: step=7; step=8"),
            ),
            ("class=od,step=7", &["class=od,step=7"], 0, Some("1 field missing: class=od,step=7")),
            ("step=0/to/99", &steps, 91, Some(many)),
            ("step=0", &[], 0, None),
        ] {
            let keys: Vec<Key> = keys.iter().map(|key| key.parse().unwrap()).collect();
            let found = isotach_fields::Missing { count: keys.len() as u64 + more, keys };
            let missing = Missing { request: &request.parse().unwrap(), found: Some(found) };
            assert_eq!(missing.text().as_deref(), expected);
        }
    }
}
