//! Overlays: a dataset that shows the fields of another dataset under its own key.
//!
//! An overlay is an entry in the record of the upper dataset. It names the dataset below by its text, so readers see
//! that dataset's present fields, also after it was wiped and created again. Nothing is copied.
//!
//! What must stay true:
//! - A dataset's own fields take precedence over those below it. Of two datasets below it, the one that was laid last
//!   takes precedence.
//! - Operations on a store ignore what lies below: wipe, purge, stats, dump, locks and moves act on the dataset itself.
//! - The bytes of a field from below are never returned with the keys of its own dataset: they are relabelled, or
//!   refused.

use std::{collections::HashSet, error::Error as StdError, sync::Arc};

use isotach_mars::{Key, LevelFilter, Match, Request, Wanted};
use isotach_object::Error as ObjectError;

use crate::{
    Error, FieldStore, Result,
    catalogue::{
        dataset,
        layers::Layer,
        layout::{named_text, parse_named_text},
        locks::Action,
        root::{Entry, Root},
        select::Selection,
    },
    store::Inner,
};

impl FieldStore {
    /// Sets the function that relabels messages, which reading through an overlay needs: it takes a message and the
    /// keys that differ, and returns the message with those keys. The first function that is set counts.
    pub fn relabel_with(
        &self,
        set_keys: impl Fn(&[u8], &Key) -> std::result::Result<Vec<u8>, Box<dyn StdError + Send + Sync>>
        + Send
        + Sync
        + 'static,
    ) {
        let _ = self.inner.relabeller.0.set(Box::new(set_keys));
    }

    /// Shows the fields of the dataset `below` under the key `shown` as well, including those archived later. Both are
    /// whole keys of datasets with the same names, and differ only in the values of `variable` keys. Fields archived
    /// under `shown` itself take precedence. `force` allows the overlay on an existing dataset.
    ///
    /// # Errors
    /// `NotFound` when `below` does not exist; `AlreadyExists` when `shown` does, without `force`; [`Error::Invalid`]
    /// for keys that do not go together; [`Error::Locked`] for a dataset that is locked for archiving; what the engines
    /// report.
    pub fn overlay(&self, below: &Key, shown: &Key, variable: &[&str], force: bool) -> Result<()> {
        self.inner.check_present("overlay")?;
        let (_, lower) = self.inner.dataset_named(below)?;
        let key = self.inner.beside(&lower, shown)?;
        check_variable(&lower.key, &key, variable)?;
        let text = named_text(&key);
        if self.inner.shows(&lower, &text)? {
            let what = format!("an overlay of {} onto {key}, which it shows itself", lower.key);
            return Err(Error::invalid(what, "a dataset that does not show the other"));
        }
        let (root, entry) = match self.inner.find_dataset(&text)? {
            Some(_) if !force => {
                let what =
                    format!("dataset {key} (to show another dataset in it as well, force the overlay)");
                return Err(ObjectError::AlreadyExists { what }.into());
            }
            Some(found) => found,
            None => {
                let home = self.inner.home_of(&key)?;
                let entry = dataset::create(home, &key, &self.inner.schema, &lower.record.rule)?;
                (Arc::clone(&home.root), entry)
            }
        };
        entry.check(Action::Archive)?;
        if entry.record.schema != lower.record.schema {
            return Err(other_schema(&entry.key));
        }
        let laid = root.change_record(&entry, |now| Ok(now.record.with_overlay(&lower.text)))?;
        laid.map(|_| ()).ok_or_else(|| was_wiped(&key))
    }

    /// Removes an overlay that [`FieldStore::overlay`] added. `below` need not exist any more.
    ///
    /// # Errors
    /// `NotFound` when the dataset or overlay does not exist; [`Error::Locked`]; what the engines report.
    pub fn remove_overlay(&self, below: &Key, shown: &Key) -> Result<()> {
        self.inner.check_present("remove an overlay of")?;
        let (root, entry) = self.inner.dataset_named(shown)?;
        let texts: Vec<String> = self.inner.dataset_keys(below)?.iter().map(named_text).collect();
        let Some(text) = entry.record.overlays.iter().find(|laid| texts.contains(laid)) else {
            let what = format!("an overlay of {below} in dataset {}", entry.key);
            return Err(ObjectError::not_found(what).into());
        };
        entry.check(Action::Archive)?;
        let removed = root.change_record(&entry, |now| Ok(now.record.without_overlay(text)))?;
        removed.map(|_| ()).ok_or_else(|| was_wiped(&entry.key))
    }
}

impl Inner {
    /// The datasets of a request, each followed by the layers below it from top to bottom, and an error for each layer
    /// that does not exist.
    pub(crate) fn layers(&self, selections: Vec<Selection>) -> Result<(Vec<Selection>, Vec<Error>)> {
        let (mut all, mut gone) = (Vec::with_capacity(selections.len()), Vec::new());
        for selection in selections {
            if selection.entry.record.overlays.is_empty() {
                all.push(selection);
                continue;
            }
            let shown = Arc::clone(&selection.entry);
            let own = Layer { shown: Arc::clone(&shown), depth: 0, relabel: None };
            let mut layers = vec![Selection { layer: Some(own), ..selection }];
            let mut known = HashSet::from([shown.text.to_string()]);
            self.add_below(&shown, &mut known, &mut layers, &mut gone)?;
            all.append(&mut layers);
        }
        Ok((all, gone))
    }

