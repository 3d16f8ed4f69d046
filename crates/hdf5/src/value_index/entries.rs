//! The entries of indexes in a session.

use std::sync::Arc;

use isotach_object::ObjectId;

use super::{
    SETTINGS_KEY,
    indexing::{Indexing, bins_in, datatype_of},
    records::Settings,
};
use crate::{
    Result,
    chunk::{Key, Target},
    filters::may_be_lossy,
    layout::value_index,
    session::Session,
};

impl Session {
    /// What is indexed of a dataset.
    pub(crate) fn indexing(&mut self, number: u64) -> Result<Option<Arc<Indexing>>> {
        if let Some(known) = self.indexings.get(&number) {
            return Ok(known.clone());
        }
        let settings = self.get(value_index(number), SETTINGS_KEY)?;
        let indexing = match settings.as_deref().and_then(Settings::decode) {
            Some(settings) => self.header(number)?.and_then(|header| {
                let datatype = datatype_of(&header)?;
                Indexing::new(settings, &datatype).map(Arc::new)
            }),
            None => None,
        };
        self.indexings.insert(number, indexing.clone());
        Ok(indexing)
    }

    /// What is indexed of a dataset whose chunks are stored. Nothing while several ranks have the file open, of which the first one commits:
    /// it does not see what the others store. Nothing either for filters that may be lossy: an entry is of what readers see, and is made from
    /// decoded chunks.
    pub(crate) fn indexing_of_writes(&mut self, target: Target<'_>) -> Result<Option<Arc<Indexing>>> {
        if self.is_shared || may_be_lossy(&target.data.filters) {
            return Ok(None);
        }
        self.indexing(target.number)
    }

    /// Sets what is indexed of a dataset.
    pub(crate) fn put_index_settings(&mut self, number: u64, settings: &Settings) {
        self.put(value_index(number), SETTINGS_KEY.to_vec(), settings.encode());
        self.indexings.remove(&number);
    }

    /// Sets the index entry of a chunk.
    pub(crate) fn put_index_entry(&mut self, number: u64, key: Key, record: Vec<u8>) -> Result<()> {
        let object = value_index(number);
        if let Some(old) = self.get(object, &key)? {
            self.forget_bins(object, &key, &old);
        }
        self.put(object, key, record);
        Ok(())
    }

    /// Removes everything that is indexed of a dataset.
    pub(crate) fn remove_index(&mut self, number: u64) -> Result<()> {
        let object = value_index(number);
        for (key, record) in self.list(object)?.iter() {
            self.forget_bins(object, key, record);
            self.remove(object, key);
        }
        self.indexings.remove(&number);
        Ok(())
    }

    fn forget_bins(&mut self, object: ObjectId, key: &[u8], record: &[u8]) {
        let arrays = bins_in(object, key, record);
        if arrays.is_empty() {
            return;
        }
        let is_here = self.changes.contains(object, key);
        if is_here { self.unused.extend(arrays) } else { self.destroyed.extend(arrays) }
    }

    /// The index goes with its dataset.
    pub(crate) fn destroy_index(&mut self, number: u64) -> Result<()> {
        let object = value_index(number);
        let base = self.base_listing(object)?;
        self.destroyed.extend(base.iter().flat_map(|(key, record)| bins_in(object, key, record)));
        if !base.is_empty() {
            self.destroyed.push(object);
        }
        self.forget_index(number);
        Ok(())
    }

    /// Forgets what was changed in the index of a dataset.
    pub(crate) fn forget_index(&mut self, number: u64) {
        let object = value_index(number);
        let records = self.changes.of(object).filter_map(|(key, change)| Some((key, change.value.as_ref()?)));
        let arrays: Vec<_> = records.flat_map(|(key, record)| bins_in(object, key, record)).collect();
        self.unused.extend(arrays);
        self.forget(object);
        self.indexings.remove(&number);
    }
}
