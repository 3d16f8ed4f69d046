//! Why a request finds nothing: the key that leaves nothing over, or the one that the fields have and the request does not
//! name.
//!
//! What must stay true: this explains an answer that was given already. So it never fails, claims nothing where it could not
//! look, and looks into a few datasets at most.

use std::{
    collections::BTreeSet,
    io::{IsTerminal, stderr},
};

use isotach_fields::{Action, DatasetStatus, FieldStore, ListOptions};
use isotach_mars::{Key, Match, Request};

use crate::{
    failure::{Outcome, say},
    output::count,
    requests::Given,
};

/// How many values of a key are shown.
const SHOWN: usize = 8;
/// Into how many datasets it looks.
const DATASETS: usize = 64;

/// The lines that say why nothing was found; none where that cannot be told.
pub(crate) fn why(store: &FieldStore, request: &Request) -> Vec<String> {
    reasons(store, request).unwrap_or_default()
}

/// Tells a person that requests mean no field, and why. A program takes no line for an answer.
pub(crate) fn note(store: &FieldStore, requests: &Given) -> Outcome {
    if !stderr().is_terminal() {
        return Ok(());
    }
    say("no field matches");
    requests.for_each(store, Match::Partial, |request| {
        why(store, request).into_iter().for_each(say);
        Ok(())
    })
}

fn reasons(store: &FieldStore, request: &Request) -> Outcome<Vec<String>> {
    let (part, datasets) = match by_datasets(store, request)? {
        Datasets::RuledOut(line) => return Ok(vec![line]),
        Datasets::Left(part, datasets) => (part, datasets),
    };
    let hidden = hidden(&datasets);
    if hidden.is_some() || datasets.len() > DATASETS {
        return Ok(hidden.into_iter().collect());
    }
    match listed(store, request)? {
        Some(unnamed) => Ok(unnamed.into_iter().collect()),
        None => Ok(ruled_out(store, request, part)?.into_iter().collect()),
    }
}

/// What the keys of datasets say, which are known without a look into any.
enum Datasets {
    /// A key that leaves no dataset over.
    RuledOut(String),
    /// The part of the request that names datasets, and those that it means.
    Left(Request, Vec<DatasetStatus>),
}

fn by_datasets(store: &FieldStore, request: &Request) -> Outcome<Datasets> {
    let mut part = Request::new();
    let mut left = store.status(&part)?;
    if left.is_empty() {
        return Ok(Datasets::RuledOut("there are no fields at all".to_owned()));
    }
    for (name, values) in request.iter() {
        let there: BTreeSet<&str> = left.iter().filter_map(|dataset| dataset.key.get(name)).collect();
        if there.is_empty() {
            continue;
        }
        part.set(name, values.to_vec());
        let rest = store.status(&part)?;
        if rest.is_empty() {
            let there: Vec<&str> = there.into_iter().filter(|value| !value.is_empty()).collect();
            return Ok(Datasets::RuledOut(told(name, values, &there)));
        }
        left = rest;
    }
    Ok(Datasets::Left(part, left))
}

/// Datasets that a listing does not look into.
fn hidden(datasets: &[DatasetStatus]) -> Option<String> {
    let hidden = datasets
        .iter()
        .filter(|dataset| dataset.locks.contains(Action::List) || dataset.forbidden.contains(Action::List));
    let hidden = hidden.count() as u64;
    let are = if hidden == 1 { "is" } else { "are" };
    (hidden > 0).then(|| {
        format!(
            "{} of the request {are} locked for listing, or the configuration forbids it",
            count(hidden, "dataset")
        )
    })
}

/// If the request means fields as soon as keys may be left out: those that it leaves out, in a line.
fn listed(store: &FieldStore, request: &Request) -> Outcome<Option<Option<String>>> {
    let Some(field) = store.list(request, ListOptions::default())?.next() else { return Ok(None) };
    let key = field?.key();
    let unnamed: Vec<String> = key
        .iter()
        .filter(|(name, value)| request.get(name).is_none() && !value.is_empty())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let line = || format!("there are fields with {}, which the request does not name", unnamed.join(","));
    Ok(Some((!unnamed.is_empty()).then(line)))
}

