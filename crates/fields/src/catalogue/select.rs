//! From a request to the datasets and collocations that may hold what it asks for.
//!
//! A dataset's own schema, made when it was, governs its collocations and elements. So a request is planned once for
//! each schema that is in use, and a dataset takes the plans of its own.

use std::{collections::HashMap, sync::Arc};

use isotach_mars::{Key, LevelFilter, Match, Plan, Request, Schema, Wanted};

use crate::{
    FieldStore, Result,
    admin::{locks::Action, overlay::Layer},
    catalogue::{
        layout::push_named_text,
        reader::{Collocation, DatasetReader},
        root::{Entry, Root},
    },
    store::Inner,
};

/// Things that are stored under a text, in the text's order.
#[derive(Debug)]
pub(crate) struct Stored<T> {
    pub(crate) list: Vec<T>,
    by_text: HashMap<Box<str>, usize>,
}

impl<T> Stored<T> {
    pub(crate) fn new(mut list: Vec<T>, text: impl Fn(&T) -> &str) -> Self {
        list.sort_by(|a, b| text(a).cmp(text(b)));
        let by_text = list.iter().enumerate().map(|(at, item)| (text(item).into(), at)).collect();
        Self { list, by_text }
    }

    pub(crate) fn get(&self, text: &str) -> Option<&T> {
        self.list.get(*self.by_text.get(text)?)
    }

    /// Those that a filter wants. `text` makes an item's text of a key that the filter names; `key` gives an item's
    /// own. Where the filter names its keys, they come in the request's order.
    fn pick(
        &self,
        filter: &LevelFilter,
        text: impl Fn(&Key, &mut String),
        key: impl Fn(&T) -> &Key,
    ) -> Vec<&T> {
        let few = filter.candidate_count().is_some_and(|count| count <= self.list.len() as u64);
        if let (true, Some(candidates)) = (few, filter.candidates()) {
            let mut buffer = String::new();
            return candidates
                .filter_map(|candidate| {
                    buffer.clear();
                    text(&candidate, &mut buffer);
                    self.get(&buffer)
                })
                .collect();
        }
        // A filter also admits a key of another rule that has fewer names.
        let has_names = |item: &T| filter.names().eq(key(item).slots().map(|(name, _)| name));
        let mut found: Vec<&T> =
            self.list.iter().filter(|item| filter.matches(key(item)) && has_names(item)).collect();
        if filter.is_enumerable() {
            found.sort_by_cached_key(|item| rank(filter, key(item)));
        }
        found
    }
}

/// Where a key's values stand in the request's lists.
fn rank(filter: &LevelFilter, key: &Key) -> Vec<usize> {
    let place = |((_, wanted), (_, value)): ((_, &Wanted), (_, &str))| match wanted {
        Wanted::OneOf(values) => {
            values.as_slice().iter().position(|known| known == value).unwrap_or(usize::MAX)
        }
        _ => 0,
    };
    filter.keys().zip(key.slots()).map(place).collect()
}

/// A dataset that a request may mean, and the plans by which it looks there.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub(crate) root: Arc<Root>,
    pub(crate) entry: Arc<Entry>,
    pub(crate) plans: Vec<Arc<Plan>>,
    /// Where it stands among datasets that are shown together.
    pub(crate) layer: Option<Layer>,
}

impl FieldStore {
    /// Refuses a request with a keyword that has no effect or a key that is `off`, for operations that change what a request names: who gives one
    /// may think that it narrows the request.
    pub(crate) fn check_effect(&self, request: &Request) -> Result<()> {
        Ok(self.inner.schema.check_effect(request)?)
    }

    /// The datasets that a listing request may mean.
    pub(crate) fn select(&self, request: &Request) -> Result<Vec<Selection>> {
        self.inner.select(request, Match::Partial)
    }
}

impl Inner {
    /// The datasets that a request may mean, in the request's order as far as it names them.
    pub(crate) fn select(&self, request: &Request, mode: Match) -> Result<Vec<Selection>> {
        // The handle's own schema speaks first, so that its errors are the ones a user sees.
        let own: Vec<Arc<Plan>> = self.schema.plans(request, mode)?.into_iter().map(Arc::new).collect();
        let mut selections = Vec::new();
        for root in &self.roots {
            let entries = self.with_room(|| root.entries())?;
            self.select_in(root, &entries, self.schema_digest, &own, &mut selections);
            for (digest, examples) in other_schemas(&entries, self.schema_digest) {
                let Some(schema) = self.schema_of_any(root, digest, &examples)? else {
                    // With all its datasets the schema is lost. What the handle's own says of them is enough to tell
                    // of them and to wipe them.
                    self.select_in(root, &entries, digest, &own, &mut selections);
                    continue;
                };
                // A request that an older schema cannot make sense of finds nothing there.
                let Ok(plans) = schema.plans(request, mode) else { continue };
                let plans: Vec<_> = plans.into_iter().map(Arc::new).collect();
                self.select_in(root, &entries, digest, &plans, &mut selections);
            }
        }
        Ok(selections)
    }

