//! Wiping collocations of a dataset.
//!
//! Removing a collocation is one transaction on the dataset's container. The dataset's generation in the root changes
//! before and after, so that a writer that goes on puts again what was removed under it.

use std::sync::Arc;

use isotach_object::{Cell, Container, ObjectId, Transaction, Update};

use crate::{
    Location, Place, Result,
    batch::parse_history,
    layout::{COLLOCATION, DATASET},
    reader::{Collocation, DatasetReader},
    record::Record,
    root::{Entry, Root, for_each},
    select::Target,
    store::Inner,
    wipe::same_life,
};

/// How many objects are destroyed in one call.
const DESTROYS: usize = 4096;

impl Inner {
    /// Removes collocations of a dataset.
    pub(crate) fn remove_collocations(
        &self,
        root: &Arc<Root>,
        entry: &Arc<Entry>,
        targets: &[Target],
    ) -> Result<()> {
        let Some(reader) = self.reader(root, entry)? else { return Ok(()) };
        let Some(generation) = begin_wiping(root, entry)? else { return Ok(()) };
        for target in targets {
            self.remove_collocation(&reader, &target.collocation)?;
        }
        end_wiping(root, entry, generation)
    }

    fn remove_collocation(&self, reader: &DatasetReader, collocation: &Collocation) -> Result<()> {
        let arrays = self.arrays_of(reader, collocation)?;
        let mut key = vec![COLLOCATION];
        key.extend_from_slice(collocation.text.as_bytes());
        let objects = &collocation.objects;
        let mut updates = vec![Update::Remove { cell: Cell::kv(DATASET, &key) }];
        updates.extend([objects.index, objects.history].map(|object| Update::Destroy { object }));
        updates.extend(objects.axes.iter().map(|object| Update::Destroy { object: *object }));
        // Handles of its own, so that a reader's stays free of updates.
        let dataset = &reader.dataset;
        let catalogue = dataset.root.pool.open_container(dataset.catalogue.label())?;
        if catalogue.capabilities().transactions {
            catalogue.commit(&Transaction { preconditions: Vec::new(), updates })?;
        } else {
            catalogue.update(&updates)?;
        }
        catalogue.flush()?;
        let store: Arc<dyn Container> = match dataset.is_one_container() {
            true => catalogue,
            false => self.pool(&dataset.uri.pool)?.open_container(&dataset.uri.label)?,
        };
        for some in arrays.chunks(DESTROYS) {
            let updates: Vec<_> = some.iter().map(|object| Update::Destroy { object: *object }).collect();
            store.update(&updates)?;
        }
        store.flush()?;
        Ok(())
    }

    /// The arrays of a collocation's fields in the dataset's own store. They are read before the collocation goes, so
    /// an array that a writer adds meanwhile is never among them.
    fn arrays_of(&self, reader: &DatasetReader, collocation: &Collocation) -> Result<Vec<ObjectId>> {
        let mut arrays = Vec::new();
        for_each(&*reader.dataset.catalogue, collocation.objects.history, |key, value| {
            let parsed = parse_history(key, value);
            let location = parsed.and_then(|(_, record, _)| Location::decode(record, &reader.dataset.uri));
            if let Some(Place::Object { container, object }) = location.map(|location| location.place)
                && container == reader.dataset.uri
            {
                arrays.push(object);
            }
            Ok(())
        })?;
        Ok(arrays)
    }
}

/// Sets the dataset's generation to the next odd number and returns it. None if the dataset is gone.
fn begin_wiping(root: &Root, entry: &Entry) -> Result<Option<u32>> {
    while let Some(now) = same_life(root, entry)? {
        let generation = now.record.generation.wrapping_add(1 + now.record.generation % 2);
        let next = Record { generation, ..now.record.clone() };
        if root.replace(&entry.text, &now.record, &next)? {
            return Ok(Some(generation));
        }
    }
    Ok(None)
}

/// Sets the generation to an even number, unless another wipe has begun meanwhile: then to its next odd one.
fn end_wiping(root: &Root, entry: &Entry, begun: u32) -> Result<()> {
    while let Some(now) = same_life(root, entry)? {
        let step = if now.record.generation == begun { 1 } else { 2 };
        let next = Record { generation: now.record.generation.wrapping_add(step), ..now.record.clone() };
        if root.replace(&entry.text, &now.record, &next)? {
            return Ok(());
        }
    }
    Ok(())
}
