//! Status: the datasets of a request, where they are and what they are locked against.

use isotach_mars::{Key, Request};

use crate::{Action, ContainerUri, Error, FieldStore, Locks, Result, Selection, dataset::Dataset};

/// A dataset as the root knows it; asking for it does not touch the dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetStatus {
    /// Its key.
    pub key: Key,
    /// What it is locked against.
    pub locks: Locks,
    /// When it was made, in microseconds since 1970 UTC.
    pub created_us: u64,
    /// The rule of the schema that made it, as the names of its three levels.
    pub rule: String,
    /// Its container of the catalogue.
    pub catalogue: ContainerUri,
    /// Its container of the store; the same one if catalogue and store share a pool.
    pub store: ContainerUri,
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

    /// An [`Error::LostDataset`] for each dataset that a request may mean whose containers are not there, though the
    /// store lists it. Stats, axes and dump pass over such datasets; [`FieldStore::wipe`] removes what is left of them.
    /// Datasets that are locked for listing are passed over.
    ///
    /// # Errors
    /// As [`FieldStore::list`].
    pub fn lost(&self, request: &Request) -> Result<Vec<Error>> {
        let mut lost = Vec::new();
        for selection in self.select(request)?.iter().filter(|selection| !selection.is_locked(Action::List)) {
            // Opened anew: a handle that is open may outlive its container.
            match Dataset::open_unless_wiped(&self.inner, &selection.root, &selection.entry) {
                Ok(_) => {}
                Err(error @ Error::LostDataset { .. }) => lost.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok(lost)
    }
}

impl Selection {
    pub(crate) fn status(&self) -> Result<DatasetStatus> {
        let record = &self.entry.record;
        let label: isotach_object::Label = record.label.parse()?;
        let catalogue = ContainerUri { pool: self.root.uri().clone(), label: label.clone() };
        let store = match record.store.as_str() {
            "" => catalogue.clone(),
            uri => ContainerUri { pool: uri.parse()?, label },
        };
        Ok(DatasetStatus {
            key: self.entry.key.clone(),
            locks: self.entry.locks,
            created_us: record.created_us,
            rule: record.rule.clone(),
            catalogue,
            store,
        })
    }
}
