//! Wiping collocations of a dataset.
//!
//! Removing a collocation is one transaction on the dataset's container. If the bytes are in that container too, the
//! same transaction destroys them. The dataset's record in the root counts the wipes that are under way, and its
//! generation changes when one begins or ends, so that an active writer puts again what was removed. A killed wipe
//! stays counted until a repair ends it; see [`fence`](crate::catalogue::fence).
//!
//! What must stay true: a wipe destroys an array only while it is counted as under way, and only if it read the array in the
//! history after it was counted. So an array that the history does not name is safe from every wipe that is not under way.
//! An array that another collocation names, too, stays with it.

use std::{collections::HashSet, sync::Arc};

use isotach_object::{Cell, Error as ObjectError, ObjectId, Update};

use crate::{
    Error, Location, Result, Selection,
    admin::{
        shared_arrays::{named_by, shared_arrays},
        wipe::{PlannedCollocation, PlannedWipe},
    },
    catalogue::history::parse_history,
    catalogue::{
        collocation::Collocation,
        dataset_reader::DatasetReader,
        fence::{Fenced, was_ended},
        layout::{COLLOCATION, DATASET, deletions_key},
        record::MoveMark,
        root::{Changed, Entry, Root, retry_refused},
    },
    store::Inner,
};

/// The number of objects of another container that are destroyed in one call.
const DESTROYS_MAX: usize = 4096;
/// How often a history is read while others write into the dataset.
const READS: usize = 4;

impl Inner {
    /// Removes collocations of a dataset, under a move only if the move has it.
    pub(super) fn remove_collocations(&self, plan: &PlannedWipe, of_move: Option<MoveMark>) -> Result<()> {
        let removed = self.remove_counted(plan, of_move);
        let Selection { root, entry, .. } = &plan.selection;
        match removed.is_err() && matches!(root.same_incarnation(entry), Ok(None)) {
            // The whole dataset was removed meanwhile, so the failure does not matter.
            true => Ok(()),
            false => removed,
        }
    }

    fn remove_counted(&self, plan: &PlannedWipe, of_move: Option<MoveMark>) -> Result<()> {
        let Selection { root, entry, .. } = &plan.selection;
        let Some(reader) = self.reader(root, entry)? else { return Ok(()) };
        // Separate handles, so that a reader's handles have no updates.
        let containers = self.open_apart(root, &entry.record)?.into_iter().map(Fenced::new);
        let wipe = Wipe { inner: self, reader, containers: containers.collect::<Result<_>>()? };
        let begin = |now: &Entry| now.check_move(of_move).map(|()| now.record.with_wipe());
        let removed = match root.commit_record(entry, begin)? {
            None => return Ok(()),
            // An end could take back the count of another wipe.
            Some(Changed { is_certain: false, outcome: Err(error), .. }) => {
                return Err(not_ended(entry, "failed before it removed anything", error));
            }
            Some(begun) => begun.outcome.and_then(|()| wipe.remove_all(&plan.chosen)),
        };
        // Also after a failure, because this wipe removes nothing more.
        let Err(error) = wipe.end(root, entry) else { return removed };
        Err(match removed {
            Ok(()) => not_ended(entry, "has removed its collocations", error),
            Err(first) => not_ended(entry, "failed and may have removed some of its collocations", first),
        })
    }
}

/// A wipe of collocations of a dataset.
struct Wipe<'w> {
    inner: &'w Inner,
    reader: Arc<DatasetReader>,
    /// The catalogue's, and the store's if that is another one.
    containers: Vec<Fenced>,
}

