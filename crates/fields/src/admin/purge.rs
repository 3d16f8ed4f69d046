//! Purging: removes replaced and deleted fields, and then lets the containers free the space of everything that was removed.
//!
//! What must stay true: an array is destroyed only if the history names it and no visible entry does. This condition is
//! stable, because a repeated flush puts nothing that the history already has (see `publish`), and because an array is
//! destroyed before its history entry. So a purge needs no mark that a kill could leave behind.

use std::{cell::RefCell, sync::Arc};

use isotach_mars::{Key, Request};
use isotach_object::{Cell, Container, Error as ObjectError, Label, ObjectId, Pool, Purged, Update};

use crate::{
    Answer, DatasetsDone, Error, FieldStore, Location, Result, Selection,
    admin::{
        counts::{beside, tally},
        shared_arrays::shared_arrays,
        wipe::covers_dataset,
    },
    catalogue::{
        collocation::Collocation,
        dataset_reader::{Collocations, DatasetReader},
        history::parse_history,
        jump::jump_key,
        layout::{DATASET, ENTRY_PURGE, kv_key, new_incarnation},
        locks::Action,
    },
    store::Inner,
};

/// The number of fields that are removed together when the disk is nearly full: their frames take a few kilobytes.
const SMALL_BATCH: usize = 64;

/// What a purge frees in a dataset, or has freed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgedDataset {
    /// The dataset.
    pub key: Key,
    /// Replaced and deleted fields.
    pub replaced_fields: u64,
    /// Their bytes. The bytes of adopted files are not counted, because they stay.
    pub replaced_bytes: u64,
    /// The size of the dataset's containers before the purge, in bytes of storage.
    pub before: u64,
    /// The bytes that were freed. In a dry run, an estimate.
    pub freed: u64,
    /// The bytes that writers, or readers of the newest history, still use. A later purge can free them.
    pub held: u64,
    /// Whether the storage cannot free the space of a container's history.
    pub history_stays: bool,
}

impl FieldStore {
    /// Removes the replaced and deleted fields of the datasets that a request names (a listing shows them with
    /// [`crate::ListOptions::duplicates`]), and frees the space of everything that was replaced or removed there. With
    /// `doit` false, only reports how much that is. Others may read, archive and flush during a purge. A reader of a
    /// field that is replaced at that moment gets the old or the new field. Fields that a snapshot needs stay.
    ///
    /// # Errors
    /// [`Error::BelowCollocation`] or [`Error::Invalid`] when the request names anything but whole datasets;
    /// [`Error::Locked`] for one that is locked for wiping; [`Error::ReadOnly`]. Nothing is purged then. The answer
    /// contains the errors of unusable datasets, of datasets that are locked for listing ([`Error::Locked`]), that
    /// another purge has (`Conflict`), or that still lack space (`NoSpace`) after the other datasets were purged. It
    /// also contains what was removed and freed in a dataset before an error, and with `doit` all errors of datasets.
    /// Else what the engines report: `Unsupported` where other writers cannot be known.
    pub fn purge(&self, request: &Request, doit: bool) -> Result<Answer<PurgedDataset>> {
        self.purge_with_progress(request, doit, &|_, _| ())
    }

    /// As [`FieldStore::purge`], and reports how many datasets are done.
    ///
    /// # Errors
    /// As [`FieldStore::purge`].
    pub fn purge_with_progress(
        &self,
        request: &Request,
        doit: bool,
        progress: DatasetsDone<'_>,
    ) -> Result<Answer<PurgedDataset>> {
        self.inner.check_present("purge")?;
        self.check_effect(request)?;
        let selections = self.select(request)?;
        for selection in &selections {
            selection.entry.check(Action::Wipe)?;
            for plan in &selection.plans {
                if !covers_dataset(request, plan)? {
                    let expected = "keys of the dataset level only: a container is purged as a whole";
                    return Err(Error::invalid(format!("request {request}"), expected));
                }
            }
        }
        let mut answer = Answer { found: Vec::new(), unusable: Vec::new() };
        let mut rest = selections;
        loop {
            let (short, begun) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
            let purge = |selection: &Selection| {
                let purged = self.purge_selection(selection, doit, &mut begun.borrow_mut());
                if matches!(&purged, Err(error) if is_no_space(error)) {
                    short.borrow_mut().push(selection.clone());
                }
                purged
            };
            // Report what was done, even if an error follows.
            let is_reported = |error: &Error| doit || is_of_one(error);
            let mut some = Answer::of(&rest, purge, is_reported, progress)?;
            // The space that other datasets freed may be enough now.
            rest = short.into_inner();
            let again = doit && !rest.is_empty() && some.found.iter().any(|dataset| dataset.freed > 0);
            if again {
                some.unusable.retain(|error| !is_no_space(error));
            }
            some.found
                .into_iter()
                .chain(begun.into_inner())
                .for_each(|dataset| add(&mut answer.found, dataset));
            answer.unusable.append(&mut some.unusable);
            if !again {
                return Ok(answer);
            }
        }
    }

