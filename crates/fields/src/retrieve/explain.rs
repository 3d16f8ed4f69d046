//! Explains missing fields: which fields of a request are missing, and which of its keys matches nothing.
//!
//! What must stay true: an explanation follows an answer that is complete without it. So it never fails, claims nothing
//! about datasets that cannot be read, and reads only a few datasets.

use std::collections::BTreeSet;

use isotach_mars::{Key, Request};

use crate::{Action, DatasetStatus, FieldStore, ListOptions, Missing, Result, error::counted};

/// The number of values of a key that are shown.
const VALUES_MAX: usize = 8;
/// The number of datasets that are read for an explanation.
const DATASETS_MAX: usize = 64;
/// The number of missing fields that are named.
const NAMED_MAX: usize = 5;

impl FieldStore {
    /// Why a request finds nothing: a line that names the key which rules everything out, with the values that are stored. `None`
    /// if the reason is unknown.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use isotach_fields::{Config, FieldStore};
    /// # use isotach_object::{Registry, memory::Memory};
    /// # let registry = Registry::new().with(Arc::new(Memory::new()));
    /// # let config = Config::single(&"memory:doc".parse()?).with_schema("[ class [ type [ step: Step ]]]");
    /// # let store = FieldStore::create(&config, &registry)?;
    /// store.archive(&"class=od,type=fc,step=6".parse()?, b"field")?;
    /// store.flush()?;
    /// let why = store.explain(&"class=od,type=fc,step=12".parse()?);
    /// assert_eq!(why.as_deref(), Some("step=12 matches nothing: stored is step=6"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self, request: &Request) -> Option<String> {
        try_explain(self, request).ok().flatten()
    }

    /// How many datasets of a request are left out of listings, because they may not be listed. `None` if there are none.
    pub fn explain_unlisted(&self, request: &Request) -> Option<String> {
        unlisted(&self.status(request).unwrap_or_default())
    }
}

impl Missing {
    /// A line that names the first missing fields of the request, or none if nothing is missing.
    pub fn text(&self, request: &Request) -> Option<String> {
        if self.count == 0 {
            return None;
        }
        let named: Vec<String> =
            self.keys.iter().take(NAMED_MAX).map(|key| distinct(request, key).to_string()).collect();
        let rest = self.count.saturating_sub(named.len() as u64);
        let more = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        Some(format!("{} missing: {}{more}", counted(self.count, "field"), named.join("; ")))
    }
}

/// The pairs that distinguish the field from others of the request. All pairs if the request names only one field.
fn distinct(request: &Request, key: &Key) -> Key {
    let varies = |name: &str| request.get(name).is_none_or(|values| values.len() > 1);
    let distinct: Key = key.iter().filter(|(name, _)| varies(name)).collect();
    if distinct.is_empty() { key.clone() } else { distinct }
}

fn try_explain(store: &FieldStore, request: &Request) -> Result<Option<String>> {
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

fn match_datasets(store: &FieldStore, request: &Request) -> Result<Datasets> {
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
        let datasets = counted(unlisted, "dataset");
        format!("{datasets} of the request {are} locked for listing, or the configuration forbids it")
    })
}

/// Where the request matches fields as soon as keys may be left out: a line with the keys that it does not name.
fn unnamed_keys(store: &FieldStore, request: &Request) -> Result<Option<Option<String>>> {
    let Some(field) = store.list(request, ListOptions::default())?.next() else { return Ok(None) };
    let key = field?.key();
    let is_unnamed = |(name, value): &(&str, &str)| request.get(name).is_none() && !value.is_empty();
    let unnamed: Vec<String> =
        key.iter().filter(is_unnamed).map(|(name, value)| format!("{name}={value}")).collect();
    let line = || format!("some fields have {}, which the request does not name", unnamed.join(","));
    Ok(Some((!unnamed.is_empty()).then(line)))
}

/// The first key of the request below `part` that matches nothing, with the values that are stored.
fn unmatched_key(store: &FieldStore, request: &Request, mut part: Request) -> Result<Option<String>> {
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
    let asked = first_of(values);
    if stored.is_empty() {
        return format!("{name}={asked} matches nothing: no stored field has this key");
    }
    format!("{name}={asked} matches nothing: stored is {name}={}", first_of(stored))
}

/// The first values, and how many more there are.
fn first_of(values: &[impl AsRef<str>]) -> String {
    let shown = values.iter().take(VALUES_MAX).map(AsRef::as_ref).collect::<Vec<_>>().join("/");
    match values.len().saturating_sub(VALUES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_shows_a_few_values_and_counts_the_others() {
        let values = |count: usize| (0..count).map(|step| step.to_string()).collect::<Vec<_>>();
        assert_eq!(
            no_match("step", &values(1000), &values(9)),
            "step=0/1/2/3/4/5/6/7 and 992 more matches nothing: stored is step=0/1/2/3/4/5/6/7 and 1 more"
        );
        assert_eq!(
            no_match("step", &values(8), &[""; 0]),
            "step=0/1/2/3/4/5/6/7 matches nothing: no stored field has this key"
        );
    }

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
            let missing = Missing { count: keys.len() as u64 + more, keys };
            assert_eq!(missing.text(&request.parse().unwrap()).as_deref(), expected);
        }
    }
}
