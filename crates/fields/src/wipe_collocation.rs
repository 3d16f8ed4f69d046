//! Wiping collocations of a dataset.
//!
//! Removing a collocation is one transaction on the dataset's container, which also writes down the arrays that go (see
//! `condemned`). The dataset's record in the root counts the wipes that are under way, and its generation changes when one
//! begins or ends, so that a writer that goes on puts again what was removed under it. A wipe that is killed stays counted
//! until others end it (see `fence`).
//!
//! What must stay true: a wipe condemns an array only while it is counted as under way, and only if it read the array in the
//! history after it was counted. So an array that the history does not name, and that is not condemned, is safe from every wipe
//! that is not under way. Only condemned arrays are destroyed.
//!
//! An engine without transactions has neither fence nor condemned arrays: there a wipe destroys while it is counted, and one
//! that was killed is ended by an operator's repair only.

use std::sync::Arc;

use isotach_object::{Anchor, Cell, Container, Error as ObjectError, ObjectId, Update};

use crate::{
    Location, Place, Result,
    batch::parse_history,
    condemned,
    fence::{Fence, end_wipes, open_catalogue},
    layout::{COLLOCATION, CONDEMNED, DATASET},
    reader::{Collocation, DatasetReader},
    record::{MoveMark, Record},
    root::{Entry, Root, conflict_is_false},
    store::Inner,
    wipe::Chosen,
};

/// How many objects are destroyed in one call.
const DESTROYS: usize = 4096;
/// How often a wipe begins again that others have ended.
const ATTEMPTS: u32 = 64;

/// A wipe of collocations of a dataset.
struct Wipe<'w> {
    inner: &'w Inner,
    root: &'w Arc<Root>,
    entry: &'w Arc<Entry>,
    of_move: Option<MoveMark>,
    reader: Arc<DatasetReader>,
    catalogue: Arc<dyn Container>,
}

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
        let removed = self.with_room(|| open_catalogue(root, entry)).and_then(|catalogue| {
            let wipe = Wipe { inner: self, root, entry, of_move, reader, catalogue };
            match wipe.catalogue.capabilities().transactions {
                true => wipe.remove(chosen),
                false => wipe.remove_unfenced(chosen),
            }
        });
        match removed.is_err() && root.same_life(entry)?.is_none() {
            // All of the dataset went meanwhile: whatever failed is no failure.
            true => Ok(()),
            false => removed,
        }
    }

    /// Ends the wipes of collocations of a dataset that were killed, as far as the engine can, and destroys the arrays
    /// that they left.
    pub(crate) fn finish_wipes(&self, root: &Arc<Root>, entry: &Arc<Entry>) -> Result<()> {
        match self.with_room(|| end_wipes(root, entry)) {
            // Who may not write the list of datasets leaves this to others.
            Err(error) if error.code() == "permission-denied" => {}
            ended => drop(ended?),
        }
        let Some(reader) = self.reader(root, entry)? else { return Ok(()) };
        if self.with_room(|| condemned::is_empty(&*reader.dataset.catalogue))? {
            return Ok(());
        }
        let catalogue = self.with_room(|| open_catalogue(root, entry))?;
        condemned::destroy(&*catalogue, &*self.store_of(&reader, &catalogue)?)
    }

    /// A handle of its own on the store's container: the catalogue's, if that is the same.
    fn store_of(&self, reader: &DatasetReader, catalogue: &Arc<dyn Container>) -> Result<Arc<dyn Container>> {
        let dataset = &reader.dataset;
        if dataset.is_one_container() {
            return Ok(Arc::clone(catalogue));
        }
        let pool = self.pool(&dataset.uri.pool)?;
        self.with_room(|| Ok(pool.open_container(&dataset.uri.label)?))
    }
}