    /// Purges one dataset. Work done before an error is added to `begun`.
    fn purge_selection(
        &self,
        selection: &Selection,
        doit: bool,
        begun: &mut Vec<PurgedDataset>,
    ) -> Result<Option<PurgedDataset>> {
        selection.entry.check(Action::List)?;
        let purged = self.inner.purge_dataset(selection, doit, begun);
        purged.map_err(|error| named_conflict(&selection.entry.key, error))
    }
}

/// Adds a dataset's result to its earlier result.
fn add(found: &mut Vec<PurgedDataset>, dataset: PurgedDataset) {
    match found.iter_mut().find(|before| before.key == dataset.key) {
        None => found.push(dataset),
        Some(before) => {
            before.replaced_fields += dataset.replaced_fields;
            before.replaced_bytes += dataset.replaced_bytes;
            before.freed += dataset.freed;
            before.held = dataset.held;
            before.history_stays = dataset.history_stays;
        }
    }
}

/// Whether a purge continues with the other datasets after an error.
fn is_of_one(error: &Error) -> bool {
    error.is_of_dataset() || ["locked", "forbidden", "conflict", "no-space"].contains(&error.code())
}

fn is_no_space(error: &Error) -> bool {
    error.code() == "no-space"
}

/// Adds the dataset to the error of another purge under way.
fn named_conflict(dataset: &Key, error: Error) -> Error {
    match error {
        Error::Object(ObjectError::Conflict { what }) => {
            ObjectError::Conflict { what: format!("dataset {dataset}: {what}") }.into()
        }
        error => error,
    }
}

/// The replaced fields of a collocation.
#[derive(Debug, Default)]
struct Replaced {
    fields: u64,
    bytes: u64,
}

impl Inner {
    fn purge_dataset(
        self: &Arc<Self>,
        selection: &Selection,
        doit: bool,
        begun: &mut Vec<PurgedDataset>,
    ) -> Result<Option<PurgedDataset>> {
        let Some(reader) = self.reader(&selection.root, &selection.entry)? else { return Ok(None) };
        let Selection { root, entry, .. } = selection;
        let pools = self.pools_of(root, &entry.record)?;
        let before = self.size_of(root, &entry.record)?;
        let purge = || self.purge_containers(&pools, &reader.dataset.uri.label, doit);
        let mut replaced = Replaced::default();
        let purged = match doit {
            true => self.remove_hidden(&reader, purge, &mut replaced).and_then(|freed| {
                let purged = purge()?;
                // An engine may free space as soon as something is removed.
                let after = purged.before.saturating_sub(purged.freed);
                let freed = (purged.freed + freed).max(before.saturating_sub(after));
                Ok(Purged { freed, before: purged.before.max(before), ..purged })
            }),
            false => beside(|| self.count_replaced(&reader), purge).map(|(counted, purged)| {
                replaced = counted;
                // The fields still exist, so the containers do not count them yet.
                Purged { freed: (purged.freed + replaced.bytes).min(purged.before), ..purged }
            }),
        };
        let report = |purged: Purged| PurgedDataset {
            key: entry.key.clone(),
            replaced_fields: replaced.fields,
            replaced_bytes: replaced.bytes,
            before: purged.before,
            freed: purged.freed,
            held: purged.held,
            history_stays: purged.history_stays,
        };
        match purged {
            Ok(purged) => Ok(Some(report(purged))),
            Err(error) => {
                let after = self.size_of(root, &entry.record);
                let freed = after.map_or(0, |after| before.saturating_sub(after));
                if replaced.fields > 0 || freed > 0 {
                    begun.push(report(Purged { before, freed, ..Purged::default() }));
                }
                Err(error)
            }
        }
    }

