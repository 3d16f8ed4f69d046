//! The records that stand for deleted fields in the indexes of a dataset, and their removal by a purge.
//!
//! What must stay true: a record is read before the purge reads the history, and removed after it has removed the replaced
//! fields, if it is unchanged. As long as it is unchanged nothing was archived under its key, so no replaced field of that key
//! is left, and the key may be absent again.

use std::slice;

use isotach_object::{Cell, Container, ObjectId, Precondition, Transaction, Update};

use crate::{
    Result,
    catalogue::{
        dataset_reader::DatasetReader,
        layout::{DATASET, deletions_key},
        location::is_deletion,
        root::conflict_is_false,
    },
    store::Inner,
};

/// The number of records that are removed in one transaction.
const RECORDS_MAX: usize = 256;

/// The records of deleted fields in an index: keys and values.
#[derive(Debug)]
pub(super) struct DeletionRecords {
    index: ObjectId,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Inner {
    /// Reads the records of deleted fields of a dataset: those in the indexes of the collocations that have the mark of deletions.
    pub(super) fn deletion_records(&self, reader: &DatasetReader) -> Result<Vec<DeletionRecords>> {
        let collocations = reader.collocations(self)?;
        let marks: Vec<_> = collocations.list.iter().map(|one| deletions_key(&one.text)).collect();
        let marks: Vec<_> = marks.iter().map(|key| Cell::kv(DATASET, key)).collect();
        let marks = reader.get_many(self, &marks)?;
        let mut records = Vec::new();
        for (collocation, _) in collocations.list.iter().zip(marks).filter(|(_, mark)| mark.is_some()) {
            let (index, mut entries) = (collocation.objects.index, Vec::new());
            reader.for_pages(self, index, |page| {
                let deletions = page.iter().filter(|(_, record)| is_deletion(record));
                entries.extend(deletions.map(|(key, record)| (key.to_vec(), record.to_vec())));
                Ok(())
            })?;
            records.extend((!entries.is_empty()).then_some(DeletionRecords { index, entries }));
        }
        Ok(records)
    }

    /// Removes those of the records that are unchanged.
    pub(super) fn remove_deletion_records(
        &self,
        reader: &DatasetReader,
        records: &[DeletionRecords],
    ) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        // A separate handle, so that a reader's handle has no updates.
        let dataset = &reader.dataset;
        let containers = self.open_apart(&dataset.root, &dataset.entry.record)?;
        let catalogue = &*containers[0];
        records.iter().try_for_each(|records| records.remove(catalogue))?;
        Ok(catalogue.flush()?)
    }
}

impl DeletionRecords {
    fn remove(&self, catalogue: &dyn Container) -> Result<()> {
        let batch = if catalogue.capabilities().transactions { RECORDS_MAX } else { 1 };
        for some in self.entries.chunks(batch) {
            if !self.remove_unchanged(catalogue, some)? && some.len() > 1 {
                for one in some {
                    self.remove_unchanged(catalogue, slice::from_ref(one))?;
                }
            }
        }
        Ok(())
    }

    /// Removes all of these. Removes none and returns false if one has changed.
    fn remove_unchanged(&self, catalogue: &dyn Container, entries: &[(Vec<u8>, Vec<u8>)]) -> Result<bool> {
        let cell = |key| Cell::kv(self.index, key);
        let unchanged = entries.iter().map(|(key, record)| Precondition::Equals(cell(key), record));
        let removes = entries.iter().map(|(key, _)| Update::Remove { cell: cell(key) });
        let transaction = Transaction { preconditions: unchanged.collect(), updates: removes.collect() };
        conflict_is_false(catalogue.commit(&transaction))
    }
}
