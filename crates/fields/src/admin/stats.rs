//! Stats: how much there is.

use isotach_mars::{Key, Request};
use isotach_object::{Label, Pool};

use crate::{
    Answer, FieldStore, ListOptions, Listed, Listing, Result, Selection,
    catalogue::{
        consistent_read::at_once,
        counts::{Tally, tally},
        select::Target,
    },
    retrieve::list::filters,
    store::Inner,
};

/// Counts of fields and of their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Fields that readers see.
    pub fields: u64,
    /// Their bytes, those in adopted files included.
    pub bytes: u64,
    /// Fields that were replaced and still take room.
    pub replaced_fields: u64,
    /// Their bytes.
    pub replaced_bytes: u64,
    /// Of all fields, those whose bytes are in adopted files.
    pub adopted_fields: u64,
    /// Their bytes.
    pub adopted_bytes: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, listed: &Listed) {
        let location = listed.location();
        self.count(location.length, listed.is_replaced(), location.is_adopted());
    }

    /// Counts a field.
    pub(crate) fn count(&mut self, length: u64, is_replaced: bool, is_adopted: bool) {
        let (fields, bytes) = match is_replaced {
            true => (&mut self.replaced_fields, &mut self.replaced_bytes),
            false => (&mut self.fields, &mut self.bytes),
        };
        *fields += 1;
        *bytes += length;
        if is_adopted {
            self.adopted_fields += 1;
            self.adopted_bytes += length;
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            fields: self.fields + other.fields,
            bytes: self.bytes + other.bytes,
            replaced_fields: self.replaced_fields + other.replaced_fields,
            replaced_bytes: self.replaced_bytes + other.replaced_bytes,
            adopted_fields: self.adopted_fields + other.adopted_fields,
            adopted_bytes: self.adopted_bytes + other.adopted_bytes,
        }
    }
}

/// How much a dataset holds of what a request means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetStats {
    /// The dataset.
    pub key: Key,
    /// How many of its collocations the request may mean.
    pub collocations: u64,
    /// The fields that the request means.
    pub counts: Counts,
    /// What the dataset's containers take in all, in bytes.
    pub container_bytes: u64,
}

impl FieldStore {
    /// How much there is of what a request means, for each dataset; a key left out is a wildcard. Datasets that are
    /// locked for listing are passed over.
    ///
    /// # Errors
    /// As [`FieldStore::list`], but for datasets that cannot be used: those are in the answer.
    pub fn stats(&self, request: &Request) -> Result<Answer<DatasetStats>> {
        self.ask(request, |selection| {
            at_once(&self.inner, selection, || self.inner.stats_of(selection)).map(Some)
        })
    }
}

impl Inner {
    fn stats_of(self: &std::sync::Arc<Self>, selection: &Selection) -> Result<DatasetStats> {
        let targets = selection.targets(self)?;
        let collocations = targets.len() as u64;
        let (mut counts, mut rest) = (Counts::default(), Vec::new());
        for target in targets {
            match self.tally_of(&target) {
                Ok(Some(tally)) => counts = counts.plus(tally.counts),
                // What there is to say of a failure the listing says.
                _ => rest.push(target),
            }
        }
        for listed in Listing::of_targets(self, rest, ListOptions { duplicates: true }) {
            counts.add(&listed?);
        }
        let status = selection.status()?;
        let size = |pool: &dyn Pool, label: &Label| self.with_room(|| Ok(pool.container_size(label)?));
        let mut container_bytes = size(&*selection.root.pool, &status.catalogue.label)?;
        if status.store != status.catalogue {
            container_bytes += size(&*self.pool(&status.store.pool)?, &status.store.label)?;
        }
        Ok(DatasetStats { key: status.key, collocations, counts, container_bytes })
    }

    fn tally_of(&self, target: &Target) -> Result<Option<Tally>> {
        let filters = filters(self, target)?;
        match filters.is_empty() {
            true => Ok(Some(Tally::default())),
            false => tally(self, &target.reader, &target.collocation, &filters),
        }
    }
}
