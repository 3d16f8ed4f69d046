//! Wiping collocations of a dataset.
//!
//! Removing a collocation is one transaction on the dataset's container. The dataset's record in the root counts the
//! wipes that are under way, and its generation changes when one begins or ends, so that a writer that goes on puts again
//! what was removed under it.
//!
//! What must stay true: a wipe destroys an array only while it is counted as under way, and only if it read the array in the
//! history after it was counted. So an array that the history does not name is safe from every wipe that is not under way.

use std::sync::Arc;

use isotach_object::{Anchor, Cell, Container, ObjectId, Transaction, Update};

use crate::{
    Location, Place, Result,
    admin::wipe::Chosen,
    archive::batch::parse_history,
    catalogue::{
        layout::{COLLOCATION, DATASET},
        reader::{Collocation, DatasetReader},
        record::MoveMark,
        root::{Entry, Root},
    },
    store::Inner,
};

/// How many objects are destroyed in one call.
const DESTROYS: usize = 4096;

impl Inner {
    /// Removes collocations of a dataset. With the mark of a move, only if that has the dataset.
    pub(crate) fn remove_collocations(
        &self,
        root: &Arc<Root>,
        entry: &Arc<Entry>,
        chosen: &[Chosen],
        of_move: Option<MoveMark>,
    ) -> Result<()> {
        let Some(reader) = self.reader(root, entry)? else { return Ok(()) };
        let begin = |now: &Entry| now.check_move(of_move).map(|()| now.record.with_wipe());
        if root.change_record(entry, begin)?.is_none() {
            return Ok(());
        }
        let removed =
            chosen.iter().try_for_each(|chosen| self.remove_collocation(&reader, &chosen.collocation));
        // Also after a failure: this wipe removes nothing more.
        match root.change_record(entry, |now| Ok(now.record.without_wipe()))? {
            Some(_) => removed,
            // All of the dataset went meanwhile: whatever failed is no failure.
            None => Ok(()),
        }
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
        let catalogue =
            self.with_room(|| Ok(dataset.root.pool.open_container(dataset.catalogue.label())?))?;
        if catalogue.capabilities().transactions {
            catalogue.commit(&Transaction { preconditions: Vec::new(), updates })?;
        } else {
            catalogue.update(&updates)?;
        }
        catalogue.flush()?;
        let store: Arc<dyn Container> = match dataset.is_one_container() {
            true => catalogue,
            false => {
                let pool = self.pool(&dataset.uri.pool)?;
                self.with_room(|| Ok(pool.open_container(&dataset.uri.label)?))?
            }
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
        let mut next = Some(Anchor::start());
        while let Some(anchor) = next {
            let page = reader.page(self, collocation.objects.history, &anchor)?;
            for (key, value) in page.iter() {
                let parsed = parse_history(key, value);
                let location =
                    parsed.and_then(|(_, record, _)| Location::decode(record, &reader.dataset.uri));
                if let Some(Place::Object { container, object }) = location.map(|location| location.place)
                    && container == reader.dataset.uri
                {
                    arrays.push(object);
                }
            }
            next = page.next().cloned();
        }
        Ok(arrays)
    }
}
