//! Selection: the datasets and collocations that match a request.
//!
//! A dataset's own schema governs its collocations and elements. So a request is planned once for each schema in use,
//! and each dataset uses the plans of its own schema.

use std::{collections::HashMap, sync::Arc};

use isotach_mars::{Key, Match, Plan, Request, Schema};

use crate::{
    FieldStore, Result,
    catalogue::{
        collocation::Collocation,
        dataset_reader::DatasetReader,
        layers::Layer,
        layout::push_named_text,
        locks::Action,
        root::{Entry, Root},
        stored::Stored,
    },
    store::Inner,
};

/// A dataset that matches a request, and the plans to search it with.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub(crate) root: Arc<Root>,
    pub(crate) entry: Arc<Entry>,
    pub(crate) plans: Vec<Arc<Plan>>,
    /// Its layer, if an overlay shows it.
    pub(crate) layer: Option<Layer>,
}

impl FieldStore {
    /// Refuses a request with a keyword without effect or a key that is `off`, for operations that change what a
    /// request names: the user may expect the keyword to narrow the request.
    pub(crate) fn check_effect(&self, request: &Request) -> Result<()> {
        Ok(self.inner.schema.check_effect(request)?)
    }

    /// The datasets that match a listing request.
    pub(crate) fn select(&self, request: &Request) -> Result<Vec<Selection>> {
        self.inner.select(request, Match::Partial)
    }
}

impl Inner {
    /// The datasets that match a request, in the request's order where it names them.
    pub(crate) fn select(&self, request: &Request, mode: Match) -> Result<Vec<Selection>> {
        // The handle's own schema comes first, so that users see its errors.
        let own: Vec<Arc<Plan>> = self.schema.plans(request, mode)?.into_iter().map(Arc::new).collect();
        let mut selections = Vec::new();
        for root in &self.roots {
            let entries = self.with_handles(|| root.entries())?;
            self.select_in(root, &entries, self.schema_digest, &own, &mut selections);
            for (digest, examples) in other_schemas(&entries, self.schema_digest) {
                let Some(schema) = self.schema_of_any(root, digest, &examples)? else {
                    // The schema is lost with all its datasets. The handle's own schema is enough to report and wipe
                    // them.
                    self.select_in(root, &entries, digest, &own, &mut selections);
                    continue;
                };
                // A request that is invalid under an older schema matches nothing there.
                let Ok(plans) = schema.plans(request, mode) else { continue };
                let plans: Vec<_> = plans.into_iter().map(Arc::new).collect();
                self.select_in(root, &entries, digest, &plans, &mut selections);
            }
        }
        Ok(selections)
    }

    /// The schema with this digest, from the first of its datasets that can be opened. `None` if all of them were
    /// wiped, or are lost or damaged.
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

/// The schemas other than the handle's own, with the datasets to read them from.
fn other_schemas(entries: &Stored<Arc<Entry>>, own: u64) -> HashMap<u64, Vec<&Arc<Entry>>> {
    let mut others: HashMap<u64, Vec<&Arc<Entry>>> = HashMap::new();
    for entry in entries.list.iter().filter(|entry| entry.record.schema != own) {
        others.entry(entry.record.schema).or_default().push(entry);
    }
    others
}

/// A collocation that matches a request, and the plans for its elements.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) reader: Arc<DatasetReader>,
    pub(crate) collocation: Arc<Collocation>,
    pub(crate) plans: Vec<Arc<Plan>>,
    /// The layer of its dataset, if an overlay shows it.
    pub(crate) layer: Option<Layer>,
}

impl Selection {
    /// Whether an action on the dataset is locked or forbidden.
    pub(crate) fn is_locked(&self, action: Action) -> bool {
        self.entry.is_locked(action) || self.shown().is_locked(action)
    }

    /// Refuses a locked or forbidden action.
    pub(crate) fn check_lock(&self, action: Action) -> Result<()> {
        self.shown().check(action)?;
        self.entry.check(action)
    }

    /// The dataset under whose key the fields are shown: this one, unless an overlay shows it.
    pub(crate) fn shown(&self) -> &Arc<Entry> {
        self.layer.as_ref().map_or(&self.entry, |layer| &layer.shown)
    }

    /// The dataset's collocations that match the request, in its order. Empty if the dataset was wiped meanwhile.
    pub(crate) fn targets(&self, inner: &Inner) -> Result<Vec<Target>> {
        let Some(reader) = inner.reader(&self.root, &self.entry)? else { return Ok(Vec::new()) };
        let Some(collocations) = reader.unless_wiped(reader.collocations(inner))? else {
            return Ok(Vec::new());
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