impl Wipe<'_> {
    fn remove(&self, chosen: &[Chosen]) -> Result<()> {
        self.inner.with_room(|| end_wipes(self.root, self.entry))?;
        let mut rest = chosen;
        for _ in 0..ATTEMPTS {
            let Some(fence) = self.begin()? else { continue };
            let removed = self.remove_while_counted(&mut rest, &fence);
            // Also after a failure: this wipe removes nothing more.
            self.end(&fence)?;
            if removed? {
                let store = self.inner.store_of(&self.reader, &self.catalogue)?;
                return condemned::destroy(&*self.catalogue, &*store);
            }
        }
        let what =
            format!("wipe of collocations of dataset {}: others ended it again and again", self.entry.key);
        Err(ObjectError::Conflict { what }.into())
    }

    /// Counts this wipe as under way, and gives the fence that was read before. None if other wipes were ended just then.
    fn begin(&self) -> Result<Option<Fence>> {
        let fence = Fence::read(&*self.catalogue)?;
        let Some(counted) = self.change(|now| now.record.with_wipe())? else {
            return Err(ObjectError::not_found(format!("dataset {}", self.entry.key)).into());
        };
        if Fence::read(&*self.catalogue)? == fence {
            return Ok(Some(fence));
        }
        // Whoever ended the others may have been done before this one was counted. As long as the record is as it was written,
        // its count is in it.
        if !self.root.replace(&self.entry.text, &counted, &counted.without_wipe())? {
            end_wipes(self.root, self.entry)?;
        }
        Ok(None)
    }

    fn change(&self, next: impl Fn(&Entry) -> Record) -> Result<Option<Record>> {
        self.root.change_record(self.entry, |now| now.check_move(self.of_move).map(|()| next(now)))
    }

    /// Counts this wipe as ended, unless others did.
    fn end(&self, fence: &Fence) -> Result<()> {
        while let Some(now) = self.root.same_life(self.entry)? {
            // After the look at the record: whoever takes this wipe's count out of it changes the fence first.
            if Fence::read(&*self.catalogue)? != *fence {
                return Ok(());
            }
            if self.root.replace(&self.entry.text, &now.record, &now.record.without_wipe())? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Removes collocations and takes them from the front of the list. False if others have ended this wipe.
    fn remove_while_counted(&self, rest: &mut &[Chosen], fence: &Fence) -> Result<bool> {
        while let Some((chosen, later)) = rest.split_first() {
            let arrays = condemned::entries(&self.arrays_of(&chosen.collocation)?);
            let mut staging = self.catalogue.stage()?;
            staging.update(&removal(&chosen.collocation, &entry_of(&chosen.collocation)))?;
            for (key, value) in &arrays {
                staging.update(&[Update::Put { cell: Cell::kv(CONDEMNED, key), value }])?;
            }
            if !conflict_is_false(staging.commit(&[fence.unchanged()]))? {
                return Ok(false);
            }
            self.catalogue.flush()?;
            *rest = later;
        }
        Ok(true)
    }

    fn remove_unfenced(&self, chosen: &[Chosen]) -> Result<()> {
        if self.change(|now| now.record.with_wipe())?.is_none() {
            return Ok(());
        }
        let removed = chosen.iter().try_for_each(|chosen| self.remove_and_destroy(&chosen.collocation));
        // Also after a failure: this wipe removes nothing more.
        self.root.change_record(self.entry, |now| Ok(now.record.without_wipe()))?;
        removed
    }

    fn remove_and_destroy(&self, collocation: &Collocation) -> Result<()> {
        let arrays = self.arrays_of(collocation)?;
        self.catalogue.update(&removal(collocation, &entry_of(collocation)))?;
        self.catalogue.flush()?;
        let store = self.inner.store_of(&self.reader, &self.catalogue)?;
        for some in arrays.chunks(DESTROYS) {
            let updates: Vec<_> = some.iter().map(|object| Update::Destroy { object: *object }).collect();
            store.update(&updates)?;
        }
        store.flush()?;
        Ok(())
    }

    /// The arrays of a collocation's fields in the dataset's own store. They are read before the collocation goes, so
    /// an array that a writer adds meanwhile is never among them.
    fn arrays_of(&self, collocation: &Collocation) -> Result<Vec<ObjectId>> {
        let mut arrays = Vec::new();
        let mut next = Some(Anchor::start());
        while let Some(anchor) = next {
            let page = self.reader.page(self.inner, collocation.objects.history, &anchor)?;
            for (key, value) in page.iter() {
                let parsed = parse_history(key, value);
                let location =
                    parsed.and_then(|(_, record, _)| Location::decode(record, &self.reader.dataset.uri));
                if let Some(Place::Object { container, object }) = location.map(|location| location.place)
                    && container == self.reader.dataset.uri
                {
                    arrays.push(object);
                }
            }
            next = page.next().cloned();
        }
        Ok(arrays)
    }
}

/// The key of a collocation's entry.
fn entry_of(collocation: &Collocation) -> Vec<u8> {
    [&[COLLOCATION], collocation.text.as_bytes()].concat()
}

/// What removes a collocation with this entry.
fn removal<'k>(collocation: &Collocation, entry: &'k [u8]) -> Vec<Update<'k>> {
    let objects = &collocation.objects;
    let mut updates = vec![Update::Remove { cell: Cell::kv(DATASET, entry) }];
    updates.extend([objects.index, objects.history].map(|object| Update::Destroy { object }));
    updates.extend(objects.axes.iter().map(|object| Update::Destroy { object: *object }));
    updates
}
