//! Purging: fields that were replaced go, and then the containers give back the room of everything that went.
//!
//! What must stay true: an array goes only if the history names it, and no entry that a reader can find does. Once that is
//! so it stays so, because a flush that is tried again puts nothing that the history has (see `publish`), and the array goes
//! before its entry in the history does. So a purge needs no mark that a kill could leave behind.

use std::{collections::HashSet, sync::Arc};

use isotach_mars::{Key, Request};
use isotach_object::{Anchor, Cell, Container, Error as ObjectError, ObjectId, Purged, Update};

use crate::{
    Answer, DatasetsDone, Error, FieldStore, Location, Place, Result, Selection,
    batch::parse_history,
    control::Action,
    layout::{DATASET, ENTRY_PURGE, kv_key, new_incarnation},
    reader::{Collocation, DatasetReader},
    root::for_each,
    store::Inner,
    wipe::covers_dataset,
};

/// What a purge gives back of a dataset, or has given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgedDataset {
    /// The dataset.
    pub key: Key,
    /// Fields that were replaced.
    pub replaced_fields: u64,
    /// Their bytes, without those of adopted files, which stay.
    pub replaced_bytes: u64,
    /// What the dataset's containers took before, in bytes of storage.
    pub before: u64,
    /// What they take less afterwards; of a dry run what they would, as far as that can be told beforehand.
    pub freed: u64,
    /// What writers, or readers of the newest history, are still at; it can be purged when they have finished.
    pub held: u64,
    /// Whether the storage cannot give back the room of a container's history.
    pub history_stays: bool,
}

impl FieldStore {
    /// Removes the fields that were replaced in the datasets that a request names, which a listing shows with
    /// [`crate::ListOptions::duplicates`], and gives back the room of everything that was replaced or removed there. With `doit`
    /// false only says how much that is. Others may read, archive and flush meanwhile: who reads a field that is replaced just then gets the one or the other.
    /// What a snapshot needs stays.
    ///
    /// # Errors
    /// [`Error::BelowCollocation`] or [`Error::Invalid`] when the request names anything but whole datasets;
    /// [`Error::Locked`] for one that is locked for wiping; [`Error::ReadOnly`]. Nothing is purged then. Datasets that cannot be
    /// used are in the answer, and those that are locked for listing ([`Error::Locked`]) or that another purge is at (`Conflict`).
    /// Else what the engines report: `Unsupported` where it cannot be known who else writes.
    pub fn purge(&self, request: &Request, doit: bool) -> Result<Answer<PurgedDataset>> {
        self.purge_telling(request, doit, &|_, _| ())
    }

    /// As [`FieldStore::purge`], and tells how many datasets are done.
    ///
    /// # Errors
    /// As [`FieldStore::purge`].
    pub fn purge_telling(
        &self,
        request: &Request,
        doit: bool,
        progress: DatasetsDone<'_>,
    ) -> Result<Answer<PurgedDataset>> {
        self.inner.check_present("purge")?;
        let selections = self.select(request)?;
        for selection in &selections {
            selection.entry.locks.check(Action::Wipe, &selection.entry.key)?;
            for plan in &selection.plans {
                if !covers_dataset(request, plan)? {
                    let expected = "keys of the dataset level only: a container is purged as a whole";
                    return Err(Error::invalid(format!("request {request}"), expected));
                }
            }
        }
        let purge = |selection: &Selection| {
            selection.entry.locks.check(Action::List, &selection.entry.key)?;
            self.inner
                .purge_dataset(selection, doit)
                .map_err(|error| named_conflict(&selection.entry.key, error))
        };
        let is_of_one =
            |error: &Error| error.is_of_dataset() || ["locked", "conflict"].contains(&error.code());
        Answer::of(&selections, purge, is_of_one, progress)
    }
}

/// Says of which dataset it is that another purge is under way.
fn named_conflict(dataset: &Key, error: Error) -> Error {
    match error {
        Error::Object(ObjectError::Conflict { what }) => {
            ObjectError::Conflict { what: format!("dataset {dataset}: {what}") }.into()
        }
        error => error,
    }
}

/// The fields of a collocation that were replaced.
#[derive(Debug, Default)]
struct Replaced {
    fields: u64,
    bytes: u64,
}

impl Inner {
    fn purge_dataset(self: &Arc<Self>, selection: &Selection, doit: bool) -> Result<Option<PurgedDataset>> {
        let Some(reader) = self.reader(&selection.root, &selection.entry)? else { return Ok(None) };
        let dataset = &reader.dataset;
        let mut pools = vec![Arc::clone(&dataset.root.pool)];
        if !dataset.is_one_container() {
            pools.push(self.pool(&dataset.uri.pool)?);
        }
        let label = &dataset.uri.label;
        let mut before = 0;
        for pool in &pools {
            before += self.with_room(|| Ok(pool.container_size(label)?))?;
        }
        let replaced = self.replaced_of(&reader, doit)?;
        let mut purged = Purged::default();
        for pool in &pools {
            let of_one = self.with_room(|| Ok(pool.purge_container(label, doit)?))?;
            purged.before += of_one.before;
            purged.freed += of_one.freed;
            purged.held += of_one.held;
            purged.history_stays |= of_one.history_stays;
        }
        if doit {
            // An engine may give room back as soon as something is removed.
            let after = purged.before.saturating_sub(purged.freed);
            purged.freed = purged.freed.max(before.saturating_sub(after));
            purged.before = purged.before.max(before);
        } else {
            // They are still there, so the containers know nothing of them yet.
            purged.freed = (purged.freed + replaced.bytes).min(purged.before);
        }
        Ok(Some(PurgedDataset {
            key: selection.entry.key.clone(),
            replaced_fields: replaced.fields,
            replaced_bytes: replaced.bytes,
            before: purged.before,
            freed: purged.freed,
            held: purged.held,
            history_stays: purged.history_stays,
        }))
    }