/// The first key of the request below `part` that leaves nothing over, with the values that there are.
fn ruled_out(store: &FieldStore, request: &Request, mut part: Request) -> Outcome<Option<String>> {
    let mut before = store.axes(&part)?;
    for (name, values) in request.iter().filter(|(name, _)| part.get(name).is_none()).collect::<Vec<_>>() {
        if !before.unusable.is_empty() {
            return Ok(None);
        }
        part.set(name, values.to_vec());
        let axes = store.axes(&part)?;
        if axes.found.is_empty() {
            let axis = before.found.iter().find(|axis| axis.name == name);
            let there = axis.map(|axis| axis.values.as_slice()).unwrap_or_default();
            return Ok(Some(told(name, values, there)));
        }
        before = axes;
    }
    Ok(Some("each value of the request is stored, but no field has all of them".to_owned()))
}

fn told(name: &str, values: &[String], there: &[impl AsRef<str>]) -> String {
    let asked = values.join("/");
    if there.is_empty() {
        return format!("{name}={asked} leaves nothing over: no field there has this key");
    }
    let shown = there.iter().take(SHOWN).map(AsRef::as_ref).collect::<Vec<_>>().join("/");
    let more = match there.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{name}={asked} leaves nothing over: there is {name}={shown}{more}")
}

/// How many missing fields are named.
const NAMED: usize = 5;

/// What the library found missing of a request.
#[derive(Debug)]
pub(crate) struct Missing<'r> {
    /// The request.
    pub(crate) request: &'r Request,
    /// None if it cannot be told.
    pub(crate) found: Option<isotach_fields::Missing>,
}

impl Missing<'_> {
    /// How many.
    pub(crate) fn count(&self) -> u64 {
        self.found.as_ref().map_or(0, |found| found.count)
    }

    /// The line, unless nothing is missing.
    pub(crate) fn text(&self) -> Option<String> {
        let found = self.found.as_ref().filter(|found| found.count > 0)?;
        let named: Vec<String> =
            found.keys.iter().take(NAMED).map(|key| self.telling(key).to_string()).collect();
        let rest = found.count.saturating_sub(named.len() as u64);
        let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        Some(format!("{} missing: {}{more}", count(found.count, "field"), named.join("; ")))
    }

    /// The pairs that tell one field of the request from another; all of them if it names but one.
    fn telling(&self, key: &Key) -> Key {
        let varies = |name: &str| self.request.get(name).is_none_or(|values| values.len() > 1);
        let telling: Key = key.iter().filter(|(name, _)| varies(name)).collect();
        if telling.is_empty() { key.clone() } else { telling }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(request: &str, keys: &[&str], more: u64) -> Option<String> {
        let keys: Vec<Key> = keys.iter().map(|key| key.parse().unwrap()).collect();
        let found = isotach_fields::Missing { count: keys.len() as u64 + more, keys };
        Missing { request: &request.parse().unwrap(), found: Some(found) }.text()
    }

    #[test]
    fn only_what_tells_the_fields_apart_is_named() {
        let said = text("class=od,step=6/7/8", &["class=od,step=7", "class=od,step=8"], 0);
        assert_eq!(said.unwrap(), "2 fields missing: step=7; step=8");
        assert_eq!(
            text("class=od,step=7", &["class=od,step=7"], 0).unwrap(),
            "1 field missing: class=od,step=7"
        );
    }

    #[test]
    fn many_are_counted_and_none_is_silent() {
        let keys: Vec<String> = (0..9).map(|step| format!("step={step}")).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let said = text("step=0/to/99", &keys, 91).unwrap();
        assert_eq!(said, "100 fields missing: step=0; step=1; step=2; step=3; step=4; and 95 more");
        assert_eq!(text("step=0", &[], 0), None);
    }
}