    fn purge_containers(&self, pools: &[Arc<dyn Pool>], label: &Label, doit: bool) -> Result<Purged> {
        let mut purged = Purged::default();
        for pool in pools {
            let of_one = self.with_handles(|| match pool.facets().maintenance {
                Some(maintenance) => Ok(maintenance.purge(label, doit)?),
                None => Ok(Purged { before: pool.container_size(label)?, ..Purged::default() }),
            })?;
            purged.before += of_one.before;
            purged.freed += of_one.freed;
            purged.held += of_one.held;
            purged.history_stays |= of_one.history_stays;
        }
        Ok(purged)
    }

    /// Counts the replaced fields of a dataset.
    fn count_replaced(&self, reader: &DatasetReader) -> Result<Replaced> {
        let collocations = reader.collocations(self)?;
        if let Some(sum) = self.tally_replaced(reader, &collocations)? {
            return Ok(sum);
        }
        let mut sum = Replaced::default();
        scan_histories(self, reader, &collocations, &mut sum, None)?;
        Ok(sum)
    }

    /// As `count_replaced`, where that needs no index lookup for each field.
    fn tally_replaced(
        &self,
        reader: &DatasetReader,
        collocations: &Collocations,
    ) -> Result<Option<Replaced>> {
        let mut sum = Replaced::default();
        for collocation in collocations.list.iter() {
            let Some(tally) = tally(self, reader, collocation, &[])? else { return Ok(None) };
            sum.fields += tally.replaced_fields;
            sum.bytes += tally.replaced_bytes;
        }
        Ok(Some(sum))
    }

    /// Removes replaced and deleted fields, and what stands for deleted fields in the index; see `remove_replaced`.
    fn remove_hidden(
        &self,
        reader: &DatasetReader,
        purge: impl Fn() -> Result<Purged>,
        removed: &mut Replaced,
    ) -> Result<u64> {
        let deletions = self.deletion_records(reader)?;
        let freed = self.remove_replaced(reader, purge, removed)?;
        match self.remove_deletion_records(reader, &deletions) {
            // They stay for a later purge.
            Err(error) if is_no_space(&error) => Ok(freed),
            removed => removed.map(|()| freed),
        }
    }

