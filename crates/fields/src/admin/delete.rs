//! Deleting single fields.
//!
//! A deletion replaces the index entry of a field by a record that names no bytes. What must stay true:
//! - A deletion is ordered among archived fields as a replacement is: every reader sees the field or does not.
//! - The field stays in the history, where it counts as replaced. So its bytes stay until a purge, which finds them there.
//! - A collocation is marked before fields of it are deleted: its axes may have values that no field has.
//! - A deletion that returns without an error has found no move's mark, and no trace of a move or a wipe that ended meanwhile.
//!   So a later move does not list the field, and no move has listed it.

use std::{collections::BTreeSet, sync::Arc};

use isotach_mars::{Key, Match, Request};
use isotach_object::{Cell, Container, Error as ObjectError, Label, Update};

use crate::{
    Error, FieldStore, ListOptions, Listed, Listing, Result, Selection,
    archive::publish::refuse_while_moved,
    catalogue::{
        layout::{DATASET, deletions_key, new_incarnation},
        location::deletion_record,
        locks::Action,
        root::Entry,
    },
    store::Inner,
    sync::now_us,
};

/// The number of fields that are deleted in one call.
const FIELDS_MAX: usize = 4096;

/// What a deletion removes, or has removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteReport {
    /// False for a dry run.
    pub done: bool,
    /// The datasets that lose fields.
    pub datasets: Vec<DeletedFields>,
}

impl DeleteReport {
    /// The fields of all datasets.
    pub fn fields(&self) -> u64 {
        self.datasets.iter().map(|dataset| dataset.fields).sum()
    }

    /// The bytes of all datasets.
    pub fn bytes(&self) -> u64 {
        self.datasets.iter().map(|dataset| dataset.bytes).sum()
    }
}

/// The fields that a dataset loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedFields {
    /// The dataset.
    pub key: Key,
    /// How many.
    pub fields: u64,
    /// Their bytes, those in adopted files included. Adopted files stay unchanged.
    pub bytes: u64,
}

impl FieldStore {
    /// Deletes the fields that a request names: those that [`FieldStore::inspect`] finds, except fields below an overlay, and
    /// vorticity and divergence in place of a component of the wind. With `doit` false, only reports how many.
    ///
    /// The fields are gone durably, and for every reader, when this returns. After a crash each field is there or gone.
    /// Snapshots do not change, a retrieval under way still reads what it has found, and an overlay shows the field of the
    /// dataset below again. Fields that were archived and not flushed yet are not deleted.
    ///
    /// The bytes of deleted fields count as replaced, and [`FieldStore::purge`] frees their space. Afterwards
    /// [`FieldStore::axes`] reads the index of their collocation, until it has found each value.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use isotach_fields::{Config, FieldStore};
    /// # use isotach_object::{Registry, memory::Memory};
    /// # let registry = Registry::new().with(Arc::new(Memory::new()));
    /// # let config = Config::single(&"memory:doc".parse()?).with_schema("[ class [ type [ step: Step ]]]");
    /// # let store = FieldStore::create(&config, &registry)?;
    /// for step in ["0", "6", "12"] {
    ///     store.archive(&format!("class=od,type=fc,step={step}").parse()?, b"field")?;
    /// }
    /// store.flush()?;
    /// let request = "class=od,type=fc,step=6/12".parse()?;
    /// assert_eq!(store.delete(&request, false)?.fields(), 2);
    /// store.delete(&request, true)?;
    /// assert!(store.retrieve_one(&"class=od,type=fc,step=6".parse()?)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Request`] when the request lacks a mandatory key, and [`Error::Invalid`] when it names none at all;
    /// [`Error::Locked`] when a dataset is locked for wiping: nothing is deleted then. [`Error::Moving`] while a move has
    /// a dataset: its fields may be in the target. `Conflict` when a wipe or a move removed fields of a dataset meanwhile: the
    /// fields may be in the move's target. [`Error::Corrupt`] for a field whose entry is damaged; and what the engines
    /// report. [`Error::PartlyDeleted`] with one of these errors when fields were deleted before it; the deletion can be repeated.
    pub fn delete(&self, request: &Request, doit: bool) -> Result<DeleteReport> {
        self.inner.check_present("delete from")?;
        if request.is_empty() {
            return Err(Error::invalid("a request without keys", "the keys of the fields to delete"));
        }
        self.check_effect(request)?;
        let selections = self.inner.select(request, Match::Exact)?;
        selections.iter().try_for_each(|selection| selection.entry.check(Action::Wipe))?;
        let mut report = DeleteReport { done: doit, datasets: Vec::new() };
        for selection in selections {
            let mut deleted = DeletedFields { key: selection.entry.key.clone(), fields: 0, bytes: 0 };
            let outcome = match doit {
                true => self.inner.delete_in(selection, &mut deleted),
                false => Listing::unlocked(&self.inner, vec![selection], ListOptions::default())
                    .try_for_each(|listed| listed.map(|listed| deleted.add(&[listed]))),
            };
            if let Err(error) = outcome {
                return Err(partly_deleted(&report, &deleted, error));
            }
            report.datasets.extend(Some(deleted).filter(|deleted| deleted.fields > 0));
        }
        Ok(report)
    }
}

