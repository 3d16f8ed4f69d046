//! Status: the datasets of a request with their containers and locks.

use std::{collections::BTreeMap, sync::Arc};

use isotach_mars::{Key, Request};
use isotach_object::Label;

use crate::{
    ContainerUri, FieldStore, Forbidden, Locks, Result, Selection, catalogue::layout::parse_named_text,
};

/// A dataset as the root lists it. Reading it does not open the dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetStatus {
    /// Its key.
    pub key: Key,
    /// The actions that it is locked against.
    pub locks: Locks,
    /// The actions that the configuration forbids on it.
    pub forbidden: Forbidden,
    /// When it was created, in microseconds since 1970 UTC.
    pub created_us: u64,
    /// The schema rule that it was created by, as the names of its three levels.
    pub rule: String,
    /// Its container of the catalogue.
    pub catalogue: ContainerUri,
    /// Its container of the store. The same as `catalogue` if both share a pool.
    pub store: ContainerUri,
    /// The datasets that it shows below its own fields, the uppermost first.
    pub below: Vec<Key>,
}

/// A wiped dataset that snapshots still show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotOnlyDataset {
    /// The dataset as it was listed, without its locks, which the wipe removed.
    pub status: DatasetStatus,
    /// The snapshots that show it.
    pub snapshots: Vec<Label>,
}

impl FieldStore {
    /// The datasets that a request names. Keys below the dataset level must be valid for the rule but do not select.
    ///
    /// # Errors
    /// As [`FieldStore::list`].
    pub fn status(&self, request: &Request) -> Result<Vec<DatasetStatus>> {
        self.select(request)?.iter().map(Selection::status).collect()
    }

    /// The wiped datasets that snapshots still show. [`FieldStore::status`] does not list them, but their containers
    /// exist.
    ///
    /// # Errors
    /// What the catalogue's engine reports.
    pub fn snapshot_only_datasets(&self) -> Result<Vec<SnapshotOnlyDataset>> {
        let mut found = Vec::new();
        for root in &self.inner.roots {
            let mut of_root: BTreeMap<(String, u64), SnapshotOnlyDataset> = BTreeMap::new();
            for (snapshot, entry) in root.wiped()? {
                let id = (entry.text.to_string(), entry.record.incarnation);
                let selection = Selection {
                    root: Arc::clone(root),
                    entry: Arc::new(entry),
                    plans: Vec::new(),
                    layer: None,
                };
                let new = SnapshotOnlyDataset { status: selection.status()?, snapshots: Vec::new() };
                of_root.entry(id).or_insert(new).snapshots.push(snapshot);
            }
            found.extend(of_root.into_values());
        }
        Ok(found)
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