    /// Removes and counts the replaced fields of a dataset. Removing takes some space in the logs. If the disk is full,
    /// the containers are purged first by `purge`. Returns the bytes that this freed.
    fn remove_replaced(
        &self,
        reader: &DatasetReader,
        purge: impl Fn() -> Result<Purged>,
        removed: &mut Replaced,
    ) -> Result<u64> {
        let mut freed = 0;
        if self.count_replaced(reader)?.fields == 0 {
            return Ok(freed);
        }
        let mut batch_size = usize::MAX;
        loop {
            let before = removed.fields;
            let error = match self.try_to_remove(reader, batch_size, removed) {
                Err(error) if is_no_space(&error) => error,
                outcome => return outcome.map(|()| freed),
            };
            if batch_size == SMALL_BATCH && removed.fields == before {
                return Err(error);
            }
            batch_size = SMALL_BATCH;
            match purge() {
                Ok(purged) => freed += purged.freed,
                // The purge released its reserve, and that may be enough.
                Err(error) if is_no_space(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn try_to_remove(&self, reader: &DatasetReader, batch_size: usize, removed: &mut Replaced) -> Result<()> {
        // Separate handles, so that a reader's handles have no updates.
        let dataset = &reader.dataset;
        let containers = self.open_apart(&dataset.root, &dataset.entry.record)?;
        let remover = Remover { containers, batch_size };
        scan_histories(self, reader, &*reader.collocations(self)?, removed, Some(&remover))
    }
}

/// A field to remove.
struct ReplacedField<'p> {
    /// The key of its entry in the history.
    key: &'p [u8],
    /// Its array, if no other field has it.
    array: Option<ObjectId>,
    length: u64,
    /// The key of its jump index.
    jump: Option<Vec<u8>>,
}

/// The containers from which replaced fields are removed.
struct Remover {
    /// The catalogue's, and the store's if that is another one.
    containers: Vec<Arc<dyn Container>>,
    /// The number of fields that are removed together.
    batch_size: usize,
}

impl Remover {
    /// The keys of the jump indexes that these fields have. Fields of other packings have none, nor have long CCSDS streams
    /// whose points were never read.
    fn jump_keys<'f>(&self, jump: ObjectId, fields: &'f [ReplacedField<'_>]) -> Vec<&'f [u8]> {
        let keys: Vec<_> = fields.iter().filter_map(|field| field.jump.as_deref()).collect();
        let cells: Vec<_> = keys.iter().map(|key| Cell::kv(jump, key)).collect();
        match self.containers[0].size_many(&cells) {
            Ok(sizes) => keys.into_iter().zip(sizes).filter_map(|(key, size)| size.map(|_| key)).collect(),
            // An update removes also what cannot be looked up.
            Err(_) => keys,
        }
    }

    /// Destroys the arrays first, durably: a history entry is the only way to its array.
    fn remove(&self, collocation: &Collocation, fields: &[ReplacedField<'_>]) -> Result<()> {
        let (history, jump) = (collocation.objects.history, collocation.objects.jump);
        let arrays = fields.iter().filter_map(|field| field.array);
        let mut arrays: Vec<_> = arrays.map(|object| Update::Destroy { object }).collect();
        let indexes = self.jump_keys(jump, fields);
        let entries = fields.iter().map(|field| Cell::kv(history, field.key));
        let entries = indexes.into_iter().map(|key| Cell::kv(jump, key)).chain(entries);
        let entries = entries.map(|cell| Update::Remove { cell });
        let catalogue = &self.containers[0];
        let Some(store) = self.containers.get(1) else {
            arrays.extend(entries);
            catalogue.update(&arrays)?;
            return Ok(catalogue.flush()?);
        };
        if !arrays.is_empty() {
            // The mark comes after the decision and before the removal. A snapshot of the catalogue that shows one of
            // the fields as the newest is older than the mark. Its maker, who takes the store's snapshot too late for
            // that field, then sees that the mark has changed.
            let (cell, mark) = (Cell::kv(DATASET, ENTRY_PURGE), new_incarnation().to_le_bytes());
            catalogue.update(&[Update::Put { cell, value: &mark }])?;
            catalogue.flush()?;
            store.update(&arrays)?;
            store.flush()?;
        }
        catalogue.update(&entries.collect::<Vec<_>>())?;
        Ok(catalogue.flush()?)
    }
}

/// Scans the histories of collocations, counts the replaced fields, and removes them through `remover`. Unreadable
/// entries stay.
fn scan_histories(
    inner: &Inner,
    reader: &DatasetReader,
    collocations: &Collocations,
    sum: &mut Replaced,
    remover: Option<&Remover>,
) -> Result<()> {
    let shared = shared_arrays(reader, collocations.list.iter())?;
    for collocation in collocations.list.iter() {
        let index = collocation.objects.index;
        reader.for_pages(inner, collocation.objects.history, |page| {
            let entries: Vec<_> = page
                .iter()
                .filter_map(|(key, value)| {
                    parse_history(key, value).map(|(_, record, element)| (key, record, element))
                })
                .collect();
            let cells: Vec<_> =
                entries.iter().map(|(_, _, element)| Cell::kv(index, kv_key(element).as_bytes())).collect();
            let newest = reader.get_many(inner, &cells)?;
            let mut gone = Vec::new();
            for ((key, record, _), newest) in entries.into_iter().zip(newest) {
                // A field without an index entry was wiped, or is being published.
                let Some(newest) = newest.filter(|newest| newest != record) else { continue };
                let Some(location) = Location::decode(record, &reader.dataset.uri) else { continue };
                let array = location.object_in(&reader.dataset.uri).filter(|array| !shared.contains(array));
                // A field that was indexed again at its location has the same jump index.
                let jump = Some(jump_key(record)).filter(|jump| *jump != jump_key(&newest));
                gone.push(ReplacedField { key, array, length: location.length, jump });
            }
            let batch_size = remover.map_or(usize::MAX, |remover| remover.batch_size);
            for some in gone.chunks(batch_size) {
                if let Some(remover) = remover {
                    remover.remove(collocation, some)?;
                }
                sum.fields += some.len() as u64;
                let own = some.iter().filter(|field| field.array.is_some());
                sum.bytes += own.map(|field| field.length).sum::<u64>();
            }
            Ok(())
        })?;
    }
    Ok(())
}
