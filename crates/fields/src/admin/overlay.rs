//! Overlays: a dataset that shows what lies below it, another dataset, under its own key.
//!
//! An overlay is a line in the record of the dataset that shows. It names the dataset below by its text, so readers see
//! what is there now, also after that was wiped and made again. Nothing is copied.
//!
//! What must stay true:
//! - A dataset's own fields come before those below it; of two datasets below it the one that was laid last comes first.
//! - Nothing that changes a store looks below: wipe, purge, stats, dump, locks and moves mean the dataset itself.
//! - The bytes of a field from below are never given with the keys that they have there: they are relabelled, or refused.

use std::{
    collections::HashSet,
    error::Error as StdError,
    fmt,
    sync::{Arc, OnceLock},
};

use isotach_mars::{Key, LevelFilter, Match, Request, Wanted};
use isotach_object::Error as ObjectError;

use crate::{
    Error, FieldStore, Result,
    admin::locks::Action,
    catalogue::{
        dataset,
        layout::{named_text, parse_named_text},
        root::{Entry, Root},
        select::Selection,
    },
    store::Inner,
};

/// A dataset as one of those that are shown together.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    /// The dataset under whose key its fields are shown.
    pub(crate) shown: Arc<Entry>,
    /// How many are above it: 0 for the dataset that shows.
    pub(crate) depth: usize,
    /// What its messages say otherwise, with the values that they are given.
    pub(crate) relabel: Option<Arc<Key>>,
}

/// Which elements the datasets above have shown, one set for each of them.
#[derive(Debug, Default)]
pub(crate) struct Seen(Vec<HashSet<String>>);

impl Seen {
    /// To be called before a dataset is read, or read again.
    pub(crate) fn begin(&mut self, layer: Option<&Layer>) {
        self.0.truncate(layer.map_or(0, |layer| layer.depth));
        if layer.is_some() {
            self.0.push(HashSet::new());
        }
    }

    /// Whether a dataset above has shown this element of this collocation. If not, this one shows it.
    pub(crate) fn hides(&mut self, collocation: &str, element: &str) -> bool {
        let Some((own, above)) = self.0.split_last_mut() else { return false };
        let field = format!("{collocation}\n{element}");
        if above.iter().any(|shown| shown.contains(&field)) {
            return true;
        }
        own.insert(field);
        false
    }
}

/// Gives a message other keys.
type SetKeys =
    dyn Fn(&[u8], &Key) -> std::result::Result<Vec<u8>, Box<dyn StdError + Send + Sync>> + Send + Sync;

/// What gives messages other keys, once the program has said.
#[derive(Clone, Default)]
pub(crate) struct Relabeller(Arc<OnceLock<Box<SetKeys>>>);

impl fmt::Debug for Relabeller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Relabeller({})", self.0.get().is_some())
    }
}

impl FieldStore {
    /// Says how messages are given other keys, which reading through an overlay needs: a function from a message, and the
    /// keys that differ, to a message that carries them. The first that is given counts.
    pub fn relabel_with(
        &self,
        set_keys: impl Fn(&[u8], &Key) -> std::result::Result<Vec<u8>, Box<dyn StdError + Send + Sync>>
        + Send
        + Sync
        + 'static,
    ) {
        let _ = self.inner.relabeller.0.set(Box::new(set_keys));
    }

    /// Shows the fields of the dataset `below` under the key `shown` as well, those that are archived later included. Both
    /// are whole keys of datasets with the same names, and differ only in the values of `variable` keys. What is archived
    /// under `shown` itself comes first. `force` allows it onto a dataset that is there already.
    ///
    /// # Errors
    /// `NotFound` when `below` is not there; `AlreadyExists` when `shown` is, without `force`; [`Error::Invalid`] for keys
    /// that do not go together; [`Error::Locked`] for a dataset that is locked for archiving; what the engines report.
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

    /// Ends what [`FieldStore::overlay`] began. `below` need not be there any more.
    ///
    /// # Errors
    /// `NotFound` when there is no such dataset or overlay; [`Error::Locked`]; what the engines report.
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
    /// The datasets of a request with those that lie below them, from above to below; and an error for each that is not
    /// there.
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

    /// Whether a dataset shows the one with this text, or is it.
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

    /// The key of a dataset with the same names as another, in canonical form.
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

    /// What a whole key of a dataset means under each rule that takes it, in canonical form.
    fn dataset_keys(&self, given: &Key) -> Result<Vec<Key>> {
        let plans = self.schema.plans(&Request::from(given), Match::Partial)?;
        let keys = plans.iter().filter_map(|plan| only_key(&plan.dataset));
        Ok(keys.filter(|key| key.len() == given.len()).collect())
    }

    /// The bytes of a field as they are shown.
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

/// The one level key that a filter wants, if it names each value; an optional one that it leaves open is absent.
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

/// What the key `to` says otherwise than `from`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(depth: usize) -> Layer {
        let entry = Entry {
            text: "".into(),
            key: Key::new(),
            record: crate::catalogue::record::Record::default(),
            locks: crate::Locks::default(),
            forbidden: crate::Forbidden::default(),
        };
        Layer { shown: Arc::new(entry), depth, relabel: None }
    }

    #[test]
    fn an_element_is_shown_by_the_uppermost_dataset_that_has_it() {
        let mut seen = Seen::default();
        seen.begin(Some(&layer(0)));
        assert!(!seen.hides("pl", "0"));
        seen.begin(Some(&layer(1)));
        assert!(seen.hides("pl", "0") && !seen.hides("pl", "6") && !seen.hides("sfc", "0"));
        seen.begin(Some(&layer(2)));
        assert!(seen.hides("pl", "0") && seen.hides("pl", "6") && !seen.hides("pl", "12"));
    }

    #[test]
    fn a_dataset_that_is_read_again_hides_nothing_from_itself() {
        let mut seen = Seen::default();
        for _ in 0..2 {
            seen.begin(Some(&layer(0)));
            assert!(!seen.hides("pl", "0"));
        }
        seen.begin(Some(&layer(1)));
        assert!(seen.hides("pl", "0"));
        seen.begin(None);
        assert!(!seen.hides("pl", "0"), "a dataset without an overlay");
    }
}
