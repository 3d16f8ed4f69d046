//! Status: the datasets of a request, where they are and what they are locked against.

use std::{collections::BTreeMap, sync::Arc};

use isotach_mars::{Key, Request};
use isotach_object::Label;

use crate::{
    ContainerUri, FieldStore, Forbidden, Locks, Result, Selection, catalogue::layout::parse_named_text,
};

/// A dataset as the root knows it; asking for it does not touch the dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetStatus {
    /// Its key.
    pub key: Key,
    /// What it is locked against.
    pub locks: Locks,
    /// What the configuration forbids on it.
    pub forbidden: Forbidden,
    /// When it was made, in microseconds since 1970 UTC.
    pub created_us: u64,
    /// The rule of the schema that made it, as the names of its three levels.
    pub rule: String,
    /// Its container of the catalogue.
    pub catalogue: ContainerUri,
    /// Its container of the store; the same one if catalogue and store share a pool.
    pub store: ContainerUri,
    /// The datasets that it shows below its own fields, the first of them first.
    pub below: Vec<Key>,
}

/// A dataset that was wiped, and that snapshots go on showing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDataset {
    /// The dataset as it was listed, without its locks, which ended with it.
    pub status: DatasetStatus,
    /// The snapshots that show it.
    pub snapshots: Vec<Label>,
}

impl FieldStore {
    /// The datasets that a request names. Keys below the dataset level must be known to the rule but are not looked
    /// for.
    ///
    /// # Errors
    /// As [`FieldStore::list`].
    pub fn status(&self, request: &Request) -> Result<Vec<DatasetStatus>> {
        self.select(request)?.iter().map(Selection::status).collect()
    }

    /// The datasets that are in snapshots only: [`FieldStore::status`] does not tell of them, and their containers are
    /// there.
    ///
    /// # Errors
    /// What the catalogue's engine reports.
    pub fn kept_datasets(&self) -> Result<Vec<KeptDataset>> {
        let mut kept = Vec::new();
        for root in &self.inner.roots {
            let mut of_root: BTreeMap<(String, u64), KeptDataset> = BTreeMap::new();
            for (snapshot, entry) in root.wiped()? {
                let id = (entry.text.to_string(), entry.record.incarnation);
                let selection = Selection {
                    root: Arc::clone(root),
                    entry: Arc::new(entry),
                    plans: Vec::new(),
                    layer: None,
                };
                let new = KeptDataset { status: selection.status()?, snapshots: Vec::new() };
                of_root.entry(id).or_insert(new).snapshots.push(snapshot);
            }
            kept.extend(of_root.into_values());
        }
        Ok(kept)
    }
}

impl Selection {
    pub(crate) fn status(&self) -> Result<DatasetStatus> {
        let record = &self.entry.record;
        let label: Label = record.label.parse()?;
        let catalogue = ContainerUri { pool: self.root.uri().clone(), label: label.clone() };
        let store = match record.store.as_str() {
            "" => catalogue.clone(),
            uri => ContainerUri { pool: uri.parse()?, label },
        };
        Ok(DatasetStatus {
            key: self.entry.key.clone(),
            locks: self.entry.locks,
            forbidden: self.entry.forbidden.clone(),
            created_us: record.created_us,
            rule: record.rule.clone(),
            catalogue,
            store,
            below: record.overlays.iter().filter_map(|text| parse_named_text(text)).collect(),
        })
    }
}