impl Wipe<'_> {
    /// Removes collocations one by one. An array that several name is destroyed with the last of them, and stays if a damaged
    /// history may name it.
    fn remove_all(&self, chosen: &[PlannedCollocation]) -> Result<()> {
        let all = self.reader.collocations(self.inner)?;
        let shared = self.unless_damaged(|| shared_arrays(&self.reader, all.list.iter()))?;
        for (at, PlannedCollocation { collocation, .. }) in chosen.iter().enumerate() {
            let stays = |other: &&Arc<Collocation>| {
                chosen[..=at].iter().all(|gone| gone.collocation.text != other.text)
            };
            let staying = || all.list.iter().filter(stays);
            let kept = shared.as_ref().map(|shared| named_by(&self.reader, staying(), shared)).transpose()?;
            self.remove(collocation, kept.as_ref())?;
        }
        Ok(())
    }

    /// What is read of all histories. `None` if one is damaged: another collocation is wiped all the same.
    fn unless_damaged<T>(&self, read: impl FnMut() -> Result<T>) -> Result<Option<T>> {
        match self.inner.with_handles(read) {
            Err(Error::Object(ObjectError::Corrupt { .. })) => Ok(None),
            read => read.map(Some),
        }
    }

    /// Removes a collocation and its arrays except those in `kept`. Removes no array if `kept` is unknown.
    fn remove(&self, collocation: &Collocation, kept: Option<&HashSet<ObjectId>>) -> Result<()> {
        let mut arrays = self.arrays_of(collocation)?;
        arrays.retain(|array| kept.is_some_and(|kept| !kept.contains(array)));
        let mut key = vec![COLLOCATION];
        key.extend_from_slice(collocation.text.as_bytes());
        let (objects, deletions) = (&collocation.objects, deletions_key(&collocation.text));
        let entries = [&key, &deletions].map(|key| Update::Remove { cell: Cell::kv(DATASET, key) });
        let mut updates = Vec::from(entries);
        updates
            .extend([objects.index, objects.history, objects.jump].map(|object| Update::Destroy { object }));
        updates.extend(objects.axes.iter().map(|object| Update::Destroy { object: *object }));
        let destroys = arrays.iter().map(|object| Update::Destroy { object: *object });
        if self.reader.dataset.is_wiped_atomically() {
            updates.extend(destroys);
            return self.apply(0, &updates);
        }
        self.apply(0, &updates)?;
        let store = self.containers.len() - 1;
        destroys.collect::<Vec<_>>().chunks(DESTROYS_MAX).try_for_each(|some| self.apply(store, some))
    }

    fn apply(&self, container: usize, updates: &[Update<'_>]) -> Result<()> {
        let fenced = &self.containers[container];
        if !fenced.apply(updates)? {
            return Err(was_ended(&self.reader.dataset.entry).into());
        }
        Ok(fenced.container.flush()?)
    }

    /// Decrements the count, unless others have ended this wipe. Tries again what was refused.
    fn end(&self, root: &Root, entry: &Entry) -> Result<()> {
        // After an uncertain error the count may be one less, and the next one would be another wipe's.
        retry_refused(|| self.decrement(root, entry))?;
        retry_refused(|| root.flush())
    }

    fn decrement(&self, root: &Root, entry: &Entry) -> Result<()> {
        while let Some(now) = root.same_incarnation(entry)? {
            // Check the fence after reading the record: a process that ends this wipe changes the fence before the
            // count.
            if !self.containers[0].is_unchanged()?
                || root.commit_replaced(&entry.text, &now.record, &now.record.without_wipe())?
            {
                break;
            }
        }
        Ok(())
    }

    /// The arrays of a collocation's fields in the dataset's own store. They are read before the collocation is
    /// removed, so an array that a writer adds later is never among them. They are read again while writers add some,
    /// because nothing names those after the wipe.
    fn arrays_of(&self, collocation: &Collocation) -> Result<Vec<ObjectId>> {
        let epoch = || self.inner.with_handles(|| Ok(self.reader.dataset.catalogue.epoch()?));
        let mut before = epoch()?;
        let mut arrays = self.arrays_now(collocation)?;
        for _ in 1..READS {
            let now = epoch()?;
            if now == before {
                break;
            }
            before = now;
            arrays = self.arrays_now(collocation)?;
        }
        Ok(arrays)
    }

    fn arrays_now(&self, collocation: &Collocation) -> Result<Vec<ObjectId>> {
        let own = &self.reader.dataset.uri;
        let mut arrays = Vec::new();
        self.reader.for_pages(self.inner, collocation.objects.history, |page| {
            let records = page.iter().filter_map(|(key, value)| Some(parse_history(key, value)?.1));
            arrays.extend(records.filter_map(|record| Location::decode(record, own)?.object_in(own)));
            Ok(())
        })?;
        Ok(arrays)
    }
}

/// The error of a wipe that may stay counted.
fn not_ended(entry: &Entry, what: &str, source: Error) -> Error {
    Error::NotEnded {
        what: format!("a wipe of dataset {} {what}, and may still be counted as running", entry.key),
        source: Box::new(source),
        remedy: "`isotach repair --doit`",
    }
}