impl DeletedFields {
    fn add(&mut self, fields: &[Listed]) {
        self.fields += fields.len() as u64;
        self.bytes += fields.iter().map(|listed| listed.location().length).sum::<u64>();
    }
}

impl Inner {
    /// Deletes the fields of a selection. Deletes nothing if the dataset is gone before anything is sent.
    fn delete_in(self: &Arc<Self>, selection: Selection, deleted: &mut DeletedFields) -> Result<()> {
        let (root, entry) = (Arc::clone(&selection.root), Arc::clone(&selection.entry));
        let Some(before) = root.same_incarnation(&entry)? else { return Ok(()) };
        refuse_while_moved(&before)?;
        let sent = self.delete_listed(selection, deleted);
        let Some(now) = root.same_incarnation(&entry)? else {
            return if deleted.fields == 0 { Ok(()) } else { Err(removed_meanwhile(&before)) };
        };
        refuse_while_moved(&now)?;
        if deleted.fields > 0 && now.record.generation != before.record.generation {
            return Err(removed_meanwhile(&before));
        }
        sent
    }

    /// Sends the deletions, and flushes them. After an error, `deleted` has the fields that are gone durably.
    fn delete_listed(self: &Arc<Self>, selection: Selection, deleted: &mut DeletedFields) -> Result<()> {
        let (root, label): (_, Label) = (Arc::clone(&selection.root), selection.entry.record.label.parse()?);
        let mut listing = Listing::unlocked(self, vec![selection], ListOptions::default());
        let mut next = || listing.by_ref().take(FIELDS_MAX).collect::<Result<Vec<Listed>>>();
        let mut some = next()?;
        if some.is_empty() {
            return Ok(());
        }
        // A separate handle, so that a reader's handle has no updates.
        let catalogue = self.with_handles(|| Ok(root.pool.open_container(&label)?))?;
        let mut send_all = || {
            while !some.is_empty() {
                delete(&*catalogue, &some)?;
                deleted.add(&some);
                some = next()?;
            }
            Ok(())
        };
        let sent = send_all();
        // What was sent before an error is gone for readers.
        let flushed = catalogue.flush();
        if flushed.is_err() {
            (deleted.fields, deleted.bytes) = (0, 0);
        }
        sent.and(Ok(flushed?))
    }
}

/// The error of a deletion, with the number of fields that it has deleted: those of the report, and of the dataset of the error.
fn partly_deleted(report: &DeleteReport, last: &DeletedFields, error: Error) -> Error {
    // Fields of a dataset under a move, or that lost fields, are perhaps in the target.
    let is_uncertain = matches!(&error, Error::Moving { .. } | Error::Object(ObjectError::Conflict { .. }));
    let fields = report.fields() + if is_uncertain { 0 } else { last.fields };
    match report.done && fields > 0 {
        true => Error::PartlyDeleted { fields, source: Box::new(error) },
        false => error,
    }
}

/// The error of a deletion beside a wipe or a move that has begun or ended meanwhile: it may have moved fields that were listed.
fn removed_meanwhile(entry: &Entry) -> Error {
    let what = format!(
        "dataset {}: a wipe or a move removed fields during the deletion. After a move, delete them in its target, too; \
         then repeat the deletion",
        entry.key
    );
    ObjectError::Conflict { what }.into()
}

/// Replaces the index entries of these fields. Marks their collocations first, whose axes may lose values.
fn delete(catalogue: &dyn Container, fields: &[Listed]) -> Result<()> {
    let record = deletion_record(now_us(), new_incarnation());
    let collocations: BTreeSet<&str> = fields.iter().map(Listed::collocation_text).collect();
    let marks: Vec<_> = collocations.into_iter().map(deletions_key).collect();
    let marks = marks.iter().map(|key| Update::Put { cell: Cell::kv(DATASET, key), value: &[] });
    let records = fields.iter().map(|listed| Update::Put { cell: listed.index_cell(), value: &record });
    Ok(catalogue.update(&marks.chain(records).collect::<Vec<_>>())?)
}