    /// Counts the fields of a dataset that were replaced, and removes them if `doit` says so.
    fn replaced_of(self: &Arc<Self>, reader: &DatasetReader, doit: bool) -> Result<Replaced> {
        let collocations = reader.collocations(self)?;
        let mut sum = Replaced::default();
        let shared = shared_arrays(reader, collocations.list.iter())?;
        for collocation in collocations.list.iter() {
            go_through(self, reader, collocation, &shared, &mut sum, None)?;
        }
        if !doit || sum.fields == 0 {
            return Ok(sum);
        }
        let remover = self.with_room(|| self.remover(reader))?;
        let mut removed = Replaced::default();
        for collocation in collocations.list.iter() {
            go_through(self, reader, collocation, &shared, &mut removed, Some(&remover))?;
        }
        Ok(removed)
    }

    /// Handles of its own, so that a reader's stay free of updates.
    fn remover(&self, reader: &DatasetReader) -> Result<Remover> {
        let dataset = &reader.dataset;
        let catalogue = dataset.root.pool.open_container(dataset.catalogue.label())?;
        let store = match dataset.is_one_container() {
            true => None,
            false => Some(self.pool(&dataset.uri.pool)?.open_container(&dataset.uri.label)?),
        };
        Ok(Remover { catalogue, store })
    }
}

/// Where what was replaced is removed.
struct Remover {
    catalogue: Arc<dyn Container>,
    /// The store's container, if it is another one.
    store: Option<Arc<dyn Container>>,
}

impl Remover {
    /// The arrays first, durably: an entry of the history is all that leads to its array.
    fn remove(&self, history: ObjectId, keys: &[&[u8]], arrays: &[ObjectId]) -> Result<()> {
        let mut arrays: Vec<_> = arrays.iter().map(|object| Update::Destroy { object: *object }).collect();
        let entries = keys.iter().map(|key| Update::Remove { cell: Cell::kv(history, key) });
        let Some(store) = &self.store else {
            arrays.extend(entries);
            self.catalogue.update(&arrays)?;
            self.catalogue.flush()?;
            return Ok(());
        };
        if !arrays.is_empty() {
            // Behind the decision and before the deed: a snapshot of the catalogue that shows one of them as the newest
            // is older than this, and whoever takes the store's snapshot too late for it sees that this has changed.
            let (cell, mark) = (Cell::kv(DATASET, ENTRY_PURGE), new_incarnation().to_le_bytes());
            self.catalogue.update(&[Update::Put { cell, value: &mark }])?;
            self.catalogue.flush()?;
            store.update(&arrays)?;
            store.flush()?;
        }
        self.catalogue.update(&entries.collect::<Vec<_>>())?;
        self.catalogue.flush()?;
        Ok(())
    }
}

/// The array of a location in the dataset's own store.
fn own_array(reader: &DatasetReader, location: &Location) -> Option<ObjectId> {
    match &location.place {
        Place::Object { container, object } if *container == reader.dataset.uri => Some(*object),
        _ => None,
    }
}

/// Arrays of the dataset that were entered once more under another key, where they are.
fn shared_arrays<'c>(
    reader: &DatasetReader,
    collocations: impl Iterator<Item = &'c Arc<Collocation>>,
) -> Result<HashSet<ObjectId>> {
    let mut shared = HashSet::new();
    for collocation in collocations {
        for_each(&*reader.dataset.catalogue, collocation.objects.history, |key, value| {
            if let Some((id, record, _)) = parse_history(key, value) {
                let location = Location::decode(record, &reader.dataset.uri);
                shared.extend(
                    location.and_then(|location| own_array(reader, &location)).filter(|own| *own != id),
                );
            }
            Ok(())
        })?;
    }
    Ok(shared)
}

/// Goes through the history of a collocation, counts what was replaced, and removes it through `remover`. An entry that cannot be read
/// stays.
fn go_through(
    inner: &Inner,
    reader: &DatasetReader,
    collocation: &Collocation,
    shared: &HashSet<ObjectId>,
    sum: &mut Replaced,
    remover: Option<&Remover>,
) -> Result<()> {
    let (history, index) = (collocation.objects.history, collocation.objects.index);
    let mut next = Some(Anchor::start());
    while let Some(anchor) = next {
        let page = reader.page(inner, history, &anchor)?;
        next = page.next().cloned();
        let entries: Vec<_> = page
            .iter()
            .filter_map(|(key, value)| {
                parse_history(key, value).map(|(_, record, element)| (key, record, element))
            })
            .collect();
        let cells: Vec<_> =
            entries.iter().map(|(_, _, element)| Cell::kv(index, kv_key(element).as_bytes())).collect();
        let newest = reader.get_many(inner, &cells)?;
        let (mut keys, mut arrays) = (Vec::new(), Vec::new());
        for ((key, record, _), newest) in entries.into_iter().zip(newest) {
            // A field that is in no index was wiped, or is about to come.
            if newest.is_none_or(|newest| newest == record) {
                continue;
            }
            let Some(location) = Location::decode(record, &reader.dataset.uri) else { continue };
            keys.push(key);
            sum.fields += 1;
            if let Some(array) = own_array(reader, &location).filter(|array| !shared.contains(array)) {
                arrays.push(array);
                sum.bytes += location.length;
            }
        }
        if let Some(remover) = remover.filter(|_| !keys.is_empty()) {
            remover.remove(history, &keys, &arrays)?;
        }
    }
    Ok(())
}