    /// The schema with this digest, from the first of the datasets that it governs which can be opened. `None` when
    /// all of them were wiped meanwhile, or are lost or damaged.
    fn schema_of_any(
        &self,
        root: &Arc<Root>,
        digest: u64,
        examples: &[&Arc<Entry>],
    ) -> Result<Option<Schema>> {
        if let Some(known) = self.known_schema(digest) {
            return Ok(Some(known));
        }
        let mut failure = None;
        for example in examples {
            match self.reader(root, example) {
                Ok(Some(reader)) => return Ok(Some(reader.dataset.schema.clone())),
                Ok(None) => {}
                Err(error) if error.is_of_dataset() => {}
                Err(error) => failure = Some(error),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    fn select_in(
        &self,
        root: &Arc<Root>,
        entries: &Stored<Arc<Entry>>,
        schema: u64,
        plans: &[Arc<Plan>],
        selections: &mut Vec<Selection>,
    ) {
        let begin = selections.len();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for plan in plans {
            let picked =
                entries.pick(&plan.dataset, |key, text| push_named_text(text, key), |entry| &entry.key);
            for entry in picked.into_iter().filter(|entry| entry.record.schema == schema) {
                let place = *places.entry(&entry.text).or_insert_with(|| {
                    let (root, entry) = (Arc::clone(root), Arc::clone(entry));
                    selections.push(Selection { root, entry, plans: Vec::new(), layer: None });
                    selections.len() - 1
                });
                debug_assert!(place >= begin);
                selections[place].plans.push(Arc::clone(plan));
            }
        }
    }
}

/// Each schema that datasets have beside the handle's own, with the datasets to read it from.
fn other_schemas(entries: &Stored<Arc<Entry>>, own: u64) -> HashMap<u64, Vec<&Arc<Entry>>> {
    let mut others: HashMap<u64, Vec<&Arc<Entry>>> = HashMap::new();
    for entry in entries.list.iter().filter(|entry| entry.record.schema != own) {
        others.entry(entry.record.schema).or_default().push(entry);
    }
    others
}

/// A collocation that a request may mean, and the plans by which it wants elements there.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) reader: Arc<DatasetReader>,
    pub(crate) collocation: Arc<Collocation>,
    pub(crate) plans: Vec<Arc<Plan>>,
    /// Where its dataset stands among those that are shown together.
    pub(crate) layer: Option<Layer>,
}

impl Selection {
    /// Whether an action on the dataset is locked, or forbidden by the configuration.
    pub(crate) fn is_locked(&self, action: Action) -> bool {
        self.entry.is_locked(action) || self.shown().is_locked(action)
    }

    /// Refuses an action that is locked or forbidden.
    pub(crate) fn check_lock(&self, action: Action) -> Result<()> {
        self.shown().check(action)?;
        self.entry.check(action)
    }

    /// The dataset under whose key the fields are shown: this one, if no overlay shows it.
    pub(crate) fn shown(&self) -> &Arc<Entry> {
        self.layer.as_ref().map_or(&self.entry, |layer| &layer.shown)
    }

    /// The dataset's collocations that the request may mean, in its order. None if the dataset was wiped meanwhile.
    pub(crate) fn targets(&self, inner: &Inner) -> Result<Vec<Target>> {
        let Some(reader) = inner.reader(&self.root, &self.entry)? else { return Ok(Vec::new()) };
        let collocations = match reader.collocations(inner) {
            Err(error) if reader.was_wiped(&error) => return Ok(Vec::new()),
            collocations => collocations.map_err(|error| reader.failed(error))?,
        };
        let mut targets: Vec<Target> = Vec::new();
        for plan in &self.plans {
            let elements = plan.element.names().collect::<Vec<_>>().join(",");
            let text = |key: &Key, out: &mut String| {
                push_named_text(out, key);
                out.push(' ');
                out.push_str(&elements);
            };
            let picked = collocations.pick(&plan.collocation, text, |collocation| &collocation.key);
            for collocation in
                picked.into_iter().filter(|collocation| collocation.has_elements(&plan.element))
            {
                match targets.iter_mut().find(|target| target.collocation.text == collocation.text) {
                    Some(target) => target.plans.push(Arc::clone(plan)),
                    None => targets.push(Target {
                        reader: Arc::clone(&reader),
                        collocation: match &self.layer {
                            Some(layer) if layer.depth > 0 => collocation.shown_in(&layer.shown.key).into(),
                            _ => Arc::clone(collocation),
                        },
                        plans: vec![Arc::clone(plan)],
                        layer: self.layer.clone(),
                    }),
                }
            }
        }
        Ok(targets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::layout::named_text;
    use isotach_mars::Schema;

    fn stored(keys: &[&str]) -> Stored<Key> {
        let texts: Vec<(String, Key)> = keys
            .iter()
            .map(|text| {
                let key: Key = text.parse().unwrap();
                (named_text(&key), key)
            })
            .collect();
        let by_text = texts.iter().enumerate().map(|(at, (text, _))| (text.as_str().into(), at)).collect();
        Stored { list: texts.into_iter().map(|(_, key)| key).collect(), by_text }
    }

    #[test]
    fn what_is_picked_comes_in_the_requests_order_whether_few_or_many_are_named() {
        let schema = Schema::parse("[ class, expver [ type [ step ]]]").unwrap();
        let stored = stored(&["class=od,expver=1", "class=od,expver=2", "class=rd,expver=1"]);
        for request in ["class=rd/od,expver=2/1,type=fc,step=0", "class=rd/od,expver=2/1/3/4,type=fc,step=0"]
        {
            let plans = schema.plans(&request.parse().unwrap(), Match::Exact).unwrap();
            let found = stored.pick(&plans[0].dataset, |key, text| push_named_text(text, key), |key| key);
            let found: Vec<String> = found.into_iter().map(ToString::to_string).collect();
            assert_eq!(found, ["class=rd,expver=1", "class=od,expver=2", "class=od,expver=1"], "{request}");
        }
    }
}