    fn add_below(
        &self,
        upper: &Entry,
        known: &mut HashSet<String>,
        layers: &mut Vec<Selection>,
        gone: &mut Vec<Error>,
    ) -> Result<()> {
        for text in &upper.record.overlays {
            if !known.insert(text.clone()) {
                continue;
            }
            let (first, depth) = (layers[0].clone(), layers.len());
            let shown = Arc::clone(&first.entry);
            match self.find_dataset(text)? {
                Some((root, entry)) if entry.record.schema == shown.record.schema => {
                    let relabel = Some(Arc::new(differences(&entry.key, &shown.key)));
                    let layer = Some(Layer { shown, depth, relabel });
                    layers.push(Selection { root, entry: Arc::clone(&entry), plans: first.plans, layer });
                    self.add_below(&entry, known, layers, gone)?;
                }
                found => {
                    let why =
                        if found.is_some() { "was made again with another schema" } else { "is not there" };
                    let below = parse_named_text(text).map_or_else(|| text.clone(), |key| key.to_string());
                    gone.push(Error::NothingBelow { dataset: shown.key.to_string(), below, why });
                }
            }
        }
        Ok(())
    }

    /// Whether a dataset shows the dataset with this text, or is it.
    fn shows(&self, entry: &Arc<Entry>, text: &str) -> Result<bool> {
        let mut known: HashSet<String> = HashSet::new();
        let mut next = vec![entry.text.to_string()];
        while let Some(shown) = next.pop() {
            if shown == text {
                return Ok(true);
            }
            if known.insert(shown.clone())
                && let Some((_, entry)) = self.find_dataset(&shown)?
            {
                next.extend(entry.record.overlays.iter().cloned());
            }
        }
        Ok(false)
    }

    /// The dataset with this whole key.
    fn dataset_named(&self, given: &Key) -> Result<(Arc<Root>, Arc<Entry>)> {
        for key in self.dataset_keys(given)? {
            if let Some(found) = self.find_dataset(&named_text(&key))? {
                return Ok(found);
            }
        }
        Err(ObjectError::not_found(format!("dataset {given} (each of its keys must be given)")).into())
    }

    /// The canonical key of a dataset with the same names as another.
    fn beside(&self, other: &Entry, given: &Key) -> Result<Key> {
        if other.record.schema != self.schema_digest {
            return Err(other_schema(&other.key));
        }
        let is_beside = |key: &Key| {
            let present = |key: &Key| key.slots().map(|(_, value)| value.is_empty()).collect::<Vec<_>>();
            key.slots().map(|(name, _)| name).eq(other.key.slots().map(|(name, _)| name))
                && present(key) == present(&other.key)
        };
        let found = self.dataset_keys(given)?.into_iter().find(is_beside);
        found.ok_or_else(|| {
            Error::invalid(format!("dataset {given}"), format!("the same keys as in {}", other.key))
        })
    }

    /// The canonical forms of a whole dataset key under each rule that takes it.
    fn dataset_keys(&self, given: &Key) -> Result<Vec<Key>> {
        let plans = self.schema.plans(&Request::from(given), Match::Partial)?;
        let keys = plans.iter().filter_map(|plan| only_key(&plan.dataset));
        Ok(keys.filter(|key| key.len() == given.len()).collect())
    }

    /// The bytes of a field, relabelled if an overlay shows it.
    pub(crate) fn relabelled(
        &self,
        key: &Key,
        relabel: Option<&Arc<Key>>,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>> {
        let Some(relabel) = relabel else { return Ok(bytes) };
        let failed = |why: String| Error::NotRelabelled { field: key.to_string(), why };
        let Some(set_keys) = self.relabeller.0.get() else {
            return Err(failed("this program cannot set keys of messages".to_owned()));
        };
        set_keys(&bytes, relabel).map_err(|error| failed(error.to_string()))
    }
}

/// The single key that a filter names with one value each. An optional key that the filter leaves open is absent.
fn only_key(filter: &LevelFilter) -> Option<Key> {
    let mut key = Key::new();
    for ((level_key, wanted), name) in filter.keys().zip(filter.names()) {
        match wanted {
            Wanted::OneOf(values) => match values.as_slice() {
                [value] => key.set(name, value),
                _ => return None,
            },
            Wanted::Any if !level_key.is_mandatory() => key.set(name, ""),
            _ => return None,
        }
    }
    Some(key)
}

/// The values of the key `to` that differ from `from`.
fn differences(from: &Key, to: &Key) -> Key {
    to.slots().filter(|(name, value)| from.get(name).unwrap_or_default() != *value).collect()
}

fn check_variable(below: &Key, shown: &Key, variable: &[&str]) -> Result<()> {
    let differing = differences(below, shown);
    if differing.is_empty() {
        return Err(Error::invalid(format!("an overlay of {below} onto itself"), "another dataset"));
    }
    match differing.slots().find(|(name, _)| !variable.contains(name)) {
        None => Ok(()),
        Some((name, value)) => {
            let what = format!(
                "{name}={value}, where the dataset below has {name}={}",
                below.get(name).unwrap_or_default()
            );
            let expected = format!("the same value; only {} may differ", variable.join(", "));
            Err(Error::invalid(what, expected))
        }
    }
}

fn other_schema(dataset: &Key) -> Error {
    Error::invalid(
        format!("dataset {dataset}, which has another schema"),
        "datasets of the store's own schema",
    )
}

fn was_wiped(dataset: &Key) -> Error {
    ObjectError::Conflict { what: format!("dataset {dataset}: it was wiped meanwhile") }.into()
}
