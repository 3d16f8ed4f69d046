//! Stats: counts and sizes of datasets.

use std::sync::Arc;

use isotach_mars::{Key, Request};

use crate::{
    Answer, FieldStore, ListOptions, Listing, Result, Selection,
    admin::counts::{Counts, Tally, tally},
    catalogue::{consistent_read::read_consistently, select::Target},
    retrieve::element_filter::filters,
    store::Inner,
};

/// The counts of one dataset for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetStats {
    /// The dataset.
    pub key: Key,
    /// The number of its collocations that match the request.
    pub collocations: u64,
    /// The fields that match the request.
    pub counts: Counts,
    /// The size of the dataset's containers, in bytes.
    pub container_bytes: u64,
}

impl FieldStore {
    /// The counts of each dataset for a request. A key left out is a wildcard. Datasets that are locked for listing are
    /// left out.
    ///
    /// # Errors
    /// As [`FieldStore::list`]. The errors of unusable datasets are in the answer.
    pub fn stats(&self, request: &Request) -> Result<Answer<DatasetStats>> {
        self.ask(request, |selection| {
            read_consistently(&self.inner, selection, || self.inner.stats_of(selection)).map(Some)
        })
    }
}

impl Inner {
    fn stats_of(self: &Arc<Self>, selection: &Selection) -> Result<DatasetStats> {
        let targets = selection.targets(self)?;
        let collocations = targets.len() as u64;
        let (mut counts, mut rest) = (Counts::default(), Vec::new());
        for target in targets {
            match self.tally_of(&target) {
                Ok(Some(tally)) => counts = counts.plus(tally.counts),
                // The listing reports the failure.
                _ => rest.push(target),
            }
        }
        for listed in Listing::of_targets(self, rest, ListOptions { duplicates: true }) {
            counts.add(&listed?);
        }
        let Selection { root, entry, .. } = selection;
        let container_bytes = self.size_of(root, &entry.record)?;
        Ok(DatasetStats { key: entry.key.clone(), collocations, counts, container_bytes })
    }

    fn tally_of(&self, target: &Target) -> Result<Option<Tally>> {
        let axes = target.reader.axes_for(self, &target.collocation, &target.plans)?;
        let filters = filters(target, &axes);
        match filters.is_empty() {
            true => Ok(Some(Tally::default())),
            false => tally(self, &target.reader, &target.collocation, &filters),
        }
    }
}
